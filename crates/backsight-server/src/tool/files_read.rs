//! A file or a directory as it was, or is.

use backsight::report::FileKind;
use backsight::request::{ListFiles, ReadFile};
use backsight_core::{Code, Error, RelPath, Result};
use serde_json::{Map, Value, json};

use super::{Call, Choosing, Group, Shown, ToolChoice, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct FilesRead;

impl Choosing for FilesRead {
    const NAME: &'static str = "files_read";
    const TITLE: &'static str = "Read an old version of a file";
    const DESCRIPTION: &'static str = "Read a file's text, or list a directory's files, as they were in a snapshot: \
        an old or deleted version, before an edit.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const PAGES: bool = true;
    const WORD: &'static str = "";
    const SHOWN: &'static [Shown] = &[
        Shown::new("path").saying("a file, or a directory to list; default: the whole workspace").text(),
        Shown::new("ref").saying("default @; now is the disk").text(),
        Shown::new("cursor"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("files", "array"), ("content", "string")];

    fn choices() -> Vec<ToolChoice> {
        vec![
            ToolChoice::of("list", |call, list: ListFiles| {
                let again = Next::new(FilesRead::NAME, json!({ "ref": list.reference() }));
                listing(call, list, None, again)
            }),
            ToolChoice::of("file", file),
        ]
    }

    fn meant(arguments: &mut Map<String, Value>) -> Result<Option<&'static str>> {
        let is_root = |path: &Value| matches!(path.as_str(), Some("" | "." | "./"));
        Ok(arguments.get("path").is_some_and(|path| !is_root(path)).then_some("file"))
    }
}

fn file(call: &Call<'_>, request: ReadFile) -> Result<Draft> {
    let (wanted, reference) = (request.path.inside()?, request.reference().to_owned());
    let again = Next::new(FilesRead::NAME, json!({ "path": request.path, "ref": reference }));
    match call.workspace.perform(request) {
        Ok(found) => Ok(content(&wanted, &reference, &found.content.0, cursor(call.cursor)?, again)),
        Err(error) if error.code() == Code::PathNotFound => {
            listing(call, ListFiles { reference: Some(reference) }, Some(&wanted), again).map_err(|_| error)
        }
        Err(error) => Err(error),
    }
}

fn content(wanted: &RelPath, reference: &str, bytes: &[u8], start: usize, again: Next) -> Draft {
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&0) => {
            let lines = text.lines().count();
            Draft::new(format!("{wanted} at {reference}: {}", words::count(lines, "line")))
                .body("content", text, start, again)
        }
        _ => Draft::new(format!("{wanted} at {reference} is binary: {} bytes, not shown", bytes.len())),
    }
}

fn listing(call: &Call<'_>, request: ListFiles, below: Option<&RelPath>, again: Next) -> Result<Draft> {
    let reference = request.reference().to_owned();
    let prefix = below.map(|below| [below.as_bytes(), b"/"].concat()).unwrap_or_default();
    let listed = call.workspace.perform(request)?;
    let inside = listed.files.iter().filter(|entry| entry.path.as_bytes().starts_with(&prefix));
    let files: Vec<String> = inside
        .map(|entry| match entry.attributes.kind {
            FileKind::File => entry.path.to_string(),
            FileKind::Symlink => format!("{} (symlink)", entry.path),
            FileKind::Directory => format!("{}/", entry.path),
        })
        .collect();
    if let (Some(below), true) = (below, files.is_empty()) {
        return Err(Error::new(Code::PathNotFound, format!("`{below}` is not in {reference}")));
    }
    let what = below.map_or_else(|| "the workspace".to_owned(), ToString::to_string);
    let summary = format!("{what} at {reference}: {}", words::count(files.len(), "file"));
    Ok(Draft::new(summary).list_from("files", files, cursor(call.cursor)?, again))
}
