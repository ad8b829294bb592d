//! Where something was said, as a person looks for it: the app's own file and line. A library's place tells less than the
//! line that called it, and a compiler's words name the file that is wrong, not the script that shows them.

use crate::endpoint;
use crate::event::{Cause, Console, Frame, Level, Speaker};
use crate::fingerprint::frames::{is_own, printed};
use crate::noise;

use super::console::first_characters;

/// Characters of a place that are shown.
const SHOWN: usize = 200;
/// Errors behind an error that are shown, and characters of each.
const CAUSES: usize = 3;
const CAUSE: usize = 120;

/// The first place of the app's own: in the stack, in the stack that the message holds, in a compiler's words. Without one,
/// the innermost, or the command, or the browser.
pub(super) fn of(console: &Console) -> String {
    let mut own = console.stack.iter().filter(|frame| is_own(&frame.file)).peekable();
    // A frame without a line is what a tool put into the app's file.
    let first = own.peek().copied();
    if let Some(frame) = own.find(|frame| frame.line > 0).or(first) {
        return shown(frame, console);
    }
    // What holds several errors is made by the engine, and they are made by the app.
    let mut behind = console.causes.iter().flat_map(|cause| &cause.stack);
    if let Some(frame) = behind.find(|frame| is_own(&frame.file) && frame.line > 0) {
        return shown(frame, console);
    }
    if console.level >= Level::Warning {
        if let Some((file, line)) = printed(&console.message).find(|(file, _)| is_own(file)) {
            return line_of(file, line, console);
        }
        // A program that names a file and no line says more than which program it is.
        let is_enough = |line: u32| line > 0 || console.speaker == Speaker::Terminal && console.stack.is_empty();
        if let Some((file, line)) = in_words(&console.message).filter(|(_, line)| is_enough(*line)) {
            return line_of(file, line, console);
        }
    }
    noise::speaking_frame(&console.stack).map_or_else(|| who(console), |frame| shown(frame, console))
}

/// The first errors behind an error, each with its place: `TypeError: no rows @ src/cart.js:4`.
pub(super) fn causes(console: &Console) -> Vec<String> {
    let said = |cause: &Cause| {
        let words = cause.message.lines().next().unwrap_or_default();
        let own = cause.stack.iter().find(|frame| is_own(&frame.file)).or(cause.stack.first());
        let place = own.map(|frame| format!(" @ {}", shown(frame, console))).unwrap_or_default();
        format!("{}{place}", first_characters(words, CAUSE))
    };
    console.causes.iter().take(CAUSES).map(said).collect()
}

/// The address of the script that speaks, by which noise is known.
pub(super) fn speaking(console: &Console) -> String {
    let address = |frame: &Frame| with_line(frame.file.split(['?', '#']).next().unwrap_or_default(), frame.line);
    noise::speaking_frame(&console.stack).map_or_else(|| who(console), address)
}

/// Who speaks, where no code does.
fn who(console: &Console) -> String {
    match console.speaker {
        Speaker::Terminal => first_characters(console.page.as_deref().unwrap_or("terminal"), 80),
        Speaker::Browser => "browser".to_owned(),
        Speaker::Page | Speaker::Exception => String::new(),
    }
}

fn shown(frame: &Frame, console: &Console) -> String {
    line_of(&frame.file, frame.line, console)
}

/// `file:line`, without the origin when it is the page's own.
fn line_of(file: &str, line: u32, console: &Console) -> String {
    let file = file.split(['?', '#']).next().unwrap_or_default();
    let home = console.page.as_deref().map(endpoint::origin).filter(|home| !home.is_empty());
    let own = home.and_then(|home| file.strip_prefix(home)).map(|path| path.trim_start_matches('/'));
    // The document itself has no other name than its address.
    let own = own.filter(|path| !path.is_empty()).unwrap_or(file);
    let own = ["webpack-internal:///", "webpack://", "file://"]
        .iter()
        .fold(own, |own, scheme| own.strip_prefix(scheme).unwrap_or(own));
    let own = own.strip_prefix("./").unwrap_or(own);
    with_line(own, line)
}

fn with_line(file: &str, line: u32) -> String {
    match line {
        0 => first_characters(file, SHOWN),
        line => format!("{}:{line}", first_characters(file, SHOWN)),
    }
}

/// Files that compilers speak of.
const ENDINGS: [&str; 27] = [
    "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "astro", "html", "css", "scss", "sass",
    "less", "json", "mdx", "py", "rb", "php", "rs", "go", "java", "kt", "cs", "ex",
];
/// So many words of a message are looked at.
const WORDS: usize = 400;

/// The file and line that a text names: `src/a.ts:3:4`, `./src/a.js 3:0-20`, `/src/a.jsx: Unexpected token (4:17)`; the line
/// is 0 when it names none.
fn in_words(message: &str) -> Option<(&str, u32)> {
    let is_end = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '[' | ']' | '<' | '>');
    let words: Vec<&str> = message.split(is_end).filter(|word| !word.is_empty()).take(WORDS).collect();
    let files = words.iter().enumerate().filter_map(|(at, word)| Some((at, file(word)?)));
    let mut own = files.filter(|(_, (file, _))| is_own(file)).peekable();
    let (_, (first, _)) = *own.peek()?;
    let named = own.find_map(|(at, (file, line))| {
        let next = || words.get(at + 1).and_then(|next| position(next));
        Some((file, line.or_else(next)?))
    });
    // The position may stand apart from the file, in brackets.
    let apart = || words.iter().find_map(|word| position(bracketed(word)?)).map(|line| (first, line));
    named.or_else(apart).or(Some((first, 0)))
}

/// A word that names a file, with its line if that is in it.
fn file(word: &str) -> Option<(&str, Option<u32>)> {
    let word = word.trim_start_matches(['(', ',']).trim_end_matches([')', ',', ';', '.', ':']);
    let mut numbers = Vec::new();
    let mut name = word;
    while let Some((before, number)) = name.rsplit_once(':').filter(|_| numbers.len() < 2) {
        let Ok(number) = number.parse::<u32>() else { break };
        numbers.push(number);
        name = before;
    }
    let path = name.split(['?', '#']).next()?;
    let (stem, ending) = path.rsplit_once('.')?;
    let is_file =
        ENDINGS.contains(&ending) && stem.ends_with(|last: char| last.is_alphanumeric() || "_-])".contains(last));
    is_file.then(|| (path, numbers.last().copied()))
}

fn bracketed(word: &str) -> Option<&str> {
    word.trim_end_matches(['.', ',', ':']).strip_prefix('(')?.strip_suffix(')')
}

/// The line of `3:0-20`, `3:4` or `(3:4)`.
fn position(word: &str) -> Option<u32> {
    let word = bracketed(word).unwrap_or(word).trim_end_matches([':', ',']);
    let (line, column) = word.split_once(':')?;
    // `5:43:50` is a time, which may follow the name of a file.
    let is_time = !word.contains('-') && column.contains(':');
    let is_column = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-' || byte == b':');
    line.parse().ok().filter(|_| !column.is_empty() && !is_time && is_column(column))
}

#[cfg(test)]
mod tests;
