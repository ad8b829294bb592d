//! When an agent's hooks were last heard here: one small file an agent in the store, so that `doctor` can tell an agent
//! that records from one that was installed and is silent. Without it steps are recorded all the same.

use std::io::Write;

use backsight::{AnchoredPath, Timestamp, Workspace};

use super::Agent;

/// A time is short.
const MAX_SIZE: u64 = 64;
/// Milliseconds for which a time is right enough: an agent at work costs one write in so long.
const PRECISION: i64 = 10_000;

/// Notes that an agent was heard now.
pub(super) fn note(workspace: &Workspace, agent: Agent) {
    let Some(directory) = directory(workspace) else { return };
    let (now, file) = (workspace.now(), directory.join(agent.as_str()));
    if read(&file).is_none_or(|last| !(0..PRECISION).contains(&(now.0 - last.0))) {
        // What cannot be written is not needed for anything but this.
        let _ = write(&directory, agent, now);
    }
}

/// When an agent was last heard, to ten seconds.
pub fn last_heard(workspace: &Workspace, agent: Agent) -> Option<Timestamp> {
    read(&directory(workspace)?.join(agent.as_str()))
}

fn directory(workspace: &Workspace) -> Option<AnchoredPath> {
    Some(workspace.store().ok()??.directory().join("heard"))
}

fn read(file: &AnchoredPath) -> Option<Timestamp> {
    let text = String::from_utf8(file.read(MAX_SIZE).ok()?).ok()?;
    text.trim().parse().ok().map(Timestamp)
}

fn write(directory: &AnchoredPath, agent: Agent, now: Timestamp) -> std::io::Result<()> {
    directory.make_directories()?;
    let temporary = directory.join(format!("{agent}.{}", std::process::id()));
    temporary.remove()?;
    writeln!(temporary.create()?, "{}", now.0)?;
    temporary.rename(&directory.join(agent.as_str()))
}
