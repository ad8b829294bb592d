//! What the commits hold, as Git sees them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use backsight_core::{Code, ObjectId, Timestamp};
use backsight_files::{GitExport, NewCommit, Onto, Person, export_commits};

use crate::lab::{Lab, added, commit, export_to, picture};

#[test]
fn commits_follow_head_and_hold_what_the_snapshots_hold() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let head = lab.id(&repository, "HEAD");
    fs::write(repository.join("staged"), "staged\n").unwrap();
    lab.git(&repository, &["add", "staged"]);
    fs::write(repository.join("a.txt"), "dirty\n").unwrap();
    let trees = [
        lab.snapshot(&[("a.txt", "one\n"), ("src/b.txt", "b\n")]),
        lab.snapshot(&[("a.txt", "two\n"), ("src/deep/c.txt", "c\n")]),
    ];
    let commits = [commit(trees[0], "add b\n\nwith a body"), commit(trees[1], "two\n")];
    let exported = lab.export_checked(&export_to(&repository, "agent/work", &commits));

    assert_eq!((exported.onto, exported.before, exported.commits.len()), (Some(head), None, 2));
    assert_eq!(exported.tip, exported.commits[1]);
    let format = "--format=%an <%ae> %at|%cn <%ce> %ct %cd|%B";
    let log = lab.git(&repository, &["log", "--date=raw", "--reverse", format, "main..agent/work"]);
    let line = "Ada <ada@example.org> 1750000000|Backsight <backsight@localhost> 1750000000 1750000000 +0000|";
    assert_eq!(log, format!("{line}add b\n\nwith a body\n\n{line}two"));
    let changes = |from: &str, to: &str| lab.git(&repository, &["diff", "--name-status", "--no-renames", from, to]);
    assert_eq!(changes("main", "agent/work~"), "A\tsrc/b.txt");
    assert_eq!(changes("agent/work~", "agent/work"), "M\ta.txt\nD\tsrc/b.txt\nA\tsrc/deep/c.txt");
    assert_eq!(lab.git(&repository, &["show", "agent/work:a.txt"]), "two");
}

#[test]
fn modes_symlinks_and_bytes_arrive() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    lab.snapshot(&[("run", "#!/bin/sh\n"), ("sp ace/\u{e4}\n.txt", "crlf\r\n")]);
    let root = lab.path("workspace");
    fs::set_permissions(root.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("run", root.join("link")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    lab.export_checked(&export_to(&repository, "b", &[commit(lab.record(), "modes")]));
    lab.git(&repository, &["checkout", "-q", "b"]);
    assert_eq!(fs::read_link(repository.join("link")).unwrap().to_str(), Some("run"));
    assert_eq!(fs::metadata(repository.join("run")).unwrap().permissions().mode() & 0o100, 0o100);
    assert_eq!(fs::read(repository.join("sp ace/\u{e4}\n.txt")).unwrap(), b"crlf\r\n");
    assert_eq!(lab.git(&repository, &["status", "--porcelain"]), "");
}

#[test]
fn a_snapshot_of_no_files_is_a_commit_of_the_empty_tree() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    lab.export_checked(&export_to(&repository, "b", &[commit(lab.snapshot(&[]), "all gone")]));
    assert_eq!(lab.git(&repository, &["diff", "--name-status", "main", "b"]), "D\ta.txt");
}

#[test]
fn the_state_before_is_a_commit_only_where_it_differs() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let same = lab.snapshot(&[("a.txt", "one\n")]);
    let other = lab.snapshot(&[("a.txt", "uncommitted\n")]);
    let commits = [commit(lab.snapshot(&[("a.txt", "new\n")]), "new")];
    let export = |branch, onto, before| {
        let before = Some(commit(before, "before"));
        lab.export_checked(&GitExport { onto, before, ..export_to(&repository, branch, &commits) })
    };
    let count = |branch| lab.git(&repository, &["rev-list", "--count", branch]);
    assert_eq!(export("same", Onto::Head, same).before, None);
    assert_eq!(count("same"), "2");
    let exported = export("other", Onto::Head, other);
    assert_eq!(exported.before, Some(lab.id(&repository, "other~")));
    assert_eq!(count("other"), "3");
    let exported = export("root", Onto::Nothing, same);
    assert_eq!((exported.onto, exported.before), (None, Some(lab.id(&repository, "root~"))));
    assert_eq!(count("root"), "2");
}

#[test]
fn no_commits_are_no_branch() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let same = lab.snapshot(&[("a.txt", "one\n")]);
    let mut export = export_to(&repository, "b", &[]);
    lab.assert_refused(&export, Code::InvalidRange);
    export.before = Some(commit(same, "before"));
    lab.assert_refused(&export, Code::InvalidRange);
    export.onto = Onto::Nothing;
    assert_eq!(lab.export_checked(&export).commits, Vec::<ObjectId>::new());
}

#[test]
fn the_same_commits_again_write_no_object() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let first = lab.snapshot(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let commits = [commit(first, "b")];
    // The blob of `a.txt` is there already: a commit, a tree and a blob are new.
    assert_eq!(lab.export_checked(&export_to(&repository, "one", &commits)).objects_written, 3);
    assert_eq!(lab.export_checked(&export_to(&repository, "two", &commits)).objects_written, 0);
    let later = [commit(first, "b, said otherwise")];
    assert_eq!(lab.export_checked(&export_to(&repository, "three", &later)).objects_written, 1);
    lab.assert_refused(&export_to(&repository, "one", &commits), Code::GitRefused);
}

#[test]
fn whatever_people_are_called_and_write_git_can_read() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let tree = lab.snapshot(&[("a.txt", "x\n")]);
    let odd = |name: &str, email: &str, message: &str, time: i64| NewCommit {
        tree,
        coverage: None,
        message: message.to_owned(),
        author: Person { name: name.to_owned(), email: email.to_owned() },
        time: Timestamp(time),
    };
    let commits = [
        odd("", "", "", 0),
        odd("<a>\nparent x", "<b>\n c\0", "nul\0 byte", -5_000),
        odd("\u{1f600} \u{5c71}", "x@y", "\u{5c71}\n\n\n", i64::MAX),
        odd("\t \0", "a b", "gpgsig -----BEGIN\n x", 1_999),
    ];
    lab.export_checked(&export_to(&repository, "odd", &commits));
    let log = lab.git(&repository, &["log", "--reverse", "--format=%an|%ae|%s|%at", "main..odd"]);
    let expected = [
        "Backsight|||0",
        "a parent x|bc|nul byte|0",
        "\u{1f600} \u{5c71}|x@y|\u{5c71}|9223372036854775",
        "Backsight|ab|gpgsig -----BEGIN  x|1",
    ];
    assert_eq!(log, expected.join("\n"));
}

#[test]
fn a_file_too_large_for_memory_is_streamed() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let mut state = 1u64;
    let large: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 60) as u8
    })
    .take((16 << 20) + 12_345)
    .collect();
    fs::write(lab.path("workspace/large"), &large).unwrap();
    let tree = lab.record();
    assert_eq!(lab.files.objects().room().unwrap().loose_objects, 1);
    lab.export_checked(&export_to(&repository, "b", &[commit(tree, "large")]));
    lab.git(&repository, &["checkout", "-q", "b"]);
    assert!(fs::read(repository.join("large")).unwrap() == large);
}

#[test]
fn a_damaged_object_leaves_the_repository_as_it_was() {
    for size in [100, (16 << 20) + 1] {
        let mut lab = Lab::new();
        let repository = lab.repository("r");
        fs::write(lab.path("workspace/large"), vec![b'x'; size]).unwrap();
        fs::write(lab.path("workspace/small"), "small").unwrap();
        let tree = lab.record();
        lab.unpack_store();
        let blob = lab.id(&lab.store(), &format!("{tree}:large")).to_string();
        let loose = lab.store().join("objects").join(&blob[..2]).join(&blob[2..]);
        let bytes = fs::read(&loose).unwrap();
        fs::remove_file(&loose).unwrap();
        fs::write(&loose, &bytes[..bytes.len() / 2]).unwrap();
        let error = lab.assert_refused(&export_to(&repository, "b", &[commit(tree, "damaged")]), Code::Damaged);
        assert!(error.message().contains(&blob), "{error}");
        fs::remove_file(&loose).unwrap();
        let error = lab.assert_refused(&export_to(&repository, "b", &[commit(tree, "missing")]), Code::Damaged);
        assert!(error.message().contains(&blob), "{error}");
    }
}

#[test]
fn a_tree_that_git_would_not_check_out_is_refused_by_path() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let blob = lab.id(&repository, "HEAD:a.txt");
    let store = lab.store();
    let tree = |entry: &str, id: &ObjectId| {
        let file = lab.path("tree");
        fs::write(&file, [entry.as_bytes(), b"\0", id.as_bytes()].concat()).unwrap();
        let arguments = ["hash-object", "-t", "tree", "-w", "--literally", file.to_str().unwrap()];
        let id = ObjectId::from_hex(&lab.git(&store, &arguments)).unwrap();
        fs::remove_file(&file).unwrap();
        id
    };
    for name in [".git", ".GIT", "git~1", "GIT~1", ".git ", "x\\.git"] {
        let inner = tree(&format!("100644 {name}"), &blob);
        let commits = [commit(tree("40000 sub", &inner), "bad")];
        let error = lab.assert_refused(&export_to(&repository, "b", &commits), Code::GitRefused);
        let named = name.replace('\\', "\\\\");
        assert!(
            error.message().contains(&format!("sub/{named}")) || error.message().contains(&format!("sub/{name}")),
            "{error}"
        );
    }
    let link = [commit(tree("120000 .gitmodules", &blob), "bad")];
    lab.assert_refused(&export_to(&repository, "b", &link), Code::GitRefused);
    let submodule = [commit(tree("160000 sub", &blob), "bad")];
    lab.assert_refused(&export_to(&repository, "b", &submodule), Code::Damaged);
}

#[test]
fn a_tree_the_repository_holds_without_its_files_is_completed() {
    let lab = Lab::new();
    let origin = lab.repository("origin");
    lab.git(&origin, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.display());
    lab.git(&lab.path(""), &["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "partial"]);
    let partial = lab.path("partial");
    let tree = lab.snapshot(&[("a.txt", "one\n")]);
    let before = picture(&partial);
    let exported = lab.export(&export_to(&partial, "b", &[commit(tree, "same files")])).unwrap();
    // The commit, and the blob that the clone left out; the tree is there.
    assert_eq!(exported.objects_written, 2);
    assert_eq!(added(&before, &picture(&partial)).len(), 3);
    lab.fsck(&partial);
    fs::rename(&origin, lab.path("gone")).unwrap();
    assert_eq!(lab.git(&partial, &["show", "b:a.txt"]), "one");
}

#[test]
fn the_store_itself_is_not_a_repository_of_the_users() {
    let lab = Lab::new();
    let commits = [commit(lab.snapshot(&[("a", "a")]), "a")];
    lab.assert_refused(&GitExport { onto: Onto::Nothing, ..export_to(&lab.store(), "b", &commits) }, Code::GitRefused);
    assert!(export_commits(lab.files.objects(), &export_to(&lab.repository("r"), "b", &commits), true).is_ok());
}
