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
#[derive(Debug, Default)]
pub struct Rules {}

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {}
/// A rule to be.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
pub struct NewRule {}

impl Rules {
    /// B.
    pub fn builtin() -> Rules {
        Rules {}
    }
    /// L.
    pub fn list(&self) -> Vec<Rule> {
        Vec::new()
    }
    /// U.
    pub fn user_rules(&self) -> Vec<Rule> {
        Vec::new()
    }
    /// A.
    pub fn add(&mut self, _rules: Vec<NewRule>, _now: backsight_core::Timestamp) -> backsight_core::Result<Vec<Rule>> {
        Ok(Vec::new())
    }
    /// R.
    pub fn restore(&mut self, _rules: Vec<Rule>) -> Vec<String> {
        Vec::new()
    }

    /// The id of the first rule that says so, if it is noise.
    pub fn noise(&self, _subject: &Subject<'_>) -> Option<&str> {
        None
    }
}
