//! Where a workspace's store is, and making it: private, invisible to the user's Git, safe from `git clean`.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use backsight_files::{OWN_DIRECTORY, ObjectKind, object_id};

use crate::request::StorePlace;
use crate::settings::Settings;

/// The store's directory if it exists: inside the workspace, else the user's. Not being allowed to look is an error:
/// a store that cannot be seen is not a store that is not there.
pub(crate) fn find(root: &Path, settings: &Settings) -> Result<Option<PathBuf>> {
    for store in [Some(inside(root)), outside(root, settings)].into_iter().flatten() {
        match fs::metadata(&store) {
            Ok(metadata) if metadata.is_dir() => return Ok(Some(store)),
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(Error::io(format!("look at the store in `{}`", store.display()), error));
            }
            _ => {}
        }
    }
    Ok(None)
}

fn inside(root: &Path) -> PathBuf {
    root.join(OWN_DIRECTORY).join("store")
}

fn outside(root: &Path, settings: &Settings) -> Option<PathBuf> {
    let state = settings.state_home.clone().or_else(|| Some(settings.home.as_ref()?.join(".local/state")))?;
    let key = object_id(ObjectKind::Blob, root.as_os_str().as_encoded_bytes()).ok()?;
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    Some(state.join("backsight").join(format!("{name}-{}", key.short())).join("store"))
}

/// Makes the store, or mends what is missing around it. Says whether it was made.
pub(crate) fn make(root: &Path, place: StorePlace, settings: &Settings) -> Result<(PathBuf, bool)> {
    let existing = find(root, settings)?;
    let store = match (&existing, place) {
        (Some(store), _) => store.clone(),
        (None, StorePlace::Workspace) => inside(root),
        (None, StorePlace::User) => outside(root, settings).ok_or_else(|| {
            Error::new(
                Code::Usage,
                "no home directory is known, so there is no place for a store outside the workspace",
            )
            .with_hint("set HOME or XDG_STATE_HOME, or keep the store in the workspace")
        })?,
    };
    surround(root, &store).map_err(|error| Error::io(format!("create the store in `{}`", store.display()), error))?;
    Ok((store, existing.is_none()))
}

/// The files around the store that keep Git's hands off it.
fn surround(root: &Path, store: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(store)?;
    // `git clean` spares what looks like a repository.
    write_if_missing(&store.join(".git"), b"gitdir: snapshots\n")?;
    match store.starts_with(root) {
        true => write_if_missing(&root.join(OWN_DIRECTORY).join(".gitignore"), b"*\n"),
        false => Ok(()),
    }
}

fn write_if_missing(file: &Path, text: &[u8]) -> std::io::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let opened = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    match opened {
        Ok(mut opened) => opened.write_all(text),
        // Another process was first.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
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
    .with_hint("go to a project with `cd` or `-C DIR`; if you mean it, run `backsight init --any-root`")
    .with_details(serde_json::json!({ "root": root.display().to_string() })))
}
