//! What changed in all lanes and because of what, and which step broke it.

use std::time::Duration;

use backsight::browser::Filter;
use backsight::report::{AllChanges, Bisected};
use backsight::request::Bisect;
use backsight::{Topic, Workspace};
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::browser::{CHECKPOINT, client, usage};
use super::{ID, LOOK, PATH, PathText, REFERENCE, WRITE, Who};
use crate::ask::{Question, bisect_page};
use crate::http::endpoint::Endpoint;
use crate::reply::FEWEST_TOKENS;

/// How a search can fail: the ends are not what they are called, the command cannot be run or was ended.
const SEARCH: &[Code] =
    &[Code::InvalidRange, Code::ProgramNotFound, Code::PathNotFound, Code::Cancelled, Code::BrowserUnreachable];

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get(
            "/api/changes",
            "changes",
            "What changed since a checkpoint, or since this client last asked, in all lanes, and because of what",
            changes,
        )
        .fails(&[CHECKPOINT, &[Code::Cancelled], LOOK, WRITE])
        .quotes(),
        Endpoint::post(
            "/api/bisect",
            "bisect",
            "Find the step since which a command fails, or a page shows an error",
            bisect,
        )
        .fails(&[REFERENCE, SEARCH, PATH, WRITE])
        .quotes(),
        Endpoint::post(
            "/api/bisect/page",
            "bisectPage",
            "Find the step since which a page shows an error, on recorded files served as they are: no command is run",
            by_page,
        )
        .fails(&[REFERENCE, SEARCH, PATH, WRITE])
        .quotes(),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct ChangesInput {
    /// Who asks; each client has a place of its own. `default` when left out.
    #[schemars(length(max = 100), regex(pattern = ID))]
    client: Option<String>,
    /// Since when: a checkpoint's name, a time, `start`, `load` or `last`; since the client's last question when left out.
    #[schemars(example = &"session_start")]
    checkpoint: Option<String>,
    /// Which lanes and categories; all when left out.
    #[serde(default)]
    include: Vec<Topic>,
    /// What to leave out by how bad it is.
    #[serde(default)]
    severity: Filter,
    /// Leave the client's place where it is.
    #[serde(default)]
    peek: bool,
    /// As for `browserChanges`.
    #[schemars(range(max = 60_000))]
    wait_ms: Option<u64>,
    /// As for `browserChanges`.
    #[schemars(range(max = 60_000))]
    quiet_ms: Option<u64>,
    /// How large the answer may be; as large as it is when left out.
    #[schemars(range(min = 200))]
    max_tokens: Option<usize>,
}

fn changes(workspace: &Workspace, input: ChangesInput) -> Result<AllChanges> {
    let ChangesInput { client: asking, checkpoint, include, severity, peek, wait_ms, quiet_ms, max_tokens } = input;
    if max_tokens.is_some_and(|tokens| tokens < FEWEST_TOKENS) {
        return Err(usage(&format!("`max_tokens` is a number from {FEWEST_TOKENS}")));
    }
    let question = Question { checkpoint, include: Vec::new(), severity, peek, wait_ms, quiet_ms, max_tokens };
    workspace.changes(&client(asking)?, &include, &question.checked()?)
}

#[derive(Deserialize, JsonSchema)]
struct BisectInput {
    /// A step at which it worked, as a reference; the oldest one that is kept when left out.
    good: Option<String>,
    /// A step at which it fails; the latest one when left out.
    bad: Option<String>,
    /// The program and its arguments: status 0 is good, 125 cannot be told, anything else is bad. With `page` it serves that
    /// instead, on the port that it is given as `PORT` and in place of `{port}`.
    #[serde(default)]
    #[schemars(example = ["false"])]
    command: Vec<String>,
    /// The path of a page that tells instead, opened in a headless browser; without a command the files are served as they are.
    page: Option<String>,
    /// With `page`: the entry that makes a step bad when it shows, by its id or its symptom.
    absent: Option<String>,
    /// With `page`: how long it is watched at most; 5000 when left out.
    #[schemars(range(max = 60_000))]
    wait_ms: Option<u64>,
    /// The directory below the root that it runs in.
    directory: Option<PathText>,
    /// Directories no snapshot holds that the command needs, as reflinks or hard links.
    #[serde(default)]
    share: Vec<PathText>,
    /// The same as copies.
    #[serde(default)]
    copy: Vec<PathText>,
    /// How many runs at a time; 1 when left out.
    #[schemars(range(min = 1, max = 64))]
    jobs: Option<u8>,
    /// A run that takes longer is bad. With `page`: how long the server may take until it listens.
    #[schemars(range(min = 1, max = 86_400_000))]
    timeout_ms: Option<u64>,
    #[serde(flatten)]
    who: Who,
}

#[derive(Deserialize, JsonSchema)]
struct PageInput {
    /// The path of the page, opened in a headless browser.
    #[schemars(example = &"/index.html")]
    page: String,
    /// The entry that makes a step bad when it shows, by its id or its symptom.
    #[schemars(example = &"c1")]
    absent: String,
    /// A step at which it did not show, as a reference; the oldest one that is kept when left out.
    good: Option<String>,
    /// A step at which it shows; the latest one when left out.
    bad: Option<String>,
    #[serde(flatten)]
    who: Who,
}

/// What a person may start from the dashboard: a browser opens the page, and nothing else is run.
fn by_page(workspace: &Workspace, input: PageInput) -> Result<Bisected> {
    let PageInput { page, absent, good, bad, who } = input;
    let page = bisect_page(Some(page), Some(absent), None)?;
    workspace.agent_bisect(&Bisect { good, bad, page, jobs: 1, origin: who.origin(&[])?, ..Bisect::default() })
}

fn bisect(workspace: &Workspace, input: BisectInput) -> Result<Bisected> {
    let BisectInput { good, bad, command, page, absent, wait_ms, directory, share, copy, jobs, timeout_ms, who } =
        input;
    workspace.bisect(&Bisect {
        good,
        bad,
        command,
        page: bisect_page(page, absent, wait_ms)?,
        directory: directory.map(|path| path.inside()).transpose()?,
        share: PathText::all(&share)?,
        copy: PathText::all(&copy)?,
        jobs: jobs.map_or(1, usize::from),
        timeout: timeout_ms.map(Duration::from_millis),
        origin: who.origin(&[])?,
    })
}
