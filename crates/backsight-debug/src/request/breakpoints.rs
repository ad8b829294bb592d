//! Where a debugged program pauses.

use std::borrow::Cow;
use std::path::PathBuf;

use backsight_core::{Effect, Operation, Result, Waits, short_enough};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Asked;
use super::limits::{self, usage};
use crate::debugger::{BreakpointList, Debugger};
use crate::session::{Breakpoint, BreakpointRequest, Place};

/// Where and when the program should pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakpointSpec {
    /// A source file, relative to the workspace; with `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The line of the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// The beginning of this function, instead of a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// An exception, instead of a line: `all`, `uncaught`, or a name the debugger has for some of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// Only when this is true, in the program's language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Only from this hit on, as the debugger understands it: `5`, `>= 5`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text_or_number")]
    #[schemars(schema_with = "text_or_number_schema")]
    pub hit_count: Option<String>,
    /// Print this instead of pausing; `{x}` is the value of `x`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
}

impl BreakpointSpec {
    /// At a place, whenever the program comes by.
    pub fn at(place: Place) -> BreakpointSpec {
        match place {
            Place::Line { file, line } => {
                BreakpointSpec { file: Some(file), line: Some(line), ..BreakpointSpec::default() }
            }
            Place::Function(name) => BreakpointSpec { function: Some(name), ..BreakpointSpec::default() },
            Place::Exception(name) => BreakpointSpec { exception: Some(name), ..BreakpointSpec::default() },
        }
    }

    /// Whether it names no place at all.
    pub fn is_nowhere(&self) -> bool {
        self.file.is_none() && self.line.is_none() && self.function.is_none() && self.exception.is_none()
    }

    /// In the lane's words.
    pub fn request(&self) -> Result<BreakpointRequest> {
        let texts = [
            ("function", &self.function),
            ("exception", &self.exception),
            ("condition", &self.condition),
            ("hit_count", &self.hit_count),
            ("log_message", &self.log_message),
        ];
        texts.iter().try_for_each(|(name, text)| short_enough(name, text.as_deref().unwrap_or_default()))?;
        let BreakpointSpec { condition, hit_count, log_message, .. } = self.clone();
        Ok(BreakpointRequest { at: self.place()?, condition, hit_count, log_message })
    }

    fn place(&self) -> Result<Place> {
        limits::line(self.line)?;
        limits::path("file", self.file.as_deref())?;
        let BreakpointSpec { file, line, function, exception, .. } = self.clone();
        match (file, line, function, exception) {
            (None, None, None, None) => Err(usage("name a place: `file` and `line`, `function`, or `exception`")),
            (Some(file), Some(line), None, None) => Ok(Place::Line { file, line }),
            (None, None, Some(function), None) => Ok(Place::Function(function)),
            (None, None, None, Some(exception)) => Ok(Place::Exception(exception)),
            (Some(_), None, None, None) | (None, Some(_), None, None) => Err(usage("`file` and `line` go together")),
            _ => Err(usage("name one place: `file` and `line`, `function`, or `exception`")),
        }
    }
}

/// A breakpoint to begin with: all that a breakpoint can have, or only `FILE:LINE` or a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct InitialBreakpoint(pub BreakpointSpec);

impl<'de> Deserialize<'de> for InitialBreakpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(InitialBreakpoint(BreakpointSpec::at(written(&text)))),
            other => serde_json::from_value(other).map(InitialBreakpoint).map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for InitialBreakpoint {
    fn schema_name() -> Cow<'static, str> {
        "InitialBreakpoint".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let spec = generator.subschema_for::<BreakpointSpec>();
        json_schema!({ "anyOf": [{ "type": "string", "examples": ["shop.py:12", "total"] }, spec] })
    }
}

/// `shop.py:12` is a line, anything else a function.
fn written(text: &str) -> Place {
    let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    match line.filter(|(file, _)| !file.is_empty()) {
        Some((file, line)) => Place::Line { file: file.into(), line },
        None => Place::Function(text.to_owned()),
    }
}

/// A text that may also be written as a number.
pub(super) fn text_or_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(D::Error::custom(format!("invalid type: {other}, expected a string"))),
    }
}

pub(super) fn text_or_number_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "integer", "null"] })
}

/// Set a breakpoint; one at the same place gets the new conditions.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct SetBreakpoint {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// Where and when.
    #[serde(flatten)]
    pub at: BreakpointSpec,
}

impl Operation for SetBreakpoint {
    type Answer = Breakpoint;
    const EFFECT: Effect = Effect::Runs;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        self.at.request().map(drop)
    }
}

impl Asked for SetBreakpoint {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<Breakpoint> {
        debugger.set_breakpoint(self.session.as_deref(), self.at.request()?)
    }
}

/// List the breakpoints, and whether they are bound.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListBreakpoints {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
}

impl Operation for ListBreakpoints {
    type Answer = BreakpointList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDebugger;
}

impl Asked for ListBreakpoints {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<BreakpointList> {
        debugger.breakpoints(self.session.as_deref())
    }
}

/// Remove a breakpoint; that of a snapshot point ends the point.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct RemoveBreakpoint {
    /// Which program, by the name of its session; the only one, or `main`, when left out.
    pub session: Option<String>,
    /// The breakpoint's id: `bp-1`.
    pub id: String,
}

impl Operation for RemoveBreakpoint {
    type Answer = Breakpoint;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForDebugger;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)
    }
}

impl Asked for RemoveBreakpoint {
    fn ask(self, debugger: &Debugger, _: &dyn Fn() -> bool) -> Result<Breakpoint> {
        debugger.remove_breakpoint(self.session.as_deref(), &self.id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_is_a_line_or_a_function() {
        assert_eq!(written("src/shop.py:12"), Place::Line { file: "src/shop.py".into(), line: 12 });
        for function in ["total", "shop::total", "Order.total", ":12", "a:b"] {
            assert_eq!(written(function), Place::Function(function.to_owned()));
        }
        for wrong in [json!({ "file": "a", "line": 1, "function": "f" }), json!({ "file": "a" }), json!({})] {
            let spec: BreakpointSpec = serde_json::from_value(wrong.clone()).unwrap();
            assert!(spec.request().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_breakpoint_to_begin_with_may_have_everything_a_breakpoint_has() {
        let read = |value: Value| serde_json::from_value::<InitialBreakpoint>(value).map(|one| one.0);
        assert_eq!(read(json!("a.py:3")).unwrap().request().unwrap(), BreakpointRequest::line("a.py", 3));
        let whole = read(json!({ "function": "f", "condition": "x > 1", "hit_count": 5 })).unwrap();
        assert_eq!((whole.condition.as_deref(), whole.hit_count.as_deref()), (Some("x > 1"), Some("5")));
        assert!(read(json!({ "condition": "x" })).unwrap().request().is_err());
        assert!(read(json!({ "nonsense": 1 })).is_err());
    }
}
