//! Ignore rules, with real git as the referee: what a capture holds is what `git ls-files -co --exclude-standard`
//! lists in the same tree, and its tree id is the one git computes for those files.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::fixture::Fixture;
use crate::random::Random;

/// The paths of the newest snapshot that git could hold.
fn captured(fixture: &Fixture) -> BTreeSet<String> {
    let listed = fixture.ok("ls @");
    let files = listed["files"].as_array().unwrap().iter().filter(|file| file["kind"] != "directory");
    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

/// What git would add, plus what it tracks and is still there; as paths from the workspace.
fn wanted(fixture: &Fixture) -> BTreeSet<String> {
    let listed = fixture.git("ls-files -co --exclude-standard -z");
    let paths = listed.split('\0').filter(|path| !path.is_empty() && !path.ends_with('/'));
    paths.filter(|path| fixture.root().join(path).symlink_metadata().is_ok()).map(str::to_owned).collect()
}

/// The tree id real git gives to `paths` of the workspace.
pub fn git_tree(fixture: &Fixture, paths: &BTreeSet<String>) -> String {
    let scratch = fixture.base().join("scratch");
    if !scratch.exists() {
        fs::create_dir(&scratch).unwrap();
        fixture.git_in(&scratch, "init -q --bare .");
    }
    let _ = fs::remove_file(scratch.join("index"));
    let git = |arguments: &[&str], input: &[u8]| {
        let mut command = fixture.git_command(fixture.root());
        command.args(["-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null"]).args(arguments);
        command.env("GIT_DIR", &scratch).env("GIT_WORK_TREE", fixture.root());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let list: String = paths.iter().map(|path| format!("{path}\0")).collect();
    git(&["update-index", "--add", "-z", "--stdin"], list.as_bytes());
    git(&["write-tree"], b"").trim().to_owned()
}

/// Records, and compares with git.
#[track_caller]
fn agrees(fixture: &Fixture, what: &str) {
    let tracked = fixture.ok("track");
    let wanted = wanted(fixture);
    if tracked["tree"].as_str().unwrap() == git_tree(fixture, &wanted) {
        return;
    }
    let captured = captured(fixture);
    let missing: Vec<_> = wanted.difference(&captured).collect();
    let extra: Vec<_> = captured.difference(&wanted).collect();
    panic!("{what}: the tree id is not git's: missing {missing:?}, extra {extra:?}");
}

fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.git("init -q .");
    fixture
}

const NAMES: [&str; 12] =
    ["a", "b.txt", "c.log", "build", "foo", "foo bar", "x[1].txt", "x1.txt", "doc", "keep.log", ".hidden", "#hash"];

/// The same names on three levels.
fn plant(fixture: &Fixture, below: &str, depth: usize) {
    for name in NAMES {
        let path = format!("{below}{name}");
        // `build`, `foo` and `doc` are directories on the upper levels and files on the lowest.
        match (depth > 0, ["build", "foo", "doc"].contains(&name)) {
            (true, true) => plant(fixture, &format!("{path}/"), depth - 1),
            _ => fixture.write(&path, &path),
        }
    }
    fixture.write(&format!("{below}trailing "), "ends with a space\n");
}

const PATTERNS: [&str; 52] = [
    "*.log",
    "!keep.log",
    "/a",
    "a",
    "build/",
    "build",
    "/build/",
    "!build/",
    "foo/build",
    "foo/*",
    "!foo/a",
    "foo/**",
    "**/foo",
    "**/foo/a",
    "foo/**/a",
    "doc/**/b.txt",
    "*",
    "!*/",
    "!*.txt",
    "/*",
    "!/doc",
    "x[1].txt",
    "x\\[1\\].txt",
    "x[0-9].txt",
    "x[!0].txt",
    "x[[:digit:]].txt",
    "x?.txt",
    "foo bar",
    "foo\\ bar",
    "trailing ",
    "trailing\\ ",
    "a   ",
    "\\#hash",
    "#hash",
    "\\!a",
    "",
    "   ",
    ".*",
    "!.gitignore",
    "doc/",
    "!doc/foo/",
    "doc/foo",
    "/doc/*/a",
    "**",
    "**/",
    "/**/b.txt",
    "foo*/",
    "*o",
    "[a-c]*",
    "[^a]",
    "b.txt\r",
    "\\",
];

fn random_rules(random: &mut Random, most: u64) -> String {
    (0..=random.below(most)).map(|_| format!("{}\n", random.pick(&PATTERNS))).collect()
}

/// Ignore files in several places at once.
fn generated(seed: u64) {
    let fixture = repository();
    plant(&fixture, "", 2);
    let mut random = Random::new(seed);
    for round in 0..10 {
        for place in ["", "foo/", "doc/", "doc/build/", "build/foo/"] {
            let file = format!("{place}.gitignore");
            let _ = fs::remove_file(fixture.root().join(&file));
            if place.is_empty() || random.once_in(3) {
                fixture.write(&file, &random_rules(&mut random, 5));
            }
        }
        let exclude = if random.once_in(3) { random_rules(&mut random, 2) } else { String::new() };
        fixture.write(".git/info/exclude", &exclude);
        let global = if random.once_in(3) { random_rules(&mut random, 2) } else { String::new() };
        fs::create_dir_all(fixture.base().join("config/git")).unwrap();
        fs::write(fixture.base().join("config/git/ignore"), &global).unwrap();
        // A fresh store: what an earlier round captured would rightly stay covered.
        begin_anew(&fixture);
        let root = fs::read_to_string(fixture.root().join(".gitignore")).unwrap();
        agrees(&fixture, &format!("seed {seed} round {round}: {root:?} {exclude:?} {global:?}"));
    }
}

/// Another store, empty.
fn begin_anew(fixture: &Fixture) {
    let _ = fs::remove_dir_all(fixture.root().join(".backsight"));
    fixture.done("init");
}

#[test]
fn generated_rules_1() {
    generated(1);
}

#[test]
fn generated_rules_2() {
    generated(2);
}

#[test]
fn generated_rules_3() {
    generated(3);
}

/// Each pattern alone, and each followed by one that takes part of it back.
#[test]
fn every_pattern_alone() {
    let fixture = repository();
    plant(&fixture, "", 1);
    for pattern in PATTERNS {
        fixture.write(".gitignore", &format!("{pattern}\n"));
        begin_anew(&fixture);
        agrees(&fixture, &format!("{pattern:?}"));
    }
}

#[test]
fn ignore_files_with_odd_encodings() {
    let fixture = repository();
    plant(&fixture, "", 0);
    for text in ["\u{feff}*.log\n", "*.log\r\na\r\n", "*.log", "a\n\n\n*.log\n#c\n", "\n", "", "*.log\0\na\n", "a\t\n"]
    {
        fixture.write(".gitignore", text);
        begin_anew(&fixture);
        agrees(&fixture, &format!("{text:?}"));
    }
}

#[test]
fn a_gitignore_that_is_a_symlink_or_a_directory_does_not_count() {
    let fixture = repository();
    fixture.write("rules", "*.log\n");
    fixture.write("x.log", "x");
    std::os::unix::fs::symlink("rules", fixture.root().join(".gitignore")).unwrap();
    agrees(&fixture, "a symlink");
    fs::remove_file(fixture.root().join(".gitignore")).unwrap();
    fixture.write(".gitignore/inside", "x");
    agrees(&fixture, "a directory");
}

#[test]
fn global_excludes_from_the_home_configuration() {
    let fixture = repository();
    plant(&fixture, "", 1);
    fs::write(fixture.home().join("my-ignores"), "*.log\nfoo/\n").unwrap();
    for value in ["~/my-ignores", &fixture.home().join("my-ignores").display().to_string()] {
        fs::write(fixture.home().join(".gitconfig"), format!("[core]\n\texcludesFile = {value}\n")).unwrap();
        begin_anew(&fixture);
        agrees(&fixture, value);
        assert!(!captured(&fixture).contains("c.log"));
    }
}

#[test]
fn global_excludes_in_other_spellings() {
    let fixture = repository();
    plant(&fixture, "", 0);
    let ignores = fixture.home().join("i");
    fs::write(&ignores, "*.log\n").unwrap();
    fs::write(fixture.home().join("included"), "[core]\n  excludesfile = ~/i\n").unwrap();
    fs::create_dir_all(fixture.base().join("config/git")).unwrap();
    let quoted = format!("[CORE]\nExcludesFile=\"{}\" ; mine\n", ignores.display());
    for (text, xdg, local) in [
        (quoted.as_str(), "", ""),
        ("", "[core]\nexcludesFile = ~/i\n", ""),
        ("[include]\n path = included\n", "", ""),
        ("[core]\nexcludesfile = ~/none\n[core]\nexcludesfile = ~/i # last wins\n", "", ""),
        ("", "", "~/i"),
        ("[core] excludesfile = ~/i\n", "", ""),
        ("[core]\nexcludesfile = ~/\\\ni\n", "", ""),
        ("[core]\nexcludesfile = ~/none\n", "", ""),
    ] {
        fs::write(fixture.home().join(".gitconfig"), text).unwrap();
        fs::write(fixture.base().join("config/git/config"), xdg).unwrap();
        if local.is_empty() {
            let _ = fixture.git_command(fixture.root()).args(["config", "--unset", "core.excludesFile"]).output();
        } else {
            fixture.git(&format!("config core.excludesFile {local}"));
        }
        begin_anew(&fixture);
        agrees(&fixture, &format!("{text:?} {xdg:?} {local:?}"));
    }
}

#[test]
fn a_workspace_below_the_top_of_a_repository_obeys_the_rules_above() {
    let fixture = Fixture::new();
    let outer = fixture.base().join("repository");
    let inner = outer.join("sub/ws");
    fs::create_dir_all(outer.parent().unwrap()).unwrap();
    fs::create_dir_all(inner.parent().unwrap()).unwrap();
    fs::rename(fixture.root(), &inner).unwrap();
    std::os::unix::fs::symlink(&inner, fixture.root()).unwrap();
    fixture.git_in(&outer, "init -q .");
    plant(&fixture, "", 1);
    fs::write(outer.join(".gitignore"), "*.log\n/sub/ws/a\nws/foo/b.txt\n/a\n").unwrap();
    fs::write(outer.join("sub/.gitignore"), "!keep.log\n/ws/doc/\n").unwrap();
    fixture.done("init .");
    agrees(&fixture, "parent rules");
    let captured = captured(&fixture);
    assert!(!captured.contains("c.log") && captured.contains("keep.log") && !captured.contains("a"));
}

#[test]
fn files_git_tracks_are_captured_although_ignored() {
    let fixture = repository();
    plant(&fixture, "", 2);
    fixture.git("add -f c.log foo/c.log build/foo/a doc/build/doc");
    fixture.write(".gitignore", "*.log\nbuild/\ndoc/*\n");
    agrees(&fixture, "staged");
    for path in ["c.log", "foo/c.log", "build/foo/a", "doc/build/doc"] {
        assert!(captured(&fixture).contains(path), "{path}");
    }
    fixture.git("commit -q -m x");
    fixture.write("build/foo/a", "edited\n");
    agrees(&fixture, "committed and edited");
    for version in ["2", "3", "4"] {
        fixture.git(&format!("update-index --index-version {version}"));
        begin_anew(&fixture);
        agrees(&fixture, &format!("index version {version}"));
    }
}

#[test]
fn a_split_index_is_understood() {
    let fixture = repository();
    plant(&fixture, "", 1);
    fixture.git("add -f c.log build/a");
    fixture.git("update-index --split-index");
    fixture.git("add -f keep.log");
    fixture.write(".gitignore", "*.log\nbuild/\n");
    agrees(&fixture, "split index");
}

#[test]
fn tracked_files_of_a_sha256_repository_are_captured() {
    let fixture = Fixture::new();
    fixture.git("init -q --object-format=sha256 .");
    plant(&fixture, "", 1);
    fixture.git("add -f c.log build/a");
    fixture.write(".gitignore", "*.log\nbuild/\n");
    agrees(&fixture, "sha256");
}

#[test]
fn a_captured_file_that_becomes_ignored_stays_covered() {
    let fixture = repository();
    fixture.write("secret.env", "1\n");
    fixture.write("gen/a", "a\n");
    fixture.track();
    fixture.write(".gitignore", "*.env\ngen/\n");
    fixture.write("gen/new", "never captured\n");
    fixture.track();
    assert_eq!(captured(&fixture), [".gitignore", "gen/a", "secret.env"].map(str::to_owned).into());
    fixture.write("secret.env", "2\n");
    fixture.write("gen/a", "edited\n");
    let tracked = fixture.ok("track");
    assert_eq!(tracked["created"], true, "an edit of a covered file is a change");
    fixture.ok("restore 1");
    assert_eq!((fixture.read("secret.env").as_str(), fixture.read("gen/a").as_str()), ("1\n", "a\n"));
    assert_eq!(fixture.read("gen/new"), "never captured\n");
    fixture.ok("undo");
    assert_eq!((fixture.read("secret.env").as_str(), fixture.read("gen/a").as_str()), ("2\n", "edited\n"));
}

#[test]
fn a_restored_gitignore_does_not_make_a_restore_delete() {
    // cline#14367: the rule that protected the files goes back first.
    let fixture = repository();
    fixture.write("a", "a\n");
    fixture.track();
    fixture.write(".gitignore", "results/\n");
    fixture.write("results/big", "only copy\n");
    fixture.track();
    fixture.ok("restore 1");
    assert!(!fixture.root().join(".gitignore").exists());
    assert_eq!(fixture.read("results/big"), "only copy\n");
    fixture.track();
    assert!(captured(&fixture).contains("results/big"), "no rule ignores it any more");
    fixture.ok("restore 1");
    // #1 proves that it was absent, and it is stored now.
    fixture.ok("undo");
    assert_eq!(fixture.read("results/big"), "only copy\n");
}

#[test]
fn files_that_are_no_longer_ignored_appear() {
    let fixture = repository();
    fixture.write(".gitignore", "*.log\nout/\n");
    fixture.write("a.log", "a\n");
    fixture.write("out/x", "x\n");
    fixture.track();
    let before = fixture.picture();
    fixture.write(".gitignore", "");
    agrees(&fixture, "un-ignored");
    fixture.ok("undo");
    let mut expected = fixture.picture();
    expected.0.insert(b".gitignore".to_vec(), before.0[b".gitignore".as_slice()].clone());
    assert_eq!(fixture.read(".gitignore"), "*.log\nout/\n");
    assert!(fixture.root().join("a.log").exists() && fixture.root().join("out/x").exists(), "not proven absent in #1");
}

#[test]
fn ignored_directories_are_not_walked() {
    let fixture = repository();
    fixture.write(".gitignore", "deps/\n");
    for number in 0..2000 {
        fixture.write(&format!("deps/{}/{number}", number % 40), "x");
    }
    fixture.done("config set max_files 50");
    let tracked = fixture.ok("track");
    assert_eq!((&tracked["coverage"]["files"], &tracked["coverage"]["complete"]), (&1.into(), &true.into()));
    assert_eq!(tracked["coverage"]["ignored"], 1);
}

/// The project's own patterns go before all other rules; what git tracks is captured all the same.
#[test]
fn the_projects_own_patterns_go_before_all_other_rules() {
    let fixture = repository();
    plant(&fixture, "", 1);
    fixture.git("add -f keep.log build/a");
    fixture.done("config set exclude '*.log,/build/'");
    fixture.write(".gitignore", "!*.log\n!build/\n");
    fixture.track();
    let found = captured(&fixture);
    let excluded: Vec<_> = found.iter().filter(|path| path.ends_with(".log") || path.starts_with("build/")).collect();
    assert_eq!(excluded, ["build/a", "keep.log"], "only what git tracks");
    assert!(found.contains("foo/a"));
    fixture.done("config set exclude ''");
    agrees(&fixture, "patterns removed");
}

#[test]
fn without_a_repository_the_rules_count_all_the_same() {
    let fixture = Fixture::new();
    plant(&fixture, "", 1);
    fixture.write(".gitignore", "*.log\nbuild/\n");
    fixture.write("foo/.gitignore", "!keep.log\n");
    fixture.track();
    let found = captured(&fixture);
    assert!(!found.contains("c.log") && !found.contains("build/a") && found.contains("foo/keep.log"), "{found:?}");
}

/// No filter, attribute or configuration of the user changes a byte.
#[test]
fn attributes_filters_and_configuration_have_no_effect() {
    let fixture = repository();
    fixture.write(".gitattributes", "* text eol=crlf filter=boom ident working-tree-encoding=UTF-16\n");
    fs::write(
        fixture.home().join(".gitconfig"),
        "[core]\nautocrlf=true\nfileMode=false\n[filter \"boom\"]\nclean=false\nsmudge=false\nrequired=true\n",
    )
    .unwrap();
    fixture.write("a.txt", "one\ntwo\r\n$Id$\n");
    fixture.track();
    let before = fixture.picture();
    fixture.write("a.txt", "changed");
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
    assert_eq!(fixture.cat("#1", b"a.txt"), b"one\ntwo\r\n$Id$\n");
    let id = fixture.ok("ls 1").to_string();
    let expected = fixture.git("hash-object --no-filters a.txt");
    assert!(id.contains(expected.trim()), "{id} {expected}");
}

#[test]
fn a_worktree_uses_its_own_index_and_the_common_excludes() {
    let fixture = repository();
    fixture.write("a", "a");
    fixture.git("add a");
    fixture.git("commit -q -m x");
    fixture.write(".git/info/exclude", "*.tmp\n");
    let tree = fixture.base().join("tree");
    fixture.git(&format!("worktree add -q {}", tree.display()));
    fs::write(tree.join("x.tmp"), "x").unwrap();
    fs::write(tree.join("forced.tmp"), "x").unwrap();
    fixture.git_in(&tree, "add -f forced.tmp");
    fixture.ok(&format!("-C {} track", tree.display()));
    let listed = fixture.ok(&format!("-C {} ls @", tree.display()));
    let names: Vec<&str> =
        listed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "forced.tmp"]);
    assert!(Path::new(&tree.join(".git")).is_file());
}

/// The place of a captured file is taken by something ignored that no snapshot holds.
#[test]
fn an_ignored_directory_where_a_file_was_is_not_replaced() {
    for recorded in [false, true] {
        let fixture = repository();
        fixture.write("p", "a file\n");
        fixture.write("other", "1\n");
        fixture.track();
        fixture.remove("p");
        if recorded {
            fixture.track();
        }
        fixture.write("p/precious", "only copy\n");
        fixture.write(".gitignore", "p/\n");
        let before = fixture.picture();
        for line in ["restore 1", "restore 1 -- p"] {
            let error = fixture.ask(line).fails("NOT_COVERED", 3);
            assert_eq!(error["retryable"], false, "{error}");
            fixture.picture().expect(&before, line);
        }
        fixture.ok("restore 1 -- other .gitignore");
        assert_eq!(fixture.read("p/precious"), "only copy\n");
    }
}

/// An ignored file where a directory was is captured because the path was known, so it can go and come back.
#[test]
fn an_ignored_file_where_a_directory_was_comes_back() {
    let fixture = repository();
    fixture.write("d/f", "f\n");
    fixture.track();
    fs::remove_dir_all(fixture.root().join("d")).unwrap();
    fixture.write("d", "only copy\n");
    fixture.write(".gitignore", "d\n");
    fixture.ok("restore 1");
    assert_eq!(fixture.read("d/f"), "f\n");
    fixture.ok("undo");
    assert_eq!(fixture.read("d"), "only copy\n");
}
