//! Words that find their room: a type name is used once, and comments name who acts. Both lists say what is not so yet; they
//! may only shrink. `UPDATE_DOCS` writes them again when something has become better, never when it has become worse.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::{read, root, rust_files};

const SHARED: &str = "crates/backsight-core/tests/tidy/shared_type_names.txt";
const UNNAMED: &str = "crates/backsight-core/tests/tidy/unnamed_actors.txt";
/// One for each command and each tool, in a file of its own.
const OF_A_FORM: [&str; 2] = ["Args", "Arguments"];
/// Taken apart, so that this file does not find itself.
const NO_ACTORS: [&str; 3] = [concat!("who", "ever"), concat!("some", "body"), concat!("no", "body")];

#[test]
fn a_type_name_is_used_once() {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for path in sources() {
        let text = read(&path);
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for name in code.lines().filter_map(defined).filter(|name| !OF_A_FORM.contains(name)) {
            *names.entry(name.to_owned()).or_default() += 1;
        }
    }
    names.retain(|_, count| *count > 1);
    only_shrinks(SHARED, "types of one name", &names);
}

#[test]
fn comments_name_who_acts() {
    let mut files = BTreeMap::new();
    for path in sources() {
        let count: usize = read(&path).lines().filter_map(comment).map(unnamed).sum();
        if count > 0 {
            files.insert(path, count);
        }
    }
    only_shrinks(UNNAMED, "comments about an actor without a name", &files);
}

/// Source files of the crates, without tests.
fn sources() -> impl Iterator<Item = String> {
    let is_source = |path: &String| {
        path.starts_with("crates/")
            && path.contains("/src/")
            && !path.ends_with("tests.rs")
            && !path.contains("/tests/")
    };
    rust_files().into_iter().filter(is_source)
}

/// The type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let rest = ["struct ", "enum ", "union ", "trait "].iter().find_map(|kind| line.strip_prefix(kind))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| name.starts_with(char::is_uppercase))
}

fn comment(line: &str) -> Option<&str> {
    line.split_once("//").map(|(_, comment)| comment)
}

fn unnamed(comment: &str) -> usize {
    let words = comment.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| NO_ACTORS.contains(&word.as_str())).count()
}

/// Fails when something is there more often than the list says, and when the list says more than there is.
fn only_shrinks(list: &str, what: &str, found: &BTreeMap<String, usize>) {
    let text = read(list);
    let lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    let known: BTreeMap<&str, usize> = lines.map(|(name, count)| (name, count.parse().unwrap_or(0))).collect();
    let more = found.iter().filter(|(name, count)| **count > known.get(name.as_str()).copied().unwrap_or(0));
    let worse: Vec<String> = more.map(|(name, count)| format!("{name}: {count}")).collect();
    assert!(worse.is_empty(), "{what}, more than {list} says; choose other words:\n{}", worse.join("\n"));
    let mut written = String::new();
    for (name, count) in found {
        writeln!(written, "{name} {count}").expect("a string can be written to");
    }
    if written == text {
        return;
    }
    assert!(std::env::var_os("UPDATE_DOCS").is_some(), "{list} says more than there is: run `make docs`");
    fs::write(root().join(list), written).expect("the list can be written");
}
