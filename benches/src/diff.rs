//! The unified diff of two large files against `git diff --no-index`, without what starting a process costs. The one
//! measurement that calls a crate of ours in this process: through the binary, start-up would be most of it.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use backsight_diff::{
    FileChange, FilePatch, FileSide, Options, Unified, apply, generate_unified_diff, parse_multi_file_diff,
};

use crate::Result;
use crate::measure::{Rounds, interleave};
use crate::peer::compare_files;
use crate::random::Random;
use crate::source::Vocabulary;
use crate::table::{Ratio, Row, Table};

/// Lines of the old file.
const LINES: usize = 10_000;
/// Small edits that lead to the new one.
const EDITS: usize = 300;
/// Blocks that stand elsewhere in it.
const MOVES: usize = 6;
/// Times the diff is made for one time taken: one alone is as short as a hiccup of the machine.
const REPEATS: u32 = 10;

/// Makes the files in `directory` and compares them both ways. Git also compares two files of one line, and what that
/// takes is taken off: starting, finding its configuration, ending. Both sides read the files, hash them for the `index`
/// line and keep the diff.
pub fn measure(directory: &Path, home: &Path, seed: u64, rounds: Rounds, table: &mut Table) -> Result<()> {
    let (old, new) = (directory.join("old.rs"), directory.join("new.rs"));
    let (tiny_old, tiny_new) = (directory.join("tiny-old.rs"), directory.join("tiny-new.rs"));
    let [before, after] = versions(seed);
    fs::create_dir_all(directory)?;
    for (path, content) in [(&old, &before[..]), (&new, &after), (&tiny_old, b"a\n"), (&tiny_new, b"b\n")] {
        fs::write(path, content)?;
    }
    let patches = [diff(&old, &new)?.text, compare_files(home, &old, &new)?.stdout];
    let [ours, theirs] = [one_patch(&patches[0], &before, &after)?, one_patch(&patches[1], &before, &after)?];
    if (&ours.old_id, &ours.new_id) != (&theirs.old_id, &theirs.new_id) {
        return Err("the two diffs name different contents".into());
    }

    let mut ours = || time_of_one(|| diff(&old, &new));
    let mut theirs = || Ok(compare_files(home, &old, &new)?.elapsed);
    let mut start_up = || Ok(compare_files(home, &tiny_old, &tiny_new)?.elapsed);
    let [ours, theirs, start_up] = interleave(rounds, || Ok(()), [&mut ours, &mut theirs, &mut start_up])?;
    let theirs = theirs.less(start_up.median());
    let work = format!("unified diff of {LINES} lines, in process");
    table.push(Row::times(&work, &ours, "git diff --no-index, less start-up", &theirs, Ratio::Faster(1.0)));
    Ok(())
}

fn diff(old: &Path, new: &Path) -> Result<Unified> {
    let (before, after) = (fs::read(old)?, fs::read(new)?);
    let (old_id, new_id) = (short_id(&before)?, short_id(&after)?);
    let side = |content, id| Some(FileSide { path: b"file.rs", mode: Some(0o100644), id: Some(id), content });
    let change = FileChange { old: side(&before, &old_id), new: side(&after, &new_id) };
    Ok(generate_unified_diff(&change, &Options::default()))
}

/// The id of the Git blob, as short as git shows it.
fn short_id(content: &[u8]) -> Result<String> {
    let mut hasher = sha1dc::Hasher::new();
    hasher.update(format!("blob {}\0", content.len()).as_bytes());
    hasher.update(content);
    let mut hex = format!("{:x}", hasher.finalize()?);
    hex.truncate(7);
    Ok(hex)
}

fn time_of_one(mut work: impl FnMut() -> Result<Unified>) -> Result<Duration> {
    let start = Instant::now();
    for _ in 0..REPEATS {
        black_box(work()?);
    }
    Ok(start.elapsed() / REPEATS)
}

/// The only patch of a diff. One that did not lead from one file to the other would be no match for one that does.
fn one_patch(diff: &[u8], before: &[u8], after: &[u8]) -> Result<FilePatch> {
    let mut patches = parse_multi_file_diff(diff)?;
    match patches.pop() {
        Some(patch) if patches.is_empty() && apply(&patch, Some(before))?.as_deref() == Some(after) => Ok(patch),
        _ => Err("a diff does not lead from the old file to the new one".into()),
    }
}

/// A source file and a later version of it: lines changed, added and removed all over, and some blocks moved.
fn versions(seed: u64) -> [Vec<u8>; 2] {
    let mut random = Random::new(seed);
    let vocabulary = Vocabulary::new(seed);
    // More than enough: no line of such text is longer on average.
    let text = vocabulary.text(LINES * 100, &mut random);
    let old: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').take(LINES).collect();
    let fresh = vocabulary.text(EDITS * 400, &mut random);
    let mut fresh = fresh.split_inclusive(|&byte| byte == b'\n');
    let mut new = old.clone();
    for _ in 0..EDITS {
        let place = random.range(0, new.len() - 4);
        let removed = random.range(0, 4);
        let added = random.range(usize::from(removed == 0), 4);
        new.splice(place..place + removed, fresh.by_ref().take(added));
    }
    for _ in 0..MOVES {
        let start = random.range(0, new.len() - 100);
        let block: Vec<&[u8]> = new.drain(start..start + random.range(20, 80)).collect();
        let place = random.range(0, new.len());
        new.splice(place..place, block);
    }
    [old.concat(), new.concat()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_have_the_size_asked_for_and_differ_in_hundreds_of_places() {
        let [old, new] = versions(1);
        assert_eq!(old.iter().filter(|&&byte| byte == b'\n').count(), LINES);
        let side = |content| Some(FileSide { path: b"x", mode: None, id: None, content });
        let unified = generate_unified_diff(&FileChange { old: side(&old), new: side(&new) }, &Options::default());
        assert!((600..1_200).contains(&unified.additions), "{}", unified.additions);
        let hunks = unified.text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"@@ ")).count();
        assert!((200..320).contains(&hunks), "{hunks}");
    }
}
