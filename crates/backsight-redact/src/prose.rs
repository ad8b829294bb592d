//! What sentences say of secrets: `password for bob is ...`, `Login(user='bob', password='...')`, names in any language,
//! values on the next line, passwords in addresses. Names are judged as a program's are, so that prose about tokens and keys
//! stays readable; what only looks like a word is never replaced without quotation marks around it.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::names::{self, Name, Names};
use crate::{Redactor, marker, scan, value};

/// What may stand before the secret in a header.
const SCHEMES: [&str; 5] = ["bearer", "basic", "digest", "token", "negotiate"];
/// What joins a name and what it is.
const VERBS: [&str; 3] = ["is", "was", "of"];
/// So many words may say whose secret it is.
const MOST_BETWEEN: usize = 4;
/// Longer names are no names.
const LONGEST_NAME: usize = 64;

/// `text` without its secrets.
pub(super) fn redact<'a>(redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
    match may_speak(text) {
        false => Cow::Borrowed(text),
        // Of a variable's text every character counts; on a wire JSON stays JSON.
        true if redactor.names == Names::OfWire && scan::is_json(text) => in_strings(redactor, text),
        true => in_prose(redactor, text),
    }
}

/// Looks at all of a text.
fn in_prose<'a>(redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        let Some(found) = next(redactor.names, text, at) else { break };
        let (start, end) = (found.start, found.end);
        if !marker::is(&text.as_bytes()[start..end]) {
            out.push_str(&text[copied..start]);
            marker::push(&mut out, found.kind, redactor.tag(&text.as_bytes()[start..end]));
            copied = end;
        }
        at = end.max(at + 1);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Looks at the strings of JSON, each by itself. One that is no string any more becomes a marker as a whole.
fn in_strings<'a>(redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        let start = text.len() - rest.len() + open + 1;
        let end = start + string_end(&text.as_bytes()[start..]);
        let content = &text[start..end];
        if let Cow::Owned(redacted) = in_prose(redactor, content) {
            out.push_str(&text[copied..start]);
            match serde_json::from_str::<IgnoredAny>(&format!("\"{redacted}\"")) {
                Ok(_) => out.push_str(&redacted),
                Err(_) => marker::push(&mut out, "nested", redactor.tag(content.as_bytes())),
            }
            copied = end;
        }
        rest = text.get(end + 1..).unwrap_or_default();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Where the string of JSON ends whose content `bytes` begin with.
fn string_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Three letters of every word that this file looks for. Most texts have none of them, and that is seen in one pass.
const STEMS: [&[u8; 3]; 38] = [
    b"pas", b"pwd", b"nnw", b"htw", b"nha", b"ras", b"slo", b"sen", b"asa", b"gsk", b"ifr", b"lsz", b"zin", b"rol",
    b"mne", b"phr", b"sec", b"tok", b"jwt", b"cre", b"otp", b"cvv", b"cvc", b"pin", b"cod", b"ssn", b"num", b"aut",
    b"coo", b"key", b"bea", b"bas", b"ses", b"sid", b"srf", b"sig", b"hma", b"://",
];

const fn class(one: u8, two: u8, three: u8) -> usize {
    ((one & 31) as usize) << 10 | ((two & 31) as usize) << 5 | (three & 31) as usize
}

/// For the last five bits of three letters, which are those of capitals too: whether a stem may be there.
static MAY_BE_STEM: [bool; 1 << 15] = {
    let mut table = [false; 1 << 15];
    let mut index = 0;
    while index < STEMS.len() {
        let [one, two, three] = *STEMS[index];
        table[class(one, two, three)] = true;
        index += 1;
    }
    // `pw` with anything after it.
    let mut after = 0;
    while after < 32 {
        table[class(b'p', b'w', after)] = true;
        after += 1;
    }
    table
};

/// Whether a text can hold what this file looks for.
pub(super) fn may_speak(text: &str) -> bool {
    !text.is_ascii() || text.as_bytes().windows(3).any(|three| MAY_BE_STEM[class(three[0], three[1], three[2])])
}

/// A secret in a text.
struct Secret {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// The first secret that begins at `from` or later.
fn next(names: Names, text: &str, from: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let begins_word = at == 0 || !is_name(bytes[at - 1]);
        let byte = bytes[at];
        if byte == b'['
            && let Some(marker) = marker::at(&bytes[at..])
        {
            at += marker.length;
            continue;
        }
        if byte == b':'
            && names == Names::OfProgram
            && let Some((start, end)) = password_in_address(text, at)
        {
            return Some(Secret { start, end, kind: "password" });
        }
        if !byte.is_ascii() {
            if let Some(secret) = named_in_letters(names, text, at) {
                return Some(secret);
            }
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        if !begins_word || !is_name(byte) {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| is_name(**byte)).count();
        if let Some(secret) = after_scheme(names, text, at, length).or_else(|| named(names, text, at, length)) {
            return Some(secret);
        }
        // A name that goes on in letters that are not English.
        if bytes.get(at + length).is_some_and(|byte| !byte.is_ascii())
            && let Some(secret) = named_in_letters(names, text, at)
        {
            return Some(secret);
        }
        at += length.max(1);
    }
    None
}

/// What stands behind a name.
fn named(names: Names, text: &str, start: usize, length: usize) -> Option<Secret> {
    if length > LONGEST_NAME {
        return None;
    }
    let end = start + length;
    assigned(names, text, start, length).or_else(|| {
        if past_blanks(text, end) == end {
            return None;
        }
        let name = names::judge(phrase(text, start, end))?;
        spoken(text, end, name).or_else(|| spoken_of(text, end, name))
    })
}

/// Likewise behind a name with letters that are not English.
fn named_in_letters(names: Names, text: &str, start: usize) -> Option<Secret> {
    let before = text[..start].chars().next_back();
    let is_letter = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    let name: usize = text[start..].chars().take_while(|letter| is_letter(*letter)).map(char::len_utf8).sum();
    let is_foreign = !text[start..start + name].is_ascii() && !before.is_some_and(is_letter);
    if is_foreign { named(names, text, start, name) } else { None }
}

/// Where blanks and line breaks end, written out or escaped.
fn past_blanks(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(rest) = text.get(at..) {
        match rest.as_bytes() {
            [b' ' | b'\t' | b'\r' | b'\n', ..] => at += 1,
            [b'\\', b'n' | b't' | b'r', ..] => at += 2,
            _ => break,
        }
    }
    at
}

/// A name with up to two words before it on its line, which may say what it is the name of: `api key`.
fn phrase(text: &str, start: usize, end: usize) -> &str {
    let before = &text[text.floor_char_boundary(start.saturating_sub(24))..start];
    let words =
        before.rfind(['\n', '.', ',', ';', ':', '(', ')', '=', '"', '\'', '[', ']', '{', '}']).map_or(0, |at| at + 1);
    &text[start - (before.len() - words)..end]
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// `Bearer ...` and `Basic ...`.
fn after_scheme(names: Names, text: &str, start: usize, length: usize) -> Option<Secret> {
    let word = &text[start..start + length];
    let kind = ["bearer", "basic"].into_iter().find(|scheme| word.eq_ignore_ascii_case(scheme))?;
    let value = start + length + 1;
    let token = value::token(text.get(value..).filter(|_| text.as_bytes()[value - 1] == b' ')?.as_bytes());
    // On a wire `Basic Authentication failed` is a sentence.
    let first = usize::from(names == Names::OfWire);
    let made_up = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    (token >= 8 && text.as_bytes()[value + first..value + token].iter().any(made_up)).then_some(Secret {
        start: value,
        end: value + token,
        kind,
    })
}

/// `name=value`, `name: value`, `"name": "value"`, `name => value`, `name -> value`.
fn assigned(names: Names, text: &str, start: usize, length: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let skip =
        |at: usize, of: &[u8]| at + bytes[at.min(bytes.len())..].iter().take_while(|byte| of.contains(byte)).count();
    let at = skip(skip(start + length, b"\\\"'`]"), b" ");
    let value = match bytes.get(at..)? {
        [b'=', b'=', ..] | [b':', b':', ..] => return None,
        [b'=' | b':', b'>' | b'=', ..] => at + 2,
        [b'-', b'>', b' ', ..] => at + 2,
        [b'=' | b':', ..] => at + 1,
        _ if text[at..].starts_with(['→', '：']) => at + 3,
        _ => return None,
    };
    let name = names::judge(phrase(text, start, start + length))?;
    let marked_at = value;
    let value = past_blanks(text, value);
    let on_next_line = text[marked_at..value].contains(['\n', '\\']);
    // Strings of Python and C++ may begin with letters before the mark.
    let prefix = text.get(value..)?.bytes().take(2).take_while(|byte| b"burfLR".contains(byte)).count();
    let marked = value + if matches!(bytes.get(value + prefix), Some(b'"' | b'\'' | b'\\')) { prefix } else { 0 };
    let inner = skip(marked, b"\\\"'`");
    if inner == marked && marker::at(&bytes[inner..]).is_some() {
        return None;
    }
    let end = match inner > marked {
        true => quoted_end(text, inner, bytes[inner - 1]),
        false => {
            inner
                + text[inner..].find([',', ';', '&', ' ', ')', ']', '}', '\n', '"', '\'']).unwrap_or(text.len() - inner)
        }
    };
    let (inner, end) = without_scheme(text, inner, end);
    if marker::at(&bytes[inner..]).is_some() {
        return None;
    }
    let value = &text[inner..end];
    // What has a name of its own on the next line is not this one's value.
    let is_another = on_next_line && inner == marked && value.contains([':', '=']);
    // On a wire `password: required` is an answer.
    let is_answer = names == Names::OfWire
        && (names::is_plain_answer(value.as_bytes(), true) || value::scheme(value.as_bytes()).is_some());
    let is_secret = end > inner && !is_another && !is_answer && name.covers(value);
    is_secret.then_some(Secret { start: inner, end, kind: name.kind() })
}

/// `bad password hunter2`, `the token was 'abc'`: what errors say of secrets. Without marks around it, it must not be a word.
fn spoken(text: &str, end: usize, name: Name) -> Option<Secret> {
    let from = past_blanks(text, end);
    let after = VERBS.iter().filter(|verb| text[from..].starts_with(**verb)).map(|verb| from + verb.len());
    let after = after.map(|at| (at, past_blanks(text, at))).find(|(at, value)| value > at);
    said_at(text, after.map_or(from, |(_, value)| value), name)
}

/// `password for bob is hunter2`, `the secret of the service was 'abc'`: likewise, with whose it is in between.
fn spoken_of(text: &str, end: usize, name: Name) -> Option<Secret> {
    let is_plain = |character: char| character.is_alphanumeric() || "@._-'".contains(character);
    let mut at = end + 1;
    for word in text.get(end..)?.strip_prefix(' ')?.split(' ').take(MOST_BETWEEN + 1) {
        let after = at + word.len();
        if word.ends_with([':', '=']) || matches!(word, "is" | "was" | "->" | "=>" | "→") {
            return said_at(text, past_blanks(text, after), name);
        }
        if word.is_empty() || !word.chars().all(is_plain) || word.ends_with('.') {
            return None;
        }
        at = after + 1;
    }
    None
}

/// What somebody says there, if it is a secret and no word.
fn said_at(text: &str, from: usize, name: Name) -> Option<Secret> {
    let mark = *text.as_bytes().get(from)?;
    let (inner, end) = match mark {
        b'\'' | b'"' | b'`' => (from + 1, quoted_end(text, from + 1, mark)),
        _ => (from, from + text[from..].find(char::is_whitespace).unwrap_or(text.len() - from)),
    };
    let value = text.get(inner..end)?.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'']);
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let is_word = inner == from && !(value.len() >= 4 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic));
    let stays = is_word || value.is_empty() || value.contains("[REDACTED:") || !name.covers(value);
    (!stays).then_some(Secret { start: inner, end: inner + value.len(), kind: name.kind() })
}

/// Of `Bearer ...` that is assigned, what comes after the word.
fn without_scheme(text: &str, start: usize, end: usize) -> (usize, usize) {
    let is_scheme = SCHEMES.iter().any(|scheme| text[start..end].eq_ignore_ascii_case(scheme));
    match text[end..].strip_prefix(' ') {
        Some(rest) if is_scheme => {
            let length = rest.find([',', ';', ' ', ')', ']', '}', '\n', '"', '\'']).unwrap_or(rest.len());
            (end + 1, end + 1 + length)
        }
        _ => (start, end),
    }
}

/// Where the string that `mark` began ends, without the backslashes before its mark.
fn quoted_end(text: &str, from: usize, mark: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        if byte == mark {
            let escapes = bytes[from..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            return at - escapes;
        }
        at += 1;
    }
    text.len()
}

/// The password in `scheme://user:password@host`, with `at` on the colon of the scheme.
fn password_in_address(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text[at..].strip_prefix("://")?;
    let authority = &rest[..rest.find(['/', ' ', '"', '\'', '\n', '?', '#']).unwrap_or(rest.len())];
    let (user, host) = (authority.find(':')?, authority.rfind('@')?);
    let start = at + 3;
    (user + 1 < host && !scan::holds_marker(&authority.as_bytes()[..host])).then_some((start + user + 1, start + host))
}

/// A text without the quotation marks around it, and without the letters before them.
pub fn unquoted(text: &str) -> &str {
    let opened = text.trim_start_matches(|character: char| character.is_ascii_alphabetic());
    let marks = ['"', '\'', '`'];
    match opened.chars().next() {
        Some(mark) if marks.contains(&mark) && text.len() - opened.len() <= 2 => {
            let inner = &opened[1..];
            inner.strip_suffix(mark).unwrap_or(inner)
        }
        _ => text,
    }
}
