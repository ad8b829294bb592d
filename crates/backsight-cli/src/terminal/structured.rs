//! Lines of loggers that write for machines: one JSON object a line (pino, bunyan, winston, zap, zerolog, slog, structlog,
//! Monolog, Serilog, Logback), or `key=value` (logfmt). What matters of a line is its level, its message and the error in it.

use backsight::browser::event::{Frame, Level};
use serde_json::{Map, Value};

use super::frames::{self, Traced};

/// Bytes of a line that is read as JSON at most; longer ones were cut and are none.
const LONGEST: usize = 8 << 10;
/// Where loggers write how serious a line is.
const LEVELS: [&str; 8] = ["level", "severity", "levelname", "level_name", "log.level", "lvl", "@l", "loglevel"];
/// Where they write what it says.
const MESSAGES: [&str; 7] = ["msg", "message", "event", "@m", "@mt", "short_message", "text"];
/// Where they write an error: an object, or its words.
const ERRORS: [&str; 6] = ["err", "error", "exception", "exc_info", "exc", "@x"];
/// Where they write its stack.
const STACKS: [&str; 6] = ["stack", "stacktrace", "stack_trace", "traceback", "exc_text", "errorVerbose"];

/// What a line of such a logger says.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// How serious.
    pub level: Level,
    /// Its words.
    pub text: String,
    /// Places in code, innermost first.
    pub stack: Vec<Frame>,
}

/// Reads a line, if it is one of those.
pub fn read(line: &str) -> Option<Line> {
    let text = line.trim();
    match text.starts_with('{') && text.ends_with('}') && text.len() <= LONGEST {
        true => of_json(&serde_json::from_str(text).ok()?),
        false => of_pairs(text),
    }
}

fn of_json(fields: &Map<String, Value>) -> Option<Line> {
    let level = LEVELS.iter().find_map(|name| fields.get(*name)).and_then(level);
    // Serilog leaves out what is ordinary.
    let level = level.or_else(|| fields.contains_key("@t").then_some(Level::Info))?;
    let message = MESSAGES.iter().find_map(|name| fields.get(*name)?.as_str()).unwrap_or_default();
    let error = ERRORS.iter().find_map(|name| fields.get(*name).filter(|error| !error.is_null() && **error != false));
    let (named, traced) = error.map(error_of).unwrap_or_default();
    let traced = traced.or_else(|| STACKS.iter().find_map(|name| fields.get(*name)?.as_str()).map(str::to_owned));
    let stack = traced.as_deref().map(places).unwrap_or_default();
    let caller = ["caller", "source", "file"].iter().find_map(|name| fields.get(*name)).and_then(caller);
    let named = named.or_else(|| traced.as_deref().and_then(headline)).unwrap_or_default();
    let text = match (message, named.as_str()) {
        (message, named) if named.contains(message) => named.to_owned(),
        (message, named) if message.contains(named) => message.to_owned(),
        (message, named) => format!("{message}: {named}"),
    };
    let stack = if stack.is_empty() { caller.into_iter().collect() } else { stack };
    Some(Line { level, text, stack }).filter(|line| !line.text.is_empty())
}

fn level(value: &Value) -> Option<Level> {
    match (value.as_str(), value.as_u64()) {
        (Some(word), _) => named_level(word),
        // Monolog counts in hundreds, all others as bunyan did.
        (_, Some(400..)) => Some(Level::Error),
        (_, Some(300..400)) => Some(Level::Warning),
        (_, Some(200..300)) => Some(Level::Info),
        (_, Some(100..200)) => Some(Level::Debug),
        (_, Some(50..)) => Some(Level::Error),
        (_, Some(40..)) => Some(Level::Warning),
        (_, Some(30..)) => Some(Level::Info),
        (_, Some(10..)) => Some(Level::Debug),
        _ => None,
    }
}

fn named_level(word: &str) -> Option<Level> {
    let word = word.to_ascii_lowercase();
    Some(match word.as_str() {
        "error" | "eror" | "err" | "fatal" | "critical" | "crit" | "panic" | "dpanic" | "alert" | "emergency"
        | "emerg" | "severe" => Level::Error,
        "warn" | "warning" => Level::Warning,
        "info" | "information" | "informational" | "notice" | "http" | "log" | "default" => Level::Info,
        "debug" | "trace" | "verbose" | "silly" | "fine" => Level::Debug,
        _ => return None,
    })
}

/// The words of an error and its stack, whichever it has.
fn error_of(error: &Value) -> (Option<String>, Option<String>) {
    match error {
        Value::String(text) if text.contains('\n') => (headline(text), Some(text.clone())),
        Value::String(text) => (Some(text.clone()), None),
        Value::Object(fields) => {
            let field = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_str()).map(str::to_owned);
            let kind = field(&["type", "name", "class", "exc_type"]);
            let message = field(&["message", "msg", "exc_value"]);
            let words = match (kind, message) {
                (Some(kind), Some(message)) => Some(format!("{kind}: {message}")),
                (kind, message) => message.or(kind),
            };
            (words, field(&["stack", "stacktrace", "trace"]))
        }
        _ => (None, None),
    }
}

/// What a trace says went wrong: its last line in Python, its first elsewhere.
fn headline(trace: &str) -> Option<String> {
    let is_python = trace.trim_start().starts_with("Traceback");
    let mut lines = trace.lines().filter(|line| !line.trim().is_empty());
    let line = if is_python { lines.next_back() } else { lines.next() }?;
    let is_place = matches!(frames::traced(line), Some(Traced::Frame(_)));
    (!is_place).then(|| line.trim().to_owned())
}

/// Places of a trace, innermost first.
fn places(trace: &str) -> Vec<Frame> {
    let mut places: Vec<Frame> = trace.lines().filter_map(frames::traced_place).collect();
    if trace.trim_start().starts_with("Traceback") {
        places.reverse();
    }
    places
}

/// `shop/cart.go:12`, or an object with file and line.
fn caller(value: &Value) -> Option<Frame> {
    match value {
        Value::String(text) => frames::place(text),
        Value::Object(fields) => {
            let file = fields.get("file")?.as_str()?.to_owned();
            let line = fields.get("line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
            Some(Frame { file, line: line.unwrap_or(0), ..Frame::default() })
        }
        _ => None,
    }
}

/// `time=12:00 level=error msg="it broke" err="no rows" caller=shop/cart.go:12`
fn of_pairs(line: &str) -> Option<Line> {
    let pairs = pairs(line)?;
    let get = |names: &[&str]| {
        names.iter().find_map(|name| pairs.iter().find(|(key, _)| key == name)).map(|(_, value)| value.as_str())
    };
    let level = named_level(get(&["level", "lvl", "severity"])?)?;
    let message = get(&["msg", "message", "event"])?;
    let error = get(&["err", "error"]).filter(|error| !error.is_empty() && !message.contains(error));
    let text = error.map_or_else(|| message.to_owned(), |error| format!("{message}: {error}"));
    let stack = get(&["caller", "source", "file"]).and_then(frames::place).into_iter().collect();
    Some(Line { level, text, stack })
}

/// Keys and values, if the line consists of nothing else.
fn pairs(line: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        if key.is_empty() || !key.chars().all(|letter| letter.is_alphanumeric() || "._-@".contains(letter)) {
            return None;
        }
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted_value(quoted)?,
            None => {
                let (value, after) = after.split_once(' ').unwrap_or((after, ""));
                (value.to_owned(), after)
            }
        };
        found.push((key.to_owned(), value));
        rest = after.trim_start();
    }
    (found.len() >= 2).then_some(found)
}

fn quoted_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            character => value.push(character),
        }
    }
    None
}
