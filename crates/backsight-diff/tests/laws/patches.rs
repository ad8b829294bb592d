//! Laws of generating, reading, applying, reversing and joining diffs.

use backsight_diff::{
    FileChange, Options, PathFilter, apply, apply_with_report, compose, count, count_changes, generate_unified_diff,
    line_origins, parse_multi_file_diff, reverse_diff, split_lines, validate_diff_format, write_patches,
};
use proptest::prelude::*;

use crate::bodies;
use crate::inputs::{cases, diff, diff_with, history, options, parsed, path, side, text};

/// Applies a diff of at most one file.
fn applied(patches: &[backsight_diff::FilePatch], before: &[u8]) -> Vec<u8> {
    match patches {
        [] => before.to_vec(),
        [patch] => {
            let applied = apply_with_report(patch, Some(before)).unwrap_or_else(|error| panic!("{error}"));
            assert!(applied.moved.is_empty(), "a fresh diff applies where it says");
            applied.content.expect("the patch keeps the file")
        }
        _ => panic!("one file, one patch"),
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn applying_a_diff_gives_the_new_text(old in text(12), new in text(12), options in options()) {
        let patches = parsed(&diff_with(&old, &new, &options));
        prop_assert_eq!(applied(&patches, &old), new);
    }

    #[test]
    fn small_edits_of_longer_texts_apply(texts in history(1), options in options()) {
        let patches = parsed(&diff_with(&texts[0], &texts[1], &options));
        prop_assert_eq!(applied(&patches, &texts[0]), &texts[1][..]);
    }

    #[test]
    fn applying_the_reverse_gives_the_old_text(texts in history(1), options in options()) {
        let patches = parsed(&diff_with(&texts[0], &texts[1], &options));
        let back = reverse_diff(&patches, &PathFilter::default()).unwrap();
        prop_assert_eq!(applied(&back, &texts[1]), &texts[0][..]);
        prop_assert_eq!(reverse_diff(&back, &PathFilter::default()).unwrap(), patches);
        prop_assert!(validate_diff_format(&write_patches(&back)).is_empty());
    }

    #[test]
    fn a_joined_diff_does_what_the_two_do_in_turn(texts in history(2), first in options(), second in options()) {
        let (first, second) =
            (parsed(&diff_with(&texts[0], &texts[1], &first)), parsed(&diff_with(&texts[1], &texts[2], &second)));
        let joined = compose(&first, &second).unwrap();
        prop_assert_eq!(applied(&joined, &texts[0]), &texts[2][..]);
        prop_assert_eq!(&parsed(&write_patches(&joined)), &joined);
    }

    #[test]
    fn a_diff_joined_with_its_reverse_is_nothing(texts in history(1), options in options()) {
        let patches = parsed(&diff_with(&texts[0], &texts[1], &options));
        let back = reverse_diff(&patches, &PathFilter::default()).unwrap();
        prop_assert_eq!(compose(&patches, &back).unwrap(), vec![]);
    }

    #[test]
    fn files_that_come_and_go_can_be_joined(texts in history(2), presence in 0..8u8) {
        let version = |index: usize| (presence >> index & 1 == 1).then(|| texts[index].as_slice());
        let step = |old: Option<&[u8]>, new: Option<&[u8]>| {
            let change = FileChange { old: old.map(|text| side(b"x", text)), new: new.map(|text| side(b"x", text)) };
            parsed(&generate_unified_diff(&change, &Options::default()).text)
        };
        let joined = compose(&step(version(0), version(1)), &step(version(1), version(2))).unwrap();
        let result = match joined.as_slice() {
            [] => version(0).map(<[u8]>::to_vec),
            [patch] => apply(patch, version(0)).unwrap(),
            _ => panic!("one file, one patch"),
        };
        prop_assert_eq!(result.as_deref(), version(2));
    }

    #[test]
    fn what_is_written_reads_back(
        texts in history(1), old_path in path(), new_path in path(), shape in 0..3u8, executable: bool, ids: bool,
    ) {
        let mut old = side(&old_path, &texts[0]);
        let mut new = side(&new_path, &texts[1]);
        new.mode = Some(if executable { 0o100755 } else { 0o100644 });
        if ids {
            (old.id, new.id) = (Some("0123abc"), Some("4567def"));
        }
        let change = FileChange { old: (shape != 1).then_some(old), new: (shape != 2).then_some(new) };
        let written = generate_unified_diff(&change, &Options::default()).text;
        let patches = parsed(&written);
        prop_assert_eq!(&write_patches(&patches), &written);
        prop_assert_eq!(&parsed(&write_patches(&patches)), &patches);
        for patch in &patches {
            prop_assert_eq!(patch.old_path.as_deref(), change.old.map(|side| side.path));
            prop_assert_eq!(patch.new_path.as_deref(), change.new.map(|side| side.path));
        }
    }

    #[test]
    fn all_counts_agree(texts in history(1)) {
        let change = FileChange { old: Some(side(b"x", &texts[0])), new: Some(side(b"x", &texts[1])) };
        let unified = generate_unified_diff(&change, &Options::default());
        let counts = count(&texts[0], &texts[1]);
        prop_assert_eq!((unified.additions, unified.deletions), (counts.additions, counts.deletions));
        prop_assert_eq!(count_changes(&parsed(&unified.text)), counts);
    }

    #[test]
    fn lines_are_followed_in_order_to_equal_lines_and_the_rest_is_added(texts in history(1)) {
        let (before, after) = (split_lines(&texts[0]), split_lines(&texts[1]));
        let origins = line_origins(&texts[0], &texts[1]);
        prop_assert_eq!(origins.len(), after.len());
        for (line, origin) in after.iter().zip(&origins) {
            prop_assert!(origin.is_none_or(|origin| before[origin] == *line));
        }
        prop_assert!(origins.iter().flatten().is_sorted_by(|earlier, later| earlier < later));
        let added = origins.iter().filter(|origin| origin.is_none()).count();
        prop_assert_eq!(added, count(&texts[0], &texts[1]).additions);
    }

    #[test]
    fn a_hunk_is_found_where_lines_were_put_before_it(texts in history(1), shift in 1..30usize) {
        let unlike = b"nothing like the rest\n".repeat(shift);
        let (old, new) = ([&unlike[..], &texts[0]].concat(), [&unlike[..], &texts[1]].concat());
        for patch in parsed(&diff(&texts[0], &texts[1])) {
            let unique = !patch.hunks.iter().any(|hunk| hunk.lines.len() < 5);
            if let (true, Ok(result)) = (unique, apply_with_report(&patch, Some(&old))) {
                // Repetitive texts may offer a nearer place; what must hold is that a full shift is exact.
                if result.moved.iter().all(|moved| moved.lines == shift as isize) {
                    prop_assert_eq!(result.content.as_deref(), Some(&new[..]));
                }
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), other in text(8)) {
        bodies::parse(&bytes);
        bodies::parse(&other);
        if let Ok(patches) = parse_multi_file_diff(&bytes) {
            let _ = apply_all(&patches, &other);
        }
    }

    #[test]
    fn damaged_diffs_never_panic(
        texts in history(2), cut in any::<prop::sample::Index>(), drop in 0..4usize, junk in text(3),
    ) {
        let whole = [diff(&texts[0], &texts[1]), diff(&texts[1], &texts[2])].concat();
        let at = cut.index(whole.len() + 1);
        let damaged = [&whole[..at], &junk[..], &whole[(at + drop).min(whole.len())..]].concat();
        bodies::parse(&damaged);
        if let Ok(patches) = parse_multi_file_diff(&damaged) {
            let _ = apply_all(&patches, &texts[0]);
            let _ = compose(&patches, &patches);
            if let Ok(back) = reverse_diff(&patches, &PathFilter::default()) {
                let _ = compose(&patches, &back);
            }
        }
    }

    #[test]
    fn lines_of_diffs_in_any_order_never_panic(lines in prop::collection::vec(diff_line(), 0..12)) {
        bodies::parse(&lines.concat());
    }
}

/// Lines of every kind a diff can have, right and wrong.
fn diff_line() -> impl Strategy<Value = Vec<u8>> {
    let lines = [
        "diff --git a/x b/x\n",
        "diff --git x x\n",
        "diff --git a/x b/y\n",
        "diff --git \n",
        "diff --git  \n",
        "--- a/x\n",
        "+++ b/x\n",
        "--- /dev/null\n",
        "+++ /dev/null\n",
        "--- \"a/\\303\"\n",
        "+++ \"\n",
        "@@ -1 +1 @@\n",
        "@@ -0,0 +1,2 @@ f\n",
        "@@ -1,2 +0,0 @@\n",
        "@@ -1,9999999999999999999 +1 @@\n",
        "@@ -2,0 +2 @@\n",
        " a\n",
        "-a\n",
        "+a\n",
        "+b",
        "\n",
        "\r\n",
        "\\ No newline at end of file\n",
        "index 1..2 100644\n",
        "index x\n",
        "old mode 100644\n",
        "new mode 100755\n",
        "new file mode 100644\n",
        "deleted file mode 100644\n",
        "rename from x\n",
        "rename to y\n",
        "copy from x\n",
        "copy to y\n",
        "similarity index 90%\n",
        "Binary files a/x and b/x differ\n",
        "GIT binary patch\n",
        "literal 1\n",
        "junk\n",
        "-- \n",
    ];
    proptest::sample::select(lines.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>())
}

fn apply_all(patches: &[backsight_diff::FilePatch], before: &[u8]) -> usize {
    let attempts = patches.iter().flat_map(|patch| [apply(patch, None), apply(patch, Some(before))]);
    attempts.filter(Result::is_ok).count()
}
