//! The walk over a capture that takes its secrets out before anything is kept, compared or shown. What is a secret is decided
//! in `backsight-redact`, for all lanes alike. Equal secrets become equal markers, so that a changed secret is still seen to
//! change.

use std::borrow::Cow;

use backsight_redact::{Name, Redactor, judge, judge_expression, marker, unquoted};

use crate::capture::{Capture, Inside, Node, Safety, Scope};

/// Takes the secrets out of a capture; how many values were replaced, wholly or in part. Twice is once, apart from hashes.
pub fn capture(redactor: &Redactor, capture: &mut Capture) -> u64 {
    let mut work = Work { redactor, texts_hold_insides: capture.safety != Safety::Pure, replaced: 0 };
    for variable in capture.frames.iter_mut().flat_map(|frame| &mut frame.variables) {
        let name = match variable.scope {
            Scope::Watch => judge_expression(&variable.name),
            _ => judge(&variable.name),
        };
        work.node(&mut variable.value, name);
    }
    for incomplete in &mut capture.incomplete {
        work.part(&mut incomplete.path);
        work.part(&mut incomplete.reason);
    }
    work.replaced
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
        node.near = node.near.map(|near| self.redactor.salted(near));
        for run in &mut node.runs {
            *run = self.redactor.salted(u64::from(*run)) as u32;
        }
        let pair = named_pair(node);
        match &mut node.inside {
            Inside::Fields(children) | Inside::Entries(children) => {
                for (key, child) in children {
                    let named = pair.filter(|_| key.eq_ignore_ascii_case("value"));
                    self.node(child, judge(key).or(named).or(name));
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
        let secret = name.filter(|name| whole && name.covers(unquoted(&node.text)));
        match secret {
            Some(_) if marker::is(node.text.as_bytes()) => {}
            Some(name) => {
                // Of a text that is whole the tag is the same wherever it is shown.
                let shown = unquoted(&node.text);
                let cut = node.length.is_some_and(|length| length > shown.chars().count() as u64);
                node.text = self.redactor.secret(name, shown, node.hash.filter(|_| cut));
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
            let is_name = |key: &str| matches!(unquoted(key), "name" | "key" | "Name" | "Key");
            &children.iter().find(|(key, _)| is_name(key))?.1
        }
        _ => return None,
    };
    if first.inside == Inside::Leaf { judge(unquoted(&first.text)) } else { None }
}

#[cfg(test)]
mod tests;
