//! A tree of files that looks like a real project, the same on every machine: nested directories of a dozen files,
//! sizes from a log-normal distribution, text that compresses, a few binaries, executables and symlinks, ignore rules
//! and a directory they match.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::Result;
use crate::random::Random;
use crate::source::Vocabulary;

/// The directory the tree's own `.gitignore` matches.
pub const IGNORED: &str = "build";

/// How large a tree to make.
#[derive(Clone, Copy)]
pub struct Shape {
    /// How many files, ignored ones not counted.
    pub files: usize,
    /// How many bytes they hold together, near enough.
    pub bytes: u64,
    /// Decides everything else.
    pub seed: u64,
}

/// A tree on disk.
pub struct Tree {
    /// Where.
    pub root: PathBuf,
    /// Every regular file that is not ignored, relative to the root.
    pub files: Vec<PathBuf>,
    /// Of these, the text files.
    pub texts: Vec<PathBuf>,
    /// The bytes of all files.
    pub bytes: u64,
}

impl Tree {
    /// Writes the tree; `root` must not exist.
    pub fn generate(root: &Path, shape: Shape) -> Result<Tree> {
        let plan = plan(shape);
        for directory in &plan.directories {
            fs::create_dir_all(root.join(directory))?;
        }
        let vocabulary = Vocabulary::new(shape.seed);
        plan.entries.par_iter().try_for_each(|entry| write(root, entry, &vocabulary))?;
        write_ignored(root, shape, &vocabulary)?;
        let files: Vec<&Entry> = plan.entries.iter().filter(|entry| entry.kind != Kind::Symlink).collect();
        Ok(Tree {
            root: root.to_owned(),
            texts: files.iter().filter(|entry| entry.kind == Kind::Text).map(|entry| entry.path.clone()).collect(),
            bytes: files.iter().map(|entry| entry.size as u64).sum(),
            files: files.into_iter().map(|entry| entry.path.clone()).collect(),
        })
    }

    /// Adds `line` to the end of a file, as an editor would save it.
    pub fn append(&self, path: &Path, line: &str) -> Result<()> {
        Ok(fs::File::options().append(true).open(self.root.join(path))?.write_all(line.as_bytes())?)
    }
}

/// Small edits, one after another, the same on every tree they are made on.
pub struct Edits {
    random: Random,
    count: u64,
}

impl Edits {
    /// The edits that `seed` decides.
    pub fn new(seed: u64) -> Self {
        Edits { random: Random::new(seed), count: 0 }
    }

    /// Adds a line to one text file of every tree and answers which; the trees must have the same files.
    pub fn next(&mut self, trees: &[&Tree]) -> Result<PathBuf> {
        let path = trees[0].texts[self.random.range(0, trees[0].texts.len())].clone();
        self.count += 1;
        let line = format!("// edit {} {:016x}\n", self.count, self.random.next());
        trees.iter().try_for_each(|tree| tree.append(&path, &line))?;
        Ok(path)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Ignore,
    Binary,
    Symlink,
}

struct Entry {
    path: PathBuf,
    kind: Kind,
    size: usize,
    executable: bool,
    seed: u64,
}

struct Plan {
    directories: Vec<PathBuf>,
    entries: Vec<Entry>,
}

/// Decides every name, kind and size; writes nothing.
fn plan(shape: Shape) -> Plan {
    let mut random = Random::new(shape.seed);
    let vocabulary = Vocabulary::new(shape.seed);
    let mut directories = vec![PathBuf::new()];
    let mut entries = vec![entry(PathBuf::from(".gitignore"), Kind::Ignore, 0, 0)];
    while entries.len() < shape.files {
        let directory = match directories.len() {
            1 if entries.len() == 1 => PathBuf::new(),
            count => {
                // Parents from the older part of the list: a tree five to eight levels deep.
                let parent = &directories[random.range(count / 8, count / 3 + 1)];
                let child = parent.join(format!("{}_{count}", vocabulary.word(&mut random)));
                directories.push(child.clone());
                child
            }
        };
        let room = shape.files - entries.len();
        for _ in 0..random.range(8, 16).min(room) {
            let index = entries.len() as u64;
            entries.push(draw(&directory, index, shape.seed, &vocabulary));
        }
    }
    scale(&mut entries, shape.bytes);
    Plan { directories, entries }
}

fn draw(directory: &Path, index: u64, seed: u64, vocabulary: &Vocabulary) -> Entry {
    let mut random = Random::of(seed, index);
    let (kind, extension) = match random.range(0, 1_000) {
        0..2 => (Kind::Symlink, "link"),
        2..12 => (Kind::Binary, "png"),
        _ => (Kind::Text, ["rs", "ts", "py", "md", "json"][random.range(0, 5)]),
    };
    let name = format!("{}_{index}.{extension}", vocabulary.word(&mut random));
    let size = (1_000.0 * (1.2 * random.normal()).exp()) as usize;
    Entry { executable: random.range(0, 100) == 0, ..entry(directory.join(name), kind, size, random.next()) }
}

fn entry(path: PathBuf, kind: Kind, size: usize, seed: u64) -> Entry {
    Entry { path, kind, size, executable: false, seed }
}

/// Stretches all sizes so that they add up to `bytes`.
fn scale(entries: &mut [Entry], bytes: u64) {
    let drawn: usize = entries.iter().map(|entry| entry.size).sum();
    let factor = bytes as f64 / drawn.max(1) as f64;
    for entry in entries {
        entry.size = (entry.size as f64 * factor) as usize;
    }
}

fn write(root: &Path, entry: &Entry, vocabulary: &Vocabulary) -> Result<()> {
    let path = root.join(&entry.path);
    let mut random = Random::new(entry.seed);
    match entry.kind {
        Kind::Symlink => return Ok(symlink(format!("../{:x}", entry.seed), path)?),
        Kind::Ignore => fs::write(&path, format!("/{IGNORED}/\n*.log\n.env\n"))?,
        Kind::Text => fs::write(&path, vocabulary.text(entry.size, &mut random))?,
        Kind::Binary => {
            let bytes: Vec<u8> = (0..entry.size.div_ceil(8)).flat_map(|_| random.next().to_le_bytes()).collect();
            fs::write(&path, bytes)?;
        }
    }
    if entry.executable {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// One file for every hundred of the tree, where no snapshot should look.
fn write_ignored(root: &Path, shape: Shape, vocabulary: &Vocabulary) -> Result<()> {
    fs::create_dir(root.join(IGNORED))?;
    for index in 0..shape.files / 100 {
        let text = vocabulary.text(500, &mut Random::of(shape.seed, index as u64));
        fs::write(root.join(IGNORED).join(format!("{index}.o")), text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Shape = Shape { files: 500, bytes: 500_000, seed: 7 };

    #[test]
    fn the_same_seed_makes_the_same_tree_of_the_size_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let first = Tree::generate(&directory.path().join("a"), SMALL).unwrap();
        let second = Tree::generate(&directory.path().join("b"), SMALL).unwrap();
        assert_eq!(first.files, second.files);
        assert!((495..=500).contains(&first.files.len()), "{}", first.files.len());
        assert!((490_000..=500_000).contains(&first.bytes), "{}", first.bytes);
        for file in &first.files {
            assert_eq!(fs::read(first.root.join(file)).unwrap(), fs::read(second.root.join(file)).unwrap());
        }
    }
}
