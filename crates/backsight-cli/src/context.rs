//! What a command stands on: where it was started, which workspace that is, and where its answer goes.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use backsight::report::HasIds;
use backsight::request::Log;
use backsight::{Settings, Workspace};
use backsight_core::{Code, Error, RelPath, Result, Timestamp, quote};
use serde::Serialize;

use crate::cli::Global;
use crate::page::{Page, Screen};
use crate::paths;
use crate::progress::Reporter;
use crate::render::graph::Alphabet;

/// What a command stands on.
pub struct Context {
    /// Where the answer goes.
    pub screen: Screen,
    /// The time all ages are counted from.
    pub now: Timestamp,
    /// The characters the reader's terminal can show.
    pub alphabet: Alphabet,
    /// Whether ids are shown in full.
    verbose: bool,
    start: PathBuf,
    /// The user named the start directory.
    is_named: bool,
    /// The root of a repository that was taken for the workspace although the command was started below it.
    taken: OnceCell<PathBuf>,
    settings: Settings,
    reporter: Reporter,
}

impl Context {
    /// Resolves the start directory; opens nothing yet. Others who wait for this process see `command`.
    pub fn new(global: &Global, command: &str, screen: Screen) -> Result<Self> {
        let start = start_directory(global.directory.as_deref())?;
        let is_named = global.directory.is_some();
        let reporter = Reporter::new(Instant::now());
        let mut settings = Settings::from_environment();
        settings.wait = global.patience();
        settings.process_name = format!("backsight {command}");
        let listener = reporter.clone();
        settings.progress = Arc::new(move |progress| listener.report(progress));
        let now = Timestamp::from_system(SystemTime::now());
        let alphabet = Alphabet::of(|name| std::env::var(name).ok());
        Ok(Context {
            screen,
            now,
            alphabet,
            verbose: global.verbose,
            start,
            is_named,
            taken: OnceCell::new(),
            settings,
            reporter,
        })
    }

    /// The workspace of the start directory: the nearest one above that has a store, else the root of its Git repository,
    /// else the directory itself. One that the user named is never left for a repository around it.
    pub fn workspace(&self) -> Result<Workspace> {
        let root = self.root();
        if root != self.start && Workspace::discover(&self.start, &self.settings).is_none() {
            let _ = self.taken.set(root.clone());
        }
        Workspace::open_with(root, self.settings.clone())
    }

    /// A directory as a workspace of its own, even inside another. Without one the root of the Git repository that the
    /// start directory lies in, else the start directory.
    pub fn workspace_at(&self, directory: Option<&Path>) -> Result<Workspace> {
        let root = match directory {
            Some(directory) => start_directory(Some(&self.start.join(directory)))?,
            None if self.is_named => self.start.clone(),
            None => Workspace::repository(&self.start, &self.settings).unwrap_or_else(|| self.start.clone()),
        };
        if directory.is_none() && root != self.start {
            let _ = self.taken.set(root.clone());
        }
        Workspace::open_with(root, self.settings.clone())
    }

    /// The directory [`Context::workspace`] opens.
    pub fn root(&self) -> PathBuf {
        match self.is_named {
            true => Workspace::discover(&self.start, &self.settings).unwrap_or_else(|| self.start.clone()),
            false => Workspace::locate(&self.start, &self.settings),
        }
    }

    /// The surroundings a workspace is opened with.
    pub fn settings(&self) -> Settings {
        self.settings.clone()
    }

    /// The directory paths are taken from.
    pub fn start(&self) -> &Path {
        &self.start
    }

    /// The paths as typed, inside the workspace; an empty list means all of it.
    pub fn paths(&self, workspace: &Workspace, typed: &[OsString]) -> Result<Vec<RelPath>> {
        all_or_some(typed.iter().map(|path| self.inside(workspace, path)))
    }

    /// The same for paths that may not exist yet: they are taken from the start directory and from nowhere else.
    pub fn paths_from_here(&self, workspace: &Workspace, typed: &[OsString]) -> Result<Vec<RelPath>> {
        all_or_some(typed.iter().map(|path| self.inside_from_here(workspace, path)))
    }

    /// One path as typed, which must not be the workspace itself.
    pub fn path(&self, workspace: &Workspace, typed: &OsStr) -> Result<RelPath> {
        self.inside(workspace, typed)?.ok_or_else(|| {
            let message = format!("path `{}` is the workspace itself", quote(typed.as_bytes()));
            Error::new(Code::InvalidPath, message).with_hint("name a file inside it")
        })
    }

    /// Answers name paths from the workspace's root, so a path that was pasted from one means that where there is no such
    /// path below the start directory. `./a` and `../a` always mean what they say.
    fn inside(&self, workspace: &Workspace, typed: &OsStr) -> Result<Option<RelPath>> {
        let here = self.inside_from_here(workspace, typed);
        let is_below = self.start != workspace.root();
        let is_plain = matches!(Path::new(typed).components().next(), Some(Component::Normal(_)));
        if !is_below || !is_plain || is_known(workspace, here.as_ref().ok()) {
            return here;
        }
        match paths::inside(workspace.root(), workspace.root(), typed) {
            Ok(pasted) if is_known(workspace, Some(&pasted)) => Ok(pasted),
            _ => here,
        }
    }

    fn inside_from_here(&self, workspace: &Workspace, typed: &OsStr) -> Result<Option<RelPath>> {
        let outcome = paths::inside(workspace.root(), &self.start, typed);
        // An absolute path may reach the workspace through a symlinked directory (`/tmp` on some systems).
        match (&outcome, physical(Path::new(typed))) {
            (Err(_), Some(path)) => paths::inside(workspace.root(), &self.start, path.as_os_str()).or(outcome),
            _ => outcome,
        }
    }

    /// The report as a person reads it: with short ids, unless long ones are asked for.
    pub fn readable<T: HasIds + Clone>(&self, workspace: &Workspace, report: &T) -> Result<T> {
        if self.verbose || self.screen.is_json() {
            return Ok(report.clone());
        }
        workspace.shortened(report.clone())
    }

    /// Writes the report as JSON, or what `human` puts on a page.
    pub fn answer<T: Serialize>(&self, report: &T, human: impl FnOnce(&mut Page)) -> Result<()> {
        self.reporter.finish();
        self.screen.answer(report, |page| {
            human(page);
            if let Some(root) = self.taken.get() {
                let root = quote(root.as_os_str().as_bytes());
                page.note(format_args!(
                    "the workspace is {root}, the root of the Git repository; `-C .` means this directory"
                ));
            }
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.reporter.finish();
    }
}

/// Naming the workspace itself among others still means all of it.
fn all_or_some(paths: impl Iterator<Item = Result<Option<RelPath>>>) -> Result<Vec<RelPath>> {
    let paths: Vec<Option<RelPath>> = paths.collect::<Result<_>>()?;
    Ok(paths.into_iter().collect::<Option<_>>().unwrap_or_default())
}

/// Whether something is or was there, on disk or in a snapshot.
fn is_known(workspace: &Workspace, path: Option<&Option<RelPath>>) -> bool {
    let Some(Some(path)) = path else { return false };
    let recorded = || {
        let request = Log { file: Some(path.clone()), limit: 1, ..Log::default() };
        workspace.log(&request).is_ok_and(|page| !page.rows.is_empty())
            || workspace.file_exists_at("@", path).unwrap_or(false)
    };
    workspace.root().join(path.as_path()).symlink_metadata().is_ok() || recorded()
}

fn start_directory(typed: Option<&Path>) -> Result<PathBuf> {
    let directory = typed.unwrap_or(Path::new("."));
    let name = quote(directory.as_os_str().as_bytes());
    let found = std::fs::canonicalize(directory).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(Code::WorkspaceNotFound, format!("directory `{name}` does not exist"))
                .with_hint("name an existing directory with `-C DIR`")
                .with_source(error)
        }
        _ => Error::io(format!("open directory `{name}`"), error),
    })?;
    if found.is_dir() {
        return Ok(found);
    }
    Err(Error::new(Code::WorkspaceNotFound, format!("`{name}` is not a directory")))
}

/// An absolute path with its directory resolved; the last part may be a symlink, or gone, and stays as it is.
fn physical(path: &Path) -> Option<PathBuf> {
    let (directory, name) = (path.parent()?, path.file_name()?);
    if path.is_absolute() { Some(std::fs::canonicalize(directory).ok()?.join(name)) } else { None }
}
