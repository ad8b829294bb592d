//! What changed since a client last looked, across lanes, and because of what.

mod causes;
mod disk;
mod news;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use backsight_browser::Ask;
use backsight_browser::event::Category;
use backsight_browser::report::Changes;
use backsight_core::{RelPath, Result, Seq, Timestamp, estimate_tokens};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::causes::Broken;
use self::disk::{DiskLook, DiskNews, OnDisk};
use super::{Opened, Workspace};
use crate::report::{AllChanges, Because, Certainty, DebugChanges, Event, FilesChanges, Kind, ProgramEvent, StepEntry};
use crate::timeline::{Found, KeptKind, Step};

/// Clients whose place is remembered.
const CLIENTS: usize = 1000;
/// Steps, and things a debugger saw, that are shown at most.
const SHOWN: usize = 12;
/// Paths of a step that are named.
const PATHS: usize = 4;
/// What of the caller's tokens the files and the debugger may have at most, in parts of a hundred: an error comes first.
const SHARE: usize = 40;
/// What a reason takes, about.
const A_REASON: usize = 75;
/// What the counts of all that is not shown take, about.
const COUNTS: usize = 30;
/// Why the files are not in an answer before the first step.
const UNCOMPARED: &str = "no files are recorded yet";
/// Reasons that are shown before older steps are: those of the worst errors.
const FIRST_REASONS: usize = 4;
/// Errors that are explained at most, however large the answer may be.
const MOST_REASONS: usize = 32;

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
    on_disk: OnDisk,
    at: Timestamp,
}

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
        let asked = Ask { include: categories, ..ask.clone() };
        let mut app = self.browser_changes(client, &asked)?;
        if !is_app {
            (app.console, app.network, app.websocket, app.actions) = (None, None, None, None);
        }
        if !(wanted.files || wanted.debug) {
            return Ok(AllChanges::of_app(app));
        }
        // The app's answer has moved the client's place: whatever fails from here on, that answer is told.
        let mut answer = match self.with_lanes(client, ask, app.clone(), wanted, is_app) {
            Ok(answer) => answer,
            Err(error) => {
                app.summary.push_str("; the other lanes could not be asked");
                let reason = format!("files and debugger: {} ({})", error.message(), error.code().as_str());
                AllChanges { not_told: Some(reason), ..AllChanges::of_app(app) }
            }
        };
        if let Some(most) = ask.max_tokens {
            fit(&mut answer, most);
        }
        Ok(answer)
    }

    /// The app's answer with what the other lanes say, and because of what.
    fn with_lanes(&self, client: &str, ask: &Ask, app: Changes, wanted: Wanted, is_app: bool) -> Result<AllChanges> {
        if self.store_path()?.is_none() {
            let reason = wanted.files.then(|| UNCOMPARED.to_owned());
            return Ok(AllChanges { not_told: reason, ..AllChanges::of_app(app) });
        }
        self.note_lanes()?;
        let window = self.window(client, ask, &app)?;
        self.assemble(app, &window, wanted, ask, is_app)
    }

    /// The rows of the window; moves the client's place as the app's answer moved it.
    fn window(&self, client: &str, ask: &Ask, app: &Changes) -> Result<Window> {
        let opened = self.opened()?;
        let disk = self.look_at_disk(opened)?;
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
        let is_compared = disk.is_some();
        let disk = disk.unwrap_or_default();
        let told = place.filter(|_| is_own).map(|place| place.on_disk).unwrap_or_default();
        let news = self.disk_news(opened, &disk, &told, since)?;
        if is_own && !ask.peek {
            let place = Place { seq: newest, previous: Some(since), on_disk: disk.on_disk.clone(), at: app.to };
            clients.insert(client.to_owned(), place);
            forget_oldest(&mut clients);
        }
        Ok(Window { since, until: newest, disk, news, is_compared })
    }

    /// The answer; with the reasons of errors, when the app is asked about.
    fn assemble(
        &self,
        mut app: Changes,
        window: &Window,
        wanted: Wanted,
        ask: &Ask,
        is_app: bool,
    ) -> Result<AllChanges> {
        let opened = self.opened()?;
        let files = self.files_in(opened, window, &app)?.filter(|_| wanted.files);
        let debug = self.debug_in(opened, window, &app)?.filter(|_| wanted.debug);
        if let Some(room) = ask.max_tokens {
            let others = (tokens_of(&files) + tokens_of(&debug) + A_REASON + COUNTS).min(room / 100 * SHARE);
            app.fit_to(room - others);
        }
        let mut answer = AllChanges { files, debug, ..AllChanges::of_app(app) };
        let mut moments = Vec::new();
        if is_app {
            let reasons = most_reasons(ask);
            let (errors, lesser): (Vec<Broken>, Vec<Broken>) =
                self.troubles(&answer.app)?.into_iter().partition(|trouble| !trouble.is_lesser);
            let because = |trouble: &Broken| self.because(opened, trouble, window);
            answer.because = errors.iter().take(reasons).map(because).collect::<Result<Vec<Because>>>()?;
            answer.unexplained = (errors.len() - answer.because.len()) as u64;
            let room = reasons - answer.because.len();
            let explained = lesser.iter().take(room).map(because).collect::<Result<Vec<Because>>>()?;
            answer.because.extend(explained.into_iter().filter(|because| because.certainty.has_evidence()));
            (moments, answer.not_in_order) = self.moments(&answer.app)?;
        }
        in_order(&mut answer, moments);
        if wanted.files && !window.is_compared {
            answer.not_told = Some(UNCOMPARED.to_owned());
        }
        answer.app.summary = summary(&answer);
        Ok(answer)
    }

    fn files_in(&self, opened: &Opened, window: &Window, app: &Changes) -> Result<Option<FilesChanges>> {
        let (total_new, steps) = opened.timeline.newest_steps(window.since, window.until, SHOWN)?;
        let entry = |step: &Step| self.step_entry(opened, step, app.from);
        let steps = steps.iter().map(entry).collect::<Result<Vec<StepEntry>>>()?;
        let found = FilesChanges { total_new, steps, ..FilesChanges::default() }.with_disk(&window.disk, &window.news);
        Ok((found != FilesChanges::default()).then_some(found))
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

    fn debug_in(&self, opened: &Opened, window: &Window, app: &Changes) -> Result<Option<DebugChanges>> {
        let kinds = [Kind::DebuggerStop, Kind::Capture, Kind::DebugEnd];
        let (total_new, rows) = opened.timeline.newest_of(&kinds, window.since, window.until, SHOWN)?;
        let events = rows.into_iter().filter_map(|row| match row {
            Found::Event(event) => Some(self.program_event(opened, *event, app.from)),
            Found::Step(_) => None,
        });
        let events = events.collect::<Result<Vec<ProgramEvent>>>()?;
        Ok((total_new > 0).then_some(DebugChanges { total_new, events }))
    }

    /// What a debugger saw, with the step that last changed the file it was seen in.
    fn program_event(&self, opened: &Opened, event: Event, from: Timestamp) -> Result<ProgramEvent> {
        let time = serde_json::from_value::<Timestamp>(event.details["time"].clone()).unwrap_or(event.timestamp);
        let file = event.details["file"].as_str().map(|file| self.known_place(file));
        let step = match file.and_then(|file| RelPath::new(file.as_bytes()).ok()) {
            Some(path) => opened.timeline.last_touch(&path, time)?,
            None => None,
        };
        let origin = step.as_ref().map(|step| &step.snapshot.origin);
        Ok(ProgramEvent {
            id: event.sequence_number.to_string(),
            kind: event.kind,
            what: event.description,
            after_ms: time.0 - from.0,
            step: step.as_ref().map(|step| step.snapshot.sequence_number.to_string()),
            by: origin.and_then(|origin| origin.tool.clone()),
            session: origin.and_then(|origin| origin.session.clone()),
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

/// The rows of a window, and the disk at its end.
struct Window {
    since: Seq,
    until: Seq,
    disk: DiskLook,
    /// What of it the client was not told of.
    news: DiskNews,
    /// Whether there is a step that the disk was compared with.
    is_compared: bool,
}

/// How many errors an answer explains: as many as fit, and four at least.
fn most_reasons(ask: &Ask) -> usize {
    let room = ask.max_tokens.map_or(MOST_REASONS, |most| most / 2 / A_REASON);
    room.clamp(FIRST_REASONS, MOST_REASONS)
}

/// What a part of an answer costs.
fn tokens_of(part: &Option<impl Serialize>) -> usize {
    part.as_ref().and_then(|part| serde_json::to_string(part).ok()).map_or(0, |text| estimate_tokens(&text))
}

/// Puts the ids of everything into the order in which it happened; there is none when only one lane has anything to tell.
fn in_order(answer: &mut AllChanges, moments: Vec<(Timestamp, String)>) {
    let AllChanges { app, files, debug, .. } = &*answer;
    let steps = files.iter().flat_map(|files| &files.steps).map(|step| (step.after_ms, step.id.clone()));
    let events = debug.iter().flat_map(|debug| &debug.events).map(|event| (event.after_ms, event.id.clone()));
    let has_steps = files.as_ref().is_some_and(|files| !files.steps.is_empty());
    let lanes = [has_steps, debug.is_some(), !moments.is_empty() || answer.not_in_order > 0];
    if lanes.iter().filter(|has| **has).count() < 2 {
        answer.not_in_order = 0;
        return;
    }
    let moments = moments.into_iter().map(|(time, id)| (time.0 - app.from.0, id));
    let mut all: Vec<(i64, String)> = steps.chain(events).chain(moments).collect();
    all.sort_by_key(|(after_ms, _)| *after_ms);
    answer.order = all.into_iter().map(|(_, id)| id).collect();
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
    parts.extend(answer.files.as_ref().map(files_in_words).filter(|words| !words.is_empty()));
    if let Some(debug) = &answer.debug {
        parts.push(format!("{} of a debugger", count(debug.total_new, "event")));
    }
    parts.join("; ")
}

/// `2 steps of the files, 1 file not recorded, 3 paths not looked at`.
fn files_in_words(files: &FilesChanges) -> String {
    let of = |named: usize, more: u64| named as u64 + more;
    let unrecorded = match files.total_new {
        0 => "changed and not recorded",
        _ => "not recorded",
    };
    let all = [
        (files.total_new, "step", "of the files"),
        (of(files.unrecorded.len(), files.more_unrecorded), "file", unrecorded),
        (of(files.pending.len(), files.more_pending), "file", "changed during an open tool call"),
        (of(files.as_recorded.len(), files.more_as_recorded), "file", "as recorded again"),
        (of(files.unseen.len(), files.more_unseen), "path", "not looked at"),
    ];
    let there = all.into_iter().filter(|(number, ..)| *number > 0);
    there.map(|(number, noun, words)| format!("{} {words}", count(number, noun))).collect::<Vec<String>>().join(", ")
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Leaves out the reasons of lesser errors, the oldest steps and events, then further reasons and the order, until the answer
/// fits; what goes is counted.
fn fit(answer: &mut AllChanges, most: usize) {
    let size = |answer: &AllChanges| serde_json::to_string(answer).map_or(0, |text| estimate_tokens(&text));
    while size(answer) > most {
        let steps = answer.files.as_ref().map_or(0, |files| files.steps.len());
        let events = answer.debug.as_ref().map_or(0, |debug| debug.events.len());
        let reasons = answer.because.len();
        let are_few = steps <= 1 && events <= 1;
        let gone = match (&mut answer.files, &mut answer.debug) {
            _ if reasons > FIRST_REASONS || (reasons > 1 && are_few) => {
                answer.because.pop();
                answer.unexplained += 1;
                continue;
            }
            _ if are_few && !answer.order.is_empty() => {
                answer.not_in_order += answer.order.len() as u64;
                answer.order.clear();
                continue;
            }
            (Some(files), _) if steps > 0 && steps >= events => files.steps.remove(0).id,
            (_, Some(debug)) if events > 0 => debug.events.remove(0).id,
            _ if reasons > 0 => {
                answer.because.pop();
                answer.unexplained += 1;
                continue;
            }
            _ => break,
        };
        answer.order.retain(|id| *id != gone);
    }
    answer.app.est_tokens = size(answer);
    answer.app.token_count = serde_json::to_string(answer).map_or(0, |text| text.len() / 4);
}
