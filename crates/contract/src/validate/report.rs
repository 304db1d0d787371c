//! Violations in words, with both places; and the taking back of those that do not count.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use foldhash::quality::RandomState;

use super::walk::{Broken, Place, Sink, Token};
use crate::json::{Kind, Pointer, scan};
use crate::schema::{Node, NodeId, Step, Types};

/// One way in which data does not fulfil its schema.
///
/// Values of fields marked `x-gdpr-sensitive`, and of everything under them, stand in none of its
/// parts; names of members that the schema does not declare there are written `***`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in `data`.
    pub instance: Pointer,
    /// The same as a dotted path: `lines[3].qty`, empty for the whole `data`.
    pub path: String,
    /// Where in the schema the object with the keyword stands.
    pub schema: Pointer,
    /// The keyword that is not fulfilled; `false` for a schema that accepts nothing.
    pub keyword: &'static str,
    /// What is wrong, in plain words.
    pub message: String,
    /// The bytes of the text at which the value stands, end excluded.
    pub span: Range<usize>,
    /// Whether the value is personal, so that nobody prints the bytes of `span`.
    pub sensitive: bool,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "(root)" } else { &self.path };
        write!(f, "{path}: {}", self.message)
    }
}

/// The sink that keeps every violation.
#[derive(Default)]
pub(super) struct Report {
    violations: Vec<Violation>,
    /// How many violations stood before the member that is being walked over, per open object.
    before: Vec<usize>,
    /// The violations of members that have ended, by object and name.
    ended: HashMap<(usize, Box<str>), Range<usize>, RandomState>,
    /// Those of them that a later member of the same name has replaced.
    replaced: Vec<Range<usize>>,
}

impl Report {
    pub(super) fn into_violations(mut self) -> Vec<Violation> {
        if !self.replaced.is_empty() {
            let mut counts = vec![true; self.violations.len()];
            for range in self.replaced {
                counts[range].fill(false);
            }
            let mut counts = counts.into_iter();
            self.violations.retain(|_| counts.next().unwrap_or(true));
        }
        self.violations
    }
}

impl Sink for Report {
    const REPORTS: bool = true;

    fn fail(&mut self, place: &Place<'_>, node: NodeId, broken: Broken<'_>) {
        self.violations.push(violation(place, node, &broken));
    }

    fn repeated(&mut self) {}

    fn member(&mut self, object: usize, name: &[u8]) {
        self.before.push(self.violations.len());
        if !self.ended.is_empty() {
            self.replaced.extend(self.ended.remove(&(object, plain(name).into())));
        }
    }

    fn member_ends(&mut self, object: usize, name: &[u8]) {
        let range = self.before.pop().unwrap_or_default()..self.violations.len();
        if !range.is_empty() {
            self.ended.insert((object, plain(name).into()), range);
        }
    }
}

fn plain(raw: &[u8]) -> std::borrow::Cow<'_, str> {
    scan::unescape(std::str::from_utf8(raw).unwrap_or_default())
}

fn violation(place: &Place<'_>, id: NodeId, broken: &Broken<'_>) -> Violation {
    let schema = place.schema;
    let node = schema.node(id);
    let (instance, path) = instance(place);
    let shown = || if node.sensitive { "the value".to_owned() } else { short(&place.text[place.span.clone()]) };
    let mut at = id;
    let (keyword, message) = match broken {
        Broken::Type(_) if node.types == Types::NONE => match schema.step(id) {
            (parent, Step::Additional) => {
                at = *parent;
                ("additionalProperties", "is not a declared property".to_owned())
            }
            _ => ("false", "must not be here: its schema is `false`".to_owned()),
        },
        Broken::Type(kind) => ("type", format!("must be {}, found {}", wanted(node), kind_of(*kind, node))),
        Broken::Length(length) if *length < node.min_length => {
            ("minLength", format!("must have at least {}, has {length}", characters(node.min_length)))
        }
        Broken::Length(length) => {
            ("maxLength", format!("must have at most {}, has {length}", characters(node.max_length)))
        }
        Broken::Minimum => {
            let bound = node.minimum.as_ref().map_or("", |minimum| minimum.text());
            ("minimum", format!("must be at least {bound}, found {}", shown()))
        }
        Broken::Constant(constants) if constants.keyword == "const" => {
            ("const", format!("must be {}, found {}", constants.shown, shown()))
        }
        Broken::Constant(constants) => ("enum", format!("must be one of {}, found {}", constants.shown, shown())),
        Broken::Required(name) => ("required", format!("`{name}` is missing")),
    };
    let (span, sensitive) = (place.span.clone(), node.sensitive);
    Violation { instance, path, schema: schema.pointer(at), keyword, message, span, sensitive }
}

fn instance(place: &Place<'_>) -> (Pointer, String) {
    let (mut pointer, mut path) = (Pointer::root(), String::new());
    for frame in place.frames {
        match frame.token(place.text) {
            Token::None => {}
            Token::Index(index) => {
                pointer.push(&index.to_string());
                path.push_str(&format!("[{index}]"));
            }
            Token::Name { raw, declared } => {
                let hidden = !declared && place.schema.node(frame.node()).sensitive;
                let name = if hidden { "***".into() } else { plain(raw) };
                pointer.push(&name);
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&name);
            }
        }
    }
    (pointer, path)
}

/// Returns a value as it stands in the text, or its kind where that is long.
fn short(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) if text.starts_with(['{', '[']) => {
            (if text.starts_with('{') { "another object" } else { "another array" }).to_owned()
        }
        Ok(text) if text.chars().count() <= 60 => text.to_owned(),
        Ok(text) => text.chars().take(59).chain(['…']).collect(),
        Err(_) => "the value".to_owned(),
    }
}

fn characters(count: u64) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}

fn wanted(node: &Node) -> String {
    let names: Vec<_> = node.types.names().map(with_article).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "nothing".to_owned(),
    }
}

fn with_article(name: &'static str) -> &'static str {
    match name {
        "integer" => "an integer",
        "boolean" => Kind::Bool.with_article(),
        "number" => Kind::Number.with_article(),
        "string" => Kind::String.with_article(),
        "array" => Kind::Array.with_article(),
        "object" => Kind::Object.with_article(),
        other => other,
    }
}

/// A number that is no integer needs saying where an integer is wanted.
fn kind_of(kind: Kind, node: &Node) -> &'static str {
    if kind == Kind::Number && node.types.overlap(Types::INTEGER) { "a fraction" } else { kind.with_article() }
}
