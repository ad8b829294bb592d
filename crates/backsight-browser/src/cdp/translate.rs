//! From the DevTools protocol's messages to events. Pure: it sends nothing and knows no clock; whoever owns the connection
//! gives it messages and the time, tells its events and sends its commands.
//!
//! Every message is read into a partial picture of it ([`wire`]); what is unknown is ignored, what cannot be read is
//! counted. The lanes: [`console`] and [`log`] for what is said, [`requests`], [`sockets`], [`page`] for what pages and
//! users do, [`earlier`] for what happened before the attach, [`maps`] for original places in the code.

mod causes;
mod console;
mod context;
mod downloads;
mod earlier;
mod flight;
mod format;
mod graphql;
mod heads;
mod log;
mod maps;
mod page;
mod reloads;
mod replays;
mod requests;
mod sessions;
mod sockets;
mod streams;
mod tracing;
pub(super) mod wire;

use std::collections::HashMap;

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub(super) use self::page::dialog_words;
pub use self::replays::Replays;
pub use self::sessions::Target;

use self::console::Voices;
use self::context::{Asked, Commands, Context};
use self::downloads::Downloads;
use self::earlier::Earlier;
use self::log::Announcements;
use self::maps::Maps;
use self::reloads::Reloads;
use self::replays::{Histories, Replayed};
use self::requests::Requests;
use self::sessions::Sessions;
use self::sockets::Sockets;
use self::streams::Streams;
use self::tracing::Tracing;
use crate::amend::Amendment;
use crate::event::{ActionKind, Event, Level};
use crate::signs::Sign;
use crate::under_way::UnderWay;

/// The isolated world that listens for actions; pages cannot see into it.
const WORLD: &str = "backsight";
/// The function `actions.js` reports through; it exists in the isolated world only.
const ACTIONS_BINDING: &str = "__backsightActions";
/// The function `sockets.js` reports through; the script takes it away before the page runs.
const SOCKETS_BINDING: &str = "__backsightSockets";
/// The command upon which a target tells again what was said before it; the answer comes after all of that.
pub(super) const REPLAYS: &str = "Runtime.enable";
/// The kind of a target that runs code for sound, painting or animations: it has a console and a debugger, and no hooks.
pub(super) const WORKLET: &str = "worklet";
/// The function `timeouts.js` reports through, likewise.
const TIMEOUTS_BINDING: &str = "__backsightTimeouts";
/// The function `failures.js` reports through, likewise.
const FAILURES_BINDING: &str = "__backsightFailures";
const FAILURES_SCRIPT: &str = include_str!("failures.js");
const ACTIONS_SCRIPT: &str = include_str!("actions.js");
const SOCKETS_SCRIPT: &str = include_str!("sockets.js");
const TIMEOUTS_SCRIPT: &str = include_str!("timeouts.js");

/// What to translate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranslateOptions {
    /// Run scripts in pages: for user actions, the close codes of sockets and the time limits of requests.
    pub page_hooks: bool,
    /// Look up original places in the code, which needs the debugger domain.
    pub source_maps: bool,
    /// Ask for the bodies of JSON answers, for their shapes.
    pub bodies: bool,
    /// A mark to leave in pages, for the script with which a page reports by itself.
    pub mark: Option<String>,
}

impl Default for TranslateOptions {
    fn default() -> Self {
        TranslateOptions { page_hooks: true, source_maps: true, bodies: true, mark: None }
    }
}

/// What a translator has to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Something happened.
    Event(Event),
    /// Something else turned out about what was told.
    Amended(Amendment),
    /// Hot reload shows something.
    Sign(Sign),
    /// Please send this and give the answer to [`Translator::answered`], or that there is none.
    Command {
        /// What the answer is known by.
        token: u64,
        /// Whom to send it to.
        session: String,
        /// What to send.
        method: &'static str,
        /// With what.
        params: Value,
    },
}

/// What is not told as events, so that nothing is lost in silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that could not be read.
    pub malformed: u64,
    /// Messages that were told before and came again with an attach.
    pub replays_dropped: u64,
    /// Messages that say what a request, socket or worker tells itself.
    pub folded: u64,
    /// Rejections that were handled a moment later.
    pub rejections_withdrawn: u64,
    /// Requests that were still open when there was no room for more.
    pub requests_forgotten: u64,
    /// Requests of which only the end, or only headers, were seen.
    pub requests_unexplained: u64,
    /// Sockets that were still open when there was no room for more.
    pub sockets_forgotten: u64,
    /// Bodies that were not asked for, did not come, or came too late.
    pub bodies_skipped: u64,
    /// Requests before the attach of which nobody knows how they ended.
    pub earlier_unknown: u64,
    /// Requests before the attach for which a page's timeline had no room: so many at least.
    pub earlier_missing: u64,
    /// Messages of the browser before the attach that it did not keep.
    pub log_cut: u64,
    /// Source maps that did not come in time, were too large, or could not be read.
    pub maps_missed: u64,
    /// Targets that had said more before the attach than browsers keep to tell again.
    pub histories_cut: u64,
}

/// Translates the messages of one connection to one browser.
#[derive(Debug, Default)]
pub struct Translator {
    options: TranslateOptions,
    sessions: Sessions,
    replays: Replays,
    replayed: HashMap<String, Replayed>,
    histories: Histories,
    counts: Counts,
    commands: Commands,
    voices: Voices,
    announcements: Announcements,
    requests: Requests,
    sockets: Sockets,
    streams: Streams,
    earlier: Earlier,
    maps: Maps,
    tracing: Tracing,
    downloads: Downloads,
    reloads: Reloads,
}

/// The surroundings of one message, without borrowing the lanes.
macro_rules! context {
    ($self:ident, $session:expr, $now:expr, $told:expr) => {
        Context {
            session: $session,
            now: $now,
            options: &$self.options,
            sessions: &$self.sessions,
            replays: &mut $self.replays,
            replayed: &mut $self.replayed,
            counts: &mut $self.counts,
            commands: &mut $self.commands,
            told: $told,
        }
    };
}

impl Translator {
    /// For a browser that was never connected to.
    pub fn new(options: TranslateOptions) -> Self {
        Translator { options, ..Translator::default() }
    }

    /// For a browser that was connected to before: what was told then is not told again.
    pub fn resume(options: TranslateOptions, replays: Replays) -> Self {
        Translator { options, replays, ..Translator::default() }
    }

    /// What was told, for the next connection to the same browser.
    pub fn into_replays(self) -> Replays {
        self.replays
    }

    /// A session begins.
    pub fn attached(&mut self, session: &str, target: Target, now: Timestamp) {
        self.replays.begin(&target.id, now);
        self.earlier.attached(session, &target.kind, now);
        self.histories.begin(session);
        if self.options.source_maps && is_document(&target.kind) {
            self.tracing.begin(session, now);
        }
        self.sessions.attached(session, target, now);
    }

    /// A session has told again what was said before the attach.
    pub fn replayed(&mut self, session: &str) {
        self.counts.histories_cut += u64::from(self.histories.told(session));
    }

    /// A session ends, and with it whatever was under way in it.
    pub fn detached(&mut self, session: &str, now: Timestamp) -> Vec<Told> {
        let told = self.pass(now, Some(session));
        self.sessions.detached(session);
        self.replayed.remove(session);
        self.histories.told(session);
        self.maps.detached(session);
        self.tracing.detached(session);
        self.reloads.detached(session);
        self.commands.asked.retain(|_, (asked_of, _)| asked_of != session);
        told
    }

    /// One protocol event of a session. Unknown methods are ignored; malformed params are counted, never fatal.
    pub fn hear(&mut self, session: &str, method: &str, params: &RawValue, now: Timestamp) -> Vec<Told> {
        let mut told = Vec::new();
        self.replays.heard(self.sessions.target_id(session), now);
        let (domain, name) = method.split_once('.').unwrap_or((method, ""));
        let read = match domain {
            "Runtime" => self.hear_runtime(session, name, params, now, &mut told),
            "Network" => self.hear_network(session, method, params, now, &mut told),
            "Page" => self.hear_page(session, name, params, now, &mut told),
            "Log" | "Audits" => self.hear_browser(session, method, params, now, &mut told),
            "Debugger" if name == "scriptParsed" && self.options.source_maps => {
                read(params).map(|script| self.maps.parsed(&mut self.counts, script))
            }
            "Inspector" if name == "targetCrashed" => {
                self.crashed(session, now, &mut told);
                Some(())
            }
            "Target" => self.hear_target(session, name, params),
            _ => Some(()),
        };
        self.counts.malformed += u64::from(read.is_none());
        self.expect(session, &told);
        self.trace(session, now, &mut told);
        self.mapped(session, told, now)
    }

    /// Whether what a session told means that its page may load again.
    fn expect(&mut self, session: &str, told: &[Told]) {
        let is_wanted = |told: &Told| match told {
            Told::Sign(sign) => matches!(sign, Sign::HotUpdate | Sign::Reload | Sign::Build),
            Told::Event(Event::Action(action)) => {
                !matches!(action.kind, ActionKind::Navigate | ActionKind::Route)
                    && !action.detail.ends_with(page::BY_SCRIPT)
            }
            _ => false,
        };
        if told.iter().any(is_wanted) {
            self.reloads.expected(session);
        }
    }

    /// Follows asynchronous calls while new code takes effect.
    fn trace(&mut self, session: &str, now: Timestamp, told: &mut Vec<Told>) {
        let is_new_code = |told: &Told| match told {
            Told::Sign(sign) => matches!(sign, Sign::HotUpdate | Sign::Reload | Sign::Build),
            Told::Event(Event::Action(action)) => action.kind == ActionKind::Navigate,
            _ => false,
        };
        let is_traced = self.options.source_maps
            && self.sessions.get(session).is_some_and(|session| is_document(&session.target.kind));
        if is_traced && told.iter().any(is_new_code) {
            self.tracing.wake(&mut context!(self, session, now, told));
        }
        if self.tracing.is_over(now) {
            self.tracing.rest(&mut context!(self, session, now, told));
        }
    }

    /// Finishes what waited long enough; to be called every 100 ms while anything is pending.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Told> {
        let mut told = Vec::new();
        for session in self.earlier.unasked() {
            if let Some(known) = self.sessions.get(&session).filter(|known| known.address.contains("://")) {
                self.earlier.ask(&mut context!(self, &session, now, &mut told), known);
            }
        }
        told.extend(self.pass(now, None));
        told
    }

    /// The answer to a command told earlier (`Err`: it failed or timed out).
    pub fn answered(&mut self, token: u64, answer: Result<&RawValue, &str>, now: Timestamp) -> Vec<Told> {
        let mut told = Vec::new();
        let Some((session, asked)) = self.commands.asked.remove(&token) else { return told };
        let answer = answer.ok();
        let mut context = context!(self, &session, now, &mut told);
        match asked {
            Asked::Body { request } => self.requests.body(&mut context, &request, answer.and_then(body)),
            Asked::Frames => earlier::frames(&mut context, answer),
            Asked::Timeline { .. } => self.earlier.answered(&mut context, answer),
            Asked::OpenMap { map } => self.maps.opened(&mut context, &map, answer),
            Asked::ReadMap { map } => self.maps.read(&mut context, &map, answer),
            Asked::Inner { of, depth } => self.voices.looked(&mut context, of, depth, answer),
            Asked::Nothing => {}
        }
        self.mapped(&session, told, now)
    }

    /// Whether anything waits for time to pass.
    pub fn pending(&self) -> bool {
        self.voices.pending()
            || self.announcements.pending()
            || self.requests.pending()
            || self.sockets.pending()
            || self.earlier.pending()
            || self.maps.pending()
    }

    /// How many messages are held back for a moment: rejections that may be handled yet, and what waits for its place.
    pub fn held(&self) -> usize {
        self.voices.held() + self.maps.held() + self.announcements.held()
    }

    /// The requests that are under way, sockets that connect and streams that are lost, if that changed since it was asked
    /// last.
    pub fn take_under_way(&mut self) -> Option<Vec<UnderWay>> {
        let has_changed = [self.requests.take_changed(), self.sockets.take_changed(), self.streams.take_changed()];
        let all = || self.requests.under_way().chain(self.sockets.under_way()).chain(self.streams.under_way());
        has_changed.contains(&true).then(|| all().collect())
    }

    /// Commands to send to a fresh session of this kind, in order, before `Runtime.runIfWaitingForDebugger`.
    pub fn greeting(kind: &str, options: &TranslateOptions) -> Vec<(&'static str, Value)> {
        let document = is_document(kind);
        let limits =
            json!({ "maxTotalBufferSize": 20_000_000, "maxResourceBufferSize": 5_000_000, "maxPostDataSize": 65_536 });
        let mut commands = Vec::new();
        commands.push((REPLAYS, json!({})));
        commands.push(("Network.enable", limits));
        if document {
            commands.push(("Log.enable", json!({})));
            commands.push(("Page.enable", json!({})));
            commands.push(("Audits.enable", json!({})));
            commands.push(("Inspector.enable", json!({})));
        }
        if document && options.page_hooks {
            // Only after these domains are enabled do new worlds get the functions that scripts report through.
            commands.extend(page_hooks());
            commands.extend(options.mark.as_deref().map(marking));
        }
        if !document && kind != WORKLET && options.page_hooks {
            commands.extend(worker_hooks());
        }
        if options.source_maps {
            commands.push(("Debugger.enable", json!({ "maxScriptsCacheSize": 0 })));
            // Without this a `debugger;` would freeze the user's page.
            commands.push(("Debugger.setSkipAllPauses", json!({ "skip": true })));
            commands.extend(document.then(|| (tracing::COMMAND, tracing::on())));
        }
        commands
    }

    /// Messages that could not be read.
    pub fn malformed(&self) -> u64 {
        self.counts.malformed
    }

    /// Everything that was not told as events.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn hear_runtime(
        &mut self,
        session: &str,
        name: &str,
        params: &RawValue,
        now: Timestamp,
        told: &mut Vec<Told>,
    ) -> Option<()> {
        if name == "executionContextCreated" {
            self.know_world(session, &read::<page::ContextCreated>(params)?);
            return Some(());
        }
        let known = self.counts.replays_dropped;
        let mut context = context!(self, session, now, told);
        match name {
            "consoleAPICalled" => self.voices.called(&mut context, read(params)?),
            "exceptionThrown" => self.voices.thrown(&mut context, read(params)?),
            "exceptionRevoked" => self.voices.revoked(&mut context, &read(params)?),
            "bindingCalled" => {
                let called: page::Called<'_> = read(params)?;
                match &*called.name {
                    ACTIONS_BINDING => page::action(&mut context, &called.payload)?,
                    FAILURES_BINDING => {
                        let failure = serde_json::from_str(&called.payload).ok()?;
                        self.announcements.failure(&mut context, &mut self.requests, failure);
                    }
                    TIMEOUTS_BINDING => self.requests.reported(&context, serde_json::from_str(&called.payload).ok()?),
                    SOCKETS_BINDING => match serde_json::from_str(&called.payload).ok()? {
                        sockets::FromPage::Socket(report) => self.sockets.reported(&mut context, report),
                        sockets::FromPage::Stream { stream } => self.streams.closed(&context, &stream),
                    },
                    _ => {}
                }
            }
            _ => {}
        }
        if matches!(name, "consoleAPICalled" | "exceptionThrown") {
            self.histories.said(session, params.get().len(), self.counts.replays_dropped > known);
        }
        Some(())
    }

    fn hear_network(
        &mut self,
        session: &str,
        method: &str,
        params: &RawValue,
        now: Timestamp,
        told: &mut Vec<Told>,
    ) -> Option<()> {
        let name = method.strip_prefix("Network.").unwrap_or_default();
        self.requests.heads.hear(name, params);
        let mut context = context!(self, session, now, told);
        match name {
            "requestWillBeSent" => {
                self.reloads.sent(&mut context, &read(params)?);
                self.requests.sent(&mut context, read(params)?);
            }
            "responseReceived" => {
                let received = read(params)?;
                self.streams.received(&mut context, &received);
                self.requests.received(&mut context, received);
            }
            "eventSourceMessageReceived" => self.streams.said(&mut context, &read(params)?),
            "responseReceivedExtraInfo" => self.requests.received_extra(&mut context, read(params)?),
            "requestServedFromCache" => self.requests.cached(&mut context, read(params)?),
            "loadingFinished" => {
                let finished: flight::Finished<'_> = read(params)?;
                self.streams.finished(&mut context, &finished.request_id);
                self.requests.finished(&mut context, finished);
            }
            "loadingFailed" => {
                let failed: flight::Failed<'_> = read(params)?;
                let url = self.requests.url_of(&failed.request_id).map(str::to_owned);
                match self.streams.failed(&mut context, &failed, url.as_deref()) {
                    // The stream tells it; it was answered well.
                    true => self.requests.finished(&mut context, failed.into_finished()),
                    false => self.requests.failed(&mut context, failed),
                }
            }
            "webSocketFrameReceived" => {
                if console::may_be_a_compilers(params.get()) {
                    self.voices.compiled(&mut context, &read(params)?);
                }
                self.sockets.heard(&mut context, method, read(params)?);
            }
            name if name.starts_with("webSocket") || name.starts_with("webTransport") => {
                self.sockets.heard(&mut context, method, read(params)?);
            }
            _ => {}
        }
        Some(())
    }

    fn hear_page(
        &mut self,
        session: &str,
        name: &str,
        params: &RawValue,
        now: Timestamp,
        told: &mut Vec<Told>,
    ) -> Option<()> {
        match name {
            "frameNavigated" => self.navigated(session, &read(params)?, now, told),
            "navigatedWithinDocument" => self.routed(session, &read(params)?, now, told),
            "javascriptDialogOpening" => page::dialog(&mut context!(self, session, now, told), &read(params)?),
            "downloadWillBegin" => self.downloads.begins(&mut context!(self, session, now, told), read(params)?),
            "downloadProgress" => self.downloads.progresses(&mut context!(self, session, now, told), &read(params)?),
            "frameRequestedNavigation" => self.reloads.requested(&context!(self, session, now, told), read(params)?),
            _ => {}
        }
        Some(())
    }

    fn hear_browser(
        &mut self,
        session: &str,
        method: &str,
        params: &RawValue,
        now: Timestamp,
        told: &mut Vec<Told>,
    ) -> Option<()> {
        let mut context = context!(self, session, now, told);
        match method {
            "Log.entryAdded" => {
                let load = self.announcements.entry(&mut context, &mut self.requests, &self.sockets, read(params)?);
                load.into_iter().for_each(|load| self.earlier.failed(&mut context, load));
            }
            "Audits.issueAdded" => self.announcements.issue(&mut context, &mut self.requests, &read(params)?)?,
            _ => {}
        }
        Some(())
    }

    fn hear_target(&mut self, session: &str, name: &str, params: &RawValue) -> Option<()> {
        match name {
            "attachedToTarget" => self.sessions.belongs(&read::<page::Attached>(params)?.session_id, session),
            "targetInfoChanged" => {
                let info = read::<page::TargetInfoChanged>(params)?.target_info;
                self.sessions.renamed(&info.target_id, &info.url);
            }
            _ => {}
        }
        Some(())
    }

    /// Our isolated world in the main frame, where the page cannot have changed what scripts find.
    fn know_world(&mut self, session: &str, created: &page::ContextCreated) {
        let info = &created.context;
        if let Some(session) = self.sessions.get_mut(session)
            && info.name == WORLD
            && info.aux_data.frame_id == session.target.id
        {
            session.world = Some(info.id);
        }
    }

    fn navigated(&mut self, session: &str, navigated: &page::Navigated<'_>, now: Timestamp, told: &mut Vec<Told>) {
        let frame = &navigated.frame;
        let Some(known) = self.sessions.get_mut(session) else { return };
        let main = frame.id == known.target.id || (known.target.kind == "page" && frame.parent_id.is_none());
        if !main {
            return;
        }
        let address = frame.address();
        let left = std::mem::replace(&mut known.address, address.clone());
        known.world = None;
        let is_page = known.target.kind == "page";
        self.requests.navigated(session, &frame.loader_id, now);
        // What the document says, and its server while it makes it, comes after the asking and may be heard before this.
        let began = self.requests.document_asked(&frame.loader_id).unwrap_or(now);
        let mut context = context!(self, session, now, told);
        self.sockets.navigated(&mut context, &left);
        self.streams.gone(&mut context, session);
        if is_page && address != "about:blank" {
            page::went(&mut context, ActionKind::Navigate, address, began);
        }
    }

    fn routed(&mut self, session: &str, routed: &page::NavigatedWithin<'_>, now: Timestamp, told: &mut Vec<Told>) {
        let Some(known) = self.sessions.get_mut(session) else { return };
        let address = wire::address(&routed.url);
        if routed.frame_id != known.target.id || address == known.address {
            return;
        }
        known.address.clone_from(&address);
        if known.target.kind == "page" {
            page::went(&mut context!(self, session, now, told), ActionKind::Route, address, now);
        }
    }

    fn crashed(&mut self, session: &str, now: Timestamp, told: &mut Vec<Told>) {
        let what = match self.sessions.get(session).map(|session| session.target.kind.as_str()) {
            Some("page") | None => Some("the page crashed"),
            Some("iframe") => Some("a frame of the page crashed"),
            // Chromium says the same of every service worker that it stops and of a shared worker whose last page is gone;
            // a dedicated worker or a worklet crashes with its page.
            Some(_) => None,
        };
        if let Some(what) = what {
            context!(self, session, now, told).say(Level::Error, what.to_owned());
        }
        told.extend(self.pass(now, Some(session)));
    }

    /// Everything whose time has come; with a session that ends, everything of it.
    fn pass(&mut self, now: Timestamp, ended: Option<&str>) -> Vec<Told> {
        let mut told = Vec::new();
        let mut context = context!(self, ended.unwrap_or_default(), now, &mut told);
        self.requests.tick(&mut context, ended);
        self.earlier.tick(&mut context, ended);
        ended.into_iter().for_each(|session| self.streams.gone(&mut context, session));
        let others = log::Others { sockets: &self.sockets, voices: &self.voices };
        let mut said = self.announcements.tick(&mut context, &mut self.requests, &others, ended);
        said.extend(self.voices.tick(now, ended));
        said.extend(self.sockets.tick(now, ended));
        for (session, event) in said {
            told.extend(self.mapped(&session, vec![Told::Event(event)], now));
        }
        told.extend(self.maps.tick(now, ended, &mut self.counts).into_iter().map(Told::Event));
        told
    }

    /// Holds back what can get a better place in the code, for a moment.
    fn mapped(&mut self, session: &str, told: Vec<Told>, now: Timestamp) -> Vec<Told> {
        if !self.options.source_maps {
            return told;
        }
        let mut passed = Vec::with_capacity(told.len());
        let mut context = context!(self, session, now, &mut passed);
        for said in told {
            match said {
                Told::Event(Event::Console(console)) => self.maps.place(&mut context, console),
                Told::Amended(Amendment::Handled(console)) if self.maps.withdraw(&console) => {
                    context.counts.rejections_withdrawn += 1;
                }
                Told::Amended(Amendment::Handled(mut console)) => {
                    self.maps.translate_all(&mut console);
                    context.told.push(Told::Amended(Amendment::Handled(console)));
                }
                other => context.told.push(other),
            }
        }
        context.told.extend(self.maps.ready().into_iter().map(Told::Event));
        context.told.extend(self.maps.placed().into_iter().map(Told::Amended));
        passed
    }
}

/// Whether a target of this kind has a document.
fn is_document(kind: &str) -> bool {
    matches!(kind, "page" | "iframe")
}

/// A message's contents, if they can be read.
fn read<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

/// The scripts and the functions they report through.
fn page_hooks() -> [(&'static str, Value); 8] {
    [
        ("Runtime.addBinding", json!({ "name": ACTIONS_BINDING, "executionContextName": WORLD })),
        (
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": ACTIONS_SCRIPT, "worldName": WORLD, "runImmediately": true }),
        ),
        ("Runtime.addBinding", json!({ "name": SOCKETS_BINDING })),
        ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": SOCKETS_SCRIPT, "runImmediately": true })),
        ("Runtime.addBinding", json!({ "name": TIMEOUTS_BINDING })),
        ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": TIMEOUTS_SCRIPT, "runImmediately": true })),
        ("Runtime.addBinding", json!({ "name": FAILURES_BINDING })),
        ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": FAILURES_SCRIPT, "runImmediately": true })),
    ]
}

/// The same for a worker, whose scripts wait until it was greeted.
fn worker_hooks() -> [(&'static str, Value); 6] {
    let run = |script: &str| ("Runtime.evaluate", json!({ "expression": script, "silent": true }));
    [
        ("Runtime.addBinding", json!({ "name": SOCKETS_BINDING })),
        run(SOCKETS_SCRIPT),
        ("Runtime.addBinding", json!({ "name": TIMEOUTS_BINDING })),
        run(TIMEOUTS_SCRIPT),
        ("Runtime.addBinding", json!({ "name": FAILURES_BINDING })),
        run(FAILURES_SCRIPT),
    ]
}

/// Leaves a mark that nobody comes across who does not look for it; one of an earlier attach makes room.
fn marking(mark: &str) -> (&'static str, Value) {
    let (key, value) = (r#"Symbol.for("backsight.watcher")"#, json!(mark));
    let source = format!("Object.defineProperty(globalThis, {key}, {{ value: {value}, configurable: true }})");
    ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source, "runImmediately": true }))
}

/// The text of a body, if it is one: whole, or as much of it as came.
fn body(answer: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Body {
        body: Option<String>,
        #[serde(default)]
        base64_encoded: bool,
        buffered_data: Option<String>,
    }
    let answer: Body = read(answer)?;
    // What came so far may end within a character.
    let came = || backsight_core::source_map::base64(answer.buffered_data.as_deref()?);
    let came = || came().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    match answer.body {
        Some(body) => Some(body).filter(|_| !answer.base64_encoded),
        None => came(),
    }
}
