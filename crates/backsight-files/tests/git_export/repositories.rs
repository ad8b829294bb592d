//! The shapes a repository comes in, and the ones that are refused.

use std::fs;
use std::path::Path;

use backsight_core::{Code, ObjectId};
use backsight_files::{GitExport, NewCommit, Onto};

use crate::lab::{Lab, commit, export_to};

fn work(lab: &Lab) -> [NewCommit; 1] {
    [commit(lab.snapshot(&[("a.txt", "one\n"), ("b.txt", "b\n")]), "work")]
}

fn parent(lab: &Lab, repository: &Path, branch: &str) -> ObjectId {
    lab.id(repository, &format!("{branch}^"))
}

#[test]
fn a_repository_may_be_named_by_its_work_tree_or_its_git_directory() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let commits = work(&lab);
    lab.export_checked(&export_to(&repository, "one", &commits));
    lab.export_checked(&export_to(&repository.join(".git"), "two", &commits));
    assert_eq!(lab.git(&repository, &["branch", "--format=%(refname:short)"]), "main\none\ntwo");
}

#[test]
fn a_bare_repository() {
    let lab = Lab::new();
    lab.repository("r");
    lab.git(&lab.path(""), &["clone", "-q", "--bare", "r", "bare.git"]);
    let bare = lab.path("bare.git");
    let exported = lab.export_checked(&export_to(&bare, "work", &work(&lab)));
    assert_eq!(parent(&lab, &bare, "work"), exported.onto.unwrap());
    assert_eq!(lab.git(&bare, &["diff", "--name-status", "main", "work"]), "A\tb.txt");
}

#[test]
fn a_linked_work_tree_shares_branches_and_has_its_own_head() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    lab.git(&repository, &["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = lab.path("linked");
    fs::write(linked.join("c.txt"), "c\n").unwrap();
    lab.git(&linked, &["add", "."]);
    lab.git(&linked, &["commit", "-q", "-m", "on the side"]);
    let side = lab.id(&linked, "HEAD");
    let commits = work(&lab);
    assert_eq!(lab.export_checked(&export_to(&linked, "one", &commits)).onto, Some(side));
    assert_eq!(lab.export_checked(&export_to(&linked.join(".git"), "two", &commits)).onto, Some(side));
    assert_eq!(lab.id(&repository, "one"), lab.id(&repository, "two"));
    lab.assert_refused(&export_to(&linked, "main", &commits), Code::GitRefused);
    lab.assert_refused(&export_to(&repository, "side", &commits), Code::GitRefused);
}

#[test]
fn packed_references_and_packed_objects() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    for number in 0..20 {
        fs::write(repository.join("a.txt"), format!("{number}\n").repeat(200)).unwrap();
        let message = format!("{} number {number}", "a long message that is nearly the same every time ".repeat(20));
        lab.git(&repository, &["commit", "-q", "-a", "-m", &message]);
    }
    lab.git(&repository, &["tag", "-a", "-m", "a tag", "v1", "HEAD~3"]);
    lab.git(&repository, &["tag", "-a", "-m", "a tag of a tag", "v2", "v1"]);
    lab.git(&repository, &["branch", "kept", "HEAD~5"]);
    let names = ["HEAD", "main", "v1", "v2", "kept", "refs/tags/v2", "refs/heads/kept", "tags/v1", "heads/kept"];
    let commits_of = |lab: &Lab| names.map(|name| lab.id(&repository, &format!("{name}^{{commit}}")));
    let expected = commits_of(&lab);
    let commits = work(&lab);
    for round in ["loose", "packed"] {
        if round == "packed" {
            lab.git(&repository, &["pack-refs", "--all"]);
            lab.git(&repository, &["gc", "-q", "--aggressive", "--prune=now"]);
            assert!(!repository.join(".git/refs/heads/main").exists());
        }
        for (name, id) in names.iter().zip(expected) {
            let branch = format!("{round}-{}", name.replace('/', "-"));
            let onto = Onto::Revision((*name).to_owned());
            let export = GitExport { onto, ..export_to(&repository, &branch, &commits) };
            assert_eq!(lab.export_checked(&export).onto, Some(id), "{name}");
        }
    }
    // Every commit is found, also those that Git keeps as deltas.
    let index = fs::read_dir(repository.join(".git/objects/pack")).unwrap().map(|entry| entry.unwrap().path());
    let indexes: Vec<_> = index.filter(|path| path.extension().is_some_and(|name| name == "idx")).collect();
    let listed: Vec<String> =
        indexes.iter().map(|index| lab.git(&repository, &["verify-pack", "-v", index.to_str().unwrap()])).collect();
    let is_delta = |line: &str| line.contains(" commit ") && line.split_whitespace().count() == 7;
    assert!(listed.iter().flat_map(|text| text.lines()).any(is_delta), "{listed:?}");
    for (number, id) in lab.git(&repository, &["rev-list", "main"]).lines().enumerate() {
        let branch = format!("from-{number}");
        let onto = Onto::Revision(id.to_owned());
        lab.export(&GitExport { onto, ..export_to(&repository, &branch, &commits) }).unwrap();
        assert_eq!(parent(&lab, &repository, &branch).to_string(), id);
    }
    lab.fsck(&repository);
    for taken in ["kept", "main", "kept/below", "Kept"] {
        lab.assert_refused(&export_to(&repository, taken, &commits), Code::GitRefused);
    }
}

#[test]
fn objects_borrowed_from_another_repository() {
    let lab = Lab::new();
    let origin = lab.repository("origin");
    lab.git(&origin, &["gc", "-q"]);
    lab.git(&lab.path(""), &["clone", "-q", "--shared", "origin", "one"]);
    lab.git(&lab.path(""), &["clone", "-q", "--shared", "one", "two"]);
    let commits = [commit(lab.snapshot(&[("a.txt", "one\n")]), "the same files")];
    let exported = lab.export_checked(&export_to(&lab.path("two"), "work", &commits));
    assert_eq!((exported.objects_written, exported.onto), (1, Some(lab.id(&origin, "HEAD"))));
    // A path relative to the `objects` directory means the same.
    fs::write(lab.path("one/.git/objects/info/alternates"), "# a comment\n../../../origin/.git/objects\n").unwrap();
    assert_eq!(lab.export_checked(&export_to(&lab.path("one"), "work", &commits)).objects_written, 1);
}

#[test]
fn a_detached_head() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    lab.git(&repository, &["commit", "-q", "--allow-empty", "-m", "second"]);
    lab.git(&repository, &["checkout", "-q", "--detach", "HEAD~1"]);
    let first = lab.id(&repository, "HEAD");
    assert_eq!(lab.export_checked(&export_to(&repository, "work", &work(&lab))).onto, Some(first));
}

#[test]
fn a_head_without_commits_stays_without() {
    let lab = Lab::new();
    lab.git(&lab.path(""), &["init", "-q", "-b", "trunk", "r"]);
    let repository = lab.path("r");
    let commits = work(&lab);
    for taken in ["trunk", "TRUNK", "trunk/below"] {
        let error = lab.assert_refused(&export_to(&repository, taken, &commits), Code::GitRefused);
        assert!(error.message().contains("no commit yet"), "{error}");
        assert!(error.message().contains(taken), "{error}");
    }
    let onto = Onto::Revision("HEAD".to_owned());
    lab.assert_refused(&GitExport { onto, ..export_to(&repository, "work", &commits) }, Code::RefNotFound);
    let exported = lab.export_checked(&export_to(&repository, "work", &commits));
    assert_eq!((exported.onto, lab.git(&repository, &["rev-list", "--count", "work"])), (None, "1".to_owned()));

    // Nor does the branch appear that a linked work tree waits for.
    lab.git(&repository, &["worktree", "add", "-q", "--detach", "../linked", "work"]);
    lab.git(&lab.path("linked"), &["symbolic-ref", "HEAD", "refs/heads/lonely"]);
    lab.assert_refused(&export_to(&repository, "lonely", &commits), Code::GitRefused);
    lab.assert_refused(&export_to(&lab.path("linked"), "trunk", &commits), Code::GitRefused);

    // One that is broken is in nobody's way.
    fs::write(repository.join(".git/worktrees/linked/HEAD"), "").unwrap();
    lab.export(&export_to(&repository, "lonely", &commits)).unwrap();
}

#[test]
fn a_shallow_clone() {
    let lab = Lab::new();
    let origin = lab.repository("origin");
    lab.git(&origin, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let url = format!("file://{}", origin.display());
    lab.git(&lab.path(""), &["clone", "-q", "--depth=1", &url, "shallow"]);
    let shallow = lab.path("shallow");
    lab.export_checked(&export_to(&shallow, "work", &work(&lab)));
    lab.git(&shallow, &["push", "-q", "origin", "work"]);
    lab.fsck(&origin);
}

#[test]
fn a_submodule_has_a_git_file_of_its_own() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    lab.repository("inner");
    lab.git(&repository, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "sub"]);
    let sub = repository.join("sub");
    assert!(sub.join(".git").is_file());
    lab.export_checked(&export_to(&sub, "work", &work(&lab)));
    assert_eq!(lab.git(&sub, &["diff", "--name-status", "main", "work"]), "A\tb.txt");
}

#[test]
fn formats_we_cannot_write_are_refused_by_name() {
    let lab = Lab::new();
    let commits = work(&lab);
    lab.git(&lab.path(""), &["init", "-q", "--object-format=sha256", "sha256"]);
    let made = lab.try_git(&lab.path(""), &["init", "-q", "--ref-format=reftable", "reftable"]);
    if !made.status.success() {
        // An older git: what it would say about the format is in the configuration.
        lab.repository("reftable");
        lab.git(&lab.path("reftable"), &["config", "core.repositoryFormatVersion", "1"]);
        lab.git(&lab.path("reftable"), &["config", "extensions.refStorage", "reftable"]);
    }
    for (name, line) in [("newer", "[core]\nrepositoryFormatVersion = 2\n"), ("odd", "[extensions]\nfancy = 1\n")] {
        let config = lab.repository(name).join(".git/config");
        let text = fs::read_to_string(&config).unwrap().replace("version = 0", "version = 1");
        fs::write(&config, text + line).unwrap();
    }
    for (name, word) in [("sha256", "sha256"), ("reftable", "reftable"), ("newer", "`2`"), ("odd", "`fancy`")] {
        let path = lab.path(name);
        let export = GitExport { onto: Onto::Nothing, ..export_to(&path, "work", &commits) };
        let error = lab.assert_refused(&export, Code::GitRefused);
        assert!(error.message().contains(word) && error.message().contains(name), "{error}");
    }
}

#[test]
fn what_is_no_repository_is_not_found() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let commits = work(&lab);
    fs::create_dir(lab.path("plain")).unwrap();
    fs::create_dir(lab.path("dangling")).unwrap();
    fs::write(lab.path("dangling/.git"), "gitdir: ../nowhere\n").unwrap();
    for path in [lab.path("plain"), lab.path("absent"), lab.path("dangling"), repository.join("a.txt")] {
        lab.assert_refused(&export_to(&path, "work", &commits), Code::RepositoryNotFound);
    }
}

#[test]
fn revisions_that_name_no_commit_or_two() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let commits = work(&lab);
    lab.git(&repository, &["commit", "-q", "--allow-empty", "-m", "second"]);
    lab.git(&repository, &["tag", "both", "HEAD"]);
    lab.git(&repository, &["branch", "both", "HEAD~"]);
    lab.git(&repository, &["tag", "same", "HEAD"]);
    lab.git(&repository, &["branch", "same", "HEAD"]);
    lab.git(&repository, &["tag", "file", "HEAD:a.txt"]);
    let export = |revision: &str| GitExport {
        onto: Onto::Revision(revision.to_owned()),
        ..export_to(&repository, "work", &commits)
    };
    let absent = "1234567890123456789012345678901234567890";
    for text in ["nobody", "", "HEAD~1", "../HEAD", "refs/../HEAD", "refs/heads", "-x", "main.lock", absent, "a\nb"] {
        lab.assert_refused(&export(text), Code::RefNotFound);
    }
    lab.assert_refused(&export("both"), Code::RefAmbiguous);
    lab.assert_refused(&export("file"), Code::GitRefused);
    lab.export_checked(&export("same"));
}
