//! What is not worth an agent's attention: browser extensions, hot reload, analytics, and whatever the user adds. Rules
//! never hide a refused login: 401 and 403 are not noise.

mod builtin;
mod rule;
mod suggest;
mod tools;
mod vendors;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use backsight_core::{Code, Error, NextStep, Result, Timestamp, quote};
use regex::Regex;
use serde_json::{Value, json};

use self::rule::Compiled;
pub use self::rule::{Conditions, LONGEST_PATTERN, NewRule, Rule, Statuses};
pub use self::suggest::{Candidate, Suggestion};
pub use self::tools::{Opener, Tool};
use crate::event::{Category, Frame, Level};

/// How many rules a user can add.
pub const MOST_RULES: usize = 100;

/// What rules look at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What kind of thing.
    pub category: Category,
    /// For console messages.
    pub level: Option<Level>,
    /// The message, the request's or socket's error, or what was acted on.
    pub text: &'a str,
    /// Where it comes from: a script's address, best as [`speaking_frame`] finds it; for a socket the tool it belongs to, as
    /// [`Tool::source`] says.
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
    /// Those that came with Backsight and are switched off.
    switched_off: BTreeSet<String>,
    /// Those that were added, in that order.
    user: Vec<Compiled>,
}

impl Rules {
    /// Those that come with Backsight; the same as the default.
    pub fn builtin() -> Rules {
        Rules::default()
    }

    /// The id of the first rule that says so, if it is noise.
    pub fn noise(&self, subject: &Subject<'_>) -> Option<&str> {
        if is_refusal(subject) || is_loss(subject) {
            return None;
        }
        let of_extensions = !may_be_the_apps(subject);
        let builtin = builtin::all().iter().filter(|compiled| {
            let id = compiled.rule.id.as_str();
            !self.switched_off.contains(id) && (of_extensions || id != builtin::EXTENSION_SCRIPTS)
        });
        let user = self.user.iter().filter(|compiled| compiled.rule.enabled);
        builtin.chain(user).find(|compiled| compiled.matches(subject)).map(|compiled| compiled.rule.id.as_str())
    }

    /// The same for the user's rules alone.
    pub fn users_noise(&self, subject: &Subject<'_>) -> Option<&str> {
        if self.user.is_empty() || is_refusal(subject) {
            return None;
        }
        let mut user = self.user.iter().filter(|compiled| compiled.rule.enabled);
        user.find(|compiled| compiled.matches(subject)).map(|compiled| compiled.rule.id.as_str())
    }

    /// Whether the user has added any.
    pub fn has_users(&self) -> bool {
        !self.user.is_empty()
    }

    /// All rules, the user's first.
    pub fn list(&self) -> Vec<Rule> {
        let builtin = builtin::all().iter().map(|compiled| {
            let enabled = !self.switched_off.contains(&compiled.rule.id);
            Rule { enabled, ..compiled.rule.clone() }
        });
        self.user_rules().into_iter().chain(builtin).collect()
    }

    /// Those that were added.
    pub fn user_rules(&self) -> Vec<Rule> {
        self.user.iter().map(|compiled| compiled.rule.clone()).collect()
    }

    /// What [`Rules::restore`] needs to make the same rules again: those that were added, and those that came with
    /// Backsight and are switched off.
    pub fn to_store(&self) -> Vec<Rule> {
        self.list().into_iter().filter(|rule| !rule.builtin || !rule.enabled).collect()
    }

    /// Adds all of these, or none when one of them cannot be added.
    pub fn add(&mut self, rules: Vec<NewRule>, now: Timestamp) -> Result<Vec<Rule>> {
        if self.user.len() + rules.len() > MOST_RULES {
            let message =
                format!("{} and {} more noise rules are more than {MOST_RULES}", self.user.len(), rules.len());
            return Err(Error::new(Code::InvalidRule, message)
                .then("remove rules that are no longer needed", NextStep::RemoveRule)
                .or_hint("say several texts in one regular expression"));
        }
        let mut after = self.clone();
        for (position, new) in rules.into_iter().enumerate() {
            after.add_one(new, now).map_err(|(id, problem)| refused(position, id.as_deref(), &problem))?;
        }
        let added = after.user[self.user.len()..].iter().map(|compiled| compiled.rule.clone()).collect();
        *self = after;
        Ok(added)
    }

    fn add_one(&mut self, new: NewRule, now: Timestamp) -> std::result::Result<(), (Option<String>, String)> {
        let given = new.id.clone();
        let id = match &given {
            Some(id) => self.free(id).map_err(|problem| (given.clone(), problem))?,
            None => self.next_id(),
        };
        let compiled = Compiled::new(new.named(id, now)).map_err(|problem| (given, problem))?;
        self.user.push(compiled);
        Ok(())
    }

    /// The id, if a new rule can have it.
    fn free(&self, id: &str) -> std::result::Result<String, String> {
        let is_name = id.len() <= crate::name::LONGEST
            && id.starts_with(|first: char| first.is_ascii_lowercase())
            && id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        if !is_name {
            return Err("its `id` must be lowercase letters, digits and underscores, at most 50, a letter first".into());
        }
        match self.find(id) {
            Some(_) => Err("its `id` is that of another rule".into()),
            None => Ok(id.to_owned()),
        }
    }

    fn next_id(&self) -> String {
        let numbers = self.user.iter().filter_map(|compiled| compiled.rule.id.strip_prefix("user_")?.parse().ok());
        let last: u64 = numbers.max().unwrap_or(0);
        format!("user_{}", last.saturating_add(1))
    }

    fn find(&self, id: &str) -> Option<&Compiled> {
        builtin::all().iter().chain(&self.user).find(|compiled| compiled.rule.id == id)
    }

    /// Removes a rule that was added.
    pub fn remove(&mut self, id: &str) -> Result<Rule> {
        match self.user.iter().position(|compiled| compiled.rule.id == id) {
            Some(position) => Ok(self.user.remove(position).rule),
            None if self.find(id).is_some() => {
                let message = format!("noise rule `{id}` came with Backsight and cannot be removed");
                Err(Error::new(Code::InvalidRule, message)
                    .then("switch it off instead", NextStep::DisableRule { id: Some(id.to_owned()) }))
            }
            None => Err(self.not_found(id)),
        }
    }

    /// Switches a rule on or off.
    pub fn set_enabled(&mut self, id: &str, enabled: bool) -> Result<Rule> {
        if let Some(compiled) = self.user.iter_mut().find(|compiled| compiled.rule.id == id) {
            compiled.rule.enabled = enabled;
            return Ok(compiled.rule.clone());
        }
        let Some(compiled) = self.find(id) else { return Err(self.not_found(id)) };
        let rule = Rule { enabled, ..compiled.rule.clone() };
        match enabled {
            true => self.switched_off.remove(id),
            false => self.switched_off.insert(id.to_owned()),
        };
        Ok(rule)
    }

    /// Replaces what was added and switched by what was stored. What cannot be used any more is left out and told.
    pub fn restore(&mut self, stored: Vec<Rule>) -> Vec<String> {
        *self = Rules::default();
        stored.into_iter().filter_map(|rule| self.restore_one(rule).err()).collect()
    }

    /// The same from JSON, of which single elements may be damaged.
    pub fn restore_json(&mut self, stored: Vec<Value>) -> Vec<String> {
        let (mut rules, mut problems) = (Vec::new(), Vec::new());
        for (position, value) in stored.into_iter().enumerate() {
            match serde_json::from_value(value) {
                Ok(rule) => rules.push(rule),
                Err(error) => problems.push(format!("stored noise rule {} is ignored: {error}", position + 1)),
            }
        }
        problems.extend(self.restore(rules));
        problems
    }

    fn restore_one(&mut self, rule: Rule) -> std::result::Result<(), String> {
        let id = rule.id.clone();
        let ignored = |problem: String| format!("stored noise rule `{}` is ignored: {problem}", quote(id.as_bytes()));
        if rule.builtin {
            let known = self.set_enabled(&rule.id, rule.enabled);
            return known.map(|_| ()).map_err(|_| ignored("Backsight no longer comes with it".into()));
        }
        if self.user.len() >= MOST_RULES {
            return Err(ignored(format!("there are {MOST_RULES} already")));
        }
        self.free(&rule.id).map_err(ignored)?;
        self.user.push(Compiled::new(rule).map_err(ignored)?);
        Ok(())
    }

    fn not_found(&self, id: &str) -> Error {
        let ids: Vec<String> = self.user.iter().map(|compiled| compiled.rule.id.clone()).collect();
        let hint = match ids.is_empty() {
            true => "no rules were added; list those that came with Backsight to switch one off".to_owned(),
            false => format!("rules that were added: {}", ids.join(", ")),
        };
        let shown: String = id.chars().take(60).collect();
        let message = format!("there is no noise rule `{}`", quote(shown.as_bytes()));
        Error::new(Code::RuleNotFound, message).with_hint(hint).with_details(json!({ "user_rules": ids }))
    }
}

fn refused(position: usize, id: Option<&str>, problem: &str) -> Error {
    let shown: String = id.unwrap_or_default().chars().take(60).collect();
    let name = if shown.is_empty() { String::new() } else { format!(" (`{}`)", quote(shown.as_bytes())) };
    Error::new(Code::InvalidRule, format!("noise rule {}{name} cannot be added: {problem}", position + 1))
        .with_hint("no rule was added; correct this one and send all of them again")
        .with_details(json!({ "position": position, "id": id, "problem": problem }))
}

/// Whether somebody was refused for want of a login or a right.
fn is_refusal(subject: &Subject<'_>) -> bool {
    static REFUSED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?:status of|response code:|status code) (?:401|403)\b").ok());
    matches!(subject.status, Some(401 | 403)) || REFUSED.as_ref().is_some_and(|refused| refused.is_match(subject.text))
}

/// Whether hot reload says that its server is gone.
fn is_loss(subject: &Subject<'_>) -> bool {
    const SAID: [&str; 4] = [
        "[vite] server connection lost",
        "[webpack-dev-server] Disconnected!",
        "[WDS] Disconnected!",
        "The development server has disconnected",
    ];
    subject.category == Category::Console && SAID.iter().any(|said| subject.text.starts_with(said))
}

/// Whether a message that seems to come from an extension can be the app's: when the app is that extension, and when React's
/// developer tools said it, which speak in the place of every `console.error`.
fn may_be_the_apps(subject: &Subject<'_>) -> bool {
    let host = |address| -> Option<&str> {
        let (scheme, rest) = str::split_once(address, "-extension://")?;
        let host = rest.split('/').next().unwrap_or_default();
        address.get(..scheme.len() + "-extension://".len() + host.len())
    };
    let source = host(subject.source);
    source.is_some() && (source == host(subject.url) || subject.source.contains("/installHook.js"))
}

/// The innermost frame that is neither an extension's nor a monitoring script's: both put themselves between an app and
/// its console, and what the app says through them is still the app's. If there is no other, the innermost.
pub fn speaking_frame(stack: &[Frame]) -> Option<&Frame> {
    static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let hosts = vendors::on_hosts(vendors::CONSOLE_WRAPPERS.iter().copied());
        Regex::new(&format!(r"^[a-z-]+-extension://|(?:^|/)installHook\.js$|{hosts}")).ok()
    });
    let is_between = |frame: &&Frame| BETWEEN.as_ref().is_some_and(|between| between.is_match(&frame.file));
    stack.iter().find(|frame| !is_between(frame)).or(stack.first())
}

#[cfg(test)]
mod tests;
