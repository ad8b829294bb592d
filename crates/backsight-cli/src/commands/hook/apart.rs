//! A hook whose work is done by a process of its own. What waits for a file system whose server does not answer, a lost
//! SSH mount or a stopped program behind FUSE, cannot be ended by any signal, and a process with one such thread
//! cannot end either. So where such a file system is mounted at all, the process that the client waits for touches no
//! file: it starts itself again, relays the answer, and leaves a child behind that will be gone when its wait is over.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::parent_id;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::{Args, Report, cut_short_error, failed, internal_error, within};
use crate::cli::Global;

/// How long the child may take: its own limits, and its start.
const LONGEST_CHILD: Duration = Duration::from_millis(4700);
/// Tells the child that it is one: who started it. Set by anybody else it means nothing.
const IS_CHILD: &str = "BACKSIGHT_HOOK_IS_CHILD";
/// This program, also when another one was installed in its place since.
const THIS_PROGRAM: &str = "/proc/self/exe";
/// What is mounted. Reading it asks no file system.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Whether the work has to be done by another process.
pub fn is_needed() -> bool {
    let parent = parent_id().to_string();
    if std::env::var_os(IS_CHILD).is_some_and(|started_by| started_by == parent.as_str()) {
        return false;
    }
    match fs::read(MOUNTS) {
        Ok(mounts) => is_any_served_elsewhere(&mounts),
        // Other systems have no such list, and no other name for this program.
        Err(_) => Path::new(THIS_PROGRAM).exists(),
    }
}

/// Names of directories may be anything, also no UTF-8, and are not what is asked for.
fn is_any_served_elsewhere(mounts: &[u8]) -> bool {
    String::from_utf8_lossy(mounts).lines().any(is_served_elsewhere)
}

/// Whether a line of the list is of a file system that a program or another machine serves.
fn is_served_elsewhere(mount: &str) -> bool {
    // Optional fields end with a hyphen; the type is what follows.
    let Some(kind) = mount.split_once(" - ").and_then(|(_, rest)| rest.split(' ').next()) else { return false };
    let family = kind.split('.').next().unwrap_or(kind);
    matches!(
        family,
        "fuse"
            | "fuseblk"
            | "virtiofs"
            | "9p"
            | "nfs"
            | "nfs4"
            | "cifs"
            | "smb3"
            | "smbfs"
            | "ncpfs"
            | "afs"
            | "ceph"
            | "lustre"
            | "orangefs"
            | "vboxsf"
            | "prl_fs"
    )
}

/// Lets a child do the work: the same command with the same input.
pub fn report(args: &Args, global: &Global) -> Report {
    child_report(global.json).unwrap_or_else(|end| {
        let error = match end {
            RecvTimeoutError::Timeout => cut_short_error("waiting for a file system that does not answer")
                .with_hint("see which directory is the one: `ls` in those of `findmnt`"),
            RecvTimeoutError::Disconnected => internal_error(),
        };
        Report::new(args, None, failed(args.agent.parse().ok(), &error))
    })
}

fn child_report(is_json: bool) -> Result<Report, RecvTimeoutError> {
    let mut command = Command::new(THIS_PROGRAM);
    if !is_json {
        command.arg("--json");
    }
    command
        .args(std::env::args_os().skip(1))
        .env(IS_CHILD, std::process::id().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|_| RecvTimeoutError::Disconnected)?;
    let line = child.stdout.take().map_or(Err(RecvTimeoutError::Disconnected), |stdout| {
        within(LONGEST_CHILD, move || {
            let mut line = Vec::new();
            // What was cut off is no report, which shows when it is read.
            let _ = BufReader::new(stdout).read_until(b'\n', &mut line);
            line
        })
    });
    if line.is_err() {
        // It ends when it can; waiting for that is what must not be done here.
        let _ = child.kill();
    }
    serde_json::from_slice(&line?).map_err(|_| RecvTimeoutError::Disconnected)
}

#[cfg(test)]
mod tests {
    use super::{is_any_served_elsewhere, is_served_elsewhere};

    #[test]
    fn a_mount_whose_name_is_no_utf_8_hides_no_other() {
        let line = |name: &[u8], kind: &str| {
            [b"61 29 0:55 / /mnt/", name, format!(" rw - {kind} source rw\n").as_bytes()].concat()
        };
        for name in [&b"\xff\xfe"[..], b"caf\xe9", b"\xe2\x80", b"a\\040b"] {
            assert!(is_any_served_elsewhere(&[line(name, "ext4"), line(b"far", "fuse.sshfs")].concat()), "{name:?}");
            assert!(is_any_served_elsewhere(&[line(b"near", "ext4"), line(name, "nfs4")].concat()), "{name:?}");
            assert!(!is_any_served_elsewhere(&[line(b"near", "ext4"), line(name, "ext4")].concat()), "{name:?}");
        }
    }

    #[test]
    fn what_another_program_or_machine_serves_is_known_by_its_type() {
        let line = |kind: &str| format!("61 29 0:55 / /home/u/far rw,nosuid shared:5 master:1 - {kind} source rw");
        for kind in ["fuse", "fuse.sshfs", "fuseblk", "nfs", "nfs4", "cifs", "9p", "virtiofs"] {
            assert!(is_served_elsewhere(&line(kind)), "{kind}");
        }
        for kind in ["ext4", "btrfs", "tmpfs", "fusectl", "overlay", "nfsd"] {
            assert!(!is_served_elsewhere(&line(kind)), "{kind}");
        }
        assert!(!is_served_elsewhere("") && !is_served_elsewhere("61 29 0:55 / /fuse rw - "));
    }
}
