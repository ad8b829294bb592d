//! Where a workspace's server is: a kernel lock that the server holds while it lives, and `server.json` that says how to
//! reach it. The lock decides; a file left behind by a killed server means nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result, Timestamp};
use serde::{Deserialize, Serialize};

/// How to reach a workspace's server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The process.
    pub pid: u32,
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    /// Sent as `Authorization: Bearer ...`.
    pub token: String,
    /// The version of Backsight.
    pub version: String,
    /// Since when.
    pub started: Timestamp,
    /// Lets a page report what happens in it, and opens nothing else.
    #[serde(default)]
    pub ingest_key: String,
}

impl Address {
    /// What to put into a page so that it reports by itself.
    pub fn script_tag(&self) -> String {
        format!("<script src=\"{}/backsight.js?key={}\"></script>", self.url, self.ingest_key)
    }
}

/// The right to be the workspace's server; released by the kernel when the process ends, however it ends.
#[derive(Debug)]
pub struct Seat {
    store: PathBuf,
    _lock: File,
}

impl Seat {
    /// Takes the seat if it is free.
    pub fn take(store: &Path) -> Result<Option<Seat>> {
        let file = lock_file(store)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Seat { store: store.to_owned(), _lock: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::io("lock the server's seat", error)),
        }
    }

    /// Waits until the server that has the seat is gone. Blocks its thread, for ever if need be.
    pub fn wait(store: &Path) -> Result<Seat> {
        let file = lock_file(store)?;
        file.lock().map_err(|error| Error::io("wait for the server's seat", error))?;
        Ok(Seat { store: store.to_owned(), _lock: file })
    }

    /// Tells others how to reach the server.
    pub fn publish(&self, address: &Address) -> Result<()> {
        write(&self.store, address)
    }
}

/// Tells others the key that pages need from now on. For the process that has the seat: it is the one that wrote the rest.
pub fn publish_key(store: &Path, key: &str) -> Result<()> {
    match read(store)? {
        Some(address) if address.pid == std::process::id() => {
            write(store, &Address { ingest_key: key.to_owned(), ..address })
        }
        _ => Ok(()),
    }
}

fn write(store: &Path, address: &Address) -> Result<()> {
    let file = address_file(store);
    let temporary = store.join(format!("server.json.{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        let mut opened = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        opened.write_all(&serde_json::to_vec_pretty(address)?)?;
        std::fs::rename(&temporary, &file)
    };
    write().map_err(|error| Error::io(format!("write `{}`", file.display()), error))
}

impl Drop for Seat {
    fn drop(&mut self) {
        // The lock is still held, so what is there is ours or that of a server that was killed.
        let _ = std::fs::remove_file(address_file(&self.store));
    }
}

/// The address of the server that has the seat now; none when nobody has it.
pub fn find(store: &Path) -> Result<Option<Address>> {
    let file = match File::open(store.join(LOCK)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open the server's lock", error)),
    };
    // Whoever has just taken the seat needs a moment to say where it is.
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(Error::io("look at the server's seat", error)),
            Err(TryLockError::WouldBlock) => {}
        }
        if let Some(address) = read(store)? {
            return Ok(Some(address));
        }
        if Instant::now() > deadline {
            let message = "a server has started in this workspace and does not say where it listens";
            return Err(Error::new(Code::ServerUnreachable, message)
                .with_hint("look for it with `ps aux | grep backsight`, end it and start again"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The same without waiting for a server that is only just starting, and without a word when it cannot be told.
pub fn find_ready(store: &Path) -> Option<Address> {
    let file = File::open(store.join(LOCK)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read(store).ok()?,
        _ => None,
    }
}

const LOCK: &str = "server.lock";

fn lock_file(store: &Path) -> Result<File> {
    let path = store.join(LOCK);
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    opened.map_err(|error| Error::io(format!("open `{}`", path.display()), error))
}

fn address_file(store: &Path) -> PathBuf {
    store.join("server.json")
}

/// What `server.json` says, if its writer still lives; a killed server's file is overwritten by the next one.
fn read(store: &Path) -> Result<Option<Address>> {
    let file = address_file(store);
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(format!("read `{}`", file.display()), error)),
    };
    let address: Option<Address> = serde_json::from_slice(&bytes).ok();
    Ok(address
        .filter(|address| Path::new(&format!("/proc/{}", address.pid)).exists() || !Path::new("/proc/self").exists()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(pid: u32) -> Address {
        let (url, token) = ("http://127.0.0.1:1".to_owned(), "secret".to_owned());
        Address { pid, url, token, version: "0".to_owned(), started: Timestamp(0), ingest_key: "key".to_owned() }
    }

    #[test]
    fn one_has_the_seat_and_the_others_find_it() {
        let store = tempfile::tempdir().unwrap();
        assert_eq!(find(store.path()).unwrap(), None);
        let seat = Seat::take(store.path()).unwrap().unwrap();
        assert!(Seat::take(store.path()).unwrap().is_none());
        seat.publish(&address(std::process::id())).unwrap();
        assert_eq!(find(store.path()).unwrap(), Some(address(std::process::id())));
        drop(seat);
        assert_eq!(find(store.path()).unwrap(), None);
        assert!(Seat::take(store.path()).unwrap().is_some());
    }

    #[test]
    fn what_a_killed_server_left_means_nothing() {
        let store = tempfile::tempdir().unwrap();
        std::fs::write(store.path().join("server.json"), serde_json::to_vec(&address(1)).unwrap()).unwrap();
        std::fs::write(store.path().join(LOCK), "").unwrap();
        assert_eq!(find(store.path()).unwrap(), None);
    }

    #[test]
    fn only_the_owner_may_read_the_token() {
        use std::os::unix::fs::PermissionsExt;
        let store = tempfile::tempdir().unwrap();
        let seat = Seat::take(store.path()).unwrap().unwrap();
        seat.publish(&address(1)).unwrap();
        let mode = store.path().join("server.json").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
