//! The browser lane as others see it: events go in from any thread, questions are answered, and several clients look
//! without taking each other's news. One lock guards everything, held only for the time of one answer, so nothing is told
//! twice and nothing is lost between two looks.

mod waiting;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, NextStep, Result, Timestamp};
use backsight_redact::Redactor;
use serde_json::json;

pub use self::waiting::Wait;
use crate::amend::Amendment;
use crate::baseline::{Baseline, BaselineEntry, Comparison};
use crate::cdp::Capture;
use crate::cdp::capture::Memory;
use crate::changes::{self, Filter, Frame};
use crate::checkpoint::{Checkpoint, Checkpoints, Look};
use crate::doubles::{self, Doubles};
use crate::endpoint;
use crate::event::{Category, Console, Event, Level, Repeated};
use crate::hash;
use crate::health::Health;
use crate::known::Known;
use crate::name;
use crate::noise::{Candidate, NewRule, Rule, Rules, Suggestion};
use crate::notable::Notable;
use crate::report::{Changes, CheckpointEntry, Coverage, Gap, Severity, Waited};
use crate::signs::{Glance, Signs};
use crate::sources::{Source, SourceId, SourceKind, Sources};
use crate::tabs::Tabs;
use crate::telemetry::console::Message;
use crate::telemetry::{Limits, Mark, Prepared, Telemetry, Teller, is_rest};
use crate::under_way::{InFlight, UnderWay};
use crate::window::{Start, Window};

/// How long a question waits for pages to say that they are alive, so that it is answered within 300 ms on any page,
const GLANCE: Duration = Duration::from_millis(250);
/// and how long one does that was to wait anyway.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest anybody waits for something to happen.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Sources of one kind that report by themselves and are kept apart.
const REPORTERS: usize = 100;
/// The name of all others of their kind.
const BEYOND: &str = "(sources beyond those kept apart)";
/// Baselines at most.
const BASELINES: usize = 20;
/// How often the marks that nobody can ask about any more are forgotten.
const SWEEP: u64 = 64;

/// What a lane needs from outside.
#[derive(Clone)]
pub struct Options {
    /// What time it is.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Keeps the tags of secrets from being guessed.
    pub salt: u64,
    /// How much is kept.
    pub limits: Limits,
}

/// A question.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Since when: a checkpoint's name, a time, `start`, `load` or `last`; without one, since this client's last question.
    pub checkpoint: Option<String>,
    /// Categories; all when there are none.
    pub include: Vec<Category>,
    /// What to leave out.
    pub severity: Filter,
    /// Whether the client's next question begins where this one began.
    pub peek: bool,
    /// To wait for something to happen first.
    pub wait: Option<Wait>,
    /// How large the answer may be; without it, as large as it is.
    pub max_tokens: Option<usize>,
}

/// What outlives the process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Named checkpoints.
    pub checkpoints: Vec<Checkpoint>,
    /// The user's noise rules, and which built-in ones are switched off.
    pub rules: Vec<Rule>,
    /// Baselines.
    pub baselines: Vec<Baseline>,
}

/// A checkpoint that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// It.
    pub checkpoint: Checkpoint,
    /// The oldest, if it had to make room.
    pub evicted: Option<String>,
    /// What could be better about the name.
    pub advice: Option<String>,
}

/// What a page or a process reports by itself.
#[derive(Clone, Debug, Default)]
pub struct Ingest {
    /// Who: `page http://localhost:3000`, `terminal: npm run dev`.
    pub source: String,
    /// What that is; a source is known by its kind and name, so that a page is never taken for a process.
    pub kind: SourceKind,
    /// Which of several tabs that show the same page, if it says so.
    pub tab: Option<String>,
    /// What it can see; all when there is nothing.
    pub watches: Vec<Category>,
    /// What happened; nothing is a sign of life.
    pub events: Vec<Repeated>,
    /// Why it is the last report, if it is.
    pub ended: Option<String>,
    /// Whether it should go on all the same: it is missed until it is back, as a server that crashed is.
    pub missed: bool,
    /// The mark that whoever watches the page over its browser's protocol left in it.
    pub watched_by: Option<String>,
}

/// The browser lane.
pub struct Browser {
    state: Mutex<State>,
    heard: Condvar,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    pub(crate) redactor: Redactor,
    /// The browser that is watched over its protocol.
    pub(crate) capture: Mutex<Option<Capture>>,
    /// Held while one is started.
    pub(crate) attaching: Mutex<()>,
    /// What browsers have told already, so that whoever attaches again hears nothing twice.
    pub(crate) memory: Memory,
}

/// By what a source that reports by itself is known.
type Reporter = (SourceKind, String);

struct State {
    telemetry: Telemetry,
    sources: Sources,
    reporters: HashMap<Reporter, SourceId>,
    tabs: Tabs,
    doubles: Doubles,
    checkpoints: Checkpoints,
    baselines: BTreeMap<String, Baseline>,
    started: Timestamp,
    marks: u64,
    heard_at: Instant,
    under_way: Vec<UnderWay>,
    /// Messages that are held back for a moment.
    held: usize,
    signs: Signs,
}

/// Where a window begins, and what it is compared with.
struct Resolved {
    start: Start,
    from: Timestamp,
    known: Option<Known>,
    /// Whether that is what a baseline expects.
    expects: bool,
    reference: String,
    /// Requests that began since then belong to the window: some of them earlier, if the last answer said that they were
    /// still under way.
    requests_from: Timestamp,
    /// Whether the checkpoint is older than this run.
    earlier_run: bool,
    /// Whether it is the client's first question.
    never_asked: bool,
}

impl Browser {
    /// A lane that knows nothing yet.
    pub fn new(options: Options) -> Browser {
        let started = (options.clock)();
        let state = State {
            telemetry: Telemetry::new(options.limits),
            sources: Sources::default(),
            reporters: HashMap::new(),
            tabs: Tabs::default(),
            doubles: Doubles::default(),
            checkpoints: Checkpoints::default(),
            baselines: BTreeMap::new(),
            started,
            marks: 0,
            heard_at: Instant::now(),
            under_way: Vec::new(),
            held: 0,
            signs: Signs::default(),
        };
        Browser {
            state: Mutex::new(state),
            heard: Condvar::new(),
            clock: options.clock,
            redactor: Redactor::of_wire(options.salt),
            capture: Mutex::new(None),
            attaching: Mutex::new(()),
            memory: Memory::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at everything that is known.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Telemetry) -> T) -> T {
        look(&self.lock().telemetry)
    }

    /// Where a window since a reference begins, for a client.
    pub(crate) fn start_of(&self, client: &str, reference: &str) -> Result<Start> {
        self.lock().resolve(client, Some(reference), (self.clock)()).map(|resolved| resolved.start)
    }

    /// Takes note of what happened.
    pub fn record(&self, events: impl IntoIterator<Item = impl Into<Repeated>>) {
        let events = self.prepared(events);
        let mut state = self.lock();
        state.telemetry.notables.now((self.clock)());
        events.into_iter().for_each(|event| state.record(event));
        drop(state);
        self.heard.notify_all();
    }

    /// Events cut to size and without secrets: the longest part of the work, which nobody has to wait for.
    fn prepared(&self, events: impl IntoIterator<Item = impl Into<Repeated>>) -> Vec<Prepared> {
        events.into_iter().map(|event| Prepared::new(event.into(), &self.redactor)).collect()
    }

    /// Takes note of what a browser says about its pages; what a page has told by itself is not told again.
    pub(crate) fn record_watched(&self, events: Vec<Event>) {
        let state = self.lock();
        let is_told = |event: &Event| {
            let reports = |kind, source: &String| state.reporters.contains_key(&(kind, source.clone()));
            let told = |source: &String| {
                reports(SourceKind::Page, source) || reports(SourceKind::Process, source) || state.doubles.knows(source)
            };
            doubles::reporter(event).as_ref().is_some_and(told)
        };
        let events = events.into_iter().filter_map(doubles::without_script);
        let (told, events): (Vec<Event>, Vec<Event>) = events.partition(is_told);
        drop(state);
        self.lock().telemetry.told_otherwise(told.len() as u64);
        if !events.is_empty() {
            self.record(events);
        }
    }

    /// A mark for pages that nobody left in any before, also in an earlier run.
    pub(crate) fn new_mark(&self) -> String {
        format!("{:x}", (self.clock)().0)
    }

    /// Pages that bear this mark are watched over their browser's protocol; without one, none.
    pub fn watched_by(&self, mark: Option<String>) {
        self.lock().doubles.watched_by(mark);
    }

    /// Corrects what was recorded.
    pub fn amend(&self, amendment: Amendment) {
        let prepared = |console: Box<Console>| self.prepared([Event::Console(*console)]).pop();
        match amendment {
            Amendment::Placed { was, is } => {
                if let (Some(was), Some(is)) = (prepared(was), prepared(is)) {
                    self.lock().telemetry.place(&was, &is);
                }
            }
            Amendment::Handled(said) => {
                let now = (self.clock)();
                if let Some(said) = prepared(said) {
                    self.lock().telemetry.handled(&said, now);
                }
            }
        }
    }

    /// So many messages are held back for a moment.
    pub fn messages_held(&self, messages: usize) {
        self.lock().held = messages;
        self.heard.notify_all();
    }

    /// Somebody begins to watch.
    pub fn begin_source(&self, source: Source) -> SourceId {
        let mut state = self.lock();
        if source.kind == SourceKind::Browser {
            // What pages of an earlier browser had lost is theirs.
            state.telemetry.sockets.forget_losses(Teller::default());
        }
        state.sources.begin(source, (self.clock)())
    }

    /// A source is there, perhaps under another label.
    pub fn update_source(&self, id: SourceId, label: Option<String>) {
        self.lock().sources.heard(id, label, (self.clock)());
    }

    /// A source goes: it was `lost`, or there is nothing more to tell.
    pub fn end_source(&self, id: SourceId, lost: bool, reason: &str) {
        self.lock().sources.end(id, lost, reason, (self.clock)());
    }

    /// Why nothing is heard of pages that are watched, for each of them; none when all of them are heard.
    pub fn hold(&self, reasons: Vec<String>) {
        self.lock().sources.hold(reasons, (self.clock)());
    }

    /// Browsers that were lost are not waited for any more.
    pub(crate) fn give_up_browsers(&self) {
        self.lock().sources.give_up_browsers((self.clock)());
    }

    /// Something is known to have been lost.
    pub fn lost(&self, reason: String) {
        self.lock().sources.lost(reason, (self.clock)());
    }

    /// A page or process reports; how many events were taken. None are of a page that is watched otherwise.
    pub fn ingest(&self, report: Ingest) -> u64 {
        let now = (self.clock)();
        // A command line is a name too, and may hold a password.
        let ended = report.ended.map(|reason| self.redactor.text(&reason).into_owned());
        let report = Ingest { source: self.redactor.text(&report.source).into_owned(), ended, ..report };
        let mut state = self.lock();
        state.sources.fade(now);
        if state.doubles.is_double(report.watched_by.as_deref()) {
            state.pass_over(&report, now);
            return 0;
        }
        drop(state);
        let taken = times(&report.events);
        let events = self.prepared(report.events);
        let mut state = self.lock();
        let (reporter, id) = state.reporter((report.kind, report.source), report.watches, now);
        state.telemetry.notables.now(now);
        let teller = match reporter.0 {
            SourceKind::Page => Teller::page(&reporter.1),
            SourceKind::Browser | SourceKind::Process => Teller::default(),
        };
        for mut prepared in events {
            prepared.teller = teller;
            if let Event::Websocket(socket) = &mut prepared.happened.event {
                // A source can only speak of its own connections.
                let kind = if reporter.0 == SourceKind::Page { "page" } else { "process" };
                socket.id = format!("{:016x}", hash::hash([kind, &reporter.1, &socket.id]));
            }
            state.record(prepared);
        }
        let stays = state.tabs_stay(id, report.tab.as_deref(), report.ended.is_some(), now);
        if let Some(reason) = report.ended.filter(|_| !stays) {
            state.sources.end(id, report.missed, &reason, now);
            state.signs.gone(reporter.1.trim_start_matches("terminal: "));
            // The end of a process takes nothing along that the browser saw: a dev server's loss least of all.
            if reporter.0 != SourceKind::Process {
                state.telemetry.sockets.forget_losses(teller);
            }
            state.reporters.remove(&reporter);
        }
        drop(state);
        self.heard.notify_all();
        taken
    }

    /// What happened, for a client. A question that is taken back while it waits leaves the client's place where it was.
    pub fn changes(&self, client: &str, ask: &Ask, is_cancelled: &dyn Fn() -> bool) -> Result<Changes> {
        let mut waited = None;
        if let Some(wait) = ask.wait {
            let state = self.lock();
            let resolved = state.resolve(client, ask.checkpoint.as_deref(), (self.clock)())?;
            waited = Some(self.wait(state, &resolved, wait, is_cancelled));
            if is_cancelled() {
                return Err(Error::new(Code::Cancelled, "the question was taken back while it waited"));
            }
        }
        // Who waited has the time to wait for that too.
        let patience = if ask.wait.is_some() { PATIENCE } else { GLANCE };
        let is_known = self.check_pages(patience);
        if is_known {
            self.wait_for_held();
        }
        let mut state = self.lock();
        let now = (self.clock)();
        let resolved = state.resolve(client, ask.checkpoint.as_deref(), now)?;
        state.sources.fade(now);
        state.sources.unsure(!is_known);
        let advances = !ask.peek && matches!(ask.checkpoint.as_deref(), None | Some("auto"));
        let changes = state.changes(&resolved, ask, waited, now, &self.redactor);
        if advances {
            let mark = state.mark();
            let under_way_since = state.awaited(resolved.requests_from, now).map(|request| request.since).min();
            state.checkpoints.advance(client, Look { mark, time: now, under_way_since });
        }
        Ok(changes)
    }

    /// How many errors that are no noise happened since a client last asked; it stays so until it asks.
    pub fn has_news(&self, client: &str) -> bool {
        let state = self.lock();
        let mark = state.checkpoints.current(client).map_or(Mark::START, |look| look.mark);
        state.telemetry.has_error_since(mark)
    }

    /// Whether the app is well: since `session_start` when there is such a checkpoint, else since the start, unless the
    /// question says since when.
    pub fn health(&self, client: &str, checkpoint: Option<&str>) -> Result<Health> {
        let state = self.lock();
        let has_start = state.checkpoints.get("session_start").is_ok();
        let default = if has_start { "session_start" } else { "start" };
        let checkpoint = checkpoint.unwrap_or(default).to_owned();
        drop(state);
        let ask = Ask { checkpoint: Some(checkpoint), peek: true, ..Ask::default() };
        self.changes(client, &ask, &|| false).map(Health::of)
    }

    /// Makes a named checkpoint.
    pub fn create_checkpoint(&self, name: &str, baseline: Option<&str>) -> Result<Made> {
        name::check(name)?;
        let now = (self.clock)();
        let mut state = self.lock();
        state.sources.fade(now);
        if let Some(baseline) = baseline {
            state.baseline(baseline)?;
        }
        let latest = state.checkpoints.latest();
        let since = Resolved {
            start: Start::Mark(latest.map_or(Mark::START, |look| look.mark)),
            from: latest.map_or_else(|| state.beginning(), |look| look.time),
            known: None,
            expects: false,
            reference: String::new(),
            requests_from: now,
            earlier_run: false,
            never_asked: false,
        };
        let changes = state.changes(&since, &Ask::default(), None, now, &self.redactor);
        let checkpoint = Checkpoint {
            name: name.to_owned(),
            created: now,
            page: state.telemetry.page().map(endpoint::template),
            baseline: baseline.map(str::to_owned),
            severity: changes.severity,
            summary: changes.summary,
            known: Known::now(&state.telemetry),
        };
        let mark = state.mark();
        let evicted = state.checkpoints.add(checkpoint.clone(), Some(mark));
        Ok(Made { checkpoint, evicted, advice: name::advice(name) })
    }

    /// Every named checkpoint, oldest first.
    pub fn checkpoints(&self) -> Vec<CheckpointEntry> {
        self.lock().checkpoints.list()
    }

    /// Forgets a named checkpoint.
    pub fn delete_checkpoint(&self, name: &str) -> Result<Checkpoint> {
        self.lock().checkpoints.remove(name)
    }

    /// Every noise rule.
    pub fn rules(&self) -> Vec<Rule> {
        self.lock().telemetry.rules.list()
    }

    /// Changes the noise rules; what is known already is judged again.
    pub fn change_rules<T>(&self, change: impl FnOnce(&mut Rules) -> Result<T>) -> Result<T> {
        let mut state = self.lock();
        let outcome = change(&mut state.telemetry.rules)?;
        state.telemetry.judge_again();
        Ok(outcome)
    }

    /// Noise rules that could be added: warnings that are said again and again. They are for the user to judge.
    pub fn suggested_rules(&self) -> Vec<Suggestion> {
        let state = self.lock();
        let heard = state.telemetry.messages.iter().filter(|message| message.level == Level::Warning);
        let heard = heard.filter(|message| message.noise.is_none() && !is_rest(message.key));
        let candidate = |message: &'_ Message| (message.template.clone(), *message.count.now(), message.level);
        let heard: Vec<(String, u64, Level)> = heard.map(candidate).collect();
        let heard: Vec<Candidate<'_>> =
            heard.iter().map(|(template, count, level)| Candidate { template, count: *count, level: *level }).collect();
        state.telemetry.rules.suggest(&heard)
    }

    /// Adds noise rules; all or none.
    pub fn add_rules(&self, rules: Vec<NewRule>) -> Result<Vec<Rule>> {
        let now = (self.clock)();
        self.change_rules(|known| known.add(rules, now))
    }

    /// How often each noise rule kept something out in this run.
    pub fn suppressed_by_rule(&self) -> BTreeMap<String, u64> {
        let state = self.lock();
        let mut counts = BTreeMap::new();
        let mut add = |rule: &Option<String>, count: u64| {
            if let Some(rule) = rule {
                *counts.entry(rule.clone()).or_insert(0) += count;
            }
        };
        state.telemetry.messages.iter().for_each(|message| add(&message.noise, *message.count.now()));
        let outcomes = state.telemetry.endpoints.iter().flat_map(|known| &known.outcomes);
        outcomes.for_each(|counted| add(&counted.noise, *counted.count.now()));
        state.telemetry.sockets.iter().for_each(|address| add(&address.noise, *address.events.now()));
        counts
    }

    /// Saves how the app behaves now.
    pub fn save_baseline(&self, name: &str) -> Result<Baseline> {
        name::check(name)?;
        let now = (self.clock)();
        let mut state = self.lock();
        state.sources.fade(now);
        if !state.baselines.contains_key(name) && state.baselines.len() == BASELINES {
            return Err(Error::new(Code::Conflict, format!("there are {BASELINES} baselines already"))
                .then("delete one that is not needed any more", NextStep::DeleteBaseline));
        }
        if state.telemetry.now() == Mark::START {
            return Err(Error::new(
                Code::NotCovered,
                "nothing was seen of the app yet, so there is nothing to expect of it",
            )
            .then("use the app first, and attach a browser", NextStep::AttachBrowser));
        }
        let baseline = Baseline::now(name, &state.telemetry, now);
        state.baselines.insert(name.to_owned(), baseline.clone());
        Ok(baseline)
    }

    /// How the app differs from a baseline.
    pub fn compare_baseline(&self, name: &str) -> Result<Comparison> {
        let now = (self.clock)();
        let mut state = self.lock();
        state.sources.fade(now);
        let coverage = state.sources.coverage(0);
        Ok(state.baseline(name)?.compare(&state.telemetry, coverage))
    }

    /// Every baseline.
    pub fn baselines(&self) -> Vec<BaselineEntry> {
        self.lock().baselines.values().map(Baseline::entry).collect()
    }

    /// Forgets a baseline.
    pub fn delete_baseline(&self, name: &str) -> Result<Baseline> {
        let mut state = self.lock();
        state.baseline(name)?;
        state.baselines.remove(name).ok_or_else(|| Error::new(Code::BaselineNotFound, name))
    }

    /// What outlives the process.
    pub fn kept(&self) -> Kept {
        let state = self.lock();
        Kept {
            checkpoints: state.checkpoints.all(),
            rules: state.telemetry.rules.to_store(),
            baselines: state.baselines.values().cloned().collect(),
        }
    }

    /// Takes up what an earlier process kept; what of it cannot be used.
    pub fn restore(&self, kept: Kept) -> Vec<String> {
        let mut state = self.lock();
        for mut checkpoint in kept.checkpoints {
            checkpoint.page = checkpoint.page.as_deref().map(endpoint::template);
            state.checkpoints.add(checkpoint, None);
        }
        state.baselines.extend(kept.baselines.into_iter().map(|baseline| (baseline.name.clone(), baseline)));
        drop(state);
        self.change_rules(|rules| Ok(rules.restore(kept.rules))).unwrap_or_default()
    }

    /// Takes what belongs into the timeline.
    pub fn take_notables(&self) -> Vec<Notable> {
        self.lock().telemetry.notables.take()
    }

    /// Who watches.
    pub fn coverage(&self) -> Coverage {
        let now = (self.clock)();
        let mut state = self.lock();
        state.sources.fade(now);
        state.sources.coverage(0)
    }
}

/// How many events these stand for.
fn times(events: &[Repeated]) -> u64 {
    events.iter().map(|happened| u64::from(happened.times.get())).sum()
}

impl State {
    /// Who reports, known or new. When there are too many to keep apart, further ones are one.
    fn reporter(&mut self, named: Reporter, watches: Vec<Category>, now: Timestamp) -> (Reporter, SourceId) {
        let State { reporters, sources, .. } = self;
        reporters.retain(|_, id| sources.has(*id));
        let reporter = match reporters.contains_key(&named) || sources.count(named.0) < REPORTERS {
            true => named,
            false => (named.0, BEYOND.to_owned()),
        };
        let id = *reporters.entry(reporter.clone()).or_insert_with(|| {
            let watches = if watches.is_empty() { Category::ALL.to_vec() } else { watches };
            sources.begin(Source { label: reporter.1.clone(), watches, kind: reporter.0 }, now)
        });
        sources.heard(id, None, now);
        (reporter, id)
    }

    /// Takes note of the tab that reports; whether another one stays when it was closed.
    fn tabs_stay(&mut self, id: SourceId, tab: Option<&str>, has_ended: bool, now: Timestamp) -> bool {
        match (has_ended, tab) {
            (true, tab) => self.tabs.closed(id, tab, now),
            (false, Some(tab)) => {
                self.tabs.heard(id, tab, now);
                true
            }
            (false, None) => true,
        }
    }

    /// A page reports what its browser tells anyway.
    fn pass_over(&mut self, report: &Ingest, now: Timestamp) {
        self.telemetry.told_otherwise(times(&report.events));
        self.doubles.remember(&report.source);
        // It is not missed when it falls silent.
        if let Some(id) = self.reporters.remove(&(report.kind, report.source.clone())) {
            self.sources.end(id, false, "the page is watched over its browser's protocol", now);
        }
    }

    /// When this run can have seen anything.
    fn beginning(&self) -> Timestamp {
        self.sources.first().unwrap_or(self.started)
    }

    fn record(&mut self, prepared: Prepared) {
        let (glance, groups) = (Glance::at(&prepared.happened.event), self.telemetry.groups());
        self.telemetry.record(prepared);
        let is_new = self.telemetry.groups() != groups;
        if !glance.is_quiet(is_new) {
            self.heard_at = Instant::now();
        }
        self.signs.note(glance, is_new, self.telemetry.now().sequence, Instant::now());
        if self.telemetry.has_loads_to_sweep() {
            self.sweep();
        }
    }

    fn mark(&mut self) -> Mark {
        self.marks += 1;
        if self.marks.is_multiple_of(SWEEP) {
            self.sweep();
        }
        self.telemetry.mark()
    }

    /// Forgets what was known at marks that nobody can ask about any more.
    fn sweep(&mut self) {
        let live = self.checkpoints.live();
        self.telemetry.keep_marks(live);
    }

    fn baseline(&self, name: &str) -> Result<&Baseline> {
        self.baselines.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.baselines.keys().map(String::as_str).collect();
            let there_are = if names.is_empty() { "there are none yet".to_owned() } else { names.join(", ") };
            Error::new(Code::BaselineNotFound, format!("no baseline is called `{name}`"))
                .with_hint(format!("baselines: {there_are}"))
                .with_details(json!({ "baselines": names }))
        })
    }

    fn resolve(&self, client: &str, reference: Option<&str>, now: Timestamp) -> Result<Resolved> {
        let at = |start, from, reference: &str| Resolved {
            start: Start::Mark(start),
            from,
            known: None,
            expects: false,
            reference: reference.to_owned(),
            requests_from: from,
            earlier_run: false,
            never_asked: false,
        };
        let look = |look: Option<Look>, reference| match look {
            Some(look) => Resolved {
                requests_from: look.under_way_since.unwrap_or(look.time),
                ..at(look.mark, look.time, reference)
            },
            None => Resolved { never_asked: reference == "auto", ..at(Mark::START, self.beginning(), reference) },
        };
        Ok(match reference {
            None | Some("auto") => look(self.checkpoints.current(client), "auto"),
            Some("last") => look(self.checkpoints.previous(client), "last"),
            Some("start") => look(None, "start"),
            Some("load") => {
                let (mark, time) = self.telemetry.load().ok_or_else(|| {
                    Error::new(Code::CheckpointNotFound, "no load of a page was seen yet")
                        .with_hint("ask since `start` instead")
                })?;
                at(mark, time, "load")
            }
            Some(text) if text.starts_with(|first: char| first.is_ascii_digit()) => {
                let time: Timestamp = text.parse().map_err(|_| {
                    Error::new(Code::CheckpointNotFound, format!("`{text}` is neither a checkpoint nor a time"))
                        .with_hint("times are written 2026-11-15T12:30:00Z")
                })?;
                // Of a time that has not been, nothing has happened since.
                let time = time.min(now);
                Resolved { start: Start::Time(time), ..at(Mark::START, time, text) }
            }
            Some(name) => {
                let (checkpoint, mark) = self.checkpoints.get(name)?;
                let baseline = checkpoint.baseline.as_deref().map(|name| self.baseline(name)).transpose()?;
                let known = baseline.map(Baseline::known);
                Resolved {
                    expects: known.is_some(),
                    known: known.or_else(|| mark.is_none().then(|| checkpoint.known.clone())),
                    earlier_run: mark.is_none(),
                    ..at(mark.unwrap_or(Mark::START), checkpoint.created, name)
                }
            }
        })
    }

    fn changes(
        &self,
        resolved: &Resolved,
        ask: &Ask,
        waited: Option<Waited>,
        now: Timestamp,
        redactor: &Redactor,
    ) -> Changes {
        let window = Window::new(&self.telemetry, resolved.start, resolved.known.as_ref()).expecting(resolved.expects);
        let mut gaps = Vec::new();
        let mut from = resolved.from;
        if resolved.earlier_run && self.sources.first().is_some() {
            let reason = "before this server watched".to_owned();
            gaps.push(Gap { from, to: Some(self.beginning()), reason });
            from = self.beginning();
        }
        gaps.extend(self.sources.gaps(from, now));
        gaps.extend(changes::just_lost(&self.telemetry, now));
        let frame = Frame {
            reference: resolved.reference.clone(),
            from: resolved.from,
            to: now,
            coverage: Coverage {
                seen_twice: window.told_otherwise(),
                ended: self.sources.ended_since(resolved.from),
                ..self.sources.coverage(window.backfilled())
            },
            gaps,
            held: self.held as u64,
            in_flight: InFlight::of(&self.under_way, &self.telemetry, (resolved.requests_from, now), redactor),
            waited,
            include: &ask.include,
            filter: ask.severity,
            max_tokens: ask.max_tokens.unwrap_or(usize::MAX),
        };
        changes::changes(&self.telemetry, &window, frame)
    }
}

/// The severity as one word for a checkpoint's line.
impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
