//! Numbers for the messages of agents that do not number them. One small file a session in the store, so that hooks,
//! each a process of its own, agree; without it steps would still be recorded, only without their message.

use std::io::Write;

use backsight::{AnchoredPath, Workspace};

/// Numbers are small.
const MAX_SIZE: u64 = 64;

/// The message the session is at: `SESSION:3`.
pub(super) fn current(workspace: &Workspace, session: &str) -> Option<String> {
    let number = read(&directory(workspace)?.join(file_name(session)?));
    (number > 0).then(|| format!("{session}:{number}"))
}

/// Goes on to the session's next message.
pub(super) fn advance(workspace: &Workspace, session: &str) -> Option<String> {
    let (directory, name) = (directory(workspace)?, file_name(session)?);
    let number = read(&directory.join(&name)) + 1;
    write(&directory, &name, number).ok()?;
    Some(format!("{session}:{number}"))
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

fn read(file: &AnchoredPath) -> u64 {
    let text = file.read(MAX_SIZE).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn write(directory: &AnchoredPath, name: &str, number: u64) -> std::io::Result<()> {
    directory.make_directories()?;
    let temporary = directory.join(format!("{name}.{}", std::process::id()));
    temporary.remove()?;
    writeln!(temporary.create()?, "{number}")?;
    temporary.rename(&directory.join(name))
}
