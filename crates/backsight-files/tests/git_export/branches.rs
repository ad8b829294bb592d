//! Which branches can be made: Git's rules for names, and nothing that stands in the way.

use std::fs;

use backsight_core::Code;
use backsight_files::export_commits;

use crate::lab::{Lab, commit, export_to};

#[test]
fn names_are_allowed_as_git_allows_them() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let commits = [commit(lab.snapshot(&[("a", "a")]), "a")];
    let long = "x".repeat(250);
    let names = [
        "a",
        "a/b",
        "a-b",
        "a_b",
        "a.b",
        "A",
        "\u{e4}\u{5c71}",
        "a@b",
        "a@",
        "@a",
        "a{b}",
        "refs/heads/a",
        "a=b",
        "a,b",
        "a'b",
        "a\"b",
        "$a",
        "a!",
        "#1",
        "a/-b",
        "a..b",
        "-x",
        "--",
        "a.lock",
        "a.lock/b",
        "a/b.lock",
        "@{",
        "a@{b",
        "@{-1}",
        "a.",
        ".a",
        "a/.b",
        "a/b.",
        "a./b",
        "a b",
        " a",
        "a ",
        "a\tb",
        "a\nb",
        "a\u{7f}b",
        "a~b",
        "a^b",
        "a:b",
        "a?b",
        "a*b",
        "a[b",
        "a]b",
        "a\\b",
        "/a",
        "a/",
        "a//b",
        "",
        ".",
        "..",
        "HEAD",
        "a/HEAD",
        "head2",
        &long,
    ];
    for name in names {
        let ours = export_commits(lab.files.objects(), &export_to(&repository, name, &commits), true);
        let gits = lab.try_git(&repository, &["check-ref-format", "--branch", name]).status.success();
        match &ours {
            Err(error) => assert_eq!(error.code(), Code::Usage, "{name:?}"),
            Ok(exported) => assert_eq!(exported.branch, name),
        }
        assert_eq!(ours.is_ok(), gits, "{name:?}");
    }
    let too_long = "x".repeat(251);
    lab.assert_refused(&export_to(&repository, &too_long, &commits), Code::Usage);
    lab.assert_refused(&export_to(&repository, "a\0b", &commits), Code::Usage);
    // Git would make it, and everybody would take it for `HEAD`.
    lab.assert_refused(&export_to(&repository, "@", &commits), Code::Usage);
    lab.export_checked(&export_to(&repository, &long, &commits));
}

#[test]
fn a_name_in_use_is_refused_with_one_that_is_free() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    lab.git(&repository, &["branch", "taken"]);
    lab.git(&repository, &["branch", "deep/er"]);
    let commits = [commit(lab.snapshot(&[("a", "a")]), "a")];
    for packed in [false, true] {
        if packed {
            lab.git(&repository, &["pack-refs", "--all"]);
        }
        let cases = [
            ("taken", "taken-2"),
            ("Taken", "Taken-2"),
            ("taken/below", "taken-below-2"),
            ("deep", "deep-2"),
            ("DEEP/er/x", "DEEP-er-x-2"),
        ];
        for (name, free) in cases {
            let error = lab.assert_refused(&export_to(&repository, name, &commits), Code::GitRefused);
            assert!(error.message().contains(&format!("`{name}`")), "{error}");
            assert!(error.hint().unwrap().contains(&format!("`{free}`")), "{:?}", error.hint());
        }
    }
    lab.export_checked(&export_to(&repository, "taken-below-2", &commits));
    lab.export_checked(&export_to(&repository, "deep/est/of/all", &commits));
}

#[test]
fn directories_that_git_left_empty_are_not_in_the_way() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    fs::create_dir_all(repository.join(".git/refs/heads/old/er")).unwrap();
    let commits = [commit(lab.snapshot(&[("a", "a")]), "a")];
    let exported = lab.export(&export_to(&repository, "old", &commits)).unwrap();
    assert_eq!(lab.id(&repository, "old"), exported.tip);
    lab.fsck(&repository);
}

#[test]
fn a_lock_is_respected() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let lock = repository.join(".git/refs/heads/work.lock");
    fs::write(&lock, "").unwrap();
    let commits = [commit(lab.snapshot(&[("a", "a")]), "a")];
    let error = lab.assert_refused(&export_to(&repository, "work", &commits), Code::Busy);
    assert!(error.hint().unwrap().contains("work.lock"), "{:?}", error.hint());
    lab.export_checked(&export_to(&repository, "other", &commits));
    fs::remove_file(&lock).unwrap();
    lab.export_checked(&export_to(&repository, "work", &commits));
}

#[test]
fn git_goes_on_with_the_branch() {
    let lab = Lab::new();
    let repository = lab.repository("r");
    let commits = [commit(lab.snapshot(&[("a", "a")]), "a"), commit(lab.snapshot(&[("b", "b")]), "b")];
    lab.export_checked(&export_to(&repository, "agent/work", &commits));
    lab.git(&repository, &["checkout", "-q", "agent/work"]);
    lab.git(&repository, &["commit", "-q", "--amend", "-m", "better"]);
    lab.git(&repository, &["gc", "-q", "--prune=now"]);
    lab.git(&repository, &["checkout", "-q", "main"]);
    lab.git(&repository, &["branch", "-q", "-D", "agent/work"]);
    lab.export_checked(&export_to(&repository, "agent/work", &commits));
}
