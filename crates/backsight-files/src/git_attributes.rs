//! Git's attributes of a path: the lines of `.gitattributes` files, macros among them, decided as Git decides. A stranger may
//! have written the lines: no line, macro or pattern makes this take long, or go on without an end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::glob;

/// The longest line that Git believes.
const MAX_LINE: usize = 2048;
const BLANK: &[u8] = b" \t\r\n";
const MACRO: &[u8] = b"[attr]";

/// What an attribute is set to at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AttributeState {
    True,
    False,
    /// As if no line spoke of it.
    Unset,
    Value(Vec<u8>),
}

/// One file of attributes.
#[derive(Debug, Default)]
pub(crate) struct AttributeFile {
    lines: Vec<AttributeLine>,
    /// Which of them define macros: few do, and they are asked for at every path.
    macros: Vec<usize>,
}

#[derive(Debug)]
struct AttributeLine {
    subject: LineSubject,
    states: Vec<(Vec<u8>, AttributeState)>,
}

#[derive(Debug)]
enum LineSubject {
    Macro(Vec<u8>),
    Pattern {
        text: Vec<u8>,
        /// How much of it is plain.
        plain: usize,
        /// It has no slash, and so means names anywhere below.
        is_name: bool,
    },
}

/// Whether a file may define macros: one at the top of a repository may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Macros {
    Allowed,
    PassedOver,
}

/// The files in force in one directory. Those that are asked first come last.
#[derive(Debug)]
pub(crate) struct AttributeRules {
    outer: Option<Arc<AttributeRules>>,
    /// The directory of the repository that the file is about.
    base: Vec<u8>,
    file: Arc<AttributeFile>,
}

/// What the matching of patterns took, and whether upper and lower case are the same.
#[derive(Debug, Default)]
pub(crate) struct PatternEffort {
    pub(crate) folds_case: bool,
    pub(crate) steps: u64,
}

impl AttributeFile {
    /// Reads what can be read; as in Git, a line with anything wrong in it means nothing.
    pub(crate) fn parse(text: &[u8], macros: Macros) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        // Git reads a line up to a NUL byte.
        let lines = text.split(|&byte| byte == b'\n').map(|line| line.split(|&byte| byte == 0).next().unwrap_or(line));
        let lines: Vec<AttributeLine> = lines.filter_map(|line| AttributeLine::parse(line, macros)).collect();
        let is_macro = |at: &usize| matches!(lines[*at].subject, LineSubject::Macro(_));
        AttributeFile { macros: (0..lines.len()).filter(is_macro).collect(), lines }
    }

    /// How many lines mean something.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }
}

impl AttributeLine {
    fn parse(line: &[u8], macros: Macros) -> Option<AttributeLine> {
        let (_, rest) = take_while(line, |byte| BLANK.contains(&byte));
        if rest.is_empty() || rest.starts_with(b"#") || line.len() >= MAX_LINE {
            return None;
        }
        let (name, states) = match unquoted(rest) {
            Some((name, after)) => (name, after),
            None => {
                let (name, after) = take_while(rest, |byte| !BLANK.contains(&byte));
                (name.to_vec(), after)
            }
        };
        let subject = match name.strip_prefix(MACRO).filter(|name| !name.is_empty()) {
            Some(_) if macros == Macros::PassedOver => return None,
            Some(name) => LineSubject::Macro(is_attribute(name).then(|| name.to_vec())?),
            None => pattern(name)?,
        };
        let words = states.split(|byte| BLANK.contains(byte)).filter(|word| !word.is_empty());
        Some(AttributeLine { subject, states: words.map(state).collect::<Option<_>>()? })
    }

    fn matches(&self, below: &[u8], name: &[u8], matching: &mut PatternEffort) -> bool {
        let LineSubject::Pattern { text, plain, is_name } = &self.subject else { return false };
        let path = if *is_name { name } else { below };
        let (plain, wild) = text.split_at(*plain);
        // Git matches what follows the plain part as a pattern of its own.
        let Some(rest) = path.strip_prefix(plain) else { return false };
        if wild.is_empty() { rest.is_empty() } else { glob::matches(wild, rest, &mut matching.steps) }
    }
}

impl AttributeRules {
    /// Puts a file in front of others.
    pub(crate) fn over(
        outer: Option<Arc<AttributeRules>>,
        base: &[u8],
        file: Arc<AttributeFile>,
    ) -> Arc<AttributeRules> {
        Arc::new(AttributeRules { outer, base: base.to_vec(), file })
    }

    /// The attributes at a path of the repository that any line of these files, after those of `first`, speaks of.
    pub(crate) fn at(&self, path: &[u8], first: &AttributeFile, matching: &mut PatternEffort) -> PathAttributes {
        let mut files: Vec<(&[u8], &AttributeFile)> = vec![(b"", first)];
        let mut link = Some(self);
        while let Some(here) = link {
            files.push((&here.base, &here.file));
            link = here.outer.as_deref();
        }
        let folded;
        let folds = matching.folds_case;
        let path = if folds {
            folded = path.to_ascii_lowercase();
            &folded
        } else {
            path
        };
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        let macros = macros(&files);
        let mut found = PathAttributes::default();
        for (base, file) in files {
            let base = if folds { base.to_ascii_lowercase() } else { base.to_vec() };
            let below = match base.is_empty() {
                true => Some(path),
                false => path.strip_prefix(base.as_slice()).and_then(|rest| rest.strip_prefix(b"/")),
            };
            let Some(below) = below else { continue };
            // To see that most patterns do not match takes a fraction of a step.
            matching.steps += file.lines.len() as u64 / 8 + file.macros.len() as u64;
            for line in file.lines.iter().rev() {
                let is_match = match folds {
                    true => line.folded().matches(below, name, matching),
                    false => line.matches(below, name, matching),
                };
                if is_match {
                    found.add(&line.states, &macros, &mut matching.steps);
                }
            }
        }
        found
    }
}

impl AttributeLine {
    /// The same with a pattern in lower case: only for repositories whose user asked for that.
    fn folded(&self) -> AttributeLine {
        let subject = match &self.subject {
            LineSubject::Macro(name) => LineSubject::Macro(name.clone()),
            LineSubject::Pattern { text, plain, is_name } => {
                LineSubject::Pattern { text: text.to_ascii_lowercase(), plain: *plain, is_name: *is_name }
            }
        };
        AttributeLine { subject, states: Vec::new() }
    }
}

type AttributeStates = [(Vec<u8>, AttributeState)];

/// What each macro stands for: the last line of the file that is asked first.
fn macros<'a>(files: &[(&[u8], &'a AttributeFile)]) -> HashMap<&'a [u8], &'a AttributeStates> {
    let mut macros: HashMap<&[u8], &AttributeStates> = HashMap::new();
    for line in files.iter().flat_map(|(_, file)| file.macros.iter().rev().map(|at| &file.lines[*at])) {
        if let LineSubject::Macro(name) = &line.subject {
            macros.entry(name).or_insert(&line.states);
        }
    }
    // Git has this one built in.
    macros.entry(b"binary").or_insert(binary());
    macros
}

fn binary() -> &'static AttributeStates {
    static BINARY: std::sync::OnceLock<Vec<(Vec<u8>, AttributeState)>> = std::sync::OnceLock::new();
    BINARY.get_or_init(|| [&b"diff"[..], b"merge", b"text"].map(|name| (name.to_vec(), AttributeState::False)).into())
}

/// The attributes of one path.
#[derive(Debug, Default)]
pub(crate) struct PathAttributes {
    states: BTreeMap<Vec<u8>, AttributeState>,
}

impl PathAttributes {
    pub(crate) fn get(&self, name: &str) -> &AttributeState {
        self.states.get(name.as_bytes()).unwrap_or(&AttributeState::Unset)
    }

    /// Adds what a matching line says and no line before it did; the last word of a line counts. A macro brings its own
    /// words in its place. Each attribute is set once, so that macros in a circle come to an end.
    fn add(&mut self, states: &AttributeStates, macros: &HashMap<&[u8], &AttributeStates>, steps: &mut u64) {
        let mut pending = vec![states.iter().rev()];
        while let Some(words) = pending.last_mut() {
            let Some((name, state)) = words.next() else {
                pending.pop();
                continue;
            };
            *steps += 1;
            if self.states.contains_key(name) {
                continue;
            }
            self.states.insert(name.clone(), state.clone());
            if let (AttributeState::True, Some(states)) = (state, macros.get(name.as_slice())) {
                pending.push(states.iter().rev());
            }
        }
    }
}

/// One word behind a pattern.
fn state(word: &[u8]) -> Option<(Vec<u8>, AttributeState)> {
    let (sign, rest) = match word.first()? {
        b'-' => (Some(AttributeState::False), &word[1..]),
        b'!' => (Some(AttributeState::Unset), &word[1..]),
        _ => (None, word),
    };
    let equals = rest.iter().position(|&byte| byte == b'=');
    let name = &rest[..equals.unwrap_or(rest.len())];
    if !is_attribute(name) || name.starts_with(b"builtin_") {
        return None;
    }
    let value = equals.map_or(AttributeState::True, |at| AttributeState::Value(rest[at + 1..].to_vec()));
    Some((name.to_vec(), sign.unwrap_or(value)))
}

fn is_attribute(name: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    !name.is_empty() && !name.starts_with(b"-") && name.iter().all(is_letter)
}

/// A pattern. One that begins with `!` or ends with a slash matches no file.
fn pattern(text: Vec<u8>) -> Option<LineSubject> {
    if text.starts_with(b"!") || text.ends_with(b"/") {
        return None;
    }
    let is_name = !text.contains(&b'/');
    let text = text.strip_prefix(b"/").map(<[u8]>::to_vec).unwrap_or(text);
    let plain = text.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(text.len());
    Some(LineSubject::Pattern { text, plain, is_name })
}

fn take_while(text: &[u8], is_wanted: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|&byte| !is_wanted(byte)).unwrap_or(text.len()))
}

/// A name in double quotes with C-style escapes, and what follows it.
fn unquoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (&escaped, after) = rest.split_first()?;
                let octal = rest.get(..3).filter(|digits| digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
                let (value, used) = match (escaped, octal) {
                    (b'0'..=b'3', Some(digits)) => {
                        (digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0')) as u8, 3)
                    }
                    (b'a', _) => (7, 1),
                    (b'b', _) => (8, 1),
                    (b'f', _) => (12, 1),
                    (b'n', _) => (b'\n', 1),
                    (b'r', _) => (b'\r', 1),
                    (b't', _) => (b'\t', 1),
                    (b'v', _) => (11, 1),
                    (b'\\' | b'"', _) => (escaped, 1),
                    _ => return None,
                };
                name.push(value);
                rest = if used == 1 { after } else { &rest[used..] };
            }
            _ => name.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], path: &str) -> PathAttributes {
        found_over(files, "", path, false)
    }

    fn found_over(files: &[(&str, &str)], first: &str, path: &str, folds_case: bool) -> PathAttributes {
        let mut stack = None;
        for (base, text) in files {
            let macros = if base.is_empty() { Macros::Allowed } else { Macros::PassedOver };
            let file = Arc::new(AttributeFile::parse(text.as_bytes(), macros));
            stack = Some(AttributeRules::over(stack, base.as_bytes(), file));
        }
        let first = AttributeFile::parse(first.as_bytes(), Macros::Allowed);
        stack.unwrap().at(path.as_bytes(), &first, &mut PatternEffort { folds_case, steps: 0 })
    }

    fn text(lines: &str, path: &str) -> AttributeState {
        found(&[("", lines)], path).get("text").clone()
    }

    #[test]
    fn lines_mean_what_they_mean_in_git() {
        let value = |text: &str| AttributeState::Value(text.into());
        for (lines, path, expected) in [
            ("*.txt text", "a/b.txt", AttributeState::True),
            ("*.txt text\n*.txt -text", "b.txt", AttributeState::False),
            ("*.txt text -text", "b.txt", AttributeState::False),
            ("*.txt text\nb.* !text", "b.txt", AttributeState::Unset),
            ("* text=auto", "x", value("auto")),
            ("\tx\ttext=a=b\r", "x", value("a=b")),
            ("# x text", "x", AttributeState::Unset),
            ("\u{feff}x text", "x", AttributeState::True),
            ("/x text", "a/x", AttributeState::Unset),
            ("a/*.c text", "a/x.c", AttributeState::True),
            ("a/*.c text", "b/a/x.c", AttributeState::Unset),
            ("**/x text", "b/a/x", AttributeState::True),
            // What follows the plain part is a pattern of its own.
            ("a**/x text", "ab/c/x", AttributeState::True),
            ("a/ text", "a/x", AttributeState::Unset),
            ("a/** text", "a/x/y", AttributeState::True),
            ("!x text", "x", AttributeState::Unset),
            ("\\!x text", "!x", AttributeState::True),
            ("\"a b\\t\\303\\244\" text", "a b\t\u{e4}", AttributeState::True),
            ("\"a b text", "\"a", AttributeState::True),
            ("x te$t text", "x", AttributeState::Unset),
            ("x -binary=1 text", "x", AttributeState::True),
            ("x builtin_y text", "x", AttributeState::Unset),
            ("x binary", "x", AttributeState::False),
            ("[attr]mine text=auto\nx mine", "x", value("auto")),
            ("[attr]binary text\nx binary", "x", AttributeState::True),
            ("x mine\n[attr]mine text", "x", AttributeState::True),
            ("[attr]mine text\nx -mine", "x", AttributeState::Unset),
            ("[attr]mine text\nx mine -text", "x", AttributeState::False),
            ("[attr]mine text\nx -text mine", "x", AttributeState::True),
            ("[attr]one two\n[attr]two one text\nx one", "x", AttributeState::True),
            ("[attr] x text", "[attr]", AttributeState::Unset),
        ] {
            assert_eq!(text(lines, path), expected, "{lines:?} {path}");
        }
    }

    #[test]
    fn nearer_files_go_before_and_define_no_macros() {
        let files =
            [("", "[attr]m text=auto\n*.c text\nx m"), ("a", "*.c -text\n/y text\n[attr]m -text"), ("b", "*.c !text")];
        assert_eq!(*found(&files, "a/x.c").get("text"), AttributeState::False);
        assert_eq!(*found(&files, "a/y").get("text"), AttributeState::True);
        assert_eq!(*found(&files, "a/b/y").get("text"), AttributeState::Unset);
        assert_eq!(*found(&files, "a/x").get("text"), AttributeState::Value("auto".into()));
        assert_eq!(
            *found_over(&files, "x.c text=auto", "a/x.c", false).get("text"),
            AttributeState::Value("auto".into())
        );
    }

    #[test]
    fn case_counts_unless_the_repository_says_otherwise() {
        assert_eq!(*found_over(&[("", "*.TXT text")], "", "a.txt", false).get("text"), AttributeState::Unset);
        assert_eq!(*found_over(&[("", "*.TXT text")], "", "a.txt", true).get("text"), AttributeState::True);
        assert_eq!(*found_over(&[("Dir", "/a.* text")], "", "dir/A.txt", true).get("text"), AttributeState::True);
    }

    #[test]
    fn hostile_files_come_to_an_end() {
        let chain: String = (0..50_000).map(|at| format!("[attr]m{at} m{} m0\n", at + 1)).collect();
        let lines = chain + "[attr]m50000 text\nx m0\n";
        assert_eq!(text(&lines, "x"), AttributeState::True);
        assert_eq!(text(&format!("x {} text", "a ".repeat(2000)), "x"), AttributeState::Unset);
        assert_eq!(text("x\0y text\nx text", "x"), AttributeState::True);
        assert_eq!(text(&"\"".repeat(10_000), "x"), AttributeState::Unset);
    }
}
