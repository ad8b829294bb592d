//! Takes secrets out of texts before anything is kept, compared or shown. Every lane uses this one judge, so that a form of
//! token that is known anywhere is known everywhere, and a secret has the same tag in a console line, in a variable, on a
//! terminal and in the title of a session. A lane adds only the walk over its own types.
//!
//! What is replaced is decided by names (`password=...`), by the form of what stands there (tokens, keys, card numbers) and
//! by what sentences say (`password for bob is ...`), in doubt in favour of replacing. A marker is `[REDACTED:kind:tag]`.
//! Redacting twice is redacting once, and JSON stays JSON.
//!
//! Pure: no I/O, no clock, no randomness. The salt is the caller's; tags of different salts cannot be compared.
//!
//! ```
//! use backsight_redact::Redactor;
//!
//! let wire = Redactor::of_wire(7);
//! let line = wire.text("login failed, password: hunter2").into_owned();
//! assert!(line.starts_with("login failed, password: [REDACTED:password:"));
//! // The same secret has the same tag in a variable of a program.
//! let program = Redactor::of_program(7);
//! assert!(line.ends_with(&*program.named("password", "'hunter2'")));
//! ```

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod forms;
mod headers;
pub mod marker;
mod names;
mod numbers;
mod prose;
mod scan;
mod value;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

pub use names::{Name, Names, judge, judge_expression};
pub use prose::unquoted;

/// Takes secrets out. Clones share the secrets that were found by their names.
#[derive(Clone, Debug)]
pub struct Redactor {
    salt: u64,
    names: Names,
    /// Secrets that were found by their names, and what they are.
    known: Arc<Mutex<Vec<(String, &'static str)>>>,
}

/// So many secrets are remembered, the last ones.
const MOST_KNOWN: usize = 1000;
/// Longer ones are not looked for.
const LONGEST_KNOWN: usize = 400;
/// What a replacement makes visible is replaced in the next round. No text is known that needs more than two.
const MOST_ROUNDS: usize = 6;

impl Redactor {
    /// For what goes over a wire or comes out of a terminal: bare names such as `token` and `pass` are those of secrets.
    pub fn of_wire(salt: u64) -> Self {
        Redactor { salt, names: Names::OfWire, known: Arc::default() }
    }

    /// For the variables of a program and what it says of them: there `token` is a parser's more often than not, and covers
    /// only what looks made up.
    pub fn of_program(salt: u64) -> Self {
        Redactor { salt, names: Names::OfProgram, known: Arc::default() }
    }

    /// A text without its secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // Nothing shorter holds a name, a mark and a secret.
        if text.len() < 6 {
            return Cow::Borrowed(text);
        }
        let mut result = self.once(text);
        let mut rounds = 1;
        while let Cow::Owned(redacted) = &result
            && rounds < MOST_ROUNDS
        {
            let Cow::Owned(again) = self.once(redacted) else { break };
            result = Cow::Owned(again);
            rounds += 1;
        }
        result
    }

    /// Both ways to look at a text. First the one that fits it, so that the other only ever adds to what that finds.
    fn once<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.names {
            Names::OfWire => then(scan::redact(self, text), |text| prose::redact(self, text)),
            Names::OfProgram => then(prose::redact(self, text), |text| scan::redact(self, text)),
        }
    }

    /// The value of a header, whose name is in small letters, without its secrets; nothing when the name says nothing.
    pub fn header(&self, name: &str, value: &str) -> Option<String> {
        headers::redacted(self, name, value)
    }

    /// The text of a value that has a name: all of it where the name says that it is a secret, else without its secrets.
    pub fn named<'a>(&self, name: &str, text: &'a str) -> Cow<'a, str> {
        match judge_expression(name).filter(|name| name.covers(unquoted(text))) {
            Some(_) if marker::is(text.as_bytes()) => Cow::Borrowed(text),
            Some(name) => Cow::Owned(self.secret(name, unquoted(text), None)),
            None => self.text(text),
        }
    }

    /// The marker for a value that its name gave away, which is remembered to take it out of what is said later. `rest`
    /// stands for what is not shown of it.
    pub fn secret(&self, name: Name, shown: &str, rest: Option<u64>) -> String {
        self.remember(shown, name.kind());
        let tag = match rest {
            None => self.tag(shown.as_bytes()),
            Some(rest) => self.tag(&[shown.as_bytes(), &rest.to_le_bytes()].concat()),
        };
        let mut out = String::new();
        marker::push(&mut out, name.kind(), tag);
        out
    }

    /// What a program or its debugger says, without its secrets and without those that were found by their names. Values are
    /// never changed by what was found later, or two of them could not be compared any more.
    pub fn spoken(&self, text: &str) -> String {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said = text.to_owned();
        for (secret, kind) in known.iter().filter(|(secret, _)| text.contains(&**secret)) {
            let mut marker = String::new();
            marker::push(&mut marker, kind, self.tag(secret.as_bytes()));
            said = said.replace(&**secret, &marker);
        }
        drop(known);
        self.text(&said).into_owned()
    }

    /// Remembers a secret to take it out of what is said. What is short, or a word, stands in texts for itself.
    fn remember(&self, secret: &str, kind: &'static str) {
        let mixed = secret.bytes().any(|byte| !byte.is_ascii_alphabetic());
        if !(if mixed { 4 } else { 8 }..=LONGEST_KNOWN).contains(&secret.len()) || secret.contains("[REDACTED:") {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.iter().any(|(other, _)| other == secret) {
            let surplus = (known.len() + 1).saturating_sub(MOST_KNOWN);
            known.drain(..surplus);
            known.push((secret.to_owned(), kind));
        }
    }

    /// A hash from which nobody can find what was hashed by trying; equal ones stay equal and others do not become equal.
    pub fn salted(&self, hash: u64) -> u64 {
        let mixed = (hash ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_add(self.salt.rotate_left(32)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    /// Sixteen bits that are the same for the same secret and this salt.
    fn tag(&self, secret: &[u8]) -> u16 {
        let start = self.salt ^ 0xcbf2_9ce4_8422_2325;
        let hash =
            secret.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
        // The salt goes in again at the end, so that short secrets do not show it in the low bits.
        let mixed = (hash ^ (hash >> 31) ^ self.salt.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 48) as u16
    }
}

/// What `next` makes of what came before; borrowed when neither changed anything.
fn then<'a>(before: Cow<'a, str>, next: impl for<'b> Fn(&'b str) -> Cow<'b, str>) -> Cow<'a, str> {
    match before {
        Cow::Borrowed(text) => next(text),
        Cow::Owned(text) => match next(&text) {
            Cow::Owned(again) => Cow::Owned(again),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    }
}

#[cfg(test)]
mod tests;
