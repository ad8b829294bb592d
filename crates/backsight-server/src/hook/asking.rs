//! Conversations that are about to call one of our own tools. A client's hook says so just before the call reaches our
//! server, in another process; so that the server knows which conversation calls, one small file a call is left in the
//! store until it comes.

use std::time::Duration;

use backsight::{AnchoredPath, Workspace};
use backsight_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::event::{Ours, ToolCall};
use super::{small_file, tools, turns};
use crate::asker::Asker;

/// So many are kept; a call takes its own away.
const MOST: usize = 64;
/// An older one belongs to a call that never came.
const OLDEST: Duration = Duration::from_secs(10 * 60);
const ENDING: &str = ".ask";

/// What a conversation is about to ask.
#[derive(Deserialize, Serialize)]
struct Note {
    at: i64,
    name: String,
    print: u64,
    asker: Asker,
}

/// Leaves word that a conversation is about to call a tool of ours. Without it the call is the client's, of no message.
pub(super) fn note(workspace: &Workspace, call: &ToolCall, ours: &Ours) -> Option<()> {
    let directory = turns::directory(workspace)?;
    let asker = Asker {
        session: Some(call.session.clone()),
        message: call.message.clone().or_else(|| turns::current(workspace, &call.session)),
        part: Some(call.part.clone()),
    };
    let note = Note { at: workspace.now().0, name: ours.name.clone(), print: ours.print, asker };
    let text = serde_json::to_string(&note).ok()?;
    let notes = notes(&directory);
    let surplus = (notes.len() + 1).saturating_sub(MOST);
    notes.iter().take(surplus).for_each(|(file, _)| drop(file.remove()));
    small_file::write(&directory, file_of(&directory, &call.part)?.file_name().to_str()?, &text)
}

/// Takes such a word back: the tool has ended.
pub(super) fn forget(workspace: &Workspace, call: &ToolCall) -> Option<()> {
    file_of(&turns::directory(workspace)?, &call.part)?.remove().ok()
}

/// Which conversation calls a tool, if its hook said so: by the id of the use, or else by what is asked.
pub fn who_asks(
    workspace: &Workspace,
    name: &str,
    arguments: &Map<String, Value>,
    part: Option<&str>,
) -> Option<Asker> {
    let directory = turns::directory(workspace)?;
    let oldest = workspace.now().before(OLDEST);
    let is_meant = |note: &Note| note.name == name && Timestamp(note.at) >= oldest;
    let (file, note) = match part {
        Some(part) => {
            let file = file_of(&directory, part)?;
            let note = read(&file).filter(is_meant)?;
            (file, note)
        }
        None => {
            let print = tools::fingerprint(name, &Value::Object(arguments.clone()));
            notes(&directory).into_iter().rev().find(|(_, note)| is_meant(note) && note.print == print)?
        }
    };
    // A second call that asks the same has a note of its own.
    let _ = file.remove();
    Some(note.asker)
}

/// Every note, oldest first.
fn notes(directory: &AnchoredPath) -> Vec<(AnchoredPath, Note)> {
    let files = directory.list().unwrap_or_default().into_iter().map(|(file, _)| file);
    let is_note = |file: &AnchoredPath| file.file_name().to_str().is_some_and(|name| name.ends_with(ENDING));
    let mut notes: Vec<_> = files.filter(is_note).filter_map(|file| Some((file.clone(), read(&file)?))).collect();
    notes.sort_by_key(|(_, note)| note.at);
    notes
}

fn read(file: &AnchoredPath) -> Option<Note> {
    serde_json::from_str(&small_file::read(file)?).ok()
}

fn file_of(directory: &AnchoredPath, part: &str) -> Option<AnchoredPath> {
    Some(directory.join(format!("{}{ENDING}", turns::file_name(part)?)))
}
