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
use crate::schema::{ANY, Constants, FREE, Fields, Literal, Member, NodeId, Schema, Types};

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
    /// Whether the node lists whole values that are allowed.
    constants: bool,
    /// Whether the name of the member is declared, if the sink reports.
    declared: bool,
    /// What the container itself must fulfil.
    node: NodeId,
    /// The place of an object's fields.
    fields: u32,
    /// The index of the element; for an object, where in [`Scratch::followers`] the member that
    /// probably comes next stands.
    index: u32,
    /// The declared names met so far: a bit for each of the first 64.
    seen: u64,
    /// Where the bits of the names past 64 start in [`Scratch::seen`].
    seen_more: usize,
    start: usize,
    /// The raw name of the member, if the sink reports.
    name: (usize, usize),
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Object,
    Array,
    /// Around the whole value.
    Outside,
}

impl Frame {
    const OUTSIDE: Self = Self {
        shape: Shape::Outside,
        constants: false,
        declared: false,
        node: ANY,
        fields: FREE,
        index: 0,
        seen: 0,
        seen_more: 0,
        start: 0,
        name: (0, 0),
    };

    /// Returns what leads from the container to the value in it.
    pub(super) fn token<'t>(&self, text: &'t [u8]) -> Token<'t> {
        match self.shape {
            Shape::Outside => Token::None,
            Shape::Array => Token::Index(self.index),
            Shape::Object => Token::Name { raw: &text[self.name.0..self.name.1], declared: self.declared },
        }
    }

    pub(super) fn node(&self) -> NodeId {
        self.node
    }
}

/// What comes next in an object.
pub(crate) enum Next<'s> {
    /// A member: what is declared of it, its raw name, and the position after its colon.
    Member(Option<&'s Member>, (usize, usize), usize),
    /// The end of the object, and the position after its brace.
    End(usize),
}

/// Reads what comes next in an object with these `fields`: at its brace if that is the `first`
/// thing, else after a value. `follower` is where the scratch guesses the member.
#[inline(always)]
pub(crate) fn next_member<'s>(
    schema: &'s Schema,
    fields: u32,
    follower: u32,
    text: &[u8],
    pos: usize,
    first: bool,
    scratch: &mut Scratch,
) -> Result<Next<'s>, At> {
    // Members mostly come in the order in which they came the last time.
    let member = &schema.members[scratch.followers[follower as usize] as usize];
    match member.stands_at(text, pos, first) {
        Some(value) => Ok(Next::Member(Some(member), (pos + 2, value - 2), value)),
        None => look_up(schema, fields, follower, text, pos, first, scratch),
    }
}

fn look_up<'s>(
    schema: &'s Schema,
    fields: u32,
    follower: u32,
    text: &[u8],
    pos: usize,
    first: bool,
    scratch: &mut Scratch,
) -> Result<Next<'s>, At> {
    let mut pos = scan::space(text, pos);
    if first || scan::byte(text, pos) == b',' {
        pos = scan::space(text, pos + 1);
    } else if scan::byte(text, pos) == b'}' {
        return Ok(Next::End(pos + 1));
    } else {
        return Err(scan::expected(text, pos, "`,` or `}`"));
    }
    match scan::byte(text, pos) {
        b'"' => {}
        b'}' if first => return Ok(Next::End(pos + 1)),
        _ => return Err(scan::expected(text, pos, if first { "a name or `}`" } else { "a name" })),
    }
    let string = scan::string(text, pos + 1)?;
    pos = scan::space(text, string.end + 1);
    if scan::byte(text, pos) != b':' {
        return Err(scan::expected(text, pos, "`:`"));
    }
    let fields = &schema.fields[fields as usize];
    let place = fields.names.find(text, string, &mut scratch.plain).map(|place| fields.members + place);
    if let Some(place) = place {
        scratch.followers[follower as usize] = place;
    }
    let member = place.map(|place| &schema.members[place as usize]);
    Ok(Next::Member(member, (string.start, string.end), pos + 1))
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
        let mut pos = start;
        'value: loop {
            let node = &schema.nodes[id as usize];
            // Whether the object that `top` is has had no member yet: `pos` is at its brace then.
            let mut first = false;
            match scan::byte(text, pos) {
                b'"' => {
                    if let Some(end) = scan::plain_string(text, pos + 1) {
                        if !node.admits_plain_string(end - pos - 1) {
                            self.string(top, id, Str { start: pos + 1, end, escaped: false, ascii: true });
                        }
                        pos = end + 1;
                    } else {
                        let string = scan::string(text, pos + 1)?;
                        self.string(top, id, string);
                        pos = string.end + 1;
                    }
                }
                byte @ (b'-' | b'0'..=b'9') => {
                    let num = scan::number(text, pos)?;
                    if !node.admits_at_sight(byte, num) {
                        self.number(top, id, num);
                    }
                    pos = num.end;
                }
                b'{' => {
                    top = self.open(top, id, pos, Shape::Object)?;
                    first = true;
                }
                b'[' => {
                    top = self.open(top, id, pos, Shape::Array)?;
                    pos = scan::space(text, pos + 1);
                    if scan::byte(text, pos) != b']' {
                        id = self.element(top);
                        continue;
                    }
                    pos += 1;
                    top = self.close(top, pos);
                }
                b't' => pos = self.literal(top, id, pos, Literal::True)?,
                b'f' => pos = self.literal(top, id, pos, Literal::False)?,
                b'n' => pos = self.literal(top, id, pos, Literal::Null)?,
                b' ' | b'\t' | b'\n' | b'\r' => {
                    pos = scan::space(text, pos);
                    continue;
                }
                _ => return Err(scan::expected(text, pos, "a value")),
            }
            // A value has ended or an object begun: what comes next depends on the container.
            loop {
                if top.shape == Shape::Object {
                    if S::REPORTS && !first {
                        self.sink.member_ends(top.start, &text[top.name.0..top.name.1]);
                    }
                    let (found, name);
                    match next_member(schema, top.fields, top.index, text, pos, first, self.scratch)? {
                        Next::Member(member, span, value) => (found, name, pos) = (member, span, value),
                        Next::End(end) => {
                            pos = end;
                            top = self.close(top, pos);
                            first = false;
                            continue;
                        }
                    }
                    if S::REPORTS {
                        (top.declared, top.name) = (found.is_some(), name);
                        self.sink.member(top.start, &text[name.0..name.1]);
                    }
                    if let Some(member) = found {
                        id = member.node;
                        top.index = member.after;
                        if member.bit & top.seen != 0 || member.bit == 0 {
                            self.met(top, member);
                        }
                        top.seen |= member.bit;
                    } else {
                        id = schema.fields[top.fields as usize].additional;
                        if id != ANY {
                            self.sink.repeated();
                        }
                    }
                    continue 'value;
                }
                match (top.shape, scan::byte(text, pos)) {
                    (Shape::Outside, _) => return Ok(pos),
                    (_, b',') => {
                        top.index += 1;
                        pos += 1;
                        id = self.element(top);
                        continue 'value;
                    }
                    (_, b']') => {
                        pos += 1;
                        top = self.close(top, pos);
                    }
                    (_, b' ' | b'\t' | b'\n' | b'\r') => pos = scan::space(text, pos),
                    _ => return Err(scan::expected(text, pos, "`,` or `]`")),
                }
            }
        }
    }

    /// Notes a declared name that was met before, or that is past the first 64.
    fn met(&mut self, top: Frame, member: &Member) {
        if member.bit != 0 {
            return self.sink.repeated();
        }
        let word = &mut self.scratch.seen[top.seen_more + member.place as usize / 64 - 1];
        let bit = 1 << (member.place % 64);
        if *word & bit != 0 {
            self.sink.repeated();
        }
        *word |= bit;
    }

    /// Returns the node of the next element of an array.
    #[inline(always)]
    fn element(&self, top: Frame) -> NodeId {
        let node = &self.schema.nodes[top.node as usize];
        if top.index < node.tuple_length { node.tuple + top.index } else { node.items }
    }

    /// Enters a container that starts at `pos`.
    #[inline(always)]
    fn open(&mut self, top: Frame, id: NodeId, pos: usize, shape: Shape) -> Result<Frame, At> {
        let node = &self.schema.nodes[id as usize];
        if self.scratch.frames.len() == self.depth {
            return Err((pos, Fault::Depth(self.depth)));
        }
        let (types, kind) = match shape {
            Shape::Object => (Types::OBJECT, Kind::Object),
            _ => (Types::ARRAY, Kind::Array),
        };
        self.scratch.frames.push(top);
        let mut inner = Frame { shape, start: pos, ..Frame::OUTSIDE };
        if !node.types.overlap(types) {
            // Inside a container of the wrong type nothing more is judged.
            self.scratch.frames.pop();
            self.fail(top, id, pos..pos + 1, Broken::Type(kind));
            self.scratch.frames.push(top);
            return Ok(inner);
        }
        inner.node = id;
        inner.constants = !node.constants.is_empty();
        if shape == Shape::Object {
            let fields = &self.schema.fields[node.fields as usize];
            inner.fields = node.fields;
            inner.index = fields.followers;
            if fields.names.len() > 64 {
                inner.seen_more = self.scratch.seen.len();
                self.scratch.seen.resize(inner.seen_more + (fields.names.len() - 1) / 64, 0);
            }
        }
        Ok(inner)
    }

    /// Leaves the innermost container, which ends before `end`; returns the one around it.
    #[inline(always)]
    fn close(&mut self, closed: Frame, end: usize) -> Frame {
        let top = self.scratch.frames.pop().unwrap_or(Frame::OUTSIDE);
        let fields = &self.schema.fields[closed.fields as usize];
        if fields.required_first & !closed.seen != 0 || fields.names.len() > 64 {
            self.required(top, closed, fields, end);
        }
        if closed.constants {
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
