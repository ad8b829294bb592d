//! `backsight demo`: the main job done in a few seconds, by this very binary, in a directory of its own.
//! The story is data; each act is shown as it happens and every promise in it is checked.
//! With `--serve`: a sample project with a week behind it, to look around in.

mod sample;

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use backsight::Workspace;
use backsight_core::{Code, Error, Result};
use backsight_server::{Address, Client, Options};
use serde::Serialize;
use serde_json::json;

use crate::commands::{Verdict, open};
use crate::context::Context;
use crate::page::CYAN;

/// See what Backsight does: an agent's step, your own edit, and the step taken back
///
/// Everything happens in a temporary directory, which is removed afterwards. With --serve that is a small web shop with a week
/// of work behind it, served on loopback until Ctrl-C, with the dashboard's address.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Serve a sample project with a week behind it instead
    #[arg(long)]
    serve: bool,
    /// The port of its server; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = 0, requires = "serve")]
    port: u16,
    /// Leave the directory in place
    #[arg(long)]
    keep: bool,
}

/// One act of the story.
enum Act {
    /// A sentence for the reader.
    Say(&'static str),
    /// Somebody writes a file.
    Write(&'static str, String),
    /// A backsight command.
    Run(&'static [&'static str]),
    /// Shows a file and checks what it holds.
    Show(&'static str, String),
}

/// One act as it happened.
#[derive(Serialize)]
struct Step {
    #[serde(skip_serializing_if = "String::is_empty")]
    narration: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    command: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    output: String,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    if args.serve {
        return serve(args, context);
    }
    let stage = Stage::build(context)?;
    stage.open()?;
    let outcome = stage.play(&story());
    let directory = stage.directory.display().to_string();
    if !args.keep {
        std::fs::remove_dir_all(&stage.directory).map_err(|error| Error::io(format!("remove `{directory}`"), error))?;
    }
    let steps = outcome?;
    let mut report = json!({ "steps": steps });
    if args.keep {
        report["directory"] = json!(directory);
    }
    let name = typed(std::env::args_os().next());
    context.answer(&report, |page| {
        if args.keep {
            page.data.line(format_args!("The directory is {directory}"));
        }
        let heading = page.data.bold("Next, here or in a project of yours:");
        page.data.line(heading);
        for (command, what) in NEXT {
            page.data.line(format_args!("  {name} {command:<19}  {what}"));
        }
    })?;
    Ok(Verdict::Done)
}

/// Records the sample project, says where to look at it, and serves it until Ctrl-C.
fn serve(args: &Args, context: &Context) -> Result<Verdict> {
    let stage = Stage::build(context)?;
    let root = stage.directory.join("tea-shop");
    let outcome = served(args, context, &stage, &root);
    if !args.keep {
        let _ = std::fs::remove_dir_all(&stage.directory);
    }
    outcome.map(|()| Verdict::Done)
}

fn served(args: &Args, context: &Context, stage: &Stage<'_>, root: &Path) -> Result<()> {
    std::fs::create_dir(root).map_err(|error| Error::io(format!("create `{}`", root.display()), error))?;
    sample::record(root, context.settings(), context.now)?;
    // What was recorded had the clock of then; what is served has today's.
    let workspace = Workspace::open_with(root, context.settings())?;
    let there = Stage { context, program: stage.program.clone(), directory: root.to_owned() };
    let log = there.run(&["log"])?.output;
    let person = open::person(None, |name| std::env::var(name).ok())?;
    let store = workspace.store()?.ok_or_else(|| Error::new(Code::WorkspaceNotFound, "the sample has no store"))?;
    let nonce = backsight_server::random_token()?;
    let options = Options { port: args.port, ..Options::default() };
    let mut shown = Ok(());
    let ready = |address: &Address| {
        // Within the server's runtime no other may run, so the app speaks from a thread of its own.
        let spoken = std::thread::scope(|scope| scope.spawn(|| speak(address)).join());
        let url = address.invite(store.seal(), &person, context.now, nonce);
        shown = spoken.unwrap_or(Ok(())).and_then(|()| tell_where(context, root, &log, &url));
    };
    backsight_server::serve(workspace, &options, ready)?;
    shown
}

/// The shop's page is open somewhere and well: what it said a moment ago.
fn speak(address: &Address) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::io("start the client", error))?;
    let Some(client) = Client::new(address) else { return Ok(()) };
    let page = "http://localhost:5173/";
    let said = [
        ("console", json!([{ "level": "info", "message": "the shop is open", "page": page }])),
        ("network", json!([{ "method": "GET", "url": format!("{page}api/prices"), "status": 200, "duration_ms": 12 }])),
    ];
    let watches = ["console", "network", "websocket", "actions"];
    runtime.block_on(async {
        for (what, events) in said {
            let report = json!({ "source": "page: tea shop", "watches": watches, "events": events });
            client.post(&format!("/ingest/{what}"), &report).await?;
        }
        Ok(())
    })
}

/// The week, and what to do next.
fn tell_where(context: &Context, root: &Path, log: &str, url: &str) -> Result<()> {
    let name = typed(std::env::args_os().next());
    let place = backsight_core::shell_word(root.as_os_str().as_encoded_bytes());
    let report = json!({ "directory": root.display().to_string(), "url": url });
    context.answer(&report, |page| {
        page.data.line("A week of a small web shop: two agents and its owner, an error and its way back.");
        page.data.line("");
        log.lines().for_each(|line| page.data.fitted(line));
        page.data.line("");
        let heading = page.data.bold("Look around in it; the address works once, on this machine only:");
        page.data.line(heading);
        page.data.line(format_args!("  {url}"));
        page.data.line(format_args!("  {name} -C {place} watch"));
        page.data.line("");
        let heading = page.data.bold("In a project of yours:");
        page.data.line(heading);
        for (command, what) in NEXT {
            page.data.line(format_args!("  {name} {command:<19}  {what}"));
        }
        page.data.line("");
        page.data.line("Ctrl-C ends it and removes the sample.");
    })
}

/// What the user can type now.
const NEXT: [(&str, &str); 2] =
    [("status", "what changed here"), ("install claude-code", "or codex, gemini, cursor, ...")];

/// This program as the user typed it: by its path where it is not on `PATH`.
fn typed(program: Option<std::ffi::OsString>) -> String {
    let program = program.unwrap_or_default();
    let typed = backsight_core::shell_word(program.as_encoded_bytes());
    if typed.contains('/') { typed } else { "backsight".to_owned() }
}

fn program(price: &str, main: &str) -> String {
    format!("def price(amount):\n    return {price}\n\n{main}\n")
}

fn story() -> Vec<Act> {
    use Act::{Run, Say, Show, Write};
    const OLD_PRICE: &str = "amount * 1.19";
    const NEW_PRICE: &str = "round(amount * TAX, 2)";
    const OLD_MAIN: &str = "print(price(100))";
    const NEW_MAIN: &str = "print(\"Total:\", price(100))";
    vec![
        Write("shop.py", program(OLD_PRICE, OLD_MAIN)),
        Say("A small project. Backsight records it as it is."),
        Run(&["track", "-m", "as I found it"]),
        Say("An agent edits it, and its tool records the step. What did it do?"),
        Write("shop.py", program(NEW_PRICE, OLD_MAIN)),
        Run(&["track", "-m", "round prices", "--tool", "edit", "--session", "demo"]),
        Run(&["diff", "1", "2"]),
        Say("TAX does not exist. You edited another line meanwhile; only its step goes."),
        Write("shop.py", program(NEW_PRICE, NEW_MAIN)),
        Run(&["revert", "2"]),
        Show("shop.py", program(OLD_PRICE, NEW_MAIN)),
        Say("Every step is kept, and each can be taken back, the revert too."),
        Run(&["log"]),
    ]
}

/// Where the story is played.
struct Stage<'a> {
    context: &'a Context,
    program: PathBuf,
    directory: PathBuf,
}

impl<'a> Stage<'a> {
    fn build(context: &'a Context) -> Result<Self> {
        let program = std::env::current_exe().map_err(|error| Error::io("find this program", error))?;
        let name = format!("backsight-demo-{}-{}", std::process::id(), context.now.0);
        let directory = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&directory)
            .map_err(|error| Error::io(format!("create `{}`", directory.display()), error))?;
        Ok(Stage { context, program, directory })
    }

    /// Says what this is, before anything else.
    fn open(&self) -> Result<()> {
        if self.context.screen.is_json() {
            return Ok(());
        }
        let about = crate::cli::command().get_about().map(ToString::to_string).unwrap_or_default();
        self.context.screen.print(|page| {
            let line = page.data.bold(format_args!("Backsight: {about}"));
            page.data.line(line);
        })
    }

    fn play(&self, story: &[Act]) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        for act in story {
            let step = match act {
                Act::Say(text) => Step { narration: (*text).into(), command: String::new(), output: String::new() },
                Act::Write(file, text) => {
                    self.write(file, text)?;
                    continue;
                }
                Act::Run(arguments) => self.run(arguments)?,
                Act::Show(file, text) => {
                    let output = self.expect(file, text)?;
                    Step { narration: String::new(), command: format!("cat {file}"), output }
                }
            };
            self.tell(&step)?;
            steps.push(step);
        }
        Ok(steps)
    }

    /// Shows a step to a person at once; JSON waits for the end.
    fn tell(&self, step: &Step) -> Result<()> {
        if self.context.screen.is_json() {
            return Ok(());
        }
        self.context.screen.print(|page| {
            if step.narration.is_empty() {
                let line = page.data.paint(CYAN, format_args!("$ {}", step.command));
                page.data.line(line);
                page.data.raw(step.output.as_bytes());
                page.data.line("");
            } else {
                let line = page.data.bold(format_args!("# {}", step.narration));
                page.data.line(line);
            }
        })
    }

    fn run(&self, arguments: &[&str]) -> Result<Step> {
        let command = command_line(arguments);
        let (set, unset) = if self.context.screen.is_coloured() {
            ("CLICOLOR_FORCE", "NO_COLOR")
        } else {
            ("NO_COLOR", "CLICOLOR_FORCE")
        };
        let output = Command::new(&self.program)
            .args(arguments)
            .current_dir(&self.directory)
            .env(set, "1")
            .env_remove(unset)
            .output()
            .map_err(|error| Error::io(format!("run `{command}`"), error))?;
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let step = Step { narration: String::new(), command: command.clone(), output: text.clone() };
        if !output.status.success() {
            self.tell(&step)?;
            let message = format!("the demo failed: `{command}` ended with {}", output.status);
            return Err(Error::new(Code::Io, message).with_details(json!({ "command": command, "output": text })));
        }
        Ok(step)
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        std::fs::write(self.directory.join(file), text).map_err(|error| Error::io(format!("write `{file}`"), error))
    }

    fn expect(&self, file: &str, text: &str) -> Result<String> {
        let found = std::fs::read_to_string(self.directory.join(file))
            .map_err(|error| Error::io(format!("read `{file}`"), error))?;
        if found == text {
            return Ok(found);
        }
        let message = format!("the demo failed: `{file}` is not as promised");
        Err(Error::new(Code::Io, message).with_details(json!({ "file": file, "expected": text, "found": found })))
    }
}

/// As a person would type it.
fn command_line(arguments: &[&str]) -> String {
    let quoted = arguments.iter().map(|argument| match argument.contains([' ', '#']) {
        true => format!(" '{argument}'"),
        false => format!(" {argument}"),
    });
    format!("backsight{}", quoted.collect::<String>())
}
