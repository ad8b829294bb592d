//! The laws of the editor, on files as people write them and on any file at all.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::install::{Edit, Scope, Wish, claude_code};

fn entry() -> Node {
    Node::object([("command", Node::from("backsight")), ("args", Node::texts(&["mcp"]))])
}

fn with(text: &str) -> String {
    let mut document = Document::parse(text).unwrap();
    document.set(&["mcpServers", "backsight"], &entry()).unwrap();
    document.text().to_owned()
}

fn without(text: &str) -> String {
    let mut document = Document::parse(text).unwrap();
    document.remove(&[Step::Key("mcpServers"), Step::Key("backsight")]).unwrap();
    document.text().to_owned()
}

#[test]
fn a_member_goes_after_the_last_one_and_the_rest_stays() {
    let text = "{\n    // mine\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\" } // keep\n    },\n    \"b\": [1, 2,],\n}\n";
    insta::assert_snapshot!(with(text), @r#"
    {
        // mine
        "mcpServers": {
            "other": { "command": "x" }, // keep
            "backsight": {
                "command": "backsight",
                "args": ["mcp"]
            }
        },
        "b": [1, 2,],
    }
    "#);
    assert_eq!(without(&with(text)), text);
}

#[test]
fn trailing_commas_tabs_and_line_ends_are_kept() {
    let text = "{\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {}, // c\r\n\t},\r\n}\r\n";
    let new = with(text);
    assert!(
        new.contains("\"other\": {}, // c\r\n\t\t\"backsight\": {\r\n\t\t\t\"command\": \"backsight\",\r\n"),
        "{new}"
    );
    assert!(new.contains("\t\t},\r\n\t},\r\n}\r\n"), "{new}");
    assert_eq!(without(&new), text);
}

#[test]
fn a_file_that_is_empty_or_not_there_becomes_an_object() {
    insta::assert_snapshot!(with(""), @r#"
    {
      "mcpServers": {
        "backsight": {
          "command": "backsight",
          "args": ["mcp"]
        }
      }
    }
    "#);
    assert!(with("// only a comment\n").starts_with("// only a comment\n{\n"));
    assert_eq!(with("{}"), with("{ }"));
}

#[test]
fn a_comment_swallows_nothing() {
    for text in ["{ // c\n\"mcpServers\": {\"backsight\": 1} }", "{\"mcpServers\": { // c\n\"backsight\": 1}}"] {
        assert!(meaning(&without(text)).is_ok(), "{text}");
    }
    let text = "{\"a\": 1 // one\n}";
    assert_eq!(with(text).find(", // one"), Some(7), "the comment stays with what it is about");
}

#[test]
fn what_is_broken_is_refused_with_its_place() {
    let error = Document::parse("{\n  \"a\": 1\n  \"b\": 2\n}").unwrap_err();
    assert_eq!(error.details(), &json!({ "line": 2, "column": 9 }));
    assert!(error.message().starts_with("line 2, column 9: "), "{error}");
    for text in ["[]", "7", "null", "{'a': 1}", "{a: 1}", "{\"a\": 0x1}", "{"] {
        assert_eq!(Document::parse(text).unwrap_err().code(), Code::InvalidConfig, "{text}");
    }
}

#[test]
fn what_would_mean_something_else_is_refused() {
    let mut twice = Document::parse(r#"{"hooks": {"a": 1}, "hooks": {"b": 2}}"#).unwrap();
    let before = twice.text().to_owned();
    assert!(twice.remove(&[Step::Key("hooks")]).is_err());
    assert_eq!(twice.text(), before);
    assert!(Document::parse(r#"{"hooks": 7}"#).unwrap().set(&["hooks", "x"], &entry()).is_err());
    assert!(Document::parse(r#"{"hooks": {}}"#).unwrap().push(&["hooks"], &entry()).is_err());
}

/// Space and comments, as they may stand anywhere.
fn trivia() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            Just(" "),
            Just("\n"),
            Just("\t"),
            Just("\r\n"),
            Just("// c, { \" \n"),
            Just("/* b, } \" */"),
            Just("")
        ],
        0..3,
    )
    .prop_map(|parts| parts.concat())
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![Just("1"), Just("true"), Just("null"), Just("\"a, } // \\\" b\""), Just("-1.5e3"), Just("\"é\"")]
        .prop_map(str::to_owned)
}

/// Any JSON value with comments and trailing commas, as text.
fn any_json() -> impl Strategy<Value = String> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        let item =
            (trivia(), inner, trivia()).prop_map(|(before, item, after)| format!("{before}{item}{after}")).boxed();
        prop_oneof![
            (prop::collection::vec(item.clone(), 0..4), any::<bool>(), trivia()).prop_map(|(items, trailing, end)| {
                let comma = if trailing && !items.is_empty() { "," } else { "" };
                format!("[{}{comma}{end}]", items.join(","))
            }),
            object(item),
        ]
    })
}

fn object(item: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (prop::collection::vec((trivia(), item), 0..4), any::<bool>(), trivia()).prop_map(|(items, trailing, end)| {
        let names = ["mcpServers", "hooks", "x", "y"];
        let members: Vec<String> =
            items.iter().zip(names).map(|((before, item), name)| format!("{before}\"{name}\":{item}")).collect();
        let comma = if trailing && !members.is_empty() { "," } else { "" };
        format!("{{{}{comma}{end}}}", members.join(","))
    })
}

proptest! {
    #[test]
    fn what_is_added_and_removed_again_leaves_the_text_as_it_was(text in (trivia(), object(any_json()), trivia())) {
        let text = format!("{}{}{}", text.0, text.1, text.2);
        let mut document = Document::parse(&text).unwrap();
        let before = document.value.clone();
        document.set(&["new"], &entry()).unwrap();
        document.push(&["list"], &entry()).unwrap();
        prop_assert_eq!(document.get(&[Step::Key("new")]), Some(&entry().value()));
        document.remove(&[Step::Key("list")]).unwrap();
        document.remove(&[Step::Key("new")]).unwrap();
        prop_assert_eq!(&document.value, &before);
        let is_empty = before.as_object().unwrap().is_empty();
        // Only an object that held nothing but space loses the space.
        if !is_empty {
            prop_assert_eq!(document.text(), &text);
        }
    }

    #[test]
    fn installing_twice_is_installing_once_and_uninstalling_leaves_nothing_of_ours(text in object(any_json())) {
        let wish = Wish { scope: Scope::Project, program: "/opt/a b/backsight".to_owned(), hooks: true, reading_is_allowed: true };
        let pieces = claude_code::hooks(&wish).into_iter().chain([claude_code::server(&wish.program)]);
        let edit = Edit::Json(pieces.collect());
        // Where people keep something else under our names, nothing is written.
        if let Ok(installed) = edit.install(&text) {
            prop_assert_eq!(&edit.install(&installed).unwrap(), &installed);
            let rest = edit.uninstall(&installed, None).unwrap();
            prop_assert!(!rest.text.contains("/opt/a b"), "{}", rest.text);
            prop_assert!(edit.is_absent_from(&rest.text));
        }
    }

    #[test]
    fn every_member_can_be_removed_and_every_list_added_to(text in object(any_json())) {
        let mut document = Document::parse(&text).unwrap();
        let names: Vec<String> = document.value.as_object().unwrap().keys().cloned().collect();
        for name in names {
            if document.get(&[Step::Key(&name)]).is_some_and(Value::is_array) {
                document.push(&[&name], &entry()).unwrap();
                document.remove(&[Step::Key(&name), Step::Index(0)]).unwrap();
            }
            document.remove(&[Step::Key(&name)]).unwrap();
        }
        prop_assert_eq!(&document.value, &json!({}));
    }
}
