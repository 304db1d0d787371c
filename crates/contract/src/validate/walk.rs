//! One walk over the bytes of a value, driven by the compiled schema; no document is built.
//!
//! The walk is the reader and the judge at once: it refuses what is not JSON and tells a [`Sink`]
//! of every fault. It keeps its place on a stack of [`Frame`]s of its own, so that depth costs no
//! program stack. A text that is not JSON outweighs a fault, so the walk goes on after one.
//!
//! Of members with one name the last counts. The walk meets the others first, so a sink must be able
//! to take faults back: [`Report`](super::report::Report) does. A sink that keeps only a verdict
//! is told by [`Sink::repeated`] that its verdict may be wrong, and the caller walks again.

use std::ops::Range;

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

/// Where a value stands: at `span` in `text`, below the containers of `frames`.
pub(super) struct Place<'a> {
    pub(super) schema: &'a Schema,
    pub(super) text: &'a [u8],
    pub(super) frames: &'a [Frame],
    pub(super) span: Range<usize>,
}

/// A container that the walk is in.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    shape: Shape,
    /// What the container itself must fulfil.
    node: NodeId,
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
    scratch.frames.clear();
    scratch.seen.clear();
    Walk { schema, text, depth, scratch, sink }.value(root, start)
}

struct Walk<'a, S> {
    schema: &'a Schema,
    text: &'a [u8],
    depth: usize,
    scratch: &'a mut Scratch,
    sink: &'a mut S,
}

/// The innermost container, `top`, is a variable of [`Walk::value`] that other functions get by
/// value: so it stays in registers. Those around it are in the scratch.
impl<S: Sink> Walk<'_, S> {
    fn value(&mut self, root: NodeId, start: usize) -> Result<usize, At> {
        let (schema, text) = (self.schema, self.text);
        let mut top = Frame::OUTSIDE;
        let mut id = root;
        let mut pos = scan::space(text, start);
        loop {
            let node = &schema.nodes[id as usize];
            // What a name must be called in an error, if one comes next; else an element does.
            let name = 'next: {
                match scan::byte(text, pos) {
                    b'"' => {
                        if let Some(end) = scan::plain_string(text, pos + 1) {
                            let length = (end - pos - 1) as u64;
                            let judged = node.types.overlap(Types::STRING)
                                && node.min_length <= length
                                && length <= node.max_length
                                && node.constants.is_empty();
                            if !judged {
                                let string = Str { start: pos + 1, end, escaped: false, ascii: true };
                                self.string(top, id, string);
                            }
                            pos = end + 1;
                        } else {
                            let string = scan::string(text, pos + 1)?;
                            self.string(top, id, string);
                            pos = string.end + 1;
                        }
                    }
                    b'-' | b'0'..=b'9' => {
                        let num = scan::number(text, pos)?;
                        let judged = node.types.contain(if num.is_plain() { Types::INTEGER } else { Types::NUMBER })
                            && node.constants.is_empty()
                            && node.minimum.as_ref().is_none_or(|minimum| minimum.admits(text, num));
                        if !judged {
                            self.number(top, id, num);
                        }
                        pos = num.end;
                    }
                    b'{' => {
                        top = self.open(top, id, pos, Kind::Object)?;
                        pos = scan::space(text, pos + 1);
                        if scan::byte(text, pos) != b'}' {
                            break 'next Some("a name or `}`");
                        }
                        top = self.close(top, pos + 1);
                        pos += 1;
                    }
                    b'[' => {
                        top = self.open(top, id, pos, Kind::Array)?;
                        pos = scan::space(text, pos + 1);
                        if scan::byte(text, pos) != b']' {
                            break 'next None;
                        }
                        top = self.close(top, pos + 1);
                        pos += 1;
                    }
                    b't' => pos = self.literal(top, id, pos, Literal::True)?,
                    b'f' => pos = self.literal(top, id, pos, Literal::False)?,
                    b'n' => pos = self.literal(top, id, pos, Literal::Null)?,
                    _ => return Err(scan::expected(text, pos, "a value")),
                }
                // A value has ended: what comes next depends on the container it stands in.
                loop {
                    if top.shape == Shape::Outside {
                        return Ok(pos);
                    }
                    let object = top.shape != Shape::Array;
                    if S::REPORTS && object {
                        self.sink.member_ends(top.start, &text[top.name.0..top.name.1]);
                    }
                    pos = scan::space(text, pos);
                    let byte = scan::byte(text, pos);
                    if byte == b',' {
                        pos = scan::space(text, pos + 1);
                        if object {
                            break 'next Some("a name");
                        }
                        top.index += 1;
                        break 'next None;
                    }
                    if byte != if object { b'}' } else { b']' } {
                        return Err(scan::expected(text, pos, if object { "`,` or `}`" } else { "`,` or `]`" }));
                    }
                    pos += 1;
                    top = self.close(top, pos);
                }
            };
            let Some(name) = name else {
                let node = &schema.nodes[top.node as usize];
                id = if top.index < node.tuple_length { node.tuple + top.index } else { node.items };
                continue;
            };
            if scan::byte(text, pos) != b'"' {
                return Err(scan::expected(text, pos, name));
            }
            let start = pos + 1;
            let end;
            if let Shape::Object(fields) = top.shape {
                let fields = &schema.fields[fields as usize];
                // Members mostly come in the order in which they came the last time.
                let guess = self.scratch.followers[top.index as usize];
                let place;
                (place, end) = match fields.names.stands_at(guess, text, start) {
                    Some(end) => (Some(guess), end),
                    None => self.look_up(fields, top.index, start)?,
                };
                if S::REPORTS {
                    top.declared = place.is_some();
                }
                if let Some(place) = place {
                    top.index = fields.followers + 1 + place;
                    id = fields.nodes[place as usize];
                    let bit = 1 << (place % 64);
                    let seen = if place < 64 {
                        &mut top.seen
                    } else {
                        &mut self.scratch.seen[top.seen_more + place as usize / 64 - 1]
                    };
                    if *seen & bit != 0 {
                        self.sink.repeated();
                    }
                    *seen |= bit;
                } else {
                    id = fields.additional;
                    if fields.judges_additional() {
                        self.sink.repeated();
                    }
                }
            } else {
                id = ANY;
                end = match scan::plain_string(text, start) {
                    Some(end) => end,
                    None => scan::string(text, start)?.end,
                };
            }
            if S::REPORTS {
                top.name = (start, end);
                self.sink.member(top.start, &text[start..end]);
            }
            pos = scan::space(text, end + 1);
            if scan::byte(text, pos) != b':' {
                return Err(scan::expected(text, pos, "`:`"));
            }
            pos = scan::space(text, pos + 1);
        }
    }

    /// Finds the name at `start`, which does not stand where `follower` guesses, among the declared
    /// ones; returns its place and its closing quote.
    fn look_up(&mut self, fields: &Fields, follower: u32, start: usize) -> Result<(Option<u32>, usize), At> {
        let string = scan::string(self.text, start)?;
        let place = fields.names.find(self.text, string, &mut self.scratch.plain);
        if let Some(place) = place {
            self.scratch.followers[follower as usize] = place;
        }
        Ok((place, string.end))
    }

    /// Enters a container that starts at `pos`.
    #[inline(always)]
    fn open(&mut self, top: Frame, id: NodeId, pos: usize, kind: Kind) -> Result<Frame, At> {
        let node = &self.schema.nodes[id as usize];
        if self.scratch.frames.len() == self.depth {
            return Err((pos, Fault::Depth(self.depth)));
        }
        let object = kind == Kind::Object;
        let fits = node.types.overlap(if object { Types::OBJECT } else { Types::ARRAY });
        if !fits {
            self.fail(top, id, pos..pos + 1, Broken::Type(kind));
        }
        self.scratch.frames.push(top);
        // Inside a container of the wrong type nothing more is judged.
        let mut inner = Frame { node: if fits { id } else { ANY }, start: pos, ..Frame::OUTSIDE };
        inner.shape = match node.fields {
            _ if !object => Shape::Array,
            Some(fields) if fits => {
                let Fields { followers, names, .. } = &self.schema.fields[fields as usize];
                inner.index = *followers;
                if names.len() > 64 {
                    inner.seen_more = self.scratch.seen.len();
                    self.scratch.seen.resize(inner.seen_more + (names.len() - 1) / 64, 0);
                }
                Shape::Object(fields)
            }
            _ => Shape::Free,
        };
        Ok(inner)
    }

    /// Leaves the innermost container, which ends before `end`; returns the one around it.
    #[inline(always)]
    fn close(&mut self, closed: Frame, end: usize) -> Frame {
        let top = self.scratch.frames.pop().unwrap_or(Frame::OUTSIDE);
        if let Shape::Object(fields) = closed.shape {
            let fields = &self.schema.fields[fields as usize];
            if fields.required_first & !closed.seen != 0 || fields.names.len() > 64 {
                self.required(top, closed, fields, end);
            }
        }
        if !self.schema.nodes[closed.node as usize].constants.is_empty() {
            self.container_constants(top, closed, end);
        }
        top
    }

    #[cold]
    fn required(&mut self, top: Frame, closed: Frame, fields: &Fields, end: usize) {
        let seen = |word: usize| if word == 0 { closed.seen } else { self.scratch.seen[closed.seen_more + word - 1] };
        let missing: Vec<u32> = fields
            .required
            .iter()
            .copied()
            .filter(|place| seen(*place as usize / 64) >> (place % 64) & 1 == 0)
            .collect();
        if fields.names.len() > 64 {
            self.scratch.seen.truncate(closed.seen_more);
        }
        for place in missing {
            self.fail(top, closed.node, closed.start..end, Broken::Required(fields.names.name(place)));
        }
    }

    #[cold]
    fn container_constants(&mut self, top: Frame, closed: Frame, end: usize) {
        let schema = self.schema;
        for constants in &schema.nodes[closed.node as usize].constants {
            let Scratch { tape, same, .. } = self.scratch;
            if !constants.admits_container(&self.text[closed.start..end], tape, same) {
                self.fail(top, closed.node, closed.start..end, Broken::Constant(constants));
            }
        }
    }

    fn string(&mut self, top: Frame, id: NodeId, string: Str) {
        let node = &self.schema.nodes[id as usize];
        let span = string.start - 1..string.end + 1;
        if !node.types.overlap(Types::STRING) {
            return self.fail(top, id, span, Broken::Type(Kind::String));
        }
        if node.bounded {
            let length = string.code_points(self.text) as u64;
            if length < node.min_length || length > node.max_length {
                self.fail(top, id, span.clone(), Broken::Length(length));
            }
        }
        for constants in &node.constants {
            if !constants.admits_string(self.text, string, &mut self.scratch.plain) {
                self.fail(top, id, span.clone(), Broken::Constant(constants));
            }
        }
    }

    fn number(&mut self, top: Frame, id: NodeId, num: Num) {
        let node = &self.schema.nodes[id as usize];
        let span = num.start..num.end;
        if !node.types.contain(Types::NUMBER) {
            let fits = node.types.overlap(Types::INTEGER) && (num.is_plain() || num.number(self.text).is_integral());
            if !fits {
                return self.fail(top, id, span, Broken::Type(Kind::Number));
            }
        }
        if let Some(minimum) = &node.minimum
            && !minimum.admits(self.text, num)
        {
            self.fail(top, id, span.clone(), Broken::Minimum);
        }
        for constants in &node.constants {
            if !constants.admits_number(self.text, num) {
                self.fail(top, id, span.clone(), Broken::Constant(constants));
            }
        }
    }

    fn literal(&mut self, top: Frame, id: NodeId, start: usize, literal: Literal) -> Result<usize, At> {
        let node = &self.schema.nodes[id as usize];
        let (word, kind, types) = match literal {
            Literal::Null => ("null", Kind::Null, Types::NULL),
            Literal::True => ("true", Kind::Bool, Types::BOOLEAN),
            Literal::False => ("false", Kind::Bool, Types::BOOLEAN),
        };
        let end = scan::literal(self.text, start, word)?;
        if node.types.overlap(types) {
            for constants in &node.constants {
                if !constants.admits_literal(literal) {
                    self.fail(top, id, start..end, Broken::Constant(constants));
                }
            }
        } else {
            self.fail(top, id, start..end, Broken::Type(kind));
        }
        Ok(end)
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, top: Frame, node: NodeId, span: Range<usize>, broken: Broken<'_>) {
        if S::REPORTS {
            self.scratch.frames.push(top);
        }
        let place = Place { schema: self.schema, text: self.text, frames: &self.scratch.frames, span };
        self.sink.fail(&place, node, broken);
        if S::REPORTS {
            self.scratch.frames.pop();
        }
    }
}
