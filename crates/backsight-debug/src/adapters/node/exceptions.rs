//! The exceptions of a test that is run: where one surely fails it the program stays paused. Every other one that has to do
//! with the project's code is told to the session, and the program goes on: whether it fails the test the runner will say.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::adapter::{Node, function_name};
use super::failing::{self, ComesTo, Owner, Whose};
use super::place;
use crate::testing::ThrownError;

/// Frames of an exception that are looked at.
const FRAMES: usize = 60;
/// How many calls that the running one waits for are known.
const WAITING: u64 = 4;
/// More exceptions of one run are not told.
const MOST: usize = 2_000;

/// The exceptions of a run.
#[derive(Default)]
pub(super) struct Exceptions {
    /// How often the same one was thrown at the same place.
    counts: HashMap<(String, u32, String), u32>,
    told: usize,
    /// The one that failed the test in a run before this one.
    pub wanted: Option<ThrownError>,
}

impl Exceptions {
    /// Which of those that are alike this one is, from 1.
    fn count(&mut self, thrown: &ThrownError) -> u32 {
        let count = self.counts.entry((thrown.file.clone(), thrown.line, thrown.text.clone())).or_default();
        *count += 1;
        *count
    }

    fn is_wanted(&self, thrown: &ThrownError) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| wanted == thrown && !wanted.awaited)
    }
}

impl Node {
    /// V8 shall know who waits for a function that goes on after an `await`.
    pub(super) async fn know_who_waits(&self) {
        let _ = self.inspector.ask("Debugger.setAsyncCallStackDepth", json!({ "maxDepth": WAITING })).await;
    }

    /// Whether the exception of the present pause fails the test that is run, as far as that can be known now or is known from
    /// an earlier run.
    pub(super) async fn fails_a_test(&self, reason: &str, params: &Value, text: &str) -> bool {
        let Ok(pause) = self.pause() else { return true };
        let mut stack: Vec<Whose> = Vec::new();
        for (index, frame) in pause.frames.iter().take(FRAMES).enumerate() {
            stack.push(self.whose(frame, pause.frames.get(index + 1)).await);
        }
        let way = match reason {
            "exception" => ComesTo::Catch,
            _ => self.way(pause.frames.first(), &params["data"]).await,
        };
        let fails = failing::surely_fails(&stack, way, self.resumed_by(&params["asyncStackTrace"]));
        if fails && !self.expects_failures(&pause.frames, &stack).await {
            return true;
        }
        let own = stack.iter().position(|whose| whose.owner == Owner::Project).and_then(|own| pause.frames.get(own));
        let Some(mut thrown) = self.thrown(own, &params["asyncStackTrace"], text) else { return false };
        let (is_wanted, is_told) = {
            let exceptions = &mut self.state().exceptions;
            thrown.nth = exceptions.count(&thrown);
            exceptions.told += 1;
            (exceptions.is_wanted(&thrown), exceptions.told <= MOST)
        };
        if is_told {
            self.event(ThrownError::EVENT, json!(thrown));
        }
        is_wanted
    }

    async fn whose(&self, frame: &Value, caller: Option<&Value>) -> Whose {
        let (file, _) = self.position(frame);
        let (source, at) = self.text_at(frame, "location").await;
        let begin = if frame["functionLocation"].is_object() { offset(&source, &frame["functionLocation"]) } else { 0 };
        let catches = failing::is_caught(source.get(begin..).unwrap_or_default(), at.saturating_sub(begin));
        let is_made_with = match caller {
            Some(caller) => {
                let (source, at) = self.text_at(caller, "location").await;
                failing::makes_with(source.get(at..).unwrap_or_default(), &function_name(frame))
            }
            None => false,
        };
        Whose { owner: Owner::of(&file), catches, rejects: is_made_with || failing::is_async(&source, begin) }
    }

    /// What an exception that becomes a promise's is.
    async fn way(&self, top: Option<&Value>, data: &Value) -> ComesTo {
        let Some(top) = top else { return ComesTo::Rejection };
        let (source, at) = self.text_at(top, "location").await;
        let description = data["description"].as_str().unwrap_or_default();
        match failing::throws(source.get(at..).unwrap_or_default(), description) {
            true => ComesTo::Promise,
            false => ComesTo::Rejection,
        }
    }

    /// What called the function that goes on after an `await`.
    fn resumed_by(&self, trace: &Value) -> Option<Owner> {
        let frames = trace["callFrames"].as_array().filter(|_| trace["description"] == "await")?;
        frames.iter().map(|frame| Owner::of(&self.position(&as_frame(frame)).0)).find(|owner| *owner != Owner::Node)
    }

    /// Whether the file that the runner called has tests that are to fail.
    async fn expects_failures(&self, frames: &[Value], stack: &[Whose]) -> bool {
        let outermost = stack.iter().rposition(|whose| whose.owner == Owner::Project);
        let Some(frame) = outermost.and_then(|at| frames.get(at)) else { return false };
        failing::expects_failures(&self.text_at(frame, "location").await.0)
    }

    /// The exception with its place in the project's code: where it is thrown, or what waits for it.
    fn thrown(&self, own: Option<&Value>, trace: &Value, text: &str) -> Option<ThrownError> {
        let awaited = own.is_none();
        let frame = own.cloned().or_else(|| {
            let traces = std::iter::successors(Some(trace), |trace| trace.get("parent"));
            let mut frames = traces.filter_map(|trace| trace["callFrames"].as_array()).flatten().map(as_frame);
            frames.find(|frame| Owner::of(&self.position(frame).0) == Owner::Project)
        })?;
        let (file, line) = self.position(&frame);
        let line = u32::try_from(line).ok()?;
        Some(ThrownError { text: text.to_owned(), file, line, function: function_name(&frame), awaited, nth: 0 })
    }

    /// The text of a frame's script, and where in it something of the frame is.
    async fn text_at(&self, frame: &Value, place: &str) -> (std::sync::Arc<str>, usize) {
        let source = self.source(frame["location"]["scriptId"].as_str().unwrap_or_default()).await;
        let at = offset(&source, &frame[place]);
        (source, at)
    }
}

/// A frame of a call that waits, written as one of a call that runs.
fn as_frame(waiting: &Value) -> Value {
    let [script, line, column, name] =
        ["scriptId", "lineNumber", "columnNumber", "functionName"].map(|it| &waiting[it]);
    json!({ "functionName": name, "location": { "scriptId": script, "lineNumber": line, "columnNumber": column } })
}

fn offset(source: &str, location: &Value) -> usize {
    let number = |part: &str| location[part].as_u64().unwrap_or_default();
    place::offset(source, number("lineNumber"), number("columnNumber"))
}
