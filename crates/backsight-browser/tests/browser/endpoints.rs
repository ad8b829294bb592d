//! What becomes of endpoints between two looks: which failures are new, what is slow, what is only not well.

use backsight_browser::event::{Event, Request};
use backsight_browser::report::Severity;

use crate::app::App;

fn change(event: Event, how: impl FnOnce(&mut Request)) -> Event {
    let Event::Network(mut request) = event else { panic!("no request") };
    how(&mut request);
    Event::Network(request)
}

fn failed(app: &App, path: &str, why: &str) {
    app.record(change(app.requested("GET", path, 0, None), |request| request.failure = Some(why.to_owned())));
}

#[test]
fn another_cause_behind_no_status_is_a_new_failure() {
    let app = App::watched();
    failed(&app, "/api/a", "net::ERR_CONNECTION_REFUSED");
    app.changes();
    failed(&app, "/api/a", "net::ERR_CONNECTION_REFUSED");
    let changes = app.changes();
    assert_eq!((changes.severity, changes.network.unwrap().still_failing.len()), (Severity::Warning, 1));
    failed(&app, "/api/a", "blocked by CORS: MissingAllowOriginHeader");
    let changes = app.changes();
    assert_eq!(changes.severity, Severity::Error);
    assert_eq!(changes.network.unwrap().failures[0].detail, "blocked by CORS: MissingAllowOriginHeader");
    failed(&app, "/api/b", "timed out after 500 ms");
    app.changes();
    failed(&app, "/api/b", "timed out after 612 ms");
    assert_eq!(app.changes().severity, Severity::Warning, "a number is no other cause");
}

#[test]
fn a_time_knows_what_was_well_after_the_ring_has_wrapped() {
    let app = App::watched();
    app.request("GET", "/api/a", 200);
    app.request("GET", "/api/b", 500);
    app.pass(1_000);
    let then = app.now().to_string();
    app.pass(1_000);
    (0..2_100).for_each(|_| app.request("GET", "/api/other", 200));
    app.request("GET", "/api/a", 500);
    app.request("GET", "/api/b", 500);
    let changes = app.since(&then);
    let network = changes.network.unwrap();
    assert_eq!(changes.severity, Severity::Error);
    let shown = |path: &str| path.rsplit("3000").next().unwrap().to_owned();
    assert_eq!(
        (shown(&network.failures[0].path), network.failures[0].previous_status),
        ("/api/a".to_owned(), Some(200))
    );
    assert_eq!(network.failures.len(), 1);
    assert_eq!(shown(&network.still_failing[0].path), "/api/b");
}

#[test]
fn pages_modules_and_what_workers_and_caches_answer_are_never_slow() {
    let app = App::watched();
    let load = |kind: &str, duration: f64| {
        (0..4).for_each(|_| {
            let path = format!("/src/{kind}");
            let event = app.requested("GET", &path, 200, Some(duration));
            app.record(change(event, |request| request.kind = Some(kind.to_owned())));
        });
    };
    let kinds = ["document", "script", "stylesheet", "image", "link", "navigation"];
    kinds.iter().for_each(|kind| load(kind, 10.0));
    load("fetch", 10.0);
    app.changes();
    kinds.iter().for_each(|kind| load(kind, 900.0));
    assert_eq!(app.changes().severity, Severity::Clean);
    load("fetch", 900.0);
    assert_eq!(app.changes().network.unwrap().degraded.len(), 1);
}

#[test]
fn a_picture_that_is_a_page_is_a_warning_each_time() {
    let app = App::watched();
    for _ in 0..2 {
        let event = app.requested("GET", "/logo.png", 200, None);
        app.record(change(event, |request| {
            request.kind = Some("image".to_owned());
            request.mime = Some("text/html".to_owned());
        }));
        let changes = app.changes();
        assert_eq!((changes.severity, changes.summary.as_str()), (Severity::Warning, "1 answer(s) of the wrong type"));
        assert_eq!(changes.network.unwrap().mistyped[0].detail, "answered with a page (text/html)");
    }
}

#[test]
fn a_graphql_error_is_a_failure_of_its_operation_and_recovers() {
    let app = App::watched();
    let ask = |operation: &str, body: &str| {
        let event = app.requested("POST", "/graphql", 200, None);
        app.record(change(event, |request| {
            request.operation = Some(operation.to_owned());
            request.response_body = Some(body.to_owned());
        }));
    };
    ask("Cart", r#"{"data":{"cart":[]}}"#);
    ask("User", r#"{"data":{"user":{}}}"#);
    app.changes();
    ask("User", r#"{"data":null,"errors":[{"message":"Not authorised"}]}"#);
    ask("Cart", r#"{"data":{"cart":[]}}"#);
    let changes = app.changes();
    let failures = changes.network.unwrap().failures;
    assert_eq!((changes.severity, failures.len()), (Severity::Error, 1));
    assert!(failures[0].path.ends_with("/graphql#User"), "{failures:?}");
    assert_eq!((failures[0].status, failures[0].detail.as_str()), (200, "GraphQL: Not authorised"));
    ask("User", r#"{"data":{"user":{}}}"#);
    let changes = app.changes();
    assert_eq!((changes.severity, changes.network.unwrap().recovered.len()), (Severity::Clean, 1));
}

#[test]
fn many_failing_slugs_of_one_place_are_one_entry() {
    let app = App::watched();
    let slugs = [
        "red", "blue", "green", "grey", "pink", "teal", "gold", "rust", "lime", "plum", "navy", "sand", "snow", "mint",
    ];
    slugs.iter().for_each(|slug| app.request("GET", &format!("/shop/{slug}/price"), 404));
    app.request("GET", "/shop/red/price", 500);
    let failures = app.changes().network.unwrap().failures;
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert_eq!((failures[0].variants, failures[0].count, failures[0].status), (Some(14), 14, 404));
    assert_eq!((failures[1].variants, failures[1].status), (None, 500));
}

#[test]
fn a_request_that_was_given_up_says_nothing_about_its_endpoint() {
    let app = App::watched();
    app.request("GET", "/api/a", 500);
    app.pass(10);
    app.record(change(app.requested("GET", "/api/a", 0, None), |request| {
        (request.canceled, request.failure) = (true, None);
    }));
    app.pass(10);
    let then = app.now().to_string();
    app.pass(10);
    app.request("GET", "/api/a", 500);
    let changes = app.since(&then);
    assert_eq!((changes.severity, changes.network.unwrap().still_failing.len()), (Severity::Warning, 1));
}
