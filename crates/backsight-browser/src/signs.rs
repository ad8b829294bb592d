//! What shows that an edit has taken effect: a hot update, another document, the end of a build. Without such a sign the
//! silence after an edit may be the silence before its consequences.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;

use crate::event::{ActionKind, Console, Event, Level, SocketEvent, Speaker};
use crate::report::Saw;

/// A build whose end was not heard so long after it was last heard of is not waited for any more.
const LONGEST_BUILD: Duration = Duration::from_secs(30);
/// Builders that are told apart.
const BUILDERS: usize = 100;
/// Bytes of a text or a frame that say what it is.
const HEAD: usize = 400;

/// What an event shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A page took in new code without being loaded again, or is told to.
    HotUpdate,
    /// A document was loaded, or is told to load again.
    Reload,
    /// A build is over, or a server has started again.
    Build,
    /// A build, or the restart of a server, has begun.
    Building,
}

/// The kind of message that a hot reload server's frame says it is.
static FRAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^\s*(?:a\[")?\{\s*\\?"(?:type|action|command|event)\\?"\s*:\s*\\?"(?P<kind>[\w-]+)\\?""#).ok()
});
/// Where webpack and those like it are listened to.
static WEBPACK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^wss?://[^/]+/(?:ws|sockjs-node|ng-cli-ws|[^?]*hmr)(?:[/?]|$)").ok());

/// What a frame that a page received shows, if it is one of a hot reload server. An app's own frames are none: what
/// they are known by is either in their text or in their address.
pub fn of_frame(url: &str, payload: &str) -> Option<Sign> {
    let head = &payload[..payload.floor_char_boundary(HEAD)];
    if matches!(head, "reload" | "refreshcss") {
        return Some(if head == "reload" { Sign::Reload } else { Sign::HotUpdate });
    }
    if head.contains("\"browser:reload\"") {
        return Some(Sign::Reload);
    }
    let found = FRAME.as_ref()?.captures(head)?;
    let kind = &found["kind"];
    // A socket that was open before anybody watched has no address.
    let is_at =
        |pattern: &LazyLock<Option<Regex>>| url.is_empty() || pattern.as_ref().is_some_and(|regex| regex.is_match(url));
    match kind {
        // Vite, Parcel.
        "update" if head.contains("\"updates\":") || head.contains("\"assets\":") => Some(Sign::HotUpdate),
        "full-reload" => Some(Sign::Reload),
        "error" if head.contains("\"err\":") => Some(Sign::Build),
        // webpack, Rspack.
        "invalid" if is_at(&WEBPACK) => Some(Sign::Building),
        "ok" | "still-ok" | "warnings" | "errors" if is_at(&WEBPACK) => Some(Sign::Build),
        "static-changed" | "content-changed" if is_at(&WEBPACK) => Some(Sign::Reload),
        // Next.
        "building" if is_at(&WEBPACK) => Some(Sign::Building),
        "built" | "sync" | "finishBuilding" if is_at(&WEBPACK) => Some(Sign::Build),
        "serverComponentChanges" | "turbopack-message" if is_at(&WEBPACK) => Some(Sign::HotUpdate),
        "reloadPage" if is_at(&WEBPACK) => Some(Sign::Reload),
        // LiveReload.
        "reload" if url.contains("livereload") => Some(Sign::Reload),
        _ => None,
    }
}

/// What dev servers say on a terminal when they begin.
static BEGINS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    one_of(&[
        r"Starting (?:incremental )?compilation",
        r"[○◌]\s+Compiling\b",
        r"\bCompiling(?:\.\.\.| \d+ files? \(\.ex)",
        r"^\s+Compiling \S+ v\d",
        r"\[watch\] build started",
        r"Changes detected\. Rebuilding",
        r"^bundles .+ → ",
        r"\[nodemon\] restarting\b",
        r"\brestarting (?:vite )?server\b",
        r"Detected (?:a )?(?:file )?change",
        r"(?:detected (?:file )?changes? in|changed, reloading|Reloading\.\.\.$)",
        r"^dotnet watch .*(?:File (?:changed|updated)|Building)",
        r"^\s*RERUN\s",
        r"(?i)^(?:\[?(?:vite|rollup|webpack|parcel|esbuild|turbo)\]?[ :]*)?(?:re)?building\b.*(?:\.\.\.|…)$",
    ])
});
/// And when it is done, whatever came of it.
static ENDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    one_of(&[
        r"\bhmr (?:update|invalidate)\b",
        r"\bpage reload\b",
        r"\bserver restart(?:ed| failed)\b",
        r"\bready in\b",
        r"\bReady in\b",
        r"Found \d+ errors?\b",
        r"(?i)\bcompiled\b",
        r"Failed to compile",
        r"\[watch\] build finished",
        r"(?:bundle|Bundle) generation (?:complete|failed)",
        r"^created .+ in ",
        r"(?i)\b(?:re)?built in\b",
        r"\[nodemon\] (?:starting|app crashed|clean exit)",
        r"Application startup complete",
        r"Starting development server at",
        r"Debugger PIN|Debugger is active",
        r"Started \w+ in [\d.]+ seconds",
        r"^\s+Finished `?\w+`? ",
        r"could not compile",
        r"Hot reload (?:succeeded|failed|of changes succeeded)",
        r"^Generated \w+ app$",
        r"BUILD (?:SUCCESSFUL|FAILED|SUCCESS|FAILURE)|Build succeeded|Build FAILED",
        r"^\s*Tests?(?: Files)?:?\s+\d+ (?:passed|failed)",
        r"(?i)\b(?:listening|running|serving|started) (?:on|at)\b",
    ])
});
/// What the scripts of hot reload say in the page's console.
static TAKEN_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    one_of(&[
        r"^\[vite\] (?:\(\w+\) )?(?:hot updated|css hot updated)",
        r"^\[HMR\] (?:Updated modules|App is up to date)",
        r"^\[Fast Refresh\] done",
        r"^\[webpack-dev-server\] App (?:updated|hot update)",
    ])
});

/// What an event shows by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glance {
    sign: Option<Sign>,
    /// Whether it may be nothing but the app's own ticking, if it brings nothing new: a poll that is answered, a frame of a
    /// socket, a line of a log.
    is_ticking: bool,
    /// Whether it is a message of a connection, of which many apps have several each second for as long as they run.
    is_frame: bool,
    is_action: bool,
    /// Of a process: its name, and whether it says an error.
    process: Option<(String, bool)>,
}

impl Glance {
    /// Whether it is quiet although this happens.
    pub(crate) fn is_quiet(&self, is_new: bool) -> bool {
        self.is_frame && !is_new
    }

    /// Looks at an event.
    pub(crate) fn at(event: &Event) -> Glance {
        let (sign, is_ticking) = match event {
            Event::Action(action) => ((action.kind == ActionKind::Navigate).then_some(Sign::Reload), false),
            Event::Network(request) => {
                (request.url.contains(".hot-update.").then_some(Sign::HotUpdate), !request.is_failure())
            }
            Event::Websocket(socket) => (None, matches!(socket.event, SocketEvent::Message { .. })),
            Event::Console(console) => (of_console(console), console.level < Level::Warning),
        };
        let process = match event {
            Event::Console(console) if console.speaker == Speaker::Terminal => {
                Some((console.page.clone().unwrap_or_default(), console.level == Level::Error))
            }
            _ => None,
        };
        let is_frame = matches!(event, Event::Websocket(socket) if matches!(socket.event, SocketEvent::Message { .. }));
        Glance { sign, is_ticking, is_frame, is_action: matches!(event, Event::Action(_)), process }
    }
}

fn of_console(console: &Console) -> Option<Sign> {
    match console.speaker {
        Speaker::Terminal => said(&console.message),
        _ => TAKEN_IN.as_ref()?.is_match(head(&console.message)).then_some(Sign::HotUpdate),
    }
}

/// What a process says of its work.
fn said(message: &str) -> Option<Sign> {
    let matches = |pattern: &LazyLock<Option<Regex>>| {
        pattern.as_ref().is_some_and(|regex| head(message).lines().any(|line| regex.is_match(line)))
    };
    match (matches(&ENDS), matches(&BEGINS)) {
        (true, _) => Some(Sign::Build),
        (false, true) => Some(Sign::Building),
        (false, false) => None,
    }
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD)]
}

/// All of them are texts of this file, and a test compiles each.
fn one_of(patterns: &[&str]) -> Option<Regex> {
    Regex::new(&patterns.join("|")).ok()
}

/// Which signs were seen when. A place is how many events there had been.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    hot_update: u64,
    reload: u64,
    build: u64,
    /// What the user did.
    action: u64,
    /// Anything that an app does not do by itself all the time.
    activity: u64,
    /// Who builds, and when that was last said.
    building: HashMap<String, Instant>,
}

impl Signs {
    /// Takes note of an event that was the latest at a place; `is_new` when nothing like it had happened before.
    pub(crate) fn note(&mut self, glance: Glance, is_new: bool, place: u64, now: Instant) {
        if is_new || !glance.is_ticking {
            self.activity = place;
        }
        if glance.is_action {
            self.action = place;
        }
        let (name, is_error) = glance.process.unwrap_or_default();
        match glance.sign {
            Some(sign) => self.sign(sign, &name, place, now),
            // An error is the end of a build too.
            None if is_error => drop(self.building.remove(&name)),
            None => {}
        }
    }

    /// Takes note of a sign; builders are told apart by name, and the pages' hot reload has none.
    pub(crate) fn sign(&mut self, sign: Sign, builder: &str, place: u64, now: Instant) {
        match sign {
            Sign::HotUpdate => self.hot_update = place,
            Sign::Reload => self.reload = place,
            Sign::Build => self.build = place,
            Sign::Building if self.building.len() < BUILDERS => {
                self.building.insert(builder.to_owned(), now);
                return;
            }
            Sign::Building => return,
        }
        self.building.remove(builder);
    }

    /// Whether a build has begun whose end was not heard yet.
    pub(crate) fn is_building(&mut self, now: Instant) -> bool {
        self.building.retain(|_, since| now.saturating_duration_since(*since) < LONGEST_BUILD);
        !self.building.is_empty()
    }

    /// A process that is gone builds nothing.
    pub(crate) fn gone(&mut self, builder: &str) {
        self.building.remove(builder);
    }

    /// What was seen: signs and what the user did since the window began, anything else since the question came. What
    /// an app did by itself before the question says nothing of an edit.
    pub(crate) fn seen(&self, window: u64, call: u64) -> Vec<Saw> {
        let saw = [
            (self.hot_update > window, Saw::HotUpdate),
            (self.reload > window, Saw::Reload),
            (self.build > window, Saw::Build),
            (self.action > window || self.activity > call, Saw::Activity),
        ];
        saw.into_iter().filter(|(is_seen, _)| *is_seen).map(|(_, saw)| saw).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&FRAME, &WEBPACK, &BEGINS, &ENDS, &TAKEN_IN] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn frames_of_hot_reload_are_signs_and_an_apps_own_are_none() {
        let vite = "ws://localhost:5173/?token=abc";
        let webpack = "ws://localhost:8080/ws";
        let next = "ws://localhost:3000/_next/webpack-hmr?id=1";
        let table = [
            (
                vite,
                r#"{"type":"update","updates":[{"type":"js-update","path":"/src/App.jsx"}]}"#,
                Some(Sign::HotUpdate),
            ),
            (vite, r#"{"type":"full-reload","path":"*"}"#, Some(Sign::Reload)),
            (vite, r#"{"type":"error","err":{"message":"Transform failed"}}"#, Some(Sign::Build)),
            (vite, r#"{"type":"connected"}"#, None),
            (vite, r#"{"type":"ping"}"#, None),
            (webpack, r#"{"type":"invalid"}"#, Some(Sign::Building)),
            (webpack, r#"{"type":"hash","data":"abc"}"#, None),
            (webpack, r#"{"type":"ok"}"#, Some(Sign::Build)),
            (webpack, r#"{"type":"errors","data":["x"]}"#, Some(Sign::Build)),
            ("ws://localhost:3000/sockjs-node/1/a/websocket", r#"a["{\"type\":\"invalid\"}"]"#, Some(Sign::Building)),
            (next, r#"{"action":"building"}"#, Some(Sign::Building)),
            (next, r#"{"type":"built","hash":"a","errors":[]}"#, Some(Sign::Build)),
            (next, r#"{"action":"serverComponentChanges","hash":"a"}"#, Some(Sign::HotUpdate)),
            ("ws://localhost:8080/", "reload", Some(Sign::Reload)),
            ("ws://localhost:35729/livereload", r#"{"command":"reload","path":"/"}"#, Some(Sign::Reload)),
            ("ws://localhost:4000/chat", r#"{"type":"update","text":"hello"}"#, None),
            ("ws://localhost:4000/chat", r#"{"type":"ok"}"#, None),
            ("ws://localhost:4000/chat", "hello", None),
        ];
        for (url, payload, expected) in table {
            assert_eq!(of_frame(url, payload), expected, "{url} {payload}");
        }
    }

    #[test]
    fn what_dev_servers_say_of_their_builds_is_understood() {
        let begins = [
            "12:30:01 PM - File change detected. Starting incremental compilation...",
            " ○ Compiling /cart ...",
            "[nodemon] restarting due to changes...",
            "WARNING:  WatchFiles detected changes in 'main.py'. Reloading...",
            "/app/shop/views.py changed, reloading.",
            " * Detected change in '/app/app.py', reloading",
            "[watch] build started (change: \"src/a.js\")",
            "Changes detected. Rebuilding...",
            "2:03:31 AM [vite] vite.config.js changed, restarting server...",
            "   Compiling app v0.1.0 (/app)",
        ];
        let ends = [
            "12:30:02 PM - Found 0 errors. Watching for file changes.",
            " ✓ Compiled /cart in 803ms (512 modules)",
            "webpack 5.90.0 compiled successfully in 1203 ms",
            "12:30:01 PM [vite] (client) hmr update /src/App.tsx",
            "12:30:01 PM [vite] page reload src/main.js",
            "2:03:31 AM [vite] server restart failed",
            "2:03:32 AM [vite] server restarted.",
            "[nodemon] app crashed - waiting for file changes before starting...",
            "INFO:     Application startup complete.",
            "Starting development server at http://127.0.0.1:8000/",
            "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.35s",
            "Application bundle generation complete. [0.512 seconds]",
            "Server listening on http://localhost:3000",
        ];
        let neither = ["GET /api/users 200 in 3ms", "hello", "INFO:     127.0.0.1:5000 - \"GET / HTTP/1.1\" 200 OK"];
        for (lines, expected) in
            [(&begins[..], Some(Sign::Building)), (&ends[..], Some(Sign::Build)), (&neither[..], None)]
        {
            for line in lines {
                assert_eq!(said(line), expected, "{line}");
            }
        }
    }

    #[test]
    fn a_build_that_is_never_heard_of_again_is_not_waited_for_for_ever() {
        let mut signs = Signs::default();
        let begun = Instant::now();
        signs.sign(Sign::Building, "tsc", 1, begun);
        signs.sign(Sign::Building, "vite", 1, begun);
        signs.sign(Sign::Build, "vite", 2, begun);
        assert!(signs.is_building(begun + Duration::from_secs(29)));
        assert!(!signs.is_building(begun + Duration::from_secs(31)));
        assert_eq!(signs.seen(0, 5), [Saw::Build]);
        assert_eq!(signs.seen(2, 5), []);
    }
}
