//! Where a value begins and ends: after `name=`, `name: `, `"name": `, `<name>`, in queries that are encoded once more, and
//! in strings within strings. Nothing here decides what is a secret.

use super::names;

/// A quotation mark with the backslashes before it, as strings within strings have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    /// `"` or `'`.
    pub(super) mark: u8,
    /// How many backslashes: 0, 1, 3, 7, ...
    pub(super) escapes: usize,
}

impl Quote {
    /// In bytes.
    pub(super) fn length(self) -> usize {
        self.escapes + 1
    }
}

/// A name with something that assigns a value to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    /// Where the name ends.
    pub(super) name_end: usize,
    /// Where its quotation mark ends, if it has one; otherwise the same.
    mark_end: usize,
    /// Where the value begins, with its quotation mark.
    pub(super) value: usize,
    /// The value's quotation mark.
    pub(super) quote: Option<Quote>,
    /// Assigned with a colon and no quotation marks, as in prose.
    pub(super) colon: bool,
    /// Assigned within a query that is encoded once more.
    pub(super) encoded: bool,
    /// The name's quotation mark ends a string of the whole JSON text.
    pub(super) closes_string: bool,
}

impl Assignment {
    /// The quotation mark after the name, with its backslashes.
    pub(super) fn key_mark<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.name_end..self.mark_end).unwrap_or_default()
    }
}

/// What names are made of.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// What assigns a value to the name between `start` and `end`. `in_string` says that this is within a string of a JSON text,
/// where a bare quotation mark ends that string and begins nothing.
pub(super) fn assignment(bytes: &[u8], start: usize, end: usize, in_string: bool) -> Option<Assignment> {
    let next = *bytes.get(end)?;
    // Most words are followed by a space or a mark that assigns nothing.
    if !matches!(next, b'=' | b':' | b'"' | b'\'' | b'\\' | b'%' | b'>' | b' ' | b']') || end - start > names::LONGEST {
        return None;
    }
    let rest = |at: usize| bytes.get(at..).unwrap_or_default();
    let assigns = || matches!(bytes.get(end + 1), Some(b'=' | b':' | b' ' | b'%'));
    if next == b' ' && !assigns() && !bytes[..start].ends_with(b"--") {
        return None;
    }
    if next == b'>' {
        return element(bytes, start, end);
    }
    let closing = opening(rest(end));
    let mark_end = end + closing.map_or(0, Quote::length);
    let closes_string = in_string && closing == Some(Quote { mark: b'"', escapes: 0 });
    let mut found =
        Assignment { name_end: end, mark_end, value: 0, quote: None, colon: false, encoded: false, closes_string };
    // `params["password"] = ...`
    let indexed = mark_end + usize::from(rest(mark_end).first() == Some(&b']'));
    if indexed > mark_end {
        found.mark_end = end;
    }
    let at = indexed + encoded_mark(rest(indexed)) + spaces(rest(indexed));
    if closing.is_some()
        && let Some(value) = paired(rest(mark_end))
    {
        found.value = mark_end + value;
        found.quote = opening(rest(found.value));
        return found.quote.is_some().then_some(found);
    }
    if closing.is_some()
        && let Some(blank) = blank_line(rest(mark_end))
    {
        found.value = mark_end + blank;
        found.mark_end = end;
        return bytes[..start].ends_with(b"name=\"").then_some(found);
    }
    let length = match (rest(at), percent(rest(at))) {
        // `--password hunter2`
        ([next, ..], _)
            if at > end
                && closing.is_none()
                && bytes[..start].ends_with(b"--")
                && !matches!(next, b'=' | b':' | b'-') =>
        {
            0
        }
        ([b'=', b'>', ..], _) => 2,
        ([b'=', b'=', ..], _) => return None,
        ([b'=', ..], _) => 1,
        ([b':', b':', ..] | [b':', b'/', b'/', ..], _) => return None,
        ([b':', ..], _) => {
            found.colon = closing.is_none();
            1
        }
        (_, Some(b'=' | b':')) => {
            found.encoded = true;
            3
        }
        _ => return None,
    };
    let after = at + length;
    found.value = after + spaces(rest(after)) + encoded_mark(rest(after));
    found.quote = opening(rest(found.value))
        .filter(|quote| !in_string || closes_string || quote.escapes > 0 || quote.mark == b'\'');
    // An apostrophe within JSON's own string does not protect what is after it from the string's end.
    if in_string && !closes_string && found.quote.is_some_and(|quote| quote.mark == b'\'' && quote.escapes == 0) {
        let content = rest(found.value + 1);
        let ends = content.iter().position(|byte| matches!(byte, b'\'' | b'"')).is_some_and(|at| content[at] == b'\'');
        found.quote = found.quote.filter(|_| ends);
    }
    Some(found)
}

/// `<password>...</password>`: the value goes to the next `<`.
fn element(bytes: &[u8], start: usize, end: usize) -> Option<Assignment> {
    let opened = start > 0 && bytes[start - 1] == b'<';
    let found = Assignment {
        name_end: end,
        mark_end: end,
        value: end + 1,
        quote: None,
        colon: false,
        encoded: false,
        closes_string: false,
    };
    opened.then_some(found)
}

/// How long the empty line is after which a part of a form has its value.
fn blank_line(rest: &[u8]) -> Option<usize> {
    [&b"\r\n\r\n"[..], b"\n\n", b"\\r\\n\\r\\n", b"\\n\\n"]
        .iter()
        .find(|blank| rest.starts_with(blank))
        .map(|blank| blank.len())
}

/// Where the value is in `"name":"password","value":"..."`, after the quotation mark of `password`.
fn paired(rest: &[u8]) -> Option<usize> {
    let at = spaces(rest);
    if rest.get(at) != Some(&b',') {
        return None;
    }
    let at = at + 1 + spaces(&rest[at + 1..]);
    let quote = opening(&rest[at..])?;
    let name = at + quote.length();
    if !rest[name..].starts_with(b"value") || opening(&rest[name + 5..]) != Some(quote) {
        return None;
    }
    let at = name + 5 + quote.length();
    let at = at + spaces(&rest[at..]);
    (rest.get(at) == Some(&b':')).then(|| at + 1 + spaces(&rest[at + 1..]))
}

/// How many spaces there are at the start; no line ends.
fn spaces(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The length of a quotation mark that is percent-encoded.
fn encoded_mark(rest: &[u8]) -> usize {
    if matches!(percent(rest), Some(b'"' | b'\'')) { 3 } else { 0 }
}

/// The quotation mark at the start, with its backslashes.
pub(super) fn opening(rest: &[u8]) -> Option<Quote> {
    let escapes = rest.iter().take(16).take_while(|byte| **byte == b'\\').count();
    let mark = *rest.get(escapes).filter(|byte| matches!(byte, b'"' | b'\''))?;
    // Any other number means that some of the backslashes are text.
    (escapes + 1).is_power_of_two().then_some(Quote { mark, escapes })
}

/// How many bytes there are until the mark that closes what `quote` opened, or a string around it, or until the end.
pub(super) fn closing(rest: &[u8], quote: Quote) -> usize {
    let depth = quote.length().trailing_zeros();
    let mut escapes = 0_usize;
    for (at, &byte) in rest.iter().enumerate() {
        if byte == b'\\' {
            escapes += 1;
            continue;
        }
        // Each level of strings doubles the backslashes and adds one for the mark, so a mark belongs to the level of the
        // ones at the end of their number; the backslashes beyond those are text.
        let level = escapes.trailing_ones();
        let outer = byte == b'"' && level < depth;
        if outer || (byte == quote.mark && level <= depth) {
            return at - ((1 << level) - 1);
        }
        escapes = 0;
    }
    rest.len()
}

/// How far a value without quotation marks can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// To a space, or to what ends an item.
    Word {
        /// Within a query that is encoded once more.
        encoded: bool,
    },
    /// To the end of the line.
    Line,
}

/// How far a value without quotation marks goes.
pub(super) fn extent(rest: &[u8], extent: Extent) -> usize {
    let line = extent == Extent::Line;
    let encoded = extent == Extent::Word { encoded: true };
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        if byte == b'['
            && let Some(marker) = super::marker::at(&rest[at..])
        {
            at += marker.length;
            continue;
        }
        let ends = match byte {
            b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' => true,
            b' ' | b'\t' | b'&' | b';' | b'>' | b'#' => !line,
            b',' | b')' | b']' | b'}' => !line && ends_item(&rest[at + 1..]),
            b'%' => encoded && matches!(percent(&rest[at..]), Some(b'"' | b'&' | b'}' | b',' | b'#' | b' ')),
            b'\\' => matches!(rest.get(at + 1), Some(b'n' | b'r' | b'"' | b'\'') | None),
            _ => false,
        };
        if ends {
            break;
        }
        // What is escaped goes with its backslash, so that JSON never loses half of a pair.
        at += if byte == b'\\' { 2 } else { 1 };
    }
    let mut at = at.min(rest.len());
    // Never in the middle of a character.
    while at < rest.len() && rest[at] & 0xc0 == 0x80 {
        at += 1;
    }
    at
}

/// Whether a bracket or comma ends a value: something else begins after it.
fn ends_item(after: &[u8]) -> bool {
    after.first().is_none_or(|byte| {
        matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b',' | b')' | b']' | b'}' | b';' | b'\\' | b'<')
    })
}

/// The byte that `%3D` and the like stand for.
pub(super) fn percent(rest: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match rest {
        [b'%', high, low, ..] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    }
}

/// The scheme of an `Authorization`, in lower case.
pub(super) fn scheme(word: &[u8]) -> Option<&'static str> {
    const SCHEMES: [&str; 9] =
        ["bearer", "basic", "digest", "token", "negotiate", "apikey", "hawk", "dpop", "aws4-hmac-sha256"];
    // Most words begin like none of them.
    if !matches!(word.first()? | 0x20, b'b' | b'd' | b't' | b'n' | b'a' | b'h') {
        return None;
    }
    SCHEMES.into_iter().find(|scheme| word.eq_ignore_ascii_case(scheme.as_bytes()))
}

/// How long the token at the start is.
pub(super) fn token(rest: &[u8]) -> usize {
    rest.iter()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
        })
        .count()
}

/// Whether the word before is that of a parser: `Unexpected token: ...`.
pub(super) fn unexpected_before(before: &[u8]) -> bool {
    let trimmed = before.strip_suffix(b" ").unwrap_or(before);
    [&b"unexpected"[..], b"Unexpected", b"Invalid", b"invalid", b"illegal", b"Illegal"]
        .iter()
        .any(|word| trimmed.ends_with(word))
}
