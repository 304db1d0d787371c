//! The keywords `enum` and `const`: the values that are allowed.

use super::names::Names;
use crate::json::scan::{Num, Str};
use crate::json::{Document, Kind, Number, Same, Tape, Value};

/// The values that one `enum` or `const` allows, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants {
    pub(crate) keyword: &'static str,
    literals: [bool; 3],
    strings: Names,
    /// Sorted by value.
    numbers: Vec<Box<str>>,
    containers: Vec<Document>,
    /// The values as written, cut to a readable length.
    pub(crate) shown: String,
}

/// The values that are words.
#[derive(Clone, Copy)]
pub(crate) enum Literal {
    Null,
    False,
    True,
}

/// A message lists allowed values up to about this many characters.
const SHOWN: usize = 120;

impl Constants {
    pub(crate) fn new<'d>(keyword: &'static str, values: impl Iterator<Item = Value<'d>>) -> Self {
        let mut constants = Self { keyword, ..Self::default() };
        for value in values {
            match (value.kind(), value.as_str(), value.as_bool()) {
                (_, Some(string), _) => {
                    constants.strings.insert(string);
                }
                (_, _, Some(false)) => constants.literals[Literal::False as usize] = true,
                (_, _, Some(true)) => constants.literals[Literal::True as usize] = true,
                (Kind::Null, ..) => constants.literals[Literal::Null as usize] = true,
                (Kind::Number, ..) => constants.numbers.push(value.text().into()),
                _ => constants.containers.extend(Document::parse_with_depth(value.text().as_bytes(), usize::MAX)),
            }
            constants.show(value.text());
        }
        constants.numbers.sort_by(|a, b| Number::from_scanned(a).cmp(&Number::from_scanned(b)));
        constants
    }

    fn show(&mut self, value: &str) {
        if self.shown.ends_with('…') {
            return;
        }
        if !self.shown.is_empty() {
            self.shown.push_str(", ");
        }
        if self.shown.len() + value.len() > SHOWN {
            self.shown.push('…');
        } else {
            self.shown.push_str(value);
        }
    }

    #[inline]
    pub(crate) fn admits_string(&self, text: &[u8], string: Str, plain: &mut String) -> bool {
        self.strings.find(text, string, plain).is_some()
    }

    pub(crate) fn admits_number(&self, text: &[u8], num: Num) -> bool {
        let number = num.number(text);
        self.numbers.binary_search_by(|constant| Number::from_scanned(constant).cmp(&number)).is_ok()
    }

    pub(crate) fn admits_literal(&self, literal: Literal) -> bool {
        self.literals[literal as usize]
    }

    /// Returns whether the array or object that `text` is, which must be JSON, is one of the values.
    pub(crate) fn admits_container(&self, text: &[u8], tape: &mut Tape, same: &mut Same) -> bool {
        if self.containers.is_empty() {
            return false;
        }
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let Ok(value) = tape.read(text, usize::MAX) else { return false };
        self.containers.iter().any(|constant| same.values(constant.root(), value))
    }
}
