//! What changed, directory by directory, as the system announces it. Linux has inotify; elsewhere nothing is announced, and
//! every capture walks everything.

#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod inotify;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
mod unannounced;

#[cfg(all(target_os = "linux", not(feature = "portable")))]
pub(crate) use inotify::Watcher;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
pub(crate) use unannounced::Watcher;

use crate::platform;

/// Whether a directory is on a file system of this machine alone, whose clock stamps its files.
pub fn is_on_local_file_system(directory: &std::path::Path) -> bool {
    let opened = std::fs::File::open(directory);
    opened.is_ok_and(|opened| platform::is_local(std::os::fd::AsFd::as_fd(&opened)).is_ok_and(|is_local| is_local))
}

/// What was announced since the last time a capture asked.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Directories in which something changed; `true` when everything below them is new or gone.
    pub(crate) dirty: Vec<(Vec<u8>, bool)>,
    /// Why the announcements cannot be relied on.
    pub(crate) doubt: Option<String>,
}
