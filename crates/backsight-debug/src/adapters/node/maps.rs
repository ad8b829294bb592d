//! Source maps: compilers and bundlers leave them with what they make, so that breakpoints, stacks and steps are about what
//! was written. They are read from the script itself or from the file beside it.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use backsight_core::source_map::{SourceMap, data_text};

use super::place;

/// A longer map is not read.
const LONGEST: u64 = 128 << 20;

/// A project with more files is not looked through for scripts.
const MOST_FILES: usize = 20_000;

/// A script that was made of other files.
pub(super) struct Mapped {
    map: SourceMap,
    /// The files of the map, where they exist.
    files: Vec<Option<PathBuf>>,
}

/// A place in a script, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub line: u64,
    pub column: u64,
    /// The line that was written, from 1.
    pub written: u32,
}

impl Mapped {
    /// The map of a script, by the address of the script and what it says of its map.
    pub(super) fn read(address: &str, reference: &str) -> Option<Mapped> {
        let script = PathBuf::from(place::file_of(address));
        let folder = script.parent().unwrap_or(Path::new("/"));
        let (text, folder) = match reference.starts_with("data:") {
            true => (data_text(reference)?, folder.to_owned()),
            false => {
                let file = folder.join(place::file_of(reference));
                let mut text = String::new();
                backsight_core::bounded::open(&file).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
                (text, file.parent()?.to_owned())
            }
        };
        let map = SourceMap::parse(&text)?;
        let files = map.sources().map(|source| resolve(&folder, &source)).collect();
        Some(Mapped { map, files })
    }

    /// Where the code at a place of the script was written: the file, and the line from 1.
    pub(super) fn original(&self, line: u64, column: u64) -> Option<(String, u64)> {
        let found = self.map.place(u32::try_from(line).ok()?, u32::try_from(column).ok()?)?;
        let file = self.files.get(found.source)?.as_ref()?;
        Some((file.to_string_lossy().into_owned(), u64::from(found.line) + 1))
    }

    /// Whether it is made of a file, among others.
    pub(super) fn holds(&self, file: &Path) -> bool {
        self.files.iter().flatten().any(|one| one == file)
    }

    /// Where a line of a file begins in the script, or the next line that does something; lines from 1.
    pub(super) fn generated(&self, file: &Path, line: u32) -> Option<Spot> {
        let sources = self.files.iter().enumerate().filter(|(_, one)| one.as_deref() == Some(file));
        let found = sources.filter_map(|(source, _)| self.map.generated(source, line.checked_sub(1)?));
        let (at, written) = found.min_by_key(|(_, written)| *written)?;
        Some(Spot { line: u64::from(at.0), column: u64::from(at.1), written: written + 1 })
    }
}

/// Scripts on disk that are made of a file, by what is in its project; none of packages, and none of a project that is too
/// large to look through.
pub(super) fn made_of(file: &Path) -> Vec<(String, Mapped)> {
    let above = file.ancestors().skip(1);
    let is_top = |folder: &&Path| ["package.json", "tsconfig.json"].iter().any(|name| folder.join(name).is_file());
    let Some(top) = above.into_iter().find(is_top) else { return Vec::new() };
    let scripts = scripts_below(top);
    let mapped = scripts.iter().filter_map(|script| {
        let address = place::address_of(script);
        let mapped = Mapped::read(&address, &reference_in(script)?)?;
        (mapped.holds(file) && script != file).then_some((address, mapped))
    });
    mapped.collect()
}

fn scripts_below(top: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders, mut looked_at) = (Vec::new(), vec![top.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > MOST_FILES {
                return Vec::new();
            }
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && name != "node_modules" && !name.starts_with('.') => folders.push(path),
                Ok(kind) if kind.is_file() && [".js", ".cjs", ".mjs"].iter().any(|end| name.ends_with(end)) => {
                    found.push(path)
                }
                _ => {}
            }
        }
    }
    found
}

/// What a script says of its map, in its last lines.
fn reference_in(script: &Path) -> Option<String> {
    const MARK: &str = "sourceMappingURL=";
    let mut text = String::new();
    backsight_core::bounded::open(script).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    let (_, after) = text.rsplit_once(MARK)?;
    after.split_whitespace().next().map(str::to_owned)
}

/// The file that a map means: relative to the map, or to a directory above it, as bundlers name what is in their project.
fn resolve(folder: &Path, source: &str) -> Option<PathBuf> {
    let source = source.split(['?', '#']).next().unwrap_or_default();
    if source.starts_with("file://") {
        return PathBuf::from(place::file_of(source)).canonicalize().ok();
    }
    let inside = match source.split_once("://") {
        // `webpack://shop/./src/cart.ts`: a name, then a path of the project.
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, path)| path).trim_start_matches('/'),
        None => source,
    };
    if let Ok(there) = folder.join(inside).canonicalize() {
        return Some(there);
    }
    let plain: PathBuf = Path::new(inside).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let above = folder.ancestors().skip(1).filter(|above| above.parent().is_some());
    above.map(|above| above.join(&plain)).find_map(|file| file.canonicalize().ok().filter(|file| file.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_both_directions_and_files_where_they_are() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(root.join("dist")).unwrap();
        std::fs::write(root.join("src/one.ts"), "a\n\nb\n").unwrap();
        // Line 0 of the script is line 0 of the file, line 1 is line 2.
        for source in ["../src/one.ts", "webpack://shop/./src/one.ts", &format!("file://{}/src/one.ts", root.display())]
        {
            let map = format!(r#"{{"version":3,"sources":["{source}"],"names":[],"mappings":"AAAA;AAEA"}}"#);
            std::fs::write(root.join("dist/one.js.map"), map).unwrap();
            let address = format!("file://{}/dist/one.js", root.display());
            let mapped = Mapped::read(&address, "one.js.map").unwrap();
            let file = root.join("src/one.ts");
            assert_eq!(mapped.original(1, 4), Some((file.to_string_lossy().into_owned(), 3)), "{source}");
            assert_eq!(mapped.generated(&file, 2), Some(Spot { line: 1, column: 0, written: 3 }), "{source}");
            assert_eq!((mapped.generated(&file, 4), mapped.holds(&root.join("dist/one.js"))), (None, false));
        }
        assert!(Mapped::read("file:///nowhere/x.js", "x.js.map").is_none());
    }
}
