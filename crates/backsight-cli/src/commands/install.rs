//! `backsight install CLIENT`: write Backsight into a client's configuration, after showing what will change.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use serde::Serialize;

use crate::commands::Verdict;
use crate::context::Context;
use crate::install::{Client, FilePlan, Memory, Places, Scope, Shelf, Wish, plan, tidy_up, write};
use crate::page::{GREEN, Page};
use crate::render::{unified, wrap};
use crate::words::safe;

/// Write Backsight into an agent's or editor's configuration
///
/// Adds the MCP server and, where the client has hooks, the hooks that record every tool and every prompt by
/// themselves. Says what it will write and asks; the rest of a file stays as it is, comments included, and a copy of it
/// is kept in your state directory. Doing it twice changes nothing. `--uninstall` takes out exactly what was added, and
/// removes the directories that were made for it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight install claude-code              for this project
  backsight install codex --scope user       for every project of yours
  backsight install cursor --print           only show the change
  backsight install codex --allow-read-only  let it look without asking you each time
  backsight install gemini --uninstall       take it out again")]
pub struct Args {
    /// The client
    #[arg(value_name = "CLIENT", value_enum)]
    client: Client,
    /// Whose configuration
    #[arg(long, value_enum, default_value_t = Scope::Project)]
    scope: Scope,
    /// Show the change as a diff and write nothing
    #[arg(long)]
    print: bool,
    /// Take out what was added
    #[arg(long)]
    uninstall: bool,
    /// Write without asking; needed where nobody can be asked
    #[arg(long, short)]
    yes: bool,
    /// With --yes: also write a file of the project that is a symlink to somewhere else
    #[arg(long)]
    follow_links: bool,
    /// Only the MCP server
    #[arg(long)]
    no_hooks: bool,
    /// Let the client call the tools that only read without asking you, where it has such a setting
    #[arg(long, conflicts_with = "uninstall")]
    allow_read_only: bool,
    /// Show the change as a diff too
    #[arg(long, short)]
    verbose: bool,
    /// The program the client starts, instead of this one
    #[arg(long, value_name = "PATH")]
    command: Option<String>,
}

#[derive(Serialize)]
struct Report {
    client: &'static str,
    scope: &'static str,
    changed: bool,
    written: bool,
    files: Vec<FileReport>,
    next: Vec<&'static str>,
}

#[derive(Serialize)]
struct FileReport {
    path: String,
    action: &'static str,
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
    /// The file that is really written, where symlinks lead out of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    outside: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let wish = Wish {
        scope: args.scope,
        program: args.command.clone().map_or_else(program, Ok)?,
        // What is there goes, whichever way it was installed.
        hooks: args.uninstall || !args.no_hooks,
        reading_is_allowed: args.uninstall || args.allow_read_only,
    };
    let places = Places::new(context.root());
    let shelf = Shelf::new(context.settings().state_directory().as_deref());
    let files = args.client.files(&wish, &places)?;
    let project = (args.scope == Scope::Project).then_some(places.project.as_path());
    let plans: Vec<FilePlan> =
        files.iter().map(|file| plan(file, args.uninstall, project, &shelf)).collect::<Result<_>>()?;
    let changes: Vec<&FilePlan> = plans.iter().filter(|plan| plan.changes()).collect();
    let written = !changes.is_empty() && !args.print && agreed(args, context, &changes, &places)?;
    if written {
        write_all(&changes, &shelf)?;
    }
    if written || (changes.is_empty() && !args.print) {
        tidy_up(&plans, &shelf)?;
    }
    let report = report(args, &wish, &plans, &shelf, &places.project, written);
    context.answer(&report, |page| show(page, args, &report, &changes, &places))?;
    Ok(Verdict::Done)
}

fn report(args: &Args, wish: &Wish, plans: &[FilePlan], shelf: &Shelf, base: &Path, written: bool) -> Report {
    let file = |plan: &FilePlan| FileReport {
        path: plan.path.display().to_string(),
        action: plan.action(),
        diff: String::from_utf8_lossy(&plan.diff(base)).into_owned(),
        backup: copy(plan, shelf).map(|copy| copy.display().to_string()),
        outside: plan.is_outside.then(|| plan.target.display().to_string()),
    };
    let refused = args.client.why_not_allowed().filter(|_| args.allow_read_only);
    Report {
        client: args.client.name(),
        scope: if args.scope == Scope::User { "user" } else { "project" },
        changed: plans.iter().any(FilePlan::changes),
        written,
        files: plans.iter().map(file).collect(),
        next: if args.uninstall {
            Vec::new()
        } else {
            args.client.next_steps(wish).into_iter().chain(refused).collect()
        },
    }
}

/// Where the text before is kept, when there was one.
fn copy(plan: &FilePlan, shelf: &Shelf) -> Option<PathBuf> {
    match &plan.memory {
        Memory::Keep(kept) if kept.before.is_some() => shelf.copy_of(&kept.target),
        _ => None,
    }
}

/// Writes one file after the other; a failure says which ones are written.
fn write_all(changes: &[&FilePlan], shelf: &Shelf) -> Result<()> {
    for (done, plan) in changes.iter().enumerate() {
        write(plan, shelf).map_err(|error| {
            let names: Vec<String> = changes[..done].iter().map(|plan| plan.path.display().to_string()).collect();
            if names.is_empty() {
                return error;
            }
            let message = format!("{}; already written: {}", error.message(), names.join(", "));
            Error::new(error.code(), message).with_hint("mend what is wrong and run the command again")
        })?;
    }
    Ok(())
}

/// Whether to write. The user who is asked has seen what is written where.
fn agreed(args: &Args, context: &Context, changes: &[&FilePlan], places: &Places) -> Result<bool> {
    let outside: Vec<&&FilePlan> = changes.iter().filter(|plan| plan.is_outside).collect();
    if args.yes {
        return match outside.first() {
            Some(plan) if !args.follow_links => Err(leads_outside(plan)),
            _ => Ok(true),
        };
    }
    let can_ask = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !context.screen.is_json();
    if !can_ask {
        let count = changes.len();
        let files = if count == 1 { "1 file" } else { &format!("{count} files") };
        return Err(Error::new(Code::Usage, format!("{files} would be written, and no user can be asked"))
            .with_hint("add `--yes` to write, or `--print` to see the change"));
    }
    context.screen.print_aside(|page| {
        for plan in changes {
            let line = format!("  {:<7} {}", plan.action(), places.short(&plan.path));
            page.data.line(line);
        }
        warn_of_links(page, changes);
    })?;
    if args.verbose {
        context.screen.print_aside(|page| diffs(page, changes, &places.project))?;
    }
    let question = if args.verbose { "Write this? [y/N]" } else { "Write this? [y/N, d shows the change]" };
    let agrees = match ask(question)? {
        Answer::Show => {
            context.screen.print_aside(|page| diffs(page, changes, &places.project))?;
            ask("Write this? [y/N]")? == Answer::Yes
        }
        answer => answer == Answer::Yes,
    };
    if !agrees {
        return Ok(false);
    }
    for plan in outside {
        let target = safe(&plan.target.display().to_string());
        let question = format!("`{}` leads out of this project: really write {target}? [y/N]", name_of(plan));
        if ask(&question)? != Answer::Yes {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a user answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Show,
}

fn ask(question: &str) -> Result<Answer> {
    let mut answer = String::new();
    let mut stderr = std::io::stderr().lock();
    let asked = write!(stderr, "{question} ").and_then(|()| stderr.flush());
    asked.and_then(|()| std::io::stdin().lock().read_line(&mut answer)).map_err(|error| Error::io("ask", error))?;
    Ok(match answer.trim() {
        "y" | "Y" | "yes" => Answer::Yes,
        "d" | "D" | "diff" => Answer::Show,
        _ => Answer::No,
    })
}

fn name_of(plan: &FilePlan) -> String {
    safe(&plan.path.display().to_string())
}

fn leads_outside(plan: &FilePlan) -> Error {
    let target = safe(&plan.target.display().to_string());
    let message = format!("`{}` leads through a symlink to `{target}`, outside this project", name_of(plan));
    Error::new(Code::InvalidPath, message).with_hint(
        "nothing was written; add `--follow-links` if that file is meant, or use `--scope user` for your own",
    )
}

fn diffs(page: &mut Page, changes: &[&FilePlan], base: &Path) {
    for plan in changes {
        unified::show(&mut page.data, &plan.diff(base));
    }
}

fn warn_of_links(page: &mut Page, changes: &[&FilePlan]) {
    for plan in changes.iter().filter(|plan| plan.is_outside) {
        let target = safe(&plan.target.display().to_string());
        page.warning(format_args!("`{}` leads through a symlink to `{target}`, outside this project", name_of(plan)));
    }
}

fn show(page: &mut Page, args: &Args, report: &Report, changes: &[&FilePlan], places: &Places) {
    let name = report.client;
    if !report.changed {
        let already = if args.uninstall { "is not installed" } else { "is already installed" };
        page.data.line(format_args!("Backsight {already} in {name}; nothing was written"));
        return;
    }
    if args.print || (args.yes && args.verbose) {
        diffs(page, changes, &places.project);
        warn_of_links(page, changes);
    }
    if !report.written {
        if !args.print {
            page.note("nothing was written");
        }
        return;
    }
    outcome(page, args, report, changes, places);
}

/// What was written where, and what the user does next.
fn outcome(page: &mut Page, args: &Args, report: &Report, changes: &[&FilePlan], places: &Places) {
    let reach = if args.scope == Scope::User { "all your projects" } else { "this project" };
    let done = if args.uninstall { "is out of" } else { "is in" };
    let line = page.data.bold(format_args!("Backsight {done} {}, for {reach}", report.client));
    page.data.line(line);
    for plan in changes {
        let path = if plan.is_outside { &plan.target } else { &plan.path };
        let action = page.data.paint(GREEN, format_args!("{:<7}", past(plan.action())));
        page.data.line(format_args!("  {action} {}", places.short(path)));
    }
    let copies: Vec<&str> = report.files.iter().filter_map(|file| file.backup.as_deref()).collect();
    for copy in copies {
        let copy = page.data.dim(format_args!("as it was: {}", places.short(Path::new(copy))));
        page.data.line(format_args!("  {copy}"));
    }
    if report.next.is_empty() {
        return;
    }
    page.data.line("");
    page.data.line("Next:");
    for step in &report.next {
        wrap::item(&mut page.data, "  - ", step);
    }
}

fn past(action: &str) -> &'static str {
    match action {
        "remove" => "removed",
        "create" => "created",
        _ => "changed",
    }
}

/// `backsight` where that is this program, else where it is.
fn program() -> Result<String> {
    let this = std::env::current_exe().map_err(|error| Error::io("find this program", error))?;
    let same = |path: &Path| path.canonicalize().ok() == this.canonicalize().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|directory| directory.join("backsight")).find(|file| file.is_file());
    Ok(if first.is_some_and(|file| same(&file)) { "backsight".to_owned() } else { this.display().to_string() })
}
