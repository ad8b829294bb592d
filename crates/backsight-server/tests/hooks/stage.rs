//! A workspace of its own for every test, the fixtures, and an agent that sends them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use backsight::report::Snapshot;
use backsight::request::Log;
use backsight::{Disk, Settings, Timestamp, Workspace};
use backsight_server::hook::{Agent, Reply, run};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A workspace with `src/a.rs` and `src/b.rs`, and the agent at work in it.
pub struct Stage {
    _directory: TempDir,
    root: String,
    agent: Agent,
    time: Arc<AtomicI64>,
    pub workspace: Workspace,
}

impl Stage {
    pub fn new(agent: Agent) -> Stage {
        Stage::within(agent, false, false)
    }

    /// The workspace is the user's home directory.
    pub fn in_a_home(agent: Agent) -> Stage {
        Stage::within(agent, true, false)
    }

    /// Time passes as it does on the disk.
    pub fn live(agent: Agent) -> Stage {
        Stage::within(agent, false, true)
    }

    fn within(agent: Agent, is_home: bool, is_live: bool) -> Stage {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir_all(root.join("src")).unwrap();
        let time = Arc::new(AtomicI64::new(1_700_000_000_000));
        let mut settings = settings(is_home.then(|| root.clone()), &time);
        if is_live {
            settings.clock = Arc::new(|| Timestamp::from_system(SystemTime::now()));
        }
        let workspace = Workspace::open_with(&root, settings).unwrap();
        let stage = Stage { _directory: directory, root: root.to_str().unwrap().to_owned(), agent, time, workspace };
        stage.write("src/a.rs", "one\n");
        stage.write("src/b.rs", "b\n");
        stage
    }

    pub fn root(&self) -> &str {
        &self.root
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = Path::new(&self.root).join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(Path::new(&self.root).join(path)).unwrap();
    }

    /// The agent writes down that the use of a tool is over, as Claude Code does for the model.
    pub fn transcribe_end(&self, part: &str) {
        let answer = json!({ "type": "tool_result", "tool_use_id": part, "is_error": true, "content": "interrupted" });
        let line = json!({
            "type": "user",
            "message": { "role": "user", "content": [answer] },
            "timestamp": self.workspace.now(),
        });
        let file = Path::new(&self.root).join("../transcripts/7f1c2a30.jsonl");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("{line}\n")).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(Path::new(&self.root).join(path)).unwrap()
    }

    /// The agent sends a fixture.
    pub fn say(&self, name: &str) -> Reply {
        self.send(&self.payload(name))
    }

    /// The fixture with some of its fields changed, and nothing wrong about the answer.
    pub fn say_with(&self, name: &str, changes: &[(&str, Value)]) -> Reply {
        let mut payload = self.payload(name);
        for (path, value) in changes {
            *payload.pointer_mut(path).unwrap_or_else(|| panic!("{name} has no {path}")) = value.clone();
        }
        self.send(&payload)
    }

    pub fn payload(&self, name: &str) -> Value {
        fixture(self.agent, name, &self.root)
    }

    pub fn send(&self, payload: &Value) -> Reply {
        run(&self.workspace, self.agent, payload, self.workspace.now())
    }

    /// The steps, oldest first: `#2 Edit toolu_1 [src/a.rs] Edit: src/a.rs`; others' changes after a `+`.
    pub fn rows(&self) -> String {
        let page = self.workspace.log(&Log::default()).unwrap();
        let rows: Vec<String> = page.snapshots().rev().map(|step| self.row(step)).collect();
        rows.join("\n")
    }

    fn row(&self, step: &Snapshot) -> String {
        let seq = step.sequence_number;
        let changed = self.workspace.changes_of(&seq.to_string()).unwrap();
        let mut paths: Vec<String> = changed.iter().map(|change| change.path.to_string()).collect();
        paths.retain(|path| !step.unknown_changes.iter().any(|other| other.file_path.to_string() == *path));
        let others: Vec<String> = step.unknown_changes.iter().map(|other| format!("+{}", other.file_path)).collect();
        let files = [paths, others].concat().join(" ");
        let (tool, part) = (step.origin.tool.as_deref(), step.origin.part.as_deref());
        format!("{seq} {} {} [{files}] {}", tool.unwrap_or("-"), part.unwrap_or("-"), step.description)
    }

    pub fn last(&self) -> Snapshot {
        self.workspace.show("@").unwrap()
    }

    pub fn hours_pass(&self, hours: i64) {
        self.time.fetch_add(hours * 3_600_000, Ordering::Relaxed);
    }

    pub fn open(&self) -> usize {
        self.workspace.open_calls().unwrap().len()
    }
}

fn settings(home: Option<PathBuf>, time: &Arc<AtomicI64>) -> Settings {
    let time = time.clone();
    Settings {
        home,
        config_home: None,
        state_home: Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("state")),
        search_path: Vec::new(),
        wait: Duration::from_secs(10),
        process_name: "test".to_owned(),
        progress: Arc::new(|_| {}),
        clock: Arc::new(move || Timestamp(time.fetch_add(1, Ordering::Relaxed))),
        disk: Disk::new(),
        cancelled: Arc::new(|| false),
    }
}

/// The names of the client's fixtures, in order.
pub fn fixtures(agent: Agent) -> Vec<String> {
    let entries = std::fs::read_dir(directory(agent)).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = entries.map(|entry| name(entry).strip_suffix(".json").unwrap().to_owned()).collect();
    names.sort();
    names
}

/// A fixture, in the workspace at `root`.
pub fn fixture(agent: Agent, name: &str, root: &str) -> Value {
    let file = directory(agent).join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text.replace("{root}", root)).unwrap()
}

fn directory(agent: Agent) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/fixtures").join(agent.as_str())
}
