//! Numbers and what begins like one: points in time, addresses of machines, durations, sizes, ids. A number stays only when it
//! tells one problem from another.

use backsight_redact::marker;

use super::Templater;
use crate::fingerprint::context::{self, Context};
use crate::fingerprint::shape::{self, alphanumerics, digits, shape};
use crate::fingerprint::time;

impl Templater<'_> {
    /// A word that begins with a digit; `run` is how many letters and digits it has.
    pub(super) fn number(&mut self, start: usize, run: usize) {
        let rest = self.rest(start);
        let inside = matches!(self.before(start), Some(b':' | b'.'));
        if let Some((length, name)) = whole(rest, run, inside) {
            return self.replace(start, start + length, name);
        }
        if let Some(length) = address(rest) {
            return self.machine(start, length);
        }
        match run > digits(rest) {
            true => self.mixed(start, run),
            false => self.plain(start, run),
        }
    }

    /// An IP address: this machine's stays with its port; of others the port stays if it names a service.
    fn machine(&mut self, start: usize, length: usize) {
        let end = start + length;
        let port = if self.byte(end) == Some(b':') { digits(self.rest(end + 1)) } else { 0 };
        let after = if port > 0 { end + 1 + port } else { end };
        self.context = Context::None;
        if self.rest(start).starts_with(b"127.") || self.rest(start).starts_with(b"0.0.0.0") {
            self.at = after;
            return;
        }
        self.replace(start, end, "{ip}");
        // Ports the system hands out by itself begin at 32768.
        let number = self.text.get(end + 1..after).and_then(|port| port.parse::<u32>().ok());
        match number {
            Some(32_768..) => self.replace(end, after, ""),
            _ => self.at = after,
        }
    }

    /// Digits and letters: `12px`, `4xx`, `0x7f`, `2m31s`, an id.
    fn mixed(&mut self, start: usize, run: usize) {
        let word = &self.rest(start)[..run];
        let count = digits(word);
        if let Some((length, name)) = measure(self.rest(start)) {
            return self.measured(start, length, name);
        }
        if word.starts_with(b"0x") || word.starts_with(b"0X") || shape(word).is_made_up() {
            return self.made_up(start, start + run);
        }
        self.context = Context::None;
        match count {
            1 => self.at = start + run,
            _ => {
                self.replace(start, start + count, "{n}");
                self.at = start + run;
            }
        }
    }

    /// A number without letters: whole, with a fraction, with commas, of a version.
    fn plain(&mut self, start: usize, run: usize) {
        let rest = self.rest(start);
        if let Some((length, name)) = measure(rest) {
            return self.measured(start, length, name);
        }
        let numeral = Numeral::of(rest);
        let whole = numeral.length == run;
        let kept = match whole {
            true => self.keeps(start, run),
            false => self.context == Context::Http && self.before(start) == Some(b'/'),
        };
        // A protocol's version stands between its name and the status.
        self.context = if kept && self.context == Context::Http { Context::Http } else { Context::None };
        if kept {
            self.at = start + numeral.length;
            return;
        }
        let (from, end) = (self.with_sign(start), start + numeral.length);
        match numeral.points >= 2 {
            true => self.replace(from, end, "{v}"),
            false => self.count(from, end),
        }
    }

    fn measured(&mut self, start: usize, length: usize, name: &str) {
        self.context = Context::None;
        let mut end = start + length;
        // `2m 31s` is one duration.
        while name == "{dur}" && self.byte(end) == Some(b' ') {
            match measure(self.rest(end + 1)) {
                Some((more, "{dur}")) => end += 1 + more,
                _ => break,
            }
        }
        self.replace(self.with_sign(start), end, name);
    }

    /// Where the number begins if a minus sign before it belongs to it.
    fn with_sign(&self, start: usize) -> usize {
        let sign = self.before(start) == Some(b'-') && start > self.copied;
        let free = start < 2 || matches!(self.bytes[start - 2], b' ' | b'(' | b'[' | b'=' | b':' | b',');
        if sign && free { start - 1 } else { start }
    }

    /// Whether the whole number at `start` means something.
    fn keeps(&self, start: usize, run: usize) -> bool {
        let number = &self.rest(start)[..run];
        let after = self.rest(start + run);
        let is_meant = match self.context {
            Context::Answer => self.context.keeps(number) && !counts_things(after),
            context => context.keeps(number),
        };
        is_meant
            || is_status(number, after)
            || self.is_in_brackets(start, number, after)
            || (number == b"0" && counts_trouble(after))
    }

    /// `(404)`: how something failed, after what failed.
    fn is_in_brackets(&self, start: usize, number: &[u8], after: &[u8]) -> bool {
        let is_failure = number.len() == 3 && matches!(number[0], b'4' | b'5') && context::is_status(value(number));
        is_failure && self.before(start) == Some(b'(') && after.first() == Some(&b')')
    }

    /// `localhost:3000` keeps its port.
    pub(super) fn keep_port(&mut self) {
        if self.context != Context::Localhost || self.byte(self.at) != Some(b':') {
            return;
        }
        let port = digits(self.rest(self.at + 1));
        if (1..=5).contains(&port) {
            self.at += 1 + port;
            self.context = Context::None;
        }
    }

    /// A secret that was taken out varies like any value; every other bracket stays.
    pub(super) fn bracket(&mut self) {
        let start = self.at;
        let Some(marker) = marker::at(self.rest(start)) else { return self.mark(b'[') };
        self.copy_to(start);
        self.out.push('{');
        self.out.extend(marker.kind.iter().map(|byte| char::from(*byte)));
        self.out.push('}');
        self.at = start + marker.length;
        self.copied = self.at;
    }

    /// Puts `{n}` in the place of a number. Numbers with commas between them are one thing however many they are.
    fn count(&mut self, start: usize, end: usize) {
        self.copy_to(start);
        for more in ["{n}, ", "{n},"] {
            if self.out.ends_with(more) {
                self.out.truncate(self.out.len() - more.len());
                break;
            }
        }
        self.replace(start, end, "{n}");
    }
}

/// What is known as a whole by its form.
fn whole(rest: &[u8], run: usize, inside: bool) -> Option<(usize, &'static str)> {
    let next = *rest.get(run)?;
    if run == 8
        && next == b'-'
        && let Some(length) = shape::uuid(rest)
    {
        return Some((length, "{uuid}"));
    }
    if run == 2 && next == b'-' && is_trace(rest) {
        return Some((55, "{trace}"));
    }
    if run == 2 && next == b':' && is_hardware_address(rest) {
        return Some((17, "{mac}"));
    }
    if inside {
        return None;
    }
    // A clock may touch letters, as in `10:15:30Z`, but begins with digits only.
    time::numeric(rest).map(|length| (length, "{ts}"))
}

/// The header `traceparent`: version, trace, span and flags.
fn is_trace(rest: &[u8]) -> bool {
    let Some(candidate) = rest.get(..55) else { return false };
    let shaped = candidate.iter().enumerate().all(|(index, byte)| match index {
        2 | 35 | 52 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    shaped && !rest.get(55).is_some_and(u8::is_ascii_alphanumeric)
}

fn is_hardware_address(rest: &[u8]) -> bool {
    let Some(candidate) = rest.get(..17) else { return false };
    let shaped = candidate.iter().enumerate().all(|(index, byte)| match index % 3 {
        2 => *byte == b':',
        _ => byte.is_ascii_hexdigit(),
    });
    shaped && !rest.get(17).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b':')
}

/// How long the IP address at the start is: four numbers up to 255.
fn address(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            if rest.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let count = digits(rest.get(at..)?);
        if !(1..=3).contains(&count) {
            return None;
        }
        let value = rest[at..at + count].iter().fold(0_u32, |value, digit| value * 10 + u32::from(digit - b'0'));
        if value > 255 {
            return None;
        }
        at += count;
    }
    let goes_on = match rest.get(at) {
        Some(b'.') => rest.get(at + 1).is_some_and(u8::is_ascii_digit),
        Some(byte) => byte.is_ascii_alphanumeric(),
        None => false,
    };
    (!goes_on).then_some(at)
}

/// The extent of a number.
struct Numeral {
    length: usize,
    points: usize,
}

impl Numeral {
    fn of(rest: &[u8]) -> Numeral {
        let mut length = digits(rest);
        while rest.get(length) == Some(&b',') && digits(&rest[length + 1..]) == 3 {
            length += 4;
        }
        let mut points = 0;
        while rest.get(length) == Some(&b'.') && digits(&rest[length + 1..]) > 0 {
            length += 1 + digits(&rest[length + 1..]);
            points += 1;
        }
        let exponent = matches!(rest.get(length), Some(b'e' | b'E'));
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        if exponent && rest.get(length + 1 + sign).is_some_and(u8::is_ascii_digit) {
            length += 1 + sign + digits(&rest[length + 1 + sign..]);
        }
        Numeral { length, points }
    }
}

/// How long the number with its unit at the start is, and what it measures: `12ms`, `1.5 s`, `2m31s`, `512 kB`, `99%`.
pub(super) fn measure(rest: &[u8]) -> Option<(usize, &'static str)> {
    let (mut length, name) = one_measure(rest)?;
    while name == "{dur}" && rest.get(length).is_some_and(u8::is_ascii_digit) {
        match one_measure(&rest[length..]) {
            Some((more, "{dur}")) => length += more,
            _ => return None,
        }
    }
    match rest.get(length) {
        Some(byte) if byte.is_ascii_alphanumeric() => None,
        _ => Some((length, name)),
    }
}

fn one_measure(rest: &[u8]) -> Option<(usize, &'static str)> {
    let numeral = Numeral::of(rest);
    let after = &rest[numeral.length..];
    if after.first() == Some(&b'%') {
        return Some((numeral.length + 1, "{pct}"));
    }
    if after.starts_with("µs".as_bytes()) || after.starts_with("μs".as_bytes()) {
        return Some((numeral.length + 3, "{dur}"));
    }
    let space = usize::from(after.first() == Some(&b' '));
    let unit = &after[space..];
    let run = unit.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let name = unit_of(&unit[..run], space == 1)?;
    Some((numeral.length + space + run, name))
}

/// What a unit measures. Single letters count only where they touch the number: `5 s` may be five of something.
fn unit_of(unit: &[u8], apart: bool) -> Option<&'static str> {
    match unit {
        b"ms" | b"ns" | b"us" | b"sec" | b"secs" | b"second" | b"seconds" | b"min" | b"mins" | b"minute"
        | b"minutes" | b"hour" | b"hours" | b"hrs" | b"milliseconds" => Some("{dur}"),
        b"s" => Some("{dur}"),
        b"m" | b"h" | b"d" if !apart => Some("{dur}"),
        b"B" | b"kB" | b"KB" | b"kb" | b"MB" | b"mb" | b"GB" | b"TB" | b"KiB" | b"MiB" | b"GiB" | b"kiB" | b"byte"
        | b"bytes" => Some("{size}"),
        _ => None,
    }
}

/// The value of a few digits.
fn value(number: &[u8]) -> u32 {
    number.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
}

/// ` rows` and the like: several of something, unless it is what a server answers with.
fn counts_things(after: &[u8]) -> bool {
    const NONE: [&[u8]; 8] = [b"is", b"as", b"was", b"has", b"this", b"status", b"errors", b"responses"];
    match after {
        [b' ', word @ ..] => {
            let word = &word[..alphanumerics(word)];
            word.ends_with(b"s") && word[0].is_ascii_lowercase() && !NONE.contains(&word)
        }
        _ => false,
    }
}

/// `404 (Not Found)` and `404 Not Found`: a status with its reason.
fn is_status(number: &[u8], after: &[u8]) -> bool {
    if number.len() != 3 || !matches!(number[0], b'1'..=b'5') {
        return false;
    }
    match after {
        [b' ', b'(', letter, ..] => letter.is_ascii_uppercase(),
        [b':', b' ', reason @ ..] => is_reason(&reason[..alphanumerics(reason)]),
        [b' ', reason @ ..] => is_reason(&reason[..alphanumerics(reason)]),
        _ => false,
    }
}

fn is_reason(word: &[u8]) -> bool {
    const REASONS: [&[u8]; 22] = [
        b"OK",
        b"Created",
        b"Accepted",
        b"No",
        b"Moved",
        b"Found",
        b"Not",
        b"Bad",
        b"Unauthorized",
        b"Forbidden",
        b"Method",
        b"Conflict",
        b"Gone",
        b"Payload",
        b"Unprocessable",
        b"Too",
        b"Internal",
        b"Gateway",
        b"Service",
        b"Request",
        b"Payment",
        b"Permanent",
    ];
    word.first().is_some_and(u8::is_ascii_uppercase) && REASONS.contains(&word)
}

/// ` errors` and the like: none of them is another message than some.
fn counts_trouble(after: &[u8]) -> bool {
    const TROUBLE: [&[u8]; 8] =
        [b"error", b"errors", b"failed", b"failures", b"warning", b"warnings", b"problems", b"vulnerabilities"];
    match after {
        [b' ', word @ ..] => TROUBLE.contains(&&word[..alphanumerics(word)]),
        _ => false,
    }
}
