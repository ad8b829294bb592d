//! Seed 001's test scenarios by number, and what it does not say but its users need.

use backsight_browser::event::{Action, ActionKind, Category, Event, Level, Request, SocketEvent};
use backsight_browser::report::Severity;
use backsight_browser::{Ask, Filter, Ingest, Limits, Source, SourceKind};
use backsight_core::{Code, Timestamp};
use serde_json::Value;

use crate::app::{App, START};

#[test]
fn s01_nothing_happened_is_clean_only_when_somebody_watched() {
    let app = App::watched();
    let changes = app.changes();
    assert_eq!((changes.severity, changes.summary.as_str()), (Severity::Clean, "No significant changes."));
    assert_eq!(changes.console.unwrap().total_new, 0);
    assert!(changes.network.is_some() && changes.websocket.is_some() && changes.actions.is_some());

    let app = App::alone();
    let changes = app.changes();
    assert_eq!(changes.severity, Severity::Unknown);
    assert!(changes.summary.contains("nothing is attached"), "{}", changes.summary);
    assert!(!changes.coverage.attached && !changes.gap.is_empty());
}

#[test]
fn s02_three_new_errors_are_three_entries() {
    let app = App::watched();
    ["cannot load cart", "cannot load user", "cannot load menu"].iter().for_each(|message| app.error(message));
    let changes = app.changes();
    assert_eq!((changes.severity, changes.console.unwrap().errors.len()), (Severity::Error, 3));
}

#[test]
fn s03_the_same_error_five_times_is_one_entry() {
    let app = App::watched();
    (0..5).for_each(|_| app.error("cannot load cart"));
    let console = app.changes().console.unwrap();
    assert_eq!((console.total_new, console.errors.len(), console.errors[0].count), (5, 1, 5));
    assert_eq!(console.errors[0].source, "app.js:10");
}

#[test]
fn s04_an_endpoint_that_begins_to_fail_is_a_failure_with_its_previous_status() {
    let app = App::watched();
    app.request("GET", "/api/users", 200);
    app.changes();
    app.request("GET", "/api/users", 500);
    let changes = app.changes();
    let failures = &changes.network.unwrap().failures;
    assert_eq!(changes.severity, Severity::Error);
    assert_eq!((failures.len(), failures[0].status, failures[0].previous_status), (1, 500, Some(200)));
    assert_eq!((failures[0].method.as_str(), failures[0].path.as_str()), ("GET", "/api/users"));
}

#[test]
fn s05_an_endpoint_never_seen_before_is_new() {
    let app = App::watched();
    app.request("GET", "/api/users", 200);
    app.changes();
    app.request("GET", "/api/users", 200);
    app.request("POST", "/api/users", 201);
    assert_eq!(app.changes().network.unwrap().new_endpoints, ["POST /api/users"]);
}

#[test]
fn s06_a_closed_socket_is_a_disconnection() {
    let app = App::watched();
    app.socket("1", SocketEvent::Open);
    app.changes();
    app.socket("1", SocketEvent::Close { code: Some(1006), reason: String::new(), by: None });
    let changes = app.changes();
    let websocket = changes.websocket.unwrap();
    assert_eq!((changes.severity, websocket.disconnections.len()), (Severity::Warning, 1));
    assert_eq!(websocket.disconnections[0].close_code, Some(1006));
    assert!(!websocket.disconnections[0].reconnected);
}

#[test]
fn s07_the_automatic_checkpoint_advances() {
    let app = App::watched();
    app.error("cannot load cart");
    assert_eq!(app.changes().severity, Severity::Error);
    let second = app.changes();
    assert_eq!((second.severity, second.console.unwrap().total_new), (Severity::Clean, 0));
}

#[test]
fn s08_a_named_checkpoint_returns_the_same_window_whatever_else_is_asked() {
    let app = App::watched();
    app.error("before");
    app.browser.create_checkpoint("before_refactor", None).unwrap();
    app.error("after");
    let window = |app: &App| app.since("before_refactor").console.unwrap();
    let first = window(&app);
    app.changes();
    app.changes();
    assert_eq!(window(&app), first);
    assert_eq!(first.errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>(), ["after"]);
    // Asking about it has not moved the automatic one either.
    app.error("later");
    app.since("before_refactor");
    assert_eq!(app.changes().console.unwrap().errors.len(), 1);
}

#[test]
fn s09_errors_only_leaves_warnings_out_and_says_how_bad_it_is_all_the_same() {
    let app = App::watched();
    app.warn("deprecated");
    let ask = Ask { severity: Filter::ErrorsOnly, peek: true, ..Ask::default() };
    let changes = app.ask(&ask).unwrap();
    assert!(changes.console.unwrap().warnings.is_empty());
    assert_eq!(changes.severity, Severity::Warning);
    app.error("cannot load cart");
    let console = app.ask(&ask).unwrap().console.unwrap();
    assert_eq!((console.errors.len(), console.warnings.len()), (1, 0));
    let warnings = Ask { severity: Filter::Warnings, ..ask };
    assert_eq!(app.ask(&warnings).unwrap().console.unwrap().warnings.len(), 1);
}

#[test]
fn s10_categories_that_are_not_included_are_absent() {
    let app = App::watched();
    app.request("GET", "/api/users", 500);
    let ask = Ask { include: vec![Category::Console, Category::Network], peek: true, ..Ask::default() };
    let object = serde_json::to_value(app.ask(&ask).unwrap()).unwrap();
    assert!(object.get("console").is_some() && object.get("network").is_some());
    assert!(object.get("websocket").is_none() && object.get("actions").is_none());
    // What is not shown still counts.
    let console = app.ask(&Ask { include: vec![Category::Console], ..ask }).unwrap();
    assert_eq!(console.severity, Severity::Error);
}

#[test]
fn s11_what_the_ring_forgot_is_counted_and_no_template_is_lost() {
    let app = App::with(Limits { console: 10, ..Limits::default() });
    app.watch();
    app.changes();
    app.error("the first of all");
    (0..100).for_each(|_| app.say(Level::Info, "tick"));
    let changes = app.changes();
    let console = changes.console.unwrap();
    assert_eq!((console.total_new, console.errors[0].count), (101, 1));
    assert_eq!(changes.dropped[&Category::Console], 91);
}

#[test]
fn s12_a_time_is_a_checkpoint() {
    let app = App::watched();
    app.request("GET", "/api/users", 200);
    app.error("before");
    let between = app.now().to_string();
    app.error("after");
    app.request("GET", "/api/users", 500);
    let changes = app.since(&between);
    let (console, network) = (changes.console.unwrap(), changes.network.unwrap());
    assert_eq!((console.total_new, console.errors[0].message.as_str()), (1, "after"));
    assert_eq!(network.failures[0].previous_status, Some(200));
    assert!(network.new_endpoints.is_empty());
    // A time before everything, one after, and one that has not been.
    assert_eq!(app.since("2020-01-01T00:00:00Z").console.unwrap().total_new, 2);
    let none = app.since(&app.now().to_string());
    assert_eq!(none.console.unwrap().total_new, 0);
    assert_eq!(app.since("2999-01-01T00:00:00Z").console.unwrap().total_new, 0);
}

#[test]
fn s13_the_token_count_is_a_quarter_of_the_bytes() {
    let app = App::watched();
    (0..20).for_each(|number| app.error(&format!("cannot load part {}", "abcdefghijklmnopqrst".split_at(number).0)));
    let changes = app.changes();
    let bytes = serde_json::to_string(&changes).unwrap().len();
    assert_eq!(changes.token_count, bytes / 4);
    assert!(changes.est_tokens >= changes.token_count, "{} {}", changes.est_tokens, changes.token_count);
}

#[test]
fn s14_a_hundred_errors_are_fifty_entries_and_a_count() {
    let app = App::watched();
    // No two of them differ in one word only, so that they are not shown together.
    let word = |number: usize| {
        let letter = |at: usize| char::from(b'a' + u8::try_from(at % 26).unwrap());
        format!("{}{}kind", letter(number), letter(number / 26))
    };
    (0..100).for_each(|number| app.error(&format!("{} broke {}", word(number), word(number + 300))));
    let changes = app.changes();
    let console = changes.console.unwrap();
    assert_eq!((console.errors.len(), console.total_new, changes.omitted["console.errors"]), (50, 100, 50));
    assert_eq!(changes.summary, "100 new console error(s)");
}

#[test]
fn s16_ids_numbers_and_times_do_not_make_another_message() {
    let app = App::watched();
    app.error("Error loading user 3f2a1b9c-1111-4222-8333-444455556666");
    app.error("Error loading user 3f2a1b9c-1111-4222-8333-444455556667");
    app.error("Order 12345 failed at 2026-11-15T10:00:00Z");
    app.error("Order 67890 failed at 2026-11-16T11:30:00.123Z");
    let errors = app.changes().console.unwrap().errors;
    assert_eq!(errors.iter().map(|error| error.count).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn s17_the_query_is_no_part_of_an_endpoint() {
    let app = App::watched();
    app.request("GET", "/api/users?page=1", 200);
    app.changes();
    app.request("GET", "/api/users?page=2", 500);
    let network = app.changes().network.unwrap();
    assert_eq!((network.failures[0].path.as_str(), network.failures[0].previous_status), ("/api/users", Some(200)));
}

#[test]
fn s18_an_error_is_worse_than_a_warning_is_worse_than_nothing() {
    let app = App::watched();
    assert_eq!(app.changes().severity, Severity::Clean);
    app.warn("deprecated");
    let peek = Ask { peek: true, ..Ask::default() };
    assert_eq!(app.ask(&peek).unwrap().severity, Severity::Warning);
    app.error("cannot load cart");
    assert_eq!(app.ask(&peek).unwrap().severity, Severity::Error);
}

#[test]
fn s19_the_summary_counts_in_words() {
    let app = App::watched();
    app.error("cannot load cart");
    app.error("cannot load user");
    app.request("GET", "/api/users", 503);
    assert_eq!(app.changes().summary, "2 new console error(s), 1 network failure(s)");
}

#[test]
fn a_first_seen_failure_and_no_answer_at_all_are_failures() {
    let app = App::watched();
    app.request("GET", "/api/new", 404);
    app.request("GET", "/api/refused", 0);
    let changes = app.changes();
    let network = changes.network.unwrap();
    assert_eq!(changes.severity, Severity::Error);
    let statuses: Vec<_> = network.failures.iter().map(|failure| (failure.status, failure.previous_status)).collect();
    assert_eq!(statuses, [(404, None), (0, None)]);
    assert_eq!(network.failures[1].detail, "net::ERR_CONNECTION_REFUSED");
    assert!(network.new_endpoints.is_empty());
}

#[test]
fn what_still_fails_and_what_recovered_are_told_apart() {
    let app = App::watched();
    app.request("GET", "/api/users", 500);
    app.request("GET", "/api/cart", 500);
    app.changes();
    app.request("GET", "/api/users", 500);
    app.request("GET", "/api/cart", 200);
    let changes = app.changes();
    let network = changes.network.unwrap();
    assert!(network.failures.is_empty());
    assert_eq!((network.still_failing.len(), network.still_failing[0].path.as_str()), (1, "/api/users"));
    assert_eq!((network.recovered[0].status, network.recovered[0].previous_status), (200, 500));
    assert_eq!(changes.severity, Severity::Warning);
    assert_eq!(changes.summary, "1 endpoint(s) still failing, 1 endpoint(s) recovered");
}

#[test]
fn a_failure_that_passed_is_told_with_what_came_after() {
    let app = App::watched();
    [200, 500, 500, 200].iter().for_each(|status| app.request("GET", "/api/users", *status));
    let failures = app.changes().network.unwrap().failures;
    assert_eq!((failures[0].status, failures[0].count, failures[0].now), (500, 2, Some(200)));
}

#[test]
fn methods_and_hosts_are_different_endpoints_and_ids_are_not() {
    let app = App::watched();
    app.request("GET", "/api/users/1", 200);
    app.request("GET", "/api/users/2", 200);
    app.request("DELETE", "/api/users/2", 204);
    app.request("GET", "http://other.example/api/users/2", 200);
    let endpoints = app.changes().network.unwrap().new_endpoints;
    assert_eq!(endpoints, ["GET /api/users/{id}", "DELETE /api/users/{id}", "GET http://other.example/api/users/{id}"]);
}

#[test]
fn slower_is_three_times_the_median_and_at_least_a_tenth_of_a_second() {
    let app = App::watched();
    let slow = |path: &str, times: &[f64]| {
        times.iter().for_each(|time| app.timed("GET", path, 200, Some(*time)));
    };
    // One outlier is no baseline; a few milliseconds are nothing to worry about.
    slow("/api/users", &[20.0, 25.0, 900.0, 22.0, 21.0]);
    slow("/api/tiny", &[2.0, 2.0, 2.0]);
    slow("/api/steady", &[200.0, 210.0, 190.0]);
    app.changes();
    slow("/api/users", &[400.0, 380.0]);
    assert_eq!(app.changes().severity, Severity::Clean, "two are too few to say so");
    slow("/api/users", &[400.0, 380.0, 410.0]);
    slow("/api/tiny", &[20.0, 20.0, 20.0]);
    slow("/api/steady", &[590.0, 590.0, 590.0]);
    let changes = app.since("last");
    let degraded = changes.network.unwrap().degraded;
    assert_eq!(degraded.len(), 1, "{degraded:?}");
    assert_eq!((degraded[0].path.as_str(), degraded[0].baseline_ms, degraded[0].duration_ms), ("/api/users", 22, 400));
    assert_eq!(changes.severity, Severity::Warning);
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_names() {
    let app = App::watched();
    app.browser.create_checkpoint("session_start", None).unwrap();
    let ask = Ask { checkpoint: Some("sesion_start".to_owned()), ..Ask::default() };
    let error = app.ask(&ask).unwrap_err();
    assert_eq!(error.code(), Code::CheckpointNotFound);
    assert!(error.hint().unwrap().contains("session_start"));
    let ask = Ask { checkpoint: Some("2026-99-99".to_owned()), ..Ask::default() };
    assert_eq!(app.ask(&ask).unwrap_err().code(), Code::CheckpointNotFound);
}

#[test]
fn a_named_checkpoint_knows_every_endpoint_so_it_sees_regressions() {
    let app = App::watched();
    app.request("GET", "/api/users", 200);
    app.browser.create_checkpoint("before_refactor", None).unwrap();
    app.request("GET", "/api/users", 500);
    assert_eq!(app.since("before_refactor").network.unwrap().failures[0].previous_status, Some(200));
}

#[test]
fn a_checkpoint_of_an_earlier_run_still_knows_what_was_well() {
    let app = App::watched();
    app.request("GET", "/api/users", 200);
    app.warn("known for long");
    app.browser.create_checkpoint("baseline_users", None).unwrap();
    let kept = app.browser.kept();

    let next = App::alone();
    next.pass(60_000);
    assert_eq!(next.browser.restore(kept), Vec::<String>::new());
    next.watch();
    // What happened between the two runs nobody knows.
    assert_eq!(next.since("baseline_users").severity, Severity::Unknown);
    next.warn("known for long");
    next.request("GET", "/api/users", 200);
    let changes = next.since("baseline_users");
    assert_eq!(changes.severity, Severity::Warning);
    let console = changes.console.unwrap();
    assert!(console.warnings[0].recurring && changes.network.unwrap().new_endpoints.is_empty());
    assert_eq!(changes.gap[0].reason, "before this server watched");
    next.request("GET", "/api/users", 500);
    assert_eq!(next.since("baseline_users").network.unwrap().failures[0].previous_status, Some(200));
    assert!(next.browser.checkpoints()[0].earlier_run);
}

#[test]
fn the_twenty_first_name_takes_the_oldest_ones_place_and_says_so() {
    let app = App::watched();
    app.browser.create_checkpoint("session_start", None).unwrap();
    for number in 0..19 {
        app.pass(1000);
        let made = app.browser.create_checkpoint(&format!("after_step_{number}"), None).unwrap();
        assert_eq!(made.evicted, None);
    }
    app.pass(1000);
    let made = app.browser.create_checkpoint("after_everything", None).unwrap();
    assert_eq!(made.evicted.as_deref(), Some("after_step_0"));
    let names: Vec<String> = app.browser.checkpoints().into_iter().map(|entry| entry.name).collect();
    assert_eq!((names.len(), names[0].as_str()), (20, "session_start"));
}

#[test]
fn the_list_of_checkpoints_tells_the_sessions_story() {
    let app = App::watched();
    app.browser.create_checkpoint("session_start", None).unwrap();
    app.pass(1000);
    app.warn("deprecated");
    app.browser.create_checkpoint("after_auth_refactor", None).unwrap();
    app.pass(1000);
    app.browser.create_checkpoint("before_commit", None).unwrap();
    let story: Vec<String> =
        app.browser.checkpoints().iter().map(|entry| format!("{} {}", entry.name, entry.severity)).collect();
    assert_eq!(story, ["session_start clean", "after_auth_refactor warning", "before_commit clean"]);
}

#[test]
fn names_follow_the_conventions() {
    let app = App::watched();
    for name in ["Before Refactor", "a-b", "", "before_2026-11-15", "auto", &"x".repeat(51)] {
        assert_eq!(app.browser.create_checkpoint(name, None).unwrap_err().code(), Code::InvalidName, "{name}");
    }
    let made = app.browser.create_checkpoint("wherever", None).unwrap();
    assert!(made.advice.is_some());
    assert!(app.browser.create_checkpoint("before_refactor", None).unwrap().advice.is_none());
}

#[test]
fn the_last_window_can_be_asked_for_again() {
    let app = App::watched();
    app.error("cannot load cart");
    let first = app.changes();
    assert_eq!(app.since("last").console, first.console);
    app.error("cannot load user");
    app.changes();
    assert_eq!(app.since("last").console.unwrap().errors[0].message, "cannot load user");
}

#[test]
fn since_the_load_of_the_page() {
    let app = App::watched();
    let ask = Ask { checkpoint: Some("load".to_owned()), ..Ask::default() };
    assert_eq!(app.ask(&ask).unwrap_err().code(), Code::CheckpointNotFound);
    app.error("before the load");
    app.act(ActionKind::Navigate, "http://localhost:3000/cart");
    app.error("after the load");
    let changes = app.ask(&ask).unwrap();
    assert_eq!(changes.console.unwrap().errors[0].message, "after the load");
    assert_eq!(changes.actions.unwrap().actions[0].target, "http://localhost:3000/cart");
}

#[test]
fn what_the_user_did_several_times_in_a_row_is_one_entry() {
    let app = App::watched();
    (0..50).for_each(|_| app.act(ActionKind::Click, "#save"));
    app.act(ActionKind::Submit, "form");
    let actions = app.changes().actions.unwrap();
    assert_eq!((actions.total_new, actions.actions.len(), actions.actions[0].count), (51, 2, Some(50)));
}

#[test]
fn a_socket_that_never_connected_failed_and_did_not_disconnect() {
    let app = App::watched();
    app.socket("1", SocketEvent::Error { message: "403".to_owned() });
    app.socket("1", SocketEvent::Close { code: Some(1006), reason: String::new(), by: None });
    let changes = app.changes();
    let websocket = changes.websocket.unwrap();
    assert_eq!((websocket.errors.len(), websocket.disconnections.len()), (1, 0));
    assert_eq!(changes.severity, Severity::Error);
}

#[test]
fn a_socket_that_came_back_says_so() {
    let app = App::watched();
    app.socket("1", SocketEvent::Open);
    app.socket("1", SocketEvent::Close { code: Some(1001), reason: "going away".to_owned(), by: None });
    app.socket("2", SocketEvent::Open);
    let changes = app.changes();
    // A page that was loaded again; it is told and is nothing to worry about.
    assert_eq!(changes.severity, Severity::Clean);
    let websocket = changes.websocket.unwrap();
    assert!(websocket.disconnections[0].reconnected);
    assert_eq!(
        (websocket.connections[0].count, websocket.connections[0].url.as_str()),
        (2, "ws://localhost:3000/live")
    );
}

#[test]
fn an_interruption_makes_nothing_seen_unknown() {
    let app = App::alone();
    let source = app.watch();
    app.changes();
    app.pass(10);
    app.browser.end_source(source, true, "the browser was closed");
    app.pass(10);
    assert_eq!(app.changes().severity, Severity::Unknown);
    app.watch();
    app.pass(10);
    let changes = app.changes();
    assert_eq!((changes.severity, changes.gap[0].reason.as_str()), (Severity::Unknown, "the browser was closed"));
    app.pass(10);
    assert_eq!(app.changes().severity, Severity::Clean);
}

#[test]
fn a_budget_cuts_what_matters_least_and_counts_it() {
    let app = App::watched();
    let word = |number: usize| "abcdefghijklmnopqrstuvwxyz"[number % 20..number % 20 + 5].repeat(2);
    for number in 0..40 {
        app.act(ActionKind::Click, &format!("#button-{}", word(number)));
        app.request("GET", &format!("/api/{}/{}", word(number), word(number + 3)), 200);
        app.warn(&format!("{} {}", word(number), word(number + 7)));
    }
    app.error("cannot load cart");
    let whole = app.ask(&Ask { peek: true, ..Ask::default() }).unwrap();
    let changes = app.ask(&Ask { max_tokens: Some(300), ..Ask::default() }).unwrap();
    assert!(whole.est_tokens > 1000 && changes.est_tokens <= 300, "{}", changes.est_tokens);
    let console = changes.console.unwrap();
    assert_eq!(console.errors.len(), 1);
    assert_eq!(changes.severity, Severity::Error);
    let listed = console.warnings.len() as u64;
    let all = whole.console.unwrap().warnings.len() as u64;
    assert_eq!(listed + changes.omitted.get("console.warnings").copied().unwrap_or(0), all);
    assert!(changes.omitted.contains_key("actions.actions"));
}

#[test]
fn messages_are_cut_between_characters() {
    let app = App::watched();
    app.error(&"é".repeat(500));
    let error = &app.changes().console.unwrap().errors[0];
    assert_eq!(error.message.chars().count(), 200);
}

#[test]
fn what_is_noise_is_counted_and_not_shown() {
    let app = App::watched();
    let Value::Object(_) = serde_json::to_value(app.changes()).unwrap() else { panic!("an object") };
    let rule = serde_json::from_value(serde_json::json!({ "text": "resize observer", "reason": "harmless" })).unwrap();
    app.browser.add_rules(vec![rule]).unwrap();
    app.error("resize observer loop completed");
    let changes = app.changes();
    assert_eq!((changes.severity, changes.suppressed[&Category::Console]), (Severity::Clean, 1));
    assert_eq!(changes.console.unwrap().errors.len(), 0);
}

#[test]
fn a_refused_login_is_never_noise() {
    let app = App::watched();
    let rule = serde_json::from_value(serde_json::json!({ "url": "/api/", "reason": "too loud" })).unwrap();
    app.browser.add_rules(vec![rule]).unwrap();
    app.request("GET", "/api/quiet", 500);
    app.request("GET", "/api/login", 401);
    app.request("GET", "/api/admin", 403);
    let changes = app.changes();
    let statuses: Vec<u16> = changes.network.unwrap().failures.iter().map(|failure| failure.status).collect();
    assert_eq!((statuses, changes.suppressed[&Category::Network]), (vec![401, 403], 1));
}

#[test]
fn a_checkpoint_can_stand_for_a_baseline() {
    let app = App::watched();
    app.request("GET", "/api/users", 200);
    app.error("known for long");
    app.browser.save_baseline("baseline_users").unwrap();
    app.request("GET", "/api/users", 500);
    // The endpoint fails when the checkpoint is made; compared with the baseline that is new all the same.
    app.browser.create_checkpoint("before_fix", Some("baseline_users")).unwrap();
    app.request("GET", "/api/users", 500);
    app.error("known for long");
    let changes = app.since("before_fix");
    assert_eq!(changes.network.unwrap().failures[0].previous_status, Some(200));
    assert!(changes.console.unwrap().errors.is_empty(), "the baseline knows it");
    assert_eq!(app.browser.create_checkpoint("before_x", Some("none")).unwrap_err().code(), Code::BaselineNotFound);
}

#[test]
fn a_baseline_tells_what_deviates() {
    let app = App::watched();
    assert_eq!(app.browser.save_baseline("baseline_empty").unwrap_err().code(), Code::NotCovered);
    (0..3).for_each(|_| app.timed("GET", "/api/users", 200, Some(20.0)));
    app.request("GET", "/api/cart", 200);
    app.socket("1", SocketEvent::Open);
    app.error("known for long");
    app.browser.save_baseline("baseline_users").unwrap();
    let same = app.browser.compare_baseline("baseline_users").unwrap();
    assert_eq!((same.severity, same.summary.as_str()), (Severity::Clean, "As in the baseline."));

    app.error("known for long");
    app.error("never seen");
    (0..40).for_each(|_| app.timed("GET", "/api/users", 200, Some(500.0)));
    app.request("GET", "/api/cart", 500);
    app.socket("1", SocketEvent::Close { code: Some(1006), reason: String::new(), by: None });
    let worse = app.browser.compare_baseline("baseline_users").unwrap();
    let kinds: Vec<Value> =
        worse.deviations.iter().map(|deviation| serde_json::to_value(deviation.kind).unwrap()).collect();
    assert_eq!(kinds, ["new_error", "failing", "slower", "socket_missing"]);
    assert_eq!(worse.severity, Severity::Error);
}

#[test]
fn groups_that_made_room_are_told_to_whoever_asks_about_their_time() {
    let app = App::with(Limits { groups: 20, ..Limits::default() });
    app.watch();
    let word = |number: usize| "abcdefghijklmnopqrstuvwxyz"[number % 20..number % 20 + 5].repeat(1 + number / 20);
    for number in 0..20 {
        app.error(&format!("{} broke {}", word(number), word(number + 7)));
    }
    // Everybody has seen them, and marks are swept now and then.
    (0..130).for_each(|_| drop(app.changes()));
    app.error("a new one that needs room");
    assert_eq!(app.changes().console.unwrap().errors.len(), 1);
    assert!(app.changes().omitted.is_empty());
    let start = app.since("start");
    let listed = start.console.unwrap().errors.len() as u64;
    assert_eq!(listed + start.omitted["console.groups"], 21);
}

#[test]
fn what_cannot_be_kept_apart_speaks_with_its_own_voice_and_is_judged_by_what_it_says() {
    let app = App::with(Limits { groups: 20, ..Limits::default() });
    app.watch();
    let word = |number: usize| "abcdefghijklmnopqrstuvwxyz"[number % 20..number % 20 + 5].repeat(1 + number / 20);
    (0..60).for_each(|number| app.error(&format!("{} broke {}", word(number), word(number + 7))));
    let rule = serde_json::from_value(serde_json::json!({ "text": "broke", "reason": "too loud" })).unwrap();
    app.browser.add_rules(vec![rule]).unwrap();
    app.changes();
    app.error("the checkout is dead");
    let changes = app.changes();
    let errors = changes.console.unwrap().errors;
    assert_eq!((changes.severity, errors.len(), errors[0].recurring), (Severity::Error, 1, false));
    assert!(errors[0].message.contains("the checkout is dead"), "{}", errors[0].message);
    assert_eq!(changes.omitted["console.messages_kept_together"], 1);
    // Noise stays noise there too.
    app.error("zzzzz broke yyyyy");
    assert_eq!(app.changes().severity, Severity::Clean);
}

#[test]
fn an_answer_that_says_so_is_a_failure_whoever_broke_off_its_body() {
    let app = App::watched();
    app.record(Event::Network(Request { canceled: true, ..request(404) }));
    assert_eq!(app.changes().network.unwrap().failures[0].status, 404);
    app.record(Event::Network(Request { canceled: true, failure: Some("net::ERR_ABORTED".to_owned()), ..request(0) }));
    assert_eq!(app.changes().severity, Severity::Clean);
}

fn request(status: u16) -> Request {
    let request = Request::new(Timestamp(START), "GET", "http://localhost:3000/missing.js");
    Request { status, kind: Some("script".to_owned()), ..request }
}

#[test]
fn a_rule_hides_what_it_fits_and_nothing_that_only_looks_alike() {
    let app = App::watched();
    let rule = |rule: serde_json::Value| app.browser.add_rules(vec![serde_json::from_value(rule).unwrap()]).unwrap();
    rule(serde_json::json!({ "text": "user 12345678", "reason": "a test user" }));
    app.error("cannot load user 12345678");
    assert_eq!(app.changes().severity, Severity::Clean);
    app.error("cannot load user 99999999");
    let changes = app.changes();
    assert_eq!((changes.severity, changes.console.unwrap().errors[0].count), (Severity::Error, 1));
    // Two reasons for no answer at one endpoint.
    let refused = |why: &str| {
        app.record(Event::Network(Request { failure: Some(why.to_owned()), ..request(0) }));
    };
    rule(serde_json::json!({ "text": "ERR_EMPTY_RESPONSE", "reason": "it restarts" }));
    refused("net::ERR_EMPTY_RESPONSE");
    let changes = app.changes();
    assert_eq!((changes.severity, changes.suppressed[&Category::Network]), (Severity::Clean, 1));
    refused("net::ERR_CONNECTION_REFUSED");
    assert_eq!(app.changes().severity, Severity::Error);
    // A rule that comes later hides nothing it does not fit.
    rule(serde_json::json!({ "text": "EMPTY", "reason": "again" }));
    assert_eq!(app.since("last").severity, Severity::Error);
}

#[test]
fn what_nobody_watches_is_not_said_to_be_clean() {
    let app = App::alone();
    let watches = vec![Category::Console];
    app.browser.begin_source(Source { label: "terminal: npm run dev".to_owned(), watches, kind: SourceKind::Process });
    let changes = app.changes();
    assert_eq!(changes.severity, Severity::Clean);
    assert_eq!(changes.summary, "No significant changes seen, but nobody watches network, websocket, actions");
    let network = Ask { include: vec![Category::Network], ..Ask::default() };
    assert_eq!(app.ask(&network).unwrap().severity, Severity::Unknown);
}

#[test]
fn a_baseline_says_nothing_of_endpoints_that_were_not_requested() {
    let app = App::watched();
    app.request("GET", "/api/users", 200);
    app.browser.save_baseline("baseline_users").unwrap();
    let next = App::watched();
    next.browser.restore(app.browser.kept());
    let compared = next.browser.compare_baseline("baseline_users").unwrap();
    assert_eq!((compared.severity, compared.endpoints_not_seen), (Severity::Unknown, 1));
    next.request("GET", "/api/users", 200);
    assert_eq!(next.browser.compare_baseline("baseline_users").unwrap().severity, Severity::Clean);
}

#[test]
fn a_page_that_is_watched_otherwise_is_not_told_twice() {
    let app = App::watched();
    let report = |mark: Option<&str>| {
        let event = Event::Action(Action {
            time: app.now(),
            kind: ActionKind::Click,
            target: "#save".to_owned(),
            detail: String::new(),
            page: None,
            frame: None,
        });
        let watched_by = mark.map(str::to_owned);
        let source = "page http://localhost:3000".to_owned();
        app.browser.ingest(Ingest { source, events: vec![event.into()], watched_by, ..Ingest::default() })
    };
    app.changes();
    assert_eq!((report(None), report(Some("other"))), (1, 1), "nobody else tells of it");
    app.changes();
    app.browser.watched_by(Some("mine".to_owned()));
    assert_eq!((report(Some("mine")), report(Some("other"))), (0, 1), "a page of another browser is another page");
    let changes = app.changes();
    assert_eq!((changes.actions.unwrap().total_new, changes.coverage.seen_twice), (1, 1));
    // A page whose watcher has gone is listened to again.
    app.browser.watched_by(None);
    assert_eq!(report(Some("mine")), 1);
    let changes = app.changes();
    assert_eq!((changes.actions.unwrap().total_new, changes.coverage.seen_twice), (1, 0));
    // Whoever is not listened to is not missed when it falls silent.
    app.browser.watched_by(Some("mine".to_owned()));
    report(Some("mine"));
    app.changes();
    app.pass(61_000);
    assert_eq!(app.changes().severity, Severity::Clean);
}
