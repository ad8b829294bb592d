//! Serving as a whole process: an async runtime, and an orderly end when a signal asks for it.

use backsight::Workspace;
use backsight_core::{Error, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::allocator;
use crate::offer::Offer;
use crate::place::Address;
use crate::serve::{self, Options, Served};

/// Serves the workspace over HTTP until a signal ends the process. `ready` hears where.
pub fn serve(workspace: Workspace, options: &Options, ready: impl FnOnce(&Address)) -> Result<Served> {
    run(async |ending| serve::serve(workspace, options, ending, ready).await)?
}

/// Speaks MCP on stdin and stdout until the client closes stdin or a signal ends the process.
pub fn mcp(workspace: Workspace, offer: Offer, conversation: Option<String>) -> Result<()> {
    run(async |ending| serve::mcp(workspace, offer, conversation, ending).await)?
}

/// Threads for work that blocks, such as a look at the files. Whoever waits for others waits without one (`Door::turn`),
/// so more would not be faster, and each keeps memory.
const BLOCKING: usize = 6;

/// Runs `work` to its end; it is told to end when the process is.
fn run<T>(work: impl AsyncFnOnce(CancellationToken) -> T) -> Result<T> {
    allocator::settle();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Error::io("start", error))?;
    let outcome = runtime.block_on(async {
        let ending = CancellationToken::new();
        let watching = tokio::spawn(end_on_signal(ending.clone()));
        let outcome = work(ending).await;
        watching.abort();
        outcome
    });
    // A thread that still waits in the kernel for something must not keep the process.
    runtime.shutdown_background();
    Ok(outcome)
}

async fn end_on_signal(ending: CancellationToken) {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds else { return };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    ending.cancel();
}
