//! One pass over a message that replaces what varies by its type. Every function moves `at` forwards and none comes back, so
//! the time is linear in the text whatever it says.

mod number;
mod object;
mod place;

use super::context::Context;
use super::shape::{self, Shape, alphanumerics, shape};
use super::time;

/// `text` with its varying parts replaced by their types; spaces are single, and there are none at the ends.
pub(super) fn template(text: &str) -> String {
    let mut templater = Templater::new(text, 0);
    templater.run();
    templater.finish()
}

/// How deep texts within objects within texts are looked at.
const DEEPEST: usize = 2;

/// Where something is that is not there.
const NOWHERE: (usize, usize) = (usize::MAX, usize::MAX);

struct Templater<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Everything before is decided.
    at: usize,
    /// Everything before is in `out`.
    copied: usize,
    out: String,
    context: Context,
    /// Where the next address with `://` begins, and where its `://` is; past the end when there is none.
    address: (usize, usize),
    /// Where the next mail address would begin, and where its `@` is.
    mail: (usize, usize),
    /// Whether the text is a line of `key=value` pairs.
    pairs: bool,
    /// A quotation mark that is known to close.
    closing: Option<usize>,
    /// For each kind of quotation mark: up to where none closes, and the last quotation that is closed.
    unclosed: [usize; 3],
    closed: [Closed; 3],
    /// The last value of a pair without quotation marks: all that begin within it end where it does.
    value: Value,
    depth: usize,
}

impl<'a> Templater<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        let bytes = text.as_bytes();
        let mut templater = Templater {
            text,
            bytes,
            at: 0,
            copied: 0,
            out: String::with_capacity(bytes.len() + 16),
            context: Context::None,
            address: (0, 0),
            mail: (0, 0),
            pairs: false,
            closing: None,
            unclosed: [0; 3],
            closed: [Closed::default(); 3],
            value: Value::default(),
            depth,
        };
        // One look at all bytes finds out which of the rarer things have to be looked for at all.
        let (mut equals, mut at_signs, mut slashes) = (0, 0, 0);
        for &byte in bytes {
            equals += usize::from(byte == b'=');
            at_signs += usize::from(byte == b'@');
            slashes += usize::from(byte == b'/');
        }
        templater.pairs = equals >= 2 && has_pairs(bytes);
        templater.address = if slashes >= 2 { templater.next_address(0) } else { NOWHERE };
        templater.mail = if at_signs >= 1 { templater.next_mail(0) } else { NOWHERE };
        templater
    }

    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => self.word(),
                b' ' | b'\t' | b'\n' | b'\r' => self.space(),
                b'"' | b'\'' | b'`' => self.quoted(byte),
                b'{' => self.object(),
                b'[' => self.bracket(),
                b'/' => self.path(),
                b':' => self.colon(),
                0x1b => self.colour(),
                _ => self.mark(byte),
            }
        }
    }

    fn finish(mut self) -> String {
        self.copy_to(self.bytes.len());
        let length = self.out.trim_end().len();
        self.out.truncate(length);
        self.out
    }

    /// Copies what was left as it is, up to `end`.
    fn copy_to(&mut self, end: usize) {
        if self.copied < end {
            self.out.push_str(self.text.get(self.copied..end).unwrap_or_default());
            self.copied = end;
        }
    }

    /// Puts `name` in the place of everything from `start` to `end`.
    fn replace(&mut self, start: usize, end: usize, name: &str) {
        self.copy_to(start);
        self.out.push_str(name);
        self.copied = end;
        self.at = end;
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).and_then(|at| self.byte(at))
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// Some other character: it stays, and mostly ends what the last word said about the next number.
    fn mark(&mut self, byte: u8) {
        self.context = self.context.after_mark(byte);
        self.at += 1;
    }

    fn colon(&mut self) {
        // The loopback address of IPv6 keeps its port like the other names of this machine.
        let port = if self.rest(self.at).starts_with(b"::1:") { shape::digits(self.rest(self.at + 4)) } else { 0 };
        match port {
            0 => self.mark(b':'),
            _ => self.at += 4 + port,
        }
    }

    fn space(&mut self) {
        let start = self.at;
        let run = self.rest(start).iter().take_while(|byte| byte.is_ascii_whitespace()).count().max(1);
        if run == 1 && self.bytes[start] == b' ' && start > 0 {
            self.at += 1;
            return;
        }
        let name = if self.out.is_empty() && self.copied == start { "" } else { " " };
        self.replace(start, start + run, name);
    }

    /// Colours of a terminal say nothing.
    fn colour(&mut self) {
        let start = self.at;
        if self.byte(start + 1) != Some(b'[') {
            return self.replace(start, start + 1, "");
        }
        let run = self.rest(start + 2).iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b'?')).count();
        let end = (start + 2 + run + 1).min(self.bytes.len());
        // The byte that ends it is ASCII unless the text is cut or broken.
        let end = if self.text.is_char_boundary(end) { end } else { end - 1 };
        self.replace(start, end, "");
    }

    fn word(&mut self) {
        let start = self.at;
        if self.address.0 <= start && self.is_address(start) {
            return self.url();
        }
        if self.mail.0 <= start
            && let Some(end) = self.is_mail(start)
        {
            return self.replace(start, end, "{email}");
        }
        if self.pairs && self.pair(start) {
            return;
        }
        let run = alphanumerics(self.rest(start));
        if self.scattered(start, run) {
            return;
        }
        let word = &self.bytes[start..start + run];
        match word[0].is_ascii_digit() {
            true => self.number(start, run),
            false => self.name(start, word),
        }
    }

    /// A word that begins with a letter.
    fn name(&mut self, start: usize, word: &[u8]) {
        let end = start + word.len();
        let next = self.byte(end);
        let rest = self.rest(start);
        if word.len() == 3
            && let Some(length) = time::named(rest)
        {
            return self.replace(start, start + length, "{ts}");
        }
        if let Some(length) = shape::jwt(rest) {
            return self.replace(start, start + length, "{jwt}");
        }
        if word.len() == 8
            && let Some(length) = shape::uuid(rest)
        {
            return self.replace(start, start + length, "{uuid}");
        }
        if next == Some(b':') && word == b"data" && self.data(start) {
            return;
        }
        match shape(word) {
            Shape::Hex | Shape::Random => self.made_up(start, end),
            Shape::Numbered(letters) => self.replace(start + letters, end, "{n}"),
            _ if self.version(start, end) => {}
            _ if is_factor(word) => self.replace(start + 1, end, "{n}"),
            _ => {
                self.context = self.context.after_word(word);
                self.at = end;
                self.keep_port();
            }
        }
    }

    /// An id as a whole that has `-` and `_` in it.
    fn scattered(&mut self, start: usize, run: usize) -> bool {
        let joins = |byte: Option<u8>| matches!(byte, Some(b'-' | b'_'));
        let from = start - usize::from(joins(self.before(start)) && start > self.copied);
        // In the middle of a name that was looked at as a whole before.
        if !joins(self.byte(start + run))
            || (from < start && self.before(from).is_some_and(|byte| byte.is_ascii_alphanumeric()))
        {
            return false;
        }
        // One more than the longest id: what is longer is none, however long it is.
        let rest = self.rest(from);
        let whole = shape::base64_url(&rest[..rest.len().min(shape::LONGEST_SCATTERED + 1)]);
        let id = shape::is_scattered_id(&rest[..whole]);
        if id {
            self.context = Context::None;
            self.replace(from, from + whole, "{id}");
        }
        id
    }

    /// `v1.2.3`; a plain `v1` names a version of an interface and stays.
    fn version(&mut self, start: usize, end: usize) -> bool {
        let word = &self.bytes[start..end];
        let numbered = matches!(word[0], b'v' | b'V') && word.len() > 1 && word[1..].iter().all(u8::is_ascii_digit);
        if !numbered || self.byte(end) != Some(b'.') || shape::digits(self.rest(end + 1)) == 0 {
            return false;
        }
        let run = self.rest(end).iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let trailing = usize::from(self.bytes[end + run - 1] == b'.');
        self.replace(start, end + run - trailing, "{v}");
        true
    }

    /// An id, with the parts of it that hang on by `-` or `_`.
    fn made_up(&mut self, start: usize, mut end: usize) {
        while matches!(self.byte(end), Some(b'-' | b'_')) {
            let run = alphanumerics(self.rest(end + 1));
            let part = &self.rest(end + 1)[..run];
            let hex = run >= 3 && part.iter().all(u8::is_ascii_hexdigit);
            if !hex && !part.iter().any(u8::is_ascii_digit) {
                break;
            }
            end += 1 + run;
        }
        self.context = Context::None;
        self.replace(start, end, "{id}");
    }

    /// Quoted names are what a message is about and stay; quoted texts and values are replaced.
    fn quoted(&mut self, mark: u8) {
        let start = self.at;
        let apostrophe = mark == b'\'' && self.before(start).is_some_and(|byte| byte.is_ascii_alphanumeric());
        if self.closing == Some(start) || apostrophe {
            self.at += 1;
            return;
        }
        let Some(closed) = self.closing_mark(start, mark) else {
            return self.mark(mark);
        };
        let end = closed.end;
        let whole = start == 0 && end + 1 == self.bytes.len();
        match self.judge(start + 1, closed) {
            _ if whole => self.enter(end),
            Quoted::Name => self.at = end + 1,
            Quoted::Typed => self.enter(end),
            Quoted::Numbered(digits) => {
                self.replace(end - digits, end, "{n}");
                self.at = end + 1;
            }
            Quoted::Text => {
                self.replace(start + 1, end, "{str}");
                self.at = end + 1;
            }
        }
    }

    /// Goes on inside the quotation that ends at `end`.
    fn enter(&mut self, end: usize) {
        self.closing = Some(end);
        self.at += 1;
    }

    fn judge(&self, start: usize, closed: Closed) -> Quoted {
        const LONGEST_NAME: usize = 40;
        let content = &self.bytes[start..closed.end];
        let digits = content.iter().take(LONGEST_NAME).filter(|byte| byte.is_ascii_digit()).count();
        let (spaced, slash) = (closed.space > start, closed.slash > start);
        if !spaced && (slash || shape::uuid(content).is_some() || time::numeric(content) == Some(content.len())) {
            return Quoted::Typed;
        }
        let coded = self.context.keeps_text() && !spaced && content.len() <= LONGEST_NAME;
        if !spaced && !coded && content.len() <= LONGEST_NAME && is_numbered(content, digits) {
            return Quoted::Numbered(digits);
        }
        // One digit is part of a name (`h1`, `utf8`); more of them are a value.
        match coded || (!spaced && content.len() <= LONGEST_NAME && digits <= 1) {
            true => Quoted::Name,
            false => Quoted::Text,
        }
    }

    /// Where the quotation that `start` opens is closed: on the same line, before something that is no letter. Marks within
    /// a quotation are closed where it is, so that is found once.
    fn closing_mark(&mut self, start: usize, mark: u8) -> Option<Closed> {
        let kind = match mark {
            b'"' => 0,
            b'\'' => 1,
            _ => 2,
        };
        let known = self.closed[kind];
        if (known.from..known.end).contains(&start) {
            return Some(known);
        }
        let mut at = (start + 1).max(self.unclosed[kind]);
        let mut closed = Closed { from: start, ..Closed::default() };
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\n' => break,
                b'\\' => {
                    at += 1;
                    closed.note(at, self.byte(at));
                }
                _ if byte == mark && !self.byte(at + 1).is_some_and(|next| next.is_ascii_alphanumeric()) => {
                    self.closed[kind] = Closed { end: at, ..closed };
                    return Some(self.closed[kind]);
                }
                _ => closed.note(at, Some(byte)),
            }
            at += 1;
        }
        self.unclosed[kind] = at;
        None
    }
}

/// A quotation that is closed.
#[derive(Clone, Copy, Default)]
struct Closed {
    from: usize,
    /// Where its closing mark is.
    end: usize,
    /// One past its last space and its last slash; 0 when it has none.
    space: usize,
    slash: usize,
}

impl Closed {
    fn note(&mut self, at: usize, byte: Option<u8>) {
        match byte {
            Some(b'/') => self.slash = at + 1,
            Some(byte) if byte.is_ascii_whitespace() => self.space = at + 1,
            _ => {}
        }
    }
}

/// The value of a pair.
#[derive(Clone, Copy, Default)]
struct Value {
    from: usize,
    end: usize,
    /// One past the beginning of the last `://` in it; 0 when it has none.
    address: usize,
}

/// `x12`, how many times; not the names of processors.
fn is_factor(word: &[u8]) -> bool {
    word[0] == b'x'
        && word.len() > 1
        && word[1..].iter().all(u8::is_ascii_digit)
        && !matches!(&word[1..], b"86" | b"64" | b"32")
}

/// What stands between quotation marks.
enum Quoted {
    /// A name; it stays.
    Name,
    /// An address, a path, an id: as without the marks.
    Typed,
    /// A name with so many digits after it, as in `row-11`: one of many.
    Numbered(usize),
    /// A text or a value.
    Text,
}

/// `row-1` and `item_12`: letters, a mark that joins, and all digits there are.
fn is_numbered(content: &[u8], digits: usize) -> bool {
    let (name, number) = content.split_at(content.len() - digits);
    let joined = name
        .split_last()
        .is_some_and(|(last, name)| matches!(last, b'-' | b'_') && name.first().is_some_and(u8::is_ascii_alphabetic));
    joined && digits > 0 && number.iter().all(u8::is_ascii_digit)
}

/// Whether there are two or more `key=value` in a text.
fn has_pairs(bytes: &[u8]) -> bool {
    let mut pairs = 0;
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'=') {
        let key = bytes[..at].iter().rev().take(40).take_while(|byte| is_key(**byte)).count();
        let bounded = match at - key {
            0 => true,
            first => matches!(bytes[first - 1], b' ' | b',' | b'[' | b'(' | b'{' | b'\n' | b'\t' | b';'),
        };
        let value = bytes.get(at + 1).is_some_and(|next| !matches!(next, b'=' | b'>' | b' ' | b'\n'));
        pairs += usize::from(key > 0 && bounded && value);
        if pairs == 2 {
            return true;
        }
    }
    false
}

/// What keys of pairs are made of.
fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}
