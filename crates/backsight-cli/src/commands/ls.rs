//! `backsight ls [REF]`: the files of a snapshot.

use backsight::report::FileKind;
use backsight::request::ListFiles;
use backsight_core::Result;

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
    let listed = context.workspace()?.perform(ListFiles { reference: Some(args.reference.clone()) })?;
    context.answer(&listed, |page| {
        for file in &listed.files {
            let mark = match file.attributes.kind {
                FileKind::File => "",
                FileKind::Symlink => "@",
                FileKind::Directory => "/",
            };
            let mode = page.data.dim(format_args!("{:04o}", file.attributes.mode));
            page.data.line(format_args!("{mode} {}{mark}", file.path));
        }
        if listed.files.is_empty() {
            page.note("the snapshot holds no files");
        }
    })?;
    Ok(Verdict::Done)
}
