//! A tool call: what was there before it began is not its own, what it wrote becomes its step.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, NextStep, RelPath, Result, Seq};
use backsight_files::{Capture, Patterns};

use super::track::{EXTERNAL, Recording, other_calls};
use super::writing::Writing;
use super::{Opened, Workspace, doubt};
use crate::names;
use crate::report::{Background, Begun, Call, Origin, Run, Snapshot, Tracked, UnknownChange};
use crate::request;
use crate::short::SHORTEST_PREFIX;
use crate::timeline::{OpenCall, Step};
use crate::unknown::{Decision, blind, decide, mismatch, unknown};

/// More than any agents have at once: each is looked at whenever a file changed.
const MOST_OPEN: usize = 256;

impl Workspace {
    /// Begins a tool call. What differs from the latest snapshot now was not done by the tool: the strategy says what
    /// becomes of it. `finish` then records what the tool wrote.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// # let root = directory.path();
    /// use backsight::request::{Begin, Finish};
    ///
    /// std::fs::write(root.join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// std::fs::write(root.join("notes.txt"), "by hand\n")?;
    ///
    /// let call = workspace.begin(&Begin::default())?;
    /// assert_eq!(call.unknown_changes[0].file_path.to_string(), "notes.txt");
    /// std::fs::write(root.join("a.txt"), "two\n")?;
    /// let step = workspace.finish(&Finish { call: call.call.id.to_string(), ..Finish::default() })?;
    /// assert_eq!(step.changes.len(), 1);
    ///
    /// workspace.undo(&Default::default())?;
    /// assert_eq!(std::fs::read_to_string(root.join("a.txt"))?, "one\n");
    /// assert!(root.join("notes.txt").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin(&self, request: &request::Begin) -> Result<Begun> {
        names::check_origin(&request.origin)?;
        let writing = self.writing()?;
        writing.begin_in(request)
    }

    /// Declared paths with those they lead to: who edits `AGENTS.md` edits `CLAUDE.md` where the one is a link to the
    /// other, and who edits a file below a link to a directory edits it where it is.
    pub(super) fn through_links(&self, declared: &[RelPath]) -> Vec<RelPath> {
        let mut paths = declared.to_vec();
        for path in declared {
            let real = resolved(&self.root.join(path.as_path()), MOST_LINKS);
            let below = real.as_ref().and_then(|real| real.strip_prefix(&self.root).ok());
            let real = below.and_then(|below| RelPath::new(below.as_os_str().as_bytes()).ok());
            paths.extend(real.filter(|real| !declared.contains(real)));
        }
        paths
    }

    fn opening(&self, based_on: Seq, request: &request::Begin) -> Result<Begun> {
        let (id, since) = (self.new_id()?, self.settings.now());
        let run = Run { title: request.title.clone(), ..Run::default() };
        Ok(Begun {
            call: Call { id, since, based_on, origin: request.origin.clone(), run },
            unknown_changes: Vec::new(),
            integrated: None,
            open_calls: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// Finishes a tool call: what changed since it began is its step. What changed before, or outside its declared
    /// write set, is somebody else's.
    pub fn finish(&self, request: &request::Finish) -> Result<Tracked> {
        let writing = self.writing()?;
        writing.finish_in(request, None)
    }

    /// The user is asked whether a tool call may run: what is written from now on may be the user's, until it is known
    /// when the tool ran.
    pub fn asked(&self, call: &str) -> Result<Call> {
        let writing = self.writing()?;
        let opened = writing.opened;
        let mut call = self.call(opened, call)?;
        call.call.run.asked = call.call.run.asked.or_else(|| Some(self.settings.now()));
        opened.timeline.replace_call(&call)?;
        Ok(call.call)
    }

    /// Gives a tool call up: nothing is recorded, and what it wrote counts like anybody's changes.
    pub fn abandon(&self, call: &str) -> Result<Call> {
        let writing = self.writing()?;
        let opened = writing.opened;
        let call = self.call(opened, call)?;
        opened.timeline.close_call(&call.call.id)?;
        Ok(call.call)
    }

    /// Tool calls that began and have not finished, oldest first.
    pub fn open_calls(&self) -> Result<Vec<Call>> {
        if self.store_path()?.is_none() {
            return Ok(Vec::new());
        }
        open_calls_in(self.opened()?)
    }

    fn call(&self, opened: &Opened, id: &str) -> Result<OpenCall> {
        let calls = opened.timeline.open_calls()?;
        let open: BTreeSet<String> = calls.iter().map(|call| call.call.id.to_string()).collect();
        let ids = || calls.iter().map(|call| call.call.id.as_str());
        let of_beginning: Vec<&str> =
            ids().filter(|open| id.len() >= SHORTEST_PREFIX && open.starts_with(id)).collect();
        let meant = match of_beginning.as_slice() {
            [one] => (*one).to_owned(),
            // The id itself, or none.
            _ => id.to_owned(),
        };
        calls.into_iter().find(|call| call.call.id.as_str() == meant).ok_or_else(|| {
            Error::new(
                Code::CallNotFound,
                format!(
                    "no tool call `{}` is open: it never began, or it has finished",
                    backsight_core::quote(id.as_bytes())
                ),
            )
            .then("begin one", NextStep::BeginCall)
            .or("see those that are open", NextStep::SeeStatus)
            .with_details(serde_json::json!({ "open_calls": open }))
        })
    }
}

impl Writing<'_> {
    /// The same for who holds the workspace lock.
    pub(super) fn begin_in(&self, request: &request::Begin) -> Result<Begun> {
        let others = other_calls(self.opened, None)?;
        if others.len() >= MOST_OPEN {
            let message = format!("{} tool calls are open, and no more are remembered", others.len());
            return Err(Error::new(Code::Busy, message)
                .then("see them", NextStep::SeeStatus)
                .or("end those that are over", NextStep::AbandonCall { call: None }));
        }
        let origin =
            Origin { declared: self.workspace.through_links(&request.origin.declared), ..request.origin.clone() };
        let request = &request::Begin { origin, ..request.clone() };
        let last = self.latest()?;
        let include = request.origin.declared.iter().map(|path| path.as_bytes().to_vec()).collect();
        let mut capture = self.capture(last.as_ref(), &include)?;
        let mut begun = match &last {
            None => self.begin_first(&capture, request)?,
            Some(last) => self.begin_after(last, &capture, &others, request)?,
        };
        let call = OpenCall { call: begun.call.clone(), start: capture.tree, coverage_id: capture.coverage_id };
        begun.open_calls = others.into_iter().map(|other| other.call).collect();
        self.save_cache(&mut capture)?;
        // Last: a call that nobody learned the id of must not stay open.
        self.opened.timeline.open_call(&call)?;
        Ok(begun)
    }

    fn begin_first(&self, capture: &Capture, request: &request::Begin) -> Result<Begun> {
        let origin = Origin { tool: Some(EXTERNAL.to_owned()), ..Origin::default() };
        let recording = Recording {
            description: "before the first tool call",
            origin: &origin,
            unknown: request.unknown,
            pinned: false,
            call: None,
            ran: None,
            goes_on: None,
            since: self.workspace.settings.now(),
        };
        let tracked = self.record_first(capture, &recording)?;
        Ok(Begun { warnings: tracked.warnings, ..self.workspace.opening(tracked.snapshot.sequence_number, request)? })
    }

    fn begin_after(
        &self,
        last: &Step,
        capture: &Capture,
        others: &[OpenCall],
        request: &request::Begin,
    ) -> Result<Begun> {
        let config = &self.config()?.snapshots;
        let (changes, unseen) = self.workspace.differing(self.opened, last, capture)?;
        // What may be another call's work is told apart when that call finishes.
        let tree = self.workspace.without_theirs(self.opened, capture, &changes, &[], others)?;
        let not_seen: BTreeSet<&RelPath> = unseen.iter().map(|unseen| &unseen.path).collect();
        let mut changes = self.opened.files.compare(&last.tree, &tree)?;
        changes.retain(|change| !not_seen.contains(&change.path));
        let found: Vec<UnknownChange> = if config.enable_unknown_change_detection {
            unknown(&changes, &Patterns::new(&config.exclude_from_checking)).0
        } else {
            Vec::new()
        };
        let strategy = request.unknown.strategy.unwrap_or(config.unknown_change_strategy);
        let decision = decide(strategy, request.unknown.force);
        let mut warnings = Vec::new();
        if config.enable_unknown_change_detection && !unseen.is_empty() {
            let problem = blind(&unseen, "the tool call");
            if decision == Decision::Refuse {
                return Err(problem);
            }
            warnings.push(problem.message().to_owned());
        }
        let begun = match Some(decision).filter(|_| !found.is_empty()) {
            Some(Decision::Refuse) => Err(mismatch(&found, "beginning the tool call")),
            Some(Decision::Integrate) => {
                let (step, more) = self.record_external(capture, tree, &changes, false, None)?;
                let seq = step.snapshot.sequence_number;
                warnings.extend(more);
                Ok(Begun { unknown_changes: found, integrated: Some(seq), ..self.workspace.opening(seq, request)? })
            }
            Some(Decision::List) | None => {
                Ok(Begun { unknown_changes: found, ..self.workspace.opening(last.snapshot.sequence_number, request)? })
            }
        };
        Ok(Begun { warnings, ..begun? })
    }

    /// The same for who holds the workspace lock; `tool` replaces the one named when the call began.
    pub(super) fn finish_in(&self, request: &request::Finish, tool: Option<&str>) -> Result<Tracked> {
        let call = self.workspace.call(self.opened, &request.call)?;
        let declared = match request.declared.is_empty() {
            true => call.call.origin.declared.clone(),
            false => self.workspace.through_links(&request.declared),
        };
        let tool = tool.map(str::to_owned).or_else(|| call.call.origin.tool.clone());
        let origin = Origin { tool, declared, ..call.call.origin.clone() };
        self.record(&Recording {
            description: &request.description,
            origin: &origin,
            unknown: request.unknown,
            pinned: request.pinned,
            since: call.call.since,
            call: Some(&call),
            ran: request.ran.or_else(|| doubt::unless_ended(&call.call)),
            goes_on: request.goes_on.as_ref(),
        })
    }

    /// Opens a call again whose step was just recorded, for what its command does from here on.
    pub(super) fn go_on(
        &self,
        call: &OpenCall,
        background: &Background,
        latest: &Snapshot,
        capture: &Capture,
    ) -> Result<()> {
        let run = Run { asked: None, background: Some(background.clone()), ..call.call.run.clone() };
        let open = Call { based_on: latest.sequence_number, run, ..call.call.clone() };
        self.opened.timeline.open_call(&OpenCall { call: open, start: capture.tree, coverage_id: capture.coverage_id })
    }
}

/// As many links as are followed for one path.
const MOST_LINKS: u32 = 40;

/// A path without links, also where its end does not exist yet.
fn resolved(path: &Path, links: u32) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let links = links.checked_sub(1)?;
    let (parent, name) = (path.parent()?, path.file_name()?);
    let path = resolved(parent, links)?.join(name);
    match path.read_link() {
        Ok(target) => resolved(&path.parent()?.join(target), links),
        Err(_) => Some(path),
    }
}

/// Tool calls that have not finished, oldest first.
pub(super) fn open_calls_in(opened: &Opened) -> Result<Vec<Call>> {
    Ok(opened.timeline.open_calls()?.into_iter().map(|call| call.call).collect())
}
