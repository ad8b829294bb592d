//! Answers of the lane that are objects of its own: fitted to the caller's budget in both forms. What cannot be fitted as an
//! object is told in lines.

use backsight::debug::render;
use backsight_core::{Result, estimate_tokens};
use serde_json::{Map, Value, json};

use crate::reply::{Draft, Next};
use crate::tool::Call;

/// Tokens of an answer beside what it is about: who asked, what others changed, how it is going on.
const ENVELOPE: usize = 90;
/// How often a smaller answer is tried before it is told in lines.
const ATTEMPTS: usize = 12;

/// An answer in both forms.
pub struct Answer {
    object: Map<String, Value>,
    text: String,
    more: Option<Value>,
}

impl Answer {
    /// An object under its name, with the few words that say what it is, and the text.
    pub fn new(brief: &str, name: &str, value: Value, text: String) -> Answer {
        let object = Map::from_iter([("summary".to_owned(), json!(brief)), (name.to_owned(), safe(value))]);
        Answer { object, text: text.trim_end().to_owned(), more: None }
    }

    /// The same with another fact.
    pub fn with(mut self, facts: impl IntoIterator<Item = (&'static str, Value)>) -> Answer {
        self.object.extend(facts.into_iter().map(|(name, value)| (name.to_owned(), safe(value))));
        self
    }

    /// The same with the arguments that go on.
    pub fn more(self, more: Option<Value>) -> Answer {
        Answer { more, ..self }
    }

    fn cost(&self) -> usize {
        let more = self.more.as_ref().map_or(0, |more| estimate_tokens(&more.to_string()));
        let object = estimate_tokens(&json!(self.object).to_string());
        object.max(estimate_tokens(&self.text)) + more
    }

    fn summary(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    fn draft(self, tool: &'static str) -> Draft {
        let draft = Draft::ready(self.object, self.text);
        match self.more {
            Some(more) => draft.more(tool, more),
            None => draft,
        }
    }

    /// The text alone, line by line, for budgets in which the object has no room.
    fn lines(self, tool: &'static str, again: Value, budget: usize) -> Draft {
        let rest = self.text.lines().skip(1).map(str::to_owned).collect();
        let mut again = again;
        again["max_tokens"] = json!(budget.saturating_mul(4).max(1500));
        Draft::new(self.summary()).list_after("lines", rest, Vec::new(), Next::new(tool, again))
    }
}

/// The answer that `make` gives for as many tokens as there are; `again` are the arguments that ask for it with more.
pub fn fitted(
    call: &Call<'_>,
    tool: &'static str,
    again: Value,
    mut make: impl FnMut(usize) -> Result<Answer>,
) -> Result<Draft> {
    let most = call.max_tokens.saturating_sub(ENVELOPE + estimate_tokens(call.client));
    let mut room = most;
    let mut answer = make(room)?;
    for _ in 0..ATTEMPTS {
        let cost = answer.cost();
        if cost <= most {
            return Ok(answer.draft(tool));
        }
        // A little less often makes the same answer, so each attempt gives up a good part.
        room = (room * most / cost).min(room - room.div_ceil(16));
        if room == 0 {
            break;
        }
        answer = make(room)?;
    }
    Ok(if answer.cost() <= most { answer.draft(tool) } else { answer.lines(tool, again, call.max_tokens) })
}

/// Every text of a value as one line that does nothing but be read.
fn safe(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(render::safe(&text)),
        Value::Array(items) => items.into_iter().map(safe).collect(),
        Value::Object(object) => object.into_iter().map(|(name, value)| (name, safe(value))).collect(),
        other => other,
    }
}
