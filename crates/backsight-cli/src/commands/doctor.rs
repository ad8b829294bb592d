//! `backsight doctor`: checks the surroundings and gives advice.

use std::path::Path;

use backsight::Workspace;
use backsight::browser::cdp::Launch;
use backsight::debug::adapters::{self, Adapter};
use backsight::report::{Check, CheckState};
use backsight_core::Result;
use serde_json::{Value, json};

use crate::commands::Verdict;
use crate::context::Context;
use crate::lane::{Lane, Request};
use crate::page::{GREEN, RED, YELLOW};
use crate::words::{enumerate, safe};

/// Check that everything Backsight needs is in order; exit 1 on a problem
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let mut checks = workspace.doctor()?;
    checks.extend([browser(context), app(context)]);
    checks.extend(debuggers(context, &workspace));
    let healthy = checks.iter().all(|check| check.state != CheckState::Problem);
    context.answer(&json!({ "healthy": healthy, "checks": checks }), |page| {
        for check in &checks {
            let (mark, style) = match check.state {
                CheckState::Ok => ("ok", GREEN),
                CheckState::Warning => ("warning", YELLOW),
                CheckState::Problem => ("problem", RED),
            };
            let mark = page.data.paint(style, format_args!("{mark:<7}"));
            page.data.line(format_args!("{mark} {}: {}", safe(&check.name), safe(&check.message)));
            if let Some(hint) = &check.hint {
                page.data.line(format_args!("        {}", safe(hint)));
            }
        }
    })?;
    Ok(Verdict::no_if(!healthy))
}

/// Whether there is a browser that could be started; whoever starts none needs none.
fn browser(context: &Context) -> Check {
    let launch = Launch { search: context.settings().search_path, ..Launch::default() };
    let (message, hint) = match launch.find() {
        Ok(program) => (format!("`{}`", program.display()), None),
        Err(error) => {
            let message = "no Chromium or Chrome was found; only `backsight browser launch` needs one";
            (message.to_owned(), error.hint().map(str::to_owned))
        }
    };
    Check { name: "browser".to_owned(), state: CheckState::Ok, message, hint }
}

/// Who watches the app.
fn app(context: &Context) -> Check {
    let message = watching(context).unwrap_or_else(|error| error.message().to_owned());
    Check { name: "app".to_owned(), state: CheckState::Ok, message, hint: None }
}

fn watching(context: &Context) -> Result<String> {
    let lane = Lane::find(context)?;
    if !lane.is_served() {
        return Ok("no server runs, so nobody watches it".to_owned());
    }
    let status: Value = lane.server("watching")?.ask(&Request::Get("/api/browser/status".to_owned()))?;
    let labels = status["coverage"]["watching"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let labels: Vec<&str> = labels.collect();
    Ok(if labels.is_empty() { "nobody watches it".to_owned() } else { enumerate(&labels) })
}

/// Which debuggers are here; whoever debugs nothing needs none.
fn debuggers(context: &Context, workspace: &Workspace) -> Vec<Check> {
    // Settings that cannot be read are a problem of their own, told above.
    let known = workspace.debuggers().unwrap_or_else(|_| adapters::builtin());
    known.iter().map(|adapter| debugger(context, workspace.root(), adapter)).collect()
}

fn debugger(context: &Context, root: &Path, adapter: &Adapter) -> Check {
    let search = adapters::outside(&context.settings().search_path, root);
    let home = context.settings().home;
    let install = || Some(format!("install it with `{}`", adapter.install)).filter(|_| !adapter.install.is_empty());
    let (message, hint) = match adapters::locate(adapter, None, root, &search) {
        // Looked for, not asked for: a Python runs whatever lies beside it, and that may be the repository's.
        Ok(program) if adapter.name == "debugpy" => match adapters::has_debugpy(&program, home.as_deref()) {
            Some(true) => (format!("`{}`", program.display()), None),
            Some(false) => {
                (format!("`{}` does not have it; only programs in Python need it", program.display()), install())
            }
            None => {
                (format!("`{}` is a script: only running it would tell whether it has it", program.display()), None)
            }
        },
        Ok(program) => (format!("`{}`", program.display()), None),
        Err(_) => (format!("not found; only {} need it", programs(adapter)), install()),
    };
    Check { name: format!("debugger {}", adapter.name), state: CheckState::Ok, message, hint }
}

/// What a debugger is for.
fn programs(adapter: &Adapter) -> String {
    let endings: Vec<String> = adapter.extensions.iter().map(|ending| format!(".{ending}")).collect();
    if endings.is_empty() { "binaries".to_owned() } else { format!("programs in {}", enumerate(&endings)) }
}
