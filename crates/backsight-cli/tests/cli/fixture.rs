//! A workspace of its own for every test, the real binary, and a transcript in which nothing depends on the machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::picture::Picture;

/// A workspace in a temp directory, with a home that holds nothing.
pub struct Fixture {
    directory: TempDir,
    root: PathBuf,
}

impl Fixture {
    pub fn new() -> Self {
        Fixture::within(tempfile::tempdir().unwrap())
    }

    /// In memory where the system has such a place: for tests that write a lot and do not care about the disk.
    pub fn in_memory() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Fixture::within(directory.unwrap())
    }

    fn within(directory: TempDir) -> Self {
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

    /// Changes the timeline behind Backsight's back: older versions took names that are refused now.
    pub fn forge(&self, sql: &str) {
        let database = rusqlite::Connection::open(self.root.join(".backsight/store/timeline.db")).unwrap();
        database.execute_batch(sql).unwrap();
    }

    /// The directory that holds the workspace, the home and the rest.
    pub fn base(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    /// Writes the user's own settings.
    pub fn user_settings(&self, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let file = self.base().join("config/backsight/config.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub fn home(&self) -> PathBuf {
        self.base().join("home")
    }

    pub fn picture(&self) -> Picture {
        Picture::of(&self.root)
    }

    /// Asks with `--json`, whatever the answer.
    pub fn ask(&self, line: &str) -> Answer {
        Answer::of(&mut self.command(line).arg_json(), line)
    }

    /// The same, with further arguments that need not be text.
    pub fn ask_with(&self, line: &str, arguments: &[&OsStr]) -> Answer {
        Answer::of(self.command(line).arg_json().args(arguments), line)
    }

    /// Asks for something that must succeed.
    #[track_caller]
    pub fn ok(&self, line: &str) -> Value {
        self.ask(line).ok()
    }

    /// Records the files; the sequence number.
    #[track_caller]
    pub fn track(&self) -> u64 {
        self.ok("track")["sequence_number"].as_u64().unwrap()
    }

    /// Fails unless every object and row of the store is whole.
    #[track_caller]
    pub fn verify(&self) {
        let answer = self.ask("verify");
        assert!(answer.status == 0 && answer.json["clean"] == true, "verify: {}", answer.json);
    }

    /// The contents of a file of a snapshot.
    #[track_caller]
    pub fn cat(&self, reference: &str, path: &[u8]) -> Vec<u8> {
        let output = self.command(&format!("cat '{reference}' --")).arg(crate::picture::path(path)).output().unwrap();
        assert!(output.status.success(), "cat {reference}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// Real git, in the workspace, with this fixture's home.
    pub fn git(&self, line: &str) -> String {
        self.git_in(&self.root, line)
    }

    /// Real git in any directory; it must succeed.
    #[track_caller]
    pub fn git_in(&self, directory: &Path, line: &str) -> String {
        let output = self.git_command(directory).args(words(line)).output().unwrap();
        assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Real git with an identity and nothing of the machine's configuration.
    pub fn git_command(&self, directory: &Path) -> Command {
        let mut command = Command::new("git");
        command.current_dir(directory).stdin(Stdio::null()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home()).env("XDG_CONFIG_HOME", self.base().join("config"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_OPTIONAL_LOCKS", "0");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@t");
        }
        command
    }

    /// Replaces what differs from run to run.
    pub fn normalise(&self, text: &str) -> String {
        let base = self.directory.path().canonicalize().unwrap();
        normalise(&text.replace(base.to_str().unwrap(), "[TMP]"))
    }
}

/// One answer of `--json`.
pub struct Answer {
    pub json: Value,
    pub status: i32,
    line: String,
}

impl Answer {
    /// Runs it; whatever happens, stdout is one object and nothing panics.
    #[track_caller]
    pub fn of(command: &mut Command, line: &str) -> Answer {
        let output = command.output().unwrap();
        Answer::read(&output, line)
    }

    #[track_caller]
    pub fn read(output: &Output, line: &str) -> Answer {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!stderr.contains("panicked"), "{line}: {stderr}");
        let json: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{line}: {error}: {:?}\n{text}\n{stderr}", output.status));
        let status = output.status.code().unwrap();
        // Status 1 is the answer "no"; only `verify` calls its "no" a failure as well.
        let is_failure = status > 1 || (status == 1 && line.contains("verify"));
        assert_eq!(json["ok"] == true, !is_failure, "{line}: {status} {json}");
        Answer { json, status, line: line.to_owned() }
    }

    #[track_caller]
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 0, "{}: {}", self.line, self.json);
        self.json
    }

    /// Must fail with this code and exit status; the error.
    #[track_caller]
    pub fn fails(self, code: &str, status: i32) -> Value {
        assert_eq!((self.code(), self.status), (code, status), "{}: {}", self.line, self.json);
        self.json["error"].clone()
    }

    pub fn code(&self) -> &str {
        self.json["error"]["code"].as_str().unwrap_or("")
    }
}

/// `--json` goes first: after `--` it would be a path.
pub trait ArgJson {
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
pub fn words(line: &str) -> Vec<String> {
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
        64 if hex => "[CHAIN]",
        40 if hex => "[OBJECT]",
        16 if hex => "[SNAPSHOT-ID]",
        8 | 10 if hex => "[SHORT]",
        24 | 32 if hex => "[PLAN]",
        _ => word,
    }
}

/// A time such as `2026-08-01 14:00:00 +00:00`, and ages of a slow run.
fn times(text: &str) -> String {
    let line = |line: &str| -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |word: &str| word.len() == 8 && word.bytes().filter(|&byte| byte == b':').count() == 2;
        let is_date = |word: &str| {
            word.len() == 10 && word.starts_with("20") && word.bytes().filter(|&byte| byte == b'-').count() == 2
        };
        let is_instant = |word: &str| word.starts_with("20") && word.ends_with("Z:") && word.contains('T');
        let is_number = |word: &str| word.parse::<f64>().is_ok();
        let kept = words.iter().enumerate().map(|(index, word)| match *word {
            word if is_number(word) && line.starts_with("took ") => "[N]",
            "ms" | "s" if index > 0 && is_number(words[index - 1]) && line.starts_with("took ") => "[UNIT]",
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
