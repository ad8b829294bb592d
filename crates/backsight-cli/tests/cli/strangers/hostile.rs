//! Makes hostile `.backsight` directories: every entry of a real one replaced by something that does not belong there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::Fixture;

/// What an entry is replaced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malice {
    LinkToFile,
    LinkToDirectory,
    LinkToZeros,
    DanglingLink,
    Fifo,
    Device,
    Directory,
    Empty,
    Half,
    Huge,
    Noise,
    ForeignOwner,
    WorldWritable,
    HardLink,
}

pub const ALL: [Malice; 14] = [
    Malice::LinkToFile,
    Malice::LinkToDirectory,
    Malice::LinkToZeros,
    Malice::DanglingLink,
    Malice::Fifo,
    Malice::Device,
    Malice::Directory,
    Malice::Empty,
    Malice::Half,
    Malice::Huge,
    Malice::Noise,
    Malice::ForeignOwner,
    Malice::WorldWritable,
    Malice::HardLink,
];

/// A workspace with two steps and everything a store can hold.
pub fn workspace() -> Fixture {
    let fixture = Fixture::in_memory();
    super::plant_decoys(&fixture);
    fixture.write("a.txt", "one\n");
    fixture.done("track -m one");
    fixture.write("a.txt", "two\n");
    fixture.done("track -m two");
    fixture.done("config set max_files 5000");
    let store = fixture.root().join(".backsight/store");
    for (name, text) in [("server.json", SERVER), ("server.lock", ""), ("lock", "")] {
        private(&store.join(name), text);
    }
    for directory in ["journal", "turns", "tmp", "cache"] {
        fs::create_dir_all(store.join(directory)).unwrap();
        fs::set_permissions(store.join(directory), fs::Permissions::from_mode(0o700)).unwrap();
    }
    private(&store.join("turns/s1"), "3\n");
    fixture
}

/// An address of a stranger's, with a process that lives.
const SERVER: &str =
    r#"{"pid":1,"url":"http://127.0.0.1:9","token":"t","version":"0.1.0","started":0,"ingest_key":"k"}"#;

pub fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Every entry below the workspace's own directory, and the directory itself.
pub fn entries(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from(".backsight")];
    let mut at = 0;
    while at < found.len() {
        let directory = root.join(&found[at]);
        if directory.is_dir() {
            let mut below: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            below.sort();
            found.extend(below.into_iter().map(|name| found[at].join(name)).collect::<Vec<_>>());
        }
        at += 1;
    }
    found
}

/// Replaces `entry`; false where that makes no sense.
pub fn spoil(fixture: &Fixture, entry: &Path, malice: Malice) -> bool {
    let path = here(fixture.root(), entry);
    let home = fixture.home();
    let is_directory = path.is_dir();
    let bytes = fs::read(&path).unwrap_or_default();
    match malice {
        Malice::ForeignOwner => return run("chown", &["65534", path.to_str().unwrap()]),
        Malice::WorldWritable => return run("chmod", &["a+w", path.to_str().unwrap()]),
        Malice::HardLink => return !is_directory && fs::hard_link(&path, home.join("another-name")).is_ok(),
        Malice::Empty | Malice::Half | Malice::Huge | Malice::Noise if is_directory => return false,
        Malice::Directory if is_directory => return false,
        _ => {}
    }
    match is_directory {
        true => fs::remove_dir_all(&path).unwrap(),
        false => fs::remove_file(&path).unwrap(),
    }
    match malice {
        Malice::LinkToFile => symlink(home.join(".bashrc"), &path).unwrap(),
        Malice::LinkToDirectory => symlink(home.join("Documents"), &path).unwrap(),
        Malice::LinkToZeros => symlink("/dev/zero", &path).unwrap(),
        Malice::DanglingLink => symlink(home.join("not-there-yet"), &path).unwrap(),
        Malice::Fifo => return run("mkfifo", &["-m", "600", path.to_str().unwrap()]),
        Malice::Device => return run("mknod", &["-m", "600", path.to_str().unwrap(), "c", "1", "5"]),
        Malice::Directory => {
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        Malice::Empty => private(&path, ""),
        Malice::Half => {
            private(&path, "");
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }
        Malice::Huge => {
            private(&path, "");
            fs::File::options().write(true).open(&path).unwrap().set_len(1 << 36).unwrap();
        }
        Malice::Noise => {
            private(&path, "");
            let noise: Vec<u8> = (0..4096u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
            fs::write(&path, noise).unwrap();
        }
        Malice::ForeignOwner | Malice::WorldWritable | Malice::HardLink => {}
    }
    true
}

/// The entry in this workspace: packs have random names.
fn here(root: &Path, entry: &Path) -> PathBuf {
    let path = root.join(entry);
    if !path.to_string_lossy().contains("pack-") {
        return path;
    }
    let listed = fs::read_dir(path.parent().unwrap()).unwrap().map(|found| found.unwrap().path());
    listed.filter(|found| found.extension() == path.extension()).min().unwrap()
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let done = Command::new(program).args(arguments).output().unwrap();
    assert!(done.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    true
}
