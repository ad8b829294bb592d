//! The commits of the user's repository, read as they are: without running `git`, without writing or locking anything, and
//! bounded, since the newest are what a reader of the timeline wants.

use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::Path;

use backsight_core::{Code, Error, ObjectId, Result, Timestamp};

use crate::git_objects::MAX_COMMIT;
use crate::git_repository::GitRepository;
use crate::object::ObjectKind;

/// Commits that are read at most for one answer.
const MOST_READ: usize = 5_000;
/// Letters of a subject or a name at most.
const LONGEST: usize = 200;

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitCommit {
    /// Its id.
    pub id: ObjectId,
    /// When it was committed.
    pub at: Timestamp,
    /// Who wrote it; without the address.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// The commits it follows: none for the first, several for a merge.
    pub parents: Vec<ObjectId>,
}

/// What was found of a repository's commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitCommits {
    /// Whether there is a repository at all.
    pub is_there: bool,
    /// The newest first.
    pub commits: Vec<GitCommit>,
    /// Some older ones may be left out.
    pub is_cut: bool,
}

/// The commits that `HEAD` of the repository around a directory reaches, from one time to another.
pub fn git_commits(directory: &Path, since: Timestamp, until: Timestamp, limit: usize) -> Result<GitCommits> {
    let Some(named) = directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()) else {
        return Ok(GitCommits::default());
    };
    let repository = match GitRepository::open(named, None) {
        Err(error) if error.code() == Code::RepositoryNotFound => return Ok(GitCommits::default()),
        other => other?,
    };
    // A `.git` file leads wherever its writer wants.
    if let Some((place, owner)) = repository.of_another_user() {
        let message = format!("the repository of `{}` is in `{}`, of user {owner}", named.display(), place.display());
        return Err(Error::new(Code::GitRefused, message).with_hint("work as that user, or clone the repository"));
    }
    let mut found = GitCommits { is_there: true, ..GitCommits::default() };
    let mut waiting: BinaryHeap<(i64, ObjectId)> = BinaryHeap::new();
    let mut held: HashMap<ObjectId, GitCommit> = HashMap::new();
    let mut known: HashSet<ObjectId> = HashSet::new();
    let Some(head) = repository.head()? else { return Ok(found) };
    let mut next = vec![head];
    loop {
        for id in next.drain(..).filter(|id| known.insert(*id)) {
            // A shallow clone ends where its parents are not; so does one whose objects are damaged.
            if let Some(commit) = commit_at(&repository, &id)? {
                waiting.push((commit.at.0, id));
                held.insert(id, commit);
            }
        }
        let Some((at, id)) = waiting.pop() else { return Ok(found) };
        if found.commits.len() >= limit || known.len() > MOST_READ {
            found.is_cut = true;
            return Ok(found);
        }
        // Clocks differ a little between people: what is a day older has nothing newer behind it.
        if at < since.0.saturating_sub(86_400_000) {
            return Ok(found);
        }
        let Some(commit) = held.remove(&id) else { continue };
        next.extend(&commit.parents);
        if (since.0..=until.0).contains(&at) {
            found.commits.push(commit);
        }
    }
}

fn commit_at(repository: &GitRepository, id: &ObjectId) -> Result<Option<GitCommit>> {
    match repository.objects.read(id, MAX_COMMIT)? {
        Some((ObjectKind::Commit, content)) => Ok(parse(*id, &content)),
        _ => Ok(None),
    }
}

/// A commit as Git writes it; nothing when it is none.
pub(crate) fn parse(id: ObjectId, content: &[u8]) -> Option<GitCommit> {
    let end = content.windows(2).position(|pair| pair == b"\n\n").unwrap_or(content.len());
    let (head, message) = (&content[..end], content.get(end + 2..).unwrap_or_default());
    let field = |name: &[u8]| head.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name));
    let (author, committer) = (field(b"author ")?, field(b"committer ")?);
    let seconds = |line: &[u8]| -> Option<i64> {
        let rest = &line[line.iter().rposition(|byte| *byte == b'>')? + 1..];
        String::from_utf8_lossy(rest).split_whitespace().next()?.parse().ok()
    };
    let name = author.split(|byte| *byte == b'<').next().unwrap_or_default();
    let parents = head.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"parent "));
    let parents = parents.filter_map(|hex| ObjectId::from_hex(std::str::from_utf8(hex).ok()?));
    let subject = message.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    Some(GitCommit {
        id,
        at: Timestamp(seconds(committer)?.saturating_mul(1000)),
        author: text(name),
        subject: text(subject),
        parents: parents.collect(),
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii()).chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_and_nonsense_is_none() {
        let id = ObjectId::from_hex("61780798228d17af2d34fce4cfbdf35556832472").unwrap();
        let content = format!(
            "tree {id}\nparent {id}\nparent {id}\nauthor A. <B> Smith <a@b.c> 1700000000 +0100\ncommitter C <c@d> 1700000060 \
             +0000\ngpgsig x\n y\n\nThe subject\n\nmore\n"
        );
        let commit = parse(id, content.as_bytes()).unwrap();
        assert_eq!((commit.at.0, commit.parents.len()), (1_700_000_060_000, 2));
        assert_eq!((commit.author.as_str(), commit.subject.as_str()), ("A.", "The subject"));
        for wrong in [
            "",
            "tree\n\n",
            "author a <b> x\ncommitter a <b> y\n\nz",
            "author a\ncommitter > 99999999999999999999 +0\n\n",
        ] {
            assert_eq!(parse(id, wrong.as_bytes()), None, "{wrong}");
        }
    }
}
