//! A labelled corpus of what browsers, apps and dev servers say, made up by rule and the same in every run: it measures how
//! well fingerprints group. Not part of what the crate does for others; tests and benches read it.

mod fill;
mod templates;

use std::collections::BTreeMap;

use backsight_core::Timestamp;

use crate::event::{Console, Level, Speaker};
use crate::fingerprint;
use fill::Source;
use templates::{Kind, TEMPLATES};

/// How many messages each template gives.
const OF_EACH: usize = 12;

/// A message and which template it is made from.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// The number of the template.
    pub template: usize,
    /// What is said.
    pub console: Console,
}

/// How well messages are grouped.
#[derive(Clone, Debug, PartialEq)]
pub struct Accuracy {
    /// How many messages there are.
    pub messages: usize,
    /// How many templates they are made from.
    pub templates: usize,
    /// How many groups were made of them.
    pub groups: usize,
    /// The share of messages whose group is exactly the set of messages of their template.
    pub grouping_accuracy: f64,
    /// Templates that share a group with another template: each hides a problem.
    pub merged: Vec<&'static str>,
    /// Those of them that are written to look alike.
    pub merged_look_alikes: usize,
    /// Templates whose messages are in several groups: each costs tokens. With how many groups.
    pub split: Vec<(&'static str, usize)>,
}

/// How many templates must be told from others that look like them.
pub fn look_alikes() -> usize {
    TEMPLATES.iter().filter(|(_, kind)| *kind == Kind::Apart).count()
}

/// All messages, in an order that mixes the templates.
pub fn messages() -> Vec<Labelled> {
    let mut source = Source::new(0x5eed_0001);
    let mut messages = Vec::with_capacity(TEMPLATES.len() * OF_EACH);
    for round in 0..OF_EACH {
        for (template, (text, kind)) in TEMPLATES.iter().enumerate() {
            let message = source.fill(text);
            let speaker = if *kind == Kind::Terminal { Speaker::Terminal } else { Speaker::Page };
            let time =
                Timestamp(1_700_000_000_000 + i64::try_from(round * TEMPLATES.len() + template).unwrap_or_default());
            let console = Console {
                time,
                level: Level::Error,
                speaker,
                message,
                stack: Vec::new(),
                causes: Vec::new(),
                page: None,
                backfilled: false,
            };
            messages.push(Labelled { template, console });
        }
    }
    messages
}

/// How well [`fingerprint::of`] groups the corpus.
pub fn accuracy() -> Accuracy {
    accuracy_of(|console| fingerprint::of(console).key)
}

/// How well any key groups the corpus.
pub fn accuracy_of(key: impl Fn(&Console) -> u64) -> Accuracy {
    let messages = messages();
    let mut groups: BTreeMap<u64, BTreeMap<usize, usize>> = BTreeMap::new();
    let mut keys_of: BTreeMap<usize, BTreeMap<u64, usize>> = BTreeMap::new();
    for message in &messages {
        let key = key(&message.console);
        *groups.entry(key).or_default().entry(message.template).or_default() += 1;
        *keys_of.entry(message.template).or_default().entry(key).or_default() += 1;
    }
    let is_merged = |template: &usize| keys_of[template].keys().any(|key| groups[key].len() > 1);
    let exact = keys_of.iter().filter(|(template, keys)| keys.len() == 1 && !is_merged(template));
    let exact: usize = exact.map(|(_, keys)| keys.values().sum::<usize>()).sum();
    let merged: Vec<usize> = keys_of.keys().copied().filter(|template| is_merged(template)).collect();
    Accuracy {
        messages: messages.len(),
        templates: TEMPLATES.len(),
        groups: groups.len(),
        grouping_accuracy: exact as f64 / messages.len() as f64,
        merged_look_alikes: merged.iter().filter(|template| TEMPLATES[**template].1 == Kind::Apart).count(),
        merged: merged.iter().map(|template| TEMPLATES[*template].0).collect(),
        split: keys_of
            .iter()
            .filter(|(_, keys)| keys.len() > 1)
            .map(|(template, keys)| (TEMPLATES[*template].0, keys.len()))
            .collect(),
    }
}
