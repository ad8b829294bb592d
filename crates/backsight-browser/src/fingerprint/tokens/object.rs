//! Objects within messages, as JSON or as a console shows them: their keys stay and their values go, except those that tell
//! what happened.

use super::{DEEPEST, Templater};
use crate::fingerprint::context::is_telling;
use crate::fingerprint::shape::shape;

impl Templater<'_> {
    /// A brace: the beginning of an object, or only a brace.
    pub(super) fn object(&mut self) {
        let start = self.at;
        if self.depth >= DEEPEST || !opens_object(self.rest(start)) {
            return self.mark(b'{');
        }
        self.copy_to(start);
        let mut skeleton =
            Skeleton { bytes: self.bytes, text: self.text, at: start + 1, out: &mut self.out, depth: self.depth };
        skeleton.out.push('{');
        skeleton.run();
        self.at = skeleton.at.min(self.bytes.len());
        self.copied = self.at;
    }
}

/// Whether a brace is followed by a key and a colon.
fn opens_object(rest: &[u8]) -> bool {
    const LONGEST_KEY: usize = 80;
    let spaces = rest[1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let key = &rest[1 + spaces..];
    let length = match key.first() {
        Some(mark @ (b'"' | b'\'')) => match key[1..].iter().take(LONGEST_KEY).position(|byte| byte == mark) {
            Some(end) => end + 2,
            None => return false,
        },
        _ => key.iter().take(LONGEST_KEY).take_while(|byte| is_name(**byte)).count(),
    };
    let after = &key[length..];
    let spaces = after.iter().take_while(|byte| **byte == b' ').count();
    let arrow = after[spaces..].starts_with(b"=>");
    length > 0 && (arrow || (after.get(spaces) == Some(&b':') && after.get(spaces + 1) != Some(&b':')))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-' | b'.') || byte >= 0x80
}

/// Writes the keys of an object.
struct Skeleton<'a, 'b> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    out: &'b mut String,
    depth: usize,
}

impl<'a> Skeleton<'a, '_> {
    /// From after the opening brace to after its closing one, or to the end of a text that is cut.
    fn run(&mut self) {
        let mut open = 1_usize;
        while open > 0 {
            self.skip_spaces();
            match self.bytes.get(self.at) {
                None => return,
                Some(b'}') => {
                    open -= 1;
                    self.at += 1;
                    self.out.push('}');
                }
                Some(b',' | b']' | b'{' | b'[') => self.at += 1,
                Some(_) => {
                    let key = self.key();
                    open += usize::from(self.value(key));
                }
            }
        }
    }

    fn skip_spaces(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Takes a key with its colon.
    fn key(&mut self) -> &'a str {
        let key = match self.bytes.get(self.at) {
            Some(mark @ (b'"' | b'\'' | b'`')) => self.string(*mark),
            _ => self.bare(b":,}]="),
        };
        self.skip_spaces();
        if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"=>")) {
            self.at += 1;
        }
        key.trim()
    }

    /// Takes what is after the key; says whether that opened another object.
    fn value(&mut self, key: &str) -> bool {
        self.push_key(key);
        if !matches!(self.bytes.get(self.at), Some(b':' | b'>' | b'=')) {
            return false;
        }
        self.at += 1;
        self.skip_spaces();
        match self.bytes.get(self.at) {
            Some(b'{') => {
                self.at += 1;
                self.out.push_str(":{");
                return true;
            }
            Some(b'[') => self.array(),
            Some(mark @ (b'"' | b'\'' | b'`')) => {
                let value = self.string(*mark);
                self.keep(key, value);
            }
            _ => {
                let value = self.bare(b",}]");
                self.keep(key, value);
            }
        }
        false
    }

    /// Keys that are ids themselves are one key, however many there are.
    fn push_key(&mut self, key: &str) {
        let bytes = key.as_bytes();
        let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
        let made_up = digits >= 3
            || digits == bytes.len()
            || (bytes.iter().all(u8::is_ascii_alphanumeric) && shape(bytes).is_made_up());
        let shown = if made_up && !bytes.is_empty() { "{k}" } else { key };
        if made_up && self.out.ends_with(shown) {
            return;
        }
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        self.out.push_str(shown);
    }

    /// Values stay, as templates, if they tell what happened.
    fn keep(&mut self, key: &str, value: &str) {
        let name_of_error =
            !key.eq_ignore_ascii_case("name") || value.ends_with("Error") || value.ends_with("Exception");
        if value.is_empty() || !is_telling(key.as_bytes()) || !name_of_error {
            return;
        }
        self.out.push(':');
        let number = value.len() <= 5 && value.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        if number {
            return self.out.push_str(value);
        }
        let mut inner = Templater::new(value, self.depth + 1);
        inner.run();
        self.out.push_str(&inner.finish());
    }

    /// Takes a string with its marks and gives what is between.
    fn string(&mut self, mark: u8) -> &'a str {
        let start = self.at + 1;
        self.at = start;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                _ if *byte == mark => break,
                _ => {}
            }
            self.at += 1;
        }
        let end = self.at.min(self.bytes.len());
        self.at = (end + 1).min(self.bytes.len());
        self.text.get(start..end).unwrap_or_default()
    }

    /// Takes what comes before one of `ends`.
    fn bare(&mut self, ends: &[u8]) -> &'a str {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| !ends.contains(byte)) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default().trim()
    }

    /// Takes a whole array; how many things are in it is no part of a message.
    fn array(&mut self) {
        let mut open = 0_usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' | b'\'' | b'`' => {
                    self.string(byte);
                    continue;
                }
                b'[' | b'{' => open += 1,
                b']' | b'}' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                break;
            }
        }
        self.out.push_str(":[]");
    }
}
