//! The parts of a programming language that a reader's eye looks for: comments, texts, numbers, keywords, types, calls. One
//! small scanner for all languages and a table of how they differ. It makes mistakes where only a parser would not; then a
//! word has the wrong colour, and nothing else is wrong. Grammars for all languages would weigh more than the rest of the
//! program.

/// How a language is written.
pub struct Language {
    /// As people call it.
    pub name: &'static str,
    /// The ends of file names.
    extensions: &'static [&'static str],
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    texts: &'static [Text],
    keywords: &'static str,
    /// Whether a name before `:` or `=` is that of a field.
    has_fields: bool,
}

/// A text between two signs.
struct Text {
    open: &'static str,
    close: &'static str,
    over_lines: bool,
}

const DOUBLE: Text = Text { open: "\"", close: "\"", over_lines: false };
const SINGLE: Text = Text { open: "'", close: "'", over_lines: false };
const BACKTICK: Text = Text { open: "`", close: "`", over_lines: true };
const TRIPLE: Text = Text { open: "\"\"\"", close: "\"\"\"", over_lines: true };
const TRIPLE_SINGLE: Text = Text { open: "'''", close: "'''", over_lines: true };
const RUST_TEXT: Text = Text { open: "\"", close: "\"", over_lines: true };
const RAW: Text = Text { open: "r#\"", close: "\"#", over_lines: true };
const SLASHES: Option<(&str, &str)> = Some(("/*", "*/"));

const COMMENT: u32 = 1;
const TEXT: u32 = 2;
const NUMBER: u32 = 3;
const KEYWORD: u32 = 4;
const TYPE: u32 = 5;
const CALL: u32 = 6;
const FIELD: u32 = 7;

const LANGUAGES: &[Language] = &[
    Language {
        name: "Rust",
        extensions: &["rs"],
        line_comments: &["//"],
        block_comment: SLASHES,
        texts: &[RAW, RUST_TEXT],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move \
            mut pub ref return self Self static struct super trait true type unsafe use where while",
        has_fields: false,
    },
    Language {
        name: "JavaScript",
        extensions: &["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        line_comments: &["//"],
        block_comment: SLASHES,
        texts: &[BACKTICK, DOUBLE, SINGLE],
        keywords: "abstract any as async await boolean break case catch class const continue debugger declare default delete do else \
            enum export extends false finally for from function get if implements import in instanceof interface let new null \
            number of private protected public readonly return set static string super switch this throw true try type typeof \
            undefined var void while yield",
        has_fields: false,
    },
    Language {
        name: "Python",
        extensions: &["py", "pyi"],
        line_comments: &["#"],
        block_comment: None,
        texts: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keywords: "False None True and as assert async await break case class continue def del elif else except finally for from \
            global if import in is lambda match nonlocal not or pass raise return self try while with yield",
        has_fields: false,
    },
    Language {
        name: "Go",
        extensions: &["go"],
        line_comments: &["//"],
        block_comment: SLASHES,
        texts: &[BACKTICK, DOUBLE, SINGLE],
        keywords: "break case chan const continue default defer else error fallthrough false for func go goto if import int interface \
            map nil package range return select string struct switch true type var",
        has_fields: false,
    },
    Language {
        name: "C",
        extensions: &[
            "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "java", "kt", "kts", "cs", "swift", "scala", "dart", "php",
            "zig",
        ],
        line_comments: &["//"],
        block_comment: SLASHES,
        texts: &[TRIPLE, DOUBLE, SINGLE],
        keywords: "abstract auto bool boolean break case catch char class const constexpr continue default delete do double else enum \
            explicit extends extern false final finally float for fun func function goto guard if implements import in include \
            inline instanceof int interface internal is let long namespace new nil null nullptr object operator override package \
            private protected public record return sealed short signed sizeof static struct super switch template this throw \
            throws true try typedef typename union unsigned using val var virtual void volatile when where while",
        has_fields: false,
    },
    Language {
        name: "Ruby",
        extensions: &["rb", "rake", "ex", "exs", "cr"],
        line_comments: &["#"],
        block_comment: None,
        texts: &[DOUBLE, SINGLE],
        keywords: "alias and begin break case class def defmodule do else elsif end ensure false fn for if in module next nil not or raise \
            redo require rescue retry return self super then true undef unless until when while yield",
        has_fields: false,
    },
    Language {
        name: "Shell",
        extensions: &["sh", "bash", "zsh", "fish", "Makefile", "mk", "Dockerfile"],
        line_comments: &["#"],
        block_comment: None,
        texts: &[Text { open: "\"", close: "\"", over_lines: true }, Text { open: "'", close: "'", over_lines: true }],
        keywords: "case do done elif else esac exit export fi for function if in local return set then until while",
        has_fields: false,
    },
    Language {
        name: "SQL",
        extensions: &["sql"],
        line_comments: &["--"],
        block_comment: SLASHES,
        texts: &[SINGLE, DOUBLE],
        keywords: "ADD ALTER AND AS ASC BY CREATE DELETE DESC DISTINCT DROP ELSE END EXISTS FROM GROUP HAVING IN INDEX INNER INSERT INTO \
            IS JOIN KEY LEFT LIKE LIMIT NOT NULL ON OR ORDER OUTER PRIMARY SELECT SET TABLE THEN UNION UNIQUE UPDATE VALUES VIEW \
            WHEN WHERE WITH and as by create delete drop from group in insert into is join left like limit not null on or order \
            select set table update values where",
        has_fields: false,
    },
    Language {
        name: "CSS",
        extensions: &["css", "scss", "less"],
        line_comments: &[],
        block_comment: SLASHES,
        texts: &[DOUBLE, SINGLE],
        keywords: "important media import supports keyframes from to",
        has_fields: true,
    },
    Language {
        name: "JSON",
        extensions: &["json", "jsonc", "json5", "ndjson"],
        line_comments: &["//"],
        block_comment: SLASHES,
        texts: &[DOUBLE],
        keywords: "true false null",
        has_fields: true,
    },
    Language {
        name: "TOML",
        extensions: &["toml", "yaml", "yml", "ini", "cfg", "conf", "lock", "env", "properties"],
        line_comments: &["#"],
        block_comment: None,
        texts: &[TRIPLE, DOUBLE, SINGLE],
        keywords: "true false null yes no on off",
        has_fields: true,
    },
    Language {
        name: "HTML",
        extensions: &["html", "htm", "xml", "svg"],
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        texts: &[DOUBLE],
        keywords: "a body button div form h1 h2 h3 head html img input label li link main meta nav option p script section select span \
            style table tbody td textarea th thead title tr ul",
        has_fields: true,
    },
    Language {
        name: "Lua",
        extensions: &["lua", "hs", "elm"],
        line_comments: &["--"],
        block_comment: None,
        texts: &[DOUBLE, SINGLE],
        keywords: "and break case class data do else elseif end false for function if import in instance let local module nil not of or \
            repeat return then true type until where while",
        has_fields: false,
    },
];

impl Language {
    /// What a file of this name is written in.
    pub fn of(path: &str) -> Option<&'static Language> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let end = name.rsplit('.').next().unwrap_or(name);
        LANGUAGES.iter().find(|language| language.extensions.contains(&end))
    }

    /// The parts of each line: where, how long and what, three numbers each.
    pub fn parts(&self, text: &str) -> Vec<Vec<u32>> {
        let mut inside = None;
        text.split('\n').map(|line| self.line(line.strip_suffix('\r').unwrap_or(line), &mut inside)).collect()
    }

    fn line(&self, line: &str, inside: &mut Option<Inside>) -> Vec<u32> {
        let mut parts = Parts { line, found: Vec::new() };
        let mut at = 0;
        if let Some(within) = *inside {
            let Some(end) = closing(line, 0, within) else {
                parts.add(0, line.len(), within.class);
                return parts.found;
            };
            parts.add(0, end, within.class);
            (*inside, at) = (None, end);
        }
        while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
            if self.line_comments.iter().any(|sign| rest.starts_with(sign)) && begins_word(line, at) {
                parts.add(at, line.len(), COMMENT);
                break;
            }
            at = match self.opening(rest) {
                Some(opening) => self.quoted(&mut parts, at, &opening, inside),
                None => self.word(&mut parts, at, rest),
            };
        }
        parts.found
    }

    fn opening(&self, rest: &str) -> Option<Opening> {
        if let Some((open, close)) = self.block_comment.filter(|(open, _)| rest.starts_with(open)) {
            return Some(Opening { open, inside: Inside { close, class: COMMENT }, over_lines: true });
        }
        let text = self.texts.iter().find(|text| rest.starts_with(text.open))?;
        let inside = Inside { close: text.close, class: TEXT };
        Some(Opening { open: text.open, inside, over_lines: text.over_lines })
    }

    /// Marks what is between two signs; where it ends.
    fn quoted(&self, parts: &mut Parts<'_>, at: usize, opening: &Opening, inside: &mut Option<Inside>) -> usize {
        let line = parts.line;
        match closing(line, at + opening.open.len(), opening.inside) {
            Some(end) => {
                let is_field = self.has_fields && line[end..].trim_start().starts_with(':');
                parts.add(at, end, if is_field { FIELD } else { opening.inside.class });
                end
            }
            None => {
                parts.add(at, line.len(), opening.inside.class);
                *inside = opening.over_lines.then_some(opening.inside);
                line.len()
            }
        }
    }

    /// Marks the word or sign that begins here; where the next one begins.
    fn word(&self, parts: &mut Parts<'_>, at: usize, rest: &str) -> usize {
        let first = rest.chars().next().unwrap_or_default();
        if !(first.is_alphanumeric() || first == '_' || first == '$') {
            return at + first.len_utf8();
        }
        let is_part = |character: char| {
            character.is_alphanumeric() || matches!(character, '_' | '$') || (self.has_fields && character == '-')
        };
        let length = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let class = if first.is_ascii_digit() {
            NUMBER
        } else if self.keywords.split_ascii_whitespace().any(|keyword| keyword == word) {
            KEYWORD
        } else if self.has_fields && after.trim_start().starts_with([':', '=']) {
            FIELD
        } else if after.starts_with(['(', '!']) && !after.starts_with("!=") {
            CALL
        } else if first.is_uppercase() {
            TYPE
        } else {
            return at + length;
        };
        parts.add(at, at + length, class);
        at + length
    }
}

/// What a line is within.
#[derive(Clone, Copy)]
struct Inside {
    close: &'static str,
    class: u32,
}

/// What begins here.
struct Opening {
    open: &'static str,
    inside: Inside,
    over_lines: bool,
}

/// The marks of one line.
struct Parts<'a> {
    line: &'a str,
    found: Vec<u32>,
}

impl Parts<'_> {
    /// Places are bytes here and UTF-16 units there.
    fn add(&mut self, start: usize, end: usize, class: u32) {
        let units = |text: &str| match text.is_ascii() {
            true => text.len() as u32,
            false => text.encode_utf16().count() as u32,
        };
        if end > start {
            self.found.extend([units(&self.line[..start]), units(&self.line[start..end]), class]);
        }
    }
}

/// Where what a text is within ends, past its sign.
fn closing(line: &str, from: usize, within: Inside) -> Option<usize> {
    let mut at = from;
    loop {
        let begin = at + line.get(at..)?.find(within.close)?;
        // A sign behind an odd number of backslashes is meant as itself.
        let slashes = line[from..begin].bytes().rev().take_while(|byte| *byte == b'\\').count();
        if within.class == COMMENT || slashes % 2 == 0 {
            return Some(begin + within.close.len());
        }
        at = begin + within.close.len();
    }
}

/// Whether what stands here does not belong to a word before it: `a#b` is no comment, and an address has two slashes.
fn begins_word(line: &str, at: usize) -> bool {
    let belongs = |before: char| before.is_alphanumeric() || matches!(before, ':' | '$' | '{' | '&');
    line[..at].chars().next_back().is_none_or(|before| !belongs(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part of a text with its class.
    fn marked(path: &str, text: &str) -> Vec<(String, u32)> {
        let lines = Language::of(path).unwrap().parts(text);
        let cut = |line: &str, part: &[u32]| {
            let units: Vec<u16> = line.encode_utf16().collect();
            String::from_utf16(&units[part[0] as usize..(part[0] + part[1]) as usize]).unwrap()
        };
        let of_line = |(line, parts): (&str, &Vec<u32>)| {
            parts.chunks(3).map(|part| (cut(line, part), part[2])).collect::<Vec<_>>()
        };
        text.split('\n').zip(&lines).flat_map(of_line).collect()
    }

    fn pairs(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
        expected.iter().map(|(text, class)| ((*text).to_owned(), *class)).collect()
    }

    #[test]
    fn words_of_a_language_are_told_apart() {
        let expected = [("let", KEYWORD), ("Some", CALL), ("\"a\\\"b\"", TEXT), ("// done", COMMENT)];
        assert_eq!(marked("a.rs", "let x = Some(\"a\\\"b\"); // done"), pairs(&expected));
        let expected =
            [("def", KEYWORD), ("f", CALL), ("10", NUMBER), ("# é", COMMENT), ("return", KEYWORD), ("\"ü\"", TEXT)];
        assert_eq!(marked("src/b.py", "def f(n=10): # é\n  return \"ü\" + n"), pairs(&expected));
        assert_eq!(marked("a.json", "{\"k\": \"v\"}"), pairs(&[("\"k\"", FIELD), ("\"v\"", TEXT)]));
        assert!(Language::of("LICENSE").is_none());
    }

    #[test]
    fn what_goes_over_lines_goes_on() {
        let text = "/* a\nb */ let c\nd";
        assert_eq!(marked("a.js", text), pairs(&[("/* a", COMMENT), ("b */", COMMENT), ("let", KEYWORD)]));
        let expected = [("\"\"\"x", TEXT), ("y\"\"\"", TEXT), ("1", NUMBER)];
        assert_eq!(marked("a.py", "\"\"\"x\ny\"\"\" 1"), pairs(&expected));
        // A text that is not closed ends with its line where the language says so.
        assert_eq!(marked("a.js", "'x\nif"), pairs(&[("'x", TEXT), ("if", KEYWORD)]));
    }

    #[test]
    fn an_address_is_no_comment() {
        assert_eq!(marked("a.js", "https://x").len(), 0);
        assert_eq!(marked("a.yaml", "u: x#y"), pairs(&[("u", FIELD)]));
    }

    #[test]
    fn any_text_is_taken() {
        for text in ["\\", "\"\\", "'''", "/*", "é\"é", "\r\n\r", "`${`", "r#\""] {
            for language in LANGUAGES {
                assert_eq!(language.parts(text).len(), text.split('\n').count());
            }
        }
    }
}
