//! The parsers of what a stranger may have written, as functions of bytes, for fuzz targets. Not part of the API.

use backsight::browser::event::Category;
use backsight_core::Timestamp;
use serde_json::Value;

use crate::client::{Client, Line, ToolRequest};
use crate::hook::{self, Agent};
use crate::http::{About, Visitor, understand};
use crate::mcp::{flow, resources};
use crate::percent;
use crate::place::Address;
use crate::reply::Draft;
use crate::tool::Common;

/// A hook's payload, as each agent's.
pub fn hook_payload(bytes: &[u8]) {
    let Ok(payload) = hook::read_payload(bytes) else { return };
    for &agent in Agent::ALL {
        let agent = agent.speaking(&payload);
        // Whatever it says, it is an event or an error.
        let _ = (hook::parse(agent, &payload), hook::event_name(&payload));
        let _ = hook::start_directories(agent, &payload, |_| None);
    }
}

/// What `server.json` says, and the way to the server it names.
pub fn server_address(bytes: &[u8]) {
    let address: Result<Address, _> = serde_json::from_slice(bytes);
    let _ = address.ok().as_ref().and_then(Client::new);
}

/// A tool call from another process, and a line of the answer to one.
pub fn tool_request(bytes: &[u8]) {
    if let Ok(mut request) = serde_json::from_slice::<ToolRequest>(bytes) {
        let _ = Common::take(&mut request.arguments, 500, true);
    }
    let _: Result<Line, _> = serde_json::from_slice(bytes);
}

/// What a client of MCP writes on stdin, as lines that are counted.
pub fn mcp_lines(bytes: &[u8]) -> usize {
    flow::count(bytes)
}

/// The address of a resource.
pub fn resource(bytes: &[u8]) {
    let Ok(uri) = std::str::from_utf8(bytes) else { return };
    let _ = (resources::checkpoint_of(uri), resources::debugged_of(uri), resources::exists(uri));
    let _ = (resources::changes(uri), percent::decoded(uri));
}

/// A reply made of any texts; its two forms.
pub fn reply(summary: &str, items: Vec<String>, fact: Value, budget: usize) -> (String, String) {
    let reply = Draft::new(summary).fact("fact", fact).list("changes", items, None).fit(budget);
    (reply.structured.to_string(), reply.text)
}

/// The body of a report to `/ingest` and to each of its categories, from a page and from somebody with the token. How many
/// events were understood.
pub fn ingest(body: &[u8]) -> u64 {
    let mut understood = 0;
    for visitor in [Visitor::Page, Visitor::Owner] {
        for category in Category::ALL.map(Some).into_iter().chain([None]) {
            let about = About { category, visitor, origin: Some("http://localhost:3000".to_owned()) };
            let Ok(report) = understand(body, &about, Timestamp(1_800_000_000_000)) else { continue };
            let times: u64 = report.ingest.events.iter().map(|event| u64::from(event.times.get())).sum();
            assert!(times <= 200_000, "a report stands for a bounded number of events");
            let is_page = report.ingest.source.starts_with("page http://localhost:3000");
            assert!(visitor == Visitor::Owner || is_page, "a page is its origin: {}", report.ingest.source);
            understood += times;
        }
    }
    understood
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parser_takes_any_bytes() {
        let samples: [&[u8]; 6] =
            [b"", b"{", b"\xff", b"{\"a\":[[[[1]]]]}\n\n{}", b"backsight://debug/diff/%/%", &[b'['; 9999]];
        for bytes in samples {
            hook_payload(bytes);
            server_address(bytes);
            tool_request(bytes);
            mcp_lines(bytes);
            resource(bytes);
            ingest(bytes);
        }
        let (structured, text) = reply("a\nb", vec!["c\u{1b}".to_owned()], Value::from("\u{202e}"), 200);
        assert!(!structured.contains(['\u{1b}', '\u{202e}']) && text.lines().count() == 2, "{text}");
    }
}
