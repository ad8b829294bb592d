//! Several clients look while several sources tell: nobody takes another's news, nothing is told twice, nothing is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use backsight_browser::event::{ActionKind, Console, Event, Level, SocketEvent, Speaker};
use backsight_browser::report::{Saw, Severity};
use backsight_browser::{Ask, AskedFor, Phase, UnderWay, Wait, render};
use backsight_core::{Code, Timestamp};

use crate::app::App;

fn error(message: String) -> Event {
    Event::Console(Console {
        time: Timestamp(1),
        level: Level::Error,
        speaker: Speaker::Page,
        message,
        stack: Vec::new(),
        causes: Vec::new(),
        page: None,
        backfilled: false,
    })
}

/// Words that differ in nothing a fingerprint ignores.
const WRITERS: [&str; 8] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];

#[test]
fn s15_eight_writers_and_four_readers_lose_nothing_and_repeat_nothing() {
    const EACH: u64 = 2000;
    let app = App::watched();
    let writing = AtomicUsize::new(WRITERS.len());
    let readers: Vec<BTreeMap<String, u64>> = std::thread::scope(|scope| {
        for writer in WRITERS {
            let (app, writing) = (&app, &writing);
            scope.spawn(move || {
                (0..EACH)
                    .for_each(|_| app.browser.record([error(format!("the {writer} writer failed, says {writer}"))]));
                writing.fetch_sub(1, Ordering::Release);
            });
        }
        let readers: Vec<_> = (0..4)
            .map(|reader| {
                let (app, writing) = (&app, &writing);
                scope.spawn(move || {
                    let (client, mut seen) = (format!("reader {reader}"), BTreeMap::new());
                    loop {
                        let is_over = writing.load(Ordering::Acquire) == 0;
                        let changes = app.browser.changes(&client, &Ask::default(), &|| false).unwrap();
                        let console = changes.console.unwrap();
                        let listed: u64 = console.errors.iter().map(|error| error.count).sum();
                        assert_eq!(console.total_new, listed);
                        for error in console.errors {
                            *seen.entry(error.message).or_insert(0) += error.count;
                        }
                        if is_over {
                            return seen;
                        }
                    }
                })
            })
            .collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    for seen in readers {
        assert_eq!(seen.len(), WRITERS.len());
        assert!(seen.values().all(|count| *count == EACH), "{seen:?}");
    }
}

#[test]
fn two_clients_do_not_take_each_others_news() {
    let app = App::watched();
    app.error("cannot load cart");
    let ask = |client: &str| app.browser.changes(client, &Ask::default(), &|| false).unwrap().severity;
    assert_eq!(
        [ask("one"), ask("two"), ask("one"), ask("two")].map(|severity| severity == Severity::Error),
        [true, true, false, false]
    );
    assert!(!app.browser.has_news("one"));
    app.error("again");
    assert!(app.browser.has_news("one") && app.browser.has_news("two"));
}

#[test]
fn peeking_leaves_the_news_for_the_next_question() {
    let app = App::watched();
    app.error("cannot load cart");
    let peek = Ask { peek: true, ..Ask::default() };
    assert_eq!(app.ask(&peek).unwrap().severity, Severity::Error);
    assert_eq!(app.changes().severity, Severity::Error);
    assert_eq!(app.changes().severity, Severity::Clean);
}

fn waiting(most: u64, quiet: u64) -> Ask {
    let wait = Wait { most: Duration::from_millis(most), quiet: Duration::from_millis(quiet) };
    Ask { wait: Some(wait), ..Ask::default() }
}

#[test]
fn waiting_ends_with_the_first_error() {
    let app = App::watched();
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| {
            let began = Instant::now();
            (app.ask(&waiting(30_000, 30_000)).unwrap(), began.elapsed())
        });
        app.browser.record([error("cannot load cart".to_owned())]);
        // What belongs to the same fault comes a moment later, and is told with it.
        app.browser.record([error("the cart is missing, says the page".to_owned())]);
        let (changes, took) = answer.join().unwrap();
        assert_eq!((changes.severity, changes.console.unwrap().errors.len()), (Severity::Error, 2));
        assert!(took < Duration::from_secs(10), "{took:?}");
    });
}

/// A build or a hot update may take seconds to begin: the silence until then says nothing.
#[test]
fn waiting_does_not_end_in_the_silence_before_anything_happens() {
    let app = App::watched();
    app.request("GET", "/api/poll", 200);
    app.say(Level::Info, "tick");
    app.changes();
    std::thread::scope(|scope| {
        let (answer, answered) = channel();
        let asked = &app;
        scope.spawn(move || answer.send(asked.ask(&waiting(30_000, 50)).unwrap()).unwrap());
        let not_yet = |what: &str| {
            let early = answered.recv_timeout(Duration::from_millis(300));
            assert!(early.is_err(), "{what}: {early:?}");
        };
        not_yet("nothing happened");
        app.request("GET", "/api/poll", 200);
        app.say(Level::Info, "tick");
        not_yet("the app does by itself what it always does");
        app.process("tsc", Level::Info, "File change detected. Starting incremental compilation...");
        not_yet("the build is under way");
        app.process("tsc", Level::Info, "Found 0 errors. Watching for file changes.");
        let waited = answered.recv().unwrap().waited.unwrap();
        assert_eq!(waited.saw, [Saw::Build, Saw::Activity]);
    });
}

#[test]
fn messages_of_connections_are_no_reason_to_wait_longer() {
    let app = App::watched();
    let tick = || app.socket("1", SocketEvent::Message { sent: false, bytes: 5 });
    app.socket("1", SocketEvent::Open);
    tick();
    app.changes();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                tick();
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        app.process("tsc", Level::Info, "Found 0 errors. Watching for file changes.");
        let waited = app.ask(&waiting(20_000, 200)).unwrap().waited.unwrap();
        over.store(true, Ordering::SeqCst);
        assert!((200..10_000).contains(&waited.ms), "{waited:?}");
    });
}

#[test]
fn waiting_says_that_nothing_happened() {
    let app = App::watched();
    app.error("of the window before");
    app.changes();
    let changes = app.ask(&waiting(200, 10)).unwrap();
    let waited = changes.waited.clone().unwrap();
    assert_eq!((changes.severity, waited.saw.as_slice()), (Severity::Clean, &[][..]));
    assert!(waited.ms >= 200, "{waited:?}");
    assert!(render::compact(&changes).contains("in which nothing happened"), "{}", render::compact(&changes));
    assert_eq!(app.changes().waited, None);
}

/// The edit was quicker than the question.
#[test]
fn what_took_effect_before_the_call_is_not_waited_for_again() {
    for (message, saw) in
        [("[vite] hot updated: /src/App.jsx", Saw::HotUpdate), ("[Fast Refresh] done in 45ms", Saw::HotUpdate)]
    {
        let app = App::watched();
        app.changes();
        app.say(Level::Info, message);
        let changes = app.ask(&waiting(30_000, 10)).unwrap();
        assert_eq!(changes.waited.unwrap().saw, [saw]);
    }
    let app = App::watched();
    app.changes();
    app.act(ActionKind::Navigate, "http://localhost:3000/");
    assert_eq!(app.ask(&waiting(30_000, 10)).unwrap().waited.unwrap().saw, [Saw::Reload, Saw::Activity]);
    // Who asks for the first time wants to know what there is.
    let app = App::watched();
    app.request("GET", "/", 200);
    assert_eq!(app.ask(&waiting(30_000, 10)).unwrap().waited.unwrap().saw, [Saw::Activity]);
}

#[test]
fn waiting_goes_on_while_a_request_of_the_window_is_under_way() {
    let app = App::watched();
    app.changes();
    app.pass(1);
    let slow = asked("/api/slow", app.now());
    let held = asked("/api/held", Timestamp(app.now().0 - 1_000));
    app.browser.requests_under_way(&[held.clone(), slow]);
    std::thread::scope(|scope| {
        let (answer, answered) = channel();
        let asked = &app;
        scope.spawn(move || answer.send(asked.ask(&waiting(30_000, 50)).unwrap()).unwrap());
        let early = answered.recv_timeout(Duration::from_millis(400));
        assert!(early.is_err(), "it is not quiet while the page waits for an answer: {early:?}");
        app.request("GET", "/api/slow", 500);
        app.browser.requests_under_way(&[held]);
        let changes = answered.recv().unwrap();
        assert_eq!((changes.severity, changes.in_flight), (Severity::Error, 0));
    });
}

#[test]
fn what_is_still_under_way_is_said_and_waited_for_by_the_next_question_too() {
    let app = App::watched();
    app.changes();
    app.pass(1);
    app.browser.requests_under_way(&[asked("/api/slow?token=s3cr3t", app.now())]);
    let changes = app.ask(&waiting(100, 10)).unwrap();
    assert_eq!((changes.severity, changes.in_flight), (Severity::Clean, 1));
    assert_eq!(changes.summary, "No significant changes seen, but 1 request(s) are still in flight (GET /api/slow)");
    assert!(render::compact(&changes).contains("in flight: 1 request(s)"), "{}", render::compact(&changes));
    app.pass(2_000);
    assert_eq!(app.changes().in_flight, 1, "it began before this window, and nobody was told how it ended");
}

#[test]
fn a_request_that_is_never_answered_is_a_warning_for_as_long_as_it_lasts() {
    let app = App::watched();
    app.changes();
    app.pass(1);
    app.browser.requests_under_way(&[asked("/api/slow", app.now()), asked("/api/slow", app.now())]);
    app.browser.create_checkpoint("before_click", None).unwrap();
    for age_ms in [3_000, 12_000, 600_000] {
        app.pass(age_ms - (app.now().0 - app.browser.checkpoints()[0].created.0));
        for changes in [app.since("before_click"), app.ask(&waiting(20, 10)).unwrap()] {
            assert_eq!((changes.severity, changes.in_flight), (Severity::Warning, 2), "{}", changes.summary);
            let pending = changes.network.unwrap().pending;
            assert!(pending[0].path.ends_with("/api/slow") && pending[0].count == 2, "{pending:?}");
            assert!((0..1_000).contains(&(pending[0].age_ms - age_ms)), "{pending:?}");
            assert!(
                changes.summary.contains("2 request(s) without an answer (GET http://localhost:3000/api/slow for"),
                "{}",
                changes.summary
            );
        }
    }
    let health = app.browser.health("agent", None).unwrap();
    assert!(
        health.reasons[0].starts_with("GET http://localhost:3000/api/slow has no answer after 600 s"),
        "{:?}",
        health.reasons
    );
    app.browser.requests_under_way(&[]);
    assert_eq!(app.changes().severity, Severity::Clean);
}

#[test]
fn an_endpoint_that_is_known_to_take_its_time_gets_twice_as_much() {
    let app = App::watched();
    app.timed("GET", "/poll", 200, Some(20_000.0));
    app.changes();
    app.browser.requests_under_way(&[asked("/poll", app.now())]);
    app.pass(39_000);
    assert_eq!(app.changes().severity, Severity::Clean);
    app.pass(1_001);
    assert_eq!(app.changes().severity, Severity::Warning);
}

#[test]
fn what_is_noise_may_wait_for_ever() {
    let app = App::watched();
    let rule = serde_json::json!({ "url": "/poll", "reason": "a long poll" });
    app.browser.add_rules(vec![serde_json::from_value(rule).unwrap()]).unwrap();
    app.browser.requests_under_way(&[asked("/poll", app.now())]);
    app.pass(60_000);
    assert_eq!(app.changes().severity, Severity::Clean);
}

fn asked(path: &str, since: Timestamp) -> UnderWay {
    let url = format!("http://localhost:3000{path}");
    let asked = Arc::new(AskedFor { method: "GET".to_owned(), url, operation: None });
    UnderWay { since, phase: Phase::Unanswered, is_document: false, asked }
}

#[test]
fn waiting_ends_when_it_is_taken_back() {
    let app = App::watched();
    let cancelled = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let answer = scope
            .spawn(|| app.browser.changes("agent", &waiting(60_000, 60_000), &|| cancelled.load(Ordering::Relaxed)));
        cancelled.store(true, Ordering::Relaxed);
        assert_eq!(answer.join().unwrap().unwrap_err().code(), Code::Cancelled);
    });
    // Its news is still to be told.
    app.error("cannot load cart");
    let ask = waiting(60_000, 60_000);
    assert!(app.browser.changes("agent", &ask, &|| true).is_err());
    assert_eq!(app.changes().severity, Severity::Error);
}
