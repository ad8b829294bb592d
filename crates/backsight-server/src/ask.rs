//! A question about the app as agents and programs put it, checked once for both.

use std::time::Duration;

use backsight::browser::event::Category;
use backsight::browser::noise::NewRule;
use backsight::browser::{Ask, Filter, LONGEST_WAIT, Wait};
use backsight_core::{Code, Error, Result};
use serde_json::Value;

/// How long nothing must happen for it to be quiet, when nobody says.
const QUIET: Duration = Duration::from_millis(500);

/// A question before it is checked.
#[derive(Debug, Default)]
pub struct Question {
    pub checkpoint: Option<String>,
    pub include: Vec<Category>,
    pub severity: Filter,
    pub peek: bool,
    pub wait_ms: Option<u64>,
    pub quiet_ms: Option<u64>,
    pub max_tokens: Option<usize>,
}

impl Question {
    /// As the lane takes it.
    pub fn checked(self) -> Result<Ask> {
        let most = patience("wait_ms", self.wait_ms)?.filter(|most| !most.is_zero());
        let quiet = patience("quiet_ms", self.quiet_ms)?.unwrap_or(QUIET);
        Ok(Ask {
            checkpoint: self.checkpoint,
            include: self.include,
            severity: self.severity,
            peek: self.peek,
            wait: most.map(|most| Wait { most, quiet }),
            max_tokens: self.max_tokens,
        })
    }
}

/// Noise rules as somebody wrote them; one that cannot be read is refused like one that cannot be used.
pub fn rules(rules: Vec<Value>) -> Result<Vec<NewRule>> {
    let read = |(position, rule): (usize, Value)| {
        serde_json::from_value(rule).map_err(|error| {
            Error::new(Code::InvalidRule, format!("noise rule {} cannot be read: {error}", position + 1))
                .with_hint("no rule was added; correct this one and send all of them again")
        })
    };
    rules.into_iter().enumerate().map(read).collect()
}

fn patience(name: &str, milliseconds: Option<u64>) -> Result<Option<Duration>> {
    let given = milliseconds.map(Duration::from_millis);
    match given {
        Some(given) if given > LONGEST_WAIT => {
            let message =
                format!("`{name}` is {}, not a number from 0 to {}", given.as_millis(), LONGEST_WAIT.as_millis());
            Err(Error::new(Code::Usage, message).with_hint("ask again when the answer has come"))
        }
        given => Ok(given),
    }
}
