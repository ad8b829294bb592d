//! The browser lane's engine, in this process: the reference load that the peers were measured with, how fast events are
//! taken in, whether a long history costs anything, and how well messages are told apart.

use std::sync::Arc;
use std::time::{Duration, Instant};

use backsight_browser::event::{
    Action, ActionKind, Category, Console, Event, Frame, Level, Request, Socket, SocketEvent, Speaker,
};
use backsight_browser::report::Changes;
use backsight_browser::{Ask, Browser, Limits, Options, Source, SourceKind, corpus};
use backsight_core::Timestamp;

use crate::Result;
use crate::measure::Samples;
use crate::random::Random;
use crate::table::{Quantity, Ratio, Row, Table};
use crate::tokens;

/// A reply may take so much.
const BYTES: u64 = 2048;
const TOKENS: u64 = 700;
/// Events a second.
const INGEST: u64 = 200_000;
/// Events of a long history.
const HISTORY: usize = 1_000_000;

/// Everything about the engine.
pub fn measure(rounds: usize, table: &mut Table) -> Result<()> {
    reference_load(rounds, table)?;
    ingest(table)?;
    long_history(rounds, table)?;
    accuracy(table);
    Ok(())
}

fn reference_load(rounds: usize, table: &mut Table) -> Result<()> {
    let events = load(1);
    let mut times = Vec::new();
    let mut answer = None;
    for _ in 0..rounds.max(5) {
        let browser = lane();
        browser.record(events.iter().cloned());
        let start = Instant::now();
        answer = Some(ask(&browser)?);
        times.push(start.elapsed());
    }
    let answer = answer.ok_or("nothing was asked")?;
    let templates = answer.console.as_ref().map_or(0, |console| console.errors.len());
    if templates != 2 {
        return Err(format!("{templates} error templates instead of 2: {answer:?}").into());
    }
    let limit = Samples::new(vec![Duration::from_millis(1)]);
    let work = "`get_changes_since` on the reference load, in process";
    table.push(Row::times(work, &Samples::new(times), "the bar", &limit, Ratio::AtMost(1.0)));
    let json = serde_json::to_string(&answer)?;
    let bytes = json.len() as u64;
    table.push(Row::bytes("its answer", bytes, "the bar", BYTES, Ratio::AtMost(1.0)));
    let tokens = tokens::count(&[&json])?[0];
    table.push(Row::counts("its answer, o200k tokens", tokens, "the bar", TOKENS, Ratio::AtMost(1.0)));
    let estimate = answer.est_tokens as u64;
    table.push(Row::counts("`est_tokens` beside it", estimate, "o200k tokens", tokens, Ratio::Multiple));
    Ok(())
}

fn ingest(table: &mut Table) -> Result<()> {
    let browser = lane();
    let events: Vec<Event> = (0..60).flat_map(load).collect();
    let count = events.len() as u64;
    let mut events = events.into_iter();
    let start = Instant::now();
    while events.len() > 0 {
        browser.record(events.by_ref().take(50));
    }
    let rate = (count as f64 / start.elapsed().as_secs_f64()) as u64;
    table.push(Row {
        work: format!("events taken in a second, of {count}"),
        ours: Quantity::Count(rate),
        against: "the bar".to_owned(),
        theirs: Quantity::Count(INGEST),
        ratio: Ratio::AtLeast(1.0),
        samples: [vec![], vec![]],
    });
    Ok(())
}

/// The same hundred new events after a short and after a long history.
fn long_history(rounds: usize, table: &mut Table) -> Result<()> {
    let time = |before: usize| -> Result<Samples> {
        let browser = lane();
        let mut seed = 0;
        let mut recorded = 0;
        while recorded < before {
            let events = load(seed);
            recorded += events.len();
            seed += 1;
            browser.record(events);
        }
        let mut times = Vec::new();
        for round in 0..rounds.max(5) as u64 {
            ask(&browser)?;
            browser.record(load(round).into_iter().take(100));
            let start = Instant::now();
            let answer = ask(&browser)?;
            times.push(start.elapsed());
            if answer.console.map_or(0, |console| console.total_new) != 100 {
                return Err("a hundred messages were new".into());
            }
        }
        Ok(Samples::new(times))
    };
    let (long, short) = (time(HISTORY)?, time(1000)?);
    let work = format!("`get_changes_since` of 100 new events after {HISTORY}");
    table.push(Row::times(&work, &long, "the same after 1,000", &short, Ratio::AtMost(2.0)));
    Ok(())
}

fn accuracy(table: &mut Table) {
    let found = corpus::accuracy();
    let percent = |share: f64| (share * 100.0).round() as u64;
    let work = format!("messages in exactly their group, % ({} messages)", found.messages);
    let row = Row::counts(&work, percent(found.grouping_accuracy), "the bar", 85, Ratio::AtLeast(1.0));
    table.push(row);
    table.push(Row::counts("groups made", found.groups as u64, "templates", found.templates as u64, Ratio::Multiple));
    let wrong = found.merged.len() as u64;
    table.push(Row::counts("templates merged wrongly", wrong, "templates", found.templates as u64, Ratio::AtMost(0.0)));
}

fn lane() -> Browser {
    let clock = Arc::new(|| Timestamp::from_system(std::time::SystemTime::now()));
    let browser = Browser::new(Options { clock, salt: 1, limits: Limits::default() });
    let watches = Category::ALL.to_vec();
    browser.begin_source(Source { label: "bench".to_owned(), watches, kind: SourceKind::Browser });
    browser
}

fn ask(browser: &Browser) -> Result<Changes> {
    let ask = Ask { max_tokens: Some(700), ..Ask::default() };
    Ok(browser.changes("bench", &ask, &|| false)?)
}

/// The reference load: 1,001 console calls of which 2 error templates a hundred times each and one warning template a
/// hundred times, 101 requests, 498 socket frames, 50 clicks.
pub fn load(seed: u64) -> Vec<Event> {
    let mut random = Random::new(seed);
    let mut uuid = move || {
        let number = (u128::from(random.next()) << 64) | u128::from(random.next());
        let hex = format!("{number:032x}");
        format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
    };
    let console = (0..1001).map(|number| {
        let (level, message) = match number % 10 {
            0 if number < 1000 => (Level::Error, format!("Error loading user {}: timeout after {number}ms", uuid())),
            1 => (Level::Error, format!("TypeError: cannot render order {} of customer {}", number * 7919, uuid())),
            2 => (Level::Warning, format!("Slow render: list took {}ms", 100 + number)),
            3 => (Level::Info, "[vite] hot updated: /src/App.tsx".to_owned()),
            4 => (Level::Info, format!("state {{id: {number}, name: \"n{number}\", tags: Array(3)}}")),
            _ => (Level::Info, format!("tick {number}")),
        };
        let frame = Frame { file: "http://localhost:3000/src/app.js".to_owned(), line: 40, ..Frame::default() };
        Event::Console(Console {
            time: Timestamp(1_800_000_000_000 + number),
            level,
            speaker: Speaker::Page,
            message,
            stack: vec![frame],
            causes: Vec::new(),
            page: Some("http://localhost:3000/".to_owned()),
            backfilled: false,
        })
    });
    let console: Vec<Event> = console.collect();
    let requests = (0..101).map(|number| {
        let (path, status) = match number {
            0..10 => ("/api/fail", 500),
            10..15 => ("/api/missing", 404),
            _ => (["/api/items", "/api/users/7"][number % 2], 200),
        };
        Event::Network(Request {
            time: Timestamp(1_800_000_001_000 + number as i64),
            method: "GET".to_owned(),
            url: format!("http://localhost:3000{path}?request={}", uuid()),
            status,
            failure: None,
            canceled: false,
            duration_ms: Some(12.0 + (number % 5) as f64),
            kind: Some("fetch".to_owned()),
            operation: None,
            request_body: None,
            response_body: None,
            exchange: None,
            mime: None,
            page: Some("http://localhost:3000/".to_owned()),
            backfilled: false,
        })
    });
    let requests: Vec<Event> = requests.collect();
    let socket = |event| {
        Event::Websocket(Socket {
            time: Timestamp(1_800_000_002_000),
            id: "1".to_owned(),
            url: "ws://localhost:3000/live".to_owned(),
            event,
            page: None,
            tool: None,
            backfilled: false,
        })
    };
    let frames = (0..498).map(|number| socket(SocketEvent::Message { sent: number % 2 == 0, bytes: 64 }));
    let clicks = (0..50).map(|number| {
        Event::Action(Action {
            time: Timestamp(1_800_000_003_000 + number),
            kind: ActionKind::Click,
            target: "#save".to_owned(),
            detail: String::new(),
            page: None,
            frame: None,
        })
    });
    console.into_iter().chain(requests).chain([socket(SocketEvent::Open)]).chain(frames).chain(clicks).collect()
}
