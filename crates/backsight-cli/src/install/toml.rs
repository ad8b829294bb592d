//! Codex's TOML, changed in place: comments and order stay.

use backsight_core::{Code, Error, Result};
use toml_edit::{DocumentMut, Item, Table, Value, value};

use super::edit::Remainder;

const SERVERS: &str = "mcp_servers";
const NAME: &str = "backsight";

/// The text with our server.
pub fn install(before: &str, program: &str) -> Result<String> {
    let mut document = parse(before)?;
    let servers = document.entry(SERVERS).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| not_a_table(SERVERS))?;
    let entry = servers.entry(NAME).or_insert_with(|| Item::Table(Table::new()));
    let entry = entry.as_table_like_mut().ok_or_else(|| not_a_table("mcp_servers.backsight"))?;
    let arguments = Value::from_iter(["mcp"]);
    if entry.get("command").and_then(Item::as_str) != Some(program) {
        entry.insert("command", value(program));
    }
    let is_right = |item: &Item| {
        item.as_array().is_some_and(|list| list.len() == 1 && list.get(0).and_then(Value::as_str) == Some("mcp"))
    };
    if !entry.get("args").is_some_and(is_right) {
        entry.insert("args", value(arguments));
    }
    Ok(document.to_string())
}

/// The text without it.
pub fn uninstall(before: &str) -> Result<Remainder> {
    let mut document = parse(before)?;
    if let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) {
        servers.remove(NAME);
        if servers.is_empty() {
            document.remove(SERVERS);
        }
    }
    let text = document.to_string();
    let is_bare = text.trim().is_empty();
    Ok(Remainder { text, is_bare })
}

fn parse(text: &str) -> Result<DocumentMut> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = text.get(..at).unwrap_or_default();
        let (line, column) =
            (before.matches('\n').count() + 1, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
        let what = error.message().lines().next().unwrap_or_default();
        Error::new(Code::InvalidConfig, format!("line {line}, column {column}: {what}"))
            .with_details(serde_json::json!({ "line": line, "column": column }))
    })
}

fn not_a_table(name: &str) -> Error {
    Error::new(Code::InvalidConfig, format!("`{name}` is not a table"))
}
