//! Taking over the history of a store that is not ours. A new store is made beside it; snapshots and rows are copied into
//! it, and it takes the old one's place in one step. What could act (journal, settings, keys, open calls, noise rules,
//! triggers) is not copied. The old store is put aside whole, so nothing is lost.

use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use backsight_core::{Code, Error, NextStep, Result, Seq, quote};
use backsight_files::{AnchoredPath, WorkspaceLock};
use rustix::fs::{FileType, Stat};

use crate::gate::{self, OwnStore};
use crate::place;
use crate::report::Adopted;
use crate::settings::Settings;
use crate::timeline;

/// So many bytes of a file may be holes, or compressed by the file system.
const HOLES: u64 = 64 << 20;
/// No timeline is larger.
pub(crate) const MAX_TIMELINE: u64 = 16 << 30;

/// The file of a store that says up to which row its history was adopted.
const ADOPTED: &str = "adopted";

/// The last row that was made by whoever made the store that was adopted; 0 when all of the history is ours.
pub(crate) fn last_adopted(store: &AnchoredPath) -> Result<Seq> {
    let file = store.join(ADOPTED);
    let text = match file.read(32) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seq(0)),
        Err(error) => return Err(Error::io(format!("read `{}`", file.display()), error)),
    };
    let number = std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok());
    // What cannot be read vouches for nothing.
    Ok(Seq(number.unwrap_or(u64::MAX)))
}

/// Notes in a store that is being made up to which row its history is another's.
pub(crate) fn note_adopted(store: &AnchoredPath, last: Seq) -> io::Result<()> {
    let mut file = store.join(ADOPTED).create()?;
    writeln!(file, "{}", last.0)?;
    file.sync_all()
}

/// Makes the store of the workspace at `root` ours.
pub(crate) fn adopt(root: &Path, settings: &Settings) -> Result<Adopted> {
    if let Ok(Some(own)) = gate::find(root, settings) {
        let message = format!("the store in `{}` is yours already", quote(own.directory().display().as_bytes()));
        return Err(Error::new(Code::Usage, message).with_hint("there is nothing to adopt: go on working"));
    }
    if let Some(theirs) = gate::belongs_elsewhere(root, settings) {
        return copy_along(&theirs, root, settings);
    }
    let store = place::candidates(root, settings).into_iter().find(|store| store.symlink_metadata().is_ok());
    let Some(store) = store else {
        return Err(Error::new(Code::WorkspaceNotFound, format!("there is no store in `{}`", root.display()))
            .then("make one", NextStep::MakeStore));
    };
    let failed = |error| Error::io(format!("adopt the store in `{}`", store.display()), error);
    let own = AnchoredPath::open_directory(&place::own_directory(root, &store)).map_err(failed)?;
    gate::make_private(&own, &store)?;
    let theirs = own.join(place::STORE).anchored().map_err(failed)?;
    let aside = own.join(place::SET_ASIDE);
    aside.make_directories().map_err(failed)?;
    // A process of another machine or user may be at work in it.
    let _lock = lock(&theirs, settings)?;
    let making = place::make_directory(&aside.anchored().map_err(failed)?, "", (root, &store), settings)?;
    let taken = take_over(&theirs, &making.directory, &store);
    let (files, bytes, rows) = match taken {
        Ok(taken) => taken,
        Err(error) => {
            // Of what cannot be adopted nothing is kept twice.
            let _ = std::fs::remove_dir_all(making.path.path());
            return Err(error);
        }
    };
    making.path.exchange(&own.join(place::STORE)).map_err(failed)?;
    remove_stage(&own, &making.path).map_err(failed)?;
    if store.starts_with(root) {
        crate::identity::settle(root, settings)?;
    }
    Ok(Adopted {
        store: quote(store.as_os_str().as_encoded_bytes()),
        rows,
        object_files: files,
        object_bytes: bytes,
        set_aside: making.path.display(),
        is_left_in_place: false,
    })
}

/// Gives the directory at `root` a copy of the history of one that had its path. That one may only have been moved: its store
/// stays as it is. A restore that was interrupted there is not carried out here.
fn copy_along(theirs: &OwnStore, root: &Path, settings: &Settings) -> Result<Adopted> {
    let store = place::free_outside(root, settings)?;
    let failed = |error| Error::io(format!("make the store in `{}`", store.display()), error);
    let own = place::open_own_directory(root, &store)?;
    gate::check_empty(&own, &store)?;
    let _lock = lock(theirs.directory(), settings)?;
    let making = place::make_directory(&own, place::MAKING, (root, &store), settings)?;
    let taken = take_over(theirs.directory(), &making.directory, &store)
        .and_then(|taken| making.path.rename(&own.join(place::STORE)).map(|()| taken).map_err(failed));
    let (files, bytes, rows) = match taken {
        Ok(taken) => taken,
        Err(error) => {
            let _ = std::fs::remove_dir_all(making.path.path());
            return Err(error);
        }
    };
    Ok(Adopted {
        store: quote(store.as_os_str().as_encoded_bytes()),
        rows,
        object_files: files,
        object_bytes: bytes,
        set_aside: theirs.directory().display(),
        is_left_in_place: true,
    })
}

/// Keeps others from writing to the old store while it is copied. What stands where its lock belongs may be anything.
fn lock(theirs: &AnchoredPath, settings: &Settings) -> Result<Option<WorkspaceLock>> {
    let file = theirs.join("lock");
    let is_plain = |stat: Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1;
    if !file.stat().is_ok_and(is_plain) {
        return Ok(None);
    }
    let (name, wait) = (&settings.process_name, settings.wait);
    WorkspaceLock::acquire(&file, name, wait, &|_| {}, &*settings.cancelled).map(Some)
}

/// Copies what is taken over into the new store: how many files of objects, their bytes, and how many rows.
fn take_over(theirs: &AnchoredPath, new: &AnchoredPath, store: &Path) -> Result<(u64, u64, u64)> {
    let failed = |error| Error::io(format!("adopt the store in `{}`", store.display()), error);
    let (files, bytes) = copy_objects(theirs, new).map_err(failed)?;
    let rows = copy_rows(theirs, new, store)?;
    Ok((files, bytes, rows))
}

/// Copies packs and loose objects, which are checked against their ids whenever they are read. Returns how many files, and
/// their bytes.
fn copy_objects(from: &AnchoredPath, to: &AnchoredPath) -> io::Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for (name, file) in object_files(from)? {
        let target = object_place(to, &name)?;
        bytes += copy(&file, &target)?;
        files += 1;
    }
    Ok((files, bytes))
}

/// Packs, their indexes and loose objects of a store, by their names below `objects`.
pub(crate) fn object_files(store: &AnchoredPath) -> io::Result<Vec<(String, AnchoredPath)>> {
    let mut found = Vec::new();
    for (directory, kind) in listed(&store.join("snapshots/objects"))? {
        if kind != FileType::Directory {
            continue;
        }
        let outer = directory.file_name().to_string_lossy().into_owned();
        if outer != "pack" && !is_fan_out(&outer) {
            continue;
        }
        for (file, kind) in directory.list()? {
            let name = format!("{outer}/{}", file.file_name().to_string_lossy());
            if kind == FileType::RegularFile && is_object_name(&name) {
                found.push((name, file));
            }
        }
    }
    Ok(found)
}

/// Where a file with objects is to be in a store, whose directory is made.
pub(crate) fn object_place(store: &AnchoredPath, name: &str) -> io::Result<AnchoredPath> {
    let place = store.join("snapshots/objects").join(name);
    if let Some((directory, _)) = name.split_once('/') {
        store.join("snapshots/objects").join(directory).make_directories()?;
    }
    Ok(place)
}

/// A directory's entries; none when it is not a directory at all.
fn listed(directory: &AnchoredPath) -> io::Result<Vec<(AnchoredPath, FileType)>> {
    match directory.list() {
        Err(error) if AnchoredPath::is_in_the_way(&error) => Ok(Vec::new()),
        other => other,
    }
}

fn is_fan_out(name: &str) -> bool {
    name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a name below `objects` is one of a pack, of its index or of a loose object, and so safe to be a path.
pub(crate) fn is_object_name(name: &str) -> bool {
    let Some((directory, name)) = name.split_once('/') else { return false };
    let is_hexadecimal = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if directory != "pack" {
        return is_fan_out(directory) && is_hexadecimal(name, 38);
    }
    let stem = name.strip_suffix(".pack").or_else(|| name.strip_suffix(".idx"));
    stem.and_then(|stem| stem.strip_prefix("pack-")).is_some_and(|stem| is_hexadecimal(stem, 40))
}

fn copy(from: &AnchoredPath, to: &AnchoredPath) -> io::Result<u64> {
    let mut from = from.open()?;
    let found = from.metadata()?;
    // Objects and rows are dense; a file of holes would fill the disk.
    if found.len() > found.blocks().saturating_mul(512).saturating_add(HOLES) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a file in it is mostly holes"));
    }
    let mut to = to.create()?;
    let copied = io::copy(&mut from, &mut to)?;
    to.flush()?;
    to.sync_all()?;
    Ok(copied)
}

/// Copies the rows out of a private copy of the timeline, and notes up to where they are a stranger's. Returns how many.
fn copy_rows(from: &AnchoredPath, to: &AnchoredPath, store: &Path) -> Result<u64> {
    let failed = |error| Error::io(format!("copy the timeline of `{}`", store.display()), error);
    let theirs = to.join("tmp");
    theirs.make_directories().map_err(failed)?;
    for name in ["timeline.db", "timeline.db-wal"] {
        let file = from.join(name);
        match file.look().map_err(failed)? {
            Some(stat) if u64::try_from(stat.st_size).is_ok_and(|size| size <= MAX_TIMELINE) => {
                copy(&file, &theirs.join(name)).map_err(failed)?;
            }
            Some(_) => return Err(failed(io::Error::from(io::ErrorKind::FileTooLarge))),
            None => {}
        }
    }
    if theirs.join("timeline.db").look().map_err(failed)?.is_none() {
        return Ok(0);
    }
    let (rows, last) = timeline::copy_rows(&theirs.join("timeline.db").path(), &to.join("timeline.db"))?;
    note_adopted(to, last).map_err(failed)?;
    for name in ["timeline.db", "timeline.db-wal", "timeline.db-shm"] {
        theirs.join(name).remove().map_err(failed)?;
    }
    Ok(rows)
}

/// What a restore of the old store's had staged goes where the old store went.
fn remove_stage(own: &AnchoredPath, aside: &AnchoredPath) -> io::Result<()> {
    match own.join("stage").look()? {
        Some(_) => own.join("stage").rename(&aside.join("stage")),
        None => Ok(()),
    }
}
