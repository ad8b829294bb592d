//! Moving a whole store: into one file, and out of one on another machine. What is imported is adopted: rows and objects
//! are taken, nothing that acts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result, quote};
use backsight_files::{AnchoredPath, WorkspaceLock};

use super::Workspace;
use crate::adopt::{note_adopted, object_files, object_place};
use crate::archive::{ArchiveReader, ArchiveWriter, Next, PartName, TIMELINE};
use crate::place;
use crate::random;
use crate::report::{ExportedStore, ImportedStore};
use crate::request::Init;
use crate::timeline;

impl Workspace {
    /// Writes the whole history into one new file, which [`Workspace::import_store`] reads. The file appears whole or not
    /// at all.
    pub fn export_store(&self, file: &Path) -> Result<ExportedStore> {
        if self.store_path()?.is_none() {
            return Err(Error::new(Code::WorkspaceNotFound, "nothing is recorded here, so there is nothing to export")
                .then("record something first", NextStep::RecordFiles));
        }
        let name = quote(file.as_os_str().as_encoded_bytes());
        if fs::symlink_metadata(file).is_ok() {
            return Err(Error::new(Code::Usage, format!("`{name}` exists already"))
                .with_hint("name a new file, or remove that one first"));
        }
        let opened = self.opened()?;
        let is_read_only = opened.store.is_read_only();
        // Holding the lock keeps everything from being written, joined or removed meanwhile.
        let _writing = if is_read_only { None } else { Some(self.writing()?) };
        let store = opened.store.directory();
        check_objects(store)?;
        // Beside the new file: the store may be on a disk without room, or where nothing can be written.
        let partial = beside(file)?;
        let rows = Scratch::of(&partial)?;
        let recorded = match is_read_only {
            true => rows.whole(&opened.timeline)?,
            false => store.join("timeline.db").path(),
        };
        let (count, _) = timeline::copy_rows(&recorded, &rows.file())?;
        let failed = |error| Error::io(format!("write `{name}`"), error);
        let written = write(&partial, &rows.file(), store).and_then(|written| {
            publish(&partial, file)?;
            Ok(written)
        });
        let (sha256, bytes, object_files) = written.map_err(|error| {
            let _ = fs::remove_file(&partial);
            failed(error)
        })?;
        Ok(ExportedStore { file: name, bytes, sha256, rows: count, object_files })
    }

    /// Takes the history out of a file that [`Workspace::export_store`] wrote. The workspace must have none yet. The store
    /// appears whole, after everything in the file was checked, or not at all.
    pub fn import_store(&self, file: &Path) -> Result<ImportedStore> {
        place::check_root(&self.root, &self.settings)?;
        if place::is_taken(&self.root, &self.settings) {
            let message = format!("`{}` has a history already", self.root.display());
            return Err(Error::new(Code::Usage, message)
                .then("import it into a directory without one", NextStep::ImportElsewhere));
        }
        crate::gate::check_free(&self.root)?;
        let name = quote(file.as_os_str().as_encoded_bytes());
        let mut reader = ArchiveReader::new(open_plain(file)?, &name)?;
        let store = place::candidates(&self.root, &self.settings).swap_remove(0);
        let own = place::open_own_directory(&self.root, &store)?;
        crate::gate::check_empty(&own, &store)?;
        let failed = |error| Error::io(format!("import `{name}` into `{}`", store.display()), error);
        self.remove_abandoned(&own).map_err(failed)?;
        let making = place::make_directory(&own, place::MAKING, (&self.root, &store), &self.settings)?;
        let taken = self.fill(&mut reader, &making.directory).and_then(|taken| {
            making.path.rename(&own.join(place::STORE)).map_err(failed)?;
            Ok(taken)
        });
        let (rows, object_files, object_bytes) = taken.inspect_err(|_| {
            // Of what cannot be imported nothing is kept.
            let _ = fs::remove_dir_all(making.path.path());
        })?;
        self.init(&Init::default())?;
        let store = quote(store.as_os_str().as_encoded_bytes());
        Ok(ImportedStore { store, rows, object_files, object_bytes })
    }

    /// Fills a store that is being made: how many rows, files of objects, and bytes of those.
    fn fill(&self, reader: &mut ArchiveReader<File>, new: &AnchoredPath) -> Result<(u64, u64, u64)> {
        let failed = |error| Error::io("write the imported store", error);
        let _lock = self.hold(new)?;
        let theirs = new.join("tmp");
        theirs.make_directories().map_err(failed)?;
        let (mut files, mut bytes) = (0, 0);
        while let Next::Part { name, size } = reader.next()? {
            let place = match &name {
                PartName::Timeline => theirs.join(TIMELINE),
                PartName::Objects(name) => object_place(new, name).map_err(failed)?,
            };
            let mut output = place.create().map_err(failed)?;
            reader.copy(size, &mut output)?;
            output.sync_all().map_err(failed)?;
            if name != PartName::Timeline {
                (files, bytes) = (files + 1, bytes + size);
            }
        }
        let rows = match theirs.join(TIMELINE).look().map_err(failed)? {
            Some(_) => {
                let (rows, last) = timeline::copy_rows(&theirs.join(TIMELINE).path(), &new.join("timeline.db"))?;
                note_adopted(new, last).map_err(failed)?;
                rows
            }
            None => 0,
        };
        for name in [TIMELINE, "timeline.db-wal", "timeline.db-shm"] {
            theirs.join(name).remove().map_err(failed)?;
        }
        Ok((rows, files, bytes))
    }

    /// Marks a store that is being made as one that a living process makes.
    fn hold(&self, making: &AnchoredPath) -> Result<WorkspaceLock> {
        let settings = &self.settings;
        WorkspaceLock::acquire(
            &making.join("lock"),
            &settings.process_name,
            settings.wait,
            &|_| {},
            &*settings.cancelled,
        )
    }

    /// Removes what an import that was killed had begun. One that is under way holds its lock.
    fn remove_abandoned(&self, own: &AnchoredPath) -> io::Result<()> {
        for (path, _) in own.list()? {
            let is_making = path.file_name().to_string_lossy().starts_with(place::MAKING);
            if !is_making || path.join("lock").look()?.is_none() {
                continue;
            }
            let lock = WorkspaceLock::acquire(&path.join("lock"), "", Duration::ZERO, &|_| {}, &|| false);
            if lock.is_ok() {
                fs::remove_dir_all(path.path())?;
            }
        }
        Ok(())
    }
}

/// The rows to be exported, in a file of their own, which goes when it was read.
struct Scratch {
    path: PathBuf,
    directory: AnchoredPath,
}

impl Scratch {
    /// In a private directory beside `partial`.
    fn of(partial: &Path) -> Result<Self> {
        let path = partial.with_extension("rows");
        let failed = |error| Error::io(format!("write `{}`", quote(path.as_os_str().as_encoded_bytes())), error);
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        let directory = AnchoredPath::open_directory(&path).map_err(failed)?;
        Ok(Scratch { path, directory })
    }

    fn file(&self) -> AnchoredPath {
        self.directory.join("export.db")
    }

    /// A copy of a whole timeline of which no copy can be made where it is.
    fn whole(&self, timeline: &timeline::Timeline) -> Result<PathBuf> {
        let whole = self.path.join("whole.db");
        timeline.copy_whole(&whole)?;
        Ok(whole)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The digest, the bytes, and how many files with objects.
fn write(file: &Path, rows: &AnchoredPath, store: &AnchoredPath) -> io::Result<(String, u64, u64)> {
    let output = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    let mut writer = ArchiveWriter::new(output)?;
    let mut add = |name: &str, file: &AnchoredPath| {
        let source = file.open()?;
        let size = source.metadata()?.len();
        writer.add(name, size, source)
    };
    add(TIMELINE, rows)?;
    let objects = object_files(store)?;
    for (name, file) in &objects {
        add(name, file)?;
    }
    let (output, sha256, bytes) = writer.finish()?;
    output.sync_all()?;
    Ok((sha256, bytes, objects.len() as u64))
}

/// Refuses to carry along what is not what its name says, which may also be without end.
fn check_objects(store: &AnchoredPath) -> Result<()> {
    let failed = |error| Error::io("look at the store's objects", error);
    for (name, file) in object_files(store).map_err(failed)? {
        let mut start = Vec::new();
        file.open().and_then(|file| file.take(4).read_to_end(&mut start)).map_err(failed)?;
        let is_right = match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("pack") => start == *b"PACK",
            Some("idx") => start == *b"\xfftOc",
            // Deflated, as everything loose is.
            _ => start.first().is_some_and(|byte| byte & 0x0f == 8),
        };
        if !is_right {
            let message = format!("`{}` in the store is damaged", quote(name.as_bytes()));
            return Err(Error::new(Code::Damaged, message)
                .then("nothing was exported: see what else is damaged", NextStep::VerifyStore));
        }
    }
    Ok(())
}

/// A new name in the same directory.
fn beside(file: &Path) -> Result<PathBuf> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}.partial", random::number()?));
    Ok(file.with_file_name(name))
}

/// Gives the file its name, never over another: one that was made meanwhile stays.
fn publish(partial: &Path, file: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, partial, CWD, file, RenameFlags::NOREPLACE) {
        // Not every file system can promise that.
        Err(rustix::io::Errno::INVAL) if !file.exists() => fs::rename(partial, file)?,
        other => other?,
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

/// A regular file: anything else could be waited for without end.
fn open_plain(file: &Path) -> Result<File> {
    let name = quote(file.as_os_str().as_encoded_bytes());
    let failed = |error| Error::io(format!("read `{name}`"), error);
    if !fs::metadata(file).map_err(failed)?.is_file() {
        return Err(
            Error::new(Code::Usage, format!("`{name}` is not a file")).with_hint("name a file that an export wrote")
        );
    }
    File::open(file).map_err(failed)
}
