//! The profile of a browser that was started here and has none of its own. It goes with the browser; what a killed process
//! left behind is removed by the next start. As long as its owner lives, the owner holds a lock in it.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use backsight_core::owned;
use rustix::process::{Pid, test_kill_process};

const PREFIX: &str = "backsight-browser-";
/// Beside what the browser keeps there.
const LOCK: &str = "backsight.lock";
/// In which the browser says who it is: `host-4242`.
const BROWSER: &str = "SingletonLock";
/// So many directories are looked at for what was left behind.
const MOST_LOOKED_AT: usize = 1000;

/// A profile that only this user can look into, for as long as this is kept.
#[derive(Debug)]
pub(crate) struct OwnProfile {
    directory: tempfile::TempDir,
    /// Held as long as the profile is used; the browser does not inherit it.
    _lock: File,
}

impl OwnProfile {
    /// Makes one in a directory for temporary files, and removes what was left behind there.
    pub(crate) fn new(place: &Path) -> io::Result<OwnProfile> {
        sweep(place);
        let mut builder = tempfile::Builder::new();
        let directory = builder.prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(place)?;
        let lock = owned::own(directory.path(), LOCK)?;
        Ok(OwnProfile { directory, _lock: lock })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The directory, which is left to the caller.
    pub(crate) fn into_path(self) -> PathBuf {
        self.directory.keep()
    }
}

/// Removes the profiles that this user's dead processes left behind. What cannot be looked at or removed is left to the next.
pub fn sweep(place: &Path) {
    let named = std::fs::read_dir(place).into_iter().flatten().flatten();
    let named = named.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    for profile in named.take(MOST_LOOKED_AT).map(|entry| entry.path()) {
        if owned::is_left_behind(&profile, LOCK) && !is_in_use(&profile) {
            let _ = std::fs::remove_dir_all(&profile);
        }
    }
}

/// Whether the browser that used it still runs: it ends a moment after its owner.
fn is_in_use(profile: &Path) -> bool {
    let Ok(browser) = std::fs::read_link(profile.join(BROWSER)) else { return false };
    let process = browser.to_str().and_then(|name| name.rsplit_once('-')).and_then(|(_, process)| process.parse().ok());
    process.and_then(Pid::from_raw).is_some_and(|process| test_kill_process(process).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile as a killed process leaves it.
    fn left_behind(place: &Path) -> PathBuf {
        let profile = OwnProfile::new(place).unwrap().into_path();
        std::fs::create_dir(profile.join("Default")).unwrap();
        profile
    }

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_start() {
        let place = tempfile::tempdir().unwrap();
        let left = left_behind(place.path());
        let live = OwnProfile::new(place.path()).unwrap();
        assert!(!left.exists() && live.path().exists());
        sweep(place.path());
        assert!(live.path().join(LOCK).exists(), "its owner lives");
        let (path, next) = (live.path().to_owned(), OwnProfile::new(place.path()).unwrap());
        drop(live);
        assert!(!path.exists() && next.path().exists());
    }

    #[test]
    fn what_is_not_known_to_be_ours_and_dead_stays() {
        let place = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let path = place.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
            path
        };
        let without_lock = made("backsight-browser-old");
        let of_others = made("another-browser-1");
        File::create_new(of_others.join(LOCK)).unwrap();
        let open_to_all = made("backsight-browser-open");
        File::create_new(open_to_all.join(LOCK)).unwrap();
        std::fs::set_permissions(&open_to_all, Permissions::from_mode(0o777)).unwrap();
        let link = place.path().join("backsight-browser-link");
        std::os::unix::fs::symlink(&of_others, &link).unwrap();
        let running = left_behind(place.path());
        std::os::unix::fs::symlink(format!("host-{}", std::process::id()), running.join(BROWSER)).unwrap();
        sweep(place.path());
        for path in [without_lock, of_others, open_to_all, link, running] {
            assert!(std::fs::symlink_metadata(&path).is_ok(), "{}", path.display());
        }
    }
}
