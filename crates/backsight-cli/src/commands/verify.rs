//! `backsight verify`: reads every object and every row, and says which snapshots are hurt by what is wrong.

use backsight::report::{Damage, Verified};
use backsight::request::VerifyStore;
use backsight_core::{Code, Error, Result};
use backsight_server::CommandLine;
use serde::Serialize;
use serde_json::Value;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{GREEN, Page, RED, print_json};
use crate::parse;
use crate::words::{count, count_of, enumerate, safe};

/// Check every stored object and row; exit 1 on damage
///
/// Every row of the timeline carries a hash over itself and all rows before it. The newest, the chain head, stands for
/// the whole history: keep it somewhere else, and --head later proves that nothing up to it was altered.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight verify
  backsight verify --head \"$(cat noted-head)\"")]
pub struct Args {
    /// A chain head noted earlier; the timeline must still hold it
    #[arg(long, value_name = "HASH", value_parser = parse::chain_hash)]
    head: Option<String>,
}

/// Damage is both a failure, for those who branch on `ok`, and a full report.
#[derive(Serialize)]
struct Damaged<'a> {
    ok: bool,
    error: Value,
    #[serde(flatten)]
    report: &'a Verified,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let verified = context.workspace()?.perform(VerifyStore { head: args.head.clone() })?;
    if verified.clean {
        context.answer(&verified, |page| whole(page, &verified, args.head.is_some()))?;
        return Ok(Verdict::Done);
    }
    let error = failure(&verified);
    if context.screen.is_json() {
        print_json(&Damaged { ok: false, error: error.to_json(&CommandLine)["error"].take(), report: &verified })?;
    } else {
        context.answer(&verified, |page| damaged(page, &verified, &error))?;
    }
    Ok(Verdict::No)
}

fn whole(page: &mut Page, verified: &Verified, is_proven: bool) {
    let verdict = page.data.paint(GREEN.bold(), "Whole");
    page.data.line(format_args!("{verdict}: {}", extent(verified)));
    if is_proven {
        page.data.line("Nothing up to the head you noted was altered");
    }
    if !verified.chain_head.is_empty() {
        page.data.line(format_args!("Chain head {}", safe(&verified.chain_head)));
    }
    for warning in &verified.warnings {
        page.warning(safe(warning));
    }
}

/// `11 objects and 6 rows read and checked, 6 snapshots complete`
fn extent(verified: &Verified) -> String {
    let (objects, rows) = (count(verified.objects, "object"), count(verified.rows, "row"));
    format!("{objects} and {rows} read and checked, {} complete", count(verified.snapshots, "snapshot"))
}

fn failure(verified: &Verified) -> Error {
    let is_only_history = verified.damage.iter().all(|damage| damage.what.starts_with("timeline.db"));
    let hint = if is_only_history {
        "compare the store with a backup of it; `backsight continuity validate` checks row by row"
    } else {
        "`backsight track` stores contents that are still on disk again; the rest needs a backup"
    };
    Error::new(Code::Damaged, format!("the store is damaged: {}", count_of(&verified.damage, "problem")))
        .with_hint(hint)
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
    page.data.line(extent(verified));
    page.error(error);
    if let Some(hint) = error.hint_in(&CommandLine) {
        page.hint(hint);
    }
}
