//! `backsight import FILE`: the history out of a file that `backsight export` wrote.

use std::ffi::OsString;

use backsight_core::Result;

use crate::commands::Verdict;
use crate::context::Context;
use crate::words::{bytes, count, safe};

/// Take the history out of a file that `backsight export` wrote
///
/// The directory must have no history yet; its files are left as they are. Everything in the file is checked before the
/// store appears: an import that fails or is interrupted leaves nothing, and can be started again. Rows and snapshots are
/// taken, nothing that acts: settings, keys and rules are yours to make, and comments and
/// checkpoints stay where they were made.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight import ../project.backsight
  backsight -C ../copy import ../project.backsight && backsight -C ../copy restore @")]
pub struct Args {
    /// The file to read
    #[arg(value_name = "FILE")]
    file: OsString,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let imported = context.workspace_at(None)?.import_store(&context.start().join(&args.file))?;
    context.answer(&imported, |page| {
        page.data.line(format_args!("Imported into {}", page.data.bold(safe(&imported.store))));
        let (rows, files) = (count(imported.rows, "row"), count(imported.object_files, "file"));
        let size = bytes(imported.object_bytes);
        page.data.line(format_args!("Taken over: {rows} of the timeline, {files} with snapshots ({size})"));
        page.note(
            "settings, open calls, comments, checkpoints, noise rules, baselines and keys are not part of an export",
        );
        page.hint("check the history with `backsight verify`; see what is different here with `backsight status`");
    })?;
    Ok(Verdict::Done)
}
