//! The debug lane of a workspace: one for all handles, made at its first use. What is debugged lives in this process and
//! nowhere else; only a snapshot that somebody exports outlives its session.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use backsight_core::{Code, Error, RelPath, Result, is_alias};
use backsight_debug::adapters::Adapter;
use backsight_debug::debugger::{Debugger, Moved, Options, SessionView, StepDiff};
use backsight_debug::request::{self as debug_request, Asked};
use backsight_debug::session::{Attach, Control, Launch, Setup};
use backsight_debug::walk::CapturePlan;
use backsight_debug::{adapters, diff};
use backsight_files::OWN_DIRECTORY;

use super::Workspace;
use crate::operation::Perform;
use crate::random;
use crate::report::Exported;
use crate::request::ExportSnapshot;

/// Where the lane is, once it is made.
pub(super) type Slot = OnceLock<Arc<Debugger>>;

impl Workspace {
    /// The debug lane: whatever it does not wait for.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// let debugger = workspace.debugger()?;
    /// let error = debugger.snapshots(None).unwrap_err();
    /// assert_eq!(error.code(), backsight::Code::NoSession, "nothing is being debugged");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn debugger(&self) -> Result<Arc<Debugger>> {
        if let Some(lane) = self.shared.debugger.get() {
            return Ok(Arc::clone(lane));
        }
        let mut setup = Setup::new(self.search_path(), self.settings.clock.clone());
        setup.adapters = self.debuggers()?;
        let options = Options {
            setup,
            root: self.root.clone(),
            salt: self.salt()?,
            random: Arc::new(|| Ok(u128::from(random::number()?) << 64 | u128::from(random::number()?))),
        };
        Ok(Arc::clone(self.shared.debugger.get_or_init(|| Arc::new(Debugger::new(options)))))
    }

    /// The debuggers that are known: those of the user's own settings, then those everybody has.
    pub fn debuggers(&self) -> Result<Vec<Adapter>> {
        Ok(adapters::with(self.user_settings()?.adapters))
    }

    /// The same as [`Workspace::debugger`], unless nobody used it yet.
    pub fn debugger_if_used(&self) -> Option<Arc<Debugger>> {
        self.shared.debugger.get().cloned()
    }

    /// Starts a program under its debugger and waits for its first stop.
    pub fn debug_launch(&self, session: Option<&str>, launch: Launch) -> Result<Moved> {
        self.debugger()?.launch(session, launch, &*self.settings.cancelled)
    }

    /// Attaches to a program that runs already.
    pub fn debug_attach(&self, session: Option<&str>, attach: Attach) -> Result<Moved> {
        self.debugger()?.attach(session, attach, &*self.settings.cancelled)
    }

    /// Where the program is; of a running one, after waiting for its next stop up to a limit.
    pub fn debug_state(&self, session: Option<&str>, wait: Duration) -> Result<SessionView> {
        self.debugger()?.state(session, wait, &*self.settings.cancelled)
    }

    /// Lets the program go on, or pauses it, and waits up to a limit for what comes of it.
    pub fn debug_control(
        &self,
        session: Option<&str>,
        control: Control,
        thread: Option<i64>,
        wait: Duration,
    ) -> Result<Moved> {
        self.debugger()?.control(session, control, thread, wait, &*self.settings.cancelled)
    }

    /// What a step changes.
    pub fn step_and_diff(
        &self,
        session: Option<&str>,
        control: Control,
        plan: CapturePlan,
        wait: Duration,
        options: &diff::Options,
    ) -> Result<StepDiff> {
        self.debugger()?.step_and_diff(session, control, plan, wait, options, &*self.settings.cancelled)
    }

    /// Writes a snapshot of a program's variables, without its secrets, into a new file of the workspace.
    pub fn export_snapshot(&self, session: Option<&str>, reference: &str, file: &RelPath) -> Result<Exported> {
        let capture = self.debugger()?.snapshot(session, reference)?;
        let mut text = serde_json::to_string_pretty(&*capture)
            .map_err(|error| Error::new(Code::Io, format!("the snapshot cannot be written: {error}")))?;
        text.push('\n');
        let path = place_of(&self.root, file.as_path()).ok_or_else(|| {
            Error::new(Code::InvalidPath, format!("`{file}` is in no directory of the workspace"))
                .with_hint("create the directory first, or choose another one")
        })?;
        let mut written =
            OpenOptions::new().write(true).create_new(true).open(&path).map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => {
                    Error::new(Code::Conflict, format!("`{file}` exists; nothing was written"))
                        .with_hint("choose a name that is free")
                }
                _ => Error::io(format!("create `{file}`"), error),
            })?;
        written.write_all(text.as_bytes()).map_err(|error| Error::io(format!("write `{file}`"), error))?;
        Ok(Exported { snapshot_id: capture.id.clone(), file: file.to_string(), bytes: text.len() as u64 })
    }
}

/// Requests that the lane answers by itself.
macro_rules! asks_the_debugger {
    ($($request:ident)*) => {
        $(impl Perform for debug_request::$request {
            fn carry_out(self, workspace: &Workspace) -> Result<Self::Answer> {
                self.ask(&*workspace.debugger()?, &*workspace.settings.cancelled)
            }
        })*
    };
}

asks_the_debugger! {
    LaunchProgram AttachProgram ListSessions ProgramState ControlProgram EndSession
    SetBreakpoint ListBreakpoints RemoveBreakpoint
    ListThreads ReadStack ReadVariables EvaluateExpression ReadOutput
    CreateSnapshot ListSnapshots ReadSnapshot CompareSnapshots DeleteSnapshot ClearSnapshots StepAndCompare
    CaptureAt ListPoints ReadSeries RunUntilChange SetVariable
}

impl Perform for ExportSnapshot {
    fn carry_out(self, workspace: &Workspace) -> Result<Exported> {
        workspace.export_snapshot(self.session.as_deref(), &self.id, &self.file.inside()?)
    }
}

/// Where a new file really is: in a directory of the workspace that is neither Git's nor ours, whatever links lead there.
fn place_of(root: &Path, file: &Path) -> Option<PathBuf> {
    let path = root.join(file);
    let real = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
    (!is_gits_or_ours(real.strip_prefix(root).ok()?)).then_some(real)
}

/// Whether a path without links, from the workspace's root, leads into a directory of Git's or of ours.
pub(super) fn is_gits_or_ours(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().as_encoded_bytes();
        is_alias(name, ".git") || is_alias(name, OWN_DIRECTORY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_written_into_no_directory_of_gits_or_ours_whatever_leads_there() {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        let root = base.join("ws");
        for directory in ["ws/sub/.git/hooks", "ws/.git", "ws/.backsight/store", "ws/plain", "elsewhere"] {
            std::fs::create_dir_all(base.join(directory)).unwrap();
        }
        for (target, link) in
            [("sub/.git", "lnk"), ("sub/.git/hooks", "deep"), ("../elsewhere", "out"), ("plain", "fine"), ("sub", "up")]
        {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        assert_eq!(place_of(&root, Path::new("new.json")), Some(root.join("new.json")));
        assert_eq!(place_of(&root, Path::new("fine/new.json")), Some(root.join("plain/new.json")));
        for taken in [
            "lnk/config2",
            "deep/pre-commit",
            "up/.git/config2",
            "out/x",
            "sub/.git/x",
            "sub/.git",
            "plain/.GIT",
            ".backsight/x",
            "plain/.backsight",
            "missing/x",
        ] {
            assert_eq!(place_of(&root, Path::new(taken)), None, "{taken}");
        }
    }
}
