//! Which paths Git would ignore, decided as Git decides: nested `.gitignore` files, those of the directories above,
//! `info/exclude`, the user's global excludes, and on top of them the workspace's own patterns.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use backsight_core::RelPath;
use bstr::BStr;
use gix_glob::pattern::Case;
use gix_glob::wildmatch;

use crate::cache::FileIdentity;
use crate::git_config::Reading;
use crate::git_index::TrackedPaths;

/// A list of patterns in `.gitignore` syntax, relative to the workspace.
pub struct Patterns(List);

impl Patterns {
    /// Reads one pattern a text; blank ones and comments match nothing.
    pub fn new(patterns: &[String]) -> Self {
        Patterns(List::new(Vec::new(), Vec::new(), patterns.join("\n").as_bytes()))
    }

    /// Whether the patterns take the path, or a directory it is in, out; as in Git, nothing below such a directory
    /// can be taken in again.
    pub fn matches(&self, path: &RelPath, is_directory: bool) -> bool {
        let path = path.as_bytes();
        let parents = (0..path.len()).filter(|&at| path[at] == b'/').map(|at| (&path[..at], true));
        parents
            .chain([(path, is_directory)])
            .any(|(path, is_directory)| self.0.verdict(path, is_directory) == Some(true))
    }
}

/// The rules in force in one directory: its own, and through `outer` everyone else's.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    outer: Option<Arc<Rules>>,
    lists: Vec<List>,
    repository: Option<Arc<Repository>>,
    /// The workspace's own patterns, which go before all others. Only on the outermost link.
    own: Option<List>,
}

#[derive(Debug, PartialEq)]
struct List {
    /// The directory the patterns are relative to, inside the workspace.
    base: Vec<u8>,
    /// For patterns from above the workspace: where the workspace is, seen from there.
    prefix: Vec<u8>,
    patterns: Vec<gix_glob::Pattern>,
}

/// A repository of the user's that encloses a directory of the workspace.
#[derive(Debug)]
struct Repository {
    git_dir: PathBuf,
    /// The repository's root, inside the workspace; empty when it is the workspace or above it.
    base: Vec<u8>,
    /// For a repository that begins above the workspace: where the workspace is, seen from there.
    prefix: Vec<u8>,
    tracked: OnceLock<(Option<FileIdentity>, TrackedPaths)>,
}

/// Where ignore rules outside the workspace are found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, when set.
    pub config_home: Option<PathBuf>,
}

impl Rules {
    /// The rules in force at the workspace's root.
    pub(crate) fn at_root(root: &Path, surroundings: &Surroundings, own_patterns: &[String]) -> Arc<Rules> {
        let own = List::new(Vec::new(), Vec::new(), own_patterns.join("\n").as_bytes());
        let mut rules = Rules { own: Some(own), ..Rules::default() };
        let enclosing = root.ancestors().find_map(|directory| Some((directory, git_dir_of(directory)?)));
        if let Some(file) = global_excludes(surroundings, enclosing.as_ref().map(|(_, git_dir)| git_dir.as_path())) {
            rules.lists.extend(List::load(&file, Vec::new(), Vec::new()));
        }
        let Some((top, git_dir)) = enclosing else { return Arc::new(rules) };
        let prefix = relative_bytes(top, root);
        rules.lists.extend(List::load(&common_dir(&git_dir).join("info/exclude"), Vec::new(), prefix.clone()));
        let above: Vec<&Path> = root.ancestors().skip(1).take_while(|directory| directory.starts_with(top)).collect();
        for directory in above.into_iter().rev() {
            rules.lists.extend(List::load(&directory.join(".gitignore"), Vec::new(), relative_bytes(directory, root)));
        }
        rules.repository = Some(Arc::new(Repository { git_dir, base: Vec::new(), prefix, tracked: OnceLock::new() }));
        Arc::new(rules)
    }

    /// The rules in force inside `path`, a directory that holds a `.gitignore` and/or a `.git`.
    pub(crate) fn enter(self: &Arc<Self>, path: &[u8], absolute: &Path, holds: Holds) -> Arc<Rules> {
        let mut rules = Rules { outer: Some(self.clone()), ..Rules::default() };
        let nested = (holds.git && !path.is_empty()).then(|| git_dir_of(absolute)).flatten();
        if let Some(git_dir) = nested {
            rules.lists.extend(List::load(&common_dir(&git_dir).join("info/exclude"), path.to_vec(), Vec::new()));
            let repository = Repository { git_dir, base: path.to_vec(), prefix: Vec::new(), tracked: OnceLock::new() };
            rules.repository = Some(Arc::new(repository));
        }
        let file = absolute.join(".gitignore");
        // As in Git, a `.gitignore` in the work tree that is a symlink holds no patterns.
        if holds.gitignore && fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file()) {
            rules.lists.extend(List::load(&file, path.to_vec(), Vec::new()));
        }
        Arc::new(rules)
    }

    /// Whether the last matching pattern ignores `path`.
    pub(crate) fn is_ignored(&self, path: &[u8], is_directory: bool) -> bool {
        if let Some(verdict) = self.outermost().own.as_ref().and_then(|own| own.verdict(path, is_directory)) {
            return verdict;
        }
        let mut link = Some(self);
        while let Some(rules) = link {
            if let Some(verdict) = rules.lists.iter().rev().find_map(|list| list.verdict(path, is_directory)) {
                return verdict;
            }
            link = rules.outer.as_deref();
        }
        false
    }

    fn outermost(&self) -> &Rules {
        let mut link = self;
        while let Some(outer) = &link.outer {
            link = outer;
        }
        link
    }

    /// Whether the nearest repository tracks this file.
    pub(crate) fn is_tracked(&self, path: &[u8]) -> bool {
        self.repository().is_some_and(|repository| repository.tracked().contains(&repository.inside(path)))
    }

    /// The files the nearest repository tracks below this directory, relative to the workspace.
    pub(crate) fn tracked_below(&self, directory: &[u8]) -> Vec<Vec<u8>> {
        let Some(repository) = self.repository() else { return Vec::new() };
        let inside = repository.inside(directory);
        let tracked = repository.tracked().below(&inside);
        tracked.map(|path| join(directory, &path[inside.len() + usize::from(!inside.is_empty())..])).collect()
    }

    /// Whether this link, not those outside it, says the same as another one.
    pub(crate) fn says_the_same(&self, other: &Rules) -> bool {
        let place = |rules: &Rules| {
            rules.repository.as_ref().map(|found| (found.git_dir.clone(), found.base.clone(), found.prefix.clone()))
        };
        self.own == other.own && self.lists == other.lists && place(self) == place(other)
    }

    /// Whether the index of this link's repository is another one than when somebody asked what it tracks.
    pub(crate) fn has_new_index(&self) -> bool {
        let Some(repository) = &self.repository else { return false };
        repository
            .tracked
            .get()
            .is_some_and(|(identity, _)| *identity != FileIdentity::of_user_file(&repository.index()))
    }

    /// The rules outside this link.
    pub(crate) fn outer(&self) -> Option<&Arc<Rules>> {
        self.outer.as_ref()
    }

    fn repository(&self) -> Option<&Repository> {
        let mut link = Some(self);
        while let Some(rules) = link {
            if let Some(repository) = &rules.repository {
                return Some(repository);
            }
            link = rules.outer.as_deref();
        }
        None
    }
}

/// What a directory holds that changes the rules inside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holds {
    pub(crate) gitignore: bool,
    pub(crate) git: bool,
}

impl Holds {
    pub(crate) fn any(self) -> bool {
        self.gitignore || self.git
    }
}

impl Repository {
    fn tracked(&self) -> &TrackedPaths {
        let load = || {
            // Before it is read: a change while reading then shows as one.
            let identity = FileIdentity::of_user_file(&self.index());
            let reading = Reading { home: None, git_dir: Some(&self.git_dir) };
            let format = reading.value(&common_dir(&self.git_dir).join("config"), "extensions", "objectformat");
            let id_length = if format.as_deref() == Some(b"sha256") { 32 } else { 20 };
            (identity, TrackedPaths::load(&self.git_dir, id_length))
        };
        &self.tracked.get_or_init(load).1
    }

    fn index(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    /// A workspace path as the repository spells it.
    fn inside(&self, path: &[u8]) -> Vec<u8> {
        if self.base.is_empty() { join(&self.prefix, path) } else { below(&self.base, path).to_vec() }
    }
}

impl List {
    fn new(base: Vec<u8>, prefix: Vec<u8>, text: &[u8]) -> List {
        // Git reads a line up to a NUL byte.
        let lines =
            text.split(|&byte| byte == b'\n').map(|line| line.split(|&byte| byte == 0).next().unwrap_or_default());
        let text = lines.collect::<Vec<_>>().join(&b'\n');
        List { base, prefix, patterns: gix_ignore::parse(&text, false).map(|(pattern, _, _)| pattern).collect() }
    }

    /// As in Git, a file that is missing or unreadable holds no patterns.
    fn load(file: &Path, base: Vec<u8>, prefix: Vec<u8>) -> Option<List> {
        Some(List::new(base, prefix, &fs::read(file).ok()?))
    }

    fn verdict(&self, path: &[u8], is_directory: bool) -> Option<bool> {
        let joined;
        let relative = if self.prefix.is_empty() {
            below(&self.base, path)
        } else {
            joined = join(&self.prefix, path);
            &joined
        };
        let name_at = relative.iter().rposition(|&byte| byte == b'/').map(|slash| slash + 1);
        let matching = self.patterns.iter().rev().find(|pattern| {
            let mode = wildmatch::Mode::NO_MATCH_SLASH_LITERAL;
            pattern.matches_repo_relative_path(BStr::new(relative), name_at, Some(is_directory), Case::Sensitive, mode)
        });
        matching.map(|pattern| !pattern.is_negative())
    }
}

fn below<'a>(base: &[u8], path: &'a [u8]) -> &'a [u8] {
    let start = if base.is_empty() { 0 } else { base.len() + 1 };
    path.get(start..).unwrap_or_default()
}

pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    match (directory.is_empty(), name.is_empty()) {
        (true, _) => name.to_vec(),
        (_, true) => directory.to_vec(),
        _ => [directory, b"/", name].concat(),
    }
}

fn relative_bytes(from: &Path, to: &Path) -> Vec<u8> {
    to.strip_prefix(from).map(|path| path.as_os_str().as_encoded_bytes().to_vec()).unwrap_or_default()
}

/// The repository data of a work tree: its `.git` directory, or where its `.git` file points.
fn git_dir_of(directory: &Path) -> Option<PathBuf> {
    let dot_git = directory.join(".git");
    let metadata = fs::symlink_metadata(&dot_git).ok()?;
    if metadata.is_dir() {
        return dot_git.join("HEAD").exists().then_some(dot_git);
    }
    let text = fs::read(&dot_git).ok()?;
    let target = text.strip_prefix(b"gitdir: ")?;
    Some(directory.join(path_of(target.trim_ascii_end())))
}

/// Linked work trees keep `info/` in the main repository.
fn common_dir(git_dir: &Path) -> PathBuf {
    match fs::read(git_dir.join("commondir")) {
        Ok(text) => git_dir.join(path_of(text.trim_ascii_end())),
        Err(_) => git_dir.to_owned(),
    }
}

pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// The file `core.excludesFile` names, else Git's default place.
fn global_excludes(surroundings: &Surroundings, git_dir: Option<&Path>) -> Option<PathBuf> {
    let config_home = surroundings.config_home.clone().or_else(|| Some(surroundings.home.as_ref()?.join(".config")));
    let configs = [
        git_dir.map(|git_dir| common_dir(git_dir).join("config")),
        surroundings.home.as_ref().map(|home| home.join(".gitconfig")),
        config_home.as_ref().map(|home| home.join("git/config")),
        Some(PathBuf::from("/etc/gitconfig")),
    ];
    let reading = Reading { home: surroundings.home.as_deref(), git_dir };
    let named = configs.iter().flatten().find_map(|config| reading.value(config, "core", "excludesfile"));
    match named {
        Some(value) => Some(reading.path(&value)),
        None => Some(config_home?.join("git/ignore")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(patterns: &str, path: &str, is_directory: bool) -> bool {
        let list = List::new(Vec::new(), Vec::new(), patterns.as_bytes());
        list.verdict(path.as_bytes(), is_directory).unwrap_or(false)
    }

    #[test]
    fn a_list_of_patterns_takes_whole_directories() {
        let patterns = ["*.log", "!keep.log", "node_modules/**", "out/", "*_generated.*"].map(str::to_owned);
        let patterns = Patterns::new(&patterns);
        let matches = |path: &str| patterns.matches(&RelPath::parse(path).unwrap(), false);
        assert!(matches("a.log") && matches("x/y/a.log") && matches("out/deep/keep.log"));
        assert!(matches("node_modules/left-pad/index.js") && matches("api_generated.rs"));
        assert!(!matches("keep.log") && !matches("out") && !matches("src/a.rs"));
    }

    #[test]
    fn patterns_mean_what_they_mean_in_git() {
        assert!(ignored("*.log", "a/b.log", false));
        assert!(!ignored("*.log\n!keep.log", "keep.log", false));
        assert!(ignored("build/", "x/build", true));
        assert!(!ignored("build/", "x/build", false));
        assert!(!ignored("/build", "x/build", true));
        assert!(ignored("a/**/z", "a/b/c/z", false));
        assert!(ignored("[[:digit:]]x", "7x", false));
        assert!(ignored("trailing\\ ", "trailing ", false));
        assert!(!ignored("# comment", "# comment", false));
    }
}
