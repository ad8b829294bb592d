//! What others changed since somebody last looked.

use std::collections::BTreeSet;

use backsight_core::{RelPath, Result, Seq};

use super::Workspace;
use crate::report::{Others, Row, Snapshot};
use crate::request::{Log, Order};

impl Workspace {
    /// What others than `sessions` recorded after the row `since`, and what nobody recorded and is on disk now.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// let first = workspace.track()?.snapshot.sequence_number;
    /// std::fs::write(directory.path().join("b.txt"), "two\n")?;
    /// let others = workspace.others_since(first, &["me"])?;
    /// assert_eq!(others.on_disk[0].file_path.to_string(), "b.txt");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn others_since(&self, since: Seq, sessions: &[&str]) -> Result<Others> {
        let on_disk = self.detect(&[], false)?;
        let cursor = Some(format!("after-{}", since.0));
        let page = self.log(&Log { order: Order::OldestFirst, cursor, ..Log::default() })?;
        let mut recorded = BTreeSet::new();
        for step in page.rows.iter().filter_map(Row::snapshot) {
            recorded.extend(self.not_by(step, sessions)?);
        }
        let sequence_number = page.rows.last().map_or(since, Row::sequence_number);
        Ok(Others {
            sequence_number,
            recorded: recorded.into_iter().collect(),
            on_disk: on_disk.unknown_changes,
            coverage: on_disk.coverage,
        })
    }

    /// The number of the newest row; 0 before the first.
    pub fn newest_row(&self) -> Result<Seq> {
        match self.store_path()? {
            Some(_) => self.opened()?.timeline.latest_seq(),
            None => Ok(Seq(0)),
        }
    }

    /// The paths in a row that are not of these sessions' making.
    fn not_by(&self, step: &Snapshot, sessions: &[&str]) -> Result<Vec<RelPath>> {
        if step.origin.session.as_deref().is_some_and(|session| sessions.contains(&session)) {
            return Ok(step.unknown_changes.iter().map(|change| change.file_path.clone()).collect());
        }
        Ok(self.show_detail(&step.sequence_number.to_string())?.affected_files)
    }
}
