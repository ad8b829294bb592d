//! `backsight hook AGENT`: an agent says what it is about to do or has done. Nothing here ever stops the agent: the
//! exit status is 0 whatever happens, for clients take another one for "no".

use std::io::{IsTerminal, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use backsight::{Settings, Workspace};
use backsight_core::{Code, Error, Result};
use backsight_server::hook::{self, Agent, Reply};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::page::print_json;

/// The longest payload that is read.
const LONGEST_PAYLOAD: u64 = 16 << 20;
/// How long the client may take to write it.
const SLOWEST_PAYLOAD: Duration = Duration::from_secs(10);

/// Record what an agent does, as its hooks report it
///
/// Reads the client's JSON on stdin and answers with JSON the client accepts. `backsight install` puts it into the
/// client's settings: before a tool runs the call begins, after it what changed becomes a step with session, message
/// and tool. The exit status is always 0 and no tool is ever refused: what goes wrong is said on stderr, and to the user
/// where the client has a way for it.
#[derive(clap::Args, Debug)]
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
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    agent: &'a str,
    event: Option<&'a str>,
    output: &'a Value,
    problems: &'a [String],
}

/// Runs the command, whatever happens.
pub fn run(args: &Args, global: &Global) -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let mut payload = Value::Null;
    let answered = catch_unwind(AssertUnwindSafe(|| answer(args, global, &mut payload)));
    let reply = answered.unwrap_or_else(|_| {
        let error = Error::new(Code::Io, "an internal error; please report it");
        args.agent.parse().map_or_else(|_| Reply::failed_again(&error), |agent| Reply::failed(agent, &error))
    });
    let event = hook::event_name(&payload);
    // Whoever does not listen any more has what it wanted.
    let _ = if global.json {
        let (agent, output, problems) = (args.agent.as_str(), &reply.output, reply.problems.as_slice());
        print_json(&Report { ok: true, agent, event, output, problems })
    } else {
        print_json(&reply.output)
    };
    for problem in &reply.problems {
        anstream::eprintln!("backsight: {problem}");
    }
    ExitCode::SUCCESS
}

fn answer(args: &Args, global: &Global, payload: &mut Value) -> Reply {
    let agent: Agent = match args.agent.parse() {
        Ok(agent) => agent,
        Err(error) => return Reply::failed_again(&error),
    };
    let read = payload_on_stdin().and_then(|read| {
        *payload = read;
        if let (Some(event), Some(fields)) = (&args.event, payload.as_object_mut()) {
            fields.entry("hook_event_name").or_insert_with(|| json!(event));
        }
        deliver(agent.speaking(payload), payload, global)
    });
    read.unwrap_or_else(|error| Reply::failed(agent, &error))
}

/// Takes the payload to the workspace it is about. Nothing else here knows the way there.
fn deliver(agent: Agent, payload: &Value, global: &Global) -> Result<Reply> {
    let mut settings = Settings::from_environment();
    settings.wait = global.patience().min(hook::LONGEST_WAIT);
    settings.process_name = "backsight hook".to_owned();
    let start = start(agent, payload, global)?;
    let root = Workspace::discover(&start, &settings).unwrap_or(start);
    let workspace = Workspace::open_with(root, settings)?;
    Ok(hook::deliver(&workspace, agent, payload))
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

/// The JSON on stdin. Another thread reads it: a client that never closes its end must not hang the agent.
fn payload_on_stdin() -> Result<Value> {
    if std::io::stdin().is_terminal() {
        let error = Error::new(Code::Usage, "the client's JSON is read from stdin, which is a terminal");
        return Err(error.with_hint("let `backsight install` put the command into the client's settings"));
    }
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let outcome = std::io::stdin().lock().take(LONGEST_PAYLOAD + 1).read_to_end(&mut bytes);
        // The other side may have stopped waiting.
        let _ = sender.send(outcome.map(|_| bytes));
    });
    let bytes = match receiver.recv_timeout(SLOWEST_PAYLOAD) {
        Ok(read) => read.map_err(|error| Error::io("read the payload", error))?,
        Err(_) => {
            let message = format!("the payload did not end within {} seconds", SLOWEST_PAYLOAD.as_secs());
            return Err(Error::new(Code::RequestTimeout, message));
        }
    };
    if bytes.len() as u64 > LONGEST_PAYLOAD {
        let message = format!("the payload is larger than {} MiB", LONGEST_PAYLOAD >> 20);
        return Err(Error::new(Code::BodyTooLarge, message));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    serde_json::from_slice(text)
        .map_err(|error| Error::new(Code::Usage, format!("the payload is not valid JSON: {error}")))
}
