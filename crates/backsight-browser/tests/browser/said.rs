//! What was said, where, once: what a person or an agent reads of a group of messages.

use backsight_browser::event::{ActionKind, Console, Event, Frame, Level, Speaker};
use backsight_browser::report::{MessageEntry, Severity};
use backsight_browser::{Amendment, Ask};
use backsight_core::Timestamp;

use crate::app::{App, START};

/// The errors that are new to the agent.
fn errors(app: &App) -> Vec<MessageEntry> {
    app.changes().console.unwrap().errors
}

/// An error at this place, said this way now.
fn error(app: &App, speaker: Speaker, message: &str, file: &str, line: u32) -> Console {
    let Event::Console(said) = app.said(Level::Error, message) else { unreachable!() };
    let frame = Frame { file: file.to_owned(), line, column: 5, function: "f".to_owned() };
    Console { speaker, stack: vec![frame], ..said }
}

#[test]
fn the_text_shown_is_the_latest_of_the_window() {
    let app = App::watched();
    app.error("order 11111 was rejected");
    assert_eq!(errors(&app)[0].message, "order 11111 was rejected");
    app.error("order 22222 was rejected");
    app.error("order 33333 was rejected");
    let again = errors(&app);
    assert_eq!((again[0].message.as_str(), again[0].count, again[0].recurring), ("order 33333 was rejected", 2, true));
    assert_eq!(app.since("start").console.unwrap().errors[0].message, "order 33333 was rejected");
}

#[test]
fn the_answers_of_servers_are_told_apart() {
    for words in [
        "GET /api/products answered #",
        "server returned #",
        "responded with #",
        "fetch error: #",
        "got # for user",
        "Request failed: #",
        "request failed with #",
        "cart failed to load (#)",
        "replied with a #",
        "the response was #",
    ] {
        let app = App::watched();
        for status in ["404", "500", "503"] {
            app.error(&words.replace('#', status));
        }
        assert_eq!(errors(&app).len(), 3, "{words}");
    }
    for words in ["query returned # rows", "got # items", "failed after # ms", "received # messages"] {
        let app = App::watched();
        for count in ["404", "500", "503"] {
            app.error(&words.replace('#', count));
        }
        assert_eq!(errors(&app).len(), 1, "{words}");
    }
}

#[test]
fn one_of_many_rows_is_one_warning() {
    let app = App::watched();
    for row in [1, 2, 11, 250] {
        app.warn(&format!("Invalid prop in <Row id=\"row-{row}\">"));
    }
    app.warn("Invalid prop in <Row id=\"h1\">");
    assert_eq!(app.changes().console.unwrap().warnings.len(), 2);
}

#[test]
fn one_error_that_is_logged_and_uncaught_counts_once() {
    let app = App::watched();
    let file = "http://localhost:3000/src/cart.ts";
    let both = [(Speaker::Page, "TypeError: no x"), (Speaker::Exception, "TypeError: no x (in promise)")];
    for (speaker, message) in both.into_iter().chain(both.into_iter().rev()) {
        app.record(Event::Console(error(&app, speaker, message, file, 4)));
    }
    let changes = app.changes();
    assert_eq!(changes.console.unwrap().errors.iter().map(|entry| entry.count).sum::<u64>(), 2, "two pairs");
    // The same words elsewhere, later, or said the same way are another error.
    app.record(Event::Console(error(&app, Speaker::Page, "TypeError: no y", file, 4)));
    app.record(Event::Console(error(&app, Speaker::Exception, "TypeError: no y", file, 9)));
    app.record(Event::Console(error(&app, Speaker::Page, "TypeError: no y", file, 4)));
    app.pass(2_000);
    app.record(Event::Console(error(&app, Speaker::Exception, "TypeError: no y", file, 4)));
    assert_eq!(errors(&app).iter().map(|entry| entry.count).sum::<u64>(), 4);
}

#[test]
fn a_map_that_comes_late_does_not_make_one_bug_two() {
    let app = App::watched();
    let was = error(&app, Speaker::Exception, "TypeError: no x", "http://localhost:3000/app.js", 1);
    let is = Console {
        stack: error(&app, Speaker::Exception, "", "http://localhost:3000/src/cart.ts", 42).stack,
        ..was.clone()
    };
    app.record(Event::Console(was.clone()));
    assert_eq!(errors(&app)[0].source, "app.js:1");
    let placed = || Amendment::Placed { was: Box::new(was.clone()), is: Box::new(is.clone()) };
    app.browser.amend(placed());
    let now = app.since("start").console.unwrap().errors;
    assert_eq!((now.len(), now[0].count, now[0].source.as_str()), (1, 1, "src/cart.ts:42"));
    app.pass(5_000);
    for again in [&is, &was, &is] {
        app.record(Event::Console(again.clone()));
    }
    let again = errors(&app);
    assert_eq!((again.len(), again[0].count, again[0].recurring), (1, 3, true));
    assert_eq!(app.since(&Timestamp(START - 1).to_string()).console.unwrap().errors[0].count, 4);
}

#[test]
fn two_groups_that_turn_out_to_be_one_count_together() {
    let app = App::watched();
    let is = error(&app, Speaker::Exception, "TypeError: no x", "http://localhost:3000/src/cart.ts", 42);
    app.record(Event::Console(is.clone()));
    app.changes();
    // After a build the script has another map, which is slow.
    let was = error(&app, Speaker::Exception, "TypeError: no x", "http://localhost:3000/app.js", 1);
    app.record(Event::Console(was.clone()));
    app.browser.amend(Amendment::Placed { was: Box::new(was), is: Box::new(is) });
    let again = errors(&app);
    assert_eq!((again.len(), again[0].count, again[0].recurring), (1, 1, true));
    assert_eq!(app.since("start").console.unwrap().errors[0].count, 2);
}

#[test]
fn a_rejection_that_is_handled_later_is_taken_back() {
    let app = App::watched();
    let said = error(&app, Speaker::Exception, "Error: one (in promise)", "http://localhost:3000/src/late.ts", 7);
    app.record(Event::Console(said.clone()));
    assert_eq!(app.changes().severity, Severity::Error);
    app.browser.amend(Amendment::Handled(Box::new(said.clone())));
    let changes = app.changes();
    let console = changes.console.unwrap();
    assert_eq!((changes.severity, console.errors.len(), console.handled_later.len()), (Severity::Clean, 0, 1));
    assert_eq!(console.handled_later[0].source, "src/late.ts:7");
    assert_eq!(app.since("start").severity, Severity::Clean);
    assert_eq!(app.changes().console.unwrap().handled_later, []);
    // It cannot be taken back more often than it was said, and when it is said again it is an error.
    app.browser.amend(Amendment::Handled(Box::new(said.clone())));
    app.record(Event::Console(said));
    assert_eq!((app.changes().severity, app.since("start").severity), (Severity::Error, Severity::Error));
}

#[test]
fn what_is_held_back_is_never_clean() {
    let app = App::watched();
    app.browser.messages_held(2);
    let changes = app.changes();
    assert_eq!((changes.severity, changes.held), (Severity::Unknown, 2));
    assert!(changes.summary.contains("2 message(s) are held back"), "{}", changes.summary);
    app.browser.messages_held(0);
    assert_eq!((app.changes().severity, app.changes().held), (Severity::Clean, 0));
}

#[test]
fn of_many_errors_the_new_the_uncaught_and_the_frequent_come_first() {
    let app = App::watched();
    app.error("known for long");
    app.changes();
    for letter in 'a'..='z' {
        (0..2).for_each(|_| app.error(&format!("{letter}{letter} broke the {letter}th thing of {letter}")));
    }
    app.error("once");
    (0..501).for_each(|_| app.error("often"));
    (0..900).for_each(|_| app.error("known for long"));
    app.record(Event::Console(error(&app, Speaker::Exception, "TypeError: no x", "http://localhost:3000/a.js", 1)));
    let listed = errors(&app);
    let first: Vec<&str> = listed.iter().take(2).map(|entry| entry.message.as_str()).collect();
    assert_eq!(first, ["TypeError: no x", "often"]);
    assert_eq!(listed.last().unwrap().message, "known for long");
    let small = app.ask(&Ask { checkpoint: Some("last".to_owned()), max_tokens: Some(300), ..Ask::default() }).unwrap();
    assert!(small.console.unwrap().errors.iter().any(|entry| entry.message == "often"));
}

#[test]
fn the_summary_tells_what_is_new_from_what_comes_again() {
    let app = App::watched();
    app.error("cannot load cart");
    app.warn("slow");
    app.request("GET", "/api/cart", 500);
    assert_eq!(app.changes().summary, "1 new console error(s), 1 network failure(s), 1 new console warning(s)");
    app.error("cannot load cart");
    app.error("cannot load user");
    app.warn("slow");
    let again = "1 new console error(s), 1 console error(s) again, 1 console warning(s) again";
    assert_eq!(app.changes().summary, again);
}

#[test]
fn times_are_told_where_they_matter() {
    let app = App::watched();
    app.error("once");
    app.error("twice");
    app.pass(3_000);
    app.error("twice");
    app.act(ActionKind::Navigate, "http://localhost:3000/");
    app.error("since the load");
    let listed = errors(&app);
    let of = |message: &str| listed.iter().find(|entry| entry.message == message).unwrap();
    assert_eq!((of("once").after_ms, of("once").last_ms, of("once").before_load), (None, None, true));
    assert_eq!((of("twice").after_ms, of("twice").last_ms, of("twice").before_load), (Some(2), Some(3_003), true));
    assert!(!of("since the load").before_load);
}

#[test]
fn the_smallest_answer_says_the_worst_in_short_and_counts_the_rest() {
    let app = App::watched();
    for number in 0..3 {
        app.error(&format!(
            "{} cannot be loaded because {}",
            ["cart", "user", "menu"][number],
            "of this and that ".repeat(9)
        ));
        app.request("GET", &format!("/api/part{number}"), 500);
    }
    let tiny = app.ask(&Ask { max_tokens: Some(100), ..Ask::default() }).unwrap();
    let (console, network) = (tiny.console.unwrap(), tiny.network.unwrap());
    assert_eq!((console.errors.len(), network.failures.len()), (1, 0));
    assert!(console.errors[0].message.ends_with('…') && console.errors[0].message.chars().count() <= 50);
    assert_eq!((tiny.omitted["console.errors"], tiny.omitted["network.failures"]), (2, 3));
    assert!(tiny.coverage.watching.is_empty() && tiny.omitted["coverage.watching"] == 1);
    assert!(tiny.est_tokens <= 190, "{}", tiny.est_tokens);
    assert_eq!(tiny.severity, Severity::Error);
}
