//! Reading the timeline back: every row exactly once, whatever is asked and whatever is recorded meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use backsight::report::{Kind, Origin, Row};
use backsight::request::{Log, NewMilestone, Order, Track};
use backsight::{Code, Disk, Settings, Timestamp, Workspace};

use crate::lab::settings;
use crate::scene::{Scene, path};

const ORDERS: [Order; 2] = [Order::NewestFirst, Order::OldestFirst];

fn numbers(rows: &[Row]) -> Vec<u64> {
    rows.iter().map(|row| row.sequence_number().0).collect()
}

/// All pages of a query, with something done between them.
fn pages(workspace: &Workspace, query: &Log, between: &mut dyn FnMut()) -> Vec<u64> {
    let (mut found, mut query) = (Vec::new(), query.clone());
    loop {
        let page = workspace.log(&query).unwrap();
        assert!(query.limit == 0 || page.rows.len() <= query.limit, "a page holds at most what was asked for");
        found.extend(numbers(&page.rows));
        let Some(next) = page.next_cursor else { return found };
        assert!(!page.rows.is_empty(), "a page with a next one is not empty");
        query.cursor = Some(next);
        between();
    }
}

fn tracked(scene: &Scene, file: &str, text: &str) {
    scene.write(file, text);
    scene.workspace.track().unwrap();
}

#[test]
fn pages_in_either_order_hold_every_row_of_a_file_once() {
    let scene = Scene::of(&["other"]);
    for number in 0..7 {
        tracked(&scene, if number % 3 == 2 { "other" } else { "d/file" }, &format!("{number}\n"));
    }
    for file in ["d/file", "d", "other"] {
        for order in ORDERS {
            let all = Log { file: Some(path(file)), order, ..Log::default() };
            let expected = numbers(&scene.workspace.log(&all).unwrap().rows);
            for limit in 1..10 {
                let found = pages(&scene.workspace, &Log { limit, ..all.clone() }, &mut || {});
                assert_eq!(found, expected, "{file}, {order:?}, {limit} a page");
            }
        }
    }
}

#[test]
fn a_cursor_stays_where_it_is_while_rows_are_appended() {
    for order in ORDERS {
        for limit in [1, 2, 3] {
            let scene = Scene::of(&["a"]);
            for number in 1..6 {
                tracked(&scene, "a", &format!("{number}\n"));
            }
            let mut count = 6;
            let found = pages(&scene.workspace, &Log { order, limit, ..Log::default() }, &mut || {
                if count < 12 {
                    count += 1;
                    tracked(&scene, "a", &format!("{count}\n"));
                }
            });
            let expected: Vec<u64> =
                if order == Order::NewestFirst { (1..=6).rev().collect() } else { (1..=count).collect() };
            assert_eq!(found, expected, "{order:?}, {limit} a page");
        }
    }
}

#[test]
fn no_limit_and_no_number_is_too_large_to_ask_for() {
    let scene = Scene::of(&["a"]);
    let all = scene.workspace.log(&Log { limit: usize::MAX, ..Log::default() }).unwrap();
    assert_eq!(all.rows.len(), 1);
    for cursor in ["before-18446744073709551615", "before-9223372036854775808"] {
        let query = Log { cursor: Some(cursor.to_owned()), ..Log::default() };
        match scene.workspace.log(&query) {
            Ok(page) => assert_eq!(page.rows.len(), 1),
            Err(error) => assert_eq!(error.code(), Code::Usage, "{cursor}: {error}"),
        }
    }
    for reference in ["#18446744073709551615", "#9223372036854775808", "@~18446744073709551615", "18446744073709551615"]
    {
        assert_eq!(scene.workspace.show(reference).unwrap_err().code(), Code::RefNotFound, "{reference}");
    }
}

#[test]
fn text_is_searched_as_it_is_written() {
    let scene = Scene::of(&["a"]);
    let descriptions =
        ["100% sure", "100 percent", "snake_case", "snakeXcase", "it's \"quoted\"", "back\\slash", "Änderung"];
    for (number, description) in (1..).zip(descriptions) {
        scene.write("a", format!("{number}\n"));
        scene.workspace.track_with(&Track { description: description.to_owned(), ..Track::default() }).unwrap();
    }
    let found = |text: &str| -> Vec<String> {
        let page = scene.workspace.log(&Log { text: Some(text.to_owned()), ..Log::default() }).unwrap();
        page.snapshots().map(|row| row.description.clone()).collect()
    };
    assert_eq!(found("100%"), ["100% sure"]);
    assert_eq!(found("%"), ["100% sure"]);
    assert_eq!(found("E_C"), ["snake_case"]);
    assert_eq!(found("_"), ["snake_case"]);
    assert_eq!(found("it's \"q"), ["it's \"quoted\""]);
    assert_eq!(found("\\"), ["back\\slash"]);
    assert_eq!(found("k\\s"), ["back\\slash"]);
    assert_eq!(found("PERCENT"), ["100 percent"]);
    assert_eq!(found("'; DROP TABLE rows; --"), [""; 0]);
    assert_eq!(found("Änder"), ["Änderung"]);
}

/// Every combination of filters against the plain meaning of each.
#[test]
fn filters_together_are_what_all_of_them_let_through() {
    let clock = Arc::new(AtomicI64::new(1_700_000_000_000));
    let scene = Scene::empty();
    let ticking = Arc::clone(&clock);
    let settings =
        Settings { clock: Arc::new(move || Timestamp(ticking.load(Ordering::Relaxed))), ..settings(Disk::new()) };
    let workspace = Workspace::open_with(&scene.root, settings).unwrap();
    for number in 0..24_u64 {
        clock.fetch_add(1_000, Ordering::Relaxed);
        let file = ["a", "d/b"][(number % 2) as usize];
        scene.write(file, format!("{number}\n"));
        let word = |words: [&str; 3], by: u64| Some(words[(number / by % 3) as usize].to_owned());
        let origin =
            Origin { tool: word(["edit", "bash", "write"], 2), session: word(["x", "y", "z"], 3), ..Origin::default() };
        let description = format!("step {number}");
        workspace.track_with(&Track { origin, description, ..Track::default() }).unwrap();
        if number % 7 == 6 {
            let new = NewMilestone { title: format!("step {number} reached"), ..NewMilestone::default() };
            workspace.create_milestone_by_range(&new, None).unwrap();
        }
        if number % 5 == 4 {
            workspace.undo(&Default::default()).unwrap();
        }
    }
    let all = workspace.log(&Log { order: Order::OldestFirst, ..Log::default() }).unwrap().rows;
    let middle = all[all.len() / 2].snapshot().map_or(Timestamp(0), |row| row.timestamp);
    let touches = |row: &Row, file: &str| match row {
        Row::Event(_) => false,
        Row::Snapshot(row) if row.base_tree.is_none() => {
            workspace.file_exists_at(row.id.as_str(), &path(file)).unwrap()
        }
        Row::Snapshot(row) => {
            let detail = workspace.show_detail(row.id.as_str()).unwrap();
            detail.affected_files.iter().any(|touched| touched.is_within(&path(file)))
        }
    };
    let facts = |row: &Row| match row {
        Row::Snapshot(row) => (row.kind, row.origin.clone(), row.description.clone(), row.timestamp),
        Row::Event(row) => (row.kind, row.origin.clone(), row.description.clone(), row.timestamp),
    };
    for mask in 0..128_u32 {
        let on = |bit: u32| mask & (1 << bit) != 0;
        let query = Log {
            session: on(0).then(|| "x".to_owned()),
            tool: on(1).then(|| "edit".to_owned()),
            kind: on(2).then_some(Kind::Track),
            file: on(3).then(|| path("d")),
            since: on(4).then_some(middle),
            until: on(5).then_some(Timestamp(middle.0 + 5_000)),
            text: on(6).then(|| "STEP 1".to_owned()),
            ..Log::default()
        };
        let wanted = |row: &&Row| {
            let (kind, origin, description, timestamp) = facts(row);
            (!on(0) || origin.session.as_deref() == Some("x"))
                && (!on(1) || origin.tool.as_deref() == Some("edit"))
                && (!on(2) || kind == Kind::Track)
                && (!on(3) || touches(row, "d"))
                && (!on(4) || timestamp >= middle)
                && (!on(5) || timestamp.0 <= middle.0 + 5_000)
                && (!on(6) || description.contains("step 1"))
        };
        let mut expected: Vec<u64> = all.iter().filter(wanted).map(|row| row.sequence_number().0).collect();
        for order in [Order::OldestFirst, Order::NewestFirst] {
            for limit in [0, 2] {
                let found = pages(&workspace, &Log { order, limit, ..query.clone() }, &mut || {});
                assert_eq!(found, expected, "filters {mask:07b}, {order:?}, {limit} a page");
            }
            expected.reverse();
        }
    }
}
