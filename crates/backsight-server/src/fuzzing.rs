//! What strangers write, as bytes, for fuzz targets outside the crate: each function takes anything and must return. Not
//! part of the API.

use backsight::browser::event::Category;
use backsight_core::Timestamp;

use crate::http::{About, Visitor, understand};

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
