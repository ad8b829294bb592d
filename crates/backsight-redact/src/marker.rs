//! What stands in the place of a secret: `[REDACTED:kind:tag]`.

const START: &[u8] = b"[REDACTED:";
const TAG: usize = 4;
const LONGEST_KIND: usize = 24;

/// A marker in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker<'a> {
    /// Of the whole marker.
    pub length: usize,
    /// What was there.
    pub kind: &'a [u8],
}

/// Appends a marker.
pub(super) fn push(out: &mut String, kind: &str, tag: u16) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("[REDACTED:");
    out.push_str(kind);
    out.push(':');
    for shift in [12, 8, 4, 0] {
        out.push(char::from(DIGITS[usize::from(tag >> shift & 0xf)]));
    }
    out.push(']');
}

/// The marker at the start of `bytes`.
pub fn at(bytes: &[u8]) -> Option<Marker<'_>> {
    let rest = bytes.strip_prefix(START)?;
    let length = rest
        .iter()
        .take(LONGEST_KIND + 1)
        .take_while(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-')
        .count();
    let hex = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    match rest.get(length..length + TAG + 2)? {
        [b':', tag @ .., b']'] if length > 0 && tag.iter().all(hex) => {
            Some(Marker { length: START.len() + length + TAG + 2, kind: &rest[..length] })
        }
        _ => None,
    }
}

/// Whether `bytes` are a marker and nothing else.
pub fn is(bytes: &[u8]) -> bool {
    at(bytes).is_some_and(|marker| marker.length == bytes.len())
}
