//! Sessions: started, listed, shown with their messages, tracked, taken back and forth.

use backsight::report::{
    Applied, Conversation, NoUnrevert, Phase, RevertInfo, Session, SessionDetail, SessionDiff, SessionMessage,
    SessionReverted, SessionStarted, SessionStep, SessionTracked, SessionUnreverted, WayBack,
};
use backsight_core::{Timestamp, shell_word};

use crate::page::{MAGENTA, Page, Sheet, YELLOW};
use crate::render::applied;
use crate::render::{calls, changes, snapshot};
use crate::width;
use crate::words::{age, count, count_of, enumerate, join, local, safe};

/// The id alone on stdout, so that a script can keep it.
pub fn started(page: &mut Page, started: &SessionStarted) {
    page.data.line(safe(&started.session.id));
    let session = &started.session;
    if !started.created {
        page.note(format_args!("the session was there already, with {}", extent(session)));
    } else if let Some(baseline) = session.baseline {
        page.note(format_args!("it begins with {baseline}"));
    }
    if !started.unknown_changes.is_empty() {
        let paths = count_of(&started.unknown_changes, "path");
        let were = if started.unknown_changes.len() == 1 { "was" } else { "were" };
        page.note(format_args!("{paths} {were} changed by somebody else, and recorded in it by external:"));
        changes::list_unknown(&mut page.talk, &started.unknown_changes);
    }
    warnings(page, &started.warnings);
    if started.created {
        let id = shell_word(session.id.as_bytes());
        page.hint(format_args!("before a message: `backsight session track {id} --message ID --before`"));
    }
}

/// Columns below which a list says less of what a session did.
const NARROW: usize = 100;

/// Every session in columns.
pub fn list(page: &mut Page, sessions: &[Session], has_more: bool, now: Timestamp) {
    if sessions.is_empty() {
        page.note("no session yet");
        return page.hint("start one with `backsight session start`");
    }
    let ids: Vec<String> = sessions.iter().map(|session| safe(&session.id)).collect();
    let ages: Vec<String> = sessions.iter().map(|session| age(session.last_at, now)).collect();
    let clients: Vec<String> = sessions.iter().map(client).collect();
    // On a narrow terminal the title needs the room.
    let is_narrow = page.data.width().is_some_and(|width| width < NARROW);
    let said = if is_narrow { |session: &Session| count(session.step_count, "step") } else { extent };
    let extents: Vec<String> = sessions.iter().map(said).collect();
    let columns = [ids, ages, clients, extents];
    let widths = columns.each_ref().map(|column| column.iter().map(|text| width::of(text)).max().unwrap_or(0));
    for (row, session) in sessions.iter().enumerate() {
        let sheet = &page.data;
        let cells = columns.iter().zip(widths).enumerate().filter(|(_, (_, width))| *width > 0);
        let cells = cells.map(|(column, (texts, width))| {
            let cell = format!("{:<width$}", texts[row]);
            match column {
                0 => sheet.paint(YELLOW, cell),
                3 => sheet.dim(cell),
                _ => cell,
            }
        });
        let start = format!("{}  ", cells.collect::<Vec<_>>().join("  "));
        let state = sheet.paint(MAGENTA, state(session));
        let title = session.title.as_deref().map(safe).unwrap_or_default();
        let taken = width::of(&start) + width::of(&state) + usize::from(!state.is_empty());
        let title = sheet.width().map_or(title.clone(), |width| width::cut(&title, width.saturating_sub(taken)));
        page.data.fitted(format_args!("{start}{}", join(&[&title, &state])));
    }
    if has_more {
        page.note("there are more: `--limit 0` lists all");
    }
}

/// `1c99f013  claude-code  Rename the parser`; nothing when neither client nor title is known.
pub fn about(id: &str, conversation: &Conversation) -> Option<String> {
    let said: Vec<String> =
        [&conversation.client, &conversation.title].into_iter().flatten().map(|text| safe(text)).collect();
    (!said.is_empty()).then(|| format!("{}  {}", safe(id), said.join("  ")))
}

fn client(session: &Session) -> String {
    session.client.as_deref().map(safe).unwrap_or_default()
}

/// `3 messages, 2 steps`
fn extent(session: &Session) -> String {
    format!("{}, {}", count(session.message_count, "message"), count(session.step_count, "step"))
}

/// `[reverted to before m2] [1 open call]`
fn state(session: &Session) -> String {
    let reverted =
        session.revert.as_ref().map(|revert| format!("[reverted to before {}]", place(revert))).unwrap_or_default();
    let open = match session.open_calls.len() as u64 {
        0 => String::new(),
        some => format!("[{}]", count(some, "open call")),
    };
    join(&[&reverted, &open])
}

/// `m2, part p1`
fn place(revert: &RevertInfo) -> String {
    match &revert.part_id {
        Some(part) => format!("{}, part {}", safe(&revert.message_id), safe(part)),
        None => safe(&revert.message_id),
    }
}

/// Everything about one session.
pub fn show(page: &mut Page, detail: &SessionDetail, now: Timestamp) {
    card(&mut page.data, detail, now);
    if !detail.messages.is_empty() {
        page.data.line("");
    }
    for message in &detail.messages {
        show_message(&mut page.data, message, now);
    }
    if !detail.other_steps.is_empty() {
        page.data.line("");
        let heading = page.data.bold("without a message");
        page.data.line(heading);
        detail.other_steps.iter().for_each(|step| show_step(&mut page.data, step, now));
    }
    if !detail.session.open_calls.is_empty() {
        page.note(format_args!("{} not finished:", count_of(&detail.session.open_calls, "tool call")));
        calls::list(&mut page.talk, &detail.session.open_calls, now);
    }
    let id = shell_word(detail.session.id.as_bytes());
    if detail.unrevert.possible {
        page.hint(format_args!("take the revert back with `backsight session unrevert {id}`"));
    } else if let Some(last) = detail.messages.iter().rfind(|message| !message.files.is_empty()) {
        let message = shell_word(last.id.as_bytes());
        page.hint(format_args!("go back to before a message: `backsight session revert {id} --message {message}`"));
    }
}

fn card(sheet: &mut Sheet, detail: &SessionDetail, now: Timestamp) {
    let session = &detail.session;
    let heading = sheet.paint(YELLOW.bold(), safe(&session.id));
    sheet.line(heading);
    let mut row = |label: &str, value: String| {
        if !value.is_empty() {
            let label = sheet.dim(format_args!("{label:<9}"));
            sheet.fitted(format_args!("{label} {value}"));
        }
    };
    row("title", session.title.as_deref().map(safe).unwrap_or_default());
    row("client", client(session));
    row("started", format!("{} ({})", local(session.started_at), age(session.started_at, now)));
    let baseline = session.baseline.zip(session.baseline_tree);
    row("baseline", baseline.map(|(seq, tree)| format!("{seq} {}", tree.short())).unwrap_or_default());
    row("did", extent(session));
    let lines = detail.lines_added.zip(detail.lines_removed);
    let lines = lines.map(|(added, removed)| format!(", +{added} -{removed}")).unwrap_or_default();
    row("in effect", format!("{}{lines}", count_of(&detail.files, "file")));
    match (&session.revert, &detail.unrevert) {
        (Some(revert), _) => {
            row("reverted", format!("to before {} by {}", place(revert), enumerate(&detail.reverted_by)));
        }
        // A session that was never reverted needs no line about it.
        (None, WayBack { cause: None | Some(NoUnrevert::NeverReverted), .. }) => {}
        (None, WayBack { reason, .. }) => {
            row("unrevert", format!("no: {}", safe(reason.as_deref().unwrap_or_default())))
        }
    }
}

fn show_message(sheet: &mut Sheet, message: &SessionMessage, now: Timestamp) {
    let id = sheet.bold(safe(&message.id));
    let tags = join(&[if message.open { "[open]" } else { "" }, if message.reverted { "[reverted]" } else { "" }]);
    let nothing = if message.steps.is_empty() && !message.open { sheet.dim("changed nothing") } else { String::new() };
    let line = join(&[&id, &sheet.paint(MAGENTA, tags), &nothing]);
    sheet.line(line);
    message.steps.iter().for_each(|step| show_step(sheet, step, now));
    for part in message.parts.iter().filter(|part| part.steps.is_empty()) {
        let line = format!("  part {} {}", safe(&part.id), sheet.dim("changed nothing"));
        sheet.line(line);
    }
}

/// `  #3 part p1 rename the parser (just now, +1 -1) a.txt, b.txt [taken back]`
fn show_step(sheet: &mut Sheet, step: &SessionStep, now: Timestamp) {
    let number = sheet.paint(YELLOW, step.sequence_number);
    let part = step.part.as_deref().map(|part| format!("part {}", safe(part))).unwrap_or_default();
    let lines = step.lines_added.zip(step.lines_removed);
    let lines = lines.map(|(added, removed)| format!(", +{added} -{removed}")).unwrap_or_default();
    let when = sheet.dim(format_args!("({}{lines})", age(step.timestamp, now)));
    let taken = if step.in_effect { String::new() } else { sheet.paint(MAGENTA, "[taken back]") };
    let title = snapshot::first_line(&step.description);
    // A description such as `Edit: a.txt` names the file already.
    let files = match step.files.as_slice() {
        [only] if title.ends_with(&only.to_string()) => String::new(),
        files => enumerate(files),
    };
    let line = join(&[&number, &part, &title, &when, &files]);
    let room = sheet.width().map(|width| width.saturating_sub(3 + width::of(&taken)));
    let line = room.map_or(line.clone(), |room| width::cut(&line, room));
    sheet.fitted(format_args!("  {}", join(&[&line, &taken])));
}

/// What was recorded, or why nothing was.
pub fn tracked(page: &mut Page, tracked: &SessionTracked) {
    let whose = tracked.message.as_deref().map_or_else(
        || format!("session {}", safe(&tracked.session)),
        |message| match &tracked.part {
            Some(part) => format!("{}, part {}", safe(message), safe(part)),
            None => safe(message),
        },
    );
    let tree = |hash: &Option<backsight_core::ObjectId>| hash.as_ref().map(|tree| tree.short()).unwrap_or_default();
    match (&tracked.step, tracked.phase) {
        (None, Phase::Before) => {
            let before = page.data.dim(format_args!("(files {})", tree(&tracked.before_hash)));
            page.data.line(format_args!("{whose} begins {before}"));
        }
        (None, _) => page.data.line(format_args!("{whose} changed nothing")),
        (Some(step), _) => {
            let name = snapshot::name(&page.data, step);
            let title = snapshot::title(step);
            let extent = page.data.dim(format_args!("({} changed)", count_of(&tracked.changes, "path")));
            page.data.line(join(&[&name, &format!("{whose}:"), &title, &extent]));
            changes::list_some(&mut page.data, &tracked.changes, "`backsight show @`");
        }
    }
    if !tracked.unknown_changes.is_empty() {
        let paths = count_of(&tracked.unknown_changes, "path");
        let were = if tracked.unknown_changes.len() == 1 { "was" } else { "were" };
        let recorded = tracked.integrated.map(|seq| format!(", recorded as {seq} by external")).unwrap_or_default();
        page.note(format_args!("{paths} {were} changed by somebody else{recorded}:"));
        changes::list_unknown(&mut page.talk, &tracked.unknown_changes);
    }
    if !tracked.left_to_open_calls.is_empty() {
        let left = enumerate(&tracked.left_to_open_calls);
        page.note(format_args!("not recorded yet, but left to open tool calls: {left}"));
    }
    crate::render::coverage::unseen(page, &tracked.unseen);
    warnings(page, &tracked.warnings);
}

/// What a diff of a session cannot show.
pub fn after_diff(page: &mut Page, diff: &SessionDiff) {
    if !diff.mixed.is_empty() {
        page.warning(format_args!(
            "others wrote the same lines in between, so their changes are in it too: {}",
            enumerate(&diff.mixed)
        ));
    }
    crate::render::coverage::uncompared(page, diff.uncompared_renames);
}

/// Where the session is now.
pub fn reverted(page: &mut Page, reverted: &SessionReverted) {
    let applied = &reverted.applied;
    let session = safe(&reverted.session);
    let to = place(&reverted.revert);
    let what = match (applied.dry_run, applied.changed) {
        (true, true) => format!("Would take session {session} back to before {to}"),
        (false, true) => format!("Took session {session} back to before {to}"),
        (_, false) => format!("Session {session} is as before {to}: there is nothing to take back"),
    };
    for call in &reverted.finished_calls {
        page.note(format_args!("unfinished work was recorded first: {}", calls::who(call)));
    }
    let back = format!("backsight session unrevert {}", shell_word(reverted.session.as_bytes()));
    body(page, applied, what, &back);
}

/// What came back.
pub fn unreverted(page: &mut Page, unreverted: &SessionUnreverted) {
    let applied = &unreverted.applied;
    let session = safe(&unreverted.session);
    let reverts = enumerate(&applied.targets);
    let what = match (applied.dry_run, applied.changed) {
        (true, true) => format!("Would take back the revert of session {session} ({reverts})"),
        (false, true) => format!("Took back the revert of session {session} ({reverts})"),
        (_, false) => format!("Session {session} is no longer reverted ({reverts}): the files are there already"),
    };
    body(page, applied, what, "backsight undo");
}

fn body(page: &mut Page, applied: &Applied, what: String, back: &str) {
    let totals = applied::totals(applied);
    let headline = if applied.changed && !totals.is_empty() { format!("{what}: {totals}") } else { what };
    let headline = page.data.bold(headline);
    page.data.line(headline);
    applied::body(page, applied, back);
}

fn warnings(page: &mut Page, warnings: &[String]) {
    for warning in warnings {
        page.warning(safe(warning));
    }
}
