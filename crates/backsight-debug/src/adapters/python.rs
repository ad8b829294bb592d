//! Which modules a Python has, by looking at its directories. Asking it would run it, and with it whatever a project put beside it.

use std::io::Read;
use std::path::{Path, PathBuf};

/// Where a Python keeps modules, below its own directory. In place of `*` stands its version.
const PLACES: [&str; 5] = [
    "lib/python3*/site-packages",
    "lib64/python3*/site-packages",
    "lib/python3*/dist-packages",
    "lib/python3/dist-packages",
    "local/lib/python3*/dist-packages",
];
/// A directory with more entries is none of these.
const MOST_ENTRIES: usize = 10_000;
/// A longer description of an environment is none.
const LONGEST_NOTE: u64 = 64 << 10;

/// Modules that come with Python.
const OF_PYTHON: &str = "abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii \
    bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys \
    compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses \
    dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno \
    faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass \
    gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect \
    io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math \
    mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers \
    opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib \
    poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue \
    quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex \
    shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants \
    sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog \
    tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token tokenize \
    tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu \
    uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile \
    zipimport zlib zoneinfo";
/// Starts the debugger without the working directory in its search path.
const BEGIN: &str = "import sys; sys.path[:1] = [one for one in sys.path[:1] if one]; sys.argv[0] = 'debugpy'; \
    from debugpy.server import cli; cli.main()";

/// The command line of a debugger that is a module of Python. `-m` looks for modules in the working directory first, where a
/// `queue.py` of the project would be taken for Python's own; the program itself never sees it there.
pub(crate) fn besides(arguments: Vec<String>, directory: &Path) -> Vec<String> {
    let is_module = arguments.windows(2).position(|words| words == ["-m", "debugpy"]);
    let Some(at) = is_module.filter(|_| hides_modules(directory)) else { return arguments };
    let (before, after) = (arguments.iter().take(at), arguments.iter().skip(at + 2));
    before.cloned().chain(["-c".to_owned(), BEGIN.to_owned()]).chain(after.cloned()).collect()
}

/// Whether a directory has a module of the name of one of Python's.
fn hides_modules(directory: &Path) -> bool {
    OF_PYTHON.split_whitespace().any(|name| {
        directory.join(format!("{name}.py")).is_file() || directory.join(name).join("__init__.py").is_file()
    })
}

/// Whether a Python has its debugger; nothing where only running it would tell, as of a script that chooses one of several.
pub fn has_debugpy(python: &Path, home: Option<&Path>) -> Option<bool> {
    has_module(python, home, "debugpy")
}

/// Whether a Python has a module, likewise.
pub fn has_module(python: &Path, home: Option<&Path>, module: &str) -> Option<bool> {
    let own = python.parent().and_then(Path::parent);
    let note = own.and_then(|own| note_of(&own.join("pyvenv.cfg")));
    let mut roots: Vec<PathBuf> = own.map(Path::to_owned).into_iter().collect();
    let shares = match &note {
        Some(note) => value_of(note, "include-system-site-packages") == Some("true"),
        None if is_script(python) => return None,
        None => true,
    };
    if shares {
        let base = note.as_deref().and_then(|note| value_of(note, "home")).map(PathBuf::from);
        let base = base.or_else(|| python.canonicalize().ok()?.parent().map(Path::to_owned));
        roots.extend(base.as_deref().and_then(Path::parent).map(Path::to_owned));
        roots.extend(home.map(|home| home.join(".local")));
    }
    let has = |place: PathBuf| place.join(module).join("__init__.py").is_file();
    Some(roots.iter().any(|root| PLACES.iter().any(|place| expanded(root, place).into_iter().any(has))))
}

/// The directories that a place stands for.
fn expanded(root: &Path, place: &str) -> Vec<PathBuf> {
    let Some((before, after)) = place.split_once("python3*") else { return vec![root.join(place)] };
    let folder = root.join(before);
    let entries = std::fs::read_dir(&folder).into_iter().flatten().take(MOST_ENTRIES).flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let versions = names.filter(|name| name.starts_with("python3"));
    versions.map(|version| folder.join(version).join(after.trim_start_matches('/'))).collect()
}

fn is_script(program: &Path) -> bool {
    let Some(mut file) = super::find::open(program) else { return false };
    let mut head = [0; 2];
    file.read_exact(&mut head).is_ok() && head == *b"#!"
}

fn note_of(path: &Path) -> Option<String> {
    let mut text = String::new();
    super::find::open(path)?.take(LONGEST_NOTE).read_to_string(&mut text).ok()?;
    Some(text)
}

fn value_of<'a>(note: &'a str, name: &str) -> Option<&'a str> {
    let entries = note.lines().filter_map(|line| line.split_once('='));
    let mut found = entries.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str, text: &str) -> PathBuf {
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn a_project_that_hides_a_module_of_python_is_not_searched_for_the_debugger() {
        let place = tempfile::tempdir().unwrap();
        let line = || ["-X", "-m", "debugpy", "--connect"].map(str::to_owned).to_vec();
        put(place.path(), "shop.py", "");
        assert_eq!(besides(line(), place.path()), line());
        put(place.path(), "queue.py", "");
        let told = besides(line(), place.path());
        assert_eq!((told[0].as_str(), told[1].as_str(), told[3].as_str()), ("-X", "-c", "--connect"));
        assert!(!OF_PYTHON.contains('\n') && OF_PYTHON.split_whitespace().count() > 200);
    }

    #[test]
    fn a_debugger_is_found_where_a_python_keeps_its_modules() {
        let place = tempfile::tempdir().unwrap();
        for (at, name) in [
            "lib/python3.11/site-packages",
            "lib64/python3.12/site-packages",
            "lib/python3/dist-packages",
            "local/lib/python3.11/dist-packages",
        ]
        .into_iter()
        .enumerate()
        {
            let root = place.path().join(at.to_string());
            let python = put(&root, "bin/python3", "\u{7f}ELF");
            assert_eq!(has_debugpy(&python, None), Some(false), "{name}");
            put(&root, &format!("{name}/debugpy/__init__.py"), "");
            assert_eq!(has_debugpy(&python, None), Some(true), "{name}");
        }
    }

    #[test]
    fn an_environment_has_its_own_modules_and_those_of_its_base_only_if_it_says_so() {
        let place = tempfile::tempdir().unwrap();
        let base = put(place.path(), "base/bin/python3", "\u{7f}ELF");
        put(place.path(), "base/lib/python3.11/site-packages/debugpy/__init__.py", "");
        let home = place.path().join("home");
        put(&home, ".local/lib/python3.11/site-packages/debugpy/__init__.py", "");
        let python = place.path().join("venv/bin/python3");
        std::fs::create_dir_all(python.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&base, &python).unwrap();
        let note = |shares: &str| {
            let text =
                format!("home = {}\ninclude-system-site-packages = {shares}\n", base.parent().unwrap().display());
            put(place.path(), "venv/pyvenv.cfg", &text);
        };
        note("false");
        assert_eq!(has_debugpy(&python, Some(&home)), Some(false));
        note("true");
        assert_eq!(has_debugpy(&python, None), Some(true));
        assert_eq!(has_debugpy(&base, None), Some(true));
        let bare = put(place.path(), "bare/bin/python3", "\u{7f}ELF");
        assert_eq!((has_debugpy(&bare, Some(&home)), has_debugpy(&bare, None)), (Some(true), Some(false)));
        let script = put(place.path(), "shims/python3", "#!/bin/sh\n");
        assert_eq!(has_debugpy(&script, None), None);
    }
}
