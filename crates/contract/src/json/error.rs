//! Why a text is not JSON, and where.

use std::fmt;

/// What is wrong at a place in a text that should be JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The text ends inside a value.
    End,
    /// Something else should stand here; the field says what.
    Expected(&'static str),
    /// A control character stands in a string without an escape.
    Control,
    /// A backslash starts no escape of RFC 8259, section 7.
    Escape,
    /// A `\u` escape is half of a surrogate pair and its other half is missing.
    Surrogate,
    /// The bytes are not UTF-8.
    Utf8,
    /// The text starts with a byte order mark, which RFC 8259, section 8.1 forbids to writers.
    ByteOrderMark,
    /// A number has a leading zero.
    LeadingZero,
    /// Something follows the value.
    Trailing,
    /// Arrays and objects stand inside one another more often than the limit allows.
    Depth(usize),
    /// The text is longer than 4 GiB.
    TooLarge,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the text ends inside a value"),
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::Control => f.write_str("a control character in a string must be escaped"),
            Self::Escape => f.write_str("unknown escape in a string"),
            Self::Surrogate => f.write_str("lone surrogate in a string"),
            Self::Utf8 => f.write_str("not UTF-8"),
            Self::ByteOrderMark => f.write_str("a byte order mark stands before the text"),
            Self::LeadingZero => f.write_str("a number must not start with `0`"),
            Self::Trailing => f.write_str("text after the end of the value"),
            Self::Depth(limit) => write!(f, "nested deeper than {limit} levels"),
            Self::TooLarge => f.write_str("longer than 4 GiB"),
        }
    }
}

/// A text that is not JSON: the fault and its place. Never holds any of the text itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON: {fault} at line {line}, column {column} (byte {offset})")]
pub struct ReadError {
    /// What is wrong.
    pub fault: Fault,
    /// Bytes before the place, from 0.
    pub offset: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1; in bytes where the line is not UTF-8.
    pub column: usize,
}

impl ReadError {
    pub(crate) fn new(text: &[u8], (offset, fault): (usize, Fault)) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let line = &before[line_start..];
        Self {
            fault,
            offset,
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            column: std::str::from_utf8(line).map_or(line.len(), |l| l.chars().count()) + 1,
        }
    }
}
