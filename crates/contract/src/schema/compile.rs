//! From a document to the nodes that the walk over a message reads.

use wide::u8x16;

use super::constants::Constants;
use super::minimum::{ANY_START, Minimum, start_class};
use super::names::Names;
use super::{Note, Schema, SchemaError, SensitivePath, Warning, is_annotation};
use crate::json::scan::Chunk;
use crate::json::{Document, Kind, Pointer, Value};

/// A node's place in [`Schema::nodes`].
pub(crate) type NodeId = u32;

/// The node that accepts every value, present in every schema.
pub(crate) const ANY: NodeId = 0;

/// A set of JSON types in which whole numbers count apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const STRING: Self = Self(4);
    pub(crate) const ARRAY: Self = Self(8);
    pub(crate) const OBJECT: Self = Self(16);
    pub(crate) const INTEGER: Self = Self(32);
    pub(crate) const NUMBER: Self = Self(32 | 64);
    pub(crate) const ALL: Self = Self(127);

    /// Every type name of draft-07, in the order in which messages list them.
    const NAMES: [(&'static str, Self); 7] = [
        ("null", Self::NULL),
        ("boolean", Self::BOOLEAN),
        ("integer", Self::INTEGER),
        ("number", Self::NUMBER),
        ("string", Self::STRING),
        ("array", Self::ARRAY),
        ("object", Self::OBJECT),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, types)| *types)
    }

    #[inline]
    pub(crate) fn overlap(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub(crate) fn contain(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the names of the set, `number` standing for `integer` too.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        let whole_only = !self.contain(Self::NUMBER);
        let listed = move |name: &str, types| self.contain(types) && (name != "integer" || whole_only);
        Self::NAMES.into_iter().filter(move |(name, types)| listed(name, *types)).map(|(name, _)| name)
    }
}

/// What one schema object asks of a value. What it asks of objects stands in [`Fields`].
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// A string of less than 16 ASCII characters whose length less `short` is at most `long` needs no
    /// other look.
    short: u8,
    long: u8,
    /// How a whole number and any other may start so that it needs no other look.
    whole: u8,
    fraction: u8,
    pub(crate) types: Types,
    /// Whether `min_length` or `max_length` bounds anything.
    pub(crate) bounded: bool,
    /// The value, or one around it, is marked `x-gdpr-sensitive`.
    pub(crate) sensitive: bool,
    /// The place in [`Schema::fields`].
    pub(crate) fields: u32,
    /// The elements' nodes of a tuple, one after another from here.
    pub(crate) tuple: NodeId,
    pub(crate) tuple_length: u32,
    /// The node of the elements past the tuple.
    pub(crate) items: NodeId,
    pub(crate) min_length: u64,
    pub(crate) max_length: u64,
    pub(crate) minimum: Option<Box<Minimum>>,
    pub(crate) constants: Box<[Constants]>,
}

impl Node {
    fn new(types: Types) -> Self {
        let mut node = Self {
            short: 0,
            long: 0,
            whole: 0,
            fraction: 0,
            types,
            bounded: false,
            sensitive: false,
            fields: FREE,
            tuple: ANY,
            tuple_length: 0,
            items: ANY,
            min_length: 0,
            max_length: u64::MAX,
            minimum: None,
            constants: Box::default(),
        };
        node.prepare();
        node
    }

    /// Works out which values need one look only.
    fn prepare(&mut self) {
        self.bounded = self.min_length > 0 || self.max_length < u64::MAX;
        let plain = self.constants.is_empty();
        (self.short, self.long) = if plain && self.types.overlap(Types::STRING) && self.min_length <= self.max_length {
            (self.min_length.min(16) as u8, (self.max_length - self.min_length).min(15) as u8)
        } else {
            (16, 0)
        };
        let starts = self.minimum.as_ref().map_or(ANY_START, |minimum| minimum.starts());
        self.whole = if plain && self.types.overlap(Types::INTEGER) { starts } else { 0 };
        self.fraction = if plain && self.types.contain(Types::NUMBER) { starts } else { 0 };
    }

    /// Returns whether a string of `length` ASCII characters surely fulfils the node.
    #[inline(always)]
    pub(crate) fn admits_plain_string(&self, length: usize) -> bool {
        (length as u8).wrapping_sub(self.short) <= self.long
    }

    /// Returns whether a number without an exponent that starts with the digit `byte` surely fulfils
    /// the node.
    #[inline(always)]
    pub(crate) fn admits_at_sight(&self, byte: u8, whole: bool) -> bool {
        let starts = if whole { self.whole } else { self.fraction };
        starts & start_class(byte) != 0
    }
}

/// The fields of objects no member of which is judged, present in every schema.
pub(crate) const FREE: u32 = 0;

/// What a schema object asks of an object's members.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    /// The declared names in the order of `properties`, then those that are only required.
    pub(crate) names: Names,
    /// Where in [`Schema::members`] theirs start.
    pub(crate) members: u32,
    /// The names that must be there.
    pub(crate) required: Vec<u32>,
    /// A bit for each of the first 63 names that must be there.
    pub(crate) required_first: u64,
    /// Where in the list of [`Schema::followers`] those of this object stand: which member comes
    /// first, then which comes after each.
    pub(crate) followers: u32,
    /// The node of members that are not declared.
    pub(crate) additional: NodeId,
}

/// The bit of every member past the first 63 of its object.
pub(crate) const PAST_63: u64 = 1 << 63;

/// The member that stands nowhere, present in every schema.
pub(crate) const NO_MEMBER: u32 = 0;

/// A declared member, ready to be compared with a text: `,"name":`.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The first 16 bytes of `pattern`, and a bit for each that counts.
    head: u8x16,
    mask: u32,
    length: u32,
    pub(crate) node: NodeId,
    /// Where in the list of [`Schema::followers`] the one after this stands.
    pub(crate) after: u32,
    /// The place among the names of the object, and its bit in a set of them.
    pub(crate) place: u32,
    pub(crate) bit: u64,
    pattern: Box<[u8]>,
}

impl Member {
    fn new(name: &str, node: NodeId, place: u32, after: u32) -> Self {
        let pattern: Box<[u8]> = [b",\"", name.as_bytes(), b"\":"].concat().into();
        let mut head = [0; 16];
        let length = pattern.len().min(16);
        head[..length].copy_from_slice(&pattern[..length]);
        // A name with one of these never stands in a text as it is: no comparison may hold.
        let escaped = name.bytes().any(|b| matches!(b, b'"' | b'\\' | 0..0x20));
        let mask = if escaped { u32::MAX } else { (1 << length) - 1 };
        let bit = if place < 63 { 1 << place } else { PAST_63 };
        Self { head: u8x16::new(head), mask, length: pattern.len() as u32, node, after, place, bit, pattern }
    }

    /// Returns the one that stands nowhere.
    fn none() -> Self {
        Self { mask: u32::MAX, ..Self::new("", ANY, 0, 0) }
    }

    /// Returns the position of the value if the member stands in `text` at `pos`, from the comma
    /// before it, or from the brace if it is the `first`, to its colon, without white space.
    #[inline(always)]
    pub(crate) fn stands_at(&self, text: &[u8], pos: usize, first: bool) -> Option<usize> {
        let same = Chunk::at(text, pos).equal(self.head) | u32::from(first);
        if same & self.mask != self.mask {
            return None;
        }
        let end = pos + self.length as usize;
        (self.length <= 16 || text.get(pos + 1..end) == Some(&self.pattern[1..])).then_some(end)
    }
}

/// How a node is reached from the one that holds it.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Root,
    Property(Box<str>),
    Items,
    Element(u32),
    Additional,
}

pub(super) fn compile(document: Document) -> Result<Schema, SchemaError> {
    let mut compiler = Compiler::default();
    compiler.nodes.push(Node::new(Types::ALL));
    compiler.steps.push((ANY, Step::Root));
    compiler.fields.push(Fields::default());
    compiler.members.push(Member::none());
    let root = compiler.add(ANY, Step::Root);
    let mut pending = vec![(root, document.root())];
    while let Some((id, value)) = pending.pop() {
        let from = pending.len();
        compiler.schema(id, value, &mut pending)?;
        pending[from..].reverse();
    }
    compiler.sensitive.sort();
    Ok(Schema {
        nodes: compiler.nodes,
        fields: compiler.fields,
        members: compiler.members,
        steps: compiler.steps,
        root,
        warnings: compiler.warnings,
        notes: compiler.notes,
        sensitive: compiler.sensitive,
        document,
    })
}

pub(super) fn pointer(steps: &[(NodeId, Step)], id: NodeId) -> Pointer {
    let mut pointer = Pointer::root();
    for step in path(steps, id) {
        match step {
            Step::Root => {}
            Step::Property(name) => {
                pointer.push("properties");
                pointer.push(name);
            }
            Step::Items => pointer.push("items"),
            Step::Element(index) => {
                pointer.push("items");
                pointer.push(&index.to_string());
            }
            Step::Additional => pointer.push("additionalProperties"),
        }
    }
    pointer
}

/// Returns the steps from the root down to `id`.
fn path(steps: &[(NodeId, Step)], mut id: NodeId) -> Vec<&Step> {
    let mut path = Vec::new();
    loop {
        let (parent, step) = &steps[id as usize];
        path.push(step);
        if matches!(step, Step::Root) {
            path.reverse();
            return path;
        }
        id = *parent;
    }
}

/// Where in the data the values of a node stand: `lines[].qty`, `meta{}`, `pair[0]`.
fn data_path(steps: &[(NodeId, Step)], id: NodeId) -> String {
    let mut text = String::new();
    for step in path(steps, id) {
        match step {
            Step::Root => {}
            Step::Property(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Step::Items => text.push_str("[]"),
            Step::Element(index) => text.push_str(&format!("[{index}]")),
            Step::Additional => text.push_str("{}"),
        }
    }
    text
}

#[derive(Default)]
struct Compiler {
    nodes: Vec<Node>,
    fields: Vec<Fields>,
    members: Vec<Member>,
    steps: Vec<(NodeId, Step)>,
    warnings: Vec<Warning>,
    notes: Vec<Note>,
    sensitive: Vec<SensitivePath>,
}

/// What `required` and friends bind to when no `type` stands beside them.
const BOUND_TO: [(&str, &str); 7] = [
    ("required", "objects"),
    ("properties", "objects"),
    ("additionalProperties", "objects"),
    ("items", "arrays"),
    ("minLength", "strings"),
    ("maxLength", "strings"),
    ("minimum", "numbers"),
];

impl Compiler {
    fn add(&mut self, parent: NodeId, step: Step) -> NodeId {
        self.nodes.push(Node::new(Types::ALL));
        self.steps.push((parent, step));
        self.nodes.len() as NodeId - 1
    }

    /// Fills the node `id` from the schema `value` and leaves its sub-schemas in `pending`, in the
    /// order in which they report.
    fn schema<'d>(
        &mut self,
        id: NodeId,
        value: Value<'d>,
        pending: &mut Vec<(NodeId, Value<'d>)>,
    ) -> Result<(), SchemaError> {
        let nothing = value.as_bool() == Some(false);
        let mut node = Node::new(if nothing { Types::NONE } else { Types::ALL });
        node.sensitive = self.nodes[self.steps[id as usize].0 as usize].sensitive;
        match (value.kind(), value.as_bool()) {
            (_, Some(accepts)) => {
                if !matches!(self.steps[id as usize].1, Step::Additional) {
                    self.note(id, format!("the schema `{accepts}`"));
                }
                self.nodes[id as usize] = node;
                return Ok(());
            }
            (Kind::Object, _) => {}
            (found, _) => return Err(SchemaError::NotASchema { at: pointer(&self.steps, id), found }),
        }
        let mut constants = Vec::new();
        let [mut properties, mut items, mut additional, mut required] = [None; 4];
        for member in value.members() {
            let (keyword, value) = (member.name, member.value);
            match keyword {
                "type" => node.types = self.types(id, value)?,
                "required" => required = Some(value),
                "properties" => properties = Some(value),
                "additionalProperties" => additional = Some(value),
                "items" => items = Some(value),
                "enum" => {
                    if value.kind() != Kind::Array {
                        return Err(self.wrong(id, "enum", "an array", value));
                    }
                    constants.push(Constants::new("enum", value.items()));
                }
                "const" => constants.push(Constants::new("const", std::iter::once(value))),
                "minLength" => node.min_length = self.length(id, "minLength", value)?,
                "maxLength" => node.max_length = self.length(id, "maxLength", value)?,
                "minimum" => match value.as_number() {
                    Some(bound) => node.minimum = Some(Box::new(Minimum::new(bound))),
                    None => return Err(self.wrong(id, "minimum", "a number", value)),
                },
                "x-gdpr-sensitive" => {
                    let category = value.as_str().filter(|category| !category.is_empty());
                    if value.as_bool() == Some(true) || category.is_some() {
                        node.sensitive = true;
                        let (path, category) = (data_path(&self.steps, id), category.unwrap_or_default().to_owned());
                        self.sensitive.push(SensitivePath { path, category });
                    }
                }
                keyword if is_annotation(keyword) => {}
                keyword => {
                    let pointer = pointer(&self.steps, id);
                    self.warnings.push(Warning { pointer, keyword: keyword.to_owned() });
                }
            }
        }
        node.constants = constants.into();
        node.prepare();
        self.portability(id, value);
        self.nodes[id as usize] = node;
        self.members(id, [properties, required, additional], pending)?;
        self.items(id, items, pending)?;
        let judge = self.fields[self.nodes[id as usize].fields as usize].additional;
        if let Some(value) = additional
            && judge != ANY
        {
            pending.push((judge, value));
        }
        Ok(())
    }

    fn members<'d>(
        &mut self,
        id: NodeId,
        [properties, required, additional]: [Option<Value<'d>>; 3],
        pending: &mut Vec<(NodeId, Value<'d>)>,
    ) -> Result<(), SchemaError> {
        if properties.or(required).or(additional).is_none() {
            return Ok(());
        }
        let last = self.fields.last().map_or(0, |last| last.followers + last.names.len() as u32 + 1);
        let mut fields = Fields { followers: last, members: self.members.len() as u32, ..Fields::default() };
        let member = |name: &str, place, node| Member::new(name, node, place, last + 1 + place);
        if let Some(value) = additional
            && value.as_bool() != Some(true)
        {
            fields.additional = self.add(id, Step::Additional);
            if value.kind() == Kind::Object {
                self.note(fields.additional, "a schema as `additionalProperties`".to_owned());
            }
        }
        if let Some(value) = properties {
            if value.kind() != Kind::Object {
                return Err(self.wrong(id, "properties", "an object", value));
            }
            for property in value.members() {
                let node = self.add(id, Step::Property(property.name.into()));
                let place = fields.names.insert(property.name);
                self.members.push(member(property.name, place, node));
                pending.push((node, property.value));
            }
        }
        if let Some(value) = required {
            let want = "an array of names";
            if value.kind() != Kind::Array {
                return Err(self.wrong(id, "required", want, value));
            }
            for name in value.items() {
                let Some(name) = name.as_str() else { return Err(self.wrong(id, "required", want, name)) };
                let declared = fields.names.len();
                let place = fields.names.insert(name);
                if fields.names.len() > declared {
                    self.members.push(member(name, place, fields.additional));
                }
                fields.required.push(place);
                if place < 63 {
                    fields.required_first |= 1 << place;
                }
            }
            fields.required.sort_unstable();
            fields.required.dedup();
        }
        self.nodes[id as usize].fields = self.fields.len() as u32;
        self.fields.push(fields);
        Ok(())
    }

    fn items<'d>(
        &mut self,
        id: NodeId,
        items: Option<Value<'d>>,
        pending: &mut Vec<(NodeId, Value<'d>)>,
    ) -> Result<(), SchemaError> {
        match items {
            None => {}
            Some(tuple) if tuple.kind() == Kind::Array => {
                if tuple.is_empty() {
                    let found = "an empty array".to_owned();
                    let at = pointer(&self.steps, id);
                    return Err(SchemaError::Keyword { at, keyword: "items", want: ITEMS, found });
                }
                self.note(id, "a list of schemas as `items`".to_owned());
                self.nodes[id as usize].tuple = self.nodes.len() as NodeId;
                self.nodes[id as usize].tuple_length = tuple.len() as u32;
                for (index, value) in (0..).zip(tuple.items()) {
                    let node = self.add(id, Step::Element(index));
                    pending.push((node, value));
                }
            }
            Some(value) => {
                let node = self.add(id, Step::Items);
                self.nodes[id as usize].items = node;
                pending.push((node, value));
            }
        }
        Ok(())
    }

    fn types(&self, id: NodeId, value: Value<'_>) -> Result<Types, SchemaError> {
        let want = "a type name (null, boolean, integer, number, string, array, object) or a list of different ones";
        let named = |value: Value<'_>| value.as_str().and_then(Types::named);
        if let Some(types) = named(value) {
            return Ok(types);
        }
        let mut all = Types::NONE;
        let mut names = Vec::new();
        for name in value.items() {
            let Some(types) = named(name) else { return Err(self.wrong(id, "type", want, name)) };
            if names.contains(&name.as_str()) {
                return Err(self.wrong(id, "type", want, value));
            }
            names.push(name.as_str());
            all = Types(all.0 | types.0);
        }
        if names.is_empty() { Err(self.wrong(id, "type", want, value)) } else { Ok(all) }
    }

    fn length(&self, id: NodeId, keyword: &'static str, value: Value<'_>) -> Result<u64, SchemaError> {
        let length = value.as_number().and_then(crate::json::Number::truncated);
        length.ok_or_else(|| self.wrong(id, keyword, "a number of code points, 0 or more", value))
    }

    fn wrong(&self, id: NodeId, keyword: &'static str, want: &'static str, found: Value<'_>) -> SchemaError {
        let text = found.text();
        let short = text.len() <= 40 && found.is_empty();
        let found = if short { format!("`{text}`") } else { found.kind().with_article().to_owned() };
        SchemaError::Keyword { at: pointer(&self.steps, id), keyword, want, found }
    }

    fn portability(&mut self, id: NodeId, schema: Value<'_>) {
        if schema.get("type").is_some() {
            return;
        }
        for member in schema.members() {
            if let Some((keyword, kind)) = BOUND_TO.iter().find(|(keyword, _)| *keyword == member.name) {
                self.note(id, format!("`{keyword}` without `type`, which binds {kind} only"));
            }
        }
    }

    fn note(&mut self, id: NodeId, what: String) {
        let pointer = pointer(&self.steps, id);
        self.notes.push(Note { pointer, note: format!("{what} is enforced here and was ignored by older SDKs") });
    }
}

const ITEMS: &str = "a schema or a list of one or more schemas";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::KEYWORDS;

    fn parse(text: &str) -> Result<Schema, SchemaError> {
        Schema::parse(text.as_bytes())
    }

    #[test]
    fn every_keyword_is_listed() {
        assert!(BOUND_TO.iter().all(|(keyword, _)| KEYWORDS.contains(keyword)));
    }

    #[test]
    fn wrong_values_name_place_keyword_and_what_was_expected() {
        for (schema, message) in [
            (
                r#"{"properties": {"a": {"type": "strnig"}}}"#,
                "`type` at `/properties/a` must be a type name (null, boolean, integer, number, string, array, object) \
                 or a list of different ones, found `\"strnig\"`",
            ),
            (r#"{"required": "id"}"#, "`required` at the root must be an array of names, found `\"id\"`"),
            (r#"{"required": [1]}"#, "`required` at the root must be an array of names, found `1`"),
            (
                r#"{"minLength": "x"}"#,
                "`minLength` at the root must be a number of code points, 0 or more, found `\"x\"`",
            ),
            (
                r#"{"items": {"maxLength": -2}}"#,
                "`maxLength` at `/items` must be a number of code points, 0 or more, found `-2`",
            ),
            (r#"{"properties": []}"#, "`properties` at the root must be an object, found `[]`"),
            (r#"{"enum": 1}"#, "`enum` at the root must be an array, found `1`"),
            (r#"{"minimum": null}"#, "`minimum` at the root must be a number, found `null`"),
            (
                r#"{"items": []}"#,
                "`items` at the root must be a schema or a list of one or more schemas, found an empty array",
            ),
            (r#"{"items": [1]}"#, "a schema must be an object or a boolean, found a number at `/items/0`"),
            ("3", "a schema must be an object or a boolean, found a number at the root"),
        ] {
            assert_eq!(parse(schema).unwrap_err().to_string(), message);
        }
        for schema in [r#"{"type": []}"#, r#"{"type": ["null", "null"]}"#, r#"{"type": 1}"#, r#"{"maxLength": -1.5}"#] {
            assert!(parse(schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn odd_values_that_are_allowed() {
        for schema in [
            r#"{"enum": []}"#,
            r#"{"enum": [1, 1.0]}"#,
            r#"{"required": ["a", "a"]}"#,
            r#"{"minLength": -0.5, "maxLength": 1e0}"#,
            r#"{"type": ["integer", "number"]}"#,
            r#"{"properties": {}, "required": []}"#,
            "true",
            "false",
        ] {
            assert!(parse(schema).is_ok(), "{schema}");
        }
    }

    #[test]
    fn sensitive_paths_are_sorted() {
        let schema = parse(
            r#"{"properties": {
                "profile": {"properties": {"full_name": {"x-gdpr-sensitive": "name"}}},
                "email": {"x-gdpr-sensitive": true},
                "addresses": {"items": {"properties": {"line": {"x-gdpr-sensitive": true}}}},
                "pair": {"items": [{"x-gdpr-sensitive": true}, {}]},
                "meta": {"additionalProperties": {"x-gdpr-sensitive": true}},
                "no": {"x-gdpr-sensitive": ""}
            }}"#,
        )
        .unwrap();
        let paths: Vec<_> = schema.sensitive_paths().iter().map(|s| (s.path.as_str(), s.category.as_str())).collect();
        assert_eq!(
            paths,
            [("addresses[].line", ""), ("email", ""), ("meta{}", ""), ("pair[0]", ""), ("profile.full_name", "name")]
        );
    }
}
