//! `backsight doctor`: checks the surroundings and gives advice.

mod agents;

use backsight::Workspace;
use backsight::browser::cdp::Launch;
use backsight::browser::request::ReadBrowserStatus;
use backsight::debug::adapters::{self, Adapter};
use backsight::report::{Check, CheckState};
use backsight::request::Diagnose;
use backsight::user_settings::Agents;
use backsight_core::{Code, Result};
use backsight_server::CommandLine;
use serde_json::json;

use crate::commands::Verdict;
use crate::context::Context;
use crate::cut_short;
use crate::lane::Lane;
use crate::log;
use crate::page::{GREEN, RED, YELLOW};
use crate::render::wrap;
use crate::words::{enumerate, safe};

/// What is said stands beside its mark.
const INDENT: usize = 8;

/// Check that everything Backsight needs is in order; exit 1 on a problem
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let mut checks: Vec<Check> =
        workspace.perform(Diagnose {})?.checks.into_iter().map(|check| check.said(&CommandLine)).collect();
    checks.extend([own_settings(&workspace), browser(&workspace), app(context), server_log(context)]);
    checks.extend(agents::checks(context, &workspace));
    checks.extend(hooks(context, &workspace));
    checks.extend(debuggers(context, &workspace));
    let healthy = checks.iter().all(|check| check.state != CheckState::Problem);
    context.answer(&json!({ "healthy": healthy, "checks": checks }), |page| {
        for check in &checks {
            let (mark, style) = match check.state {
                CheckState::Ok => ("ok", GREEN),
                CheckState::Absent => ("absent", YELLOW),
                CheckState::Warning => ("warning", YELLOW),
                CheckState::Problem => ("problem", RED),
            };
            let mark = page.data.paint(style, format_args!("{mark:<7}"));
            let text = format!("{}: {}", safe(&check.name), safe(&check.message));
            wrap::labelled(&mut page.data, &format!("{mark} "), INDENT, &text);
            if let Some(hint) = &check.hint {
                wrap::item(&mut page.data, &" ".repeat(INDENT), &safe(hint));
            }
        }
    })?;
    Ok(Verdict::no_if(!healthy))
}

/// Whether agents' hooks were cut short here lately, and so did not record what they should have.
fn hooks(context: &Context, workspace: &Workspace) -> Option<Check> {
    let settings = context.settings();
    let mut notes = cut_short::recent(&settings, (settings.clock)());
    notes.retain(|note| note.root.as_deref().is_none_or(|root| root == workspace.root()));
    let last = notes.last()?;
    let who = last.agent.as_deref().map(|agent| format!(" of {agent}")).unwrap_or_default();
    let message = format!(
        "{} cut short in the last 7 days and may not have recorded a step; the latest{who} at {}, {}",
        if notes.len() == 1 { "1 hook was".to_owned() } else { format!("{} hooks were", notes.len()) },
        last.time,
        last.doing,
    );
    let hint = Some("what they missed is in `backsight status`; record it with `backsight track`".to_owned());
    Some(Check { name: "hooks".to_owned(), state: CheckState::Warning, message, hint, advice: Vec::new() })
}

/// The user's own settings: which file is in force, and what agents may do by it.
fn own_settings(workspace: &Workspace) -> Check {
    let name = "your settings".to_owned();
    let file = workspace.user_settings_path().map(|file| format!("`{}`", file.display()));
    let file = file.unwrap_or_else(|| "no home directory is known".to_owned());
    match workspace.user_settings() {
        Err(error) => {
            let (message, hint) = (error.message().to_owned(), error.hint_in(&CommandLine));
            Check { name, state: CheckState::Problem, message, hint, advice: Vec::new() }
        }
        Ok(settings) => {
            let message = match settings.file {
                Some(_) if settings.agents == Agents::default() => format!("{file}, which allows agents nothing more"),
                Some(_) => format!("{file}, which allows agents more than the workspace"),
                None => format!("none ({file}): agents debug programs of the workspace only"),
            };
            Check { name, state: CheckState::Ok, message, hint: None, advice: Vec::new() }
        }
    }
}

/// Whether there is a browser that could be started; whoever starts none needs none.
fn browser(workspace: &Workspace) -> Check {
    let launch = Launch { search: workspace.search_path(), ..Launch::default() };
    let (state, message, hint) = match launch.find() {
        Ok(program) => (CheckState::Ok, format!("`{}`", program.display()), None),
        Err(error) => {
            let message = "no Chromium or Chrome was found; only `backsight browser launch` needs one";
            (CheckState::Absent, message.to_owned(), error.hint_in(&CommandLine))
        }
    };
    Check { name: "browser".to_owned(), state, message, hint, advice: Vec::new() }
}

/// Who watches the app.
fn app(context: &Context) -> Check {
    let (state, message) = match watching(context) {
        Ok(message) => (CheckState::Ok, message),
        Err(error) if error.code() == Code::StoreNotOurs => (CheckState::Warning, "not looked at".to_owned()),
        Err(error) => (CheckState::Warning, error.message().to_owned()),
    };
    Check { name: "app".to_owned(), state, message, hint: None, advice: Vec::new() }
}

/// Where the server's log is.
fn server_log(context: &Context) -> Check {
    let hint = || Some(format!("start it with `backsight serve --log FILE`, or set {}", log::VARIABLE));
    let server = backsight_server::find(&context.root(), context.settings());
    let (state, message, hint) = match (server, log::wanted(context)) {
        (Ok(Some(address)), _) => match address.log {
            Some(place) => (CheckState::Ok, format!("the server writes it to `{place}`"), None),
            None => (CheckState::Ok, "the server writes none".to_owned(), hint()),
        },
        (_, Err(error)) => (CheckState::Problem, error.message().to_owned(), None),
        (_, Ok(Some(to))) => (CheckState::Ok, format!("no server runs; one would write it to `{to}`"), None),
        (_, Ok(None)) => (CheckState::Ok, "no server runs, and none would write one".to_owned(), hint()),
    };
    Check { name: "log".to_owned(), state, message, hint, advice: Vec::new() }
}

fn watching(context: &Context) -> Result<String> {
    let lane = Lane::find(context)?;
    if !lane.is_served() {
        return Ok("no server runs, so nobody watches it".to_owned());
    }
    let labels = lane.perform(ReadBrowserStatus {})?.coverage.watching;
    Ok(if labels.is_empty() { "nobody watches it".to_owned() } else { enumerate(&labels) })
}

/// Which debuggers are here; whoever debugs nothing needs none.
fn debuggers(context: &Context, workspace: &Workspace) -> Vec<Check> {
    // Settings that cannot be read are a problem of their own, told above.
    let known = workspace.debuggers().unwrap_or_else(|_| adapters::builtin());
    known.iter().map(|adapter| debugger(context, workspace, adapter)).collect()
}

fn debugger(context: &Context, workspace: &Workspace, adapter: &Adapter) -> Check {
    let (root, search) = (workspace.root(), workspace.search_path());
    let home = context.settings().home;
    let install = || Some(format!("install it with `{}`", adapter.install)).filter(|_| !adapter.install.is_empty());
    let (state, message, hint) = match adapters::locate(adapter, None, root, &search) {
        // Looked for, not asked for: a Python runs whatever lies beside it, and that may be the repository's.
        Ok(program) if adapter.name == "debugpy" => {
            let shown = format!("`{}`", program.display());
            match adapters::has_debugpy(&program, home.as_deref()) {
                Some(true) => (CheckState::Ok, shown, None),
                Some(false) => {
                    (CheckState::Absent, format!("not in {shown}; only programs in Python need it"), install())
                }
                None => {
                    let message = format!("{shown} is a script: only running it would tell whether it has it");
                    (CheckState::Warning, message, None)
                }
            }
        }
        Ok(program) => (CheckState::Ok, format!("`{}`", program.display()), None),
        Err(_) => (CheckState::Absent, format!("not found; only {} need it", programs(adapter)), install()),
    };
    Check { name: format!("debugger {}", adapter.name), state, message, hint, advice: Vec::new() }
}

/// What a debugger is for.
fn programs(adapter: &Adapter) -> String {
    let endings: Vec<String> = adapter.extensions.iter().map(|ending| format!(".{ending}")).collect();
    if endings.is_empty() { "binaries".to_owned() } else { format!("programs in {}", enumerate(&endings)) }
}
