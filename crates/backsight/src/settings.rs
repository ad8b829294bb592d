//! What a workspace takes from its surroundings, so that nothing else in the library reads the environment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use backsight_core::Timestamp;
use backsight_files::Disk;

/// What long work reports while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process holds the workspace.
    Waiting {
        /// Who: `backsight track (pid 12)`.
        holder: String,
    },
    /// Something the user should know that is no part of the answer, such as what an interrupted restore left.
    Noted {
        /// In words.
        message: String,
    },
    /// Directories are being walked.
    Scanning {
        /// Files seen so far.
        files: u64,
    },
    /// Contents are being read and stored.
    Storing {
        /// Files done.
        files_done: u64,
        /// Files to do.
        files_total: u64,
        /// Bytes done.
        bytes_done: u64,
        /// Bytes to do.
        bytes_total: u64,
    },
    /// Files are being put back.
    Applying {
        /// Steps done.
        done: u64,
        /// Steps to do.
        total: u64,
    },
    /// The step that broke something is being looked for.
    Bisecting {
        /// On which steps' files the check runs now: `#12`.
        steps: String,
        /// Runs that are over.
        runs: u64,
        /// How many steps can still be the one.
        remaining: u64,
    },
    /// Objects are being checked.
    Verifying {
        /// Objects done.
        done: u64,
        /// Objects to do.
        total: u64,
    },
}

/// A workspace's surroundings.
#[derive(Clone)]
pub struct Settings {
    /// The user's home directory, from the root: never a workspace, and where global Git ignore rules live.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// `$XDG_STATE_HOME`: where stores outside the workspace are put.
    pub state_home: Option<PathBuf>,
    /// Where programs are looked for: the directories of `$PATH`.
    pub search_path: Vec<PathBuf>,
    /// How long to wait for another process.
    pub wait: Duration,
    /// What others who wait are told this process is.
    pub process_name: String,
    /// Told about long work.
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
    /// Asked now and then during long work: once it says yes the work ends with `CANCELLED`, and nothing was recorded and
    /// no file changed. Files that are being put back are put back to the end.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The time.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// The disk; tests hand in one that stops.
    pub disk: Disk,
}

/// What one call of many wants of its own; what it does not name is as in the workspace's settings.
#[derive(Clone, Default)]
pub struct CallSettings {
    /// How long to wait for another process.
    pub wait: Option<Duration>,
    /// Told about long work.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// Asked now and then whether the answer is still wanted.
    pub cancelled: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Settings {
    /// Everything from the process's environment.
    #[expect(clippy::disallowed_methods, reason = "the one place in the library that looks around")]
    pub fn from_environment() -> Self {
        // A relative directory would be another one in every workspace, and so the workspace's choice.
        let directory = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Settings {
            home: directory("HOME"),
            config_home: directory("XDG_CONFIG_HOME"),
            state_home: directory("XDG_STATE_HOME"),
            search_path: std::env::var_os("PATH")
                .map_or_else(Vec::new, |path| std::env::split_paths(&path).filter(|path| path.is_absolute()).collect()),
            wait: Duration::from_secs(60),
            process_name: "backsight".to_owned(),
            progress: Arc::new(|_| {}),
            cancelled: Arc::new(|| false),
            clock: Arc::new(|| Timestamp::from_system(SystemTime::now())),
            disk: Disk::new(),
        }
    }

    /// Every directory in which something of ours that concerns all workspaces may lie, first choice first. The home
    /// directory comes before `$XDG_STATE_HOME`: clients start servers with `HOME` and without the rest of the user's
    /// environment, and both must agree on where the user's stores are.
    pub(crate) fn state_directories(&self) -> Vec<PathBuf> {
        let home = self.home.as_ref().map(|home| home.join(".local/state"));
        let mut found: Vec<PathBuf> =
            [home, self.state_home.clone()].into_iter().flatten().map(|state| state.join("backsight")).collect();
        found.dedup();
        found
    }

    /// Where what concerns all workspaces of the user is kept; none when no home directory is known.
    pub fn state_directory(&self) -> Option<PathBuf> {
        self.state_directories().into_iter().next()
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) fn report(&self, progress: Progress) {
        (self.progress)(progress);
    }
}
