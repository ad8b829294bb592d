//! What makes two messages the same message: their text with everything that varies replaced by its type. A wrong merge
//! hides a new bug and a wrong split only costs tokens, so in doubt two messages are two.

mod context;
pub(crate) mod frames;
mod hash;
pub(crate) mod one_slot;
pub(crate) mod shape;
mod time;
mod tokens;

use std::borrow::Cow;

use crate::event::{Console, Level, Speaker};

/// What a message has in common with others like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The same in every run and every version for the same message: it is persisted.
    pub key: u64,
    /// The text with its varying parts as `{uuid}`, `{n}`, `{ts}` and so on.
    pub template: String,
}

/// What comes later than this many bytes does not tell messages apart.
const LONGEST: usize = 8 * 1024;

/// The fingerprint of something said: who said it, how serious it is, its template, and for errors the app's own places in
/// code and the origin of the script.
pub fn of(console: &Console) -> Fingerprint {
    let (head, printed) = frames::split(&console.message);
    let template = template(head);
    let mut key = hash::add(hash::START, &[speaker(console.speaker), level(console.level)]);
    key = hash::end_of_part(hash::add(key, template.as_bytes()));
    if console.speaker == Speaker::Exception || console.level == Level::Error {
        key = frames::add(key, &console.stack, printed);
        key = hash::end_of_part(hash::add(key, frames::script_origin(&console.stack, printed).as_bytes()));
    }
    Fingerprint { key: behind(key, console), template }
}

/// The same wherever the app is served: without the origin of the script and of the page.
pub(crate) fn anywhere(console: &Console) -> u64 {
    let (head, printed) = frames::split(&console.message);
    let home = console.page.as_deref().map(crate::endpoint::origin).filter(|origin| !origin.is_empty());
    let head = home.map_or(Cow::Borrowed(head), |home| Cow::Owned(head.replace(home, "")));
    let key = hash::add(hash::START, &[speaker(console.speaker), level(console.level)]);
    let key = hash::end_of_part(hash::add(key, template(&head).as_bytes()));
    behind(frames::add(key, &console.stack, printed), console)
}

/// Adds the errors behind an error: one wrapper around two causes is two errors. Without any the key is what it always was.
fn behind(key: u64, console: &Console) -> u64 {
    const TELLING: usize = 3;
    console.causes.iter().take(TELLING).fold(key, |key, cause| {
        let (head, _) = frames::split(&cause.message);
        hash::end_of_part(hash::add(key, template(head).as_bytes()))
    })
}

/// A text with its varying parts replaced by their types.
pub fn template(message: &str) -> String {
    tokens::template(&cut(message))
}

/// For display only: which of the `templates` differ from each other in exactly one token, six or more of them. Each list
/// holds indices; those in no list stand alone.
pub fn families(templates: &[&str]) -> Vec<Vec<usize>> {
    const ENOUGH: usize = 6;
    one_slot::families(templates, one_slot::Tokens::Words, ENOUGH)
}

/// Part of the persisted key: these numbers never change their meaning.
fn speaker(speaker: Speaker) -> u8 {
    match speaker {
        Speaker::Page => 1,
        Speaker::Exception => 2,
        Speaker::Browser => 3,
        Speaker::Terminal => 4,
    }
}

/// Part of the persisted key as well.
fn level(level: Level) -> u8 {
    match level {
        Level::Debug => 1,
        Level::Info => 2,
        Level::Warning => 3,
        Level::Error => 4,
    }
}

/// The beginning of a long text, whole characters only.
fn cut(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST {
        return Cow::Borrowed(message);
    }
    let end = (0..=LONGEST).rev().find(|at| message.is_char_boundary(*at)).unwrap_or_default();
    Cow::Borrowed(&message[..end])
}

#[cfg(test)]
mod tests;
