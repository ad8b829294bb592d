//! `backsight ls [REF]`: the files of a snapshot.

use backsight::report::FileKind;
use backsight_core::Result;
use serde_json::json;

use crate::arguments::references;
use crate::commands::Verdict;
use crate::context::Context;

/// List the files of a snapshot
///
/// One line a path: permission bits, then the path; a symlink ends in `@`, an empty directory in `/`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = references!())]
pub struct Args {
    /// Which snapshot
    #[arg(value_name = "REF", default_value = "@")]
    reference: String,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let files = context.workspace()?.list_files(&args.reference)?;
    context.answer(&json!({ "files": files }), |page| {
        for file in &files {
            let mark = match file.attributes.kind {
                FileKind::File => "",
                FileKind::Symlink => "@",
                FileKind::Directory => "/",
            };
            let mode = page.data.dim(format_args!("{:04o}", file.attributes.mode));
            page.data.line(format_args!("{mode} {}{mark}", file.path));
        }
        if files.is_empty() {
            page.note("the snapshot holds no files");
        }
    })?;
    Ok(Verdict::Done)
}
