//! The command on a real terminal: colours, keys, sizes, Ctrl-C, and a terminal that closes.

use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{self, Pty};

use super::{eventually, is_alive, python};
use crate::fixture::Fixture;

/// A terminal with somebody in front of it.
pub struct Terminal {
    pub pty: Pty,
    pub child: Child,
    shown: Receiver<Vec<u8>>,
    pub seen: String,
}

impl Terminal {
    pub fn start(mut command: Command) -> Terminal {
        let (pty, pts) = blocking::open().unwrap();
        pty.resize(Size::new(30, 90)).unwrap();
        command.env_remove("COLUMNS").env("TERM", "xterm-256color");
        let child = blocking::Command::from(command).spawn(pts).unwrap();
        let (sender, shown) = channel();
        let mut reader = std::fs::File::from(std::os::fd::AsFd::as_fd(&pty).try_clone_to_owned().unwrap());
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Terminal { pty, child, shown, seen: String::new() }
    }

    /// Reads until the text is there.
    #[track_caller]
    pub fn shows(&mut self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !self.seen.contains(text) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.shown.recv_timeout(left) {
                Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
                Err(error) => panic!("{error}: `{text}` is not shown: {:?}", self.seen),
            }
        }
    }

    /// Reads until what was shown so far is as wanted.
    #[track_caller]
    pub fn until<T>(&mut self, what: &str, wanted: impl Fn(&str) -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(found) = wanted(&self.seen) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.shown.recv_timeout(left) {
                Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
                Err(error) => panic!("{error}: {what} is not shown: {:?}", self.seen),
            }
        }
    }

    pub fn types(&self, keys: &str) {
        (&self.pty).write_all(keys.as_bytes()).unwrap();
    }

    pub fn status(&mut self) -> Option<i32> {
        eventually("it ends", || self.child.try_wait().unwrap()).code()
    }
}

#[test]
fn the_command_has_a_terminal_of_the_same_size_with_colours() {
    let fixture = Fixture::new();
    let program = "import os,sys; print([os.isatty(fd) for fd in (0,1,2)], tuple(os.get_terminal_size())); \
                   print('\\033[31mred\\033[0m'); sys.exit(5)";
    let mut terminal = Terminal::start(python(&fixture, program));
    terminal.shows("[True, True, True] (90, 30)\r\n");
    terminal.shows("\x1b[31mred\x1b[0m\r\n");
    assert_eq!(terminal.status(), Some(5));
}

#[test]
fn what_is_typed_reaches_the_command_and_is_shown_once() {
    let fixture = Fixture::new();
    let mut terminal = Terminal::start(python(&fixture, "print('hello ' + input('name? '))"));
    terminal.shows("name? ");
    terminal.types("ada\r");
    terminal.shows("hello ada\r\n");
    assert_eq!(terminal.seen.matches("ada").count(), 2, "{:?}", terminal.seen);
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn a_key_is_there_without_enter_when_the_command_wants_that() {
    let fixture = Fixture::new();
    let program = "import sys,tty; tty.setcbreak(0); print('press'); print('got', sys.stdin.read(1))";
    let mut terminal = Terminal::start(python(&fixture, program));
    terminal.shows("press");
    terminal.types("r");
    terminal.shows("got r");
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn ctrl_c_is_the_commands() {
    let fixture = Fixture::new();
    let program = "import time,sys\ntry:\n  print('ready'); time.sleep(1000)\nexcept KeyboardInterrupt:\n  print('bye'); sys.exit(9)";
    let mut terminal = Terminal::start(python(&fixture, program));
    terminal.shows("ready");
    terminal.types("\x03");
    terminal.shows("bye");
    assert_eq!(terminal.status(), Some(9));
}

#[test]
fn a_new_size_reaches_the_command() {
    let fixture = Fixture::new();
    let program = "import os,signal,sys\n\
                   def told(*_): print('now', os.get_terminal_size().columns); sys.exit(0)\n\
                   signal.signal(signal.SIGWINCH, told); print('ready'); signal.pause()";
    let mut terminal = Terminal::start(python(&fixture, program));
    terminal.shows("ready");
    terminal.pty.resize(Size::new(20, 66)).unwrap();
    terminal.shows("now 66");
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn the_terminal_is_as_it_was_afterwards() {
    let fixture = Fixture::new();
    let mut shell = Command::new("sh");
    let script = format!(
        "stty -a > before; '{}' run --name app -- sh -c 'echo inside; stty -a > within'; stty -a > after; echo done",
        env!("CARGO_BIN_EXE_backsight")
    );
    shell.args(["-c", &script]).current_dir(fixture.root());
    let mut terminal = Terminal::start(shell);
    terminal.shows("done");
    assert_eq!(terminal.status(), Some(0));
    assert!(terminal.seen.contains("inside"), "{:?}", terminal.seen);
    assert_eq!(fixture.read("before"), fixture.read("after"));
    assert_eq!(fixture.read("before"), fixture.read("within"), "the command's terminal is set like the real one");
}

#[test]
fn what_is_no_terminal_here_is_none_for_the_command() {
    let fixture = Fixture::new();
    let script = "echo piped | $B run --name app -- sh -c 'cat; test -t 0 || echo no keys; test -t 1 && echo a screen'
                  $B run --name app -- sh -c 'echo out; echo wrong >&2; test -t 2 || echo errors apart' 2>errors
                  $B run --name app -- sh -c 'test -t 1 || echo no screen; exit 3' | cat
                  echo done";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).env("B", env!("CARGO_BIN_EXE_backsight")).current_dir(fixture.root());
    let mut terminal = Terminal::start(shell);
    terminal.shows("done\r\n");
    assert_eq!(terminal.status(), Some(0));
    for text in ["piped", "no keys", "a screen", "out", "errors apart", "no screen"] {
        assert_eq!(terminal.seen.matches(&format!("{text}\r\n")).count(), 1, "{text}: {:?}", terminal.seen);
    }
    assert!(fixture.read("errors").contains("wrong\n"), "{}", fixture.read("errors"));
}

#[test]
fn in_the_background_it_leaves_the_keyboard_alone() {
    let fixture = Fixture::new();
    let script =
        "set -m; $B run --name app -- sh -c 'echo behind; sleep 0.2' & read line; echo \"got $line\"; wait; echo done";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).env("B", env!("CARGO_BIN_EXE_backsight")).current_dir(fixture.root());
    let mut terminal = Terminal::start(shell);
    terminal.shows("behind");
    terminal.types("mine\r");
    terminal.shows("got mine");
    terminal.shows("done");
    assert!(terminal.seen.contains("behind\r\n"), "{:?}", terminal.seen);
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn a_terminal_that_closes_ends_the_command() {
    let fixture = Fixture::new();
    let mut terminal =
        Terminal::start(python(&fixture, "import os,signal; print('pid', os.getpid(), '.'); signal.pause()"));
    terminal.shows(" .");
    let pid = terminal.seen.split("pid ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let Terminal { pty, mut child, shown, .. } = terminal;
    drop(shown);
    drop(pty);
    // The thread that reads holds the terminal too; the next thing that is shown ends it, or the kernel does.
    let _ = Command::new("kill").args(["-HUP", &child.id().to_string()]).status();
    eventually("the command is gone", || (!is_alive(&pid)).then_some(()));
    assert_eq!(child.wait().unwrap().code(), Some(128 + 1));
}

#[test]
fn being_killed_ends_the_command_too() {
    let fixture = Fixture::new();
    let mut terminal =
        Terminal::start(python(&fixture, "import os,signal; print('pid', os.getpid(), '.'); signal.pause()"));
    terminal.shows(" .");
    let pid = terminal.seen.split("pid ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(is_alive(&pid));
    terminal.child.kill().unwrap();
    eventually("the command is gone", || (!is_alive(&pid)).then_some(()));
    terminal.child.wait().unwrap();
}
