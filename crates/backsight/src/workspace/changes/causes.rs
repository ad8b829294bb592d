//! Because of what: the steps that can have broken something, with what they changed, handed to the ranking (`cause.rs`).

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use backsight_browser::entry::Entry;
use backsight_browser::event::Side;
use backsight_browser::report::{
    Changes, DisconnectionEntry, FailureEntry, MessageEntry, PendingEntry, SocketErrorEntry,
};
use backsight_core::{ObjectId, RelPath, Result, Seq, Timestamp, bounded};
use backsight_diff::{is_binary, line_origins, split_lines};

use super::super::conversation;
use super::{Opened, Window, Workspace};
use crate::cause::{self, Candidate, Suspicion, Touch, TouchedText, Trouble};
use crate::report::{Because, Certainty, EvidenceKind, Kind};
use crate::timeline::Step;

/// Steps that are considered, the newest before the trouble.
const STEPS: usize = 64;
/// Files of a step that are read,
const FILES: usize = 40;
/// and how large each may be.
const LARGEST: u64 = 256 << 10;
/// Steps whose changes are remembered.
const REMEMBERED: usize = 512;
/// Others that are named beside the suspect.
const ALSO: usize = 3;
/// Lines before and after a change that belong to it.
const BESIDE: usize = 3;
/// Words of an answer's body that are looked for in the code.
const BODY_WORDS: usize = 40;
/// Characters by which something is called that has no id.
const NAMED: usize = 60;
/// Places that a text names, at most.
const PLACES: usize = 16;
/// Directories of the workspace's root that may be a server's root.
const TOPS: usize = 100;

/// What steps changed, by their number: steps never change.
#[derive(Default)]
pub(super) struct Cache(Mutex<HashMap<Seq, Arc<Candidate>>>);

/// Something that broke, as the answer tells it.
pub(super) struct Broken {
    /// Its id, or its words where it has none.
    entry: String,
    /// Whether it is no error: then it is only told which step explains it, when one does.
    pub(super) is_lesser: bool,
    /// When first.
    first: Timestamp,
    trouble: Trouble,
}

impl Workspace {
    /// What the app's answer says is broken and new, the worst first.
    pub(super) fn troubles(&self, app: &Changes) -> Result<Vec<Broken>> {
        let browser = self.browser()?;
        let whole = |id: &String| browser.entry(id).ok();
        let console = app.console.iter().flat_map(|console| &console.errors).filter(|entry| !entry.recurring);
        let failed = app.network.iter().flat_map(|network| network.failures.iter().chain(&network.mistyped));
        let sockets = app.websocket.iter().flat_map(|sockets| sockets.errors.iter().filter(|error| !error.recovered));
        let mut found: Vec<Broken> = console.map(|entry| said(entry, whole(&entry.id), app)).collect();
        found.extend(failed.map(|entry| failed_request(entry, whole(&entry.id), app)));
        found.extend(sockets.map(|entry| broken_socket(entry, whole(&entry.id), app)));
        let warned = app.console.iter().flat_map(|console| &console.warnings).filter(|entry| !entry.recurring);
        let closed = app.websocket.iter().flat_map(|sockets| &sockets.disconnections);
        let closed = closed.filter(|entry| !entry.reconnected && entry.by != Some(Side::Page));
        let waiting = app.network.iter().flat_map(|network| &network.pending);
        let mut lesser: Vec<Broken> = closed.map(|entry| lost_socket(entry, whole(&entry.id), app)).collect();
        lesser.extend(waiting.map(|entry| unanswered(entry, app)));
        lesser.extend(warned.map(|entry| said(entry, whole(&entry.id), app)));
        found.extend(lesser.into_iter().map(|broken| Broken { is_lesser: true, ..broken }));
        Ok(found)
    }

    /// The entries of the app's answer that have a place in the order of things, each with when it was: what broke when it
    /// first did, what recovered when it last did. And how many have none, since they are no longer kept.
    pub(super) fn moments(&self, app: &Changes) -> Result<(Vec<(Timestamp, String)>, u64)> {
        let browser = self.browser()?;
        let said = app.console.iter().flat_map(|console| console.errors.iter().chain(&console.warnings));
        let requests = app.network.iter().flat_map(|network| network.failures.iter().chain(&network.mistyped));
        let sockets = app.websocket.iter().flat_map(|sockets| &sockets.errors);
        let closed = app.websocket.iter().flat_map(|sockets| &sockets.disconnections);
        let began = said.map(|entry| &entry.id).chain(requests.map(|entry| &entry.id));
        let began = began.chain(sockets.map(|entry| &entry.id)).chain(closed.map(|entry| &entry.id));
        let recovered = app.network.iter().flat_map(|network| &network.recovered).map(|entry| &entry.id);
        let began = began.map(|id| (id, false)).chain(recovered.map(|id| (id, true)));
        let (mut found, mut gone) = (Vec::new(), 0);
        for (id, has_recovered) in began {
            match browser.entry(id) {
                Ok(entry) if has_recovered => found.push((entry.last, id.clone())),
                Ok(entry) => found.push((first_of(Some(&entry), app, 0), id.clone())),
                Err(_) => gone += 1,
            }
        }
        Ok((found, gone))
    }

    /// Which step explains it: one of the window, or one before it when more than the time speaks for that one. What was made
    /// before the client's last look may show its effect only after it.
    pub(super) fn because(&self, opened: &Opened, broken: &Broken, window: &Window) -> Result<Because> {
        let within = self.explained(opened, broken, window, window.since)?;
        if within.certainty.has_evidence() {
            return Ok(within);
        }
        let further = self.explained(opened, broken, window, Seq(0))?;
        Ok(if further.certainty.has_evidence() { further } else { within })
    }

    fn explained(&self, opened: &Opened, broken: &Broken, window: &Window, since: Seq) -> Result<Because> {
        let (passed_over, steps) = self.suspects(opened, broken, since, window.until)?;
        let mut candidates = steps.iter().map(|step| self.candidate(opened, step)).collect::<Result<Vec<_>>>()?;
        if !window.disk.changes.is_empty() {
            candidates.push(Arc::new(self.unrecorded(opened, window)));
        }
        let changed: BTreeSet<RelPath> =
            candidates.iter().flat_map(|candidate| &candidate.files).map(|file| file.path.clone()).collect();
        let places = broken.trouble.places.iter().map(|(place, line)| (self.known_place(place), *line)).collect();
        let trouble = Trouble { places, words: broken.trouble.words.clone() };
        let read = Mutex::new(HashMap::new());
        let imported = |from: &RelPath| self.imported(from, &changed, &read);
        let ranked = cause::rank(&trouble, &candidates, &imported);
        let because = explained(broken, &steps, &ranked);
        let passed_over = passed_over * u64::from(!because.certainty.has_evidence());
        let suspect = ranked.first().and_then(|first| steps.get(first.candidate));
        let title = match suspect {
            Some(step) => conversation::asked_for(opened, &step.snapshot.origin)?,
            None => None,
        };
        Ok(Because { passed_over, title, ..because })
    }

    /// The steps after `since` that began before it happened, the newest last; and how many older ones are not considered.
    fn suspects(&self, opened: &Opened, broken: &Broken, since: Seq, until: Seq) -> Result<(u64, Vec<Step>)> {
        // What was recorded later may have been made before, by a tool that ran or a user whose edit was found.
        let until = opened.timeline.first_step_after(broken.first)?.unwrap_or(until);
        let (all, mut steps) = opened.timeline.newest_steps(since, until, STEPS)?;
        let passed_over = all - steps.len() as u64;
        let mut before = None;
        steps.retain(|step| {
            let began = began(step, before);
            before = Some(step.snapshot.timestamp);
            // The first snapshot is what recording began with, not something that was done.
            began <= broken.first && step.base.is_some()
        });
        Ok((passed_over, steps))
    }

    /// What a step changed, read once.
    fn candidate(&self, opened: &Opened, step: &Step) -> Result<Arc<Candidate>> {
        let seq = step.snapshot.sequence_number;
        let cache = &self.shared.places.causes.0;
        if let Some(known) = cache.lock().unwrap_or_else(PoisonError::into_inner).get(&seq) {
            return Ok(known.clone());
        }
        let read = |path: &RelPath, id: Option<ObjectId>| match id {
            Some(id) => opened.files.content_up_to(LARGEST, None, path, &id).unwrap_or_default(),
            None => Vec::new(),
        };
        let touched = opened.timeline.touched_by(seq)?.into_iter().take(FILES);
        let files = touched.map(|file| {
            let (before, after) = (read(&file.path, file.before), read(&file.path, file.after));
            touched_text(file.path, &before, &after)
        });
        let made = Arc::new(Candidate { files: files.collect() });
        let mut known = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(seq, made.clone());
        Ok(made)
    }

    /// What differs on disk and no step holds.
    fn unrecorded(&self, opened: &Opened, window: &Window) -> Candidate {
        let files = window.disk.changes.iter().take(FILES).map(|change| {
            let path = &change.file_path;
            let before = change.expected_hash.and_then(|id| opened.files.content_up_to(LARGEST, None, path, &id));
            touched_text(path.clone(), &before.unwrap_or_default(), &text_of(&self.root, path).unwrap_or_default())
        });
        Candidate { files: files.collect() }
    }

    /// A place as a file of the workspace, if it is one: programs name it from the root of the disk, and a server's root may
    /// be a directory of the workspace.
    pub(super) fn known_place(&self, place: &str) -> String {
        let bare = cause::bare(place);
        let root = self.root.to_string_lossy();
        let below = bare.trim_start_matches('/').strip_prefix(root.trim_start_matches('/'));
        if let Some(below) = below.and_then(|below| below.strip_prefix('/')) {
            return below.to_owned();
        }
        let bare = bare.trim_start_matches('/');
        let is_there = |path: &str| !path.is_empty() && self.root.join(path).is_file();
        if is_there(bare) {
            return bare.to_owned();
        }
        let tops = std::fs::read_dir(&self.root).into_iter().flatten().flatten().take(TOPS);
        let mut found = tops.map(|top| format!("{}/{bare}", top.file_name().to_string_lossy()));
        found.find(|path| is_there(path)).unwrap_or_else(|| place.to_owned())
    }

    /// Those of `known`, and all that lead to them, that a file imports, as it is on disk now.
    fn imported(&self, from: &RelPath, known: &BTreeSet<RelPath>, read: &Imported) -> BTreeSet<RelPath> {
        if let Some(found) = read.lock().unwrap_or_else(PoisonError::into_inner).get(from) {
            return found.clone();
        }
        let text = text_of(&self.root, from).unwrap_or_default();
        let found = cause::imports(from, &String::from_utf8_lossy(&text), known);
        read.lock().unwrap_or_else(PoisonError::into_inner).insert(from.clone(), found.clone());
        found
    }
}

/// What files import, once it was read.
type Imported = Mutex<HashMap<RelPath, BTreeSet<RelPath>>>;

/// A file of the workspace as it is on disk, unless it is large.
fn text_of(root: &Path, path: &RelPath) -> Option<Vec<u8>> {
    bounded::read(&root.join(path.as_path()), LARGEST).ok()
}

/// When a step may have begun: a tool call when it began, what was found on disk when the disk was last looked at.
fn began(step: &Step, before: Option<Timestamp>) -> Timestamp {
    let Step { snapshot, .. } = step;
    let is_found = matches!(snapshot.kind, Kind::External | Kind::Safety) || snapshot.origin.tool.is_none();
    let ran = i64::try_from(snapshot.execution_time_ms.unwrap_or(0)).unwrap_or(0);
    match before.filter(|_| is_found) {
        Some(before) => before,
        None if is_found => Timestamp(0),
        None => Timestamp(snapshot.timestamp.0 - ran),
    }
}

fn explained(broken: &Broken, steps: &[Step], ranked: &[Suspicion]) -> Because {
    let name = |suspicion: &Suspicion| match steps.get(suspicion.candidate) {
        Some(step) => step.snapshot.sequence_number.to_string(),
        None => "now".to_owned(),
    };
    let first = ranked.first();
    let origin = first.and_then(|first| steps.get(first.candidate)).map(|step| &step.snapshot.origin);
    let is_near = |other: &&Suspicion| first.is_some_and(|first| other.weight * 2 >= first.weight) && !is_guess(other);
    Because {
        entry: broken.entry.clone(),
        certainty: first.map_or(Certainty::Unexplained, certainty),
        step: first.map(name),
        by: origin.and_then(|origin| origin.tool.clone()),
        session: origin.and_then(|origin| origin.session.clone()),
        title: None,
        evidence: first.map(|first| first.evidence.clone()).unwrap_or_default(),
        passed_over: 0,
        also: ranked.iter().skip(1).filter(is_near).take(ALSO).map(name).collect(),
    }
}

fn is_guess(suspicion: &Suspicion) -> bool {
    suspicion.evidence.iter().all(|evidence| evidence.kind == EvidenceKind::Time)
}

fn certainty(suspicion: &Suspicion) -> Certainty {
    let kinds: BTreeSet<EvidenceKind> = suspicion.evidence.iter().map(|evidence| evidence.kind).collect();
    match kinds.iter().filter(|kind| !matches!(kind, EvidenceKind::Time | EvidenceKind::Near)).count() {
        _ if kinds.contains(&EvidenceKind::Line) => Certainty::Likely,
        0 if kinds.contains(&EvidenceKind::Near) => Certainty::Possible,
        0 => Certainty::Guess,
        1 => Certainty::Possible,
        _ => Certainty::Likely,
    }
}

fn said(entry: &MessageEntry, whole: Option<Entry>, app: &Changes) -> Broken {
    let said = whole.as_ref().and_then(|whole| whole.console.as_ref());
    let message = said.map_or(entry.message.as_str(), |said| said.message.as_str());
    let stack = said.iter().flat_map(|said| &said.stack).map(|frame| (frame.file.clone(), frame.line));
    let places = place(&entry.source).into_iter().chain(stack).chain(places_in(message)).collect();
    let first = first_of(whole.as_ref(), app, entry.after_ms.unwrap_or(0));
    let trouble = Trouble { places, words: cause::words(message) };
    Broken::new(&entry.id, &entry.message, first, trouble)
}

impl Broken {
    fn new(id: &str, words: &str, first: Timestamp, trouble: Trouble) -> Broken {
        let entry = match id.is_empty() {
            true => words.chars().take(NAMED).collect(),
            false => id.to_owned(),
        };
        Broken { entry, first, trouble, is_lesser: false }
    }
}

fn failed_request(entry: &FailureEntry, whole: Option<Entry>, app: &Changes) -> Broken {
    let request = whole.as_ref().and_then(|whole| whole.network.as_ref());
    let body = request.and_then(|request| request.response_body.as_deref()).unwrap_or_default();
    // A request for a file of the workspace, and whatever the answer says of places in the server's code.
    let mut places = vec![(entry.path.clone(), 0)];
    places.extend(places_in(&entry.detail));
    places.extend(places_in(body));
    let mut words = cause::words(&entry.path);
    words.extend(cause::words(&entry.detail));
    words.extend(cause::words(body).into_iter().take(BODY_WORDS));
    let first = first_of(whole.as_ref(), app, 0);
    Broken::new(&entry.id, &format!("{} {}", entry.method, entry.path), first, Trouble { places, words })
}

/// A request that is not answered: it has no entry yet.
fn unanswered(entry: &PendingEntry, app: &Changes) -> Broken {
    let first = Timestamp(app.to.0 - entry.age_ms);
    let trouble = Trouble { places: vec![(entry.path.clone(), 0)], words: cause::words(&entry.path) };
    Broken::new("", &format!("{} {}", entry.method, entry.path), first, trouble)
}

fn lost_socket(entry: &DisconnectionEntry, whole: Option<Entry>, app: &Changes) -> Broken {
    let mut words = cause::words(&entry.url);
    words.extend(cause::words(&entry.close_reason));
    words.extend(entry.close_code.map(|code| code.to_string()));
    let first = first_of(whole.as_ref(), app, 0);
    Broken::new(&entry.id, &entry.url, first, Trouble { places: Vec::new(), words })
}

fn broken_socket(entry: &SocketErrorEntry, whole: Option<Entry>, app: &Changes) -> Broken {
    let mut words = cause::words(&entry.url);
    words.extend(cause::words(&entry.message));
    let first = first_of(whole.as_ref(), app, 0);
    Broken::new(&entry.id, &entry.url, first, Trouble { places: Vec::new(), words })
}

/// When it first happened within the window.
fn first_of(whole: Option<&Entry>, app: &Changes, after_ms: i64) -> Timestamp {
    let first = whole.map(|whole| whole.first).filter(|first| *first >= app.from);
    first.unwrap_or(Timestamp(app.from.0 + after_ms))
}

/// `src/Cart.jsx:19` or `src/Cart.jsx:19:7` as a place.
fn place(text: &str) -> Option<(String, u32)> {
    let (file, number) = text.rsplit_once(':')?;
    let number: u32 = number.parse().ok()?;
    // When another number stands before it, the last one was a column.
    place(file).or_else(|| file.contains('.').then(|| (file.to_owned(), number)))
}

/// The places that a text names: `src/Cart.jsx:19`, `File "app.py", line 24`.
fn places_in(text: &str) -> Vec<(String, u32)> {
    let python = text.split("File \"").skip(1).filter_map(|rest| {
        let (file, rest) = rest.split_once('"')?;
        let number = rest.strip_prefix(", line ")?;
        let digits = number.split(|character: char| !character.is_ascii_digit()).next()?;
        Some((file.to_owned(), digits.parse().ok()?))
    });
    // The last frame of a traceback is where it happened.
    let mut found: Vec<(String, u32)> = python.collect();
    found.reverse();
    let is_around = |character: char| character.is_whitespace() || "()[]{}<>\"'`,;".contains(character);
    found.extend(text.split(is_around).filter_map(|word| place(word.trim_end_matches(':'))));
    // Files that are missed are named without a line, and Python's modules with dots.
    let named: Vec<&str> = text.split(is_around).filter(|word| is_path(word)).collect();
    for file in named {
        if !found.iter().any(|(known, _)| known == file) {
            found.push((file.to_owned(), 0));
        }
    }
    let missed = text.split("No module named '").skip(1).filter_map(|rest| rest.split('\'').next());
    found.extend(missed.map(|module| (format!("{}.py", module.replace('.', "/")), 0)));
    found.truncate(PLACES);
    found
}

/// Whether a word looks like a path to a file.
fn is_path(word: &str) -> bool {
    let name = word.rsplit_once('/').map(|(_, name)| name);
    let ending = name.and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending);
    (1..=5).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// What was done to a text: which lines of it are new, and the words of what was added and removed.
fn touched_text(path: RelPath, before: &[u8], after: &[u8]) -> TouchedText {
    if is_binary(before) || is_binary(after) {
        let (words, near) = (BTreeSet::new(), BTreeSet::new());
        return TouchedText { path, lines: Vec::new(), words, near, how: Touch::Changed };
    }
    let (forward, backward) = (line_origins(before, after), line_origins(after, before));
    let (old, new) = (split_lines(before), split_lines(after));
    let added = new.iter().zip(&forward).filter(|(_, origin)| origin.is_none()).map(|(line, _)| line);
    let removed = old.iter().zip(&backward).filter(|(_, origin)| origin.is_none()).map(|(line, _)| line);
    let text: Vec<String> = added.chain(removed).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    let how = match backward.contains(&None) {
        _ if after.is_empty() && !before.is_empty() => Touch::Removed,
        true => Touch::Changed,
        false => Touch::Added,
    };
    let lines = changed_lines(&forward);
    let near = cause::words(&beside(&new, &lines));
    TouchedText { path, lines, words: cause::words(&text.join("\n")), near, how }
}

/// The lines before and after those that are new.
fn beside(lines: &[&[u8]], changed: &[RangeInclusive<u32>]) -> String {
    let at = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let around = changed.iter().map(|range| {
        let (start, end) = (at(*range.start()).saturating_sub(BESIDE + 1), at(*range.end()).saturating_add(BESIDE));
        start..end.min(lines.len())
    });
    let text = around.flat_map(|range| lines.get(range).unwrap_or_default());
    text.map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>().concat()
}

/// The new lines as ranges from one, and the two lines between which some were removed.
fn changed_lines(origins: &[Option<usize>]) -> Vec<RangeInclusive<u32>> {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    let mut add = |from: u32, to: u32| match ranges.last_mut() {
        Some(last) if *last.end() + 1 >= from => *last = *last.start()..=to.max(*last.end()),
        _ => ranges.push(from..=to),
    };
    let mut expected = 0;
    for (number, origin) in (1u32..).zip(origins) {
        match origin {
            None => add(number, number),
            Some(origin) => {
                if *origin > expected {
                    add(number.saturating_sub(1).max(1), number);
                }
                expected = origin + 1;
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_what_programs_say() {
        let traceback =
            "Traceback:\n  File \"/srv/app.py\", line 3, in main\n  File \"/srv/cart.py\", line 24, in total\nKeyError";
        assert_eq!(places_in(traceback), [("/srv/cart.py".to_owned(), 24), ("/srv/app.py".to_owned(), 3)]);
        let stack = "TypeError: no\n    at total (http://localhost:5173/src/Cart.jsx:19:7)\n    at src/api.ts:4";
        let expected = [("http://localhost:5173/src/Cart.jsx".to_owned(), 19), ("src/api.ts".to_owned(), 4)];
        assert_eq!(places_in(stack), expected);
        assert!(places_in("at 12:30:15 nothing, localhost:5173, a: 3").is_empty());
    }

    #[test]
    fn changed_lines_are_the_new_ones_and_those_around_what_was_removed() {
        let lines = |before: &str, after: &str| changed_lines(&line_origins(before.as_bytes(), after.as_bytes()));
        assert_eq!(lines("a\nb\nc\n", "a\nX\nc\n"), [2..=3]);
        assert_eq!(lines("a\nb\nc\nd\n", "a\nd\n"), [1..=2]);
        assert_eq!(lines("a\n", "a\nb\nc\n"), [2..=3]);
        assert!(lines("a\n", "a\n").is_empty());
    }
}
