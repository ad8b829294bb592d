//! A noise rule: what it looks at, how it is written and read, and how it matches. All conditions of a rule must hold.

use std::fmt;

use backsight_core::Timestamp;
use regex::{Regex, RegexBuilder};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Subject;
use crate::event::{Category, Level};

/// The longest pattern, in characters.
pub const LONGEST_PATTERN: usize = 512;

/// The longest reason, in characters.
const LONGEST_REASON: usize = 500;

/// What a compiled pattern may cost in memory.
const PATTERN_BYTES: usize = 512 * 1024;

/// A noise rule, as listed and stored.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Rule {
    /// Its name.
    pub id: String,
    /// Whether it came with Backsight: such a rule can be switched off and not removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub builtin: bool,
    /// Whether it is in force.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// What must hold for something to be noise.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// Why this is noise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// When it was added; absent for those that came with Backsight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
}

fn yes() -> bool {
    true
}

/// What must hold, all of it, for something to be noise.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Conditions {
    /// One of these; any when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
    /// A console message of this level or a less serious one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// A pattern found in the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A pattern found in the script's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// A pattern found in the request's or socket's address, or the page's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The patterns are plain texts and not regular expressions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    /// Capitals do not matter in the patterns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignore_case: bool,
    /// A request with this method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// A request with such a status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Statuses>,
}

/// A rule that is wanted.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewRule {
    /// Its name; `user_1` and so on when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// One of these; any when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
    /// This level or less serious.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Regex on the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Regex on the script's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Regex on the request's, socket's or page's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Patterns are plain texts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    /// Capitals do not matter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_case: bool,
    /// `OPTIONS`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// `404`, `"500-599"` or `"5xx"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Statuses>,
    /// Why this is noise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl NewRule {
    /// The rule as it is kept under `id`.
    pub(super) fn named(self, id: String, now: Timestamp) -> Rule {
        let NewRule { id: _, categories, level, text, source, url, plain, ignore_case, method, status, reason } = self;
        let conditions = Conditions { categories, level, text, source, url, plain, ignore_case, method, status };
        Rule { id, builtin: false, enabled: true, conditions, reason, created: Some(now) }
    }
}

/// One status or a range of them; 0 stands for no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statuses {
    /// The first.
    pub from: u16,
    /// The last.
    pub to: u16,
}

impl Statuses {
    fn contains(self, status: u16) -> bool {
        (self.from..=self.to).contains(&status)
    }

    fn parse(text: &str) -> Option<Statuses> {
        let text = text.trim();
        if let Some(hundred) = text.to_ascii_lowercase().strip_suffix("xx") {
            let hundred: u16 = hundred.parse().ok().filter(|hundred| (1..=9).contains(hundred))?;
            return Some(Statuses { from: hundred * 100, to: hundred * 100 + 99 });
        }
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        (from <= to && to <= 999).then_some(Statuses { from, to })
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { self.from.fmt(f) } else { write!(f, "{}-{}", self.from, self.to) }
    }
}

impl Serialize for Statuses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.from == self.to { serializer.serialize_u16(self.from) } else { serializer.collect_str(self) }
    }
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        Statuses::parse(&text)
            .ok_or_else(|| de::Error::custom(format!("`{text}` is no status: use 404, \"500-599\" or \"5xx\"")))
    }
}

impl JsonSchema for Statuses {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Statuses".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"] })
    }
}

/// A rule that is ready to be asked.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// As it was written.
    pub rule: Rule,
    text: Option<Regex>,
    source: Option<Regex>,
    url: Option<Regex>,
}

impl Compiled {
    /// Makes a rule ready, or says what is wrong with it.
    pub fn new(rule: Rule) -> Result<Compiled, String> {
        let conditions = &rule.conditions;
        sensible(conditions)?;
        if rule.reason.chars().count() > LONGEST_REASON {
            return Err(format!("`reason` has more than {LONGEST_REASON} characters"));
        }
        Ok(Compiled {
            text: pattern("text", &conditions.text, conditions)?,
            source: pattern("source", &conditions.source, conditions)?,
            url: pattern("url", &conditions.url, conditions)?,
            rule,
        })
    }

    /// Whether it says that this is noise.
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        let Conditions { categories, level, method, status, .. } = &self.rule.conditions;
        let found = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
        (categories.is_empty() || categories.contains(&subject.category))
            && level.is_none_or(|most| subject.level.is_some_and(|level| level <= most))
            && status.is_none_or(|wanted| subject.status.is_some_and(|status| wanted.contains(status)))
            && method.as_ref().is_none_or(|method| method.eq_ignore_ascii_case(subject.method))
            && found(&self.url, subject.url)
            && found(&self.source, subject.source)
            && found(&self.text, subject.text)
    }
}

/// Refuses what would hide everything, or can never match.
fn sensible(conditions: &Conditions) -> Result<(), String> {
    let Conditions { categories, level, text, source, url, method, status, .. } = conditions;
    let is_narrow = text.is_some() || source.is_some() || url.is_some() || method.is_some() || status.is_some();
    if !is_narrow {
        return Err("it has none of `text`, `source`, `url`, `method`, `status`, so it would hide everything".into());
    }
    let may_be = |category: Category| categories.is_empty() || categories.contains(&category);
    if (method.is_some() || status.is_some()) && !may_be(Category::Network) {
        return Err("only requests have a `method` or `status`, and its `categories` leave out `network`".into());
    }
    if level.is_some() && !may_be(Category::Console) {
        return Err("only messages have a `level`, and its `categories` leave out `console`".into());
    }
    if level.is_some() && (method.is_some() || status.is_some()) {
        return Err("nothing has both a `level` and a `method` or `status`".into());
    }
    let is_token = |method: &String| !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
    if method.as_ref().is_some_and(|method| !is_token(method)) {
        return Err("`method` is no method such as `OPTIONS`".into());
    }
    Ok(())
}

fn pattern(field: &str, pattern: &Option<String>, conditions: &Conditions) -> Result<Option<Regex>, String> {
    let Some(pattern) = pattern else { return Ok(None) };
    let length = pattern.chars().count();
    if length > LONGEST_PATTERN {
        return Err(format!("`{field}` has {length} characters, at most {LONGEST_PATTERN} are allowed"));
    }
    let written = if conditions.plain { regex::escape(pattern) } else { pattern.clone() };
    let regex = RegexBuilder::new(&written)
        .case_insensitive(conditions.ignore_case)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .nest_limit(50)
        .build()
        .map_err(|error| format!("`{field}` cannot be used: {}", reason(&error)))?;
    // No text has anything in common with all the others, so what is found in all of these is found everywhere.
    if ["x", "7", " ", "é~Q"].iter().all(|probe| regex.is_match(probe)) {
        return Err(format!("`{field}` is found in every text, so it would hide everything"));
    }
    Ok(Some(regex))
}

/// In one line; the library draws a picture.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            "it becomes too large; repeat less, and `[a-z0-9_]` is smaller than `\\w`".to_owned()
        }
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    }
}
