//! When an agent's hooks were last heard here: one small file an agent in the store, so that `doctor` can tell an agent
//! that records from one that was installed and is silent. Without it steps are recorded all the same.

use backsight::{AnchoredPath, Timestamp, Workspace};

use super::{Agent, small_file};

/// Milliseconds for which a time is right enough: an agent at work costs one write in so long.
const PRECISION: i64 = 10_000;

/// Notes that an agent was heard now.
pub(super) fn note(workspace: &Workspace, agent: Agent) {
    let Some(directory) = directory(workspace) else { return };
    let (now, file) = (workspace.now(), directory.join(agent.as_str()));
    if read(&file).is_none_or(|last| !(0..PRECISION).contains(&(now.0 - last.0))) {
        small_file::write(&directory, agent.as_str(), &now.0.to_string());
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
    small_file::read(file)?.parse().ok().map(Timestamp)
}
