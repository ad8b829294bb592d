//! Recording the files as they are.

use std::collections::BTreeSet;

use backsight_core::{Code, RelPath, Result, Seq};
use backsight_files::{Capture, Change, Unseen};

use super::{Opened, Workspace};
use crate::convert::path_changes;
use crate::place;
use crate::report::{Kind, Origin, Tracked};
use crate::request;
use crate::timeline::{NewStep, Step};

impl Workspace {
    /// Records the files as they are; when nothing differs from the latest snapshot, that one is the answer.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// let first = workspace.track()?;
    /// assert!(first.created && first.snapshot.coverage.complete);
    /// let again = workspace.track()?;
    /// assert!(!again.created);
    /// assert_eq!(again.snapshot.id, first.snapshot.id);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn track(&self) -> Result<Tracked> {
        self.track_with(&request::Track::default())
    }

    /// Records the files with who, why and on whose behalf.
    pub fn track_with(&self, request: &request::Track) -> Result<Tracked> {
        let (opened, _lock) = self.writing()?;
        let last = opened.timeline.latest()?;
        let include = request.origin.declared.iter().map(|path| path.as_bytes().to_vec()).collect();
        let mut capture = self.capture(opened, last.as_ref(), &include)?;
        if let Some(last) = last.filter(|last| last.tree == capture.tree) {
            opened.files.save_cache(&mut capture)?;
            let mut snapshot = last.snapshot;
            snapshot.coverage = capture.coverage;
            if request.pinned && !snapshot.pinned {
                opened.timeline.set_pinned(snapshot.sequence_number, true)?;
                snapshot.pinned = true;
            }
            return Ok(Tracked {
                created: false,
                snapshot,
                changes: Vec::new(),
                unseen: Vec::new(),
                warnings: Vec::new(),
            });
        }
        let mut tracked = self.record_capture(opened, &capture, Kind::Track, request)?;
        if let Err(error) = opened.files.objects().maintain() {
            tracked.warnings.push(format!("small packs were not joined: {error}"));
        }
        opened.files.save_cache(&mut capture)?;
        Ok(tracked)
    }

    pub(super) fn capture(&self, opened: &Opened, last: Option<&Step>, include: &BTreeSet<Vec<u8>>) -> Result<Capture> {
        let config = self.config()?;
        if !config.any_root {
            place::check_root(&self.root, &self.settings)?;
        }
        opened.files.capture(&self.scan_options(&config), last.map(Step::as_last).as_ref(), include, &|progress| {
            self.report_capture(progress)
        })
    }

    /// Appends a row for a capture that differs from the latest snapshot.
    pub(super) fn record_capture(
        &self,
        opened: &Opened,
        capture: &Capture,
        kind: Kind,
        request: &request::Track,
    ) -> Result<Tracked> {
        let last = opened.timeline.latest()?;
        let mut warnings = Vec::new();
        let differing = |last: &Step| {
            let changes = opened.files.compare(&last.tree, &capture.tree)?;
            opened.files.split_unseen(changes, last.coverage_id.as_ref(), &Unseen::Now(capture))
        };
        let (changes, unseen): (Vec<Change>, _) = match last.as_ref().map(differing) {
            None => (Vec::new(), Vec::new()),
            Some(Ok(differing)) => differing,
            // A damaged snapshot before this one must not keep the present from being recorded.
            Some(Err(error)) if error.code() == Code::Damaged => {
                warnings.push(format!("what changed since the latest snapshot is not known: {error}"));
                (Vec::new(), Vec::new())
            }
            Some(Err(error)) => return Err(error),
        };
        let described = path_changes(&changes);
        let step = self.append(
            opened,
            &NewStep {
                id: self.new_id()?,
                kind,
                tree: capture.tree,
                coverage_id: capture.coverage_id,
                timestamp: self.settings.now(),
                description: request.description.clone(),
                origin: request.origin.clone(),
                targets: Vec::new(),
                files_changed: if last.is_some() { described.len() as u64 } else { capture.coverage.files },
                coverage: capture.coverage.clone(),
                touched: touched(&changes),
                pinned: request.pinned,
            },
        )?;
        Ok(Tracked { created: true, snapshot: step.snapshot, changes: described, unseen, warnings })
    }

    pub(super) fn append(&self, opened: &Opened, step: &NewStep) -> Result<Step> {
        let used = opened.files.latest_named()?.unwrap_or(Seq(0));
        let step = opened.timeline.append(step, used)?;
        opened.files.write_reference(step.snapshot.sequence_number, &step.tree, step.coverage_id.as_ref())?;
        Ok(step)
    }

    /// Records what is on disk just before it is changed, unless the latest snapshot holds it already.
    pub(super) fn record_safety(
        &self,
        opened: &Opened,
        capture: &Capture,
        before: &str,
        origin: &Origin,
    ) -> Result<Seq> {
        match opened.timeline.latest()? {
            Some(last) if last.tree == capture.tree => Ok(last.snapshot.sequence_number),
            _ => {
                let origin = Origin { declared: Vec::new(), ..origin.clone() };
                let request = request::Track { description: format!("before {before}"), origin, pinned: false };
                Ok(self.record_capture(opened, capture, Kind::Safety, &request)?.snapshot.sequence_number)
            }
        }
    }
}

/// The paths of changes, directories only where nothing else speaks for them.
pub(super) fn touched(changes: &[Change]) -> Vec<RelPath> {
    let mut paths: Vec<RelPath> = Vec::new();
    for change in path_changes(changes) {
        paths.extend(change.from_path);
        paths.push(change.path);
    }
    paths
}
