//! What must hold of diffs and merges for any bytes at all; each function panics where it does not.
//!
//! The ordinary tests run the same functions over the seeds and thousands of damaged copies of them, so this file is
//! also a module of `tests/laws` and uses nothing but the crate under test.

use backsight_diff::{
    FileChange, FilePatch, FileSide, HeaderStyle, Labels, Merge, Options, PathFilter, apply, apply_with_report, count,
    count_changes, generate_unified_diff, is_binary, merge as merge_texts, parse_multi_file_diff, reverse_diff,
    validate_diff_format, write_patches,
};

/// Between the texts of one input. Anything would do that is one byte and rare in text; this one is made for it.
const SEPARATOR: u8 = 0x1e;

/// The parser and the validator agree, and what was read can be written, read again, applied and reversed.
pub fn parse(input: &[u8]) {
    let errors = validate_diff_format(input);
    match parse_multi_file_diff(input) {
        Err(error) => {
            assert_eq!(errors.len(), error.more + 1);
            assert_eq!(errors.first(), Some(&error.first));
        }
        Ok(patches) => {
            assert_eq!(errors, []);
            assert_reads_back(&patches);
            for patch in &patches {
                // Whether it applies is open; it must not panic, and what it deletes is gone.
                let _ = apply(patch, None);
                let _ = apply(patch, Some(input));
            }
            if let Ok(reversed) = reverse_diff(&patches, &PathFilter::default()) {
                assert_reads_back(&reversed);
            }
        }
    }
}

/// The diff between two texts leads from the first to the second, and reversed back again.
pub fn reverse_apply(input: &[u8]) {
    let [old, new] = texts(input);
    for options in [
        Options::default(),
        Options { context: 0, ..Options::default() },
        Options { context: 1, header: HeaderStyle::Plain, ..Options::default() },
    ] {
        let side = |content| Some(FileSide { path: b"x", mode: Some(0o100644), id: None, content });
        let unified = generate_unified_diff(&FileChange { old: side(old), new: side(new) }, &options);
        let patches = parse_multi_file_diff(&unified.text).unwrap_or_else(|error| panic!("{error}"));
        assert_reads_back(&patches);
        let counts = count(old, new);
        assert_eq!((unified.additions, unified.deletions), (counts.additions, counts.deletions));
        assert_eq!(count_changes(&patches), counts);
        match patches.as_slice() {
            [] => assert_eq!(old, new),
            [patch] if patch.binary => assert!(is_binary(old) || is_binary(new)),
            [patch] => {
                assert_leads(patch, old, new);
                let reversed = reverse_diff(&patches, &PathFilter::default()).expect("there is no copy");
                assert_leads(&reversed[0], new, old);
                assert_eq!(reverse_diff(&reversed, &PathFilter::default()).expect("there is no copy"), patches);
            }
            several => panic!("{} patches for one file", several.len()),
        }
    }
}

/// A merge does not depend on which side is called ours, and decides nothing where only one side changed.
pub fn merge(input: &[u8]) {
    let [base, ours, theirs] = texts(input);
    let merged = |base, ours, theirs| merge_texts(base, ours, theirs, &Labels::default());
    for side in [ours, theirs] {
        assert_eq!(merged(base, side, base), Merge::Clean(side.to_vec()));
        assert_eq!(merged(base, base, side), Merge::Clean(side.to_vec()));
        assert_eq!(merged(base, side, side), Merge::Clean(side.to_vec()));
    }
    match (merged(base, ours, theirs), merged(base, theirs, ours)) {
        (Merge::Binary, Merge::Binary) => assert!([base, ours, theirs].into_iter().any(is_binary)),
        (Merge::Clean(one), Merge::Clean(other)) => assert_eq!(one, other),
        (Merge::Conflict { text, conflicts: one }, Merge::Conflict { conflicts: other, .. }) => {
            assert_eq!(one, other);
            // The texts may hold lines like these themselves, never fewer.
            for marker in [&b"<<<<<<< ours"[..], b"=======", b">>>>>>> theirs"] {
                let lines = text.split(|&byte| byte == b'\n').filter(|line| line.trim_ascii_end() == marker);
                assert!(lines.count() >= one);
            }
        }
        (one, other) => panic!("{one:?} and {other:?}"),
    }
}

/// The texts of an input; those that are missing are empty.
fn texts<const COUNT: usize>(input: &[u8]) -> [&[u8]; COUNT] {
    let mut parts = input.splitn(COUNT, |&byte| byte == SEPARATOR);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

fn assert_reads_back(patches: &[FilePatch]) {
    let written = write_patches(patches);
    match parse_multi_file_diff(&written) {
        Ok(again) => assert_eq!(again, patches, "written as\n{}", written.escape_ascii()),
        Err(error) => panic!("{error}, written as\n{}", written.escape_ascii()),
    }
}

fn assert_leads(patch: &FilePatch, from: &[u8], to: &[u8]) {
    let applied = apply_with_report(patch, Some(from)).unwrap_or_else(|error| panic!("{error}"));
    assert!(applied.moved.is_empty(), "a fresh diff applies where it says");
    assert_eq!(applied.content.as_deref(), Some(to));
}
