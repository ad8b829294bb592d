//! Where requests of every interface end: the workspace, the tools, and what each client has seen. It blocks its thread;
//! the interfaces call it from threads made for that.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use backsight::report::{ChangeType, Others};
use backsight::{ObjectId, RelPath, Seq, Timestamp, Workspace};
use backsight_core::{Code, Error, Result};
use serde_json::{Map, Value};

use crate::reply::{News, Reply};
use crate::tool::{self, Call, Common, Tool, is_name};
use crate::words;

/// How many clients are remembered; the one that has not asked for longest is forgotten.
const CLIENTS: usize = 1000;
/// Who asks when nobody says.
const ANYBODY: &str = "default";

/// A workspace with everything that answers questions about it.
pub struct Office {
    workspace: Workspace,
    tools: Vec<Tool>,
    clients: Mutex<HashMap<String, Seen>>,
}

/// What a client was last told.
struct Seen {
    at: Timestamp,
    seq: Seq,
    /// What differed on disk then and nobody had recorded.
    on_disk: BTreeSet<Fingerprint>,
}

type Fingerprint = (RelPath, ChangeType, Option<ObjectId>);

impl Office {
    /// An office for a workspace.
    pub fn new(workspace: Workspace) -> Self {
        Office { workspace, tools: tool::all(), clients: Mutex::default() }
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The tools.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Whether there is such a tool.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Runs a tool for whoever `declared` says it is. Failures are answers too.
    pub fn call(
        &self,
        workspace: &Workspace,
        name: &str,
        arguments: Map<String, Value>,
        declared: Option<&str>,
    ) -> Reply {
        self.try_call(workspace, name, arguments, declared).unwrap_or_else(|error| Reply::failure(&error))
    }

    fn try_call(
        &self,
        workspace: &Workspace,
        name: &str,
        mut arguments: Map<String, Value>,
        declared: Option<&str>,
    ) -> Result<Reply> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            return Err(Error::new(Code::Usage, format!("there is no tool `{name}`"))
                .with_hint(format!("the tools are {}", names.join(", "))));
        };
        let common = Common::take(&mut arguments)?;
        let declared = declared.filter(|name| is_name(name));
        let client = common.client.as_deref().or(declared).unwrap_or(ANYBODY);
        let now = Timestamp::from_system(SystemTime::now());
        let draft = tool.run(&Call { workspace, client, now }, arguments);
        // A call that fails has told the client nothing, so its news waits for the next.
        Ok(draft?.fact("client", client).news(self.news(workspace, client, now)).fit(common.max_tokens))
    }

    /// What others changed since this client last asked, which is now.
    fn news(&self, workspace: &Workspace, client: &str, now: Timestamp) -> News {
        let before = self.lock().get(client).map(|seen| seen.seq);
        let since = before.map_or_else(|| workspace.newest_row(), Ok);
        let others = match since.and_then(|since| workspace.others_since(since, client)) {
            Ok(others) => others,
            Err(error) => {
                return News { files: None, line: Some(format!("outside changes could not be looked for: {error}")) };
            }
        };
        let on_disk = fingerprints(&others);
        let mut clients = self.lock();
        let last =
            clients.insert(client.to_owned(), Seen { at: now, seq: others.sequence_number, on_disk: on_disk.clone() });
        forget_oldest(&mut clients);
        match last {
            None => News::default(),
            Some(last) => told(&others, &on_disk, &last),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Seen>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fingerprints(others: &Others) -> BTreeSet<Fingerprint> {
    others.on_disk.iter().map(|change| (change.file_path.clone(), change.change_type, change.actual_hash)).collect()
}

fn forget_oldest(clients: &mut HashMap<String, Seen>) {
    if clients.len() > CLIENTS
        && let Some(oldest) = clients.iter().min_by_key(|(_, seen)| seen.at).map(|(client, _)| client.clone())
    {
        clients.remove(&oldest);
    }
}

/// The line for what is new; what the client was told of before is not.
fn told(others: &Others, on_disk: &BTreeSet<Fingerprint>, last: &Seen) -> News {
    let fresh = on_disk.difference(&last.on_disk).map(|(path, ..)| path.clone());
    // What was seen on disk before and has been recorded since is no news either.
    let known: BTreeSet<&RelPath> = last.on_disk.iter().map(|(path, ..)| path).collect();
    let recorded = others.recorded.iter().filter(|path| !known.contains(path)).cloned();
    let files: BTreeSet<RelPath> = fresh.chain(recorded).collect();
    let names: Vec<String> = files.iter().take(3).map(ToString::to_string).collect();
    let rest =
        if files.len() > names.len() { format!(" and {} more", files.len() - names.len()) } else { String::new() };
    let line = (!files.is_empty()).then(|| {
        let count = words::count(files.len(), "file");
        format!("{count} changed by others since your last call: {}{rest}", names.join(", "))
    });
    News { files: Some(files.len()), line }
}
