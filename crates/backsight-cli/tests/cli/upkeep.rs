//! `usage`, `gc`, `verify`, `doctor`, `config`, `completions`.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::fixture::Fixture;

/// Sizes depend on the file system.
fn without_sizes(text: &str) -> String {
    let is_unit = |word: &str| matches!(word.trim_matches([',', ')']), "B" | "KiB" | "MiB" | "GiB" | "TiB");
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let shown = words.iter().enumerate().map(|(index, word)| match words.get(index + 1) {
            Some(next) if is_unit(next) => "[N]",
            _ if is_unit(word) => "[UNIT]",
            _ => word,
        });
        shown.collect::<Vec<_>>().join(" ").replace("[N] [UNIT]", "[SIZE]")
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn usage_says_what_takes_the_room() {
    assert_snapshot!(without_sizes(&Fixture::with_history().run("usage")), @"");
}

#[test]
fn gc_removes_old_contents_and_keeps_the_row() {
    let fixture = Fixture::with_history();
    assert_snapshot!(without_sizes(&fixture.run("gc")), @"");
    assert_snapshot!(without_sizes(&fixture.run("gc --keep-count 1 --keep-days 0 --dry-run")), @"");
    assert_snapshot!(without_sizes(&fixture.run("gc --keep-count 1 --keep-days 0")), @"");
    assert_snapshot!(fixture.run("log"), @"");
    assert_snapshot!(fixture.run("restore '#1'"), @"");
}

#[test]
fn verify_of_a_whole_store() {
    assert_snapshot!(Fixture::with_history().run("verify"), @"");
}

#[test]
fn verify_names_the_damage_and_exits_5() {
    let fixture = Fixture::with_history();
    let objects = fixture.root().join(".backsight/store/snapshots/objects");
    for file in files_below(&objects) {
        damage(&file);
    }
    let output = fixture.command("verify").output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("damaged ") && stderr.contains("error: the store is damaged"), "{stdout}{stderr}");
    let (json, status) = fixture.json("verify");
    assert_eq!((status, &json["ok"], &json["clean"]), (5, &false.into(), &false.into()));
    assert_eq!(json["error"]["code"], "DAMAGED");
    assert!(!json["damage"].as_array().unwrap().is_empty());
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Turns a byte in the middle of a pack or loose object around.
fn damage(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    if !bytes.is_empty() && file.extension().is_none_or(|extension| extension == "pack") {
        bytes[middle] ^= 0xff;
        let _ = std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600));
        std::fs::write(file, bytes).unwrap();
    }
}

#[test]
fn doctor_checks_and_advises() {
    let fixture = Fixture::with_history();
    assert_snapshot!(without_sizes(&fixture.run("doctor")), @"");
}

#[test]
fn config_lists_reads_and_changes() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("config"), @"");
    assert_snapshot!(fixture.run("config set max_file_size 5MiB"), @"");
    assert_snapshot!(fixture.run("config get max_file_size"), @"");
}

#[test]
fn a_bad_setting_is_refused() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("config get colour"), @"");
    assert_snapshot!(fixture.run("config set max_file_size huge"), @"");
}

#[test]
fn completions_are_scripts() {
    let fixture = Fixture::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(fixture.run(&format!("completions {shell}")).contains("backsight"), "{shell}");
    }
}
