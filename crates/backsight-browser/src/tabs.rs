//! The tabs that show one page and report under its name, each by itself. The page is there while one of them is: a tab that
//! is closed says so for itself alone.

use std::collections::HashMap;

use backsight_core::Timestamp;

use crate::sources::{SILENCE, SourceId};

/// Tabs of one page that are told apart.
const MOST: usize = 100;

/// Which tabs of each source were heard, and when.
#[derive(Debug, Default)]
pub(crate) struct Tabs(HashMap<SourceId, Vec<(String, Timestamp)>>);

impl Tabs {
    /// A tab of a source is heard.
    pub(crate) fn heard(&mut self, source: SourceId, tab: &str, now: Timestamp) {
        let tabs = self.0.entry(source).or_default();
        tabs.retain(|(other, at)| other != tab && is_there(*at, now));
        if tabs.len() < MOST {
            tabs.push((tab.to_owned(), now));
        }
    }

    /// A tab of a source is closed, or all of it ends; whether another tab is still there.
    pub(crate) fn closed(&mut self, source: SourceId, tab: Option<&str>, now: Timestamp) -> bool {
        let tabs = self.0.entry(source).or_default();
        tabs.retain(|(other, at)| tab.is_some_and(|tab| other != tab) && is_there(*at, now));
        let stays = !tabs.is_empty();
        if !stays {
            self.0.remove(&source);
        }
        stays
    }
}

fn is_there(heard: Timestamp, now: Timestamp) -> bool {
    now.0.saturating_sub(heard.0) <= SILENCE
}
