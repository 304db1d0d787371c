//! The lexical grammar of RFC 8259: white space, strings, numbers and the three literals.
//!
//! Every function takes the whole text and a position, and answers with a position or with a
//! fault and its offset. Nothing here allocates but [`unescape`]. Strings are looked through 16
//! bytes at a time.

use std::borrow::Cow;

use wide::u8x16;

use super::{Fault, Number};

/// A fault and the byte offset at which it stands.
pub(crate) type At = (usize, Fault);

/// Where a string ends, and what is known of its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Str {
    /// The first byte after the opening quote.
    pub(crate) start: usize,
    /// The closing quote.
    pub(crate) end: usize,
    /// Whether an escape stands inside.
    pub(crate) escaped: bool,
    /// Whether every byte is ASCII.
    pub(crate) ascii: bool,
}

impl Str {
    /// Returns the length in code points after unescaping; `text` must be what was scanned.
    #[inline(always)]
    pub(crate) fn code_points(self, text: &[u8]) -> usize {
        if self.ascii && !self.escaped { self.end - self.start } else { self.count(text) }
    }

    fn count(self, text: &[u8]) -> usize {
        let raw = &text[self.start..self.end];
        if !self.escaped {
            return raw.iter().filter(|&&b| !is_continuation(b)).count();
        }
        let (mut count, mut i) = (0, 0);
        while i < raw.len() {
            i += match raw[i] {
                b'\\' if raw[i + 1] != b'u' => 2,
                b'\\' if is_high_surrogate(hex4(raw, i + 2).unwrap_or(0)) => 12,
                b'\\' => 6,
                _ => 1,
            };
            count += 1;
            while i < raw.len() && is_continuation(raw[i]) {
                i += 1;
            }
        }
        count
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn is_high_surrogate(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn hex4(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, &d| Some(unit << 4 | (d as char).to_digit(16)? as u16))
}

/// Returns the first position from `pos` on that is no white space.
#[inline(always)]
pub(crate) fn space(text: &[u8], pos: usize) -> usize {
    match text.get(pos) {
        Some(b'!'..) | None => pos,
        Some(_) => more_space(text, pos),
    }
}

fn more_space(text: &[u8], mut pos: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = text.get(pos) {
        pos += 1;
    }
    pos
}

/// Returns the byte at `pos`, or 0, which is no token, after the end.
#[inline(always)]
pub(crate) fn byte(text: &[u8], pos: usize) -> u8 {
    text.get(pos).copied().unwrap_or(0)
}

/// Returns the closing quote of a string that starts at `start` and is short and plain: less than
/// 16 bytes of ASCII without an escape.
#[inline(always)]
pub(crate) fn plain_string(text: &[u8], start: usize) -> Option<usize> {
    let end = start + Chunk::at(text, start).special_or_high().trailing_zeros() as usize;
    (byte(text, end) == b'"').then_some(end)
}

/// Scans a string whose first byte after the opening quote is at `start`.
pub(crate) fn string(text: &[u8], start: usize) -> Result<Str, At> {
    let mut pos = start;
    let mut high = 0;
    loop {
        let chunk = Chunk::at(text, pos);
        let special = chunk.special();
        if special != 0 {
            let skip = special.trailing_zeros();
            high |= chunk.high() & ((1 << skip) - 1);
            pos += skip as usize;
            if text.get(pos) == Some(&b'"') {
                let ascii = high == 0;
                if !ascii {
                    utf8(text, start, pos)?;
                }
                return Ok(Str { start, end: pos, escaped: false, ascii });
            }
            return string_with_escapes(text, start, pos, high == 0);
        }
        high |= chunk.high();
        pos += 16;
    }
}

/// Goes on with a string in which something other than its end was met at `pos`.
#[cold]
fn string_with_escapes(text: &[u8], start: usize, mut pos: usize, mut ascii: bool) -> Result<Str, At> {
    loop {
        match text.get(pos) {
            None => return Err((pos, Fault::End)),
            Some(b'"') => break,
            Some(b'\\') => pos = escape(text, pos)?,
            Some(0..0x20) => return Err((pos, Fault::Control)),
            Some(&b) => {
                ascii &= b < 0x80;
                pos += 1;
            }
        }
        // Plain stretches between escapes go 16 bytes at a time again.
        loop {
            let chunk = Chunk::at(text, pos);
            if chunk.special() != 0 {
                break;
            }
            ascii &= chunk.high() == 0;
            pos += 16;
        }
    }
    if !ascii {
        utf8(text, start, pos)?;
    }
    Ok(Str { start, end: pos, escaped: true, ascii })
}

fn utf8(text: &[u8], start: usize, end: usize) -> Result<(), At> {
    match std::str::from_utf8(&text[start..end]) {
        Ok(_) => Ok(()),
        Err(error) => Err((start + error.valid_up_to(), Fault::Utf8)),
    }
}

/// Returns the position after the escape that starts at `pos`.
fn escape(text: &[u8], pos: usize) -> Result<usize, At> {
    match text.get(pos + 1) {
        None => Err((pos + 1, Fault::End)),
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(pos + 2),
        Some(b'u') => {
            let unit = |at: usize| match hex4(text, at) {
                Some(unit) => Ok(unit),
                None if text.len() < at + 4 && text[at..].iter().all(u8::is_ascii_hexdigit) => {
                    Err((text.len(), Fault::End))
                }
                None => Err((pos, Fault::Escape)),
            };
            match unit(pos + 2)? {
                0xDC00..0xE000 => Err((pos, Fault::Surrogate)),
                high if is_high_surrogate(high) => {
                    if text.get(pos + 6..pos + 8) != Some(b"\\u") {
                        return Err((pos, Fault::Surrogate));
                    }
                    match unit(pos + 8)? {
                        0xDC00..0xE000 => Ok(pos + 12),
                        _ => Err((pos, Fault::Surrogate)),
                    }
                }
                _ => Ok(pos + 6),
            }
        }
        Some(_) => Err((pos, Fault::Escape)),
    }
}

/// Returns the characters that `raw`, the inside of a scanned string, stands for.
pub(crate) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut plain = String::with_capacity(raw.len());
    unescape_into(raw, &mut plain);
    Cow::Owned(plain)
}

/// Appends to `plain` the characters that `raw`, the inside of a scanned string, stands for.
pub(crate) fn unescape_into(raw: &str, plain: &mut String) {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let (c, length) = match rest.as_bytes()[at + 1] {
            b'u' => {
                let unit = |at| u32::from(hex4(rest.as_bytes(), at).unwrap_or(0));
                match unit(at + 2) {
                    high @ 0xD800..0xDC00 => {
                        let low = unit(at + 8);
                        (0x10000 + ((high - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF), 12)
                    }
                    unit => (unit, 6),
                }
            }
            b'b' => (0x08, 2),
            b'f' => (0x0C, 2),
            b'n' => (0x0A, 2),
            b'r' => (0x0D, 2),
            b't' => (0x09, 2),
            plain => (u32::from(plain), 2),
        };
        plain.push(char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[at + length..];
    }
    plain.push_str(rest);
}

/// Where a number stands, and what its text is made of.
#[derive(Clone, Copy)]
pub(crate) struct Num {
    pub(crate) start: usize,
    /// After the digits before the point.
    pub(crate) whole_end: usize,
    pub(crate) end: usize,
    pub(crate) exponent: bool,
}

impl Num {
    /// Returns the number; `text` must be what was scanned.
    pub(crate) fn number(self, text: &[u8]) -> Number<'_> {
        Number::from_scanned(std::str::from_utf8(&text[self.start..self.end]).unwrap_or("0"))
    }

    /// Returns whether the text has neither a point nor an exponent.
    pub(crate) fn is_plain(self) -> bool {
        self.whole_end == self.end
    }
}

/// Returns the end of the whole part and the end of the number that starts with a digit at `start`,
/// if it is short and plain: less than 16 bytes without an exponent.
#[inline(always)]
pub(crate) fn plain_number(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let others = !Chunk::at(text, start).digits();
    let whole = start + others.trailing_zeros() as usize;
    let mut end = whole;
    let mut after = byte(text, whole);
    if after == b'.' {
        end += 1 + (others >> (whole - start + 1)).trailing_zeros() as usize;
        if end == whole + 1 {
            return None;
        }
        after = byte(text, end);
    }
    let leading_zero = byte(text, start) == b'0' && whole != start + 1;
    (end < start + 16 && after | 0x20 != b'e' && !leading_zero).then_some((whole, end))
}

/// Scans the number that starts at `start`.
///
/// A number that ends at a byte that cannot follow one is left to the caller, who sees that byte.
pub(crate) fn number(text: &[u8], start: usize) -> Result<Num, At> {
    let mut pos = start + usize::from(text[start] == b'-');
    let whole_end = digits(text, pos);
    if whole_end == pos {
        return Err((pos, if pos < text.len() { Fault::Expected("a digit") } else { Fault::End }));
    }
    if text[pos] == b'0' && whole_end > pos + 1 {
        return Err((pos, Fault::LeadingZero));
    }
    pos = whole_end;
    if text.get(pos) == Some(&b'.') {
        pos = some_digits(text, pos + 1)?;
    }
    let exponent = matches!(text.get(pos), Some(b'e' | b'E'));
    if exponent {
        pos += 1;
        pos += usize::from(matches!(text.get(pos), Some(b'+' | b'-')));
        pos = some_digits(text, pos)?;
    }
    Ok(Num { start, whole_end, end: pos, exponent })
}

fn digits(text: &[u8], mut pos: usize) -> usize {
    while let Some(b'0'..=b'9') = text.get(pos) {
        pos += 1;
    }
    pos
}

fn some_digits(text: &[u8], pos: usize) -> Result<usize, At> {
    let end = digits(text, pos);
    match (end == pos, end < text.len()) {
        (false, _) => Ok(end),
        (true, true) => Err((pos, Fault::Expected("a digit"))),
        (true, false) => Err((pos, Fault::End)),
    }
}

/// Scans `null`, `true` or `false` at `pos` and returns the position after it.
pub(crate) fn literal(text: &[u8], pos: usize, word: &'static str) -> Result<usize, At> {
    let rest = &text[pos..];
    if rest.starts_with(word.as_bytes()) {
        Ok(pos + word.len())
    } else if word.as_bytes().starts_with(rest) {
        Err((text.len(), Fault::End))
    } else {
        Err((pos, Fault::Expected("a value")))
    }
}

/// Returns the fault for a text in which `what` should stand at `pos`.
#[cold]
pub(crate) fn expected(text: &[u8], pos: usize, what: &'static str) -> At {
    let bom = pos == 0 && text.starts_with(b"\xEF\xBB\xBF");
    match text.get(pos) {
        None => (pos, Fault::End),
        Some(_) if bom => (pos, Fault::ByteOrderMark),
        Some(_) => (pos, Fault::Expected(what)),
    }
}

/// The bits of two words that hold the first bytes, by how many they are.
const KEEP: [[u64; 2]; 17] = {
    let mut keep = [[u64::MAX; 2]; 17];
    let mut length = 0;
    while length < 16 {
        keep[length] =
            if length < 8 { [(1 << (8 * length)) - 1, 0] } else { [u64::MAX, (1 << (8 * (length - 8))) - 1] };
        length += 1;
    }
    keep
};

/// Sixteen bytes of the text, zeros past its end: a zero is special, so that every scan stops there.
#[derive(Clone, Copy)]
pub(crate) struct Chunk(u8x16);

impl Chunk {
    #[inline(always)]
    pub(crate) fn at(text: &[u8], pos: usize) -> Self {
        match text.get(pos..pos + 16).and_then(<[u8]>::first_chunk) {
            Some(&bytes) => Self(u8x16::new(bytes)),
            None => Self::tail(text, pos),
        }
    }

    #[cold]
    fn tail(text: &[u8], pos: usize) -> Self {
        let rest = &text[pos.min(text.len())..];
        let mut bytes = [0; 16];
        bytes[..rest.len()].copy_from_slice(rest);
        Self(u8x16::new(bytes))
    }

    /// Returns a bit for each byte that ends a plain stretch of a string: `"`, `\` and controls.
    #[inline(always)]
    pub(crate) fn special(self) -> u32 {
        self.special_lanes().to_bitmask()
    }

    #[inline(always)]
    fn special_lanes(self) -> u8x16 {
        let quote = self.0.simd_eq(u8x16::splat(b'"'));
        let escape = self.0.simd_eq(u8x16::splat(b'\\'));
        let control = self.0.min(u8x16::splat(0x1F)).simd_eq(self.0);
        quote | escape | control
    }

    /// Returns the first `length` bytes, at most 16, as two little-endian words filled up with zeros.
    #[inline(always)]
    pub(crate) fn words(self, length: usize) -> [u64; 2] {
        let bytes = self.0.to_array();
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let [low, high] = KEEP[length.min(16)];
        [word(0) & low, word(8) & high]
    }

    /// Returns a bit for each byte that is a digit.
    #[inline(always)]
    fn digits(self) -> u32 {
        let value = self.0 - u8x16::splat(b'0');
        value.min(u8x16::splat(9)).simd_eq(value).to_bitmask()
    }

    /// Returns a bit for each byte that is special or not ASCII; and one after the last byte.
    #[inline(always)]
    fn special_or_high(self) -> u32 {
        (self.special_lanes() | self.0).to_bitmask() | 1 << 16
    }

    /// Returns a bit for each byte that is not ASCII.
    #[inline(always)]
    pub(crate) fn high(self) -> u32 {
        self.0.to_bitmask()
    }

    /// Returns a bit for each byte that equals the byte of `other` at its place.
    #[inline(always)]
    pub(crate) fn equal(self, other: u8x16) -> u32 {
        self.0.simd_eq(other).to_bitmask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(inside: &str) -> Result<(String, usize), Fault> {
        let text = format!("{inside}\"");
        let found = string(text.as_bytes(), 0).map_err(|(_, fault)| fault)?;
        assert_eq!(found.end, inside.len());
        let plain = unescape(&text[..found.end]).into_owned();
        assert_eq!(found.code_points(text.as_bytes()), plain.chars().count(), "{inside}");
        Ok((plain, found.code_points(text.as_bytes())))
    }

    #[test]
    fn strings_of_every_length_and_content() {
        for length in 0..70 {
            for piece in ["a", "ğ", "😀", "\\n", "\\u00fc", "\\ud83d\\ude00", "\\\"", "\\\\"] {
                let inside = format!("{}{piece}{}", "x".repeat(length), "y".repeat(length / 2));
                assert_eq!(scan(&inside).map(|(_, n)| n), Ok(length + length / 2 + 1), "{inside}");
            }
        }
    }

    #[test]
    fn faults_have_names() {
        for (inside, fault) in [
            ("\n", Fault::Control),
            ("\\x", Fault::Escape),
            ("\\u12g4", Fault::Escape),
            ("\\ud800", Fault::Surrogate),
            ("\\udc00", Fault::Surrogate),
            ("\\ud800\\n", Fault::Surrogate),
            ("\\ud800\\ud800", Fault::Surrogate),
        ] {
            assert_eq!(scan(inside), Err(fault), "{inside}");
        }
        assert_eq!(string(b"abc", 0).err(), Some((3, Fault::End)));
        assert_eq!(string(b"a\xFFb\"", 0).err(), Some((1, Fault::Utf8)));
    }

    #[test]
    fn numbers_end_where_they_end() {
        for (text, end) in [("0,", 1), ("-0.5]", 4), ("12e+3}", 5), ("1E5", 3), ("10 ", 2)] {
            assert_eq!(number(text.as_bytes(), 0).map(|n| n.end), Ok(end), "{text}");
        }
        for text in ["-", "01", "1.", "1.e1", "1e", "1e+", "-a", ".5"] {
            assert!(number(text.as_bytes(), 0).is_err(), "{text}");
        }
    }
}
