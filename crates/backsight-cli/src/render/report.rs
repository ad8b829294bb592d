//! A report as Markdown and as one HTML page. Everything in it that others wrote is text: nothing of it is taken for markup.

use std::fmt::Write;

use backsight::report::{FileHunks, HunkLine, Kind, RowLine, Status};
use backsight_core::visible;

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
                let _ = writeln!(out, "{}{}", line.side, visible(&line.text));
            }
        }
        let _ = writeln!(out, "{fence}");
    }
    out.push_str("\n</details>\n");
    out
}

/// What a page has beside the dashboard's looks: it scrolls as a whole and is printed on light paper.
const STYLE: &str = "#app { height: auto; } main { overflow: visible; } .code-row { height: auto; } .patch-lines { margin-top: 10px; } \
    .story div { display: flex; gap: 12px; align-items: center; flex-wrap: wrap; padding: 6px 0; } .story-name { min-width: 16em; } \
    summary { cursor: pointer; overflow-wrap: anywhere; } .happened-table td:first-child, .happened-table td:nth-child(2), \
    .happened-table td:last-child { white-space: nowrap; color: var(--quiet); } \
    @media (max-width: 700px) { .story-name { min-width: 0; } .happened-table thead { display: none; } .happened-table tr { display: grid; \
    grid-template-columns: auto minmax(0, 1fr) auto; gap: 0 12px; padding: 6px 0; border-bottom: 1px solid var(--faint); } \
    .happened-table td { border: 0; padding: 0; } .happened-table td:nth-child(2), .happened-table td:nth-child(4) { grid-row: 2; color: var(--quiet); \
    font-size: 0.8rem; grid-column: 2; } .happened-table td:nth-child(4) { grid-row: 3; } } \
    @media print { :root { color-scheme: light; } .card { break-inside: avoid; box-shadow: none; } details.card { break-inside: auto; } }";

/// As one page that needs nothing else; the looks are those of the dashboard.
pub fn html(told: &Told) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title}</title>\n\
         <style>{style}\n{STYLE}</style>\n</head>\n\
         <body><main><div class=\"page\">\n<h1>{title}</h1>\n<p class=\"facts\">{facts}</p>\n",
        title = escaped(&title(told)),
        facts = escaped(&facts(told)),
        style = backsight_server::DASHBOARD_STYLE,
    );
    page_checkpoints(&mut out, told);
    page_errors(&mut out, told);
    page_rows(&mut out, told);
    let mut room = LINES;
    for file in &told.hunks.files {
        page_file(&mut out, file, &mut room);
    }
    out.push_str("</div></main></body>\n</html>\n");
    out
}

fn page_checkpoints(out: &mut String, told: &Told) {
    if told.checkpoints.is_empty() {
        return;
    }
    out.push_str("<section class=\"card\"><h2>How the app was</h2><ol class=\"story\">");
    for one in &told.checkpoints {
        let severity = one.severity.as_str();
        let _ = write!(
            out,
            "<li><div><code class=\"story-name\">{}</code> → <span class=\"severity is-{severity}\"><span class=\"dot\"></span>{severity}</span> <span class=\"quiet\">{}</span></div></li>",
            escaped(&one.name),
            if severity == "clean" { String::new() } else { escaped(&one.summary) }
        );
    }
    out.push_str("</ol></section>\n");
}

fn page_errors(out: &mut String, told: &Told) {
    let mut broken = told.of(Kind::FirstError).peekable();
    if broken.peek().is_none() {
        return;
    }
    out.push_str("<section class=\"card\"><h2>New errors</h2><ul class=\"plainlist\">");
    for row in broken {
        let (number, text) = (row.sequence_number, escaped(&row.description));
        let _ = write!(
            out,
            "<li><span class=\"severity is-error\"><span class=\"dot\"></span>{number}</span> <code>{text}</code></li>"
        );
    }
    out.push_str("</ul></section>\n");
}

fn page_rows(out: &mut String, told: &Told) {
    out.push_str("<section class=\"card\"><h2>What happened</h2><div class=\"patch\" tabindex=\"0\"><table class=\"table happened-table\"><thead><tr><th>Row</th><th>When</th><th>What</th><th>Who</th><th>Lines</th></tr></thead><tbody>\n");
    for row in told.rows.iter().take(ROWS) {
        let cells = [local(row.timestamp), what(row), who(row), lines(row)];
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
        let _ = writeln!(out, "<tr><td>{}</td>{cells}</tr>", row.sequence_number);
    }
    out.push_str("</tbody></table></div>");
    more(out, told.rows.len(), ROWS, "row");
    out.push_str("</section>\n");
}

fn page_file(out: &mut String, file: &FileHunks, room: &mut usize) {
    let from = file.from_file.as_ref().map(|from| format!("{} → ", escaped(&from.to_string()))).unwrap_or_default();
    let tag = match file.status {
        Status::Modified => "",
        Status::Added => " <span class=\"tag\">new</span>",
        Status::Deleted => " <span class=\"tag\">gone</span>",
        Status::Renamed => " <span class=\"tag\">moved</span>",
        Status::ModeChanged => " <span class=\"tag\">mode</span>",
        Status::TypeChanged => " <span class=\"tag\">type</span>",
    };
    let _ = write!(
        out,
        "<details class=\"card\" open><summary><code>{from}{}</code>{tag} <span class=\"counts\"><span class=\"plus\">+{}</span> <span class=\"minus\">−{}</span></span></summary><div class=\"patch\" tabindex=\"0\"><div class=\"patch-lines\">",
        escaped(&file.file.to_string()),
        file.additions,
        file.deletions
    );
    for hunk in &file.hunks {
        let section = escaped(&hunk.section);
        let _ = write!(out, "<div class=\"hunk-row\">−{} +{} {section}</div>", hunk.old_start, hunk.new_start);
        let (mut old, mut fresh) = (hunk.old_start, hunk.new_start);
        for line in hunk.lines.iter().take(*room) {
            page_line(out, line, old, fresh);
            old += u64::from(line.side != '+');
            fresh += u64::from(line.side != '-');
        }
        let left = hunk.lines.len().saturating_sub(*room);
        *room = room.saturating_sub(hunk.lines.len());
        if left > 0 {
            let _ = write!(out, "<div class=\"note-row\">{} more</div>", count(left as u64, "line"));
        }
    }
    out.push_str("</div></div></details>\n");
}

/// What the style sheet calls the parts of a language, by their numbers in a line.
const PARTS: [&str; 8] = ["", "comment", "text", "number", "keyword", "type", "call", "field"];

fn page_line(out: &mut String, line: &HunkLine, old: u64, fresh: u64) {
    let (tone, old, fresh) = match line.side {
        '+' => (" is-plus", String::new(), fresh.to_string()),
        '-' => (" is-minus", old.to_string(), String::new()),
        _ => ("", old.to_string(), fresh.to_string()),
    };
    let _ = write!(
        out,
        "<div class=\"code-row{tone}\"><span class=\"gutter\">{old}</span><span class=\"gutter\">{fresh}</span><span class=\"side\">{}</span><code class=\"code\">",
        line.side
    );
    let units: Vec<u16> = line.text.encode_utf16().collect();
    let mut at = 0;
    while at < units.len() {
        let (end, part, is_word) = piece(line, at, units.len());
        let text = escaped(&String::from_utf16_lossy(&units[at..end]));
        let name = match part {
            0 => String::new(),
            part => format!("part-{}", PARTS.get(part).unwrap_or(&"")),
        };
        let name = [name.as_str(), if is_word { "word" } else { "" }].join(" ");
        let _ = match name.trim() {
            "" => write!(out, "{text}"),
            name => write!(out, "<span class=\"{name}\">{text}</span>"),
        };
        at = end;
    }
    out.push_str("</code></div>\n");
}

/// The piece of a line that begins at a place: where it ends, which part of the language it is, and whether it changed.
fn piece(line: &HunkLine, at: usize, length: usize) -> (usize, usize, bool) {
    let mark = |marks: &[u32], step: usize| {
        let found = marks.chunks_exact(step).find(|mark| (mark[0] + mark[1]) as usize > at)?;
        let (begin, end) = (found[0] as usize, (found[0] + found[1]) as usize);
        let kind = found.get(2).copied().unwrap_or(1) as usize;
        Some(if begin <= at { (end, Some(kind)) } else { (begin, None) })
    };
    let (part_end, part) = mark(&line.parts, 3).unwrap_or((length, None));
    let (word_end, word) = mark(&line.words, 2).unwrap_or((length, None));
    (part_end.min(word_end).min(length), part.unwrap_or(0), word.is_some())
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

/// Text as markup shows it, without characters that steer a terminal or change the order of reading.
fn escaped(text: &str) -> String {
    let text = visible(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_a_part_or_a_changed_word_begins_or_ends() {
        let line = HunkLine {
            side: '+',
            text: "let é = 12;".to_owned(),
            parts: vec![0, 3, 4, 8, 2, 3],
            words: vec![9, 2],
            cut: 0,
            no_newline: false,
        };
        let mut out = String::new();
        page_line(&mut out, &line, 6, 7);
        let code = out.split("<code class=\"code\">").nth(1).unwrap();
        assert_eq!(
            code,
            "<span class=\"part-keyword\">let</span> é = <span class=\"part-number\">1</span>\
             <span class=\"part-number word\">2</span><span class=\"word\">;</span></code></div>\n"
        );
        assert!(out.contains("<span class=\"gutter\"></span><span class=\"gutter\">7</span>"), "{out}");
    }

    #[test]
    fn what_others_wrote_is_text() {
        assert_eq!(plain("a|b <img> *x*\n# y"), "a\\|b &lt;img&gt; \\*x\\*\\\\n\\# y");
        assert_eq!(escaped("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
        assert_eq!(escaped("a\u{202e}b\u{1b}]0;\tc"), "a&lt;U+202E&gt;b&lt;U+001B&gt;]0;\tc");
        assert_eq!(fenced("a ``` b"), "a ''' b");
    }
}
