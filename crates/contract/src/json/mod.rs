//! JSON text (RFC 8259) read exactly: every number keeps its digits, every value knows its place.
//!
//! [`Document`] holds a whole text as a flat list of values; [`Number`] compares decimals of any
//! size by value; [`Pointer`] names a place (RFC 6901); `scan` is the lexical grammar that the
//! document reader shares with the validator, so that both refuse exactly the same texts.

mod document;
mod error;
mod number;
mod pointer;
pub(crate) mod scan;

pub use document::{Document, Kind, Member, Value};
pub(crate) use document::{Same, Tape};
pub use error::{Fault, ReadError};
pub use number::Number;
pub use pointer::{ParsePointerError, Pointer};

/// How many arrays and objects may stand inside one another unless a caller sets another limit.
pub const DEFAULT_DEPTH: usize = 512;
