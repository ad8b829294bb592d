//! Tests under the debugger: from `path::name` and the files of a project to the command line that runs this one test in a
//! process that can be debugged, where it pauses when the test fails, and what its last words say about it.

mod go;
mod javascript;
mod python;
mod rust;
mod thrown;
mod verdict;

use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, NextStep, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapters;
use crate::session::{BreakpointRequest, Launch, Place};

pub(crate) use javascript::{BEGINNINGS, FAILING};
pub(crate) use rust::build;
pub(crate) use thrown::{ThrownError, blamed};
pub use verdict::TestResult;
pub(crate) use verdict::verdict;

/// What runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framework {
    /// pytest.
    Pytest,
    /// Python's own.
    Unittest,
    /// Go's.
    Go,
    /// Cargo's.
    Cargo,
    /// Node's own.
    #[serde(rename = "node:test")]
    Node,
    /// Vitest.
    Vitest,
    /// Jest.
    Jest,
}

/// A test that is debugged.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TestView {
    /// What runs it.
    pub framework: Framework,
    /// What came of it so far.
    pub result: TestResult,
    /// What the failing assertion says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What a run before this one came to, where it took two to know what fails the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What `cargo` builds before there is a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The command line, and the directory it runs in.
    pub command: Vec<String>,
    /// The source file whose tests are wanted; the one program there is when there is none.
    pub source: Option<PathBuf>,
}

/// One test, or all of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    path: PathBuf,
    /// The name's parts, outermost first; none for all tests.
    name: Vec<String>,
}

impl Wanted {
    /// `tests/test_shop.py::TestCart::test_total`: a path, then names.
    fn read(root: &Path, test: &str) -> Result<Wanted> {
        let (path, name) = test.split_once("::").unwrap_or((test, ""));
        let name: Vec<String> = name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let path = root.join(path);
        match path.canonicalize() {
            Ok(path) => Ok(Wanted { path, name }),
            Err(_) => {
                let message = format!("there is no file or directory `{}` with tests", path.display());
                Err(Error::new(Code::PathNotFound, message).with_hint(
                    "write a test as `path::name`: tests/test_cart.py::test_total, cart.test.ts::adds prices",
                ))
            }
        }
    }

    fn extension(&self) -> &str {
        self.path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
    }

    /// The nearest directory above that has one of these files, no further than the workspace.
    fn nearest(&self, root: &Path, markers: &[&str]) -> Option<PathBuf> {
        let start = if self.path.is_dir() { Some(self.path.as_path()) } else { self.path.parent() };
        let above = start?.ancestors().take_while(|folder| folder.starts_with(root));
        above.into_iter().find(|folder| markers.iter().any(|marker| folder.join(marker).exists())).map(Path::to_owned)
    }
}

/// The launch that runs a test, without running anything yet. What the caller said about the directory, the interpreter and
/// breakpoints stays.
pub fn plan(root: &Path, search: &[PathBuf], mut launch: Launch) -> Result<Launch> {
    if launch.framework.is_some() || launch.module.is_some() {
        return Ok(launch);
    }
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let Some(test) = launch.test.clone() else { return of_module(&root, launch) };
    if !launch.program.as_os_str().is_empty() {
        return Err(usage("a test is run by its own program: give `test` or `program`, not both"));
    }
    let wanted = Wanted::read(&root, &test)?;
    let planned = match wanted.extension() {
        "py" => python::plan(&root, search, &wanted, &launch),
        "go" => go::plan(&root, &wanted),
        "rs" => rust::plan(&root, search, &wanted),
        "js" | "cjs" | "mjs" | "jsx" | "ts" | "cts" | "mts" | "tsx" => javascript::plan(&root, &wanted),
        _ if wanted.path.is_dir() => of_directory(&root, search, &wanted, &launch),
        _ => Err(unknown(&wanted)),
    }?;
    launch.breakpoints.extend(planned.stops);
    if launch.directory.as_os_str().is_empty() {
        launch.directory = planned.directory;
    }
    // What runners print is read.
    if launch.environment.iter().all(|(name, _)| name != "NO_COLOR") {
        launch.environment.push(("NO_COLOR".to_owned(), "1".to_owned()));
    }
    launch.arguments = planned.arguments.into_iter().chain(launch.arguments).collect();
    launch.adapter = launch.adapter.or_else(|| Some(planned.adapter.to_owned()));
    Ok(Launch {
        program: planned.program,
        runner: planned.runner,
        interpreter_arguments: planned.interpreter_arguments,
        mode: planned.mode,
        build: planned.build,
        child_listens: planned.child_listens,
        framework: Some(planned.framework),
        ..launch
    })
}

/// What only the debugger is told of how a test is run.
pub(crate) fn for_debugger(launch: &mut Launch) {
    if launch.framework == Some(Framework::Jest) {
        launch.options.insert(BEGINNINGS.to_owned(), Value::Bool(true));
    }
}

/// `-m` is no program: what the first argument names is a module of Python.
fn of_module(root: &Path, mut launch: Launch) -> Result<Launch> {
    if launch.program.as_os_str() != "-m" {
        return Ok(javascript::typed(root, launch));
    }
    if launch.arguments.is_empty() {
        return Err(usage("`-m` needs the name of a module as the first argument"));
    }
    launch.module = Some(launch.arguments.remove(0));
    launch.adapter = launch.adapter.or_else(|| Some("debugpy".to_owned()));
    Ok(Launch { program: PathBuf::new(), ..launch })
}

/// A directory of tests is of the kind its project is.
fn of_directory(root: &Path, search: &[PathBuf], wanted: &Wanted, launch: &Launch) -> Result<Planned> {
    let has = |ending: &str| {
        let files = std::fs::read_dir(&wanted.path).into_iter().flatten().flatten();
        files.take(1000).any(|file| file.file_name().to_string_lossy().ends_with(ending))
    };
    match () {
        () if has("_test.go") => go::plan(root, wanted),
        () if has(".py") => python::plan(root, search, wanted, launch),
        () if wanted.nearest(root, &["Cargo.toml"]).is_some() => rust::plan(root, search, wanted),
        () if wanted.nearest(root, &["package.json"]).is_some() => javascript::plan(root, wanted),
        () if wanted.nearest(root, python::MARKERS).is_some() => python::plan(root, search, wanted, launch),
        () => Err(unknown(wanted)),
    }
}

/// What a language's tests need.
#[derive(Debug)]
struct Planned {
    framework: Framework,
    adapter: &'static str,
    program: PathBuf,
    /// The text of a program of ours that runs it.
    runner: Option<&'static str>,
    interpreter_arguments: Vec<String>,
    arguments: Vec<String>,
    directory: PathBuf,
    mode: Option<&'static str>,
    build: Option<Build>,
    child_listens: bool,
    stops: Vec<BreakpointRequest>,
}

impl Planned {
    fn new(framework: Framework, adapter: &'static str, directory: PathBuf) -> Planned {
        Planned {
            framework,
            adapter,
            program: PathBuf::new(),
            runner: None,
            interpreter_arguments: Vec::new(),
            arguments: Vec::new(),
            directory,
            mode: None,
            build: None,
            child_listens: false,
            stops: Vec::new(),
        }
    }

    fn stopping_at(mut self, place: Place) -> Planned {
        self.stops.push(BreakpointRequest { at: place, condition: None, hit_count: None, log_message: None });
        self
    }
}

fn unknown(wanted: &Wanted) -> Error {
    let message = format!("nothing is known that runs the tests of `{}`", wanted.path.display());
    Error::new(Code::Usage, message).then(
        "pytest, unittest, go test, cargo test, node:test, vitest and jest are; start others",
        NextStep::WithProgram,
    )
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Usage, message)
}

/// A file's text, of files that can be sources.
fn text_of(file: &Path) -> String {
    const LONGEST: u64 = 1 << 20;
    use std::io::Read;
    let mut text = String::new();
    let read = backsight_core::bounded::open(file).ok().map(|file| file.take(LONGEST).read_to_string(&mut text));
    if read.is_some_and(|read| read.is_ok()) { text } else { String::new() }
}

/// A program of that name on the search path.
fn program(name: &str, search: &[PathBuf]) -> Option<PathBuf> {
    adapters::on_path(name, search)
}

/// A text in which no character means anything to a regular expression, of Go, JavaScript and Rust alike.
fn literal(text: &str) -> String {
    let special = |character: char| r"\.+*?()|[]{}^$/".contains(character);
    text.chars().flat_map(|character| special(character).then_some('\\').into_iter().chain([character])).collect()
}
