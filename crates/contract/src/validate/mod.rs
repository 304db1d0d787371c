//! Judging the data of a message against its schema.
//!
//! `walk` reads and judges in one pass; `report` puts what it finds into words. Most messages are
//! right, so the first pass keeps a verdict only, and the few that are wrong are walked over again.

mod report;
mod walk;

use std::cell::Cell;

use serde::Serialize;

use crate::json::scan::{self, At};
use crate::json::{DEFAULT_DEPTH, Fault, ReadError, Same, Tape};
use crate::schema::{NodeId, Schema};

use report::Report;
pub use report::Violation;
use walk::{Broken, Frame, Place, Sink, walk};
pub(crate) use walk::{Next, next_member};

/// Buffers that live from one message to the next, so that judging allocates nothing.
#[derive(Default)]
pub(crate) struct Scratch {
    frames: Vec<Frame>,
    seen: Vec<u64>,
    pub(crate) plain: String,
    /// See [`Schema::followers`].
    pub(crate) followers: Vec<u32>,
    tape: Tape,
    same: Same,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Scratch {
    /// Runs `work` with this thread's buffers.
    pub(crate) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let result = work(&mut scratch);
        SCRATCH.set(Some(scratch));
        result
    }
}

/// The sink that keeps a verdict only.
#[derive(Default)]
struct Verdict {
    invalid: bool,
    doubtful: bool,
}

impl Sink for Verdict {
    const REPORTS: bool = false;

    #[inline]
    fn fail(&mut self, _: &Place<'_>, _: NodeId, _: Broken<'_>) {
        self.invalid = true;
    }

    #[inline]
    fn repeated(&mut self) {
        self.doubtful = true;
    }

    fn member(&mut self, _: usize, _: &[u8]) {}

    fn member_ends(&mut self, _: usize, _: &[u8]) {}
}

impl Scratch {
    /// Makes the buffers ready for `schema`, of which nothing is known.
    fn prepare(&mut self, schema: &Schema) {
        self.followers.clear();
        schema.followers(&mut self.followers);
    }
}

/// The value of a text that starts at or after `start`, judged: its verdict and its end.
pub(crate) fn judge(
    schema: &Schema,
    text: &[u8],
    start: usize,
    depth: usize,
    scratch: &mut Scratch,
) -> Result<(bool, usize), At> {
    let mut verdict = Verdict::default();
    let end = walk(schema, schema.root(), text, start, depth, scratch, &mut verdict)?;
    let valid = if verdict.invalid && verdict.doubtful {
        explain(schema, text, start, depth, scratch)?.is_empty()
    } else {
        !verdict.invalid
    };
    Ok((valid, end))
}

/// Returns every violation of the value that starts at or after `start`.
pub(crate) fn explain(
    schema: &Schema,
    text: &[u8],
    start: usize,
    depth: usize,
    scratch: &mut Scratch,
) -> Result<Vec<Violation>, At> {
    let mut report = Report::default();
    walk(schema, schema.root(), text, start, depth, scratch, &mut report)?;
    Ok(report.into_violations())
}

/// Reads over the value that starts at or after `start`, which `node` of `schema` accepts whatever
/// it is, and returns its end.
pub(crate) fn skip(
    schema: &Schema,
    node: NodeId,
    text: &[u8],
    start: usize,
    depth: usize,
    scratch: &mut Scratch,
) -> Result<usize, At> {
    walk(schema, node, text, start, depth, scratch, &mut Verdict::default())
}

/// Returns the fault of a text that goes on after its value.
pub(crate) fn ends(text: &[u8], end: usize) -> Result<(), At> {
    let end = scan::space(text, end);
    if end == text.len() { Ok(()) } else { Err((end, Fault::Trailing)) }
}

impl Schema {
    /// Returns whether `data` is JSON and fulfils the schema.
    ///
    /// Takes time linear in the length of `data` and, once a thread has seen its largest message,
    /// allocates nothing.
    #[must_use]
    pub fn is_valid(&self, data: &[u8]) -> bool {
        Scratch::with(|scratch| {
            scratch.prepare(self);
            self.verdict(data, scratch)
        })
        .unwrap_or(false)
    }

    fn verdict(&self, data: &[u8], scratch: &mut Scratch) -> Result<bool, At> {
        let (valid, end) = judge(self, data, 0, DEFAULT_DEPTH, scratch)?;
        ends(data, end)?;
        Ok(valid)
    }

    /// Returns every way in which `data` does not fulfil the schema, in the order of the text;
    /// none where it does.
    ///
    /// # Errors
    /// [`ReadError`] where `data` is not JSON.
    pub fn validate(&self, data: &[u8]) -> Result<Vec<Violation>, ReadError> {
        self.validate_with_depth(data, DEFAULT_DEPTH)
    }

    /// Does what [`Schema::validate`] does, for data in which containers may nest `depth` deep.
    ///
    /// # Errors
    /// [`ReadError`] where `data` is not JSON.
    pub fn validate_with_depth(&self, data: &[u8], depth: usize) -> Result<Vec<Violation>, ReadError> {
        let violations = Scratch::with(|scratch| {
            scratch.prepare(self);
            let (valid, end) = judge(self, data, 0, depth, scratch)?;
            ends(data, end)?;
            if valid { Ok(Vec::new()) } else { explain(self, data, 0, depth, scratch) }
        });
        violations.map_err(|at| ReadError::new(data, at))
    }

    /// Does what [`Schema::validate`] does for `data` that is still a value of the program, such as
    /// a `serde_json::Value` or a struct of yours.
    ///
    /// # Errors
    /// The error of serde where `data` cannot be written as JSON.
    pub fn validate_value(&self, data: &impl Serialize) -> Result<Vec<Violation>, serde_json::Error> {
        let text = serde_json::to_vec(data)?;
        self.validate(&text).map_err(serde::ser::Error::custom)
    }
}
