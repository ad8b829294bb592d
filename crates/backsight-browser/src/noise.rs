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

impl Rules {
    /// The id of the first rule that says so, if it is noise.
    pub fn noise(&self, _subject: &Subject<'_>) -> Option<&str> {
        None
    }
}
