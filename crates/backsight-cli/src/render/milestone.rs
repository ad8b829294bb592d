//! Milestones: made, listed, shown whole, and written to Git.

use backsight::report::{ExportedGit, KeptPath, Milestone, MilestoneDetail, MilestoneSummary};
use backsight_core::{ObjectId, Timestamp, shell_word};

use crate::page::{MAGENTA, Page, Sheet, YELLOW};
use crate::render::{snapshot, unified};
use crate::words::{age, count, count_of, enumerate, join, local, safe};

/// A milestone just made.
pub fn created(page: &mut Page, milestone: &Milestone) {
    let number = page.data.paint(YELLOW, milestone.sequence_number);
    let title = title(&page.data, milestone);
    let summary = page.data.dim(format_args!("({})", summary(&milestone.summary)));
    page.data.line(format_args!("{number} milestone {title}: {} {summary}", range(milestone)));
    let name = shell_word(milestone.title.as_bytes());
    page.hint(format_args!(
        "see it with `backsight milestone show {name}`, go back to it with `backsight restore {name}`"
    ));
}

/// Every milestone in columns.
pub fn list(page: &mut Page, milestones: &[Milestone], now: Timestamp) {
    if milestones.is_empty() {
        page.note("no milestone yet");
        return page.hint("make one of everything recorded so far with `backsight milestone create TITLE`");
    }
    let column = |cell: &dyn Fn(&Milestone) -> String| -> Vec<String> { milestones.iter().map(cell).collect() };
    let numbers = column(&|milestone| milestone.sequence_number.to_string());
    let ages = column(&|milestone| age(milestone.timestamp, now));
    let ranges = column(&range);
    let summaries = column(&|milestone| summary(&milestone.summary));
    let [number_width, age_width, range_width, summary_width] =
        [&numbers, &ages, &ranges, &summaries].map(|column| widest(column));
    for (row, milestone) in milestones.iter().enumerate() {
        let sheet = &page.data;
        let number = sheet.paint(YELLOW, format_args!("{:<number_width$}", numbers[row]));
        let summary = sheet.dim(format_args!("{:<summary_width$}", summaries[row]));
        let story = join(&[&title(sheet, milestone), &sheet.dim(tags(milestone))]);
        let (age, range) = (&ages[row], &ranges[row]);
        page.data.line(format_args!("{number}  {age:<age_width$}  {range:<range_width$}  {summary}  {story}"));
    }
}

fn widest(column: &[String]) -> usize {
    column.iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

fn title(sheet: &Sheet, milestone: &Milestone) -> String {
    sheet.paint(MAGENTA.bold(), safe(&milestone.title))
}

/// `#1 to #5`
fn range(milestone: &Milestone) -> String {
    match (milestone.start_sequence_number, milestone.end_sequence_number) {
        (start, end) if start == end => start.to_string(),
        (start, end) => format!("{start} to {end}"),
    }
}

/// `5 steps, 3 files, +12 -4`
fn summary(summary: &MilestoneSummary) -> String {
    let lines = match (summary.lines_added, summary.lines_removed) {
        (Some(added), Some(removed)) => format!(", +{added} -{removed}"),
        _ => String::new(),
    };
    format!("{}, {}{lines}", count(summary.total_operations, "step"), count(summary.affected_files, "file"))
}

fn tags(milestone: &Milestone) -> String {
    let tags: Vec<String> = milestone.tags.iter().map(|tag| format!("[{}]", safe(tag))).collect();
    tags.join(" ")
}

/// Everything about one milestone, or its combined diff alone when that was asked for.
pub fn show(page: &mut Page, detail: &MilestoneDetail, all: &[Milestone], now: Timestamp) {
    if let Some(diff) = &detail.combined_diff {
        return patch(page, diff.as_bytes());
    }
    card(&mut page.data, &detail.milestone, all, now);
    page.data.line("");
    snapshot::table(&mut page.data, &detail.snapshots, now);
    if !detail.affected_files.is_empty() {
        page.data.line("");
        let changed = page.data.bold(format_args!("{} changed", count_of(&detail.affected_files, "file")));
        page.data.line(changed);
    }
    for path in &detail.affected_files {
        page.data.line(format_args!("  {path}"));
    }
    let name = shell_word(detail.milestone.title.as_bytes());
    page.hint(format_args!(
        "one diff over all of it: add `--diff`; undo all of it: `backsight revert {name} --dry-run`"
    ));
}

/// The combined diff.
pub fn patch(page: &mut Page, diff: &[u8]) {
    unified::show(&mut page.data, diff);
    if diff.is_empty() {
        page.note("no line differs between the beginning and the end of this milestone");
    }
}

fn card(sheet: &mut Sheet, milestone: &Milestone, all: &[Milestone], now: Timestamp) {
    let title = title(sheet, milestone);
    sheet.line(title);
    let mut row = |label: &str, value: String| {
        if !value.is_empty() {
            let label = sheet.dim(format_args!("{label:<9}"));
            sheet.line(format_args!("{label} {value}"));
        }
    };
    for (index, line) in milestone.description.lines().enumerate() {
        row(if index == 0 { "what" } else { "" }, safe(line));
    }
    row("when", format!("{} ({})", local(milestone.timestamp), age(milestone.timestamp, now)));
    row("row", format!("{} {}", milestone.sequence_number, milestone.id));
    row("range", format!("{}: {}", range(milestone), summary(&milestone.summary)));
    row("tags", tags(milestone));
    if let Some(previous) = &milestone.previous_milestone_id {
        let known = all.iter().find(|other| other.id == *previous);
        let named = known.map(|other| format!("{} ({})", safe(&other.title), range(other)));
        row("follows", named.unwrap_or_else(|| previous.to_string()));
    }
}

/// What was written to a Git repository, how to look at it, and what was left alone.
pub fn exported(page: &mut Page, exported: &ExportedGit, squash: bool) {
    let verb = if exported.dry_run { "Would write" } else { "Wrote" };
    let branch = page.data.paint(MAGENTA.bold(), safe(&exported.branch));
    let commits = count_of(&exported.commits, "commit");
    let objects = page.data.dim(format_args!("({})", count(exported.objects_written, "new object")));
    page.data.line(format_args!("{verb} branch {branch} in {}: {commits} {objects}", safe(&exported.repository)));
    let mut row = |label: &str, value: String| {
        let label = page.data.dim(format_args!("{label:<9}"));
        page.data.line(format_args!("  {label} {value}"));
    };
    if let Some(place) = &exported.written_to {
        row("really in", safe(place).to_string());
    }
    row("snapshots", enumerate(&exported.snapshots));
    let onto = exported.onto.as_ref().map_or_else(|| "nothing: a history of its own".to_owned(), ObjectId::short);
    row("continues", onto);
    let own = if squash { 1 } else { exported.snapshots.len() };
    let before = exported.commits.first().filter(|_| exported.commits.len() > own);
    if let Some(before) = before {
        row("first", format!("{}, the files before the range", before.short()));
    }
    row("tip", exported.tip.short());
    if !exported.below.is_empty() {
        row("below", format!("{}/, where the workspace is", safe(&exported.below)));
    }
    if exported.kept_total > 0 {
        let named = |kept: &KeptPath| format!("{} ({})", safe(&kept.path), safe(&kept.reason));
        let mut names: Vec<String> = exported.kept.iter().take(5).map(named).collect();
        let more = exported.kept_total - names.len() as u64;
        names.extend((more > 0).then(|| format!("and {more} more")));
        let total = count(exported.kept_total, "path");
        row("kept", format!("{total}, as in the commit before: {}", names.join(", ")));
    }
    if exported.dry_run {
        return page.note("this was a dry run, nothing was written");
    }
    page.note("HEAD, the index, the work tree and every other branch are as they were");
    let branch = shell_word(exported.branch.as_bytes());
    let range = before.or(exported.onto.as_ref()).map_or_else(String::new, |base| format!("{}..", base.short()));
    page.hint(format_args!(
        "review it with `git -C {} log -p {range}{branch} --`",
        shell_word(exported.repository.as_bytes())
    ));
}
