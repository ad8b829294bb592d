//! Where a workspace's server is: a kernel lock that the server holds while it lives, and `server.json` that says how to
//! reach it. The lock decides; a file left behind by a killed server means nothing.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use backsight::{AnchoredPath, OwnStore, Seal};
use backsight_core::{Code, Error, Result, Timestamp};
use serde::{Deserialize, Serialize};

use crate::http::Invitation;

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
    /// The file its log is in, when it writes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

impl Address {
    /// Where to connect to: a number, since a name would be looked up elsewhere.
    pub fn socket(&self) -> Option<SocketAddr> {
        self.url.strip_prefix("http://")?.parse().ok()
    }

    /// An address for a person's browser that works once and not for long; `random` cannot be guessed.
    pub fn invite(&self, seal: &Seal, person: &str, now: Timestamp, random: String) -> String {
        let target = Invitation::new(person, now, random).target(seal, &self.start());
        format!("{}{target}", self.url)
    }

    /// What tells this start of a server from every other, with and without the same token.
    pub(crate) fn start(&self) -> String {
        format!("{}\n{}\n{}", self.token, self.pid, self.started.0)
    }

    /// What to put into a page so that it reports by itself.
    pub fn script_tag(&self) -> String {
        format!("<script src=\"{}/backsight.js?key={}\"></script>", self.url, self.ingest_key)
    }
}

/// The right to be the workspace's server; released by the kernel when the process ends, however it ends.
#[derive(Debug)]
pub struct Seat {
    store: OwnStore,
    _lock: File,
}

impl Seat {
    /// Takes the seat if it is free.
    pub fn take(store: &OwnStore) -> Result<Option<Seat>> {
        let file = lock_file(store)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Seat { store: store.clone(), _lock: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::io("lock the server's seat", error)),
        }
    }

    /// Waits until the server that has the seat is gone. Blocks its thread, for ever if need be.
    pub fn wait(store: &OwnStore) -> Result<Seat> {
        let file = lock_file(store)?;
        file.lock().map_err(|error| Error::io("wait for the server's seat", error))?;
        Ok(Seat { store: store.clone(), _lock: file })
    }

    /// Under what this user's processes believe each other.
    pub fn seal(&self) -> &Seal {
        self.store.seal()
    }

    /// Tells others how to reach the server.
    pub fn publish(&self, address: &Address) -> Result<()> {
        write(&self.store, address)
    }
}

/// Tells others the key that pages need from now on. For the process that has the seat: it is the one that wrote the rest.
pub fn publish_key(store: &OwnStore, key: &str) -> Result<()> {
    match read(store)? {
        Some(address) if address.pid == std::process::id() => {
            write(store, &Address { ingest_key: key.to_owned(), ..address })
        }
        _ => Ok(()),
    }
}

fn write(store: &OwnStore, address: &Address) -> Result<()> {
    let file = address_file(store);
    let temporary = store.directory().join(format!("{ADDRESS}.{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        temporary.remove()?;
        temporary.create()?.write_all(&sealed(store, address)?)?;
        temporary.rename(&file)
    };
    write().map_err(|error| Error::io(format!("write `{}`", file.display()), error))
}

/// The address with the code that only this user's processes can make.
fn sealed(store: &OwnStore, address: &Address) -> serde_json::Result<Vec<u8>> {
    let seal = store.seal().code(PURPOSE, &serde_json::to_vec(address)?);
    serde_json::to_vec_pretty(&Sealed { address: address.clone(), seal })
}

impl Drop for Seat {
    fn drop(&mut self) {
        // The lock is still held, so what is there is ours or that of a server that was killed.
        let _ = address_file(&self.store).remove();
    }
}

/// The address of the server that has the seat now; none when no process has it.
pub fn find(store: &OwnStore) -> Result<Option<Address>> {
    let file = match store.directory().join(LOCK).open() {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open the server's lock", error)),
    };
    // A server that has just taken the seat needs a moment to say where it is.
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
pub fn find_ready(store: &OwnStore) -> Option<Address> {
    let file = store.directory().join(LOCK).open().ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read(store).ok()?,
        _ => None,
    }
}

const LOCK: &str = "server.lock";
const ADDRESS: &str = "server.json";
/// What addresses are sealed for.
const PURPOSE: &str = "server";
/// Addresses are small.
const MAX_SIZE: u64 = 64 << 10;

/// An address as it is written, with the code that says who wrote it.
#[derive(Serialize, Deserialize)]
struct Sealed {
    #[serde(flatten)]
    address: Address,
    seal: String,
}

fn lock_file(store: &OwnStore) -> Result<File> {
    let path = store.directory().join(LOCK);
    path.open_or_create().map_err(|error| Error::io(format!("open `{}`", path.display()), error))
}

fn address_file(store: &OwnStore) -> AnchoredPath {
    store.directory().join(ADDRESS)
}

/// What `server.json` says, if a server of this user wrote it and still lives; a killed server's file is overwritten by
/// the next one.
fn read(store: &OwnStore) -> Result<Option<Address>> {
    let file = address_file(store);
    let bytes = match file.read(MAX_SIZE) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(format!("read `{}`", file.display()), error)),
    };
    let lives =
        |address: &Address| Path::new(&format!("/proc/{}", address.pid)).exists() || !Path::new("/proc/self").exists();
    Ok(parse(&bytes, store.seal()).filter(lives))
}

/// The address in the text of a `server.json`: sealed by this user, and of a server that has a number for an address.
pub fn parse(text: &[u8], seal: &Seal) -> Option<Address> {
    let Sealed { address, seal: code } = serde_json::from_slice(text).ok()?;
    let is_sealed = seal.is_code(PURPOSE, &serde_json::to_vec(&address).ok()?, &code);
    (is_sealed && address.socket().is_some()).then_some(address)
}

#[cfg(test)]
mod tests {
    use backsight::request::Init;
    use backsight::{Settings, Workspace};
    use tempfile::TempDir;

    use super::*;

    fn address(pid: u32) -> Address {
        let (url, token) = ("http://127.0.0.1:1".to_owned(), "secret".to_owned());
        Address {
            pid,
            url,
            token,
            version: "0".to_owned(),
            started: Timestamp(0),
            ingest_key: "key".to_owned(),
            log: None,
        }
    }

    fn store() -> (TempDir, OwnStore) {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { state_home: Some(directory.path().join("state")), ..Settings::from_environment() };
        let root = directory.path().join("workspace");
        std::fs::create_dir(&root).unwrap();
        let workspace = Workspace::open_with(root, settings).unwrap();
        workspace.init(&Init::default()).unwrap();
        let store = workspace.store().unwrap().unwrap();
        (directory, store)
    }

    fn publish(store: &OwnStore, text: &[u8]) {
        address_file(store).remove().unwrap();
        address_file(store).create().unwrap().write_all(text).unwrap();
    }

    #[test]
    fn one_has_the_seat_and_the_others_find_it() {
        let (_directory, store) = store();
        assert_eq!(find(&store).unwrap(), None);
        let seat = Seat::take(&store).unwrap().unwrap();
        assert!(Seat::take(&store).unwrap().is_none());
        seat.publish(&address(std::process::id())).unwrap();
        assert_eq!(find(&store).unwrap(), Some(address(std::process::id())));
        drop(seat);
        assert_eq!(find(&store).unwrap(), None);
        assert!(Seat::take(&store).unwrap().is_some());
    }

    #[test]
    fn what_a_killed_server_left_means_nothing() {
        let (_directory, store) = store();
        let seat = Seat::take(&store).unwrap().unwrap();
        let left = sealed(&store, &address(1)).unwrap();
        drop(seat);
        publish(&store, &left);
        assert_eq!(find(&store).unwrap(), None);
    }

    #[test]
    fn an_address_that_this_user_did_not_write_is_not_believed() {
        let (_directory, store) = store();
        let _seat = Seat::take(&store).unwrap().unwrap();
        let written = sealed(&store, &address(std::process::id())).unwrap();
        publish(&store, &written);
        assert!(find_ready(&store).is_some());
        let text = String::from_utf8(written).unwrap();
        let unsealed = serde_json::to_string(&address(std::process::id())).unwrap();
        for forged in [text.replace("127.0.0.1:1", "127.0.0.1:2"), text.replace("secret", "other"), unsealed] {
            publish(&store, forged.as_bytes());
            assert_eq!(find_ready(&store), None, "{forged}");
        }
        for url in
            ["http://example.org:80", "http://localhost:1", "https://127.0.0.1:1", "http://127.0.0.1:1@example.org"]
        {
            let forged = sealed(&store, &Address { url: url.to_owned(), ..address(std::process::id()) }).unwrap();
            publish(&store, &forged);
            assert_eq!(find_ready(&store), None, "{url}");
        }
    }

    #[test]
    fn only_the_owner_may_read_the_token() {
        let (_directory, store) = store();
        let seat = Seat::take(&store).unwrap().unwrap();
        seat.publish(&address(1)).unwrap();
        assert_eq!(address_file(&store).stat().unwrap().st_mode & 0o777, 0o600);
    }
}
