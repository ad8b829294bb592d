//! Snapshots as commits on a new branch of a Git repository that the user names.
//!
//! The repository gains one pack and one reference; `HEAD`, the index, the work tree, the configuration and every
//! existing reference stay as they are. The branch comes last: killed before it, only unreachable objects remain.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, ObjectId, Result, Timestamp, is_alias, quote};

use crate::git_branch::BranchName;
use crate::git_checkin::CheckIn;
use crate::git_converted::Recipe;
use crate::git_overlay::{KeptReason, Overlay, TakenObject};
use crate::git_pack::{add_pack, append_blob};
use crate::git_place::Placement;
use crate::git_repository::GitRepository;
use crate::ignore::{Surroundings, join};
use crate::large_blob::LargeBlob;
use crate::names::without_end;
use crate::object::{ObjectKind, object_id};
use crate::objects::{ObjectStore, damaged};
use crate::pack::{PackEntry, PackWriter};
use crate::tree::{Contents, RawEntry, check_depth, is_safe_name, parse_tree};

const COMMITTER: &str = "Backsight <backsight@localhost>";

/// Who made a commit. What Git cannot hold in a name or an address is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name; an empty one becomes `Backsight`.
    pub name: String,
    /// The mail address; it may be empty.
    pub email: String,
}

/// One commit to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// Its files: a tree of the store.
    pub tree: ObjectId,
    /// What the capture of that tree could not see: there the commit keeps what the one before it holds.
    pub coverage: Option<ObjectId>,
    /// Its message; a missing final newline is added.
    pub message: String,
    /// Who made it. The committer is always Backsight.
    pub author: Person,
    /// When, for author and committer: the same export makes the same commits.
    pub time: Timestamp,
}

/// The commit that the exported ones follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Onto {
    /// None: the first one has no parent.
    Nothing,
    /// The one that is checked out; none when the branch that is checked out has no commit yet.
    Head,
    /// A branch, a tag, a full reference name or a whole commit id.
    Revision(String),
}

/// What to write and where.
#[derive(Clone, Debug)]
pub struct GitExport<'a> {
    /// The root of the workspace: where it lies in the repository its files lie in the commits.
    pub workspace: &'a Path,
    /// A work tree, its `.git` (directory or file), or a bare repository.
    pub repository: &'a Path,
    /// The branch to make; it must not exist.
    pub branch: &'a str,
    /// What the commits follow.
    pub onto: Onto,
    /// The state before the first commit: written only when it is not what `onto` holds.
    pub before: Option<NewCommit>,
    /// Oldest first.
    pub commits: &'a [NewCommit],
    /// A directory that all of the repository must be in, wherever its files point.
    pub within: Option<&'a Path>,
    /// Where the user's Git configuration is found, which may say how files are converted.
    pub surroundings: &'a Surroundings,
}

/// What was written, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The branch.
    pub branch: String,
    /// The commit it names.
    pub tip: ObjectId,
    /// The commit everything follows, if any.
    pub onto: Option<ObjectId>,
    /// The commit of the state before, if one was needed.
    pub before: Option<ObjectId>,
    /// The commits, one for each asked for.
    pub commits: Vec<ObjectId>,
    /// Objects the repository did not hold: commits, trees and blobs.
    pub objects_written: u64,
    /// The directory of the repository that the workspace's files are in; empty for its root.
    pub below: Vec<u8>,
    /// Paths in the workspace that a snapshot could not see, or that only a program could convert, so that its commit keeps
    /// what the one before it holds.
    pub kept: Vec<(Vec<u8>, KeptReason)>,
    /// Where the repository really is, when that is not in the directory that was named.
    pub elsewhere: Option<PathBuf>,
}

/// Writes the commits and makes the branch, or with `dry_run` checks everything and writes nothing. Whatever refuses
/// does so before anything is written; only a lock or a branch that another process makes meanwhile can leave objects
/// without a branch behind. The caller holds the workspace lock, so that the snapshots stay.
pub fn export_commits(store: &ObjectStore, export: &GitExport<'_>, dry_run: bool) -> Result<Exported> {
    let branch = BranchName::new(export.branch)?;
    let repository = GitRepository::open(export.repository, export.within)?;
    refuse_own_store(store, &repository)?;
    branch.check_free(&repository)?;
    let onto = match &export.onto {
        Onto::Nothing => None,
        Onto::Head => repository.head()?,
        Onto::Revision(text) => Some(repository.revision(text)?),
    };
    let place = Placement::of(export.workspace, &repository, onto.as_ref())?;
    let check_in = CheckIn::of(&place.converting.git_dir, export.surroundings)?;
    let mut overlay = Overlay::new(store, &repository, &place, export.workspace, check_in);
    let chain = Chain::new(export, onto, onto.map(|onto| repository.tree_of(&onto)).transpose()?, &mut overlay)?;
    let Overlay { made, converted, taken, kept, .. } = overlay;
    let missing = Missing::find(store, &repository, &chain, CommitParts { made, converted: converted.recipes, taken })?;
    if dry_run {
        missing.objects.iter().try_for_each(|id| copy_object(store, id, None, &|error| store.failed("read", error)))?;
    } else {
        write(store, &repository, &missing)?;
        branch.create(store.disk(), &repository, &chain.tip)?;
    }
    Ok(Exported {
        branch: branch.as_str().to_owned(),
        tip: chain.tip,
        onto,
        before: chain.before,
        commits: chain.commits,
        objects_written: missing.len() as u64,
        below: place.below,
        kept: kept.into_iter().collect(),
        elsewhere: repository.elsewhere(),
    })
}

fn refuse_own_store(store: &ObjectStore, repository: &GitRepository) -> Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    if real(&store.directory().path()) != real(repository.common_dir()) {
        return Ok(());
    }
    Err(Error::new(Code::GitRefused, format!("`{}` is Backsight's own store", repository.named()))
        .with_hint("name a repository of yours"))
}

/// The commits as objects, each following the one before it.
struct Chain {
    before: Option<ObjectId>,
    commits: Vec<ObjectId>,
    tip: ObjectId,
    /// All of them, oldest first, with their bytes.
    objects: Vec<CommitObject>,
}

#[derive(Clone)]
struct CommitObject {
    id: ObjectId,
    content: Vec<u8>,
}

impl Chain {
    fn new(
        export: &GitExport<'_>,
        onto: Option<ObjectId>,
        onto_tree: Option<ObjectId>,
        overlay: &mut Overlay<'_>,
    ) -> Result<Self> {
        let (mut objects, mut tree): (Vec<CommitObject>, _) = (Vec::new(), onto_tree);
        let mut follow = |commit: &NewCommit, composed: ObjectId| {
            let parent = objects.last().map(|parent: &CommitObject| parent.id).or(onto);
            let content = commit_content(commit, &composed, parent.as_ref());
            let id = object_id(ObjectKind::Commit, &content)?;
            objects.push(CommitObject { id, content });
            Ok::<_, Error>(id)
        };
        let mut before = None;
        if let Some(commit) = &export.before {
            let composed = overlay.compose(tree, commit)?;
            if Some(composed) != tree {
                before = Some(follow(commit, composed)?);
            }
            tree = Some(composed);
        }
        let mut commits = Vec::new();
        for commit in export.commits {
            let composed = overlay.compose(tree, commit)?;
            commits.push(follow(commit, composed)?);
            tree = Some(composed);
        }
        match objects.last().map(|commit| commit.id) {
            Some(tip) => Ok(Chain { before, commits, tip, objects }),
            None => Err(Error::new(Code::InvalidRange, "there is no commit to export")
                .with_hint("name at least one snapshot with changes")),
        }
    }
}

/// The bytes of a commit, such that `git fsck --strict` has nothing to say about them.
fn commit_content(commit: &NewCommit, tree: &ObjectId, parent: Option<&ObjectId>) -> Vec<u8> {
    let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
    let author = identity(&commit.author);
    // Git knows no time before 1970.
    let time = commit.time.0.div_euclid(1000).max(0);
    let mut message = commit.message.replace('\0', "");
    if !message.ends_with('\n') {
        message.push('\n');
    }
    format!("tree {tree}\n{parent}author {author} {time} +0000\ncommitter {COMMITTER} {time} +0000\n\n{message}")
        .into_bytes()
}

fn identity(person: &Person) -> String {
    let allowed = |text: &str, is_wanted: fn(char) -> bool| -> String {
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).filter(|c| is_wanted(*c)).collect()
    };
    let name = allowed(&person.name, |letter| letter != '<' && letter != '>');
    let email = allowed(&person.email, |letter| letter != '<' && letter != '>' && !letter.is_whitespace());
    let name = if name.trim().is_empty() { "Backsight" } else { name.trim() };
    format!("{name} <{email}>")
}

/// What the repository does not hold.
struct Missing {
    commits: Vec<CommitObject>,
    /// Trees that are in no store.
    trees: Vec<(ObjectId, Vec<u8>)>,
    /// Blobs that are made of the store's.
    converted: Vec<(ObjectId, Recipe)>,
    /// Trees and blobs of the store.
    objects: Vec<ObjectId>,
}

/// What the commits are made of.
struct CommitParts {
    made: BTreeMap<ObjectId, Vec<u8>>,
    converted: BTreeMap<ObjectId, Recipe>,
    taken: HashMap<ObjectId, TakenObject>,
}

impl Missing {
    /// Looks at everything the commits have of snapshots. That the repository holds a tree does not say that it holds what
    /// the tree names: a partial clone may not, nor may one whose garbage is being collected. What a commit keeps of the
    /// one before it is the repository's own.
    fn find(store: &ObjectStore, repository: &GitRepository, chain: &Chain, parts: CommitParts) -> Result<Self> {
        let is_missing = |id: &ObjectId| !repository.objects.contains(id);
        let commits = chain.objects.iter().filter(|commit| is_missing(&commit.id)).cloned().collect();
        let mut seen: HashSet<ObjectId> = parts.made.keys().chain(parts.converted.keys()).copied().collect();
        let trees = parts.made.into_iter().filter(|(id, _)| is_missing(id)).collect();
        let converted = parts.converted.into_iter().filter(|(id, _)| is_missing(id)).collect();
        let mut missing = Missing { commits, trees, converted, objects: Vec::new() };
        let mut taken: Vec<(ObjectId, TakenObject)> = parts.taken.into_iter().collect();
        // The same export writes the same pack.
        taken.sort_unstable_by_key(|(id, _)| *id);
        let mut pending: Vec<(ObjectId, TakenObject, usize)> = taken.into_iter().map(|(id, it)| (id, it, 0)).collect();
        // Everything below a directory that is taken whole, though the directory be taken alone elsewhere.
        let mut entered: HashSet<ObjectId> = HashSet::new();
        while let Some((id, it, depth)) = pending.pop() {
            check_depth(depth, &Contents { tree: Some(id), attributes: None })?;
            if seen.insert(id) && is_missing(&id) {
                missing.objects.push(id);
            }
            let TakenObject::Whole(path) = it else { continue };
            if !entered.insert(id) {
                continue;
            }
            for entry in snapshot_entries(store, &id, &path)? {
                let below = match entry.mode {
                    0o40000 => TakenObject::Whole(join(&path, &entry.name)),
                    _ => TakenObject::Alone,
                };
                pending.push((entry.id, below, depth + 1));
            }
        }
        Ok(missing)
    }

    fn len(&self) -> usize {
        self.commits.len() + self.trees.len() + self.converted.len() + self.objects.len()
    }
}

/// The entries of a snapshot's directory, which may all be in a commit.
pub(crate) fn snapshot_entries(store: &ObjectStore, tree: &ObjectId, path: &[u8]) -> Result<Vec<RawEntry>> {
    let is_known = |entry: &RawEntry| matches!(entry.mode, 0o40000 | 0o100644 | 0o100664 | 0o100755 | 0o120000);
    let entries = parse_tree(&store.read_tree(tree)?)
        .filter(|entries| entries.iter().all(is_known))
        .ok_or_else(|| damaged(tree, "is not a tree Backsight can read"))?;
    for entry in &entries {
        refuse_reserved(entry, &join(path, &entry.name))?;
        if !is_safe_name(&entry.name) {
            return Err(damaged(tree, "is not a tree Backsight can read"));
        }
    }
    Ok(entries)
}

/// Refuses a tree that Git would not check out: it would be of no use to anybody as a commit.
fn refuse_reserved(entry: &RawEntry, path: &[u8]) -> Result<()> {
    let is_reserved = entry.name.split(|&byte| byte == b'\\').any(is_dot_git)
        || (entry.mode == 0o120000 && entry.name.eq_ignore_ascii_case(b".gitmodules"));
    if !is_reserved {
        return Ok(());
    }
    Err(Error::new(Code::GitRefused, format!("Git refuses a commit that holds `{}`", quote(path)))
        .with_hint("rename or exclude it, and export the snapshots made after that"))
}

/// Whether some system takes the name for `.git`: as `is_alias` says, by the short name and the stream names that Windows
/// gives it, or by the dots and spaces that it cuts off.
fn is_dot_git(name: &[u8]) -> bool {
    let stem = name.split(|&byte| byte == b':').next().unwrap_or_default();
    is_alias(without_end(stem), ".git") || is_alias(without_end(stem), "git~1")
}

fn write(store: &ObjectStore, repository: &GitRepository, missing: &Missing) -> Result<()> {
    if missing.len() == 0 {
        return Ok(());
    }
    let failed = |error| repository.failed("write to", error);
    add_pack(store.disk(), repository, |writer| {
        for commit in &missing.commits {
            writer.append(&PackEntry::new(commit.id, ObjectKind::Commit, &commit.content)).map_err(failed)?;
        }
        for (id, content) in &missing.trees {
            writer.append(&PackEntry::new(*id, ObjectKind::Tree, content)).map_err(failed)?;
        }
        missing.converted.iter().try_for_each(|(id, recipe)| recipe.append(store, id, writer, &failed))?;
        missing.objects.iter().try_for_each(|id| copy_object(store, id, Some(&mut *writer), &failed))
    })
}

/// Reads an object of the store, whole or as a stream, and appends it to the pack if there is one.
fn copy_object(
    store: &ObjectStore,
    id: &ObjectId,
    writer: Option<&mut PackWriter>,
    failed: &dyn Fn(io::Error) -> Error,
) -> Result<()> {
    match (LargeBlob::open(store, id)?, writer) {
        (Some(blob), None) => blob.copy(&mut io::sink(), failed),
        (Some(blob), Some(writer)) => append_blob(writer, id, blob.size, |output| blob.copy(output, failed), failed),
        (None, writer) => {
            let (kind, content) = store.read(id)?;
            match writer {
                Some(writer) => writer.append(&PackEntry::new(*id, kind, &content)).map_err(failed),
                None => Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_holds_nothing_that_ends_it_early() {
        let identity = |name: &str, email: &str| identity(&Person { name: name.into(), email: email.into() });
        assert_eq!(identity("Ada", "ada@example.org"), "Ada <ada@example.org>");
        assert_eq!(identity(" A<d>a\nL\0 ", "a d\n@<x>"), "Ada L <ad@x>");
        assert_eq!(identity("<>", ""), "Backsight <>");
    }

    #[test]
    fn names_that_some_system_takes_for_dot_git_are_known() {
        for name in [".git", ".GIT", "git~1", "GIT~1", ".git.", ".git . ", ".Git::$INDEX_ALLOCATION", ".g\u{200c}it"] {
            assert!(is_dot_git(name.as_bytes()), "{name}");
        }
        for name in [".gitignore", "git", ".git2", "a.git", "git~10", ".github", ""] {
            assert!(!is_dot_git(name.as_bytes()), "{name}");
        }
    }
}
