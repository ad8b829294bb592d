//! A workspace to take snapshots of and repositories to export them to, away from whatever Git the machine has set up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use backsight_core::{Error, ObjectId, Timestamp};
use backsight_files::{
    AnchoredPath, Caller, Disk, Exported, Files, GitExport, NewCommit, Onto, Person, ScanOptions, Seal, Subjects,
    Surroundings, export_commits,
};
use tempfile::TempDir;

/// One test's directory.
pub struct Lab {
    directory: TempDir,
    pub files: Files,
}

impl Lab {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("workspace");
        fs::create_dir_all(&root).unwrap();
        let files = open(&root, Disk::new());
        Lab { directory, files }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn store(&self) -> PathBuf {
        self.path("workspace/.backsight/store/snapshots")
    }

    /// The same store as another process would see it.
    pub fn files_on(&self, disk: Disk) -> Files {
        open(&self.path("workspace"), disk)
    }

    /// Makes the workspace hold these files and no others, and records it.
    pub fn snapshot(&self, contents: &[(&str, &str)]) -> ObjectId {
        let root = self.path("workspace");
        for entry in fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true if entry.ends_with(".backsight") => {}
                true => fs::remove_dir_all(&entry).unwrap(),
                false => fs::remove_file(&entry).unwrap(),
            }
        }
        for (name, text) in contents {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        }
        self.record()
    }

    /// Records the workspace as it is.
    pub fn record(&self) -> ObjectId {
        self.record_with_coverage().0
    }

    /// The same, with what was not seen.
    pub fn record_with_coverage(&self) -> (ObjectId, Option<ObjectId>) {
        let (options, include) = (ScanOptions::default(), BTreeSet::new());
        let subjects = Subjects { options: &options, last: None, include: &include, thorough: false };
        let caller = Caller { progress: &|_| {}, cancelled: &|| false };
        let capture = self.files.capture(&subjects, caller).unwrap();
        (capture.tree.id, capture.coverage_id)
    }

    /// Makes every object of the store a file of its own, so that each can be damaged by itself.
    pub fn unpack_store(&mut self) {
        let packs = fs::read_dir(self.store().join("objects/pack")).unwrap().map(|entry| entry.unwrap().path());
        for pack in packs.filter(|path| path.extension().is_some_and(|name| name == "pack")) {
            let aside = self.path("aside");
            fs::rename(&pack, &aside).unwrap();
            fs::remove_file(pack.with_extension("idx")).unwrap();
            let mut command = self.git_command(&self.store(), &["unpack-objects", "-q"]);
            assert!(command.stdin(File::open(&aside).unwrap()).status().unwrap().success());
            fs::remove_file(&aside).unwrap();
        }
        self.files = self.files_on(Disk::new());
    }

    /// A repository with one commit on `main`.
    pub fn repository(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        self.git(self.directory.path(), &["init", "-q", "-b", "main", name]);
        fs::write(path.join("a.txt"), "one\n").unwrap();
        self.git(&path, &["add", "."]);
        self.git(&path, &["commit", "-q", "-m", "first"]);
        path
    }

    /// What git prints; it must succeed.
    pub fn git(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = self.try_git(directory, arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub fn try_git(&self, directory: &Path, arguments: &[&str]) -> Output {
        self.git_command(directory, arguments).output().unwrap()
    }

    fn git_command(&self, directory: &Path, arguments: &[&str]) -> Command {
        // A linked work tree may be named by its `.git` file.
        let directory = if directory.is_file() { directory.parent().unwrap() } else { directory };
        let mut command = Command::new("git");
        command.args(arguments).current_dir(directory).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.directory.path()).env("LC_ALL", "C");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Uma").env(format!("GIT_{who}_EMAIL"), "uma@example.org");
            command.env(format!("GIT_{who}_DATE"), "1700000000 +0000");
        }
        command
    }

    /// Nothing is wrong with the repository, as strictly as Git can say it.
    pub fn fsck(&self, repository: &Path) {
        assert_eq!(self.git(repository, &["fsck", "--strict", "--full", "--no-dangling", "--no-progress"]), "");
    }

    pub fn id(&self, repository: &Path, revision: &str) -> ObjectId {
        ObjectId::from_hex(&self.git(repository, &["rev-parse", revision])).unwrap()
    }

    pub fn export(&self, export: &GitExport<'_>) -> Result<Exported, Error> {
        export_commits(self.files.objects(), export, false)
    }

    /// Exports and lets git check the result: the repository is whole, and gained the branch and its objects alone.
    pub fn export_checked(&self, export: &GitExport<'_>) -> Exported {
        let (at, before) = (self.surroundings(), picture(self.directory.path()));
        let foreseen = export_commits(self.files.objects(), export, true).unwrap();
        assert_eq!(picture(self.directory.path()), before, "a dry run writes nothing");
        let exported = self.export(export).unwrap();
        assert_eq!(exported, foreseen, "a dry run foretells everything");
        let added = added(&before, &picture(self.directory.path()));
        assert_only_a_branch(&added, &exported);
        assert_eq!(self.id(export.repository, &format!("refs/heads/{}", exported.branch)), exported.tip);
        self.fsck(export.repository);
        assert_eq!(self.surroundings(), at);
        exported
    }

    /// What `git status` says in every work tree of the lab.
    fn surroundings(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut trees: Vec<PathBuf> = entries.filter(|path| path.join(".git").exists()).collect();
        trees.sort();
        trees.iter().map(|tree| self.git(tree, &["status", "--porcelain", "--branch"])).collect()
    }

    /// Refuses with `code`, dry or not, and leaves every byte as it was.
    pub fn assert_refused(&self, export: &GitExport<'_>, code: backsight_core::Code) -> Error {
        let before = picture(self.directory.path());
        let mut refusals =
            [true, false].map(|dry_run| export_commits(self.files.objects(), export, dry_run).unwrap_err());
        assert!(refusals.iter().all(|error| error.code() == code), "{refusals:?}");
        assert!(refusals.iter().all(|error| error.hint().is_some()), "{refusals:?}");
        assert_eq!(picture(self.directory.path()), before);
        let [_, error] = &mut refusals;
        std::mem::replace(error, Error::new(code, ""))
    }
}

fn open(root: &Path, disk: Disk) -> Files {
    let store = root.join(".backsight/store");
    std::fs::create_dir_all(&store).unwrap();
    Files::open(root, &AnchoredPath::open_directory(&store).unwrap(), Seal::new([0; 64]), disk).unwrap()
}

/// No configuration of the user's.
fn nowhere() -> &'static Surroundings {
    const NOWHERE: &Surroundings = &Surroundings { home: None, config_home: None };
    NOWHERE
}

/// An export onto `HEAD`.
pub fn export_to<'a>(repository: &'a Path, branch: &'a str, commits: &'a [NewCommit]) -> GitExport<'a> {
    let workspace = repository.parent().unwrap_or(repository);
    let surroundings = nowhere();
    GitExport { workspace, repository, branch, onto: Onto::Head, before: None, commits, within: None, surroundings }
}

pub fn commit(tree: ObjectId, message: &str) -> NewCommit {
    let author = Person { name: "Ada".to_owned(), email: "ada@example.org".to_owned() };
    NewCommit { tree, coverage: None, message: message.to_owned(), author, time: Timestamp(1_750_000_000_999) }
}

/// Every path below a directory with its permissions and content; a directory has none.
pub type Picture = BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>;

pub fn picture(directory: &Path) -> Picture {
    let mut picture = Picture::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for path in fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()) {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = match metadata.is_dir() {
                true => None,
                false => Some(fs::read(&path).unwrap()),
            };
            if metadata.is_dir() {
                pending.push(path.clone());
            }
            picture.insert(path, (metadata.permissions().mode() & 0o7777, content));
        }
    }
    picture
}

/// What is there now and was not before. Nothing else may have changed or gone.
pub fn added(before: &Picture, after: &Picture) -> Vec<PathBuf> {
    for (path, was) in before {
        assert!(after.get(path) == Some(was), "`{}` is not as it was", path.display());
    }
    after.keys().filter(|path| !before.contains_key(*path)).cloned().collect()
}

fn assert_only_a_branch(added: &[PathBuf], exported: &Exported) {
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let reference = format!("/refs/heads/{}", exported.branch);
    let (references, others): (Vec<String>, Vec<String>) =
        added.iter().map(text).partition(|path| path.contains("/refs/"));
    let files: Vec<&String> = references.iter().filter(|path| Path::new(path).is_file()).collect();
    assert!(matches!(files.as_slice(), [file] if file.ends_with(&reference)), "{references:?}");
    assert_shared_like_the_repository(Path::new(files[0]), 0o666);
    let expected: &[&str] = if exported.objects_written == 0 { &[] } else { &[".idx", ".pack"] };
    assert_eq!(others.len(), expected.len(), "{others:?}");
    for (path, extension) in others.iter().zip(expected) {
        assert!(path.contains("/objects/pack/pack-") && path.ends_with(extension), "{path}");
        assert_shared_like_the_repository(Path::new(path), 0o444);
    }
}

/// As under any umask Git itself would have it.
fn assert_shared_like_the_repository(path: &Path, mask: u32) {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let top = path.ancestors().find(|path| path.ends_with("refs") || path.ends_with("objects")).unwrap();
    assert_eq!(mode(path), mode(top) & mask, "{}", path.display());
}
