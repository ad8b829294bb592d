//! Finds the step since which a command fails.

use std::time::Duration;

use backsight::report::{BisectRun, Bisected, FoundStep};
use backsight::request::Bisect;
use backsight_core::{Code, Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Definition, Effect, Needs, one_or_many, paths};
use crate::ask::bisect_page;
use crate::reply::Draft;

pub struct BisectSteps;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// recorded program and arguments; exit 0 good, 125 skip, else bad
    #[serde(default, deserialize_with = "one_or_many")]
    command: Vec<String>,
    /// judge by this path in a headless browser instead; command, if any, serves it on {port}
    page: Option<String>,
    /// with page: entry that must not show, such as c12
    absent: Option<String>,
    /// default: the oldest step
    good: Option<String>,
    /// default: the latest
    bad: Option<String>,
    /// unrecorded directories it needs, such as node_modules
    #[serde(default, deserialize_with = "one_or_many")]
    share: Vec<String>,
    #[schemars(skip)]
    #[serde(default, deserialize_with = "one_or_many")]
    copy: Vec<String>,
    #[schemars(skip)]
    jobs: Option<u8>,
    #[schemars(skip)]
    timeout_ms: Option<u64>,
    #[schemars(skip)]
    wait_ms: Option<u64>,
    #[schemars(skip)]
    session: Option<String>,
}

impl Definition for BisectSteps {
    const NAME: &'static str = "bisect";
    const TITLE: &'static str = "Which step broke it";
    const DESCRIPTION: &'static str = "Bisect: find which edit, step or change broke a test, build, script or page. Runs \
        a command of the workspace, or opens a page, on copies of recorded steps, never on the workspace's files.";
    const EFFECT: Effect = Effect::Runs;
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
    ];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let Arguments { command, page, absent, good, bad, share, copy, jobs, timeout_ms, wait_ms, session } = arguments;
        let request = Bisect {
            good,
            bad,
            command,
            page: bisect_page(page, absent, wait_ms)?,
            directory: None,
            share: paths(&share)?,
            copy: paths(&copy)?,
            jobs: jobs.map_or(1, usize::from),
            timeout: timeout_ms.map(Duration::from_millis),
            origin: call.plain_origin(session),
        };
        let found = call.workspace.agent_bisect(&request).map_err(advised)?;
        let found = call.workspace.shortened(found)?;
        Ok(drafted(&found))
    }
}

/// What to do about a search that cannot begin, in terms of this tool.
fn advised(error: Error) -> Error {
    match error.code() {
        Code::InvalidRange => error
            .with_hint(
                "the check must pass at good and fail at bad: name other steps, or share the directories it needs",
            )
            .with_next("history_query", json!({})),
        _ => error,
    }
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
