//! pytest and unittest.

use std::path::{Path, PathBuf};

use backsight_core::Result;

use super::{Framework, Planned, Wanted, text_of};
use crate::adapters;
use crate::session::Launch;

/// What runs the tests and pauses where one fails.
const RUNNER: &str = include_str!("tests.py");

/// What stands at the top of a project in Python.
pub(super) const MARKERS: &[&str] =
    &["pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini", "requirements.txt", ".venv", "venv"];

pub(super) fn plan(root: &Path, search: &[PathBuf], wanted: &Wanted, launch: &Launch) -> Result<Planned> {
    let directory = wanted.nearest(root, MARKERS).unwrap_or_else(|| root.to_owned());
    let directory = if launch.directory.as_os_str().is_empty() { directory } else { root.join(&launch.directory) };
    let inside = wanted.path.strip_prefix(&directory).unwrap_or(&wanted.path).to_string_lossy().into_owned();
    let uses_pytest = has_pytest(&directory, search, launch);
    let (framework, arguments) = match uses_pytest {
        true => {
            let name: String = wanted.name.iter().map(|part| format!("::{part}")).collect();
            // One after the other, in this process, and ending with the first that fails.
            let arguments = ["pytest", &format!("{inside}{name}"), "-x", "-p", "no:xdist"];
            (Framework::Pytest, arguments.map(str::to_owned).to_vec())
        }
        false => {
            let mut arguments = vec!["unittest".to_owned(), inside];
            if !wanted.name.is_empty() {
                arguments.extend(["-k".to_owned(), format!("*.{}", wanted.name.join("."))]);
            }
            (Framework::Unittest, arguments)
        }
    };
    Ok(Planned { runner: Some(RUNNER), arguments, ..Planned::new(framework, "debugpy", directory) })
}

/// Whether the Python that will run has pytest. Of one that cannot be looked at, the project's files say.
fn has_pytest(directory: &Path, search: &[PathBuf], launch: &Launch) -> bool {
    let debugpy = adapters::builtin().into_iter().find(|adapter| adapter.name == "debugpy");
    let python =
        debugpy.and_then(|debugpy| adapters::locate(&debugpy, launch.runtime.as_deref(), directory, search).ok());
    let found = python.and_then(|python| adapters::has_module(&python, None, "pytest"));
    found.unwrap_or_else(|| {
        let says = |file: &str| text_of(&directory.join(file)).contains("pytest");
        directory.join("conftest.py").exists()
            || ["pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"].into_iter().any(says)
    })
}
