//! Milestones, and their way into a Git repository.

use std::path::PathBuf;

use backsight::Workspace;
use backsight::report::{ExportedGit, Milestone, MilestoneDetail};
use backsight::request::{Behalf, ExportGit, NewMilestone};
use backsight_core::{Code, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Nothing, PATH, PathText, REFERENCE, WRITE};
use crate::http::endpoint::Endpoint;

/// How a range can be none.
const RANGE: &[Code] =
    &[Code::InvalidRange, Code::MilestoneGap, Code::MilestoneOverlap, Code::SequenceDiscontinuity, Code::BrokenParent];
const GIT: &[Code] = &[Code::GitRefused, Code::RepositoryNotFound, Code::InvalidRange, Code::BrokenParent];

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/api/milestones", "milestoneList", "The milestones, newest first", list),
        Endpoint::post(
            "/api/milestones",
            "milestoneCreate",
            "Make a milestone of everything since the last one, or of the snapshots named",
            create,
        )
        .fails(&[REFERENCE, RANGE, WRITE]),
        Endpoint::get("/api/milestones/show", "milestoneShow", "One milestone: its steps, its files, its diff", show)
            .fails(&[REFERENCE]),
        Endpoint::post(
            "/api/milestones/export-git",
            "milestoneExportGit",
            "Write a milestone or a range as commits on a new branch of a Git repository in the workspace",
            export,
        )
        .fails(&[REFERENCE, GIT, PATH, WRITE]),
    ]
}

/// The milestones.
#[derive(JsonSchema, Serialize)]
struct Milestones {
    /// Newest first.
    milestones: Vec<Milestone>,
}

fn list(workspace: &Workspace, _: Nothing) -> Result<Milestones> {
    Ok(Milestones { milestones: workspace.milestones()? })
}

#[derive(Deserialize, JsonSchema)]
struct CreateInput {
    /// Its name: one line of at most 200 characters that does not read as another reference.
    #[schemars(length(min = 1), example = &"Login form")]
    title: String,
    /// What it is about.
    #[serde(default)]
    description: String,
    /// Words to find it by.
    #[serde(default)]
    tags: Vec<String>,
    /// Exactly these snapshots, as references; they follow each other and the last milestone.
    #[serde(default)]
    snapshots: Vec<String>,
    /// Up to this snapshot instead of the latest, as a reference; not together with `snapshots`.
    end: Option<String>,
    #[serde(flatten)]
    who: Behalf,
}

fn create(workspace: &Workspace, input: CreateInput) -> Result<Milestone> {
    let CreateInput { title, description, tags, snapshots, end, who } = input;
    let new = NewMilestone { title, description, tags, origin: who.origin(&[])? };
    match (snapshots.as_slice(), end) {
        ([], end) => workspace.create_milestone_by_range(&new, end.as_deref()),
        (_, Some(_)) => Err(Error::new(Code::Usage, "`snapshots` and `end` both say where the milestone ends")
            .with_hint("leave one of them out")),
        (snapshots, None) => workspace.create_milestone(&new, snapshots),
    }
}

#[derive(Deserialize, JsonSchema)]
struct ShowInput {
    /// Its name, its id or the number of its row.
    #[serde(rename = "ref")]
    #[schemars(example = &"Login works")]
    reference: String,
    /// Add one unified diff over the whole range.
    #[serde(default)]
    diff: bool,
}

fn show(workspace: &Workspace, input: ShowInput) -> Result<MilestoneDetail> {
    workspace.milestone(&input.reference, input.diff)
}

#[derive(Deserialize, JsonSchema)]
struct ExportInput {
    /// A milestone, a snapshot, or a range of snapshots such as `3..7`.
    #[schemars(example = &"@~1..@")]
    range: String,
    /// The directory of the repository inside the workspace; the workspace itself when left out.
    repository: Option<PathText>,
    /// The branch to make; it must not exist.
    #[schemars(example = &"agent/login")]
    branch: String,
    /// The branch, tag or commit to continue.
    onto: Option<String>,
    /// One commit for all of it.
    #[serde(default)]
    squash: bool,
    /// Say what would be written and write nothing.
    #[serde(default)]
    dry_run: bool,
}

fn export(workspace: &Workspace, input: ExportInput) -> Result<ExportedGit> {
    let repository = repository(workspace, input.repository.as_ref())?;
    let ExportInput { range, branch, onto, squash, dry_run, .. } = input;
    workspace.export_git(&ExportGit { range, repository, branch, onto, squash, dry_run, stay_inside: true })
}

/// Where the repository is. A person at a terminal may name any of theirs; a request stays inside the workspace, also
/// through symlinks.
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
