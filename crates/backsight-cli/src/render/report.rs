//! A report as Markdown and as one HTML page. Everything in it that others wrote is text: nothing of it is taken for markup.

use std::fmt::Write;

use backsight::report::{FileHunks, HunkLine, Kind, RowLine, Status};

use crate::commands::report::Told;
use crate::words::{count, count_of, local};

/// Rows and lines beyond which a report says how many more there are.
const ROWS: usize = 1_000;
const LINES: usize = 5_000;

/// As Markdown.
pub fn markdown(told: &Told) -> String {
    let mut out = format!("# {}\n\n{}\n", plain(&title(told)), plain(&facts(told)));
    if !told.checkpoints.is_empty() {
        let width = told.checkpoints.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
        out.push_str("\n## How the app was\n\n```\n");
        for one in &told.checkpoints {
            let _ = writeln!(out, "{:<width$} → {}", fenced(&one.name), fenced(&verdict(one)));
        }
        out.push_str("```\n");
    }
    let broken: Vec<&RowLine> = told.of(Kind::FirstError).collect();
    if !broken.is_empty() {
        out.push_str("\n## New errors\n\n");
        for row in broken {
            let _ = writeln!(out, "- {} {}", row.sequence_number, plain(&row.description));
        }
    }
    out.push_str("\n## What happened\n\n| | when | what | who | lines |\n|---|---|---|---|---|\n");
    for row in told.rows.iter().take(ROWS) {
        let cells = [local(row.timestamp), what(row), who(row), lines(row)].map(|cell| plain(&cell));
        let _ = writeln!(out, "| {} | {} |", row.sequence_number, cells.join(" | "));
    }
    more(&mut out, told.rows.len(), ROWS, "row");
    out.push_str("\n## Files\n\n| | file | lines |\n|---|---|---|\n");
    for file in &told.hunks.files {
        let name = plain(&file.file.to_string());
        let _ = writeln!(out, "| {} | {name} | +{} -{} |", letter(file.status), file.additions, file.deletions);
    }
    out.push_str("\n<details><summary>All differences</summary>\n");
    for file in &told.hunks.files {
        let fence = "`".repeat(longest_run(file).max(2) + 1);
        let _ = write!(out, "\n{}\n\n{fence}diff\n", plain(&file.file.to_string()));
        for hunk in &file.hunks {
            let _ = writeln!(out, "@@ -{} +{} @@ {}", hunk.old_start, hunk.new_start, fenced(&hunk.section));
            for line in &hunk.lines {
                let _ = writeln!(out, "{}{}", line.side, line.text);
            }
        }
        let _ = writeln!(out, "{fence}");
    }
    out.push_str("\n</details>\n");
    out
}

/// As one page that needs nothing else; the looks are those of the dashboard.
pub fn html(told: &Told) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n\
         <style>{style}\n#app {{ height: auto; }} main {{ overflow: visible; }} .code-row {{ height: auto; }}</style>\n</head>\n\
         <body><main><div class=\"page\">\n<h1>{title}</h1>\n<p class=\"facts\">{facts}</p>\n",
        title = escaped(&title(told)),
        facts = escaped(&facts(told)),
        style = backsight_server::DASHBOARD_STYLE,
    );
    if !told.checkpoints.is_empty() {
        out.push_str("<section class=\"card\"><h2>How the app was</h2><ol class=\"story\">");
        for one in &told.checkpoints {
            let severity = one.severity.as_str();
            let _ = write!(
                out,
                "<li><div><code class=\"story-name\">{}</code> → <span class=\"severity is-{severity}\"><span class=\"dot\"></span>{}</span></div></li>",
                escaped(&one.name),
                escaped(&verdict(one))
            );
        }
        out.push_str("</ol></section>\n");
    }
    out.push_str("<section class=\"card\"><h2>What happened</h2><table class=\"table\"><thead><tr><th></th><th>When</th><th>What</th><th>Who</th><th>Lines</th></tr></thead><tbody>\n");
    for row in told.rows.iter().take(ROWS) {
        let cells = [local(row.timestamp), what(row), who(row), lines(row)];
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
        let _ = writeln!(out, "<tr><td>{}</td>{cells}</tr>", row.sequence_number);
    }
    out.push_str("</tbody></table>");
    more(&mut out, told.rows.len(), ROWS, "row");
    out.push_str("</section>\n");
    let mut room = LINES;
    for file in &told.hunks.files {
        page_file(&mut out, file, &mut room);
    }
    out.push_str("</div></main></body>\n</html>\n");
    out
}

fn page_file(out: &mut String, file: &FileHunks, room: &mut usize) {
    let _ = write!(
        out,
        "<details class=\"card\" open><summary><code>{}</code> <span class=\"counts\"><span class=\"plus\">+{}</span> <span class=\"minus\">−{}</span></span></summary><div class=\"patch\"><div class=\"patch-lines\">",
        escaped(&file.file.to_string()),
        file.additions,
        file.deletions
    );
    for hunk in &file.hunks {
        let section = escaped(&hunk.section);
        let _ = write!(out, "<div class=\"hunk-row\">@@ −{} +{} {section}</div>", hunk.old_start, hunk.new_start);
        for line in hunk.lines.iter().take(*room) {
            page_line(out, line);
        }
        let left = hunk.lines.len().saturating_sub(*room);
        *room = room.saturating_sub(hunk.lines.len());
        if left > 0 {
            let _ = write!(out, "<div class=\"note-row\">{} more</div>", count(left as u64, "line"));
        }
    }
    out.push_str("</div></div></details>\n");
}

fn page_line(out: &mut String, line: &HunkLine) {
    let tone = match line.side {
        '+' => " is-plus",
        '-' => " is-minus",
        _ => "",
    };
    let _ = write!(out, "<div class=\"code-row{tone}\"><span class=\"side\">{}</span><code class=\"code\">", line.side);
    let units: Vec<u16> = line.text.encode_utf16().collect();
    let text = |from: usize, to: usize| {
        escaped(&String::from_utf16_lossy(
            &units[from.min(units.len())..to.min(units.len()).max(from.min(units.len()))],
        ))
    };
    let mut at = 0;
    for mark in line.words.chunks_exact(2) {
        let (begin, end) = (mark[0] as usize, (mark[0] + mark[1]) as usize);
        let _ = write!(out, "{}<span class=\"word\">{}</span>", text(at, begin), text(begin, end));
        at = end;
    }
    let _ = writeln!(out, "{}</code></div>", text(at, units.len()));
}

fn title(told: &Told) -> String {
    match &told.session {
        Some(session) => format!("{}: session {session}", told.workspace),
        None => format!("{}: what happened", told.workspace),
    }
}

fn facts(told: &Told) -> String {
    let from = told.from.map_or_else(String::new, |from| format!("from {from}, "));
    let sessions: std::collections::BTreeSet<&String> =
        told.rows.iter().filter_map(|row| row.session.as_ref()).collect();
    format!(
        "{from}{}, {}, {}, +{} -{} lines; written {}",
        count(told.steps() as u64, "step"),
        count(sessions.len() as u64, "session"),
        count_of(&told.hunks.files, "file"),
        told.hunks.additions,
        told.hunks.deletions,
        local(told.at)
    )
}

fn verdict(one: &backsight::browser::report::CheckpointEntry) -> String {
    match one.severity.as_str() {
        "clean" => "clean".to_owned(),
        severity => format!("{severity} ({})", one.summary),
    }
}

fn what(row: &RowLine) -> String {
    match row.description.is_empty() {
        true => row.kind.as_str().replace('_', " "),
        false => row.description.clone(),
    }
}

fn who(row: &RowLine) -> String {
    let parts: Vec<&str> = [&row.tool, &row.session].into_iter().filter_map(|part| part.as_deref()).collect();
    parts.join(", ")
}

fn lines(row: &RowLine) -> String {
    row.lines_added.map_or_else(String::new, |added| format!("+{added} -{}", row.lines_removed.unwrap_or(0)))
}

fn letter(status: Status) -> char {
    match status {
        Status::Added => 'A',
        Status::Modified => 'M',
        Status::Deleted => 'D',
        Status::Renamed => 'R',
        Status::ModeChanged => 'm',
        Status::TypeChanged => 'T',
    }
}

fn more(out: &mut String, there: usize, shown: usize, noun: &str) {
    if there > shown {
        let _ = writeln!(out, "\n{} more", count((there - shown) as u64, noun));
    }
}

/// Text in Markdown that is nothing but text, on one line.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in backsight_core::one_line(text).chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' => out.extend(['\\', character]),
            other => out.push(other),
        }
    }
    out
}

/// Text within a fence: on one line, and it cannot close the fence.
fn fenced(text: &str) -> String {
    backsight_core::one_line(text).replace("```", "'''")
}

/// The longest run of backticks in a file's lines: its fence must be longer.
fn longest_run(file: &FileHunks) -> usize {
    let of_line = |text: &str| text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    file.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| of_line(&line.text)).max().unwrap_or(0)
}

/// Text as markup shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_text() {
        assert_eq!(plain("a|b <img> *x*\n# y"), "a\\|b &lt;img&gt; \\*x\\*\\\\n\\# y");
        assert_eq!(escaped("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
        assert_eq!(fenced("a ``` b"), "a ''' b");
    }
}
