//! What is not worth an agent's attention: browser extensions, hot reload, analytics, and whatever the user adds. Rules
//! never hide a refused login: 401 and 403 are not noise.

use crate::event::{Category, Level};

/// What rules look at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What kind of thing.
    pub category: Category,
    /// For console messages.
    pub level: Option<Level>,
    /// The message, the socket's error, or what was acted on.
    pub text: &'a str,
    /// Where it comes from: a script's address.
    pub source: &'a str,
    /// The request's or socket's address, or the page's.
    pub url: &'a str,
    /// For requests.
    pub method: &'a str,
    /// For requests.
    pub status: Option<u16>,
}

/// The rules in force.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    user: Vec<Rule>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema, serde::Serialize, serde::Deserialize)]
pub struct Rule {
    /// Its name.
    pub id: String,
    /// Whether it came with Backsight.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub builtin: bool,
    /// Whether it is in force.
    pub enabled: bool,
    /// Why this is noise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// A pattern found in the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
/// A rule to be.
#[derive(Clone, Debug, Default, PartialEq, schemars::JsonSchema, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct NewRule {
    /// Its name.
    pub id: Option<String>,
    /// Why this is noise.
    pub reason: String,
    /// Regex on the message.
    pub text: Option<String>,
}

impl Rules {
    /// B.
    pub fn builtin() -> Rules {
        Rules::default()
    }
    /// L.
    pub fn list(&self) -> Vec<Rule> {
        self.user.clone()
    }
    /// U.
    pub fn user_rules(&self) -> Vec<Rule> {
        self.user.clone()
    }
    /// S.
    pub fn to_store(&self) -> Vec<Rule> {
        self.user.clone()
    }
    /// A.
    pub fn add(&mut self, rules: Vec<NewRule>, _now: backsight_core::Timestamp) -> backsight_core::Result<Vec<Rule>> {
        let number = self.user.len();
        let rule = |(index, new): (usize, NewRule)| Rule {
            id: new.id.unwrap_or(format!("user_{}", number + index + 1)),
            builtin: false,
            enabled: true,
            reason: new.reason,
            text: new.text,
        };
        let added: Vec<Rule> = rules.into_iter().enumerate().map(rule).collect();
        self.user.extend(added.iter().cloned());
        Ok(added)
    }
    /// R.
    pub fn remove(&mut self, id: &str) -> backsight_core::Result<Rule> {
        let unknown = || backsight_core::Error::new(backsight_core::Code::RuleNotFound, format!("no rule `{id}`"));
        let at = self.user.iter().position(|rule| rule.id == id).ok_or_else(unknown)?;
        Ok(self.user.remove(at))
    }
    /// E.
    pub fn set_enabled(&mut self, id: &str, enabled: bool) -> backsight_core::Result<Rule> {
        let unknown = || backsight_core::Error::new(backsight_core::Code::RuleNotFound, format!("no rule `{id}`"));
        let rule = self.user.iter_mut().find(|rule| rule.id == id).ok_or_else(unknown)?;
        rule.enabled = enabled;
        Ok(rule.clone())
    }
    /// R.
    pub fn restore(&mut self, rules: Vec<Rule>) -> Vec<String> {
        self.user = rules;
        Vec::new()
    }

    /// The id of the first rule that says so, if it is noise.
    pub fn noise(&self, subject: &Subject<'_>) -> Option<&str> {
        let hit = |rule: &&Rule| rule.enabled && rule.text.as_ref().is_some_and(|text| subject.text.contains(text));
        self.user.iter().find(hit).map(|rule| rule.id.as_str())
    }
}
