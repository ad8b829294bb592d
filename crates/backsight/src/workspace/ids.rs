//! The ids of sessions, messages and parts as people type and read them: whole, or as far as they are unlike all others.

use std::collections::BTreeMap;

use backsight_core::Result;

use super::{Opened, Workspace};
use crate::report::HasIds;
use crate::short;
use crate::timeline::OriginColumn;

impl Workspace {
    /// A report in which every long id is a short one that means the same wherever an id is asked for.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// let id = "1c99f013-739a-45ac-8acc-ba79c9858eb5";
    /// workspace.start_session(&backsight::request::NewSession { id: Some(id.to_owned()), title: None })?;
    /// let sessions = workspace.shortened(workspace.sessions(&Default::default())?)?;
    /// assert_eq!(sessions[0].id, "1c99f013");
    /// assert_eq!(workspace.session("1c99")?.session.id, id);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shortened<T: HasIds>(&self, mut report: T) -> Result<T> {
        let mut known: BTreeMap<OriginColumn, Vec<String>> = BTreeMap::new();
        report.each_id(&mut |column, id| {
            if short::is_long(id) {
                known.insert(column, Vec::new());
            }
        });
        // Where all are short nothing is read.
        if known.is_empty() || self.store_path()?.is_none() {
            return Ok(report);
        }
        let opened = self.opened()?;
        for (column, ids) in &mut known {
            *ids = opened.timeline.ids(*column)?;
        }
        report.each_id(&mut |column, id| {
            if let Some(ids) = known.get(&column) {
                *id = short::short(id, ids);
            }
        });
        Ok(report)
    }

    /// Whether a step was recorded for just this part, whose id is given in full.
    pub fn has_part(&self, part: &str) -> Result<bool> {
        Ok(self.store_path()?.is_some() && !self.opened()?.timeline.by_origin(OriginColumn::Part, part)?.is_empty())
    }

    /// The whole id that a text means, if it means one.
    pub(super) fn meant(&self, opened: &Opened, column: OriginColumn, typed: &str) -> Result<Option<String>> {
        let ids = opened.timeline.ids(column)?;
        Ok(short::find(column, typed, ids.iter().map(String::as_str))?.map(str::to_owned))
    }

    /// One id as lists show it.
    pub(super) fn short_id(&self, opened: &Opened, column: OriginColumn, id: &str) -> Result<String> {
        if !short::is_long(id) {
            return Ok(id.to_owned());
        }
        Ok(short::short(id, &opened.timeline.ids(column)?))
    }
}
