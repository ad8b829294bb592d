//! The files of a snapshot, the contents of one, its life, and who wrote its lines, as every interface asks for it.

use backsight_core::{Code, Effect, Error, ObjectId, Operation, Result, Waits, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BinaryFiles, PathText};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{Blame, BlobContent, Diff, FileContent, FileLife, FileList, ShownStep};

/// The latest snapshot.
const LATEST: &str = "@";
/// Lines around each hunk of a step.
const CONTEXT: usize = 3;

/// List the files of a snapshot.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListFiles {
    /// Which snapshot, as a reference; the latest when left out.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: Option<String>,
}

impl ListFiles {
    /// Which snapshot.
    pub fn reference(&self) -> &str {
        self.reference.as_deref().unwrap_or(LATEST)
    }
}

impl Operation for ListFiles {
    type Answer = FileList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", self.reference())
    }
}

impl Perform for ListFiles {
    fn carry_out(self, workspace: &Workspace) -> Result<FileList> {
        Ok(FileList { files: workspace.list_files(self.reference())? })
    }
}

/// Read a file as a snapshot holds it.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadFile {
    /// Which snapshot, as a reference; `now` means the disk; the latest when left out.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: Option<String>,
    /// Which file.
    pub path: PathText,
}

impl ReadFile {
    /// Which snapshot.
    pub fn reference(&self) -> &str {
        self.reference.as_deref().unwrap_or(LATEST)
    }
}

impl Operation for ReadFile {
    type Answer = FileContent;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", self.reference())?;
        self.path.inside().map(drop)
    }
}

impl Perform for ReadFile {
    fn carry_out(self, workspace: &Workspace) -> Result<FileContent> {
        let path = self.path.inside()?;
        Ok(FileContent { content: workspace.get_file_at(self.reference(), &path)?.into(), path })
    }
}

/// Read a content by its id, such as one side of a conflict.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
pub struct ReadBlob {
    /// 40 hex digits.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{40}$"))]
    pub id: ObjectId,
}

impl Operation for ReadBlob {
    type Answer = BlobContent;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ReadBlob {
    fn carry_out(self, workspace: &Workspace) -> Result<BlobContent> {
        Ok(BlobContent { blob: self.id, content: workspace.get_blob(&self.id)?.into() })
    }
}

/// Show one snapshot and what it changed.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ShowStep {
    /// Which snapshot, as a reference; the latest when left out.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: Option<String>,
    /// Add what the step did as a unified diff.
    #[serde(default)]
    pub diff: bool,
    /// Add what takes the step back as a unified diff.
    #[serde(default)]
    pub reverse_diff: bool,
    /// In those, hold the contents of binary files too, so that they can be applied.
    #[serde(default)]
    pub binary: bool,
    /// Add what the step did as hunks with the ids that a revert takes.
    #[serde(default)]
    pub hunks: bool,
}

impl Operation for ShowStep {
    type Answer = ShownStep;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", self.reference.as_deref().unwrap_or_default())
    }
}

impl Perform for ShowStep {
    fn carry_out(self, workspace: &Workspace) -> Result<ShownStep> {
        let detail = workspace.show_detail(self.reference.as_deref().unwrap_or(LATEST))?;
        let id = detail.snapshot.id.as_str();
        let binary = if self.binary { BinaryFiles::Whole } else { BinaryFiles::Named };
        let diff = |is_wanted: bool, reversed: bool| -> Result<Option<Diff>> {
            let diff = || match binary {
                BinaryFiles::Named => workspace.step_diff(id, reversed, &[]),
                BinaryFiles::Whole => workspace.step_patch(id, reversed, &[]),
            };
            is_wanted.then(diff).transpose()
        };
        let is_held = detail.snapshot.expired_at.is_none();
        Ok(ShownStep {
            changes: is_held.then(|| workspace.changes_of(id)).transpose()?,
            diff: diff(self.diff, false)?,
            reverse_diff: diff(self.reverse_diff, true)?,
            hunks: self.hunks.then(|| workspace.step_hunks(id, &[], CONTEXT)).transpose()?,
            detail,
        })
    }
}

/// Show the life of one file, through its renames.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadFileLife {
    /// Which file.
    pub path: PathText,
}

impl Operation for ReadFileLife {
    type Answer = FileLife;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.path.inside().map(drop)
    }
}

impl Perform for ReadFileLife {
    fn carry_out(self, workspace: &Workspace) -> Result<FileLife> {
        Ok(FileLife { versions: workspace.file_history(&self.path.inside()?)? })
    }
}

/// Show who last wrote each line of a file.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct BlameFile {
    /// Which file.
    pub path: PathText,
    /// As of which snapshot, as a reference; the disk when left out.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: Option<String>,
    /// The first line wanted, counted from 1.
    #[schemars(range(min = 1))]
    pub start_line: Option<u32>,
    /// The last line wanted.
    #[schemars(range(min = 1))]
    pub end_line: Option<u32>,
}

impl Operation for BlameFile {
    type Answer = Blame;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.path.inside()?;
        short_enough("ref", self.reference.as_deref().unwrap_or_default())?;
        within("start_line", self.start_line.unwrap_or(1), 1..=u32::MAX)?;
        within("end_line", self.end_line.unwrap_or(1), 1..=u32::MAX).map(drop)
    }
}

impl Perform for BlameFile {
    fn carry_out(self, workspace: &Workspace) -> Result<Blame> {
        // The disk has two names.
        let reference = self.reference.filter(|reference| reference != "now");
        let mut blame = workspace.blame(&self.path.inside()?, reference.as_deref())?;
        let (start, total) = (self.start_line.unwrap_or(1) as usize, blame.line_count());
        let end = self.end_line.map_or(usize::MAX, |end| end as usize);
        if start > total.max(1) || end < start {
            let end = self.end_line.map_or_else(|| "on".to_owned(), |end| format!("to {end}"));
            let message = format!("`{}` has {total} lines, so none from {start} {end}", blame.path);
            return Err(Error::new(Code::InvalidRange, message).with_hint("lines are counted from 1"));
        }
        blame.keep_lines(start, end);
        Ok(blame)
    }
}
