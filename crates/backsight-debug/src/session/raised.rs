//! More about a stop than the debugger says by itself: what was raised and what led to it, and a condition that could not be
//! evaluated. Nothing of the program runs for it.

use std::time::Duration;

use backsight_core::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::engine::{Engine, PATIENCE, Paused};
use super::state::Stop;
use crate::adapters::Walker;
use crate::capture::{Inside, Node};
use crate::dap::types;
use crate::walk::{self, CapturePlan};

/// What Delve says of a condition instead of telling a breakpoint.
const DELVES_WORDS: &str = "error evaluating expression: ";
/// How many frames are looked through for the one of Go that panics.
const PANICKING: u32 = 12;
/// How deep the errors inside an error of Go are looked for.
const DEEPEST: u32 = 12;
/// How long other threads may take to their next line, and how often it is looked whether they are there.
const TO_REST: Duration = Duration::from_millis(5);
const MOST_LOOKS: usize = 6;
/// More threads than that are not asked where they are.
const MOST_THREADS: usize = 64;

/// What was raised or thrown.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Exception {
    /// Its class, as the language writes it.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says, as far as that is read without running code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What led to it, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<Earlier>,
    /// How many more led to it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chain_omitted: u64,
}

/// An exception that led to another.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Earlier {
    /// How.
    pub relation: Relation,
    /// Its class.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How an exception led to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// It was named as the cause, or is what the other one wraps.
    Cause,
    /// The other one was raised while it was handled.
    Context,
    /// It is one of several that the other one holds.
    Inner,
}

/// Another thread that stands at a breakpoint too.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AlsoThere {
    /// Which.
    pub thread_id: i64,
    /// The breakpoints it is at.
    pub breakpoints: Vec<String>,
}

/// What was found out about a stop, once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Learned {
    pub description: Option<String>,
    pub exception: Option<Box<Exception>>,
    pub problem: Option<String>,
}

impl Stop {
    /// Delve pauses at a condition it cannot evaluate as at an exception.
    pub(crate) fn with_plain_words(mut self) -> Stop {
        let words = self.description.as_deref().and_then(|text| text.strip_prefix(DELVES_WORDS));
        if let (true, Some(words)) = (self.reason == "exception", words) {
            self.problem = Some(words.to_owned());
            (self.reason, self.description) = ("breakpoint".to_owned(), None);
        }
        self
    }
}

impl Engine {
    /// Finds out more about a stop at some breakpoints.
    pub(crate) async fn learn(&self, paused: &Paused, hit: &[String]) -> Result<Learned> {
        let stop = &paused.stop;
        if stop.reason == "exception" {
            let description = if stop.is_described { None } else { self.exception(paused).await? };
            let exception = self.raised(paused).await.unwrap_or_default().map(Box::new);
            return Ok(Learned { description, exception, problem: None });
        }
        let condition = self.breakpoints().condition_of(hit);
        let problem = match (&stop.problem, condition) {
            (Some(problem), _) => Some(problem.clone()),
            (None, Some(condition)) => self.condition_problem(paused, &condition).await.unwrap_or_default(),
            (None, None) => None,
        };
        Ok(Learned { description: None, exception: None, problem })
    }

    /// Why the condition of the breakpoint that was hit could not be evaluated, if so.
    async fn condition_problem(&self, paused: &Paused, condition: &str) -> Result<Option<String>> {
        let Some(thread) = paused.stop.thread_id else { return Ok(None) };
        let told = match self.adapter.quirks.walker {
            Walker::Python => walk::ask_python(self, paused, thread, "condition", json!({})).await?,
            Walker::Lldb => {
                let asked = json!({ "expression": condition });
                walk::ask_lldb(self, paused, thread, 0, "condition", asked).await?
            }
            // Node's says so with the stop, and others have no way.
            Walker::Inspector | Walker::None => return Ok(None),
        };
        Ok(told["problem"].as_str().map(str::to_owned))
    }

    /// What was raised, and what led to it.
    async fn raised(&self, paused: &Paused) -> Result<Option<Exception>> {
        let Some(thread) = paused.stop.thread_id else { return Ok(None) };
        let told = match self.adapter.quirks.walker {
            Walker::Python => walk::ask_python(self, paused, thread, "raised", json!({})).await?,
            Walker::Lldb => walk::ask_lldb(self, paused, thread, 0, "raised", json!({})).await?,
            Walker::Inspector => self.ask("backsight/raised", json!({}), PATIENCE).await?,
            Walker::None => return self.raised_elsewhere(paused, thread).await,
        };
        Ok(serde_json::from_value(told).ok().filter(|exception: &Exception| !exception.kind.is_empty()))
    }

    /// Of debuggers without a walker: of Go's errors what they wrap, of others what they say.
    async fn raised_elsewhere(&self, paused: &Paused, thread: i64) -> Result<Option<Exception>> {
        let frames = self.stack(paused, thread, PANICKING).await?;
        if let Some(index) = frames.iter().position(|frame| frame.name == "runtime.gopanic") {
            let plan = CapturePlan {
                thread: Some(thread),
                frame: index as u32,
                depth: DEEPEST,
                watches: vec!["e".to_owned()],
                only_watches: true,
                ..CapturePlan::default()
            };
            let capture = walk::capture(self, paused, &plan).await?;
            let value = capture.frames.first().and_then(|frame| frame.variables.first()).map(|found| &found.value);
            return Ok(value.map(of_go));
        }
        if !self.capabilities().supports_exception_info_request {
            return Ok(None);
        }
        let body = self.ask("exceptionInfo", json!({ "threadId": thread }), PATIENCE).await?;
        Ok(of_details(&body["details"]))
    }

    /// The other threads that stand at a breakpoint while one has paused the program there.
    pub(crate) async fn also_there(&self, paused: &Paused, hit: &[String]) -> Result<Vec<AlsoThere>> {
        if hit.is_empty() || !paused.stop.reason.contains("breakpoint") {
            return Ok(Vec::new());
        }
        let spots = match self.adapter.quirks.walker {
            // It has one.
            Walker::Inspector => Vec::new(),
            // Asked for the stack of a thread that waits outside Python, the debugger waits half a second for it.
            Walker::Python => self.spots_of_python(paused).await.unwrap_or_default(),
            Walker::Lldb | Walker::None => self.spots_of_others(paused).await?,
        };
        let mut found = Vec::new();
        for (thread_id, file, line) in spots {
            let breakpoints = self.breakpoints().at_line(&file, line);
            if !breakpoints.is_empty() {
                found.push(AlsoThere { thread_id, breakpoints });
            }
        }
        self.still(paused)?;
        Ok(found)
    }

    /// Where the other threads are: file and line.
    async fn spots_of_others(&self, paused: &Paused) -> Result<Vec<(i64, String, u32)>> {
        let body = self.ask("threads", Value::Null, PATIENCE).await?;
        let (threads, _) = types::list::<types::Thread>(body, "threads");
        let words = self.adapter.quirks.running_words.as_deref().unwrap_or_default();
        let others = threads.iter().filter(|other| Some(other.id) != paused.stop.thread_id);
        let mut found = Vec::new();
        for other in others.filter(|other| other.name.contains(words)).take(MOST_THREADS) {
            // One that has ended meanwhile is nowhere.
            let Ok(frames) = self.stack(paused, other.id, 1).await else { continue };
            let Some(frame) = frames.first() else { continue };
            let file = frame.source.as_ref().and_then(|source| source.path.clone());
            found.extend(file.map(|file| (other.id, file, frame.line)));
        }
        Ok(found)
    }

    /// The same, told by the walker. Each thread of Python goes on to its next line before it pauses, so it is asked until two
    /// answers agree.
    async fn spots_of_python(&self, paused: &Paused) -> Result<Vec<(i64, String, u32)>> {
        let Some(thread) = paused.stop.thread_id else { return Ok(Vec::new()) };
        let mut before = None;
        for _ in 0..MOST_LOOKS {
            let told = walk::ask_python(self, paused, thread, "others", json!({})).await?;
            let spots: Vec<(i64, String, u32)> = serde_json::from_value(told["spots"].clone()).unwrap_or_default();
            if spots.is_empty() || before.as_ref() == Some(&spots) {
                return Ok(spots);
            }
            before = Some(spots);
            tokio::time::sleep(TO_REST).await;
        }
        Ok(before.unwrap_or_default())
    }
}

/// An error of Go with those it wraps.
fn of_go(value: &Node) -> Exception {
    let (kind, message) = said_by_go(value);
    let mut exception = Exception { kind, message, ..Exception::default() };
    for node in std::iter::successors(wrapped(value), |node| wrapped(node)).take(DEEPEST as usize) {
        let (kind, message) = said_by_go(node);
        exception.chain.push(Earlier { relation: Relation::Cause, kind, message });
    }
    exception
}

/// The type and the text of an error: of an interface what it holds.
fn said_by_go(value: &Node) -> (String, Option<String>) {
    let kind = value.kind.rsplit_once('(').map_or(value.kind.as_str(), |(_, held)| held.trim_end_matches(')'));
    let unquoted = |text: &str| text.trim_matches('"').to_owned();
    let texts = fields_of(value).filter(|(_, node)| node.kind == "string").map(|(_, node)| unquoted(&node.text)).next();
    let own = (value.text.starts_with('"')).then(|| unquoted(&value.text));
    (kind.to_owned(), texts.or(own))
}

/// The error inside an error.
fn wrapped(value: &Node) -> Option<&Node> {
    fields_of(value).map(|(_, node)| node).find(|node| node.kind == "error" || node.kind.starts_with("error("))
}

/// The fields of a struct.
fn fields_of(value: &Node) -> impl Iterator<Item = (&str, &Node)> {
    let own: &[(String, Node)] = match &value.inside {
        Inside::Fields(fields) => fields,
        _ => &[],
    };
    own.iter().map(|(name, node)| (name.as_str(), node))
}

/// What an adapter tells of an exception.
fn of_details(details: &Value) -> Option<Exception> {
    let text = |value: &Value, name: &str| value[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let kind = text(details, "typeName").or_else(|| text(details, "fullTypeName"))?;
    let mut exception = Exception { kind, message: text(details, "message"), ..Exception::default() };
    let mut next = details["innerException"].as_array().cloned().unwrap_or_default();
    while let Some(inner) = next.first().cloned().filter(|_| exception.chain.len() < DEEPEST as usize) {
        let kind = text(&inner, "typeName").unwrap_or_default();
        let message = text(&inner, "message");
        exception.chain.push(Earlier { relation: Relation::Cause, kind, message });
        next = inner["innerException"].as_array().cloned().unwrap_or_default();
    }
    Some(exception)
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_go_tell_what_they_wrap() {
        let text = |text: &str| Node::leaf("string", format!("{text:?}"));
        let error = |kind: &str, fields: Vec<(&str, Node)>| {
            let fields = fields.into_iter().map(|(name, node)| (name.to_owned(), node)).collect();
            Node::new(kind, "", Inside::Fields(fields))
        };
        let disk = error("error(*errors.errorString)", vec![("s", text("disk"))]);
        let open = error("error(*fmt.wrapError)", vec![("msg", text("open: disk")), ("err", disk)]);
        let load = error("interface {}(*fmt.wrapError)", vec![("msg", text("load: open: disk")), ("err", open)]);
        let exception = of_go(&load);
        assert_eq!(
            (exception.kind.as_str(), exception.message.as_deref()),
            ("*fmt.wrapError", Some("load: open: disk"))
        );
        let chain: Vec<(&str, Option<&str>)> =
            exception.chain.iter().map(|one| (one.kind.as_str(), one.message.as_deref())).collect();
        assert_eq!(chain, [("*fmt.wrapError", Some("open: disk")), ("*errors.errorString", Some("disk"))]);
    }

    #[test]
    fn an_adapter_tells_inner_exceptions() {
        let inner = json!({ "typeName": "IOError", "message": "disk" });
        let told = json!({ "typeName": "LoadError", "message": "load", "innerException": [inner] });
        let exception = of_details(&told).unwrap();
        assert_eq!(
            exception.chain,
            [Earlier { relation: Relation::Cause, kind: "IOError".into(), message: Some("disk".into()) }]
        );
        assert_eq!(of_details(&Value::Null), None);
    }
}
