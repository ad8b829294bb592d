//! `backsight doctor`: checks the surroundings and gives advice.

use backsight::browser::cdp::Launch;
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
    let mut checks = context.workspace()?.doctor()?;
    checks.extend([browser(context), app(context)]);
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
