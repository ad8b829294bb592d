//! What was requested: one group for each endpoint, and in it one for each way it answered.

use std::collections::{BTreeMap, VecDeque};

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Moment;
use super::console::first_characters;
use super::table::{Forgotten, Group, Table, is_rest, ordinary, rest};
use crate::bounds;
use crate::endpoint::Endpoint;
use crate::event::{Category, Request};
use crate::hash;
use crate::marked::Marked;
use crate::noise::{Rules, Subject};
use crate::notable::Notables;
use crate::request_state::{RequestState, Says};
use crate::ring::Ring;
use crate::shape;
use crate::words;

/// Durations remembered for each endpoint.
const TIMES: usize = 64;
/// Ways of answering remembered for each endpoint.
const OUTCOMES: usize = 32;
/// Bytes of an address that is remembered for each of them.
const ADDRESS: usize = 1 << 10;
/// Characters of a failure's explanation.
const DETAIL: usize = 160;
/// A median of fewer durations says nothing: the first one pays for everything that starts cold.
const ENOUGH: usize = 3;

/// Kinds of requests that are parts of a page and no interface, as browsers and as pages call them.
const STATIC: [&str; 13] = [
    "script",
    "stylesheet",
    "image",
    "font",
    "media",
    "manifest",
    "texttrack",
    "prefetch",
    "img",
    "css",
    "link",
    "video",
    "audio",
];
/// Kinds that are documents.
const DOCUMENTS: [&str; 4] = ["document", "navigation", "iframe", "frame"];

/// What was requested.
#[derive(Debug)]
pub(crate) struct Endpoints {
    pub(crate) ring: Ring<Requested>,
    table: Table<Known>,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requested {
    pub(crate) time: Timestamp,
    pub(crate) key: u64,
    /// Nothing when the page gave it up, which says nothing about the endpoint.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) milliseconds: Option<f32>,
}

/// How a request ended, as far as endpoints are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Outcome {
    pub(crate) status: u16,
    pub(crate) state: RequestState,
    /// What broke it, when the status does not say so; see [`EndpointState::cause`].
    pub(crate) cause: u32,
}

impl Outcome {
    fn of(request: &Request) -> Outcome {
        let state = RequestState::of(request);
        let cause = match (state, &request.failure) {
            (RequestState::Broken, Some(failure)) => cause(failure),
            _ => 0,
        };
        Outcome { status: request.status, state, cause }
    }

    /// Whether the request failed.
    pub(crate) fn is_failure(self) -> bool {
        self.state.is_failure()
    }
}

/// A number for why a request broke. How long it took and which port it was are no other cause.
fn cause(failure: &str) -> u32 {
    let words: String = failure.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    // Never 0, which is none.
    (hash::hash([words.as_str()]) as u32).max(1)
}

/// What is known of an endpoint at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct EndpointState {
    /// Its latest status.
    pub status: u16,
    /// Whether the latest request failed.
    pub failing: bool,
    /// What broke the latest request, as a number that is the same for the same cause; 0 when nothing did.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cause: u32,
    /// How many requests there were.
    pub count: u64,
    /// The median duration of those that succeeded lately, if there were enough and it is an interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<u32>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl EndpointState {
    /// Whether it failed in this way.
    pub(crate) fn fails_like(&self, outcome: Outcome) -> bool {
        self.failing && (self.status, self.cause) == (outcome.status, outcome.cause)
    }
}

/// An endpoint and what is known of it.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) key: u64,
    pub(crate) endpoint: Endpoint,
    /// Whether it is told by somebody who is believed, and not by a page about itself.
    is_believed: bool,
    pub(crate) state: Marked<EndpointState>,
    pub(crate) outcomes: Vec<Counted>,
    /// The latest successes: when, and how long they took.
    times: VecDeque<(u64, f32)>,
    /// How long the longest of all successes took, in milliseconds.
    longest: f32,
    /// The shape of the latest whole answer.
    pub(crate) shape: Option<String>,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) last_time: Timestamp,
    pub(crate) noise: Option<String>,
    /// A script, style, picture or the like: part of a page and no interface.
    pub(crate) is_static: bool,
}

/// One way in which an endpoint answers.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) outcome: Outcome,
    pub(crate) count: Marked<u64>,
    /// Why it failed, as last told.
    pub(crate) detail: String,
    pub(crate) first_time: Timestamp,
    pub(crate) last: u64,
    pub(crate) last_time: Timestamp,
    pub(crate) noise: Option<String>,
    url: String,
}

impl Group for Known {
    fn key(&self) -> u64 {
        self.key
    }

    fn last(&self) -> u64 {
        self.last
    }
}

impl Endpoints {
    pub(super) fn new(room: usize, groups: usize) -> Self {
        Endpoints { ring: Ring::new(room), table: Table::new(groups) }
    }

    /// Counts a request; whether it is a failure that matters.
    pub(super) fn record(&mut self, moment: Moment, request: &Request, rules: &Rules, notables: &mut Notables) -> bool {
        let endpoint = Endpoint::of(&request.method, &request.url, request.operation.as_deref());
        let key = key(&endpoint);
        let own = ordinary(moment.teller.own(key));
        let known = match self.table.has_place(own, moment.oldest_mark) {
            true => self.table.of(own, || Known::new(own, endpoint, moment)),
            false => {
                let path = "(endpoints beyond those kept apart)".to_owned();
                let endpoint = Endpoint { method: "ANY".to_owned(), origin: String::new(), path };
                self.table.of(rest(0), || Known::new(rest(0), endpoint, moment))
            }
        };
        let outcome = Outcome::of(request);
        if outcome.state == RequestState::GivenUp {
            let requested = Requested { time: moment.time, key: known.key, outcome: None, milliseconds: None };
            self.ring.push(requested, moment.times);
            return false;
        }
        let before = *known.state.now();
        let requested = known.record(moment, request, outcome, rules);
        self.ring.push(requested, moment.times);
        let counted = known.outcomes.iter().find(|counted| counted.last == moment.sequence);
        let matters = outcome.is_failure() && counted.is_some_and(|counted| counted.noise.is_none());
        let name = || format!("{} {}", known.endpoint.method, known.endpoint.shown(None));
        match (before.failing && before.count > 0, outcome.is_failure()) {
            (false, true) if matters => notables.failure(moment.time, &name(), request.status),
            (true, false) => notables.recovery(moment.time, &name(), before.status, request.status),
            _ => {}
        }
        matters
    }

    pub(super) fn judge(&mut self, rules: &Rules) {
        // What is counted together with others is never noise.
        for known in self.table.iter_mut().filter(|known| !is_rest(known.key)) {
            let method = known.endpoint.method.clone();
            for counted in &mut known.outcomes {
                counted.noise = counted.judged(&method, rules);
            }
            known.noise = known.judged();
        }
    }

    pub(super) fn keep_marks(&mut self, live: &[u64]) {
        for known in self.table.iter_mut() {
            known.state.keep(live);
            known.outcomes.iter_mut().for_each(|counted| counted.count.keep(live));
        }
    }

    pub(crate) fn forgotten(&self) -> Forgotten {
        self.table.forgotten()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Known> {
        self.table.iter()
    }

    /// How long an endpoint took at most when it answered well, in milliseconds; 0 when it never did.
    pub(crate) fn longest(&self, endpoint: &Endpoint) -> i64 {
        let key = ordinary(key(endpoint));
        self.table.iter().find(|known| known.key == key).map_or(0, |known| known.longest as i64)
    }

    /// Each endpoint that was requested once. Of those that several tell of, it is as whoever is believed says; if only
    /// pages tell of it, it fails when it does for one of them.
    pub(crate) fn by_name<'a>(&'a self) -> BTreeMap<String, &'a Known> {
        let mut named: BTreeMap<String, &'a Known> = BTreeMap::new();
        let rank = |known: &Known| (known.is_believed, known.state.now().failing);
        for known in self.table.iter().filter(|known| known.state.now().count > 0) {
            let place = named.entry(known.endpoint.to_string()).or_insert(known);
            if rank(known) > rank(place) {
                *place = known;
            }
        }
        named
    }
}

impl Known {
    fn new(key: u64, endpoint: Endpoint, moment: Moment) -> Known {
        Known {
            key,
            endpoint,
            is_believed: moment.teller.is_believed(),
            state: Marked::default(),
            outcomes: Vec::new(),
            times: VecDeque::new(),
            longest: 0.0,
            shape: None,
            first: moment.sequence,
            last: moment.sequence,
            last_time: moment.time,
            noise: None,
            is_static: false,
        }
    }

    fn record(&mut self, moment: Moment, request: &Request, outcome: Outcome, rules: &Rules) -> Requested {
        let is_noise = self.count(moment, request, outcome, rules);
        let times = &self.times;
        let state = self.state.change_after(moment.latest_mark, |before| before.median_ms = median_of(times));
        state.status = request.status;
        // What is noise is no state of the endpoint: the next real failure is new.
        state.failing = outcome.is_failure() && !is_noise;
        state.cause = outcome.cause;
        state.count += moment.count();
        self.last = moment.sequence;
        self.last_time = self.last_time.max(moment.time);
        let is_kind = |kinds: &[&str]| request.kind.as_deref().is_some_and(|kind| kinds.contains(&kind));
        self.is_static = is_kind(&STATIC);
        let milliseconds = request.duration_ms.map(|duration| duration as f32).filter(|duration| *duration > 0.0);
        if let (Some(milliseconds), false) = (milliseconds, outcome.is_failure()) {
            self.longest = self.longest.max(milliseconds);
        }
        // How long a dev server needs for its pages and modules depends on what it has built already.
        let milliseconds = milliseconds.filter(|_| !self.is_static && !is_kind(&DOCUMENTS));
        if let (Some(milliseconds), false) = (milliseconds, outcome.is_failure()) {
            let times = usize::try_from(moment.times.get()).unwrap_or(TIMES).min(TIMES);
            self.times.drain(..(self.times.len() + times).saturating_sub(TIMES));
            self.times.extend(std::iter::repeat_n((moment.sequence, milliseconds), times));
        }
        if let (Some(body), false) = (&request.response_body, outcome.is_failure()) {
            self.shape = shape::of_json(body).or_else(|| self.shape.take());
        }
        self.noise = self.judged();
        Requested { time: moment.time, key: self.key, outcome: Some(outcome), milliseconds }
    }

    /// Counts a way of answering; whether it is noise.
    fn count(&mut self, moment: Moment, request: &Request, outcome: Outcome, rules: &Rules) -> bool {
        let mut this = Counted {
            outcome,
            count: Marked::default(),
            detail: detail(request, outcome),
            first_time: moment.time,
            last: moment.sequence,
            last_time: moment.time,
            noise: None,
            url: bounds::prefix(&request.url, ADDRESS).to_owned(),
        };
        let known = self.outcomes.iter().position(|counted| counted.outcome == outcome);
        if (outcome.is_failure() || known.is_none()) && !is_rest(self.key) {
            // The same status may be noise for one reason and not for another.
            this.noise = this.judged(&self.endpoint.method, rules);
        }
        let is_same = |counted: &Counted| {
            counted.outcome == outcome && (!outcome.is_failure() || counted.noise.is_some() == this.noise.is_some())
        };
        let place = self.outcomes.iter().position(is_same).unwrap_or_else(|| {
            if self.outcomes.len() == OUTCOMES {
                return OUTCOMES - 1;
            }
            self.outcomes.push(this);
            self.outcomes.len() - 1
        });
        let counted = &mut self.outcomes[place];
        *counted.count.change(moment.latest_mark) += moment.count();
        counted.last = moment.sequence;
        counted.last_time = counted.last_time.max(moment.time);
        if outcome.state.says() >= Says::Warning {
            counted.detail = match is_rest(self.key) {
                true => format!("the latest: {} {}", request.method, first_characters(&request.url, DETAIL)),
                false => detail(request, outcome),
            };
        }
        counted.noise.is_some()
    }

    /// An endpoint is noise when everything it answers is.
    fn judged(&self) -> Option<String> {
        let first = self.outcomes.first()?.noise.clone()?;
        self.outcomes.iter().all(|counted| counted.noise.is_some()).then_some(first)
    }

    /// What is known now.
    pub(crate) fn state_now(&self) -> EndpointState {
        EndpointState { median_ms: median_of(&self.times), ..*self.state.now() }
    }

    /// The median of what took place since an event.
    pub(crate) fn median_since(&self, sequence: u64) -> Option<u32> {
        median(self.times.iter().filter(|(at, _)| *at >= sequence).map(|(_, time)| *time).collect())
    }
}

impl Counted {
    fn judged(&self, method: &str, rules: &Rules) -> Option<String> {
        let subject = Subject {
            category: Category::Network,
            level: None,
            text: &self.detail,
            source: "",
            url: &self.url,
            method,
            status: Some(self.outcome.status),
        };
        rules.noise(&subject).map(str::to_owned)
    }
}

/// What is wrong with a request, in a few words; nothing when nothing is.
fn detail(request: &Request, outcome: Outcome) -> String {
    let words =
        |request: &Request| request.response_body.as_deref().map(words::of_body).filter(|body| !body.is_empty());
    let said = match outcome.state {
        RequestState::Broken => request.failure.clone(),
        RequestState::Refused => words(request).or_else(|| request.failure.clone()),
        RequestState::Complained => words::complaint(request),
        RequestState::Mistaken if request.mime.as_deref() == Some("text/html") => {
            Some("answered with a page (text/html)".to_owned())
        }
        RequestState::Mistaken => {
            let words = request.response_body.as_deref().map(words::of_body).unwrap_or_default();
            Some(format!("says it is JSON and is none: {words}"))
        }
        _ => None,
    };
    first_characters(&said.unwrap_or_default(), DETAIL)
}

/// What endpoints are known by.
fn key(endpoint: &Endpoint) -> u64 {
    hash::hash([endpoint.method.as_str(), &endpoint.origin, &endpoint.path])
}

fn median_of(times: &VecDeque<(u64, f32)>) -> Option<u32> {
    median(times.iter().map(|(_, time)| *time).collect())
}

/// The middle one in whole milliseconds, if there are enough of them.
pub(crate) fn median(mut times: Vec<f32>) -> Option<u32> {
    if times.len() < ENOUGH {
        return None;
    }
    let middle = times.len() / 2;
    let (_, median, _) = times.select_nth_unstable_by(middle, f32::total_cmp);
    Some(median.round() as u32)
}
