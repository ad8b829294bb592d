//! Writing snapshots as commits on a branch of a Git repository the user names: agent work as history to review.

use std::path::PathBuf;

use backsight_core::{Code, Error, NextStep, Result, Timestamp, quote};
use backsight_files::{GitExport, KeptReason, NewCommit, Onto, Person, export_commits};

use super::milestone::{beginning, check_parents, ends, milestones_in};
use super::{Opened, Workspace, still_held};
use crate::report::{ExportedGit, KeptPath, Origin, Snapshot};
use crate::request::ExportGit;
use crate::timeline::Step;

/// How many of the paths that were kept are named.
const KEPT_SHOWN: usize = 20;

/// What is to be written, and what it is called when it becomes one commit.
struct Range {
    steps: Vec<Step>,
    title: String,
    description: String,
}

impl Workspace {
    /// Writes a milestone, a snapshot or a range of them as commits on a new branch. Nothing else in the repository
    /// changes: not HEAD, not the index, not the work tree, no other branch.
    pub fn export_git(&self, request: &ExportGit) -> Result<ExportedGit> {
        // Holding the lock keeps `gc` from removing what is being copied.
        let writing = self.writing()?;
        let opened = writing.opened;
        let range = self.export_range(opened, &request.range)?;
        check_parents(&range.steps)?;
        held(opened, &range, request.squash)?;
        let (before, commits) = commits(&range, request.squash)?;
        let surroundings = self.surroundings();
        let export = GitExport {
            workspace: &self.root,
            repository: &request.repository,
            branch: &request.branch,
            onto: self.onto(request),
            before,
            commits: &commits,
            within: request.stay_inside.then_some(self.root.as_path()),
            surroundings: &surroundings,
        };
        let exported = export_commits(opened.files.objects(), &export, request.dry_run)?;
        Ok(ExportedGit {
            dry_run: request.dry_run,
            repository: request.repository.components().collect::<PathBuf>().display().to_string(),
            branch: exported.branch,
            tip: exported.tip,
            onto: exported.onto,
            commits: exported.before.into_iter().chain(exported.commits).collect(),
            snapshots: range.steps.iter().map(|step| step.snapshot.sequence_number).collect(),
            objects_written: exported.objects_written,
            below: quote(&exported.below),
            kept_total: exported.kept.len() as u64,
            kept: exported.kept.into_iter().take(KEPT_SHOWN).map(kept).collect(),
            written_to: exported.elsewhere.map(|place| place.display().to_string()),
        })
    }

    fn export_range(&self, opened: &Opened, text: &str) -> Result<Range> {
        if let Some((from, to)) = text.split_once("..") {
            let from = self.resolve_row(opened, from)?.snapshot.sequence_number;
            let to = self.resolve_row(opened, if to.is_empty() { "@" } else { to })?.snapshot.sequence_number;
            if to < from {
                return Err(Error::new(Code::InvalidRange, format!("the range would end at {to}, before {from}"))
                    .with_hint(format!("turn it round: `{}..{}`", to.0, from.0)));
            }
            let (title, description) = (format!("{from} to {to}"), String::new());
            return Ok(Range { steps: opened.timeline.between(from, to)?, title, description });
        }
        let mut steps = self.resolve_all(opened, text)?;
        steps.reverse();
        if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
            let (first, last) = (first.snapshot.sequence_number, last.snapshot.sequence_number);
            let milestones = milestones_in(opened)?;
            let milestone = milestones
                .into_iter()
                .find(|known| known.start_sequence_number == first && known.end_sequence_number == last);
            if let Some(milestone) = milestone {
                return Ok(Range { steps, title: milestone.title, description: milestone.description });
            }
        }
        let title = steps.last().map(|step| title_of(&step.snapshot)).unwrap_or_default();
        Ok(Range { steps, title, description: String::new() })
    }

    /// Without being told, a repository whose work tree holds this workspace is continued; any other gets a history of
    /// its own.
    fn onto(&self, request: &ExportGit) -> Onto {
        let repository = request.repository.canonicalize().unwrap_or_else(|_| request.repository.clone());
        let work_tree = if repository.ends_with(".git") { repository.parent() } else { Some(repository.as_path()) };
        match &request.onto {
            Some(revision) => Onto::Revision(revision.clone()),
            None if work_tree.is_some_and(|top| self.root.starts_with(top)) => Onto::Head,
            None => Onto::Nothing,
        }
    }
}

/// Refuses when retention removed what the commits would hold. One for all needs only the end, and the beginning, which a
/// milestone keeps.
fn held(opened: &Opened, range: &Range, squash: bool) -> Result<()> {
    if squash {
        range.steps.last().map_or(Ok(()), still_held)?;
        return match range.steps.first() {
            Some(first) if !opened.files.objects().contains(&beginning(first).0.id)? => still_held(first),
            _ => Ok(()),
        };
    }
    let is_one = |error: Error| match range.steps.last().is_some_and(|last| last.snapshot.expired_at.is_none()) {
        true => error.then("write one commit for all of it", NextStep::WithSquash),
        false => error,
    };
    range.steps.iter().try_for_each(still_held).map_err(is_one)
}

fn kept((path, reason): (Vec<u8>, KeptReason)) -> KeptPath {
    KeptPath { path: quote(&path), reason: reason.to_string() }
}

/// The state before the first commit, and the commits. The first snapshot of a workspace is such a state: what recording
/// began with, not something that was done.
fn commits(range: &Range, squash: bool) -> Result<(Option<NewCommit>, Vec<NewCommit>)> {
    let before = before(&range.steps);
    if squash {
        return Ok((before, vec![squashed(range)?]));
    }
    let mut commits = one_each(&range.steps);
    match before {
        Some(before) => Ok((Some(before), commits)),
        None if commits.is_empty() => Ok((None, commits)),
        None => Ok((Some(commits.remove(0)), commits)),
    }
}

/// The state before the first commit, so that every commit's diff is its own step.
fn before(steps: &[Step]) -> Option<NewCommit> {
    let first = steps.first()?;
    let base = first.base?;
    Some(NewCommit {
        tree: base.id,
        coverage: first.base_coverage_id,
        message: format!("The files before {}", first.snapshot.sequence_number),
        author: person(&Origin::default()),
        time: first.snapshot.timestamp,
    })
}

fn one_each(steps: &[Step]) -> Vec<NewCommit> {
    let commit = |step: &Step| NewCommit {
        tree: step.tree.id,
        coverage: step.coverage_id,
        message: message(&step.snapshot),
        author: person(&step.snapshot.origin),
        time: step.snapshot.timestamp,
    };
    steps.iter().map(commit).collect()
}

fn squashed(range: &Range) -> Result<NewCommit> {
    let (_, tree) = ends(&range.steps)?;
    let mut message = format!("{}\n", range.title);
    if !range.description.is_empty() {
        message.push_str(&format!("\n{}\n", range.description.trim_end()));
    }
    message.push('\n');
    for step in &range.steps {
        message.push_str(&format!("* {} {}\n", step.snapshot.sequence_number, title_of(&step.snapshot)));
    }
    let last = range.steps.last();
    let time = last.map_or(Timestamp(0), |step| step.snapshot.timestamp);
    let coverage = last.and_then(|step| step.coverage_id);
    Ok(NewCommit { tree: tree.id, coverage, message, author: person(&Origin::default()), time })
}

fn title_of(snapshot: &Snapshot) -> String {
    match snapshot.description.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() => line.to_owned(),
        _ => format!("{} {}", snapshot.kind.as_str(), snapshot.sequence_number),
    }
}

/// The description, then who and what as trailers that `git interpret-trailers` reads.
fn message(snapshot: &Snapshot) -> String {
    let body: Vec<&str> = snapshot.description.lines().skip(1).collect();
    let body = body.join("\n");
    let mut message = format!("{}\n", title_of(snapshot));
    if !body.trim().is_empty() {
        message.push_str(&format!("\n{}\n", body.trim()));
    }
    let number = snapshot.sequence_number.to_string();
    let trailers = [
        ("Backsight-Snapshot", Some(format!("{number} {}", snapshot.id))),
        ("Backsight-Kind", Some(snapshot.kind.as_str().to_owned())),
        ("Backsight-Tool", snapshot.origin.tool.clone()),
        ("Backsight-Session", snapshot.origin.session.clone()),
        ("Backsight-Message", snapshot.origin.message.clone()),
    ];
    message.push('\n');
    for (name, value) in trailers {
        if let Some(value) = value {
            let one_line: Vec<&str> = value.split_whitespace().collect();
            message.push_str(&format!("{name}: {}\n", one_line.join(" ")));
        }
    }
    message
}

/// The tool is the author where one is known.
fn person(origin: &Origin) -> Person {
    let name = origin.tool.clone().unwrap_or_else(|| "Backsight".to_owned());
    Person { name, email: "backsight@localhost".to_owned() }
}
