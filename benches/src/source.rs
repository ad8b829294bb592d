//! Text that looks like source code to a compressor: identifiers from a vocabulary with a few favourites,
//! indented lines, the usual punctuation.

use crate::random::Random;

const SYLLABLES: [&str; 32] = [
    "re", "con", "parse", "tok", "en", "buf", "fer", "index", "node", "ref", "cur", "sor", "path", "map", "list",
    "val", "ue", "key", "stat", "us", "err", "or", "line", "col", "span", "ty", "pe", "name", "ctx", "hand", "le",
    "set",
];

/// A line of code with holes for words, marked `_`.
const SHAPES: [&str; 16] = [
    "let _ = _._(_);",
    "if _._ == _ {",
    "}",
    "",
    "// _ the _ when _ is _ and the _ has not been _.",
    "return _(_, _)?;",
    "pub fn _(&self, _: &_) -> Result<_> {",
    "self._.push(_);",
    "_ => _::_(_),",
    "for _ in _._() {",
    "assert_eq!(_, _);",
    "use crate::_::{_, _};",
    "_._ = Some(_);",
    "#[derive(Clone, Debug)]",
    "pub struct _ {",
    "    _: Vec<_>,",
];

/// The words one project uses.
pub struct Vocabulary(Vec<String>);

impl Vocabulary {
    /// The words that `seed` decides.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::of(seed, u64::MAX);
        let word = |random: &mut Random| (0..random.range(1, 4)).map(|_| SYLLABLES[random.range(0, 32)]).collect();
        Vocabulary((0..4_000).map(|_| word(&mut random)).collect())
    }

    /// One word; a few are common, most are rare, as in any code.
    pub fn word(&self, random: &mut Random) -> &str {
        let favour = random.unit().powi(2);
        &self.0[(favour * self.0.len() as f64) as usize]
    }

    /// Exactly `length` bytes of text. A file speaks mostly of its own things, so it draws most words from few.
    pub fn text(&self, length: usize, random: &mut Random) -> Vec<u8> {
        let local: Vec<&str> = (0..24).map(|_| self.word(random)).collect();
        let mut text = Vec::with_capacity(length + 128);
        let mut depth = 0_usize;
        while text.len() < length {
            let shape = SHAPES[random.range(0, SHAPES.len())];
            depth = if shape.starts_with('}') { depth.saturating_sub(1) } else { depth };
            text.extend(std::iter::repeat_n(b' ', 4 * depth));
            for byte in shape.bytes() {
                match byte {
                    b'_' => match random.range(0, 100) {
                        0..52 => text.extend_from_slice(local[random.range(0, 24)].as_bytes()),
                        52..94 => text.extend_from_slice(self.word(random).as_bytes()),
                        _ => text.extend_from_slice(random.range(0, 100_000).to_string().as_bytes()),
                    },
                    other => text.push(other),
                }
            }
            text.push(b'\n');
            depth = if shape.ends_with('{') { (depth + 1).min(5) } else { depth };
        }
        text.truncate(length);
        text
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn text_has_the_length_asked_for_and_compresses_like_source() {
        let text = Vocabulary::new(1).text(10_000, &mut Random::new(2));
        assert_eq!(text.len(), 10_000);
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
        encoder.write_all(&text).unwrap();
        let ratio = 10_000.0 / encoder.finish().unwrap().len() as f64;
        assert!((3.0..4.2).contains(&ratio), "{ratio}");
    }
}
