//! Message contracts: one JSON Schema for the `data` of each message URN, enforced on its bytes.

mod check;
pub mod finding;
pub mod json;
mod provider;
pub mod schema;
mod validate;

pub use check::{
    CheckError, Checked, Checker, Malformed, Message, Outcome, WrapError, check, check_value, validate, wrap,
};
pub use finding::{Finding, Severity};
pub use json::{Document, Kind, Member, Number, Pointer, ReadError, Value};
pub use provider::{MapProvider, Provider, ProviderError, RegisterError, RegisteredWarning};
pub use schema::{Note, Schema, SchemaError, SensitivePath, Warning};
pub use validate::Violation;
