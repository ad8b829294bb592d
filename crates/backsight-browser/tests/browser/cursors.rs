//! Several clients look while several sources tell: nobody takes another's news, nothing is told twice, nothing is lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use backsight_browser::event::{Console, Event, Level, Speaker};
use backsight_browser::report::Severity;
use backsight_browser::{Ask, UnderWay, Wait, render};
use backsight_core::{Code, Timestamp};

use crate::app::App;

fn error(message: String) -> Event {
    Event::Console(Console {
        time: Timestamp(1),
        level: Level::Error,
        speaker: Speaker::Page,
        message,
        stack: Vec::new(),
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

#[test]
fn waiting_ends_when_nothing_happens_any_more() {
    let app = App::watched();
    let began = Instant::now();
    let changes = app.ask(&waiting(30_000, 50)).unwrap();
    let took = began.elapsed();
    assert_eq!(changes.severity, Severity::Clean);
    assert!(took >= Duration::from_millis(50) && took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn waiting_goes_on_while_a_request_of_the_window_is_under_way() {
    let app = App::watched();
    app.changes();
    app.pass(1);
    let slow = UnderWay { since: app.now(), is_document: false };
    let held = UnderWay { since: Timestamp(app.now().0 - 1_000), is_document: false };
    app.browser.requests_under_way(&[held, slow]);
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
    app.browser.requests_under_way(&[UnderWay { since: app.now(), is_document: false }]);
    let changes = app.ask(&waiting(100, 10)).unwrap();
    assert_eq!((changes.severity, changes.in_flight), (Severity::Clean, 1));
    assert_eq!(changes.summary, "No significant changes seen, but 1 request(s) are still in flight");
    assert!(render::compact(&changes).contains("in flight: 1 request(s)"), "{}", render::compact(&changes));
    app.pass(5_000);
    assert_eq!(app.changes().in_flight, 1, "it began before this window, and nobody was told how it ended");
    // What lasts so long is held open on purpose.
    app.pass(5_001);
    assert_eq!(app.ask(&waiting(30_000, 10)).unwrap().in_flight, 0);
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
