//! The documents can be followed: every transcript in them is played by the real program, with the real browser and
//! debugger, and every command line in them is one that the program takes.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use regex::Regex;

use crate::fixture::{Fixture, words};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every document for users.
fn documents() -> Vec<(String, String)> {
    let below = |directory: &str| -> Vec<String> {
        let names = std::fs::read_dir(root().join(directory)).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(".md"));
        names.map(|name| format!("{directory}/{name}")).collect()
    };
    let names = below("docs").into_iter().chain(below("docs/clients")).chain(["README.md".to_owned()]);
    names.map(|name| (read(&name), name)).map(|(text, name)| (name, text)).collect()
}

/// The blocks of a kind, each with the line before it.
fn blocks<'a>(text: &'a str, kind: &str) -> Vec<(&'a str, &'a str)> {
    let fence = format!("```{kind}\n");
    let starts = text.match_indices(&fence).filter(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
    starts
        .map(|(at, _)| {
            let before = text[..at].trim_end_matches('\n').rsplit('\n').next().unwrap_or_default();
            let body = &text[at + fence.len()..];
            (before, body.split("\n```").next().unwrap_or_default())
        })
        .collect()
}

fn transcript(name: &str) -> String {
    let marker = format!("<!-- played: {name} -->");
    let documents = documents();
    let found: Vec<&str> = documents
        .iter()
        .flat_map(|(_, text)| blocks(text, "console"))
        .filter(|(before, _)| *before == marker)
        .map(|(_, body)| body)
        .collect();
    assert_eq!(found.len(), 1, "{name}");
    found[0].to_owned()
}

/// A reader who types a transcript.
struct Reader<'a> {
    fixture: &'a Fixture,
    directory: PathBuf,
    port: Option<u16>,
    background: Vec<Child>,
}

impl<'a> Reader<'a> {
    fn new(fixture: &'a Fixture) -> Self {
        Reader { fixture, directory: fixture.root().to_owned(), port: None, background: Vec::new() }
    }

    /// In a copy of the example, with `backsight serve` in another terminal.
    fn in_the_shop(fixture: &'a Fixture) -> Self {
        for entry in std::fs::read_dir(root().join("docs/examples/shop")).unwrap().flatten() {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), fixture.root().join(entry.file_name())).unwrap();
            }
        }
        let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
        symlink(tools.join("venv"), fixture.root().join(".venv")).unwrap();
        let mut reader = Reader::new(fixture);
        reader.port = Some(TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port());
        reader.start("backsight serve");
        let began = Instant::now();
        while fixture.ask("serve --show").status != 0 {
            assert!(began.elapsed() < Duration::from_secs(20), "the server does not come");
            std::thread::sleep(Duration::from_millis(20));
        }
        reader
    }

    fn shell(&self, line: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_backsight")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let line = self.port.map_or_else(|| line.to_owned(), |port| line.replace("8000", &port.to_string()));
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).current_dir(&self.directory).stdin(Stdio::null());
        command.env_clear().env("PATH", path).env("HOME", self.fixture.home()).env("LC_ALL", "C.UTF-8");
        command.env("TZ", "UTC").env("GIT_CONFIG_NOSYSTEM", "1").env("NO_COLOR", "1");
        command
    }

    fn start(&mut self, line: &str) {
        let mut command = self.shell(&format!("exec {line}"));
        self.background.push(command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap());
    }

    /// Types every line and compares what comes; the order of what comes is left to the program.
    fn play(&mut self, transcript: &str) {
        for act in format!("\n{transcript}").split("\n$ ").skip(1) {
            let (line, expected) = act.split_once('\n').unwrap_or((act, ""));
            if let Some(line) = line.strip_suffix(" &") {
                self.start(line);
                self.wait_for_the_port();
                continue;
            }
            if line.starts_with("backsight changes") {
                self.wait_for_the_app(line, expected);
            }
            let output = self.shell(line).output().unwrap();
            let said =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
            let mut came: Vec<String> =
                said.lines().map(|line| self.plain(line)).filter(|line| !line.is_empty()).collect();
            for wanted in expected.lines().filter(|line| *line != "...").map(|line| self.plain(line)) {
                if wanted.is_empty() {
                    continue;
                }
                let found = came.iter().position(|line| *line == wanted);
                let found = found.unwrap_or_else(|| panic!("`{line}` does not say `{wanted}`:\n{said}"));
                came.remove(found);
            }
            let is_whole = !expected.lines().any(|line| line == "...");
            assert!(!is_whole || came.is_empty(), "`{line}` says more: {came:?}");
        }
    }

    /// A user types it when the page has done what it does: until then it is only peeked at.
    fn wait_for_the_app(&self, line: &str, expected: &str) {
        let began = Instant::now();
        let verdict = self.plain(expected.lines().next().unwrap_or_default());
        while began.elapsed() < Duration::from_secs(20) {
            let output = self.shell(&format!("{line} --peek")).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            if said.lines().next().is_some_and(|first| self.plain(first) == verdict) {
                return;
            }
        }
    }

    fn wait_for_the_port(&self) {
        let (Some(port), began) = (self.port, Instant::now()) else { return };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(20), "nothing listens at {port}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A line without what differs from run to run, and from place to place.
    fn plain(&self, line: &str) -> String {
        let mut line = line.replace(self.directory.to_str().unwrap(), "/home/me/shop");
        if let Some(port) = self.port {
            line = line.replace(&port.to_string(), "8000");
        }
        for (pattern, token) in [
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[ID]"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "[TIME]"),
            (r"to \d\d:\d\d:\d\d UTC", "to [TIME] UTC"),
            (r"\b\d+(\.\d+)? (s|ms)\b", "[DURATION]"),
            (r"\b[0-9a-f]{8,40}\b", "[HASH]"),
            (r" · [acnw]\d+$", " · [ENTRY]"),
            (r"Console +\d+ new", "Console [N] new"),
            (r"\(\d+ new objects?\)", "([N] new objects)"),
            // The milliseconds of a hit.
            (r"^( +\d+) +\d+( +Order)", "$1 [MS]$2"),
            (r"^ +hit.*", "[HEADING]"),
            (r"\s+", " "),
        ] {
            line = Regex::new(pattern).unwrap().replace_all(&line, token).into_owned();
        }
        line.trim().to_owned()
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        for child in &mut self.background {
            // The group: `run` has a child of its own.
            let _ = Command::new("kill").arg("--").arg(format!("-{}", child.id())).status();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_milestone_is_made_exported_and_taken_back_as_its_page_says() {
    let fixture = Fixture::new();
    fixture.write("shop.py", "def price(n): return n\n");
    fixture.git("init -q");
    fixture.git("add -A");
    fixture.git("commit -qm start");
    Reader::new(&fixture).play(&transcript("milestone"));
}

#[test]
fn a_step_goes_and_what_others_did_stays_as_the_page_on_files_says() {
    let fixture = Fixture::new();
    fixture.write("shop.py", "def price(n):\n    return n\n\n\nprint(price(3))\n");
    let mut reader = Reader::new(&fixture);
    reader.play(&transcript("step"));
    reader.play(&transcript("overlap, after step"));
}

#[test]
fn the_app_is_watched_as_its_page_says() {
    let fixture = Fixture::new();
    Reader::in_the_shop(&fixture).play(&transcript("app"));
}

#[test]
fn the_program_is_debugged_as_its_page_says() {
    let fixture = Fixture::new();
    Reader::in_the_shop(&fixture).play(&transcript("program"));
}

/// A transcript that no test plays would be wrong before long.
#[test]
fn every_transcript_is_played() {
    let played =
        ["milestone", "app", "program", "step", "overlap, after step"].map(|name| format!("<!-- played: {name} -->"));
    for (name, text) in documents() {
        for (number, (before, _)) in blocks(&text, "console").into_iter().enumerate() {
            // The first of the README is the demo: `demo::the_picture_in_the_readme_is_what_the_demo_shows`.
            let is_demo = name == "README.md" && number == 0;
            assert!(
                is_demo || played.iter().any(|marker| marker == before),
                "{name}: transcript {number} is not played"
            );
        }
    }
}

/// Lists of commands have no output to compare, but every command and flag in them must exist.
#[test]
fn every_command_in_the_documents_is_one() {
    let fixture = Fixture::new();
    let mut count = 0;
    // Those are generated from the program itself.
    let generated = ["docs/CLI.md", "docs/TOOLS.md", "docs/HTTP.md"];
    for (name, text) in documents().into_iter().filter(|(name, _)| !generated.contains(&name.as_str())) {
        for line in blocks(&text, "").into_iter().flat_map(|(_, body)| body.lines()) {
            let Some(at) = line.find("backsight ").filter(|at| *at == 0 || line[..*at].ends_with("$(")) else {
                continue;
            };
            let line = line[at + "backsight ".len()..].split("  #").next().unwrap().split(" # ").next().unwrap();
            let line =
                line.split(" |").next().unwrap().split(" >").next().unwrap().trim_end_matches(')').replace('"', "'");
            // After `--`, and behind `run`, a command of the user's follows.
            let own = line.split(" -- ").next().unwrap();
            let own = if own.starts_with("run ") { "run" } else { own };
            let arguments = words(&own.replace("HASH", &"0".repeat(64)));
            let output = fixture.command("").args(&arguments).arg("--help").output().unwrap();
            assert!(output.status.success(), "{name}: `backsight {line}`: {}", String::from_utf8_lossy(&output.stderr));
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

/// The example of the library is the one that is compiled and run with the crate's documentation.
#[test]
fn the_rust_example_is_the_crates_own() {
    let page = read("docs/EMBEDDING.md");
    let own = read("crates/backsight/src/lib.rs");
    let shown = blocks(&page, "rust");
    assert_eq!(shown.len(), 1);
    for line in shown[0].1.lines().filter(|line| !line.is_empty()) {
        assert!(own.contains(&format!("//! {line}\n")), "{line}");
    }
}

/// Every call that the page for embedders names is one of the library's.
#[test]
fn every_call_that_embedders_are_shown_exists() {
    let page = read("docs/EMBEDDING.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| want"));
    let names = rows.flat_map(|row| row.rsplit('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2));
    let sources = sources(&root().join("crates/backsight/src/workspace")) + &read("crates/backsight/src/workspace.rs");
    let mut count = 0;
    for name in names {
        assert!(sources.contains(&format!("pub fn {name}(")), "the library has no `{name}`");
        count += 1;
    }
    assert!(count > 15, "{count}");
}

fn sources(directory: &Path) -> String {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { sources(&path) } else { std::fs::read_to_string(path).unwrap() }).collect()
}
