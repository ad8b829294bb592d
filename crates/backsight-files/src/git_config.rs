//! Reads single values from the user's Git configuration files: which file holds the global ignore rules, how long
//! object ids are, how files are converted. Nothing in these files is ever executed or written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use backsight_core::quote;

use crate::glob;
use crate::ignore::{Surroundings, common_dir, path_of};
use backsight_core::bounded;

/// Included files may include others; deeper than Git itself goes.
const MAX_DEPTH: usize = 10;
/// How many files are read for one value. Depth alone bounds nothing: a file may include itself a dozen times.
const MAX_FILES: usize = 100;
/// The longest configuration file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The files that Git reads for a repository, the one that counts most first.
pub(crate) fn configuration_files(
    surroundings: &Surroundings,
    git_dir: Option<&Path>,
    unread: &mut Vec<String>,
) -> Vec<PathBuf> {
    let of_repository = git_dir.map(|git_dir| common_dir(git_dir).join("config"));
    // A work tree may have some of its own.
    let of_work_tree = git_dir.zip(of_repository.as_ref()).filter(|(_, config)| {
        let reading = Reading { home: None, git_dir };
        reading.value(config, "extensions", "worktreeconfig", unread).is_some_and(|value| flag(&value))
    });
    let of_work_tree = of_work_tree.map(|(git_dir, _)| git_dir.join("config.worktree"));
    let home = surroundings.home.as_ref().map(|home| home.join(".gitconfig"));
    let config_home = surroundings.config_directory().map(|home| home.join("git/config"));
    [of_work_tree, of_repository, home, config_home, Some(PathBuf::from("/etc/gitconfig"))]
        .into_iter()
        .flatten()
        .collect()
}

/// A value as yes or no. What is neither a word for it nor a number, Git refuses to work with: no.
pub(crate) fn flag(value: &[u8]) -> bool {
    let is_number = |text: &str| text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G']).parse() != Ok(0);
    match value.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" => true,
        b"false" | b"no" | b"off" | b"" => false,
        other => {
            other.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-')
                && std::str::from_utf8(other).is_ok_and(is_number)
        }
    }
}

/// What a reading of configuration depends on.
pub(crate) struct Reading<'a> {
    /// For paths that begin with `~/`.
    pub(crate) home: Option<&'a Path>,
    /// For `includeIf "gitdir:..."`.
    pub(crate) git_dir: Option<&'a Path>,
}

impl Reading<'_> {
    /// The last value of `section.key` in `file` and what it includes. Names are given in lower case. What could not be
    /// read is added to `unread`.
    pub(crate) fn value(&self, file: &Path, section: &str, key: &str, unread: &mut Vec<String>) -> Option<Vec<u8>> {
        let mut search = Search { section, key, found: None, files: 0, unread };
        self.collect(file, 0, &mut search);
        if search.files > MAX_FILES {
            search.unread.push(format!("{} includes more than {MAX_FILES} files", shown(file)));
        }
        search.found
    }

    /// A value as a path: `~/` is the home directory.
    pub(crate) fn path(&self, value: &[u8]) -> PathBuf {
        match (value.strip_prefix(b"~/"), self.home) {
            (Some(rest), Some(home)) => home.join(path_of(rest)),
            _ => path_of(value).to_owned(),
        }
    }

    fn collect(&self, file: &Path, depth: usize, search: &mut Search<'_>) {
        search.files += 1;
        if depth >= MAX_DEPTH || search.files > MAX_FILES {
            return;
        }
        let text = match bounded::read(file, MAX_BYTES) {
            Ok(text) => text,
            Err(error) => {
                if !bounded::is_absence(&error) {
                    search.unread.push(not_read(file, &error));
                }
                return;
            }
        };
        for entry in parse(&text) {
            if *entry.section == *search.section && entry.subsection.is_none() && entry.key == search.key {
                search.found = Some(entry.value);
            } else if entry.key == "path" && self.includes(&entry, file) {
                let included = self.path(&entry.value);
                let included = file.parent().unwrap_or(Path::new("")).join(included);
                self.collect(&included, depth + 1, search);
            }
        }
    }

    fn includes(&self, entry: &Entry, file: &Path) -> bool {
        match (&*entry.section, &entry.subsection) {
            ("include", None) => true,
            ("includeif", Some(condition)) => self.is_met(condition, file),
            _ => false,
        }
    }

    /// The conditions on where the repository is; others depend on what is checked out and are taken as not met.
    fn is_met(&self, condition: &[u8], file: &Path) -> bool {
        let (pattern, folds) = match (condition.strip_prefix(b"gitdir:"), condition.strip_prefix(b"gitdir/i:")) {
            (Some(pattern), _) => (pattern, false),
            (_, Some(pattern)) => (pattern, true),
            _ => return false,
        };
        let Some(git_dir) = self.git_dir.and_then(|git_dir| git_dir.canonicalize().ok()) else { return false };
        let beside = |rest: &[u8]| {
            file.parent().unwrap_or(Path::new("")).join(path_of(rest)).into_os_string().into_encoded_bytes()
        };
        let mut pattern = match (pattern.strip_prefix(b"./"), pattern.first()) {
            (Some(rest), _) => beside(rest),
            (_, Some(b'~' | b'/')) => self.path(pattern).into_os_string().into_encoded_bytes(),
            _ => [b"**/", pattern].concat(),
        };
        if condition.ends_with(b"/") {
            if !pattern.ends_with(b"/") {
                pattern.push(b'/');
            }
            pattern.extend_from_slice(b"**");
        }
        let value = git_dir.as_os_str().as_encoded_bytes();
        match folds {
            true => glob::matches(&pattern.to_ascii_lowercase(), &value.to_ascii_lowercase(), &mut 0),
            false => glob::matches(&pattern, value, &mut 0),
        }
    }
}

/// A value that is looked for, and how far the search has come.
struct Search<'a> {
    section: &'a str,
    key: &'a str,
    found: Option<Vec<u8>>,
    files: usize,
    unread: &'a mut Vec<String>,
}

/// What is said about a file that could not be read.
pub(crate) fn not_read(file: &Path, why: &dyn std::fmt::Display) -> String {
    format!("{} was not read: {why}", shown(file))
}

fn shown(file: &Path) -> String {
    format!("`{}`", quote(file.as_os_str().as_encoded_bytes()))
}

/// One `key = value` with where it stands; section and key in lower case.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    // Shared: a file of many keys in a section of a long name would else take their product.
    pub(crate) section: Arc<str>,
    pub(crate) subsection: Option<Arc<[u8]>>,
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
}

/// Every entry that can be read; what cannot is passed over, as this is not the place to complain about it.
pub(crate) fn parse(text: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let (mut section, mut subsection): (Arc<str>, _) = (Arc::default(), None);
    let mut rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    while let Some(&byte) = rest.first() {
        match byte {
            b'[' => {
                let end = header_end(rest);
                (section, subsection) = header(&rest[1..end]);
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            b'#' | b';' => rest = after_line(rest),
            _ if byte.is_ascii_whitespace() => rest = &rest[1..],
            _ => {
                let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
                let key = String::from_utf8_lossy(&rest[..length]).to_ascii_lowercase();
                let (value, after) = value(&rest[length..]);
                rest = if length == 0 { after_line(rest) } else { after };
                if length > 0 {
                    entries.push(Entry { section: section.clone(), subsection: subsection.clone(), key, value });
                }
            }
        }
    }
    entries
}

fn after_line(text: &[u8]) -> &[u8] {
    match text.iter().position(|&byte| byte == b'\n') {
        Some(end) => &text[end + 1..],
        None => &[],
    }
}

/// Where the `]` of a section header is: not inside the quotes of a subsection.
fn header_end(text: &[u8]) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (index, &byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b']' if !quoted => return index,
            b'\n' => return index,
            _ => {}
        }
    }
    text.len()
}

fn header(text: &[u8]) -> (Arc<str>, Option<Arc<[u8]>>) {
    let name_end = text.iter().position(|&byte| byte == b' ' || byte == b'"').unwrap_or(text.len());
    let name = String::from_utf8_lossy(&text[..name_end]).to_ascii_lowercase();
    let quoted = text[name_end..].trim_ascii().strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let subsection = quoted.map(|quoted| {
        let mut bytes = quoted.iter().copied();
        std::iter::from_fn(|| bytes.next().and_then(|byte| if byte == b'\\' { bytes.next() } else { Some(byte) }))
            .collect()
    });
    (name.into(), subsection)
}

/// The value behind a key, and what follows its line: quotes, escapes, comments and continued lines as Git has them.
fn value(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let start = text.iter().take_while(|byte| **byte == b' ' || **byte == b'\t').count();
    // A key alone means yes.
    let Some(mut rest) = text[start..].strip_prefix(b"=") else { return (b"true".to_vec(), after_line(text)) };
    let mut value = Vec::new();
    // How much of the value must stay although it is white space: what stood in quotes or before more text.
    let (mut kept, mut quoted) = (0, false);
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'\n' => break,
            b'"' => {
                quoted = !quoted;
                kept = value.len();
            }
            b'#' | b';' if !quoted => {
                rest = after_line(rest);
                break;
            }
            b'\\' => {
                let Some((&next, tail)) = rest.split_first() else { break };
                rest = tail;
                match next {
                    b'\n' => continue,
                    b'\r' if rest.first() == Some(&b'\n') => {
                        rest = &rest[1..];
                        continue;
                    }
                    b'n' => value.push(b'\n'),
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    other => value.push(other),
                }
                kept = value.len();
            }
            _ if byte.is_ascii_whitespace() && !quoted => {
                if !value.is_empty() && byte != b'\r' {
                    value.push(byte);
                }
            }
            _ => {
                value.push(byte);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    (value, rest)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn excludes(text: &str) -> Option<String> {
        let found =
            parse(text.as_bytes()).into_iter().rfind(|entry| &*entry.section == "core" && entry.key == "excludesfile");
        found.map(|entry| String::from_utf8(entry.value).unwrap())
    }

    #[test]
    fn values_are_read_as_git_reads_them() {
        assert_eq!(
            excludes("[user]\n\texcludesfile = no\n[core]\n\tExcludesFile = \"~/x\"\n[other]\n").as_deref(),
            Some("~/x")
        );
        assert_eq!(excludes("[core] excludesfile = ~/i ; mine\n").as_deref(), Some("~/i"));
        assert_eq!(excludes("[core]\nexcludesfile = \"a # b\" # c\n").as_deref(), Some("a # b"));
        assert_eq!(excludes("[core]\nexcludesfile = ~/\\\ni\n").as_deref(), Some("~/i"));
        assert_eq!(excludes("[core]\nexcludesfile = one\n[core]\nexcludesfile = two\r\n").as_deref(), Some("two"));
        assert_eq!(excludes("[core \"x\"]\n[core]\nbare\n").as_deref(), None);
        assert_eq!(excludes("[core").as_deref(), None);
    }

    #[test]
    fn yes_and_no_are_said_in_many_ways() {
        for yes in ["true", "YES", "on", "1", "-1", "2k"] {
            assert!(flag(yes.as_bytes()), "{yes}");
        }
        for no in ["false", "No", "off", "", "0", "0k", "x"] {
            assert!(!flag(no.as_bytes()), "{no}");
        }
        let values =
            |text: &str| parse(text.as_bytes()).into_iter().map(|entry| flag(&entry.value)).collect::<Vec<_>>();
        assert_eq!(values("[core]\n\tautocrlf\n\tfilemode =\n\tsymlinks = true # yes\n"), [true, false, true]);
    }

    #[test]
    fn included_files_count_where_their_condition_holds() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let git_dir = root.join("code/.git");
        fs::create_dir_all(&git_dir).unwrap();
        fs::write(root.join("more"), "[core]\nexcludesfile = included\n").unwrap();
        let reading = Reading { home: Some(&root), git_dir: Some(&git_dir) };
        let value = |text: &str| {
            fs::write(root.join("config"), text).unwrap();
            reading
                .value(&root.join("config"), "core", "excludesfile", &mut Vec::new())
                .map(|value| String::from_utf8(value).unwrap())
        };
        assert_eq!(value("[include]\npath = more\n").as_deref(), Some("included"));
        assert_eq!(value("[includeIf \"gitdir:~/code/\"]\npath = ~/more\n").as_deref(), Some("included"));
        assert_eq!(value("[includeIf \"gitdir:code/\"]\npath = more\n").as_deref(), Some("included"));
        assert_eq!(value("[includeIf \"gitdir:~/play/\"]\npath = more\n"), None);
        assert_eq!(value("[include]\npath = config\n"), None);
    }

    #[test]
    fn a_file_that_includes_itself_many_times_is_read_a_bounded_number_of_times() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        fs::write(&file, "[include]\npath = config\n".repeat(12) + "[core]\nexcludesfile = x\n").unwrap();
        let mut unread = Vec::new();
        let reading = Reading { home: None, git_dir: None };
        assert_eq!(reading.value(&file, "core", "excludesfile", &mut unread).as_deref(), Some(&b"x"[..]));
        assert!(unread.len() == 1 && unread[0].contains("more than 100 files"), "{unread:?}");
    }

    #[test]
    fn many_keys_in_a_section_of_a_long_name_take_no_more_than_they_are() {
        let text = format!("[{} \"{}\"]\n{}", "s".repeat(400_000), "t".repeat(400_000), "a\n".repeat(100_000));
        assert_eq!(parse(text.as_bytes()).len(), 100_000);
    }
}
