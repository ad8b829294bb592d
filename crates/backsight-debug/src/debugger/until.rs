//! What changed a value: the program goes on until it does, and the line that did it is told. A debugger that can watch memory
//! stops at the write itself; elsewhere the program is stepped, line by line through the project's own code, and looked at
//! after each step.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result};

use super::answer::{Until, UntilChange, WatchedBy};
use super::held::Held;
use super::tested::is_own;
use super::{Debugger, SLICE};
use crate::capture::{Capture, Node};
use crate::diff::{self, Options, preview};
use crate::session::{Control, FrameView, Outcome, Spot, StopReport};
use crate::walk::CapturePlan;
use crate::{path, redact};

/// How deep the value is captured, so that the change can be told by its own path.
const DEPTH: u32 = 3;
/// How deep the variable is captured when the path leads through entries that no expression names.
const PATH_DEPTH: u32 = 8;
/// How long a program that is told to pause at the limit may take to.
const PAUSE: Duration = Duration::from_secs(2);
/// How much of the value is told before and after.
const LONGEST: usize = 200;
/// A deeper stack is not followed.
const DEEPEST: usize = 1_000;

/// What to watch, and for how long.
#[derive(Clone, Debug)]
pub struct ChangeRequest {
    /// An expression in the program's language, or a path as answers write it.
    pub expression: String,
    /// The thread; without it the one that paused the program.
    pub thread: Option<i64>,
    /// The frame in which it is read, 0 is the innermost.
    pub frame: u32,
    /// How many steps, or writes that change nothing, at most.
    pub max_steps: u32,
    /// How long at most.
    pub wait: Duration,
}

impl Debugger {
    /// Lets the program go on until a value changes, and tells the line that did it; or until something else pauses the
    /// program, the value's call is over, or a limit comes. The breakpoints it stands at do not count.
    pub fn run_until_change(
        &self,
        name: Option<&str>,
        request: &ChangeRequest,
        options: &Options,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<UntilChange> {
        let held = self.session(name)?;
        let since = held.now();
        let mut run = Run::begin(&held, request, cancelled)?;
        let (watched_by, ended) = run.run();
        let ended = ended?;
        let outcome = match &ended {
            Ended::Over(outcome) => outcome.clone(),
            _ => held.session.outcome()?,
        };
        // A program that is gone has none.
        let value_frame = run.frame_now().ok().flatten();
        let Run { watched, by, steps, last, .. } = run;
        let ended = if matches!(outcome, Outcome::Stopped(_)) { ended } else { Ended::Over(outcome.clone()) };
        let changed = matches!(ended, Ended::Changed);
        let other_threads = if changed { others(&held) } else { 0 };
        let moved = held.settle(outcome, &since, Duration::ZERO, cancelled)?;
        let not_compared = watched.not_compared();
        let path = watched.path;
        let [before, after] = ends(&held, watched.before, last.filter(|_| changed))?;
        let options = Options { path: options.path.clone().or(Some(path.clone())), ..options.clone() };
        let diff = after.as_ref().zip(before.as_ref()).map(|(new, old)| diff::snapshot_diff(old, new, &options));
        let text = |capture: &Arc<Capture>| value_at(capture, &path).map(|node| preview(node, LONGEST));
        Ok(UntilChange {
            moved,
            expression: request.expression.clone(),
            changed,
            until: ended.until(),
            before: before.as_ref().and_then(text).unwrap_or_default(),
            after: after.as_ref().and_then(text),
            changed_by: by.filter(|_| changed),
            value_frame,
            watched_by,
            steps: u64::from(steps),
            other_threads,
            not_compared,
            diff,
        })
    }
}

/// Both ends without secrets; where the value changed they can be compared again, as those of a step.
fn ends(held: &Held, mut before: Capture, after: Option<Capture>) -> Result<[Option<Arc<Capture>>; 2]> {
    let Some(after) = after else {
        redact::capture(held.shelf.redactor(), &mut before);
        return Ok([Some(Arc::new(before)), None]);
    };
    let random = [(held.shelf.random)()?, (held.shelf.random)()?];
    let ends = held.shelf.with(|store| Ok(store.set_step([before, after], random)))?;
    Ok(ends.map(Some))
}

/// How it ended.
enum Ended {
    Changed,
    /// The call in which the value is read has returned, or waits.
    OutOfScope,
    /// Something else pauses the program.
    Elsewhere,
    Steps,
    Time,
    /// The program is not paused any more.
    Over(Outcome),
}

impl Ended {
    fn until(&self) -> Until {
        match self {
            Ended::Changed => Until::Changed,
            Ended::OutOfScope => Until::OutOfScope,
            Ended::Elsewhere => Until::PausedElsewhere,
            Ended::Steps => Until::StepLimit,
            Ended::Time => Until::TimeLimit,
            Ended::Over(_) => Until::NotPaused,
        }
    }
}

/// A value and the call it is read in.
struct Watched {
    expression: String,
    depth: u32,
    /// Where the value is in a capture.
    path: String,
    thread: i64,
    /// How many calls are below the one in which it is read, so that this is found again from deeper ones.
    below: usize,
    function: String,
    call: Option<String>,
    before: Capture,
}

struct Run<'a> {
    held: &'a Held,
    cancelled: &'a dyn Fn() -> bool,
    deadline: Instant,
    most: u32,
    steps: u32,
    watched: Watched,
    /// Breakpoints that are passed.
    passed: Vec<String>,
    /// Below this are the files whose lines are stepped through.
    home: PathBuf,
    /// The line that ran last.
    by: Option<FrameView>,
    last: Option<Capture>,
}

impl<'a> Run<'a> {
    fn begin(held: &'a Held, request: &ChangeRequest, cancelled: &'a dyn Fn() -> bool) -> Result<Run<'a>> {
        let Outcome::Stopped(stop) = held.session.outcome()? else {
            return Err(held.session.capture(CapturePlan::default()).err().unwrap_or_else(not_paused));
        };
        let thread = request.thread.or(stop.stop.thread_id).ok_or_else(not_paused)?;
        let stack = held.session.frames(thread)?;
        if stack.len() >= DEEPEST {
            let message =
                format!("the stack is deeper than {DEEPEST} calls, so the call of the value cannot be followed");
            return Err(Error::new(Code::AdapterFailed, message));
        }
        let below = stack.len().checked_sub(request.frame as usize + 1).ok_or_else(|| {
            let message =
                format!("thread {thread} has {} frames, so none with the index {}", stack.len(), request.frame);
            Error::new(Code::Usage, message)
        })?;
        let Spot { function, file, .. } = stack.get(request.frame as usize).cloned().unwrap_or_default();
        let watched = Watched::begin(held, request, thread, below, function)?;
        let root = &held.subject.root;
        let home = match is_own(&file, root) {
            true => root.clone(),
            false => Path::new(&file).parent().unwrap_or(root).to_owned(),
        };
        Ok(Run {
            held,
            cancelled,
            deadline: Instant::now() + request.wait,
            most: request.max_steps,
            steps: 0,
            watched,
            passed: stop.breakpoints,
            home,
            by: None,
            last: None,
        })
    }

    /// Which way was gone, and how it ended.
    fn run(&mut self) -> (WatchedBy, Result<Ended>) {
        let Watched { expression, thread, path, .. } = &self.watched;
        let is_whole = *path == format!("watch({expression})");
        let frame = self.frame_now().ok().flatten().filter(|_| is_whole);
        // Whatever keeps memory from being watched, the program can be stepped.
        let watches = frame.map(|frame| self.held.session.watch_memory(expression.clone(), *thread, frame));
        if !watches.is_some_and(|watches| watches.unwrap_or(false)) {
            return (WatchedBy::Stepping, self.by_steps());
        }
        let ended = self.by_writes();
        let freed = self.held.session.watch_nothing();
        (WatchedBy::DataBreakpoint, ended.and_then(|ended| freed.map(|()| ended)))
    }

    fn by_steps(&mut self) -> Result<Ended> {
        while self.steps < self.most {
            if Instant::now() >= self.deadline {
                return Ok(Ended::Time);
            }
            let stack = self.held.session.frames(self.watched.thread)?;
            let top = stack.first().filter(|top| is_own(&top.file, &self.home));
            self.by = top.map(Spot::view).or(self.by.take());
            let own = top.is_some();
            // What is not the project's is passed over; what it changes was changed by the line that called it.
            let control = if own { Control::StepIn } else { Control::StepOut };
            self.steps += 1;
            match self.go(control)? {
                Outcome::Stopped(stop) => {
                    if let Some(ended) = self.look(&stop)? {
                        return Ok(ended);
                    }
                }
                outcome => return Ok(Ended::Over(outcome)),
            }
        }
        Ok(Ended::Steps)
    }

    fn by_writes(&mut self) -> Result<Ended> {
        while self.steps < self.most {
            match self.go(Control::Continue)? {
                Outcome::Stopped(stop) => {
                    self.steps += 1;
                    self.by = self.written_by(&stop)?;
                    if let Some(ended) = self.look(&stop)? {
                        return Ok(ended);
                    }
                }
                outcome => return Ok(Ended::Over(outcome)),
            }
        }
        Ok(Ended::Steps)
    }

    /// The line that wrote into the memory that is watched: of the project's own code, where there is some. The program is
    /// past it, perhaps at the beginning of the next.
    fn written_by(&self, stop: &StopReport) -> Result<Option<FrameView>> {
        let Some(thread) = stop.stop.thread_id else { return Ok(stop.frame.clone()) };
        let stack = self.held.session.frames(thread)?;
        let at = stack.iter().position(|spot| is_own(&spot.file, &self.home)).unwrap_or(0);
        let Some(spot) = stack.get(at) else { return Ok(stop.frame.clone()) };
        let line = if at == 0 { self.held.session.line_before(thread)? } else { None };
        Ok(Some(Spot { line: line.unwrap_or(spot.line), ..spot.clone() }.view()))
    }

    /// Lets the program go on and waits for its next stop; at the limit it is paused wherever it is.
    fn go(&self, control: Control) -> Result<Outcome> {
        let left = || self.deadline.saturating_duration_since(Instant::now());
        let session = &self.held.session;
        let thread = (control != Control::Continue).then_some(self.watched.thread);
        let mut outcome = session.control(control, thread, left().min(SLICE))?;
        while let Outcome::StillRunning { .. } = outcome {
            if (self.cancelled)() {
                return Err(Error::new(Code::Cancelled, "the wait was taken back; the program goes on"));
            }
            if left().is_zero() {
                return session.control(Control::Pause, None, PAUSE);
            }
            outcome = session.wait(left().min(SLICE))?;
        }
        Ok(outcome)
    }

    /// What became of the value; nothing when the program may go on.
    fn look(&mut self, stop: &StopReport) -> Result<Option<Ended>> {
        let is_passed = stop.breakpoints.iter().all(|id| self.passed.contains(id)) || stop.point.is_some();
        let goes_on = match stop.stop.reason.as_str() {
            "step" | "data breakpoint" | "watchpoint" => true,
            reason => {
                reason.contains("breakpoint")
                    && is_passed
                    && !stop.breakpoints.is_empty()
                    && stop.stop.problem.is_none()
            }
        };
        let paused = (stop.stop.reason == "pause").then_some(Ended::Time);
        let Some(frame) = self.frame_now()? else { return Ok(Some(Ended::OutOfScope)) };
        let now = self.watched.capture(self.held, frame)?;
        if !self.watched.is_same_call(&now) {
            return Ok(Some(Ended::OutOfScope));
        }
        let path = &self.watched.path;
        if now.frames.first().and_then(|frame| frame.variables.first()).is_none_or(|root| is_error(&root.value)) {
            return Ok(Some(Ended::OutOfScope));
        }
        let changed = diff::compare_first_frames(&self.watched.before, &now).is_some_and(|found| {
            found.changes.iter().any(|change| path::is_under(&change.path, path) || path::is_under(path, &change.path))
                || found.rebound.iter().any(|rebound| rebound == path)
        });
        if changed {
            self.last = Some(now);
            return Ok(Some(Ended::Changed));
        }
        Ok(if goes_on { None } else { paused.or(Some(Ended::Elsewhere)) })
    }

    /// Which frame the call is now in which the value is read.
    fn frame_now(&self) -> Result<Option<u32>> {
        let stack = self.held.session.frames(self.watched.thread)?;
        let index = stack.len().checked_sub(self.watched.below + 1);
        let frame = index.and_then(|index| Some((index, stack.get(index)?)));
        Ok(frame.filter(|(_, frame)| frame.function == self.watched.function).map(|(index, _)| index as u32))
    }
}

impl Watched {
    fn begin(held: &Held, request: &ChangeRequest, thread: i64, below: usize, function: String) -> Result<Watched> {
        let ChangeRequest { expression, frame, .. } = request;
        let variable = path::variable(expression);
        let ways = [
            (expression.as_str(), format!("watch({expression})"), DEPTH),
            (
                variable,
                format!("watch({variable}){}", expression.get(variable.len()..).unwrap_or_default()),
                PATH_DEPTH,
            ),
        ];
        let mut failure = String::new();
        for (expression, path, depth) in ways {
            let before = look(held, thread, *frame, expression, depth)?;
            match value_at(&before, &path) {
                Some(node) if !is_error(node) => {
                    let (expression, call) = (expression.to_owned(), call_of(&before));
                    return Ok(Watched { expression, depth, path, thread, below, function, call, before });
                }
                Some(node) if failure.is_empty() => failure.clone_from(&node.text),
                _ => {}
            }
        }
        let why = failure.trim_start_matches("<error: ").trim_end_matches('>');
        let message = format!("`{}` cannot be read here: {why}", crate::render::safe(&request.expression));
        Err(Error::new(Code::AdapterFailed, message)
            .with_hint("name a variable, a field or an element that has a value where the program is paused"))
    }

    fn capture(&self, held: &Held, frame: u32) -> Result<Capture> {
        look(held, self.thread, frame, &self.expression, self.depth)
    }

    /// Parts of the value that cannot be compared, so that a change there is not seen.
    fn not_compared(&self) -> Vec<String> {
        let found = diff::compare_first_frames(&self.before, &self.before);
        let paths = found.map(|found| found.not_compared).unwrap_or_default();
        paths.into_iter().filter(|path| path::is_under(path, &self.path)).collect()
    }

    /// Whether a capture is of the call in which the value was read first.
    fn is_same_call(&self, now: &Capture) -> bool {
        let call = call_of(now);
        self.call.is_none() || call.is_none() || self.call == call
    }
}

/// One expression in one frame.
fn look(held: &Held, thread: i64, frame: u32, expression: &str, depth: u32) -> Result<Capture> {
    let (thread, watches) = (Some(thread), vec![expression.to_owned()]);
    held.session.capture(CapturePlan { thread, frame, depth, watches, only_watches: true, ..CapturePlan::default() })
}

fn call_of(capture: &Capture) -> Option<String> {
    capture.frames.first().and_then(|frame| frame.call.clone())
}

/// How many other threads ran while the value changed: one of them may have done it.
fn others(held: &Held) -> u64 {
    let threads = held.session.threads().unwrap_or_default();
    // Those of Go itself wait.
    let own = threads.iter().filter(|thread| !thread.name.contains("] runtime."));
    (own.count() as u64).saturating_sub(1)
}

fn value_at<'a>(capture: &'a Capture, path: &str) -> Option<&'a Node> {
    path::find(capture.frames.first()?, path)
}

fn is_error(node: &Node) -> bool {
    node.kind == "error" && node.text.starts_with("<error:")
}

fn not_paused() -> Error {
    Error::new(Code::NotPaused, "the program is not paused").with_hint("pause it, or let it run into a breakpoint")
}
