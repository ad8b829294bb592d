//! The watcher: while a process lives, a capture costs what changed. It is a hint and is checked like one.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use backsight_core::Result;
use backsight_files::Subjects;

use super::Workspace;
use crate::report::{Watch, WatchMood};
use crate::timeline::Step;

impl Workspace {
    /// Lets the kernel announce changes, so that captures look only where something happened. Asking again changes
    /// nothing. Where it cannot be done captures walk as they would without it.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// workspace.watch()?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// std::fs::write(directory.path().join("a.txt"), "two\n")?;
    /// assert_eq!(workspace.track()?.changes.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watch(&self) -> Result<()> {
        self.shared.watches.store(true, Ordering::Relaxed);
        if self.store_path()?.is_some() {
            self.opened()?.files.watch();
        }
        Ok(())
    }

    /// How the watcher is doing.
    pub fn watch_report(&self) -> Watch {
        let state = self.shared.opened.get().map(|opened| opened.files.watch_state()).unwrap_or_default();
        let is_on = state.is_on || self.shared.watches.load(Ordering::Relaxed);
        let mood = match (is_on, state.is_reliable) {
            (false, _) => WatchMood::Off,
            (true, true) => WatchMood::Watching,
            (true, false) => WatchMood::Doubtful,
        };
        Watch {
            state: mood,
            directories: state.directories,
            doubt: state.doubt,
            full_walks: state.full_walks,
            partial_walks: state.partial_walks,
            verified_at: *self.shared.verified_at.lock().unwrap_or_else(PoisonError::into_inner),
            missed: state.missed,
        }
    }

    /// Walks everything and compares it with what the watcher would have said. What it missed is counted, and known from
    /// then on.
    pub fn verify_watch(&self) -> Result<Watch> {
        if self.store_path()?.is_some() {
            let opened = self.opened()?;
            let last = opened.timeline.latest()?.as_ref().map(Step::as_last);
            let options = self.scan_options(&self.config()?);
            let include = BTreeSet::new();
            let subjects = Subjects { options: &options, last: last.as_ref(), include: &include, thorough: false };
            self.with_caller(|caller| opened.files.verify_watch(&subjects, caller))?;
            *self.shared.verified_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.settings.now());
        }
        Ok(self.watch_report())
    }
}
