//! The app in the browser: what happened in it since a checkpoint, whether it is well, and what is kept of it under names.

use std::path::PathBuf;

use backsight::Workspace;
use backsight::browser::baseline::{BaselineEntry, Comparison};
use backsight::browser::entry::{Entry, LogAsk, LogPage, MOST_ROWS};
use backsight::browser::event::{Category, Level};
use backsight::browser::har::Har;
use backsight::browser::noise::{NewRule, Rule};
use backsight::browser::report::Changes;
use backsight::browser::{Filter, Health};
use backsight::names::{LONGEST_NAME, is_name};
use backsight::report::{BaselineList, BrowserStatus, CheckpointList, CheckpointMade, Deleted, RuleList, RulesAdded};
use backsight::request::AttachBrowser;
use backsight_core::{Code, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ID, Nothing, WRITE};
use crate::ask::{Question, rules as rules_of};
use crate::http::endpoint::Endpoint;
use crate::place;
use crate::reply::FEWEST_TOKENS;

/// A name that no checkpoint has, or whose baseline is gone.
pub(super) const CHECKPOINT: &[Code] = &[Code::CheckpointNotFound, Code::BaselineNotFound];
/// Something is kept in the store, which is made if need be.
const KEPT: &[Code] = &[Code::WorkspaceRefused, Code::DiskFull];

pub fn operations() -> Vec<Endpoint> {
    let mut operations = vec![
        Endpoint::post(
            "/api/browser/changes",
            "browserChanges",
            "What happened in the app since a checkpoint; without one, since this client last asked",
            changes,
        )
        .fails(&[CHECKPOINT, &[Code::Cancelled]])
        .quotes(),
        Endpoint::get("/api/browser/log", "browserLog", "What happened in the app, one by one, newest first", log)
            .fails(&[CHECKPOINT])
            .quotes(),
        Endpoint::get(
            "/api/browser/entries/{id}",
            "browserEntry",
            "One thing that happened in the app, in full",
            entry,
        )
        .fails(&[&[Code::RefNotFound, Code::RefExpired]])
        .quotes(),
        Endpoint::get(
            "/api/browser/har",
            "browserHar",
            "The requests that are kept, as an HTTP Archive (HAR 1.2)",
            har,
        )
        .quotes(),
        Endpoint::get("/api/browser/health", "browserHealth", "Whether the app is well, with reasons", health)
            .fails(&[CHECKPOINT])
            .quotes(),
        Endpoint::get("/api/browser/status", "browserStatus", "Who watches the app", status).quotes(),
        Endpoint::post("/api/browser/attach", "browserAttach", "Watch a browser: one that runs, or a new one", attach)
            .fails(&[&[Code::BrowserUnreachable, Code::ProgramNotFound, Code::Conflict, Code::Cancelled]])
            .quotes(),
        Endpoint::post("/api/browser/detach", "browserDetach", "Stop watching the browser", detach)
            .fails(&[&[Code::Cancelled]]),
        Endpoint::post(
            "/api/browser/snippet/renew",
            "snippetRenew",
            "Make a new key for pages that report by themselves; the old one opens nothing any more",
            renew,
        )
        .fails(&[KEPT]),
    ];
    operations.extend(checkpoints());
    operations.extend(rules());
    operations.extend(baselines());
    operations
}

fn checkpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/api/browser/checkpoints", "checkpointList", "The named checkpoints, oldest first", list),
        Endpoint::post(
            "/api/browser/checkpoints",
            "checkpointCreate",
            "Give this moment of the app a name; one of the same name is replaced",
            create,
        )
        .fails(&[&[Code::InvalidName, Code::BaselineNotFound], KEPT]),
        Endpoint::post("/api/browser/checkpoints/delete", "checkpointDelete", "Forget a named checkpoint", delete)
            .fails(&[&[Code::CheckpointNotFound], WRITE]),
    ]
}

fn rules() -> Vec<Endpoint> {
    const RULE: &[Code] = &[Code::RuleNotFound, Code::InvalidRule];
    vec![
        Endpoint::get("/api/browser/noise", "noiseList", "The noise rules, and how much each kept out", noise),
        Endpoint::post("/api/browser/noise", "noiseAdd", "Add noise rules; all or none", add_rules)
            .fails(&[&[Code::InvalidRule], KEPT]),
        Endpoint::post("/api/browser/noise/remove", "noiseRemove", "Remove a noise rule", remove_rule)
            .fails(&[RULE, KEPT]),
        Endpoint::post("/api/browser/noise/enable", "noiseEnable", "Switch a noise rule on", enable_rule)
            .fails(&[RULE, KEPT]),
        Endpoint::post("/api/browser/noise/disable", "noiseDisable", "Switch a noise rule off", disable_rule)
            .fails(&[RULE, KEPT]),
    ]
}

fn baselines() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/api/browser/baselines", "baselineList", "The baselines", list_baselines),
        Endpoint::post(
            "/api/browser/baselines",
            "baselineSave",
            "Save how the app behaves now; a baseline of the same name is replaced",
            save,
        )
        .fails(&[&[Code::InvalidName, Code::Conflict, Code::NotCovered], KEPT]),
        Endpoint::get(
            "/api/browser/baselines/{name}/compare",
            "baselineCompare",
            "How the app differs from a baseline",
            compare,
        )
        .fails(&[&[Code::BaselineNotFound]])
        .quotes(),
        Endpoint::post("/api/browser/baselines/delete", "baselineDelete", "Forget a baseline", delete_baseline)
            .fails(&[&[Code::BaselineNotFound], WRITE]),
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
    /// Which categories; all when left out.
    #[serde(default)]
    include: Vec<Category>,
    /// What to leave out by how bad it is.
    #[serde(default)]
    severity: Filter,
    /// Leave the client's place where it is.
    #[serde(default)]
    peek: bool,
    /// Wait so long at most: until the first error, or until something happened (a hot update, a load, a build, anything
    /// the app does not do all the time) and it is quiet. `waited` in the answer says which of them was seen.
    #[schemars(range(max = 60_000))]
    wait_ms: Option<u64>,
    /// How long nothing must happen for it to be quiet; 500 when left out.
    #[schemars(range(max = 60_000))]
    quiet_ms: Option<u64>,
    /// How large the answer may be; as large as it is when left out.
    #[schemars(range(min = 200))]
    max_tokens: Option<usize>,
}

fn changes(workspace: &Workspace, input: ChangesInput) -> Result<Changes> {
    let ChangesInput { client: asking, checkpoint, include, severity, peek, wait_ms, quiet_ms, max_tokens } = input;
    if max_tokens.is_some_and(|tokens| tokens < FEWEST_TOKENS) {
        return Err(usage(&format!("`max_tokens` is a number from {FEWEST_TOKENS}")));
    }
    let ask = Question { checkpoint, include, severity, peek, wait_ms, quiet_ms, max_tokens }.checked()?;
    workspace.browser_changes(&client(asking)?, &ask)
}

pub(super) fn client(client: Option<String>) -> Result<String> {
    let client = client.unwrap_or_else(|| "default".to_owned());
    match is_name(&client) {
        true => Ok(client),
        false => Err(usage(&format!("`client` is a name of at most {LONGEST_NAME} bytes without control characters"))),
    }
}

pub(super) fn usage(message: &str) -> Error {
    Error::new(Code::Usage, message)
}

#[derive(Deserialize, JsonSchema)]
struct LogInput {
    /// Who asks, when `since` is `last`.
    #[schemars(length(max = 100), regex(pattern = ID))]
    client: Option<String>,
    /// Only of this category.
    category: Option<Category>,
    /// Only console messages at least as serious.
    level: Option<Level>,
    /// Only with this text in a message, address, reason or target, in any case.
    text: Option<String>,
    /// Only requests with this status: `404`, `5xx` or `failed`.
    #[schemars(example = &"failed", regex(pattern = r"^([1-5][0-9][0-9]|[1-5]xx|failed)$"))]
    status: Option<String>,
    /// Since when: a checkpoint's name, a time, `start`, `load` or `last`.
    since: Option<String>,
    /// How many; 20 when left out.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// Where the last page ended.
    #[schemars(regex(pattern = r"^[0-9]{1,18}$"))]
    cursor: Option<String>,
}

fn log(workspace: &Workspace, input: LogInput) -> Result<LogPage> {
    let LogInput { client: asking, category, level, text, status, since, limit, cursor } = input;
    if limit.is_some_and(|limit| !(1..=MOST_ROWS).contains(&limit)) {
        return Err(usage(&format!("`limit` is a number from 1 to {MOST_ROWS}")));
    }
    workspace.browser_log(&client(asking)?, &LogAsk { category, level, text, status, since, limit, cursor })
}

#[derive(Deserialize, JsonSchema)]
struct EntryInput {
    /// Its id in an answer or in the log.
    #[schemars(example = &"c1", regex(pattern = r"^[acnw][1-9][0-9]{0,14}$"))]
    id: String,
}

fn entry(workspace: &Workspace, input: EntryInput) -> Result<Entry> {
    workspace.browser_entry(&input.id)
}

fn har(workspace: &Workspace, _: Nothing) -> Result<Har> {
    workspace.browser_har()
}

#[derive(Deserialize, JsonSchema)]
struct HealthInput {
    /// Who asks, when the checkpoint is `last`.
    #[schemars(length(max = 100), regex(pattern = ID))]
    client: Option<String>,
    /// Since when; since `session_start` when there is such a checkpoint, else since the start, when left out.
    #[schemars(example = &"session_start")]
    checkpoint: Option<String>,
}

fn health(workspace: &Workspace, input: HealthInput) -> Result<Health> {
    workspace.browser_health(&client(input.client)?, input.checkpoint.as_deref())
}

fn status(workspace: &Workspace, _: Nothing) -> Result<BrowserStatus> {
    workspace.browser_status()
}

#[derive(Deserialize, JsonSchema)]
struct AttachInput {
    /// Where it listens: `http://127.0.0.1:9222` or `ws://...`.
    url: Option<String>,
    /// Its debugging port.
    #[schemars(range(min = 1))]
    port: Option<u16>,
    /// Its profile directory; for a new one, the profile to use and keep.
    profile: Option<PathBuf>,
    /// Start a new one.
    #[serde(default)]
    launch: bool,
    /// The program to start, instead of one of the usual names.
    program: Option<PathBuf>,
    /// Start it without windows.
    #[serde(default)]
    headless: bool,
    /// The page a new one opens.
    open: Option<String>,
    /// Which pages to watch; all of this machine when left out.
    #[serde(default)]
    origins: Vec<String>,
    /// Watch every page, whatever its address.
    #[serde(default)]
    all_pages: bool,
}

fn attach(workspace: &Workspace, input: AttachInput) -> Result<BrowserStatus> {
    let AttachInput { url, port, profile, launch, program, headless, open, origins, all_pages } = input;
    workspace.attach_browser(&AttachBrowser { url, port, profile, launch, program, headless, open, origins, all_pages })
}

/// The key for pages.
#[derive(Debug, Serialize, JsonSchema)]
struct Renewed {
    /// To stand in the address of the script: `/backsight.js?key=...`.
    ingest_key: String,
}

fn renew(workspace: &Workspace, _: Nothing) -> Result<Renewed> {
    let key = workspace.renew_page_key()?;
    if let Some(store) = workspace.store()? {
        place::publish_key(&store, &key)?;
    }
    Ok(Renewed { ingest_key: key })
}

fn detach(workspace: &Workspace, _: Nothing) -> Result<BrowserStatus> {
    workspace.detach_browser()
}

fn list(workspace: &Workspace, _: Nothing) -> Result<CheckpointList> {
    workspace.checkpoints()
}

#[derive(Deserialize, JsonSchema)]
struct CreateInput {
    /// Its name: lowercase letters, digits and underscores, at most 50.
    #[schemars(example = &"session_start")]
    name: String,
    /// The baseline to compare with, instead of what was known at this moment.
    baseline: Option<String>,
}

fn create(workspace: &Workspace, input: CreateInput) -> Result<CheckpointMade> {
    workspace.create_checkpoint(&input.name, input.baseline.as_deref())
}

#[derive(Deserialize, JsonSchema)]
struct NameInput {
    /// Its name.
    name: String,
}

fn delete(workspace: &Workspace, input: NameInput) -> Result<Deleted> {
    workspace.delete_checkpoint(&input.name)
}

fn noise(workspace: &Workspace, _: Nothing) -> Result<RuleList> {
    workspace.noise_rules()
}

#[derive(Deserialize, JsonSchema)]
struct RulesInput {
    /// What is to be noise.
    #[schemars(with = "Vec<NewRule>")]
    rules: Vec<Value>,
}

fn add_rules(workspace: &Workspace, input: RulesInput) -> Result<RulesAdded> {
    workspace.add_noise_rules(rules_of(input.rules)?)
}

#[derive(Deserialize, JsonSchema)]
struct RuleInput {
    /// The rule's id.
    id: String,
}

fn remove_rule(workspace: &Workspace, input: RuleInput) -> Result<Deleted> {
    workspace.remove_noise_rule(&input.id)
}

/// A noise rule that was switched.
#[derive(JsonSchema, Serialize)]
struct Switched {
    /// As it is now.
    rule: Rule,
}

fn enable_rule(workspace: &Workspace, input: RuleInput) -> Result<Switched> {
    Ok(Switched { rule: workspace.enable_noise_rule(&input.id, true)? })
}

fn disable_rule(workspace: &Workspace, input: RuleInput) -> Result<Switched> {
    Ok(Switched { rule: workspace.enable_noise_rule(&input.id, false)? })
}

fn list_baselines(workspace: &Workspace, _: Nothing) -> Result<BaselineList> {
    workspace.baselines()
}

#[derive(Deserialize, JsonSchema)]
struct SaveInput {
    /// Its name: lowercase letters, digits and underscores, at most 50.
    #[schemars(example = &"baseline_login")]
    name: String,
}

fn save(workspace: &Workspace, input: SaveInput) -> Result<BaselineEntry> {
    workspace.save_baseline(&input.name)
}

#[derive(Deserialize, JsonSchema)]
struct CompareInput {
    /// The baseline.
    #[schemars(example = &"baseline_login")]
    name: String,
}

fn compare(workspace: &Workspace, input: CompareInput) -> Result<Comparison> {
    workspace.compare_baseline(&input.name)
}

fn delete_baseline(workspace: &Workspace, input: NameInput) -> Result<Deleted> {
    workspace.delete_baseline(&input.name)
}
