//! Diffs into a pipe are patches: real `git apply` takes every step, binary files included, forth and back.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::fixture::Fixture;

/// Bytes that are no text, and of which no two pieces are alike.
fn bytes(seed: u8, count: usize) -> Vec<u8> {
    let mut state = u32::from(seed) + 1;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::once(0).chain((1..count).map(next)).collect()
}

fn put(directory: &Path, files: &[(&str, Vec<u8>)]) {
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true if entry.ends_with(".backsight") || entry.ends_with(".git") => {}
            true => fs::remove_dir_all(entry).unwrap(),
            false => fs::remove_file(entry).unwrap(),
        }
    }
    for (path, content) in files {
        fs::create_dir_all(directory.join(path).parent().unwrap()).unwrap();
        fs::write(directory.join(path), content).unwrap();
    }
}

/// Applies what a command prints in a directory with these files; they must become the others.
fn assert_applies(fixture: &Fixture, line: &str, from: &[(&str, Vec<u8>)], to: &[(&str, Vec<u8>)]) {
    let directory = fixture.base().join("elsewhere");
    let _ = fs::create_dir(&directory);
    put(&directory, from);
    let printed = fixture.command(line).output().unwrap();
    assert!(printed.status.success(), "{line}");
    let patch = fixture.base().join("patch");
    fs::write(&patch, &printed.stdout).unwrap();
    let mut command = fixture.git_command(&directory);
    command.args(["apply", "-"]).stdin(fs::File::open(&patch).unwrap()).stderr(Stdio::piped());
    let applied = command.output().unwrap();
    let said = String::from_utf8_lossy(&applied.stderr);
    assert!(applied.status.success(), "{line}: {said}\n{}", String::from_utf8_lossy(&printed.stdout));
    let found: Vec<(String, Vec<u8>)> = files_below(&directory, "");
    let expected: Vec<(String, Vec<u8>)> = {
        let mut all: Vec<_> = to.iter().map(|(path, content)| ((*path).to_owned(), content.clone())).collect();
        all.sort();
        all
    };
    assert_eq!(found, expected, "{line}");
}

fn files_below(directory: &Path, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        match entry.path().is_dir() {
            true => found.extend(files_below(&entry.path(), &format!("{name}/"))),
            false => found.push((name, fs::read(entry.path()).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn steps_with_binary_files_apply_forth_and_back() {
    let fixture = Fixture::new();
    let text = |text: &str| text.as_bytes().to_vec();
    let mut edited = bytes(3, 5000);
    edited[2500] ^= 0xff;
    let before = [
        ("text", text("one\ntwo\n")),
        ("changed.bin", vec![0, 1]),
        ("gone.bin", bytes(1, 300)),
        ("old/moved.bin", bytes(3, 5000)),
        ("to-text", bytes(4, 60)),
        ("latin", b"caf\xe9\n".to_vec()),
        ("to-nothing.bin", bytes(5, 53)),
    ];
    let after = [
        ("text", text("one\n2\n")),
        ("changed.bin", vec![0, 2]),
        ("made.bin", bytes(2, 10_000)),
        ("new/moved again.bin", edited),
        ("to-text", text("text\n")),
        ("latin", b"th\xe9\n".to_vec()),
        ("to-nothing.bin", Vec::new()),
    ];
    put(fixture.root(), &before);
    fixture.done("track");
    put(fixture.root(), &after);
    fixture.done("track --session s");
    fixture.done("milestone create First --end 1");
    fixture.done("milestone create Second");
    assert_applies(&fixture, "show 2 --diff", &before, &after);
    assert_applies(&fixture, "show 2 --reverse-diff", &after, &before);
    assert_applies(&fixture, "diff 1 2", &before, &after);
    assert_applies(&fixture, "diff 2 1", &after, &before);
    assert_applies(&fixture, "session diff s", &before, &after);
    assert_applies(&fixture, "milestone show Second --diff", &before, &after);
    put(fixture.root(), &before);
    assert_applies(&fixture, "diff 2", &after, &before);
}
