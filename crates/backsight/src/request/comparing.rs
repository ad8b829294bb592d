//! What differs between two states, and what one step did, as every interface asks for it.

use backsight_core::{Effect, Operation, Result, Waits, short_enough};
use backsight_diff::BinaryFiles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Diff, PathText};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{self, ComparedStates, LineCounts, Patch};

/// The latest snapshot.
const LATEST: &str = "@";
/// The files on disk, where a state is named.
const ON_DISK: &str = "now";

/// Two states.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct TwoStates {
    /// The first state, as a reference; the latest snapshot when left out.
    #[schemars(example = &"@~1")]
    pub from: Option<String>,
    /// The second state; `now`, or nothing, is the files on disk.
    #[schemars(example = &"@")]
    pub to: Option<String>,
    /// Only these paths and what lies below them.
    #[serde(default)]
    pub paths: Vec<PathText>,
}

impl TwoStates {
    fn check(&self) -> Result<()> {
        short_enough("from", self.from())?;
        short_enough("to", self.to().unwrap_or_default())?;
        PathText::check_all("paths", &self.paths)
    }

    /// The first state.
    pub fn from(&self) -> &str {
        self.from.as_deref().unwrap_or(LATEST)
    }

    /// The second state, unless it is the disk.
    pub fn to(&self) -> Option<&str> {
        self.to.as_deref().filter(|to| *to != ON_DISK)
    }

    /// In the library's words.
    fn diff(self, max_file_bytes: Option<u64>) -> Result<Diff> {
        let usual = Diff::new(self.from(), self.to().map(str::to_owned));
        let paths = PathText::all(&self.paths)?;
        Ok(Diff { paths, max_file_bytes: max_file_bytes.unwrap_or(usual.max_file_bytes), ..usual })
    }
}

/// List the paths that differ between two states.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ComparePaths {
    /// Which states.
    #[serde(flatten)]
    pub states: TwoStates,
}

impl Operation for ComparePaths {
    type Answer = Patch;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.states.check()
    }
}

impl Perform for ComparePaths {
    fn carry_out(self, workspace: &Workspace) -> Result<Patch> {
        let Diff { from, to, paths, .. } = self.states.diff(None)?;
        workspace.patch_paths(&from, to.as_deref(), &paths)
    }
}

/// Show the differences between two states, with the texts before and after.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CompareStates {
    /// Which states.
    #[serde(flatten)]
    pub states: TwoStates,
    /// Leave out the text of files with more bytes than this, and say so; 8 MiB unless told otherwise.
    pub max_file_bytes: Option<u64>,
    /// Lines of context around each change in the unified diff; 3 unless told otherwise.
    pub context: Option<u16>,
    /// How it is written as one text.
    #[serde(flatten)]
    pub form: UnifiedForm,
}

/// Whether and how differences are also written as one text.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct UnifiedForm {
    /// Add everything as one unified diff, as `git apply` and `patch -p1` read it.
    #[serde(default)]
    pub unified: bool,
    /// In that, name each hunk by the id that a revert takes.
    #[serde(default)]
    pub hunks: bool,
    /// In that, hold the contents of binary files too, so that it can be applied.
    #[serde(default)]
    pub binary: bool,
}

impl UnifiedForm {
    fn binary_files(&self) -> BinaryFiles {
        if self.binary { BinaryFiles::Whole } else { BinaryFiles::Named }
    }

    fn of(&self, diff: report::Diff) -> ComparedStates {
        let unified = self.unified.then(|| if self.hunks { diff.unified_with_hunks() } else { diff.unified() });
        ComparedStates { unified, diff }
    }
}

impl Operation for CompareStates {
    type Answer = ComparedStates;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.states.check()
    }
}

impl Perform for CompareStates {
    fn carry_out(self, workspace: &Workspace) -> Result<ComparedStates> {
        let CompareStates { states, max_file_bytes, context, form } = self;
        let wanted = states.diff(max_file_bytes)?;
        let context = context.map_or(wanted.context, usize::from);
        Ok(form.of(workspace.diff_with(&Diff { context, binary: form.binary_files(), ..wanted })?))
    }
}

/// Count the lines that differ between two states, without the texts.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CountLines {
    /// Which states.
    #[serde(flatten)]
    pub states: TwoStates,
    /// Do not count in files with more bytes than this, and say so; 8 MiB unless told otherwise.
    pub max_file_bytes: Option<u64>,
}

impl Operation for CountLines {
    type Answer = LineCounts;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.states.check()
    }
}

impl Perform for CountLines {
    fn carry_out(self, workspace: &Workspace) -> Result<LineCounts> {
        let diff = workspace.diff_with(&self.states.diff(self.max_file_bytes)?)?;
        Ok(LineCounts::of(&diff))
    }
}

/// Show what one step did, or what takes it back.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CompareStep {
    /// Which step, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: String,
    /// What takes the step back instead of what it did.
    #[serde(default)]
    pub reverse: bool,
    /// Only these paths and what lies below them.
    #[serde(default)]
    pub paths: Vec<PathText>,
    /// How it is written as one text.
    #[serde(flatten)]
    pub form: UnifiedForm,
}

impl Operation for CompareStep {
    type Answer = ComparedStates;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", &self.reference)?;
        PathText::check_all("paths", &self.paths)
    }
}

impl Perform for CompareStep {
    fn carry_out(self, workspace: &Workspace) -> Result<ComparedStates> {
        let CompareStep { reference, reverse, paths, form } = self;
        let paths = PathText::all(&paths)?;
        Ok(form.of(match form.binary_files() {
            BinaryFiles::Named => workspace.step_diff(&reference, reverse, &paths)?,
            BinaryFiles::Whole => workspace.step_patch(&reference, reverse, &paths)?,
        }))
    }
}
