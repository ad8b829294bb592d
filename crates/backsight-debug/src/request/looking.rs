//! A look at a paused program: its threads, calls and variables, and what it printed.

use backsight_core::{Effect, Operation, Result, Waits, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asked, limits};
use crate::capture::Safety;
use crate::debugger::{Debugger, ThreadList};
use crate::session::{EvaluateRequest, EvaluatedView, OutputPage, StackView, VariablesPage, VariablesRequest};

/// List the program's threads.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListThreads {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
}

impl Operation for ListThreads {
    type Answer = ThreadList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;
}

impl Asked for ListThreads {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<ThreadList> {
        Ok(ThreadList { threads: debugger.threads(self.session.as_deref())? })
    }
}

/// Read the calls a thread is in, innermost first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadStack {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The thread; the one that paused the program when left out.
    pub thread: Option<i64>,
    /// The first frame, 0 is the innermost.
    #[serde(default)]
    pub start: u32,
    /// How many frames; 20 when left out.
    #[schemars(range(min = 1, max = limits::MOST_FRAMES))]
    pub count: Option<u32>,
}

impl Operation for ReadStack {
    type Answer = StackView;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        within("count", self.count.unwrap_or(limits::USUAL_FRAMES), 1..=limits::MOST_FRAMES).map(drop)
    }
}

impl Asked for ReadStack {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<StackView> {
        let count = self.count.unwrap_or(limits::USUAL_FRAMES);
        debugger.stack(self.session.as_deref(), self.thread, self.start, count)
    }
}

/// Read the variables of a frame, or what is inside one of them, page by page; nothing of the program runs.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadVariables {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The thread; the one that paused the program when left out.
    pub thread: Option<i64>,
    /// The frame, 0 is the innermost.
    #[serde(default)]
    pub frame: u32,
    /// The scope, by its name; the local ones when left out.
    pub scope: Option<String>,
    /// What is inside this: a path such as `order.items`, or an expression.
    pub expand: Option<String>,
    /// From which one on.
    #[serde(default)]
    pub start: u64,
    /// How many at most; as many as is usual when left out.
    #[schemars(range(min = 1, max = limits::MOST_VARIABLES))]
    pub count: Option<u64>,
}

impl Operation for ReadVariables {
    type Answer = VariablesPage;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("scope", self.scope.as_deref().unwrap_or_default())?;
        short_enough("expand", self.expand.as_deref().unwrap_or_default())?;
        within("count", self.count.unwrap_or(1), 1..=limits::MOST_VARIABLES).map(drop)
    }
}

impl Asked for ReadVariables {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<VariablesPage> {
        let ReadVariables { session, thread, frame, scope, expand, start, count } = self;
        // 0 is as many as is usual.
        let (count, safety) = (count.unwrap_or(0), Safety::Pure);
        let request = VariablesRequest { thread, frame, scope, expand, start, count, safety };
        debugger.variables(session.as_deref(), request)
    }
}

/// Evaluate an expression; nothing of the program runs unless that is allowed.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct EvaluateExpression {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// In the program's language.
    pub expression: String,
    /// The thread; the one that paused the program when left out.
    pub thread: Option<i64>,
    /// The frame, 0 is the innermost.
    #[serde(default)]
    pub frame: u32,
    /// Only read: nothing of the program runs, and what would need that is refused; true when left out.
    pub safe: Option<bool>,
    /// How long it may take.
    #[schemars(range(min = 1, max = limits::LONGEST_EVALUATION_MS))]
    pub timeout_ms: Option<u64>,
}

impl Operation for EvaluateExpression {
    type Answer = EvaluatedView;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("expression", &self.expression)?;
        within("timeout_ms", self.timeout_ms.unwrap_or(1), 1..=limits::LONGEST_EVALUATION_MS).map(drop)
    }
}

impl Asked for EvaluateExpression {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<EvaluatedView> {
        let EvaluateExpression { session, expression, thread, frame, safe, timeout_ms } = self;
        let request = EvaluateRequest { expression, thread, frame, safe: safe.unwrap_or(true), timeout_ms };
        debugger.evaluate(session.as_deref(), request)
    }
}

/// Read what the program printed.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadOutput {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The number of the first piece: the `next` of the answer before.
    #[serde(default)]
    pub since: u64,
    /// About how many bytes at most; 65536 when left out.
    #[schemars(range(min = 1, max = limits::MOST_OUTPUT))]
    pub max_bytes: Option<u64>,
}

impl Operation for ReadOutput {
    type Answer = OutputPage;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        within("max_bytes", self.max_bytes.unwrap_or(limits::USUAL_OUTPUT), 1..=limits::MOST_OUTPUT).map(drop)
    }
}

impl Asked for ReadOutput {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<OutputPage> {
        let most = usize::try_from(self.max_bytes.unwrap_or(limits::USUAL_OUTPUT)).unwrap_or(usize::MAX);
        debugger.output(self.session.as_deref(), self.since, most)
    }
}
