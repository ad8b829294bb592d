//! `backsight export FILE`: the whole history in one file.

use std::ffi::OsString;

use backsight_core::Result;

use crate::commands::Verdict;
use crate::context::Context;
use crate::words::{bytes, count, safe};

/// Write the whole history into one file, to move it to another machine
///
/// The file holds every row and every object, and a digest over all of it; `backsight import` reads it. Settings, open tool
/// calls, comments, checkpoints, noise rules, baselines and keys are not in it. The file must not exist yet, and appears whole or not at all.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight export ../project.backsight
  backsight -C ../copy import ../project.backsight")]
pub struct Args {
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    file: OsString,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let exported = context.workspace()?.export_store(&context.start().join(&args.file))?;
    context.answer(&exported, |page| {
        let (file, size) = (page.data.bold(safe(&exported.file)), bytes(exported.bytes));
        page.data.line(format_args!("Wrote {file} ({size})"));
        let (rows, files) = (count(exported.rows, "row"), count(exported.object_files, "file"));
        page.data.line(format_args!("  holds   {rows} of the timeline, {files} with snapshots"));
        page.data.line(format_args!("  sha256  {}", exported.sha256));
        page.hint("take it over with `backsight -C DIR import FILE`, on any machine");
    })?;
    Ok(Verdict::Done)
}
