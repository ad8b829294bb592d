//! Sessions (seed 002): one agent conversation each, several at a time in one workspace. Started here, listed and shown
//! here; `track` records what their messages do, `diff` says what they did, `revert` takes it back.

mod diff;
mod revert;
mod track;

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, Error, NextStep, ObjectId, RelPath, Result, Seq, Timestamp, quote};

use super::track::{EXTERNAL, Recording, other_calls};
use super::writing::Writing;
use super::{Opened, Workspace, conversation};
use crate::names;
use crate::report::{
    Call, Conversation, NoUnrevert, Origin, Phase, RevertInfo, Session, SessionDetail, SessionMessage, SessionPart,
    SessionStarted, SessionStep, Strategy, UnknownChange, WayBack,
};
use crate::request;
use crate::session::{self, Appearance, Missing, NoWayBack, Place, SessionRow};
use crate::short;
use crate::timeline::{KnownSession, OriginColumn, Outline, SeenMessage, SessionMark, Step};
use crate::unknown::{mismatch, unknown};

/// Everything that is known of a session.
pub(super) struct Story {
    id: String,
    known: Option<KnownSession>,
    /// Its rows, oldest first.
    steps: Vec<Step>,
    seen: Vec<SeenMessage>,
    open: Vec<Call>,
    session: session::Session,
}

impl Workspace {
    /// Starts a session: what is on disk now is its baseline, and nobody's work but the users'. One that exists is the
    /// answer as it is; without an id it gets one.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use backsight::request::NewSession;
    ///
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// let new = NewSession { id: Some("s1".to_owned()), title: Some("Fix the parser".to_owned()) };
    /// assert!(workspace.start_session(&new)?.created);
    /// assert!(!workspace.start_session(&new)?.created);
    /// assert_eq!(workspace.sessions(&Default::default())?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_session(&self, new: &request::NewSession) -> Result<SessionStarted> {
        let id = match &new.id {
            Some(id) => id.clone(),
            None => format!("ses_{}", self.new_id()?),
        };
        names::check_id("session", &id)?;
        let title = new.title.as_deref().map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        let writing = self.writing()?;
        let opened = writing.opened;
        let before = self.story(opened, &id, &opened.timeline.outlines()?)?;
        let is_new = !before.exists();
        let mut settled = Settled::default();
        if before.known.is_none() {
            let (started, baseline) = match before.began() {
                Some(began) => began,
                None => {
                    settled = writing.settle(&id)?;
                    (self.settings.now(), settled.baseline)
                }
            };
            opened.timeline.add_session(&KnownSession { id: id.clone(), title: title.clone(), started, baseline })?;
        }
        if let Some(title) = &title {
            opened.timeline.set_session_title(&id, title)?;
        }
        let story = self.story(opened, &id, &opened.timeline.outlines()?)?;
        Ok(SessionStarted {
            created: is_new,
            session: brief(opened, &story)?,
            unknown_changes: settled.unknown,
            warnings: settled.warnings,
        })
    }

    /// Every session, the one that did something last first. Those that only steps name are among them.
    pub fn sessions(&self, request: &request::Sessions) -> Result<Vec<Session>> {
        if self.store_path()?.is_none() {
            return Ok(Vec::new());
        }
        let opened = self.opened()?;
        let outlines = opened.timeline.outlines()?;
        let ids = opened.timeline.session_ids()?;
        let mut sessions = ids
            .iter()
            .map(|id| brief(opened, &self.story(opened, id, &outlines)?))
            .collect::<Result<Vec<Session>>>()?;
        sessions.sort_by(|a, b| (b.last_at, b.started_at, &a.id).cmp(&(a.last_at, a.started_at, &b.id)));
        if request.limit > 0 {
            sessions.truncate(request.limit);
        }
        Ok(sessions)
    }

    /// One session: its messages in order with their parts and steps, its files, and where it is reverted to.
    pub fn session(&self, id: &str) -> Result<SessionDetail> {
        let (opened, story) = self.find_session(id)?;
        let mut steps = story.work(opened)?;
        let gone = story.gone(opened)?;
        for (step, _) in &mut steps {
            step.files.retain(|file| !step.in_effect || !gone.contains(file));
        }
        let of_message = |message: &str| -> Vec<SessionStep> {
            steps.iter().filter(|(_, of)| of.as_deref() == Some(message)).map(|(step, _)| step.clone()).collect()
        };
        let place = story.reverted_to();
        let is_reverted = |message: &str, part: Option<&str>| {
            // Of a message that is reverted from a part on, something stays.
            let place = place.filter(|place| part.is_some() || place.part.is_none() || place.message != message);
            let seen = story.session.place(message, part).map_or(Seq(0), |place| place.seen);
            place.is_some_and(|place| story.session.is_from(&place, Some(message), part, Seq(seen.0 + 1)))
        };
        let messages = story.session.messages().into_iter().map(|message| {
            let own = of_message(message);
            let parts = story.session.parts(message).into_iter().map(|part| SessionPart {
                id: part.to_owned(),
                steps: numbers_of(&own, part),
                reverted: is_reverted(message, Some(part)),
            });
            SessionMessage {
                id: message.to_owned(),
                parts: parts.collect(),
                files: files_of(own.iter()),
                open: story.open.iter().any(|call| call.origin.message.as_deref() == Some(message)),
                reverted: is_reverted(message, None),
                steps: own,
            }
        });
        let messages: Vec<SessionMessage> = messages.collect();
        let effective = || steps.iter().map(|(step, _)| step).filter(|step| step.in_effect);
        let sum = |of: &dyn Fn(&SessionStep) -> Option<u64>| effective().map(of).sum::<Option<u64>>();
        let files = files_of(effective());
        let lines = match gone.is_empty() {
            true => sum(&|step| step.lines_added).zip(sum(&|step| step.lines_removed)),
            // What a step counted is of all its files.
            false => self.lines_in(&story.id, &files)?,
        };
        Ok(SessionDetail {
            messages,
            other_steps: steps.iter().filter(|(_, of)| of.is_none()).map(|(step, _)| step.clone()).collect(),
            files,
            lines_added: lines.map(|(added, _)| added),
            lines_removed: lines.map(|(_, removed)| removed),
            reverted_by: story.session.chain().iter().map(|row| row.seq).collect(),
            unrevert: story.way_back(),
            session: brief(opened, &story)?,
        })
    }

    /// Lines that the session added to and removed from some files; nothing where contents expired.
    fn lines_in(&self, session: &str, files: &[RelPath]) -> Result<Option<(u64, u64)>> {
        if files.is_empty() {
            return Ok(Some((0, 0)));
        }
        match self.session_diff(&request::SessionDiff { paths: files.to_vec(), ..request::SessionDiff::new(session) }) {
            Ok(diff) => Ok(Some((diff.additions, diff.deletions))),
            Err(error) if error.code() == Code::RefExpired => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The session that a caller means by its id or the beginning of it; it must exist.
    fn find_session(&self, typed: &str) -> Result<(&Opened, Story)> {
        if self.store_path()?.is_none() {
            return Err(not_found(typed, &[]));
        }
        let opened = self.opened()?;
        let ids = opened.timeline.session_ids()?;
        let found = short::find(OriginColumn::Session, typed, ids.iter().map(String::as_str))?;
        let id = found.ok_or_else(|| not_found(typed, &ids))?;
        Ok((opened, self.existing_story(opened, id)?))
    }

    fn existing_story(&self, opened: &Opened, id: &str) -> Result<Story> {
        let story = self.story(opened, id, &opened.timeline.outlines()?)?;
        if story.exists() { Ok(story) } else { Err(not_found(id, &opened.timeline.session_ids()?)) }
    }

    /// Everything about an id, which may be nothing.
    fn story(&self, opened: &Opened, id: &str, outlines: &[Outline]) -> Result<Story> {
        self.story_until(opened, id, outlines, Seq(u64::MAX))
    }

    /// The same as it was before a row.
    fn story_until(&self, opened: &Opened, id: &str, outlines: &[Outline], end: Seq) -> Result<Story> {
        let timeline = &opened.timeline;
        let mut steps = timeline.by_origin(OriginColumn::Session, id)?;
        steps.reverse();
        steps.retain(|step| step.snapshot.sequence_number < end);
        let seen = timeline.seen_messages(id)?;
        let calls = timeline.open_calls()?.into_iter().map(|call| call.call);
        let open: Vec<Call> = calls.filter(|call| call.origin.session.as_deref() == Some(id)).collect();
        let noted = seen.iter().map(|seen| Appearance {
            message: seen.message.clone(),
            part: seen.part.clone(),
            seen: seen.seen,
        });
        // A call that began under an older format was not noted.
        let is_noted = |message: &str, part: Option<&str>| {
            seen.iter().any(|seen| seen.message == message && seen.part.as_deref() == part)
        };
        let begun = open.iter().filter_map(|call| {
            let Origin { message, part, .. } = call.origin.clone();
            let message = message.filter(|message| !is_noted(message, part.as_deref()))?;
            Some(Appearance { message, part, seen: call.based_on })
        });
        let noted = noted.chain(begun);
        let session = session::Session::new(noted.collect(), steps.iter().map(SessionRow::of).collect(), outlines);
        Ok(Story { id: id.to_owned(), known: timeline.known_session(id)?, steps, seen, open, session })
    }

    /// Reverts of any session that can still be taken back.
    pub(super) fn open_reverts(&self, opened: &Opened) -> Result<Vec<Seq>> {
        let outlines = opened.timeline.outlines()?;
        let mut open = Vec::new();
        for id in opened.timeline.session_ids()? {
            if opened.timeline.has_session_reverts(&id)? {
                let story = self.story(opened, &id, &outlines)?;
                open.extend(story.session.chain().iter().map(|row| row.seq));
            }
        }
        Ok(open)
    }
}

impl Writing<'_> {
    /// Records what is on disk as nobody's in particular, so that a session begins with a known state. What open tool
    /// calls may have written is left to them.
    fn settle(&self, session: &str) -> Result<Settled> {
        let since = self.workspace.settings.now();
        let last = self.latest()?;
        let mut capture = self.capture(last.as_ref(), &BTreeSet::new())?;
        let settled = match last {
            None => {
                let origin = Origin { tool: Some(EXTERNAL.to_owned()), ..Origin::default() };
                let session = self.workspace.short_id(self.opened, OriginColumn::Session, session)?;
                let description = format!("before session {session}");
                let unknown = request::Unknown::default();
                let (pinned, call, ran, goes_on) = (false, None, None, None);
                let recording = Recording {
                    description: &description,
                    origin: &origin,
                    unknown,
                    pinned,
                    call,
                    ran,
                    goes_on,
                    since,
                };
                let tracked = self.record_first(&capture, &recording)?;
                Settled { baseline: tracked.snapshot.sequence_number, unknown: Vec::new(), warnings: tracked.warnings }
            }
            Some(last) => {
                let (changes, unseen) = self.workspace.differing(self.opened, &last, &capture)?;
                let tree = self.workspace.without_theirs(
                    self.opened,
                    &capture,
                    &changes,
                    &[],
                    &other_calls(self.opened, None)?,
                )?;
                let not_seen: BTreeSet<&RelPath> = unseen.iter().map(|unseen| &unseen.path).collect();
                let mut changes = self.opened.files.compare(&last.tree, &tree)?;
                changes.retain(|change| !not_seen.contains(&change.path));
                let config = &self.config()?.snapshots;
                let patterns = backsight_files::Patterns::new(&config.exclude_from_checking);
                let found = unknown(&changes, &patterns).0;
                let is_strict = config.unknown_change_strategy == Strategy::Strict;
                if is_strict && config.enable_unknown_change_detection && !found.is_empty() {
                    return Err(mismatch(&found, "starting the session"));
                }
                if changes.is_empty() {
                    Settled { baseline: last.snapshot.sequence_number, ..Settled::default() }
                } else {
                    let (step, warnings) = self.record_external(&capture, tree, &changes, false, None)?;
                    Settled { baseline: step.snapshot.sequence_number, unknown: found, warnings }
                }
            }
        };
        self.save_cache(&mut capture)?;
        Ok(settled)
    }
}

/// What a session begins with.
#[derive(Default)]
struct Settled {
    baseline: Seq,
    unknown: Vec<UnknownChange>,
    warnings: Vec<String>,
}

impl Story {
    /// The message that a caller means by its id or the beginning of it; what means none is left as it is.
    fn message_id(&self, typed: &str) -> Result<String> {
        let found = short::find(OriginColumn::Message, typed, self.session.messages())?;
        Ok(found.unwrap_or(typed).to_owned())
    }

    /// The same for a part of a message.
    fn part_id(&self, message: &str, typed: &str) -> Result<String> {
        let found = short::find(OriginColumn::Part, typed, self.session.parts(message))?;
        Ok(found.unwrap_or(typed).to_owned())
    }

    fn exists(&self) -> bool {
        self.known.is_some() || !self.steps.is_empty() || !self.seen.is_empty() || !self.open.is_empty()
    }

    /// When a session that nobody started was first seen, and the row before it.
    fn began(&self) -> Option<(Timestamp, Seq)> {
        let of_step = self.steps.first().map(|step| {
            let seq = step.snapshot.sequence_number;
            // The first snapshot of all has nothing before it, so it is the baseline itself.
            (step.snapshot.timestamp, if step.base.is_some() { Seq(seq.0.saturating_sub(1)) } else { seq })
        });
        let of_message = self.seen.first().map(|seen| (seen.at, seen.seen));
        let of_call = self.open.first().map(|call| (call.since, call.based_on));
        [of_step, of_message, of_call].into_iter().flatten().min_by_key(|(at, seq)| (*seq, *at))
    }

    fn last_at(&self) -> Option<Timestamp> {
        let steps = self.steps.iter().map(|step| step.snapshot.timestamp);
        let messages = self.seen.iter().map(|seen| seen.finished.unwrap_or(seen.at));
        steps.chain(messages).chain(self.open.iter().map(|call| call.since)).max()
    }

    /// Where the session is reverted to.
    fn reverted_to(&self) -> Option<Place<'_>> {
        let row = self.session.chain().last().map(|row| row.seq)?;
        let step = self.step(row)?;
        match step.mark() {
            Some(SessionMark::Revert { message, part }) => self.session.place(message, part.as_deref()).ok(),
            _ => None,
        }
    }

    fn step(&self, seq: Seq) -> Option<&Step> {
        self.steps.iter().find(|step| step.snapshot.sequence_number == seq)
    }

    /// The tree before the first of the reverts in effect: what an unrevert goes back to.
    fn before_reverts(&self) -> Option<ObjectId> {
        let first = self.session.chain().first().map(|row| row.seq)?;
        self.step(first)?.base.map(|base| base.id)
    }

    fn revert_info(&self, diff: Option<String>) -> Option<RevertInfo> {
        let place = self.reverted_to()?;
        Some(RevertInfo {
            message_id: place.message.to_owned(),
            part_id: place.part.map(str::to_owned),
            snapshot: self.before_reverts(),
            diff,
        })
    }

    fn way_back(&self) -> WayBack {
        match self.session.unrevert() {
            Ok(_) => WayBack { possible: true, cause: None, reason: None },
            Err(why) => WayBack { possible: false, cause: Some(cause(why)), reason: Some(reason(why)) },
        }
    }

    /// The session's own steps, with the message each belongs to, oldest first.
    fn work(&self, opened: &Opened) -> Result<Vec<(SessionStep, Option<String>)>> {
        let is_work: BTreeSet<Seq> =
            self.session.rows().iter().filter(|row| row.is_work()).map(|row| row.seq).collect();
        let steps = self.steps.iter().filter(|step| is_work.contains(&step.snapshot.sequence_number));
        steps.map(|step| Ok((self.session_step(opened, step)?, step.snapshot.origin.message.clone()))).collect()
    }

    /// Files that the session left behind and that the latest snapshot does not hold: others removed them since.
    fn gone(&self, opened: &Opened) -> Result<BTreeSet<RelPath>> {
        let Some(latest) = opened.timeline.latest()? else { return Ok(BTreeSet::new()) };
        let mut left = BTreeMap::new();
        let is_there = |row: &&SessionRow| row.is_work() && self.session.is_in_effect(row.seq);
        for row in self.session.rows().iter().filter(is_there) {
            for file in opened.timeline.touched_by(row.seq)?.into_iter().filter(|file| !file.external) {
                left.insert(file.path, file.after.is_some());
            }
        }
        let mut gone = BTreeSet::new();
        for (path, _) in left.into_iter().filter(|(_, is_left)| *is_left) {
            if opened.files.find(&latest.tree, None, &path)?.is_none() {
                gone.insert(path);
            }
        }
        Ok(gone)
    }

    fn session_step(&self, opened: &Opened, step: &Step) -> Result<SessionStep> {
        let snapshot = &step.snapshot;
        let touched = opened.timeline.touched_by(snapshot.sequence_number)?;
        Ok(SessionStep {
            sequence_number: snapshot.sequence_number,
            id: snapshot.id.clone(),
            tree: snapshot.tree,
            part: snapshot.origin.part.clone(),
            timestamp: snapshot.timestamp,
            description: snapshot.description.clone(),
            tool: snapshot.origin.tool.clone(),
            files: touched.into_iter().filter(|file| !file.external).map(|file| file.path).collect(),
            lines_added: snapshot.lines_added,
            lines_removed: snapshot.lines_removed,
            in_effect: self.session.is_in_effect(snapshot.sequence_number),
        })
    }
}

fn brief(opened: &Opened, story: &Story) -> Result<Session> {
    let began = story.began();
    let (started_at, baseline) = match &story.known {
        Some(known) => (known.started, Some(known.baseline)),
        None => (began.map_or(Timestamp(0), |(at, _)| at), began.map(|(_, seq)| seq)),
    };
    let baseline = match baseline {
        Some(seq) => opened.timeline.latest_snapshot_at(seq)?,
        None => None,
    };
    let Conversation { client, title } = conversation::known(opened, &story.id)?;
    Ok(Session {
        id: story.id.clone(),
        title,
        client,
        started_at,
        last_at: story.last_at().unwrap_or(started_at).max(started_at),
        baseline: baseline.as_ref().map(|step| step.snapshot.sequence_number),
        baseline_tree: baseline.map(|step| step.tree.id),
        message_count: story.session.messages().len() as u64,
        step_count: story.session.rows().iter().filter(|row| row.is_work()).count() as u64,
        open_calls: story.open.clone(),
        revert: story.revert_info(None),
    })
}

fn numbers_of(steps: &[SessionStep], part: &str) -> Vec<Seq> {
    steps.iter().filter(|step| step.part.as_deref() == Some(part)).map(|step| step.sequence_number).collect()
}

fn files_of<'a>(steps: impl Iterator<Item = &'a SessionStep>) -> Vec<RelPath> {
    let files: BTreeSet<RelPath> = steps.filter(|step| step.in_effect).flat_map(|step| step.files.clone()).collect();
    files.into_iter().collect()
}

fn cause(why: NoWayBack) -> NoUnrevert {
    match why {
        NoWayBack::NeverReverted => NoUnrevert::NeverReverted,
        NoWayBack::TakenBack { .. } => NoUnrevert::TakenBack,
        NoWayBack::Closed { .. } => NoUnrevert::Closed,
    }
}

fn reason(why: NoWayBack) -> String {
    match why {
        NoWayBack::NeverReverted => "it was never reverted".to_owned(),
        NoWayBack::TakenBack { revert, by } => format!("its revert {revert} was taken back already, by {by}"),
        NoWayBack::Closed { revert, by } => {
            format!("a new turn of it at {by} closed the way back from its revert {revert}")
        }
    }
}

fn not_found(id: &str, known: &[String]) -> Error {
    let shown = quote(id.as_bytes());
    let mut sorted = known.to_vec();
    sorted.sort_unstable();
    let names: Vec<String> = known.iter().take(5).map(|id| quote(short::short(id, &sorted).as_bytes())).collect();
    let which = match (names.len(), known.len()) {
        (0, _) => "there is no session yet".to_owned(),
        (some, all) if some < all => format!("some of the {all} sessions are {}", names.join(", ")),
        _ => format!("the sessions are {}", names.join(", ")),
    };
    Error::new(Code::SessionNotFound, format!("no session answers to `{shown}`: {which}"))
        .then("list them", NextStep::ListSessions)
        .or("start one", NextStep::StartSession)
        .with_details(serde_json::json!({ "session": id }))
}

/// The error for a message or part that the session does not have.
fn missing(story: &Story, message: &str, part: Option<&str>, what: Missing) -> Error {
    let (id, shown) = (quote(story.id.as_bytes()), quote(message.as_bytes()));
    let list = |names: Vec<&str>| -> String {
        let mut sorted: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        sorted.sort_unstable();
        let newest = names.iter().rev().take(5).rev().map(|name| quote(short::short(name, &sorted).as_bytes()));
        let newest: Vec<String> = newest.collect();
        newest.join(", ")
    };
    let text = match what {
        Missing::Message => match list(story.session.messages()) {
            none if none.is_empty() => format!("session `{id}` has no message `{shown}`: it has none yet"),
            some => format!("session `{id}` has no message `{shown}`; its latest are {some}"),
        },
        Missing::Part => {
            let part = quote(part.unwrap_or_default().as_bytes());
            match list(story.session.parts(message)) {
                none if none.is_empty() => format!("message `{shown}` of session `{id}` has no parts, so no `{part}`"),
                some => format!("message `{shown}` of session `{id}` has no part `{part}`; its parts are {some}"),
            }
        }
    };
    Error::new(Code::MessageNotFound, text)
        .then("see its messages", NextStep::ShowSession { id: id.to_string() })
        .with_details(serde_json::json!({ "session": story.id, "messageID": message, "partID": part }))
}

/// Whether a call was begun for just this message, or part of it.
fn is_of(call: &Call, session: &str, message: Option<&str>, part: Option<&str>) -> bool {
    let origin = &call.origin;
    origin.session.as_deref() == Some(session) && origin.message.as_deref() == message && origin.part.as_deref() == part
}

/// The word for a phase, as a caller spells it.
fn spelling(phase: Phase) -> &'static str {
    match phase {
        Phase::Before => "before",
        Phase::After => "after",
        Phase::None => "none",
    }
}
