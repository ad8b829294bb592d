//! What systems do differently, in one place: Linux's own calls, and beside each a way that any Unix has. Other systems take
//! the portable way, and so does Linux with the feature `portable`, so that the tests of crashes and restores judge it too.
//! Nothing here decides anything.

#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod linux;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
mod portable;

#[cfg(all(target_os = "linux", not(feature = "portable")))]
pub(crate) use linux::*;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
pub(crate) use portable::*;

use rustix::fs::Stat;

/// How much of a file is in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedPages {
    pub(crate) cached: u64,
    /// Pages whose content is not on its way to the disk yet.
    pub(crate) dirty: u64,
}

/// The number of the device that a file is on.
#[allow(clippy::unnecessary_cast, reason = "the field has another type on other systems")]
pub fn device_of(stat: &Stat) -> u64 {
    stat.st_dev as u64
}

/// The type and the permissions of a file.
#[allow(clippy::useless_conversion, reason = "the field has another type on other systems")]
pub fn mode_of(stat: &Stat) -> u32 {
    u32::from(stat.st_mode)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::MetadataExt;

    use rustix::io::Errno;

    #[test]
    fn a_directory_is_listed_whole_and_no_further_than_asked() {
        let directory = tempfile::tempdir().unwrap();
        let wanted: BTreeSet<Vec<u8>> = (0..500).map(|number| format!("file {number}").into_bytes()).collect();
        for name in &wanted {
            std::fs::write(directory.path().join(str::from_utf8(name).unwrap()), "").unwrap();
        }
        let open = || OwnedFd::from(std::fs::File::open(directory.path()).unwrap());
        let mut listed = BTreeSet::new();
        assert_eq!(super::list(open(), |name, _| listed.insert(name.to_bytes().to_vec())), Ok(true));
        assert_eq!(listed, wanted);
        let mut count = 0;
        let first = |_: &std::ffi::CStr, _| {
            count += 1;
            false
        };
        assert_eq!(super::list(open(), first), Ok(false));
        assert_eq!(count, 1);
        let file = OwnedFd::from(std::fs::File::open(directory.path().join("file 0")).unwrap());
        assert_eq!(super::list(&file, |_, _| true), Err(Errno::NOTDIR));
    }

    /// A file that is written after this moment has a stamp that is not older, whatever the clock's steps.
    #[test]
    fn the_clock_of_files_is_never_ahead_of_their_stamps() {
        let directory = tempfile::tempdir().unwrap();
        for round in 0..200 {
            let before = super::stamping_clock();
            let path = directory.path().join(round.to_string());
            std::fs::write(&path, "x").unwrap();
            let found = std::fs::metadata(&path).unwrap();
            let stamp = (found.mtime(), found.mtime_nsec());
            assert!(stamp >= before, "{stamp:?} is before {before:?}");
        }
    }
}
