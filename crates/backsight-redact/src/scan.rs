//! One pass over a text that finds its secrets: values under names of secrets, and what is known by its own form. It only ever
//! replaces what stands inside a JSON string, or a whole JSON value by a string, so JSON stays JSON.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::names::{self, Name, Names, Strength};
use crate::value::{self, Extent, Quote};
use crate::{Redactor, forms, marker};

/// `text` without its secrets.
pub(super) fn redact<'a>(redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
    let mut scanner = Scanner::new(redactor, text, is_json(text), 0);
    if forms::is_key_line(text.trim().as_bytes()) {
        let start = text.len() - text.trim_start().len();
        scanner.replace(start, text.trim_end().len(), "private-key");
    }
    scanner.run();
    scanner.finish()
}

/// Whether all of a text is JSON.
pub(super) fn is_json(text: &str) -> bool {
    matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9'))
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

struct Scanner<'r, 'a> {
    redactor: &'r Redactor,
    text: &'a str,
    bytes: &'a [u8],
    /// Everything before is decided.
    at: usize,
    /// Everything before is in `out`.
    copied: usize,
    /// Nothing until the first secret.
    out: Option<String>,
    /// Whether the whole text is JSON.
    json: bool,
    /// In JSON: whether `at` is within a string.
    in_string: bool,
    /// Within an object or array whose name says that it holds secrets.
    nested: Option<Nested>,
    /// Where the last value without quotation marks ends, for each kind of extent.
    bare_ends: [usize; 3],
    /// Where tokens can stand, as far as that was looked at.
    runs: forms::Runs,
    /// The last `=` that was looked for.
    equals: usize,
    /// How many quotations this one is in.
    depth: usize,
}

/// An object or array that holds secrets.
struct Nested {
    /// How many brackets are open.
    open: usize,
    name: Name,
    /// Whether all of it is within a string of the JSON text.
    in_string: bool,
}

/// Quotations within quotations that nobody writes; what is deeper is replaced as a whole.
const DEEPEST: usize = 8;

impl<'r, 'a> Scanner<'r, 'a> {
    fn new(redactor: &'r Redactor, text: &'a str, json: bool, depth: usize) -> Self {
        let bytes = text.as_bytes();
        Scanner {
            redactor,
            text,
            bytes,
            at: 0,
            copied: 0,
            out: None,
            json,
            in_string: false,
            nested: None,
            bare_ends: [0; 3],
            runs: forms::Runs::default(),
            equals: 0,
            depth,
        }
    }

    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => self.word(),
                b'[' | b'{' | b']' | b'}' => self.bracket(byte),
                b'"' | b'\'' => self.quote(byte),
                b'\\' => self.escape(),
                b'%' => self.at += if value::percent(self.rest(self.at)).is_some() { 3 } else { 1 },
                b':' if self.rest(self.at).starts_with(b"://") => self.user(),
                b':' | b'=' if names::ends_with_foreign(&self.bytes[..self.at]) => self.foreign(),
                b'-' => self.dash(),
                _ => self.at += 1,
            }
        }
    }

    fn finish(self) -> Cow<'a, str> {
        match self.out {
            None => Cow::Borrowed(self.text),
            Some(mut out) => {
                out.push_str(self.text.get(self.copied..).unwrap_or_default());
                Cow::Owned(out)
            }
        }
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// Puts a marker in the place of everything from `start` to `end`.
    fn replace(&mut self, start: usize, end: usize, kind: &str) {
        self.replace_as(start, end, kind, "");
    }

    /// The same with quotation marks around the marker, for values that had none and need them.
    fn replace_as(&mut self, start: usize, end: usize, kind: &str, mark: &str) {
        let tag = self.redactor.tag(&self.bytes[start..end]);
        self.put(start, end, |out| {
            out.push_str(mark);
            marker::push(out, kind, tag);
            out.push_str(mark);
        });
    }

    /// Puts what `write` writes in the place of everything from `start` to `end`.
    fn put(&mut self, start: usize, end: usize, write: impl FnOnce(&mut String)) {
        let out = self.out.get_or_insert_with(|| String::with_capacity(self.text.len() + 32));
        out.push_str(self.text.get(self.copied..start).unwrap_or_default());
        write(out);
        self.copied = end;
        self.at = end;
    }

    fn bracket(&mut self, byte: u8) {
        if let Some(marker) = marker::at(self.rest(self.at)) {
            self.at += marker.length;
            return;
        }
        self.at += 1;
        if self.json && self.in_string && self.nested.is_none() {
            return;
        }
        let Some(nested) = &mut self.nested else { return };
        match byte {
            b'[' | b'{' => nested.open += 1,
            _ => nested.open -= 1,
        }
        if nested.open == 0 {
            self.nested = None;
        }
    }

    /// An escaped character is no part of the word after it.
    fn escape(&mut self) {
        let length = match self.rest(self.at + 1) {
            [b'n' | b'r' | b't' | b'b' | b'f' | b'\\', ..] => 2,
            [b'u', digits @ ..] if digits.iter().take(4).filter(|byte| byte.is_ascii_hexdigit()).count() == 4 => 6,
            [b'"' | b'\'', ..] if self.nested.is_some() => return self.escaped_quote(),
            [b'"' | b'\'', ..] => 2,
            _ => 1,
        };
        self.at += length;
    }

    fn escaped_quote(&mut self) {
        match value::opening(self.rest(self.at)) {
            Some(quote) => self.nested_string(quote),
            None => self.at += 1,
        }
    }

    fn quote(&mut self, byte: u8) {
        if self.json && byte == b'"' {
            if self.in_string {
                self.in_string = false;
                self.nested = self.nested.take().filter(|nested| !nested.in_string);
                self.at += 1;
                return;
            }
            if self.nested.is_none() {
                self.in_string = true;
                self.at += 1;
                return;
            }
        }
        // Within JSON's own strings an apostrophe is only that.
        if self.nested.is_some() && (byte == b'"' || !self.json) {
            return self.nested_string(Quote { mark: byte, escapes: 0 });
        }
        self.at += 1;
    }

    /// A string within an object that holds secrets: a key, or a secret.
    fn nested_string(&mut self, quote: Quote) {
        let start = self.at + quote.length();
        let end = start + value::closing(self.rest(start), quote);
        let after = self.after_quote(end, quote);
        let spaces = self.rest(after).iter().take_while(|byte| **byte == b' ').count();
        let key = self.rest(after + spaces).first() == Some(&b':');
        match self.nested {
            Some(Nested { name, .. }) if !key => self.quoted_secret(start, end, name),
            _ => self.inside(start, end),
        }
        self.at = after;
    }

    /// Where it goes on after a quotation that ends at `end`: after its closing mark, or before the mark of an outer string
    /// that ended it.
    fn after_quote(&self, end: usize, quote: Quote) -> usize {
        match value::opening(self.rest(end)) {
            Some(closing) if closing == quote => end + quote.length(),
            _ => end,
        }
    }

    /// Replaces what is between quotation marks if it is a secret, and otherwise the secrets in it.
    fn quoted_secret(&mut self, start: usize, end: usize, name: Name) {
        if !self.secret(start, end, name, Place::Quoted) {
            self.inside(start, end);
        }
    }

    /// Looks for secrets between quotation marks as in a text of its own.
    fn inside(&mut self, start: usize, end: usize) {
        let redactor = self.redactor;
        let Some(content) = self.text.get(start..end).filter(|content| content.len() >= 6) else { return };
        if self.depth >= DEEPEST {
            return self.replace(start, end, "nested");
        }
        let mut inner = Scanner::new(redactor, content, false, self.depth + 1);
        inner.run();
        if let Cow::Owned(redacted) = inner.finish() {
            let out = self.out.get_or_insert_with(|| String::with_capacity(self.text.len() + 32));
            out.push_str(self.text.get(self.copied..start).unwrap_or_default());
            out.push_str(&redacted);
            self.copied = end;
        }
    }

    fn dash(&mut self) {
        match forms::private_key(self.rest(self.at), self.redactor.names) {
            Some(length) => self.replace(self.at, self.at + length, "private-key"),
            None => self.at += 1,
        }
    }

    /// What is assigned to the name of a password in another language.
    fn foreign(&mut self) {
        let spaces = self.rest(self.at + 1).iter().take_while(|byte| **byte == b' ').count();
        let from = self.at + 1 + spaces;
        let name = Name { kind: "password", strength: Strength::Always };
        self.at = from;
        if let Some(quote) = value::opening(self.rest(from)) {
            let content = from + quote.length();
            let end = content + value::closing(self.rest(content), quote);
            self.quoted_secret(content, end, name);
            self.at = self.after_quote(end, quote);
            return;
        }
        let end = self.bare_end(from, Extent::Word { encoded: false });
        if !self.secret(from, end, name, Place::Bare { colon: true, mark: "" }) {
            self.at = from;
        }
    }

    /// What stands between `://` and `@`.
    fn user(&mut self) {
        let start = self.at + 3;
        let rest = self.rest(start);
        let authority = rest
            .iter()
            .take_while(|byte| {
                !matches!(byte, b'/' | b'?' | b'#' | 0..=b' ' | b'"' | b'\'' | b'\\' | b'<' | b'>' | b'`')
            })
            .count();
        self.at = start;
        let Some(user) = rest[..authority].iter().rposition(|byte| *byte == b'@') else { return };
        let name = &rest[..user];
        // A name alone is public (`git@`), unless it is a token.
        if !holds_marker(name) && (name.contains(&b':') || forms::is_opaque(name)) {
            // The tag is the password's, as it has it where it stands alone.
            let secret = name.iter().position(|byte| *byte == b':').map_or(name, |colon| &name[colon + 1..]);
            let tag = self.redactor.tag(secret);
            self.put(start, start + user, |out| marker::push(out, "userinfo", tag));
        }
    }

    /// The secret known by its own form that begins at `at`, if a word or number really begins there.
    fn token(&mut self, at: usize) -> Option<(usize, &'static str)> {
        match self.bytes[at].is_ascii_digit() && self.is_part_of_number(at) {
            true => None,
            false => self.runs.at_word(self.bytes, at, self.redactor.names),
        }
    }

    /// Whether digits are only a part of something longer, or signed.
    fn is_part_of_number(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).map(|at| self.bytes[at]);
        // In a program whatever does not go on from a name begins.
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if self.redactor.names == Names::OfProgram && !before(1).is_some_and(is_name) {
            return false;
        }
        match before(1) {
            Some(b'.') => true,
            Some(b'-' | b'+') if self.is_bare_json() => true,
            // A marker counts like the letters it stands for.
            Some(b'-' | b'_' | b'+') => before(2).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b']'),
            _ => false,
        }
    }

    /// Whether what stands here is a JSON value without quotation marks.
    fn is_bare_json(&self) -> bool {
        self.json && !self.in_string
    }

    fn word(&mut self) {
        let start = self.at;
        let rest = self.rest(start);
        // One more than the longest name: looking further each time would take forever on a text without spaces.
        let run = rest.iter().take(names::LONGEST + 1).take_while(|byte| value::is_name(**byte)).count();
        if let Some(length) = self.header(start, run) {
            self.at = start + length;
            return;
        }
        if let Some((length, kind)) = self.token(start) {
            return self.replace_as(start, start + length, kind, if self.is_bare_json() { "\"" } else { "" });
        }
        // Names are long where paths and hosts are written out; the separators decide, so look at them first.
        if let Some(assignment) = value::assignment(self.bytes, start, start + run, self.json && self.in_string)
            && let Some(name) = self.judge(start, run.min(assignment.name_end - start))
            && self.assigned(start, name, &assignment)
        {
            return;
        }
        self.words_of(start, run);
    }

    /// What the name at `start` says. An address is on a wire wherever it stands.
    fn judge(&self, start: usize, length: usize) -> Option<Name> {
        let name = self.text.get(start..start + length)?;
        let names = if self.in_address(start) { Names::OfWire } else { self.redactor.names };
        names.judge(name)
    }

    /// Goes on after a name, looking at the words that `-` and `.` and `_` join: any of them may begin a token.
    fn words_of(&mut self, start: usize, run: usize) {
        let part = |rest: &[u8]| rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count().max(1);
        let end = start + run;
        self.at = start + part(self.rest(start));
        while self.at < end {
            let at = self.at;
            let rest = self.rest(at);
            if rest[0] == b'-' {
                if forms::private_key(rest, self.redactor.names).is_some() {
                    return;
                }
                self.at += 1;
                continue;
            }
            if !rest[0].is_ascii_alphanumeric() {
                self.at += 1;
                continue;
            }
            if let Some((length, kind)) = self.token(at) {
                return self.replace_as(at, at + length, kind, if self.is_bare_json() { "\"" } else { "" });
            }
            self.at += part(rest);
        }
    }

    /// `Bearer abc`, `Basic dXNlcjpwYXNz` without the name of the header; how much is decided if it is one.
    fn header(&mut self, start: usize, run: usize) -> Option<usize> {
        let word = &self.rest(start)[..run];
        let scheme = value::scheme(word)?;
        let from = start + run + 1;
        if !matches!(self.bytes.get(from - 1), Some(b' ')) {
            return None;
        }
        let length = value::token(self.rest(from));
        let token = &self.rest(from)[..length];
        let secret = match scheme {
            "bearer" => forms::is_opaque(token),
            "basic" => length >= 8 && forms::is_basic(token),
            _ => false,
        };
        if !secret {
            return None;
        }
        self.replace(from, from + length, scheme);
        Some(from + length - start)
    }

    /// Whether what is assigned to a name was looked at as its value; then `at` is in it or after it.
    fn assigned(&mut self, start: usize, mut name: Name, assignment: &value::Assignment) -> bool {
        let from = assignment.value;
        if name.strength == Strength::InAddress && !self.in_address(start) {
            return false;
        }
        // Parsers speak of tokens too: `Unexpected token: }`.
        if name.kind == "token" && value::unexpected_before(&self.bytes[..start]) {
            name.strength = Strength::Opaque;
        }
        // The closing quotation mark of the key ends the string it is in.
        if assignment.closes_string {
            self.in_string = false;
        }
        if let Some(quote) = assignment.quote {
            let content = from + quote.length();
            let end = content + value::closing(self.rest(content), quote);
            self.quoted_secret(content, end, name);
            self.at = self.after_quote(end, quote);
            return true;
        }
        let rest = self.rest(from);
        if matches!(rest.first(), Some(b'{' | b'[')) && marker::at(rest).is_none() {
            if self.nested.is_none() && name.strength != Strength::InAddress {
                self.nested = Some(Nested { open: 0, name, in_string: self.in_string });
            }
            self.at = from;
            return true;
        }
        let line = assignment.colon && matches!(name.strength, Strength::Phrase | Strength::Cookie);
        let extent = if line { Extent::Line } else { Extent::Word { encoded: assignment.encoded } };
        let end = self.bare_end(from, extent);
        if line && name.strength == Strength::Cookie && self.next_equals(from) >= end {
            self.at = from;
            return true;
        }
        let place = Place::Bare { colon: assignment.colon, mark: assignment.key_mark(self.text) };
        if !self.secret(from, end, name, place) {
            self.at = from;
        }
        true
    }

    /// Where a value without quotation marks ends. The values of names within a value end where it does, so that is found once.
    fn bare_end(&mut self, from: usize, extent: Extent) -> usize {
        let known = match extent {
            Extent::Word { encoded: false } => 0,
            Extent::Word { encoded: true } => 1,
            Extent::Line => 2,
        };
        if from >= self.bare_ends[known] {
            self.bare_ends[known] = from + value::extent(self.rest(from), extent);
        }
        self.bare_ends[known]
    }

    /// Where the next `=` is, or the end; found once for everything before it.
    fn next_equals(&mut self, from: usize) -> usize {
        if from > self.equals {
            self.equals =
                self.rest(from).iter().position(|byte| *byte == b'=').map_or(self.bytes.len(), |at| from + at);
        }
        self.equals
    }

    /// Whether a name stands in a query or fragment.
    fn in_address(&self, start: usize) -> bool {
        match start.checked_sub(1).map(|at| self.bytes[at]) {
            Some(b'?' | b'&' | b'#') => true,
            Some(_) => start >= 3 && matches!(value::percent(&self.bytes[start - 3..]), Some(b'?' | b'&' | b'#')),
            None => false,
        }
    }

    /// Replaces a value if it is a secret; whether everything in it is decided.
    fn secret(&mut self, start: usize, end: usize, name: Name, place: Place<'_>) -> bool {
        let content = &self.bytes[start..end];
        if content.is_empty() || marker::is(content) {
            self.at = end;
            return true;
        }
        let (bare, colon, mark) = match place {
            Place::Quoted => (false, false, ""),
            Place::Bare { colon, mark } => (true, colon, mark),
        };
        if names::is_plain_answer(content, colon) || (bare && !is_text(content)) {
            return false;
        }
        let (mut from, mut to, mut kind) = (start, end, name.kind);
        let hit = match name.strength {
            Strength::Always => true,
            Strength::Text | Strength::Phrase => !is_count(content, bare),
            Strength::Opaque if self.redactor.names == Names::OfProgram => names::looks_made_up(content),
            Strength::Opaque | Strength::InAddress => is_opaque(content),
            Strength::Digits => names::is_pin(content),
            Strength::Cookie => (content.contains(&b'=') && (colon || !bare)) || is_opaque(content),
            Strength::Authorization => {
                (from, to, kind) = self.authorization(start, end, bare);
                from < to
            }
        };
        if hit && marker::is(&self.bytes[from..to]) {
            self.at = to;
        } else if hit {
            self.replace_as(from, to, kind, mark);
        }
        hit
    }

    /// What of the value of `Authorization` is secret: all but the scheme.
    fn authorization(&self, start: usize, end: usize, bare: bool) -> (usize, usize, &'static str) {
        let run = self.rest(start).iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        let (word, after) = (&self.bytes[start..start + run], start + run + 1);
        let Some(kind) = value::scheme(word) else { return (start, end, "authorization") };
        if self.bytes.get(start + run) != Some(&b' ') {
            // A scheme without anything after it says nothing; one that goes on is no scheme.
            return if start + run >= end { (end, end, kind) } else { (start, end, "authorization") };
        }
        let extent = if matches!(kind, "bearer" | "basic") { Extent::Word { encoded: false } } else { Extent::Line };
        let line = value::extent(self.rest(after), extent);
        let to = if bare { after + line } else { end };
        (after, to.max(after), kind)
    }
}

/// Where a value stands.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// Between quotation marks.
    Quoted,
    /// Without them.
    Bare {
        /// After a colon, as in prose.
        colon: bool,
        /// The quotation mark of the key, if it has one: a number needs it when it becomes a text.
        mark: &'a str,
    },
}

/// Whether a value looks made up, markers aside: what they stood for is gone already.
fn is_opaque(value: &[u8]) -> bool {
    let value = window(value);
    forms::is_opaque(value) && !value.contains(&b' ') && !holds_marker(value)
}

pub(super) fn holds_marker(value: &[u8]) -> bool {
    value.iter().enumerate().any(|(at, byte)| *byte == b'[' && marker::at(&value[at..]).is_some())
}

/// As much of a value as is needed to judge it.
fn window(value: &[u8]) -> &[u8] {
    &value[..value.len().min(256)]
}

/// Whether a value only says how many: `max_tokens=4096`.
fn is_count(value: &[u8], bare: bool) -> bool {
    let number = value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e'));
    number && value.len() < if bare { 10 } else { 6 }
}

/// Whether anything in a value could be a secret.
fn is_text(value: &[u8]) -> bool {
    value.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
}
