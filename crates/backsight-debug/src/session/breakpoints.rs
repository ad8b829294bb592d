//! The breakpoints of a session: what was asked for, and what the debugger made of it. No debugger is asked here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, NextStep, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::state::Stop;
use crate::dap::types;

/// Where the program should pause, and when.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct BreakpointRequest {
    /// Where.
    pub at: Place,
    /// Only when this is true, in the program's language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Only from this hit on, as the debugger understands it: `5`, `>= 5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_count: Option<String>,
    /// Print this instead of pausing; `{x}` is the value of `x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
}

/// Where a program can pause.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A line of a file, from 1.
    Line {
        /// The file.
        file: PathBuf,
        /// The line.
        line: u32,
    },
    /// The beginning of a function.
    Function(String),
    /// An exception: `all`, `uncaught`, or a name the debugger has for some of them.
    Exception(String),
}

impl BreakpointRequest {
    /// Without conditions.
    pub fn new(at: Place) -> Self {
        BreakpointRequest { at, condition: None, hit_count: None, log_message: None }
    }

    /// At a line.
    pub fn line(file: impl Into<PathBuf>, line: u32) -> Self {
        BreakpointRequest::new(Place::Line { file: file.into(), line })
    }
}

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Breakpoint {
    /// `bp-1`; never used again.
    pub id: String,
    /// What was asked for.
    #[serde(flatten)]
    pub request: BreakpointRequest,
    /// Whether the program will pause there. Debuggers that load code later may say so later.
    pub bound: bool,
    /// The line it is really at, when that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What the debugger says about it, above all why it is not bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Purpose::is_pause")]
    pub purpose: Purpose,
    /// Why its condition could not be evaluated when the program came by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The debugger would ignore its condition, so it is not told.
    #[serde(skip)]
    kept_back: bool,
    /// How often it was hit, where the debugger does not count and we do.
    #[serde(skip)]
    counted: Option<u64>,
    #[serde(skip)]
    adapter_id: Option<i64>,
}

/// What a breakpoint is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The program pauses.
    #[default]
    Pause,
    /// The program pauses once: it is removed at the next stop, wherever that is.
    RunTo,
    /// The program is captured and goes on: hits of the snapshot point of this name.
    Snapshots(String),
}

impl Purpose {
    fn is_pause(&self) -> bool {
        *self == Purpose::Pause
    }

    /// The snapshot point whose hits it makes.
    pub fn point(&self) -> Option<&str> {
        match self {
            Purpose::Snapshots(name) => Some(name),
            Purpose::Pause | Purpose::RunTo => None,
        }
    }
}

/// Where a program is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Here<'a> {
    pub file: Option<&'a str>,
    pub line: Option<u32>,
    pub function: Option<&'a str>,
}

/// All breakpoints of a session.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    list: Vec<Breakpoint>,
    taken: u64,
}

impl Breakpoints {
    pub(crate) fn list(&self) -> &[Breakpoint] {
        &self.list
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Breakpoint> {
        self.list.iter().find(|breakpoint| breakpoint.id == id)
    }

    fn told(&self) -> impl Iterator<Item = &Breakpoint> {
        self.list.iter().filter(|breakpoint| !breakpoint.kept_back)
    }

    /// Keeps back those whose conditions the debugger would ignore: pausing every time is not what was asked for.
    pub(crate) fn keep_back(&mut self, debugger: &str, can: &types::Capabilities, counts: bool) {
        for breakpoint in &mut self.list {
            let request = &breakpoint.request;
            let lacks = [
                (request.condition.is_some() && !can.supports_conditional_breakpoints, "conditions"),
                (request.log_message.is_some() && !can.supports_log_points, "log messages"),
            ];
            if request.hit_count.is_some() && !counts {
                breakpoint.counted.get_or_insert(0);
            }
            if let Some((_, what)) = lacks.iter().find(|(lacks, _)| *lacks) {
                breakpoint.kept_back = true;
                breakpoint.refuse(&format!("`{debugger}` has no {what}: it was not set"));
            }
        }
    }

    /// Those that have a condition and are told to the debugger.
    pub(crate) fn unchecked_conditions(&self) -> Vec<(String, String)> {
        self.told().filter_map(|one| Some((one.id.clone(), one.request.condition.clone()?))).collect()
    }

    /// Keeps one back, and says why.
    pub(crate) fn keep_one_back(&mut self, id: &str, message: &str) {
        if let Some(breakpoint) = self.list.iter_mut().find(|breakpoint| breakpoint.id == id) {
            breakpoint.kept_back = true;
            breakpoint.refuse(message);
        }
    }

    /// Whether there are some whose hits the debugger does not count.
    pub(crate) fn counts_here(&self) -> bool {
        self.list.iter().any(|breakpoint| breakpoint.counted.is_some())
    }

    /// Counts a hit, and tells whether the program shall go on since it is not yet the one that was asked for.
    pub(crate) fn passes(&mut self, ids: &[String]) -> bool {
        let [id] = ids else { return false };
        let Some(breakpoint) = self.list.iter_mut().find(|breakpoint| breakpoint.id == *id) else { return false };
        let Some(counted) = &mut breakpoint.counted else { return false };
        *counted += 1;
        !is_reached(breakpoint.request.hit_count.as_deref(), *counted)
    }

    /// The snapshot point that one of these makes.
    pub(crate) fn point_of(&self, ids: &[String]) -> Option<String> {
        ids.iter().filter_map(|id| self.get(id)).find_map(|breakpoint| match &breakpoint.purpose {
            Purpose::Snapshots(name) => Some(name.clone()),
            Purpose::Pause | Purpose::RunTo => None,
        })
    }

    /// The condition of the first of these that has one.
    pub(crate) fn condition_of(&self, ids: &[String]) -> Option<String> {
        ids.iter().filter_map(|id| self.get(id)).find_map(|breakpoint| breakpoint.request.condition.clone())
    }

    /// Keeps why the condition of one of these could not be evaluated, or that it could.
    pub(crate) fn note_problem(&mut self, ids: &[String], problem: Option<&str>) {
        let conditional = |breakpoint: &&mut Breakpoint| breakpoint.request.condition.is_some();
        let hit = self.list.iter_mut().filter(|breakpoint| ids.contains(&breakpoint.id));
        hit.filter(conditional).for_each(|breakpoint| breakpoint.problem = problem.map(str::to_owned));
    }

    /// Those at a line.
    pub(crate) fn at_line(&self, file: &str, line: u32) -> Vec<String> {
        self.ids(&|breakpoint| match &breakpoint.request.at {
            Place::Line { file: wanted, line: asked } => {
                breakpoint.bound && Path::new(file) == wanted && breakpoint.line.unwrap_or(*asked) == line
            }
            Place::Function(_) | Place::Exception(_) => false,
        })
    }

    /// What stands at a place.
    pub(crate) fn at(&self, place: &Place) -> Option<&Breakpoint> {
        self.list.iter().find(|breakpoint| breakpoint.request.at == *place)
    }

    /// Adds one, of which the debugger does not know yet. Debuggers know one for each place, so a second one there has the
    /// first one's id and its own conditions, unless they are for different things.
    pub(crate) fn add(&mut self, request: BreakpointRequest, purpose: Purpose) -> Result<String> {
        let there = self.list.iter_mut().find(|breakpoint| breakpoint.request.at == request.at);
        if let Some(breakpoint) = there {
            if breakpoint.purpose != purpose {
                return Err(breakpoint.taken());
            }
            (breakpoint.request, breakpoint.kept_back, breakpoint.counted) = (request, false, None);
            breakpoint.problem = None;
            return Ok(breakpoint.id.clone());
        }
        self.taken += 1;
        let id = format!("bp-{}", self.taken);
        self.list.push(Breakpoint {
            id: id.clone(),
            request,
            bound: false,
            line: None,
            message: Some("not told to the debugger yet".to_owned()),
            purpose,
            problem: None,
            kept_back: false,
            counted: None,
            adapter_id: None,
        });
        Ok(id)
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<Breakpoint> {
        let at = self.list.iter().position(|breakpoint| breakpoint.id == id)?;
        Some(self.list.remove(at))
    }

    /// Those that end with the next stop.
    pub(crate) fn temporary(&self) -> Vec<String> {
        let temporary = self.list.iter().filter(|breakpoint| breakpoint.purpose == Purpose::RunTo);
        temporary.map(|breakpoint| breakpoint.id.clone()).collect()
    }

    /// Every file that has some.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        self.list.iter().filter_map(|breakpoint| file_of(&breakpoint.request)).map(Path::to_owned).collect()
    }

    /// The breakpoints of a file as the debugger wants them, all at once.
    pub(crate) fn in_file(&self, file: &Path) -> Vec<Value> {
        let there = self.told().filter(|breakpoint| file_of(&breakpoint.request) == Some(file));
        there.map(Breakpoint::arguments).collect()
    }

    pub(crate) fn in_functions(&self) -> Vec<Value> {
        let functions = self.told().filter(|breakpoint| matches!(breakpoint.request.at, Place::Function(_)));
        functions.map(Breakpoint::arguments).collect()
    }

    pub(crate) fn exceptions(&self) -> Vec<(String, String)> {
        let named = |breakpoint: &Breakpoint| match &breakpoint.request.at {
            Place::Exception(name) => Some((breakpoint.id.clone(), name.clone())),
            _ => None,
        };
        self.list.iter().filter_map(named).collect()
    }

    /// What the debugger answered for those that `which` names, in their order; missing answers say nothing.
    pub(crate) fn answered(&mut self, which: impl Fn(&Place) -> bool, answers: Vec<types::Breakpoint>) {
        let mut answers = answers.into_iter();
        let told = self.list.iter_mut().filter(|breakpoint| !breakpoint.kept_back);
        for breakpoint in told.filter(|breakpoint| which(&breakpoint.request.at)) {
            match answers.next() {
                Some(answer) => breakpoint.learn(answer),
                None => breakpoint.refuse("the debugger said nothing about it"),
            }
        }
    }

    /// The debugger changed its mind about one.
    pub(crate) fn heard(&mut self, answer: types::Breakpoint) {
        let Some(id) = answer.id else { return };
        if let Some(breakpoint) = self.list.iter_mut().find(|breakpoint| breakpoint.adapter_id == Some(id)) {
            breakpoint.learn(answer);
        }
    }

    pub(crate) fn refuse(&mut self, id: &str, message: &str) {
        if let Some(breakpoint) = self.list.iter_mut().find(|breakpoint| breakpoint.id == id) {
            breakpoint.refuse(message);
        }
    }

    /// Says something about every function that is bound.
    pub(crate) fn remark_functions(&mut self, message: &str) {
        let is_function = |breakpoint: &&mut Breakpoint| matches!(breakpoint.request.at, Place::Function(_));
        for breakpoint in self.list.iter_mut().filter(is_function).filter(|breakpoint| breakpoint.bound) {
            breakpoint.message = Some(message.to_owned());
        }
    }

    pub(crate) fn bind(&mut self, id: &str) {
        if let Some(breakpoint) = self.list.iter_mut().find(|breakpoint| breakpoint.id == id) {
            (breakpoint.bound, breakpoint.message) = (true, None);
        }
    }

    /// Which were hit, by the debugger's numbers or by where the program is.
    pub(crate) fn hit(&self, stop: &Stop, here: Here<'_>) -> Vec<String> {
        let reason = stop.reason.as_str();
        // Memory that is watched is at no place.
        if reason == "data breakpoint" {
            return Vec::new();
        }
        if !reason.contains("breakpoint") && reason != "exception" && stop.hits.is_empty() {
            return Vec::new();
        }
        let known = stop.known_hits.iter().filter(|id| self.get(id).is_some()).cloned().collect::<Vec<_>>();
        if !known.is_empty() {
            return known;
        }
        let is_there = |breakpoint: &Breakpoint| match &breakpoint.request.at {
            Place::Line { file: wanted, line: asked } => {
                let line = here.line == breakpoint.line.or(Some(*asked));
                reason != "exception" && line && here.file.is_some_and(|file| Path::new(file) == wanted)
            }
            // Debuggers write names with what they are part of: `main.total`, `Shop.total`, `total(int)`.
            Place::Function(name) => {
                let own = here.function.map(|function| function.split('(').next().unwrap_or(function));
                reason == "function breakpoint" && own.is_some_and(|function| function.ends_with(name))
            }
            Place::Exception(_) => reason == "exception" && breakpoint.bound,
        };
        match self.numbered(&stop.hits) {
            hit if hit.is_empty() => self.ids(&is_there),
            hit => hit,
        }
    }

    /// Those to which the debugger has given these numbers.
    pub(crate) fn numbered(&self, numbers: &[i64]) -> Vec<String> {
        self.ids(&|breakpoint| breakpoint.adapter_id.is_some_and(|id| numbers.contains(&id)))
    }

    /// Those at which the program pauses, and that are so.
    fn ids(&self, is: &dyn Fn(&Breakpoint) -> bool) -> Vec<String> {
        let all = self.list.iter().filter(|breakpoint| breakpoint.request.log_message.is_none());
        all.filter(|breakpoint| is(breakpoint)).map(|breakpoint| breakpoint.id.clone()).collect()
    }
}

impl Breakpoint {
    /// Whether the program pauses there each time.
    pub(crate) fn pauses_always(&self) -> bool {
        let BreakpointRequest { at: _, condition, hit_count, log_message } = &self.request;
        self.bound && self.purpose.is_pause() && [condition, hit_count, log_message].iter().all(|it| it.is_none())
    }

    /// As the debugger wants it.
    fn arguments(&self) -> Value {
        let mut arguments = match &self.request.at {
            Place::Line { line, .. } => json!({ "line": line }),
            Place::Function(name) | Place::Exception(name) => json!({ "name": name }),
        };
        let more = [
            ("condition", &self.request.condition),
            ("hitCondition", if self.counted.is_none() { &self.request.hit_count } else { &None }),
            ("logMessage", &self.request.log_message),
        ];
        for (name, value) in more {
            if let Some(value) = value {
                arguments[name] = json!(value);
            }
        }
        arguments
    }

    fn taken(&self) -> Error {
        let id = &self.id;
        let message = match &self.purpose {
            Purpose::Pause => format!("breakpoint `{id}` is at that place"),
            Purpose::RunTo => format!("the program runs to that place (`{id}`)"),
            Purpose::Snapshots(name) => format!("the snapshot point `{name}` (`{id}`) is at that place"),
        };
        Error::new(Code::Conflict, message)
            .then("remove it first", NextStep::RemoveBreakpoint { id: id.clone() })
            .or_hint("choose another line")
    }

    fn learn(&mut self, answer: types::Breakpoint) {
        self.adapter_id = answer.id.or(self.adapter_id);
        self.bound = answer.verified;
        let asked = match &self.request.at {
            Place::Line { line, .. } => Some(*line),
            _ => None,
        };
        self.line = answer.line.filter(|line| Some(*line) != asked);
        let silent = (!answer.verified).then(|| "the debugger has no code there (yet)".to_owned());
        self.message = answer.message.filter(|message| !message.trim().is_empty()).or(silent);
    }

    fn refuse(&mut self, message: &str) {
        self.bound = false;
        self.message = Some(message.to_owned());
    }
}

fn file_of(request: &BreakpointRequest) -> Option<&Path> {
    match &request.at {
        Place::Line { file, .. } => Some(file),
        _ => None,
    }
}

/// Whether a hit counts: `5`, `== 5`, `>= 5`, `> 5`, `< 5`, `<= 5`, `% 5`.
pub(crate) fn is_reached(condition: Option<&str>, hits: u64) -> bool {
    let Some((operator, number)) = condition.and_then(count_of) else { return true };
    match operator {
        ">=" => hits >= number,
        ">" => hits > number,
        "<" => hits < number,
        "<=" => hits <= number,
        "%" => number > 0 && hits.is_multiple_of(number),
        _ => hits == number,
    }
}

/// Whether a text says which hits count.
pub(crate) fn counts_hits(condition: &str) -> bool {
    count_of(condition).is_some()
}

fn count_of(condition: &str) -> Option<(&str, u64)> {
    let digits = condition.trim().trim_start_matches(['=', '>', '<', '%', ' ']);
    let operator = condition.trim().strip_suffix(digits)?.trim();
    let known = ["", "=", "==", ">=", ">", "<", "<=", "%"].contains(&operator);
    digits.parse().ok().filter(|_| known).map(|number| (operator, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: i64, verified: bool, line: u32) -> types::Breakpoint {
        types::Breakpoint { id: Some(id), verified, line: Some(line), message: None }
    }

    #[test]
    fn answers_are_matched_with_what_was_asked_in_a_file() {
        let mut breakpoints = Breakpoints::default();
        for (file, line) in [("a.py", 3), ("b.py", 5), ("a.py", 9)] {
            breakpoints.add(BreakpointRequest::line(file, line), Purpose::Pause).unwrap();
        }
        assert_eq!(breakpoints.in_file(Path::new("a.py")), [json!({ "line": 3 }), json!({ "line": 9 })]);
        let in_a = |place: &Place| matches!(place, Place::Line { file, .. } if file == Path::new("a.py"));
        breakpoints.answered(in_a, vec![answer(7, true, 4), answer(8, false, 9)]);
        let [first, other, last] = breakpoints.list() else { panic!("three") };
        assert_eq!((first.bound, first.line, first.message.as_deref()), (true, Some(4), None));
        assert_eq!((last.bound, last.line), (false, None));
        assert!(last.message.as_deref().unwrap().contains("no code there"));
        assert!(!other.bound);
        let stop = |hits| Stop { reason: "breakpoint".to_owned(), hits, ..Stop::default() };
        let here = |line| Here { file: Some("a.py"), line: Some(line), function: None };
        assert_eq!(breakpoints.hit(&stop(vec![7]), Here::default()), ["bp-1"]);
        let known = Stop { known_hits: vec!["bp-2".to_owned()], ..stop(vec![7]) };
        assert_eq!(breakpoints.hit(&known, Here::default()), ["bp-2"], "whatever has the number since");
        assert_eq!(breakpoints.hit(&stop(vec![]), here(4)), ["bp-1"]);
        assert_eq!(breakpoints.hit(&stop(vec![]), here(3)), [""; 0]);
        assert_eq!(breakpoints.hit(&Stop { reason: "step".to_owned(), ..Stop::default() }, here(4)), [""; 0]);
        breakpoints.heard(answer(8, true, 9));
        assert!(breakpoints.get("bp-3").unwrap().bound);
    }

    #[test]
    fn a_place_has_one_breakpoint_and_ids_are_not_used_again() {
        let mut breakpoints = Breakpoints::default();
        let request = BreakpointRequest::new(Place::Function("main".to_owned()));
        assert_eq!(breakpoints.add(request.clone(), Purpose::Pause).unwrap(), "bp-1");
        let conditional = BreakpointRequest { condition: Some("x".to_owned()), ..request.clone() };
        assert_eq!(breakpoints.add(conditional.clone(), Purpose::Pause).unwrap(), "bp-1");
        assert_eq!(breakpoints.get("bp-1").unwrap().request, conditional);
        let point = breakpoints.add(request.clone(), Purpose::Snapshots("loop".to_owned())).unwrap_err();
        assert_eq!(point.code(), Code::Conflict);
        breakpoints.remove("bp-1").unwrap();
        assert_eq!(breakpoints.add(request, Purpose::RunTo).unwrap(), "bp-2");
        assert_eq!(breakpoints.temporary(), ["bp-2"]);
        assert!(breakpoints.remove("bp-1").is_none());
    }

    #[test]
    fn functions_and_exceptions_are_recognised_without_numbers() {
        let mut breakpoints = Breakpoints::default();
        for at in [Place::Function("total".to_owned()), Place::Exception("all".to_owned())] {
            let id = breakpoints.add(BreakpointRequest::new(at), Purpose::Pause).unwrap();
            breakpoints.bind(&id);
        }
        let stop = |reason: &str| Stop { reason: reason.to_owned(), ..Stop::default() };
        let inside = Here { function: Some("Shop::total(int)"), ..Here::default() };
        assert_eq!(breakpoints.hit(&stop("function breakpoint"), inside), ["bp-1"]);
        assert_eq!(breakpoints.hit(&stop("exception"), inside), ["bp-2"]);
    }

    #[test]
    fn hits_are_counted_in_every_way_of_writing_it() {
        let table =
            [("5", 5, true), ("5", 6, false), (">= 5", 6, true), (">5", 5, false), ("% 3", 9, true), ("%0", 9, false)];
        for (condition, hits, expected) in table {
            assert_eq!(is_reached(Some(condition), hits), expected, "{condition} {hits}");
        }
        assert!(is_reached(None, 1) && is_reached(Some(" "), 1) && is_reached(Some("x"), 1));
        assert!(counts_hits(" >= 5") && !["banana", "", "5x", "=> 5", "-1"].iter().any(|wrong| counts_hits(wrong)));
    }

    #[test]
    fn hits_a_debugger_does_not_count_are_counted_here() {
        let mut breakpoints = Breakpoints::default();
        let request = BreakpointRequest { hit_count: Some("3".to_owned()), ..BreakpointRequest::line("a.go", 3) };
        let id = breakpoints.add(request, Purpose::Pause).unwrap();
        breakpoints.keep_back("delve", &types::Capabilities::default(), false);
        assert!(breakpoints.counts_here());
        assert_eq!(
            breakpoints.in_file(Path::new("a.go")),
            [json!({ "line": 3 })],
            "the debugger is not told of the count"
        );
        let passes: Vec<bool> = (0..4).map(|_| breakpoints.passes(std::slice::from_ref(&id))).collect();
        assert_eq!(passes, [true, true, false, true]);
        assert!(!breakpoints.passes(&[id, "bp-9".to_owned()]), "somebody else's breakpoint is there too");
    }
}
