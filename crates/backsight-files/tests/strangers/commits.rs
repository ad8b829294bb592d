//! The commits that stand in the timeline come from wherever a `.git` leads: they are only read, only from regular files of
//! this user, never waited for, never inflated without a bound, and nothing is run.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;

use backsight_core::{Code, Result, Timestamp};
use backsight_files::{GitCommits, ObjectKind, git_commits, object_id};

use crate::lab::{Lab, bounded, deflated};

fn commits(root: &Path) -> Result<GitCommits> {
    let root = root.to_owned();
    bounded(move || git_commits(&root, Timestamp(0), Timestamp(i64::MAX), 100))
}

/// A workspace whose `.git` file points at a repository elsewhere that would run programs.
fn pointed() -> Lab {
    let lab = Lab::new();
    lab.git(&["init", "-q", "-b", "main", "../elsewhere"]);
    let git = |arguments: &[&str]| lab.git(&[&["-C", "../elsewhere"], arguments].concat());
    git(&["-c", "user.name=U", "-c", "user.email=u@x", "commit", "-q", "--allow-empty", "-m", "their words"]);
    for key in ["core.fsmonitor", "core.sshCommand", "core.pager", "filter.x.clean", "core.hooksPath"] {
        git(&["config", key, &format!("touch {}", lab.path("ran").display())]);
    }
    lab.write(".git", "gitdir: ../elsewhere/.git\n");
    lab
}

#[test]
fn a_git_file_is_followed_to_read_and_nothing_is_run() {
    let lab = pointed();
    let times = |lab: &Lab| {
        let entries = fs::read_dir(lab.path("elsewhere/.git")).unwrap().map(|entry| entry.unwrap());
        let mut times: Vec<_> =
            entries.map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap())).collect();
        times.sort();
        times
    };
    let before = times(&lab);
    let found = commits(&lab.root()).unwrap();
    assert_eq!(found.commits.iter().map(|commit| commit.subject.as_str()).collect::<Vec<_>>(), ["their words"]);
    assert_eq!(times(&lab), before);
    assert!(!lab.path("ran").exists());
}

#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    for part in ["HEAD", "config", "packed-refs", "refs/heads/main", "objects/info/alternates", "commondir"] {
        let lab = pointed();
        let path = lab.path("elsewhere/.git").join(part);
        let _ = fs::remove_file(&path);
        lab.fifo(&path);
        assert!(commits(&lab.root()).map_or(true, |found| found.commits.len() <= 1), "{part}");
    }
    for target in ["/dev/zero", "/proc/self/mem", "/dev/tty"] {
        let lab = Lab::new();
        symlink(target, lab.root().join(".git")).unwrap();
        assert!(commits(&lab.root()).map_or(true, |found| found.commits.is_empty()), "{target}");
    }
    let lab = Lab::new();
    lab.fifo(&lab.root().join(".git"));
    assert!(commits(&lab.root()).map_or(true, |found| found.commits.is_empty()));
}

#[test]
fn a_repository_of_another_user_is_named_and_not_read() {
    for part in ["elsewhere/.git", "lender"] {
        let lab = pointed();
        fs::create_dir(lab.path("lender")).unwrap();
        let alternates = lab.path("elsewhere/.git/objects/info/alternates");
        fs::write(alternates, format!("{}\n", lab.path("lender").display())).unwrap();
        chown(lab.path(part), Some(4242), None).unwrap();
        let error = commits(&lab.root()).unwrap_err();
        assert_eq!(error.code(), Code::GitRefused, "{error}");
        assert!(error.message().contains("user 4242"), "{error}");
        // In a work tree of theirs it is no surprise.
        chown(lab.root(), Some(4242), None).unwrap();
        assert_eq!(commits(&lab.root()).unwrap().commits.len(), 1);
    }
}

#[test]
fn a_small_object_that_is_gigabytes_is_not_inflated() {
    let lab = pointed();
    let size = 64 << 20;
    let content = vec![0; size];
    let id = object_id(ObjectKind::Blob, &content).unwrap().to_string();
    let path = lab.path("elsewhere/.git/objects").join(&id[..2]);
    fs::create_dir_all(&path).unwrap();
    let bytes = deflated(&[format!("blob {size}\0").as_bytes(), &content].concat());
    assert!(bytes.len() < 1 << 20);
    fs::write(path.join(&id[2..]), bytes).unwrap();
    fs::write(lab.path("elsewhere/.git/HEAD"), format!("{id}\n")).unwrap();
    let error = commits(&lab.root()).unwrap_err();
    assert!(error.to_string().contains("the most that is read") || error.code() == Code::Io, "{error:?}");
    // The same in a pack.
    let lab = pointed();
    fs::write(lab.path("elsewhere/zeros"), &content).unwrap();
    lab.git(&["-C", "../elsewhere", "-c", "core.fsmonitor=false", "hash-object", "-w", "zeros"]);
    lab.git(&["-C", "../elsewhere", "-c", "core.fsmonitor=false", "repack", "-q", "-a", "-d", "-k"]);
    fs::write(lab.path("elsewhere/.git/HEAD"), format!("{id}\n")).unwrap();
    assert_eq!(commits(&lab.root()).unwrap_err().code(), Code::Io);
}
