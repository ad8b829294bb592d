//! Which paths Git would ignore, decided as Git decides: nested `.gitignore` files, those of the directories above,
//! `info/exclude`, the user's global excludes, and on top of them the workspace's own patterns.

use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use backsight_core::{Code, Error, RelPath};
use gix_glob::pattern::Mode;

use crate::cache::FileIdentity;
use crate::git_config::{Reading, configuration_files, not_read};
use crate::git_index::{self, TrackedPaths};
use crate::glob;
use backsight_core::bounded;

/// The largest file of patterns that is read: tens of thousands of them.
const MAX_BYTES: u64 = 1 << 20;
/// The longest pattern that is believed; no path is longer.
const MAX_PATTERN: usize = 4096;
/// The longest `.git` file or `commondir` that is read: each holds one path.
const MAX_POINTER: u64 = 1 << 16;
/// What the matching of one walk may take beyond what each path may: some seconds of one processor.
const MAX_STEPS: u64 = 1_000_000_000;
/// What each path may take: some hundred patterns with stars. So a walk over more files may take longer, and ordinary
/// walks share no counter.
const FEW_STEPS: u64 = 16 << 10;

/// How many patterns the directories of one walk may bring: each takes a hundred bytes as long as the walk is remembered.
const MAX_PATTERNS: u64 = 1_000_000;

/// What the matching of one walk took so far. Patterns are a stranger's: that each of them matches in a bounded time
/// does not yet say that thousands of them do for a million files.
#[derive(Default)]
pub(crate) struct Effort {
    steps: AtomicU64,
    patterns: AtomicU64,
    /// What took too much.
    problem: OnceLock<String>,
}

impl Effort {
    fn add(&self, spent: &Spent<'_>) {
        let excess = spent.steps.saturating_sub(FEW_STEPS);
        if excess > 0 && self.steps.fetch_add(excess, Ordering::Relaxed).saturating_add(excess) > MAX_STEPS {
            let source = spent.most.map_or("", |(list, _)| &list.source);
            self.problem.get_or_init(|| format!("to match the ignore patterns of {source} takes too long"));
        }
    }

    fn add_patterns(&self, rules: &Rules) {
        let count = rules.lists.iter().map(|list| list.patterns.len() as u64).sum();
        if self.patterns.fetch_add(count, Ordering::Relaxed) + count > MAX_PATTERNS {
            self.problem.get_or_init(|| {
                let source = rules.lists.last().map_or("", |list| &list.source);
                format!("there are more than {MAX_PATTERNS} ignore patterns, {source} has {count} of them")
            });
        }
    }

    fn is_spent(&self) -> bool {
        self.problem.get().is_some()
    }

    /// The refusal to go on, once it took too much. What was decided from then on means nothing.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Some(problem) = self.problem.get() else { return Ok(()) };
        Err(Error::new(Code::TooLarge, problem.clone())
            .with_hint("have fewer patterns, with fewer `*` each, or ignore whole directories"))
    }
}

/// What it took to decide about one path.
#[derive(Default)]
struct Spent<'a> {
    steps: u64,
    /// The list that took most of them, and how many.
    most: Option<(&'a List, u64)>,
}

impl<'a> Spent<'a> {
    fn add(&mut self, list: &'a List, steps: u64) {
        self.steps += steps;
        if self.most.is_none_or(|(_, most)| steps > most) {
            self.most = Some((list, steps));
        }
    }
}

/// How messages call the patterns in the settings.
const OWN_PATTERNS: &str = "the settings";

/// A list of patterns in `.gitignore` syntax, relative to the workspace.
pub struct Patterns(List);

impl Patterns {
    /// Reads one pattern a text; blank ones and comments match nothing.
    pub fn new(patterns: &[String]) -> Self {
        Patterns(List::new(OWN_PATTERNS.to_owned(), Place::default(), patterns.join("\n").as_bytes()))
    }

    /// Whether the patterns take the path, or a directory it is in, out; as in Git, nothing below such a directory
    /// can be taken in again.
    pub fn matches(&self, path: &RelPath, is_directory: bool) -> bool {
        let path = path.as_bytes();
        let mut spent = Spent::default();
        let parents = (0..path.len()).filter(|&at| path[at] == b'/').map(|at| (&path[..at], true));
        parents
            .chain([(path, is_directory)])
            .any(|(path, is_directory)| self.0.verdict(path, is_directory, &mut spent) == Some(true))
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
    /// Files of rules that were not read, or not wholly, and why.
    unread: Vec<String>,
}

#[derive(Debug, PartialEq)]
struct List {
    /// The file, for messages.
    source: String,
    place: Place,
    patterns: Vec<gix_glob::Pattern>,
    /// How many lines are too long to be patterns.
    too_long: usize,
}

/// Where patterns or a repository begin.
#[derive(Clone, Debug, Default, PartialEq)]
struct Place {
    /// The directory inside the workspace; empty when it is the workspace or above it.
    base: Vec<u8>,
    /// For what begins above the workspace: where the workspace is, seen from there.
    prefix: Vec<u8>,
}

impl Place {
    fn inside(base: &[u8]) -> Self {
        Place { base: base.to_vec(), prefix: Vec::new() }
    }

    fn above(prefix: Vec<u8>) -> Self {
        Place { base: Vec::new(), prefix }
    }
}

/// A repository of the user's that encloses a directory of the workspace.
#[derive(Debug)]
struct Repository {
    git_dir: PathBuf,
    place: Place,
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

impl Surroundings {
    /// Where the user's programs keep their configuration.
    pub(crate) fn config_directory(&self) -> Option<PathBuf> {
        self.config_home.clone().or_else(|| Some(self.home.as_ref()?.join(".config")))
    }
}

impl Rules {
    /// The rules in force at the workspace's root.
    pub(crate) fn at_root(root: &Path, surroundings: &Surroundings, own_patterns: &[String]) -> Arc<Rules> {
        let own = List::new(OWN_PATTERNS.to_owned(), Place::default(), own_patterns.join("\n").as_bytes());
        let mut rules = Rules { own: Some(own), ..Rules::default() };
        let mut unread = Vec::new();
        let enclosing = root.ancestors().find_map(|directory| Some((directory, git_dir_of(directory, &mut unread)?)));
        let git_dir = enclosing.as_ref().map(|(_, git_dir)| git_dir.as_path());
        if let Some(file) = global_excludes(surroundings, git_dir, &mut unread) {
            rules.load(&file, Place::default());
        }
        rules.unread.extend(unread);
        let Some((top, git_dir)) = enclosing else { return Arc::new(rules) };
        let place = Place::above(relative_bytes(top, root));
        rules.load(&common_dir(&git_dir).join("info/exclude"), place.clone());
        let above: Vec<&Path> = root.ancestors().skip(1).take_while(|directory| directory.starts_with(top)).collect();
        for directory in above.into_iter().rev() {
            rules.load(&directory.join(".gitignore"), Place::above(relative_bytes(directory, root)));
        }
        rules.repository = Some(Arc::new(Repository { git_dir, place, tracked: OnceLock::new() }));
        Arc::new(rules)
    }

    /// The rules in force inside `path`, an open directory that holds a `.gitignore` and/or a `.git`.
    pub(crate) fn enter(
        self: &Arc<Self>,
        path: &[u8],
        (absolute, directory): (&Path, BorrowedFd<'_>),
        holds: Holds,
        effort: &Effort,
    ) -> Arc<Rules> {
        let mut rules = Rules { outer: Some(self.clone()), ..Rules::default() };
        if holds.git
            && !path.is_empty()
            && let Some(git_dir) = git_dir_of(absolute, &mut rules.unread)
        {
            rules.load(&common_dir(&git_dir).join("info/exclude"), Place::inside(path));
            let repository = Repository { git_dir, place: Place::inside(path), tracked: OnceLock::new() };
            rules.repository = Some(Arc::new(repository));
        }
        if holds.gitignore {
            match bounded::read_in(directory, b".gitignore", MAX_BYTES) {
                Ok(text) => rules.add(&absolute.join(".gitignore"), Place::inside(path), &text),
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    rules.unread.push(not_read(&absolute.join(".gitignore"), &error));
                }
                // As in Git, one that is a symlink holds no patterns. What else cannot be read the walk reports itself.
                Err(_) => {}
            }
        }
        effort.add_patterns(&rules);
        Arc::new(rules)
    }

    /// Adds the patterns of a file outside what is walked.
    fn load(&mut self, file: &Path, place: Place) {
        match bounded::read(file, MAX_BYTES) {
            Ok(text) => self.add(file, place, &text),
            Err(error) if bounded::is_absence(&error) => {}
            Err(error) => self.unread.push(not_read(file, &error)),
        }
    }

    fn add(&mut self, file: &Path, place: Place, text: &[u8]) {
        let source = format!("`{}`", backsight_core::quote(file.as_os_str().as_encoded_bytes()));
        let list = List::new(source, place, text);
        if list.too_long > 0 {
            let (source, lines) = (&list.source, list.too_long);
            self.unread
                .push(format!("{source} was not read wholly: {lines} lines are longer than {MAX_PATTERN} bytes"));
        }
        self.lists.push(list);
    }

    /// Files of rules of this link that were not read, or not wholly, and why.
    pub(crate) fn unread(&self) -> Vec<String> {
        let index = self.repository.as_ref().and_then(|found| found.tracked.get()?.1.unread.clone());
        self.unread.iter().cloned().chain(index).collect()
    }

    /// Whether the last matching pattern ignores `path`. Once `effort` is spent the answer means nothing.
    pub(crate) fn is_ignored(&self, path: &[u8], is_directory: bool, effort: &Effort) -> bool {
        if effort.is_spent() {
            return false;
        }
        let mut spent = Spent::default();
        let verdict = self.verdict(path, is_directory, &mut spent);
        effort.add(&spent);
        verdict.unwrap_or(false)
    }

    fn verdict<'a>(&'a self, path: &[u8], is_directory: bool, spent: &mut Spent<'a>) -> Option<bool> {
        let own = self.outermost().own.as_ref().and_then(|own| own.verdict(path, is_directory, spent));
        let mut link = Some(self).filter(|_| own.is_none());
        while let Some(rules) = link {
            let verdict = rules.lists.iter().rev().find_map(|list| list.verdict(path, is_directory, spent));
            if verdict.is_some() {
                return verdict;
            }
            link = rules.outer.as_deref();
        }
        own
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
        let place = |rules: &Rules| rules.repository.as_ref().map(|found| (found.git_dir.clone(), found.place.clone()));
        self.own == other.own && self.lists == other.lists && self.unread == other.unread && place(self) == place(other)
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

/// What a pull would write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedPath {
    /// The directory whose repository tracks it.
    pub repository: PathBuf,
    /// From there.
    pub path: String,
    /// Whether the index lies in two files, of which the larger one forgets nothing.
    pub is_split: bool,
}

/// The first path in the workspace's directory `name` that a Git repository around it tracks.
pub fn tracked_by_git(root: &Path, name: &str) -> Option<TrackedPath> {
    root.ancestors().find_map(|top| {
        let git_dir = git_dir_of(top, &mut Vec::new())?;
        let directory = [relative_bytes(top, root), name.as_bytes().to_vec()];
        let directory = directory.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(&b'/');
        let (found, is_split) = git_index::first_below(&git_dir, id_length(&git_dir), &directory)?;
        Some(TrackedPath { repository: top.to_owned(), path: String::from_utf8_lossy(&found).into_owned(), is_split })
    })
}

/// How long the ids of a repository's objects are.
pub(crate) fn id_length(git_dir: &Path) -> usize {
    let reading = Reading { home: None, git_dir: Some(git_dir) };
    // What of it cannot be read is reported with the rules, which come from the same file.
    let config = common_dir(git_dir).join("config");
    let format = reading.value(&config, "extensions", "objectformat", &mut Vec::new());
    if format.as_deref() == Some(b"sha256") { 32 } else { 20 }
}

impl Repository {
    fn tracked(&self) -> &TrackedPaths {
        let load = || {
            // Before it is read: a change while reading then shows as one.
            let identity = FileIdentity::of_user_file(&self.index());
            (identity, TrackedPaths::load(&self.git_dir, id_length(&self.git_dir)))
        };
        &self.tracked.get_or_init(load).1
    }

    fn index(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    /// A workspace path as the repository spells it.
    fn inside(&self, path: &[u8]) -> Vec<u8> {
        let Place { base, prefix } = &self.place;
        if base.is_empty() { join(prefix, path) } else { below(base, path).to_vec() }
    }
}

impl List {
    fn new(source: String, place: Place, text: &[u8]) -> List {
        // Git reads a line up to a NUL byte.
        let lines =
            text.split(|&byte| byte == b'\n').map(|line| line.split(|&byte| byte == 0).next().unwrap_or_default());
        let (lines, too_long): (Vec<&[u8]>, Vec<&[u8]>) = lines.partition(|line| line.len() <= MAX_PATTERN);
        // A comment may be as long as it likes.
        let too_long = too_long.into_iter().filter(|line| !line.starts_with(b"#")).count();
        let patterns = gix_ignore::parse(&lines.join(&b'\n'), false).map(|(pattern, _, _)| pattern).collect();
        List { source, place, patterns, too_long }
    }

    fn verdict<'a>(&'a self, path: &[u8], is_directory: bool, spent: &mut Spent<'a>) -> Option<bool> {
        let joined;
        let relative = if self.place.prefix.is_empty() {
            below(&self.place.base, path)
        } else {
            joined = join(&self.place.prefix, path);
            &joined
        };
        let name_at = relative.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        let name = &relative[name_at..];
        // To see that most patterns do not match takes a fraction of a step.
        let mut steps = self.patterns.len() as u64 / 8;
        let matching = self.patterns.iter().rev().find(|pattern| {
            let is_possible = is_directory || !pattern.mode.contains(Mode::MUST_BE_DIR);
            let is_name = pattern.mode.contains(Mode::NO_SUB_DIR) && !pattern.mode.contains(Mode::ABSOLUTE);
            is_possible && matches(pattern, if is_name { name } else { relative }, &mut steps)
        });
        spent.add(self, steps);
        matching.map(|pattern| !pattern.is_negative())
    }
}

/// Whether a pattern matches, the common kinds first: a plain name, and `*` before plain letters.
fn matches(pattern: &gix_glob::Pattern, text: &[u8], steps: &mut u64) -> bool {
    let Some(wild_at) = pattern.first_wildcard_pos else { return pattern.text == text };
    if pattern.mode.contains(Mode::ENDS_WITH) && !text.contains(&b'/') {
        return text.ends_with(&pattern.text[wild_at + 1..]);
    }
    text.starts_with(&pattern.text[..wild_at]) && glob::matches(&pattern.text, text, steps)
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

pub(crate) fn relative_bytes(from: &Path, to: &Path) -> Vec<u8> {
    to.strip_prefix(from).map(|path| path.as_os_str().as_encoded_bytes().to_vec()).unwrap_or_default()
}

/// The repository data of a work tree: its `.git` directory, or where its `.git` file points. Git follows a symlink there.
pub(crate) fn git_dir_of(directory: &Path, unread: &mut Vec<String>) -> Option<PathBuf> {
    let dot_git = directory.join(".git");
    let text = match fs::metadata(&dot_git) {
        Ok(metadata) if metadata.is_dir() => return dot_git.join("HEAD").exists().then_some(dot_git),
        Ok(_) => bounded::read(&dot_git, MAX_POINTER),
        Err(error) => Err(error),
    };
    match text {
        Ok(text) => Some(directory.join(path_of(text.strip_prefix(b"gitdir: ")?.trim_ascii_end()))),
        Err(error) if bounded::is_absence(&error) => None,
        Err(error) => {
            unread.push(not_read(&dot_git, &error));
            None
        }
    }
}

/// Linked work trees keep `info/` in the main repository.
pub(crate) fn common_dir(git_dir: &Path) -> PathBuf {
    match bounded::read(&git_dir.join("commondir"), MAX_POINTER) {
        Ok(text) => git_dir.join(path_of(text.trim_ascii_end())),
        Err(_) => git_dir.to_owned(),
    }
}

pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// The file `core.excludesFile` names, else Git's default place.
fn global_excludes(surroundings: &Surroundings, git_dir: Option<&Path>, unread: &mut Vec<String>) -> Option<PathBuf> {
    let configs = configuration_files(surroundings, git_dir, unread);
    let reading = Reading { home: surroundings.home.as_deref(), git_dir };
    let named = configs.iter().find_map(|config| reading.value(config, "core", "excludesfile", unread));
    match named {
        Some(value) => Some(reading.path(&value)),
        None => Some(surroundings.config_directory()?.join("git/ignore")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(patterns: &str, path: &str, is_directory: bool) -> bool {
        let list = List::new(String::new(), Place::default(), patterns.as_bytes());
        list.verdict(path.as_bytes(), is_directory, &mut Spent::default()).unwrap_or(false)
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
