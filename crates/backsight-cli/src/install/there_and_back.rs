//! Installing and uninstalling over files as people and editors leave them: afterwards every byte is as it was, also when
//! the user changed something meanwhile, and nearly always when what `install` remembers is lost.

use std::path::PathBuf;

use clap::ValueEnum;
use proptest::prelude::*;

use super::kept::Kept;
use super::{Client, Edit, Places, Scope, Wish};

/// What belongs into the files of every client: their format, and all that may be ours.
fn edits() -> Vec<(Client, Edit)> {
    let wish = |client: Client| Wish {
        scope: Scope::Project,
        program: format!("/opt/{}/backsight", client.name()),
        hooks: true,
        reading_is_allowed: true,
    };
    let places = Places { project: PathBuf::from("/nowhere"), home: None, variable: |_| None };
    let files = |client: &Client| client.files(&wish(*client), &places).unwrap().into_iter().map(|file| file.all);
    let all = Client::value_variants().iter().flat_map(|client| files(client).map(|edit| (*client, edit)));
    all.filter(|(_, edit)| !matches!(edit, Edit::Whole(_))).collect()
}

/// How a file is written.
#[derive(Clone, Debug)]
struct Hand {
    newline: &'static str,
    indent: &'static str,
    mark: bool,
    last_newline: bool,
    comments: bool,
    trailing_comma: bool,
}

fn hands() -> impl Strategy<Value = Hand> {
    let newline = prop_oneof![Just("\n"), Just("\r\n")];
    let indent = prop_oneof![Just("  "), Just("    "), Just("\t")];
    (newline, indent, any::<[bool; 4]>()).prop_map(
        |(newline, indent, [mark, last_newline, comments, trailing_comma])| Hand {
            newline,
            indent,
            mark,
            last_newline,
            comments,
            trailing_comma,
        },
    )
}

impl Hand {
    fn finish(&self, lines: &[String]) -> String {
        let text = lines.join(self.newline);
        let mark = if self.mark { "\u{feff}" } else { "" };
        format!("{mark}{text}{}", if self.last_newline { self.newline } else { "" })
    }

    /// Some of these members, in their order.
    fn json(&self, members: &[&str], chosen: &[bool]) -> String {
        let mut chosen: Vec<String> = members
            .iter()
            .zip(chosen)
            .filter(|(_, is_chosen)| **is_chosen)
            .map(|(member, _)| (*member).into())
            .collect();
        chosen.push("\"theme\": \"dark\"".to_owned());
        let count = chosen.len();
        let line = |(number, member): (usize, String)| {
            let comma = if number + 1 < count || self.trailing_comma { "," } else { "" };
            let comment = if self.comments { " // mine" } else { "" };
            format!("{}{member}{comma}{comment}", self.indent)
        };
        let inner: Vec<String> = chosen.into_iter().enumerate().map(line).collect();
        let head = if self.comments { vec!["/* settings */".to_owned()] } else { Vec::new() };
        self.finish(&[head, vec!["{".to_owned()], inner, vec!["}".to_owned()]].concat())
    }

    fn toml(&self, tables: &[&str], chosen: &[bool]) -> String {
        let mut lines = vec!["theme = \"dark\"".to_owned(), format!("deep = [{}1, 2 ]", self.indent)];
        if self.comments {
            lines.insert(0, "# mine".to_owned());
        }
        for (table, _) in tables.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen) {
            lines.push(String::new());
            lines.extend(table.lines().map(str::to_owned));
            lines.extend(self.comments.then(|| "# after it".to_owned()));
        }
        lines.extend(self.trailing_comma.then(String::new));
        self.finish(&lines)
    }
}

/// Members that hold others of their kind, and what our own would stand beside.
const MEMBERS: [&str; 8] = [
    "\"mcpServers\": { \"github\": { \"command\": \"x\" } }",
    "\"servers\": {\"other\": {\"command\": \"x\"}}",
    "\"context_servers\": {\"other\": {\"command\": \"x\"}}",
    "\"mcp\": {\"other\": {\"type\": \"remote\"}}",
    "\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}]}",
    "\"permissions\": {\"allow\": [\"Read\"], \"deny\": []}",
    "\"version\": 1",
    "\"$schema\": \"https://opencode.ai/config.json\"",
];
/// The same, empty: only what is remembered tells that they were there.
const EMPTY: [&str; 6] = [
    "\"mcpServers\": {}",
    "\"servers\": {}",
    "\"context_servers\": {}",
    "\"mcp\": {}",
    "\"hooks\": {\"Stop\": [], \"stop\": []}",
    "\"permissions\": {\"allow\": []}",
];
const TABLES: [&str; 4] = [
    "[mcp_servers.other]\ncommand = \"x\"",
    "[projects.\"/a b\"]\ntrust_level = \"trusted\"",
    "[[profiles]]\nname = '''\n[not a table]\n'''",
    "[tui]\n  theme = 'dark'",
];

fn kept(before: &str, written: &str) -> Kept {
    Kept { target: PathBuf::new(), before: Some(before.to_owned()), written: written.to_owned(), made: Vec::new() }
}

fn text_for(edit: &Edit, hand: &Hand, members: &[&str], chosen: &[bool]) -> String {
    if matches!(edit, Edit::Toml(_)) { hand.toml(&TABLES, chosen) } else { hand.json(members, chosen) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_comes_back(hand in hands(), chosen in any::<[bool; 8]>(), empty in any::<bool>()) {
        let members: &[&str] = if empty { &EMPTY } else { &MEMBERS };
        for (client, edit) in edits() {
            let before = text_for(&edit, &hand, members, &chosen);
            let written = edit.install(&before).unwrap();
            prop_assert!(written != before && !edit.is_absent_from(&written), "{client:?}");
            prop_assert_eq!(&edit.install(&written).unwrap(), &written, "{:?}: twice is once", client);
            let kept = kept(&before, &written);
            prop_assert_eq!(edit.take_out(&written, Some(&kept)).unwrap().unwrap(), before.clone(), "{:?}", client);
            // The user, or the client, changed something meanwhile.
            let light = |text: &str| text.replace("\"dark\"", "\"light\"");
            let back = edit.take_out(&light(&written), Some(&kept)).unwrap().unwrap();
            prop_assert_eq!(back, light(&before), "{:?}: with the user's change", client);
        }
    }

    #[test]
    fn nearly_every_byte_comes_back_without_what_is_remembered(hand in hands(), chosen in any::<[bool; 8]>()) {
        for (client, edit) in edits() {
            let before = text_for(&edit, &hand, &MEMBERS, &chosen);
            let written = edit.install(&before).unwrap();
            let back = edit.take_out(&written, None).unwrap().unwrap();
            // What a client needs in its file is not taken out of one that holds more.
            let is_needed = |line: &&str| line.contains("\"version\"") || line.contains("\"$schema\"");
            let lines = |text: &str| -> Vec<String> {
                text.split_inclusive('\n').filter(|line| !is_needed(line)).map(str::to_owned).collect()
            };
            if chosen[6] && chosen[7] || matches!(edit, Edit::Toml(_)) {
                prop_assert_eq!(back, before, "{:?}", client);
            } else {
                prop_assert_eq!(lines(&back).len(), lines(&before).len(), "{:?}: {}", client, back);
            }
        }
    }
}

#[test]
fn a_server_in_an_inline_table_or_under_dotted_keys_is_put_in_and_taken_out() {
    let (_, edit) = edits().into_iter().find(|(_, edit)| matches!(edit, Edit::Toml(_))).unwrap();
    for before in [
        "mcp_servers = { other = { command = \"x\" } }\r\nmodel = \"y\"",
        "mcp_servers.other.command = \"x\"\n\n[tui]\n",
        "[mcp_servers]\nother = { command = \"x\" }\n# the end",
        "",
        "\n\n",
    ] {
        let written = edit.install(before).unwrap();
        assert!(edit.presence(&written).server, "{written}");
        assert_eq!(edit.install(&written).unwrap(), written);
        let back = edit.take_out(&written, Some(&kept(before, &written))).unwrap();
        assert_eq!(back.as_deref(), Some(before));
        let left = edit.take_out(&written, None).unwrap().unwrap_or_default();
        assert_eq!(left.trim(), before.trim(), "{written}");
    }
}

/// What the user did to our block in the file goes with it, and what stands after it stays.
#[test]
fn what_stands_before_and_after_our_block_stays() {
    let (_, edit) = edits().into_iter().find(|(_, edit)| matches!(edit, Edit::Toml(_))).unwrap();
    let written = edit.install("model = \"y\"\r\n").unwrap();
    let more = format!("{written}env = {{ A = \"1\" }}\r\n\r\n# theirs\r\n[tui]\r\ntheme = 'x'\r\n");
    let back = edit.take_out(&more, None).unwrap().unwrap();
    assert_eq!(back, "model = \"y\"\r\n\r\n# theirs\r\n[tui]\r\ntheme = 'x'\r\n");
}
