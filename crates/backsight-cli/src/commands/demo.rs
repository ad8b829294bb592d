//! `backsight demo`: the main job done in a few seconds, by this very binary, in a directory of its own.
//! The story is data; each act is shown as it happens and every promise in it is checked.

use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Command;

use backsight_core::{Code, Error, Result};
use serde::Serialize;
use serde_json::json;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::CYAN;

/// See what Backsight does: an agent's step, your own edit, and the step taken back
///
/// Everything happens in a temporary directory, which is removed afterwards.
#[derive(clap::Args, Debug)]
pub struct Args {
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
