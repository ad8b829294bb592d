//! Addresses and paths within messages, mail addresses, and lines of `key=value`.

use super::number::measure;
use super::{NOWHERE, Templater, Value, is_key};
use crate::endpoint;
use crate::fingerprint::context::is_telling;
use crate::fingerprint::shape::digits;

impl Templater<'_> {
    /// Where the next `://` at or after `from` is, after where its scheme begins.
    pub(super) fn next_address(&self, from: usize) -> (usize, usize) {
        const LONGEST_SCHEME: usize = 30;
        let mut at = from;
        while let Some(colon) = self.rest(at).iter().position(|byte| *byte == b':').map(|found| found + at) {
            if self.rest(colon).starts_with(b"://") {
                let before = self.bytes[..colon].iter().rev().take(LONGEST_SCHEME);
                return (colon - before.take_while(|byte| is_scheme(**byte)).count(), colon);
            }
            at = colon + 1;
        }
        NOWHERE
    }

    /// Whether an address begins at `start`, where a word does.
    pub(super) fn is_address(&mut self, start: usize) -> bool {
        while self.address.1 < start {
            self.address = self.next_address(start);
        }
        let (from, colon) = self.address;
        from <= start
            && self.address != NOWHERE
            && self.bytes[start..colon].iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-'))
    }

    /// The address at `at`: its origin and its path with ids replaced.
    pub(super) fn url(&mut self) {
        let start = self.at;
        let colon = self.address.1;
        let end = colon + 3 + extent(self.rest(colon + 3));
        let text = self.text.get(start..end).unwrap_or_default();
        let (address, located) = without_location(text, colon + 3 - start);
        self.copy_to(start);
        self.out.push_str(&endpoint::template(address));
        if located {
            self.out.push_str(":{n}");
        }
        self.copied = end;
        self.at = end;
        self.context = self.context.after_place();
        self.address = self.next_address(end);
    }

    /// `data:image/png;base64,...`: only its type is worth something.
    pub(super) fn data(&mut self, start: usize) -> bool {
        let after = self.rest(start + 5);
        let media =
            after.iter().take(60).take_while(|byte| byte.is_ascii_alphanumeric() || b"/+-.".contains(byte)).count();
        if !matches!(after.get(media), Some(b';' | b',')) || !after[..media].contains(&b'/') {
            return false;
        }
        let end = start + 5 + extent(after);
        self.replace(start + 5 + media, end, "");
        true
    }

    /// A slash: the beginning of a path, or only a slash.
    pub(super) fn path(&mut self) {
        let start = self.at;
        let before = self.before(start);
        let opens = match before {
            None => true,
            Some(byte) => {
                matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'(' | b'=' | b'[' | b',' | b'\n' | b'\t' | b'.' | b':')
            }
        };
        let named = self.byte(start + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.@~-{".contains(&byte));
        if !opens || !named {
            return self.mark(b'/');
        }
        let end = start + extent(self.rest(start));
        let text = self.text.get(start..end).unwrap_or_default();
        let (path, located) = without_location(text, 0);
        self.copy_to(start);
        endpoint::push_path(&mut self.out, path.split(['?', '#']).next().unwrap_or_default());
        if located {
            self.out.push_str(":{n}");
        }
        self.copied = end;
        self.at = end;
        self.context = self.context.after_place();
    }

    /// Where the next `@` at or after `from` is, after where a mail address around it would begin.
    pub(super) fn next_mail(&self, from: usize) -> (usize, usize) {
        const LONGEST_USER: usize = 64;
        let Some(at) = self.rest(from).iter().position(|byte| *byte == b'@').map(|found| found + from) else {
            return NOWHERE;
        };
        let user = self.bytes[..at].iter().rev().take(LONGEST_USER).take_while(|byte| is_user(**byte)).count();
        (at - user, at)
    }

    /// Where the mail address that begins at `start` ends, if there is one.
    pub(super) fn is_mail(&mut self, start: usize) -> Option<usize> {
        while self.mail.1 < start {
            self.mail = self.next_mail(start);
        }
        let (from, at) = self.mail;
        if self.mail == NOWHERE || from > start || !self.bytes[start..at].iter().all(|byte| is_user(*byte)) {
            return None;
        }
        let domain = self.rest(at + 1);
        let length = domain
            .iter()
            .take(100)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
            .count();
        let length = length - usize::from(length > 0 && domain[length - 1] == b'.');
        let domain = &domain[..length];
        let point = domain.iter().rposition(|byte| *byte == b'.')?;
        let top = &domain[point + 1..];
        (point > 0 && top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic)).then_some(at + 1 + length)
    }

    /// One `key=value` of a line of them: the key stays, and so do values that tell what happened.
    pub(super) fn pair(&mut self, start: usize) -> bool {
        let bounded = self
            .before(start)
            .is_none_or(|byte| matches!(byte, b' ' | b',' | b'[' | b'(' | b'{' | b'\n' | b'\t' | b';'));
        if !bounded {
            return false;
        }
        let key = self.rest(start).iter().take_while(|byte| is_key(**byte)).count();
        let value = start + key + 1;
        if self.byte(start + key) != Some(b'=')
            || self.byte(value).is_none_or(|byte| matches!(byte, b'=' | b'>' | b' ' | b'\n'))
        {
            return false;
        }
        let name = &self.bytes[start..start + key];
        let quote = self.byte(value).filter(|byte| matches!(byte, b'"' | b'\''));
        let end = quote.and_then(|mark| self.closing_mark(value, mark)).map(|closed| closed.end);
        if is_telling(name) {
            self.context = self.context.after_word(name);
            self.at = value;
            if let Some(end) = end {
                self.enter(end);
            }
            return true;
        }
        let known = self.value_at(value);
        // `dur=12 ms` has a space in its value.
        let bare = (known.end - value).max(measure(self.rest(value)).map_or(0, |(length, _)| length));
        let place = self.rest(value).starts_with(b"/") || known.address > value;
        match (place, end) {
            (true, _) => self.at = value,
            (false, Some(end)) => self.replace(value, end + 1, "{v}"),
            (false, None) => self.replace(value, value + bare, "{v}"),
        }
        true
    }
}

impl Templater<'_> {
    /// The value without quotation marks that begins at `at`, or the one in which `at` is.
    fn value_at(&mut self, at: usize) -> Value {
        if !(self.value.from..self.value.end).contains(&at) {
            let ends = |byte: &u8| matches!(byte, b' ' | b',' | b';' | b')' | b']' | b'\n');
            let rest = self.rest(at);
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            let address = rest[..length].windows(3).rposition(|part| part == b"://").map_or(0, |found| at + found + 1);
            self.value = Value { from: at, end: at + length, address };
        }
        self.value
    }
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-')
}

fn is_user(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
}

/// How far an address or path goes: to a space, a quotation mark, or a bracket it did not open; without the punctuation of
/// the sentence it stands in.
fn extent(bytes: &[u8]) -> usize {
    let mut open = 0_usize;
    let mut length = 0;
    for &byte in bytes {
        match byte {
            b'(' | b'[' => open += 1,
            b')' | b']' if open == 0 => break,
            b')' | b']' => open -= 1,
            0..=b' ' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'}' | b'|' | 0x7f => break,
            _ => {}
        }
        length += 1;
    }
    while length > 0 && matches!(bytes[length - 1], b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\\') {
        length -= 1;
    }
    length
}

/// A place without the line and column after it, and whether there were any. What comes before `from` is scheme and host.
fn without_location(text: &str, from: usize) -> (&str, bool) {
    let Some(path) = text.get(from..).and_then(|rest| rest.find('/')).map(|at| at + from) else {
        return (text, false);
    };
    let mut end = text.len();
    for _ in 0..2 {
        let bytes = &text.as_bytes()[..end];
        let Some(colon) = bytes.iter().rposition(|byte| *byte == b':') else { break };
        if colon < path || colon + 1 == end || digits(&bytes[colon + 1..]) + colon + 1 != end {
            break;
        }
        end = colon;
    }
    (&text[..end], end < text.len())
}
