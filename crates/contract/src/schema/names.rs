//! Names of properties and string constants, found by their bytes.

use std::collections::HashMap;

use foldhash::quality::RandomState;
use wide::u8x16;

use crate::json::scan::Chunk;

/// A fixed list of names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    list: Vec<Name>,
    /// A seeded hash, so that no choice of names makes a search long.
    places: HashMap<Box<str>, u32, RandomState>,
}

/// A name as it stands in a text: followed by its closing quote.
#[derive(Clone, Debug)]
struct Name {
    quoted: Box<[u8]>,
    /// The first 16 bytes of `quoted`, and a bit for each that counts.
    head: u8x16,
    mask: u32,
}

impl Name {
    fn new(name: &str) -> Self {
        let quoted: Box<[u8]> = name.bytes().chain([b'"']).collect();
        let mut head = [0; 16];
        let length = quoted.len().min(16);
        head[..length].copy_from_slice(&quoted[..length]);
        // A name that must be escaped in a text never stands there as it is: no comparison may hold.
        let plain = !name.bytes().any(|b| matches!(b, b'"' | b'\\' | 0..0x20));
        let mask = if plain { (1 << length) - 1 } else { u32::MAX };
        Self { quoted, head: u8x16::new(head), mask }
    }
}

impl Names {
    /// Adds `name` unless it is there, and returns its place in the list.
    pub(crate) fn insert(&mut self, name: &str) -> u32 {
        if let Some(place) = self.get(name) {
            return place;
        }
        let place = self.list.len() as u32;
        self.list.push(Name::new(name));
        self.places.insert(name.into(), place);
        place
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// Returns the name at `place`.
    pub(crate) fn name(&self, place: u32) -> &str {
        let quoted = &self.list[place as usize].quoted;
        std::str::from_utf8(&quoted[..quoted.len() - 1]).unwrap_or_default()
    }

    /// Returns whether the name at `place` and a quote stand in `text` at `pos`, and where that
    /// quote is. `chunk` must be the one at `pos`.
    #[inline]
    pub(crate) fn stands_at(&self, place: u32, chunk: Chunk, text: &[u8], pos: usize) -> Option<usize> {
        let name = self.list.get(place as usize)?;
        if chunk.equal(name.head) & name.mask != name.mask {
            return None;
        }
        let end = pos + name.quoted.len();
        (name.quoted.len() <= 16 || text.get(pos..end) == Some(&name.quoted)).then_some(end - 1)
    }
}
