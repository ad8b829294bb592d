//! Where things are: the directory an agent works in, and a tool's paths inside the workspace.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use backsight_core::RelPath;
use serde_json::Value;

use super::agent::Agent;

/// Directories the agent may mean by "the project", the best first: what it says in its environment, then in the
/// payload. The current directory of an agent's shell wanders; the project does not.
pub fn start_directories(agent: Agent, payload: &Value, env: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let variable = match agent {
        Agent::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
        Agent::Gemini => Some("GEMINI_PROJECT_DIR"),
        Agent::Cursor => Some("CURSOR_PROJECT_DIR"),
        Agent::Codex | Agent::OpenCode => None,
    };
    let said = |key: &str| payload.get(key).and_then(Value::as_str).map(PathBuf::from);
    let inside = said("cwd");
    let roots = payload.get("workspace_roots").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut roots: Vec<PathBuf> = roots.iter().filter_map(Value::as_str).map(PathBuf::from).collect();
    // Of several roots the one the tool works in.
    roots.sort_by_key(|root| !inside.as_ref().is_some_and(|inside| inside.starts_with(root)));
    let from_environment = variable.and_then(env).map(PathBuf::from);
    let all = from_environment.into_iter().chain(roots).chain(inside).chain(said("directory"));
    all.filter(|path| path.is_absolute()).collect()
}

/// A tool's paths inside the workspace. What lies outside is not ours to watch and is left out.
pub(super) fn inside(root: &Path, directory: Option<&Path>, paths: &[PathBuf]) -> Vec<RelPath> {
    let directory = directory.filter(|directory| directory.is_absolute()).unwrap_or(root);
    let relative = |path: &PathBuf| -> Option<RelPath> {
        let absolute = collapse(&directory.join(path));
        // The path may reach the workspace through a symlinked directory (`/tmp` on some systems).
        let below = absolute.strip_prefix(root).map(Path::to_owned).ok();
        let below = below.or_else(|| physical(&absolute)?.strip_prefix(root).map(Path::to_owned).ok())?;
        RelPath::new(below.as_os_str().as_bytes()).ok()
    };
    paths.iter().filter_map(relative).collect()
}

/// Removes `.` and resolves `..` by the text.
fn collapse(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts
}

/// The path with the part of it that exists resolved; a tool may be about to make the rest.
fn physical(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let parent = path.parent()?;
    let resolved = parent.canonicalize().ok().or_else(|| physical(parent))?;
    Some(resolved.join(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_project_comes_before_the_current_directory() {
        let payload = json!({ "cwd": "/p/sub" });
        let env = |name: &str| (name == "CLAUDE_PROJECT_DIR").then(|| "/p".into());
        assert_eq!(start_directories(Agent::ClaudeCode, &payload, env), [Path::new("/p"), Path::new("/p/sub")]);
        assert_eq!(start_directories(Agent::Codex, &payload, env), [Path::new("/p/sub")]);
        let payload = json!({ "workspace_roots": ["/a", "/b"], "cwd": "/b/x" });
        let found = start_directories(Agent::Cursor, &payload, |_| None);
        assert_eq!(found, ["/b", "/a", "/b/x"].map(Path::new));
        assert!(start_directories(Agent::Codex, &json!({ "cwd": "relative" }), |_| None).is_empty());
    }

    #[test]
    fn only_what_lies_inside_is_declared() {
        let paths = ["/ws/a", "b/../c", "/etc/passwd", "../../x", "/ws", ".git/config"].map(PathBuf::from);
        let found = inside(Path::new("/ws"), Some(Path::new("/ws/sub")), &paths);
        let names: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a", "sub/c"]);
    }
}
