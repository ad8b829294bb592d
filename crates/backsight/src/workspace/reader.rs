//! What people who look keep: up to where in the timeline each of them has looked, and which contents they have read. It is
//! kept beside the rows and is no part of the history.

use backsight_core::{ObjectId, RelPath, Result, Seq};

use super::Workspace;
use crate::hunks;
use crate::names;
use crate::report::{Hunks, Seen, Viewed};
use crate::request;
use crate::timeline::{Item, KeptChange, KeptKind};

/// Contents that are remembered for a person; the ones marked first are forgotten first.
const MARKS: usize = 10_000;

impl Workspace {
    /// Up to which row a person has looked; none when they never have.
    pub fn seen(&self, person: &str) -> Result<Option<Seen>> {
        self.kept_for(KeptKind::Seen, person)
    }

    /// Moves a person's place to a row.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// let first = workspace.track()?.snapshot.sequence_number;
    /// assert_eq!(workspace.seen("ada")?, None);
    /// workspace.set_seen("ada", first)?;
    /// assert_eq!(workspace.seen("ada")?.unwrap().sequence_number, first);
    /// assert_eq!(workspace.seen("grace")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_seen(&self, person: &str, row: Seq) -> Result<Seen> {
        let newest = self.newest_row()?;
        let seen = Seen { sequence_number: row.min(newest), at: self.settings.now() };
        self.keep_for(KeptKind::Seen, person, &seen)?;
        Ok(seen)
    }

    /// The contents a person has read, by their ids.
    pub fn viewed(&self, person: &str) -> Result<Viewed> {
        Ok(self.kept_for(KeptKind::Viewed, person)?.unwrap_or_default())
    }

    /// Marks contents as read, and takes marks back. A mark belongs to the bytes: a file that changes has none.
    pub fn set_viewed(&self, person: &str, add: &[ObjectId], remove: &[ObjectId]) -> Result<Viewed> {
        names::check_id("person", person)?;
        self.made()?.timeline.keep_by(KeptKind::Viewed, self.settings.now(), |kept| {
            let known = kept.iter().find(|item| item.name == person);
            let known: Option<Viewed> = known.and_then(|item| serde_json::from_str(&item.body).ok());
            let Viewed { mut blobs } = known.unwrap_or_default();
            blobs.retain(|blob| !remove.contains(blob) && !add.contains(blob));
            blobs.extend(add.iter().filter(|blob| !remove.contains(blob)));
            blobs.drain(..blobs.len().saturating_sub(MARKS));
            let viewed = Viewed { blobs };
            let body = serde_json::to_string(&viewed).unwrap_or_default();
            let keep = vec![Item { name: person.to_owned(), body }];
            Ok((viewed, KeptChange { keep, forget: Vec::new() }))
        })
    }

    /// What one step did, as a page shows it.
    pub fn step_hunks(&self, reference: &str, paths: &[RelPath], context: usize) -> Result<Hunks> {
        let diff = self.step_diff(reference, false, paths)?;
        Ok(Hunks { unseen: diff.unseen, ..hunks::hunks(&diff.diffs, context) })
    }

    /// What differs between two states, likewise; the second is the disk when left out.
    pub fn range_hunks(&self, from: &str, to: Option<&str>, context: usize) -> Result<Hunks> {
        self.hunks_with(&request::Diff { context, ..request::Diff::new(from, to.map(str::to_owned)) })
    }

    /// The same with bounds of the caller's.
    pub fn hunks_with(&self, request: &request::Diff) -> Result<Hunks> {
        let diff = self.diff_with(request)?;
        Ok(Hunks { unseen: diff.unseen, ..hunks::hunks(&diff.diffs, request.context) })
    }

    /// What a session did and is in effect, likewise.
    pub fn session_hunks(&self, session: &str, context: usize) -> Result<Hunks> {
        let diff = self.session_diff(&request::SessionDiff::new(session))?;
        Ok(Hunks { mixed: diff.mixed, ..hunks::hunks(&diff.diffs, context) })
    }

    fn kept_for<T: serde::de::DeserializeOwned>(&self, kind: KeptKind, person: &str) -> Result<Option<T>> {
        names::check_id("person", person)?;
        if self.store_path()?.is_none() {
            return Ok(None);
        }
        let body = self.opened()?.timeline.kept_as(kind, person)?;
        // What cannot be read any more is as good as never written.
        Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
    }

    fn keep_for(&self, kind: KeptKind, person: &str, what: &impl serde::Serialize) -> Result<()> {
        names::check_id("person", person)?;
        let body = serde_json::to_string(what).unwrap_or_default();
        let item = Item { name: person.to_owned(), body };
        self.made()?.timeline.keep(kind, self.settings.now(), &[item], &[])
    }
}
