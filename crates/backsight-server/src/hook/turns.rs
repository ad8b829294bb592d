//! Numbers for the messages of agents that do not number them. One small file a session in the store, so that hooks,
//! each a process of its own, agree; without it steps would still be recorded, only without their message.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use backsight::Workspace;

/// The message the session is at: `SESSION:3`.
pub(super) fn current(workspace: &Workspace, session: &str) -> Option<String> {
    let number = read(&file(workspace, session)?);
    (number > 0).then(|| format!("{session}:{number}"))
}

/// Goes on to the session's next message.
pub(super) fn advance(workspace: &Workspace, session: &str) -> Option<String> {
    let file = file(workspace, session)?;
    let number = read(&file) + 1;
    write(&file, number).ok()?;
    Some(format!("{session}:{number}"))
}

fn file(workspace: &Workspace, session: &str) -> Option<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let letters = session.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("_{byte:02x}"),
    });
    let name: String = letters.collect();
    (name.len() <= 200).then_some(())?;
    Some(workspace.store_path().ok()??.join("turns").join(name))
}

fn read(file: &PathBuf) -> u64 {
    fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn write(file: &PathBuf, number: u64) -> std::io::Result<()> {
    if let Some(directory) = file.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let temporary = file.with_extension(std::process::id().to_string());
    let mut opened = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    writeln!(opened, "{number}")?;
    fs::rename(&temporary, file)
}
