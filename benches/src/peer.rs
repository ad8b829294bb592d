//! The peer: `git` with a bare shadow repository, the way other tools take checkpoints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::measure::{Run, run, run_expecting};
use crate::subject::clean;

/// A shadow repository and the tree it watches.
pub struct Git {
    /// The repository, outside the tree.
    pub git_dir: PathBuf,
    /// The tree.
    pub work_tree: PathBuf,
    /// An empty directory to call home.
    pub home: PathBuf,
}

impl Git {
    /// Makes the repository, removing what was there.
    pub fn init(&self) -> Result<()> {
        if self.git_dir.exists() {
            fs::remove_dir_all(&self.git_dir)?;
        }
        let mut command = Command::new("git");
        clean(&mut command, &self.home);
        isolate(&mut command);
        run(command.args(["init", "-q", "--bare"]).arg(&self.git_dir))?;
        Ok(())
    }

    /// `git add -A && git write-tree`: the time of both, and the tree.
    pub fn snapshot(&self) -> Result<(Duration, String)> {
        let add = run(&mut self.command(&["add", "-A"]))?;
        let write = run(&mut self.command(&["write-tree"]))?;
        Ok((add.elapsed + write.elapsed, String::from_utf8(write.stdout)?.trim().to_owned()))
    }

    /// `git read-tree TREE && git checkout-index -a -f`: the time of both.
    pub fn restore(&self, tree: &str) -> Result<Duration> {
        let read = run(&mut self.command(&["read-tree", tree]))?;
        let checkout = run(&mut self.command(&["checkout-index", "-a", "-f"]))?;
        Ok(read.elapsed + checkout.elapsed)
    }

    /// `git diff --name-status A B`: the time, and how many paths it lists.
    pub fn name_status(&self, from: &str, to: &str) -> Result<(Duration, usize)> {
        let run = run(&mut self.command(&["diff", "--name-status", from, to]))?;
        Ok((run.elapsed, run.stdout.iter().filter(|&&byte| byte == b'\n').count()))
    }

    /// What `git --version` says.
    pub fn version() -> Result<String> {
        let run = run(Command::new("git").arg("--version"))?;
        Ok(String::from_utf8_lossy(&run.stdout).trim().to_owned())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        clean(&mut command, &self.home);
        isolate(&mut command);
        command.env("GIT_DIR", &self.git_dir).env("GIT_WORK_TREE", &self.work_tree);
        command.current_dir(&self.work_tree).args(arguments);
        command
    }
}

/// `git diff --no-index` of two files that differ, which it says with exit status 1.
pub fn compare_files(home: &Path, old: &Path, new: &Path) -> Result<Run> {
    let mut command = Command::new("git");
    clean(&mut command, home);
    isolate(&mut command);
    run_expecting(command.args(["diff", "--no-index", "--no-color"]).arg(old).arg(new), 1)
}

fn isolate(command: &mut Command) {
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
}
