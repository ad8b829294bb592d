//! What changed a value, and a value that is given another.

use backsight_core::{Effect, Operation, Result, Waits, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{self, usage};
use super::{AnswerPart, Asked};
use crate::debugger::{ChangeRequest, Debugger, USUAL_WAIT, UntilChange, VariableSet};
use crate::session::AssignRequest;

/// Let the program go on until a value changes, and name the line that changed it.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct RunUntilChange {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The value: an expression in the program's language that only reads, or a path such as `order.items[3]`.
    pub expression: String,
    /// The thread; the one that paused the program when left out.
    pub thread: Option<i64>,
    /// The frame in which it is read, 0 is the innermost.
    #[serde(default)]
    pub frame: u32,
    /// How many steps are made at most; 1000 when left out.
    #[schemars(range(min = 1, max = limits::MOST_STEPS))]
    pub max_steps: Option<u32>,
    /// How long it may take; 10000 when left out. Then the program is paused wherever it is.
    #[schemars(range(max = limits::LONGEST_WAIT_MS))]
    pub wait_ms: Option<u64>,
    /// Which part of what changed.
    #[serde(flatten)]
    pub part: AnswerPart,
}

impl RunUntilChange {
    fn request(&self) -> Result<ChangeRequest> {
        short_enough("expression", &self.expression)?;
        if self.expression.trim().is_empty() {
            return Err(usage("`expression` is empty: name the value that is watched"));
        }
        self.part.check()?;
        Ok(ChangeRequest {
            expression: self.expression.trim().to_owned(),
            thread: self.thread,
            frame: self.frame,
            max_steps: within("max_steps", self.max_steps.unwrap_or(limits::USUAL_STEPS), 1..=limits::MOST_STEPS)?,
            wait: limits::wait(self.wait_ms, USUAL_WAIT)?,
        })
    }
}

impl Operation for RunUntilChange {
    type Answer = UntilChange;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        self.request().map(drop)
    }
}

impl Asked for RunUntilChange {
    fn ask(self, debugger: &Debugger, cancelled: &dyn Fn() -> bool) -> Result<UntilChange> {
        debugger.run_until_change(self.session.as_deref(), &self.request()?, &self.part.options(), cancelled)
    }
}

/// Give a variable of the paused program another value: from then on it is another program.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct SetVariable {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The variable, field or element, as the program's language writes it: `order.items[3]`.
    pub path: String,
    /// Its new value: an expression in the program's language, which runs.
    pub value: String,
    /// The thread; the one that paused the program when left out.
    pub thread: Option<i64>,
    /// The frame, 0 is the innermost.
    #[serde(default)]
    pub frame: u32,
}

impl SetVariable {
    fn request(&self) -> Result<AssignRequest> {
        let SetVariable { path, value, thread, frame, .. } = self.clone();
        short_enough("path", &path)?;
        short_enough("value", &value)?;
        for (name, text) in [("path", &path), ("value", &value)] {
            if text.trim().is_empty() {
                return Err(usage(format!("`{name}` is empty: say what to set, and to which value")));
            }
        }
        Ok(AssignRequest { path: path.trim().to_owned(), value, thread, frame })
    }
}

impl Operation for SetVariable {
    type Answer = VariableSet;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        self.request().map(drop)
    }
}

impl Asked for SetVariable {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<VariableSet> {
        debugger.set_variable(self.session.as_deref(), self.request()?)
    }
}
