//! The tools an agent can call, as a table: each is one file below, named as the agent types it. The list, the schemas
//! and the reference in the documents all come from it.

mod baseline;
mod bisect;
mod breakpoint_list;
mod breakpoint_remove;
mod breakpoint_set;
mod browser_attach;
mod browser_log;
mod browser_status;
mod checkpoint_create;
mod checkpoint_delete;
mod checkpoint_list;
mod choosing;
mod debug_attach;
mod debug_control;
mod debug_disconnect;
mod debug_launch;
mod debug_output;
mod debug_state;
mod debugging;
mod evaluate;
mod files_changes;
mod files_diff;
mod files_read;
mod files_redo;
mod files_restore;
mod files_revert;
mod files_track;
mod files_undo;
mod get_changes_since;
mod get_session_health;
mod going;
mod history_query;
mod milestone_create;
mod milestone_list;
mod noise_rules;
mod review_comments;
mod run_until_change;
mod shown;
mod snapshot_clear;
mod snapshot_create;
mod snapshot_delete;
mod snapshot_diff;
mod snapshot_export;
mod snapshot_get;
mod snapshot_list;
mod snapshot_on;
mod snapshot_series;
mod stacktrace_get;
mod step_and_diff;
mod variable_set;
mod variables_get;
mod workspace_reset;
mod workspace_status;

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::OnceLock;

use backsight::names::{LONGEST_NAME, is_name};
use backsight::report::Origin;
use backsight::request::Behalf;
use backsight::{Timestamp, Workspace};
use backsight_core::{Code, Effect, Error, Operation, Result, Waits};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::asker::Asker;
use crate::offer::Needs;
use crate::reply::{DEFAULT_TOKENS, Draft, FEWEST_TOKENS};
use crate::schema;
use choosing::{Choosing, ToolChoice};
use shown::Shown;

/// The tools that only read, in the order of the list: a client need not ask its user before them.
pub fn reading_tools() -> Vec<&'static str> {
    all().iter().filter(|tool| tool.effect.reads_only()).map(|tool| tool.name).collect()
}

/// The tool of a name. Whoever is asked for one looks it up once and passes it on.
pub fn find(name: &str) -> Option<&'static Tool> {
    all().iter().find(|tool| tool.name == name)
}

/// Every tool, in the order of the list.
pub fn all() -> &'static [Tool] {
    // They never change, and each makes its schemas.
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    TOOLS.get_or_init(defined)
}

fn defined() -> Vec<Tool> {
    vec![
        Tool::chooses::<workspace_status::WorkspaceStatus>(),
        Tool::chooses::<files_track::FilesTrack>(),
        Tool::asks::<files_changes::FilesChanges>(),
        Tool::chooses::<files_diff::FilesDiff>(),
        Tool::chooses::<files_read::FilesRead>(),
        Tool::asks::<files_revert::FilesRevert>(),
        Tool::asks::<files_restore::FilesRestore>(),
        Tool::asks::<files_undo::FilesUndo>(),
        Tool::asks::<files_redo::FilesRedo>(),
        Tool::chooses::<history_query::HistoryQuery>(),
        Tool::asks::<bisect::BisectSteps>(),
        Tool::asks::<milestone_create::MilestoneCreate>(),
        Tool::chooses::<milestone_list::MilestoneList>(),
        Tool::chooses::<review_comments::ReviewComments>(),
        Tool::asks::<workspace_reset::WorkspaceReset>(),
        Tool::asks::<get_changes_since::GetChangesSince>(),
        Tool::chooses::<browser_log::BrowserLog>(),
        Tool::asks::<get_session_health::GetSessionHealth>(),
        Tool::asks::<checkpoint_create::CheckpointCreate>(),
        Tool::asks::<checkpoint_list::CheckpointList>(),
        Tool::asks::<checkpoint_delete::CheckpointDelete>(),
        Tool::chooses::<noise_rules::NoiseRules>(),
        Tool::chooses::<baseline::Baseline>(),
        Tool::chooses::<browser_attach::BrowserAttach>(),
        Tool::asks::<browser_status::BrowserStatus>(),
        Tool::asks::<debug_launch::DebugLaunch>(),
        Tool::asks::<debug_attach::DebugAttach>(),
        Tool::asks::<debug_control::DebugControl>(),
        Tool::asks::<debug_state::DebugState>(),
        Tool::asks::<debug_disconnect::DebugDisconnect>(),
        Tool::asks::<debug_output::DebugOutput>(),
        Tool::asks::<breakpoint_set::BreakpointSet>(),
        Tool::asks::<breakpoint_list::BreakpointList>(),
        Tool::asks::<breakpoint_remove::BreakpointRemove>(),
        Tool::asks::<stacktrace_get::StacktraceGet>(),
        Tool::asks::<variables_get::VariablesGet>(),
        Tool::asks::<evaluate::Evaluate>(),
        Tool::asks::<snapshot_create::SnapshotCreate>(),
        Tool::asks::<snapshot_diff::SnapshotDiff>(),
        Tool::asks::<snapshot_list::SnapshotList>(),
        Tool::asks::<snapshot_get::SnapshotGet>(),
        Tool::asks::<snapshot_delete::SnapshotDelete>(),
        Tool::asks::<snapshot_clear::SnapshotClear>(),
        Tool::asks::<step_and_diff::StepAndDiff>(),
        Tool::asks::<run_until_change::RunUntilChange>(),
        Tool::asks::<variable_set::VariableSet>(),
        Tool::asks::<snapshot_on::SnapshotOn>(),
        Tool::asks::<snapshot_series::SnapshotSeries>(),
        Tool::asks::<snapshot_export::SnapshotExport>(),
    ]
}

/// Tools that go together; a client is offered the groups it is started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The workspace's files.
    Files,
    /// The app in the browser.
    Browser,
    /// A program under its debugger.
    Debug,
}

impl Group {
    /// Every group, in the order of the list.
    pub const ALL: [Group; 3] = [Group::Files, Group::Browser, Group::Debug];

    /// As people type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Group::Files => "files",
            Group::Browser => "browser",
            Group::Debug => "debug",
        }
    }
}

impl FromStr for Group {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Group::ALL.into_iter().find(|group| group.as_str() == text);
        found.ok_or_else(|| {
            format!("there is no group `{text}` of tools; there are {}", Group::ALL.map(Group::as_str).join(", "))
        })
    }
}

/// Some of the groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Groups(BTreeSet<Group>);

impl Groups {
    /// Whether a group is among them.
    pub fn has(&self, group: Group) -> bool {
        self.0.contains(&group)
    }
}

impl Default for Groups {
    fn default() -> Self {
        Groups(Group::ALL.into())
    }
}

impl From<Vec<Group>> for Groups {
    /// All of them when none is named.
    fn from(groups: Vec<Group>) -> Self {
        if groups.is_empty() { Groups::default() } else { Groups(groups.into_iter().collect()) }
    }
}

/// One tool.
pub struct Tool {
    /// As the agent types it.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For models.
    pub description: &'static str,
    /// What it may do.
    pub effect: Effect,
    /// Whom it may have to wait for.
    pub waits: Waits,
    /// What it belongs to.
    pub group: Group,
    /// What must be there before it makes sense.
    pub needs: Needs,
    /// Whether it takes a `cursor`, with which long answers go on.
    pub pages: bool,
    /// How long its answer may be when the caller does not say.
    pub default_tokens: usize,
    /// The schema of its arguments.
    pub input: Map<String, Value>,
    /// The facts its answer may hold, with their JSON types.
    pub facts: &'static [(&'static str, &'static str)],
    /// The schema of its answer.
    pub output: Map<String, Value>,
    run: Box<Run>,
}

type Run = dyn Fn(&Call<'_>, Map<String, Value>) -> Result<Draft> + Send + Sync;

/// A tool that asks for an operation of a lane: what it takes, its limits, what it may do and whom it waits for are the
/// operation's. The tool adds names, words and the answer in words.
trait Asking {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const GROUP: Group;
    /// What must be there before it makes sense.
    const NEEDS: Needs = Needs::of(Self::GROUP);
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    /// Whether its schema names `max_tokens`, which every tool takes; where it changes little, it need not be paid for.
    const SHOWS_BUDGET: bool = false;
    /// Whether long answers go on with a `cursor`.
    const PAGES: bool = false;
    /// What of the request a model is shown. The rest can be said all the same.
    const SHOWN: &'static [Shown];
    /// The facts of its answer with their JSON types, beside those every answer has.
    const OUTPUT: &'static [(&'static str, &'static str)];
    type Request: Operation;

    /// Refuses what cannot be meant.
    fn check(request: &Self::Request) -> Result<()> {
        request.check()
    }

    fn run(call: &Call<'_>, request: Self::Request) -> Result<Draft>;
}

/// One call of a tool.
pub struct Call<'a> {
    /// Where.
    pub workspace: &'a Workspace,
    /// Who asks.
    pub client: &'a str,
    /// For which conversation.
    pub asker: &'a Asker,
    /// When.
    pub now: Timestamp,
    /// How long the answer may be.
    pub max_tokens: usize,
    /// Where the last answer ended, for tools whose answers go on.
    pub cursor: Option<&'a str>,
}

impl Call<'_> {
    /// On whose behalf a step is recorded: the caller may name a session, or its conversation is known, or the client
    /// stands for it.
    fn on_behalf(&self, said: Behalf) -> Behalf {
        let Behalf { tool, session, message, part } = said;
        let own = Behalf::from(self.plain_origin(session));
        Behalf { tool: tool.or(own.tool), message: message.or(own.message), part: part.or(own.part), ..own }
    }

    /// The same for a step that is recorded at once.
    fn plain_origin(&self, session: Option<String>) -> Origin {
        let tool = Some(self.client.to_owned());
        match (session, self.asker.session.clone()) {
            (None, Some(own)) => {
                let Asker { message, part, .. } = self.asker.clone();
                Origin { tool, session: Some(own), message, part, ..Origin::default() }
            }
            (named, _) => {
                let session = named.unwrap_or_else(|| self.client.to_owned());
                Origin { tool, session: Some(session), ..Origin::default() }
            }
        }
    }
}

/// What every tool takes beside its own arguments.
pub struct Common {
    /// Whom the caller says it is.
    pub client: Option<String>,
    /// How long the answer may be.
    pub max_tokens: usize,
    /// Where the last answer ended.
    pub cursor: Option<String>,
}

impl Tool {
    fn asks<D: Asking>() -> Tool {
        let schema = schema::of::<D::Request>();
        let fields = shown::fields(&schema, D::SHOWN);
        let run = move |call: &Call<'_>, arguments| {
            let request = parse(D::NAME, Value::Object(shown::request(D::NAME, &fields, arguments)?))?;
            D::check(&request)?;
            D::run(call, request)
        };
        Tool {
            name: D::NAME,
            title: D::TITLE,
            description: D::DESCRIPTION,
            effect: D::Request::EFFECT,
            waits: D::Request::WAITS,
            group: D::GROUP,
            needs: D::NEEDS,
            pages: D::PAGES,
            default_tokens: D::DEFAULT_TOKENS,
            input: shown::input(&schema, D::SHOWN, D::SHOWS_BUDGET, D::DEFAULT_TOKENS),
            facts: D::OUTPUT,
            output: schema::output(D::OUTPUT),
            run: Box::new(run),
        }
    }

    /// Whether it writes to the history, for the conversation that asks.
    pub fn records(&self) -> bool {
        !self.effect.reads_only() && self.group == Group::Files
    }

    /// Whether it waits for others that change files or the record. What the live lanes keep is written in one step, and what
    /// runs a program writes its row in one when that has ended: others do not wait for a program.
    pub fn takes_turns(&self) -> bool {
        self.records() && self.effect != Effect::Runs
    }

    /// Runs it.
    pub fn run(&self, call: &Call<'_>, arguments: Map<String, Value>) -> Result<Draft> {
        let draft = (self.run)(call, arguments)?;
        // Whatever a debugger shows, a program and those whose data it reads have written.
        Ok(if self.group == Group::Debug { draft.untrusted() } else { draft })
    }
}

impl Common {
    /// Takes what every tool takes out of `arguments`. Models fill what they do not need with null; that is nothing.
    pub fn take(arguments: &mut Map<String, Value>, default_tokens: usize, pages: bool) -> Result<Common> {
        arguments.retain(|_, value| !value.is_null());
        let cursor = match pages.then(|| arguments.remove("cursor")).flatten() {
            None => None,
            Some(Value::String(cursor)) => Some(cursor),
            Some(Value::Number(cursor)) => Some(cursor.to_string()),
            Some(other) => return Err(usage(format!("`cursor` is {other}, not a text"))),
        };
        let client = match arguments.remove("client") {
            None => None,
            Some(Value::String(client)) if is_name(&client) => Some(client),
            Some(other) => {
                return Err(usage(format!("`client` is {other}, not a name of at most {LONGEST_NAME} bytes")));
            }
        };
        let max_tokens = match arguments.remove("max_tokens") {
            None => default_tokens,
            Some(value) => {
                let tokens =
                    value.as_u64().or_else(|| value.as_str()?.parse().ok()).and_then(|n| usize::try_from(n).ok());
                let message = || format!("`max_tokens` is {value}, not a number from {FEWEST_TOKENS}");
                tokens.filter(|&tokens| tokens >= FEWEST_TOKENS).ok_or_else(|| usage(message()))?
            }
        };
        Ok(Common { client, max_tokens, cursor })
    }
}

fn usage(message: String) -> Error {
    Error::new(Code::Usage, message)
}

fn parse<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T> {
    serde_json::from_value(arguments).map_err(|error| {
        // The names of Rust's numbers say nothing to a model.
        let why = error.to_string().replace("expected u16", "expected a number from 0 to 65535");
        let why =
            why.replace("expected u32", "expected a number from 0").replace("expected u64", "expected a number from 0");
        let why = why.replace("expected usize", "expected a number from 0").replace("field", "argument");
        Error::new(Code::Usage, format!("the arguments of `{tool}` are not understood: {why}"))
            .with_hint("its schema is in the tool list")
    })
}

/// Where the last page ended.
fn cursor(text: Option<&str>) -> Result<usize> {
    let Some(text) = text else { return Ok(0) };
    text.parse()
        .map_err(|_| usage(format!("`{text}` is no cursor")).with_hint("pass what the last reply gave in `next`"))
}

/// Adds what every tool takes and a model may want to say to a schema of arguments.
pub(crate) fn add_common(properties: &mut Map<String, Value>, shows_budget: bool, default_tokens: usize) {
    let mut max_tokens = json!({ "type": "integer" });
    if default_tokens != DEFAULT_TOKENS {
        max_tokens["description"] = json!(format!("default {default_tokens}"));
    }
    properties.extend(shows_budget.then(|| ("max_tokens".to_owned(), max_tokens)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_tool_takes_is_checked() {
        let take = |value: Value| Common::take(&mut value.as_object().unwrap().clone(), DEFAULT_TOKENS, false);
        assert_eq!(take(json!({})).unwrap().max_tokens, DEFAULT_TOKENS);
        assert_eq!(take(json!({ "max_tokens": null, "client": null })).unwrap().max_tokens, DEFAULT_TOKENS);
        assert_eq!(take(json!({ "max_tokens": "900" })).unwrap().max_tokens, 900);
        for wrong in
            [json!({ "max_tokens": 5 }), json!({ "max_tokens": "x" }), json!({ "client": "" }), json!({ "client": 4 })]
        {
            assert_eq!(take(wrong.clone()).err().unwrap().code(), Code::Usage, "{wrong}");
        }
    }

    /// Reviewed by hand: which tools run programs, write files, reach out or read only. A new one must be added here.
    #[test]
    fn every_tool_was_reviewed() {
        let reviewed = [
            ("reads", "get_changes_since"),
            (
                "reads repeats",
                "workspace_status files_changes files_diff files_read history_query milestone_list get_session_health \
                checkpoint_list browser_status browser_log debug_state debug_output breakpoint_list \
                stacktrace_get variables_get snapshot_diff snapshot_list snapshot_get snapshot_series",
            ),
            (
                "-",
                "files_track milestone_create review_comments workspace_reset checkpoint_create checkpoint_delete noise_rules \
                baseline breakpoint_remove snapshot_delete snapshot_clear",
            ),
            ("writes", "files_revert files_restore files_undo files_redo snapshot_export"),
            (
                "runs writes reaches",
                "browser_attach debug_launch debug_attach debug_control debug_disconnect breakpoint_set evaluate \
                snapshot_create step_and_diff run_until_change variable_set snapshot_on bisect",
            ),
        ];
        let said = |tool: &Tool| {
            let columns = [
                ("reads", tool.effect.reads_only()),
                ("repeats", tool.effect.repeats_harmlessly()),
                ("runs", tool.effect.runs_programs()),
                ("writes", tool.effect.writes_files()),
                ("reaches", tool.effect.reaches_out()),
            ];
            let said: Vec<&str> = columns.into_iter().filter(|(_, does)| *does).map(|(name, _)| name).collect();
            if said.is_empty() { "-".to_owned() } else { said.join(" ") }
        };
        for tool in all() {
            let found = reviewed.iter().find(|(_, names)| names.split_whitespace().any(|name| name == tool.name));
            let (columns, _) = found.unwrap_or_else(|| panic!("`{}` was not reviewed", tool.name));
            assert_eq!(*columns, said(tool), "{}", tool.name);
            let is_quick = tool.group == Group::Files && !tool.effect.runs_programs();
            assert_eq!(tool.waits == Waits::ForDisk, is_quick, "{}", tool.name);
        }
    }
}
