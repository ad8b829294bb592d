//! Lines that belong together are one message: an error with its stack trace, its excerpt of the code, its explanation.
//! A line that comes later than a moment after the one before it begins a message of its own.

use std::sync::LazyLock;

use backsight::browser::event::{Cause, Console, Frame, Level, Speaker};
use backsight_core::Timestamp;
use regex::Regex;

use super::frames::{self, Traced};
use super::{behind, level, structured};

/// Milliseconds after which a line does not belong to the one before it any more.
const TOGETHER: i64 = 50;
/// The same where what was said so far cannot be the end.
const UNFINISHED: i64 = 1000;
/// Lines of a message at most; further ones are counted.
const LINES: usize = 300;
/// Bytes of a message at most.
const LONGEST: usize = 8 << 10;
/// Places of a message at most.
const FRAMES: usize = 30;

/// Lines that continue an error without being indented.
static CONTINUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let patterns = [
        r"^(?:note|help|hint|Caused by|Require stack|Stack backtrace|stack backtrace|\[cause\])\b.*:?",
        r"^\s*>?\s*\d*\s*[|│╵┆]",
        r"^\s*[\^~]+\s*$",
        r"^[}\])]+;?$",
        // Node's and Nuxt's lists below what is not found
        r"^- (?:/|If you rely on tsconfig|Make sure you don't have)",
        // Youch, Nuxt's traces
        r"^\s*⁃\s",
        r"^\s*❯?\s*\d+\s*┃",
        r"^https://svelte\.dev/e/",
        // Vite, after why
        r"\bserver restart failed$",
        r"^\.\.\.$",
        // pytest
        r"^E\s{2,}",
        // PHP
        r"^Stack trace:$",
        r"^#\d+ ",
        r"^\s+thrown in ",
        // Boxes around code: oxc, rolldown, SWC
        r"^\s*(?:\d+\s*)?[╭╰├┬┴─·╎]",
        r"^\s+(?:Plugin|File|Help|Note): ",
    ];
    Regex::new(&patterns.join("|")).ok()
});
/// A source file as a page of an app is written.
static SOURCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:\.{1,2}/|/)\S+\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx?|css|scss|sass|less)$").ok()
});
/// What Nitro says of a request before it says what went wrong.
static REQUEST: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[request error\](?: \[[^\]]+\])* https?://\S+$").ok());
/// Cargo's own progress, which is indented for looks.
static PROGRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let verbs = "Adding|Blocking|Building|Checking|Compiling|Doc-tests|Documenting|Downloaded|Downloading|Finished|\
                 Fresh|Installing|Locking|Packaging|Running|Updating|Waiting";
    Regex::new(&format!(r"^\s{{2,}}(?:{verbs})\s")).ok()
});
/// Lines that begin something of their own even when they are indented.
static ITEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s+(?:\d+:\d+\s+(?:error|warning)\s|[●✕×✖]\s)").ok());
/// What goes on after a panic in Go.
static GOROUTINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:goroutine \d+|created by |\S+\(.*\)$|\t|exit status \d)").ok());

/// How the last line of a Python trace begins: the exception's name, or what joins two traces.
static EXCEPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:(?:[A-Za-z_]\w*\.)*[A-Z_]\w*(?:: .*|:)?$|During handling of|The above exception|Traceback )").ok()
});
/// An exception of Java or .NET with its package, which loggers write below what they were about.
static QUALIFIED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:Caused by: )?(?:[A-Za-z_][\w$]*\.)+[A-Z]\w*(?:Exception|Error)(?::\s|$)").ok()
});
/// What loggers put in front of a line; no exception is called so.
static LOGGED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b").ok());
/// An access log's line of a request that failed in the server: `"GET /api HTTP/1.1" 500`.
static FAILED_REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \S+(?: HTTP/[\d.]+)?"?:? 5\d\d\b"#,
        r"|\bCompleted 5\d\d\b|\[5\d\d\]:? (?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) ",
    ))
    .ok()
});

/// How Python begins a trace.
const TRACE: &str = "Traceback (most recent call last):";
/// What a server says of itself when the exception before has stopped it.
static CONSEQUENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^ERROR:?\s+Application (?:startup|shutdown) failed\b").ok());

/// Something a process said.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// When its first line came.
    pub time: Timestamp,
    /// How serious.
    pub level: Level,
    /// Its text, without the stack.
    pub text: String,
    /// Places in code, innermost first.
    pub stack: Vec<Frame>,
    /// The errors behind it, the nearest first.
    pub causes: Vec<Cause>,
    /// How many lines it was on the terminal.
    pub lines: u64,
}

impl Message {
    /// As the console is told.
    pub fn into_console(self, command: &str) -> Console {
        Console {
            time: self.time,
            level: self.level,
            speaker: Speaker::Terminal,
            message: self.text,
            stack: self.stack,
            causes: self.causes,
            page: Some(command.to_owned()),
            backfilled: false,
        }
    }
}

/// Takes lines and gives messages.
#[derive(Debug, Default)]
pub struct Joiner {
    open: Option<Open>,
    /// When an error with its trace was said last, as long as no access log has counted it again.
    traced: Option<Timestamp>,
    /// A line that was nothing but a place, and when: Node writes where it failed, the code there, and then the error.
    place: Option<(Frame, Timestamp)>,
}

/// A message that may go on.
#[derive(Debug)]
struct Open {
    first: Timestamp,
    last: Timestamp,
    level: Level,
    kind: Kind,
    lines: Vec<String>,
    bytes: usize,
    /// Empty lines since the last one that was not.
    blanks: usize,
    count: u64,
    /// The place that stood by itself above it.
    above: Option<Frame>,
}

/// What decides how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Indented lines.
    Plain,
    /// So many lines more, whatever they are, then as usual: the headline alone says nothing.
    Headline(u8),
    /// Indented lines, also after empty ones, and differences.
    Test,
    /// Until the exception itself.
    Traceback,
    /// After the exception itself.
    Traced,
    /// Goroutines.
    Goroutines,
}

impl Kind {
    fn of(line: &str) -> Kind {
        let text = line.trim_start();
        match text {
            // Uvicorn logs a whole trace: `ERROR:    Traceback (most recent call last):`
            _ if text.ends_with(TRACE) => Kind::Traceback,
            _ if text.contains("panicked at ") && text.ends_with(':') => Kind::Headline(1),
            _ if text.starts_with("ERROR in ") || text.starts_with("WARNING in ") => Kind::Headline(1),
            _ if text.starts_with("Failed to compile") => Kind::Headline(2),
            _ if is_only_a_heading(text) => Kind::Headline(1),
            _ if text.contains("panic serving ") => Kind::Goroutines,
            _ if text.starts_with("panic: ") || text.starts_with("fatal error: ") => Kind::Goroutines,
            _ if text.starts_with("FAIL ") || text.starts_with("● ") || text.starts_with("E  ") => Kind::Test,
            _ => Kind::Plain,
        }
    }
}

/// Whether what is wrong stands on the next line.
fn is_only_a_heading(text: &str) -> bool {
    is_only_a_count(text) || is_only_a_place(text) || is_only_a_request(text) || is_only_a_config(text)
}

/// `failed to load config from /app/vite.config.js` is followed by why.
fn is_only_a_config(text: &str) -> bool {
    text.starts_with("failed to load config from ")
}

/// `Transform failed with 1 error:` says nothing of what is wrong.
fn is_only_a_count(text: &str) -> bool {
    text.contains(" failed with ") && (text.ends_with("error:") || text.ends_with("errors:"))
}

/// `⨯ ./app/page.tsx:3:5` and `⨯ ./app/page.tsx` neither.
fn is_only_a_place(text: &str) -> bool {
    let bare = text.trim_start_matches(['⨯', '✘', '×', ' ']);
    let is_file = || SOURCE.as_ref().is_some_and(|regex| regex.is_match(bare));
    bare.len() < text.len() && (frames::is_place(bare) || is_file())
}

/// Nor does `[request error] [unhandled] [GET] http://localhost:3000/api/orders`.
fn is_only_a_request(text: &str) -> bool {
    REQUEST.as_ref().is_some_and(|regex| regex.is_match(text))
}

impl Kind {
    fn patience(self) -> i64 {
        match self {
            Kind::Traceback | Kind::Headline(1..) => UNFINISHED,
            Kind::Plain | Kind::Headline(0) | Kind::Test | Kind::Traced | Kind::Goroutines => TOGETHER,
        }
    }
}

impl Joiner {
    /// Takes a line; whatever is complete goes to `each`.
    pub fn line(&mut self, line: String, now: Timestamp, each: &mut impl FnMut(Message)) {
        self.settle(now, each);
        if let Some(said) = structured::read(&line) {
            if self.open.as_ref().is_some_and(|open| open.kind != Kind::Traceback) {
                self.close(each);
            }
            let (level, text, stack) = (said.level, said.text, said.stack);
            return each(Message { time: now, level, text, stack, causes: Vec::new(), lines: 1 });
        }
        if let Some(open) = &mut self.open {
            if open.is_interrupted_by(&line) {
                return self.single(line, now, each);
            }
            if open.continues(&line) {
                return open.add(line, now);
            }
            // Some servers log the request first and what went wrong in it afterwards.
            if open.is_failed_request() && level::of(&line) == Level::Error {
                open.level = Level::Info;
            }
            self.close(each);
        }
        if line.trim().is_empty() {
            return;
        }
        self.begin(line, now, each);
    }

    /// A line of another thread in the middle of a trace: it is said by itself, and the trace goes on.
    fn single(&mut self, line: String, now: Timestamp, each: &mut impl FnMut(Message)) {
        let trace = self.open.take();
        self.begin(line, now, each);
        self.close(each);
        self.open = trace;
    }

    fn begin(&mut self, line: String, now: Timestamp, each: &mut impl FnMut(Message)) {
        let mut open = Open::begin(line, now);
        // The same failure, counted by the access log.
        let is_told = self.traced.is_some_and(|traced| (0..=UNFINISHED).contains(&(now.0 - traced.0)));
        if is_told && open.is_failed_request() {
            (open.level, self.traced) = (Level::Info, None);
        }
        match open.level {
            Level::Error | Level::Warning => {
                let is_near = |(_, at): &(Frame, Timestamp)| now.0 - at.0 <= TOGETHER;
                open.above = self.place.take().filter(is_near).map(|(place, _)| place);
                self.open = Some(open);
            }
            Level::Info | Level::Debug => {
                if let Some(place) = open.bare_place() {
                    self.place = Some((place, now));
                }
                each(open.finish());
            }
        }
    }

    /// Gives what nothing belongs to any more at that time.
    pub fn settle(&mut self, now: Timestamp, each: &mut impl FnMut(Message)) {
        if self.open.as_ref().is_some_and(|open| now.0 - open.last.0 > open.kind.patience()) {
            self.close(each);
        }
    }

    /// Whether a message may still go on.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Gives what is left.
    pub fn close(&mut self, each: &mut impl FnMut(Message)) {
        if let Some(open) = self.open.take() {
            let (last, message) = (open.last, open.finish());
            if message.level == Level::Error && !message.stack.is_empty() {
                self.traced = Some(last);
            }
            each(message);
        }
    }
}

impl Open {
    fn begin(line: String, now: Timestamp) -> Open {
        let (level, kind) = (level::of(&line), Kind::of(&line));
        let bytes = line.len();
        Open { first: now, last: now, level, kind, lines: vec![line], bytes, blanks: 0, count: 1, above: None }
    }

    /// The place in the app that it is, if it is nothing else.
    fn bare_place(&self) -> Option<Frame> {
        let line = self.lines.first().filter(|line| indent(line) == 0 && frames::is_place(line))?;
        frames::place(line).filter(|place| place.column == 0 && !frames::is_library(place))
    }

    fn is_failed_request(&self) -> bool {
        let line = self.lines.first().map_or("", String::as_str);
        self.count == 1 && FAILED_REQUEST.as_ref().is_some_and(|regex| regex.is_match(line))
    }

    fn is_group(&self) -> bool {
        self.kind == Kind::Traceback && self.lines.first().is_some_and(|first| behind::is_grouped(first))
    }

    /// Whether a line cannot be of the trace that is being written: neither a place, nor its code, nor the exception.
    fn is_interrupted_by(&self, line: &str) -> bool {
        // The lines of a group are marked; whatever is not comes after it.
        if self.is_group() {
            return false;
        }
        let matches = |pattern: &LazyLock<Option<Regex>>| pattern.as_ref().is_some_and(|regex| regex.is_match(line));
        let is_part = line.trim().is_empty() || line.starts_with([' ', '\t', '+', '|']);
        self.kind == Kind::Traceback && !is_part && (!matches(&EXCEPTION) || matches(&LOGGED))
    }

    fn continues(&self, line: &str) -> bool {
        let matches = |pattern: &LazyLock<Option<Regex>>| pattern.as_ref().is_some_and(|regex| regex.is_match(line));
        if line.trim().is_empty() {
            return true;
        }
        // An error is never part of a warning.
        if self.level < Level::Error && level::of(line) == Level::Error {
            return false;
        }
        let indented = indent(line) > self.lines.first().map_or(0, |first| indent(first));
        let part_of_trace = matches!(frames::traced(line), Some(Traced::Frame(_)));
        match self.kind {
            Kind::Headline(more) if more > 0 => return true,
            Kind::Traceback => return !self.is_group() || behind::is_grouped(line),
            // A logger says first what it was about.
            _ if self.blanks == 0 && line.starts_with("Traceback (most recent") => return true,
            _ if self.count == 1 && self.level == Level::Error && matches(&QUALIFIED) => return true,
            Kind::Goroutines if matches(&GOROUTINE) => return true,
            Kind::Traced => {
                // Exceptions have several lines, and FastAPI's end with the place of the route.
                let goes_on = self.blanks == 0 && line.starts_with([' ', '\t']);
                return goes_on
                    || frames::is_python(line)
                    || matches(&CONSEQUENCE)
                    || self.blanks == 0 && self.lists_fields() && is_field(line)
                    || line.starts_with("During handling of")
                    || line.starts_with("The above exception")
                    || line.starts_with("Traceback (most recent");
            }
            Kind::Test if self.blanks == 0 && level::of(line) == Level::Error && self.count == 1 => return true,
            Kind::Test if line.starts_with(['-', '+']) || frames::place(line).is_some() => return true,
            _ => {}
        }
        if matches(&PROGRESS) || matches(&ITEM) {
            return false;
        }
        if part_of_trace || matches(&CONTINUES) {
            return true;
        }
        // After an empty line only what plainly belongs to it.
        indented && (self.blanks == 0 || self.kind == Kind::Test || frames::is_place(line))
    }

    /// Whether it is a validation's error, which names each field on a line of its own.
    fn lists_fields(&self) -> bool {
        self.lines.iter().rev().any(|line| line.contains(" validation error") && line.contains(" for "))
    }

    fn add(&mut self, line: String, now: Timestamp) {
        self.last = now;
        if line.trim().is_empty() {
            self.blanks += 1;
            return;
        }
        self.count += 1 + self.blanks as u64;
        self.blanks = 0;
        self.kind = match self.kind {
            // What follows may be a heading itself.
            Kind::Headline(more) if more > 0 => {
                Kind::Headline((more - 1).max(u8::from(is_only_a_count(line.trim_start()))))
            }
            Kind::Traceback if !line.starts_with([' ', '\t', '+', '|']) => Kind::Traced,
            _ if line.starts_with("Traceback (most recent") => Kind::Traceback,
            kind => kind,
        };
        self.bytes += line.len() + 1;
        self.lines.push(line);
        // The end of a trace says what it is about, so what is in its middle goes.
        if self.lines.len() > LINES {
            let gone = self.lines.remove(LINES / 2);
            self.bytes -= gone.len() + 1;
        }
    }

    fn finish(self) -> Message {
        let (lines, causes) = behind::split(&self.lines);
        let is_python = lines.iter().any(|line| frames::is_python(line));
        let (text, mut stack) = if is_python { python(&lines) } else { other(&lines) };
        let named = text.lines().find_map(frames::place);
        if let Some(place) = named.filter(|place| !stack.iter().any(|frame| same(frame, place))) {
            stack.insert(0, place);
        }
        // Of code that does not parse, the trace knows only who loaded it.
        let is_nodes = stack.iter().any(|frame| frame.file.starts_with("node:"));
        if let Some(place) = self.above.filter(|place| is_nodes && !stack.iter().any(|frame| same(frame, place))) {
            stack.insert(0, place);
        }
        // The place that counts is the app's own; below it everything stays in order.
        if let Some(own) = stack.iter().position(|frame| !frames::is_library(frame)) {
            stack[..=own].rotate_right(1);
        }
        stack.truncate(FRAMES);
        let (time, level, lines) = (self.first, self.level, self.count);
        Message { time, level, text: cut(text, lines), stack, causes, lines }
    }
}

/// `order.total`, `items.0.price`
fn is_field(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-[]".contains(&byte))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn same(one: &Frame, other: &Frame) -> bool {
    one.line == other.line && (one.file.ends_with(&other.file) || other.file.ends_with(&one.file))
}

/// The exceptions, the last of which is what went wrong in the end, and the places of the last one, innermost first.
fn python(lines: &[String]) -> (String, Vec<Frame>) {
    let start = lines.iter().rposition(|line| line.contains("Traceback (most recent")).unwrap_or(0);
    let mut stack: Vec<Frame> = lines[start..]
        .iter()
        .filter_map(|line| match frames::traced(line) {
            Some(Traced::Frame(frame)) => Some(frame),
            _ => None,
        })
        .collect();
    stack.reverse();
    let is_exception = |line: &&String| !line.starts_with([' ', '\t']) && !line.contains("Traceback (most recent");
    let first = lines[start..].iter().position(|line| is_exception(&line)).map_or(lines.len(), |at| start + at);
    // Below the exception stands what else it says, and perhaps a place.
    let is_said = |line: &&String| !frames::is_python(line);
    let said: Vec<&str> = lines[first..].iter().filter(is_said).map(|line| line.trim_end()).collect();
    let text = if said.is_empty() { lines.first().cloned().unwrap_or_default() } else { said.join("\n") };
    // A line before the trace says what the program was about to do.
    match lines.first().filter(|first| start > 0 && is_exception(first)) {
        Some(before) => (format!("{text}\n{before}"), stack),
        None => (text, stack),
    }
}

/// The text without the lines of the trace, and the trace.
fn other(lines: &[String]) -> (String, Vec<Frame>) {
    let mut text: Vec<&str> = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    let mut function: Option<&str> = None;
    for line in lines {
        match frames::traced(line) {
            Some(Traced::Frame(frame)) => {
                let named = function.take().unwrap_or_default();
                let function = if frame.function.is_empty() { named.to_owned() } else { frame.function.clone() };
                stack.push(Frame { function, ..frame });
            }
            // The function's name stands on the line before its place.
            Some(Traced::Function(_)) => function = line.split_once(": ").map(|(_, name)| name.trim()),
            None => text.push(line.trim_end()),
        }
    }
    let says_nothing = |line: &str| {
        let line = line.trim_start();
        let is_panic = line.contains("panicked at ") && line.ends_with(':');
        is_panic || is_only_a_heading(line)
    };
    let headline = text.first().is_some_and(|line| says_nothing(line));
    // What went wrong comes first, and then what the logger was about.
    if let Some(at) = text.iter().position(|line| QUALIFIED.as_ref().is_some_and(|regex| regex.is_match(line))) {
        let exception = text.remove(at).trim_start();
        text.insert(0, exception);
    }
    let text = text.join("\n");
    // After a file's name, a time would be read as a place in it.
    let between = if is_only_a_config(&text) { ": " } else { " " };
    (if headline { text.replacen('\n', between, 1) } else { text }, stack)
}

fn cut(mut text: String, lines: u64) -> String {
    let text_lines = text.lines().count();
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    } else if lines > LINES as u64 && text_lines > 1 {
        text.push_str(&format!("\n… {lines} lines in all"));
    }
    text
}
