//! A commit holds what `git add` would have stored: with real git as referee, over random attributes, configurations and
//! contents; and what only a program could convert is kept and named.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use backsight_core::ObjectId;
use backsight_files::{ConvertedBy, Exported, GitExport, KeptReason, NewCommit};

use crate::lab::{Lab, commit, export_to};

/// A workspace that is a repository, with snapshots to export onto its `HEAD`.
struct Project {
    lab: Lab,
    root: PathBuf,
    /// Grows with every file that is written: no two are of one time, and none is younger than the index.
    clock: std::cell::Cell<u64>,
    /// `core.fileMode` is false: Git may or may not look again at a file for its permissions alone.
    ignores_modes: bool,
}

impl Project {
    fn new(config: &[(&str, &str)]) -> Self {
        let lab = Lab::new();
        let root = lab.path("workspace");
        lab.git(&root, &["init", "-q", "-b", "main"]);
        fs::write(root.join(".git/info/exclude"), ".backsight\n").unwrap();
        config.iter().for_each(|(key, value)| drop(lab.git(&root, &["config", key, value])));
        let ignores_modes = config.contains(&("core.filemode", "false"));
        Project { lab, root, clock: std::cell::Cell::new(1_600_000_000), ignores_modes }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = self.root.join(path);
        // Git looks again at a file that was written again, whatever it holds; to a snapshot it is the same.
        if fs::read(&file).is_ok_and(|held| held == content.as_ref()) {
            return;
        }
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        self.clock.set(self.clock.get() + 1);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(self.clock.get());
        File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.lab.git(&self.root, arguments)
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    }

    /// The tree that git would commit now.
    fn added(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["write-tree"])
    }

    fn record(&self) -> ObjectId {
        self.lab.record()
    }

    /// Exports the states onto `HEAD`, the first as the one before.
    fn export(&self, states: &[ObjectId]) -> Exported {
        let [before, rest @ ..] = states else { panic!("no states") };
        let commits: Vec<NewCommit> = rest.iter().map(|tree| commit(*tree, "step")).collect();
        let branch = format!("steps-{}", self.clock.replace(self.clock.get() + 1));
        let before = Some(commit(*before, "before"));
        let export = GitExport { workspace: &self.root, before, ..export_to(&self.root, &branch, &commits) };
        self.lab.export_checked(&export)
    }

    fn tree(&self, commit: &ObjectId) -> String {
        self.git(&["rev-parse", &format!("{commit}^{{tree}}")])
    }

    fn content(&self, commit: &ObjectId, path: &str) -> String {
        self.git(&["cat-file", "-p", &format!("{commit}:{path}")])
    }

    fn changed(&self, exported: &Exported) -> String {
        self.git(&["diff", "--name-status", "--no-renames", "main", &exported.tip.to_string()])
    }
}

fn kept(exported: &Exported) -> Vec<(&str, KeptReason)> {
    exported.kept.iter().map(|(path, reason)| (std::str::from_utf8(path).unwrap(), *reason)).collect()
}

const FILTERED: KeptReason = KeptReason::Converted(ConvertedBy::Filter);
const LEFT_OUT: KeptReason = KeptReason::LeftOut(ConvertedBy::Filter);

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % count
    }

    fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }

    fn content(&mut self) -> Vec<u8> {
        let long = "a line of text\n".repeat(20);
        let crlf = long.replace('\n', "\r\n");
        let pieces: [&[u8]; 17] = [
            b"\n",
            b"\r\n",
            b"\r\n",
            b"\r\n",
            b"word",
            b"word",
            b" ",
            b"\r",
            b"\0",
            b"\x01",
            b"\x1a",
            b"$Id: 0123 $",
            b"$Id$",
            b"$Id: x\n",
            b"$",
            long.as_bytes(),
            crlf.as_bytes(),
        ];
        // Most files are texts.
        let kinds = if self.below(3) == 0 { pieces.len() } else { 7 };
        (0..self.below(12)).flat_map(|_| pieces[self.below(kinds)].to_vec()).collect()
    }

    fn attributes(&mut self) -> String {
        let patterns =
            ["*", "*.txt", "*.bin", "/a.txt", "d/*.txt", "**/f.c", "e/", "d/**", "[ab].txt", "\"a.txt\"", "A.TXT"];
        let words = [
            "text",
            "text",
            "-text",
            "!text",
            "text=auto",
            "text=auto",
            "eol=lf",
            "eol=crlf",
            "ident",
            "-ident",
            "binary",
            "crlf",
            "-crlf",
            "crlf=input",
            "mine",
            "-mine",
            "text=odd",
            "bad$name",
            "diff=x",
        ];
        let line = |numbers: &mut Numbers| {
            let states: Vec<&str> = (0..1 + numbers.below(3)).map(|_| *numbers.pick(&words)).collect();
            match numbers.below(8) {
                0 => format!("[attr]mine {}\n", states.join(" ")),
                1 => "# a comment\n".to_owned(),
                _ => format!("{} {}\r\n", numbers.pick(&patterns), states.join("\t")),
            }
        };
        (0..1 + self.below(4)).map(|_| line(self)).collect()
    }
}

const PATHS: [&str; 8] = ["a.txt", "b.txt", "x.bin", "none", "d/a.txt", "d/e/f.c", "d/e/A.TXT", "g/h.txt"];
const ATTRIBUTES: [&str; 4] = [".gitattributes", "d/.gitattributes", "d/e/.gitattributes", "g/.gitattributes"];

fn change(project: &Project, numbers: &mut Numbers, share: usize) {
    for path in PATHS {
        if numbers.below(share) == 0 {
            let file = project.root.join(path);
            match numbers.below(6) {
                0 => drop(fs::remove_file(&file)),
                1 if file.exists() => {
                    let mode = fs::metadata(&file).unwrap().permissions().mode() ^ 0o111;
                    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
                    if project.ignores_modes {
                        project.write(path, numbers.content());
                    }
                }
                // Only the endings differ.
                2 if file.exists() => {
                    let text = fs::read(&file).unwrap();
                    let crlf =
                        text.iter().flat_map(|byte| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] });
                    project.write(path, crlf.collect::<Vec<u8>>());
                }
                _ => project.write(path, numbers.content()),
            }
        }
    }
    for path in ATTRIBUTES {
        if numbers.below(share * 2) == 0 {
            project.write(path, numbers.attributes());
        }
    }
}

fn one_against_git(seed: u64) {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut config = Vec::new();
    match numbers.below(4) {
        0 => {}
        at => config.push(("core.autocrlf", ["true", "input", "false"][at - 1])),
    }
    match numbers.below(4) {
        0 => config.push(("core.eol", "crlf")),
        1 => config.push(("core.filemode", "false")),
        2 => config.push(("core.ignorecase", "true")),
        _ => {}
    }
    let project = Project::new(&config);
    if numbers.below(3) == 0 {
        fs::write(project.root.join(".git/info/attributes"), numbers.attributes()).unwrap();
    }
    if numbers.below(3) == 0 {
        let file = project.lab.path("attributes");
        fs::write(&file, numbers.attributes()).unwrap();
        project.git(&["config", "core.attributesFile", file.to_str().unwrap()]);
    }
    change(&project, &mut numbers, 1 + (seed % 2) as usize);
    project.commit();
    let mut states = vec![project.record()];
    let mut expected = Vec::new();
    for _ in 0..3 {
        change(&project, &mut numbers, 3);
        states.push(project.record());
        expected.push(project.added());
    }
    let exported = project.export(&states);
    let trees: Vec<String> = exported.commits.iter().map(|commit| project.tree(commit)).collect();
    let told = || {
        let differ = |(ours, gits): (&String, &String)| project.git(&["diff", "--no-ext-diff", gits, ours]);
        trees.iter().zip(&expected).map(differ).collect::<String>()
    };
    assert_eq!(exported.before, None, "seed {seed}: nothing had changed\n{}", project.root.display());
    assert_eq!(trees, expected, "seed {seed} {config:?}: {}", told());
    assert_eq!(kept(&exported), [], "seed {seed}");
}

#[test]
fn commits_hold_what_git_would_have_added() {
    let count: u64 = std::env::var("BACKSIGHT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    (0..count).for_each(one_against_git);
}

#[test]
fn files_that_were_not_touched_are_not_changed() {
    let project = Project::new(&[
        ("core.autocrlf", "true"),
        ("filter.up.clean", "tr a-z A-Z"),
        ("filter.up.smudge", "tr A-Z a-z"),
    ]);
    for (path, text) in [
        (".gitattributes", "*.bin filter=up\n*.id ident\n*.utf16 working-tree-encoding=UTF-16LE\n"),
        ("f.txt", "one\r\n"),
        ("g.bin", "hello\n"),
        ("v.id", "$Id: 12 $\n"),
        ("w.utf16", "h\0i\0"),
        ("a", "1\n"),
    ] {
        project.write(path, text);
    }
    project.commit();
    let before = project.record();
    project.write("a", "2\r\n");
    let exported = project.export(&[before, project.record()]);
    assert_eq!(exported.before, None);
    assert_eq!(project.changed(&exported), "M\ta");
    assert_eq!(project.content(&exported.tip, "a"), "2");
    assert_eq!(kept(&exported), [], "the index vouches for them");
}

#[test]
fn what_a_filter_converts_is_kept_and_named() {
    let project = Project::new(&[("filter.git-crypt.clean", "tr a-z A-Z"), ("filter.git-crypt.smudge", "tr A-Z a-z")]);
    project.write(".gitattributes", "secret* filter=git-crypt\nu* working-tree-encoding=UTF-16LE\n");
    for path in ["secret", "secret.mode", "secret.same", "secret.gone"] {
        project.write(path, format!("the word of {path}\n"));
    }
    project.write("u", "h\0i\0");
    project.commit();
    let before = project.record();
    project.write("secret", "another word\n");
    project.write("secret.new", "a new word\n");
    project.write("u", "h\0o\0");
    fs::set_permissions(project.root.join("secret.mode"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(project.root.join("secret.gone")).unwrap();
    let first = project.record();
    // Without the line it is a file like others; one that did not change since stays as it is.
    project.write(".gitattributes", "");
    project.write("secret.same", "now plain\n");
    let exported = project.export(&[before, first, project.record()]);
    let encoded = KeptReason::Converted(ConvertedBy::Encoding);
    let [after, last] = exported.commits[..] else { panic!("{exported:?}") };
    let names = ["diff", "--name-status", "main", &after.to_string()].map(str::to_owned);
    let names = project.git(&names.each_ref().map(String::as_str));
    assert_eq!(names, "D\tsecret.gone\nM\tsecret.mode");
    assert_eq!(project.git(&["ls-tree", &after.to_string(), "secret.mode"]).split(' ').next(), Some("100755"));
    assert_eq!(project.content(&after, "secret"), "THE WORD OF SECRET");
    assert_eq!(project.content(&last, "secret"), "THE WORD OF SECRET");
    assert_eq!(project.content(&last, "secret.same"), "now plain");
    assert_eq!(project.content(&last, "secret.new"), "a new word");
    // Of those that the work tree no longer holds as the index knows them, nothing says that the state before was it.
    let names: Vec<&str> =
        kept(&exported).into_iter().filter(|(_, reason)| *reason == FILTERED).map(|(name, _)| name).collect();
    assert_eq!(names, ["secret", "secret.gone", "secret.mode", "secret.same"]);
    assert!(kept(&exported).contains(&("secret.new", LEFT_OUT)) && kept(&exported).contains(&("u", encoded)));
    assert_eq!(FILTERED.to_string(), "converted by a filter that Backsight does not run");
}

#[test]
fn a_secret_is_not_written_plainly_with_the_commit_that_removes_its_line() {
    let project = Project::new(&[]);
    project.write(".gitattributes", "*.key filter=git-crypt\n");
    project.write("a.key", "old\n");
    project.commit();
    let before = project.record();
    fs::remove_file(project.root.join(".gitattributes")).unwrap();
    project.write("a.key", "plain\n");
    let exported = project.export(&[before, project.record()]);
    assert_eq!(project.changed(&exported), "D\t.gitattributes");
    assert_eq!(kept(&exported), [("a.key", FILTERED)]);
}

#[test]
fn a_file_without_a_line_to_vouch_for_it_is_named() {
    let project = Project::new(&[]);
    project.write(".gitattributes", "*.lfs filter=lfs\n*.other filter=other\n");
    // What Git LFS would have committed for the contents that the work tree has now.
    let digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    project.write("a.lfs", format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 7\n"));
    project.write("b.lfs", format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 7\n"));
    project.write("c.other", "as git has it\n");
    project.commit();
    for (path, text) in [("a.lfs", "content"), ("b.lfs", "Content"), ("c.other", "as git has it, unpacked\n")] {
        project.write(path, text);
    }
    let state = project.record();
    project.write("plain", "1\n");
    let exported = project.export(&[state, project.record()]);
    assert_eq!(exported.before, None);
    assert_eq!(project.changed(&exported), "A\tplain");
    // The first is what its pointer stands for.
    assert_eq!(kept(&exported), [("b.lfs", FILTERED), ("c.other", FILTERED)]);
}

#[test]
fn a_large_file_is_converted_as_a_stream() {
    let project = Project::new(&[("core.autocrlf", "input")]);
    project.write("f", "small\n");
    project.commit();
    let before = project.record();
    // Longer than what is read at once, so that pairs are cut in two.
    let line = "0123456789abc\r\n".repeat(1_600_000);
    project.write("f", &line);
    project.write("g.id", "x".repeat(17 << 20) + "$Id: 5 $\n");
    fs::write(project.root.join(".git/info/attributes"), "*.id ident\n").unwrap();
    let after = project.record();
    let exported = project.export(&[before, after]);
    assert_eq!(project.tree(&exported.tip), project.added());
}

#[test]
fn attributes_above_the_workspace_and_ignored_ones_count() {
    let lab = Lab::new();
    let top = lab.path("");
    lab.git(&top, &["init", "-q", "-b", "main"]);
    fs::write(top.join(".git/info/exclude"), ".backsight\n").unwrap();
    fs::write(top.join(".gitattributes"), "[attr]mine text\n*.txt mine\nworkspace/only text\n").unwrap();
    fs::write(top.join("workspace/.gitignore"), ".gitattributes\n").unwrap();
    fs::write(top.join("workspace/.gitattributes"), "*.c text\n[attr]yours text\n*.h yours\n").unwrap();
    for name in ["a.txt", "b.c", "c.h", "only", "none"] {
        fs::write(top.join("workspace").join(name), "1\r\n").unwrap();
    }
    lab.git(&top, &["add", "-A"]);
    lab.git(&top, &["commit", "-q", "-m", "first"]);
    for name in ["a.txt", "b.c", "c.h", "only", "none"] {
        fs::write(top.join("workspace").join(name), "2\r\n").unwrap();
    }
    let (tree, coverage) = lab.record_with_coverage();
    let root = lab.path("workspace");
    let mut commits = [commit(tree, "one")];
    commits[0].coverage = coverage;
    let export = GitExport { workspace: &root, ..export_to(&top, "steps", &commits) };
    let exported = lab.export(&export).unwrap();
    lab.git(&top, &["add", "-A"]);
    let tree = lab.git(&top, &["rev-parse", &format!("{}^{{tree}}", exported.tip)]);
    assert_eq!(tree, lab.git(&top, &["write-tree"]));
}

#[test]
fn hostile_attributes_are_refused_or_passed_over() {
    let refused = |hostile: &dyn Fn(&Path)| {
        let project = Project::new(&[]);
        project.write("a", "1\n");
        project.commit();
        project.write("a", "2\n");
        hostile(&project.root);
        let (tree, coverage) = project.lab.record_with_coverage();
        let mut commits = [commit(tree, "one")];
        commits[0].coverage = coverage;
        let export = GitExport { workspace: &project.root, ..export_to(&project.root, "steps", &commits) };
        project.lab.export(&export).err().map(|error| error.to_string())
    };
    let fifo = |root: &Path| {
        let path = root.join(".gitattributes");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    };
    assert!(refused(&fifo).unwrap().contains("how Git converts the files is not known"));
    let large = |root: &Path| fs::write(root.join(".gitattributes"), "* text\n".repeat(1_300_000)).unwrap();
    assert!(refused(&large).unwrap().contains("larger than"));
    let slow = |root: &Path| {
        fs::write(root.join(".gitattributes"), format!("*{}b text\n", "a".repeat(100)).repeat(60_000)).unwrap();
        (0..4).for_each(|at| fs::write(root.join(format!("{at}{}", "a".repeat(200))), "1\n").unwrap());
    };
    assert!(refused(&slow).unwrap().contains("takes too long"));
    let link = |root: &Path| {
        fs::write(root.join("../outside"), "* filter=x\n").unwrap();
        std::os::unix::fs::symlink("../outside", root.join(".gitattributes")).unwrap();
    };
    assert_eq!(refused(&link), None);
    let directory = |root: &Path| fs::create_dir(root.join(".gitattributes")).unwrap();
    assert_eq!(refused(&directory), None);
}
