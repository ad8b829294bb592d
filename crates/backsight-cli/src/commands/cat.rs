//! `backsight cat REF PATH`: the bytes of a file as a snapshot holds them; `cat --blob ID`: those of any content.

use std::ffi::OsString;

use backsight::request::{PathText, ReadBlob, ReadFile};
use backsight_core::{Code, Error, ObjectId, Result};

use crate::arguments::examples_then_references;
use crate::commands::Verdict;
use crate::context::Context;

/// Print a file as a snapshot holds it
///
/// With --blob, print a content by its id, such as one side of a conflict or a hash that `show --json` lists.
///
/// The bytes go to stdout unchanged. With --json, `content` holds them as text, or as base64 when they are not UTF-8;
/// `encoding` says which.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight cat @ src/main.rs
  backsight cat now src/main.rs       as it is on disk
  backsight cat 12 -- -odd-name
  backsight cat --blob 257cc5642cb1a054f08cc83f2d943e56fd3ebe99"))]
pub struct Args {
    /// Which snapshot
    #[arg(value_name = "REF", required_unless_present = "blob")]
    reference: Option<String>,
    /// Which file
    #[arg(value_name = "PATH", required_unless_present = "blob")]
    path: Option<OsString>,
    /// The content with this id, 40 hex digits
    #[arg(long, value_name = "ID", conflicts_with_all = ["reference", "path"])]
    blob: Option<ObjectId>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    match (args.blob, &args.reference, &args.path) {
        (Some(id), ..) => {
            let found = workspace.perform(ReadBlob { id })?;
            context.answer(&found, |page| page.data.raw(&found.content.0))?;
        }
        (None, Some(reference), Some(path)) => {
            let path = PathText::from(&context.path(&workspace, path)?);
            let found = workspace.perform(ReadFile { reference: Some(reference.clone()), path })?;
            context.answer(&found, |page| page.data.raw(&found.content.0))?;
        }
        // The argument parser asks for both.
        _ => return Err(Error::new(Code::Usage, "name a REF and a PATH, or a content with `--blob ID`")),
    }
    Ok(Verdict::Done)
}
