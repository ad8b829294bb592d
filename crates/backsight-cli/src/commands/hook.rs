//! `backsight hook AGENT`: an agent says what it is about to do or has done. Nothing here ever stops the agent: the
//! exit status is 0 whatever happens, for clients take another one for "no", and the answer comes within five seconds. The
//! work is done on a thread that is left behind when it takes longer: whatever it was doing survives the end of its
//! process at any instant, and the kernel releases what it held. Where it may wait for what no end of a process
//! interrupts, [`apart`] does it in another one.

mod apart;

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backsight::{Settings, Workspace};
use backsight_core::{Code, Error, Result, Timestamp};
use backsight_server::hook::{self, Agent, Reply, Way};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cut_short;
use crate::page::hand_over;

/// The longest payload that is read.
const LONGEST_PAYLOAD: u64 = 16 << 20;
/// How long the work may take. With what is said afterwards it is less than five seconds.
const LONGEST_WORK: Duration = Duration::from_millis(4300);
/// How long saying the answer may take, and noting that the work was cut short: a pipe may be full, and a disk may hang.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Record what an agent does, as its hooks report it
///
/// Reads the client's JSON on stdin and answers with JSON the client accepts. `backsight install` puts it into the
/// client's settings: before a tool runs the call begins, after it what changed becomes a step with session, message
/// and tool. The exit status is always 0 and no tool is ever refused: what goes wrong is said on stderr, and to the user
/// where the client has a way for it.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  backsight install claude-code                 let the client call it
  backsight --json hook claude-code <payload    see what it makes of a payload")]
pub struct Args {
    /// Whose hook it is: claude-code, codex, gemini, cursor or opencode
    #[arg(value_name = "AGENT")]
    agent: String,
    /// What happened, where the payload does not say it in `hook_event_name`
    #[arg(value_name = "EVENT")]
    event: Option<String>,
}

/// What `--json` shows.
#[derive(Deserialize, Serialize)]
struct Report {
    ok: bool,
    agent: String,
    event: Option<String>,
    #[serde(flatten)]
    reply: Reply,
    /// The workspace, when this process found it.
    #[serde(skip)]
    root: Option<PathBuf>,
}

impl Report {
    fn new(args: &Args, event: Option<String>, reply: Reply) -> Self {
        Report { ok: true, agent: args.agent.clone(), event, reply, root: None }
    }
}

/// How far the work has come.
#[derive(Clone, Debug, Default)]
struct Headway {
    agent: Option<Agent>,
    event: Option<String>,
    /// Whether the whole payload was read.
    is_read: bool,
    root: Option<PathBuf>,
    way: Option<Way>,
}

/// The same, seen by the thread that works and the one that waits for it.
type Shared = Arc<Mutex<Headway>>;

fn lock(headway: &Shared) -> MutexGuard<'_, Headway> {
    headway.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the command, whatever happens.
pub fn run(args: &Args, global: &Global) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let report = if apart::is_needed() { apart::report(args, global) } else { work(args, global) };
    let json = global.json;
    let (root, comments) = (report.root.clone(), report.reply.comments.clone());
    // A client that does not read any more has what it wanted.
    let is_said = within(LAST_WORDS, move || say(json, &report));
    if let (Some(root), false) = (root, comments.is_empty()) {
        // What cannot be noted now is told again with a later hook.
        last_words(move || drop(note(root, &comments, is_said == Ok(true))));
    }
    ExitCode::SUCCESS
}

/// Notes whether the client was handed these comments.
fn note(root: PathBuf, comments: &[String], is_said: bool) -> Result<()> {
    let workspace = Workspace::open_with(root, Settings::from_environment())?;
    let noted = if is_said { workspace.comments_told(comments) } else { workspace.comments_not_told(comments) };
    noted.map(drop)
}

/// Does the work in this process.
fn work(args: &Args, global: &Global) -> Report {
    let headway = Shared::default();
    let work = {
        let (args, global, headway) = (args.clone(), global.clone(), headway.clone());
        move || answer(&args, &global, &headway)
    };
    let answered = within(LONGEST_WORK, work);
    let reached = lock(&headway).clone();
    let reply = answered.unwrap_or_else(|end| match end {
        RecvTimeoutError::Timeout => cut(&reached),
        RecvTimeoutError::Disconnected => failed(reached.agent, &internal_error()),
    });
    Report { root: reached.root, ..Report::new(args, reached.event, reply) }
}

fn internal_error() -> Error {
    Error::new(Code::Io, "an internal error; please report it")
}

/// Says something to a client that may not listen.
pub fn last_words(say: impl FnOnce() + Send + 'static) {
    let _ = within(LAST_WORDS, say);
}

/// Does something on a thread of its own, which is left behind when it takes longer. Where not even a thread can be had it is
/// done here, without a limit: better late than not at all.
fn within<T: Send + 'static>(
    longest: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RecvTimeoutError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let theirs = work.clone();
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    match thread.spawn(move || take(&theirs).map(|work| sender.send(work()))) {
        Ok(_) => receiver.recv_timeout(longest),
        Err(_) => take(&work).map(|work| work()).ok_or(RecvTimeoutError::Disconnected),
    }
}

/// The answer of a hook whose work took too long, which is noted for `doctor`.
fn cut(reached: &Headway) -> Reply {
    let (doing, hint) = match (&reached.root, reached.way) {
        (None, _) if !reached.is_read => ("reading the payload, which has no end", "the client has to close stdin"),
        (None, _) => (
            "understanding the payload and finding the workspace",
            "see whether the agent's directory answers: `ls` in it, and above it",
        ),
        (_, Some(Way::Server)) => {
            ("waiting for the workspace's server, which may still record it", "look with `backsight log`")
        }
        _ => ("looking at the files", "`backsight track` has no such limit, and after it hooks are quick"),
    };
    let note = cut_short::Note::now(reached.agent, reached.root.clone(), doing);
    let _ = within(LAST_WORDS, move || cut_short::add(&Settings::from_environment(), &note));
    failed(reached.agent, &cut_short_error(doing).with_hint(hint))
}

fn cut_short_error(doing: &str) -> Error {
    let message = format!("the hook was cut short after {} s, {doing}", LONGEST_WORK.as_secs());
    Error::new(Code::RequestTimeout, message)
}

fn failed(agent: Option<Agent>, error: &Error) -> Reply {
    agent.map_or_else(|| Reply::failed_again(error), |agent| Reply::failed(agent, error))
}

/// Whether the client took the answer.
fn say(json: bool, report: &Report) -> bool {
    let is_said = if json { hand_over(report) } else { hand_over(&report.reply.output) };
    for problem in &report.reply.problems {
        anstream::eprintln!("backsight: {problem}");
    }
    is_said
}

fn answer(args: &Args, global: &Global, headway: &Shared) -> Reply {
    let agent: Agent = match args.agent.parse() {
        Ok(agent) => agent,
        Err(error) => return Reply::failed_again(&error),
    };
    lock(headway).agent = Some(agent);
    let bytes = bytes_on_stdin();
    lock(headway).is_read = true;
    let read = bytes.and_then(|bytes| hook::read_payload(&bytes)).and_then(|mut payload| {
        if let (Some(event), Some(fields)) = (&args.event, payload.as_object_mut()) {
            fields.entry("hook_event_name").or_insert_with(|| json!(event));
        }
        let agent = agent.speaking(&payload);
        lock(headway).agent = Some(agent);
        lock(headway).event = hook::event_name(&payload).map(str::to_owned);
        deliver(agent, &payload, global, headway)
    });
    read.unwrap_or_else(|error| Reply::failed(agent, &error))
}

/// Takes the payload to the workspace it is about. Nothing else here knows the way there.
fn deliver(agent: Agent, payload: &Value, global: &Global, headway: &Shared) -> Result<Reply> {
    let mut settings = Settings::from_environment();
    settings.wait = global.patience().min(hook::LONGEST_WAIT);
    settings.process_name = "backsight hook".to_owned();
    let start = start(agent, payload, global)?;
    let root = match global.directory {
        Some(_) => Workspace::discover(&start, &settings).unwrap_or(start),
        None => Workspace::locate(&start, &settings),
    };
    lock(headway).root = Some(root.clone());
    let workspace = Workspace::open_with(root, settings)?;
    let heard = started().unwrap_or_else(|| workspace.now());
    Ok(hook::deliver(&workspace, agent, payload, heard, |way| lock(headway).way = Some(way)))
}

/// When the client called: on a busy machine it takes a while from there to here.
#[cfg(target_os = "linux")]
fn started() -> Option<Timestamp> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the program's name, which may hold anything, it is the twentieth; in ticks since the machine started.
    let ticks: u64 = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let since_boot = Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::Boottime)).ok()?;
    let age = since_boot.checked_sub(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))?;
    Some(Timestamp::from_system(std::time::SystemTime::now()).before(age))
}

/// Elsewhere it is not known.
#[cfg(not(target_os = "linux"))]
fn started() -> Option<Timestamp> {
    None
}

/// The directory the agent works in: `-C`, else what it says itself, else the current one.
fn start(agent: Agent, payload: &Value, global: &Global) -> Result<PathBuf> {
    if let Some(directory) = &global.directory {
        return Ok(directory.clone());
    }
    let said = hook::start_directories(agent, payload, |name| std::env::var_os(name));
    match said.into_iter().find(|directory| directory.is_dir()) {
        Some(directory) => Ok(directory),
        None => std::env::current_dir().map_err(|error| Error::io("find the current directory", error)),
    }
}

/// The payload on stdin.
fn bytes_on_stdin() -> Result<Vec<u8>> {
    if std::io::stdin().is_terminal() {
        let error = Error::new(Code::Usage, "the client's JSON is read from stdin, which is a terminal");
        return Err(error.with_hint("let `backsight install` put the command into the client's settings"));
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST_PAYLOAD + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("read the payload", error))?;
    if bytes.len() as u64 > LONGEST_PAYLOAD {
        let message = format!("the payload is larger than {} MiB", LONGEST_PAYLOAD >> 20);
        return Err(Error::new(Code::BodyTooLarge, message));
    }
    Ok(bytes)
}
