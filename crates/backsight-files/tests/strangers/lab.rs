//! A workspace to fill with nonsense, and a thread to look at it with.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use backsight_core::{ObjectId, RelPath, Result};
use backsight_files::{
    AnchoredPath, Bounds, Caller, Capture, Disk, Files, Last, ObjectKind, ScanOptions, Seal, Subjects, Surroundings,
    Tree, object_id,
};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine, shorter than what does not end.
const PATIENCE: Duration = Duration::from_secs(120);
/// What tokio gives a thread that may block.
const STACK: usize = 2 << 20;

/// One test's workspace.
pub struct Lab {
    directory: TempDir,
}

impl Lab {
    pub fn new() -> Self {
        let lab = Lab { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(lab.root()).unwrap();
        lab
    }

    pub fn root(&self) -> PathBuf {
        self.path("workspace")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn files(&self) -> Files {
        let store = self.root().join(".backsight/store");
        fs::create_dir_all(&store).unwrap();
        let store = AnchoredPath::open_directory(&store).unwrap();
        Files::open(&self.root(), &store, Seal::new([0; 64]), Disk::new()).unwrap()
    }

    pub fn options(&self) -> ScanOptions {
        let surroundings = Surroundings { home: Some(self.path("home")), config_home: None };
        ScanOptions { surroundings, ..ScanOptions::default() }
    }

    pub fn try_capture(&self, last: Option<Tree>) -> Result<Capture> {
        self.capture_with(&self.options(), last)
    }

    pub fn capture_with(&self, options: &ScanOptions, last: Option<Tree>) -> Result<Capture> {
        let include = BTreeSet::new();
        let last = last.map(|tree| Last { tree, coverage_id: None });
        let subjects = Subjects { options, last: last.as_ref(), include: &include, thorough: false };
        self.files().capture(&subjects, Caller { progress: &|_| {}, cancelled: &|| false })
    }

    pub fn capture(&self) -> Capture {
        self.try_capture(None).unwrap()
    }

    pub fn fifo(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.root()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.path("home")).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Where the store keeps an object by itself.
    pub fn loose(&self, id: &ObjectId) -> PathBuf {
        let hex = id.to_string();
        self.root().join(".backsight/store/snapshots/objects").join(&hex[..2]).join(&hex[2..])
    }

    /// Puts an object into the store as a stranger would: whatever it says.
    pub fn plant(&self, kind: ObjectKind, content: &[u8]) -> ObjectId {
        let id = object_id(kind, content).unwrap();
        let header = format!("{} {}\0", kind.as_str(), content.len());
        self.plant_raw(&id, &deflated(&[header.as_bytes(), content].concat()));
        id
    }

    pub fn plant_raw(&self, id: &ObjectId, bytes: &[u8]) {
        let path = self.loose(id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// A tree with these entries.
    pub fn plant_tree(&self, entries: &[(&str, &str, ObjectId)]) -> ObjectId {
        let lines = entries
            .iter()
            .map(|(mode, name, id)| [mode.as_bytes(), b" ", name.as_bytes(), b"\0", id.as_bytes()].concat());
        self.plant(ObjectKind::Tree, &lines.collect::<Vec<_>>().concat())
    }
}

pub fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Runs on a small stack, and fails instead of waiting for ever.
pub fn bounded<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().stack_size(STACK).spawn(move || sender.send(run())).unwrap();
    receiver.recv_timeout(PATIENCE).expect("it hangs, or it panicked")
}

/// A plan without limits.
pub fn everything() -> Bounds<'static> {
    static NONE: BTreeMap<RelPath, String> = BTreeMap::new();
    Bounds { selection: &[], left: &NONE }
}
