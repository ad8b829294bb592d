//! Turns a path as typed into a path inside the workspace, by its text alone: nothing is read from disk, so a path
//! that no longer exists, or a symlink, means what it says.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use backsight_core::{Code, Error, RelPath, Result, quote};

/// `typed`, taken from the directory `start`, as a path inside `root`; nothing when it is the root itself.
/// Both directories are absolute.
pub fn inside(root: &Path, start: &Path, typed: &OsStr) -> Result<Option<RelPath>> {
    if typed.is_empty() {
        return Err(Error::new(Code::InvalidPath, "a path is empty").with_hint("`.` means the directory itself"));
    }
    let absolute = collapse(&start.join(typed));
    match absolute.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => Ok(None),
        Ok(below) => RelPath::new(below.as_os_str().as_bytes()).map(Some),
        Err(_) => Err(outside(root, typed)),
    }
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

fn outside(root: &Path, typed: &OsStr) -> Error {
    let (typed, root) = (quote(typed.as_bytes()), quote(root.as_os_str().as_bytes()));
    Error::new(Code::InvalidPath, format!("path `{typed}` is outside the workspace `{root}`"))
        .with_hint("name a path inside it, or choose another workspace with `-C DIR`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Result<Option<RelPath>> {
        inside(Path::new("/ws"), Path::new("/ws/sub"), OsStr::new(text))
    }

    #[test]
    fn paths_are_taken_from_the_start_directory() {
        for (text, expected) in [
            ("a", "sub/a"),
            ("./a", "sub/a"),
            ("a/", "sub/a"),
            (".", "sub"),
            ("../a", "a"),
            ("x/../y//z", "sub/y/z"),
            ("/ws/b", "b"),
            ("-x", "sub/-x"),
            ("..a", "sub/..a"),
        ] {
            assert_eq!(typed(text).unwrap(), Some(RelPath::new(expected).unwrap()), "{text}");
        }
    }

    #[test]
    fn the_root_means_everything() {
        for text in ["..", "/ws", "/ws/", "../sub/.."] {
            assert_eq!(typed(text).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn what_leaves_the_workspace_is_refused() {
        for text in ["", "../..", "/etc/passwd", "../../ws2/a", "/wsx", "../.git/config"] {
            assert_eq!(typed(text).unwrap_err().code(), Code::InvalidPath, "{text}");
        }
    }

    #[test]
    fn any_bytes_are_a_name() {
        let path = inside(Path::new("/ws"), Path::new("/ws"), OsStr::from_bytes(b"caf\xe9")).unwrap();
        assert_eq!(path.unwrap().as_bytes(), b"caf\xe9");
    }
}
