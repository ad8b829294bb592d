//! `backsight cat REF PATH`: the bytes of a file as a snapshot holds them; `cat --blob ID`: those of any content.

use std::ffi::OsString;

use backsight_core::{Code, Error, ObjectId, Result};
use serde_json::{Value, json};

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
    let (mut report, bytes) = match (args.blob, &args.reference, &args.path) {
        (Some(blob), ..) => {
            let bytes = workspace.get_blob(&blob)?;
            (json!({ "blob": blob, "size": bytes.len() }), bytes)
        }
        (None, Some(reference), Some(path)) => {
            let path = context.path(&workspace, path)?;
            let bytes = workspace.get_file_at(reference, &path)?;
            (json!({ "path": path, "size": bytes.len() }), bytes)
        }
        // The argument parser asks for both.
        _ => return Err(Error::new(Code::Usage, "name a REF and a PATH, or a content with `--blob ID`")),
    };
    let content = if context.screen.is_json() { encoded(&bytes) } else { Value::Null };
    if let (Value::Object(report), Value::Object(content)) = (&mut report, content) {
        report.extend(content);
    }
    context.answer(&report, |page| page.data.raw(&bytes))?;
    Ok(Verdict::Done)
}

fn encoded(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => json!({ "encoding": "utf-8", "content": text }),
        Err(_) => json!({ "encoding": "base64", "content": backsight_core::base64(bytes) }),
    }
}
