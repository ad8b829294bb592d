//! The rules of the house, executed: documents that say what is, files that look as they should.
//! When a generated part of a document differs, `make docs` writes it again.

#![allow(clippy::disallowed_methods)]

#[path = "tidy/words.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use backsight_core::Code;
use serde_json::Value;

const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";
const SECURITY: &str = "SECURITY.md";
const LONGEST_FILE: usize = 800;

#[test]
fn the_architecture_names_every_crate_and_every_edge() {
    let real = edges_of_the_workspace();
    let text = read(ARCHITECTURE);
    assert_eq!(edges_in(&text), real, "the `crates` block of {ARCHITECTURE} is not what the Cargo.toml files say");
    let exist: BTreeSet<String> = real.into_keys().collect();
    assert_eq!(crate_table(&text), exist, "the crate table of {ARCHITECTURE} is not the list of crates");
}

#[test]
fn a_crate_lives_in_a_folder_of_its_name() {
    for package in packages() {
        let manifest = PathBuf::from(text_of(&package, "manifest_path"));
        let folder = manifest.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let expected = match text_of(&package, "name") {
            "backsight-bench" => "benches",
            name => name,
        };
        assert_eq!(folder.as_deref(), Some(expected), "{}", manifest.display());
    }
}

#[test]
fn every_rust_file_says_what_it_is_for_and_fits_a_sitting() {
    let mut wrong = Vec::new();
    for path in rust_files() {
        let text = read(&path);
        if !text.starts_with("//!") {
            wrong.push(format!("{path}: does not start with `//!`"));
        }
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            wrong.push(format!("{path}: {lines} lines, at most {LONGEST_FILE}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_script_that_walks_a_program_says_what_it_is_for_and_fits_a_sitting() {
    let scripts: Vec<String> = files().into_iter().filter(|path| path.contains("/src/walk/")).collect();
    let scripts: Vec<&String> = scripts.iter().filter(|path| path.ends_with(".py") || path.ends_with(".js")).collect();
    assert!(scripts.len() > 10, "the walkers moved: {scripts:?}");
    let mut wrong = Vec::new();
    for path in scripts {
        let text = read(path);
        let first = text.lines().next().unwrap_or_default().trim_start();
        if !["#", "//", "\"\"\""].iter().any(|mark| first.starts_with(mark)) {
            wrong.push(format!("{path}: does not start by saying what it is for"));
        }
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            wrong.push(format!("{path}: {lines} lines, at most {LONGEST_FILE}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_undone_or_switched_off() {
    // Taken apart, so that this file does not find itself.
    let banned = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")];
    assert_absent(rust_files(), |line| banned.into_iter().find(|word| line.contains(word)));
}

#[test]
fn no_file_speaks_of_one_machine() {
    let directories = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
    let host = concat!("index.", "crates.io");
    assert_absent(files(), |line| {
        let directory = directories.into_iter().find(|directory| starts_a_path(line, directory));
        directory.or_else(|| line.contains(host).then_some(host))
    });
}

#[test]
fn the_readme_says_how_to_run_and_how_to_test() {
    let text = read("README.md");
    assert!(text.contains("make run") && text.contains("make test"), "README.md names `make run` and `make test`");
    let lines = text.lines().count();
    assert!(lines <= 200, "README.md has {lines} lines, at most 200: what is more belongs into docs");
}

#[test]
fn every_file_that_a_document_points_to_exists() {
    let mut wrong = Vec::new();
    for document in files().into_iter().filter(|path| path.ends_with(".md") && !path.contains("/fixtures/")) {
        let text = read(&document);
        let directory = Path::new(&document).parent().unwrap_or(Path::new(""));
        for target in links_in(&text) {
            if !root().join(directory).join(target).exists() {
                wrong.push(format!("{document}: the link to `{target}`"));
            }
        }
        let is_ours = |word: &&str| word.starts_with("crates/") && !word.contains(['*', ' ']) && !word.contains("NAME");
        for path in text.split('`').skip(1).step_by(2).filter(is_ours) {
            if !root().join(path).exists() {
                wrong.push(format!("{document}: `{path}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_alone_need_no_runtime_and_no_network() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = |features: &[&str]| {
        let mut command = Command::new(&cargo);
        command.args(["tree", "-p", "backsight", "-e", "normal", "--prefix", "none", "--offline"]).args(features);
        let output = command.current_dir(root()).output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect::<BTreeSet<String>>()
    };
    let live = ["tokio", "tokio-tungstenite", "tungstenite", "backsight-browser", "backsight-debug"];
    let of_a_server = ["hyper", "axum", "http", "rmcp", "tower"];
    let alone = tree(&["--no-default-features"]);
    let found: Vec<&&str> = live.iter().chain(&of_a_server).filter(|name| alone.contains(**name)).collect();
    assert!(found.is_empty(), "`backsight` without its features needs {found:?}");
    assert!(alone.contains("backsight-files"), "the tree of `backsight` was not found");
    let whole = tree(&[]);
    assert!(live.iter().all(|name| whole.contains(*name)), "the lanes are on by default");
}

/// A library does not know who asks, so what to do next is a step there (`backsight_core::NextStep`), which each interface says
/// in its own words. A command, an option or a tool in a text of a library would reach callers who have none of them.
#[test]
fn no_library_speaks_the_words_of_an_interface() {
    let document = read("docs/TOOLS.md");
    let named = document.lines().filter_map(|line| line.strip_prefix("## `")?.split('`').next());
    let tools: Vec<&str> = named.filter(|name| name.contains('_')).collect();
    assert!(tools.len() > 30, "the tools are not found in docs/TOOLS.md: {tools:?}");
    let interfaces = ["crates/backsight-server/", "crates/backsight-cli/"];
    let is_library = |path: &String| {
        path.starts_with("crates/") && path.contains("/src/") && interfaces.iter().all(|other| !path.starts_with(other))
    };
    let mut wrong = Vec::new();
    for path in rust_files().into_iter().filter(is_library).filter(|path| !path.ends_with("tests.rs")) {
        let text = read(&path);
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for literal in literals(code) {
            // Options of other programs are named with the program.
            let is_ours = literal.contains("`backsight ") || literal.contains("with `--") || literal.contains("`--on-");
            let is_word = |word: &str| tools.contains(&word);
            let has_tool = literal.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(is_word);
            if is_ours || has_tool {
                wrong.push(format!("{path}: {literal}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The texts in code, without comments.
fn literals(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(['/', '"', '\'', 'r']) {
        let (before, here) = rest.split_at(start);
        let hashes = here.strip_prefix('r').map(|raw| raw.bytes().take_while(|byte| *byte == b'#').count());
        let in_word = before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let skipped = match (here.as_bytes(), hashes) {
            ([b'/', b'/', ..], _) => here.find('\n').unwrap_or(here.len()),
            ([b'\'', b'\\', ..], _) => 3 + here[3..].find('\'').unwrap_or(0),
            ([b'\'', ..], _) => match here.char_indices().nth(2) {
                Some((end, '\'')) => end + 1,
                _ => 1,
            },
            ([b'"', ..], _) => {
                let (text, end) = quoted(&here[1..]);
                found.push(text);
                end + 1
            }
            ([b'r', ..], Some(hashes)) if !in_word && here[1 + hashes..].starts_with('"') => {
                let text = &here[hashes + 2..];
                let end = text.find(&format!("\"{}", "#".repeat(hashes))).unwrap_or(text.len());
                found.push(&text[..end]);
                (2 * hashes + 3 + end).min(here.len())
            }
            _ => 1,
        };
        rest = &here[skipped..];
    }
    found
}

/// What stands before the next quote, and where that ends.
fn quoted(text: &str) -> (&str, usize) {
    let mut escaped = false;
    for (index, letter) in text.char_indices() {
        match letter {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return (&text[..index], index + 1),
            _ => escaped = false,
        }
    }
    (text, text.len())
}

#[test]
fn no_revert_restores() {
    // In one place a seed calls a restore a revert; everywhere else the word means steps, which its request names.
    let library = rust_files().into_iter().filter(|path| path.starts_with("crates/backsight/src/"));
    assert_absent(library.filter(|path| path != "crates/backsight/src/seeds.rs").collect(), |line| {
        let (_, function) = line.split_once("pub fn ")?;
        let name = function.split(['(', '<']).next()?;
        let takes_steps = ["&request::Revert", "&request::Unrevert"].iter().any(|request| function.contains(request));
        (name.contains("revert") && !takes_steps).then_some("a `revert` that is given no steps")
    });
    assert!(read("crates/backsight/src/seeds.rs").contains("fn revert(&self, hash"), "seed 002's name is in `seeds`");
}

/// The targets of the links in a document that lead to files of the repository.
fn links_in(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    targets.filter(|target| !target.is_empty() && !target.contains(':'))
}

#[test]
fn the_tables_of_codes_are_generated() {
    let text = read(ARCHITECTURE);
    let expected = with_codes(&text);
    if text == expected {
        return;
    }
    assert!(std::env::var_os("UPDATE_DOCS").is_some(), "the code tables in {ARCHITECTURE} are old: run `make docs`");
    fs::write(root().join(ARCHITECTURE), expected).expect("the document can be written");
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let texts: Vec<(String, String)> = rust_files().into_iter().map(|path| (read(&path), path)).collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(text, path)| (path.as_str(), text.as_str())).collect();
    let mut rows = 0;
    for row in read(SECURITY).lines().filter(|line| line.starts_with("| ") && *line != "| attack | what holds | test |")
    {
        let tests = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap_or_default();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{SECURITY}: no test is named in: {row}");
        for name in names {
            assert!(is_a_test(name, &texts), "{SECURITY} names `{name}`, and there is no such test");
        }
        rows += 1;
    }
    assert!(rows > 30, "the tables of {SECURITY} were not found");
}

/// Whether a name such as `module::tests::name`, `module::tests` or `module::*` is one of a test, or has tests below it.
fn is_a_test(name: &str, texts: &[(&str, &str)]) -> bool {
    let mut modules: Vec<&str> = name.split("::").filter(|part| *part != "tests").collect();
    let function = (!name.ends_with("::tests")).then(|| modules.pop()).flatten().filter(|name| *name != "*");
    texts.iter().any(|(path, text)| {
        let mut parts = path.trim_end_matches(".rs").split('/');
        modules.iter().all(|module| parts.any(|part| part == *module))
            && text.contains("#[test]")
            && function.is_none_or(|name| text.contains(&format!("fn {name}(")))
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    let bytes = fs::read(root().join(path)).unwrap_or_else(|error| panic!("cannot read `{path}`: {error}"));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Every file of the workspace that is written by people, relative to its root.
fn files() -> Vec<String> {
    let mut found = Vec::new();
    collect(&root(), "", &mut found);
    found.sort();
    found
}

fn collect(directory: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("the workspace can be listed") {
        let entry = entry.expect("the workspace can be listed");
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().expect("an entry has a type");
        if matches!(name.as_str(), "target" | ".git" | ".backsight") {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), &format!("{prefix}{name}/"), found);
        } else if kind.is_file() {
            found.push(format!("{prefix}{name}"));
        }
    }
}

fn rust_files() -> Vec<String> {
    let ours = |path: &String| ["crates/", "benches/", "fuzz/"].into_iter().any(|place| path.starts_with(place));
    files().into_iter().filter(|path| ours(path) && path.ends_with(".rs")).collect()
}

/// Fails with every line in which `find` finds something.
fn assert_absent(files: Vec<String>, find: impl Fn(&str) -> Option<&'static str>) {
    let mut wrong = Vec::new();
    for path in files {
        for (index, line) in read(&path).lines().enumerate() {
            if let Some(word) = find(line) {
                wrong.push(format!("{path}:{}: `{word}`", index + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Whether `directory` is in `line` as the beginning of an absolute path, not as a part of a longer one.
fn starts_a_path(line: &str, directory: &str) -> bool {
    let is_part = |before: char| before.is_alphanumeric() || matches!(before, '.' | '_' | '-' | '}' | '>' | '*');
    line.match_indices(directory).any(|(index, _)| !line[..index].ends_with(is_part))
}

fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(root());
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("`{key}` is a text in {value}"))
}

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Dependencies of every kind between crates of this workspace: those given by path.
fn edges_of_the_workspace() -> Edges {
    let internal = |package: &Value| {
        let dependencies = package["dependencies"].as_array().expect("a list of dependencies").iter();
        let is_internal = |other: &&Value| other["path"].is_string() && other["kind"] != "dev";
        dependencies.filter(is_internal).map(|other| text_of(other, "name").to_owned()).collect()
    };
    packages().iter().map(|package| (text_of(package, "name").to_owned(), internal(package))).collect()
}

/// The lines `a -> b, c` of the fenced block marked `crates`.
fn edges_in(text: &str) -> Edges {
    let block = between(text, "```crates\n", "```");
    let edge = |line: &str| {
        let (name, others) = line.split_once("->").unwrap_or((line, ""));
        let others = others.split(',').map(str::trim).filter(|other| !other.is_empty()).map(str::to_owned);
        (name.trim().to_owned(), others.collect())
    };
    block.lines().map(edge).collect()
}

/// The first cells of the table headed `| crate |`.
fn crate_table(text: &str) -> BTreeSet<String> {
    let table = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.filter_map(|line| line.split('`').nth(1)).map(str::to_owned).collect()
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let start = text.find(begin).unwrap_or_else(|| panic!("{ARCHITECTURE} has no {begin:?}")) + begin.len();
    let length = text[start..].find(end).unwrap_or_else(|| panic!("{ARCHITECTURE} has no {end:?} after {begin:?}"));
    &text[start..start + length]
}

/// The document with its tables of exit statuses and codes as they must be.
fn with_codes(text: &str) -> String {
    let (begin, end) = ("<!-- codes:begin -->\n", "<!-- codes:end -->");
    let old = between(text, begin, end);
    text.replacen(&format!("{begin}{old}{end}"), &format!("{begin}\n{}\n{}\n{end}", exit_table(), code_table()), 1)
}

/// The meaning of every exit status, as the design fixes it, and the codes that lead to it.
fn exit_table() -> String {
    let meanings = [
        (0, "done"),
        (
            1,
            "the answer is \"no\": differences with `--exit-code`, conflict markers left to settle, or `verify` found damage",
        ),
        (2, "the request is malformed"),
        (3, "refused: nothing was changed"),
        (4, "not found"),
        (5, "the store is damaged or of another version"),
        (6, "the operating system refused"),
        (7, "busy"),
    ];
    let mut table = String::from("| exit | means | codes |\n|---|---|---|\n");
    for (status, meaning) in meanings {
        let codes = Code::ALL.iter().filter(|code| code.exit_status() == status).map(|code| format!("`{code}`"));
        let codes = codes.collect::<Vec<_>>().join(", ");
        writeln!(table, "| {status} | {meaning} | {codes} |").expect("a string can be written to");
    }
    table
}

fn code_table() -> String {
    let meanings = meanings_of_codes();
    let mut table = String::from("| code | exit | HTTP | may retry | means |\n|---|---|---|---|---|\n");
    for code in Code::ALL {
        let retry = if code.retryable() { "yes" } else { "" };
        let meaning = meanings.get(code.as_str()).unwrap_or_else(|| panic!("`{code}` has no documentation"));
        let (exit, http) = (code.exit_status(), code.http_status());
        writeln!(table, "| `{code}` | {exit} | {http} | {retry} | {meaning} |").expect("a string can be written to");
    }
    table
}

/// What the source says about each code: the comment above its line in the table.
fn meanings_of_codes() -> BTreeMap<&'static str, String> {
    let lines: Vec<&str> = include_str!("../src/error.rs").lines().map(str::trim).collect();
    let meaning = |pair: &[&'static str]| {
        let comment = pair[0].strip_prefix("/// ")?;
        let name = pair[1].contains(", exit ").then(|| pair[1].split('"').nth(1)).flatten()?;
        Some((name, comment.trim_end_matches('.').to_owned()))
    };
    lines.windows(2).filter_map(meaning).collect()
}
