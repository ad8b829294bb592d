//! Places in code as part of a message's identity: function and file, never line and column, and only those of the app itself.

use crate::endpoint;
use crate::event::Frame;

use super::hash;

/// How many of the app's own places tell one error from another.
const TELLING: usize = 3;
/// How many places are looked at.
const LOOKED_AT: usize = 50;

/// A message without the stack that is printed after it, and that stack.
pub(super) fn split(message: &str) -> (&str, &str) {
    let mut from = 0;
    while let Some(newline) = message.get(from..).and_then(|rest| rest.find('\n')).map(|at| at + from) {
        let line = message[newline + 1..].split('\n').next().unwrap_or_default();
        if parse(line).is_some() {
            return message.split_at(newline);
        }
        from = newline + 1;
    }
    (message, "")
}

/// Adds the app's own places to a hash: those a source told, or else those the text holds.
pub(super) fn add(mut key: u64, frames: &[Frame], printed: &str) -> u64 {
    let told = frames.iter().map(|frame| (frame.function.as_str(), frame.file.as_str()));
    let printed = printed.lines().take(LOOKED_AT).filter_map(parse);
    let places: Vec<(&str, &str)> = match frames.is_empty() {
        false => told.take(LOOKED_AT).filter(|(_, file)| is_own(file)).take(TELLING).collect(),
        true => printed.filter(|(_, file)| is_own(file)).take(TELLING).collect(),
    };
    for (function, file) in places {
        key = hash::end_of_part(hash::add(key, bare(function).as_bytes()));
        key = hash::end_of_part(hash::add(key, endpoint::template(path(file)).as_bytes()));
    }
    key
}

/// Where the innermost script comes from.
pub(super) fn script_origin<'a>(frames: &'a [Frame], printed: &'a str) -> &'a str {
    let printed = || printed.lines().find_map(parse).map(|(_, file)| file);
    frames.first().map(|frame| frame.file.as_str()).or_else(printed).map(endpoint::origin).unwrap_or_default()
}

/// What is no code of the app's, wherever it stands in a file's name: libraries, what bundlers and dev servers add, what
/// extensions and engines run.
const FOREIGN: [&str; 27] = [
    "node_modules/",
    "/deps/chunk-",
    "vite/deps/",
    "/@vite/",
    "/@react-refresh",
    "/@id/",
    "-extension://",
    "extensions::",
    "<anonymous>",
    "[native code]",
    "native code",
    "webpack/bootstrap",
    "webpack/runtime",
    "webpack/hot",
    "(webpack)",
    "webpack-dev-server/",
    "[turbopack]",
    "turbopack/browser",
    "/_next/static/chunks/webpack",
    "/_next/static/chunks/polyfills",
    "next/dist/",
    "zone.js/",
    "site-packages/",
    "dist-packages/",
    "/lib/python",
    ".cargo/registry/",
    "/rustc/",
];
/// What a name of theirs begins with.
const INTERNAL: [&str; 12] = [
    "node:",
    "native",
    "internal/",
    "chrome:",
    "debugger:",
    "VM",
    "eval at ",
    "pptr:",
    "snippet:",
    "about:blank",
    "evalmachine.",
    "<",
];

/// Whether a file belongs to the app.
pub(crate) fn is_own(file: &str) -> bool {
    !file.is_empty()
        && !FOREIGN.iter().any(|part| file.contains(part))
        && !INTERNAL.iter().any(|start| file.starts_with(start))
}

/// The files and lines of the stack that is printed within a message, as component stacks are.
pub(crate) fn printed(message: &str) -> impl Iterator<Item = (&str, u32)> {
    let (_, stack) = split(message);
    stack.lines().take(LOOKED_AT).filter_map(|line| {
        let (_, file) = parse(line)?;
        let numbers = &line[line.find(file)? + file.len()..];
        let line = numbers.trim_start_matches(':').split(|letter: char| !letter.is_ascii_digit()).next()?;
        Some((file, line.parse().ok()?))
    })
}

/// A function's name without what engines put before it.
fn bare(function: &str) -> &str {
    let function = function.strip_prefix("async ").unwrap_or(function);
    let function = function.strip_prefix("new ").unwrap_or(function);
    let function = function.strip_prefix("Object.").unwrap_or(function);
    if function == "<anonymous>" { "" } else { function }
}

/// The path of an address; the origin counts once and by itself.
fn path(file: &str) -> &str {
    match file.find("://") {
        Some(at) => file[at + 3..].find('/').map_or("", |slash| &file[at + 3 + slash..]),
        None => file,
    }
}

/// Function and file of one printed line, as V8 (`at f (file:1:2)`) or the others (`f@file:1:2`) print it.
fn parse(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (function, place) = match line.strip_prefix("at ") {
        Some(rest) => match rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
            Some((function, place)) => (function, place),
            None => ("", rest.strip_prefix("async ").unwrap_or(rest)),
        },
        None => line.split_once('@').filter(|(function, _)| !function.contains(' '))?,
    };
    if place == "<anonymous>" || place == "native" {
        return Some((function, place));
    }
    let file = without_number(place)?;
    Some((function, without_number(file).unwrap_or(file)))
}

/// What comes before `:12`.
fn without_number(place: &str) -> Option<&str> {
    let (before, number) = place.rsplit_once(':')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(before)
}
