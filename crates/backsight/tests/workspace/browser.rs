//! What the browser lane keeps in the store, and what of it reaches the timeline.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use backsight::browser::event::{Category, Console, Event, Level, Request};
use backsight::browser::noise::NewRule;
use backsight::browser::report::Severity;
use backsight::browser::{Ask, Ingest, Wait};
use backsight::report::Kind;
use backsight::request::Log;
use backsight::{CallSettings, Code, Disk, Settings, Timestamp, Workspace};
use rusqlite::Connection;

use crate::lab::{open, settings};
use crate::scene::Scene;

/// A workspace whose time goes on.
fn ticking(scene: &Scene) -> Workspace {
    let time = AtomicI64::new(1_700_000_000_000);
    let clock = Arc::new(move || Timestamp(time.fetch_add(1, Ordering::Relaxed)));
    Workspace::open_with(&scene.root, Settings { clock, ..settings(Disk::new()) }).unwrap()
}

fn error(message: &str) -> Event {
    let (level, message) = (Level::Error, message.to_owned());
    let (speaker, stack) = Default::default();
    Event::Console(Console {
        time: Timestamp(1),
        level,
        speaker,
        message,
        stack,
        causes: Vec::new(),
        page: None,
        backfilled: false,
    })
}

fn request(url: &str, status: u16) -> Event {
    let event = serde_json::json!({ "time": "2026-01-01T00:00:00Z", "method": "GET", "url": url, "status": status });
    Event::Network(serde_json::from_value::<Request>(event).unwrap())
}

fn report(workspace: &Workspace, events: Vec<Event>) {
    let events = events.into_iter().map(Into::into).collect();
    let ingest = Ingest { source: "page".to_owned(), events, ..Ingest::default() };
    workspace.browser().unwrap().ingest(ingest);
}

fn database(scene: &Scene) -> Connection {
    Connection::open(scene.root.join(".backsight/store/timeline.db")).unwrap()
}

#[test]
fn what_was_named_is_there_in_the_next_process() {
    let scene = Scene::of(&["a"]);
    let first = &ticking(&scene);
    report(first, vec![request("http://localhost:3000/api/users", 200), error("known since long")]);
    first.save_baseline("baseline_app").unwrap();
    first.create_checkpoint("session_start", Some("baseline_app")).unwrap();
    first.create_checkpoint("before_refactor", None).unwrap();
    let rule = NewRule { text: Some("heartbeat".to_owned()), ..NewRule::default() };
    let added = first.add_noise_rules(vec![rule]).unwrap().added;
    let builtin = first.noise_rules().unwrap().rules.into_iter().find(|entry| entry.rule.builtin).unwrap().rule.id;
    first.enable_noise_rule(&builtin, false).unwrap();

    let second = open(&scene.root);
    let listed = second.checkpoints().unwrap();
    let names: Vec<(&str, bool)> =
        listed.checkpoints.iter().map(|entry| (entry.name.as_str(), entry.earlier_run)).collect();
    assert_eq!(names, [("session_start", true), ("before_refactor", true)]);
    assert_eq!((listed.checkpoints[0].baseline.as_deref(), listed.warnings.len()), (Some("baseline_app"), 0));
    let rules = second.noise_rules().unwrap().rules;
    assert!(rules.iter().any(|entry| entry.rule.id == added[0].id && entry.rule.enabled));
    assert!(rules.iter().any(|entry| entry.rule.id == builtin && !entry.rule.enabled));
    assert_eq!(second.baselines().unwrap().baselines[0].endpoints, 1);

    // What failed then and was known then is told apart from what is new, also across the restart.
    report(
        &second,
        vec![request("http://localhost:3000/api/users", 500), error("known since long"), error("heartbeat")],
    );
    let ask = Ask { checkpoint: Some("before_refactor".to_owned()), ..Ask::default() };
    let changes = second.browser_changes("me", &ask).unwrap();
    let failure = &changes.network.unwrap().failures[0];
    assert_eq!((failure.status, failure.previous_status), (500, Some(200)));
    let errors = changes.console.unwrap().errors;
    assert_eq!((errors.len(), errors[0].recurring), (1, true), "{errors:?}");
    assert_eq!(changes.suppressed[&Category::Console], 1);

    second.delete_checkpoint("before_refactor").unwrap();
    second.remove_noise_rule(&added[0].id).unwrap();
    second.enable_noise_rule(&builtin, true).unwrap();
    second.delete_checkpoint("session_start").unwrap();
    second.delete_baseline("baseline_app").unwrap();
    let third = open(&scene.root);
    assert!(third.checkpoints().unwrap().checkpoints.is_empty() && third.baselines().unwrap().baselines.is_empty());
    assert!(third.noise_rules().unwrap().rules.iter().all(|entry| entry.rule.builtin && entry.rule.enabled));
}

#[test]
fn looking_makes_no_store_and_naming_does() {
    let lab = crate::lab::Lab::new();
    let root = lab.empty();
    let workspace = open(&root);
    let changes = workspace.browser_changes("me", &Ask::default()).unwrap();
    assert_eq!(changes.severity, Severity::Unknown);
    assert!(workspace.checkpoints().unwrap().checkpoints.is_empty());
    assert!(workspace.noise_rules().unwrap().rules.len() > 10);
    assert!(!root.join(".backsight").exists());
    workspace.create_checkpoint("session_start", None).unwrap();
    assert_eq!(open(&root).checkpoints().unwrap().checkpoints.len(), 1);
}

#[test]
fn the_twenty_first_checkpoint_displaces_the_oldest_in_the_store_too() {
    let scene = Scene::of(&["a"]);
    let workspace = ticking(&scene);
    let name = |number: usize| format!("before_step_{number}");
    for number in 0..20 {
        assert_eq!(workspace.create_checkpoint(&name(number), None).unwrap().evicted, None);
    }
    assert_eq!(workspace.create_checkpoint("after_all", None).unwrap().evicted, Some(name(0)));
    let listed = open(&scene.root).checkpoints().unwrap().checkpoints;
    assert_eq!((listed.len(), listed.iter().any(|entry| entry.name == name(0))), (20, false));
}

#[test]
fn what_is_damaged_is_told_and_stays_until_it_is_deleted_by_name() {
    let scene = Scene::of(&["a"]);
    scene.workspace.create_checkpoint("session_start", None).unwrap();
    scene.workspace.create_checkpoint("before_refactor", None).unwrap();
    database(&scene)
        .execute_batch(
            "UPDATE kept SET body = '{\"name\":' WHERE kind = 'checkpoint' AND name = 'session_start';
             INSERT INTO kept VALUES ('noise_rule', 'bad', 0, '{\"id\":\"bad\",\"text\":\"(\"}');
             INSERT INTO kept VALUES ('baseline', 'old', 0, 'not json');",
        )
        .unwrap();
    let kept = || -> i64 {
        let sql = "SELECT count(*) FROM kept WHERE kind NOT IN ('secret', 'checkpoint_row')";
        database(&scene).query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let workspace = open(&scene.root);
    let listed = workspace.checkpoints().unwrap();
    assert_eq!(listed.checkpoints.len(), 1);
    assert!(listed.warnings[0].contains("`session_start` is kept and cannot be read"), "{:?}", listed.warnings);
    assert!(workspace.noise_rules().unwrap().warnings[0].contains("bad"));
    assert!(workspace.baselines().unwrap().warnings[0].contains("`old`"));
    assert_eq!(kept(), 4);
    workspace.delete_checkpoint("session_start").unwrap();
    workspace.delete_baseline("old").unwrap();
    assert_eq!(kept(), 2);
    assert!(workspace.checkpoints().unwrap().warnings.is_empty());
    assert_eq!(workspace.delete_checkpoint("session_start").unwrap_err().code(), Code::CheckpointNotFound);
}

#[test]
fn the_salt_and_the_key_of_a_workspace_stay_the_same() {
    let scene = Scene::of(&["a"]);
    let key = scene.workspace.page_key().unwrap();
    let first = key.text();
    assert_eq!((first.len(), open(&scene.root).page_key().unwrap().text()), (32, first.clone()));
    // A new one is the key at once, also for those who have it in their hands, and stays it.
    let renewed = scene.workspace.renew_page_key().unwrap();
    assert_ne!(renewed, first);
    assert_eq!((key.text(), open(&scene.root).page_key().unwrap().text()), (renewed.clone(), renewed));
    let salt = || -> Option<String> {
        let sql = "SELECT body FROM kept WHERE kind = 'secret' AND name = 'salt'";
        database(&scene).query_row(sql, [], |row| row.get(0)).ok()
    };
    assert_eq!(salt(), None, "nothing was kept that needs it");
    scene.workspace.create_checkpoint("session_start", None).unwrap();
    let first = salt().unwrap();
    open(&scene.root).create_checkpoint("pre_commit", None).unwrap();
    assert_eq!(salt().unwrap(), first);
}

#[test]
fn what_is_notable_becomes_rows_that_are_no_news_of_files() {
    let scene = Scene::of(&["a"]);
    let workspace = &scene.workspace;
    assert_eq!(workspace.note_lanes().unwrap(), 0);
    let before = workspace.newest_row().unwrap();
    report(workspace, vec![error("it broke"), error("it broke"), request("http://localhost/api", 500)]);
    report(workspace, vec![request("http://localhost/api", 200)]);
    let count = workspace.note_lanes().unwrap();
    assert_eq!(workspace.note_lanes().unwrap(), 0, "each is told once");
    let of = |kind| workspace.log(&Log { kind: Some(kind), ..Log::default() }).unwrap().rows;
    let rows = [of(Kind::FirstError), of(Kind::Recovery)].concat();
    assert_eq!(rows.len(), count);
    assert!(count >= 3, "{rows:?}");
    let others = workspace.others_since(before, &["me"]).unwrap();
    assert!(others.recorded.is_empty() && others.on_disk.is_empty());
    assert!(workspace.validate_workspace_sync().unwrap().in_sync);
    assert_eq!(workspace.status().unwrap().undoable, scene.workspace.status().unwrap().undoable);
}

#[test]
fn rows_about_the_app_make_no_capture_walk_everything() {
    let scene = Scene::of(&["a", "b"]);
    let workspace = &scene.workspace;
    workspace.watch().unwrap();
    scene.write("a", "1\n");
    workspace.track().unwrap();
    workspace.track().unwrap();
    let walks = || workspace.watch_report().full_walks;
    let before = walks();
    for number in 0..5 {
        report(workspace, vec![error(&format!("broken in way {}", "x".repeat(number + 1)))]);
        workspace.note_lanes().unwrap();
        assert!(!workspace.track().unwrap().created);
    }
    assert_eq!(walks(), before);
}

#[test]
fn what_cannot_be_recorded_now_is_recorded_later() {
    let scene = Scene::of(&["a"]);
    report(&scene.workspace, vec![error("it broke")]);
    let blocker = database(&scene);
    blocker.execute_batch("ALTER TABLE rows RENAME TO hidden").unwrap();
    assert!(scene.workspace.note_lanes().is_err());
    blocker.execute_batch("ALTER TABLE hidden RENAME TO rows").unwrap();
    report(&scene.workspace, vec![error("it broke in another way")]);
    assert_eq!(scene.workspace.note_lanes().unwrap(), 1);
    assert_eq!(scene.workspace.note_lanes().unwrap(), 1);
}

#[test]
fn a_wait_that_is_taken_back_leaves_the_news_for_the_next_question() {
    let scene = Scene::of(&["a"]);
    report(&scene.workspace, vec![]);
    scene.workspace.browser_changes("me", &Ask::default()).unwrap();
    let cancelled = CallSettings { cancelled: Some(Arc::new(|| true)), ..CallSettings::default() };
    let wait = Wait { most: Duration::from_secs(30), quiet: Duration::from_secs(30) };
    report(&scene.workspace, vec![error("it broke")]);
    let ask = Ask { wait: Some(wait), ..Ask::default() };
    let refused = scene.workspace.for_call(cancelled).browser_changes("me", &ask).unwrap_err();
    assert_eq!(refused.code(), Code::Cancelled);
    let changes = scene.workspace.browser_changes("me", &ask).unwrap();
    assert_eq!(changes.console.unwrap().errors.len(), 1, "an error ends the wait at once");
    let quick = Wait { most: Duration::from_millis(100), quiet: Duration::from_millis(10) };
    let changes = scene.workspace.browser_changes("me", &Ask { wait: Some(quick), ..Ask::default() }).unwrap();
    assert_eq!(changes.severity, Severity::Clean);
}

#[test]
fn a_store_from_before_live_lanes_is_brought_forward() {
    let scene = Scene::of(&["a"]);
    scene.write("a", "1\n");
    scene.workspace.track().unwrap();
    database(&scene).execute_batch("DROP TABLE kept; PRAGMA user_version = 3;").unwrap();
    let workspace = open(&scene.root);
    let head = workspace.get_current_state().unwrap().chain_head;
    workspace.create_checkpoint("session_start", None).unwrap();
    assert_eq!(open(&scene.root).checkpoints().unwrap().checkpoints.len(), 1);
    assert_eq!(open(&scene.root).get_current_state().unwrap().chain_head, head, "no row is another");
    let format: i64 = database(&scene).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(format, 4);
}
