//! When each agent's hooks last told of a tool. One small file an agent in the store, so that every process of the
//! workspace knows; without it an agent is only told to record what its hooks record already.

use std::io::Write;
use std::time::Duration;

use backsight::{AnchoredPath, Timestamp, Workspace};

use super::agent::Agent;

/// Times are short.
const MAX_SIZE: u64 = 64;
/// How exact the time is: an agent's hooks come many a second, and only the first of a minute is written down.
const EXACT: Duration = Duration::from_secs(60);

/// When a hook of this agent last told of a tool here.
pub fn last_heard(workspace: &Workspace, agent: Agent) -> Option<Timestamp> {
    read(&directory(workspace)?.join(agent.as_str()))
}

/// Takes note that a hook of this agent told of a tool just now.
pub(super) fn note(workspace: &Workspace, agent: Agent) {
    let now = workspace.now();
    let is_known = last_heard(workspace, agent).is_some_and(|last| last > now.before(EXACT) && last <= now);
    if let Some(directory) = directory(workspace).filter(|_| !is_known) {
        // What cannot be written down costs the agent two calls, never a step.
        let _ = write(&directory, agent.as_str(), now);
    }
}

fn directory(workspace: &Workspace) -> Option<AnchoredPath> {
    Some(workspace.store().ok()??.directory().join("heard"))
}

fn read(file: &AnchoredPath) -> Option<Timestamp> {
    let text = String::from_utf8(file.read(MAX_SIZE).ok()?).ok()?;
    text.trim().parse().ok().map(Timestamp)
}

fn write(directory: &AnchoredPath, name: &str, now: Timestamp) -> std::io::Result<()> {
    directory.make_directories()?;
    let temporary = directory.join(format!("{name}.{}", std::process::id()));
    temporary.remove()?;
    writeln!(temporary.create()?, "{}", now.0)?;
    temporary.rename(&directory.join(name))
}
