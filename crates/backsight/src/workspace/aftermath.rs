//! What follows when the files of a restore stand where they shall, forward or back: programs that had files open may
//! have written to what was displaced. That is recorded before anything is removed, then the step is, and only then the
//! journal forgets it.

use std::collections::BTreeSet;

use backsight_core::{Code, Error, NextStep, RelPath, Result, Seq};
use backsight_files::{Change, Clearing, Restoration, Tree};

use super::track::{EXTERNAL, touched};
use super::writing::Writing;
use super::{Opened, Workspace, step_in};
use crate::convert::path_changes;
use crate::report::{Kind, Origin};
use crate::settings::Progress;
use crate::timeline::{NewStep, Step};

/// After so many looks a file that a program never stops writing to goes with what is in it then.
const LOOKS: usize = 3;

impl Workspace {
    /// A row that differs from the latest in `changes`, which no known program made.
    fn row_after(&self, opened: &Opened, latest: &Step, description: &str, changes: &[Change]) -> Result<NewStep> {
        Ok(NewStep {
            id: self.new_id()?,
            kind: Kind::Safety,
            tree: latest.tree,
            coverage_id: latest.coverage_id,
            start: None,
            timestamp: self.settings.now(),
            description: description.to_owned(),
            origin: Origin { tool: Some(EXTERNAL.to_owned()), ..Origin::default() },
            targets: Vec::new(),
            files_changed: path_changes(changes, &opened.renames(changes, None)).len() as u64,
            lines: None,
            execution_ms: None,
            coverage: latest.snapshot.coverage.clone(),
            files: touched(changes, true),
            unknown: Vec::new(),
            pinned: false,
            details: None,
        })
    }
}

impl Writing<'_> {
    /// Records a restore whose files stand, and forgets its journal. Answers with the row, and with what is worth knowing.
    /// One that was given up is an error, which says what was written meanwhile.
    pub(super) fn record_restoration(
        &self,
        restoration: &mut Restoration,
        step: &mut NewStep,
    ) -> Result<(Step, Vec<String>)> {
        if let Some(error) = restoration.given_up.take() {
            let before = self.latest()?.map(|latest| latest.tree);
            return Err(with_notes(error, self.clear(restoration, &step.description, before)));
        }
        let (row, mut notes) = self.record_step(restoration, step).map_err(not_recorded)?;
        let cleared = self.clear(restoration, &step.description, Some(step.tree));
        notes.extend(cleared.map_err(|error| not_cleared(error, row.snapshot.sequence_number))?);
        Ok((row, notes))
    }

    /// Does the same for what a killed process left.
    pub(super) fn record_recovered(&self, restoration: &mut Restoration) -> Result<()> {
        let mut step = step_in(restoration.note())?;
        let mut notes = Vec::new();
        let mut stands = self.latest()?.map(|latest| latest.tree);
        if restoration.given_up.is_none() {
            stands = Some(step.tree);
            notes.extend(self.record_step(restoration, &mut step).map_err(not_recorded)?.1);
            self.opened.files.forget_cache()?;
        }
        notes.extend(self.clear(restoration, &step.description, stands)?);
        for message in notes {
            self.workspace
                .settings
                .report(Progress::Noted { message: format!("an interrupted {}: {message}", step.description) });
        }
        Ok(())
    }

    /// Appends the row, after one with what programs wrote to displaced files until now: an undo brings that back.
    fn record_step(&self, restoration: &mut Restoration, step: &mut NewStep) -> Result<(Step, Vec<String>)> {
        self.opened.files.release_room(restoration)?;
        let written = self.opened.files.clear(restoration, Clearing::Look)?;
        let mut notes = self.record_written(written, step)?;
        let (row, warnings) = match self.append(step, None) {
            // What was displaced and is recorded makes way.
            Err(error) if error.code() == Code::DiskFull => {
                let late = self.opened.files.clear(restoration, Clearing::Remove)?;
                notes.extend(self.record_written(late, step)?);
                self.append(step, None)?
            }
            other => other?,
        };
        notes.extend(warnings);
        Ok((row, notes))
    }

    /// Removes what a restore displaced, records first what programs wrote to it since, and forgets the restore. `stands`
    /// is what the timeline says of the files at their paths.
    fn clear(&self, restoration: &mut Restoration, description: &str, stands: Option<Tree>) -> Result<Vec<String>> {
        self.opened.files.release_room(restoration)?;
        let mut notes = std::mem::take(&mut restoration.unkept);
        for look in 1..=LOOKS {
            let clearing = if look < LOOKS { Clearing::Remove } else { Clearing::RemoveAll };
            let written = self.opened.files.clear(restoration, clearing)?;
            if written.is_empty() {
                break;
            }
            notes.extend(self.record_rows(written, description)?);
        }
        if let Some(stands) = stands {
            self.record_return(&stands, description)?;
        }
        notes.extend(restoration.kept.iter().map(|path| format!("`{path}` was saved since and stays as it is")));
        let left = restoration.left.iter();
        notes.extend(left.map(|(path, place)| format!("what stood at `{path}` for a moment is in `{place}`")));
        self.opened.files.close(restoration)?;
        Ok(notes)
    }

    fn record_written(&self, written: Vec<Change>, step: &mut NewStep) -> Result<Vec<String>> {
        for Change { path, after, .. } in &written {
            let blob = after.and_then(|node| node.blob());
            step.files.iter_mut().filter(|file| file.path == *path).for_each(|file| file.before = blob);
        }
        self.record_rows(written, &step.description)
    }

    /// Rows with what was written to displaced files. The old and the new file of one path may both have been written to:
    /// then they are two.
    fn record_rows(&self, mut written: Vec<Change>, description: &str) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        while !written.is_empty() {
            let mut paths = BTreeSet::new();
            let (now, later): (Vec<Change>, Vec<Change>) =
                written.into_iter().partition(|change| paths.insert(change.path.clone()));
            let seq = self.record_row(&now, description)?;
            notes.extend(now.iter().map(|change| written_note(&change.path, seq)));
            written = later;
        }
        Ok(notes)
    }

    fn record_row(&self, written: &[Change], description: &str) -> Result<Seq> {
        let Some(latest) = self.latest()? else {
            return Err(Error::new(Code::Damaged, "the timeline holds nothing of what a restore displaced"));
        };
        let tree = self.opened.files.edit(&latest.tree, written)?;
        // A process that died in between had recorded it already.
        if tree == latest.tree {
            return Ok(latest.snapshot.sequence_number);
        }
        let description = format!("written during {description}");
        let lines = self.opened.count_lines(written, &self.opened.renames(written, None));
        let row = NewStep { tree, lines, ..self.workspace.row_after(self.opened, &latest, &description, written)? };
        Ok(self.append(&row, None)?.0.snapshot.sequence_number)
    }

    /// What was written to displaced files is not what stands at their paths: the latest row says again what does.
    fn record_return(&self, stands: &Tree, description: &str) -> Result<()> {
        let Some(latest) = self.latest()?.filter(|latest| latest.tree != *stands) else { return Ok(()) };
        let changes = self.opened.files.compare(&latest.tree, stands)?;
        let description = format!("as it is after {description}");
        let row = NewStep { tree: *stands, ..self.workspace.row_after(self.opened, &latest, &description, &changes)? };
        self.append(&row, None).map(drop)
    }
}

fn written_note(path: &RelPath, seq: Seq) -> String {
    format!(
        "`{path}` was written to while it was displaced: what was written is in {seq}; a program that still has that file \
         open writes where no path leads"
    )
}

/// All files are in place, and the journal knows the row: only its place in the timeline is missing.
fn not_recorded(error: Error) -> Error {
    let message = format!("the files are restored, but the step is not recorded yet: {}", error.message());
    let told = Error::new(error.code(), message);
    let told = match error.code() {
        Code::DiskFull => told
            .with_hint("free some space, and whatever opens the workspace next records it")
            .or("shrink the store first", NextStep::ShrinkStore),
        _ => told.with_hint("solve this; whatever opens the workspace next records the step"),
    };
    told.with_source(error)
}

/// All is done and recorded, and the next command looks again at what was displaced.
fn not_cleared(error: Error, seq: Seq) -> Error {
    let message =
        format!("the files are restored, as {seq}, but what was displaced is still there: {}", error.message());
    let hint = "solve this; whatever opens the workspace next clears up";
    Error::new(error.code(), message).with_hint(hint).with_source(error)
}

/// A restore that was given up, with what it could not leave as it was. While its journal is there it must not be tried
/// again, so what kept it from being forgotten is the error then.
fn with_notes(error: Error, notes: Result<Vec<String>>) -> Error {
    let notes = match notes {
        Ok(notes) if notes.is_empty() => return error,
        Ok(notes) => notes,
        Err(problem) => {
            let message = format!("{}; what it displaced is still there: {}", error.message(), problem.message());
            let hint = "solve this; whatever opens the workspace next clears up";
            return Error::new(problem.code(), message).with_hint(hint).with_source(problem);
        }
    };
    let told = Error::new(error.code(), format!("{}; {}", error.message(), notes.join("; ")));
    let told = match error.advice() {
        [] => told.with_hint("try again"),
        advice => told.with_advice(advice),
    };
    let mut details = error.details().clone();
    details["notes"] = serde_json::json!(notes);
    told.with_details(details)
}
