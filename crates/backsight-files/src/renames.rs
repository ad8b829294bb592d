//! Which of the files that came are files that went: the same content first, then the same name, then any two that are
//! alike, as Git finds them. What it may cost is bounded, and what was not compared is counted.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{ObjectId, RelPath};
use backsight_diff::Fingerprint;

use crate::compare::Change;
use crate::tree::Node;

/// How much of the larger of two files must be in both, in percent.
const SIMILAR: u8 = 50;
/// The same for two files of one name, of which no others are asked: half of the way to identity, as in Git.
const SIMILAR_NAMESAKES: u8 = 75;
/// How many pairs of files are compared.
const MAX_PAIRS: usize = 300 * 300;
/// How many bytes are read in all: a checkout of another branch must not make `track` slow.
const MAX_BYTES: usize = 32 << 20;
/// The largest file that is compared with others.
pub const MAX_COMPARED: u64 = 16 << 20;

/// Moves of files among changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renames {
    /// Where each came from, by where it is now.
    pub sources: BTreeMap<RelPath, RelPath>,
    /// Added files that were not compared with every deleted one: too many, too large or not to be read. Where one of
    /// them was moved and edited, it is an addition and a deletion here.
    pub uncompared: u64,
}

/// How the bytes of a file are read, given where it is and its content's id; nothing for one that is too large, or gone.
pub type ReadText<'a> = &'a dyn Fn(&RelPath, &ObjectId) -> Option<Vec<u8>>;

/// The contents of both sides.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// Of files that were there.
    pub before: ReadText<'a>,
    /// Of files that are there.
    pub after: ReadText<'a>,
}

/// The moves among `changes`. Contents are read only where a file went and another came.
pub fn renames(changes: &[Change], texts: &Texts<'_>) -> Renames {
    let mut search = Search::of(changes);
    search.pair_identical();
    if search.gone.is_empty() || search.came.is_empty() {
        return Renames { sources: search.sources, uncompared: 0 };
    }
    let mut prints = Prints { texts, known: BTreeMap::new(), bytes: 0 };
    search.pair_namesakes(&mut prints);
    let uncompared = search.pair_similar(&mut prints);
    Renames { sources: search.sources, uncompared }
}

type Files<'a> = BTreeMap<&'a RelPath, ObjectId>;

struct Search<'a> {
    gone: Files<'a>,
    came: Files<'a>,
    sources: BTreeMap<RelPath, RelPath>,
}

impl<'a> Search<'a> {
    fn of(changes: &'a [Change]) -> Self {
        let mut search = Search { gone: Files::new(), came: Files::new(), sources: BTreeMap::new() };
        for Change { path, before, after } in changes {
            match (before, after) {
                (Some(Node::File { id, .. }), None) if *id != EMPTY_BLOB => drop(search.gone.insert(path, *id)),
                (None, Some(Node::File { id, .. })) if *id != EMPTY_BLOB => drop(search.came.insert(path, *id)),
                _ => {}
            }
        }
        search
    }

    fn pair(&mut self, from: &'a RelPath, to: &'a RelPath) {
        self.gone.remove(from);
        self.came.remove(to);
        self.sources.insert(to.clone(), from.clone());
    }

    /// Files of the same content: the only two there are, else those that also have the same name. Where that leaves
    /// several, nothing tells which became which, and none of them is compared with others.
    fn pair_identical(&mut self) {
        let (gone, came) = (by(&self.gone, |_, id| *id), by(&self.came, |_, id| *id));
        let mut ambiguous: BTreeSet<ObjectId> = BTreeSet::new();
        for (id, froms) in gone {
            let Some(tos) = came.get(&id) else { continue };
            match (&froms[..], &tos[..]) {
                ([from], [to]) => self.pair(from, to),
                _ => {
                    let names = |paths: &[&'a RelPath]| {
                        by(&paths.iter().map(|path| (*path, id)).collect(), |path, _| path.name())
                    };
                    let tos = names(tos);
                    for (name, from) in names(&froms) {
                        if let ([from], Some([to])) = (&from[..], tos.get(name).map(Vec::as_slice)) {
                            self.pair(from, to);
                        }
                    }
                    ambiguous.insert(id);
                }
            }
        }
        self.gone.retain(|_, id| !ambiguous.contains(id));
        self.came.retain(|_, id| !ambiguous.contains(id));
    }

    /// Files of a name that one file had and one has.
    fn pair_namesakes(&mut self, prints: &mut Prints<'a, '_>) {
        let (gone, came) = (by(&self.gone, |path, _| path.name()), by(&self.came, |path, _| path.name()));
        for (name, from) in gone {
            if let ([from], Some([to])) = (&from[..], came.get(name).map(Vec::as_slice))
                && prints
                    .similarity((from, self.gone[from]), (to, self.came[to]))
                    .is_some_and(|s| s >= SIMILAR_NAMESAKES)
            {
                self.pair(from, to);
            }
        }
    }

    /// Any two, the most alike first. Answers how many were not compared.
    fn pair_similar(&mut self, prints: &mut Prints<'a, '_>) -> u64 {
        if self.gone.len().saturating_mul(self.came.len()) > MAX_PAIRS {
            return self.came.len() as u64;
        }
        let mut alike = Vec::new();
        let mut uncompared: BTreeSet<&RelPath> = BTreeSet::new();
        for (to, after) in &self.came {
            for (from, before) in &self.gone {
                match prints.similarity((from, *before), (to, *after)) {
                    Some(similarity) if similarity >= SIMILAR => {
                        let namesakes = from.name() == to.name();
                        alike.push((std::cmp::Reverse((similarity, namesakes)), *from, *to));
                    }
                    Some(_) => {}
                    None => drop(uncompared.insert(to)),
                }
            }
        }
        alike.sort_unstable();
        for (_, from, to) in alike {
            if self.gone.contains_key(from) && self.came.contains_key(to) {
                self.pair(from, to);
            }
        }
        uncompared.into_iter().filter(|path| self.came.contains_key(path)).count() as u64
    }
}

fn by<'a, K: Ord>(files: &Files<'a>, key: impl Fn(&'a RelPath, &ObjectId) -> K) -> BTreeMap<K, Vec<&'a RelPath>> {
    let mut groups: BTreeMap<K, Vec<&'a RelPath>> = BTreeMap::new();
    files.iter().for_each(|(path, id)| groups.entry(key(path, id)).or_default().push(path));
    groups
}

/// Contents that were read, as far as the comparison needs them.
struct Prints<'a, 't> {
    texts: &'t Texts<'t>,
    known: BTreeMap<(bool, &'a RelPath), Option<Fingerprint>>,
    bytes: usize,
}

impl<'a> Prints<'a, '_> {
    fn similarity(&mut self, from: (&'a RelPath, ObjectId), to: (&'a RelPath, ObjectId)) -> Option<u8> {
        self.read(true, from);
        self.read(false, to);
        let (old, new) = (self.known.get(&(true, from.0))?.as_ref()?, self.known.get(&(false, to.0))?.as_ref()?);
        Some(if old.bound(new) < SIMILAR { 0 } else { old.similarity(new) })
    }

    fn read(&mut self, is_before: bool, (path, id): (&'a RelPath, ObjectId)) {
        let (texts, bytes) = (self.texts, &mut self.bytes);
        self.known.entry((is_before, path)).or_insert_with(|| {
            if *bytes > MAX_BYTES {
                return None;
            }
            let text = if is_before { (texts.before)(path, &id) } else { (texts.after)(path, &id) };
            let text = text.filter(|text| text.len() as u64 <= MAX_COMPARED)?;
            *bytes += text.len();
            Some(Fingerprint::of(&text))
        });
    }
}

/// Every empty file has the same content, which says nothing about where it came from.
const EMPTY_BLOB: ObjectId = ObjectId::from_bytes([
    0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4, 0x8c, 0x53,
    0x91,
]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;
    use crate::object::{ObjectKind, object_id};

    /// Deletes and adds files of these contents; answers the moves as `from > to` and what was not compared.
    fn found(gone: &[(&str, String)], came: &[(&str, String)]) -> (Vec<String>, u64) {
        let node = |text: &String| {
            let id = object_id(ObjectKind::Blob, text.as_bytes()).unwrap();
            Node::File { mode: 0o644, id, access: Access::default() }
        };
        let path = |path: &str| RelPath::new(path).unwrap();
        let deleted = gone.iter().map(|(at, text)| Change { path: path(at), before: Some(node(text)), after: None });
        let added = came.iter().map(|(at, text)| Change { path: path(at), before: None, after: Some(node(text)) });
        let changes: Vec<Change> = deleted.chain(added).collect();
        let read = |files: &[(&str, String)], at: &RelPath| {
            files.iter().find(|(path, _)| path.as_bytes() == at.as_bytes()).map(|(_, text)| text.clone().into_bytes())
        };
        let texts = Texts { before: &|at, _| read(gone, at), after: &|at, _| read(came, at) };
        let renames = renames(&changes, &texts);
        (renames.sources.iter().map(|(to, from)| format!("{from} > {to}")).collect(), renames.uncompared)
    }

    fn lines(name: &str, changed: usize) -> String {
        (0..100).map(|line| format!("{name} {line}{}\n", if line < changed { " edited" } else { "" })).collect()
    }

    #[test]
    fn a_file_that_was_moved_and_edited_is_found() {
        assert_eq!(found(&[("old", lines("a", 0))], &[("new", lines("a", 10))]), (vec!["old > new".to_owned()], 0));
        assert_eq!(found(&[("old", lines("a", 0))], &[("new", lines("a", 90))]), (vec![], 0));
        assert_eq!(found(&[("old", lines("a", 0))], &[("new", lines("b", 0))]), (vec![], 0));
    }

    #[test]
    fn the_most_alike_belong_together() {
        let gone = [("a", lines("x", 0)), ("b", lines("x", 20))];
        let came = [("c", lines("x", 21)), ("d", lines("x", 1))];
        assert_eq!(found(&gone, &came).0, ["b > c", "a > d"]);
    }

    #[test]
    fn a_name_tells_equal_contents_apart_and_nothing_else_does() {
        let same = || lines("x", 0);
        let moved = found(&[("p/a", same()), ("p/b", same())], &[("q/a", same()), ("q/b", same())]);
        assert_eq!(moved, (vec!["p/a > q/a".to_owned(), "p/b > q/b".to_owned()], 0));
        assert_eq!(found(&[("a", same()), ("b", same())], &[("c", same())]), (vec![], 0));
        assert_eq!(found(&[("a", String::new())], &[("b", String::new())]), (vec![], 0));
    }

    #[test]
    fn a_namesake_is_preferred_to_another_file() {
        let gone = [("p/mod.rs", lines("x", 0)), ("p/other.rs", lines("x", 9))];
        let came = [("q/mod.rs", lines("x", 8))];
        assert_eq!(found(&gone, &came).0, ["p/mod.rs > q/mod.rs"]);
    }

    #[test]
    fn what_was_not_compared_is_counted() {
        let names: Vec<String> = (0..301).map(|number| format!("{number}")).collect();
        let gone: Vec<(&str, String)> = names.iter().map(|name| (name.as_str(), lines(name, 0))).collect();
        let news: Vec<String> = names.iter().map(|name| format!("new{name}")).collect();
        let came: Vec<(&str, String)> =
            news.iter().zip(&names).map(|(new, name)| (new.as_str(), lines(name, 1))).collect();
        assert_eq!(found(&gone, &came), (vec![], 301));
        // Names find them however many there are.
        let news: Vec<String> = names.iter().map(|name| format!("new/{name}")).collect();
        let came: Vec<(&str, String)> =
            news.iter().zip(&names).map(|(new, name)| (new.as_str(), lines(name, 1))).collect();
        let (moves, uncompared) = found(&gone, &came);
        assert_eq!((moves.len(), uncompared), (301, 0));
        let huge = "x".repeat(MAX_COMPARED as usize + 1);
        assert_eq!(found(&[("a", huge.clone())], &[("b", huge + "y")]), (vec![], 1));
    }
}
