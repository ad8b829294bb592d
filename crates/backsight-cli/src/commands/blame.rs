//! `backsight blame PATH [REF]`: who last wrote each line of a file.

use std::ffi::OsString;
use std::str::FromStr;

use anstyle::Style;
use backsight::report::{Blame, BlameHunk, FileVersion, Kind, LineOrigin};
use backsight::request::{BlameFile, PathText};
use backsight_core::{Result, Timestamp, visible};

use crate::arguments::examples_then_references;
use crate::commands::Verdict;
use crate::context::Context;
use crate::page::{CYAN, MAGENTA, Page, RED, Sheet, YELLOW};
use crate::words::{age, safe};

/// Show who last wrote each line of a file
///
/// One line each: the snapshot, who (the tool and the session; `external` for somebody who recorded nothing), how long
/// ago, the number of the line, and its text. What an undo, a revert or a restore
/// brought back belongs to who wrote it first.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight blame src/main.rs              the lines on disk
  backsight blame src/main.rs 12           the lines as of #12
  backsight blame src/main.rs -L 10,20"))]
pub struct Args {
    /// Which file
    #[arg(value_name = "PATH")]
    path: OsString,
    /// As of which snapshot; the disk when left out
    #[arg(value_name = "REF")]
    reference: Option<String>,
    /// Only these lines: `10,20`, `10,+5`, or `10` to the end
    #[arg(short = 'L', long = "lines", value_name = "START,END")]
    lines: Option<Lines>,
}

/// A range of lines, counted from 1, both ends in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lines {
    start: u32,
    /// All that follow when there is none.
    end: Option<u32>,
}

impl FromStr for Lines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let (start, end) = text.split_once(',').unwrap_or((text, ""));
        let range = number(start).and_then(|start| {
            let end = match (end, end.strip_prefix('+')) {
                ("", _) => Some(None),
                (_, Some(count)) => number(count).map(|count| Some(start.saturating_add(count - 1))),
                (end, None) => number(end).map(Some),
            };
            end.filter(|end| end.is_none_or(|end| start <= end)).map(|end| Lines { start, end })
        });
        range.ok_or_else(|| "lines are `10,20`, `10,+5` or `10`, counted from 1".to_owned())
    }
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let path = PathText::from(&context.path(&workspace, &args.path)?);
    let (start_line, end_line) = (args.lines.map(|lines| lines.start), args.lines.and_then(|lines| lines.end));
    let blame = workspace.perform(BlameFile { path, reference: args.reference.clone(), start_line, end_line })?;
    let readable = context.readable(&workspace, &blame)?;
    context.answer(&blame, |page| show(page, &readable, context.now))?;
    Ok(Verdict::Done)
}

fn show(page: &mut Page, blame: &Blame, now: Timestamp) {
    let labels: Vec<Label> = blame.hunks.iter().map(|hunk| Label::of(&hunk.origin, now)).collect();
    let widest = |cell: fn(&Label) -> &str| labels.iter().map(|label| cell(label).chars().count()).max().unwrap_or(0);
    let widths = Widths {
        number: widest(|label| &label.number),
        id: widest(|label| &label.id),
        who: widest(|label| &label.who),
        age: widest(|label| &label.age),
        line: blame.hunks.last().map_or(1, |hunk| (hunk.start_line + hunk.lines.len() - 1).to_string().len()),
    };
    for (hunk, label) in blame.hunks.iter().zip(&labels) {
        show_hunk(&mut page.data, hunk, label, &widths);
    }
    if blame.hunks.is_empty() {
        page.note("the file is empty");
    }
}

/// What stands in front of each line of an origin.
struct Label {
    number: String,
    id: String,
    who: String,
    age: String,
    style: Style,
}

struct Widths {
    number: usize,
    id: usize,
    who: usize,
    age: usize,
    line: usize,
}

impl Label {
    fn of(origin: &LineOrigin, now: Timestamp) -> Label {
        let (by, who, style) = match origin {
            LineOrigin::Unrecorded => {
                let (number, id, age) = (String::new(), String::new(), String::new());
                return Label { number, id, who: "not recorded".to_owned(), age, style: RED };
            }
            LineOrigin::Recorded(by) => (by, author(by), CYAN),
            LineOrigin::External(by) => (by, "external".to_owned(), MAGENTA),
            LineOrigin::Baseline(by) => (by, format!("before {}", by.sequence_number), Style::new().dimmed()),
            // Whoever wrote it did so before the contents that are still kept.
            LineOrigin::Expired(by) => (by, format!("up to {}", by.sequence_number), Style::new().dimmed()),
        };
        let id = by.id.as_str();
        Label {
            number: by.sequence_number.to_string(),
            id: id.get(..8).unwrap_or(id).to_owned(),
            who: shortened(&who),
            age: age(by.timestamp, now),
            style,
        }
    }
}

/// `edit, s1`; when nobody gave a name, what kind of step it was.
fn author(by: &FileVersion) -> String {
    let names: Vec<String> =
        [&by.origin.tool, &by.origin.session].into_iter().flatten().map(|name| safe(name)).collect();
    match by.kind {
        _ if !names.is_empty() => names.join(", "),
        Kind::Track => "unnamed".to_owned(),
        kind => kind.as_str().to_owned(),
    }
}

/// The whole name is in `--json` and in `backsight show`.
fn shortened(who: &str) -> String {
    const LONGEST: usize = 28;
    if who.chars().count() <= LONGEST {
        return who.to_owned();
    }
    who.chars().take(LONGEST - 3).chain("...".chars()).collect()
}

fn show_hunk(sheet: &mut Sheet, hunk: &BlameHunk, label: &Label, widths: &Widths) {
    let number = format!("{:<1$}", label.number, widths.number);
    let id = sheet.dim(format_args!("{:<1$}", label.id, widths.id));
    let who = format!("{:<1$}", label.who, widths.who);
    let age = sheet.dim(format_args!("{:<1$}", label.age, widths.age));
    for (index, text) in hunk.lines.iter().enumerate() {
        // Whoever scans the page sees where a new origin begins.
        let (number, who) = match index {
            0 => (sheet.paint(YELLOW, &number), sheet.paint(label.style, &who)),
            _ => (sheet.dim(&number), sheet.dim(&who)),
        };
        let place = sheet.dim(format_args!("{:>1$}", hunk.start_line + index, widths.line));
        sheet.line(format_args!("{number} {id}  {who}  {age}  {place}  {}", shown(text)));
    }
}

/// The text without what could drive a terminal, turn its reading direction or hide; tabs and indentation stay.
fn shown(text: &str) -> String {
    visible(text.strip_suffix('\r').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_lines_are_read_as_git_reads_them() {
        let range = |text: &str| text.parse::<Lines>().ok().map(|lines| (lines.start, lines.end));
        assert_eq!(range("3,7"), Some((3, Some(7))));
        assert_eq!(range("3,+2"), Some((3, Some(4))));
        assert_eq!((range("3"), range("3,")), (Some((3, None)), Some((3, None))));
        assert!(["", "0", "7,3", "x", "1,0", "1,+0", "-1,2", ",7"].iter().all(|text| range(text).is_none()));
    }

    #[test]
    fn texts_cannot_drive_the_terminal() {
        assert_eq!(shown("\ta\x1b[2J\u{202e}b\r"), "\ta<U+001B>[2J<U+202E>b");
    }
}
