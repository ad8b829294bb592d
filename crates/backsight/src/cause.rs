//! Which recorded step explains something that broke. Pure: what broke is given as places and words, the steps with what
//! they changed, and the answer is a ranking with its evidence. Everything here is an inference; only a run on the files of
//! the steps (`bisect`) proves anything.

mod imports;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, RangeInclusive};

use backsight_core::RelPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use imports::imports;
pub(crate) use words::words;

/// Frames that are looked at, innermost first: further out is the framework, or everything.
const FRAMES: usize = 8;
/// Reasons that are shown.
const REASONS: usize = 3;
/// What each reason weighs: the very line, the file, a word, a file that is imported, one that such a file imports, a word
/// beside the change, being the latest.
const LINE: u32 = 160;
const FILE: u32 = 70;
const WORD: u32 = 60;
const IMPORT: u32 = 60;
const FURTHER: u32 = 35;
const NEAR: u32 = 30;
const LATEST: u32 = 12;
/// What remains of the weight of a file to which lines were only added.
const ADDED: u32 = 3;

/// Something that broke.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble {
    /// Where, innermost first: a file of the workspace, or a path or address, and a line; 0 when it is unknown.
    pub(crate) places: Vec<(String, u32)>,
    /// Words of it that may stand in the code: identifiers that it quotes, parts of an address.
    pub(crate) words: BTreeSet<String>,
}

/// A step that can have done it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidate {
    /// Files it changed.
    pub(crate) files: Vec<TouchedText>,
}

/// One file that a step changed.
#[derive(Clone, Debug)]
pub(crate) struct TouchedText {
    /// Which.
    pub(crate) path: RelPath,
    /// The lines it has new, as ranges of the file after the step; a removal is the lines around it.
    pub(crate) lines: Vec<RangeInclusive<u32>>,
    /// Words of the lines that it removed and added.
    pub(crate) words: BTreeSet<String>,
    /// Words of the lines beside them: a route stands before what answers it.
    pub(crate) near: BTreeSet<String>,
    /// What was done to it.
    pub(crate) how: Touch,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Lines were added and none changed or removed: what was there still is, so it breaks seldom what is elsewhere.
    Added,
    /// Lines were changed or removed.
    Changed,
    /// It is gone.
    Removed,
}

/// Why a step is suspected, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// The place of the error is a line that the step changed.
    Line,
    /// The place of the error is in a file that the step changed.
    File,
    /// The step changed a line with a word that the error names.
    Word,
    /// A file at the place of the error imports a file that the step changed.
    Import,
    /// The step changed lines beside one with a word that the error names.
    Near,
    /// It is the last step before it.
    Time,
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Evidence {
    /// What kind.
    pub kind: EvidenceKind,
    /// `src/Cart.jsx:19`, the word, or the file that is imported.
    pub at: String,
}

/// A step with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Suspicion {
    /// Which of the candidates.
    pub(crate) candidate: usize,
    /// How much speaks for it.
    pub(crate) weight: u32,
    /// Why, the strongest first.
    pub(crate) evidence: Vec<Evidence>,
}

/// The candidates with something against them, the most suspicious first. They are given oldest first, and the last one is
/// the latest before the trouble. `imported` says which files a file imports.
pub(crate) fn rank<C: Deref<Target = Candidate>>(
    trouble: &Trouble,
    candidates: &[C],
    imported: &dyn Fn(&RelPath) -> BTreeSet<RelPath>,
) -> Vec<Suspicion> {
    let named: Vec<BTreeMap<&str, EvidenceKind>> =
        candidates.iter().map(|candidate| named(trouble, candidate)).collect();
    let is_code = |candidate: &C| candidate.files.iter().any(|file| !is_prose(&file.path));
    let latest = candidates.iter().rposition(is_code).or(candidates.len().checked_sub(1));
    let suspicion = |(number, candidate): (usize, &C)| {
        let (mut weight, mut evidence) = by_place(trouble, candidate, imported);
        for (word, kind) in &named[number] {
            // A word that many of the steps changed says little of each.
            let steps = named.iter().filter(|others| others.contains_key(word)).count();
            let worth = if *kind == EvidenceKind::Word { WORD } else { NEAR };
            weight += worth / u32::try_from(steps.max(1)).unwrap_or(u32::MAX);
            evidence.push(Evidence { kind: *kind, at: (*word).to_owned() });
        }
        if Some(number) == latest {
            weight += LATEST;
            evidence.push(Evidence { kind: EvidenceKind::Time, at: String::new() });
        }
        evidence.sort_by_key(|evidence| evidence.kind);
        evidence.truncate(REASONS);
        Suspicion { candidate: number, weight, evidence }
    };
    let mut found: Vec<Suspicion> = candidates.iter().enumerate().map(suspicion).collect();
    found.retain(|suspicion| suspicion.weight > 0);
    // The later of two that are as suspicious: what broke long ago would have been seen.
    found.sort_by_key(|suspicion| (std::cmp::Reverse(suspicion.weight), std::cmp::Reverse(suspicion.candidate)));
    found
}

/// What the places of the trouble say of a step.
fn by_place(
    trouble: &Trouble,
    candidate: &Candidate,
    imported: &dyn Fn(&RelPath) -> BTreeSet<RelPath>,
) -> (u32, Vec<Evidence>) {
    let (mut weight, mut evidence) = (0, Vec::new());
    for file in &candidate.files {
        if let Some((worth, kind, at)) = place(trouble, file) {
            weight = worth.max(weight);
            evidence.push(Evidence { kind, at });
        } else if let Some((worth, by)) = imported_by(trouble, file, imported) {
            weight = worth.max(weight);
            evidence.push(Evidence { kind: EvidenceKind::Import, at: format!("{} by {by}", file.path) });
        }
    }
    (weight, evidence)
}

/// How close the trouble is to what a step did to a file: further out in the stack is less close.
fn place(trouble: &Trouble, file: &TouchedText) -> Option<(u32, EvidenceKind, String)> {
    let places = trouble.places.iter().take(FRAMES).zip(0u32..).filter(|((place, _), _)| is_same(place, &file.path));
    let worth = |((_, line), depth): (&(String, u32), u32)| {
        let is_line = *line > 0 && file.lines.iter().any(|range| range.contains(line));
        let at = if *line > 0 { format!("{}:{line}", file.path) } else { file.path.to_string() };
        match file.how {
            _ if is_line => (LINE - depth * 8, EvidenceKind::Line, at),
            Touch::Removed => (LINE, EvidenceKind::File, at),
            Touch::Changed => (FILE - depth * 4, EvidenceKind::File, at),
            Touch::Added => ((FILE - depth * 4) / ADDED, EvidenceKind::File, at),
        }
    };
    places.map(worth).max_by_key(|(worth, ..)| *worth)
}

/// The file at the place of the trouble that imports this one, by itself or through another.
fn imported_by(
    trouble: &Trouble,
    file: &TouchedText,
    imported: &dyn Fn(&RelPath) -> BTreeSet<RelPath>,
) -> Option<(u32, RelPath)> {
    let part = if file.how == Touch::Added { ADDED } else { 1 };
    let places: Vec<RelPath> = trouble.places.iter().take(FRAMES).filter_map(|(place, _)| known_path(place)).collect();
    let near = places.iter().find(|at| **at != file.path && imported(at).contains(&file.path));
    if let Some(near) = near {
        return Some((IMPORT / part, near.clone()));
    }
    let through = |at: &&RelPath| imported(at).iter().any(|between| imported(between).contains(&file.path));
    places.iter().find(through).map(|far| (FURTHER / part, far.clone()))
}

/// The words of the trouble that stand in lines of code the step changed. What comes without a place, such as a request that
/// fails, is looked for beside them too: with a place, what stands beside a change says nothing that the place does not.
fn named<'a>(trouble: &'a Trouble, candidate: &Candidate) -> BTreeMap<&'a str, EvidenceKind> {
    let has_place = trouble.places.iter().any(|(_, line)| *line > 0);
    let code: Vec<&TouchedText> = candidate.files.iter().filter(|file| !is_prose(&file.path)).collect();
    let kind = |word: &'a String| match word {
        _ if code.iter().any(|file| file.words.contains(word)) => Some((word.as_str(), EvidenceKind::Word)),
        _ if !has_place && code.iter().any(|file| file.near.contains(word)) => {
            Some((word.as_str(), EvidenceKind::Near))
        }
        _ => None,
    };
    trouble.words.iter().filter_map(kind).collect()
}

/// Whether a file is read by people: what it says of the app breaks nothing in it.
fn is_prose(path: &RelPath) -> bool {
    const ENDINGS: [&str; 5] = ["md", "markdown", "rst", "adoc", "txt"];
    let path = path.to_string();
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    // Lists of packages have the ending of a text.
    ENDINGS.contains(&ending.as_str()) && !path.ends_with("requirements.txt") && !path.ends_with("CMakeLists.txt")
}

/// Whether a place that a page or program names is this file: one of the two is the end of the other. A server's root may lie
/// in the workspace, and a workspace in what a program calls its root.
pub(crate) fn is_same(place: &str, path: &RelPath) -> bool {
    let path = path.to_string();
    let place = bare(place);
    let ends = |long: &str, short: &str| {
        long == short || long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/') && !short.is_empty())
    };
    !place.is_empty()
        && (ends(&place, &path) || (place.contains('/') && ends(&path, place.trim_start_matches('/'))) || path == place)
}

/// A place as a path, without origin, query, loader words and leading dots.
pub(crate) fn bare(place: &str) -> String {
    let place = place.split(['?', '#']).next().unwrap_or_default();
    let after_scheme = match place.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => place,
    };
    let after_loader = after_scheme.rsplit_once('!').map_or(after_scheme, |(_, last)| last);
    let mut rest = after_loader;
    loop {
        let next = rest.trim_start_matches("./").trim_start_matches("../").trim_start_matches("@fs/");
        if next == rest {
            return rest.to_owned();
        }
        rest = next;
    }
}

fn known_path(place: &str) -> Option<RelPath> {
    RelPath::new(bare(place).trim_start_matches('/').as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        text.parse().unwrap()
    }

    fn step(file: &str, lines: &[RangeInclusive<u32>], text: &str) -> Candidate {
        let words = words(text);
        let (path, lines, near) = (path(file), lines.to_vec(), BTreeSet::new());
        Candidate { files: vec![TouchedText { path, lines, words, near, how: Touch::Changed }] }
    }

    fn trouble(places: &[(&str, u32)], text: &str) -> Trouble {
        let places = places.iter().map(|(place, line)| ((*place).to_owned(), *line)).collect();
        Trouble { places, words: words(text) }
    }

    fn first(trouble: &Trouble, steps: &[Candidate]) -> (usize, EvidenceKind) {
        let steps: Vec<&Candidate> = steps.iter().collect();
        let ranked = rank(trouble, &steps, &|_| BTreeSet::new());
        (ranked[0].candidate, ranked[0].evidence[0].kind)
    }

    #[test]
    fn the_line_comes_before_the_file_and_the_file_before_the_time() {
        let steps = [
            step("src/Cart.jsx", &[19..=20], ""),
            step("src/Cart.jsx", &[40..=44], ""),
            step("src/user.js", &[1..=1], ""),
        ];
        assert_eq!(
            first(&trouble(&[("http://localhost:5173/src/Cart.jsx?t=1", 19)], ""), &steps),
            (0, EvidenceKind::Line)
        );
        assert_eq!(first(&trouble(&[("src/Cart.jsx", 30)], ""), &steps), (1, EvidenceKind::File));
        assert_eq!(first(&trouble(&[("src/Other.jsx", 3)], ""), &steps), (2, EvidenceKind::Time));
    }

    #[test]
    fn a_word_that_the_error_names_points_to_the_step_that_changed_it() {
        let steps =
            [step("server.py", &[3..=3], "return {'cost': 3} # was price"), step("style.css", &[1..=9], "a { }")];
        let found =
            trouble(&[("src/Cart.jsx", 19)], "TypeError: Cannot read properties of undefined (reading 'price')");
        assert_eq!(first(&found, &steps), (0, EvidenceKind::Word));
    }

    #[test]
    fn a_route_beside_the_change_is_evidence_and_prose_is_none() {
        let mut handler = step("server.js", &[12..=12], "response.status(404).json({})");
        handler.files[0].near = words("app.get('/api/stock', (request, response) => {");
        let steps = [handler, step("NOTES.md", &[1..=1], "the stock was reviewed")];
        let found = trouble(&[], "GET /api/stock");
        assert_eq!(first(&found, &steps), (0, EvidenceKind::Near));
        // The latest step that can have broken anything is the one before the notes.
        assert_eq!(first(&trouble(&[], "quota exceeded"), &steps), (0, EvidenceKind::Time));
    }

    #[test]
    fn what_the_place_imports_is_suspected_before_the_latest() {
        let steps = [step("src/api.js", &[3..=3], "x"), step("src/user.js", &[1..=1], "y")];
        let found = trouble(&[("/src/Cart.jsx", 19)], "");
        let steps: Vec<&Candidate> = steps.iter().collect();
        let ranked = rank(&found, &steps, &|from| match from == &path("src/Cart.jsx") {
            true => [path("src/api.js")].into(),
            false => BTreeSet::new(),
        });
        assert_eq!((ranked[0].candidate, ranked[0].evidence[0].kind), (0, EvidenceKind::Import));
        assert_eq!(ranked[0].evidence[0].at, "src/api.js by src/Cart.jsx");
    }

    #[test]
    fn places_are_found_however_they_are_written() {
        let same = [
            ("http://localhost:5173/src/Cart.jsx?t=17", "src/Cart.jsx"),
            ("/src/Cart.jsx", "web/src/Cart.jsx"),
            ("webpack://shop/./src/Cart.jsx", "src/Cart.jsx"),
            ("webpack-internal:///./src/Cart.jsx", "src/Cart.jsx"),
            ("/home/me/shop/app.py", "app.py"),
            ("file:///home/me/shop/src/a.ts", "src/a.ts"),
            ("../src/a.ts", "src/a.ts"),
            ("app.py", "app.py"),
        ];
        for (place, file) in same {
            assert!(is_same(place, &path(file)), "{place} {file}");
        }
        for (place, file) in
            [("src/Cart.jsx", "src/OldCart.jsx"), ("b/app.py", "a/app.py"), ("", "a"), ("app.py", "x/app.py")]
        {
            assert!(!is_same(place, &path(file)), "{place} {file}");
        }
    }
}
