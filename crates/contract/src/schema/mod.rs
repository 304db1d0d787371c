//! A contract schema: draft-07 cut down to ten keywords, compiled into a flat list of nodes.
//!
//! `compile` turns a document into [`Schema`]; `names` finds a property by the bytes of its name;
//! `constants` and `minimum` hold what a value is compared with. The walk over a message is in
//! `validate`, which reads the nodes made here and nothing else.

mod compile;
mod constants;
mod minimum;
mod names;

use std::fmt;

use serde::Serialize;

use crate::json::{Document, Kind, Pointer, ReadError};

pub(crate) use compile::{ANY, FREE, Fields, Member, NO_MEMBER, Node, NodeId, PAST_63, Step, Types};
pub(crate) use constants::{Constants, Literal};
pub(crate) use names::Names;

/// The keywords that are enforced.
pub const KEYWORDS: [&str; 10] = [
    "type",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minLength",
    "maxLength",
    "minimum",
];

/// Returns whether `keyword` only describes: it never warns and never decides.
#[must_use]
pub fn is_annotation(keyword: &str) -> bool {
    matches!(keyword, "$schema" | "$id" | "title" | "description" | "examples" | "default" | "$comment")
        || keyword.starts_with("x-")
}

/// The schema of one message URN, ready to judge data.
///
/// ```
/// use bq_contract::Schema;
/// let schema = Schema::parse(br#"{"type": "object", "required": ["id"], "properties": {"id": {"minimum": 1}}}"#)?;
/// assert!(schema.is_valid(br#"{"id": 9007199254740993}"#));
/// assert_eq!(schema.validate(br#"{"id": 0}"#)?[0].path, "id");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Schema {
    document: Document,
    pub(crate) nodes: Vec<Node>,
    pub(crate) fields: Vec<Fields>,
    pub(crate) members: Vec<Member>,
    steps: Vec<(NodeId, Step)>,
    root: NodeId,
    warnings: Vec<Warning>,
    notes: Vec<Note>,
    sensitive: Vec<SensitivePath>,
}

/// A keyword outside the ten, which is not enforced.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Warning {
    /// The schema object that carries the keyword.
    pub pointer: Pointer,
    /// The keyword's name.
    pub keyword: String,
}

/// A rule that is enforced here and that older SDKs pass over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The schema that holds the rule.
    pub pointer: Pointer,
    /// What older SDKs do not enforce, in plain words.
    pub note: String,
}

/// A part of the data that is marked `x-gdpr-sensitive`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SensitivePath {
    /// Where: `email`, `addresses[].line`, `meta{}`, `pair[0]`; empty for the whole `data`.
    pub path: String,
    /// The mark's text, empty where the mark is `true`.
    pub category: String,
}

/// Why a text is no contract schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is not JSON.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A keyword of the ten has a value that draft-07 forbids.
    #[error("`{keyword}` at {} must be {want}, found {found}", Place(at))]
    Keyword {
        /// The schema object that carries the keyword.
        at: Pointer,
        /// The keyword.
        keyword: &'static str,
        /// What its value must be.
        want: &'static str,
        /// What its value is.
        found: String,
    },
    /// Something other than an object or a boolean stands where a schema must.
    #[error("a schema must be an object or a boolean, found {} at {}", found.with_article(), Place(at))]
    NotASchema {
        /// Where.
        at: Pointer,
        /// What stands there.
        found: Kind,
    },
}

/// A pointer in a message; the empty one reads better in words.
struct Place<'a>(&'a Pointer);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.as_str().is_empty() { f.write_str("the root") } else { write!(f, "`{}`", self.0) }
    }
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// [`SchemaError`] where `text` is not JSON or a keyword of the ten has a value that draft-07
    /// forbids. Other keywords are no error: see [`Schema::warnings`].
    pub fn parse(text: &[u8]) -> Result<Self, SchemaError> {
        compile::compile(Document::parse(text)?)
    }

    /// Returns what was read, with the place of every value.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns one warning for each occurrence of a keyword that is not enforced.
    ///
    /// In this order: a schema's own keywords as written, then its `properties` as written, its
    /// `items`, its `additionalProperties`.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns what this library enforces and older SDKs pass over.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the parts of the data that are personal, sorted by path.
    #[must_use]
    pub fn sensitive_paths(&self) -> &[SensitivePath] {
        &self.sensitive
    }

    /// Appends to `followers` which member probably comes after which: at first, the next declared.
    pub(crate) fn followers(&self, followers: &mut Vec<u32>) {
        for fields in &self.fields {
            let end = fields.members + fields.names.len() as u32;
            followers.extend((fields.members..end).chain([NO_MEMBER]));
        }
    }

    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Returns how `id` is reached from its parent.
    pub(crate) fn step(&self, id: NodeId) -> &(NodeId, Step) {
        &self.steps[id as usize]
    }

    /// Returns where `id` stands in the schema.
    pub(crate) fn pointer(&self, id: NodeId) -> Pointer {
        compile::pointer(&self.steps, id)
    }
}
