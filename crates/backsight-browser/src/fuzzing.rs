//! What strangers write, as bytes, for fuzz targets outside the crate: each function takes anything and must return. Not
//! part of the API.

use std::sync::Arc;

use backsight_core::Timestamp;

use crate::browser::{Ask, Browser, Options};
use crate::cdp::connection::{head, pipe::Split};
use crate::cdp::translate::{Target, Told, TranslateOptions, Translator};
use crate::event::Event;
use crate::telemetry::Limits;
use backsight_core::source_map::SourceMap;

/// When all of it happens.
const NOW: Timestamp = Timestamp(1_800_000_000_000);
/// The longest message of a fuzzed pipe.
const LARGEST: usize = 1 << 20;

/// What a browser writes into its pipe: messages of the DevTools protocol, each with a zero after it. They are taken apart,
/// translated as those of one page, recorded and asked about. How many events came of it.
pub fn cdp_frames(bytes: &[u8]) -> usize {
    let mut translator = Translator::new(TranslateOptions::default());
    let page = Target { id: "T".to_owned(), kind: "page".to_owned(), url: "http://localhost:3000/".to_owned() };
    translator.attached("S", page, NOW);
    let mut told = Vec::new();
    let (mut split, mut time) = (Split::new(LARGEST), NOW);
    let mut hear = |message: Option<&[u8]>| {
        time = Timestamp(time.0 + 50);
        let Some(head) = message.and_then(head) else { return };
        match (head.id, head.method, head.params) {
            (Some(id), ..) => told.extend(translator.answered(id, head.result.ok_or("no"), time)),
            (None, Some(method), Some(params)) => told.extend(translator.hear("S", &method, params, time)),
            _ => {}
        }
        told.extend(translator.tick(time));
    };
    split.feed(bytes, &mut hear);
    split.feed(&[0], &mut hear);
    told.extend(translator.detached("S", time));
    let events = told.into_iter().filter_map(|told| match told {
        Told::Event(event) => Some(event),
        Told::Amended(_) | Told::Command { .. } | Told::Sign(_) => None,
    });
    record(events.collect())
}

/// The text of a source map; how many lines of it could be looked up.
pub fn source_map(bytes: &[u8]) -> usize {
    let Some(map) = std::str::from_utf8(bytes).ok().and_then(SourceMap::parse) else { return 0 };
    (0..100).filter(|line| map.original(*line, 7).is_some()).count()
}

/// Records events in a lane of their own and asks everything about them.
fn record(events: Vec<Event>) -> usize {
    let browser = Browser::new(Options { clock: Arc::new(|| NOW), salt: 1, limits: Limits::default() });
    let count = events.len();
    browser.record(events);
    let changes = browser.changes("fuzz", &Ask::default(), &|| false);
    let shown = changes.map(|changes| crate::render::compact(&changes)).unwrap_or_default();
    assert!(!shown.contains('\u{1b}'), "what a page says does not reach a terminal as it is");
    count
}
