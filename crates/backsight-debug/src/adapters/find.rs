//! Which debugger a program needs, and where on this machine it is.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use backsight_core::{Code, Error, NextStep, Result};

use super::Adapter;

/// What Go puts into everything it builds.
const GO_MARK: &[u8] = b"\xff Go buildinf:";
/// What Rust's compiler signs everything with.
const RUST_MARK: &[u8] = b"rustc version ";
/// More of a program is not looked through.
const LONGEST_PROGRAM: u64 = 2 << 30;
/// Where virtual environments of a project usually are.
const ENVIRONMENTS: [&str; 2] = [".venv/bin", "venv/bin"];

/// The adapter with that name, or else the one for the program.
pub fn choose<'a>(adapters: &'a [Adapter], named: Option<&str>, program: &Path) -> Result<&'a Adapter> {
    let known = || adapters.iter().map(|adapter| adapter.name.as_str()).collect::<Vec<_>>().join(", ");
    let by_name = |name: &str| adapters.iter().find(|adapter| adapter.name == name);
    if let Some(name) = named {
        return by_name(name).ok_or_else(|| {
            let message = format!("there is no debugger called `{name}`: {} are known", known());
            Error::new(Code::AdapterNotFound, message)
        });
    }
    let extension = program.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let for_extension =
        || adapters.iter().find(|adapter| adapter.extensions.iter().any(|one| one.eq_ignore_ascii_case(extension)));
    let found = match contents(program) {
        Contents::GoPackage | Contents::GoBinary => by_name("delve"),
        Contents::Binary => by_name("lldb-dap"),
        Contents::Script(interpreter) if interpreter.contains("python") => by_name("debugpy"),
        Contents::Script(interpreter) if interpreter.contains("node") => by_name("node"),
        Contents::Script(interpreter) if interpreter.contains("ruby") => by_name("rdbg"),
        Contents::Script(_) | Contents::Other => for_extension(),
    };
    found.or_else(for_extension).ok_or_else(|| {
        let message = format!("no debugger is known for `{}`: {} are", program.display(), known());
        Error::new(Code::AdapterNotFound, message).then("name the debugger", NextStep::WithAdapter)
    })
}

/// The adapter for the program of a process. Interpreters are binaries too, and not what is to be debugged.
pub fn of_process(adapters: &[Adapter], pid: u32) -> Result<&Adapter> {
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).map_err(|error| {
        let message = format!("cannot see which program process {pid} runs: {error}");
        Error::new(Code::ProgramNotFound, message).then("name the debugger", NextStep::WithAdapter)
    })?;
    if let Some(own) = for_script_of(adapters, pid) {
        return Ok(own);
    }
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name {
        name if name.starts_with("python") => choose(adapters, Some("debugpy"), &program),
        name if name.starts_with("node") => choose(adapters, Some("node"), &program),
        _ => choose(adapters, None, &program),
    }
}

/// The user's own adapter for a file that the process was started with. The built-in ones are chosen by the program itself:
/// an editor that shows a script is not to be debugged as one.
fn for_script_of(adapters: &[Adapter], pid: u32) -> Option<&Adapter> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = line.split(|byte| *byte == 0).skip(1).filter_map(|word| std::str::from_utf8(word).ok());
    let files: Vec<&str> = words.filter(|word| !word.starts_with('-')).collect();
    let builtin = super::builtin();
    let mut own = adapters.iter().filter(|adapter| builtin.iter().all(|other| other.name != adapter.name));
    own.find(|adapter| {
        let is_for = |file: &&str| {
            let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|extension| adapter.extensions.iter().any(|one| one.eq_ignore_ascii_case(extension)))
        };
        files.iter().any(is_for)
    })
}

/// The program an adapter is started with: the one given, one of the project's own environment, or one on the search path.
/// Nothing is run to find it.
pub fn locate(adapter: &Adapter, given: Option<&Path>, directory: &Path, search: &[PathBuf]) -> Result<PathBuf> {
    let missing = |message: String| {
        Error::new(Code::AdapterNotFound, message)
            .with_hint(format!("install it with `{}`", adapter.install))
            .or("name its program", NextStep::WithRuntime)
    };
    // What is relative is wherever somebody happens to be, as a rule in a directory that came from elsewhere.
    let search = || search.iter().filter(|place| place.is_absolute());
    if let Some(given) = given {
        // A bare name is one of the search path.
        let found = match given.components().count() {
            1 => search().map(|place| place.join(given)).find(|program| is_program(program)),
            _ => Some(given.to_owned()).filter(|given| is_program(given)),
        };
        return found.ok_or_else(|| missing(format!("there is no program at `{}`", given.display())));
    }
    let own = ENVIRONMENTS.iter().map(|environment| directory.join(environment));
    let own: Vec<PathBuf> = if adapter.name == "debugpy" { own.collect() } else { Vec::new() };
    let places = || own.iter().chain(search());
    let found = adapter.programs.iter().flat_map(|name| places().map(move |place| place.join(name)));
    found.into_iter().find(|program| is_program(program)).ok_or_else(|| {
        let names = adapter.programs.join(", ");
        missing(format!("the debugger `{}` was not found ({names} on the search path)", adapter.name))
    })
}

/// The directories of a search path that a workspace cannot have put programs into: absolute ones outside of it.
pub fn outside(search: &[PathBuf], workspace: &Path) -> Vec<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let workspace = real(workspace);
    // In the root directory there is no outside.
    let is_outside = |place: &&PathBuf| {
        place.is_absolute() && (workspace.parent().is_none() || !real(place).starts_with(&workspace))
    };
    search.iter().filter(is_outside).cloned().collect()
}

/// The directory of the Rust toolchain that is active outside of any project: a project may name a toolchain of its own making.
pub(crate) fn rust_sysroot(search: &[PathBuf]) -> Option<PathBuf> {
    let places = search.iter().filter(|place| place.is_absolute());
    let compiler = places.map(|place| place.join("rustc")).find(|program| is_program(program))?;
    let mut command = std::process::Command::new(compiler);
    command.args(["--print", "sysroot"]).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    let told = command.output().ok()?;
    let path = String::from_utf8(told.stdout).ok()?;
    Some(PathBuf::from(path.trim())).filter(|path| told.status.success() && path.is_dir())
}

/// Whether a program was made by Rust's compiler. Formatters for Rust's types take the place of those for C++.
pub(crate) fn is_rust(program: &Path) -> bool {
    open(program).is_some_and(|file| holds(file, &[], RUST_MARK))
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Contents {
    GoPackage,
    GoBinary,
    Binary,
    Script(String),
    Other,
}

pub(super) fn contents(program: &Path) -> Contents {
    if program.is_dir() {
        let go = std::fs::read_dir(program).into_iter().flatten().flatten();
        let has_go = go.into_iter().any(|entry| entry.path().extension().is_some_and(|extension| extension == "go"));
        return if has_go { Contents::GoPackage } else { Contents::Other };
    }
    let Some(mut file) = open(program) else { return Contents::Other };
    let mut head = [0; 256];
    let Ok(count) = file.read(&mut head) else { return Contents::Other };
    let head = head.get(..count).unwrap_or_default();
    let binary = [&b"\x7fELF"[..], b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    if binary.iter().any(|magic| head.starts_with(magic)) {
        return if holds(file, head, GO_MARK) { Contents::GoBinary } else { Contents::Binary };
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match line.strip_prefix(b"#!") {
        Some(interpreter) => Contents::Script(String::from_utf8_lossy(interpreter).into_owned()),
        None => Contents::Other,
    }
}

/// A file that has an end: opening a pipe would wait for a writer.
pub(super) fn open(path: &Path) -> Option<std::fs::File> {
    backsight_core::bounded::open(path).ok()
}

/// Whether a file holds some bytes, read piece by piece.
fn holds(file: std::fs::File, head: &[u8], wanted: &[u8]) -> bool {
    let mut file = file.take(LONGEST_PROGRAM);
    let mut window = head.to_vec();
    let mut buffer = vec![0; 1 << 20];
    loop {
        if window.windows(wanted.len()).any(|part| part == wanted) {
            return true;
        }
        let kept = window.len().saturating_sub(wanted.len());
        window.drain(..kept);
        match file.read(&mut buffer) {
            Ok(0) | Err(_) => return false,
            Ok(count) => window.extend_from_slice(buffer.get(..count).unwrap_or_default()),
        }
    }
}

/// A program of that name on the search path, in directories that are none of a project's.
pub(crate) fn on_path(name: &str, search: &[PathBuf]) -> Option<PathBuf> {
    let places = search.iter().filter(|place| place.is_absolute());
    places.map(|place| place.join(name)).find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    #[test]
    fn the_debugger_follows_from_the_program() {
        let place = tempfile::tempdir().unwrap();
        let go = [&b"\x7fELF"[..], &vec![0; 3 << 20], GO_MARK, &[0; 9]].concat();
        let files: [(&str, &[u8], &str); 6] = [
            ("a.py", b"print()", "debugpy"),
            ("tool", b"#!/usr/bin/env python3\n", "debugpy"),
            ("a.mjs", b"", "node"),
            ("native", b"\x7fELF....", "lldb-dap"),
            ("server", &go, "delve"),
            ("main.go", b"package main", "delve"),
        ];
        for (name, bytes, expected) in files {
            let path = place.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(choose(&builtin(), None, &path).unwrap().name, expected, "{name}");
        }
        assert_eq!(choose(&builtin(), None, place.path()).unwrap().name, "delve");
        let error = choose(&builtin(), None, &place.path().join("a.xyz")).unwrap_err();
        assert_eq!(error.code(), Code::AdapterNotFound);
        let error = choose(&builtin(), Some("gdb"), &place.path().join("a.py")).unwrap_err();
        assert!(error.message().contains("`gdb`") && error.message().contains("lldb-dap"), "{error}");
    }

    #[test]
    fn a_missing_debugger_comes_with_how_to_install_it() {
        let place = tempfile::tempdir().unwrap();
        let debugpy = &builtin()[0];
        let error = locate(debugpy, None, place.path(), &[place.path().to_owned()]).unwrap_err();
        assert_eq!(error.code(), Code::AdapterNotFound);
        assert!(error.hint().unwrap().contains("pip install debugpy"));
        assert!(locate(debugpy, Some(&place.path().join("python")), place.path(), &[]).is_err());
    }

    #[test]
    fn only_directories_outside_a_workspace_are_searched() {
        let place = tempfile::tempdir().unwrap();
        let (workspace, other) = (place.path().join("w"), place.path().join("other"));
        std::fs::create_dir_all(workspace.join("node_modules/.bin")).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        std::os::unix::fs::symlink(workspace.join("node_modules"), other.join("link")).unwrap();
        let search = [
            PathBuf::from("."),
            PathBuf::from(""),
            PathBuf::from("node_modules/.bin"),
            workspace.clone(),
            workspace.join("node_modules/.bin"),
            other.join("link/.bin"),
            workspace.join("../w/node_modules"),
            other.clone(),
        ];
        assert_eq!(outside(&search, &workspace), [other]);
        let relative = [PathBuf::from("node_modules/.bin"), PathBuf::from(".")];
        assert!(locate(&builtin()[1], None, &workspace, &relative).is_err());
        assert!(locate(&builtin()[1], Some(Path::new("node")), &workspace, &relative).is_err());
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe.py");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert_eq!(contents(&pipe), Contents::Other);
        assert!(!is_rust(&pipe));
    }

    #[test]
    fn rust_is_told_from_other_binaries() {
        let place = tempfile::tempdir().unwrap();
        let (rust, other) = (place.path().join("rust"), place.path().join("other"));
        std::fs::write(&rust, [&b"\x7fELF"[..], &vec![0; (1 << 20) - 9], b"rustc version 1.90.0"].concat()).unwrap();
        std::fs::write(&other, b"\x7fELF GCC: (Debian) rustc").unwrap();
        assert!(is_rust(&rust) && !is_rust(&other) && !is_rust(place.path()));
    }

    #[cfg(unix)]
    #[test]
    fn the_projects_own_environment_comes_first() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        for folder in [".venv/bin", "usr"] {
            let folder = place.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("python3"), "").unwrap();
            std::fs::set_permissions(folder.join("python3"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let found = locate(&builtin()[0], None, place.path(), &[place.path().join("usr")]).unwrap();
        assert_eq!(found, place.path().join(".venv/bin/python3"));
    }
}
