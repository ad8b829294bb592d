//! Random texts, and short ways to say the operations under test.

use backsight_diff::{FileChange, FilePatch, FileSide, HeaderStyle, Options};
use backsight_diff::{generate_unified_diff, parse_multi_file_diff};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// So many cases, or as many as `PROPTEST_CASES` asks for in a long run. Failures are printed, not written beside the
/// sources: one worth keeping becomes a test with a name.
pub fn cases(count: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(count), failure_persistence: None, ..ProptestConfig::default() }
}

/// Lines that are easily confused: repeated, indented, looking like pieces of a diff, with odd bytes.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let confusing: &[&[u8]] = &[
        b"",
        b" ",
        b"a",
        b"b",
        b"a\r",
        b"  a",
        b"\tb",
        b"}",
        b"-- a/x",
        b"++ b/x",
        b"-",
        b"+",
        b"\\ No newline at end of file",
        b"diff --git a/x b/x",
        b"@@ -1 +1 @@",
        b"--- a/x",
        b"+++ b/x",
        b"\xff\xfe",
        b"fn f() {",
    ];
    let confusing: Vec<Vec<u8>> = confusing.iter().map(|line| line.to_vec()).collect();
    prop_oneof![4 => select(confusing), 1 => "[a-e]{1,2}".prop_map(String::into_bytes)]
}

fn join(lines: &[Vec<u8>], final_newline: bool) -> Vec<u8> {
    let mut text = lines.join(&b'\n');
    if final_newline && !lines.is_empty() {
        text.push(b'\n');
    }
    text
}

/// Any text of up to `max` lines.
pub fn text(max: usize) -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec(line(), 0..max), prop::bool::weighted(0.8)).prop_map(|(lines, end)| join(&lines, end))
}

/// One edit of a list of lines.
#[derive(Debug, Clone)]
enum Edit {
    Insert(Index, Vec<u8>),
    Remove(Index),
    Replace(Index, Vec<u8>),
}

fn edit(line: impl Strategy<Value = Vec<u8>> + Clone) -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), line.clone()).prop_map(|(at, line)| Edit::Insert(at, line)),
        any::<Index>().prop_map(Edit::Remove),
        (any::<Index>(), line).prop_map(|(at, line)| Edit::Replace(at, line)),
    ]
}

fn edited(mut lines: Vec<Vec<u8>>, edits: &[Edit]) -> Vec<Vec<u8>> {
    for edit in edits {
        match edit {
            Edit::Insert(at, line) => lines.insert(at.index(lines.len() + 1), line.clone()),
            Edit::Remove(at) if !lines.is_empty() => drop(lines.remove(at.index(lines.len()))),
            Edit::Replace(at, line) if !lines.is_empty() => {
                let at = at.index(lines.len());
                lines[at] = line.clone();
            }
            _ => {}
        }
    }
    lines
}

/// A text and `count` versions of it, each made from the one before by a few edits.
pub fn history(count: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let edits = prop::collection::vec(edit(line().boxed()), 0..5);
    let versions = prop::collection::vec((edits, prop::bool::weighted(0.8)), count);
    (prop::collection::vec(line(), 0..40), versions).prop_map(|(mut lines, versions)| {
        let mut texts = vec![join(&lines, true)];
        for (edits, end) in versions {
            lines = edited(lines, &edits);
            texts.push(join(&lines, end));
        }
        texts
    })
}

/// A base and two versions of it in which every line is unlike any other, so that there is only one way to say
/// what changed and no diff algorithm can disagree with another.
pub fn unambiguous_merge() -> impl Strategy<Value = [Vec<u8>; 3]> {
    let fresh = "[a-z]{6}".prop_map(String::into_bytes).boxed();
    let edits = || prop::collection::vec(edit(fresh.clone()), 0..4);
    let ends = [prop::bool::weighted(0.8), prop::bool::weighted(0.8), prop::bool::weighted(0.8)];
    (0..12usize, edits(), edits(), edits(), ends).prop_map(|(count, shared, ours, theirs, ends)| {
        let base: Vec<Vec<u8>> = (0..count).map(|number| format!("line {number}").into_bytes()).collect();
        let common = edited(base.clone(), &shared[..shared.len() / 2]);
        let (ours, theirs) = (edited(common.clone(), &ours), edited(common, &theirs));
        [join(&base, ends[0]), join(&ours, ends[1]), join(&theirs, ends[2])]
    })
}

/// A base and two versions of it made of very few different lines.
pub fn ambiguous_merge() -> impl Strategy<Value = [Vec<u8>; 3]> {
    let few = select(vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec(), b"".to_vec()]).boxed();
    let edits = || prop::collection::vec(edit(few.clone()), 0..4);
    (prop::collection::vec(few.clone(), 0..10), edits(), edits()).prop_map(|(base, ours, theirs)| {
        [join(&base, true), join(&edited(base.clone(), &ours), true), join(&edited(base, &theirs), true)]
    })
}

/// Ways to write a diff that can all be read again.
pub fn options() -> impl Strategy<Value = Options> {
    (0..5usize, prop::bool::ANY).prop_map(|(context, git)| {
        let header = if git { HeaderStyle::Git } else { HeaderStyle::Plain };
        Options { context, header, ..Options::default() }
    })
}

/// Paths with what makes reading them hard.
pub fn path() -> impl Strategy<Value = Vec<u8>> {
    let parts: &[&[u8]] =
        &[b"a", b"b", b"x y", b" b", b"and", b"\xc3\xa9", b"q\"", b"t\t", b"back\\", b"n\n", b"dev", b"r\r"];
    let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
    prop::collection::vec(select(parts), 1..4).prop_map(|parts| parts.join(&b'/'))
}

pub fn side<'a>(path: &'a [u8], content: &'a [u8]) -> FileSide<'a> {
    FileSide { path, mode: Some(0o100644), id: None, content }
}

/// The diff of a file called `x`.
pub fn diff_with(old: &[u8], new: &[u8], options: &Options) -> Vec<u8> {
    generate_unified_diff(&FileChange { old: Some(side(b"x", old)), new: Some(side(b"x", new)) }, options).text
}

pub fn diff(old: &[u8], new: &[u8]) -> Vec<u8> {
    diff_with(old, new, &Options::default())
}

pub fn parsed(diff: &[u8]) -> Vec<FilePatch> {
    parse_multi_file_diff(diff).unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(diff)))
}
