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

    /// Returns a bit for each way in which a number can start ([`start_class`]) that alone shows it
    /// to be at least the bound.
    pub(crate) fn starts(&self) -> u8 {
        match self.shape {
            Shape::NotPositive => ZERO | ONE_OR_MORE,
            Shape::Whole if &*self.text == "1" => ONE_OR_MORE,
            _ => 0,
        }
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

const ZERO: u8 = 1;
const ONE_OR_MORE: u8 = 2;

/// Every way in which a number without a sign can start.
pub(crate) const ANY_START: u8 = ZERO | ONE_OR_MORE;

/// Returns the bit for a number without sign and exponent that starts with the digit `byte`.
#[inline(always)]
pub(crate) fn start_class(byte: u8) -> u8 {
    if byte == b'0' { ZERO } else { ONE_OR_MORE }
}
