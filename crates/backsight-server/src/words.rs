//! Changes and rows in the fewest words a model reads well.

use backsight::report::{Attributes, Conflict, Kind, Origin, PathChange, Row, Snapshot, Status, UnknownChange};
use backsight::{ObjectId, Timestamp, Uncovered};
use backsight_core::one_line;

/// As much of a tree's id as tells it apart; a reference may be a prefix.
pub fn short_id(tree: &ObjectId) -> String {
    tree.to_string().chars().take(12).collect()
}

/// A change as one line: `M src/a.rs`, `R old -> new`.
pub fn change(change: &PathChange) -> String {
    let PathChange { path, status, from_path, before, after } = change;
    match (status, from_path) {
        (Status::Renamed, Some(from)) => format!("R {from} -> {path}"),
        (Status::ModeChanged, _) => format!("X {path} {} -> {}", mode(before), mode(after)),
        _ => format!("{} {path}", letter(*status)),
    }
}

/// The letter that stands for a status.
pub fn letter(status: Status) -> char {
    match status {
        Status::Added => 'A',
        Status::Modified => 'M',
        Status::Deleted => 'D',
        Status::Renamed => 'R',
        Status::ModeChanged => 'X',
        Status::TypeChanged => 'T',
    }
}

fn mode(attributes: &Option<Attributes>) -> String {
    attributes.map(|attributes| format!("{:04o}", attributes.mode)).unwrap_or_default()
}

/// A change nobody recorded as one line.
pub fn unknown(change: &UnknownChange) -> String {
    use backsight::report::ChangeType::{Created, Deleted, Modified};
    let letter = match change.change_type {
        Modified => 'M',
        Created => 'A',
        Deleted => 'D',
    };
    format!("{letter} {}", change.file_path)
}

/// `; 2 paths not seen`, or nothing when all were.
pub fn not_seen(unseen: &[String]) -> String {
    if unseen.is_empty() { String::new() } else { format!("; {} not seen", count(unseen.len(), "path")) }
}

/// A path that could not be looked at.
pub fn unseen(uncovered: &Uncovered) -> String {
    format!("{} ({})", uncovered.path, uncovered.reason)
}

/// A conflict as one line.
pub fn conflict(conflict: &Conflict) -> String {
    format!("{}: {}", conflict.path, conflict.reason)
}

/// A row of the timeline as one line.
pub fn row(row: &Row, now: Timestamp) -> String {
    match row {
        Row::Snapshot(step) => snapshot(step, now),
        Row::Event(event) => {
            let (seq, kind) = (event.sequence_number, event.kind.as_str());
            format!("{seq} {kind} {}{}: {}", age(event.timestamp, now), who(&event.origin), clip(&event.description))
        }
    }
}

/// Who asked for a row.
pub fn origin(row: &Row) -> &Origin {
    match row {
        Row::Snapshot(step) => &step.origin,
        Row::Event(event) => &event.origin,
    }
}

/// A row in a list: `#12 3m Edit@m2 2 files +5 -1: fix the parser`. What is said already is not said again: the session of
/// all rows, the session and message of the row before, a tool that the description names, an ordinary kind.
pub fn brief_row(row: &Row, session: Option<&str>, before: Option<&Origin>, longest: usize, now: Timestamp) -> String {
    let (seq, kind, time, extent, text) = match row {
        Row::Snapshot(step) => {
            let files = if step.files_changed == 1 { String::new() } else { format!(" {}", files(step)) };
            let extent = format!("{files}{}{}", lines(step), expired(step));
            (step.sequence_number, step.kind, step.timestamp, extent, &step.description)
        }
        Row::Event(event) => (event.sequence_number, event.kind, event.timestamp, String::new(), &event.description),
    };
    let text = clip_to(text, longest);
    let kind = if kind == Kind::Track || text.starts_with(kind.as_str()) { "" } else { kind.as_str() };
    let mut said = origin(row).clone();
    said.part = None;
    said.tool = said.tool.filter(|tool| tool != kind && !names_tool(&text, tool));
    if before.is_some_and(|before| before.session == said.session && before.message == said.message) {
        (said.session, said.message) = (None, None);
    }
    said.session = said.session.filter(|named| Some(named.as_str()) != session);
    let kind = if kind.is_empty() { String::new() } else { format!(" {kind}") };
    let text = if text.is_empty() { text } else { format!(": {text}") };
    format!("{seq}{kind} {}{}{extent}{text}", age(time, now), who(&said))
}

/// Whether a text begins with the name of the tool, as `Bash: npm test` does.
fn names_tool(text: &str, tool: &str) -> bool {
    text.strip_prefix(tool).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
}

fn files(step: &Snapshot) -> String {
    count(step.files_changed as usize, "file")
}

fn lines(step: &Snapshot) -> String {
    match (step.lines_added, step.lines_removed) {
        (Some(added), Some(removed)) => format!(" +{added} -{removed}"),
        _ => String::new(),
    }
}

fn expired(step: &Snapshot) -> &'static str {
    if step.expired_at.is_some() { " (contents expired)" } else { "" }
}

/// A snapshot as one line: `#12 track 3m Edit@s1/m2 2 files +5 -1: fix the parser`.
pub fn snapshot(step: &Snapshot, now: Timestamp) -> String {
    let (lines, expired) = (lines(step), expired(step));
    let text = if step.description.is_empty() { String::new() } else { format!(": {}", clip(&step.description)) };
    format!(
        "{} {} {}{} {}{lines}{expired}{text}",
        step.sequence_number,
        step.kind.as_str(),
        age(step.timestamp, now),
        who(&step.origin),
        files(step),
    )
}

/// ` tool@session/message/part`, as much of it as there is.
fn who(origin: &Origin) -> String {
    let place = [&origin.session, &origin.message, &origin.part];
    let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
    match (&origin.tool, place.is_empty()) {
        (None, true) => String::new(),
        (Some(tool), true) => format!(" {tool}"),
        // A client that names no session is its own.
        (Some(tool), false) if place == [tool] => format!(" {tool}"),
        (tool, false) => format!(" {}@{}", tool.as_deref().unwrap_or_default(), place.join("/")),
    }
}

/// A text of people or programs as part of a line: one line, and not all of a long one.
pub fn clip(text: &str) -> String {
    clip_to(text, 160)
}

fn clip_to(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = one_line(&line);
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}

/// How long ago: `12s`, `3m`, `5h`, `2d`.
pub fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = (now.0.saturating_sub(then.0) / 1000).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// What was executed, in lines for an answer of at most so many tokens: command lines, then where and with which variables.
/// They take a part of the answer that is always there, so that nothing else can push them out.
pub fn executed(
    commands: &[&[String]],
    directory: Option<&str>,
    environment: &[String],
    max_tokens: usize,
) -> Vec<String> {
    let room = (max_tokens + max_tokens / 4).clamp(250, 4000);
    let commands: Vec<&&[String]> = commands.iter().filter(|one| !one.is_empty()).collect();
    let mut lines: Vec<String> = commands.iter().map(|one| command_line(one, room / commands.len())).collect();
    if !lines.is_empty() {
        lines.extend(directory.map(|directory| format!("in {}", shell_word(directory, 100))));
        let shown: Vec<String> = environment.iter().take(8).map(|name| shell_word(name, 40)).collect();
        let more = match environment.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lines.extend((!shown.is_empty()).then(|| format!("with {}{more} set", shown.join(", "))));
    }
    lines
}

/// A command line as a shell would take it, so that the person who allowed it sees what was run. What is odd in it is
/// escaped. In a long one every argument is shortened in its middle, since any of them may be the telling one; of too many
/// the first and the last are told, and how many are between them.
pub fn command_line(words: &[String], room: usize) -> String {
    const SHORTEST: usize = 24;
    let length = |text: &str| text.chars().count();
    for longest in [room, 400, 200, 100, 60, 40, SHORTEST] {
        let mut line = String::new();
        for word in words {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(&shell_word(word, longest));
            if line.len() > room * 4 {
                break;
            }
        }
        if length(&line) <= room {
            return line;
        }
    }
    let within = |words: &mut dyn Iterator<Item = &String>, most: usize| {
        let mut used = 0;
        let shown = words.map(|word| shell_word(word, SHORTEST)).take_while(|word| {
            used += length(word) + 1;
            used <= most
        });
        shown.collect::<Vec<String>>()
    };
    let first = within(&mut words.iter(), room * 3 / 5);
    let mut last = within(&mut words.iter().skip(first.len()).rev(), room / 4);
    last.reverse();
    let between = words.len() - first.len() - last.len();
    format!("{} … {between} more arguments … {}", first.join(" "), last.join(" "))
}

/// A word as a shell would take it, shortened in its middle.
fn shell_word(word: &str, longest: usize) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_./-+=:,@%".contains(character);
    let (head, tail) = (longest - longest / 3, longest / 3);
    let (mut from_head, mut from_tail) = (word.char_indices(), word.char_indices());
    let word = match (from_head.nth(head), from_tail.nth_back(tail.saturating_sub(1))) {
        (Some((end, _)), Some((begin, _))) if word[end..].chars().nth(tail).is_some() => {
            let between = word[end..begin].chars().count();
            std::borrow::Cow::from(format!("{}…{between} more…{}", &word[..end], &word[begin..]))
        }
        _ => std::borrow::Cow::from(word),
    };
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into_owned(),
        false => format!("'{}'", one_line(&word).replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_line_loses_its_middles_and_never_its_end() {
        let words = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
        assert_eq!(command_line(&words(&["/bin/x", "a b", "", "it's"]), 250), "/bin/x 'a b' '' 'it'\\''s'");
        let long = "A".repeat(900);
        for room in [250, 300, 500, 625] {
            let line = command_line(&words(&["/usr/bin/python3", "-m", "debugpy", "a.py", &long, "--evil"]), room);
            assert!(line.chars().count() <= room && line.ends_with("AAAA' --evil"), "{line}");
            assert!(line.contains(" more…A"), "{line}");
            let many = vec!["x".repeat(30); 200_000];
            let line = command_line(&[words(&["/bin/x"]), many, words(&["--evil"])].concat(), room);
            assert!(line.chars().count() <= room && line.starts_with("/bin/x ") && line.ends_with(" --evil"), "{line}");
            assert!(line.contains(" more arguments "), "{line}");
        }
        let told = executed(&[&words(&["x"]), &[]], Some("/w/sub dir"), &words(&["LANG", "LC_\u{1b}"]), 200);
        assert_eq!(told, ["x", "in '/w/sub dir'", "with LANG, 'LC_\\u{1b}' set"]);
        assert!(executed(&[&[], &[]], Some("/w"), &words(&["LANG"]), 200).is_empty());
    }
}
