//! The threads that share the work of a walk. Where none can be had (`ulimit -u`, a container's limit, no memory) that is an
//! error like any other, and the next walk tries again: the pool's own first use would panic, and keep its failure for good.

use std::io;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{Builder, available_parallelism};

use backsight_core::{Error, Result};
use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// Starts them, once for the process. An embedding program that started the pool before is fine.
pub fn start_threads() -> Result<()> {
    static IS_STARTED: Mutex<bool> = Mutex::new(false);
    let mut is_started = IS_STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_started {
        start().map_err(|error| {
            Error::io("start a thread", error)
                .with_hint("allow more processes (`ulimit -u`, a container's `--pids-limit`) or more memory")
        })?;
        *is_started = true;
    }
    Ok(())
}

/// Has all threads first, and makes the pool of them then: what cannot fail cannot fail by half.
fn start() -> io::Result<()> {
    let count = available_parallelism().map_or(1, usize::from);
    let waiting = (0..count).map(|_| waiting_thread()).collect::<io::Result<Vec<_>>>()?;
    let mut waiting = waiting.into_iter();
    let hand_over = |work: ThreadBuilder| match waiting.next().map(|thread| thread.send(work)) {
        Some(Ok(())) => Ok(()),
        _ => Err(io::Error::other("a thread ended before it had work")),
    };
    // The one error is that there is a pool already.
    drop(ThreadPoolBuilder::new().num_threads(count).spawn_handler(hand_over).build_global());
    Ok(())
}

/// A thread that ends when it is given nothing to do.
fn waiting_thread() -> io::Result<mpsc::SyncSender<ThreadBuilder>> {
    let (sender, receiver) = mpsc::sync_channel::<ThreadBuilder>(1);
    Builder::new().spawn(move || receiver.recv().map(ThreadBuilder::run))?;
    Ok(sender)
}
