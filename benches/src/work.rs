//! The work that is measured, one function each. Both sides have a tree of their own, made alike and edited alike:
//! `git checkout-index` rewrites every file, and on a shared tree the other side would pay for that.

use std::cell::RefCell;
use std::fs;
use std::time::Duration;

use crate::Result;
use crate::disk::{Size, usage};
use crate::limits::{content_pass, stat_walk};
use crate::measure::{Rounds, Samples, interleave};
use crate::peer::Git;
use crate::subject::{Backsight, Tracked};
use crate::table::{Ratio, Row, Table};
use crate::tree::{Edits, Tree};

pub const ADD: &str = "git add -A && git write-tree";
const CHECKOUT: &str = "git read-tree && git checkout-index -a -f";
const WALK: &str = "bare parallel stat walk";

/// How many files differ between the two trees that `patch` compares.
const PATCHED: usize = 300;

/// Both sides and what was measured so far.
pub struct Bench {
    /// The binary under test.
    pub backsight: Backsight,
    /// Its tree.
    pub ours: Tree,
    /// The peer.
    pub git: Git,
    /// The peer's tree.
    pub theirs: Tree,
    /// The edits made on both.
    pub edits: Edits,
    /// The results.
    pub table: Table,
    /// How often quick work is repeated.
    pub rounds: Rounds,
    /// How often a first snapshot is repeated.
    pub first_rounds: usize,
    /// How many snapshots the long run takes.
    pub snapshots: usize,
}

impl Bench {
    /// A first snapshot into a fresh store, and the least any first snapshot must do.
    pub fn first(&mut self) -> Result<()> {
        let trees = RefCell::new([String::new(), String::new()]);
        let mut ours = || {
            remove(&self.backsight)?;
            rustix::fs::sync();
            let (elapsed, tracked) = self.backsight.track()?;
            trees.borrow_mut()[0] = tracked.tree;
            Ok(elapsed)
        };
        let mut theirs = || {
            self.git.init()?;
            rustix::fs::sync();
            let (elapsed, tree) = self.git.snapshot()?;
            trees.borrow_mut()[1] = tree;
            Ok(elapsed)
        };
        let mut pass = || Ok(content_pass(&self.ours)?.elapsed);
        let rounds = Rounds { warm_up: 0, timed: self.first_rounds };
        let [ours, theirs, pass] = interleave(rounds, || Ok(()), [&mut ours, &mut theirs, &mut pass])?;
        let trees = trees.into_inner();
        if trees[0] != trees[1] {
            return Err(format!("the trees differ: backsight says {}, git says {}", trees[0], trees[1]).into());
        }
        self.table.push(Row::times("first snapshot", &ours, ADD, &theirs, Ratio::Faster(4.0)));
        let limit = "bare read + SHA-1 + deflate pass";
        self.table.push(Row::times("first snapshot", &ours, limit, &pass, Ratio::Multiple));
        Ok(())
    }

    /// A snapshot when nothing has changed.
    pub fn unchanged(&mut self) -> Result<()> {
        self.settle()?;
        let mut ours = || match self.backsight.track()? {
            (elapsed, Tracked { created: false, .. }) => Ok(elapsed),
            (_, tracked) => Err(format!("nothing changed, yet snapshot {} was created", tracked.id).into()),
        };
        let mut theirs = || Ok(self.git.snapshot()?.0);
        let mut walk = || Ok(stat_walk(&self.ours.root)?.elapsed);
        let samples = interleave(self.rounds, || Ok(()), [&mut ours, &mut theirs, &mut walk])?;
        self.snapshot_rows("nothing changed", &samples);
        Ok(())
    }

    /// A look for unknown changes when there are none, against a snapshot when nothing has changed.
    pub fn unknown(&mut self) -> Result<()> {
        self.settle()?;
        let mut ours = || match self.backsight.ask(&["unknown", "detect"])? {
            (elapsed, answer) if answer["has_unknown_changes"] == false => Ok(elapsed),
            (_, answer) => Err(format!("nothing changed, yet {answer}").into()),
        };
        let mut snapshot = || Ok(self.backsight.track()?.0);
        let [ours, snapshot] = interleave(self.rounds, || Ok(()), [&mut ours, &mut snapshot])?;
        let against = "our snapshot, nothing changed";
        self.table.push(Row::times("unknown changes: none", &ours, against, &snapshot, Ratio::AtMost(1.0)));
        Ok(())
    }

    /// A snapshot after one small edit.
    pub fn one_edit(&mut self) -> Result<()> {
        self.settle()?;
        let edits = &mut self.edits;
        let mut ours = || match self.backsight.track()? {
            (elapsed, Tracked { created: true, .. }) => Ok(elapsed),
            _ => Err("a file changed, yet no snapshot was created".into()),
        };
        let mut theirs = || Ok(self.git.snapshot()?.0);
        let mut walk = || Ok(stat_walk(&self.ours.root)?.elapsed);
        let prepare = || {
            edits.next(&[&self.ours, &self.theirs])?;
            // A side that syncs must not pay for what the other left to be written.
            rustix::fs::sync();
            Ok(())
        };
        let samples = interleave(self.rounds, prepare, [&mut ours, &mut theirs, &mut walk])?;
        self.snapshot_rows("one file changed", &samples);
        Ok(())
    }

    /// The list of files that differ between two trees.
    pub fn patch(&mut self) -> Result<()> {
        let ((_, from), (_, git_from)) = (self.backsight.track()?, self.git.snapshot()?);
        let step = self.ours.texts.len() / PATCHED.min(self.ours.texts.len());
        let changed: Vec<_> = self.ours.texts.iter().step_by(step).take(PATCHED).collect();
        for path in &changed {
            self.ours.append(path, "// patched\n")?;
            self.theirs.append(path, "// patched\n")?;
        }
        let ((_, to), (_, git_to)) = (self.backsight.track()?, self.git.snapshot()?);
        rustix::fs::sync();
        let mut ours = || {
            let (elapsed, answer) = self.backsight.ask(&["patch", &from.id, &to.id])?;
            expect_count("backsight patch", answer["files"].as_array().map_or(0, Vec::len), changed.len())?;
            Ok(elapsed)
        };
        let mut theirs = || {
            let (elapsed, count) = self.git.name_status(&git_from, &git_to)?;
            expect_count("git diff", count, changed.len())?;
            Ok(elapsed)
        };
        let [ours, theirs] = interleave(self.rounds, || Ok(()), [&mut ours, &mut theirs])?;
        let work = format!("patch of {} files", changed.len());
        self.table.push(Row::times(&work, &ours, "git diff --name-status", &theirs, Ratio::Faster(1.0)));
        Ok(())
    }

    /// Going back to a snapshot from which one file differs. There is no sync between the runs: it would write out what
    /// the peer has just rewritten, which is every file, only for the peer to rewrite it again.
    pub fn restore(&mut self) -> Result<()> {
        let ((_, tracked), (_, tree)) = (self.backsight.track()?, self.git.snapshot()?);
        let edits = RefCell::new(&mut self.edits);
        let mut ours = || {
            let path = self.ours.root.join(&self.ours.texts[self.ours.texts.len() / 2]);
            let before = fs::read(&path)?;
            fs::write(&path, [&before[..], b"// displaced\n"].concat())?;
            let elapsed = self.backsight.ask(&["restore", &tracked.id])?.0;
            match fs::read(&path)? == before {
                true => Ok(elapsed),
                false => Err("restore did not bring the file back".into()),
            }
        };
        let mut theirs = || {
            edits.borrow_mut().next(&[&self.theirs])?;
            self.git.restore(&tree)
        };
        let [ours, theirs] = interleave(self.rounds, || Ok(()), [&mut ours, &mut theirs])?;
        self.table.push(Row::times("restore of one file", &ours, CHECKOUT, &theirs, Ratio::Faster(20.0)));
        Ok(())
    }

    /// Undoing a step that touched one file.
    pub fn revert(&mut self) -> Result<()> {
        let tree = self.git.snapshot()?.1;
        let edits = RefCell::new(&mut self.edits);
        let mut ours = || {
            edits.borrow_mut().next(&[&self.ours])?;
            let step = self.backsight.track()?.1;
            let (elapsed, answer) = self.backsight.ask(&["revert", &format!("#{}", step.sequence_number)])?;
            expect_count("backsight revert", answer["reverted"].as_array().map_or(0, Vec::len), 1)?;
            Ok(elapsed)
        };
        let mut theirs = || {
            edits.borrow_mut().next(&[&self.theirs])?;
            self.git.restore(&tree)
        };
        let [ours, theirs] = interleave(self.rounds, || Ok(()), [&mut ours, &mut theirs])?;
        self.table.push(Row::times("revert of one file", &ours, CHECKOUT, &theirs, Ratio::Faster(20.0)));
        Ok(())
    }

    /// Many snapshots of one small edit each: what they cost on disk, and whether they get slower.
    pub fn many(&mut self) -> Result<()> {
        self.settle()?;
        let count = self.snapshots;
        let before = usage(&self.backsight.store())?;
        let times = repeat(count, &self.ours, || Ok(self.backsight.track()?.0))?;
        let ours = usage(&self.backsight.store())?.growth_per(before, count);

        // The peer's growth does not depend on how many came before, so a tenth is enough to know it.
        let fewer = count.div_ceil(10);
        let before = usage(&self.git.git_dir)?;
        let git_times = repeat(fewer, &self.theirs, || Ok(self.git.snapshot()?.0))?;
        let theirs = usage(&self.git.git_dir)?.growth_per(before, fewer);

        self.size_rows(count, fewer, ours, theirs);
        let window = (count / 4).clamp(1, 100);
        let part = |times: &[Duration]| Samples::new(times.to_vec());
        let (first, last) = (part(&times[..window]), part(&times[count - window..]));
        let work = format!("the last {window} of {count} snapshots");
        self.table.push(Row::times(&work, &last, &format!("the first {window}"), &first, Ratio::AtMost(1.1)));
        let work = format!("one of {count} snapshots");
        self.table.push(Row::times(&work, &part(&times), ADD, &Samples::new(git_times), Ratio::Multiple));
        Ok(())
    }

    fn size_rows(&mut self, count: usize, fewer: usize, ours: Size, theirs: Size) {
        let work = |what: &str| format!("each of {count} snapshots, {what}");
        let peer = format!("git loose objects, each of {fewer}");
        let limit = "the bar: kilobytes";
        self.table.push(Row::bytes(&work("bytes"), ours.apparent, limit, 16_384, Ratio::AtMost(1.0)));
        self.table.push(Row::bytes(&work("bytes"), ours.apparent, &peer, theirs.apparent, Ratio::Multiple));
        self.table.push(Row::bytes(&work("blocks"), ours.allocated, &peer, theirs.allocated, Ratio::Multiple));
    }

    fn snapshot_rows(&mut self, work: &str, [ours, theirs, walk]: &[Samples; 3]) {
        self.table.push(Row::times(work, ours, ADD, theirs, Ratio::Faster(2.0)));
        self.table.push(Row::times(work, ours, WALK, walk, Ratio::AtMost(1.3)));
    }

    /// Brings both sides up to date, so that the next thing measured starts from "nothing changed".
    pub fn settle(&self) -> Result<()> {
        self.backsight.track()?;
        self.git.snapshot()?;
        rustix::fs::sync();
        Ok(())
    }
}

/// Peak memory of a first, an unchanged and a changed snapshot of a tree with very many files.
pub fn memory(backsight: &Backsight, tree: &Tree, table: &mut Table) -> Result<()> {
    let files = tree.files.len();
    let mut peak = |work: &str| -> Result<()> {
        let bytes = crate::memory::peak(&mut backsight.command(&["track", "-m", "bench"]))?;
        let work = format!("memory, {work}, {files} files");
        table.push(Row::bytes(&work, bytes, "the bar", 200_000_000, Ratio::AtMost(1.0)));
        Ok(())
    };
    peak("first snapshot")?;
    peak("nothing changed")?;
    tree.append(&tree.texts[0], "// edit\n")?;
    peak("one file changed")
}

/// Edits one file and runs `snapshot`, `count` times. Every caller gets the same edits.
fn repeat(count: usize, tree: &Tree, mut snapshot: impl FnMut() -> Result<Duration>) -> Result<Vec<Duration>> {
    let mut edits = Edits::new(1_000);
    let step = |_| {
        edits.next(&[tree])?;
        snapshot()
    };
    (0..count).map(step).collect()
}

fn expect_count(what: &str, found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what} lists {found} files, {expected} differ").into()),
    }
}

fn remove(backsight: &Backsight) -> Result<()> {
    // The user's records too, which would miss the store.
    for directory in [backsight.store(), backsight.home.join(".local/state")] {
        match fs::remove_dir_all(directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
