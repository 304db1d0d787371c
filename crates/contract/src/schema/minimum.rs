//! The keyword `minimum`, decided on the digits of a number wherever they tell.

use crate::json::Number;
use crate::json::scan::Num;

/// A lower bound, included.
#[derive(Clone, Debug)]
pub(crate) struct Minimum {
    text: Box<str>,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    /// Every number without a sign is at least this.
    NotPositive,
    /// A whole positive number in plain digits.
    Whole,
    Other,
}

impl Minimum {
    pub(crate) fn new(bound: Number<'_>) -> Self {
        let zero = Number::from_scanned("0");
        let shape = if bound <= zero {
            Shape::NotPositive
        } else if bound.text().bytes().all(|b| b.is_ascii_digit()) {
            Shape::Whole
        } else {
            Shape::Other
        };
        Self { text: bound.text().into(), shape }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the number at `num` in `text` is at least the bound.
    #[inline]
    pub(crate) fn admits(&self, text: &[u8], num: Num) -> bool {
        let negative = text[num.start] == b'-';
        match self.shape {
            Shape::NotPositive if !negative => true,
            Shape::Whole if !negative && !num.exponent => {
                let (whole, bound) = (&text[num.start..num.whole_end], self.text.as_bytes());
                whole.len().cmp(&bound.len()).then_with(|| whole.cmp(bound)).is_ge()
            }
            _ => num.number(text) >= Number::from_scanned(&self.text),
        }
    }
}
