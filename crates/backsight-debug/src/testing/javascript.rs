//! node:test, Vitest and Jest.

use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use serde_json::Value;

use super::{Framework, Planned, Wanted, literal, text_of};
use crate::session::{Launch, Place};

/// Exceptions that fail a test; those that it expects, or that the project's own code catches, do not.
pub(crate) const FAILING: &str = "failing";

/// The option of a launch that breakpoints are in files that a test runner compiles.
pub(crate) const BEGINNINGS: &str = "backsight/beginnings";

pub(super) fn plan(root: &Path, wanted: &Wanted) -> Result<Planned> {
    let directory = wanted.nearest(root, &["package.json"]).unwrap_or_else(|| root.to_owned());
    let package: Value = serde_json::from_str(&text_of(&directory.join("package.json"))).unwrap_or_default();
    let inside = wanted.path.strip_prefix(&directory).unwrap_or(&wanted.path).to_string_lossy().into_owned();
    let framework = framework(&directory, wanted, &package);
    let planned = Planned::new(framework, "node", directory.clone()).stopping_at(Place::Exception(FAILING.to_owned()));
    let pattern = pattern(framework, &wanted.name);
    Ok(match framework {
        Framework::Vitest => {
            let named = pattern.map(|pattern| vec!["-t".to_owned(), pattern]).unwrap_or_default();
            // Tests run in a process that Vitest starts: that one waits for the debugger.
            let fixed =
                ["--pool=forks", "--no-file-parallelism", "--bail=1", "--retry=0", "--inspect-brk=127.0.0.1:{port}"];
            // Each file of a directory would have a process of its own, and only the first would have a debugger.
            let together = wanted.path.is_dir().then(|| "--no-isolate".to_owned());
            let arguments = ["run", &inside].into_iter().map(str::to_owned).chain(named).chain(together);
            Planned {
                program: program(root, &directory, "vitest/vitest.mjs")?,
                arguments: arguments.chain(fixed.map(str::to_owned)).collect(),
                child_listens: true,
                ..planned
            }
        }
        Framework::Jest => {
            let named = pattern.map(|pattern| vec!["-t".to_owned(), pattern]).unwrap_or_default();
            // A directory is no path of a test.
            let by_path = wanted.path.is_file().then(|| "--runTestsByPath".to_owned());
            let fixed = ["--runInBand", "--bail"].map(str::to_owned).into_iter().chain(by_path).chain([inside]);
            Planned {
                program: program(root, &directory, "jest/bin/jest.js")?,
                arguments: fixed.chain(named).collect(),
                ..planned
            }
        }
        _ if wanted.path.is_dir() => {
            let message = format!("node:test runs every file of `{}` in a process of its own", wanted.path.display());
            return Err(
                Error::new(Code::Usage, message).with_hint("name one file of it, and a test: cart.test.js::adds")
            );
        }
        _ => {
            let mut interpreter = loader(root, &wanted.path);
            interpreter.extend(pattern.map(|pattern| format!("--test-name-pattern={pattern}")));
            // The file by itself: `--test` would run it in a process of its own.
            Planned { program: wanted.path.clone(), interpreter_arguments: interpreter, ..planned }
        }
    })
}

/// What the file says it is written for, else what the project has.
fn framework(directory: &Path, wanted: &Wanted, package: &Value) -> Framework {
    let text = text_of(&wanted.path);
    let quoted = |module: &str| [format!("'{module}'"), format!("\"{module}\"")].iter().any(|it| text.contains(it));
    let has_config = |name: &str| {
        ["js", "ts", "mjs", "mts", "cjs", "cts", "json"]
            .iter()
            .any(|end| directory.join(format!("{name}.config.{end}")).exists())
    };
    match () {
        () if quoted("node:test") => Framework::Node,
        () if quoted("vitest") => Framework::Vitest,
        () if quoted("@jest/globals") => Framework::Jest,
        () if depends_on(package, "vitest") || has_config("vitest") => Framework::Vitest,
        () if depends_on(package, "jest") || package.get("jest").is_some() || has_config("jest") => Framework::Jest,
        () => Framework::Node,
    }
}

fn depends_on(package: &Value, name: &str) -> bool {
    ["dependencies", "devDependencies"].iter().any(|list| package[*list].get(name).is_some())
}

/// A regular expression for one test by its name, alone or with those of the groups it is in.
fn pattern(framework: Framework, name: &[String]) -> Option<String> {
    let last = name.last()?;
    Some(match framework {
        // Node compares each test's own name, and takes in the groups of one that matches.
        Framework::Node => format!("^{}$", literal(last)),
        _ => format!("(^| ){}$", literal(&name.join(" "))),
    })
}

/// A program in TypeScript is run by what the project has for that; Node by itself runs some of it.
pub(super) fn typed(root: &Path, launch: Launch) -> Launch {
    if launch.adapter.as_deref().is_some_and(|adapter| adapter != "node") {
        return launch;
    }
    let interpreter_arguments = loader(root, &root.join(&launch.program));
    Launch { interpreter_arguments, ..launch }
}

/// What makes Node run a file in TypeScript, where the project has it: tsx.
fn loader(root: &Path, file: &Path) -> Vec<String> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !matches!(extension, "ts" | "cts" | "mts" | "tsx") {
        return Vec::new();
    }
    let folder = file.parent().unwrap_or(root);
    let found = program(root, folder, "tsx/dist/loader.mjs");
    found.map(|loader| vec!["--import".to_owned(), loader.to_string_lossy().into_owned()]).unwrap_or_default()
}

/// A file of an installed package: of the project's own `node_modules`, or of one above it in the workspace.
fn program(root: &Path, directory: &Path, file: &str) -> Result<PathBuf> {
    let above = directory.ancestors().take_while(|folder| folder.starts_with(root));
    let found = above.map(|folder| folder.join("node_modules").join(file)).find(|program| program.is_file());
    found.ok_or_else(|| {
        let package = file.split('/').next().unwrap_or_default();
        let message =
            format!("`{package}` is not installed: there is no node_modules/{file} in `{}`", directory.display());
        Error::new(Code::ProgramNotFound, message).with_hint("install it with `npm install`")
    })
}
