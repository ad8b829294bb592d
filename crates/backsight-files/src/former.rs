//! What a new file takes over from the one it replaces: owner, group, access control list, extended attributes. A file
//! that replaces none gets what its directory gives to new files. Where something cannot be given, permissions are
//! narrowed rather than handed to others.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use backsight_core::RelPath;
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::disk::DiskFile;
use crate::observe::{open_file, stamp};
use crate::scan::open_below;

/// The access control list of a file, as the kernel names it.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// The list that a directory gives to new files.
const DEFAULT_LIST: &[u8] = b"system.posix_acl_default";
/// Made by the kernel from the content they belong to.
const MADE_FROM_CONTENT: [&[u8]; 2] = [b"security.ima", b"security.evm"];

/// An extended attribute and its value.
type Attribute = (Vec<u8>, Vec<u8>);

/// What stands at a path before a file comes there.
#[derive(Default)]
pub(crate) struct Former {
    uid: Option<u32>,
    gid: Option<u32>,
    attributes: Vec<Attribute>,
}

/// What a new file was given.
pub(crate) struct Given {
    /// The permissions it may have.
    pub(crate) mode: u16,
    /// What it could not be given, in words.
    pub(crate) unkept: Vec<String>,
    /// The group that may do with it what others may not, where the file replaces none: of a file that was gone, no
    /// snapshot holds the group or the access control list that these permissions were for.
    pub(crate) new_group: Option<u32>,
}

impl Former {
    /// Looks at a path below `root`, through no symlink.
    pub(crate) fn at(root: &OwnedFd, path: &RelPath) -> io::Result<Former> {
        let directory = match open_below(root, path.parent()) {
            Ok(directory) => directory,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Former::default()),
            Err(error) => return Err(error.into()),
        };
        let is_file = |stat: &rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if stamp(directory.as_fd(), path.name())?.as_ref().is_some_and(is_file) {
            let file = open_file(directory.as_fd(), path.name())?;
            let metadata = file.metadata()?;
            let attributes = attributes_of(&file)?;
            return Ok(Former { uid: Some(metadata.uid()), gid: Some(metadata.gid()), attributes });
        }
        let directory = File::from(directory);
        let metadata = directory.metadata()?;
        let list = value_of(&directory, DEFAULT_LIST)?.map(|value| (ACCESS_LIST.to_vec(), value));
        let gid = (metadata.mode() & 0o2000 != 0).then_some(metadata.gid());
        Ok(Former { uid: None, gid, attributes: list.into_iter().collect() })
    }

    /// Gives all of it to a new file that is to have these permissions, which must be set after this.
    pub(crate) fn give_to(&self, file: &DiskFile, mode: u16) -> io::Result<Given> {
        let mut given = Given { mode, unkept: Vec::new(), new_group: None };
        self.give_owner(file, &mut given)?;
        if self.uid.is_none() && is_for_a_group(mode) {
            given.new_group = Some(file.file().metadata()?.gid());
        }
        let present = attributes_of(file.file())?;
        // What the directory of the stage gives to new files is not what the file's own directory gives.
        if present.iter().any(|(name, _)| name == ACCESS_LIST)
            && !self.attributes.iter().any(|(name, _)| name == ACCESS_LIST)
        {
            file.set_attribute(ACCESS_LIST, None)?;
        }
        for attribute in self.attributes.iter().filter(|attribute| !present.contains(attribute)) {
            let (name, value) = attribute;
            if MADE_FROM_CONTENT.contains(&name.as_slice()) {
                continue;
            }
            match file.set_attribute(name, Some(value)) {
                Ok(()) => {}
                // Without its list the bits that were its mask would be the group's own.
                Err(error) if name == ACCESS_LIST => return Err(error),
                Err(error) if is_refused(&error) => {
                    given.unkept.push(format!("its attribute `{}`: {error}", String::from_utf8_lossy(name)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(given)
    }

    /// Only a privileged process can give a file away, and only to a group of its own anyone else.
    fn give_owner(&self, file: &DiskFile, given: &mut Given) -> io::Result<()> {
        let metadata = file.file().metadata()?;
        let uid = self.uid.filter(|uid| *uid != metadata.uid());
        let gid = self.gid.filter(|gid| *gid != metadata.gid());
        if (uid, gid) == (None, None) {
            return Ok(());
        }
        match file.set_owner(uid, gid) {
            Ok(()) => return Ok(()),
            Err(error) if is_refused(&error) => {}
            Err(error) => return Err(error),
        }
        if let Some(uid) = uid {
            given.mode &= !0o4000;
            given.unkept.push(format!("its owner {uid}: it belongs to {} now", metadata.uid()));
        }
        let Some(gid) = gid else { return Ok(()) };
        match file.set_owner(None, Some(gid)) {
            Ok(()) => {}
            Err(error) if is_refused(&error) => {
                // Another group must not get what was this one's: no more than everybody has.
                given.mode &= !0o2070 | (given.mode & 0o007) << 3;
                given.unkept.push(format!("its group {gid}: it belongs to the group {} now", metadata.gid()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Whether a group may do something with a file of which others may do nothing.
fn is_for_a_group(mode: u16) -> bool {
    mode & 0o070 != 0 && mode & 0o007 == 0
}

/// Whether the system does not allow it, here or for this user.
fn is_refused(error: &io::Error) -> bool {
    let refused = [Errno::PERM, Errno::ACCESS, Errno::OPNOTSUPP, Errno::INVAL];
    error.raw_os_error().is_some_and(|found| refused.iter().any(|errno| errno.raw_os_error() == found))
}

fn attributes_of(file: &File) -> io::Result<Vec<Attribute>> {
    let mut names = match list(file) {
        Ok(names) => names,
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    names.sort();
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        if let Some(value) = value_of(file, &name)? {
            found.push((name, value));
        }
    }
    Ok(found)
}

fn list(file: &File) -> Result<Vec<Vec<u8>>, Errno> {
    let mut buffer = vec![0; 256];
    loop {
        match rustix::fs::flistxattr(file, &mut buffer[..]) {
            Ok(length) => {
                let names = buffer[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty());
                return Ok(names.map(<[u8]>::to_vec).collect());
            }
            Err(Errno::RANGE) => buffer.resize(buffer.len() * 4, 0),
            Err(error) => return Err(error),
        }
    }
}

/// An attribute's value; nothing when there is none, or it is not for us to read.
fn value_of(file: &File, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut buffer = vec![0; 256];
    loop {
        match rustix::fs::fgetxattr(file, name, &mut buffer[..]) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(Some(buffer));
            }
            Err(Errno::RANGE) => buffer.resize(buffer.len() * 4, 0),
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}
