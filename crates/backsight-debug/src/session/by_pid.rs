//! Ways into a process that runs already and knows nothing of a debugger: a debugger that takes it over, code that is put
//! into it and calls us, or a signal that makes it open its own door. What the system forbids is said as such.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use backsight_core::{Admission, Code, Error, Result};
use rustix::process::{Pid, Signal};

use super::link::{self, Link, Sink, Start};
use crate::adapters::{self, Adapter, Reach, node};

/// How long Node may take to hear a signal; a program that calculates hears it when it is done.
const SIGNAL: Duration = Duration::from_secs(5);
/// Says whether a debugger may attach to processes it did not start.
const PTRACE_SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// Reaches the debugger of a process.
pub(crate) async fn open(
    adapter: &Adapter,
    pid: u32,
    runtime: Option<&Path>,
    search: &[PathBuf],
    patience: Duration,
    sink: &Sink,
) -> Result<Link> {
    let process = there(pid)?;
    if adapter.reach == Reach::Inspector {
        let port = inspector_of(pid, process, patience).await?;
        return link::attach(adapter, "", port, &Admission::default(), patience).await;
    }
    let directory = Path::new("/");
    let runtime = adapters::locate(adapter, runtime, directory, search)?;
    let arguments: Vec<String> =
        adapter.attach_arguments.iter().map(|text| text.replace("{pid}", &pid.to_string())).collect();
    let start = Start {
        adapter,
        runtime,
        program: Path::new(""),
        module: None,
        interpreter_arguments: &[],
        child_listens: false,
        arguments: &arguments,
        directory,
        environment: &[],
        scratch: None,
        stdin: None,
        patience,
        started: OnceLock::new(),
    };
    let opened = match adapter.reach {
        Reach::Calls if arguments.is_empty() => Err(Error::new(
            Code::Usage,
            format!("`{}` attaches to a port, not to a process: name it with `port`", adapter.name),
        )),
        Reach::Calls => {
            start.inject(process.as_raw_nonzero().get()).await.map_err(|error| without_gdb(error, adapter, search))
        }
        _ => start.open(sink).await,
    };
    let executed = start.executed();
    match opened {
        Ok(link) => Ok(Link { executed, ..link }),
        Err(error) => Err(executed.told_with(error)),
    }
}

/// The process that a number means: a thread of one has a number too. Refused are those that could answer nobody while they
/// are held: this one, those that started it and wait for its answers, and others of Backsight's in the workspace.
pub fn target(pid: u32, workspace: &Path) -> Result<u32> {
    let process = fact(pid, "Tgid:").unwrap_or(pid);
    let refused = match std::process::id() {
        own if own == process => "is Backsight itself",
        own if ancestors(own).contains(&process) => "has started Backsight, which would wait for it for ever",
        _ if is_backsight(process, workspace) => "is another process of Backsight here",
        _ => return Ok(process),
    };
    Err(Error::new(Code::Usage, format!("process {pid} {refused}")).with_hint("name the process of another program"))
}

/// A number in what the system tells about a process.
fn fact(pid: u32, name: &str) -> Option<u32> {
    let told = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    told.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

/// The process that started one, the one that started that, and so on.
fn ancestors(pid: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut at = pid;
    while let Some(parent) = fact(at, "PPid:").filter(|parent| *parent > 0) {
        // A table that changes while it is read must not make a ring of them.
        if !found.insert(parent) {
            break;
        }
        at = parent;
    }
    found
}

/// Whether a process runs the program that this one runs, or one of its name in the workspace: another version serves it, or
/// passes calls on to this one.
fn is_backsight(pid: u32, workspace: &Path) -> bool {
    let link = |what: &str| std::fs::read_link(format!("/proc/{pid}/{what}")).ok();
    let file = |pid: &str| std::fs::metadata(format!("/proc/{pid}/exe")).ok().map(|file| (file.dev(), file.ino()));
    let is_same = file("self").is_some_and(|own| file(&pid.to_string()) == Some(own));
    // The name of a program that was replaced since has something added to it.
    let named = |program: PathBuf| program.file_name()?.to_str()?.split(' ').next().map(|name| name == "backsight");
    let is_named = link("exe").and_then(named).unwrap_or(false);
    is_same || is_named && link("cwd").is_some_and(|directory| directory.starts_with(workspace))
}

/// Why attaching failed, with what the system has to do with it.
pub(crate) fn explained(error: Error, adapter: &Adapter) -> Error {
    let scope = std::fs::read_to_string(PTRACE_SCOPE).ok().and_then(|text| text.trim().parse().ok());
    restricted(error, adapter, scope.unwrap_or(0), rustix::process::geteuid().is_root())
}

fn restricted(error: Error, adapter: &Adapter, scope: u32, root: bool) -> Error {
    let allowed = scope == 0 || (root && scope < 3);
    if allowed || adapter.reach == Reach::Inspector || error.hint().is_some() {
        return error;
    }
    let hint = format!(
        "this system lets a debugger attach only to what it started (kernel.yama.ptrace_scope is {scope}): launch the \
         program with the debugger, or allow it with `sudo sysctl kernel.yama.ptrace_scope=0`"
    );
    error.with_hint(hint)
}

fn without_gdb(error: Error, adapter: &Adapter, search: &[PathBuf]) -> Error {
    if error.code() != Code::AdapterFailed || search.iter().any(|place| place.join("gdb").is_file()) {
        return error;
    }
    let message = format!("`{}` needs `gdb` to attach to a process: {}", adapter.name, error.message());
    Error::new(Code::AdapterNotFound, message).with_hint(
        "install it with `apt-get install gdb`, or start the program with \
         `python3 -m debugpy --listen 127.0.0.1:5678 PROGRAM` and attach to that port",
    )
}

/// The process, if there is one that is ours to touch.
fn there(pid: u32) -> Result<Pid> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| Error::new(Code::Usage, format!("{pid} is no number of a process")))?;
    match rustix::process::test_kill_process(process) {
        Ok(()) => Ok(process),
        Err(rustix::io::Errno::PERM) => {
            let message = format!("process {pid} belongs to another user: only that user and root can debug it");
            Err(Error::new(Code::AdapterFailed, message))
        }
        Err(_) => Err(Error::new(Code::ProgramNotFound, format!("there is no process {pid}"))),
    }
}

/// The port of a Node's inspector, which it opens when it is sent a signal. Anybody else that signal would end.
async fn inspector_of(pid: u32, process: Pid, patience: Duration) -> Result<u16> {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let name = program.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    if !name.as_deref().is_some_and(|name| name.starts_with("node")) {
        let name = name.unwrap_or_else(|| "unknown".to_owned());
        return Err(by_port(format!("process {pid} is not known to be Node (its program is `{name}`)")));
    }
    let before = ports_of(pid);
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // Its other ports are the program's own and are left alone.
    let is_open = command.split(|byte| *byte == 0).any(|part| part.starts_with(b"--inspect"));
    if is_open && let Some(port) = first_inspector(&before, patience).await {
        return Ok(port);
    }
    rustix::process::kill_process(process, Signal::USR1)
        .map_err(|error| Error::io(format!("send a signal to process {pid}"), error.into()))?;
    let deadline = Instant::now() + patience.min(SIGNAL);
    while Instant::now() < deadline {
        let opened: BTreeSet<u16> = ports_of(pid).difference(&before).copied().collect();
        if let Some(port) = first_inspector(&opened, patience).await {
            return Ok(port);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Err(by_port(format!("process {pid} did not open its inspector (its port, 9229 unless told, may be taken)")))
}

fn by_port(message: String) -> Error {
    Error::new(Code::AdapterFailed, message)
        .with_hint("start it with `node --inspect=127.0.0.1:0 PROGRAM` and attach to the port it prints")
}

async fn first_inspector(ports: &BTreeSet<u16>, patience: Duration) -> Option<u16> {
    for port in ports {
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, *port).into();
        if node::discover(address, patience.min(Duration::from_secs(1))).await.is_ok() {
            return Some(*port);
        }
    }
    None
}

/// The ports a process listens at.
fn ports_of(pid: u32) -> BTreeSet<u16> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    let sockets: BTreeSet<String> =
        links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    table.lines().filter_map(|line| listening(line, &sockets)).collect()
}

/// The port in a line of the system's table, if it is one of these sockets and listens.
fn listening(line: &str, sockets: &BTreeSet<String>) -> Option<u16> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (address, state, inode) = (words.get(1)?, words.get(3)?, words.get(9)?);
    let port = u16::from_str_radix(address.split_once(':')?.1, 16).ok()?;
    (*state == "0A" && sockets.contains(*inode)).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_read_from_the_systems_table() {
        let sockets = BTreeSet::from(["4711".to_owned()]);
        let line = "   0: 0100007F:240D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1";
        assert_eq!(listening(line, &sockets), Some(9229));
        assert_eq!(listening(&line.replace("4711", "4712"), &sockets), None);
        assert_eq!(listening(&line.replace(" 0A ", " 01 "), &sockets), None);
        assert_eq!(listening("  sl  local_address", &sockets), None);
    }

    #[test]
    fn what_the_system_forbids_is_said() {
        let builtin = adapters::builtin();
        let lldb = builtin.iter().find(|adapter| adapter.name == "lldb-dap").unwrap();
        let failed = || Error::new(Code::AdapterFailed, "Operation not permitted");
        let hint = restricted(failed(), lldb, 1, false).hint();
        assert!(hint.unwrap().contains("ptrace_scope is 1"));
        assert_eq!(restricted(failed(), lldb, 1, true).hint(), None);
        assert_eq!(restricted(failed(), lldb, 0, false).hint(), None);
        assert!(restricted(failed(), lldb, 3, true).hint().is_some());
    }

    #[test]
    fn a_missing_gdb_is_said_with_the_other_way() {
        let place = tempfile::tempdir().unwrap();
        let debugpy = &adapters::builtin()[0];
        let error = without_gdb(Error::new(Code::AdapterFailed, "it failed"), debugpy, &[place.path().to_owned()]);
        assert_eq!(error.code(), Code::AdapterNotFound);
        assert!(error.hint().unwrap().contains("--listen"));
    }

    #[test]
    fn what_waits_for_us_is_not_held_by_us_under_any_of_its_numbers() {
        let anywhere = Path::new("/nowhere");
        let own = std::process::id();
        let (tell, told) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || told.recv());
        let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let threads: Vec<u32> = threads.map(|entry| entry.file_name().to_str().unwrap().parse().unwrap()).collect();
        assert!(threads.len() > 1 && threads.contains(&own), "{threads:?}");
        let parents = ancestors(own);
        assert!(parents.contains(&std::os::unix::process::parent_id()), "{parents:?}");
        for pid in threads.into_iter().chain(parents) {
            assert_eq!(target(pid, anywhere).unwrap_err().code(), Code::Usage, "{pid}");
        }
        drop(tell);
        let _ = thread.join();
        // Other processes are what they are, and so is a number that nobody has.
        let place = tempfile::tempdir().unwrap();
        let mut sleep = std::process::Command::new("sleep");
        let mut other = sleep.arg("60").current_dir(place.path()).spawn().unwrap();
        assert_eq!(target(other.id(), place.path()).ok(), Some(other.id()));
        assert_eq!(target(i32::MAX as u32, anywhere).ok(), Some(i32::MAX as u32));
        let _ = other.kill();
        let _ = other.wait();
    }

    #[test]
    fn a_backsight_of_the_workspace_is_known_by_its_name() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("backsight");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let mut command = std::process::Command::new(&program);
        let mut other = command.arg("60").current_dir(place.path()).spawn().unwrap();
        let here = target(other.id(), &place.path().canonicalize().unwrap());
        let elsewhere = target(other.id(), Path::new("/nowhere"));
        let _ = other.kill();
        let _ = other.wait();
        assert_eq!(here.unwrap_err().code(), Code::Usage);
        assert!(elsewhere.is_ok());
    }

    #[test]
    fn a_process_that_is_not_there_is_not_signalled() {
        assert_eq!(there(0).unwrap_err().code(), Code::Usage);
        assert_eq!(there(u32::MAX).unwrap_err().code(), Code::Usage);
        assert_eq!(there(i32::MAX as u32).unwrap_err().code(), Code::ProgramNotFound);
    }
}
