//! The message each session is at, and numbers for the messages of agents that do not number them. One small file a
//! session in the store, so that hooks, each a process of its own, agree; without it steps would still be recorded, only
//! without their message.

use backsight::{AnchoredPath, Workspace};

use super::small_file;

/// What stands before an id that the agent gave, so that none is taken for a number of ours.
const GIVEN: char = '=';

/// The message the session is at: what the agent called it, or `SESSION:3`.
pub(super) fn current(workspace: &Workspace, session: &str) -> Option<String> {
    let text = small_file::read(&directory(workspace)?.join(file_name(session)?))?;
    match text.strip_prefix(GIVEN) {
        Some(given) => Some(given.to_owned()),
        None => number(&text).map(|number| format!("{session}:{number}")),
    }
}

/// Goes on to the session's next message, which the agent may have given an id.
pub(super) fn advance(workspace: &Workspace, session: &str, given: Option<&str>) -> Option<()> {
    let (directory, name) = (directory(workspace)?, file_name(session)?);
    let text = match given {
        Some(given) => format!("{GIVEN}{given}"),
        None => (small_file::read(&directory.join(&name)).and_then(|text| number(&text)).unwrap_or(0) + 1).to_string(),
    };
    small_file::write(&directory, &name, &text)
}

pub(super) fn directory(workspace: &Workspace) -> Option<AnchoredPath> {
    Some(workspace.store().ok()??.directory().join("turns"))
}

pub(super) fn file_name(session: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let letters = session.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("_{byte:02x}"),
    });
    let name: String = letters.collect();
    (name.len() <= 200).then_some(name)
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number > 0)
}
