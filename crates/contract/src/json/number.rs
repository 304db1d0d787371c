//! Exact comparison of JSON numbers of any size, on their text.

use std::cmp::Ordering;
use std::fmt;
use std::iter::{Chain, Copied};
use std::slice;

/// A JSON number as it was written. Two are equal when their mathematical values are.
///
/// Every operation is exact and takes time linear in the length of the texts.
///
/// ```
/// use bq_contract::Document;
/// let numbers = Document::parse(b"[1e400, 10e399, 9007199254740993, 9007199254740992.0]")?;
/// let n: Vec<_> = numbers.root().items().filter_map(|v| v.as_number()).collect();
/// assert_eq!(n[0], n[1]);
/// assert!(n[2] > n[3]);
/// # Ok::<(), bq_contract::ReadError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Number<'t>(&'t str);

impl<'t> Number<'t> {
    /// `text` must match the number grammar of RFC 8259, section 6.
    pub(crate) fn from_scanned(text: &'t str) -> Self {
        Self(text)
    }

    /// Returns the number as it was written.
    #[must_use]
    pub fn text(self) -> &'t str {
        self.0
    }

    /// Returns whether the value has no fractional part: `1`, `1.0` and `1e2` have none.
    #[must_use]
    pub fn is_integral(self) -> bool {
        let decimal = Decimal::of(self.0);
        match decimal.scale() {
            _ if decimal.is_zero() => true,
            Scale::Small(scale) => scale >= decimal.digit_count(),
            Scale::Big { negative, .. } => !negative,
        }
    }

    /// Returns the value without its fractional part, or `None` where that is negative.
    ///
    /// A value past `u64::MAX` gives `u64::MAX`.
    #[must_use]
    pub fn truncated(self) -> Option<u64> {
        let decimal = Decimal::of(self.0);
        let scale = match decimal.scale() {
            _ if decimal.is_zero() => return Some(0),
            Scale::Small(scale) => scale,
            Scale::Big { negative: true, .. } => return Some(0),
            Scale::Big { .. } => i64::MAX,
        };
        if scale <= 0 {
            return Some(0);
        }
        if decimal.negative {
            return None;
        }
        if scale > 19 {
            return Some(u64::MAX);
        }
        let digits = decimal.digits().chain(std::iter::repeat(b'0')).take(scale as usize);
        Some(digits.fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number<'_> {}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        Decimal::of(self.0).cmp(&Decimal::of(other.0))
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A number taken apart: `0.DIGITS × 10^(lead + exponent)`, where `DIGITS`, which stands in two
/// pieces around the decimal point, neither starts nor ends with a zero.
struct Decimal<'t> {
    negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
    lead: i64,
    exponent_negative: bool,
    exponent: &'t [u8],
}

impl<'t> Decimal<'t> {
    fn of(text: &'t str) -> Self {
        let text = text.as_bytes();
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (mantissa, exponent) = match text.iter().position(|b| matches!(b, b'e' | b'E')) {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, &[][..]),
        };
        let (exponent_negative, exponent) = match exponent {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, exponent),
        };
        let (whole, fraction) = match mantissa.iter().position(|&b| b == b'.') {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &[][..]),
        };
        let mut decimal = Self {
            negative,
            whole: without_leading_zeros(whole),
            fraction,
            lead: 0,
            exponent_negative,
            exponent: without_leading_zeros(exponent),
        };
        decimal.lead = decimal.whole.len() as i64;
        if decimal.whole.is_empty() {
            decimal.fraction = without_leading_zeros(fraction);
            decimal.lead = decimal.fraction.len() as i64 - fraction.len() as i64;
        }
        decimal.fraction = without_trailing_zeros(decimal.fraction);
        if decimal.fraction.is_empty() {
            decimal.whole = without_trailing_zeros(decimal.whole);
        }
        decimal
    }

    fn digits(&self) -> Chain<Copied<slice::Iter<'t, u8>>, Copied<slice::Iter<'t, u8>>> {
        self.whole.iter().copied().chain(self.fraction.iter().copied())
    }

    fn digit_count(&self) -> i64 {
        (self.whole.len() + self.fraction.len()) as i64
    }

    fn is_zero(&self) -> bool {
        self.digit_count() == 0
    }

    fn scale(&self) -> Scale {
        let sign = if self.exponent_negative { -1 } else { 1 };
        if self.exponent.len() <= 18 {
            let magnitude = self.exponent.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
            Scale::Small(sign * magnitude + self.lead)
        } else {
            Scale::Big { negative: self.exponent_negative, digits: plus(self.exponent, sign * self.lead) }
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |d: &Self| match (d.is_zero(), d.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let by_sign = sign(self).cmp(&sign(other));
        if by_sign.is_ne() || self.is_zero() {
            return by_sign;
        }
        let magnitude = self.scale().cmp(&other.scale()).then_with(|| self.digits().cmp(other.digits()));
        if self.negative { magnitude.reverse() } else { magnitude }
    }
}

/// The power of ten that a number's digits, read as `0.DIGITS`, are multiplied by.
enum Scale {
    Small(i64),
    /// From an exponent of more than 18 digits, beside which the place of the point is nothing.
    Big {
        negative: bool,
        digits: Vec<u8>,
    },
}

impl Scale {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Self::Small(a), Self::Small(b)) = (self, other) {
            return a.cmp(b);
        }
        let ((a_negative, a), (b_negative, b)) = (self.to_decimal(), other.to_decimal());
        b_negative.cmp(&a_negative).then_with(|| {
            let magnitude = a.len().cmp(&b.len()).then_with(|| a.cmp(&b));
            if a_negative { magnitude.reverse() } else { magnitude }
        })
    }

    fn to_decimal(&self) -> (bool, Vec<u8>) {
        match self {
            Self::Small(scale) => (*scale < 0, scale.unsigned_abs().to_string().into_bytes()),
            Self::Big { negative, digits } => (*negative, digits.clone()),
        }
    }
}

/// Adds `delta`, which must be smaller in magnitude, to the decimal `digits`.
fn plus(digits: &[u8], delta: i64) -> Vec<u8> {
    let (mut sum, mut carry) = (digits.to_vec(), delta);
    for digit in sum.iter_mut().rev() {
        let value = i64::from(*digit - b'0') + carry;
        *digit = b'0' + value.rem_euclid(10) as u8;
        carry = value.div_euclid(10);
    }
    if carry > 0 {
        sum.splice(0..0, carry.to_string().into_bytes());
    }
    without_leading_zeros(&sum).to_vec()
}

fn without_leading_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&d| d == b'0').count();
    &digits[zeros..]
}

fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|&&d| d == b'0').count();
    &digits[..digits.len() - zeros]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Number<'_> {
        Number::from_scanned(text)
    }

    #[test]
    fn equal_values() {
        let zero = ["0", "-0", "0.0", "0e99999999999999999999", "-0.000E-5"];
        let hundred = ["100", "1e2", "1.00E+02", "0.1e3", "10000e-2", "100.000"];
        let big = ["1e400", "10e399", "0.001e403"];
        let huge = ["1e100000000000000000000", "10e99999999999999999999", "0.1e100000000000000000001"];
        for group in [&zero[..], &hundred, &big, &huge] {
            for (a, b) in group.iter().flat_map(|a| group.iter().map(move |b| (a, b))) {
                assert_eq!(n(a), n(b), "{a} {b}");
            }
        }
    }

    #[test]
    fn order() {
        let ascending = [
            "-1e1000000000000000000001",
            "-1e1000000000000000000000",
            "-1e1000000000000000000",
            "-1e999999999999999999",
            "-9007199254740993",
            "-9007199254740992",
            "-1.5",
            "-1",
            "-1e-99999999999999999999",
            "-1e-100000000000000000000",
            "0",
            "1e-100000000000000000000",
            "1e-99999999999999999999",
            "0.5",
            "0.50000000000000000001",
            "1",
            "1.25",
            "9.9e1",
            "100",
            "9007199254740992",
            "9007199254740993",
            "1e400",
            "1e401",
            "1e999999999999999999",
            "10e999999999999999999",
            "1e1000000000000000001",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (k, b) in ascending.iter().enumerate() {
                assert_eq!(n(a).cmp(&n(b)), i.cmp(&k), "{a} {b}");
            }
        }
    }

    #[test]
    fn integral_and_truncated() {
        for (text, integral, truncated) in [
            ("0", true, Some(0)),
            ("-0.0", true, Some(0)),
            ("1e2", true, Some(100)),
            ("1.50e1", true, Some(15)),
            ("2.5", false, Some(2)),
            ("-0.5", false, Some(0)),
            ("-1.5", false, None),
            ("1e-99999999999999999999", false, Some(0)),
            ("12345678901234567890123", true, Some(u64::MAX)),
            ("9999999999999999999", true, Some(9_999_999_999_999_999_999)),
            ("1e400", true, Some(u64::MAX)),
            ("1e99999999999999999999", true, Some(u64::MAX)),
            ("-1e99999999999999999999", true, None),
            ("1.00000000000000000001", false, Some(1)),
        ] {
            assert_eq!(n(text).is_integral(), integral, "{text}");
            assert_eq!(n(text).truncated(), truncated, "{text}");
        }
    }
}
