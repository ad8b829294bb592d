//! Takes secrets out of captures before anything is kept, compared or shown. Equal secrets become equal markers, so that a
//! changed secret is still seen to change.
//!
//! What is replaced is decided by names (`password`, `api_key`), by the form of what stands there (tokens, keys), and in doubt
//! in favour of replacing. A marker is `[REDACTED:kind:tag]`. Redacting twice is redacting once, apart from hashes.

mod forms;
mod names;
mod scan;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use names::Name;

use crate::capture::{Capture, Inside, Node, Safety, Scope};
use crate::hash::Hash;

/// Takes secrets out.
#[derive(Clone, Debug)]
pub struct Redactor {
    salt: u64,
    /// Secrets that were found by their names: clones share them.
    known: Arc<Mutex<Vec<String>>>,
}

/// So many secrets are remembered, the last ones.
const MOST_KNOWN: usize = 1000;
/// Longer ones are not looked for.
const LONGEST_KNOWN: usize = 400;

impl Redactor {
    /// One whose tags cannot be compared with those of another salt.
    pub fn new(salt: u64) -> Self {
        Redactor { salt, known: Arc::default() }
    }

    /// Takes the secrets out of a capture; how many values were replaced, wholly or in part.
    pub fn redact(&self, capture: &mut Capture) -> u64 {
        let mut work = Work { redactor: self, texts_hold_insides: capture.safety != Safety::Pure, replaced: 0 };
        for variable in capture.frames.iter_mut().flat_map(|frame| &mut frame.variables) {
            let name = match variable.scope {
                Scope::Watch => names::judge_expression(&variable.name),
                _ => names::judge(&variable.name),
            };
            work.node(&mut variable.value, name);
        }
        for incomplete in &mut capture.incomplete {
            work.part(&mut incomplete.path);
            work.part(&mut incomplete.reason);
        }
        work.replaced
    }

    /// A text without its secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        scan::redact(self, text)
    }

    /// What a program or its debugger says, without its secrets and without those that were found in its variables. Values are
    /// never changed by what was found later, or two of them could not be compared any more.
    pub fn spoken(&self, text: &str) -> String {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said = text.to_owned();
        for secret in known.iter().filter(|secret| text.contains(&***secret)) {
            said = said.replace(&**secret, &self.marker(scan::SECRET, secret.as_bytes(), None));
        }
        drop(known);
        self.text(&said).into_owned()
    }

    /// Remembers a secret to take it out of what is said. What is short, or a word, stands in texts for itself.
    fn remember(&self, secret: &str) {
        let mixed = secret.bytes().any(|byte| !byte.is_ascii_alphabetic());
        if !(if mixed { 4 } else { 8 }..=LONGEST_KNOWN).contains(&secret.len()) || secret.contains("[REDACTED:") {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.iter().any(|other| other == secret) {
            let surplus = (known.len() + 1).saturating_sub(MOST_KNOWN);
            known.drain(..surplus);
            known.push(secret.to_owned());
        }
    }

    /// The text of a value that has a name: all of it where the name says that it is a secret, else without its secrets.
    pub fn redact_text<'a>(&self, name: &str, text: &'a str) -> Cow<'a, str> {
        match names::judge_expression(name).filter(|name| name.covers(scan::unquoted(text))) {
            Some(_) if scan::is_marker(text) => Cow::Borrowed(text),
            Some(_) => {
                self.remember(scan::unquoted(text));
                Cow::Owned(self.marker(scan::SECRET, scan::unquoted(text).as_bytes(), None))
            }
            None => self.text(text),
        }
    }

    /// What stands in the place of a secret: four digits tell it from others.
    fn marker(&self, kind: &str, secret: &[u8], hash: Option<u64>) -> String {
        let hash = Hash::default().number(self.salt).bytes(secret).number(hash.unwrap_or(0)).number(self.salt);
        format!("[REDACTED:{kind}:{:04x}]", hash.finish() >> 48)
    }

    /// A hash from which nobody can find what was hashed by trying; equal ones stay equal and others do not become equal.
    fn salted(&self, hash: u64) -> u64 {
        let mixed = (hash ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_add(self.salt.rotate_left(32)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }
}

struct Work<'a> {
    redactor: &'a Redactor,
    /// Whether texts of containers may say what is in them.
    texts_hold_insides: bool,
    replaced: u64,
}

impl Work<'_> {
    fn node(&mut self, node: &mut Node, name: Option<Name>) {
        self.text(node, name);
        node.hash = node.hash.map(|hash| self.redactor.salted(hash));
        let pair = named_pair(node);
        match &mut node.inside {
            Inside::Fields(children) | Inside::Entries(children) => {
                for (key, child) in children {
                    let named = pair.filter(|_| key.eq_ignore_ascii_case("value"));
                    self.node(child, names::judge(key).or(named).or(name));
                    self.part(key);
                }
            }
            Inside::Elements(children) => {
                for (index, child) in children {
                    self.node(child, pair.filter(|_| *index == 1).or(name));
                }
            }
            Inside::SeeAt(path) => self.part(path),
            Inside::Leaf | Inside::NotExpanded | Inside::Unset => {}
        }
    }

    fn text(&mut self, node: &mut Node, name: Option<Name>) {
        let whole = node.inside == Inside::Leaf || self.texts_hold_insides;
        let secret = name.filter(|name| whole && name.covers(scan::unquoted(&node.text)));
        match secret {
            Some(_) if scan::is_marker(&node.text) => {}
            Some(_) => {
                // Of a text that is whole the tag is the same wherever it is shown.
                let shown = scan::unquoted(&node.text);
                self.redactor.remember(shown);
                let cut = node.length.is_some_and(|length| length > shown.chars().count() as u64);
                node.text = self.redactor.marker(scan::SECRET, shown.as_bytes(), node.hash.filter(|_| cut));
                // How long a password is helps to guess it.
                node.length = node.length.filter(|_| node.inside != Inside::Leaf);
                self.replaced += 1;
            }
            None => self.part(&mut node.text),
        }
    }

    /// Takes secrets out of a text that is none itself.
    fn part(&mut self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redactor.text(text) {
            *text = redacted;
            self.replaced += 1;
        }
    }
}

/// Of something like `("authorization", "...")` or `{name: "password", value: "..."}`: what the first says about the second.
fn named_pair(node: &Node) -> Option<Name> {
    let first = match &node.inside {
        Inside::Elements(children) if children.len() == 2 => &children[0].1,
        Inside::Fields(children) | Inside::Entries(children) if children.len() <= 6 => {
            let is_name = |key: &str| matches!(scan::unquoted(key), "name" | "key" | "Name" | "Key");
            &children.iter().find(|(key, _)| is_name(key))?.1
        }
        _ => return None,
    };
    if first.inside == Inside::Leaf { names::judge(scan::unquoted(&first.text)) } else { None }
}

#[cfg(test)]
mod tests;
