//! JSON Pointer (RFC 6901): where a value stands in a document.

use std::fmt;
use std::str::FromStr;

/// A JSON Pointer in its text form: empty for the root, else `/`-separated escaped names.
///
/// ```
/// use bq_contract::Pointer;
/// let at = Pointer::root().child("a/b").child("0");
/// assert_eq!(at.as_str(), "/a~1b/0");
/// assert_eq!(at.tokens().collect::<Vec<_>>(), ["a/b", "0"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// Returns the pointer to the whole document.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns the pointer to the member or element `name` of the value that `self` points to.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let mut child = self.clone();
        child.push(name);
        child
    }

    /// Appends `name` as the last token, escaping `~` and `/` (RFC 6901, section 3).
    pub fn push(&mut self, name: &str) {
        self.0.push('/');
        for c in name.chars() {
            match c {
                '~' => self.0.push_str("~0"),
                '/' => self.0.push_str("~1"),
                c => self.0.push(c),
            }
        }
    }

    /// Returns the text form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the unescaped tokens, from the root down.
    pub fn tokens(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is no JSON Pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no JSON pointer: it must be empty or start with `/`, and `~` stands before `0` or `1` only")]
pub struct ParsePointerError(String);

impl FromStr for Pointer {
    type Err = ParsePointerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rooted = text.is_empty() || text.starts_with('/');
        let escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        if rooted && escaped { Ok(Self(text.to_owned())) } else { Err(ParsePointerError(text.to_owned())) }
    }
}

impl serde::Serialize for Pointer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_pushed() {
        let names = ["", "a/b", "m~n", "~1", "ünï"];
        let mut pointer = Pointer::root();
        for name in names {
            pointer.push(name);
        }
        assert_eq!(pointer.tokens().collect::<Vec<_>>(), names);
        assert_eq!(pointer.as_str().parse(), Ok(pointer));
    }

    #[test]
    fn text_that_is_no_pointer_is_refused() {
        for text in ["a", "/~", "/a~2", "#/a"] {
            assert!(text.parse::<Pointer>().is_err(), "{text}");
        }
    }
}
