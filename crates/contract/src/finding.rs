//! What a rule reports: which rule, how grave, where, and why in plain words.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::Pointer;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; never fails a run.
    Note,
    /// Shown, and never fails a run.
    Warn,
    /// Fails the run.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Error => "error",
        })
    }
}

/// One thing that a rule found in a schema or a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's public code, such as `application-36`.
    pub code: Cow<'static, str>,
    /// How grave it is.
    pub severity: Severity,
    /// The schema object that the rule looked at.
    pub at: Pointer,
    /// What is wrong, without the place.
    pub message: String,
}
