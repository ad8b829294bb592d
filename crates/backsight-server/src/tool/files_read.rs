//! A file or a directory as it was, or is.

use backsight::report::FileKind;
use backsight_core::{Code, RelPath, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Definition, Effect, cursor, path};
use crate::reply::{Draft, Next};
use crate::words;

pub struct FilesRead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// a file, or a directory to list; default: the whole workspace
    path: Option<String>,
    /// default @; now is the disk
    #[serde(rename = "ref")]
    reference: Option<String>,
    cursor: Option<String>,
}

impl Definition for FilesRead {
    const NAME: &'static str = "files_read";
    const TITLE: &'static str = "Read an old version of a file";
    const DESCRIPTION: &'static str = "Read a file's text, or list a directory's files, as they were in a snapshot: \
        an old or deleted version, before an edit.";
    const EFFECT: Effect = Effect::Reads;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("files", "array"), ("content", "string")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let reference = arguments.reference.unwrap_or_else(|| "@".to_owned());
        let start = cursor(arguments.cursor.as_deref())?;
        let again = Next::new("files_read", json!({ "path": arguments.path, "ref": reference }));
        let wanted =
            arguments.path.as_deref().filter(|path| !matches!(*path, "" | "." | "./")).map(path).transpose()?;
        let Some(wanted) = wanted else { return listing(call, &reference, None, start, again) };
        match call.workspace.get_file_at(&reference, &wanted) {
            Ok(bytes) => Ok(file(&wanted, &reference, &bytes, start, again)),
            Err(error) if error.code() == Code::PathNotFound => {
                listing(call, &reference, Some(&wanted), start, again).map_err(|_| error)
            }
            Err(error) => Err(error),
        }
    }
}

fn file(wanted: &RelPath, reference: &str, bytes: &[u8], start: usize, again: Next) -> Draft {
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&0) => {
            let lines = text.lines().count();
            Draft::new(format!("{wanted} at {reference}: {}", words::count(lines, "line")))
                .body("content", text, start, again)
        }
        _ => Draft::new(format!("{wanted} at {reference} is binary: {} bytes, not shown", bytes.len())),
    }
}

fn listing(call: &Call<'_>, reference: &str, below: Option<&RelPath>, start: usize, again: Next) -> Result<Draft> {
    let prefix = below.map(|below| [below.as_bytes(), b"/"].concat()).unwrap_or_default();
    let entries = call.workspace.list_files(reference)?;
    let inside = entries.iter().filter(|entry| entry.path.as_bytes().starts_with(&prefix));
    let files: Vec<String> = inside
        .map(|entry| match entry.attributes.kind {
            FileKind::File => entry.path.to_string(),
            FileKind::Symlink => format!("{} (symlink)", entry.path),
            FileKind::Directory => format!("{}/", entry.path),
        })
        .collect();
    if let (Some(below), true) = (below, files.is_empty()) {
        return Err(backsight_core::Error::new(Code::PathNotFound, format!("`{below}` is not in {reference}")));
    }
    let what = below.map_or_else(|| "the workspace".to_owned(), ToString::to_string);
    let summary = format!("{what} at {reference}: {}", words::count(files.len(), "file"));
    Ok(Draft::new(summary).list_from("files", files, start, again))
}
