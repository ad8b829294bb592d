//! A program that was started for a session, in a process group of its own, so that nothing it starts outlives it. What it
//! says on stderr is kept to be quoted when something fails.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backsight_core::{Code, Error, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::unix::pipe;
use tokio::sync::watch;

/// How much of what a program says on stderr is kept.
const RING: usize = 64 << 10;
/// How much of it is quoted in an error.
const QUOTED: usize = 600;
/// A killed process takes this long to be gone at most, unless the machine is stuck.
const DEATH: Duration = Duration::from_secs(2);

/// A program that was started here. Dropping it ends it and everything in its group, unless it was released.
#[derive(Debug)]
pub(crate) struct Process {
    /// What was executed: the program, then its arguments.
    command: Vec<String>,
    group: Option<Pid>,
    life: Arc<Mutex<Life>>,
    exited: watch::Receiver<Option<ExitStatus>>,
    gone: Mutex<Receiver<()>>,
    pub stderr: Tail,
}

#[derive(Debug, Default)]
struct Life {
    /// Its number may be another process's from now on.
    reaped: bool,
    /// It may outlive us.
    released: bool,
    guard: Option<Child>,
}

impl Life {
    /// Nobody has to end it any more when we are gone.
    fn dismiss_guard(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            // It waits for nothing else, so it is there and goes at once.
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

/// Waits until nobody holds the other end of its input, then ends a group and removes a directory. `/bin/sh` is dash, bash or
/// busybox: `kill -KILL -- -1` is an error in dash.
const GUARD: &str = "read -r _; own=$(cat /proc/$0/task/*/children 2>/dev/null); kill -s KILL -- \"-$0\" $own; \
                     [ -z \"$1\" ] || rm -rf -- \"$1\"";

/// Ends a group when we are gone, also when we had no time to: it reads from a pipe whose other end only we hold. What was
/// made for the group goes with it.
fn guard(group: Option<Pid>, scratch: Option<&Path>) -> Option<Child> {
    guarded_by(Command::new("/bin/sh"), group, scratch)
}

fn guarded_by(mut shell: Command, group: Option<Pid>, scratch: Option<&Path>) -> Option<Child> {
    let group = group?.as_raw_nonzero().to_string();
    shell.args(["-c", GUARD, &group]);
    shell.arg(scratch.unwrap_or(Path::new(""))).process_group(0).current_dir("/");
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without a shell there is only the orderly end.
    shell.spawn().ok()
}

/// What a program that is started hears.
#[derive(Debug)]
pub(crate) enum Hears {
    /// What we say.
    Us,
    /// Nothing.
    Nothing,
    /// What is in a file.
    Text(File),
}

/// The ends of a started program's pipes that are ours.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    pub stdin: Option<pipe::Sender>,
    pub stdout: Option<pipe::Receiver>,
    pub stderr: Option<pipe::Receiver>,
}

impl Process {
    /// Starts a program with pipes to all it says. The directory that was made for it is removed with it if we end before it.
    pub(crate) fn start(mut command: Command, hears: Hears, scratch: Option<&Path>) -> Result<(Process, Pipes)> {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let name = words.first().cloned().unwrap_or_default();
        let stdin = match hears {
            Hears::Us => Stdio::piped(),
            Hears::Nothing => Stdio::null(),
            Hears::Text(file) => Stdio::from(file),
        };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Error::new(Code::ProgramNotFound, format!("cannot start `{name}`: there is no such program"))
            }
            _ => Error::io(format!("start `{name}`"), error),
        })?;
        let pipes = pipes(&mut child).map_err(|error| Error::io(format!("listen to `{name}`"), error))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let life = Arc::new(Mutex::new(Life { guard: guard(group, scratch), ..Life::default() }));
        let (tell, exited) = watch::channel(None);
        let (over, gone) = sync_channel(1);
        let watched = Arc::clone(&life);
        let wait = move || {
            if let Some(pid) = group {
                // Not reaped yet, so that its number cannot be another's while its group is ended.
                let _ = rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            }
            let status = reap(&mut child, group, &watched);
            tell.send_replace(status);
            let _ = over.send(());
        };
        std::thread::Builder::new()
            .name("debug-process".to_owned())
            .spawn(wait)
            .map_err(|error| Error::io("start a thread for the debugger", error))?;
        Ok((Process { command: words, group, life, exited, gone: Mutex::new(gone), stderr: Tail::default() }, pipes))
    }

    /// What was executed: the program, then its arguments.
    pub(crate) fn command(&self) -> &[String] {
        &self.command
    }

    /// Its number.
    pub(crate) fn id(&self) -> Option<i32> {
        self.group.map(|pid| pid.as_raw_nonzero().get())
    }

    /// Tells how it ended, once it has.
    pub(crate) fn exit(&self) -> watch::Receiver<Option<ExitStatus>> {
        self.exited.clone()
    }

    /// It may outlive us.
    pub(crate) fn release(&self) {
        let mut life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        life.released = true;
        life.dismiss_guard();
    }

    /// Ends it and everything in its group.
    pub(crate) fn kill(&self) {
        let life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        if !life.reaped {
            end(self.group);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.life.lock().unwrap_or_else(PoisonError::into_inner).released {
            return;
        }
        self.kill();
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = gone.recv_timeout(DEATH);
    }
}

/// How a program ended, as shells say it: a signal is 128 and its number.
pub(crate) fn exit_code(status: ExitStatus) -> Option<i64> {
    let signal = status.signal().map(|signal| 128 + i64::from(signal));
    status.code().map(i64::from).or(signal)
}

fn reap(child: &mut Child, group: Option<Pid>, life: &Mutex<Life>) -> Option<ExitStatus> {
    let mut life = life.lock().unwrap_or_else(PoisonError::into_inner);
    life.dismiss_guard();
    if !life.released {
        end(group);
    }
    life.reaped = true;
    child.wait().ok()
}

/// Ends a group, and what its leader started in other groups: Delve gives the program one of its own.
fn end(group: Option<Pid>) {
    let Some(group) = group else { return };
    let started = children_of(group.as_raw_nonzero().get());
    // The group is usually empty by now.
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    for child in started.into_iter().filter_map(Pid::from_raw) {
        let _ = rustix::process::kill_process(child, Signal::KILL);
    }
}

/// What a process started and has not waited for; other systems do not say.
pub(crate) fn children_of(process: i32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<i32>>()).collect()
}

fn pipes(child: &mut Child) -> std::io::Result<Pipes> {
    let stdin = child.stdin.take().map(|pipe| pipe::Sender::from_owned_fd(OwnedFd::from(pipe))).transpose()?;
    let stdout = child.stdout.take().map(|pipe| pipe::Receiver::from_owned_fd(OwnedFd::from(pipe))).transpose()?;
    let stderr = child.stderr.take().map(|pipe| pipe::Receiver::from_owned_fd(OwnedFd::from(pipe))).transpose()?;
    Ok(Pipes { stdin, stdout, stderr })
}

/// The last a program said. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    pub(crate) fn push(&self, text: &str) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.extend(text.as_bytes());
        let surplus = ring.len().saturating_sub(RING);
        ring.drain(..surplus);
    }

    /// The last words, to be put into an error; nothing if there are none.
    pub(crate) fn quote(&self) -> Option<String> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = ring.len().saturating_sub(QUOTED);
        let bytes: Vec<u8> = ring.iter().skip(skipped).copied().collect();
        drop(ring);
        let text =
            String::from_utf8_lossy(&bytes).trim_matches(|c: char| c.is_whitespace() || c == '\u{fffd}').to_owned();
        let quoted = if skipped > 0 { format!("...{text}") } else { text };
        (!quoted.is_empty()).then_some(quoted)
    }
}

/// Reads a pipe to its end and passes on what it says as text, whole characters only.
pub(crate) async fn pump(mut pipe: impl AsyncRead + Unpin, mut pass: impl FnMut(&str)) {
    let mut buffer = vec![0; 1 << 14];
    let mut waiting: Vec<u8> = Vec::new();
    while let Ok(count) = pipe.read(&mut buffer).await {
        if count == 0 {
            break;
        }
        waiting.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let whole = whole_characters(&waiting);
        let text: Vec<u8> = waiting.drain(..whole).collect();
        if !text.is_empty() {
            pass(&String::from_utf8_lossy(&text));
        }
    }
    if !waiting.is_empty() {
        pass(&String::from_utf8_lossy(&waiting));
    }
}

/// How many bytes from the beginning do not end within a character.
fn whole_characters(bytes: &[u8]) -> usize {
    let start = bytes.iter().rposition(|byte| byte & 0xc0 != 0x80).unwrap_or(0);
    let needed = match bytes.get(start) {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    if bytes.len() - start < needed { start } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    async fn ended(process: &Process) -> ExitStatus {
        let mut exit = process.exit();
        let status = tokio::time::timeout(Duration::from_secs(10), exit.wait_for(Option::is_some)).await;
        status.unwrap().unwrap().unwrap()
    }

    #[tokio::test]
    async fn what_a_program_says_and_how_it_ends_is_known() {
        let (process, pipes) = Process::start(shell("echo hello; echo bad >&2; exit 7"), Hears::Nothing, None).unwrap();
        let mut said = String::new();
        pump(pipes.stdout.unwrap(), |text| said.push_str(text)).await;
        pump(pipes.stderr.unwrap(), |text| process.stderr.push(text)).await;
        assert_eq!((said.as_str(), process.stderr.quote().as_deref()), ("hello\n", Some("bad")));
        assert_eq!(exit_code(ended(&process).await), Some(7));
    }

    #[tokio::test]
    async fn nothing_a_program_started_outlives_it() {
        let (process, pipes) =
            Process::start(shell("sleep 1000 & echo $!; exec sleep 1000"), Hears::Nothing, None).unwrap();
        let mut stdout = pipes.stdout.unwrap();
        let mut line = [0; 32];
        let count = stdout.read(&mut line).await.unwrap();
        let child: i32 = std::str::from_utf8(&line[..count]).unwrap().trim().parse().unwrap();
        drop(process);
        // The pipe ends with the last who holds it.
        tokio::time::timeout(Duration::from_secs(10), pump(stdout, |_| {})).await.unwrap();
        // It lets go of the pipe a moment before it is gone.
        let is_gone = || {
            let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ") || state.contains(") X ")
        };
        let started = std::time::Instant::now();
        while !is_gone() {
            assert!(started.elapsed() < Duration::from_secs(10), "{child} lives");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// As Delve starts a program: a job of an interactive shell has a group of its own.
    const OWN_GROUP: &str = "set -m; sleep 1000 & echo $!; exec sleep 1000";

    #[tokio::test]
    async fn what_it_started_in_another_group_does_not_outlive_it_either() {
        let (process, pipes) = Process::start(shell(OWN_GROUP), Hears::Nothing, None).unwrap();
        let mut stdout = pipes.stdout.unwrap();
        let mut line = [0; 32];
        assert!(stdout.read(&mut line).await.unwrap() > 0);
        drop(process);
        // The pipe ends with the last that holds it.
        tokio::time::timeout(Duration::from_secs(10), pump(stdout, |_| {})).await.unwrap();
    }

    #[test]
    fn the_guard_ends_what_was_started_in_another_group() {
        let mut program = shell(OWN_GROUP).process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = std::io::BufReader::new(program.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut String::new()).unwrap();
        let group = Pid::from_raw(i32::try_from(program.id()).unwrap());
        let mut guard = guard(group, None).unwrap();
        drop(guard.stdin.take());
        guard.wait().unwrap();
        // The pipe ends with the last that holds it.
        std::io::Read::read_to_end(&mut stdout, &mut Vec::new()).unwrap();
        program.wait().unwrap();
    }

    #[test]
    fn every_shell_can_be_the_guard() {
        let words = [vec!["/bin/sh"], vec!["dash"], vec!["bash"], vec!["busybox", "sh"]];
        let mut tried = 0;
        for words in words {
            let directory = tempfile::tempdir().unwrap();
            let scratch = directory.path().join("scratch");
            std::fs::create_dir(&scratch).unwrap();
            let mut program = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
            let group = Pid::from_raw(i32::try_from(program.id()).unwrap());
            let mut shell = Command::new(words[0]);
            shell.args(&words[1..]);
            let Some(mut guard) = guarded_by(shell, group, Some(&scratch)) else {
                program.kill().unwrap();
                program.wait().unwrap();
                continue;
            };
            tried += 1;
            drop(guard.stdin.take());
            guard.wait().unwrap();
            let started = std::time::Instant::now();
            let mut ended = program.try_wait().unwrap();
            while ended.is_none() && started.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(2));
                ended = program.try_wait().unwrap();
            }
            let _ = program.kill();
            assert_eq!((ended.is_some(), scratch.exists()), (true, false), "{words:?}");
        }
        assert!(tried > 0);
    }

    #[tokio::test]
    async fn a_signal_is_an_exit_code_as_in_a_shell() {
        let (process, _pipes) = Process::start(shell("kill -9 $$"), Hears::Nothing, None).unwrap();
        assert_eq!(exit_code(ended(&process).await), Some(137));
    }

    #[test]
    fn a_missing_program_is_named() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let _inside = runtime.enter();
        let error = Process::start(Command::new("no-such-debugger"), Hears::Us, None).unwrap_err();
        assert_eq!(error.code(), Code::ProgramNotFound);
        assert!(error.message().contains("`no-such-debugger`"));
    }

    #[test]
    fn characters_are_not_cut() {
        let text = "a\u{e9}\u{20ac}\u{1f600}".as_bytes();
        let whole: Vec<usize> = (0..=text.len()).map(|end| whole_characters(&text[..end])).collect();
        assert_eq!(whole, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
        assert_eq!(whole_characters(b"\xff\xff"), 2);
    }

    #[test]
    fn only_the_last_words_are_quoted() {
        let tail = Tail::default();
        assert_eq!(tail.quote(), None);
        tail.push(&"x".repeat(100_000));
        tail.push("the end\n");
        let quote = tail.quote().unwrap();
        assert!(quote.starts_with("...x") && quote.ends_with("the end") && quote.len() < 700);
    }
}
