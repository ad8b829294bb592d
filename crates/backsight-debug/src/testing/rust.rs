//! `cargo test`: builds the program that holds a test, which LLDB then runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result};
use serde_json::Value;

use super::{Build, Framework, Planned, Wanted, program};
use crate::session::{Launch, Place};

/// A build that takes longer is a mistake.
const LONGEST_BUILD: Duration = Duration::from_secs(900);
/// How much of what a compiler says is quoted.
const QUOTED: usize = 3_000;

pub(super) fn plan(root: &Path, search: &[PathBuf], wanted: &Wanted) -> Result<Planned> {
    let directory = wanted
        .nearest(root, &["Cargo.toml"])
        .ok_or_else(|| Error::new(Code::PathNotFound, format!("no Cargo.toml is above `{}`", wanted.path.display())))?;
    let cargo = program("cargo", search).ok_or_else(|| {
        Error::new(Code::ProgramNotFound, "`cargo` was not found on the search path")
            .with_hint("install Rust with rustup")
    })?;
    let source = wanted.path.is_file().then(|| wanted.path.clone());
    let mut command = vec![cargo.to_string_lossy().into_owned(), "test".to_owned(), "--no-run".to_owned()];
    let target = source.as_deref().and_then(|source| target_of(&directory, source));
    command.extend(target.unwrap_or_default());
    command.push("--message-format=json-render-diagnostics".to_owned());
    let mut arguments = Vec::new();
    if !wanted.name.is_empty() {
        // A test of a module in its own file is named with the module: `cart::tests::total`.
        arguments.extend([wanted.name.join("::"), "--exact".to_owned()]);
    }
    arguments.extend(["--nocapture".to_owned(), "--test-threads=1".to_owned()]);
    let planned = Planned {
        arguments,
        build: Some(Build { command, source }),
        ..Planned::new(Framework::Cargo, "lldb-dap", directory)
    };
    Ok(planned.stopping_at(Place::Function("rust_panic".to_owned())))
}

/// Cargo's words for the target that a file is of; a module of one can be of any.
fn target_of(directory: &Path, source: &Path) -> Option<Vec<String>> {
    let inside = source.strip_prefix(directory).ok()?;
    let stem = source.file_stem()?.to_string_lossy().into_owned();
    let folder = inside.parent()?.to_string_lossy().into_owned();
    match (&*folder, &*stem) {
        ("tests", _) => Some(vec!["--test".to_owned(), stem]),
        ("src", "main") => Some(vec!["--bins".to_owned()]),
        ("src/bin", _) => Some(vec!["--bin".to_owned(), stem]),
        ("examples", _) => Some(vec!["--example".to_owned(), stem]),
        _ if folder.starts_with("src") && directory.join("src/lib.rs").exists() => Some(vec!["--lib".to_owned()]),
        _ => None,
    }
}

/// Builds the tests, and puts the program that holds them into the launch; the full name of the one that is wanted too.
pub(crate) fn build(mut launch: Launch, cancelled: &dyn Fn() -> bool) -> Result<Launch> {
    let Some(build) = launch.build.clone() else { return Ok(launch) };
    let said = run(&build, &launch.directory, cancelled)?;
    let mut programs: Vec<PathBuf> =
        said.lines().filter_map(|line| executable(line, build.source.as_deref())).collect();
    programs.dedup();
    launch.program = match programs.as_slice() {
        [] => {
            let message = "cargo built no program with tests for this file";
            return Err(Error::new(Code::ProgramNotFound, message)
                .with_hint("name a file of a target: tests/cart.rs::total, src/lib.rs::tests::total"));
        }
        [only] => only.clone(),
        several => several.iter().find(|program| lists(program, &launch)).unwrap_or(&several[0]).clone(),
    };
    if launch.arguments.get(1).is_some_and(|argument| argument == "--exact") {
        launch.arguments[0] = full_name(&launch.program, &launch)?;
    }
    Ok(launch)
}

fn run(build: &Build, directory: &Path, cancelled: &dyn Fn() -> bool) -> Result<String> {
    let [program, arguments @ ..] = build.command.as_slice() else { return Ok(String::new()) };
    let failed = |error| Error::io("build the tests", error);
    let place = tempfile::tempdir().map_err(failed)?;
    let (told, said) = (place.path().join("stdout"), place.path().join("stderr"));
    let file = |path: &Path| std::fs::File::create(path).map(Stdio::from).map_err(failed);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).stdout(file(&told)?).stderr(file(&said)?);
    let mut child = command.spawn().map_err(failed)?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if cancelled() || started.elapsed() > LONGEST_BUILD {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::new(Code::Cancelled, "the build of the tests was taken back, or took too long"));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if status.success() {
        return Ok(std::fs::read_to_string(told).unwrap_or_default());
    }
    let words = std::fs::read(said).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let end = words.ceil_char_boundary(words.len().saturating_sub(QUOTED));
    let message = format!("the tests could not be built: {}", words.get(end..).unwrap_or_default().trim());
    Err(Error::new(Code::AdapterFailed, message).with_hint("mend what the compiler says first"))
}

/// The program in one of cargo's messages, if it holds tests of this file.
fn executable(line: &str, source: Option<&Path>) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let program = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
    let root = PathBuf::from(message["target"]["src_path"].as_str()?);
    // A target's modules are below the directory of its first file.
    let holds =
        source.is_none_or(|source| source == root || root.parent().is_some_and(|folder| source.starts_with(folder)));
    holds.then_some(program)
}

/// The names of the tests in a program.
fn names(program: &Path, directory: &Path) -> Vec<String> {
    let mut command = Command::new(program);
    let output = command.args(["--list", "--format=terse"]).current_dir(directory).stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)).collect()
}

fn is_named(full: &str, wanted: &str) -> bool {
    full == wanted || full.strip_suffix(wanted).is_some_and(|before| before.ends_with("::"))
}

fn lists(program: &Path, launch: &Launch) -> bool {
    let wanted = launch.arguments.first().map(String::as_str).unwrap_or_default();
    names(program, &launch.directory).iter().any(|name| is_named(name, wanted))
}

/// The name as the program has it: the caller need not know the module its file is.
fn full_name(program: &Path, launch: &Launch) -> Result<String> {
    let wanted = launch.arguments.first().cloned().unwrap_or_default();
    let all = names(program, &launch.directory);
    let found: Vec<&String> = all.iter().filter(|name| is_named(name, &wanted)).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let some: Vec<&str> = all.iter().take(12).map(String::as_str).collect();
            let message = format!("there is no test `{wanted}`: there are {}", some.join(", "));
            Err(Error::new(Code::RefNotFound, message).with_hint("name one of these after `::`"))
        }
        several if several.iter().any(|name| **name == wanted) => Ok(wanted),
        several => {
            let some: Vec<&str> = several.iter().take(12).map(|name| name.as_str()).collect();
            Err(Error::new(Code::RefAmbiguous, format!("`{wanted}` can be {}", some.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_file_is_found_in_what_cargo_says() {
        let artifact = |test: bool, source: &str| {
            serde_json::json!({ "reason": "compiler-artifact", "profile": { "test": test }, "executable": "/t/x",
                "target": { "src_path": source } })
            .to_string()
        };
        let of = |line: &str, source: &str| executable(line, Some(Path::new(source))).is_some();
        assert!(of(&artifact(true, "/w/src/lib.rs"), "/w/src/cart.rs"));
        assert!(!of(&artifact(false, "/w/src/lib.rs"), "/w/src/cart.rs"));
        assert!(!of(&artifact(true, "/w/tests/shop.rs"), "/w/src/cart.rs") && !of("not json", "/w/src/cart.rs"));
        assert!(is_named("cart::tests::total", "tests::total") && is_named("total", "total"));
        assert!(!is_named("cart::subtotal", "total"));
    }
}
