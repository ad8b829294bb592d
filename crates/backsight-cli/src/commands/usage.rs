//! `backsight usage`: what the store takes on disk.

use backsight::report::Usage;
use backsight::request::MeasureStore;
use backsight_core::Result;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Page;
use crate::words::{bytes, count, safe};

/// Show how much disk the store uses
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_: &Args, context: &Context) -> Result<Verdict> {
    let usage = context.workspace()?.perform(MeasureStore {})?;
    context.answer(&usage, |page| show(page, &usage))?;
    Ok(Verdict::Done)
}

fn show(page: &mut Page, usage: &Usage) {
    let mut row = |label: &str, value: String| {
        let label = page.data.dim(format_args!("{label:<9}"));
        page.data.line(format_args!("{label} {value}"));
    };
    row("store", safe(&usage.store));
    row("total", format!("{}, {} free on the device", bytes(usage.total_bytes), bytes(usage.free_bytes)));
    row("packs", format!("{} in {}", bytes(usage.pack_bytes), count(usage.packs, "pack")));
    row("loose", format!("{} in {}", bytes(usage.loose_bytes), count(usage.loose_objects, "object")));
    row("timeline", bytes(usage.timeline_bytes));
    row("cache", bytes(usage.cache_bytes));
    row("snapshots", format!("{} kept, {} expired", usage.snapshots, usage.expired));
    row("budget", usage.disk_budget.map_or("none".into(), bytes));
    if usage.disk_budget.is_some_and(|budget| usage.total_bytes > budget) {
        page.warning("the store is larger than its budget");
        page.hint("make room with `backsight gc`");
    }
}
