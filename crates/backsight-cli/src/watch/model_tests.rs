//! What keys and news make of the model, without a terminal and without a workspace.

use serde_json::json;

use super::*;

/// A step by an agent.
pub fn step(seq: u64, text: &str) -> Row {
    let row = json!({
        "id": format!("{seq:016x}"), "sequence_number": seq, "kind": "track", "tree": "0".repeat(40),
        "base_tree": "1".repeat(40), "timestamp": "2026-08-01T12:00:00.000Z", "description": text, "tool": "edit",
        "session": "s1", "files_changed": 1, "lines_added": 3, "lines_removed": 1, "coverage": { "complete": true, "files": 1, "ignored": 0, "uncovered": [] },
        "chain_hash": "",
    });
    Row::Snapshot(Box::new(serde_json::from_value(row).unwrap()))
}

/// Something else that happened.
pub fn event(seq: u64, kind: Kind, text: &str) -> Row {
    let row = json!({
        "id": format!("{seq:016x}"), "sequence_number": seq, "kind": kind, "timestamp": "2026-08-01T12:00:00.000Z",
        "description": text, "details": {}, "chain_hash": "",
    });
    Row::Event(Box::new(serde_json::from_value(row).unwrap()))
}

/// What an undo would do, or did.
pub fn applied(changed: bool, plan: Option<&str>) -> Box<Applied> {
    Box::new(Applied {
        dry_run: plan.is_some(),
        changed,
        snapshot: (changed && plan.is_none()).then(|| match step(9, "undo #8") {
            Row::Snapshot(step) => *step,
            Row::Event(_) => unreachable!("a step was made"),
        }),
        safety: None,
        targets: vec![Seq(8)],
        reverted: Vec::new(),
        merged: Vec::new(),
        kept: Vec::new(),
        skipped: Vec::new(),
        conflicts: Vec::new(),
        warnings: Vec::new(),
        plan: plan.map(|plan| plan.parse().unwrap()),
    })
}

pub const PLAN: &str = "plan-8-0123456789abcdef";

pub fn model(rows: Vec<Row>) -> Model {
    let look = Look { alphabet: Alphabet::Unicode, is_coloured: false };
    let now: Timestamp = serde_json::from_value(json!("2026-08-01T12:03:00.000Z")).unwrap();
    let mut model = Model::new("/home/ada/shop".to_owned(), now, look);
    update(&mut model, Message::Rows { list: rows, more: false, text: String::new(), seen: None });
    model.room = Room { rows: 10, lines: 5 };
    model
}

fn five() -> Model {
    let mut rows: Vec<Row> = (1..=5).rev().map(|seq| step(seq, "edit")).collect();
    rows[2] = event(3, Kind::FirstError, "TypeError");
    model(rows)
}

fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for key in super::super::keys::Typed::default().keys(keys.as_bytes()) {
        effects.extend(update(model, Message::Typed(key)));
    }
    effects
}

#[test]
fn j_and_k_walk_and_each_place_is_asked_for() {
    let mut model = five();
    assert_eq!(press(&mut model, "jj"), [Effect::Detail(Place::Row(Seq(4))), Effect::Detail(Place::Row(Seq(3)))]);
    assert_eq!(press(&mut model, "k"), [Effect::Detail(Place::Row(Seq(4)))]);
    assert_eq!(press(&mut model, "G"), [Effect::Detail(Place::Row(Seq(1)))]);
    assert_eq!(press(&mut model, "jjj"), []);
    assert_eq!(press(&mut model, "g"), [Effect::Detail(Place::Row(Seq(5)))]);
    assert_eq!(press(&mut model, "]"), [Effect::Detail(Place::Row(Seq(3)))]);
    assert_eq!(press(&mut model, "]"), []);
    assert_eq!(press(&mut model, "G["), [Effect::Detail(Place::Row(Seq(1))), Effect::Detail(Place::Row(Seq(3)))]);
}

#[test]
fn at_the_top_the_choice_goes_with_what_comes_and_elsewhere_it_stays() {
    let news = |count: u64| Message::Rows {
        list: (1..=count).rev().map(|seq| step(seq, "edit")).collect(),
        more: false,
        text: String::new(),
        seen: None,
    };
    let mut model = five();
    assert_eq!(update(&mut model, news(6)), [Effect::Detail(Place::Row(Seq(6)))]);
    press(&mut model, "j");
    assert_eq!(model.chosen_place(), Some(Place::Row(Seq(5))));
    assert_eq!(update(&mut model, news(8)), []);
    assert_eq!((model.chosen_place(), model.index()), (Some(Place::Row(Seq(5))), 3));
}

#[test]
fn what_is_on_disk_and_not_recorded_has_the_first_line() {
    let mut model = five();
    let disk = Disk { changed: 2, unseen: 0, undoable: 1, redoable: 0 };
    assert_eq!(update(&mut model, Message::Disk(disk)), [Effect::Detail(Place::Disk)]);
    assert_eq!(press(&mut model, "j"), [Effect::Detail(Place::Row(Seq(5)))]);
    press(&mut model, "k");
    // Another difference on the same line is read again; the same one is not.
    assert_eq!(update(&mut model, Message::Disk(disk)), []);
    assert_eq!(update(&mut model, Message::Disk(Disk { changed: 3, ..disk })), [Effect::Detail(Place::Disk)]);
    assert_eq!(update(&mut model, Message::Disk(Disk { changed: 0, ..disk })), [Effect::Detail(Place::Row(Seq(5)))]);
}

#[test]
fn an_answer_to_what_is_no_longer_asked_is_dropped() {
    let mut model = five();
    press(&mut model, "j");
    let lines = vec![Line { tone: Tone::Same, text: "x".to_owned() }];
    update(&mut model, Message::Detail { place: Place::Row(Seq(5)), lines: lines.clone() });
    assert_eq!(model.detail, None);
    update(&mut model, Message::Detail { place: Place::Row(Seq(4)), lines: lines.clone() });
    assert_eq!(model.detail, Some(lines));
    press(&mut model, "/old\r");
    update(&mut model, Message::Rows { list: vec![step(1, "x")], more: false, text: String::new(), seen: None });
    assert!(model.rows.list.is_none());
}

#[test]
fn a_search_asks_for_all_that_is_recorded_and_escape_shows_all_again() {
    let mut model = five();
    let effects = press(&mut model, "/parsee\x7fr\r");
    assert_eq!(effects, [Effect::Rows { text: "parser".to_owned(), wanted: PAGE }]);
    assert_eq!(press(&mut model, "\x1b"), [Effect::Rows { text: String::new(), wanted: PAGE }]);
    // Left without an answer it changes nothing.
    assert_eq!(press(&mut model, "/abc\x1b"), []);
}

#[test]
fn older_rows_are_asked_for_before_the_end_is_reached_and_once() {
    let mut model = model((1..=PAGE as u64).rev().map(|seq| step(seq, "edit")).collect());
    model.rows.more = true;
    let effects = press(&mut model, "G");
    assert!(effects.contains(&Effect::Rows { text: String::new(), wanted: 2 * PAGE }), "{effects:?}");
    assert_eq!(press(&mut model, "k"), [Effect::Detail(Place::Row(Seq(2)))]);
}

#[test]
fn nothing_is_taken_back_before_its_plan_was_shown_and_confirmed() {
    let mut model = five();
    let policy = OnConflict::Refuse;
    assert_eq!(press(&mut model, "z"), [Effect::Plan { going: Going::Undo, policy }]);
    // Before the plan is there a confirmation means nothing.
    assert_eq!(press(&mut model, "yy\r"), []);
    update(&mut model, Message::Planned(Ok(applied(true, Some(PLAN)))));
    assert_eq!(press(&mut model, "x"), []);
    let plan: PlanToken = PLAN.parse().unwrap();
    assert_eq!(press(&mut model, "y"), [Effect::Carry { going: Going::Undo, policy, plan }]);
    // While it is done nothing else is, not even once more.
    assert_eq!(press(&mut model, "y\x1bzR"), []);
    update(&mut model, Message::Carried(Ok(applied(true, None))));
    let said = model.said.as_ref().unwrap();
    assert_eq!((said.text.contains("recorded as #9; Z brings it back"), said.is_trouble), (true, false), "{said:?}");
    assert!(matches!(model.mode, Mode::Looking));
}

#[test]
fn a_plan_can_be_left_and_one_that_changes_nothing_is_not_done() {
    let mut model = five();
    press(&mut model, "R");
    update(&mut model, Message::Planned(Ok(applied(true, Some(PLAN)))));
    assert_eq!(press(&mut model, "\x1b"), []);
    assert!(matches!(model.mode, Mode::Looking));
    press(&mut model, "z");
    update(&mut model, Message::Planned(Ok(applied(false, Some(PLAN)))));
    assert_eq!(press(&mut model, "y"), []);
    // An answer that comes after the person left changes nothing.
    update(&mut model, Message::Planned(Ok(applied(true, Some(PLAN)))));
    assert!(matches!(model.mode, Mode::Looking));
}

#[test]
fn a_conflict_is_shown_and_planned_anew_as_the_person_chooses() {
    let mut model = five();
    press(&mut model, "j");
    assert_eq!(press(&mut model, "R"), [Effect::Plan { going: Going::Revert(Seq(4)), policy: OnConflict::Refuse }]);
    let refusal = Refusal { message: "in the way".to_owned(), hint: None, conflicts: vec!["a.txt: edited".to_owned()] };
    update(&mut model, Message::Planned(Err(refusal)));
    assert_eq!(press(&mut model, "y"), []);
    assert_eq!(press(&mut model, "s"), [Effect::Plan { going: Going::Revert(Seq(4)), policy: OnConflict::Skip }]);
    let nothing = Refusal { message: "nothing to undo".to_owned(), hint: None, conflicts: Vec::new() };
    update(&mut model, Message::Planned(Err(nothing)));
    assert_eq!(press(&mut model, "m"), []);
}

#[test]
fn only_steps_are_reverted() {
    let mut model = five();
    press(&mut model, "]");
    assert_eq!(press(&mut model, "R"), []);
    assert!(model.said.as_ref().is_some_and(|said| said.is_trouble));
}

#[test]
fn in_the_diff_the_same_keys_move_through_it() {
    let mut model = five();
    let tones = [Tone::Fact, Tone::File, Tone::Added, Tone::Added, Tone::File, Tone::Added, Tone::Added, Tone::Added];
    let lines = tones
        .iter()
        .map(|tone| Line { tone: *tone, text: String::new() })
        .chain(std::iter::repeat_n(Line { tone: Tone::Same, text: String::new() }, 20));
    update(&mut model, Message::Detail { place: Place::Row(Seq(5)), lines: lines.collect() });
    assert_eq!(press(&mut model, "\rjj"), []);
    assert_eq!(model.top, 2);
    press(&mut model, "]");
    assert_eq!(model.top, 4);
    press(&mut model, "[");
    assert_eq!(model.top, 1);
    press(&mut model, "G");
    assert_eq!(model.top, 23);
    press(&mut model, "g");
    assert_eq!((model.top, model.index()), (0, 0));
    press(&mut model, "hj");
    assert_eq!(model.index(), 1);
}

#[test]
fn seen_moves_the_line() {
    let mut model = five();
    model.rows.seen = Some(Seq(3));
    assert!(model.is_new(Seq(4)) && !model.is_new(Seq(3)));
    assert_eq!(press(&mut model, "s"), [Effect::Seen(Seq(5))]);
    assert!(!model.is_new(Seq(5)));
}

#[test]
fn it_ends_by_key_and_by_signal() {
    let mut model = five();
    assert_eq!(press(&mut model, "q"), [Effect::Quit(Quit::Done)]);
    assert_eq!(
        press(&mut model, "z\x03"),
        [Effect::Plan { going: Going::Undo, policy: OnConflict::Refuse }, Effect::Quit(Quit::Done)]
    );
    assert_eq!(update(&mut model, Message::Signal(15)), [Effect::Quit(Quit::Signal(15))]);
    assert_eq!(press(&mut model, "\x1a"), [Effect::Suspend]);
}

#[test]
fn the_chosen_line_is_always_within_the_window() {
    for length in 0..30 {
        for room in 1..12 {
            for chosen in 0..length {
                let window = Model::window(length, chosen, room);
                assert!(window.contains(&chosen) && window.len() == room.min(length), "{length} {chosen} {room}");
            }
        }
    }
}
