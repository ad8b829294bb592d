//! Hooks that were cut short: a note for each in the user's own state directory, so that `doctor` can tell of them later.
//! Their agent was told at once; this is for the user who did not see it. The workspace's store is not used for it: that
//! it cannot be written is one of the reasons for which hooks are cut.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use backsight::Settings;
use backsight_core::Timestamp;
use backsight_server::hook::Agent;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// No more is kept; what comes when the file is full begins it anew.
const LARGEST: u64 = 64 << 10;
/// What is older is no news.
const RECENT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// One hook that was cut short.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Note {
    /// When.
    pub time: Timestamp,
    /// Whose hook.
    pub agent: Option<String>,
    /// In which workspace, if it had got that far.
    pub root: Option<PathBuf>,
    /// What it was doing.
    pub doing: String,
}

impl Note {
    /// A note of something that happens now.
    pub fn now(agent: Option<Agent>, root: Option<PathBuf>, doing: &str) -> Note {
        let time = Timestamp::from_system(SystemTime::now());
        Note { time, agent: agent.map(|agent| agent.as_str().to_owned()), root, doing: doing.to_owned() }
    }
}

/// Adds a note. Whether that worked is of no use to its caller, which ends.
pub fn add(settings: &Settings, note: &Note) {
    let Some(file) = place(settings) else { return };
    if let Some(directory) = file.parent() {
        // That it is there already is as good; that it cannot be made shows in the next line.
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    }
    let Ok(mut line) = serde_json::to_vec(note) else { return };
    line.push(b'\n');
    let Some(mut file) = opened(OpenOptions::new().append(true).create(true).mode(0o600), &file) else { return };
    let is_full = file.metadata().is_ok_and(|metadata| metadata.len() + line.len() as u64 > LARGEST);
    if !is_full || file.set_len(0).is_ok() {
        let _ = file.write_all(&line);
    }
}

/// The notes of the last days, oldest first.
pub fn recent(settings: &Settings, now: Timestamp) -> Vec<Note> {
    let mut text = Vec::new();
    let file = place(settings).and_then(|file| opened(OpenOptions::new().read(true), &file));
    if file.is_none_or(|file| file.take(LARGEST).read_to_end(&mut text).is_err()) {
        return Vec::new();
    }
    let notes = text.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice::<Note>(line).ok());
    let oldest = now.before(RECENT);
    notes.filter(|note| note.time >= oldest).collect()
}

fn place(settings: &Settings) -> Option<PathBuf> {
    Some(settings.state_directory()?.join("hooks-cut-short"))
}

/// The file, if it is one: nothing else is waited for or followed.
fn opened(options: &mut OpenOptions, path: &std::path::Path) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}
