//! Pages that report by themselves and are watched over their browser's protocol too. What the browser says wins: it sees
//! more, and nothing is to be told twice. A page knows by whom it is watched, since whoever watches leaves a mark in it, so
//! that the same page in another browser is not taken for it.

use std::collections::BTreeSet;

use crate::endpoint;
use crate::event::Event;

/// Sources that are remembered to have been pages which are watched otherwise.
const SOURCES: usize = 100;

/// Who watches pages, and which sources need not be listened to because of that.
#[derive(Debug, Default)]
pub(crate) struct Doubles {
    /// The mark that is left in pages which are watched now.
    watcher: Option<String>,
    /// Sources whose pages are watched otherwise, or were.
    sources: BTreeSet<String>,
}

impl Doubles {
    /// Pages with this mark are watched from now on; without one, none.
    pub(crate) fn watched_by(&mut self, mark: Option<String>) {
        self.watcher = mark;
    }

    /// Whether what a page with this mark reports is seen otherwise.
    pub(crate) fn is_double(&self, mark: Option<&str>) -> bool {
        mark.is_some() && mark == self.watcher.as_deref()
    }

    /// A source is not listened to, because its page is watched otherwise.
    pub(crate) fn remember(&mut self, source: &str) {
        if self.sources.len() < SOURCES {
            self.sources.insert(source.to_owned());
        }
    }

    /// Whether a source was not listened to at some time.
    pub(crate) fn knows(&self, source: &str) -> bool {
        self.sources.contains(source)
    }
}

/// What a page calls itself when it reports, if a browser tells of something that happened in it before it was watched.
pub(crate) fn reporter(event: &Event) -> Option<String> {
    let page = match event {
        Event::Console(console) if console.backfilled => console.page.as_deref(),
        Event::Network(request) if request.backfilled => request.page.as_deref(),
        Event::Websocket(socket) if socket.backfilled => socket.page.as_deref(),
        _ => None,
    };
    page.map(|page| format!("page {}", endpoint::origin(page)))
}

/// Leaves out what the script in a page does itself; none if that is all there is to an event.
pub(crate) fn without_script(mut event: Event) -> Option<Event> {
    match &mut event {
        Event::Network(request) if is_scripts(&request.url) => return None,
        Event::Console(console) => {
            // The script passes console calls on, and so stands between them and the page.
            let ours = console.stack.iter().take_while(|frame| is_scripts(&frame.file)).count();
            if ours < console.stack.len() {
                console.stack.drain(..ours);
            }
        }
        _ => {}
    }
    Some(event)
}

/// Whether an address is the script's or the one it reports to.
pub(crate) fn is_scripts(url: &str) -> bool {
    let path = url.strip_prefix(endpoint::origin(url)).unwrap_or_default();
    path.starts_with("/backsight.js?key=") || path.starts_with("/ingest?key=")
}
