//! Codex's TOML, changed in place: comments, order, line ends and a missing end of the last line stay. A server that is not
//! there yet is a block of lines at the end; what is there already is changed by the library, and only the lines that it
//! changed are taken over. A block that cannot be cut out, or added, without changing anything else is left to the library.

use backsight_core::{Code, Error, Result};
use serde_json::{Value as Meaning, json};
use toml_edit::{DocumentMut, Item, Table, Value, value};

use super::edit::Remainder;

const SERVERS: &str = "mcp_servers";
/// Codex reads the list of tools once, and shows a model what its own search finds in it.
const ARGUMENTS: [&str; 3] = ["mcp", "--tools", "all"];
const NAME: &str = "backsight";
const HEADER: &str = "[mcp_servers.backsight]";
/// Tables of our server; all of them are ours.
const OWN_HEADERS: &str = "[mcp_servers.backsight.";

/// Our server as Codex is told of it.
#[derive(Clone, Debug)]
pub struct Server {
    /// The program.
    pub program: String,
    /// The tools that Codex calls without asking its user.
    pub approved: Vec<&'static str>,
}

/// The text with our server.
pub fn install(before: &str, server: &Server) -> Result<String> {
    let is_new = entry(&meaning_or_error(before)?).is_none();
    let appended = is_new.then(|| appended(before, server)).flatten();
    appended.map_or_else(|| edited(before, |document| set(document, server)), Ok)
}

/// The text without it.
pub fn uninstall(before: &str) -> Result<Remainder> {
    let text = match entry(&meaning_or_error(before)?) {
        None => before.to_owned(),
        Some(_) => cut_out(before).map_or_else(|| edited(before, unset), Ok)?,
    };
    let is_bare = text.trim().is_empty();
    Ok(Remainder { text, is_bare })
}

/// Whether the text names our server.
pub fn is_there(text: &str) -> bool {
    meaning(text).is_some_and(|meaning| entry(&meaning).is_some())
}

/// What the text means.
pub fn meaning(text: &str) -> Option<Meaning> {
    toml_edit::de::from_str(text).ok()
}

fn meaning_or_error(text: &str) -> Result<Meaning> {
    parse(text)?;
    Ok(meaning(text).unwrap_or_default())
}

fn entry(meaning: &Meaning) -> Option<&Meaning> {
    meaning.get(SERVERS)?.get(NAME)
}

impl Server {
    fn block(&self, newline: &str) -> String {
        let mut lines = vec![
            HEADER.to_owned(),
            format!("command = {}", value(self.program.as_str())),
            format!("args = {}", Value::from_iter(ARGUMENTS)),
        ];
        if !self.approved.is_empty() {
            lines.extend([String::new(), format!("{OWN_HEADERS}tools]")]);
            lines.extend(self.approved.iter().map(|tool| format!("{tool}.approval_mode = \"approve\"")));
        }
        lines.join(newline)
    }
}

/// The text with our block at its end. It ends as it did: with the end of a line, or without.
fn appended(before: &str, server: &Server) -> Option<String> {
    let newline = newline_of(before);
    let block = server.block(newline);
    let body = before.strip_suffix('\n').map_or(before, |body| body.strip_suffix('\r').unwrap_or(body));
    let end = &before[body.len()..];
    let text = match before.is_empty() {
        true => format!("{block}\n"),
        false => format!("{body}{newline}{newline}{block}{end}"),
    };
    let (mut expected, block) = (meaning(before)?, meaning(&block)?);
    expected
        .as_object_mut()?
        .entry(SERVERS)
        .or_insert_with(|| json!({}))
        .as_object_mut()?
        .insert(NAME.to_owned(), entry(&block)?.clone());
    (meaning(&text)? == expected).then_some(text)
}

/// The text without our block and the empty line before it, if nothing else goes with it.
fn cut_out(before: &str) -> Option<String> {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let start = lines.iter().position(|line| line.trim() == HEADER)?;
    let is_foreign = |line: &&str| line.starts_with('[') && !line.starts_with(OWN_HEADERS);
    let next = lines[start + 1..].iter().position(is_foreign).map_or(lines.len(), |next| start + 1 + next);
    // Comments and empty lines before the next table are not ours.
    let is_ours = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let end = lines[..next].iter().rposition(is_ours)? + 1;
    let (head, block) = (lines[..start].concat(), lines[start..end].concat());
    let (last, tail) = (&block[trimmed(&block).len()..], lines[end..].concat());
    let text = match head.is_empty() {
        // Ours was the first: the empty line after it goes.
        true => tail.strip_prefix("\r\n").or_else(|| tail.strip_prefix('\n')).unwrap_or(&tail).to_owned(),
        false => format!("{}{last}{tail}", trimmed(trimmed(&head))),
    };
    let mut expected = meaning(before)?;
    expected.get_mut(SERVERS)?.as_object_mut()?.remove(NAME);
    // Whether the table of servers is written out or only meant by ours.
    let is_expected = |meaning: Meaning| without_no_servers(meaning) == without_no_servers(expected);
    meaning(&text).is_some_and(is_expected).then_some(text)
}

fn without_no_servers(mut meaning: Meaning) -> Meaning {
    if meaning.get(SERVERS).is_some_and(|servers| *servers == json!({}))
        && let Some(tables) = meaning.as_object_mut()
    {
        tables.remove(SERVERS);
    }
    meaning
}

/// Without the end of the last line.
fn trimmed(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text))
}

/// What the library makes of the text; of that only the lines that differ.
fn edited(before: &str, change: impl FnOnce(&mut DocumentMut) -> Result<()>) -> Result<String> {
    let mut document = parse(&before.replace("\r\n", "\n"))?;
    change(&mut document)?;
    let new = document.to_string();
    let (old, new): (Vec<&str>, Vec<&str>) = (before.split_inclusive('\n').collect(), new.lines().collect());
    let same = |(old, new): &(&&str, &&str)| trimmed(old) == **new;
    let head = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(same).count();
    let newline = newline_of(before);
    let middle: String = new[head..new.len() - tail].iter().flat_map(|line| [*line, newline]).collect();
    let mut kept = old[..head].concat();
    if !middle.is_empty() && !kept.is_empty() && !kept.ends_with('\n') {
        kept.push_str(newline);
    }
    let text = format!("{kept}{middle}{}", old[old.len() - tail..].concat());
    let is_open = !before.is_empty() && !before.ends_with('\n');
    Ok(if is_open { trimmed(&text).to_owned() } else { text })
}

fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn set(document: &mut DocumentMut, server: &Server) -> Result<()> {
    let servers = document.entry(SERVERS).or_insert_with(implicit);
    let servers = servers.as_table_like_mut().ok_or_else(|| not_a_table(SERVERS))?;
    let entry = servers.entry(NAME).or_insert_with(|| Item::Table(Table::new()));
    let entry = entry.as_table_like_mut().ok_or_else(|| not_a_table("mcp_servers.backsight"))?;
    if entry.get("command").and_then(Item::as_str) != Some(&server.program) {
        entry.insert("command", value(server.program.as_str()));
    }
    let is_right =
        |item: &Item| item.as_array().is_some_and(|list| list.iter().map(Value::as_str).eq(ARGUMENTS.map(Some)));
    if !entry.get("args").is_some_and(is_right) {
        entry.insert("args", value(Value::from_iter(ARGUMENTS)));
    }
    if server.approved.is_empty() {
        return Ok(());
    }
    let tools = entry.entry("tools").or_insert_with(|| Item::Table(Table::new()));
    let tools = tools.as_table_like_mut().ok_or_else(|| not_a_table("mcp_servers.backsight.tools"))?;
    for tool in &server.approved {
        let tool = tools.entry(tool).or_insert_with(|| {
            let mut table = Table::new();
            table.set_dotted(true);
            Item::Table(table)
        });
        let tool = tool.as_table_like_mut().ok_or_else(|| not_a_table("mcp_servers.backsight.tools"))?;
        // What the user decided about a tool stays.
        tool.entry("approval_mode").or_insert_with(|| value("approve"));
    }
    Ok(())
}

fn unset(document: &mut DocumentMut) -> Result<()> {
    if let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) {
        servers.remove(NAME);
        if servers.is_empty() {
            document.remove(SERVERS);
        }
    }
    Ok(())
}

fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
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
