//! A workspace of its own for every test, the real binary, and a transcript in which nothing depends on the machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A workspace in a temp directory, with a home that holds nothing.
pub struct Fixture {
    directory: TempDir,
    root: PathBuf,
}

impl Fixture {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("ws");
        for name in ["ws", "home", "config", "state"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
        }
        Fixture { directory, root }
    }

    /// Three recorded steps: `a.txt` and `b.txt`, an agent's edit of `a.txt`, a new `c.txt`.
    pub fn with_history() -> Self {
        let fixture = Fixture::new();
        fixture.write("a.txt", &numbered(&[]));
        fixture.write("b.txt", "b\n");
        fixture.done("track -m start");
        fixture.write("a.txt", &numbered(&[(2, "agent")]));
        fixture.done("track -m 'agent edits a' --tool edit --session s1 --message m1");
        fixture.write("c.txt", "c\n");
        fixture.done("track -m 'add c'");
        fixture
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.root.join(path)).unwrap();
    }

    /// The command, ready to run in the workspace, with nothing of the caller's environment.
    pub fn command(&self, line: &str) -> Command {
        let base = self.directory.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_backsight"));
        command.args(words(line)).current_dir(&self.root).stdin(Stdio::null()).env_clear();
        command.env("HOME", base.join("home")).env("TZ", "UTC").env("COLUMNS", "100");
        command.env("XDG_CONFIG_HOME", base.join("config")).env("XDG_STATE_HOME", base.join("state"));
        command
    }

    /// What a person sees.
    #[must_use = "a transcript is there to be compared"]
    pub fn run(&self, line: &str) -> String {
        self.transcript(self.command(line))
    }

    #[must_use = "a transcript is there to be compared"]
    pub fn transcript(&self, mut command: Command) -> String {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let mut text = String::from_utf8_lossy(&stdout).into_owned();
        if !stderr.is_empty() {
            text.push_str("---- stderr\n");
            text.push_str(&String::from_utf8_lossy(&stderr));
        }
        text.push_str(&format!("---- exit {}", status.code().unwrap()));
        self.normalise(&text)
    }

    /// Runs a step that only prepares.
    pub fn done(&self, line: &str) {
        let output = self.command(line).output().unwrap();
        assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The one JSON object on stdout, and the exit status.
    pub fn json(&self, line: &str) -> (Value, i32) {
        let output = self.command(line).arg_json().output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}\n{text}"));
        assert!(value["ok"].is_boolean(), "{line}: {text}");
        (value, output.status.code().unwrap())
    }

    /// Replaces what differs from run to run.
    pub fn normalise(&self, text: &str) -> String {
        let base = self.directory.path().canonicalize().unwrap();
        normalise(&text.replace(base.to_str().unwrap(), "[TMP]"))
    }
}

/// `--json` goes first: after `--` it would be a path.
trait ArgJson {
    fn arg_json(self) -> Self;
}

impl ArgJson for Command {
    fn arg_json(self) -> Self {
        let mut command = Command::new(self.get_program());
        command.arg("--json").args(self.get_args()).stdin(Stdio::null()).env_clear();
        command.current_dir(self.get_current_dir().unwrap());
        command.envs(self.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command
    }
}

/// Ten numbered lines, some of them replaced.
pub fn numbered(replaced: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let found = replaced.iter().find(|(at, _)| *at == number);
        found.map_or_else(|| format!("line {number}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=10).map(line).collect()
}

/// Splits a command line at spaces; single quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, piece) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Ids, times and sizes as tokens.
fn normalise(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_alphanumeric() {
            word.push(character);
            continue;
        }
        out.push_str(token(&word));
        word.clear();
        if character != '\0' {
            out.push(character);
        }
    }
    times(&out)
}

fn token(word: &str) -> &str {
    let hex = word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    match word.len() {
        40 if hex => "[OBJECT]",
        16 if hex => "[SNAPSHOT-ID]",
        8 | 10 if hex => "[SHORT]",
        _ => word,
    }
}

/// A time such as `2026-08-01 14:00:00 +00:00`, and ages of a slow run.
fn times(text: &str) -> String {
    let line = |line: &str| -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |word: &str| word.len() == 8 && word.bytes().filter(|&byte| byte == b':').count() == 2;
        let is_date = |word: &str| word.len() == 10 && word.bytes().filter(|&byte| byte == b'-').count() == 2;
        let is_instant = |word: &str| word.starts_with("20") && word.ends_with("Z:") && word.contains('T');
        let kept = words.iter().map(|word| match *word {
            word if is_date(word) => "[DATE]",
            word if is_time(word) => "[TIME]",
            word if is_instant(word) => "[INSTANT]:",
            word => word,
        });
        kept.collect::<Vec<_>>().join(" ").trim_end().to_owned()
    };
    let mut text = text.split('\n').map(line).collect::<Vec<_>>().join("\n");
    for seconds in 10..60 {
        text = text.replace(&format!("{seconds} s ago"), "just now");
    }
    text
}
