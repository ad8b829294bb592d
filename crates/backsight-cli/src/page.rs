//! Where answers go. A [`Page`] collects what a person reads: data for stdout, talk for stderr.
//! A [`Screen`] writes a page, or instead of it exactly one JSON object.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::os::fd::AsFd;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use backsight::request::BinaryFiles;
use backsight_core::{Error, Result, safe_json};
use backsight_server::CommandLine;
use serde::Serialize;

use crate::cli::Color;
use crate::width;

/// How to write answers: settled once, before the command runs.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    json: bool,
    data: Surface,
    talk: Surface,
}

/// What a stream can show.
#[derive(Clone, Copy, Debug)]
struct Surface {
    colour: bool,
    terminal: bool,
    /// Columns of the terminal, when it is one that says so.
    width: Option<usize>,
}

impl Surface {
    fn of(stream: &(impl RawStream + AsFd)) -> Self {
        let terminal = rustix::termios::isatty(stream);
        let size = if terminal { rustix::termios::tcgetwinsize(stream).ok() } else { None };
        let width = size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
        Surface { colour: AutoStream::choice(stream) != ColorChoice::Never, terminal, width }
    }
}

impl Screen {
    /// Looks at the streams and at `NO_COLOR` and `CLICOLOR_FORCE`.
    pub fn new(json: bool, color: Color) -> Self {
        let choice = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        choice.write_global();
        Screen { json, data: Surface::of(&io::stdout()), talk: Surface::of(&io::stderr()) }
    }

    /// Whether the caller wants JSON.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// What a diff on stdout holds of binary files: a program may apply it.
    pub fn binary_files(&self) -> BinaryFiles {
        if self.data.terminal { BinaryFiles::Named } else { BinaryFiles::Whole }
    }

    /// Whether stdout is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.data.terminal
    }

    /// Whether stdout shows colours.
    pub fn is_coloured(&self) -> bool {
        self.data.colour
    }

    /// Writes the report as `{"ok":true, ...}`, or what `human` puts on a page.
    pub fn answer<T: Serialize>(&self, report: &T, human: impl FnOnce(&mut Page)) -> Result<()> {
        let written = if self.json { print_json(&Envelope { ok: true, report }) } else { self.print(human) };
        written.map_err(|error| {
            let message = format!("what was asked for is done, and only the answer is lost: {}", error.message());
            Error::new(error.code(), message).with_hint("see what was recorded with `backsight log`")
        })
    }

    /// Writes a failure as its envelope, or what `human` puts on a page.
    pub fn refuse(&self, error: &Error, human: impl FnOnce(&mut Page)) -> Result<()> {
        if self.json {
            return print_json(&error.to_json(&CommandLine));
        }
        self.print(human)
    }

    /// Writes a page for a person at once.
    pub fn print(&self, human: impl FnOnce(&mut Page)) -> Result<()> {
        let mut page = Page { data: Sheet::new(self.data), talk: Sheet::new(self.talk) };
        human(&mut page);
        write_all(io::stdout().lock(), &page.data.bytes)?;
        write_all(io::stderr().lock(), &page.talk.bytes)
    }

    /// Writes a page for a person to stderr: stdout belongs to somebody else.
    pub fn print_aside(&self, human: impl FnOnce(&mut Page)) -> Result<()> {
        let mut page = Page { data: Sheet::new(self.talk), talk: Sheet::new(self.talk) };
        human(&mut page);
        write_all(io::stderr().lock(), &[page.data.bytes, page.talk.bytes].concat())
    }
}

/// What a person reads: `data` goes to stdout, `talk` to stderr after it.
pub struct Page {
    /// The answer.
    pub data: Sheet,
    /// Warnings, notes and hints.
    pub talk: Sheet,
}

impl Page {
    /// Something that went less than perfectly.
    pub fn warning(&mut self, text: impl Display) {
        self.say(YELLOW.bold(), "warning:", text);
    }

    /// Something worth knowing.
    pub fn note(&mut self, text: impl Display) {
        self.say(Style::new().bold(), "note:", text);
    }

    /// What to do next.
    pub fn hint(&mut self, text: impl Display) {
        self.say(CYAN.bold(), "hint:", text);
    }

    /// What went wrong.
    pub fn error(&mut self, text: impl Display) {
        self.say(RED.bold(), "error:", text);
    }

    /// A sentence with a label in front; a terminal would break it in the middle of a word.
    fn say(&mut self, style: Style, label: &str, text: impl Display) {
        let indent = label.len() + 1;
        let text = match self.talk.width() {
            Some(width) => width::wrap(&text.to_string(), width, indent),
            None => text.to_string(),
        };
        let label = self.talk.paint(style, label);
        self.talk.line(format_args!("{label} {text}"));
    }
}

/// The text bound for one stream.
pub struct Sheet {
    bytes: Vec<u8>,
    surface: Surface,
}

impl Sheet {
    fn new(surface: Surface) -> Self {
        Sheet { bytes: Vec::new(), surface }
    }

    /// One line.
    pub fn line(&mut self, text: impl Display) {
        // Writing to memory cannot fail; a `Display` that fails leaves what it wrote.
        let mut line = String::new();
        let _ = write!(line, "{text}");
        self.bytes.extend_from_slice(line.trim_end().as_bytes());
        self.bytes.push(b'\n');
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes as they are, in a style when the stream shows colours.
    pub fn raw_painted(&mut self, style: Style, bytes: &[u8]) {
        if !self.surface.colour {
            return self.raw(bytes);
        }
        self.raw(style.render().to_string().as_bytes());
        self.raw(bytes);
        self.raw(style.render_reset().to_string().as_bytes());
    }

    /// The text in a style, when the stream shows colours.
    pub fn paint(&self, style: Style, text: impl Display) -> String {
        if self.surface.colour { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Less important text.
    pub fn dim(&self, text: impl Display) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// More important text.
    pub fn bold(&self, text: impl Display) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// How many columns there are; none where it does not matter.
    pub fn width(&self) -> Option<usize> {
        self.surface.width
    }

    /// One line, cut where the terminal ends.
    pub fn fitted(&mut self, text: impl Display) {
        match self.width() {
            Some(width) => self.line(width::cut(&text.to_string(), width)),
            None => self.line(text),
        }
    }

    /// Whether the stream is a terminal, which acts on control characters.
    pub fn is_terminal(&self) -> bool {
        self.surface.terminal
    }
}

/// Colours by name, so that the palette is in one place.
pub const RED: Style = AnsiColor::Red.on_default();
/// Added, whole, well.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// Modified, could be better.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();
/// Moved, and positions in a diff.
pub const CYAN: Style = AnsiColor::Cyan.on_default();
/// One of several that are told apart.
pub const BLUE: Style = AnsiColor::Blue.on_default();
/// Other kinds of change.
pub const MAGENTA: Style = AnsiColor::Magenta.on_default();

#[derive(Serialize)]
struct Envelope<'a, T> {
    ok: bool,
    #[serde(flatten)]
    report: &'a T,
}

/// Writes one JSON object and nothing else.
pub fn print_json<T: Serialize>(value: &T) -> Result<()> {
    write_all(io::stdout().lock(), json_line(value)?.as_bytes())
}

/// The same; whether the reader took it. One that went away did not.
pub fn hand_over<T: Serialize>(value: &T) -> bool {
    let mut stdout = io::stdout().lock();
    let written = json_line(value).map(|line| stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()));
    matches!(written, Ok(Ok(())))
}

fn json_line<T: Serialize>(value: &T) -> Result<String> {
    let json =
        serde_json::to_string(value).map_err(|error| Error::io("write the answer as JSON", io::Error::other(error)))?;
    // A terminal would act on what names and messages may hold; to a program it is the same JSON.
    Ok(format!("{}\n", safe_json(&json)))
}

/// A reader that went away (`| head`) has seen what it wanted: that is no failure.
fn write_all(mut stream: impl Write, bytes: &[u8]) -> Result<()> {
    match stream.write_all(bytes).and_then(|()| stream.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::io("write the answer", error)),
        _ => Ok(()),
    }
}
