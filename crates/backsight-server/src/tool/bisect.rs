//! Finds the step since which a command fails.

use backsight::report::{BisectRun, Bisected, FoundStep};
use backsight::request::SearchSteps;
use backsight_core::{Error, Result};
use serde_json::json;

use super::{Asking, Call, Group, Needs, Shown};
use crate::reply::Draft;
use crate::words::command_line;

/// The longest command line that is told whole, in characters.
const COMMAND_ROOM: usize = 400;

pub struct BisectSteps;

impl Asking for BisectSteps {
    const NAME: &'static str = "bisect";
    const TITLE: &'static str = "Which step broke it";
    const DESCRIPTION: &'static str = "Bisect: find which edit, step or change broke a test, build, script or page. Runs \
        a command of the workspace, or opens a page, on copies of recorded steps, never on the workspace's files.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const SHOWN: &'static [Shown] = &[
        Shown::new("command").saying("recorded program and arguments; exit 0 good, 125 skip, else bad").text(),
        Shown::new("page")
            .saying("judge by this path in a headless browser instead; command, if any, serves it on {port}"),
        Shown::new("absent").saying("with page: entry that must not show, such as c12"),
        Shown::new("good").saying("default: the oldest step"),
        Shown::new("bad").saying("default: the latest"),
        Shown::new("share").saying("unrecorded directories it needs, such as node_modules").text(),
    ];
    /// It is callable at any time; what broke in the app is what leads to it.
    const NEEDS: Needs = Needs::App;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("step", "string"),
        ("by", "string"),
        ("good", "string"),
        ("bad", "string"),
        ("among", "array"),
        ("files", "array"),
        ("runs", "array"),
        ("output", "string"),
        ("notes", "array"),
        ("command", "string"),
    ];
    type Request = SearchSteps;

    fn run(call: &Call<'_>, mut request: SearchSteps) -> Result<Draft> {
        request.who = call.on_behalf(request.who);
        let bisect = request.bisect()?;
        let found = call.workspace.agent_bisect(&bisect).map_err(|error| told_with(error, &bisect.command))?;
        let found = call.workspace.shortened(found)?;
        let command = (!bisect.command.is_empty()).then(|| command_line(&bisect.command, COMMAND_ROOM));
        Ok(drafted(&found).maybe("command", command))
    }
}

/// A search that failed may have run its command before it did.
fn told_with(error: Error, command: &[String]) -> Error {
    let mut details = error.details().clone();
    match details.as_object_mut() {
        _ if command.is_empty() => return error,
        Some(details) => drop(details.insert("command".to_owned(), command.into())),
        None => details = json!({ "command": command }),
    }
    error.with_details(details)
}

fn drafted(answer: &Bisected) -> Draft {
    let found = answer.found.as_deref();
    let run = |run: &BisectRun| format!("{} {:?} ({})", run.step, run.verdict, run.because).to_lowercase();
    let step = found.map(|found| found.snapshot.sequence_number.to_string());
    let draft = Draft::new(answer.summary.clone())
        .maybe("step", step.clone())
        .maybe("by", found.and_then(by))
        .fact("good", answer.good.to_string())
        .fact("bad", answer.bad.to_string())
        .maybe("output", last_lines(&answer.output))
        .list("among", answer.among.iter().map(ToString::to_string).collect(), None)
        .list("files", found.iter().flat_map(|found| &found.files).map(ToString::to_string).collect(), None)
        .list("notes", notes(answer), None)
        .list("runs", answer.runs.iter().map(run).collect(), None);
    match step {
        Some(step) => draft.more("files_revert", json!({ "refs": [step] })).untrusted(),
        None => draft.untrusted(),
    }
}

/// `Edit, session ada: fix the cart`.
fn by(found: &FoundStep) -> Option<String> {
    let origin = &found.snapshot.origin;
    let session = origin.session.as_deref().map(|session| format!("session {session}"));
    let who: Vec<String> = origin.tool.iter().cloned().chain(session).collect();
    let title = found.title.as_deref().map(|title| format!(": {title}")).unwrap_or_default();
    (!who.is_empty()).then(|| format!("{}{title}", who.join(", ")))
}

fn notes(answer: &Bisected) -> Vec<String> {
    let left_out = (answer.left_out > 0).then(|| format!("{} steps in between expired", answer.left_out));
    let changed = answer.shared_changed.iter().map(|path| format!("the command wrote to the shared file {path}"));
    left_out.into_iter().chain(changed).collect()
}

/// The end of what the command said.
fn last_lines(output: &str) -> Option<String> {
    let last: Vec<&str> = output.lines().rev().take(4).collect();
    let text: Vec<&str> = last.into_iter().rev().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    (!text.is_empty()).then(|| text.join(" | "))
}
