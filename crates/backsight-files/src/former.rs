//! What a new file takes over from the one it replaces: owner, group, access control list, extended attributes. What
//! replaces nothing gets the owner, the group and the lists that its snapshot says it had, and never what its directory
//! gives to new files. Where something cannot be given, permissions are narrowed rather than handed to others.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use backsight_core::RelPath;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use crate::access::{Access, AccessList, Holder, needs_holder};
use crate::disk::DiskFile;
use crate::observe::{open_file, stamp};
use crate::platform;
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
}

impl Former {
    /// Looks at a path below `root`, through no symlink, for a file of which its snapshot says `access`.
    pub(crate) fn at(root: &OwnedFd, path: &RelPath, access: Access) -> io::Result<Former> {
        let directory = match open_below(root, path.parent()) {
            Ok(directory) => directory,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Former::gone(access)),
            Err(error) => return Err(error.into()),
        };
        let is_file = |stat: &rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if stamp(directory.as_fd(), path.name())?.as_ref().is_some_and(is_file) {
            let file = open_file(directory.as_fd(), path.name())?;
            let metadata = file.metadata()?;
            let mut attributes = attributes_of(&file)?;
            // One that it lost since.
            if !attributes.iter().any(|(name, _)| name == ACCESS_LIST) {
                attributes.extend(Former::gone(access).attributes.into_iter().filter(|(name, _)| name == ACCESS_LIST));
            }
            return Ok(Former { uid: Some(metadata.uid()), gid: Some(metadata.gid()), attributes });
        }
        let mut former = Former::gone(access);
        let metadata = File::from(directory).metadata()?;
        if former.gid.is_none() && metadata.mode() & 0o2000 != 0 {
            former.gid = Some(metadata.gid());
        }
        Ok(former)
    }

    /// What is not there any more, as its snapshot has it.
    pub(crate) fn gone(access: Access) -> Former {
        let Some(holder) = access.holder() else { return Former::default() };
        // The list of a directory itself comes last: it changes the bits by which a recovery knows one that is not finished.
        let lists = [(DEFAULT_LIST, &holder.inherited), (ACCESS_LIST, &holder.list)];
        let lists = lists.into_iter().filter_map(|(name, list)| Some((name.to_vec(), list.as_ref()?.to_kernel())));
        Former { uid: Some(holder.uid), gid: Some(holder.gid), attributes: lists.collect() }
    }

    /// Gives all of it to a new file or directory that is to have these permissions, which must be set after this.
    pub(crate) fn give_to(&self, file: &DiskFile, mode: u16) -> io::Result<Given> {
        let mut given = Given { mode, unkept: Vec::new() };
        self.give_owner(file, &mut given)?;
        let present = attributes_of(file.file())?;
        // What a directory gives to all that is made in it is not what this one had.
        for list in [ACCESS_LIST, DEFAULT_LIST] {
            let has = |attributes: &[Attribute]| attributes.iter().any(|(name, _)| name == list);
            if has(&present) && !has(&self.attributes) {
                file.set_attribute(list, None)?;
            }
        }
        for attribute in self.attributes.iter().filter(|attribute| !present.contains(attribute)) {
            let (name, value) = attribute;
            if MADE_FROM_CONTENT.contains(&name.as_slice()) {
                continue;
            }
            match file.set_attribute(name, Some(value)) {
                Ok(()) => {}
                Err(error) if is_refused(&error) => {
                    given.unkept.push(format!("its attribute `{}`: {error}", String::from_utf8_lossy(name)));
                    if name == ACCESS_LIST {
                        given.mode = without_list(given.mode, value);
                    }
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

/// The permissions of a file without its list: the bits that were its mask would be the group's own.
fn without_list(mode: u16, list: &[u8]) -> u16 {
    let group = AccessList::from_kernel(list).map_or(0, |list| list.of_group(mode >> 3 & 0o7));
    mode & !0o070 | group << 3
}

/// Whom the permissions of an open file or directory are for. Nothing where the bits say all of it.
pub(crate) fn access_of(file: &File, mode: u16) -> io::Result<Access> {
    let names = match list(file) {
        Ok(names) => names,
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let read = |wanted: &[u8]| match names.iter().any(|name| name == wanted) {
        true => Ok::<_, io::Error>(value_of(file, wanted)?.and_then(|value| AccessList::from_kernel(&value))),
        false => Ok(None),
    };
    let (list, inherited) = (read(ACCESS_LIST)?, read(DEFAULT_LIST)?);
    if list.is_none() && inherited.is_none() && !needs_holder(mode) {
        return Ok(Access::default());
    }
    let metadata = file.metadata()?;
    Ok(Access::new(Holder { uid: metadata.uid(), gid: metadata.gid(), list, inherited }))
}

/// The same for a name in a directory. Nothing, too, where it cannot be looked at.
pub(crate) fn access_at(directory: BorrowedFd<'_>, name: &[u8], mode: u16) -> Access {
    match has_lists(directory, name) {
        Some(false) if !needs_holder(mode) => return Access::default(),
        Some(false) => {
            let Ok(stat) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
                return Access::default();
            };
            return Access::new(Holder { uid: stat.st_uid, gid: stat.st_gid, list: None, inherited: None });
        }
        _ => {}
    }
    open_file(directory, name).and_then(|file| access_of(&file, mode)).unwrap_or_default()
}

/// Whether it has any lists, without opening it. Nothing when that cannot be said.
fn has_lists(directory: BorrowedFd<'_>, name: &[u8]) -> Option<bool> {
    let attributes = platform::attributes_of(directory, name)?;
    Some(attributes.split(|&byte| byte == 0).any(|name| name == ACCESS_LIST || name == DEFAULT_LIST))
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
