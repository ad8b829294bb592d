//! One directory tree under Backsight's care: the type people embed. Its methods are in the modules beside this file,
//! by what they do: `track` and `call` (recording), `look` and `lines` (reading), `go` (restore, revert, undo, redo),
//! `bisect` (which step broke it), `session`, `unknown`, `continuity`, `milestone`, `export`, `checkpoint`, `watch`, `since`, `reader` and `comments` (people who look), `browser` and `debug` (the live lanes), `agents` (what agents may run and reach), `notes` and
//! `keep` (room, checks).

mod aftermath;
#[cfg(feature = "browser")]
mod again;
#[cfg(feature = "browser")]
mod agents;
mod bisect;
#[cfg(feature = "browser")]
mod browser;
mod call;
#[cfg(feature = "browser")]
mod changes;
mod checkpoint;
mod comments;
mod commits;
mod continuity;
mod conversation;
#[cfg(feature = "debug")]
mod debug;
mod diff;
mod doubt;
mod export;
mod glance;
mod go;
mod ids;
mod keep;
mod lines;
mod look;
mod milestone;
mod moves;
mod moving;
mod notes;
mod partly;
mod reader;
mod salt;
mod search;
mod session;
mod shared;
mod since;
mod track;
mod unknown;
mod watch;
mod writing;

#[cfg(feature = "browser")]
pub use changes::Topic;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use backsight_core::{Code, Error, NextStep, ObjectId, Result, Seq, SnapshotId, Timestamp};
use backsight_files::{Caller, CaptureProgress, Files, ScanOptions, Surroundings, WorkspaceLock};
use serde::Deserialize;

use crate::adopt;
use crate::config::{self, Config};
use crate::gate::{self, OwnStore};
use crate::identity;
use crate::place;
use crate::random;
use crate::reference::{self, Reference};
use crate::report::{Adopted, ConfigEntry, Kind, SnapshotConfig};
use crate::request::{ConfigChange, Init};
use crate::settings::{CallSettings, Progress, Settings};
use crate::timeline::{Making, NewStep, Step, Timeline};
use crate::user_settings::{self, UserSettings};

/// One directory tree under Backsight's care.
///
/// Opening one touches nothing; the store is made when something is recorded.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let root = directory.path();
/// use backsight::Workspace;
///
/// let workspace = Workspace::open(root)?;
/// std::fs::write(root.join("test.txt"), "original")?;
/// let first = workspace.track()?;
///
/// std::fs::write(root.join("test.txt"), "modified")?;
/// let second = workspace.track()?;
/// assert_ne!(first.snapshot.tree, second.snapshot.tree);
///
/// workspace.restore(&first.snapshot.tree.to_string())?;
/// assert_eq!(std::fs::read_to_string(root.join("test.txt"))?, "original");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Workspace {
    root: PathBuf,
    settings: Settings,
    shared: Arc<Shared>,
}

/// What all handles on a workspace have in common.
#[derive(Default)]
struct Shared {
    /// The store that last passed the gate.
    store: Mutex<Option<OwnStore>>,
    opened: OnceLock<Opened>,
    /// Patterns for our own directories, once they were looked for.
    own_state: OnceLock<Vec<String>>,
    /// Whether somebody asked for the watcher, perhaps before there was a store.
    watches: AtomicBool,
    /// The last time a whole walk proved the watcher right.
    verified_at: Mutex<Option<Timestamp>>,
    /// The salt of secrets' tags, once one was needed.
    salt: OnceLock<String>,
    /// The browser lane, once somebody used it.
    #[cfg(feature = "browser")]
    browser: browser::Slot,
    /// The debug lane, once somebody used it.
    #[cfg(feature = "debug")]
    debugger: debug::Slot,
    /// Where each client looked last, and what is known of the steps.
    #[cfg(feature = "browser")]
    places: changes::Places,
    /// What the lanes saw and the timeline does not hold yet.
    notes: notes::Waiting,
}

/// A workspace's store, opened.
struct Opened {
    store: OwnStore,
    files: Files,
    timeline: Timeline,
    /// Device and inode of the timeline when it was opened.
    identity: Option<(u64, u64)>,
    glances: glance::Glances,
    /// The settings file as it was last read, and what it says.
    config: Mutex<Option<(String, Config)>>,
}

impl Opened {
    fn new(store: OwnStore, files: Files, timeline: Timeline) -> Opened {
        let identity = identity_of(&store);
        if let Ok(config) = config::text_of(&store).and_then(|(text, file)| Config::parse(&text, &file)) {
            files.objects().expect_files(config.max_files);
        }
        Opened { identity, files, timeline, store, glances: Default::default(), config: Mutex::default() }
    }
}

impl Workspace {
    /// Opens the directory `root` with the surroundings of this process.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        Workspace::open_with(root, Settings::from_environment())
    }

    /// Opens the directory `root` with surroundings of the caller's.
    pub fn open_with(root: impl AsRef<Path>, settings: Settings) -> Result<Self> {
        let given = root.as_ref();
        let not_found = |reason: &str| {
            Error::new(Code::WorkspaceNotFound, format!("`{}` {reason}", given.display()))
                .then("name an existing directory", NextStep::WithDirectory)
        };
        let root = match given.canonicalize() {
            Ok(root) if root.is_dir() => root,
            Ok(_) => return Err(not_found("is not a directory")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(not_found("does not exist")),
            Err(error) => return Err(Error::io(format!("open `{}`", given.display()), error)),
        };
        Ok(Workspace { root, settings, shared: Arc::default() })
    }

    /// A handle for one call: the same opened store, with a progress, a patience and a cancellation of its own.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use std::sync::Arc;
    /// use backsight::{CallSettings, Code};
    ///
    /// let taken_back = CallSettings { cancelled: Some(Arc::new(|| true)), ..CallSettings::default() };
    /// assert_eq!(workspace.for_call(taken_back).track().unwrap_err().code(), Code::Cancelled);
    /// workspace.track()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_call(&self, call: CallSettings) -> Workspace {
        let mut settings = self.settings.clone();
        settings.wait = call.wait.unwrap_or(settings.wait);
        settings.progress = call.progress.unwrap_or(settings.progress);
        settings.cancelled = call.cancelled.unwrap_or(settings.cancelled);
        Workspace { root: self.root.clone(), settings, shared: self.shared.clone() }
    }

    /// The nearest directory at or above `start` that has a store, ours or not: opening one that is not says so.
    pub fn discover(start: &Path, settings: &Settings) -> Option<PathBuf> {
        let start = start.canonicalize().ok()?;
        start.ancestors().find(|directory| place::is_taken(directory, settings)).map(Path::to_owned)
    }

    /// The directory that is the workspace for who works in `start`: the nearest one at or above it that has a store, else
    /// the root of the Git repository it lies in, else itself.
    pub fn locate(start: &Path, settings: &Settings) -> PathBuf {
        let found = Self::discover(start, settings).or_else(|| Self::repository(start, settings));
        found.unwrap_or_else(|| start.to_owned())
    }

    /// The root of the Git repository that `start` lies in; the home directory's, and one on another file system, is none.
    pub fn repository(start: &Path, settings: &Settings) -> Option<PathBuf> {
        place::repository(&start.canonicalize().ok()?, settings)
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where programs are looked for, debuggers and browsers alike: directories that the workspace cannot have put programs
    /// into. Whoever works with `node_modules/.bin` or `.venv/bin` on the search path did not choose those for this.
    pub fn search_path(&self) -> Vec<PathBuf> {
        place::search_outside(&self.settings.search_path, &self.root)
    }

    /// Where what concerns all workspaces of the user is kept; none when no home directory is known.
    pub fn state_directory(&self) -> Option<PathBuf> {
        self.settings.state_directory()
    }

    /// The user's own settings, as they are now.
    pub fn user_settings(&self) -> Result<UserSettings> {
        user_settings::load(&self.settings)
    }

    /// Where the user's own settings are, or would be.
    pub fn user_settings_path(&self) -> Option<PathBuf> {
        user_settings::path(&self.settings)
    }

    /// The time, as the settings tell it.
    pub fn now(&self) -> Timestamp {
        self.settings.now()
    }

    /// Where the store is, once there is one.
    pub fn store_path(&self) -> Result<Option<PathBuf>> {
        Ok(self.store()?.map(|store| store.directory().path()))
    }

    /// The store, once there is one. One that was not made by this user on this machine, or that others can change, is the
    /// error `STORE_NOT_OURS`, and nothing of it was used.
    pub fn store(&self) -> Result<Option<OwnStore>> {
        let mut known = self.shared.store.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|store| !store.is_in_place()) {
            *known = gate::find(&self.root, &self.settings)?;
        }
        Ok(known.clone())
    }

    /// Sets the workspace up; recording does it by itself. True when the store was made by this call.
    pub fn init(&self, request: &Init) -> Result<bool> {
        if self.store().is_err_and(|error| error.code() == Code::Damaged) {
            identity::forget(&self.root, &self.settings)?;
        }
        let is_anew = request.anew && gate::belongs_elsewhere(&self.root, &self.settings).is_some();
        let known = if is_anew { None } else { self.store()? };
        if known.is_none() && !request.any_root {
            place::check_root(&self.root, &self.settings)?;
        }
        let (store, made) = place::make(&self.root, request.store, known, &self.settings)?;
        if request.any_root {
            write_config(&store, &[("any_root", "true".to_owned())])?;
        }
        self.opened()?;
        Ok(made)
    }

    /// Takes over the history of a store that is not ours, and drops whatever of it could act. The old store is put aside.
    pub fn adopt(&self) -> Result<Adopted> {
        adopt::adopt(&self.root, &self.settings)
    }

    /// Every setting with its value, default and meaning.
    pub fn config_list(&self) -> Result<Vec<ConfigEntry>> {
        let (text, file) = self.config_text()?;
        config::list(&text, &file)
    }

    /// One setting.
    pub fn config_get(&self, key: &str) -> Result<ConfigEntry> {
        let (text, file) = self.config_text()?;
        config::get(&text, &file, key)
    }

    /// Changes one setting; the file keeps its comments.
    pub fn config_set(&self, key: &str, value: &str) -> Result<ConfigEntry> {
        self.change_config(&[(key, value.to_owned())])?;
        self.config_get(key)
    }

    /// Seed 003's options.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use backsight::{report::Strategy, request::ConfigChange};
    ///
    /// assert_eq!(workspace.get_config()?.unknown_change_strategy, Strategy::Warn);
    /// let strict = ConfigChange { unknown_change_strategy: Some(Strategy::Strict), ..Default::default() };
    /// assert_eq!(workspace.update_config(&strict)?.unknown_change_strategy, Strategy::Strict);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_config(&self) -> Result<SnapshotConfig> {
        Ok(self.config()?.snapshots)
    }

    /// Changes some of seed 003's options together, and keeps them.
    pub fn update_config(&self, change: &ConfigChange) -> Result<SnapshotConfig> {
        self.change_config(&config::settings_of(change))?;
        self.get_config()
    }

    fn change_config(&self, changes: &[(&str, String)]) -> Result<()> {
        // Check before anything is made: a mistake leaves no store behind.
        let (text, file) = self.config_text()?;
        config::with(&text, &file, changes)?;
        // The file is read, changed and written: two that do so at once would lose what one of them writes.
        let held = self.holding(self.made()?)?;
        write_config(&held.opened.store, changes)
    }

    /// What the settings file says, and where it is.
    fn config_text(&self) -> Result<(String, PathBuf)> {
        match self.store()? {
            Some(store) => config::text_of(&store),
            None => Ok((String::new(), self.root.join(backsight_files::OWN_DIRECTORY).join("store/config.toml"))),
        }
    }

    fn config(&self) -> Result<Config> {
        let Some(opened) = self.shared.opened.get() else {
            let (text, file) = self.config_text()?;
            return Config::parse(&text, &file);
        };
        let (text, file) = config::text_of(&opened.store)?;
        let mut kept = opened.config.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, config)) = &*kept
            && *of == text
        {
            return Ok(config.clone());
        }
        let config = Config::parse(&text, &file)?;
        *kept = Some((text, config.clone()));
        Ok(config)
    }

    /// The store, which must exist.
    fn opened(&self) -> Result<&Opened> {
        let opened = match self.shared.opened.get() {
            Some(opened) => opened,
            None => {
                let opened = self.open_store()?;
                if self.shared.watches.load(Ordering::Relaxed) {
                    opened.files.watch();
                }
                self.shared.opened.get_or_init(|| opened)
            }
        };
        if opened.identity != identity_of(&opened.store) {
            let store = opened.store.directory().display();
            let message = format!("the store in `{store}` was replaced while this process had it open");
            return Err(Error::new(Code::WorkspaceNotFound, message).with_hint("open the workspace again"));
        }
        // Asked every time: another process may have died since.
        if !opened.store.is_read_only() && opened.files.needs_recovery()? {
            match self.holding(opened)?.recover() {
                Err(error) if error.code() == Code::Cancelled => return Err(error),
                // What cannot be recovered keeps no caller from reading; `verify` names it and writing is refused.
                Err(error) if error.code() == Code::Damaged => {}
                // Nor does what has no room yet, or stands where this user cannot write just now.
                Err(error) => {
                    let message = format!("a restore that was interrupted is not finished yet: {}", error.message());
                    self.settings.report(Progress::Noted { message });
                }
                Ok(()) => {}
            }
        }
        Ok(opened)
    }

    /// Reads, and once more when something is missing: retention in another process may have removed it after it was
    /// looked up, and then the second reading says that it expired instead of calling it damage.
    fn reading<T>(&self, read: impl Fn(&Opened) -> Result<T>) -> Result<T> {
        let opened = self.opened()?;
        match read(opened) {
            Err(error) if error.code() == Code::Damaged => read(opened),
            other => other,
        }
    }

    fn open_store(&self) -> Result<Opened> {
        let store = self.store()?.ok_or_else(|| {
            Error::new(Code::RefNotFound, format!("nothing is recorded in `{}` yet", self.root.display()))
                .then("record the first snapshot", NextStep::RecordFiles)
        })?;
        // A store that exists is mended where it needs it: `git clean` may have removed our ignore file.
        place::mend(&self.root, &store)?;
        let directory = store.directory();
        if store.is_read_only() {
            let files = Files::open_to_look(&self.root, directory, store.seal().clone(), self.settings.disk.clone())?;
            let timeline = Timeline::open_to_look(&directory.join("timeline.db"), &|| files.has_references())?;
            return Ok(Opened::new(store, files, timeline));
        }
        let making = if Files::is_made(directory) { None } else { Some(self.lock(&store)?) };
        let files = Files::open(&self.root, directory, store.seal().clone(), self.settings.disk.clone())?;
        let lock = || if making.is_some() { Ok(None) } else { self.lock(&store).map(Some) };
        let timeline = Timeline::open(
            &directory.join("timeline.db"),
            &Making { is_used: &|| files.has_references(), lock: &lock },
        )?;
        drop(making);
        Ok(Opened::new(store, files, timeline))
    }

    /// The store, made if need be.
    fn made(&self) -> Result<&Opened> {
        if self.shared.opened.get().is_none() && self.store()?.is_none() {
            self.init(&Init::default())?;
        }
        self.opened()
    }

    fn lock(&self, store: &OwnStore) -> Result<WorkspaceLock> {
        if store.is_read_only() {
            let message = format!("the store in `{}` cannot be written to", store.directory().display());
            return Err(Error::new(Code::Io, message)
                .with_hint("look at what is recorded; to go on, copy the workspace to where you can write"));
        }
        let waiting = |holder: &str| self.settings.report(Progress::Waiting { holder: holder.to_owned() });
        let Settings { process_name, wait, cancelled, .. } = &self.settings;
        WorkspaceLock::acquire(&store.directory().join("lock"), process_name, *wait, &waiting, &**cancelled)
    }

    /// Patterns for our own directories where a workspace holds them, as a home directory does: a restore that took the
    /// records of stores back would make every other store of the user's a stranger's.
    fn own_state(&self) -> &[String] {
        let root = self.root.as_path();
        let inside = |directory: PathBuf| {
            let real = directory.canonicalize().unwrap_or(directory);
            real.strip_prefix(root).ok().and_then(Path::to_str).map(|below| format!("/{}/", escaped(below)))
        };
        let look = || self.settings.state_directories().into_iter().filter_map(inside).collect();
        self.shared.own_state.get_or_init(look)
    }

    fn scan_options(&self, config: &Config) -> ScanOptions {
        ScanOptions {
            exclude: [config.exclude.as_slice(), self.own_state()].concat(),
            max_file_size: config.max_file_size,
            max_files: config.max_files,
            max_new_bytes: config.max_new_bytes,
            surroundings: self.surroundings(),
        }
    }

    /// Where the user's own Git configuration is.
    fn surroundings(&self) -> Surroundings {
        Surroundings { home: self.settings.home.clone(), config_home: self.settings.config_home.clone() }
    }

    /// Runs something that looks at the files, on behalf of whoever made this handle.
    fn with_caller<T>(&self, run: impl FnOnce(Caller<'_>) -> T) -> T {
        run(Caller { progress: &|progress| self.report_capture(progress), cancelled: &*self.settings.cancelled })
    }

    fn report_capture(&self, progress: CaptureProgress) {
        self.settings.report(match progress {
            CaptureProgress::Scanning { files } => Progress::Scanning { files },
            CaptureProgress::Reading { files_done, files_total, bytes_done, bytes_total } => {
                Progress::Storing { files_done, files_total, bytes_done, bytes_total }
            }
        });
    }

    /// The steps a reference names, newest first: one, or all of a session, message or part.
    fn resolve_all(&self, opened: &Opened, text: &str) -> Result<Vec<Step>> {
        let timeline = &opened.timeline;
        let found: Vec<Step> = match reference::parse(text)? {
            Reference::Now => {
                let error = Error::new(Code::Usage, "`now` is the files on disk, not a snapshot");
                return Err(error.then("record them first, then name the snapshot `@`:", NextStep::RecordFiles));
            }
            Reference::Latest { back } => timeline.before_latest(back)?.into_iter().collect(),
            Reference::Seq { seq, or_prefix } => match (timeline.by_seq(seq)?, or_prefix) {
                (Some(step), _) => vec![step],
                (None, Some(prefix)) => match unambiguous(text, timeline.by_prefix(&prefix)?)? {
                    none if none.is_empty() => self.steps_by_title(opened, text)?,
                    found => found,
                },
                (None, None) => match timeline.event_at(seq)? {
                    Some(event) if event.kind == Kind::Milestone => {
                        self.steps_of_milestone(opened, text, &format!("#{}", seq.0))?
                    }
                    Some(event) => {
                        let why = format!("{seq} is a row of kind `{}`, which holds no files", event.kind.as_str());
                        return Err(reference::unknown(text, &why));
                    }
                    None => self.steps_by_title(opened, text)?,
                },
            },
            Reference::Milestone(name) => self.steps_of_milestone(opened, text, &name)?,
            Reference::Prefix(prefix) => match unambiguous(text, timeline.by_prefix(&prefix)?)? {
                none if none.is_empty() => self.steps_by_title(opened, text)?,
                found => found,
            },
            Reference::Origin { column, value } => {
                let mut found = timeline.by_origin(column, &value)?;
                if found.is_empty()
                    && let Some(whole) = self.meant(opened, column, &value)?
                {
                    found = timeline.by_origin(column, &whole)?;
                }
                if found.is_empty() {
                    return Err(reference::unknown(text, &format!("no step has that {}", column.name())));
                }
                found
            }
        };
        if found.is_empty() {
            let count = timeline.count()?;
            let why = format!("the timeline has {count} snapshot{}", if count == 1 { "" } else { "s" });
            let unknown = reference::unknown(text, &why);
            return Err(match count {
                0 => unknown.then("record the files first", NextStep::RecordFiles),
                _ => unknown,
            });
        }
        Ok(found)
    }

    /// The one step a reference names (the newest of a session), with its contents.
    fn resolve(&self, opened: &Opened, text: &str) -> Result<Step> {
        let step = self.resolve_row(opened, text)?;
        still_held(&step)?;
        Ok(step)
    }

    /// The same for those who only want the row, which outlives its contents.
    fn resolve_row(&self, opened: &Opened, text: &str) -> Result<Step> {
        let found = self.resolve_all(opened, text)?;
        found.into_iter().next().ok_or_else(|| reference::unknown(text, "it names nothing"))
    }

    fn new_id(&self) -> Result<SnapshotId> {
        Ok(SnapshotId::from_random(random::number()?))
    }
}

/// A path as a pattern that means nothing but itself.
fn escaped(path: &str) -> String {
    let special = |character| matches!(character, '*' | '?' | '[' | ']' | '\\' | ' ');
    path.chars().flat_map(|character| special(character).then_some('\\').into_iter().chain([character])).collect()
}

/// What tells a store's timeline from another one that took its place.
fn identity_of(store: &OwnStore) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    // By its path: that is how SQLite reaches it.
    let found = std::fs::symlink_metadata(store.directory().join("timeline.db").path()).ok()?;
    Some((found.dev(), found.ino()))
}

/// The step that an interrupted restore was to record.
fn step_in(note: &serde_json::Value) -> Result<NewStep> {
    NewStep::deserialize(note).map_err(|error| {
        Error::new(Code::Damaged, format!("the journal of an interrupted restore cannot be read: {error}"))
    })
}

/// Changes some settings; the file keeps its comments.
fn write_config(store: &OwnStore, changes: &[(&str, String)]) -> Result<()> {
    let (text, file) = config::text_of(store)?;
    let text = config::with(&text, &file, changes)?;
    let temporary = store.directory().join(format!("config.toml.{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        temporary.remove()?;
        let mut opened = temporary.create()?;
        std::io::Write::write_all(&mut opened, text.as_bytes())?;
        opened.sync_all()?;
        temporary.rename(&store.directory().join("config.toml"))
    };
    write().map_err(|error| Error::io(format!("write `{}`", file.display()), error))
}

fn still_held(step: &Step) -> Result<()> {
    let Some(at) = step.snapshot.expired_at else { return Ok(()) };
    let seq = step.snapshot.sequence_number;
    Err(Error::new(Code::RefExpired, format!("the contents of {seq} expired at {at}: retention removed them"))
        .then("see what is kept", NextStep::SeeHistory { session: None, file: None })
        .or("pin what must stay", NextStep::PinSnapshot)
        .with_details(serde_json::json!({ "sequence_number": seq, "expired_at": at })))
}

/// Rows that share a tree are the same state, so the newest stands for all of them.
fn unambiguous(text: &str, found: Vec<Step>) -> Result<Vec<Step>> {
    let exact = found.iter().position(|step| step.snapshot.id.as_str() == text.to_ascii_lowercase());
    if let Some(index) = exact {
        return Ok(found.into_iter().skip(index).take(1).collect());
    }
    let by_id = |step: &&Step| step.snapshot.id.as_str().starts_with(&text.to_ascii_lowercase());
    let ids: Vec<Seq> = found.iter().filter(by_id).map(|step| step.snapshot.sequence_number).collect();
    let trees: std::collections::BTreeSet<ObjectId> =
        found.iter().filter(|step| !by_id(step)).map(|step| step.tree.id).collect();
    if ids.len() + trees.len() <= 1 {
        return Ok(found.into_iter().take(1).collect());
    }
    let named: Vec<String> =
        found.iter().take(5).map(|step| format!("{} ({})", step.snapshot.sequence_number, step.snapshot.id)).collect();
    let candidates: Vec<Seq> = found.iter().map(|step| step.snapshot.sequence_number).collect();
    Err(Error::new(Code::RefAmbiguous, format!("`{text}` could be {}", named.join(", ")))
        .with_hint("use more digits, or the number")
        .with_details(serde_json::json!({ "reference": text, "candidates": candidates })))
}
