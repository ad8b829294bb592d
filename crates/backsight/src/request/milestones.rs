//! Milestones and their way into a Git repository, as every interface asks for it.

use std::path::PathBuf;

use backsight_core::{
    Code, Effect, Error, LONGEST_DESCRIPTION, Operation, Result, Waits, describable, few_enough, short_enough,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Behalf, ExportGit, NewMilestone, PathText};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{ExportedGit, Milestone, MilestoneDetail, Milestones};

/// List the milestones, newest first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListMilestones {}

impl Operation for ListMilestones {
    type Answer = Milestones;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ListMilestones {
    fn carry_out(self, workspace: &Workspace) -> Result<Milestones> {
        Ok(Milestones { milestones: workspace.milestones()? })
    }
}

/// Make a milestone of everything since the last one, or of the snapshots named.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CreateMilestone {
    /// Its name: one line of at most 200 characters that does not read as another reference.
    #[schemars(length(min = 1), example = &"Login form")]
    pub title: String,
    /// What it is about.
    #[serde(default)]
    #[schemars(length(max = LONGEST_DESCRIPTION))]
    pub description: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Exactly these snapshots, as references; they follow each other and the last milestone.
    #[serde(default)]
    pub snapshots: Vec<String>,
    /// Up to this snapshot instead of the latest, as a reference; not together with `snapshots`.
    pub end: Option<String>,
    /// For whom it is recorded.
    #[serde(flatten)]
    pub who: Behalf,
}

impl Operation for CreateMilestone {
    type Answer = Milestone;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("title", &self.title)?;
        describable("description", &self.description)?;
        few_enough("tags", &self.tags)?;
        few_enough("snapshots", &self.snapshots)?;
        short_enough("end", self.end.as_deref().unwrap_or_default())?;
        if !self.snapshots.is_empty() && self.end.is_some() {
            return Err(Error::new(Code::Usage, "`snapshots` and `end` both say where the milestone ends")
                .with_hint("leave one of them out"));
        }
        self.who.check()
    }
}

impl Perform for CreateMilestone {
    fn carry_out(self, workspace: &Workspace) -> Result<Milestone> {
        let CreateMilestone { title, description, tags, snapshots, end, who } = self;
        let new = NewMilestone { title, description, tags, origin: who.origin(&[])? };
        match snapshots.is_empty() {
            true => workspace.create_milestone_by_range(&new, end.as_deref()),
            false => workspace.create_milestone(&new, &snapshots),
        }
    }
}

/// Show one milestone: its steps, its files, its diff.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadMilestone {
    /// Its name, its id or the number of its row.
    #[serde(rename = "ref")]
    #[schemars(example = &"Login works")]
    pub reference: String,
    /// Add one unified diff over the whole range.
    #[serde(default)]
    pub diff: bool,
}

impl Operation for ReadMilestone {
    type Answer = MilestoneDetail;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", &self.reference)
    }
}

impl Perform for ReadMilestone {
    fn carry_out(self, workspace: &Workspace) -> Result<MilestoneDetail> {
        workspace.milestone(&self.reference, self.diff)
    }
}

/// Write a milestone or a range as commits on a new branch of a Git repository in the workspace. A person at a terminal may name
/// any repository of theirs; a request stays inside the workspace, also through symlinks.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ExportMilestone {
    /// What, and how.
    #[serde(flatten)]
    pub terms: ExportTerms,
    /// The directory of the repository inside the workspace; the workspace itself when left out.
    pub repository: Option<PathText>,
}

/// What is written as commits, and how.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ExportTerms {
    /// A milestone, a snapshot, or a range of snapshots such as `3..7`.
    #[schemars(example = &"@~1..@")]
    pub range: String,
    /// The branch to make; it must not exist.
    #[schemars(example = &"agent/login")]
    pub branch: String,
    /// The branch, tag or commit to continue.
    pub onto: Option<String>,
    /// One commit for all of it.
    #[serde(default)]
    pub squash: bool,
    /// Say what would be written and write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

impl ExportTerms {
    /// Refuses values that cannot be meant.
    pub fn check(&self) -> Result<()> {
        short_enough("range", &self.range)?;
        short_enough("branch", &self.branch)?;
        short_enough("onto", self.onto.as_deref().unwrap_or_default())
    }

    /// In the library's words.
    pub fn export(self, repository: PathBuf, stay_inside: bool) -> ExportGit {
        let ExportTerms { range, branch, onto, squash, dry_run } = self;
        ExportGit { range, repository, branch, onto, squash, dry_run, stay_inside }
    }
}

impl Operation for ExportMilestone {
    type Answer = ExportedGit;
    const EFFECT: Effect = Effect::AddsFile;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.terms.check()?;
        self.repository.as_ref().map_or(Ok(()), |named| named.inside().map(drop))
    }
}

impl Perform for ExportMilestone {
    fn carry_out(self, workspace: &Workspace) -> Result<ExportedGit> {
        let repository = repository(workspace, self.repository.as_ref())?;
        workspace.export_git(&self.terms.export(repository, true))
    }
}

/// Where the repository is.
fn repository(workspace: &Workspace, named: Option<&PathText>) -> Result<PathBuf> {
    let Some(named) = named else { return Ok(workspace.root().to_owned()) };
    let path = workspace.root().join(named.inside()?.as_path());
    match path.canonicalize() {
        Ok(real) if !real.starts_with(workspace.root()) => {
            let name = backsight_core::quote(named.0.as_bytes());
            Err(Error::new(Code::InvalidPath, format!("path `{name}` leaves the workspace"))
                .with_hint("over HTTP only a repository inside the workspace can be named; the command line takes any"))
        }
        Ok(real) => Ok(real),
        // The library says what is not there.
        Err(_) => Ok(path),
    }
}
