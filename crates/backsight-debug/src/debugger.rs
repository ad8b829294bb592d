//! The debug lane: programs that are being debugged, each with its snapshots. One is the usual number; more are told apart by
//! name. Snapshots live as long as their session: when the program ends or the debugger goes, they are cleared and counted.

mod answer;
mod beginnings;
mod held;
mod points;
mod shelf;
mod snapshots;
mod step;
mod tested;
mod until;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, NextStep, Notables, Result, Timestamp};
use backsight_redact::Redactor;
use serde_json::json;

pub use answer::{
    BreakpointList, Cleared, Deleted, Disconnected, Moved, Notable, NotableKind, PointList, PointState, PointView,
    SessionList, SessionView, SnapshotCreated, SnapshotList, StepDiff, ThreadList, Until, UntilChange, VariableSet,
    WatchedBy,
};
pub use points::PointRequest;
pub use until::ChangeRequest;

use crate::adapters;
use crate::session::{
    self, AssignRequest, Attach, Breakpoint, BreakpointRequest, Control, EvaluateRequest, EvaluatedView, Launch,
    Outcome, OutputPage, Purpose, Recall, Session, Setup, StackView, ThreadView, VariablesPage, VariablesRequest,
};
use crate::testing::{self, ThrownError};
use beginnings::{Beginnings, Origin};
use held::{Held, Since, Subject};
use shelf::Shelf;

/// The name of a session that nobody named.
pub const MAIN: &str = "main";
/// The longest time a call waits for the program.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How long a call waits for the program when nobody says.
pub const USUAL_WAIT: Duration = Duration::from_secs(10);
/// A wait looks this often whether it is still wanted.
const SLICE: Duration = Duration::from_millis(200);
/// More sessions at once are a mistake.
const MOST_SESSIONS: usize = 8;

/// Draws a random number.
pub type Random = Arc<dyn Fn() -> Result<u128> + Send + Sync>;

/// What the lane is made with.
#[derive(Clone)]
pub struct Options {
    /// The machine and its debuggers.
    pub setup: Setup,
    /// What paths are relative to.
    pub root: PathBuf,
    /// Makes the marks that stand for secrets unguessable.
    pub salt: u64,
    /// Names snapshots.
    pub random: Random,
}

/// The debug lane.
pub struct Debugger {
    options: Options,
    sessions: Mutex<Vec<Arc<Held>>>,
    /// The sessions that are being opened, which may take long.
    beginnings: Beginnings,
    notables: Arc<Mutex<Notables<NotableKind>>>,
}

impl Debugger {
    /// One without sessions.
    pub fn new(mut options: Options) -> Self {
        // Debuggers are those of the machine: a workspace that puts programs on the search path chooses none.
        options.setup.search = adapters::outside(&options.setup.search, &options.root);
        Debugger { options, sessions: Mutex::default(), beginnings: Beginnings::default(), notables: Arc::default() }
    }

    /// What belongs into the timeline and was not taken yet.
    pub fn take_notables(&self) -> Vec<Notable> {
        lock(&self.notables).take()
    }

    /// Starts a program under its debugger and waits for its first stop. Paths are relative to the root.
    pub fn launch(&self, name: Option<&str>, mut launch: Launch, cancelled: &dyn Fn() -> bool) -> Result<Moved> {
        launch = self.plan(launch)?;
        launch.program = self.options.root.join(&launch.program);
        launch.directory = self.options.root.join(&launch.directory);
        launch.runtime = launch.runtime.map(|runtime| self.runtime(runtime));
        if !launch.directory.is_dir() {
            let message = format!("there is no directory `{}` to run the program in", launch.directory.display());
            return Err(Error::new(Code::PathNotFound, message).with_hint("create it, or name another one"));
        }
        self.locate(launch.breakpoints.iter_mut())?;
        launch = testing::build(launch, cancelled)?;
        let program = match (&launch.test, &launch.module) {
            (Some(test), _) => format!("test {test}"),
            (None, Some(module)) => format!("-m {module}"),
            (None, None) => launch.program.display().to_string(),
        };
        let started = Instant::now();
        let (held, moved) = self.run(name, launch.clone(), &program, None, cancelled)?;
        let Some(thrown) = held.failed_by(&moved) else { return Ok(moved) };
        drop(held);
        // What failed the test went on as the reason of a promise and is gone: only another run can pause there.
        launch.wait = launch.wait.saturating_sub(started.elapsed());
        let (_, moved) = self.run(name, launch, &program, Some(thrown), cancelled)?;
        Ok(moved)
    }

    /// Starts a program, or one of the runs of a test: the second pauses at what failed it in the first.
    fn run(
        &self,
        name: Option<&str>,
        mut launch: Launch,
        program: &str,
        fails_by: Option<ThrownError>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(Arc<Held>, Moved)> {
        testing::for_debugger(&mut launch);
        fails_by.iter().for_each(|thrown| thrown.ask_for(&mut launch));
        let (wait, framework) = (launch.wait, launch.framework);
        launch.wait = Duration::ZERO;
        let open = |recall: &Recall, setup: &Setup| Session::launch_unless(recall, setup, launch);
        let (program, root) = (program.to_owned(), self.options.root.clone());
        let subject = Subject { program, framework, root, fails_by };
        self.begin(name, Origin::Launched, subject, wait, cancelled, open)
    }

    /// The launch as it will be carried out: of a test, with what runs it. Nothing is run for that.
    pub fn plan(&self, launch: Launch) -> Result<Launch> {
        testing::plan(&self.options.root, &self.options.setup.search, launch)
    }

    /// Attaches to a program that runs already.
    pub fn attach(&self, name: Option<&str>, mut attach: Attach, cancelled: &dyn Fn() -> bool) -> Result<Moved> {
        attach.runtime = attach.runtime.map(|runtime| self.runtime(runtime));
        self.locate(attach.breakpoints.iter_mut())?;
        attach.check()?;
        attach.pid = attach.pid.map(|pid| session::target(pid, &self.options.root)).transpose()?;
        let program = match (attach.pid, attach.port) {
            (Some(pid), _) => format!("process {pid}"),
            (None, Some(port)) => format!("port {port}"),
            (None, None) => return Err(usage("say what to attach to: `pid` or `port`")),
        };
        let wait = attach.wait;
        attach.wait = Duration::ZERO;
        let open = |recall: &Recall, setup: &Setup| Session::attach_unless(recall, setup, attach);
        let subject = Subject { program, framework: None, root: self.options.root.clone(), fails_by: None };
        self.begin(name, Origin::Attached, subject, wait, cancelled, open).map(|(_, moved)| moved)
    }

    fn begin(
        &self,
        name: Option<&str>,
        origin: Origin,
        subject: Subject,
        wait: Duration,
        cancelled: &dyn Fn() -> bool,
        open: impl FnOnce(&Recall, &Setup) -> Result<(Session, Outcome)>,
    ) -> Result<(Arc<Held>, Moved)> {
        let name = name.unwrap_or(MAIN);
        check_name(name)?;
        let beginning = self.beginnings.enter(name, origin, |others| self.check_room(name, others))?;
        let opened = open(beginning.recall(), &self.options.setup);
        let (session, outcome) = opened.map_err(|error| self.without_secrets(error))?;
        let shelf = Shelf::new(
            name.to_owned(),
            self.options.salt,
            Arc::clone(&self.options.random),
            Arc::clone(&self.options.setup.clock),
            Arc::clone(&self.notables),
        );
        let held = Arc::new(Held::new(subject, session, shelf));
        let gone = self.replace(Arc::clone(&held));
        // From now on it is found as a session.
        drop(beginning);
        gone.iter().for_each(|other| other.close("another one has its name"));
        drop(gone);
        let moved = held.settle(outcome, &Since::beginning(), wait, cancelled)?;
        let executed = held.session.status().executed;
        Ok((held, Moved { executed, ..moved }))
    }

    /// Why a program could not be started quotes what it said.
    fn without_secrets(&self, error: Error) -> Error {
        let said = Redactor::of_program(self.options.salt).spoken(error.message());
        if said == error.message() {
            return error;
        }
        Error::new(error.code(), said).with_details(error.details().clone()).with_advice(error.advice())
    }

    /// Adds a session; those that make room for it: the one that had its name, and the oldest of too many that are over.
    fn replace(&self, held: Arc<Held>) -> Vec<Arc<Held>> {
        let mut sessions = self.sessions();
        let (mut gone, mut kept): (Vec<_>, Vec<_>) = sessions.drain(..).partition(|other| other.name() == held.name());
        while kept.len() >= 2 * MOST_SESSIONS {
            let Some(oldest) = kept.iter().position(|other| other.is_over()) else { break };
            gone.push(kept.remove(oldest));
        }
        kept.push(held);
        *sessions = kept;
        gone
    }

    /// Whether another session may begin, beside those that live and those that are being opened.
    fn check_room(&self, name: &str, opening: &[&str]) -> Result<()> {
        let sessions = self.sessions();
        let live = sessions.iter().filter(|held| !held.is_over()).map(|held| held.name());
        let live: Vec<&str> = live.filter(|name| !opening.contains(name)).chain(opening.iter().copied()).collect();
        if live.contains(&name) {
            let message = format!("session `{name}` is being debugged already");
            return Err(Error::new(Code::Conflict, message)
                .then("end it", NextStep::EndProgram)
                .or("name another one", NextStep::WithProgramSession));
        }
        if live.len() >= MOST_SESSIONS {
            let message = format!("{MOST_SESSIONS} programs are being debugged: {}", live.join(", "));
            return Err(Error::new(Code::Conflict, message).then("end one", NextStep::EndProgram));
        }
        Ok(())
    }

    fn runtime(&self, runtime: PathBuf) -> PathBuf {
        // A bare name is looked for on the search path.
        if runtime.components().count() > 1 { self.options.root.join(runtime) } else { runtime }
    }

    fn locate<'a>(&self, requests: impl Iterator<Item = &'a mut BreakpointRequest>) -> Result<()> {
        requests.into_iter().try_for_each(|request| held::check(request, &self.options.root))
    }

    /// Every session, the oldest first, also those that are over and whose name is not taken again.
    pub fn list(&self) -> SessionList {
        let sessions = self.sessions().clone();
        SessionList { sessions: sessions.iter().map(|held| held.view(held.session.outcome().ok())).collect() }
    }

    /// Where the program is; of a running one, after waiting for its next stop up to a limit.
    pub fn state(&self, name: Option<&str>, wait: Duration, cancelled: &dyn Fn() -> bool) -> Result<SessionView> {
        let held = self.session(name)?;
        let since = held.now();
        let outcome = held.session.outcome()?;
        let moved = held.settle(outcome, &since, wait, cancelled)?;
        Ok(held.view(Some(moved.outcome)))
    }

    /// Lets the program go on, or pauses it, and waits up to a limit for what comes of it.
    pub fn control(
        &self,
        name: Option<&str>,
        control: Control,
        thread: Option<i64>,
        wait: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Moved> {
        let control = match control {
            Control::RunTo { file, line } => {
                let file = held::source(&self.options.root, &file)?;
                Control::RunTo { file, line: held::line(line)? }
            }
            control => control,
        };
        self.session(name)?.control(control, thread, wait, cancelled)
    }

    /// Ends a session: a program that was started ends unless it shall go on, one that was attached to goes on unless it
    /// shall end. Its snapshots are cleared. One that is still being opened is taken back, and what was started for it is
    /// ended.
    pub fn disconnect(&self, name: Option<&str>, end_program: Option<bool>) -> Result<Disconnected> {
        if let Some((session, origin)) = self.beginnings.take_back(name, self.is_used()) {
            let ended_program = origin == Origin::Launched;
            return Ok(Disconnected { session, ended_program, cleared_snapshots: 0 });
        }
        let held = self.session(name)?;
        let ended = end_program.unwrap_or(!held.session.status().attached);
        // Before the program hears of it, whose end would else be the reason.
        held.close("it was disconnected");
        held.session.disconnect(ended)?;
        self.sessions().retain(|other| !Arc::ptr_eq(other, &held));
        let cleared = held.shelf.cleared();
        Ok(Disconnected { session: held.name().to_owned(), ended_program: ended, cleared_snapshots: cleared })
    }

    /// Ends all sessions.
    pub fn disconnect_all(&self) {
        self.beginnings.close();
        let sessions = std::mem::take(&mut *self.sessions());
        // All at once: whoever ends them has no time to wait for one debugger after the other.
        std::thread::scope(|scope| {
            for held in &sessions {
                scope.spawn(move || {
                    held.close("the server ended");
                    // A debugger that does not answer is ended with its session.
                    let _ = held.session.disconnect(!held.session.status().attached);
                });
            }
        });
    }

    /// Sets a breakpoint and tells whether it is bound. One at the same place gets the new conditions.
    pub fn set_breakpoint(&self, name: Option<&str>, mut request: BreakpointRequest) -> Result<Breakpoint> {
        held::check(&mut request, &self.options.root)?;
        self.session(name)?.session.set_breakpoint(request)
    }

    /// The breakpoints, those of snapshot points too.
    pub fn breakpoints(&self, name: Option<&str>) -> Result<BreakpointList> {
        Ok(BreakpointList { breakpoints: self.session(name)?.session.status().breakpoints })
    }

    /// Removes a breakpoint; that of a snapshot point ends the point.
    pub fn remove_breakpoint(&self, name: Option<&str>, id: &str) -> Result<Breakpoint> {
        let held = self.session(name)?;
        let removed = held.session.remove_breakpoint(id)?;
        if let Purpose::Snapshots(point) = &removed.purpose {
            held.shelf.finish_point(point);
        }
        Ok(removed)
    }

    /// The program's threads.
    pub fn threads(&self, name: Option<&str>) -> Result<Vec<ThreadView>> {
        self.session(name)?.session.threads()
    }

    /// Frames of a thread.
    pub fn stack(&self, name: Option<&str>, thread: Option<i64>, start: u32, count: u32) -> Result<StackView> {
        self.session(name)?.session.stack(thread, start, count)
    }

    /// Variables of a frame, or what is inside one of them.
    pub fn variables(&self, name: Option<&str>, request: VariablesRequest) -> Result<VariablesPage> {
        self.session(name)?.variables(request)
    }

    /// The value of an expression.
    pub fn evaluate(&self, name: Option<&str>, request: EvaluateRequest) -> Result<EvaluatedView> {
        let held = self.session(name)?;
        let expression = request.expression.clone();
        let mut view = held.session.evaluate(request)?;
        view.value = held.shelf.redactor().named(&expression, &view.value).into_owned();
        Ok(view)
    }

    /// Gives a variable another value, and reads it again. The program is another one from then on.
    pub fn set_variable(&self, name: Option<&str>, request: AssignRequest) -> Result<VariableSet> {
        let held = self.session(name)?;
        let AssignRequest { path, thread, frame, .. } = request.clone();
        let read = || {
            let (expression, safe) = (path.clone(), true);
            let view = held.session.evaluate(EvaluateRequest { expression, thread, frame, safe, timeout_ms: None })?;
            let value = held.shelf.redactor().named(&path, &view.value).into_owned();
            Ok::<_, Error>(EvaluatedView { value, ..view })
        };
        let before = read().ok().map(|view| view.value);
        let epoch = held.session.assign(request).map_err(|error| self.without_secrets(error))?;
        let (after, kind) = match read() {
            Ok(view) => (view.value, view.kind),
            Err(error) => (format!("it was set, and cannot be read: {}", error.message()), None),
        };
        Ok(VariableSet { epoch, path, before, after, kind })
    }

    /// What the program printed from piece `since` on, up to about so many bytes.
    pub fn output(&self, name: Option<&str>, since: u64, most_bytes: usize) -> Result<OutputPage> {
        let held = self.session(name)?;
        let mut page = held.session.output(since, most_bytes);
        for piece in &mut page.pieces {
            piece.text = held.shelf.redactor().spoken(&piece.text);
        }
        Ok(page)
    }

    /// The session of a name; without one the only one that lives, the one without a name, or the last one that lived.
    fn session(&self, name: Option<&str>) -> Result<Arc<Held>> {
        self.beginnings.refuse(name, self.is_used())?;
        let sessions = self.sessions();
        let named = |name: &str| sessions.iter().find(|held| held.name() == name).cloned();
        let names: Vec<&str> = sessions.iter().map(|held| held.name()).collect();
        if let Some(name) = name {
            return named(name).ok_or_else(|| {
                let message = format!("no session is called `{}`", crate::render::safe(name));
                match names.as_slice() {
                    [] => Error::new(Code::NoSession, message).then("start one", NextStep::LaunchProgram),
                    names => Error::new(Code::NoSession, message).with_hint(format!("there are: {}", names.join(", "))),
                }
            });
        }
        let live: Vec<Arc<Held>> = sessions.iter().filter(|held| !held.is_over()).cloned().collect();
        match (live.as_slice(), sessions.as_slice()) {
            ([only], _) | ([], [.., only]) => Ok(Arc::clone(only)),
            ([], []) => Err(Error::new(Code::NoSession, "no program is being debugged")
                .then("start one", NextStep::LaunchProgram)
                .or("attach to one", NextStep::AttachProgram)),
            (live, _) => live.iter().find(|held| held.name() == MAIN).cloned().ok_or_else(|| {
                let names: Vec<&str> = live.iter().map(|held| held.name()).collect();
                Error::new(Code::Usage, format!("several programs are being debugged: {}", names.join(", ")))
                    .then("name one", NextStep::WithProgramSession)
            }),
        }
    }

    /// Whether a program is being debugged.
    fn is_used(&self) -> bool {
        self.sessions().iter().any(|held| !held.is_over())
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<Arc<Held>>> {
        lock(&self.sessions)
    }
}

impl std::fmt::Debug for Debugger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Debugger").field("sessions", &self.list()).finish_non_exhaustive()
    }
}

fn check_name(name: &str) -> Result<()> {
    let is_good = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    match (1..=40).contains(&name.len()) && name.chars().all(is_good) {
        true => Ok(()),
        false => Err(Error::new(Code::InvalidName, format!("`{}` cannot name a session", crate::render::safe(name)))
            .with_hint("use letters, digits, `-`, `_` and `.`, at most 40")),
    }
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Usage, message)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes something for the timeline.
fn note(
    notables: &Mutex<Notables<NotableKind>>,
    kind: NotableKind,
    time: Timestamp,
    description: String,
    details: serde_json::Value,
) {
    // The end of a session is told whatever came before it.
    match kind {
        NotableKind::End => lock(notables).insist(kind, time, description, details),
        _ => lock(notables).tell(kind, time, description, details),
    }
}

/// The facts about a session every row has.
fn facts(session: &str) -> serde_json::Value {
    json!({ "debug_session": session })
}
