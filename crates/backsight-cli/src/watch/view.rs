//! The model as a screen: a value in, cells out. Where there is little room the less important parts go first.

use backsight::browser::Verdict;
use backsight::report::{Applied, Call, Conflict, Kind, Origin, PathChange, Row, Session, Snapshot};
use backsight_core::Seq;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use super::detail::{Line, Tone};
use super::model::{App, Asking, Focus, Going, KEYS, Look, Mode, Model, Place, Refusal, Room, Stage};
use crate::render::graph::{self, Alphabet};
use crate::render::{applied, changes, snapshot};
use crate::width;
use crate::words::{age, count, safe};

/// From this width on the diff stands beside the timeline, not below it.
const WIDE: u16 = 100;
/// Below this nothing can be shown well.
const LEAST: (u16, u16) = (24, 6);

/// Draws everything; how many rows and lines there was room for.
pub fn draw(model: &Model, buffer: &mut Buffer) -> Room {
    let area = buffer.area;
    let mut pen = Pen { buffer, look: model.look };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        pen.text(area, 0, "too small", Style::new());
        return Room::default();
    }
    header(&mut pen, model, area);
    let body = Rect { y: area.y + 2, height: area.height - 3, ..area };
    let parts = Parts::of(body, model);
    let rows = timeline(&mut pen, model, parts.timeline);
    if let Some(who) = parts.who {
        at_work(&mut pen, model, who);
    }
    if let Some(x) = parts.bar {
        pen.bar(Rect { x, width: 1, ..body });
    }
    let lines = detail(&mut pen, model, parts.detail);
    footer(&mut pen, model, Rect { y: area.bottom() - 1, height: 1, ..area });
    match &model.mode {
        Mode::Keys => keys(&mut pen, body),
        Mode::Asking(asking) => dialog(&mut pen, asking, body),
        Mode::Looking | Mode::Searching(_) => {}
    }
    Room { rows, lines }
}

/// Where everything goes.
struct Parts {
    timeline: Rect,
    who: Option<Rect>,
    /// The column between left and right.
    bar: Option<u16>,
    detail: Rect,
}

impl Parts {
    fn of(body: Rect, model: &Model) -> Parts {
        let who = u16::try_from(workers(model).len().clamp(1, 6) + 1).unwrap_or(7);
        if body.width >= WIDE {
            let left = (body.width * 2 / 5).clamp(44, 72);
            let column = Rect { width: left, ..body };
            let (timeline, who) = split(column, who);
            let detail = Rect { x: body.x + left + 1, width: body.width - left - 1, ..body };
            return Parts { timeline, who, bar: Some(body.x + left), detail };
        }
        let upper = Rect { height: (body.height / 2).max(2), ..body };
        let (timeline, who) = split(upper, who.min(3));
        let detail = Rect { y: body.y + upper.height, height: body.height - upper.height, ..body };
        Parts { timeline, who, bar: None, detail }
    }
}

/// The lower lines of an area, where the upper part keeps at least eight.
fn split(area: Rect, lower: u16) -> (Rect, Option<Rect>) {
    if area.height < lower + 8 {
        return (area, None);
    }
    let upper = Rect { height: area.height - lower, ..area };
    (upper, Some(Rect { y: area.y + upper.height, height: lower, ..area }))
}

fn header(pen: &mut Pen, model: &Model, area: Rect) {
    let mut right = Vec::new();
    if let Some(row) = model.rows.list.as_ref().and_then(|rows| rows.first()).filter(|_| model.rows.text.is_empty()) {
        right.push(row.sequence_number().to_string());
    }
    right.push(match model.disk {
        None => "looking at the files".to_owned(),
        Some(disk) if disk.unseen > 0 => {
            format!("{} not recorded, {} not seen", count(disk.changed as u64, "path"), disk.unseen)
        }
        Some(disk) if disk.changed > 0 => format!("{} not recorded", count(disk.changed as u64, "path")),
        Some(_) => "all recorded".to_owned(),
    });
    let right = right.join("  ");
    let name = pen.style(Color::Cyan).add_modifier(Modifier::BOLD);
    let x = pen.text(area, 0, " backsight ", name);
    let room = area.width.saturating_sub(x + 2).saturating_sub(columns(&right) + 1);
    pen.at(area, x + 1, 0, &width::cut(&model.root, usize::from(room)), Style::new());
    pen.right(area, 0, &right, pen.dim());
    let (tone, verdict, rest) = health(model);
    let below = Rect { y: area.y + 1, height: 1, ..area };
    let x = pen.text(below, 0, " app ", pen.dim());
    let x = pen.at(below, x, 0, verdict, pen.style(tone).add_modifier(Modifier::BOLD));
    let x = if verdict.is_empty() { x } else { x + 2 };
    let room = usize::from(area.width.saturating_sub(x));
    pen.at(below, x, 0, &width::cut(&rest, room), Style::new());
}

/// The app's health: how it looks, in one word, and why.
fn health(model: &Model) -> (Color, &'static str, String) {
    match &model.app {
        None => (Color::Reset, "", "not asked yet".to_owned()),
        Some(App::NotServed) => {
            (Color::Reset, "not watched", "no server runs; `backsight serve` starts one".to_owned())
        }
        Some(App::Failed(why)) => (Color::Yellow, "unknown", safe(why)),
        Some(App::Known(health)) => {
            let (tone, word) = match health.verdict {
                Verdict::Healthy => (Color::Green, "healthy"),
                Verdict::Degraded => (Color::Yellow, "degraded"),
                Verdict::Broken => (Color::Red, "broken"),
                Verdict::Unknown => (Color::Yellow, "unknown"),
            };
            let reason = health.reasons.first().map_or(&health.summary, |reason| reason);
            let others = health.reasons.len().saturating_sub(1) + health.more_reasons.unwrap_or(0);
            let more = if others > 0 { format!(" (and {others} more)") } else { String::new() };
            (tone, word, format!("{}{more}", safe(reason)))
        }
    }
}

fn timeline(pen: &mut Pen, model: &Model, area: Rect) -> usize {
    let new = model.rows.list.iter().flatten().filter(|row| model.is_new(row.sequence_number())).count();
    let mut title = match model.rows.text.as_str() {
        "" => "Timeline".to_owned(),
        text => format!("Timeline: {}", safe(text)),
    };
    if new > 0 {
        title.push_str(&format!(", {new} new since you last looked"));
    }
    pen.title(area, &title, model.focus == Focus::Timeline);
    let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let room = usize::from(inner.height);
    let Some(rows) = &model.rows.list else {
        pen.at(inner, 1, 0, "reading", pen.dim());
        return room;
    };
    if model.length() == 0 {
        let text = if rows.is_empty() && !model.rows.text.is_empty() {
            "nothing recorded matches"
        } else {
            "nothing recorded yet"
        };
        pen.at(inner, 1, 0, text, pen.dim());
        return room;
    }
    let chosen = model.index();
    let window = Model::window(model.length(), chosen, room);
    let number =
        window.clone().filter_map(|index| model.row(index)).map(|row| columns(&row.sequence_number().to_string()));
    let number = number.max().unwrap_or(2);
    for (line, index) in window.enumerate() {
        let y = u16::try_from(line).unwrap_or(u16::MAX);
        let here = Rect { y: inner.y + y, height: 1, ..inner };
        match (model.place(index), model.row(index)) {
            (Some(Place::Disk), _) => on_disk(pen, model, here, number),
            (_, Some(row)) => row_line(pen, model, here, row, number),
            _ => {}
        }
        if index == chosen {
            pen.choose(here, model.focus == Focus::Timeline);
        }
    }
    if model.rows.more && chosen + 1 == model.length() {
        pen.right(Rect { height: 1, ..area }, 0, " reading older ones ", pen.dim());
    }
    room
}

fn on_disk(pen: &mut Pen, model: &Model, here: Rect, number: u16) {
    let changed = model.disk.map_or(0, |disk| disk.changed);
    let glyph = model.look.alphabet.glyph(Kind::External).to_string();
    pen.at(here, 1, 0, &glyph, pen.style(Color::Yellow));
    pen.at(here, 3, 0, "now", pen.style(Color::Yellow));
    let text = format!("{} not recorded", count(changed as u64, "path"));
    pen.at(here, 3 + number.max(3) + 1, 0, &text, Style::new());
}

/// `. #42  3 min  rename the parser (edit, s1)   +3 -1`
fn row_line(pen: &mut Pen, model: &Model, here: Rect, row: &Row, number: u16) {
    let kind = graph::kind(row);
    let (time, origin, text, lines) = match row {
        Row::Snapshot(step) => (step.timestamp, &step.origin, title(step), step.lines_added.zip(step.lines_removed)),
        Row::Event(event) => (event.timestamp, &event.origin, snapshot::first_line(&event.description), None),
    };
    let text = match text.is_empty() {
        true => kind.as_str().replace('_', " "),
        false => text,
    };
    if model.is_new(row.sequence_number()) {
        pen.at(here, 0, 0, if model.look.alphabet == Alphabet::Unicode { "▎" } else { "|" }, pen.style(Color::Cyan));
    }
    let glyph = model.look.alphabet.glyph(kind).to_string();
    pen.at(here, 1, 0, &glyph, pen.style(tint(kind, origin)));
    pen.at(here, 3, 0, &row.sequence_number().to_string(), pen.style(Color::Yellow));
    let x = 3 + number.max(3) + 1;
    let since = age(time, model.now);
    let since = since.strip_suffix(" ago").unwrap_or(&since).replace("just now", "now");
    pen.at(here, x, 0, &format!("{since:>8}"), pen.dim());
    let x = x + 10;
    let end = lines.map_or(0, |(added, removed)| amounts(pen, here, added, removed));
    let room = usize::from(here.width.saturating_sub(x + end + 1));
    let who = crate::render::who::Who::of(&Origin { tool: None, ..origin.clone() });
    let (text, who) = who.beside(&text, Some(room));
    let style = if matches!(kind, Kind::Milestone | Kind::FirstError) {
        Style::new().add_modifier(Modifier::BOLD)
    } else {
        Style::new()
    };
    let x = pen.at(here, x, 0, &text, style);
    pen.at(here, x + 1, 0, &who, pen.dim());
}

/// `+3 -1` at the right end; how many columns it takes.
fn amounts(pen: &mut Pen, here: Rect, added: u64, removed: u64) -> u16 {
    let (added, removed) = (format!("+{added}"), format!("-{removed}"));
    let width = columns(&added) + columns(&removed) + 2;
    if here.width < width + 30 {
        return 0;
    }
    let x = pen.at(here, here.width - width, 0, &added, pen.style(Color::Green));
    pen.at(here, x + 1, 0, &removed, pen.style(Color::Red));
    width
}

fn title(step: &Snapshot) -> String {
    match snapshot::title(step) {
        empty if empty.is_empty() => match step.base_tree {
            None => "first snapshot".to_owned(),
            Some(_) => format!("{} {}", step.kind.as_str(), count(step.files_changed, "file")),
        },
        title => title,
    }
}

/// Errors are red and what is well again green; steps have the colour of their session.
fn tint(kind: Kind, origin: &Origin) -> Color {
    const SESSIONS: [Color; 5] = [Color::Cyan, Color::Magenta, Color::Blue, Color::Green, Color::Yellow];
    match kind {
        Kind::FirstError => Color::Red,
        Kind::Recovery => Color::Green,
        Kind::Milestone => Color::Yellow,
        _ => match &origin.session {
            None => Color::Reset,
            Some(session) => {
                let sum =
                    session.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
                SESSIONS[sum % SESSIONS.len()]
            }
        },
    }
}

/// Who works on what, a line each: open calls first, then the sessions that rest.
fn workers(model: &Model) -> Vec<(Color, String, String)> {
    let mut lines: Vec<_> = model.work.calls.iter().map(|call| busy(call, model)).collect();
    let is_busy = |session: &Session| {
        model.work.calls.iter().any(|call| call.origin.session.as_deref() == Some(session.id.as_str()))
    };
    lines.extend(model.work.sessions.iter().filter(|session| !is_busy(session)).map(|session| resting(session, model)));
    lines
}

fn name(session: &Session) -> String {
    safe(session.client.as_deref().unwrap_or(&session.id))
}

fn busy(call: &Call, model: &Model) -> (Color, String, String) {
    let session = call.origin.session.as_deref();
    let found = model.work.sessions.iter().find(|found| Some(found.id.as_str()) == session);
    let who = found.map(name).or(session.map(safe)).unwrap_or_else(|| "a tool".to_owned());
    let what = call.run.title.as_deref().or(call.origin.tool.as_deref()).map_or("at work".to_owned(), safe);
    let asked = if call.run.asked.is_some() { ", waits for an answer" } else { "" };
    let age = age(call.since, model.now);
    let begun = if age == "just now" { ", just begun".to_owned() } else { format!(", begun {age}") };
    (Color::Green, who, format!("{what}{begun}{asked}"))
}

fn resting(session: &Session, model: &Model) -> (Color, String, String) {
    let title = session.title.as_deref().map(|title| format!("{}: ", safe(title))).unwrap_or_default();
    let steps = count(session.step_count, "step");
    let reverted = if session.revert.is_some() { ", reverted" } else { "" };
    (Color::Reset, name(session), format!("{title}{steps}, {}{reverted}", age(session.last_at, model.now)))
}

fn at_work(pen: &mut Pen, model: &Model, area: Rect) {
    let calls = model.work.calls.len();
    let title = if calls > 0 { format!("Who works on what: {calls} at work") } else { "Who works on what".to_owned() };
    pen.title(area, &title, false);
    let workers = workers(model);
    let room = usize::from(area.height.saturating_sub(1));
    if workers.is_empty() {
        pen.at(area, 1, 1, "no session has done anything yet", pen.dim());
    }
    let widest = workers.iter().take(room).map(|(_, who, _)| columns(who)).max().unwrap_or(0).min(area.width / 3);
    for (line, (tone, who, what)) in workers.iter().take(room).enumerate() {
        let y = u16::try_from(line).unwrap_or(u16::MAX) + 1;
        let mark = if *tone == Color::Reset { " " } else { model.look.alphabet.either("*", "●") };
        pen.at(area, 1, y, mark, pen.style(*tone));
        pen.at(area, 3, y, &width::cut(who, usize::from(widest)), Style::new().add_modifier(Modifier::BOLD));
        let x = 3 + widest + 1;
        pen.at(area, x, y, &width::cut(what, usize::from(area.width.saturating_sub(x))), Style::new());
    }
    if workers.len() > room {
        pen.right(Rect { height: 1, ..area }, 0, &format!(" {} more ", workers.len() - room), pen.dim());
    }
}

fn detail(pen: &mut Pen, model: &Model, area: Rect) -> usize {
    let title = match (model.chosen_place(), model.chosen_row()) {
        (Some(Place::Disk), _) => "On disk, not recorded".to_owned(),
        (_, Some(row)) => {
            let text = match row {
                Row::Snapshot(step) => title(step),
                Row::Event(event) => event.kind.as_str().replace('_', " "),
            };
            format!("{} {text}", row.sequence_number())
        }
        _ => "Nothing chosen".to_owned(),
    };
    pen.title(area, &title, model.focus == Focus::Detail);
    let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let room = usize::from(inner.height);
    let Some(lines) = &model.detail else {
        if model.length() > 0 {
            pen.at(inner, 1, 0, "reading", pen.dim());
        }
        return room;
    };
    for (y, line) in (0..inner.height).zip(lines.iter().skip(model.top)) {
        detail_line(pen, Rect { y: inner.y + y, height: 1, ..inner }, line);
    }
    if lines.len() > room {
        let last = (model.top + room).min(lines.len());
        pen.right(Rect { height: 1, ..area }, 0, &format!(" {last}/{} ", lines.len()), pen.dim());
    }
    room
}

fn detail_line(pen: &mut Pen, here: Rect, line: &Line) {
    let style = match line.tone {
        Tone::Fact | Tone::Same => Style::new(),
        Tone::File => Style::new().add_modifier(Modifier::BOLD),
        Tone::Hunk => pen.style(Color::Cyan),
        Tone::Added => pen.style(Color::Green),
        Tone::Removed => pen.style(Color::Red),
        Tone::Note => pen.style(Color::Yellow),
    };
    let room = usize::from(here.width.saturating_sub(1));
    pen.at(here, 1, 0, &width::cut(&line.text, room), style);
}

fn footer(pen: &mut Pen, model: &Model, area: Rect) {
    if let Mode::Searching(text) = &model.mode {
        let x = pen.text(area, 0, " search: ", Style::new().add_modifier(Modifier::BOLD));
        let x = pen.at(area, x, 0, text, Style::new());
        pen.at(area, x, 0, " ", Style::new().add_modifier(Modifier::REVERSED));
        return;
    }
    let room = usize::from(area.width.saturating_sub(2));
    if let Some(trouble) = &model.trouble {
        let text = format!("what is shown may be old: {}", safe(trouble));
        pen.at(area, 1, 0, &width::cut(&text, room), pen.style(Color::Red).add_modifier(Modifier::BOLD));
        return;
    }
    if let Some(said) = &model.said {
        let tone = if said.is_trouble { Color::Yellow } else { Color::Green };
        pen.at(area, 1, 0, &width::cut(&said.text, room), pen.style(tone).add_modifier(Modifier::BOLD));
        return;
    }
    let hints = [
        ("j/k", "move"),
        ("Enter", "diff"),
        ("]/[", "jump"),
        ("/", "search"),
        ("z", "undo"),
        ("R", "revert"),
        ("?", "keys"),
        ("q", "quit"),
    ];
    let mut x = 1;
    for (key, what) in hints {
        if x + columns(key) + columns(what) + 1 > area.width {
            break;
        }
        x = pen.at(area, x, 0, key, Style::new().add_modifier(Modifier::BOLD)) + 1;
        x = pen.at(area, x, 0, what, pen.dim()) + 2;
    }
}

fn keys(pen: &mut Pen, body: Rect) {
    let widest = KEYS.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let lines = KEYS.iter().map(|(key, what)| (Style::new(), format!("{key:<widest$}  {what}")));
    pen.dialog(body, "Keys", &lines.collect::<Vec<_>>(), "any key closes this");
}

fn dialog(pen: &mut Pen, asking: &Asking, body: Rect) {
    let what = match asking.going {
        Going::Undo => "Undo the newest step".to_owned(),
        Going::Redo => "Redo what was undone".to_owned(),
        Going::Revert(seq) => format!("Revert {seq}"),
    };
    match &asking.stage {
        Stage::Planning => pen.dialog(body, &what, &[(pen.dim(), "planning".to_owned())], "Esc cancels"),
        Stage::Doing => pen.dialog(body, &what, &[(pen.dim(), "working".to_owned())], ""),
        Stage::Planned(plan) if plan.changed => {
            let lines = planned(pen, plan, asking.going);
            pen.dialog(body, &what, &lines, "y does exactly this, Esc cancels");
        }
        Stage::Planned(_) => {
            pen.dialog(
                body,
                &what,
                &[(Style::new(), "changes nothing: the files are already as wanted".to_owned())],
                "Esc closes",
            );
        }
        Stage::Refused(refusal) => {
            let lines = refused(pen, refusal);
            let keys = match refusal.conflicts.is_empty() {
                true => "Esc closes",
                false => "s leaves these as they are, m merges and marks them, Esc cancels",
            };
            pen.dialog(body, &what, &lines, keys);
        }
    }
}

fn planned(pen: &Pen, plan: &Applied, going: Going) -> Vec<(Style, String)> {
    let targets: Vec<Seq> = plan.targets.clone();
    let named = if matches!(going, Going::Revert(_)) {
        String::new()
    } else {
        format!("{}: ", crate::words::enumerate(&targets))
    };
    let mut lines = vec![(Style::new().add_modifier(Modifier::BOLD), format!("{named}{}", applied::totals(plan)))];
    let change = |change: &PathChange, note: &str| {
        let (letter, _) = changes::letter(change.status);
        let from = change.from_path.as_ref().map(|from| format!("{from} -> ")).unwrap_or_default();
        (Style::new(), format!("{letter} {from}{}{note}", change.path))
    };
    lines.extend(plan.reverted.iter().map(|path| change(path, "")));
    lines.extend(plan.merged.iter().map(|path| change(path, "  merged, later edits kept")));
    let conflict = |Conflict { path, reason, .. }: &Conflict, outcome: &str| {
        (pen.style(Color::Red), format!("! {path}  {outcome}: {}", safe(reason)))
    };
    lines.extend(plan.conflicts.iter().map(|found| conflict(found, "gets conflict markers")));
    lines.extend(plan.skipped.iter().map(|found| conflict(found, "left as it is")));
    lines.extend(plan.kept.iter().map(|kept| (pen.dim(), format!("= {}  kept: {}", kept.path, safe(&kept.reason)))));
    lines.extend(plan.warnings.iter().map(|warning| (pen.style(Color::Yellow), safe(warning))));
    lines
}

fn refused(pen: &Pen, refusal: &Refusal) -> Vec<(Style, String)> {
    let mut lines = vec![(pen.style(Color::Yellow).add_modifier(Modifier::BOLD), refusal.message.clone())];
    lines.extend(refusal.conflicts.iter().map(|line| (pen.style(Color::Red), format!("! {line}"))));
    if refusal.conflicts.is_empty() {
        lines.extend(refusal.hint.iter().map(|hint| (Style::new(), hint.clone())));
    }
    lines
}

/// Columns a text takes.
fn columns(text: &str) -> u16 {
    u16::try_from(width::of(text)).unwrap_or(u16::MAX)
}

/// Writes into cells, with or without colours.
struct Pen<'a> {
    buffer: &'a mut Buffer,
    look: Look,
}

impl Pen<'_> {
    fn style(&self, color: Color) -> Style {
        if self.look.is_coloured { Style::new().fg(color) } else { Style::new() }
    }

    fn dim(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Writes at a place within an area and no further than its end; the column after it.
    fn at(&mut self, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
        if x >= area.width || y >= area.height {
            return x;
        }
        let room = usize::from(area.width - x);
        let (end, _) = self.buffer.set_stringn(area.x + x, area.y + y, text, room, style);
        end - area.x
    }

    fn text(&mut self, area: Rect, x: u16, text: &str, style: Style) -> u16 {
        self.at(area, x, 0, text, style)
    }

    fn right(&mut self, area: Rect, y: u16, text: &str, style: Style) {
        let x = area.width.saturating_sub(columns(text) + 1);
        self.at(area, x, y, text, style);
    }

    /// A line across with words in it.
    fn title(&mut self, area: Rect, text: &str, is_focused: bool) {
        let rule = self.look.alphabet.either("-", "─");
        for x in 0..area.width {
            self.at(area, x, 0, rule, self.dim());
        }
        let style = if is_focused { self.style(Color::Cyan).add_modifier(Modifier::BOLD) } else { Style::new() };
        let text = format!(" {} ", width::cut(text, usize::from(area.width.saturating_sub(4))));
        self.at(area, 1, 0, &text, style);
    }

    fn bar(&mut self, area: Rect) {
        let bar = self.look.alphabet.either("|", "│");
        for y in 0..area.height {
            self.at(area, 0, y, bar, self.dim());
        }
    }

    fn choose(&mut self, here: Rect, is_focused: bool) {
        let modifier = if is_focused { Modifier::REVERSED } else { Modifier::UNDERLINED };
        self.buffer.set_style(here, Style::new().add_modifier(modifier));
    }

    /// A box in the middle; lines that have no room are counted.
    fn dialog(&mut self, body: Rect, title: &str, lines: &[(Style, String)], keys: &str) {
        let widest =
            lines.iter().map(|(_, line)| columns(line)).chain([columns(title), columns(keys)]).max().unwrap_or(0);
        let width = widest.saturating_add(4).min(body.width);
        let room = usize::from(body.height.saturating_sub(4)).max(1);
        let shown = if lines.len() > room { room.saturating_sub(1) } else { lines.len() };
        let height = u16::try_from(shown + usize::from(shown < lines.len()))
            .unwrap_or(u16::MAX)
            .saturating_add(4)
            .min(body.height);
        let area = Rect { x: body.x + (body.width - width) / 2, y: body.y + (body.height - height) / 2, width, height };
        self.frame(area);
        let inner = Rect { x: area.x + 2, y: area.y, width: width.saturating_sub(4), height };
        self.at(inner, 0, 0, &format!(" {title} "), Style::new().add_modifier(Modifier::BOLD));
        let cut = |text: &str| width::cut(text, usize::from(inner.width));
        let mut y = 1;
        for (style, line) in &lines[..shown] {
            self.at(inner, 0, y, &cut(line), *style);
            y += 1;
        }
        if shown < lines.len() {
            self.at(inner, 0, y, &cut(&format!("and {} more", lines.len() - shown)), self.dim());
        }
        self.at(inner, 0, height.saturating_sub(2), &cut(keys), self.style(Color::Cyan));
    }

    fn frame(&mut self, area: Rect) {
        let alphabet = self.look.alphabet;
        let (across, down) = (alphabet.either("-", "─"), alphabet.either("|", "│"));
        for y in 0..area.height {
            let is_edge = y == 0 || y + 1 == area.height;
            for x in 0..area.width {
                let is_side = x == 0 || x + 1 == area.width;
                let corner = match (x == 0, y == 0) {
                    (true, true) => "╭",
                    (false, true) => "╮",
                    (true, false) => "╰",
                    (false, false) => "╯",
                };
                let symbol = match (is_edge, is_side) {
                    (true, true) => alphabet.either("+", corner),
                    (true, false) => across,
                    (false, true) => down,
                    (false, false) => " ",
                };
                if let Some(cell) = self.buffer.cell_mut((area.x + x, area.y + y)) {
                    cell.reset();
                    cell.set_symbol(symbol);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
