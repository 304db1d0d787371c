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
use crate::schema::{ANY, Constants, FREE, Fields, Literal, Member, NodeId, PAST_63, Schema, Types};

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
    hot: Hot,
    /// Whether the node lists whole values that are allowed.
    constants: bool,
    /// What the container itself must fulfil.
    node: NodeId,
    /// The place of an object's fields.
    fields: u32,
    /// Where the bits of the names past the first 63 start in [`Scratch::seen`].
    seen_more: usize,
    start: usize,
    /// If the sink reports: the raw name of the member, and whether it is declared.
    name: (usize, usize),
    declared: bool,
}

/// What of a frame changes with each value. Of the innermost container it is a variable of
/// [`Walk::value`], so that it stays in registers.
#[derive(Clone, Copy)]
struct Hot {
    shape: Shape,
    /// The index of the element; for an object, where in [`Scratch::followers`] the member that
    /// probably comes next stands.
    index: u32,
    /// The declared names met so far, by [`Member::bit`].
    seen: u64,
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
        hot: Hot { shape: Shape::Outside, index: 0, seen: PAST_63 },
        constants: false,
        node: ANY,
        fields: FREE,
        seen_more: 0,
        start: 0,
        name: (0, 0),
        declared: false,
    };

    /// Returns what leads from the container to the value in it.
    pub(super) fn token<'t>(&self, text: &'t [u8]) -> Token<'t> {
        match self.hot.shape {
            Shape::Outside => Token::None,
            Shape::Array => Token::Index(self.hot.index),
            Shape::Object => Token::Name { raw: &text[self.name.0..self.name.1], declared: self.declared },
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

/// What comes next in an object.
pub(crate) enum Next<'s> {
    /// A member: what is declared of it, its raw name, and the position after its colon.
    Member(Option<&'s Member>, (usize, usize), usize),
    /// The end of the object, and the position after its brace.
    End(usize),
}

/// Reads what comes next in an object with these `fields`: at its brace if that is the `first`
/// thing, else after a value. `follower` is where the scratch guesses the member.
pub(crate) fn next_member<'s>(
    schema: &'s Schema,
    fields: u32,
    follower: u32,
    text: &[u8],
    pos: usize,
    first: bool,
    scratch: &mut Scratch,
) -> Result<Next<'s>, At> {
    let member = &schema.members[scratch.followers[follower as usize] as usize];
    if let Some(value) = member.stands_at(text, pos, first) {
        return Ok(Next::Member(Some(member), (pos + 2, value - 2), value));
    }
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
    scratch.frames.push(Frame::OUTSIDE);
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

impl<S: Sink> Walk<'_, S> {
    fn value(&mut self, root: NodeId, start: usize) -> Result<usize, At> {
        let (schema, text) = (self.schema, self.text);
        let mut top = Frame::OUTSIDE.hot;
        let mut id = root;
        let mut pos = start;
        'value: loop {
            let node = &schema.nodes[id as usize];
            let byte = scan::byte(text, pos);
            // What comes next in an object, where it is known before the value has ended.
            let mut first = None;
            match byte {
                b'"' => {
                    if let Some(end) = scan::plain_string(text, pos + 1) {
                        if !node.admits_plain_string(end - pos - 1) {
                            self.string(id, Str { start: pos + 1, end, escaped: false, ascii: true });
                        }
                        pos = end + 1;
                    } else {
                        pos = self.other_string(id, pos)?;
                    }
                }
                b'0'..=b'9' => {
                    if let Some((whole, end)) = scan::plain_number(text, pos) {
                        if !node.admits_at_sight(byte, whole == end) {
                            self.number(id, Num { start: pos, whole_end: whole, end, exponent: false });
                        }
                        pos = end;
                    } else {
                        pos = self.other_number(id, pos)?;
                    }
                }
                b'{' => {
                    top = self.open(top, id, pos, Shape::Object)?;
                    first = Some(next_member(schema, self.top().fields, top.index, text, pos, true, self.scratch)?);
                }
                b'[' => {
                    top = self.open(top, id, pos, Shape::Array)?;
                    pos = scan::space(text, pos + 1);
                    if scan::byte(text, pos) != b']' {
                        id = self.element(0);
                        continue;
                    }
                    pos += 1;
                    top = self.close(top.seen, pos);
                }
                b'-' => pos = self.other_number(id, pos)?,
                b't' => pos = self.literal(id, pos, Literal::True)?,
                b'f' => pos = self.literal(id, pos, Literal::False)?,
                b'n' => pos = self.literal(id, pos, Literal::Null)?,
                b' ' | b'\t' | b'\n' | b'\r' => {
                    pos = scan::space(text, pos);
                    continue;
                }
                _ => return Err(scan::expected(text, pos, "a value")),
            }
            // A value has ended or an object begun: what comes next depends on the container.
            loop {
                match top.shape {
                    Shape::Object => {
                        if S::REPORTS && first.is_none() {
                            let Frame { start, name, .. } = *self.top();
                            self.sink.member_ends(start, &text[name.0..name.1]);
                        }
                        // Members mostly come in the order in which they came the last time.
                        let guess = &schema.members[self.scratch.followers[top.index as usize] as usize];
                        let next = match (first.take(), guess.stands_at(text, pos, false)) {
                            (Some(next), _) => next,
                            (None, Some(value)) => Next::Member(Some(guess), (pos + 2, value - 2), value),
                            (None, None) => {
                                next_member(schema, self.top().fields, top.index, text, pos, false, self.scratch)?
                            }
                        };
                        let (member, name) = match next {
                            Next::Member(member, name, value) => {
                                pos = value;
                                (member, name)
                            }
                            Next::End(end) => {
                                pos = end;
                                top = self.close(top.seen, pos);
                                continue;
                            }
                        };
                        if S::REPORTS {
                            let frame = self.top();
                            (frame.name, frame.declared) = (name, member.is_some());
                            let object = frame.start;
                            self.sink.member(object, &text[name.0..name.1]);
                        }
                        if let Some(member) = member {
                            id = member.node;
                            top.index = member.after;
                            if member.bit & top.seen != 0 {
                                self.met(member);
                            }
                            top.seen |= member.bit;
                        } else {
                            id = schema.fields[self.top().fields as usize].additional;
                            if id != ANY {
                                self.sink.repeated();
                            }
                        }
                        continue 'value;
                    }
                    Shape::Outside => return Ok(pos),
                    Shape::Array => match scan::byte(text, pos) {
                        b',' => {
                            top.index += 1;
                            pos += 1;
                            id = self.element(top.index);
                            continue 'value;
                        }
                        b']' => {
                            pos += 1;
                            top = self.close(top.seen, pos);
                        }
                        b' ' | b'\t' | b'\n' | b'\r' => pos = scan::space(text, pos),
                        _ => return Err(scan::expected(text, pos, "`,` or `]`")),
                    },
                }
            }
        }
    }

    /// Returns the frame of the innermost container.
    #[inline(always)]
    fn top(&mut self) -> &mut Frame {
        self.scratch.frames.last_mut().expect("the outermost frame is never popped")
    }

    /// Notes a declared name that was met before, or that is past the first 63.
    #[cold]
    fn met(&mut self, member: &Member) {
        if member.bit != PAST_63 {
            return self.sink.repeated();
        }
        let word = self.top().seen_more + member.place as usize / 64;
        let bit = 1 << (member.place % 64);
        if self.scratch.seen[word] & bit != 0 {
            self.sink.repeated();
        }
        self.scratch.seen[word] |= bit;
    }

    /// Returns the node of the element `index` of the innermost array.
    #[inline(always)]
    fn element(&mut self, index: u32) -> NodeId {
        let frame = self.top();
        if S::REPORTS {
            frame.hot.index = index;
        }
        let node = &self.schema.nodes[self.top().node as usize];
        if index < node.tuple_length { node.tuple + index } else { node.items }
    }

    /// Enters a container that starts at `pos`, from one where the walk is at `top`.
    #[inline(always)]
    fn open(&mut self, top: Hot, id: NodeId, pos: usize, shape: Shape) -> Result<Hot, At> {
        let node = &self.schema.nodes[id as usize];
        if self.scratch.frames.len() > self.depth {
            return Err((pos, Fault::Depth(self.depth)));
        }
        let (types, kind) =
            if shape == Shape::Object { (Types::OBJECT, Kind::Object) } else { (Types::ARRAY, Kind::Array) };
        let fits = node.types.overlap(types);
        if !fits {
            self.fail(id, pos..pos + 1, Broken::Type(kind));
        }
        self.top().hot = top;
        // Inside a container of the wrong type nothing more is judged.
        let (id, fields) =
            if fits { (id, if shape == Shape::Object { node.fields } else { FREE }) } else { (ANY, FREE) };
        let Fields { followers, names, .. } = &self.schema.fields[fields as usize];
        let hot = Hot { shape, index: if shape == Shape::Object { *followers } else { 0 }, seen: PAST_63 };
        let seen_more = self.scratch.seen.len();
        if names.len() > 63 {
            self.scratch.seen.resize(seen_more + names.len() / 64 + 1, 0);
        }
        let constants = fits && !node.constants.is_empty();
        self.scratch.frames.push(Frame { hot, constants, node: id, fields, seen_more, start: pos, ..Frame::OUTSIDE });
        Ok(hot)
    }

    /// Leaves the innermost container, which ends before `end`; returns where the walk is in the one
    /// around it.
    #[inline(always)]
    fn close(&mut self, seen: u64, end: usize) -> Hot {
        let closed = *self.top();
        self.scratch.frames.truncate(self.scratch.frames.len() - 1);
        let fields = &self.schema.fields[closed.fields as usize];
        if fields.required_first & !seen != 0 || fields.names.len() > 63 {
            self.required(closed, seen, end);
        }
        if closed.constants {
            self.container_constants(closed, end);
        }
        self.top().hot
    }

    #[cold]
    fn required(&mut self, closed: Frame, seen: u64, end: usize) {
        let schema = self.schema;
        let fields = &schema.fields[closed.fields as usize];
        for &place in &fields.required {
            let bit = schema.members[(fields.members + place) as usize].bit;
            let met = if bit == PAST_63 {
                self.scratch.seen[closed.seen_more + place as usize / 64] & 1 << (place % 64) != 0
            } else {
                seen & bit != 0
            };
            if !met {
                self.fail(closed.node, closed.start..end, Broken::Required(fields.names.name(place)));
            }
        }
        self.scratch.seen.truncate(closed.seen_more);
    }

    #[cold]
    fn container_constants(&mut self, closed: Frame, end: usize) {
        let schema = self.schema;
        for constants in &schema.nodes[closed.node as usize].constants {
            let Scratch { tape, same, .. } = self.scratch;
            if !constants.admits_container(&self.text[closed.start..end], tape, same) {
                self.fail(closed.node, closed.start..end, Broken::Constant(constants));
            }
        }
    }

    /// Reads and judges the string at `pos`, which is not short and plain; returns its end.
    #[inline(never)]
    fn other_string(&mut self, id: NodeId, pos: usize) -> Result<usize, At> {
        let string = scan::string(self.text, pos + 1)?;
        self.string(id, string);
        Ok(string.end + 1)
    }

    fn string(&mut self, id: NodeId, string: Str) {
        let node = &self.schema.nodes[id as usize];
        let span = string.start - 1..string.end + 1;
        if !node.types.overlap(Types::STRING) {
            return self.fail(id, span, Broken::Type(Kind::String));
        }
        if node.bounded {
            let length = string.code_points(self.text) as u64;
            if length < node.min_length || length > node.max_length {
                self.fail(id, span.clone(), Broken::Length(length));
            }
        }
        for constants in &node.constants {
            if !constants.admits_string(self.text, string, &mut self.scratch.plain) {
                self.fail(id, span.clone(), Broken::Constant(constants));
            }
        }
    }

    /// Reads and judges the number at `pos`, which is not short and plain; returns its end.
    #[inline(never)]
    fn other_number(&mut self, id: NodeId, pos: usize) -> Result<usize, At> {
        let num = scan::number(self.text, pos)?;
        self.number(id, num);
        Ok(num.end)
    }

    fn number(&mut self, id: NodeId, num: Num) {
        let node = &self.schema.nodes[id as usize];
        let span = num.start..num.end;
        if !node.types.contain(Types::NUMBER) {
            let fits = node.types.overlap(Types::INTEGER) && (num.is_plain() || num.number(self.text).is_integral());
            if !fits {
                return self.fail(id, span, Broken::Type(Kind::Number));
            }
        }
        if let Some(minimum) = &node.minimum
            && !minimum.admits(self.text, num)
        {
            self.fail(id, span.clone(), Broken::Minimum);
        }
        for constants in &node.constants {
            if !constants.admits_number(self.text, num) {
                self.fail(id, span.clone(), Broken::Constant(constants));
            }
        }
    }

    fn literal(&mut self, id: NodeId, start: usize, literal: Literal) -> Result<usize, At> {
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
                    self.fail(id, start..end, Broken::Constant(constants));
                }
            }
        } else {
            self.fail(id, start..end, Broken::Type(kind));
        }
        Ok(end)
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, node: NodeId, span: Range<usize>, broken: Broken<'_>) {
        let place = Place { schema: self.schema, text: self.text, frames: &self.scratch.frames, span };
        self.sink.fail(&place, node, broken);
    }
}
