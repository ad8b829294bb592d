//! `backsight doctor`: checks the surroundings and gives advice.

use backsight::report::CheckState;
use backsight_core::Result;
use serde_json::json;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{GREEN, RED, YELLOW};
use crate::words::safe;

/// Check that everything Backsight needs is in order; exit 1 on a problem
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_: &Args, context: &Context) -> Result<Verdict> {
    let checks = context.workspace()?.doctor()?;
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
