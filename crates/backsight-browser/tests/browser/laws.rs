//! Laws over random streams, against a model that remembers everything.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use backsight_browser::event::{Action, ActionKind, Event, Level, Repeated, SocketEvent};
use backsight_browser::report::{Changes, Severity};
use backsight_browser::{Ask, Limits, Verdict};
use backsight_core::Timestamp;
use proptest::prelude::*;
use serde_json::Value;

use crate::app::App;

#[derive(Clone, Debug)]
enum Step {
    Say(Level, usize),
    Request(usize, u16),
    Socket(SocketEvent),
    Look(usize),
    Name(usize),
    AskName(usize),
}

const WORDS: [&str; 6] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];

fn step() -> impl Strategy<Value = Step> {
    let level = prop_oneof![Just(Level::Info), Just(Level::Warning), Just(Level::Error)];
    let status = prop_oneof![Just(200), Just(404), Just(500), Just(0)];
    let socket = prop_oneof![
        Just(SocketEvent::Open),
        Just(SocketEvent::Close { code: Some(1006), reason: String::new(), by: None }),
        Just(SocketEvent::Error { message: "broken".to_owned() }),
    ];
    prop_oneof![
        6 => (level, 0..WORDS.len()).prop_map(|(level, word)| Step::Say(level, word)),
        4 => (0..3_usize, status).prop_map(|(path, status)| Step::Request(path, status)),
        1 => socket.prop_map(Step::Socket),
        3 => (0..3_usize).prop_map(Step::Look),
        1 => (0..3_usize).prop_map(Step::Name),
        1 => (0..3_usize).prop_map(Step::AskName),
    ]
}

/// Two words differ, so that six of them are not shown together.
fn message(word: usize) -> String {
    format!("{} failed, says {}", WORDS[word], WORDS[word])
}

/// How often each error was said since a place in the stream.
fn errors(said: &[Option<usize>], from: usize) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for word in said[from..].iter().flatten() {
        *counts.entry(message(*word)).or_insert(0) += 1;
    }
    counts
}

/// What a step tells, a millisecond from now.
fn event(app: &App, step: Step) -> Option<Event> {
    let time = Timestamp(app.now().0 + 1);
    match step {
        Step::Say(level, word) => Some(app.said(level, &message(word))),
        Step::Request(path, status) => Some(app.requested("GET", &format!("/api/{}", WORDS[path]), status, Some(9.0))),
        Step::Socket(event) => Some(app.happened("1", event)),
        Step::Look(number) => Some(Event::Action(Action {
            time,
            kind: if number == 0 { ActionKind::Navigate } else { ActionKind::Click },
            target: format!("http://localhost/{number}"),
            detail: String::new(),
            page: None,
            frame: None,
        })),
        Step::Name(_) | Step::AskName(_) => None,
    }
}

/// An answer without the ids of its entries, and its size that depends on them: which of several events is shown in full
/// is another matter than how many there were.
fn without_ids(changes: &Changes) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !matches!(name.as_str(), "id" | "token_count" | "est_tokens"));
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(changes).unwrap();
    strip(&mut value);
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Small rings, tables that overflow never, marks that come and go: every window of every client and every name counts
    /// exactly what was said in it.
    #[test]
    fn every_window_counts_exactly_what_was_said_in_it(steps in prop::collection::vec(step(), 1..120)) {
        let app = App::with(Limits { console: 5, network: 5, websocket: 5, actions: 5, groups: 100 });
        app.watch();
        let mut said: Vec<Option<usize>> = Vec::new();
        let (mut looks, mut names) = ([0; 3], [None; 3]);
        for step in steps {
            let window = match &step {
                Step::Say(level, word) => {
                    app.say(*level, &message(*word));
                    said.push((*level == Level::Error).then_some(*word));
                    None
                }
                Step::Request(path, status) => {
                    app.request("GET", &format!("/api/{}", WORDS[*path]), *status);
                    None
                }
                Step::Socket(event) => {
                    app.socket("1", event.clone());
                    None
                }
                Step::Look(client) => {
                    let changes = app.browser.changes(WORDS[*client], &Default::default(), &|| false).unwrap();
                    Some((std::mem::replace(&mut looks[*client], said.len()), changes))
                }
                Step::Name(name) => {
                    app.browser.create_checkpoint(&format!("before_{}", WORDS[*name]), None).unwrap();
                    names[*name] = Some(said.len());
                    None
                }
                Step::AskName(name) => {
                    names[*name].map(|from| (from, app.since(&format!("before_{}", WORDS[*name]))))
                }
            };
            if let Some((from, changes)) = window {
                let console = changes.console.unwrap();
                let listed: BTreeMap<String, u64> =
                    console.errors.iter().map(|error| (error.message.clone(), error.count)).collect();
                prop_assert_eq!(listed, errors(&said, from));
                prop_assert_eq!(console.total_new, (said.len() - from) as u64);
            }
        }
    }

    /// An event that says how often it happened is counted as so many events, in every window, also in those that begin at
    /// a time.
    #[test]
    fn a_count_is_as_many_events(steps in prop::collection::vec((step(), 1_u32..40), 1..40), split in 0..40_usize) {
        let limits = Limits { console: 7, network: 7, websocket: 7, actions: 7, groups: 100 };
        let (one, many) = (App::with(limits), App::with(limits));
        one.watch();
        many.watch();
        let mut time = one.now();
        for (number, (step, times)) in steps.into_iter().enumerate() {
            if number == split {
                time = one.now();
                one.changes();
                many.changes();
            }
            let Some(event) = event(&one, step) else { continue };
            one.pass(1);
            many.pass(1);
            let times = NonZeroU32::new(times).unwrap();
            one.browser.record([Repeated { event: event.clone(), times }]);
            many.browser.record(std::iter::repeat_n(event, times.get() as usize));
        }
        for checkpoint in ["start", "auto", &time.to_string()] {
            let ask = Ask { checkpoint: Some(checkpoint.to_owned()), peek: true, ..Ask::default() };
            let (one, many) = (without_ids(&one.ask(&ask).unwrap()), without_ids(&many.ask(&ask).unwrap()));
            prop_assert_eq!(one, many, "{}", checkpoint);
        }
        prop_assert_eq!(one.browser.kept(), many.browser.kept());
    }

    /// The verdict says what the diff from the same beginning says.
    #[test]
    fn health_agrees_with_the_diff(steps in prop::collection::vec(step(), 0..60), watched: bool) {
        let app = if watched { App::watched() } else { App::alone() };
        for step in steps {
            match step {
                Step::Say(level, word) => app.say(level, WORDS[word]),
                Step::Request(path, status) => app.request("GET", &format!("/api/{}", WORDS[path]), status),
                Step::Socket(event) => app.socket("1", event),
                Step::Look(_) => drop(app.changes()),
                Step::Name(_) => drop(app.browser.create_checkpoint("session_start", None).unwrap()),
                Step::AskName(_) => {}
            }
        }
        let health = app.browser.health("agent", None).unwrap();
        let changes = app.since(&health.checkpoint);
        let expected = match changes.severity {
            Severity::Clean => Verdict::Healthy,
            Severity::Warning => Verdict::Degraded,
            Severity::Error => Verdict::Broken,
            Severity::Unknown => Verdict::Unknown,
        };
        prop_assert_eq!(health.verdict, expected);
        let is_well = matches!(health.verdict, Verdict::Healthy | Verdict::Unknown);
        prop_assert_eq!(health.reasons.is_empty(), is_well, "{:?}", health);
    }
}
