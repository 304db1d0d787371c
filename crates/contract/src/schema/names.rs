//! Names of properties, string constants and URNs, found by their bytes as they stand in a text.
//!
//! A message is mostly names, and a name is mostly shorter than 16 bytes: it is hashed and compared
//! in one piece, together with the quote after it.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use wide::u8x16;

use crate::json::scan::{self, Chunk, Str};

/// A list of different names.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    list: Vec<Name>,
    /// A hash table with linear probing, at most a quarter full: the place in `list` plus one, or 0.
    slots: Vec<u32>,
    /// Random, so that no choice of names makes a search long.
    seeds: [u64; 2],
}

#[derive(Clone, Debug)]
struct Name {
    /// The first 16 bytes of the name and the quote after it.
    head: u8x16,
    /// A bit for each byte of `head` that counts.
    mask: u32,
    text: Box<str>,
}

impl Default for Names {
    fn default() -> Self {
        let random = RandomState::default();
        Self { list: Vec::new(), slots: vec![0; 4], seeds: [random.hash_one(0), random.hash_one(1)] }
    }
}

impl Names {
    /// Adds `name` unless it is there, and returns its place in the list.
    pub(crate) fn insert(&mut self, name: &str) -> u32 {
        if let Some(place) = self.get(name) {
            return place;
        }
        let mut head = [0; 16];
        for (to, from) in head.iter_mut().zip(name.bytes().chain([b'"'])) {
            *to = from;
        }
        // A name with one of these never stands in a text as it is.
        let escaped = name.bytes().any(|b| matches!(b, b'"' | b'\\' | 0..0x20));
        let mask = if escaped { u32::MAX } else { (1 << (name.len() + 1).min(16)) - 1 };
        self.list.push(Name { head: u8x16::new(head), mask, text: name.into() });
        if self.list.len() * 4 > self.slots.len() {
            self.slots = vec![0; self.slots.len() * 4];
            for place in 0..self.list.len() as u32 {
                self.link(place);
            }
        } else {
            self.link(self.list.len() as u32 - 1);
        }
        self.list.len() as u32 - 1
    }

    fn link(&mut self, place: u32) {
        let name = self.name(place).as_bytes();
        let mut slot = self.slot(Chunk::at(name, 0), name);
        while self.slots[slot] != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = place + 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the name at `place`.
    pub(crate) fn name(&self, place: u32) -> &str {
        &self.list[place as usize].text
    }

    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.probe(Chunk::at(name.as_bytes(), 0), name.as_bytes(), |known| *known.text == *name)
    }

    /// Returns the place of the name at `start` in `text`, which a quote at `end` must follow, and
    /// in which no escape stands. `chunk` must be the one at `start`.
    #[inline]
    fn find_plain(&self, chunk: Chunk, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let name = &text[start..end];
        self.probe(chunk, name, |known| {
            chunk.equal(known.head) & known.mask == known.mask && (name.len() < 16 || known.text.as_bytes() == name)
        })
    }

    /// Returns the place of the name that `string` in `text` stands for; `plain` is a buffer.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], string: Str, plain: &mut String) -> Option<u32> {
        if string.escaped {
            plain.clear();
            scan::unescape_into(std::str::from_utf8(&text[string.start..string.end]).ok()?, plain);
            return self.get(plain);
        }
        self.find_plain(Chunk::at(text, string.start), text, string.start, string.end)
    }

    #[inline(always)]
    fn probe(&self, chunk: Chunk, name: &[u8], is_it: impl Fn(&Name) -> bool) -> Option<u32> {
        let mut slot = self.slot(chunk, name);
        loop {
            let place = self.slots[slot].checked_sub(1)?;
            if is_it(&self.list[place as usize]) {
                return Some(place);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Returns where to look for `name` first; `chunk` must hold its beginning.
    #[inline(always)]
    fn slot(&self, chunk: Chunk, name: &[u8]) -> usize {
        let [low, high] = chunk.words(name.len());
        let mut hash = fold(low ^ self.seeds[0], high ^ self.seeds[1] ^ name.len() as u64);
        if name.len() > 16 {
            for part in name[16..].chunks(8) {
                let word = part.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
                hash = fold(hash ^ self.seeds[0], word ^ self.seeds[1]);
            }
        }
        hash as usize & (self.slots.len() - 1)
    }
}

/// Multiplies to 128 bits and adds up both halves without carry: every bit tells on every other.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_length_are_found_and_no_others() {
        let mut names = Names::default();
        let all: Vec<String> = (0..40).flat_map(|n| ["a", "b"].map(|c| c.repeat(n) + "ü" + &c.repeat(n / 2))).collect();
        for (place, name) in all.iter().enumerate() {
            assert_eq!(names.get(name), all[..place].iter().position(|known| known == name).map(|p| p as u32));
            names.insert(name);
        }
        for name in &all {
            let text = format!("\"{name}\": 1");
            let find = |end| names.find_plain(Chunk::at(text.as_bytes(), 1), text.as_bytes(), 1, end);
            assert_eq!(find(name.len() + 1), names.get(name), "{name}");
            assert!(names.get(name).is_some());
            let longer = format!("\"{name}x\"");
            assert_eq!(names.find_plain(Chunk::at(longer.as_bytes(), 1), longer.as_bytes(), 1, name.len() + 2), None);
        }
    }
}
