//! What changed in all lanes and because of what, and which step broke it.

use backsight::browser::Filter;
use backsight::report::{AllChanges, Bisected};
use backsight::request::{Behalf, PageJudge, SearchSteps};
use backsight::{Topic, Workspace};
use backsight_core::{Code, Operation, Result};
use http::Method;
use schemars::JsonSchema;
use serde::Deserialize;

use super::browser::{CHECKPOINT, client, usage};
use super::{ID, LOOK, PATH, REFERENCE, WRITE};
use crate::ask::Question;
use crate::http::endpoint::Endpoint;
use crate::http::route::Route;
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
        Endpoint::of::<SearchSteps>(),
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

impl Route for SearchSteps {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/api/bisect";
    const ID: &'static str = "bisect";
    const SUMMARY: &'static str = "Find the step since which a command fails, or a page shows an error";
    const FAILS: &'static [&'static [Code]] = &[REFERENCE, SEARCH, PATH, WRITE];
    const QUOTES: bool = true;
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
    who: Behalf,
}

/// What a person may start from the dashboard: a browser opens the page, and nothing else is run.
fn by_page(workspace: &Workspace, input: PageInput) -> Result<Bisected> {
    let PageInput { page, absent, good, bad, who } = input;
    let judge = PageJudge { page: Some(page), absent: Some(absent), wait_ms: None };
    let search = SearchSteps { good, bad, judge, who, ..SearchSteps::default() };
    search.check()?;
    workspace.agent_bisect(&search.bisect()?)
}
