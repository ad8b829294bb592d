//! The right to write, as a value: made only by taking the workspace lock, which is held as long as the value lives. It
//! owns what must not change meanwhile, the latest row and the settings, each read once. Whatever needs the lock is a
//! method of it, in the files of the operations; reading needs only what [`Opened`] has.

use std::cell::{OnceCell, RefCell};

use backsight_core::{Code, Result};
use backsight_files::WorkspaceLock;

use super::{Opened, Workspace, step_in};
use crate::config::Config;
use crate::timeline::Step;

/// A workspace that this process alone may change.
pub(super) struct Writing<'w> {
    pub(super) workspace: &'w Workspace,
    pub(super) opened: &'w Opened,
    /// The latest step, once it was asked for; what is appended replaces it.
    latest: RefCell<Option<Option<Step>>>,
    config: OnceCell<Config>,
    _lock: WorkspaceLock,
}

impl Workspace {
    /// The right to change the workspace, with nothing left over from a killed process.
    pub(super) fn writing(&self) -> Result<Writing<'_>> {
        let writing = self.holding(self.made()?)?;
        writing.opened.files.objects().refresh()?;
        writing.recover()?;
        Ok(writing)
    }

    /// The same for making room: what cannot be recovered yet waits. What it needs is kept, unless its journal is damaged.
    pub(super) fn writing_without_room(&self) -> Result<Writing<'_>> {
        let writing = self.holding(self.made()?)?;
        writing.opened.files.objects().refresh()?;
        match writing.recover() {
            Err(error) if matches!(error.code(), Code::Damaged | Code::Cancelled) => Err(error),
            _ => Ok(writing),
        }
    }

    /// Takes the lock and looks at nothing yet.
    pub(super) fn holding<'w>(&'w self, opened: &'w Opened) -> Result<Writing<'w>> {
        let lock = self.lock(&opened.store)?;
        Ok(Writing { workspace: self, opened, latest: RefCell::default(), config: OnceCell::new(), _lock: lock })
    }
}

impl Writing<'_> {
    /// The latest step. Nobody else appends while this exists, so it is read once.
    pub(super) fn latest(&self) -> Result<Option<Step>> {
        if let Some(latest) = &*self.latest.borrow() {
            let known = latest.as_ref().map(|step| step.snapshot.sequence_number);
            debug_assert_eq!(known, self.opened.timeline.latest()?.map(|step| step.snapshot.sequence_number));
            return Ok(latest.clone());
        }
        let latest = self.opened.timeline.latest()?;
        self.latest.replace(Some(latest.clone()));
        Ok(latest)
    }

    /// Takes note of a step that was appended. A recovery appends what the killed process may have appended already: then
    /// it is the step of then, and not the latest.
    pub(super) fn appended(&self, step: &Step) {
        let mut latest = self.latest.borrow_mut();
        let known = latest.as_ref().map(|latest| latest.as_ref().map(|step| step.snapshot.sequence_number));
        let is_newer = known.is_some_and(|known| known < Some(step.snapshot.sequence_number));
        *latest = is_newer.then(|| Some(step.clone()));
    }

    /// What is known of the latest step is to be read again.
    pub(super) fn forget_latest(&self) {
        self.latest.take();
    }

    /// The settings of the workspace.
    pub(super) fn config(&self) -> Result<&Config> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = self.workspace.config()?;
        Ok(self.config.get_or_init(|| config))
    }

    /// Finishes what a killed process left, and records the step it could not.
    pub(super) fn recover(&self) -> Result<()> {
        for mut restoration in self.opened.files.recover(&|note| step_in(note).map(drop))? {
            self.record_recovered(&mut restoration)?;
        }
        self.name_latest()
    }

    /// Names the latest snapshot for other Gits, if the process that recorded it died before it could.
    fn name_latest(&self) -> Result<()> {
        let Some(latest) = self.latest()? else { return Ok(()) };
        let seq = latest.snapshot.sequence_number;
        if self.opened.files.latest_named()?.is_none_or(|named| named < seq) {
            self.opened.files.write_reference(seq, &latest.tree, latest.coverage_id.as_ref())?;
        }
        Ok(())
    }
}
