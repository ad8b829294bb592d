//! The screens a person sees, drawn without a terminal.

use insta::assert_snapshot;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use serde_json::json;

use super::*;
use crate::watch::model::tests::{PLAN, applied, event, model, step};
use crate::watch::model::{Disk, Message, Work, update};

fn screen(model: &Model, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            draw(model, frame.buffer_mut());
        })
        .unwrap();
    let buffer = terminal.backend().buffer().clone();
    let line = |y: u16| -> String { (0..width).map(|x| buffer[(x, y)].symbol()).collect() };
    (0..height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
}

fn story() -> Model {
    let mut model = model(vec![
        step(8, "make totals exact"),
        event(7, Kind::FirstError, "TypeError: total is not a function"),
        step(6, "rename the parser in every file of the project, and then some more"),
        event(5, Kind::Milestone, "First"),
        step(4, ""),
    ]);
    model.rows.seen = Some(Seq(6));
    let session = json!({
        "id": "s1", "title": "fix the cart", "client": "claude-code", "started_at": "2026-08-01T11:00:00.000Z",
        "last_at": "2026-08-01T12:00:00.000Z", "message_count": 3, "step_count": 4,
    });
    let call = json!({
        "id": "00000000000000aa", "since": "2026-08-01T12:02:30.000Z", "based_on": 8, "tool": "Bash", "session": "s2",
        "title": "Bash: npm test",
    });
    update(&mut model, Message::Worked(Work { sessions: vec![a_session(&session)], calls: vec![a_call(&call)] }));
    update(&mut model, Message::Disk(Disk { changed: 2, unseen: 0, undoable: 3, redoable: 0 }));
    update(&mut model, Message::App(App::NotServed));
    update(&mut model, Message::Typed(crate::watch::keys::Key::Char('j')));
    let lines = [
        (Tone::Fact, "make totals exact"),
        (Tone::File, "M src/cart.js  +1 -1"),
        (Tone::Hunk, "@@ -1 +1 @@ total()"),
        (Tone::Removed, "-  return a + b;"),
        (Tone::Added, "+  return round(a + b);"),
    ];
    let lines = lines.map(|(tone, text)| Line { tone, text: text.to_owned() });
    update(&mut model, Message::Detail { place: Place::Row(Seq(8)), lines: lines.to_vec() });
    model
}

fn a_session(json: &serde_json::Value) -> Session {
    let text = |name: &str| json[name].as_str().map(str::to_owned);
    Session {
        id: text("id").unwrap(),
        title: text("title"),
        client: text("client"),
        started_at: serde_json::from_value(json["started_at"].clone()).unwrap(),
        last_at: serde_json::from_value(json["last_at"].clone()).unwrap(),
        baseline: None,
        baseline_tree: None,
        message_count: json["message_count"].as_u64().unwrap(),
        step_count: json["step_count"].as_u64().unwrap(),
        open_calls: Vec::new(),
        revert: None,
    }
}

fn a_call(json: &serde_json::Value) -> Call {
    Call {
        id: serde_json::from_value(json["id"].clone()).unwrap(),
        since: serde_json::from_value(json["since"].clone()).unwrap(),
        based_on: Seq(json["based_on"].as_u64().unwrap()),
        origin: serde_json::from_value(json.clone()).unwrap(),
        run: serde_json::from_value(json.clone()).unwrap(),
    }
}

#[test]
fn a_wide_terminal_shows_the_diff_beside_the_timeline() {
    assert_snapshot!(screen(&story(), 110, 20), @r#"
     backsight  /home/ada/shop                                                           #8  2 paths not recorded
     app not watched  no server runs; `backsight serve` starts one
    ─ Timeline, 2 new since you last looked ────│─ #8 make totals exact ──────────────────────────────────────────
     ○ now 2 paths not recorded                 │ make totals exact
    ▎● #8     3 min  make totals exact    +3 -1 │ M src/cart.js  +1 -1
    ▎▸ #7     3 min  TypeError: total is not a… │ @@ -1 +1 @@ total()
     ● #6     3 min  rename the parser i… +3 -1 │ -  return a + b;
     ◆ #5     3 min  First                      │ +  return round(a + b);
     ● #4     3 min  track 1 file (s1)    +3 -1 │
                                                │
                                                │
                                                │
                                                │
                                                │
                                                │
                                                │
    ─ Who works on what: 1 at work ─────────────│
     ● s2          Bash: npm test, begun 30 s a…│
       claude-code fix the cart: 4 steps, 3 min…│
     j/k move  Enter diff  ]/[ jump  / search  z undo  R revert  ? keys  q quit
    "#);
}

#[test]
fn a_narrow_terminal_shows_the_diff_below() {
    assert_snapshot!(screen(&story(), 60, 18), @r#"
     backsight  /home/ada/shop         #8  2 paths not recorded
     app not watched  no server runs; `backsight serve` starts…
    ─ Timeline, 2 new since you last looked ────────────────────
     ○ now 2 paths not recorded
    ▎● #8     3 min  make totals exact (session s1)       +3 -1
    ▎▸ #7     3 min  TypeError: total is not a function
     ● #6     3 min  rename the parser in every fil… (s1) +3 -1
     ◆ #5     3 min  First
     ● #4     3 min  track 1 file (session s1)            +3 -1
    ─ #8 make totals exact ─────────────────────────────────────
     make totals exact
     M src/cart.js  +1 -1
     @@ -1 +1 @@ total()
     -  return a + b;
     +  return round(a + b);


     j/k move  Enter diff  ]/[ jump  / search  z undo  R revert
    "#);
}

#[test]
fn a_terminal_without_unicode_gets_letters() {
    let mut model = story();
    model.look.alphabet = Alphabet::Ascii;
    let seen = screen(&model, 110, 20);
    // What stands for the rest of a text is the same everywhere.
    assert!(seen.replace('…', "").is_ascii(), "{seen}");
}

#[test]
fn a_plan_is_shown_before_it_is_done() {
    let mut model = story();
    update(&mut model, Message::Typed(crate::watch::keys::Key::Char('z')));
    let mut plan = applied(true, Some(PLAN));
    let path = "src/cart.js".parse().unwrap();
    let status = backsight::report::Status::Modified;
    plan.reverted = vec![PathChange { path, status, from_path: None, before: None, after: None }];
    update(&mut model, Message::Planned(Ok(plan)));
    assert_snapshot!(screen(&model, 70, 16), @r#"
     backsight  /home/ada/shop                   #8  2 paths not recorded
     app not watched  no server runs; `backsight serve` starts one
    ─ Timeline, 2 new since you last looked ──────────────────────────────
     ○ now 2 paths not recorded
    ▎● #8     3 min  make totals exact (session s1)                 +3 -1
    ▎▸ #7     3 min  ╭─ Undo the newest step ───────────╮
     ● #6     3 min  │ #8: 1 path put back              │ssion s1)  +3 -1
     ◆ #5     3 min  │ M src/cart.js                    │
    ─ #8 make totals │                                  │─────────────────
     make totals exac│ y does exactly this, Esc cancels │
     M src/cart.js  +╰──────────────────────────────────╯
     @@ -1 +1 @@ total()
     -  return a + b;
     +  return round(a + b);

     j/k move  Enter diff  ]/[ jump  / search  z undo  R revert  ? keys
    "#);
}

#[test]
fn a_conflict_names_what_is_in_the_way() {
    let mut model = story();
    update(&mut model, Message::Typed(crate::watch::keys::Key::Char('R')));
    let conflicts = vec!["src/cart.js: line 3 was edited since".to_owned()];
    let message = "1 path was changed since in a way that conflicts; nothing was changed".to_owned();
    update(&mut model, Message::Planned(Err(Refusal { message, hint: None, conflicts })));
    assert_snapshot!(screen(&model, 80, 16), @r#"
     backsight  /home/ada/shop                             #8  2 paths not recorded
     app not watched  no server runs; `backsight serve` starts one
    ─ Timeline, 2 new since you last looked ────────────────────────────────────────
     ○ now 2 paths not recorded
    ▎● #8     3 min  make totals exact (session s1)                           +3 -1
    ▎▸ ╭─ Revert #8 ───────────────────────────────────────────────────────────╮
     ● │ 1 path was changed since in a way that conflicts; nothing was changed │ -1
     ◆ │ ! src/cart.js: line 3 was edited since                                │
    ─ #│                                                                       │────
     ma│ s leaves these as they are, m merges and marks them, Esc cancels      │
     M ╰───────────────────────────────────────────────────────────────────────╯
     @@ -1 +1 @@ total()
     -  return a + b;
     +  return round(a + b);

     j/k move  Enter diff  ]/[ jump  / search  z undo  R revert  ? keys  q quit
    "#);
}

#[test]
fn the_keys_are_listed() {
    let mut model = story();
    update(&mut model, Message::Typed(crate::watch::keys::Key::Char('?')));
    assert_snapshot!(screen(&model, 80, 20), @r#"
     backsight  /home/ada/shop                             #8  2 paths not recorded
     app not watched  no server runs; `backsight serve` starts one
    ─ T╭─ Keys ─────────────────────────────────────────────────────────────────╮───
     ○ │ j k          next, previous: row, or line of the diff                  │
    ▎● │ g G          newest, oldest; top, end                                  │-1
    ▎▸ │ space ^d ^u  a page down, a page up                                    │
     ● │ ] [          next, previous: error, mark or way back; file of the diff │-1
     ◆ │ Enter Tab    into the diff, and back (h, Esc)                          │
     ● │ /            search the whole timeline; Esc shows all again            │-1
       │ z Z          undo, redo: shows what it would do and asks               │
    ─ #│ R            revert the chosen step: shows and asks                    │───
     ma│ s            mark everything as seen                                   │
     M │ r            read everything again                                     │
     @@│ ?            these keys                                                │
     - │ q ^C         quit                                                      │
     + │                                                                        │
       │ any key closes this                                                    │
       ╰────────────────────────────────────────────────────────────────────────╯

     j/k move  Enter diff  ]/[ jump  / search  z undo  R revert  ? keys  q quit
    "#);
}

#[test]
fn nothing_recorded_is_said_and_so_is_what_cannot_be_read() {
    let mut empty = model(Vec::new());
    update(&mut empty, Message::Trouble(Some("the store is \x1b[31mdamaged".to_owned())));
    let seen = screen(&empty, 60, 8);
    assert!(seen.contains("nothing recorded yet"), "{seen}");
    assert!(seen.contains("what is shown may be old: \"the store is \\u{1b}") || seen.contains("\\033"), "{seen}");
}

#[test]
fn no_size_breaks_the_drawing() {
    let mut model = story();
    for mode in ["", "z", "?", "/"] {
        for key in crate::watch::keys::Typed::default().keys(mode.as_bytes()) {
            update(&mut model, Message::Typed(key));
        }
        for (width, height) in
            (1..130).step_by(7).flat_map(|width| (1..40).step_by(3).map(move |height| (width, height)))
        {
            let _ = screen(&model, width, height);
        }
        update(&mut model, Message::Typed(crate::watch::keys::Key::Escape));
    }
}

#[test]
fn what_strangers_wrote_reaches_no_cell_as_a_control_character() {
    let evil = "a\u{1b}[2J\u{7}\u{202e}\u{9b}31m";
    let mut model = model(vec![step(2, evil), event(1, Kind::FirstError, evil)]);
    let session = json!({
        "id": evil, "title": evil, "client": evil, "started_at": "2026-08-01T11:00:00.000Z",
        "last_at": "2026-08-01T12:00:00.000Z", "message_count": 3, "step_count": 4,
    });
    let call = json!({
        "id": "00000000000000aa", "since": "2026-08-01T12:02:30.000Z", "based_on": 8, "tool": evil, "session": evil,
        "title": evil,
    });
    update(&mut model, Message::Worked(Work { sessions: vec![a_session(&session)], calls: vec![a_call(&call)] }));
    update(&mut model, Message::App(App::Failed(evil.to_owned())));
    update(&mut model, Message::Trouble(Some(evil.to_owned())));
    let seen = screen(&model, 120, 30);
    let unsafe_to_show: Vec<char> =
        seen.chars().filter(|character| *character != '\n' && backsight_core::is_unsafe_to_show(*character)).collect();
    assert!(unsafe_to_show.is_empty(), "{unsafe_to_show:?} in {seen}");
}
