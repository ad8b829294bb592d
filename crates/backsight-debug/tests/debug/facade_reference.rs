//! The table of fields in docs/DEBUGGERS.md is that of the code, and so are the names of the debuggers.

use std::path::{Path, PathBuf};

use backsight_debug::adapters::{Adapter, builtin};
use serde_json::Value;

const BEGIN: &str = "<!-- fields of an adapter: written by `make docs` -->\n";
const END: &str = "<!-- end of the fields -->";

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/DEBUGGERS.md")
}

#[test]
fn the_fields_of_an_adapter_are_documented() {
    let text = std::fs::read_to_string(document()).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the document has a place for the fields");
    let (_, after) = rest.split_once(END).expect("the fields end");
    let expected = format!("{before}{BEGIN}{}{END}{after}", table());
    if text != expected {
        assert!(std::env::var_os("UPDATE_DOCS").is_some(), "the fields in docs/DEBUGGERS.md are old: run `make docs`");
        std::fs::write(document(), expected).unwrap();
    }
}

#[test]
fn every_debugger_is_documented_with_how_to_install_it() {
    let text = std::fs::read_to_string(document()).unwrap();
    for adapter in builtin() {
        let row = text.lines().find(|line| line.starts_with(&format!("| `{}` |", adapter.name)));
        let row = row.unwrap_or_else(|| panic!("`{}` has no row", adapter.name));
        assert!(row.contains(&adapter.install), "{row}");
    }
}

/// What is documented can be read.
#[test]
fn the_example_is_a_debugger() {
    let text = std::fs::read_to_string(document()).unwrap();
    let examples = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let example = examples.into_iter().find(|example| example.starts_with("[adapters.")).unwrap();
    let schema = serde_json::to_value(schemars::schema_for!(Adapter)).unwrap();
    for line in example.lines().filter(|line| line.contains(" = ")) {
        let (field, _) = line.split_once(" = ").unwrap();
        assert!(schema["properties"].get(field).is_some(), "no field is called `{field}`");
    }
}

fn table() -> String {
    let schema = serde_json::to_value(schemars::schema_for!(Adapter)).unwrap();
    let default = serde_json::to_value(Adapter::default()).unwrap();
    let mut table = "| field | is | unless said otherwise | what for |\n|---|---|---|---|\n".to_owned();
    for (name, field) in schema["properties"].as_object().unwrap() {
        // The section's own name.
        if name == "name" {
            continue;
        }
        let about = field["description"].as_str().unwrap_or_default().replace('\n', " ");
        assert!(!about.is_empty(), "`{name}` says nothing about itself");
        let value = match &default[name] {
            Value::Null => "none".to_owned(),
            value => format!("`{value}`"),
        };
        table += &format!("| `{name}` | {} | {value} | {about} |\n", kind(&schema, field));
    }
    table
}

/// What a field holds, in words.
fn kind(schema: &Value, field: &Value) -> String {
    if let Some(reference) = field["$ref"].as_str().or(field["allOf"][0]["$ref"].as_str()) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let options = schema["$defs"][name]["oneOf"].as_array().cloned().unwrap_or_default();
        let words: Vec<String> = options.iter().map(|option| format!("`{}`", option["const"])).collect();
        return words.join(" or ");
    }
    let plain = |kind: &str| match kind {
        "boolean" => "true or false",
        "integer" => "a number",
        "string" => "a text",
        "object" => "a table",
        _ => "a list",
    };
    match &field["type"] {
        Value::String(kind) if kind == "array" && field["items"]["type"] == "string" => "a list of texts".to_owned(),
        Value::String(kind) => plain(kind).to_owned(),
        Value::Array(kinds) => plain(kinds[0].as_str().unwrap_or_default()).to_owned(),
        _ => "anything".to_owned(),
    }
}
