//! The hits of one automatic snapshot point as a table: one row for each hit, one column for each path that changed from one
//! hit to another. Only the frame that was asked for is looked at.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use backsight_core::estimate_tokens;

use crate::capture::{Capture, FrameCapture, Node, Scope};
use crate::diff::change::{Change, What};
use crate::diff::preview::preview;
use crate::diff::{self, Form, Options, fitting};
use crate::path;
use crate::render;
use crate::report::{Series, SeriesRow, Warning, WarningKind};

/// The longest value in a cell, in bytes.
const LONGEST_CELL: usize = 40;
/// More columns are not looked at.
const MOST_COLUMNS: usize = 24;
/// As many rows are worth more than another column.
const WANTED_ROWS: usize = 8;

/// The hits as a table. `path` narrows it; `offset` is of no use here.
pub fn series(name: &str, hits: &[Arc<Capture>], options: &Options) -> Series {
    let (changes, unknown) = changes(hits);
    let mut columns = changing(&changes, options.path.as_deref());
    let changed: HashSet<String> = columns.iter().cloned().collect();
    let constant = hits.first().map_or(0, |first| unchanging(first, &changed));
    let all = columns.len();
    columns.truncate(MOST_COLUMNS);
    // No row takes less than this.
    let most = hits.len().min(options.max_tokens / 4 + 2);
    let table = Table {
        name,
        hits: hits.len(),
        rows: rows(hits, &columns, &changes, most),
        columns,
        all,
        constant,
        warnings: warnings(hits).into_iter().chain(not_compared(&unknown)).collect(),
    };
    let measure = |rows: usize, columns: usize| {
        let series = table.cut(rows, columns);
        match options.form {
            Form::Compact => estimate_tokens(&render::compact_series(&series)),
            Form::Json => estimate_tokens(&serde_json::to_string(&series).unwrap_or_default()),
        }
    };
    let few = hits.len().min(WANTED_ROWS);
    let columns = fitting(1, table.columns.len(), |columns| measure(few, columns) <= options.max_tokens);
    let rows = fitting(2, most, |rows| measure(rows, columns) <= options.max_tokens);
    table.cut(rows, columns)
}

/// What changed from one hit to the next, each path once, in the order in which it was found.
type Changed = Vec<(String, Scope)>;

/// Those of all hits, and the paths of what was not compared.
fn changes(hits: &[Arc<Capture>]) -> (Vec<Changed>, BTreeSet<String>) {
    let mut unknown = BTreeSet::new();
    let between = |pair: &[Arc<Capture>]| {
        let mut seen = HashSet::new();
        let found = diff::compare_first_frames(&pair[0], &pair[1]).unwrap_or_default();
        unknown.extend(found.not_compared);
        let paths = found.changes.iter().map(|change| (column(change).to_owned(), change.place.scope));
        paths.filter(|(path, _)| seen.insert(path.clone())).collect()
    };
    (hits.windows(2).map(between).collect(), unknown)
}

/// How many values that were not compared are named.
const MOST_UNKNOWN: usize = 8;

fn not_compared(unknown: &BTreeSet<String>) -> Option<Warning> {
    let names: Vec<String> = unknown.iter().take(MOST_UNKNOWN).map(|path| format!("`{path}`")).collect();
    let rest = unknown.len().saturating_sub(MOST_UNKNOWN);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let message = format!("not compared, may have changed inside: {}{rest}", names.join(", "));
    (!names.is_empty()).then_some(Warning { kind: WarningKind::NotCompared, message })
}

/// Paths that changed between any two hits that follow each other: watches first, then arguments, then locals, and of
/// these the ones that changed most often.
fn changing(changes: &[Changed], wanted: Option<&str>) -> Vec<String> {
    let mut columns: Vec<(u8, u64, String)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (path, scope) in changes.iter().flatten() {
        if !wanted.is_none_or(|above| path::is_under(path, above)) {
            continue;
        }
        let index = *places.entry(path).or_insert_with(|| {
            columns.push((rank(*scope), 0, path.clone()));
            columns.len() - 1
        });
        columns[index].1 += 1;
    }
    // Stable, so that equals stay in the order in which they first changed.
    columns.sort_by_key(|(rank, count, _)| (*rank, std::cmp::Reverse(*count)));
    columns.into_iter().map(|(.., path)| path).collect()
}

fn rank(scope: Scope) -> u8 {
    match scope {
        Scope::Watch => 0,
        Scope::Result => 1,
        Scope::This | Scope::Argument => 2,
        Scope::Local => 3,
        Scope::Closure => 4,
    }
}

/// What to show for a change: of what came or went the container, so that a growing list is one column.
fn column<'a>(change: &'a Change<'_>) -> &'a str {
    let inner = matches!(change.what, What::Added(_, None) | What::Removed(_, None)) && change.depth > 0;
    if inner { path::parent(&change.path) } else { &change.path }
}

/// How many values of the first hit are in none of the columns.
fn unchanging(capture: &Capture, changed: &HashSet<String>) -> u64 {
    fn count(node: &Node, at: &mut String, changed: &HashSet<String>) -> u64 {
        if changed.contains(at.as_str()) {
            return 0;
        }
        let (mut inner, mut children) = (0, 0);
        path::each_child(node, |step, child| {
            let length = at.len();
            path::push(at, step);
            inner += count(child, at, changed);
            children += 1;
            at.truncate(length);
        });
        if children == 0 { 1 } else { inner }
    }
    let Some(frame) = capture.frames.first() else { return 0 };
    let roots = path::of_variables(frame);
    frame.variables.iter().zip(roots).map(|(variable, mut root)| count(&variable.value, &mut root, changed)).sum()
}

fn warnings(hits: &[Arc<Capture>]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind: WarningKind, message: String| warnings.push(Warning { kind, message });
    let threads: HashSet<i64> = hits.iter().map(|hit| hit.thread_id).collect();
    if threads.len() > 1 {
        warn(WarningKind::Thread, format!("hits of {} threads follow each other", threads.len()));
    }
    let functions: HashSet<&str> = hits.iter().filter_map(|hit| Some(hit.frames.first()?.function.as_str())).collect();
    if functions.len() > 1 {
        warn(WarningKind::Function, format!("hits in {} functions follow each other", functions.len()));
    }
    let incomplete = hits.iter().filter(|hit| !hit.incomplete.is_empty()).count();
    if incomplete > 0 {
        warn(WarningKind::Incomplete, format!("{incomplete} hits are incomplete"));
    }
    warnings
}

/// The first and the last hits as rows, at most `most` of them.
fn rows(hits: &[Arc<Capture>], columns: &[String], changes: &[Changed], most: usize) -> Vec<SeriesRow> {
    let start = hits.first().map_or(0, |first| first.timestamp.0);
    let row = |index: usize| SeriesRow {
        hit: index as u64 + 1,
        label: hits[index].label.clone(),
        after_ms: hits[index].timestamp.0.saturating_sub(start),
        cells: cells(hits[index].frames.first(), columns),
    };
    let mut rows: Vec<SeriesRow> = (0..most.div_ceil(2)).chain(hits.len() - most / 2..hits.len()).map(row).collect();
    let changed = |from: u64, to: u64, column: &String| {
        let between = changes.get(from as usize - 1..to as usize - 1).unwrap_or_default();
        between.iter().flatten().any(|(path, _)| path == column)
    };
    mark_changed(&mut rows, columns, changed);
    rows
}

/// Where a value changed and its text did not, because only a part of it is shown, the text gets a mark: `dict[3] ~2`.
fn mark_changed(rows: &mut [SeriesRow], columns: &[String], changed: impl Fn(u64, u64, &String) -> bool) {
    for (at, column) in columns.iter().enumerate() {
        let (mut before, mut version): (Option<String>, u64) = (None, 1);
        for row in 0..rows.len() {
            let text = rows[row].cells[at].clone();
            let is_same = row > 0 && text.is_some() && text == before;
            version = match is_same {
                true => version + u64::from(changed(rows[row - 1].hit, rows[row].hit, column)),
                false => 1,
            };
            if let (Some(text), 2..) = (&text, version) {
                rows[row].cells[at] = Some(format!("{text} ~{version}"));
            }
            before = text;
        }
    }
}

fn cells(frame: Option<&FrameCapture>, columns: &[String]) -> Vec<Option<String>> {
    let Some(frame) = frame else { return vec![None; columns.len()] };
    let values = path::find_all(frame, columns).into_iter();
    values.map(|value| value.map(|node| preview(node, LONGEST_CELL))).collect()
}

/// Everything that could be shown.
struct Table<'a> {
    name: &'a str,
    hits: usize,
    rows: Vec<SeriesRow>,
    columns: Vec<String>,
    all: usize,
    constant: u64,
    warnings: Vec<Warning>,
}

impl Table<'_> {
    /// The first and the last rows, and the first columns.
    fn cut(&self, rows: usize, columns: usize) -> Series {
        let rows = rows.min(self.rows.len());
        let (head, tail) = (rows.div_ceil(2), self.rows.len() - rows / 2);
        let narrow = |row: &SeriesRow| SeriesRow {
            hit: row.hit,
            label: row.label.clone(),
            after_ms: row.after_ms,
            cells: row.cells[..columns].to_vec(),
        };
        Series {
            name: self.name.to_owned(),
            hits: self.hits as u64,
            columns: self.columns[..columns].to_vec(),
            rows: self.rows[..head].iter().chain(&self.rows[tail..]).map(narrow).collect(),
            constant: self.constant,
            omitted_rows: (self.hits - rows) as u64,
            omitted_columns: (self.all - columns) as u64,
            warnings: self.warnings.clone(),
        }
    }
}
