//! A command that has no terminal of its own would go on when we are killed. So a copy of this program asks the kernel
//! for a signal at our death and then becomes the command.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The command, to be started by way of a copy of this program where the system can do that.
pub fn command(words: &[OsString]) -> Command {
    if cfg!(target_os = "linux") && std::path::Path::new(OURSELVES).exists() {
        let mut command = Command::new(OURSELVES);
        command.arg0("backsight").args(["run", "--leash", &std::process::id().to_string(), "--"]).args(words);
        return command;
    }
    plain(words)
}

/// Whatever this program is called, and even when it was replaced meanwhile.
const OURSELVES: &str = "/proc/self/exe";

/// The command as it is.
pub fn plain(words: &[OsString]) -> Command {
    let mut command = Command::new(words.first().map_or_else(OsString::new, OsString::clone));
    command.args(words.iter().skip(1));
    command
}

/// Becomes the command, which is told when `parent` dies. Returns only when that fails.
pub fn exec(parent: u32, words: &[OsString]) -> io::Error {
    if let Err(error) = hold(parent) {
        return error;
    }
    plain(words).exec()
}

#[cfg(target_os = "linux")]
fn hold(parent: u32) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::TERM))?;
    let is_ours = getppid().is_some_and(|pid| u32::try_from(pid.as_raw_nonzero().get()) == Ok(parent));
    if is_ours { Ok(()) } else { Err(io::Error::other("`backsight run` has ended already")) }
}

#[cfg(not(target_os = "linux"))]
fn hold(_parent: u32) -> io::Result<()> {
    Ok(())
}
