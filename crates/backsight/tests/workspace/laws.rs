//! What holds for any two trees: a restore is exact, an undo is exact, and a tree's id is Git's own.

use proptest::prelude::*;

use crate::lab::{Lab, damage, git_tree_id, open};
use crate::picture::{Picture, Thing};

/// Names that have broken other programs: spaces, quotes, globs, newlines, bytes that are no text, leading dots and
/// dashes, names that sort around `/`.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let odd: Vec<&[u8]> = vec![
        b"a",
        b"a.b",
        b"a-b",
        b"a0",
        b"b",
        b"B",
        b"-rf",
        b" ",
        b"two words",
        b"new\nline",
        b"tab\t",
        b"*",
        b"[x]",
        b":(top)",
        b"\"quoted\"",
        b"'",
        b"\\",
        b"\xff\xfe",
        b"caf\xc3\xa9",
        b"cafe\xcc\x81",
        b".hidden",
        b"...",
        b"~",
        b"$HOME",
        b"#",
        b"!x",
        b"CON",
        b".gitmodules2",
        b"git",
        b".git2",
        b"store",
        b"journal",
    ];
    prop_oneof![
        6 => prop::sample::select(odd).prop_map(<[u8]>::to_vec),
        1 => Just(vec![b'n'; 255]),
        2 => prop::collection::vec(any::<u8>().prop_filter("a name", |byte| ![0, b'/', b'.'].contains(byte)), 1..6),
    ]
}

fn thing() -> impl Strategy<Value = Thing> {
    let bytes = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..40),
        2 => "[a-c\n\r]{0,30}".prop_map(String::into_bytes),
        1 => (any::<u8>(), 1000..20_000usize).prop_map(|(byte, count)| vec![byte; count]),
    ];
    let mode = prop_oneof![Just(0o644), Just(0o755), Just(0o600), (0u32..0o10000).prop_map(|mode| mode | 0o400)];
    let text = prop_oneof![
        Just(b"a".to_vec()),
        Just(b"../..".to_vec()),
        Just(b"/nowhere/\xff\n".to_vec()),
        Just(vec![b'x'; 300])
    ];
    prop_oneof![
        6 => (mode, bytes).prop_map(|(mode, bytes)| Thing::File { mode, bytes }),
        2 => text.prop_map(|text| Thing::Link { text }),
        // A directory nobody may enter cannot be captured; the sticky bit can.
        2 => (0u32..0o100).prop_map(|mode| Thing::Directory { mode: mode | 0o700 }),
        1 => Just(Thing::Directory { mode: 0o1777 }),
    ]
}

fn picture() -> impl Strategy<Value = Picture> {
    let path = prop::collection::vec(name(), 1..4).prop_map(|parts| parts.join(&b'/'));
    prop::collection::vec((path, thing()), 0..14).prop_map(|things| {
        let mut picture = Picture::default();
        for (path, thing) in things {
            picture.put(&path, thing);
        }
        picture
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_restore_and_its_undo_are_exact_for_any_two_trees(a in picture(), b in picture()) {
        let lab = Lab::new();
        let root = lab.empty();
        let workspace = open(&root);
        a.paint(&root);
        prop_assert_eq!(a.differences(&Picture::of(&root)), "", "the test paints what it says");
        let first = workspace.track().unwrap().snapshot;
        prop_assert_eq!(first.tree.to_string(), git_tree_id(&lab, &a));
        b.paint(&root);
        let second = workspace.track().unwrap().snapshot;
        prop_assert_eq!(second.tree.to_string(), git_tree_id(&lab, &b));

        let restored = workspace.restore(first.id.as_str()).unwrap();
        prop_assert_eq!(restored.changed, a != b);
        prop_assert_eq!(a.differences(&Picture::of(&root)), "", "after the restore");
        prop_assert!(workspace.status().unwrap().clean);
        if restored.changed {
            workspace.undo(&Default::default()).unwrap();
        }
        prop_assert_eq!(b.differences(&Picture::of(&root)), "", "after the undo");
        prop_assert!(workspace.status().unwrap().clean);
        prop_assert_eq!(damage(&workspace), "");
    }

    #[test]
    fn reverting_the_newest_step_is_exact_and_edits_since_come_back_with_redo(a in picture(), b in picture(), c in picture()) {
        let lab = Lab::new();
        let root = lab.empty();
        let workspace = open(&root);
        a.paint(&root);
        workspace.track().unwrap();
        b.paint(&root);
        let changed = workspace.track().unwrap().created;
        prop_assert_eq!(changed, a != b);
        if changed {
            workspace.undo(&Default::default()).unwrap();
            prop_assert_eq!(a.differences(&Picture::of(&root)), "", "after the undo");
            workspace.redo(&Default::default()).unwrap();
            prop_assert_eq!(b.differences(&Picture::of(&root)), "", "after the redo");
        }
        // What no snapshot holds yet is in the safety snapshot, and one undo away.
        c.paint(&root);
        if workspace.restore("1").unwrap().changed {
            prop_assert_eq!(a.differences(&Picture::of(&root)), "", "after the restore");
            workspace.undo(&Default::default()).unwrap();
        }
        prop_assert_eq!(c.differences(&Picture::of(&root)), "", "after undoing the restore");
    }
}
