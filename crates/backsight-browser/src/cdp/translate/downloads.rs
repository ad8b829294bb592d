//! Downloads. What a page's link with `download` asks for is no request of the page: the protocol tells only that a download
//! began and how it ended. One that ends without a file is a failed request, and one that brings it later has recovered.

use std::collections::VecDeque;

use serde::Deserialize;

use super::Context;
use super::wire::{address, cut};
use crate::event::{Event, Level, Request};

/// As many downloads are followed, and as many that failed remembered.
const MAX_FOLLOWED: usize = 64;
/// No part of it came: browsers take no file from an answer of 400 or more, and do not say which it was.
const REFUSED: &str = "the download got no file: its address was refused, most likely with an error status";
/// Some of it came.
const BROKEN_OFF: &str = "the download ended before all of it came: the connection was lost, or it was given up";

/// The downloads of a connection.
#[derive(Debug, Default)]
pub struct Downloads {
    followed: VecDeque<Download>,
    /// Addresses that brought no file.
    failed: VecDeque<String>,
}

#[derive(Debug)]
struct Download {
    guid: String,
    url: String,
    page: Option<String>,
    /// Whether any of it came.
    has_begun: bool,
}

/// `Page.downloadWillBegin`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WillBegin {
    #[serde(default)]
    guid: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    suggested_filename: String,
}

/// `Page.downloadProgress`.
#[derive(Deserialize)]
pub struct Progress {
    #[serde(default)]
    guid: String,
    #[serde(default)]
    state: String,
}

impl Downloads {
    /// A download begins.
    pub fn begins(&mut self, context: &mut Context<'_>, begun: WillBegin) {
        context.say(Level::Info, format!("download began: {}", cut(begun.suggested_filename, 200)));
        let (url, page) = (address(&begun.url), context.page());
        self.followed.push_back(Download { guid: begun.guid, url, page, has_begun: false });
        if self.followed.len() > MAX_FOLLOWED {
            self.followed.pop_front();
        }
    }

    /// A download goes on or ends.
    pub fn progresses(&mut self, context: &mut Context<'_>, progress: &Progress) {
        let Some(index) = self.followed.iter().position(|download| download.guid == progress.guid) else { return };
        if !matches!(progress.state.as_str(), "completed" | "canceled") {
            self.followed[index].has_begun = true;
            return;
        }
        let Some(download) = self.followed.remove(index) else { return };
        // What the page makes itself never leaves it.
        if !download.url.starts_with("http") {
            return;
        }
        let known = self.failed.iter().position(|url| *url == download.url);
        let is_whole = progress.state == "completed";
        match (is_whole, known) {
            // Whatever else it was, a request of the page has told it.
            (true, None) => return,
            (true, Some(index)) => drop(self.failed.remove(index)),
            (false, Some(_)) => {}
            (false, None) => self.failed.push_back(download.url.clone()),
        }
        if self.failed.len() > MAX_FOLLOWED {
            self.failed.pop_front();
        }
        let failure = if download.has_begun { BROKEN_OFF } else { REFUSED };
        context.tell(Event::Network(Request {
            status: if is_whole { 200 } else { 0 },
            failure: (!is_whole).then(|| failure.to_owned()),
            kind: Some("download".to_owned()),
            page: download.page,
            ..Request::new(context.now, "GET", &download.url)
        }));
    }
}
