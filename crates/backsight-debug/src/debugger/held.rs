//! One session and what is kept of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result};

use super::answer::{Moved, SessionView};
use super::shelf::Shelf;
use super::{SLICE, usage};
use crate::session::{BreakpointRequest, Control, Executed, Outcome, Place, Session, State, counts_hits};
use crate::testing::{Framework, ThrownError};

/// How much of what a program printed is told with where it is.
const PRINTED: usize = 600;

/// A moment of a session, from which on what happens is told.
pub(super) struct Since {
    started: Instant,
    printed: u64,
    captured: u64,
}

impl Since {
    /// Its beginning, as far as what it did goes.
    pub(super) fn beginning() -> Self {
        Since { started: Instant::now(), printed: 0, captured: 0 }
    }
}

/// What is debugged.
pub(super) struct Subject {
    /// In words.
    pub program: String,
    /// What runs the test that it is.
    pub framework: Option<Framework>,
    /// Whose files are the project's own.
    pub root: PathBuf,
    /// What failed the test in a run before this one.
    pub fails_by: Option<ThrownError>,
}

/// One session.
pub(super) struct Held {
    pub subject: Subject,
    pub session: Session,
    pub shelf: Arc<Shelf>,
}

impl Held {
    pub(super) fn new(subject: Subject, session: Session, shelf: Arc<Shelf>) -> Self {
        let at_end = Arc::clone(&shelf);
        session.at_end(move |state| at_end.end(&why(&state), matches!(state, State::Exited { .. })));
        Held { subject, session, shelf }
    }

    pub(super) fn name(&self) -> &str {
        &self.shelf.session
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.session.status().state, State::Exited { .. } | State::Disconnected { .. })
    }

    /// The present moment.
    pub(super) fn now(&self) -> Since {
        let printed = self.session.status().output;
        Since { started: Instant::now(), printed, captured: self.shelf.captured() }
    }

    /// The session is over, or shall be: what was kept of it is cleared.
    pub(super) fn end(&self, reason: &str) {
        match self.session.status().state {
            state @ State::Exited { .. } => self.shelf.end(&why(&state), true),
            state @ State::Disconnected { .. } => self.shelf.end(&why(&state), false),
            _ => self.shelf.end(reason, false),
        }
    }

    /// Its name is free again: nothing is kept of it.
    pub(super) fn close(&self, reason: &str) {
        self.end(reason);
        self.shelf.close();
    }

    pub(super) fn control(
        &self,
        control: Control,
        thread: Option<i64>,
        wait: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Moved> {
        let since = self.now();
        let outcome = self.session.control(control, thread, wait.min(SLICE))?;
        self.settle(outcome, &since, wait, cancelled)
    }

    /// Waits until the program pauses or ends, or the limit comes, and tells where it is.
    pub(super) fn settle(
        &self,
        mut outcome: Outcome,
        since: &Since,
        wait: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Moved> {
        loop {
            if self.is_expected(&outcome) {
                outcome = self.session.control(Control::Continue, None, Duration::ZERO)?;
            }
            let Outcome::StillRunning { waited_ms } = &mut outcome else { break };
            *waited_ms = since.started.elapsed().as_millis() as u64;
            let left = wait.saturating_sub(since.started.elapsed());
            if left.is_zero() {
                break;
            }
            if cancelled() {
                return Err(Error::new(Code::Cancelled, "the wait was taken back; the program goes on"));
            }
            outcome = self.session.wait(left.min(SLICE))?;
        }
        let (mut test, variables) = self.tested(&mut outcome);
        self.explain(&mut outcome);
        for text in test.iter_mut().flat_map(|test| [&mut test.message, &mut test.note]).flatten() {
            *text = self.shelf.redactor().spoken(text);
        }
        match &mut outcome {
            Outcome::Stopped(stop) => self.shelf.note_stop(stop),
            Outcome::StillRunning { .. } => {}
            // Whoever is told that it is over finds nothing kept any more.
            Outcome::Exited { .. } | Outcome::Disconnected { .. } => self.end("it was ended"),
        }
        let (printed, printed_before) = self.printed(since.printed);
        let unbound = self.session.status().breakpoints.into_iter().filter(|breakpoint| !breakpoint.bound).collect();
        let captured = self.shelf.captured().saturating_sub(since.captured);
        let session = self.name().to_owned();
        let executed = Executed::default();
        Ok(Moved { session, outcome, test, variables, printed, printed_before, captured, unbound, executed })
    }

    /// Says why a program that should have gone on is paused, and nothing secret.
    fn explain(&self, outcome: &mut Outcome) {
        let redactor = self.shelf.redactor();
        let stop = match outcome {
            Outcome::Stopped(stop) => stop,
            Outcome::Disconnected { reason } => return *reason = redactor.spoken(reason),
            Outcome::StillRunning { .. } | Outcome::Exited { .. } => return,
        };
        stop.stop.description = stop.stop.description.as_deref().map(|about| redactor.spoken(about));
        stop.stop.problem = stop.stop.problem.as_deref().map(|problem| redactor.spoken(problem));
        if let Some(exception) = &mut stop.stop.exception {
            exception.message = exception.message.as_deref().map(|message| redactor.spoken(message));
            for earlier in &mut exception.chain {
                earlier.message = earlier.message.as_deref().map(|message| redactor.spoken(message));
            }
        }
        let Some(name) = &stop.point else { return };
        if let Some(problem) = self.shelf.with_point(name, |point| point.problem()).flatten() {
            let problem = redactor.spoken(&problem);
            stop.stop.description = Some(format!("snapshot point `{name}` could not capture: {problem}"));
        }
    }

    /// The end of what was printed since a piece, and how many bytes came before it.
    fn printed(&self, since: u64) -> (Option<String>, u64) {
        let page = self.session.output(since, usize::MAX);
        let pieces = page.pieces.iter().filter(|piece| matches!(&*piece.category, "stdout" | "stderr"));
        let all: String = pieces.map(|piece| piece.text.as_str()).collect();
        let all = self.shelf.redactor().spoken(&all);
        let before = all.ceil_char_boundary(all.len().saturating_sub(PRINTED));
        let end = all.get(before..).unwrap_or_default();
        ((!end.is_empty()).then(|| end.to_owned()), before as u64)
    }

    pub(super) fn view(&self, outcome: Option<Outcome>) -> SessionView {
        let status = self.session.status();
        let mut outcome = outcome.unwrap_or_else(|| match status.state {
            State::Exited { code } => Outcome::Exited { code },
            State::Disconnected { reason } => Outcome::Disconnected { reason },
            State::Stopped(stop) => Outcome::stopped(status.epoch, stop),
            State::Starting | State::Running => Outcome::StillRunning { waited_ms: 0 },
        });
        self.explain(&mut outcome);
        SessionView {
            session: self.name().to_owned(),
            adapter: status.adapter,
            program: self.subject.program.clone(),
            attached: status.attached,
            process: status.process,
            outcome,
            bound_count: status.breakpoints.iter().filter(|breakpoint| breakpoint.bound).count(),
            breakpoint_count: status.breakpoints.len(),
            snapshots: self.shelf.count(),
            cleared_snapshots: self.shelf.cleared_at_end(),
            output_next: status.output,
            misread: status.misread,
            executed: status.executed,
        }
    }
}

fn why(state: &State) -> String {
    match state {
        State::Exited { code: Some(code) } => format!("the program ended with exit code {code}"),
        State::Exited { code: None } => "the program ended".to_owned(),
        State::Disconnected { reason } => reason.clone(),
        State::Starting | State::Running | State::Stopped(_) => "it was ended".to_owned(),
    }
}

/// Makes a breakpoint's file absolute, and refuses what no program has.
pub(super) fn check(request: &mut BreakpointRequest, root: &Path) -> Result<()> {
    match &mut request.at {
        Place::Line { file, line: number } => {
            *file = source(root, file)?;
            line(*number)?;
        }
        Place::Function(name) | Place::Exception(name) if name.trim().is_empty() => {
            return Err(usage("a breakpoint needs a line of a file, a function or an exception"));
        }
        Place::Function(_) | Place::Exception(_) => {}
    }
    match request.hit_count.as_deref() {
        Some(count) if !counts_hits(count) => {
            Err(usage(format!("`{}` is no count of hits: write `5`, `>= 5` or `% 5`", crate::render::safe(count))))
        }
        _ => Ok(()),
    }
}

/// A source file by its path, which must exist: a mistyped one would never be hit.
pub(super) fn source(root: &Path, file: &Path) -> Result<PathBuf> {
    let path = root.join(file);
    path.canonicalize().map_err(|_| {
        Error::new(Code::PathNotFound, format!("there is no file `{}`", file.display()))
            .with_hint("see that the path is right and the file is there")
    })
}

pub(super) fn line(line: u32) -> Result<u32> {
    if line == 0 { Err(usage("lines are counted from 1")) } else { Ok(line) }
}
