//! Carries what a command says to where it belongs, and offers it to the recorder on the way. Bytes pass as they are.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use super::record::Tap;

/// Bytes carried at once.
const PIECE: usize = 64 << 10;

/// What happens when nobody reads our output any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The command is told in the way it would be without us: its pipe breaks.
    Break,
    /// The command goes on: its terminal is its own.
    GoOn,
}

/// Carries until the end, which `over` is told of.
pub fn carry(from: File, to: File, tap: Tap, unread: Unread, over: SyncSender<()>) {
    thread::spawn(move || {
        pass(from, to, &tap, unread);
        // Nobody waits any more when the command left somebody behind.
        let _ = over.try_send(());
    });
}

fn pass(mut from: File, mut to: File, tap: &Tap, unread: Unread) {
    let mut piece = vec![0; PIECE];
    let mut is_read = true;
    loop {
        let length = match from.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // A terminal whose other end is closed ends with an error.
            Err(_) => return,
        };
        is_read = is_read && write(&mut to, &piece[..length]);
        tap.offer(&piece[..length]);
        if !is_read && unread == Unread::Break {
            return;
        }
    }
}

fn write(to: &mut File, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return false,
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Somebody who shares the stream made it so that it does not wait; we do.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(1)),
            Err(_) => return false,
        }
    }
    true
}

/// Carries keys to the command, for as long as the process lives.
pub fn type_into(mut keys: File, mut command: File) {
    thread::spawn(move || {
        let mut piece = [0; 4096];
        loop {
            match keys.read(&mut piece) {
                Ok(0) => return,
                Ok(length) => {
                    if !write(&mut command, &piece[..length]) {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
}
