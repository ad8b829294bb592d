//! A process killed at any of its operations on the disk leaves the branch whole or absent, and all else as it was.

use std::fs;
use std::path::Path;

use backsight_core::Code;
use backsight_files::{Disk, export_commits};

use crate::lab::{Lab, added, commit, export_to, picture};

#[test]
fn killed_anywhere_the_branch_is_whole_or_absent() {
    let lab = Lab::new();
    let commits = [commit(lab.snapshot(&[("a.txt", "one\n"), ("b/c.txt", "c\n")]), "work")];
    let mut completed = 0;
    for operations in 0.. {
        let name = format!("r{operations}");
        let repository = lab.repository(&name);
        let before = picture(&repository);
        let export = export_to(&repository, "agent/work", &commits);
        let killed = lab.files_on(Disk::stopping_after(operations));
        let outcome = export_commits(killed.objects(), &export, false);
        let left = added(&before, &picture(&repository));
        lab.fsck(&repository);
        let branch = lab.try_git(&repository, &["rev-parse", "--verify", "-q", "refs/heads/agent/work"]);
        if branch.status.success() {
            assert_eq!(lab.git(&repository, &["show", "agent/work:b/c.txt"]), "c");
            completed += 1;
        } else {
            assert!(outcome.is_err());
            assert!(left.iter().all(|path| is_harmless(&repository, path)), "{left:?}");
            again(&lab, &repository, &left);
        }
        if outcome.is_ok() {
            break;
        }
        fs::remove_dir_all(&repository).unwrap();
    }
    assert_eq!(completed, 2, "once killed just before the last sync, once not at all");
}

#[test]
fn of_several_at_once_one_makes_the_branch() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let tree = lab.snapshot(&[("a.txt", "one\n"), ("b/c.txt", "c\n")]);
    let before = picture(&repository);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let export = |number: usize| {
            let (files, repository) = (lab.files_on(Disk::new()), &repository);
            scope.spawn(move || {
                let commits = [commit(tree, &format!("by {number}"))];
                export_commits(files.objects(), &export_to(repository, "agent/work", &commits), false)
            })
        };
        let threads: Vec<_> = (0..8).map(export).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (made, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(made.len(), 1);
    assert_eq!(lab.id(&repository, "agent/work"), made[0].as_ref().unwrap().tip);
    for error in refused.into_iter().map(Result::unwrap_err) {
        assert!([Code::Busy, Code::GitRefused].contains(&error.code()), "{error}");
    }
    let left = added(&before, &picture(&repository));
    let is_temporary = |path: &&std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("tmp_") || name.ends_with(".lock")
    };
    assert_eq!(left.iter().filter(is_temporary).count(), 0, "{left:?}");
    lab.fsck(&repository);
}

/// What a killed export may leave: temporary files, objects nobody refers to, the lock, and directories.
fn is_harmless(repository: &Path, path: &Path) -> bool {
    let name = path.strip_prefix(repository).unwrap().to_str().unwrap();
    let is_object = [".git/objects/pack/tmp_", ".git/objects/pack/pack-"].iter().any(|start| name.starts_with(start));
    is_object || [".git/refs/heads/agent", ".git/refs/heads/agent/work.lock"].contains(&name)
}

/// The next export succeeds, once the lock is gone that a killed process left.
fn again(lab: &Lab, repository: &Path, left: &[std::path::PathBuf]) {
    let commits = [commit(lab.snapshot(&[("a.txt", "one\n"), ("b/c.txt", "c\n")]), "work")];
    let export = export_to(repository, "agent/work", &commits);
    let lock = repository.join(".git/refs/heads/agent/work.lock");
    if left.contains(&lock) {
        assert_eq!(lab.export(&export).unwrap_err().code(), Code::Busy);
        fs::remove_file(&lock).unwrap();
    }
    lab.export_checked(&export);
    lab.git(repository, &["gc", "-q", "--prune=now"]);
    let packs = fs::read_dir(repository.join(".git/objects/pack")).unwrap();
    let temporary =
        packs.map(|entry| entry.unwrap().file_name()).filter(|name| name.to_str().unwrap().starts_with("tmp_"));
    assert_eq!(temporary.count(), 0, "`git gc` cleans up after a killed export");
}
