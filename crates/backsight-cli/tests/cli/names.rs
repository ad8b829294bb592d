//! Names of every kind a file system allows: recorded, listed, read, compared and put back.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::fixture::Fixture;
use crate::picture::path;

/// One part of a path each.
fn odd_names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        b"\xff\xfe".as_slice(),
        b"caf\xe9",
        b"new\nline",
        b"tab\there",
        b"cr\rhere",
        b"-leading",
        b"--json",
        b" leading space",
        b"trailing space ",
        b"*",
        b"?",
        b"[a]",
        b"a*b?c[d]",
        b":colon",
        b":(glob)x",
        b"quote\"inside",
        b"\"quoted\"",
        b"\"",
        b"'",
        b"back\\slash",
        b"\\351",
        b"\"\\351x\"",
        b"$HOME",
        b"`x`",
        b"#12",
        b"@",
        b"@~1",
        b"now",
        b"~",
        b"...",
        b"..a",
        b"a..",
        b".gitignore.",
        b".gitignore~",
        b".git ",
        b".git.",
        b"git",
        b".gitx",
        b"\x01\x02\x1b[31m",
        b"\x7f",
        "ünïcödé".as_bytes(),
        "u\u{308}".as_bytes(),
        "\u{fc}".as_bytes(),
        "\u{202e}rtl".as_bytes(),
        "日本語".as_bytes(),
        "a\u{2028}b\u{2029}c\u{61c}".as_bytes(),
        "\u{200b}\u{e0041}\u{feff}".as_bytes(),
        b"Case",
        b"case",
        b"CASE",
        b"con",
        b"nul.txt",
        b"a:b",
        b"%2e%2e",
        b".backsight-not",
        b".keep",
    ]
    .map(<[u8]>::to_vec)
    .into();
    names.push(vec![b'n'; 255]);
    names.push([vec![0xe9; 250].as_slice(), b".long"].concat());
    names
}

/// Every name as a file, as a directory and as a symlink.
fn planted() -> Fixture {
    let fixture = Fixture::new();
    for folder in ["files", "directories", "links", "empty"] {
        fs::create_dir(fixture.root().join(folder)).unwrap();
    }
    for name in odd_names() {
        fs::write(fixture.root().join("files").join(path(&name)), [b"file ", name.as_slice()].concat()).unwrap();
        let directory = fixture.root().join("directories").join(path(&name));
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join(path(&name)), &name).unwrap();
        std::os::unix::fs::symlink(path(&name), fixture.root().join("links").join(path(&name))).unwrap();
        fs::create_dir(fixture.root().join("empty").join(path(&name))).unwrap();
    }
    fixture
}

#[test]
fn every_name_comes_back() {
    let fixture = planted();
    let tracked = fixture.ok("track");
    assert_eq!(tracked["coverage"]["complete"], true, "{}", tracked["coverage"]);
    let before = fixture.picture();
    for folder in ["files", "directories", "links", "empty"] {
        fs::remove_dir_all(fixture.root().join(folder)).unwrap();
    }
    fixture.track();
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
    fixture.ok("undo");
    assert!(fixture.picture().0.is_empty());
    fixture.ok("redo");
    fixture.picture().expect(&before, "redo");
    fixture.verify();
}

#[test]
fn every_name_can_be_read_compared_and_restored_alone() {
    let fixture = planted();
    fixture.track();
    let before = fixture.picture();
    // Every second name: each is three runs.
    for name in odd_names().into_iter().step_by(2) {
        let relative = [b"files/", name.as_slice()].concat();
        let expected = [b"file ", name.as_slice()].concat();
        assert_eq!(fixture.cat("1", &relative), expected);
        fs::write(fixture.root().join(path(&relative)), "other").unwrap();
        let argument = [OsStr::from_bytes(&relative)];
        let diff = fixture.ask_with("diff 1 --", &argument).ok();
        assert_eq!(diff["diffs"].as_array().unwrap().len(), 1, "{}", String::from_utf8_lossy(&name));
        fixture.ask_with("restore 1 --", &argument).ok();
        assert_eq!(fs::read(fixture.root().join(path(&relative))).unwrap(), expected);
    }
    fixture.picture().expect(&before, "restores one by one");
}

/// What `ls` prints in JSON names the file again when given back.
#[test]
fn the_names_in_json_are_unambiguous() {
    let fixture = planted();
    fixture.track();
    let listed = fixture.ok("ls 1");
    let files = listed["files"].as_array().unwrap();
    let names: std::collections::BTreeSet<&str> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(names.len(), files.len(), "two paths with one name");
    let count =
        fixture.picture().0.values().filter(|thing| !matches!(thing, crate::picture::Thing::Directory { .. })).count();
    let listed = files.iter().filter(|file| file["kind"] != "directory").count();
    assert_eq!(listed, count);
}

/// Nothing printed for people lets a name drive the terminal or fake a line.
#[test]
fn names_never_reach_the_terminal_raw() {
    let fixture = planted();
    fixture.track();
    fs::remove_dir_all(fixture.root().join("files")).unwrap();
    for line in ["ls 1", "status", "patch 1", "diff --stat 1", "restore 1 --dry-run", "show 1"] {
        let output = fixture.command(line).output().unwrap();
        let text = [output.stdout.as_slice(), &output.stderr].concat();
        assert!(!text.contains(&0x1b) && !text.contains(&b'\r'), "{line}");
        assert!(!text.windows(9).any(|window| window == b"new\nline\n"), "{line}");
        let text = String::from_utf8_lossy(&text);
        let hidden = |character: char| character != '\n' && backsight_core::is_unsafe_to_show(character);
        assert!(!text.contains(hidden), "{line}: {text}");
    }
}

/// Real git agrees on the tree of all these names.
#[test]
fn the_tree_id_is_gits() {
    let fixture = planted();
    let tree = fixture.ok("track")["tree"].as_str().unwrap().to_owned();
    let scratch = fixture.base().join("scratch.git");
    fixture.git_in(&fixture.base(), "init -q --bare scratch.git");
    let git = |line: &str| {
        let mut command = fixture.git_command(fixture.root());
        command.env("GIT_DIR", &scratch).env("GIT_WORK_TREE", fixture.root());
        command.args(["-c", "core.protectNTFS=false", "-c", "core.protectHFS=false"]);
        let output = command.args(line.split(' ')).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git("add -A -f -- files directories links");
    assert_eq!(git("write-tree").trim(), tree);
}

/// A path longer than any one system call takes. It is built from two halves, each short enough.
#[test]
fn a_path_of_more_than_4096_bytes_comes_back() {
    let fixture = Fixture::new();
    let part = "d".repeat(200);
    let half = vec![part.as_str(); 14].join("/");
    for top in ["upper", "lower"] {
        fs::create_dir_all(fixture.root().join(top).join(&half)).unwrap();
    }
    fs::write(fixture.root().join("lower").join(&half).join("file"), "at the bottom\n").unwrap();
    std::os::unix::fs::symlink("far", fixture.root().join("lower").join(&half).join("link")).unwrap();
    fs::rename(fixture.root().join("lower"), fixture.root().join("upper").join(&half).join("lower")).unwrap();
    let before = deep_listing(&fixture);
    assert!(before.lines().any(|line| line.len() > 4096), "{}", before.len());
    let tracked = fixture.ok("track");
    assert_eq!(
        (&tracked["coverage"]["files"], &tracked["coverage"]["complete"]),
        (&2.into(), &true.into()),
        "{tracked}"
    );
    assert!(Command::new("rm").arg("-rf").arg(fixture.root().join("upper")).status().unwrap().success());
    fixture.write("other", "x");
    fixture.track();
    fixture.ok("restore 1");
    assert_eq!(deep_listing(&fixture), before);
    let relative = format!("upper/{half}/lower/{half}/file");
    assert_eq!(fixture.cat("1", relative.as_bytes()), b"at the bottom\n");
    fixture.ok("undo");
    assert!(!fixture.root().join("upper").exists());
    fixture.verify();
    let _ = Command::new("rm").arg("-rf").arg(fixture.root().join("upper")).status();
}

/// Type, mode, link text and path of everything, by a program that walks without long paths; and the contents.
fn deep_listing(fixture: &Fixture) -> String {
    let mut command = Command::new("find");
    command.arg(fixture.root()).args(["-name", ".backsight", "-prune", "-o", "-printf", "%y %m %l %P\\n"]);
    let listed = command.output().unwrap();
    let mut command = Command::new("find");
    command.arg(fixture.root()).args([
        "-name",
        ".backsight",
        "-prune",
        "-o",
        "-type",
        "f",
        "-execdir",
        "cat",
        "{}",
        ";",
    ]);
    let contents = command.output().unwrap();
    let mut lines: Vec<String> = String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines.join("\n") + &String::from_utf8(contents.stdout).unwrap()
}

/// 400 levels of directories with one-letter names.
#[test]
fn very_deep_directories_come_back() {
    let fixture = Fixture::new();
    let deep = vec!["d"; 400].join("/");
    fixture.write(&format!("{deep}/file"), "x\n");
    fixture.track();
    let before = fixture.picture();
    fs::remove_dir_all(fixture.root().join("d")).unwrap();
    fixture.ok("restore 1");
    fixture.picture().expect(&before, "restore");
}

/// `.GIT` and the like are a `.git` on some systems: reported, never touched, never silently left out.
#[test]
fn look_alikes_of_git_are_reported_and_left_alone() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.track();
    for name in [".GIT", ".Git", "sub/.giT"] {
        fixture.write(&format!("{name}/config"), "mine\n");
    }
    let tracked = fixture.ok("track");
    let uncovered = tracked["coverage"]["uncovered"].to_string();
    let listed = fixture.ok("ls @").to_string();
    for name in [".GIT", ".Git", "sub/.giT"] {
        assert!(uncovered.contains(name) || listed.contains(&format!("{name}/config")), "{name}: {tracked}");
    }
    fixture.ok("restore 1");
    for name in [".GIT", ".Git", "sub/.giT"] {
        let held = listed.contains(&format!("{name}/config"));
        assert!(held || fixture.read(&format!("{name}/config")) == "mine\n", "{name}");
    }
    fixture.ok("undo");
    for name in [".GIT", ".Git", "sub/.giT"] {
        assert_eq!(fixture.read(&format!("{name}/config")), "mine\n", "{name}");
    }
}

/// A rename that only changes case is a rename here.
#[test]
fn a_change_of_case_is_recorded() {
    let fixture = Fixture::new();
    fixture.write("readme", "text that is long enough to be a rename\n");
    fixture.track();
    fs::rename(fixture.root().join("readme"), fixture.root().join("README")).unwrap();
    let tracked = fixture.ok("track");
    assert_eq!(
        (&tracked["changes"][0]["status"], &tracked["changes"][0]["path"]),
        (&"renamed".into(), &"README".into())
    );
    fixture.ok("undo");
    assert!(fixture.root().join("readme").exists() && !fixture.root().join("README").exists());
}

/// Many files in one directory, and names that sort differently as files and as directories.
#[test]
fn the_order_of_names_is_gits() {
    let fixture = Fixture::new();
    for name in ["a", "a.b", "a-b", "a0", "a/x", "a.b/x", "a-b/x"] {
        let path = fixture.root().join(name);
        if path.parent().unwrap().is_dir() && !path.exists() {
            fs::write(path, name).unwrap();
        }
    }
    for (directory, file) in [("x/foo", "x/foo.c"), ("y/foo", "y/foo-"), ("z/foo", "z/foo0")] {
        fixture.write(&format!("{directory}/inner"), "i");
        fixture.write(file, "f");
    }
    let tracked = fixture.ok("track");
    let paths = fixture.picture().files().map(|(path, _)| String::from_utf8(path.to_vec()).unwrap()).collect();
    assert_eq!(tracked["tree"].as_str().unwrap(), crate::ignore_rules::git_tree(&fixture, &paths));
}

#[test]
fn what_is_backsights_own_cannot_be_declared() {
    let fixture = Fixture::new();
    fixture.write("a", "1");
    for path in [".backsight", ".backsight/store/config.toml", "sub/.backsight/x"] {
        fixture.ask(&format!("track --declare {path}")).fails("INVALID_PATH", 2);
    }
}
