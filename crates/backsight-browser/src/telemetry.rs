//! Everything that is known of an app: the newest events in rings, and every different thing that ever happened in tables
//! of counted groups. Events come cut to size and redacted, and are counted where they belong; questions look only at groups, so they cost
//! what there is to tell and not what happened.

pub(crate) mod console;
mod echo;
pub(crate) mod network;
mod place;
pub(crate) mod sockets;
mod table;

pub(crate) use table::is_rest;

use std::collections::HashMap;
use std::num::NonZeroU32;

use backsight_core::Timestamp;
use backsight_redact::Redactor;

use crate::bounds;
use crate::event::{Action, ActionKind, Category, Event, Repeated};
use crate::hash;
use crate::log::{self, Log};
use crate::marked::Marked;
use crate::noise::Rules;
use crate::notable::Notables;
use crate::redact;
use crate::ring::Ring;
use crate::under_way::AskedFor;
use console::Messages;
use network::Endpoints;
use sockets::Sockets;

/// So many pages have a latest load of their own; those that come later have none.
const LOADS: usize = 200;
/// How often the marks of loads that nobody can ask about any more are forgotten.
const SWEEP: u64 = 64;

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Console messages.
    pub console: usize,
    /// Requests.
    pub network: usize,
    /// Socket events.
    pub websocket: usize,
    /// User actions.
    pub actions: usize,
    /// Different messages, endpoints and socket addresses, each.
    pub groups: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { console: 5000, network: 2000, websocket: 2000, actions: 1000, groups: 2000 }
    }
}

/// A moment in all categories at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// How many events there had been.
    pub sequence: u64,
    /// How many of each category.
    pub positions: [u64; 4],
}

impl Mark {
    /// Before anything happened.
    pub const START: Mark = Mark { sequence: 0, positions: [0; 4] };

    /// How many of a category there had been.
    pub fn position(&self, category: Category) -> u64 {
        self.positions[category as usize]
    }
}

/// Where and when something counted happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Its number among all events, from 0; what happened several times has the numbers from here on.
    pub(crate) sequence: u64,
    pub(crate) times: NonZeroU32,
    pub(crate) time: Timestamp,
    pub(crate) teller: Teller,
    /// The latest mark anybody may ask about.
    pub(crate) latest_mark: u64,
    /// The earliest of those marks but the start; groups that ended before it are in nobody's window.
    pub(crate) oldest_mark: u64,
}

/// Something that happened, cut to size and without secrets. That takes as long as its texts are, so it is done before
/// anything is locked.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) happened: Repeated,
    /// How many bytes were cut off its texts.
    cut: u64,
    /// Who tells it.
    pub(crate) teller: Teller,
}

/// Who tells of something: somebody who is believed (a browser over its protocol, whoever has the server's token), or a
/// page that reports by itself. What one page says about requests and loads holds for that page alone: it neither
/// ends what another saw nor begins anything for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Teller(u64);

impl Teller {
    /// A page, by the name of its source.
    pub(crate) fn page(source: &str) -> Teller {
        Teller(hash::hash(["page", source]).max(1))
    }

    /// Whether it is believed about everything.
    pub(crate) fn is_believed(self) -> bool {
        self == Teller::default()
    }

    /// The key of a group of its own, given that of the group of those who are believed.
    fn own(self, key: u64) -> u64 {
        match self.is_believed() {
            true => key,
            false => hash::hash([format!("{key:016x} {:016x}", self.0).as_str()]),
        }
    }
}

impl Prepared {
    /// Cuts and redacts.
    pub fn new(mut happened: Repeated, redactor: &Redactor) -> Prepared {
        let cut = bounds::bound(&mut happened.event);
        redact::event(redactor, &mut happened.event);
        Prepared { happened, cut, teller: Teller::default() }
    }
}

/// An action with its place.
#[derive(Clone, Debug)]
pub(crate) struct Acted {
    pub(crate) action: Action,
    /// Its number in the log, of its last time.
    pub(crate) number: u64,
    pub(crate) noise: bool,
}

/// Everything that is known of an app.
#[derive(Debug)]
pub struct Telemetry {
    pub(crate) messages: Messages,
    pub(crate) endpoints: Endpoints,
    pub(crate) sockets: Sockets,
    pub(crate) actions: Ring<Acted>,
    pub(crate) rules: Rules,
    pub(crate) notables: Notables,
    pub(crate) log: Log,
    sequence: u64,
    latest_mark: u64,
    oldest_mark: u64,
    /// One past the latest event that is an error.
    error_end: u64,
    /// How many events happened before anybody watched.
    backfilled: Marked<u64>,
    /// How many events were left out because another source tells the same.
    told_otherwise: Marked<u64>,
    /// How many bytes were cut off texts that are too long.
    cut: Marked<u64>,
    /// The latest page's address, and who told it.
    page: Option<(String, Teller)>,
    /// The latest load of a document that each of them told.
    loads: HashMap<Teller, (Mark, Timestamp)>,
    /// How many loads there were since the marks were last swept: each is a mark.
    loads_unswept: u64,
}

impl Moment {
    /// How often it happened, to be added to a counter.
    pub(crate) fn count(&self) -> u64 {
        u64::from(self.times.get())
    }
}

impl Telemetry {
    /// Nothing is known yet.
    pub fn new(limits: Limits) -> Self {
        Telemetry {
            messages: Messages::new(limits.console, limits.groups),
            endpoints: Endpoints::new(limits.network, limits.groups),
            sockets: Sockets::new(limits.websocket, limits.groups),
            actions: Ring::new(limits.actions),
            rules: Rules::builtin(),
            notables: Notables::default(),
            log: Log::new(limits),
            sequence: 0,
            latest_mark: 0,
            oldest_mark: 0,
            error_end: 0,
            backfilled: Marked::default(),
            told_otherwise: Marked::default(),
            cut: Marked::default(),
            page: None,
            loads: HashMap::new(),
            loads_unswept: 0,
        }
    }

    /// Takes note of something that happened, however often.
    pub fn record(&mut self, prepared: Prepared) {
        let Prepared { happened: Repeated { event, times }, cut, teller } = prepared;
        if matches!(&event, Event::Console(console) if self.messages.is_echo(console)) {
            return;
        }
        if cut > 0 {
            *self.cut.change(self.latest_mark) += cut;
        }
        let moment = Moment {
            sequence: self.sequence,
            times,
            time: event.time(),
            teller,
            latest_mark: self.latest_mark,
            oldest_mark: self.oldest_mark,
        };
        let (page, backfilled) = match &event {
            Event::Console(console) => (&console.page, console.backfilled),
            Event::Network(request) => (&request.page, request.backfilled),
            Event::Websocket(socket) => (&socket.page, socket.backfilled),
            Event::Action(action) => (&action.page, false),
        };
        if backfilled {
            *self.backfilled.change(self.latest_mark) += moment.count();
        }
        if self.page.is_none() {
            self.page = page.clone().map(|page| (page, teller));
        }
        self.sequence += moment.count();
        let is_error = match &event {
            Event::Console(console) => self.messages.record(moment, console, &self.rules, &mut self.notables),
            Event::Network(request) => self.endpoints.record(moment, request, &self.rules, &mut self.notables),
            Event::Websocket(socket) => self.sockets.record(moment, socket, &self.rules),
            Event::Action(action) => self.act(moment, action.clone()),
        };
        let (key, thing) = self.newest(event.category());
        self.log.record(moment, key, thing, event);
        if is_error {
            self.error_end = self.sequence;
        }
    }

    /// To which group the newest event of a category went, and to which thing in it.
    fn newest(&self, category: Category) -> (u64, u64) {
        let newest = match category {
            Category::Console => self.messages.ring.last().map(|said| (said.key, log::thing(said.key, ()))),
            Category::Network => {
                let newest = self.endpoints.ring.last();
                newest.map(|requested| (requested.key, log::thing(requested.key, requested.outcome)))
            }
            Category::Websocket => {
                self.sockets.ring.last().map(|happened| (happened.key, log::thing(happened.key, happened.what)))
            }
            Category::Actions => None,
        };
        newest.unwrap_or_default()
    }

    /// A message turns out to come from other places in the code.
    pub fn place(&mut self, was: &Prepared, is: &Prepared) {
        if let (Event::Console(was), Event::Console(is)) = (&was.happened.event, &is.happened.event)
            && let Some(moved) = self.messages.place(was, is)
        {
            self.log.place(moved, was, is);
        }
    }

    /// A rejection was handled after it was told.
    pub fn handled(&mut self, said: &Prepared, now: Timestamp) {
        if let Event::Console(said) = &said.happened.event
            && self.messages.handled(said, self.sequence, self.latest_mark, now)
        {
            // So that a later mark is another one.
            self.sequence += 1;
        }
    }

    fn act(&mut self, moment: Moment, action: Action) -> bool {
        if matches!(action.kind, ActionKind::Navigate | ActionKind::Route) {
            let is_own = |(_, teller): &(String, Teller)| *teller == moment.teller;
            if moment.teller.is_believed() || self.page.as_ref().is_none_or(is_own) {
                self.page = Some((action.target.clone(), moment.teller));
            }
        }
        if action.kind == ActionKind::Navigate {
            self.notables.navigation(action.time, &action.target);
            // The window since a load begins with the load itself.
            let before = Mark { sequence: moment.sequence, positions: self.positions() };
            self.latest_mark = before.sequence.max(self.latest_mark);
            self.loads_unswept += 1;
            if self.loads.len() < LOADS || self.loads.contains_key(&moment.teller) {
                self.loads.insert(moment.teller, (before, action.time));
            }
        }
        let noise = self.rules.noise(&crate::noise::Subject {
            category: Category::Actions,
            level: None,
            text: &action.target,
            source: "",
            url: action.page.as_deref().unwrap_or_default(),
            method: "",
            status: None,
        });
        let noise = noise.is_some();
        let number = self.log.next(Category::Actions) + moment.count() - 1;
        self.actions.push(Acted { action, number, noise }, moment.times);
        false
    }

    /// Whether a rule says that nothing about such a request matters.
    pub(crate) fn is_noise(&self, asked: &AskedFor) -> bool {
        let subject = crate::noise::Subject {
            category: Category::Network,
            level: None,
            text: "",
            source: "",
            url: &asked.url,
            method: &asked.method,
            status: None,
        };
        self.rules.noise(&subject).is_some()
    }

    /// Judges what is known already by the rules as they are now.
    pub fn judge_again(&mut self) {
        self.messages.judge(&self.rules);
        self.endpoints.judge(&self.rules);
        self.sockets.judge(&self.rules);
    }

    /// This moment, to be asked about later.
    pub fn mark(&mut self) -> Mark {
        self.latest_mark = self.sequence;
        self.now()
    }

    /// This moment.
    pub fn now(&self) -> Mark {
        Mark { sequence: self.sequence, positions: self.positions() }
    }

    fn positions(&self) -> [u64; 4] {
        [self.messages.ring.end(), self.endpoints.ring.end(), self.sockets.ring.end(), self.actions.end()]
    }

    /// Whether so many pages were loaded that marks pile up of which only the latest is asked about.
    pub fn has_loads_to_sweep(&self) -> bool {
        self.loads_unswept >= SWEEP
    }

    /// Forgets what only marks other than `live` need; the start is always live.
    pub fn keep_marks(&mut self, mut live: Vec<u64>) {
        live.extend(self.loads.values().map(|(mark, _)| mark.sequence));
        self.loads_unswept = 0;
        live.push(0);
        live.sort_unstable();
        live.dedup();
        self.oldest_mark = live.get(1).copied().unwrap_or(self.sequence);
        self.backfilled.keep(&live);
        self.told_otherwise.keep(&live);
        self.cut.keep(&live);
        self.messages.keep_marks(&live);
        self.endpoints.keep_marks(&live);
        self.sockets.keep_marks(&live);
    }

    /// Whether an error that is no noise happened since a mark.
    pub fn has_error_since(&self, mark: Mark) -> bool {
        self.error_end > mark.sequence
    }

    /// How many events since a mark happened before anybody watched.
    pub fn backfilled_since(&self, mark: Mark) -> u64 {
        self.backfilled.now() - self.backfilled.at(mark.sequence)
    }

    /// Something happened that is no event, so that a later mark is another one; the place of what happened.
    pub fn step(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// How many different things are known.
    pub fn groups(&self) -> usize {
        self.messages.iter().len() + self.endpoints.iter().len() + self.sockets.iter().len()
    }

    /// Events are left out because another source tells the same.
    pub fn told_otherwise(&mut self, count: u64) {
        if count > 0 {
            *self.told_otherwise.change(self.latest_mark) += count;
            // So that a later mark is another one.
            self.sequence += 1;
        }
    }

    /// How many events were left out since a mark because another source told the same.
    pub fn told_otherwise_since(&self, mark: Mark) -> u64 {
        self.told_otherwise.now() - self.told_otherwise.at(mark.sequence)
    }

    /// How many bytes were cut off texts since a mark.
    pub fn cut_since(&self, mark: Mark) -> u64 {
        self.cut.now() - self.cut.at(mark.sequence)
    }

    /// The latest page's address.
    pub fn page(&self) -> Option<&str> {
        self.page.as_ref().map(|(page, _)| page.as_str())
    }

    /// The moment and time of the latest load of a document. Where only pages tell of loads, it is the earliest of their
    /// latest ones: no page can end what is told of another.
    pub fn load(&self) -> Option<(Mark, Timestamp)> {
        let believed = self.loads.get(&Teller::default()).copied();
        believed.or_else(|| self.loads.values().copied().min_by_key(|(mark, _)| mark.sequence))
    }
}
