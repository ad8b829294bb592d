//! Snapshots of the sessions: taken, listed, compared, read back, deleted.

use std::sync::Arc;

use backsight_core::{Code, Error, NextStep, Result};

use super::Debugger;
use super::answer::{Cleared, Deleted, SnapshotCreated, SnapshotList};
use crate::capture::Capture;
use crate::diff::{self, Options};
use crate::report::{Series, SnapshotDiff, SnapshotView};
use crate::store::{self, Naming};
use crate::walk::CapturePlan;
use crate::{path, series, view};

impl Debugger {
    /// Captures the paused program and keeps it.
    pub fn create_snapshot(
        &self,
        name: Option<&str>,
        label: Option<&str>,
        plan: CapturePlan,
    ) -> Result<SnapshotCreated> {
        let held = self.session(name)?;
        if let Some(label) = label {
            store::check_label(label)?;
        }
        // A session that is over has nothing to say about its last stop.
        held.shelf.with(|_| Ok(()))?;
        let capture = held.session.capture(plan)?;
        let naming = label.map_or(Naming::Numbered, |label| Naming::Label(label.to_owned()));
        let created = held.shelf.keep(capture, naming)?;
        held.shelf.note_capture(&created.capture, None);
        let snapshot = store::entry(&created.capture);
        Ok(SnapshotCreated { snapshot, redacted: created.redacted, warnings: created.warnings })
    }

    /// The snapshots, oldest first.
    pub fn snapshots(&self, name: Option<&str>) -> Result<SnapshotList> {
        let held = self.session(name)?;
        held.shelf.with(|store| {
            let session = held.name().to_owned();
            Ok(SnapshotList { session, snapshots: store.list(), bytes: store.bytes(), warning: store.many() })
        })
    }

    /// What changed between two snapshots, named by id or label.
    pub fn diff_snapshots(
        &self,
        name: Option<&str>,
        first: &str,
        second: &str,
        options: &Options,
    ) -> Result<SnapshotDiff> {
        let (first, second) = self.session(name)?.shelf.with(|store| store.pair(first, second))?;
        check_path(&[&first, &second], options)?;
        Ok(diff::snapshot_diff(&first, &second, options))
    }

    /// The values of a snapshot.
    pub fn read_snapshot(&self, name: Option<&str>, reference: &str, options: &Options) -> Result<SnapshotView> {
        let capture = self.snapshot(name, reference)?;
        check_path(&[&capture], options)?;
        Ok(view::snapshot_view(&capture, store::entry(&capture), options))
    }

    /// A snapshot as it is kept: without its secrets, and whole.
    pub fn snapshot(&self, name: Option<&str>, reference: &str) -> Result<Arc<Capture>> {
        self.session(name)?.shelf.with(|store| store.get(reference))
    }

    /// The hits of a snapshot point as a table.
    pub fn series(&self, name: Option<&str>, series: &str, options: &Options) -> Result<Series> {
        let hits = self.session(name)?.shelf.with(|store| store.series(series))?;
        Ok(series::series(series, &hits, options))
    }

    /// Deletes a snapshot, or all hits of a snapshot point.
    pub fn delete_snapshot(&self, name: Option<&str>, reference: &str) -> Result<Deleted> {
        Ok(Deleted { deleted: self.session(name)?.shelf.with(|store| store.delete(reference))? })
    }

    /// Deletes all snapshots.
    pub fn clear_snapshots(&self, name: Option<&str>) -> Result<Cleared> {
        Ok(Cleared { cleared: self.session(name)?.shelf.with(|store| Ok(store.clear()))? })
    }
}

/// Whether what was asked for is in one of the captures: nothing is told about a path that nobody looked at.
fn check_path(captures: &[&Capture], options: &Options) -> Result<()> {
    let Some(wanted) = &options.path else { return Ok(()) };
    let mut frames = captures.iter().flat_map(|capture| &capture.frames);
    if frames.any(|frame| path::find(frame, wanted).is_some()) {
        return Ok(());
    }
    let shown = crate::render::safe(wanted);
    let message =
        format!("`{shown}` was not captured: there is no such value, or it is deeper or further than was looked");
    Err(Error::new(Code::PathNotFound, message)
        .then(
            "see what is there",
            NextStep::ReadCapture { id: captures.first().map(|capture| capture.id.clone()).unwrap_or_default() },
        )
        .or_hint("capture with a greater depth, or watch it"))
}
