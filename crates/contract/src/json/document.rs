//! A whole JSON text as a flat list of values, each with its place in the text.
//!
//! Nothing here recurses, so a document of any depth can be read, compared and dropped on any
//! stack. Of members with one name the last counts (as the conformance suite says); the others stay
//! in the list, marked, for those who rewrite the text.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::quality::RandomState;

use super::scan::{self, At};
use super::{DEFAULT_DEPTH, Fault, Number, ReadError};

/// The kind of a JSON value (RFC 8259, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names of RFC 8259")]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// Returns the name with its article, for messages: `a string`, `null`.
    #[must_use]
    pub fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// One value of a [`Tape`]: containers are followed by what they hold, members as key, value.
#[derive(Clone, Copy)]
struct Slot {
    kind: Kind,
    /// A key that a later member of the same object repeats.
    superseded: bool,
    start: u32,
    end: u32,
    /// The slot after everything in this one.
    next: u32,
    /// Elements of an array; members, without superseded ones, of an object.
    count: u32,
    /// Where the characters of a string with escapes stand in `plain`; empty for others.
    plain: (u32, u32),
}

/// The values of a text, without the text. Reused, it allocates nothing.
#[derive(Clone, Default)]
pub(crate) struct Tape {
    slots: Vec<Slot>,
    /// The characters of strings with escapes.
    plain: String,
    open: Vec<u32>,
}

impl Tape {
    /// Reads `text` and returns its root. What the tape held before is gone.
    pub(crate) fn read<'t>(&'t mut self, text: &'t str, depth: usize) -> Result<Value<'t>, At> {
        self.slots.clear();
        self.plain.clear();
        self.open.clear();
        if u32::try_from(text.len()).is_err() {
            return Err((0, Fault::TooLarge));
        }
        self.fill(text, depth)?;
        Ok(Value { text, tape: self, at: 0 })
    }

    fn fill(&mut self, text: &str, depth: usize) -> Result<(), At> {
        let bytes = text.as_bytes();
        let mut pos = scan::space(bytes, 0);
        'value: loop {
            let start = pos;
            let kind = match bytes.get(pos) {
                Some(b'{') => Kind::Object,
                Some(b'[') => Kind::Array,
                Some(b'"') => {
                    pos = self.string(text, pos)?;
                    Kind::String
                }
                Some(b'-' | b'0'..=b'9') => {
                    pos = scan::number(bytes, pos)?.end;
                    Kind::Number
                }
                Some(b't') => {
                    pos = scan::literal(bytes, pos, "true")?;
                    Kind::Bool
                }
                Some(b'f') => {
                    pos = scan::literal(bytes, pos, "false")?;
                    Kind::Bool
                }
                Some(b'n') => {
                    pos = scan::literal(bytes, pos, "null")?;
                    Kind::Null
                }
                _ => return Err(scan::expected(bytes, pos, "a value")),
            };
            match kind {
                Kind::Object | Kind::Array => {
                    if self.open.len() == depth {
                        return Err((pos, Fault::Depth(depth)));
                    }
                    self.open.push(self.slots.len() as u32);
                    self.push(kind, start, start);
                    pos = scan::space(bytes, pos + 1);
                    if kind == Kind::Array && bytes.get(pos) != Some(&b']') {
                        continue 'value;
                    }
                    if kind == Kind::Object && bytes.get(pos) != Some(&b'}') {
                        pos = self.key(text, pos, "a name or `}`")?;
                        continue 'value;
                    }
                }
                Kind::String => {}
                _ => self.push(kind, start, pos),
            }
            // What follows a value, or closes an empty container.
            loop {
                let Some(&open) = self.open.last() else {
                    pos = scan::space(bytes, pos);
                    return if pos == bytes.len() { Ok(()) } else { Err((pos, Fault::Trailing)) };
                };
                let object = self.slots[open as usize].kind == Kind::Object;
                pos = scan::space(bytes, pos);
                match bytes.get(pos) {
                    Some(b',') if self.slots.len() as u32 > open + 1 => {
                        pos = scan::space(bytes, pos + 1);
                        if object {
                            pos = self.key(text, pos, "a name")?;
                        }
                        continue 'value;
                    }
                    Some(b'}') if object => pos += 1,
                    Some(b']') if !object => pos += 1,
                    _ if object => return Err(scan::expected(bytes, pos, "`,` or `}`")),
                    _ => return Err(scan::expected(bytes, pos, "`,` or `]`")),
                }
                self.open.pop();
                self.close(text, open, pos);
            }
        }
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        let next = self.slots.len() as u32 + 1;
        let (start, end) = (start as u32, end as u32);
        self.slots.push(Slot { kind, superseded: false, start, end, next, count: 0, plain: (0, 0) });
    }

    fn string(&mut self, text: &str, pos: usize) -> Result<usize, At> {
        let found = scan::string(text.as_bytes(), pos + 1)?;
        self.push(Kind::String, pos, found.end + 1);
        if found.escaped {
            let start = self.plain.len() as u32;
            scan::unescape_into(&text[found.start..found.end], &mut self.plain);
            let slot = self.slots.len() - 1;
            self.slots[slot].plain = (start, self.plain.len() as u32);
        }
        Ok(found.end + 1)
    }

    fn key(&mut self, text: &str, pos: usize, what: &'static str) -> Result<usize, At> {
        let bytes = text.as_bytes();
        if bytes.get(pos) != Some(&b'"') {
            return Err(scan::expected(bytes, pos, what));
        }
        let pos = scan::space(bytes, self.string(text, pos)?);
        if bytes.get(pos) != Some(&b':') {
            return Err(scan::expected(bytes, pos, "`:`"));
        }
        Ok(scan::space(bytes, pos + 1))
    }

    /// Ends the container at slot `open`: its size, and which of its members do not count.
    fn close(&mut self, text: &str, open: u32, end: usize) {
        let next = self.slots.len() as u32;
        let object = self.slots[open as usize].kind == Kind::Object;
        let mut count = 0;
        let mut at = open + 1;
        while at < next {
            count += 1;
            at = if object { self.slots[at as usize + 1].next } else { self.slots[at as usize].next };
        }
        let slot = &mut self.slots[open as usize];
        (slot.end, slot.next, slot.count) = (end as u32, next, count);
        if object && count > 1 {
            let superseded = Self::superseded(Value { text, tape: self, at: open });
            self.slots[open as usize].count -= superseded.len() as u32;
            for key in superseded {
                self.slots[key as usize].superseded = true;
            }
        }
    }

    /// Returns the slots of the keys of `object` that a later member repeats.
    fn superseded(object: Value<'_>) -> Vec<u32> {
        let mut superseded = Vec::new();
        if object.len() <= 8 {
            for (i, member) in object.all_members().enumerate() {
                if object.all_members().skip(i + 1).any(|later| later.name == member.name) {
                    superseded.push(member.key.at);
                }
            }
        } else {
            let mut last = HashMap::with_capacity_and_hasher(object.len(), RandomState::default());
            for member in object.all_members() {
                superseded.extend(last.insert(member.name, member.key.at));
            }
        }
        superseded
    }
}

/// A JSON text, read: a borrowed view of its values starts at [`Document::root`].
#[derive(Clone)]
pub struct Document {
    text: Box<str>,
    tape: Tape,
}

impl Document {
    /// Reads `text`, in which containers may nest [`DEFAULT_DEPTH`] deep.
    ///
    /// # Errors
    /// [`ReadError`] where `text` is not JSON (RFC 8259), with the first place at which it is not.
    pub fn parse(text: &[u8]) -> Result<Self, ReadError> {
        Self::parse_with_depth(text, DEFAULT_DEPTH)
    }

    /// Reads `text`, in which containers may nest `depth` deep.
    ///
    /// # Errors
    /// [`ReadError`] where `text` is not JSON (RFC 8259), with the first place at which it is not.
    pub fn parse_with_depth(text: &[u8], depth: usize) -> Result<Self, ReadError> {
        if text.starts_with(b"\xEF\xBB\xBF") {
            return Err(ReadError::new(text, (0, Fault::ByteOrderMark)));
        }
        let read = std::str::from_utf8(text).map_err(|error| (error.valid_up_to(), Fault::Utf8)).and_then(|text| {
            let mut tape = Tape::default();
            tape.read(text, depth)?;
            Ok(Self { text: text.into(), tape })
        });
        read.map_err(|at| ReadError::new(text, at))
    }

    /// Returns the value that the whole text is.
    #[must_use]
    pub fn root(&self) -> Value<'_> {
        Value { text: &self.text, tape: &self.tape, at: 0 }
    }

    /// Returns the text that was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// A value in a [`Document`]; equal to another when both are the same JSON value: numbers by
/// mathematical value, objects whatever the order of their members.
#[derive(Clone, Copy)]
pub struct Value<'d> {
    text: &'d str,
    tape: &'d Tape,
    at: u32,
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
pub struct Member<'d> {
    /// The name, without escapes.
    pub name: &'d str,
    /// The name as a string value, for its place.
    pub key: Value<'d>,
    /// What stands after the colon.
    pub value: Value<'d>,
}

impl<'d> Value<'d> {
    fn slot(self) -> &'d Slot {
        &self.tape.slots[self.at as usize]
    }

    fn sibling(self, at: u32) -> Self {
        Self { at, ..self }
    }

    /// Returns the value's kind.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.slot().kind
    }

    /// Returns the bytes of the document's text at which the value stands, from 0, end excluded.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        self.slot().start as usize..self.slot().end as usize
    }

    /// Returns the value as it was written.
    #[must_use]
    pub fn text(self) -> &'d str {
        &self.text[self.span()]
    }

    /// Returns the truth value, or `None` for another kind.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.text() == "true")
    }

    /// Returns the number, or `None` for another kind.
    #[must_use]
    pub fn as_number(self) -> Option<Number<'d>> {
        (self.kind() == Kind::Number).then(|| Number::from_scanned(self.text()))
    }

    /// Returns the characters of a string without escapes, or `None` for another kind.
    #[must_use]
    pub fn as_str(self) -> Option<&'d str> {
        let slot = self.slot();
        match slot.plain {
            _ if slot.kind != Kind::String => None,
            (0, 0) => Some(&self.text[slot.start as usize + 1..slot.end as usize - 1]),
            (start, end) => Some(&self.tape.plain[start as usize..end as usize]),
        }
    }

    /// Returns the number of elements or of members, those that count; 0 for scalars.
    #[must_use]
    pub fn len(self) -> usize {
        self.slot().count as usize
    }

    /// Returns whether the value holds neither element nor member.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the elements of an array; none for another kind.
    pub fn items(self) -> impl Iterator<Item = Value<'d>> + Clone {
        let (mut at, end) = self.inside(Kind::Array);
        std::iter::from_fn(move || {
            let item = (at < end).then(|| self.sibling(at))?;
            at = item.slot().next;
            Some(item)
        })
    }

    /// Returns the members of an object as they were written, of those with one name the last;
    /// none for another kind.
    pub fn members(self) -> impl Iterator<Item = Member<'d>> + Clone {
        self.all_members().filter(|member| !member.key.slot().superseded)
    }

    /// Returns the members of an object, those that a later one of the same name replaces too.
    pub fn all_members(self) -> impl Iterator<Item = Member<'d>> + Clone {
        let (mut at, end) = self.inside(Kind::Object);
        std::iter::from_fn(move || {
            let key = (at < end).then(|| self.sibling(at))?;
            let value = self.sibling(at + 1);
            at = value.slot().next;
            Some(Member { name: key.as_str()?, key, value })
        })
    }

    fn inside(self, kind: Kind) -> (u32, u32) {
        if self.kind() == kind { (self.at + 1, self.slot().next) } else { (0, 0) }
    }

    /// Returns the member `name` of an object: a search through all of them.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Value<'d>> {
        self.members().find(|member| member.name == name).map(|member| member.value)
    }

    /// Returns the value at `pointer`, seen from this one.
    ///
    /// ```
    /// # use bq_contract::Document;
    /// let text = br#"{"lines": [{"age": -3}]}"#;
    /// let document = Document::parse(text)?;
    /// let age = document.root().at(&"/lines/0/age".parse()?);
    /// assert_eq!(age.map(|age| &text[age.span()]), Some(&b"-3"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn at(self, pointer: &super::Pointer) -> Option<Value<'d>> {
        pointer.tokens().try_fold(self, |value, token| match value.kind() {
            Kind::Object => value.get(&token),
            // RFC 6901, section 4: an index has no leading zero.
            Kind::Array if token == "0" || !token.starts_with(['0', '+']) => value.items().nth(token.parse().ok()?),
            _ => None,
        })
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        Same::default().values(*self, *other)
    }
}

impl Eq for Value<'_> {}

/// Compares values of two documents; reused, it allocates nothing.
#[derive(Clone, Default)]
pub(crate) struct Same {
    /// Pairs of slots still to compare.
    pairs: Vec<(u32, u32)>,
    /// Key slots of two large objects, to be sorted by name.
    names: [Vec<u32>; 2],
}

impl Same {
    pub(crate) fn values(&mut self, a: Value<'_>, b: Value<'_>) -> bool {
        self.pairs.clear();
        self.pairs.push((a.at, b.at));
        while let Some((left, right)) = self.pairs.pop() {
            let (left, right) = (a.sibling(left), b.sibling(right));
            let same = left.kind() == right.kind()
                && match left.kind() {
                    Kind::Null => true,
                    Kind::Bool => left.text() == right.text(),
                    Kind::Number => left.as_number() == right.as_number(),
                    Kind::String => left.as_str() == right.as_str(),
                    Kind::Array => {
                        self.pairs.extend(left.items().zip(right.items()).map(|(l, r)| (l.at, r.at)));
                        left.len() == right.len()
                    }
                    Kind::Object => left.len() == right.len() && self.members(left, right),
                };
            if !same {
                return false;
            }
        }
        true
    }

    /// Returns whether two objects of one size have the same names, and queues their values.
    fn members(&mut self, a: Value<'_>, b: Value<'_>) -> bool {
        if a.len() <= 8 {
            return a.members().all(|member| match b.get(member.name) {
                Some(value) => {
                    self.pairs.push((member.value.at, value.at));
                    true
                }
                None => false,
            });
        }
        for (names, object) in self.names.iter_mut().zip([a, b]) {
            names.clear();
            names.extend(object.members().map(|member| member.key.at));
            names.sort_unstable_by_key(|&key| object.sibling(key).as_str());
        }
        self.names[0].iter().zip(&self.names[1]).all(|(&left, &right)| {
            self.pairs.push((left + 1, right + 1));
            a.sibling(left).as_str() == b.sibling(right).as_str()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Document {
        Document::parse(text.as_bytes()).unwrap()
    }

    fn fault(text: &[u8]) -> (usize, Fault) {
        let error = Document::parse(text).unwrap_err();
        (error.offset, error.fault)
    }

    #[test]
    fn values_keep_their_text_and_order() {
        let document = parse(" {\"a\": [1.50, \"x\\n\", null, true], \"\\u0062\" : {} } ");
        let root = document.root();
        assert_eq!(root.len(), 2);
        assert_eq!(root.members().map(|m| m.name).collect::<Vec<_>>(), ["a", "b"]);
        let items: Vec<_> = root.get("a").unwrap().items().collect();
        assert_eq!(items[0].as_number().unwrap().text(), "1.50");
        assert_eq!(items[1].as_str(), Some("x\n"));
        assert_eq!(items[3].as_bool(), Some(true));
        assert!(root.get("b").unwrap().is_empty());
    }

    #[test]
    fn the_last_of_one_name_counts() {
        let mut text = String::from("{\"a\":1");
        for i in 0..20 {
            let document = parse(&format!("{text},\"\\u0061\":2}}"));
            let root = document.root();
            assert_eq!(root.get("a").unwrap().text(), "2", "{root:?}");
            assert_eq!((root.len(), root.all_members().count()), (i + 1, i + 2));
            assert_eq!(root.members().count(), i + 1);
            text += &format!(",\"k{i}\":[]");
        }
    }

    #[test]
    fn equality_is_by_value() {
        for (a, b, same) in [
            ("[1, {\"b\": 2.50, \"a\": null}]", "[1.0, {\"a\": null, \"b\": 25e-1}]", true),
            ("[1, 2]", "[2, 1]", false),
            ("[1]", "[1, 1]", false),
            ("{}", "[]", false),
            ("true", "1", false),
            ("\"1\"", "1", false),
            ("\"\\u0061\"", "\"a\"", true),
            ("{\"a\":1}", "{\"b\":1}", false),
            ("{\"a\":1,\"a\":2}", "{\"a\":2}", true),
        ] {
            assert_eq!(parse(a).root() == parse(b).root(), same, "{a} {b}");
        }
        let object = |order: &mut dyn Iterator<Item = u32>| {
            let members: Vec<_> = order.map(|i| format!("\"k{i}\":{i}")).collect();
            parse(&format!("{{{}}}", members.join(",")))
        };
        assert!(object(&mut (0..40)).root() == object(&mut (0..40).rev()).root());
        assert!(object(&mut (0..40)).root() != object(&mut (1..41)).root());
    }

    #[test]
    fn faults_have_places() {
        for (text, at) in [
            (&b""[..], (0, Fault::End)),
            (b"[1,]", (3, Fault::Expected("a value"))),
            (b"{\"a\":1,}", (7, Fault::Expected("a name"))),
            (b"{,}", (1, Fault::Expected("a name or `}`"))),
            (b"{\"a\" 1}", (5, Fault::Expected("`:`"))),
            (b"[1 2]", (3, Fault::Expected("`,` or `]`"))),
            (b"[,1]", (1, Fault::Expected("a value"))),
            (b"1 2", (2, Fault::Trailing)),
            (b"\xEF\xBB\xBF{}", (0, Fault::ByteOrderMark)),
            (b"NaN", (0, Fault::Expected("a value"))),
            (b"nul", (3, Fault::End)),
            (b"[\"\xFF\"]", (2, Fault::Utf8)),
            (b"[1}", (2, Fault::Expected("`,` or `]`"))),
        ] {
            assert_eq!(fault(text), at, "{}", text.escape_ascii());
        }
        let error = Document::parse("{\n  \"ü\": tru\n}".as_bytes()).unwrap_err();
        assert_eq!((error.line, error.column, error.offset), (2, 8, 10));
    }

    #[test]
    fn depth_is_limited_and_never_recursed_into() {
        let deep = |n: usize| [vec![b'['; n], vec![b']'; n]].concat();
        assert!(Document::parse(&deep(512)).is_ok());
        assert_eq!(fault(&deep(513)), (512, Fault::Depth(512)));
        let (a, b) = (
            Document::parse_with_depth(&deep(1_000_000), usize::MAX),
            Document::parse_with_depth(&deep(1_000_000), usize::MAX),
        );
        assert!(a.unwrap().root() == b.unwrap().root());
    }
}
