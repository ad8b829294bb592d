//! What is watched, and what is left alone.

use super::*;

const NOW: Timestamp = Timestamp(1);

fn targets() -> Targets {
    Targets::new(Origins::new(&[], false).unwrap())
}

fn info(id: &str, kind: &str, url: &str) -> Info {
    Info { id: id.to_owned(), kind: kind.to_owned(), url: url.to_owned(), ..Info::default() }
}

fn page(id: &str, url: &str) -> Info {
    info(id, "page", url)
}

/// A page that is watched through the session of the same name in capitals.
fn watch(targets: &mut Targets, id: &str) -> String {
    let session = id.to_uppercase();
    targets.told(page(id, "http://localhost/"));
    targets.attached(&session, None, page(id, "http://localhost/"), NOW);
    session
}

#[test]
fn a_page_that_nobody_wants_takes_no_step() {
    let mut targets = targets();
    for number in 0..200 {
        assert_eq!(targets.told(page(&number.to_string(), "https://example.com/")), []);
    }
    for kind in
        ["tab", "browser", "browser_ui", "other", "webview", "background_page", "iframe", "worker", "service_worker"]
    {
        assert_eq!(targets.told(info(kind, kind, "http://localhost/")), [], "{kind}");
    }
    let prerender = Info { subtype: Some("prerender".to_owned()), ..page("p", "http://localhost/") };
    assert_eq!(targets.told(prerender), []);
    assert_eq!((targets.pages(), targets.not_watched()), (vec![], 201));
}

#[test]
fn whatever_starts_through_a_page_is_let_run() {
    let mut targets = targets();
    let parent = watch(&mut targets, "p");
    for kind in ["iframe", "worker", "service_worker", "worklet"] {
        let steps = targets.attached(kind, Some(&parent), info(&format!("t{kind}"), kind, "http://localhost/"), NOW);
        assert!(matches!(&steps[..], [Step::Greet { session, .. }] if session == kind), "{kind}: {steps:?}");
    }
    for kind in ["auction_worklet", "shared_storage_worklet", "webview", "other", "one of tomorrow"] {
        let steps = targets.attached(kind, Some(&parent), info(&format!("t{kind}"), kind, ""), NOW);
        let session = kind.to_owned();
        assert_eq!(steps, [Step::Resume { session: session.clone() }, Step::Detach { session }], "{kind}");
    }
}

#[test]
fn a_page_is_asked_for_once_however_often_it_changes() {
    let mut targets = targets();
    let attach = vec![Step::Attach { target: "p".to_owned() }];
    assert_eq!(targets.told(page("p", "http://localhost/")), attach);
    assert_eq!(targets.told(page("p", "http://localhost/a")), []);
    // Only a refusal makes it worth asking again.
    targets.refused("p");
    assert_eq!(targets.told(page("p", "http://localhost/b")), attach);
}

#[test]
fn a_page_that_went_elsewhere_before_the_answer_is_let_go_and_asked_for_when_it_comes_back() {
    let mut targets = targets();
    targets.told(page("p", "http://localhost/"));
    let steps = targets.attached("S", None, page("p", "https://example.com/"), NOW);
    let expected = [Step::Resume { session: "S".to_owned() }, Step::Detach { session: "S".to_owned() }];
    assert_eq!(steps, expected);
    assert_eq!(targets.hears("S"), Hears::No);
    assert_eq!(targets.told(page("p", "http://localhost/")), [Step::Attach { target: "p".to_owned() }]);
    assert_eq!(targets.attached("S", None, page("p", "http://localhost/"), NOW), [], "a session that was ended");
}

#[test]
fn whatever_belongs_to_a_page_ends_with_it() {
    let mut targets = targets();
    let session = watch(&mut targets, "p");
    targets.attached("frame", Some(&session), info("f", "iframe", "https://other.test/"), NOW);
    targets.attached("worker", Some("frame"), info("w", "worker", "https://other.test/w.js"), NOW);
    assert_eq!((targets.workers(), targets.sessions().len()), (1, 3));
    let steps = targets.told(page("p", "https://example.com/"));
    let over: Vec<_> = steps.iter().filter(|step| matches!(step, Step::Over { .. })).collect();
    assert_eq!(over.len(), 3, "{steps:?}");
    assert_eq!(steps.last(), Some(&Step::Detach { session }));
    assert_eq!((targets.workers(), targets.sessions().len()), (0, 0));
    assert_eq!(targets.hears("worker"), Hears::No);
}

#[test]
fn what_starts_through_a_session_that_is_being_ended_is_let_run() {
    let mut targets = targets();
    let session = watch(&mut targets, "p");
    targets.told(page("p", "https://example.com/"));
    let steps = targets.attached("late", Some(&session), info("w", "service_worker", "http://localhost/w.js"), NOW);
    assert_eq!(steps, [Step::Resume { session: "late".to_owned() }]);
    assert_eq!((targets.hears("late"), targets.workers()), (Hears::No, 0));
}

#[test]
fn a_target_of_a_kind_nobody_knows_is_let_run_and_left_alone() {
    let mut targets = targets();
    let session = watch(&mut targets, "p");
    let steps = targets.attached("x", Some(&session), info("x", "auction_worklet", ""), NOW);
    assert_eq!(steps, [Step::Resume { session: "x".to_owned() }, Step::Detach { session: "x".to_owned() }]);
}

#[test]
fn an_empty_page_that_is_about_to_be_sent_somewhere_is_watched_until_it_is_elsewhere() {
    let mut targets = targets();
    assert_eq!(targets.told(page("p", "about:blank")), []);
    assert_eq!(targets.expect("p", "https://app.test/"), [Step::Attach { target: "p".to_owned() }]);
    assert!(matches!(&targets.attached("S", None, page("p", "about:blank"), NOW)[..], [Step::Greet { .. }]));
    assert_eq!(targets.told(page("p", "https://app.test/")), [], "it was named, so it is wanted");
    let left = targets.told(page("p", "about:blank"));
    assert!(left.contains(&Step::Detach { session: "S".to_owned() }), "{left:?}");
}

#[test]
fn states_change_the_picture_and_silence_does_not() {
    let mut targets = targets();
    let session = watch(&mut targets, "p");
    assert!(targets.take_changed());
    targets.told(page("p", "http://localhost/"));
    targets.speaks(&session);
    assert!(!targets.take_changed());
    targets.becomes(&session, PageState::Unresponsive);
    assert!(targets.take_changed());
    targets.speaks(&session);
    assert_eq!(targets.pages()[0].state, PageState::Watching);
    targets.target_becomes("p", PageState::Crashed);
    targets.speaks(&session);
    assert_eq!(targets.pages()[0].state, PageState::Crashed, "a crashed page's last words do not revive it");
}

#[test]
fn the_memory_of_past_sessions_is_bounded() {
    let mut past = Past::default();
    for number in 0..Past::KEPT * 2 {
        past.insert(&number.to_string());
    }
    assert_eq!((past.members.len(), past.order.len()), (Past::KEPT, Past::KEPT));
}
