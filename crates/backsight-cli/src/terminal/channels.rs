//! Several programs that speak through one: docker compose, concurrently, turbo, foreman and their like write a name before
//! each line. Lines of one name belong together, whatever stands between them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use backsight_core::Timestamp;
use regex::Regex;

use super::message::{Joiner, Message};

/// Names that are kept apart; all others speak with one voice.
const CHANNELS: usize = 50;

/// What is written before a line.
static PREFIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms = [
        // `web-1  | text`, `12:00:01 web.1  | text`
        r"^(?:\d\d:\d\d:\d\d\s+)?(?P<compose>[A-Za-z@][\w./@-]{0,39})\s*\|(?:\s|$)",
        // `[0] text`, `[api] text`
        r"^\[(?P<bracket>\d{1,2}|[a-z][\w./:@-]{0,23})\](?:\s|$)",
        // `web:dev: text`, `@shop/web#dev: text`
        r"^(?P<turbo>@?[\w-]+(?:/[\w-]+)?[:#][a-z][\w-]*):(?:\s|$)",
        // `packages/web dev: text`
        r"^(?P<pnpm>[\w./@-]+/[\w.@-]+ (?:dev|start|serve|build|test|watch)[\w:-]*):(?:\s|$)",
    ];
    Regex::new(&forms.join("|")).ok()
});
/// What stands in brackets before the lines of one program.
const LABELS: [&str; 19] = [
    "vite",
    "nodemon",
    "webpack",
    "webpack-dev-server",
    "wds",
    "hmr",
    "esbuild",
    "rollup",
    "parcel",
    "watch",
    "nitro",
    "nuxt",
    "next",
    "astro",
    "remix",
    "jest",
    "error",
    "warn",
    "info",
];

/// The name before a line, and the line.
fn split(line: &str) -> (Option<&str>, &str) {
    let Some(found) = PREFIX.as_ref().and_then(|regex| regex.captures(line)) else { return (None, line) };
    let named = ["compose", "bracket", "turbo", "pnpm"].iter().find_map(|form| found.name(form));
    let (Some(whole), Some(name)) = (found.get(0), named) else { return (None, line) };
    let is_label = found.name("bracket").is_some() && is_label(name.as_str());
    if is_label { (None, line) } else { (Some(name.as_str()), &line[whole.end()..]) }
}

fn is_label(name: &str) -> bool {
    LABELS.contains(&name) || name.starts_with("vite:") || name.contains("plugin")
}

/// Takes lines of several programs and gives messages.
#[derive(Debug, Default)]
pub struct Channels {
    own: Joiner,
    named: BTreeMap<String, Joiner>,
}

impl Channels {
    /// Takes a line; whatever is complete goes to `each`.
    pub fn line(&mut self, line: String, now: Timestamp, each: &mut impl FnMut(Message)) {
        self.settle(now, each);
        let (name, rest) = split(&line);
        match name {
            None => self.own.line(line, now, each),
            Some(name) if self.named.contains_key(name) || self.named.len() < CHANNELS => {
                self.named.entry(name.to_owned()).or_default().line(rest.to_owned(), now, each);
            }
            Some(_) => self.own.line(rest.to_owned(), now, each),
        }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Joiner> {
        std::iter::once(&mut self.own).chain(self.named.values_mut())
    }

    /// Gives what nothing belongs to any more at that time.
    pub fn settle(&mut self, now: Timestamp, each: &mut impl FnMut(Message)) {
        self.all().for_each(|joiner| joiner.settle(now, each));
    }

    /// Whether a message may still go on.
    pub fn is_open(&self) -> bool {
        self.own.is_open() || self.named.values().any(Joiner::is_open)
    }

    /// Gives what is left.
    pub fn close(&mut self, each: &mut impl FnMut(Message)) {
        self.all().for_each(|joiner| joiner.close(each));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_before_a_line_is_taken_off() {
        assert!(PREFIX.is_some());
        let table = [
            ("web-1  | Error: boom", Some("web-1"), "Error: boom"),
            ("web-1  |     at a (/app/a.js:1:2)", Some("web-1"), "    at a (/app/a.js:1:2)"),
            ("12:00:01 web.1  | ready", Some("web.1"), "ready"),
            ("[0] Error: boom", Some("0"), "Error: boom"),
            ("[api]   File \"a.py\", line 1", Some("api"), "  File \"a.py\", line 1"),
            ("web:dev: error: no", Some("web:dev"), "error: no"),
            ("@shop/web:build: x", Some("@shop/web:build"), "x"),
            ("packages/web dev: ready", Some("packages/web dev"), "ready"),
            ("[vite] hmr update", None, "[vite] hmr update"),
            ("[nodemon] app crashed", None, "[nodemon] app crashed"),
            ("[ERROR] no", None, "[ERROR] no"),
            ("[12:30:01 PM] Found 0 errors.", None, "[12:30:01 PM] Found 0 errors."),
            ("  3 | let x = 1;", None, "  3 | let x = 1;"),
            ("src/main.go:5:2: undefined: x", None, "src/main.go:5:2: undefined: x"),
            ("std::io: x", None, "std::io: x"),
            ("error: no", None, "error: no"),
        ];
        for (line, name, rest) in table {
            assert_eq!(split(line), (name, rest), "{line}");
        }
    }
}
