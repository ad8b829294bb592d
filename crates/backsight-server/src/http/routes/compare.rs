//! What differs between two states, and what one step did.

use backsight::Workspace;
use backsight::report::{Diff, Patch, Status};
use backsight::request;
use backsight_core::{Code, ObjectId, RelPath, Result, Uncovered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LOOK, PATH, PathText, REFERENCE};
use crate::http::endpoint::Endpoint;

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/api/patch", "patch", "The paths that differ between two states", patch).fails(&[
            REFERENCE,
            PATH,
            &[Code::PathNotFound],
            LOOK,
        ]),
        Endpoint::get("/api/diff", "diff", "The differences between two states, with the texts before and after", diff)
            .fails(&[REFERENCE, PATH, &[Code::PathNotFound], LOOK]),
        Endpoint::get("/api/diff/stat", "diffStat", "The same as counts of lines, without the texts", stat).fails(&[
            REFERENCE,
            PATH,
            &[Code::PathNotFound],
            LOOK,
        ]),
        Endpoint::get("/api/step", "stepDiff", "What one step did, or what takes it back", step)
            .fails(&[REFERENCE, PATH]),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct PatchInput {
    /// The first state, as a reference.
    #[schemars(example = &"@~1")]
    from: String,
    /// The second state; the files on disk when left out.
    #[schemars(example = &"@")]
    to: Option<String>,
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
}

fn patch(workspace: &Workspace, input: PatchInput) -> Result<Patch> {
    workspace.patch_paths(&input.from, input.to.as_deref(), &PathText::all(&input.paths)?)
}

#[derive(Deserialize, JsonSchema)]
struct DiffInput {
    /// The first state, as a reference.
    #[schemars(example = &"@~1")]
    from: String,
    /// The second state; the files on disk when left out.
    #[schemars(example = &"@")]
    to: Option<String>,
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
    /// Leave out the text of files with more bytes than this, and say so; 8 MiB unless told otherwise.
    max_file_bytes: Option<u64>,
    /// Lines of context around each change in the unified diff; 3 unless told otherwise.
    context: Option<u16>,
    /// Add everything as one unified diff, as `git apply` and `patch -p1` read it.
    #[serde(default)]
    unified: bool,
}

/// The differences, and on request as one text.
#[derive(JsonSchema, Serialize)]
struct Compared {
    #[serde(flatten)]
    diff: Diff,
    /// The unified diff; bytes that are not UTF-8 are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    unified: Option<String>,
}

fn diff(workspace: &Workspace, input: DiffInput) -> Result<Compared> {
    let is_unified = input.unified;
    let diff = workspace.diff_with(&requested(input)?)?;
    Ok(Compared { unified: is_unified.then(|| text(&diff)), diff })
}

fn requested(input: DiffInput) -> Result<request::Diff> {
    let usual = request::Diff::new(input.from, input.to);
    Ok(request::Diff {
        paths: PathText::all(&input.paths)?,
        max_file_bytes: input.max_file_bytes.unwrap_or(usual.max_file_bytes),
        context: input.context.map_or(usual.context, usize::from),
        ..usual
    })
}

/// All of a diff as one text; bytes that are not UTF-8 are replaced.
pub(super) fn text(diff: &Diff) -> String {
    let bytes: Vec<u8> = diff.diffs.iter().flat_map(|file| file.unified.iter().copied()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[derive(Deserialize, JsonSchema)]
struct StatInput {
    /// The first state, as a reference.
    #[schemars(example = &"@~1")]
    from: String,
    /// The second state; the files on disk when left out.
    #[schemars(example = &"@")]
    to: Option<String>,
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
    /// Do not count in files with more bytes than this, and say so; 8 MiB unless told otherwise.
    max_file_bytes: Option<u64>,
}

/// How many lines differ.
#[derive(JsonSchema, Serialize)]
struct Counts {
    /// The first tree.
    from: ObjectId,
    /// The second tree; absent when it is the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<ObjectId>,
    /// One entry a path.
    diffs: Vec<FileCounts>,
    /// Sum over all files.
    additions: u64,
    /// Sum over all files.
    deletions: u64,
    /// Paths one side could not see, so nothing is claimed about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unseen: Vec<Uncovered>,
}

/// How many lines of one file differ.
#[derive(JsonSchema, Serialize)]
struct FileCounts {
    /// The path (the new one, for renames).
    file: RelPath,
    /// Lines added; 0 for binary files.
    additions: u64,
    /// Lines removed; 0 for binary files.
    deletions: u64,
    /// How it differs.
    status: Status,
    /// Where it was, for renames.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_file: Option<RelPath>,
    /// Either side holds bytes that are not UTF-8 text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    binary: bool,
    /// Why the lines were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

fn stat(workspace: &Workspace, input: StatInput) -> Result<Counts> {
    let StatInput { from, to, paths, max_file_bytes } = input;
    let wanted = DiffInput { from, to, paths, max_file_bytes, context: None, unified: false };
    let diff = workspace.diff_with(&requested(wanted)?)?;
    let diffs = diff.diffs.into_iter().map(|file| FileCounts {
        file: file.file,
        additions: file.additions,
        deletions: file.deletions,
        status: file.status,
        from_file: file.from_file,
        binary: file.binary,
        cut: file.cut,
    });
    Ok(Counts {
        from: diff.from,
        to: diff.to,
        diffs: diffs.collect(),
        additions: diff.additions,
        deletions: diff.deletions,
        unseen: diff.unseen,
    })
}

#[derive(Deserialize, JsonSchema)]
struct StepInput {
    /// Which step, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: String,
    /// What takes the step back instead of what it did.
    #[serde(default)]
    reverse: bool,
    /// Only these paths and what lies below them.
    #[serde(default)]
    paths: Vec<PathText>,
    /// Add everything as one unified diff.
    #[serde(default)]
    unified: bool,
}

fn step(workspace: &Workspace, input: StepInput) -> Result<Compared> {
    let diff = workspace.step_diff(&input.reference, input.reverse, &PathText::all(&input.paths)?)?;
    Ok(Compared { unified: input.unified.then(|| text(&diff)), diff })
}
