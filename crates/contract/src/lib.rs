//! Message contracts: one JSON Schema for the `data` of each message URN, enforced on its bytes.

pub mod finding;
pub mod json;

pub use finding::{Finding, Severity};
pub use json::{Document, Kind, Member, Number, Pointer, ReadError, Value};
