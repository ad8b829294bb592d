//! What several operations about a debugged program take.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use backsight::debug::capture::Safety;
use backsight::debug::debugger::USUAL_WAIT;
use backsight::debug::diff::{Form, Options};
use backsight::debug::session::{BreakpointRequest, Control, Place};
use backsight::debug::walk::{CapturePlan, Frames};
use backsight_core::{Code, Error, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::debug_limits;
use crate::reply::FEWEST_TOKENS;

/// An answer as long as it is.
const WHOLE: usize = 10_000_000;

/// What an operation takes, and the session it is about.
pub struct About<T> {
    session: Option<String>,
    pub ask: T,
}

impl<T> About<T> {
    /// The name of the session, when one was given.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The name and the rest.
    pub fn parts(self) -> (Option<String>, T) {
        (self.session, self.ask)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for About<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut object = Map::deserialize(deserializer)?;
        let session = serde_json::from_value(object.remove("session").unwrap_or_default());
        let session = session.map_err(|error| D::Error::custom(format!("`session`: {error}")))?;
        let ask = serde_json::from_value(Value::Object(object)).map_err(D::Error::custom)?;
        Ok(About { session, ask })
    }
}

impl<T: JsonSchema> JsonSchema for About<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let session = json!({
            "type": ["string", "null"],
            "description": "Which program, by the name of its session; the only one, or `main`, when left out.",
        });
        let properties = schema.ensure_object().entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert("session".to_owned(), session);
        }
        schema
    }
}

/// Where and when the program should pause.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BreakpointInput {
    /// A source file, relative to the workspace; with `line`.
    file: Option<PathBuf>,
    /// The line of the file, from 1.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The beginning of this function, instead of a line.
    function: Option<String>,
    /// An exception, instead of a line: `all`, `uncaught`, or a name the debugger has for some of them.
    exception: Option<String>,
    /// Only when this is true, in the program's language.
    condition: Option<String>,
    /// Only from this hit on, as the debugger understands it: `5`, `>= 5`.
    hit_count: Option<String>,
    /// Print this instead of pausing; `{x}` is the value of `x`.
    log_message: Option<String>,
}

impl BreakpointInput {
    /// In the library's words.
    pub fn request(self) -> Result<BreakpointRequest> {
        let BreakpointInput { file, line, function, exception, condition, hit_count, log_message } = self;
        Ok(BreakpointRequest { at: place(file, line, function, exception)?, condition, hit_count, log_message })
    }
}

/// Exactly one of a line, a function and an exception.
pub fn place(
    file: Option<PathBuf>,
    line: Option<u32>,
    function: Option<String>,
    exception: Option<String>,
) -> Result<Place> {
    match (file, line, function, exception) {
        (Some(file), Some(line), None, None) => Ok(Place::Line { file, line }),
        (None, None, Some(function), None) => Ok(Place::Function(function)),
        (None, None, None, Some(exception)) => Ok(Place::Exception(exception)),
        _ => Err(usage("say where: `file` and `line`, or `function`, or `exception`")),
    }
}

/// What the program shall do.
#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Continue,
    Pause,
    StepIn,
    StepOver,
    StepOut,
    RunTo,
}

impl Action {
    /// In the library's words; only a run to a line has a place.
    pub fn control(self, file: Option<PathBuf>, line: Option<u32>) -> Result<Control> {
        match (self, file, line) {
            (Action::RunTo, Some(file), Some(line)) => Ok(Control::RunTo { file, line }),
            (Action::RunTo, ..) => Err(usage("`run_to` needs `file` and `line`")),
            (_, Some(_), _) | (_, _, Some(_)) => Err(usage("`file` and `line` are for `run_to`")),
            (Action::Continue, ..) => Ok(Control::Continue),
            (Action::Pause, ..) => Ok(Control::Pause),
            (Action::StepIn, ..) => Ok(Control::StepIn),
            (Action::StepOver, ..) => Ok(Control::StepOver),
            (Action::StepOut, ..) => Ok(Control::StepOut),
        }
    }
}

/// How many frames.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FramesInput {
    Count(#[schemars(range(min = 1, max = 200))] u32),
    Word(FramesWord),
}

/// How many frames, in a word.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FramesWord {
    Top,
    All,
}

/// Which threads.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Threads {
    /// The one that is looked at.
    #[default]
    Stopped,
    /// All of them.
    All,
}

/// How much of a paused program is captured.
#[derive(Deserialize, JsonSchema)]
pub struct Extent {
    /// How deep values are expanded: 0 is the variables themselves.
    #[schemars(range(max = 20))]
    depth: Option<u32>,
    /// Expressions to evaluate too, in the first frame.
    #[serde(default)]
    watch: Vec<String>,
    /// What may run to show a value; `pure`, nothing of the program, when left out.
    #[serde(default)]
    safety: Safety,
}

impl Extent {
    /// In the library's words, for the innermost frame.
    pub fn plan(self, usual_depth: u32) -> Result<CapturePlan> {
        let depth = debug_limits::depth(self.depth, usual_depth)?;
        Ok(CapturePlan { depth, watches: self.watch, safety: self.safety, ..CapturePlan::default() })
    }
}

/// How many frames of which threads.
pub fn reach(plan: CapturePlan, frames: Option<FramesInput>, threads: Threads) -> Result<CapturePlan> {
    let frames = match frames {
        None | Some(FramesInput::Word(FramesWord::Top)) => Frames::Top,
        Some(FramesInput::Word(FramesWord::All)) => Frames::All,
        Some(FramesInput::Count(count)) => Frames::Count(debug_limits::captured_frames(count)?),
    };
    Ok(CapturePlan { frames, all_threads: threads == Threads::All, ..plan })
}

/// Which part of a long answer.
#[derive(Deserialize, JsonSchema)]
pub struct Part {
    /// Only what is at or under this path.
    path: Option<String>,
    /// How many to skip, in the order of their importance.
    #[serde(default)]
    offset: u32,
    /// How large the answer may be; as large as it is when left out.
    #[schemars(range(min = 200))]
    max_tokens: Option<usize>,
}

impl Part {
    /// In the library's words.
    pub fn options(self) -> Result<Options> {
        if self.max_tokens.is_some_and(|tokens| tokens < FEWEST_TOKENS) {
            return Err(usage(format!("`max_tokens` is a number from {FEWEST_TOKENS}")));
        }
        let max_tokens = self.max_tokens.unwrap_or(WHOLE).min(WHOLE);
        Ok(Options { max_tokens, path: self.path, offset: self.offset as usize, form: Form::Json })
    }
}

/// How long to wait for the program.
pub fn wait(wait_ms: Option<u64>) -> Result<Duration> {
    debug_limits::wait(wait_ms, USUAL_WAIT)
}

/// A request that cannot be meant.
pub fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Usage, message)
}
