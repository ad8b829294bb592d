//! Paths with what varies replaced: `{id}` for ids, `{h}` for the hashes that bundlers put into file names.

use crate::fingerprint::shape::{self, Shape, shape};

/// Longer paths are cut here and end with `…`: nobody tells endpoints apart by what comes so late.
const LONGEST_PATH: usize = 1024;

/// Appends `path` with its ids replaced.
pub(crate) fn push_path(out: &mut String, path: &str) {
    let start = out.len();
    for (index, segment) in path.split(['/', '\\']).enumerate() {
        if index > 0 {
            out.push('/');
        }
        if out.len() - start > LONGEST_PATH {
            out.push('…');
            return;
        }
        push_segment(out, segment.split(';').next().unwrap_or_default());
    }
}

/// Appends one segment of a path.
fn push_segment(out: &mut String, segment: &str) {
    const LONGEST_WORD: usize = 80;
    let bytes = segment.as_bytes();
    if bytes.iter().all(u8::is_ascii_alphabetic) && bytes.len() < LONGEST_WORD {
        // Most segments are words; eight letters up to `f` are the rare exception.
        let made_up = bytes.len() >= 8 && shape(bytes).is_made_up();
        return out.push_str(if made_up { "{id}" } else { segment });
    }
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    if is_id(bytes) || (bytes.len() >= LONGEST_WORD && has_digit) {
        return out.push_str("{id}");
    }
    push_parts(out, segment, is_file(segment));
}

/// Whether all of a segment is an id.
fn is_id(bytes: &[u8]) -> bool {
    let numeric = !bytes.is_empty() && bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == b',' || *byte == b'-');
    let mail = bytes.iter().position(|byte| *byte == b'@').is_some_and(|at| at > 0 && bytes[at..].contains(&b'.'));
    let numbers = numeric && bytes.iter().any(u8::is_ascii_digit);
    numbers || mail || shape::uuid(bytes) == Some(bytes.len()) || shape::jwt(bytes).is_some() || is_scattered(bytes)
}

fn is_scattered(bytes: &[u8]) -> bool {
    shape::base64_url(bytes) == bytes.len() && shape::is_scattered_id(bytes)
}

/// Whether a segment names a file that a bundler makes.
fn is_file(segment: &str) -> bool {
    const ENDINGS: [&str; 16] = [
        "js", "mjs", "cjs", "css", "map", "wasm", "png", "jpg", "jpeg", "svg", "webp", "gif", "woff", "woff2", "ttf",
        "ico",
    ];
    segment.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Appends a segment part by part; parts stand between `-`, `_`, `.` and whatever else is no letter or digit.
fn push_parts(out: &mut String, segment: &str, file: bool) {
    let bytes = segment.as_bytes();
    let name = if file { segment.rfind('.').unwrap_or(segment.len()) } else { segment.len() };
    let mut at = 0;
    let mut after_separator = false;
    while at < bytes.len() {
        let run = shape::alphanumerics(&bytes[at..]);
        if run == 0 {
            at += push_other(out, segment, at);
            after_separator = at > 0;
            continue;
        }
        let part = &segment[at..at + run];
        let ends_name = at + run == name;
        // Hashes of eight letters and digits often look like words: after a separator at the end of a bundle's name they are
        // hashes all the same, if they are not plain lower case.
        let hash = file && after_separator && ends_name && is_bundle_hash(part.as_bytes());
        match shape(part.as_bytes()) {
            _ if hash => out.push_str("{h}"),
            shape if shape.is_made_up() => out.push_str(if file && at > 0 { "{h}" } else { "{id}" }),
            // A port without an origin is still a port.
            Shape::Number if at > 0 && bytes[at - 1] == b':' => out.push_str(part),
            Shape::Number if run >= 3 || run == name || (file && at == 0) => out.push_str("{id}"),
            Shape::Numbered(letters) => {
                out.push_str(&part[..letters]);
                out.push_str("{id}");
            }
            _ => out.push_str(part),
        }
        at += run;
    }
}

fn is_bundle_hash(part: &[u8]) -> bool {
    let digit = part.iter().any(u8::is_ascii_digit);
    let upper_after_first = part.iter().skip(1).any(u8::is_ascii_uppercase);
    let lower = part.iter().any(u8::is_ascii_lowercase);
    let turns = part.windows(2).filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()).count();
    matches!(part.len(), 8 | 10 | 16 | 20) && (digit || (upper_after_first && !lower) || turns >= 4)
}

/// Appends the one character at `at` that is no ASCII letter or digit, or one percent-encoded byte in its normal form; says
/// how many bytes that was.
fn push_other(out: &mut String, segment: &str, at: usize) -> usize {
    if let Some(byte) = percent_encoded(segment.as_bytes(), at) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&segment[at..at + 3].to_ascii_uppercase()),
        }
        return 3;
    }
    let Some(letter) = segment.get(at..).and_then(|rest| rest.chars().next()) else { return 1 };
    out.push(letter);
    letter.len_utf8()
}

/// The byte that `%7E` and the like stand for.
fn percent_encoded(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |index: usize| bytes.get(index).and_then(|byte| char::from(*byte).to_digit(16));
    match bytes.get(at) {
        Some(b'%') => u8::try_from(digit(at + 1)? * 16 + digit(at + 2)?).ok(),
        _ => None,
    }
}
