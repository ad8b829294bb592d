//! `backsight verify`: reads every object and every row, and says which snapshots are hurt by what is wrong.

use backsight::report::{Damage, Verified};
use backsight_core::{Code, Error, Result};
use serde::Serialize;
use serde_json::Value;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{GREEN, Page, RED, print_json};
use crate::words::{count, count_of, enumerate, safe};

/// Check every stored object and row; exit 1 on damage
#[derive(clap::Args, Debug)]
pub struct Args {}

/// Damage is both a failure, for those who branch on `ok`, and a full report.
#[derive(Serialize)]
struct Damaged<'a> {
    ok: bool,
    error: Value,
    #[serde(flatten)]
    report: &'a Verified,
}

pub fn run(_: &Args, context: &Context) -> Result<Verdict> {
    let verified = context.workspace()?.verify()?;
    if verified.clean {
        context.answer(&verified, |page| whole(page, &verified))?;
        return Ok(Verdict::Done);
    }
    let error = failure(&verified);
    if context.screen.is_json() {
        print_json(&Damaged { ok: false, error: error.to_json()["error"].take(), report: &verified })?;
    } else {
        context.answer(&verified, |page| damaged(page, &verified, &error))?;
    }
    Ok(Verdict::No)
}

fn whole(page: &mut Page, verified: &Verified) {
    let verdict = page.data.paint(GREEN.bold(), "Whole");
    let (objects, snapshots) = (count(verified.objects, "object"), count(verified.snapshots, "snapshot"));
    page.data.line(format_args!("{verdict}: {objects} read and checked, {snapshots} complete"));
    for warning in &verified.warnings {
        page.warning(safe(warning));
    }
}

fn failure(verified: &Verified) -> Error {
    Error::new(Code::Damaged, format!("the store is damaged: {}", count_of(&verified.damage, "problem")))
        .with_hint("`backsight track` stores contents that are still on disk again; the rest needs a backup")
}

fn damaged(page: &mut Page, verified: &Verified, error: &Error) {
    for Damage { what, problem, snapshots, paths } in &verified.damage {
        let mark = page.data.paint(RED, "damaged");
        page.data.line(format_args!("{mark} {}: {}", safe(what), safe(problem)));
        if !snapshots.is_empty() {
            page.data.line(format_args!("  snapshots {}", enumerate(snapshots)));
        }
        if !paths.is_empty() {
            page.data.line(format_args!("  paths     {}", enumerate(paths)));
        }
    }
    let (objects, snapshots) = (count(verified.objects, "object"), count(verified.snapshots, "snapshot"));
    page.data.line(format_args!("{objects} read and checked, {snapshots} complete"));
    page.error(error);
    if let Some(hint) = error.hint() {
        page.hint(hint);
    }
}
