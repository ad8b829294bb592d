//! Backsight from outside: the binary, its `--json`, nothing else.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::Result;
use crate::measure::run;

/// The binary under test, working on one directory.
pub struct Backsight {
    /// The binary.
    pub binary: PathBuf,
    /// An empty directory to call home, so that nothing of the user's takes part.
    pub home: PathBuf,
    /// The workspace.
    pub workspace: PathBuf,
}

/// What `track` answers, as far as it matters here.
#[derive(Deserialize)]
pub struct Tracked {
    /// The snapshot.
    pub id: String,
    /// Its place in the timeline.
    pub sequence_number: u64,
    /// Its Git tree.
    pub tree: String,
    /// False when nothing had changed.
    pub created: bool,
}

impl Backsight {
    /// Where everything Backsight stores for the workspace is.
    pub fn store(&self) -> PathBuf {
        self.workspace.join(".backsight")
    }

    /// The command with a clean environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("-C").arg(&self.workspace).arg("--json").args(arguments);
        clean(&mut command, &self.home);
        command
    }

    /// The time of a process that does nothing.
    pub fn start_up(&self) -> Result<Duration> {
        Ok(run(Command::new(&self.binary).arg("--version").stderr(Stdio::null()))?.elapsed)
    }

    /// Records the files as they are.
    pub fn track(&self) -> Result<(Duration, Tracked)> {
        let (elapsed, answer) = self.ask(&["track", "-m", "bench"])?;
        Ok((elapsed, serde_json::from_value(answer)?))
    }

    /// Any other command and its answer.
    pub fn ask(&self, arguments: &[&str]) -> Result<(Duration, Value)> {
        let run = run(&mut self.command(arguments))?;
        let answer: Value = serde_json::from_slice(&run.stdout)?;
        match answer["ok"].as_bool() {
            Some(true) => Ok((run.elapsed, answer)),
            _ => Err(format!("`backsight {}` answered {answer}", arguments.join(" ")).into()),
        }
    }
}

/// Leaves a process only what it needs, so that no setting of the user's changes what is measured.
pub fn clean(command: &mut Command, home: &Path) {
    command.env_clear().env("HOME", home).env("LC_ALL", "C");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
}
