//! Where a workspace's store is, and making it: private, invisible to the user's Git, safe from `git clean`.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, NextStep, Result};
use backsight_files::{AnchoredPath, OWN_DIRECTORY, ObjectKind, object_id};

use crate::gate::{self, OwnStore};
use crate::identity;
use crate::random;
use crate::request::StorePlace;
use crate::settings::Settings;

/// How many stores there may be of directories that had one path after each other.
const MAX_NUMBER: u32 = 100;
/// The name of a store in the directory that holds it.
pub(crate) const STORE: &str = "store";
/// Begins the name of a store that is being made.
pub(crate) const MAKING: &str = "making-";
/// Where an adoption leaves what it did not take over.
pub(crate) const SET_ASIDE: &str = "set-aside";

/// The places where the store of a workspace may be: inside it, else in one of the user's state directories, for this
/// directory or for one that had its path. A client may know another of them than the terminal in which the store was made.
pub(crate) fn candidates(root: &Path, settings: &Settings) -> Vec<PathBuf> {
    let mut found = vec![inside(root)];
    found.extend(identity::bound(root, settings));
    found.extend(settings.state_directories().into_iter().filter_map(|state| outside(root, &state)));
    found
}

/// Where a new store outside the workspace goes: the path that it would have may be that of a store of another directory.
pub(crate) fn free_outside(root: &Path, settings: &Settings) -> Result<PathBuf> {
    let store = settings.state_directory().and_then(|state| outside(root, &state)).ok_or_else(no_home)?;
    let own = own_directory(root, &store);
    let numbered = |number: u32| match number {
        1 => own.clone(),
        _ => own.with_file_name(format!("{}-{number}", own.file_name().unwrap_or_default().to_string_lossy())),
    };
    let free = (1..=MAX_NUMBER).map(numbered).find(|own| own.join(STORE).symlink_metadata().is_err());
    free.map(|own| own.join(STORE)).ok_or_else(|| {
        Error::new(Code::Io, format!("there are {MAX_NUMBER} stores beside `{}`", own.display()))
            .with_hint("remove those whose workspaces are gone")
    })
}

/// Whether something stands where the workspace's store would be, ours or not. One that may not be looked at counts:
/// opening it then says what is wrong.
pub(crate) fn is_taken(root: &Path, settings: &Settings) -> bool {
    let stands = |path: &Path| match std::fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    candidates(root, settings).iter().any(|store| stands(store))
}

/// The root of the Git repository that a directory lies in: a worktree and a submodule, which have a file for it, are
/// their own. Repositories of the home directory or of another file system are not meant.
pub(crate) fn repository(start: &Path, settings: &Settings) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let home = settings.home.as_ref().and_then(|home| home.canonicalize().ok());
    let device = |directory: &Path| directory.metadata().ok().map(|found| found.dev());
    let here = device(start);
    let is_project = |directory: &&Path| {
        let holds_home = home.as_ref().is_some_and(|home| home.starts_with(directory));
        directory.parent().is_some() && !holds_home && device(directory) == here
    };
    let mut within = start.ancestors().take_while(is_project);
    within.find(|directory| directory.join(".git").metadata().is_ok()).map(Path::to_owned)
}

/// Of a search path, what the workspace cannot have put programs into.
pub(crate) fn search_outside(search: &[PathBuf], workspace: &Path) -> Vec<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let workspace = real(workspace);
    // In the root directory there is no outside.
    let is_outside = |place: &&PathBuf| {
        place.is_absolute() && (workspace.parent().is_none() || !real(place).starts_with(&workspace))
    };
    search.iter().filter(is_outside).cloned().collect()
}

fn inside(root: &Path) -> PathBuf {
    root.join(OWN_DIRECTORY).join(STORE)
}

fn outside(root: &Path, state: &Path) -> Option<PathBuf> {
    let key = object_id(ObjectKind::Blob, root.as_os_str().as_encoded_bytes()).ok()?;
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    Some(state.join(format!("{name}-{}", key.short())).join(STORE))
}

/// The directory of ours that holds a store: everything in it is checked.
pub(crate) fn own_directory(root: &Path, store: &Path) -> PathBuf {
    match store.parent() {
        Some(parent) => parent.to_owned(),
        None => root.join(OWN_DIRECTORY),
    }
}

/// The workspace's store: the one that is known, or a new one. Says whether it was made.
pub(crate) fn make(
    root: &Path,
    place: StorePlace,
    known: Option<OwnStore>,
    settings: &Settings,
) -> Result<(OwnStore, bool)> {
    let (store, made) = match known {
        Some(store) => (store, false),
        None => {
            let wanted = match place {
                StorePlace::Workspace => inside(root),
                // Only then: of two processes that make one at once the second must find the first one's.
                StorePlace::User if gate::belongs_elsewhere(root, settings).is_some() => free_outside(root, settings)?,
                StorePlace::User => {
                    settings.state_directory().and_then(|state| outside(root, &state)).ok_or_else(no_home)?
                }
            };
            create(root, &wanted, settings)?;
            let made = gate::find(root, settings)?;
            (made.ok_or_else(|| Error::new(Code::Io, format!("`{}` is gone", wanted.display())))?, true)
        }
    };
    mend(root, &store)?;
    if store.directory().path().starts_with(root) {
        identity::settle(root, settings)?;
    }
    Ok((store, made))
}

/// Puts back what `git clean` took away around a store.
pub(crate) fn mend(root: &Path, store: &OwnStore) -> Result<()> {
    if store.is_read_only() {
        return Ok(());
    }
    surround(root, store)
        .map_err(|error| Error::io(format!("create the store in `{}`", store.directory().display()), error))
}

fn no_home() -> Error {
    Error::new(Code::Usage, "no home directory is known, so there is no place for a store outside the workspace")
        .with_hint("set HOME or XDG_STATE_HOME, or keep the store in the workspace")
}

/// Makes an empty store. It appears under its name with its identity in it, or not at all: of two processes that make it
/// at once the second finds it made.
fn create(root: &Path, store: &Path, settings: &Settings) -> Result<()> {
    let own = open_own_directory(root, store)?;
    gate::check_empty(&own, store)?;
    let making = make_directory(&own, MAKING, (root, store), settings)?;
    match making.path.rename(&own.join(STORE)) {
        // A directory with something in it is never replaced.
        Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {
            std::fs::remove_dir_all(making.path.path())
        }
        other => other,
    }
    .map_err(|error| Error::io(format!("create the store in `{}`", store.display()), error))
}

/// The directory that will hold the store, made if it is missing.
pub(crate) fn open_own_directory(root: &Path, store: &Path) -> Result<AnchoredPath> {
    let own = own_directory(root, store);
    let failed = |error| Error::io(format!("create the store in `{}`", store.display()), error);
    match std::fs::DirBuilder::new().recursive(!own.starts_with(root)).mode(0o700).create(&own) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    AnchoredPath::open_directory(&own).map_err(failed)
}

/// A directory under a name of its own that is to become a store.
pub(crate) struct Making {
    pub(crate) directory: AnchoredPath,
    pub(crate) path: AnchoredPath,
}

/// Begins a store of the workspace at `root`: a new directory below `own` with an identity, whose name begins with `prefix`.
pub(crate) fn make_directory(
    own: &AnchoredPath,
    prefix: &str,
    (root, store): (&Path, &Path),
    settings: &Settings,
) -> Result<Making> {
    let path = own.join(format!("{prefix}{:016x}", random::number()?));
    let failed = |error| Error::io(format!("create `{}`", path.display()), error);
    path.make_directories().map_err(failed)?;
    let directory = path.anchored().map_err(failed)?;
    identity::give(&directory, store, root, settings)?;
    Ok(Making { directory, path })
}

/// The files around the store that keep Git's hands off it.
fn surround(root: &Path, store: &OwnStore) -> std::io::Result<()> {
    // `git clean` spares what looks like a repository.
    write_if_other(&store.directory().join(".git"), b"gitdir: snapshots\n")?;
    match store.directory().path().starts_with(root) {
        true => {
            let own = AnchoredPath::open_directory(&root.join(OWN_DIRECTORY))?;
            write_if_other(&own.join(".gitignore"), b"*\n")
        }
        false => Ok(()),
    }
}

/// Another text there would let the user's Git publish the store.
fn write_if_other(file: &AnchoredPath, text: &[u8]) -> std::io::Result<()> {
    if file.read(text.len() as u64).is_ok_and(|found| found == text) {
        return Ok(());
    }
    file.remove()?;
    match file.create() {
        Ok(mut opened) => opened.write_all(text),
        // Another process was first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Refuses directories that nobody means to track: `/`, the home directory, and whatever holds it.
pub(crate) fn check_root(root: &Path, settings: &Settings) -> Result<()> {
    let home = settings.home.as_ref().and_then(|home| home.canonicalize().ok());
    let what = match home {
        _ if root.parent().is_none() => "the root of the file system",
        Some(home) if home == root => "your home directory",
        Some(home) if home.starts_with(root) => "a directory above your home directory",
        _ => return Ok(()),
    };
    Err(Error::new(
        Code::WorkspaceRefused,
        format!("`{}` is {what}: tracking it would store everything you have", root.display()),
    )
    .then("go to a project", NextStep::WithDirectory)
    .or("if you mean it, make a store", NextStep::MakeStoreAnywhere)
    .with_details(serde_json::json!({ "root": root.display().to_string() })))
}
