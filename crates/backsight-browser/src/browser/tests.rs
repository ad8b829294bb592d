//! What cannot be seen from outside: what loads leave behind, and whose word counts.

use super::*;
use crate::event::{Action, ActionKind};

fn request(status: u16) -> Repeated {
    let request = json!({ "time": Timestamp(0), "method": "GET", "url": "http://x.test/a", "status": status });
    Repeated::from(Event::Network(serde_json::from_value(request).unwrap()))
}

fn load() -> Repeated {
    let (kind, target) = (ActionKind::Navigate, "http://x.test/".to_owned());
    let action = json!({ "time": Timestamp(0), "type": kind, "target": target });
    Repeated::from(Event::Action(serde_json::from_value::<Action>(action).unwrap()))
}

fn lane() -> Browser {
    Browser::new(Options { clock: Arc::new(|| Timestamp(0)), salt: 1, limits: Limits::default() })
}

fn told(source: &str, events: Vec<Repeated>) -> Ingest {
    Ingest { source: source.to_owned(), kind: SourceKind::Page, events, ..Ingest::default() }
}

/// Without this, every load was remembered for every endpoint until somebody asked.
#[test]
fn loads_do_not_pile_up_while_nobody_asks() {
    let lane = lane();
    lane.ingest(told("page http://x.test", (0..5000).flat_map(|_| [load(), request(200)]).collect()));
    lane.record((0..5000).flat_map(|_| [load(), request(200)]));
    let state = lane.lock();
    let most = state.telemetry.endpoints.iter().map(|known| known.state.remembered()).max();
    assert!(most.is_some_and(|most| most < 200), "{most:?}");
}

#[test]
fn no_page_ends_or_begins_anything_for_another_source() {
    let lane = lane();
    let failing =
        |lane: &Browser| lane.lock().telemetry.endpoints.iter().filter(|known| known.state.now().failing).count();
    lane.record([load(), request(500)]);
    lane.ingest(told("page http://x.test", vec![load(), request(500)]));
    let since = lane.lock().telemetry.load();
    assert_eq!(failing(&lane), 2);
    lane.ingest(told("page http://evil.test", vec![load(), request(200)]));
    assert_eq!((failing(&lane), lane.lock().telemetry.load()), (2, since));
    // Each may end what it told itself.
    lane.ingest(told("page http://x.test", vec![request(200)]));
    assert_eq!(failing(&lane), 1);
    lane.record([load(), request(200)]);
    assert_eq!(failing(&lane), 0);
    assert_ne!(lane.lock().telemetry.load(), since);
}

#[test]
fn a_page_is_there_while_one_of_its_tabs_is() {
    let browser = lane();
    let report = |tab: &str, ended: Option<&str>| {
        let (tab, ended) = (Some(tab.to_owned()), ended.map(str::to_owned));
        browser.ingest(Ingest { tab, ended, ..told("page http://localhost:3000", Vec::new()) });
    };
    report("a", None);
    report("b", None);
    report("a", Some("the page was closed"));
    assert!(browser.coverage().attached, "the other tab is open");
    report("b", Some("the page was closed"));
    assert!(!browser.coverage().attached);
    // A script of an earlier version speaks for all of them.
    report("a", None);
    let ended = Some("the page was closed".to_owned());
    browser.ingest(Ingest { ended, ..told("page http://localhost:3000", Vec::new()) });
    assert!(!browser.coverage().attached);
}
