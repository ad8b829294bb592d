//! What changed since a client last looked, across lanes, and because of what.

mod causes;
mod news;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use backsight_browser::Ask;
use backsight_browser::event::Category;
use backsight_browser::report::Changes;
use backsight_core::{ObjectId, RelPath, Result, Seq, Timestamp, estimate_tokens};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Opened, Workspace};
use crate::report::{
    AllChanges, Certainty, ChangeType, DebugChanges, FilesChanges, Kind, ProgramEvent, StepEntry, UnknownChange,
};
use crate::timeline::{Found, KeptKind, Step};

/// Clients whose place is remembered.
const CLIENTS: usize = 1000;
/// Steps, and things a debugger saw, that are shown at most.
const SHOWN: usize = 12;
/// Paths of a step that are named.
const PATHS: usize = 4;
/// Paths on disk that no step holds and that are named.
const UNRECORDED: usize = 8;
/// What of the caller's tokens the files and the debugger may have at most, in parts of a hundred: an error comes first.
const SHARE: usize = 40;
/// What a row and a reason take, about.
const A_ROW: usize = 45;
const A_REASON: usize = 60;

/// What can be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// What the app said.
    Console,
    /// What it requested.
    Network,
    /// Its WebSockets.
    Websocket,
    /// What its user did.
    Actions,
    /// The steps of the files.
    Files,
    /// What a debugger saw.
    Debug,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Topic; 6] =
        [Topic::Console, Topic::Network, Topic::Websocket, Topic::Actions, Topic::Files, Topic::Debug];

    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Topic::Console => "console",
            Topic::Network => "network",
            Topic::Websocket => "websocket",
            Topic::Actions => "actions",
            Topic::Files => "files",
            Topic::Debug => "debug",
        }
    }

    /// The category of the app that it is.
    pub fn category(self) -> Option<Category> {
        match self {
            Topic::Console => Some(Category::Console),
            Topic::Network => Some(Category::Network),
            Topic::Websocket => Some(Category::Websocket),
            Topic::Actions => Some(Category::Actions),
            Topic::Files | Topic::Debug => None,
        }
    }
}

/// Where each client looked last, and what is known of the steps.
#[derive(Default)]
pub(super) struct Places {
    clients: Mutex<HashMap<String, Place>>,
    causes: causes::Cache,
}

/// Where a client looked last.
#[derive(Clone)]
struct Place {
    /// Up to which row it was told.
    seq: Seq,
    /// And the time before.
    previous: Option<Seq>,
    /// What differed on disk then and no step held.
    on_disk: BTreeSet<OnDisk>,
    at: Timestamp,
}

type OnDisk = (RelPath, ChangeType, Option<ObjectId>);

/// Which lanes an answer is about.
#[derive(Clone, Copy)]
struct Wanted {
    files: bool,
    debug: bool,
}

impl Workspace {
    /// What happened since a client last asked, or since a moment, in all lanes or in those of `topics`. Asking only for the
    /// app's categories gives the app's own answer.
    pub fn changes(&self, client: &str, topics: &[Topic], ask: &Ask) -> Result<AllChanges> {
        let categories: Vec<Category> = topics.iter().filter_map(|topic| topic.category()).collect();
        let has = |topic: Topic| topics.is_empty() || topics.contains(&topic);
        let wanted = Wanted { files: has(Topic::Files), debug: has(Topic::Debug) };
        let is_app = topics.is_empty() || !categories.is_empty();
        let room = match ask.max_tokens {
            Some(room) if wanted.files || wanted.debug => Some(room - self.for_other_lanes(client, room)?),
            room => room,
        };
        let asked = Ask { include: categories, max_tokens: room, ..ask.clone() };
        let mut app = self.browser_changes(client, &asked)?;
        if !is_app {
            (app.console, app.network, app.websocket, app.actions) = (None, None, None, None);
        }
        if !(wanted.files || wanted.debug) || self.store_path()?.is_none() {
            return Ok(AllChanges { app, files: None, debug: None, because: Vec::new(), order: Vec::new() });
        }
        self.note_lanes()?;
        let window = self.window(client, ask, &app)?;
        let mut answer = self.assemble(app, &window, wanted, is_app)?;
        if let Some(most) = ask.max_tokens {
            fit(&mut answer, most);
        }
        Ok(answer)
    }

    /// Tokens of an answer that the files, the debugger and reasons may need: what there is to tell of them, and no more than
    /// their share.
    fn for_other_lanes(&self, client: &str, room: usize) -> Result<usize> {
        if self.store_path()?.is_none() {
            return Ok(0);
        }
        let newest = self.opened()?.timeline.latest_seq()?;
        let told = self.places().get(client).map_or(Seq(0), |place| place.seq);
        let rows = usize::try_from(newest.0.saturating_sub(told.0)).unwrap_or(usize::MAX).min(SHOWN);
        Ok((rows * A_ROW + A_REASON).min(room / 100 * SHARE))
    }

    /// The rows of the window; moves the client's place as the app's answer moved it.
    fn window(&self, client: &str, ask: &Ask, app: &Changes) -> Result<Window> {
        let opened = self.opened()?;
        let on_disk = self.detect(&[], false)?;
        let mut clients = self.places();
        let newest = opened.timeline.latest_seq()?;
        let place = clients.get(client).cloned();
        let is_own = matches!(ask.checkpoint.as_deref(), None | Some("auto"));
        let known = match ask.checkpoint.as_deref() {
            _ if is_own => place.as_ref().map(|place| place.seq),
            Some("last") => place.as_ref().and_then(|place| place.previous),
            Some(name) => self.seq_of_checkpoint(opened, name)?,
            None => None,
        };
        let since = match known {
            Some(seq) => seq,
            None => opened.timeline.latest_before(app.from)?,
        };
        let told = place.as_ref().filter(|_| is_own).map(|place| place.on_disk.clone()).unwrap_or_default();
        let now: BTreeSet<OnDisk> = on_disk.unknown_changes.iter().map(fingerprint).collect();
        let fresh: BTreeSet<RelPath> = now.difference(&told).map(|(path, ..)| path.clone()).collect();
        if is_own && !ask.peek {
            let place = Place { seq: newest, previous: Some(since), on_disk: now, at: app.to };
            clients.insert(client.to_owned(), place);
            forget_oldest(&mut clients);
        }
        Ok(Window { since, until: newest, unrecorded: fresh.into_iter().collect(), on_disk: on_disk.unknown_changes })
    }

    fn assemble(&self, app: Changes, window: &Window, wanted: Wanted, is_app: bool) -> Result<AllChanges> {
        let opened = self.opened()?;
        let files = self.files_in(opened, window, &app)?.filter(|_| wanted.files);
        let debug = debug_in(opened, window, &app)?.filter(|_| wanted.debug);
        let (troubles, moments) = match is_app {
            true => (self.troubles(&app)?, self.moments(&app)?),
            false => (Vec::new(), Vec::new()),
        };
        let because =
            troubles.iter().map(|trouble| self.because(opened, trouble, window)).collect::<Result<Vec<_>>>()?;
        let order = in_order(files.as_ref(), debug.as_ref(), moments, app.from);
        let mut answer = AllChanges { app, files, debug, because, order };
        answer.app.summary = summary(&answer);
        Ok(answer)
    }

    fn files_in(&self, opened: &Opened, window: &Window, app: &Changes) -> Result<Option<FilesChanges>> {
        let (total_new, steps) = opened.timeline.newest_steps(window.since, window.until, SHOWN)?;
        let entry = |step: &Step| self.step_entry(opened, step, app.from);
        let steps = steps.iter().map(entry).collect::<Result<Vec<StepEntry>>>()?;
        let unrecorded: Vec<RelPath> = window.unrecorded.iter().take(UNRECORDED).cloned().collect();
        let more_unrecorded = (window.unrecorded.len() - unrecorded.len()) as u64;
        let found = FilesChanges { total_new, steps, unrecorded, more_unrecorded };
        Ok((found.total_new > 0 || !found.unrecorded.is_empty()).then_some(found))
    }

    fn step_entry(&self, opened: &Opened, step: &Step, from: Timestamp) -> Result<StepEntry> {
        let Step { snapshot, .. } = step;
        let mut files: Vec<RelPath> = opened.timeline.own_paths(snapshot.sequence_number, PATHS)?;
        files.truncate(PATHS);
        let session = match &snapshot.origin.session {
            Some(session) => Some(self.short_id(opened, crate::timeline::OriginColumn::Session, session)?),
            None => None,
        };
        Ok(StepEntry {
            id: snapshot.sequence_number.to_string(),
            kind: Some(snapshot.kind).filter(|kind| *kind != Kind::Track),
            by: snapshot.origin.tool.clone().filter(|_| snapshot.kind != Kind::External),
            session,
            more: snapshot.files_changed.saturating_sub(files.len() as u64),
            files,
            after_ms: snapshot.timestamp.0 - from.0,
        })
    }

    /// The row up to which a named checkpoint's files are; none when the name is a time or a word.
    fn seq_of_checkpoint(&self, opened: &Opened, name: &str) -> Result<Option<Seq>> {
        let kept = opened.timeline.kept_as(KeptKind::CheckpointRow, name)?;
        Ok(kept.and_then(|text| text.parse().ok()).map(Seq))
    }

    fn places(&self) -> MutexGuard<'_, HashMap<String, Place>> {
        self.shared.places.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rows of a window.
struct Window {
    since: Seq,
    until: Seq,
    /// Paths on disk that no step holds and that the client was not told of.
    unrecorded: Vec<RelPath>,
    /// Everything on disk that no step holds.
    on_disk: Vec<UnknownChange>,
}

/// The ids of everything in the order in which it happened; nothing when only one lane has anything to tell.
fn in_order(
    files: Option<&FilesChanges>,
    debug: Option<&DebugChanges>,
    moments: Vec<(Timestamp, String)>,
    from: Timestamp,
) -> Vec<String> {
    let steps = files.iter().flat_map(|files| &files.steps).map(|step| (step.after_ms, step.id.clone()));
    let events = debug.iter().flat_map(|debug| &debug.events).map(|event| (event.after_ms, event.id.clone()));
    let lanes = [files.is_some_and(|files| !files.steps.is_empty()), debug.is_some(), !moments.is_empty()];
    if lanes.iter().filter(|has| **has).count() < 2 {
        return Vec::new();
    }
    let moments = moments.into_iter().map(|(time, id)| (time.0 - from.0, id));
    let mut all: Vec<(i64, String)> = steps.chain(events).chain(moments).collect();
    all.sort_by_key(|(after_ms, _)| *after_ms);
    all.into_iter().map(|(_, id)| id).collect()
}

fn debug_in(opened: &Opened, window: &Window, app: &Changes) -> Result<Option<DebugChanges>> {
    let kinds = [Kind::DebuggerStop, Kind::Capture, Kind::DebugEnd];
    let (total_new, rows) = opened.timeline.newest_of(&kinds, window.since, window.until, SHOWN)?;
    let event = |row: Found| match row {
        Found::Event(event) => {
            let time = serde_json::from_value::<Timestamp>(event.details["time"].clone()).unwrap_or(event.timestamp);
            Some(ProgramEvent {
                id: event.sequence_number.to_string(),
                kind: event.kind,
                what: event.description,
                after_ms: time.0 - app.from.0,
            })
        }
        Found::Step(_) => None,
    };
    let events: Vec<ProgramEvent> = rows.into_iter().filter_map(event).collect();
    Ok((total_new > 0).then_some(DebugChanges { total_new, events }))
}

fn fingerprint(change: &UnknownChange) -> OnDisk {
    (change.file_path.clone(), change.change_type, change.actual_hash)
}

fn forget_oldest(clients: &mut HashMap<String, Place>) {
    if clients.len() > CLIENTS
        && let Some(oldest) = clients.iter().min_by_key(|(_, place)| place.at).map(|(client, _)| client.clone())
    {
        clients.remove(&oldest);
    }
}

/// The app's line, and what else there is in a few words.
fn summary(answer: &AllChanges) -> String {
    let mut parts = vec![answer.app.summary.clone()];
    let suspect = answer.because.iter().find_map(|because| because.step.as_ref().map(|step| (step, because.certainty)));
    if let Some((step, certainty)) = suspect {
        let word = match certainty {
            Certainty::Likely => "likely",
            Certainty::Possible => "possibly",
            _ => "perhaps",
        };
        parts.push(format!("{word} because of {step}"));
    }
    if let Some(files) = &answer.files {
        let steps = count(files.total_new, "step");
        let unrecorded = files.unrecorded.len() as u64 + files.more_unrecorded;
        match (files.total_new, unrecorded) {
            (0, more) => parts.push(format!("{} changed and not recorded", count(more, "file"))),
            (_, 0) => parts.push(format!("{steps} of the files")),
            (_, more) => parts.push(format!("{steps} of the files, {} not recorded", count(more, "file"))),
        }
    }
    if let Some(debug) = &answer.debug {
        parts.push(format!("{} of a debugger", count(debug.total_new, "event")));
    }
    parts.join("; ")
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Leaves out the oldest steps and events, then reasons, until the answer fits; the totals still count them all.
fn fit(answer: &mut AllChanges, most: usize) {
    let size = |answer: &AllChanges| serde_json::to_string(answer).map_or(0, |text| estimate_tokens(&text));
    while size(answer) > most {
        let steps = answer.files.as_ref().map_or(0, |files| files.steps.len());
        let events = answer.debug.as_ref().map_or(0, |debug| debug.events.len());
        let gone = match (&mut answer.files, &mut answer.debug) {
            (Some(files), _) if steps > 1 && steps >= events => files.steps.remove(0).id,
            (_, Some(debug)) if events > 1 => debug.events.remove(0).id,
            _ if answer.because.len() > 1 => {
                answer.because.pop();
                continue;
            }
            _ if !answer.order.is_empty() => {
                answer.order.clear();
                continue;
            }
            _ => break,
        };
        answer.order.retain(|id| *id != gone);
    }
    answer.app.est_tokens = size(answer);
    answer.app.token_count = serde_json::to_string(answer).map_or(0, |text| text.len() / 4);
}
