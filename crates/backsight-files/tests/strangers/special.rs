//! FIFOs, devices, directories and endless files where a text is expected: reported, never waited for.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use backsight_core::{Code, Reason};
use backsight_files::{GitExport, NewCommit, Onto, Person, Surroundings, export_commits};

use crate::lab::{Lab, bounded};

/// The files that a capture may read outside the files it captures, seen from the workspace.
const READ: [&str; 7] = [
    ".git/config",
    ".git/info/exclude",
    ".git/commondir",
    ".git/index",
    "sub/.git",
    "../home/.gitconfig",
    "../home/.config/git/ignore",
];

fn workspace(lab: &Lab) {
    lab.git(&["init", "-q"]);
    fs::create_dir_all(lab.path("home/.config/git")).unwrap();
    lab.write("sub/file", "1");
    // Something must be ignored for the index to be asked.
    lab.write(".gitignore", "*.log\n");
    lab.write("a.log", "1");
}

fn replaced(make: impl Fn(&Lab, &std::path::Path)) {
    for name in READ {
        let lab = Lab::new();
        workspace(&lab);
        let path = lab.root().join(name);
        let _ = fs::remove_file(&path);
        make(&lab, &path);
        let coverage = bounded(move || lab.capture()).coverage;
        assert!(coverage.files >= 2, "{name}: {coverage:?}");
        let is_said = coverage.unread_rules.iter().any(|said| said.contains("was not read"));
        // That `commondir` cannot be read means that there is none.
        assert!(is_said || name == ".git/commondir", "{name}: {coverage:?}");
    }
}

#[test]
fn fifos_where_rules_are_expected_are_not_waited_for() {
    replaced(|lab, path| lab.fifo(path));
}

#[test]
fn links_to_devices_where_rules_are_expected_are_not_read() {
    replaced(|_, path| symlink("/dev/zero", path).unwrap());
}

#[test]
fn endless_files_where_rules_are_expected_are_not_read() {
    replaced(|_, path| File::create(path).unwrap().set_len(1 << 42).unwrap());
}

#[test]
fn a_fifo_for_a_gitignore_or_a_git_is_reported() {
    let lab = Lab::new();
    lab.fifo(&lab.root().join(".gitignore"));
    lab.fifo(&lab.root().join("sub/.gitignore"));
    lab.fifo(&lab.root().join(".git"));
    let coverage = bounded(move || lab.capture()).coverage;
    let special: Vec<String> = coverage.uncovered.iter().map(|found| found.path.to_string()).collect();
    assert_eq!(special, [".gitignore", "sub/.gitignore"]);
    assert!(coverage.uncovered.iter().all(|found| found.reason == Reason::Special));
    assert!(coverage.unread_rules.iter().any(|said| said.contains(".git`")), "{coverage:?}");
}

#[test]
fn a_configuration_that_includes_itself_is_read_a_few_times() {
    let lab = Lab::new();
    lab.git(&["init", "-q"]);
    lab.write("a", "1");
    fs::write(lab.root().join(".git/config"), "[include]\npath = config\n".repeat(12)).unwrap();
    let coverage = bounded(move || lab.capture()).coverage;
    assert!(coverage.unread_rules.iter().any(|said| said.contains("includes more than")), "{coverage:?}");
}

#[test]
fn special_files_in_a_repository_that_is_exported_to_are_refused() {
    let parts = [
        "HEAD",
        "config",
        "packed-refs",
        "refs/heads/main",
        "objects/info/alternates",
        "objects/pack/pack-x.idx",
        "commondir",
        "info/attributes",
    ];
    for part in parts {
        let lab = Lab::new();
        lab.write("a", "1");
        let tree = lab.capture().tree;
        lab.git(&["init", "-q", "-b", "main", "../repository"]);
        let path = lab.path("repository/.git").join(part);
        if part.starts_with("objects/pack") {
            fs::write(path.with_extension("pack"), "").unwrap();
        }
        let _ = fs::remove_file(&path);
        lab.fifo(&path);
        let exported = bounded(move || {
            let author = Person { name: "A".to_owned(), email: String::new() };
            let time = backsight_core::Timestamp(0);
            let commits = [NewCommit { tree: tree.id, coverage: None, message: "m".to_owned(), author, time }];
            let export = GitExport {
                workspace: &lab.path("."),
                repository: &lab.path("repository"),
                branch: "b",
                onto: Onto::Head,
                before: None,
                commits: &commits,
                within: None,
                surroundings: &Surroundings::default(),
            };
            export_commits(lab.files().objects(), &export, true)
        });
        // What is not needed may be passed over; what is needed is refused.
        if let Err(error) = exported {
            let expected = [Code::Io, Code::RepositoryNotFound, Code::GitRefused];
            assert!(expected.contains(&error.code()), "{part}: {error}");
        }
    }
}
