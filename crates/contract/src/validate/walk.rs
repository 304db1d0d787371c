//! One walk over the bytes of a value, driven by the compiled schema; no document is built.
//!
//! The walk is the reader and the judge at once: it refuses what is not JSON and tells a [`Sink`]
//! of every fault. It keeps its place on a stack of [`Frame`]s of its own, so that depth costs no
//! program stack. A text that is not JSON outweighs a fault, so the walk goes on after one.
//!
//! Of members with one name the last counts. The walk meets the others first, so a sink must be able
//! to take faults back: [`Report`](super::report::Report) does. A sink that keeps only a verdict
//! is told by [`Sink::repeated`] that its verdict may be wrong, and the caller walks again.

use super::Scratch;
use crate::json::scan::{self, At, Num, Str};
use crate::json::{Fault, Kind};
use crate::schema::{ANY, Constants, Fields, Literal, Node, NodeId, Schema, Types};

/// Receives what the walk finds.
pub(super) trait Sink {
    /// Whether the sink wants to know places: else the walk keeps none.
    const REPORTS: bool;

    /// A value does not fulfil `node`.
    fn fail(&mut self, place: &Place<'_>, node: NodeId, broken: Broken<'_>);

    /// A member may be one of several of the same name, so that an earlier fault may not count.
    fn repeated(&mut self);

    /// A member starts whose raw name is `name`; `object` tells objects of one walk apart.
    fn member(&mut self, object: usize, name: &[u8]);

    /// The member that started last in `object` ends.
    fn member_ends(&mut self, object: usize, name: &[u8]);
}

/// What is wrong with a value, as far as the walk knows without words.
pub(super) enum Broken<'a> {
    /// Its type is none of those allowed.
    Type(Kind),
    /// It has this many code points.
    Length(u64),
    Minimum,
    Constant(&'a Constants),
    /// The object lacks the member.
    Required(&'a str),
}

/// Where a value stands: in `text` from `start` to `end`, below the containers of `frames`.
pub(super) struct Place<'a> {
    pub(super) schema: &'a Schema,
    pub(super) text: &'a [u8],
    pub(super) frames: &'a [Frame],
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A container that the walk is in.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    shape: Shape,
    /// What the container itself must fulfil.
    node: NodeId,
    /// The node of the elements past the tuple.
    items: NodeId,
    /// The index of the element; for an object, where in [`Scratch::followers`] the name that
    /// probably comes next stands.
    index: u32,
    /// The declared names met so far: a bit for each of the first 64.
    seen: u64,
    /// Where the bits of the names past 64 start in [`Scratch::seen`].
    seen_more: usize,
    start: usize,
    /// The raw name of the member, if the sink reports.
    name: (usize, usize),
    /// Whether that name is declared.
    declared: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Around the whole value.
    Outside,
    Array,
    /// An object no member of which is judged.
    Free,
    /// An object with declared names: the place of its fields.
    Object(u32),
}

impl Frame {
    const OUTSIDE: Self = Self {
        shape: Shape::Outside,
        node: ANY,
        items: ANY,
        index: 0,
        seen: 0,
        seen_more: 0,
        start: 0,
        name: (0, 0),
        declared: false,
    };

    /// Returns what leads from the container to the value in it.
    pub(super) fn token<'t>(&self, text: &'t [u8]) -> Token<'t> {
        match self.shape {
            Shape::Outside => Token::None,
            Shape::Array => Token::Index(self.index),
            Shape::Free | Shape::Object(_) => {
                Token::Name { raw: &text[self.name.0..self.name.1], declared: self.declared }
            }
        }
    }

    pub(super) fn node(&self) -> NodeId {
        self.node
    }
}

/// What leads from a container to a value in it.
pub(super) enum Token<'t> {
    None,
    Index(u32),
    Name { raw: &'t [u8], declared: bool },
}

/// Walks over the value that starts at or after `start`, and returns the position after it.
pub(super) fn walk<S: Sink>(
    schema: &Schema,
    root: NodeId,
    text: &[u8],
    start: usize,
    depth: usize,
    scratch: &mut Scratch,
    sink: &mut S,
) -> Result<usize, At> {
    scratch.seen.clear();
    // Taken out of the scratch, the list of frames is one step nearer.
    let mut frames = std::mem::take(&mut scratch.frames);
    if frames.is_empty() {
        frames.push(Frame::OUTSIDE);
    }
    let mut walk = Walk { schema, text, depth, scratch, sink, frames, at: 0 };
    let end = walk.value(root, start);
    walk.scratch.frames = walk.frames;
    end
}

struct Walk<'a, S> {
    schema: &'a Schema,
    text: &'a [u8],
    depth: usize,
    scratch: &'a mut Scratch,
    sink: &'a mut S,
    /// The containers that the walk is in, below [`Frame::OUTSIDE`]; those past `at` are left over.
    /// They are changed in place: to copy one just written to is slow.
    frames: Vec<Frame>,
    at: usize,
}

impl<S: Sink> Walk<'_, S> {
    /// Returns the innermost container.
    #[inline(always)]
    fn top(&mut self) -> &mut Frame {
        &mut self.frames[self.at]
    }

    fn value(&mut self, root: NodeId, start: usize) -> Result<usize, At> {
        let text = self.text;
        let mut id = root;
        let mut pos = scan::space(text, start);
        loop {
            let node = &self.schema.nodes[id as usize];
            // What a name must be called in an error, if one comes next; else an element does.
            let name = 'next: {
                match text.get(pos) {
                    Some(b'"') => {
                        let string = scan::string(text, pos + 1)?;
                        self.string(id, node, string);
                        pos = string.end + 1;
                    }
                    Some(b'-' | b'0'..=b'9') => {
                        let num = scan::number(text, pos)?;
                        self.number(id, node, num);
                        pos = num.end;
                    }
                    Some(b'{') => {
                        self.open(id, node, Kind::Object, pos)?;
                        pos = scan::space(text, pos + 1);
                        if text.get(pos) != Some(&b'}') {
                            break 'next Some("a name or `}`");
                        }
                        pos = self.close(pos + 1);
                    }
                    Some(b'[') => {
                        self.open(id, node, Kind::Array, pos)?;
                        pos = scan::space(text, pos + 1);
                        if text.get(pos) != Some(&b']') {
                            break 'next None;
                        }
                        pos = self.close(pos + 1);
                    }
                    Some(b't') => pos = self.literal(id, node, pos, Literal::True)?,
                    Some(b'f') => pos = self.literal(id, node, pos, Literal::False)?,
                    Some(b'n') => pos = self.literal(id, node, pos, Literal::Null)?,
                    _ => return Err(scan::expected(text, pos, "a value")),
                }
                // A value has ended: what comes next depends on the container it stands in.
                loop {
                    let object = match self.top().shape {
                        Shape::Outside => return Ok(pos),
                        Shape::Array => false,
                        Shape::Free | Shape::Object(_) => true,
                    };
                    if S::REPORTS && object {
                        let (from, to) = self.top().name;
                        self.sink.member_ends(self.frames[self.at].start, &text[from..to]);
                    }
                    pos = scan::space(text, pos);
                    match (text.get(pos), object) {
                        (Some(b','), _) => {
                            pos = scan::space(text, pos + 1);
                            if object {
                                break 'next Some("a name");
                            }
                            self.top().index += 1;
                            break 'next None;
                        }
                        (Some(b'}'), true) | (Some(b']'), false) => pos = self.close(pos + 1),
                        (_, true) => return Err(scan::expected(text, pos, "`,` or `}`")),
                        (_, false) => return Err(scan::expected(text, pos, "`,` or `]`")),
                    }
                }
            };
            if let Some(name) = name {
                (id, pos) = self.member(pos, name)?;
            } else {
                id = self.element();
            }
        }
    }

    /// Enters a container that starts at `pos`.
    #[inline]
    fn open(&mut self, id: NodeId, node: &Node, kind: Kind, pos: usize) -> Result<(), At> {
        if self.at == self.depth {
            return Err((pos, Fault::Depth(self.depth)));
        }
        let object = kind == Kind::Object;
        let fits = node.types.overlap(if object { Types::OBJECT } else { Types::ARRAY });
        if !fits {
            self.fail(id, pos, pos + 1, Broken::Type(kind));
        }
        self.at += 1;
        if self.at == self.frames.len() {
            self.frames.push(Frame::OUTSIDE);
        }
        let seen_more = self.scratch.seen.len();
        let top = &mut self.frames[self.at];
        // Inside a container of the wrong type nothing more is judged.
        top.node = if fits { id } else { ANY };
        top.start = pos;
        if !object {
            top.shape = Shape::Array;
            top.items = if fits { node.items } else { ANY };
            top.index = 0;
        } else if let Some(fields) = node.fields
            && fits
        {
            top.shape = Shape::Object(fields);
            top.index = self.schema.fields[fields as usize].followers;
            top.seen = 0;
            top.seen_more = seen_more;
            let names = self.schema.fields[fields as usize].names.len();
            if names > 64 {
                self.scratch.seen.resize(seen_more + (names - 1) / 64, 0);
            }
        } else {
            top.shape = Shape::Free;
        }
        Ok(())
    }

    /// Leaves the innermost container, which ends before `end`; returns `end`.
    #[inline]
    fn close(&mut self, end: usize) -> usize {
        let Frame { shape, node, start, seen, seen_more, .. } = self.frames[self.at];
        self.at -= 1;
        if let Shape::Object(fields) = shape {
            let schema = self.schema;
            let fields = &schema.fields[fields as usize];
            let mut missing = fields.required.first().copied().unwrap_or(0) & !seen;
            let mut word = 0;
            loop {
                while missing != 0 {
                    let place = word * 64 + missing.trailing_zeros() as usize;
                    missing &= missing - 1;
                    let name = fields.names.name(place as u32);
                    self.fail(node, start, end, Broken::Required(name));
                }
                word += 1;
                let Some(required) = fields.required.get(word) else { break };
                missing = required & !self.scratch.seen[seen_more + word - 1];
            }
            if fields.names.len() > 64 {
                self.scratch.seen.truncate(seen_more);
            }
        }
        if !self.schema.nodes[node as usize].constants.is_empty() {
            self.container_constants(node, start, end);
        }
        end
    }

    #[cold]
    fn container_constants(&mut self, id: NodeId, start: usize, end: usize) {
        let schema = self.schema;
        for constants in &schema.nodes[id as usize].constants {
            let Scratch { tape, same, .. } = self.scratch;
            if !constants.admits_container(&self.text[start..end], tape, same) {
                self.fail(id, start, end, Broken::Constant(constants));
            }
        }
    }

    /// Returns the node of the array element that comes next.
    #[inline]
    fn element(&mut self) -> NodeId {
        let Frame { node, index, items, .. } = *self.top();
        let node = &self.schema.nodes[node as usize];
        if index < node.tuple_length { node.tuple + index } else { items }
    }

    /// Reads a name and its colon; returns the node of its value and where that starts.
    #[inline(always)]
    fn member(&mut self, pos: usize, what: &'static str) -> Result<(NodeId, usize), At> {
        let text = self.text;
        if text.get(pos) != Some(&b'"') {
            return Err(scan::expected(text, pos, what));
        }
        let start = pos + 1;
        let (id, end) = match self.top().shape {
            Shape::Object(fields) => {
                let schema = self.schema;
                self.declared(&schema.fields[fields as usize], start)?
            }
            _ => (ANY, scan::string(text, start)?.end),
        };
        if S::REPORTS {
            self.top().name = (start, end);
            self.sink.member(self.frames[self.at].start, &text[start..end]);
        }
        let mut pos = end + 1;
        if text.get(pos) != Some(&b':') {
            pos = scan::space(text, pos);
            if text.get(pos) != Some(&b':') {
                return Err(scan::expected(text, pos, "`:`"));
            }
        }
        Ok((id, scan::space(text, pos + 1)))
    }

    /// Finds the name at `start` among the declared ones; returns its node and its closing quote.
    #[inline(always)]
    fn declared(&mut self, fields: &Fields, start: usize) -> Result<(NodeId, usize), At> {
        let top = &mut self.frames[self.at];
        // Members mostly come in the order in which they came the last time.
        let guess = &mut self.scratch.followers[top.index as usize];
        let (place, end) = match fields.names.stands_at(*guess, self.text, start) {
            Some(end) => (*guess, end),
            None => {
                let string = scan::string(self.text, start)?;
                let place = fields.names.find(self.text, string, &mut self.scratch.plain);
                if S::REPORTS {
                    top.declared = place.is_some();
                }
                let Some(place) = place else {
                    if fields.judges_additional() {
                        self.sink.repeated();
                    }
                    return Ok((fields.additional, string.end));
                };
                *guess = place;
                (place, string.end)
            }
        };
        if S::REPORTS {
            top.declared = true;
        }
        top.index = fields.followers + 1 + place;
        let bit = 1 << (place % 64);
        let seen =
            if place < 64 { &mut top.seen } else { &mut self.scratch.seen[top.seen_more + place as usize / 64 - 1] };
        if *seen & bit != 0 {
            self.sink.repeated();
        }
        *seen |= bit;
        Ok((fields.nodes[place as usize], end))
    }

    #[inline]
    fn string(&mut self, id: NodeId, node: &Node, string: Str) {
        let (start, end) = (string.start - 1, string.end + 1);
        if !node.types.overlap(Types::STRING) {
            return self.fail(id, start, end, Broken::Type(Kind::String));
        }
        if node.bounded {
            let length = string.code_points(self.text) as u64;
            if length < node.min_length || length > node.max_length {
                self.fail(id, start, end, Broken::Length(length));
            }
        }
        for constants in &node.constants {
            if !constants.admits_string(self.text, string, &mut self.scratch.plain) {
                self.fail(id, start, end, Broken::Constant(constants));
            }
        }
    }

    #[inline]
    fn number(&mut self, id: NodeId, node: &Node, num: Num) {
        if !node.types.contain(Types::NUMBER) {
            let fits = node.types.overlap(Types::INTEGER) && (num.is_plain() || num.number(self.text).is_integral());
            if !fits {
                return self.fail(id, num.start, num.end, Broken::Type(Kind::Number));
            }
        }
        if let Some(minimum) = &node.minimum
            && !minimum.admits(self.text, num)
        {
            self.fail(id, num.start, num.end, Broken::Minimum);
        }
        for constants in &node.constants {
            if !constants.admits_number(self.text, num) {
                self.fail(id, num.start, num.end, Broken::Constant(constants));
            }
        }
    }

    #[inline]
    fn literal(&mut self, id: NodeId, node: &Node, start: usize, literal: Literal) -> Result<usize, At> {
        let (word, kind, types) = match literal {
            Literal::Null => ("null", Kind::Null, Types::NULL),
            Literal::True => ("true", Kind::Bool, Types::BOOLEAN),
            Literal::False => ("false", Kind::Bool, Types::BOOLEAN),
        };
        let end = scan::literal(self.text, start, word)?;
        if node.types.overlap(types) {
            for constants in &node.constants {
                if !constants.admits_literal(literal) {
                    self.fail(id, start, end, Broken::Constant(constants));
                }
            }
        } else {
            self.fail(id, start, end, Broken::Type(kind));
        }
        Ok(end)
    }

    #[cold]
    fn fail(&mut self, node: NodeId, start: usize, end: usize, broken: Broken<'_>) {
        let frames = &self.frames[..=self.at];
        self.sink.fail(&Place { schema: self.schema, text: self.text, frames, start, end }, node, broken);
    }
}
