//! The one pack that an export adds to a repository of the user's. It appears whole or not at all.

use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use backsight_core::{ObjectId, Result};

use crate::anchored::AnchoredPath;
use crate::disk::{Disk, DiskFile};
use crate::git_branch::{make_directories, mode_of};
use crate::git_repository::GitRepository;
use crate::object::{self, ObjectKind};
use crate::pack::{PackWriter, entry_start, index_bytes, pack_name, seal_pack};

/// Adds a pack with what `fill` appends to it. On failure nothing of it remains.
pub(crate) fn add_pack(
    disk: &Disk,
    repository: &GitRepository,
    fill: impl FnOnce(&mut PackWriter) -> Result<()>,
) -> Result<()> {
    let failed = |error| repository.failed("write to", error);
    let objects = repository.common_dir().join("objects");
    let directory = objects.join("pack");
    make_directories(disk, &objects, &directory, &mut Vec::new()).map_err(failed)?;
    let files = PackFiles::new(&directory).map_err(failed)?;
    let added = PackWriter::create(disk, &files.temporary_pack.parent(), files.temporary_pack.clone())
        .map_err(failed)
        .and_then(|mut writer| fill(&mut writer).map(|()| writer))
        .and_then(|writer| files.publish(disk, writer, mode_of(&directory).map_err(failed)? & 0o444).map_err(failed));
    if added.is_err() {
        files.remove(disk);
    }
    added
}

/// Appends a blob that does not fit in memory: `copy` writes its `size` bytes.
pub(crate) fn append_blob(
    writer: &mut PackWriter,
    id: &ObjectId,
    size: u64,
    copy: impl FnOnce(&mut dyn Write) -> Result<()>,
    failed: impl Fn(io::Error) -> backsight_core::Error,
) -> Result<()> {
    let mut entry = Entry { output: &mut writer.output, checksum: crc32fast::Hasher::new(), length: 0 };
    entry.write_all(&entry_start(ObjectKind::Blob, size)).map_err(&failed)?;
    let mut encoder = object::encoder(&mut entry);
    copy(&mut encoder)?;
    encoder.finish().map_err(&failed)?;
    let (checksum, length) = (entry.checksum.finalize(), entry.length);
    writer.entries.insert(*id, (checksum, writer.offset));
    writer.offset += length;
    Ok(())
}

/// An entry on its way into a pack, measured as it goes by.
struct Entry<'a> {
    output: &'a mut BufWriter<DiskFile>,
    checksum: crc32fast::Hasher,
    length: u64,
}

impl Write for Entry<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.output.write(bytes)?;
        self.checksum.update(&bytes[..count]);
        self.length += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The names of a pack's two files, while they are written and after.
struct PackFiles {
    temporary_pack: AnchoredPath,
    temporary_index: AnchoredPath,
    pack: AnchoredPath,
    index: AnchoredPath,
}

impl PackFiles {
    fn new(directory: &Path) -> io::Result<Self> {
        let name = pack_name()?;
        let directory = AnchoredPath::open_directory(directory)?;
        Ok(PackFiles {
            // `git gc` removes files of these names, should we be killed.
            temporary_pack: directory.join(format!("tmp_pack_{name}")),
            temporary_index: directory.join(format!("tmp_idx_{name}")),
            pack: directory.join(format!("pack-{name}.pack")),
            index: directory.join(format!("pack-{name}.idx")),
        })
    }

    fn publish(&self, disk: &Disk, writer: PackWriter, mode: u16) -> io::Result<()> {
        let PackWriter { output, entries, .. } = writer;
        output.into_inner().map_err(|error| error.into_error())?;
        let trailer = disk.amend(&self.temporary_pack, |file| {
            file.set_permissions(Permissions::from_mode(mode.into()))?;
            seal_pack(file, entries.len() as u32)
        })?;
        let mut index = disk.create(&self.temporary_index)?;
        index.write_all(&index_bytes(&entries, &trailer))?;
        index.set_mode(mode)?;
        index.sync()?;
        // The index comes last: without it nobody looks for objects in the pack.
        disk.rename(&self.temporary_pack, &self.pack)?;
        disk.rename(&self.temporary_index, &self.index)?;
        disk.sync_directory(&self.pack.parent())
    }

    /// Removes whichever there are. The names are random, so they are nobody else's.
    fn remove(&self, disk: &Disk) {
        for path in [&self.index, &self.pack, &self.temporary_index, &self.temporary_pack] {
            let _ = disk.remove_file(path);
        }
    }
}
