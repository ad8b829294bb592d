//! One writer per workspace: a kernel lock that dies with its process. The file's text only says who holds it.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, NextStep, Result};

use crate::anchored::AnchoredPath;

/// How often whoever waits is asked whether it still does.
const ASKED_EVERY: Duration = Duration::from_millis(20);

/// The right to change a workspace, given back when dropped.
#[derive(Debug)]
pub struct WorkspaceLock {
    file: File,
}

impl WorkspaceLock {
    /// Takes the lock in `path`. When another process holds it, `waiting` is told who, and after `wait` it is an error;
    /// so it is as soon as `cancelled` says that nobody waits for it any more.
    pub fn acquire(
        path: &AnchoredPath,
        who: &str,
        wait: Duration,
        waiting: &dyn Fn(&str),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let failed = |error| Error::io(format!("lock `{}`", path.display()), error);
        let file = path.open_or_create().map_err(failed)?;
        let mut file = match file.try_lock() {
            Ok(()) => file,
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
            Err(std::fs::TryLockError::WouldBlock) => {
                let holder = read_holder(path);
                waiting(&holder);
                match wait_for(file, wait, cancelled) {
                    Some(taken) => taken.map_err(failed)?,
                    None if cancelled() => return Err(crate::scan::cancelled()),
                    None => return Err(busy(&holder, wait)),
                }
            }
        };
        let text = format!("{who} (pid {})\n", std::process::id());
        // Who holds the lock is a courtesy to others; failing to say so is no reason to stop.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        Ok(WorkspaceLock { file })
    }
}

impl Drop for WorkspaceLock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Blocks in a thread of its own, since the system has no lock with a time limit. If nobody waits any more when the
/// lock comes, the thread drops it again.
fn wait_for(file: File, wait: Duration, cancelled: &dyn Fn() -> bool) -> Option<std::io::Result<File>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let locked = file.lock().map(|()| file);
        // The receiver is gone when the time was up: dropping the file gives the lock back.
        drop(sender.send(locked));
    });
    let until = Instant::now() + wait;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left.min(ASKED_EVERY)) {
            Ok(locked) => return Some(locked),
            Err(_) if left <= ASKED_EVERY || cancelled() => return None,
            Err(_) => {}
        }
    }
}

fn read_holder(path: &AnchoredPath) -> String {
    let mut text = String::new();
    let read = path.open().and_then(|file| file.take(200).read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => backsight_core::quote(text.trim().as_bytes()),
        _ => "another process".to_owned(),
    }
}

fn busy(holder: &str, wait: Duration) -> Error {
    let patience = if wait.is_zero() { String::new() } else { format!(", and {} s were not enough", wait.as_secs()) };
    Error::new(Code::Busy, format!("`{holder}` holds the workspace{patience}"))
        .with_hint("wait for it")
        .or("allow more time", NextStep::WithWait)
        .with_details(serde_json::json!({ "holder": holder, "waited_seconds": wait.as_secs() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_is_told_who_holds_it_and_gives_up_in_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = AnchoredPath::open_directory(directory.path()).unwrap().join("lock");
        let held = WorkspaceLock::acquire(&path, "backsight track", Duration::ZERO, &|_| {}, &|| false).unwrap();
        let told = std::sync::Mutex::new(String::new());
        let tell = |holder: &str| holder.clone_into(&mut told.lock().unwrap());
        let refused = WorkspaceLock::acquire(&path, "backsight gc", Duration::from_millis(50), &tell, &|| false);
        assert_eq!(refused.unwrap_err().code(), Code::Busy);
        let given_up = WorkspaceLock::acquire(&path, "backsight gc", Duration::from_secs(60), &tell, &|| true);
        assert_eq!(given_up.unwrap_err().code(), Code::Cancelled);
        assert_eq!(*told.lock().unwrap(), format!("backsight track (pid {})", std::process::id()));
        drop(held);
        WorkspaceLock::acquire(&path, "backsight gc", Duration::from_secs(5), &|_| {}, &|| false).unwrap();
    }
}
