//! Trees that are deeper, or stand for more, than any real one.

use std::path::Path;
use std::process::Command;

use backsight_core::{Code, ObjectId, Reason, RelPath};
use backsight_files::{Access, Change, Node, ObjectKind, ObjectReport, OnConflict, ScanOptions, StepToUndo, Tree};
use rustix::fs::{Mode, OFlags};

use crate::lab::{Lab, bounded, everything};

/// Makes directories inside one another, each from the one before: no path is long enough to name the last.
fn nest(root: &Path, levels: usize) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::fs::open(root, flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, "d", flags, Mode::empty()).unwrap();
    }
    let file = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    drop(rustix::fs::openat(&at, "file", file, Mode::RWXU).unwrap());
}

#[test]
fn a_real_tree_of_thousands_of_levels_is_covered_as_far_as_it_goes() {
    for levels in [999, 20_000] {
        let lab = Lab::new();
        lab.write("top", "1");
        nest(&lab.root(), levels);
        let root = lab.root();
        // Whoever drops it removes it, and the standard library does that level by level on the stack.
        let (lab, first, again, listed) = bounded(move || {
            let first = lab.capture();
            let again = lab.try_capture(Some(first.tree)).unwrap();
            let files = lab.files();
            assert_eq!(files.objects().check_tree(&first.tree, &ObjectReport::default()).unwrap().unreadable.len(), 0);
            files.objects().garbage(&[first.tree.id], &Default::default()).unwrap();
            let listed = files.list(&first.tree, None).unwrap().len();
            let (empty, all) = (Tree { id: lab.plant(ObjectKind::Tree, b""), attributes: None }, first.tree);
            let changes = files.compare(&empty, &all).unwrap();
            assert_eq!(files.edit(&empty, &changes).unwrap(), all);
            files.plan_restore(&first, &empty, None, everything()).unwrap();
            drop(files);
            (lab, first, again, listed)
        });
        assert_eq!(first.tree, again.tree, "{levels}");
        let deep: Vec<_> =
            first.coverage.uncovered.iter().map(|found| (found.path.as_bytes().len(), found.reason)).collect();
        match levels {
            999 => assert_eq!((deep.len(), listed), (0, 2)),
            // The path of the first directory that is too deep.
            _ => assert_eq!((deep, listed), (vec![(2 * 1001 - 1, Reason::TooDeep)], 2)),
        }
        assert!(Command::new("rm").arg("-rf").arg(root).status().unwrap().success());
        drop(lab);
    }
}

#[test]
fn more_directories_than_files_are_allowed_is_refused() {
    let lab = Lab::new();
    for number in 0..10_001 {
        std::fs::create_dir(lab.root().join(number.to_string())).unwrap();
    }
    let options = ScanOptions { max_files: 10, ..lab.options() };
    let error = bounded(move || lab.capture_with(&options, None)).unwrap_err();
    assert_eq!(error.code(), Code::TooLarge);
    assert!(error.message().contains("directories"), "{error}");
}

/// A chain of directories of which only the last holds a file.
fn chain(lab: &Lab, levels: usize) -> Tree {
    let blob = lab.plant(ObjectKind::Blob, b"x");
    let mut id = lab.plant_tree(&[("100644", "f", blob)]);
    for _ in 0..levels {
        id = lab.plant_tree(&[("40000", "d", id)]);
    }
    Tree { id, attributes: None }
}

/// Twelve levels of ten directories that are all the same: a million million files in thirteen objects.
fn bomb(lab: &Lab) -> Tree {
    let blob = lab.plant(ObjectKind::Blob, b"x");
    let names: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    let level = |mode: &'static str, id: ObjectId| {
        lab.plant_tree(&names.iter().map(|name| (mode, name.as_str(), id)).collect::<Vec<_>>())
    };
    let id = (1..12).fold(level("100644", blob), |id, _| level("40000", id));
    Tree { id, attributes: None }
}

/// Everything that looks at a stored tree, and how it answers for one that is too much.
fn every_look_at(lab: Lab, tree: Tree, expected: Code) {
    bounded(move || {
        let files = lab.files();
        let options = ScanOptions { max_files: 10, ..lab.options() };
        let now = lab.capture_with(&options, None).unwrap();
        files.objects().expect_files(options.max_files);
        let refused = |what: &str, error: backsight_core::Error| assert_eq!(error.code(), expected, "{what}: {error}");
        let empty = Tree { id: lab.plant(ObjectKind::Tree, b""), attributes: None };
        refused("compare", files.compare(&empty, &tree).unwrap_err());
        refused("compare back", files.compare(&tree, &empty).unwrap_err());
        refused("compare with now", files.compare_with_now(&tree, &now).unwrap_err());
        refused("list", files.list(&tree, None).unwrap_err());
        refused("restore", files.plan_restore(&now, &tree, None, everything()).unwrap_err());
        let step = || StepToUndo {
            before: empty,
            before_coverage: None,
            after: tree,
            declared: Vec::new(),
            label: String::new(),
            parts: None,
        };
        refused("revert", files.plan_revert(&now, &[step()], everything(), OnConflict::Leave).unwrap_err());
        // These look at what is there once, however often it is named.
        files.objects().check_tree(&tree, &ObjectReport::default()).unwrap();
        files.objects().garbage(&[tree.id], &Default::default()).unwrap();
        let path = RelPath::new("new").unwrap();
        let node = Node::Directory { mode: 0o755, access: Access::default() };
        files.edit(&tree, &[Change { path, before: None, after: Some(node) }]).unwrap();
        // A snapshot that nobody can read must not stop the present from being recorded.
        assert_eq!(lab.capture_with(&options, Some(tree)).unwrap().tree, now.tree);
    });
}

#[test]
fn a_stored_tree_of_thousands_of_levels_is_damage() {
    let lab = Lab::new();
    lab.write("a", "1");
    lab.capture();
    let tree = chain(&lab, 5000);
    every_look_at(lab, tree, Code::Damaged);
}

#[test]
fn a_stored_tree_of_a_million_million_files_is_too_large() {
    let lab = Lab::new();
    lab.write("a", "1");
    lab.capture();
    let tree = bomb(&lab);
    every_look_at(lab, tree, Code::TooLarge);
}
