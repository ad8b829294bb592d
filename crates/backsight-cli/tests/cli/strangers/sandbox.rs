//! Runs a command under `strace` and says what it opened, changed, connected to and executed.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// How long any command may take here, in seconds.
const PATIENCE: &str = "30";

/// Calls by which a process reaches something. Looking whether something stands at a name is none of them.
const CALLS: &str = "trace=open,openat,openat2,creat,truncate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,\
    rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmodat,chown,lchown,fchownat,utimensat,setxattr,lsetxattr,\
    connect,bind,execve,execveat,mount";

/// What a command did.
pub struct Trace {
    pub output: Output,
    pub reads: BTreeSet<PathBuf>,
    pub writes: BTreeSet<PathBuf>,
    pub connections: Vec<String>,
    pub programs: Vec<String>,
}

/// Runs `command` with `input` on its stdin.
pub fn trace(command: &Command, input: &str) -> Trace {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut traced = Command::new("timeout");
    traced.args(["-k", "1", PATIENCE, "strace", "-f", "-y", "-qq", "-s", "4096", "-e", CALLS, "-o"]);
    traced.arg(log.path()).arg("--").arg(command.get_program()).args(command.get_args());
    traced.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in command.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        traced.env(name, value);
    }
    let directory = command.get_current_dir().unwrap().to_owned();
    traced.current_dir(&directory);
    let mut child = traced.spawn().expect("strace is missing: sudo apt-get install strace");
    // A command that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(124), "{command:?} hangs");
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert!(text.contains("execve("), "strace noted nothing: {}", String::from_utf8_lossy(&output.stderr));
    read_log(&text, &directory, output)
}

fn read_log(text: &str, directory: &Path, output: Output) -> Trace {
    let mut trace = Trace {
        output,
        reads: BTreeSet::new(),
        writes: BTreeSet::new(),
        connections: Vec::new(),
        programs: Vec::new(),
    };
    for line in text.lines() {
        let Some((head, arguments)) = line.split_once('(') else { continue };
        let call = head.rsplit(' ').next().unwrap_or_default();
        match call {
            "connect" | "bind" => trace.connections.push(line.to_owned()),
            "execve" | "execveat" => {
                trace.programs.extend(paths(arguments, directory).first().map(|path| path.display().to_string()))
            }
            "open" | "openat" | "openat2" if !writes(arguments) => trace.reads.extend(reached(arguments, directory)),
            _ => trace.writes.extend(reached(arguments, directory)),
        }
    }
    trace
}

fn writes(arguments: &str) -> bool {
    ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| arguments.contains(flag))
}

/// Every path among the arguments of a call, and where the descriptor leads that it returned: elsewhere if a link was
/// followed.
fn reached(arguments: &str, directory: &Path) -> Vec<PathBuf> {
    let mut found = paths(arguments, directory);
    let returned = arguments.rsplit_once(" = ").and_then(|(_, returned)| returned.split_once('<'));
    let opened = returned.and_then(|(_, opened)| opened.strip_suffix('>')).filter(|opened| opened.starts_with('/'));
    found.extend(opened.map(PathBuf::from));
    found
}

/// Every path among the arguments of a call, from the root. `-y` shows where a descriptor leads: `5</tmp/x>, "name"`.
fn paths(arguments: &str, directory: &Path) -> Vec<PathBuf> {
    let mut base = directory.to_owned();
    let mut found = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.find(['<', '"']) {
        let (is_name, tail) = (rest.as_bytes()[at] == b'"', &rest[at + 1..]);
        let Some(end) = tail.find(if is_name { '"' } else { '>' }) else { break };
        match is_name {
            true => found.push(plain(&base.join(&tail[..end]))),
            false => base = PathBuf::from(&tail[..end]),
        }
        rest = &tail[end + 1..];
    }
    found
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// What belongs to the system: its libraries and facts about the process.
pub fn is_of_the_system(path: &Path) -> bool {
    let places = ["/lib", "/lib64", "/usr", "/etc", "/proc", "/sys", "/dev/null", "/dev/urandom", "/dev/tty"];
    places.iter().any(|place| path.starts_with(place))
}

#[test]
fn a_log_is_read_with_its_descriptors() {
    let log = "12 execve(\"/bin/x\", [\"x\"], 0x7 /* 3 vars */) = 0\n\
        12 openat(AT_FDCWD</ws>, \"../etc/a\", O_RDONLY|O_CLOEXEC) = 3</etc/a>\n\
        12 openat(5</ws/sub>, \"b\", O_RDWR|O_CREAT, 0600) = 4</ws/sub/b>\n\
        12 renameat2(5</ws/sub>, \"b\", 6</ws>, \"c\", 0) = 0\n\
        12 unlink(\"d\") = 0\n\
        12 openat(5</ws/sub>, \"link\", O_RDONLY) = 4</home/secret>\n\
        13 connect(9<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0\n";
    let output = Command::new("true").output().unwrap();
    let trace = read_log(log, Path::new("/ws"), output);
    let set = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
    assert_eq!(trace.reads, set(&["/etc/a", "/home/secret", "/ws/sub/link"]));
    assert_eq!(trace.writes, set(&["/ws/sub/b", "/ws/c", "/ws/d"]));
    assert_eq!(trace.programs, ["/bin/x"]);
    assert_eq!(trace.connections.len(), 1);
}
