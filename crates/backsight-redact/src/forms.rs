//! Secrets that are known by their own form, wherever they stand: tokens with a prefix, JSON Web Tokens, private keys, card
//! numbers. Each function looks at the start of some bytes and says how many of them are one.

use crate::names::Names;
use crate::numbers::{self, alphanumerics, digits, is_base64_url};

/// A token known by how it begins.
struct Prefix {
    start: &'static str,
    kind: &'static str,
    /// How many more letters, digits, `_` and `-` there must be.
    at_least: usize,
    /// Whether points and slashes belong to it too.
    dotted: bool,
    /// What must be in it, so that it is made up and no word.
    has: Has,
}

/// What must be in a token beside its prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Has {
    Digit,
    /// Small letters, capitals and digits: the prefix alone is also a word.
    All,
    /// Small letters and capitals; some tokens have no digit.
    Cases,
}

const fn prefix(start: &'static str, kind: &'static str, at_least: usize) -> Prefix {
    Prefix { start, kind, at_least, dotted: false, has: Has::Digit }
}

const fn dotted(start: &'static str, kind: &'static str, at_least: usize) -> Prefix {
    Prefix { start, kind, at_least, dotted: true, has: Has::Digit }
}

const fn mixed(start: &'static str, kind: &'static str, at_least: usize) -> Prefix {
    Prefix { start, kind, at_least, dotted: false, has: Has::All }
}

const fn cases(start: &'static str, kind: &'static str, at_least: usize) -> Prefix {
    Prefix { start, kind, at_least, dotted: false, has: Has::Cases }
}

/// Sorted by first letter; longer ones first.
const PREFIXES: [Prefix; 47] = [
    prefix("ATATT3", "atlassian", 20),
    prefix("AIza", "gcp-key", 35),
    prefix("EAACEdEose0cBA", "facebook", 10),
    prefix("GOCSPX-", "gcp-key", 20),
    prefix("NRAK-", "newrelic", 20),
    dotted("SG.", "sendgrid", 30),
    prefix("dapi", "databricks", 32),
    prefix("dop_v1_", "digitalocean", 32),
    prefix("doo_v1_", "digitalocean", 32),
    dotted("dp.pt.", "doppler", 20),
    prefix("github_pat_", "github-token", 22),
    prefix("ghp_", "github-token", 20),
    prefix("gho_", "github-token", 20),
    prefix("ghu_", "github-token", 20),
    prefix("ghs_", "github-token", 20),
    prefix("ghr_", "github-token", 20),
    prefix("glpat-", "gitlab-token", 18),
    prefix("gldt-", "gitlab-token", 18),
    prefix("glrt-", "gitlab-token", 18),
    prefix("glcbt-", "gitlab-token", 18),
    prefix("glptt-", "gitlab-token", 18),
    prefix("glsa_", "grafana", 20),
    cases("hf_", "huggingface", 30),
    prefix("lin_api_", "linear", 20),
    mixed("npm_", "npm-token", 30),
    cases("pypi-AgE", "pypi-token", 12),
    prefix("pypi-", "pypi-token", 40),
    prefix("rk_live_", "stripe-key", 10),
    prefix("rk_test_", "stripe-key", 10),
    prefix("rubygems_", "rubygems", 30),
    prefix("shpat_", "shopify", 20),
    prefix("shpss_", "shopify", 20),
    prefix("shpca_", "shopify", 20),
    prefix("sk_live_", "stripe-key", 10),
    prefix("sk_test_", "stripe-key", 10),
    prefix("sk-ant-", "anthropic-key", 16),
    prefix("sk-proj-", "openai-key", 16),
    prefix("sk-svcacct-", "openai-key", 16),
    mixed("sk-", "openai-key", 20),
    prefix("sntrys_", "sentry", 20),
    prefix("sq0atp-", "square", 20),
    prefix("sq0csp-", "square", 20),
    prefix("whsec_", "stripe-key", 16),
    prefix("xapp-", "slack-token", 16),
    dotted("xoxe.", "slack-token", 16),
    prefix("xox", "slack-token", 16),
    dotted("ya29.", "gcp-key", 20),
];

/// How tokens begin.
#[cfg(test)]
pub(super) fn starts() -> impl Iterator<Item = &'static str> {
    PREFIXES.iter().map(|prefix| prefix.start)
}

/// The runs of a text in which tokens can stand. Letters, digits and `-` are a run of base64, in which any word may begin
/// what looks like a token: where the run ends is found once for all of them, and not once more for each, which would take
/// forever on a text that repeats the beginning of a token.
#[derive(Debug, Default)]
pub(super) struct Runs {
    plain: Run,
    dotted: Run,
    padded: Run,
    loose: Run,
}

/// Bytes of one alphabet with what else is known of them.
#[derive(Debug, Default)]
struct Run {
    start: usize,
    end: usize,
    /// One past the last digit, capital and small letter in it; 0 when it has none.
    digit: usize,
    capital: usize,
    small: usize,
}

impl Run {
    /// Makes it the run that begins at `at` or goes on there.
    fn at(&mut self, bytes: &[u8], at: usize, belongs: fn(u8) -> bool) -> &Run {
        if !(self.start..self.end).contains(&at) {
            *self = Run { start: at, end: at, ..Run::default() };
            for &byte in bytes[at..].iter().take_while(|byte| belongs(**byte)) {
                self.end += 1;
                match byte {
                    b'0'..=b'9' => self.digit = self.end,
                    b'A'..=b'Z' => self.capital = self.end,
                    b'a'..=b'z' => self.small = self.end,
                    _ => {}
                }
            }
        }
        self
    }
}

impl Runs {
    /// The secret that begins at `at`, where a word does; its length and kind. In a program anything in doubt is one.
    pub(super) fn at_word(&mut self, bytes: &[u8], at: usize, names: Names) -> Option<(usize, &'static str)> {
        let rest = &bytes[at..];
        if let [b'A'..=b'Z', b'A'..=b'Z', b'0'..=b'9', b'0'..=b'9', ..] = rest
            && let Some(length) = numbers::iban(rest)
        {
            return Some((length, "iban"));
        }
        match rest[0] {
            b'e' if rest.starts_with(b"eyJ") => self.web_token(bytes, at, names).map(|length| (length, "jwt")),
            b'0'..=b'9' => card(rest)
                .or_else(|| loose_card(rest).filter(|_| names == Names::OfProgram))
                .map(|length| (length, "card"))
                .or_else(|| security_number(rest, names).map(|length| (length, "ssn")))
                .or_else(|| numbers::refresh_token(rest).map(|length| (length, "gcp-key")))
                .or_else(|| numbers::one_time_code(bytes, at).map(|length| (length, "otp"))),
            b'M' | b'N' | b'O' if rest.len() > 50 && numbers::discord(rest).is_some() => {
                numbers::discord(rest).map(|length| (length, "discord-token"))
            }
            b'A' if is_aws(rest) => Some((20, "aws-key")),
            b'A' | b'E' | b'G' | b'N' | b'S' | b'd' | b'g' | b'h' | b'l' | b'n' | b'p' | b'r' | b's' | b'w' | b'x'
            | b'y' => self.prefixed(bytes, at, names),
            _ => None,
        }
    }

    /// How long the JSON Web Token at `at` is: two or three parts of base64, the first of which opens an object.
    fn web_token(&mut self, bytes: &[u8], at: usize, names: Names) -> Option<usize> {
        let is_part = |byte: u8| is_base64_url(byte) || (byte == b'=' && names == Names::OfProgram);
        let header = match names {
            Names::OfWire => self.plain.at(bytes, at, is_base64_url).end - at,
            Names::OfProgram => self.padded.at(bytes, at, |byte| is_base64_url(byte) || byte == b'=').end - at,
        };
        let rest = &bytes[at..];
        let part = |from: usize| rest[from..].iter().take_while(|byte| is_part(**byte)).count();
        if header < 10 || rest.get(header) != Some(&b'.') {
            return None;
        }
        let end = header + 1 + part(header + 1);
        if end - header - 1 < if names == Names::OfWire { 8 } else { 4 } {
            return None;
        }
        match rest.get(end) {
            Some(b'.') => Some(end + 1 + part(end + 1)),
            _ => Some(end),
        }
    }

    fn prefixed(&mut self, bytes: &[u8], at: usize, names: Names) -> Option<(usize, &'static str)> {
        let rest = &bytes[at..];
        // Nothing that short is a token, and most words are; this keeps the table off the common path.
        if rest.len() < 14 || !looks_prefixed(rest) {
            return None;
        }
        let begins = |prefix: &&Prefix| rest.starts_with(prefix.start.as_bytes());
        PREFIXES.iter().filter(begins).find_map(|known| {
            self.of_prefix(bytes, at + known.start.len(), known, names).map(|end| (end - at, known.kind))
        })
    }

    /// Where the token ends whose prefix ends at `from`, if there is one.
    fn of_prefix(&mut self, bytes: &[u8], from: usize, known: &Prefix, names: Names) -> Option<usize> {
        let program = names == Names::OfProgram;
        let run = match known.dotted {
            _ if program => self.loose.at(bytes, from, |byte| is_base64_url(byte) || b".~+/=".contains(&byte)),
            false => self.plain.at(bytes, from, is_base64_url),
            true => self.dotted.at(bytes, from, |byte| is_base64_url(byte) || matches!(byte, b'.' | b'/')),
        };
        let has = |last: usize| last > from;
        let cases = has(run.capital) && has(run.small);
        let scrambled = match known.has {
            Has::Digit => has(run.digit),
            Has::All => has(run.digit) && (cases || program),
            Has::Cases => cases || (has(run.digit) && program),
        };
        let after = &bytes[from..];
        let is_slack = known.kind == "slack-token";
        let slack = known.start != "xox"
            || (matches!(after.first(), Some(b'a'..=b'e' | b'p' | b'r' | b's')) && after.get(1) == Some(&b'-'))
            || (program && after.starts_with(b"o-"));
        let at_least = if program && is_slack { known.at_least.min(10) } else { known.at_least };
        (run.end - from >= at_least && scrambled && slack).then_some(run.end)
    }
}

/// Whether one of the first bytes could be the last of a prefix.
fn looks_prefixed(rest: &[u8]) -> bool {
    let letters = rest.iter().take(9).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    matches!(rest[letters], b'_' | b'-' | b'.')
        || matches!(&rest[..4], b"AIza" | b"dapi" | b"ATAT" | b"EAAC" | b"gith" | b"sk-s" | b"ruby")
}

/// `AKIA` and the like with sixteen capitals and digits.
fn is_aws(rest: &[u8]) -> bool {
    let known = [b"AKIA", b"ASIA", b"AROA", b"AIDA", b"AGPA", b"ANPA", b"ABIA", b"ACCA"];
    alphanumerics(&rest[..rest.len().min(21)]) == 20
        && known.iter().any(|start| rest.starts_with(*start))
        && rest[..20].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// A card number: an issuer's digits in an issuer's length that add up, unbroken or in the usual groups.
fn card(rest: &[u8]) -> Option<usize> {
    if !matches!(rest[0], b'2'..=b'6') {
        return None;
    }
    let unbroken = digits(&rest[..rest.len().min(20)]);
    let goes_on = |length: usize| match rest.get(length) {
        Some(b'.') => rest.get(length + 1).is_some_and(u8::is_ascii_digit),
        Some(byte) => byte.is_ascii_alphanumeric() || *byte == b'_',
        None => false,
    };
    if (13..=19).contains(&unbroken) {
        return (!goes_on(unbroken) && is_card(&rest[..unbroken])).then_some(unbroken);
    }
    let separator = *rest.get(4).filter(|byte| matches!(byte, b' ' | b'-'))?;
    const LAYOUTS: [&[usize]; 3] = [&[4, 4, 4, 4, 3], &[4, 4, 4, 4], &[4, 6, 5]];
    LAYOUTS.iter().find_map(|layout| {
        let mut number = [0_u8; 19];
        let length = grouped(rest, layout, separator, &mut number)?;
        let count = layout.iter().sum::<usize>();
        (!goes_on(length) && is_card(&number[..count])).then_some(length)
    })
}

/// Reads groups of digits; their length in the text.
fn grouped(rest: &[u8], layout: &[usize], separator: u8, number: &mut [u8; 19]) -> Option<usize> {
    let mut at = 0;
    let mut filled = 0;
    for (index, &size) in layout.iter().enumerate() {
        if index > 0 {
            if rest.get(at) != Some(&separator) {
                return None;
            }
            at += 1;
        }
        let group = rest.get(at..at + size).filter(|group| group.iter().all(u8::is_ascii_digit))?;
        number[filled..filled + size].copy_from_slice(group);
        filled += size;
        at += size;
    }
    Some(at)
}

/// The same with its digits in groups that no issuer prints.
fn loose_card(rest: &[u8]) -> Option<usize> {
    let separator = *rest.get(4).filter(|byte| matches!(byte, b' ' | b'-'))?;
    let mut number = Vec::new();
    let mut length = 0;
    for (at, &byte) in rest.iter().enumerate().take(23) {
        match byte {
            b'0'..=b'9' => number.push(byte),
            _ if byte == separator && matches!(at, 4 | 9 | 11 | 14 | 19) => continue,
            _ => break,
        }
        length = at + 1;
    }
    let goes_on = rest.get(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (!goes_on && is_card(&number)).then_some(length)
}

fn is_card(number: &[u8]) -> bool {
    let start = number.iter().take(4).fold(0_u32, |value, digit| value * 10 + u32::from(digit - b'0'));
    let issued = matches!(
        (number.len(), start),
        (13 | 16 | 19, 4000..=4999)
            | (16, 5100..=5599 | 2221..=2720)
            | (15, 3400..=3499 | 3700..=3799)
            | (16..=19, 6011 | 6440..=6599 | 3528..=3589 | 6200..=6299)
            | (14, 3000..=3059 | 3600..=3699 | 3800..=3999)
    );
    issued && adds_up(number)
}

/// Luhn's check: every second digit from the right counts double.
fn adds_up(number: &[u8]) -> bool {
    let sum: u32 = number
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match (index % 2, u32::from(digit - b'0')) {
            (0, value) => value,
            (_, value) if value > 4 => value * 2 - 9,
            (_, value) => value * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// `123-45-6789`, in this form only.
fn security_number(rest: &[u8], names: Names) -> Option<usize> {
    const LENGTH: usize = 11;
    let candidate = rest.get(..LENGTH)?;
    let shaped = candidate.iter().enumerate().all(|(index, byte)| match index {
        3 | 6 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let goes_on = match rest.get(LENGTH) {
        Some(b'-') => rest.get(LENGTH + 1).is_some_and(u8::is_ascii_digit),
        Some(byte) => byte.is_ascii_alphanumeric() || *byte == b'_',
        None => false,
    };
    let issued = candidate[0] != b'9'
        && !matches!(&candidate[..3], b"000" | b"666")
        && &candidate[4..6] != b"00"
        && &candidate[7..] != b"0000";
    (shaped && !goes_on && (issued || names == Names::OfProgram)).then_some(LENGTH)
}

/// How long the private key at the start is, over several lines, with line ends as they are or escaped.
pub(super) fn private_key(rest: &[u8], names: Names) -> Option<usize> {
    if !rest.starts_with(BEGIN) {
        return None;
    }
    match names {
        Names::OfWire => key_lines(rest),
        Names::OfProgram => key_or_all(rest),
    }
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";

/// From the beginning of a key to its end, or to the end of what there is of it.
fn key_or_all(rest: &[u8]) -> Option<usize> {
    let find = |from: usize, within: usize, what: &[u8]| {
        let window = &rest[from..rest.len().min(from.saturating_add(within))];
        window.windows(what.len()).position(|window| window == what).map(|at| from + at)
    };
    const NAME: &[u8] = b"PRIVATE KEY";
    let named = find(BEGIN.len(), 24 + NAME.len(), NAME)?;
    let Some(end) = find(named, usize::MAX, END) else { return Some(rest.len()) };
    let tail = end + END.len();
    Some(find(tail, 45, b"-----").map_or(tail, |dashes| dashes + 5))
}

/// The lines of a key as far as they are those of one.
fn key_lines(rest: &[u8]) -> Option<usize> {
    let label = |from: usize| {
        rest[from..]
            .iter()
            .take(40)
            .take_while(|byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'0'..=b'9'))
            .count()
    };
    let named = BEGIN.len() + label(BEGIN.len());
    if !rest[BEGIN.len()..named].ends_with(b"PRIVATE KEY") || !rest[named..].starts_with(b"-----") {
        return None;
    }
    let mut at = named + 5;
    let body = at;
    let mut words_end = at;
    while let Some(&byte) = rest.get(at) {
        if byte == b'-' && rest[at..].starts_with(END) {
            let end = at + END.len() + label(at + END.len());
            let dashes = rest[end..].iter().take(5).take_while(|byte| **byte == b'-').count();
            return Some(end + dashes);
        }
        // Another beginning is looked at by itself, which also keeps the time linear.
        if !is_key_byte(byte) || rest[at..].starts_with(BEGIN) {
            break;
        }
        // Line ends may be escaped, once or more; what else a backslash does is not this key's business.
        at += match (byte, rest.get(at + 1)) {
            (b'\\', Some(b'n' | b'r' | b'\\')) => 2,
            (b'\\', _) => break,
            _ => 1,
        };
    }
    // Without an end, what goes on as base64 belongs to it and the prose after it does not.
    let mut from = body;
    while from < at {
        let spaces = rest[from..at].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let word = rest[from + spaces..at].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        if word < 16 {
            break;
        }
        from += spaces + word;
        words_end = from;
    }
    Some(words_end)
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte.is_ascii_whitespace()
        || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b':' | b',' | b'-')
}

/// Whether a whole text is one line of a key's base64, as a process prints it line by line.
pub(super) fn is_key_line(text: &[u8]) -> bool {
    let has = |of: fn(&u8) -> bool| text.iter().any(of);
    matches!(text.len(), 64 | 76)
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(|byte| matches!(byte, b'g'..=b'z'))
}

/// Whether a text looks made up rather than written: long, or with digits in it.
pub(super) fn is_opaque(text: &[u8]) -> bool {
    let digits = text.iter().any(u8::is_ascii_digit);
    let letters = text.iter().any(u8::is_ascii_alphabetic);
    (digits && text.len() >= if letters { 6 } else { 8 }) || text.len() >= 20
}

/// Whether a text is the base64 of `user:password`.
pub(super) fn is_basic(text: &[u8]) -> bool {
    let mut bits = 0_u32;
    let mut held = 0;
    let mut colon = false;
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            match (bits >> held & 0xff) as u8 {
                b':' => colon = true,
                0..0x20 | 0x7f => return false,
                _ => {}
            }
        }
    }
    colon && text.len() >= 4
}
