//! The log: rows of the timeline in columns, with the graph of its sessions beside them, and the life of one file.

use std::collections::BTreeMap;

use backsight::report::{Event, FileVersion, Kind, Milestone, MilestoneSummary, Origin, Row, Snapshot};
use backsight_core::{RelPath, Seq, Timestamp};

use crate::page::{GREEN, Page, RED, Sheet, YELLOW};
use crate::render::graph::{self, Alphabet, Graph};
use crate::render::who::{self, Who};
use crate::render::{changes, snapshot};
use crate::width;
use crate::words::{age, count, count_of, enumerate, join, safe};

/// A line across the page is as long as the longest row, within these.
const RULE_WIDTH: std::ops::RangeInclusive<usize> = 60..=100;

/// Columns below which the ids of rows are left out.
const NARROW: usize = 100;

/// The files that some steps changed.
type Touched = BTreeMap<Seq, Vec<RelPath>>;

/// The rows in the order given, with the graph of their sessions; milestones go across. Steps without a description say
/// which files they touched, where that is known.
pub fn show(page: &mut Page, rows: &[Row], touched: &Touched, alphabet: Alphabet, now: Timestamp) {
    let graph = Graph::of(rows);
    let gutter = |(index, row): (usize, &Row)| match &graph {
        Some(graph) => format!("{}  ", graph.gutter(&page.data, alphabet, index, graph::kind(row))),
        None => String::new(),
    };
    let gutters: Vec<String> = rows.iter().enumerate().map(gutter).collect();
    let lines = columns(&page.data, rows, &gutters, touched, now);
    let milestones: Vec<Option<Milestone>> = rows.iter().map(milestone).collect();
    let ordinary = lines.iter().zip(&milestones).filter(|(_, milestone)| milestone.is_none());
    let widest = ordinary.map(|(line, _)| width::of(line)).max().unwrap_or(0);
    let rule_width = widest.clamp(*RULE_WIDTH.start(), *RULE_WIDTH.end());
    let rule_width = page.data.width().map_or(rule_width, |width| width.min(rule_width));
    for (line, milestone) in lines.into_iter().zip(milestones) {
        let across = milestone.map(|milestone| rule(&page.data, &milestone, alphabet, rule_width, now));
        page.data.fitted(across.unwrap_or(line));
    }
    if let Some(sharing) = graph.map(|graph| graph.sharing).filter(|sharing| !sharing.is_empty()) {
        let names: Vec<String> = sharing.iter().map(|name| safe(name)).collect();
        page.note(format_args!("{} share the last column: {}", count_of(&names, "session"), enumerate(&names)));
    }
}

/// The rows in the order given, without a graph.
pub fn table(sheet: &mut Sheet, rows: &[Row], now: Timestamp) {
    let gutters = vec![String::new(); rows.len()];
    for line in columns(sheet, rows, &gutters, &Touched::new(), now) {
        sheet.fitted(line);
    }
}

fn columns(sheet: &Sheet, rows: &[Row], gutters: &[String], touched: &Touched, now: Timestamp) -> Vec<String> {
    let cells: Vec<Cells> = rows.iter().map(|row| Cells::of(row, now)).collect();
    let widths = Widths::of(&cells);
    let line = |((cells, row), gutter): ((&Cells, &Row), &String)| {
        let start = format!("{gutter}{}  ", cells.line(sheet, &widths).join("  "));
        let room = sheet.width().map(|width| width.saturating_sub(width::of(&start)));
        format!("{start}{}", story(sheet, row, touched, room))
    };
    cells.iter().zip(rows).zip(gutters).map(line).collect()
}

/// What stands in the columns of a row.
struct Cells {
    number: String,
    id: String,
    age: String,
    lines: Option<(String, String)>,
    files: String,
}

struct Widths {
    number: usize,
    age: usize,
    added: usize,
    removed: usize,
    files: usize,
}

impl Cells {
    fn of(row: &Row, now: Timestamp) -> Self {
        let (id, timestamp, lines, files) = match row {
            Row::Snapshot(row) => {
                let lines = row.lines_added.zip(row.lines_removed);
                (&row.id, row.timestamp, lines, count(row.files_changed, "file"))
            }
            Row::Event(event) => (&event.id, event.timestamp, None, String::new()),
        };
        Cells {
            number: row.sequence_number().to_string(),
            id: snapshot::short(id).to_owned(),
            age: age(timestamp, now),
            lines: lines.map(|(added, removed)| (format!("+{added}"), format!("-{removed}"))),
            files,
        }
    }

    fn line(&self, sheet: &Sheet, widths: &Widths) -> Vec<String> {
        let mut columns = vec![
            sheet.paint(YELLOW, format_args!("{:<1$}", self.number, widths.number)),
            sheet.dim(&self.id),
            format!("{:<1$}", self.age, widths.age),
        ];
        // On a narrow terminal the number is name enough.
        if sheet.width().is_some_and(|width| width < NARROW) {
            columns.remove(1);
        }
        if widths.added > 0 {
            let (added, removed) = self.lines.as_ref().map_or(("", ""), |(added, removed)| (added, removed));
            let added = sheet.paint(GREEN, format_args!("{added:>0$}", widths.added));
            let removed = sheet.paint(RED, format_args!("{removed:<0$}", widths.removed));
            columns.push(format!("{added} {removed}"));
        }
        if widths.files > 0 {
            columns.push(sheet.dim(format_args!("{:>1$}", self.files, widths.files)));
        }
        columns
    }
}

impl Widths {
    fn of(cells: &[Cells]) -> Self {
        let widest = |cell: fn(&Cells) -> &str| cells.iter().map(|row| width::of(cell(row))).max().unwrap_or(0);
        Widths {
            number: widest(|row| &row.number),
            age: widest(|row| &row.age),
            added: widest(|row| row.lines.as_ref().map_or("", |(added, _)| added)),
            removed: widest(|row| row.lines.as_ref().map_or("", |(_, removed)| removed)),
            files: widest(|row| &row.files),
        }
    }
}

/// The milestone that a row is.
fn milestone(row: &Row) -> Option<Milestone> {
    match row {
        Row::Event(event) if event.kind == Kind::Milestone => {
            let milestone: Milestone = serde_json::from_value(event.details.clone()).ok()?;
            Some(Milestone { sequence_number: event.sequence_number, ..milestone })
        }
        _ => None,
    }
}

/// `=== #4 First === #1 to #3, 3 steps, 2 files, +4 -1 === 2 min ago =====`
fn rule(sheet: &Sheet, milestone: &Milestone, alphabet: Alphabet, columns: usize, now: Timestamp) -> String {
    let bar = |length: usize| -> String { std::iter::repeat_n(alphabet.rule(), length).collect() };
    let start = format!("{}{}", alphabet.glyph(Kind::Milestone), bar(2));
    let summary = format!("{}, {}", range(milestone), amounts(&milestone.summary));
    let (title, age) = (safe(&milestone.title), age(milestone.timestamp, now));
    let text = format!("{start} {} {title} {} {summary} {} {age} ", milestone.sequence_number, bar(2), bar(2));
    let rest = bar(columns.saturating_sub(width::of(&text)).max(2));
    sheet.bold(format_args!("{text}{rest}"))
}

/// `#1 to #3`
pub fn range(milestone: &Milestone) -> String {
    let (start, end): (Seq, Seq) = (milestone.start_sequence_number, milestone.end_sequence_number);
    if start == end { start.to_string() } else { format!("{start} to {end}") }
}

/// `3 steps, 2 files, +4 -1`
fn amounts(summary: &MilestoneSummary) -> String {
    let mut parts = vec![count(summary.total_operations, "step"), count(summary.affected_files, "file")];
    if let Some((added, removed)) = summary.lines_added.zip(summary.lines_removed) {
        parts.push(format!("+{added} -{removed}"));
    }
    parts.join(", ")
}

/// Kind, description, who, and what became of it, in the room there is.
fn story(sheet: &Sheet, row: &Row, touched: &Touched, room: Option<usize>) -> String {
    match row {
        Row::Snapshot(snapshot) => {
            let is_first = snapshot.base_tree.is_none() && snapshot.description.is_empty();
            let files = match touched.get(&snapshot.sequence_number) {
                Some(files) if !files.is_empty() => Some(sheet.dim(few(files))),
                _ => is_first.then(|| sheet.dim("first snapshot")),
            };
            let told = Told::of(sheet, snapshot.kind, &snapshot.description, &snapshot.origin);
            told.with(files, marks(sheet, snapshot)).line(sheet, room)
        }
        Row::Event(event) => {
            let Event { kind, description, origin, .. } = event.as_ref();
            Told::of(sheet, *kind, description, origin).line(sheet, room)
        }
    }
}

/// `a.txt, b.txt and 3 more`
fn few(files: &[RelPath]) -> String {
    const SHOWN: usize = 2;
    let shown: Vec<String> = files.iter().take(SHOWN).map(ToString::to_string).collect();
    match files.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// What is said of a row.
struct Told {
    /// In front: files, the kind.
    lead: Vec<String>,
    title: String,
    who: Who,
    /// Behind: what became of it.
    marks: Vec<String>,
}

impl Told {
    fn of(sheet: &Sheet, kind: Kind, description: &str, origin: &Origin) -> Told {
        let title = snapshot::first_line(description);
        // "revert #2" says its kind already.
        let says_kind = kind == Kind::Track || title.starts_with(kind.as_str());
        let tag = (!says_kind).then(|| sheet.bold(format_args!("[{}]", kind.as_str())));
        // What is external says so already.
        let is_said = origin.tool.as_deref() == Some(kind.as_str()) || who::names(&title, origin.tool.as_deref());
        let tool = origin.tool.clone().filter(|_| !is_said);
        let who = Who::of(&Origin { tool, ..origin.clone() });
        Told { lead: tag.into_iter().collect(), title, who, marks: Vec::new() }
    }

    fn with(mut self, files: Option<String>, marks: Vec<String>) -> Told {
        self.lead.splice(0..0, files);
        self.marks = marks;
        self
    }

    fn line(&self, sheet: &Sheet, room: Option<usize>) -> String {
        let (lead, marks) = (self.lead.join(" "), self.marks.join(" "));
        let taken =
            width::of(&lead) + width::of(&marks) + usize::from(!lead.is_empty()) + usize::from(!marks.is_empty());
        let (title, who) = self.who.beside(&self.title, room.map(|room| room.saturating_sub(taken)));
        join(&[&lead, &title, &sheet.dim(who), &marks])
    }
}

fn marks(sheet: &Sheet, snapshot: &Snapshot) -> Vec<String> {
    let mut marks = Vec::new();
    if !snapshot.unknown_changes.is_empty() {
        let others = count_of(&snapshot.unknown_changes, "unknown change");
        marks.push(sheet.paint(YELLOW, format_args!("[also {others}]")));
    }
    if snapshot.pinned {
        marks.push("[pinned]".into());
    }
    if snapshot.expired_at.is_some() {
        marks.push("[expired]".into());
    }
    marks
}

/// The life of one file: what happened to it, step by step.
pub fn versions(sheet: &mut Sheet, versions: &[FileVersion], now: Timestamp) {
    let rows: Vec<[String; 3]> = versions
        .iter()
        .map(|version| [version.sequence_number.to_string(), age(version.timestamp, now), happened(version)])
        .collect();
    let width = |column: usize| rows.iter().map(|row| width::of(&row[column])).max().unwrap_or(0);
    let [number_width, age_width, path_width] = [0, 1, 2].map(width);
    for (version, [number, age, path]) in versions.iter().zip(&rows) {
        let (letter, style) = changes::letter(version.status);
        let is_unknown = version.external && version.kind != Kind::External;
        let mark = is_unknown.then(|| sheet.paint(YELLOW, "[unknown change]"));
        let told = Told::of(sheet, version.kind, &version.description, &version.origin);
        let start = [
            sheet.paint(YELLOW, format_args!("{number:<number_width$}")),
            sheet.dim(snapshot::short(&version.id)),
            format!("{age:<age_width$}"),
            format!("{} {path:<path_width$}  ", sheet.paint(style, letter)),
        ]
        .join("  ");
        let room = sheet.width().map(|width| width.saturating_sub(width::of(&start)));
        let story = told.with(None, mark.into_iter().collect()).line(sheet, room);
        sheet.fitted(format_args!("{start}{story}"));
    }
}

fn happened(version: &FileVersion) -> String {
    match &version.from_path {
        Some(from) => format!("{from} -> {}", version.path),
        None => version.path.to_string(),
    }
}
