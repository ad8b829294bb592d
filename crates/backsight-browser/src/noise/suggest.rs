//! Which messages look like noise nobody made a rule for yet. Suggestions are for people and agents to judge; nothing is
//! hidden by them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NewRule, Rules, Subject};
use crate::event::{Category, Level};

/// From how many repeats on a message is a suggestion.
const REPEATS: u64 = 10;

/// How much of a template becomes the pattern, in characters.
const SHOWN: usize = 120;

/// A message that was heard.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its text with `{n}`, `{uuid}` and so on for what varies.
    pub template: &'a str,
    /// How often.
    pub count: u64,
    /// How serious.
    pub level: Level,
}

/// A rule that could be added.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Suggestion {
    /// The rule.
    pub rule: NewRule,
    /// How often what it would hide was said.
    pub count: u64,
    /// From 0 to 1.
    pub confidence: f64,
}

impl Rules {
    /// Rules for messages that repeat and are not errors, the surest first. What is noise already is left out.
    pub fn suggest(&self, heard: &[Candidate<'_>]) -> Vec<Suggestion> {
        let mut suggestions: Vec<Suggestion> =
            heard.iter().filter_map(|candidate| self.suggestion(candidate)).collect();
        suggestions.sort_by(|one, other| other.confidence.total_cmp(&one.confidence).then(other.count.cmp(&one.count)));
        suggestions
    }

    fn suggestion(&self, candidate: &Candidate<'_>) -> Option<Suggestion> {
        let Candidate { template, count, level } = *candidate;
        let subject = Subject {
            category: Category::Console,
            level: Some(level),
            text: template,
            source: "",
            url: "",
            method: "",
            status: None,
        };
        if level == Level::Error || count < REPEATS || self.noise(&subject).is_some() {
            return None;
        }
        // A warning that repeats may just as well be a bug that repeats.
        let most = if level == Level::Warning { 0.8 } else { 0.99 };
        let confidence = (0.7 + count as f64 / 100.0).min(most);
        let rule = NewRule {
            categories: vec![Category::Console],
            level: Some(level),
            text: Some(pattern(template)?),
            reason: format!("said {count} times"),
            ..NewRule::default()
        };
        Some(Suggestion { rule, count, confidence })
    }
}

/// A pattern for the beginning of a template; absent when it has too few words to tell it from others.
fn pattern(template: &str) -> Option<String> {
    let end = template.char_indices().nth(SHOWN).map_or(template.len(), |(end, _)| end);
    let (mut pattern, mut letters) = (String::from("^"), 0);
    let mut rest = &template[..end];
    while let Some(open) = rest.find('{') {
        let (words, slot) = rest.split_at(open);
        let close = slot.find('}').filter(|close| slot[1..*close].bytes().all(|byte| byte.is_ascii_lowercase()));
        let (literal, after) = match close {
            Some(close) if close > 1 => (words, &slot[close + 1..]),
            _ => (&rest[..=open], &slot[1..]),
        };
        letters += literal.chars().filter(|letter| letter.is_alphabetic()).count();
        pattern.push_str(&regex::escape(literal));
        if literal.len() == words.len() {
            pattern.push_str(".+?");
        }
        rest = after;
    }
    letters += rest.chars().filter(|letter| letter.is_alphabetic()).count();
    pattern.push_str(&regex::escape(rest));
    (letters >= 4 && pattern.chars().count() <= super::LONGEST_PATTERN).then_some(pattern)
}
