//! What a question is about: everything after a moment, compared with what was known at that moment.

use std::collections::HashMap;

use backsight_core::Timestamp;

use crate::event::Category;
use crate::known::Known;
use crate::marked::Marked;
use crate::telemetry::console::Message;
use crate::telemetry::network::{self, EndpointState, Outcome};
use crate::telemetry::sockets::{Address, Way, What};
use crate::telemetry::{Mark, Telemetry, is_rest};

/// Where a window begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Start {
    /// At a moment that was marked.
    Mark(Mark),
    /// At a time, of which only the rings know what came after.
    Time(Timestamp),
}

/// What a question is about.
pub(crate) struct Window<'a> {
    telemetry: &'a Telemetry,
    start: Start,
    /// What to compare with instead of what this run knew at the start.
    known: Option<&'a Known>,
    /// Whether that is what a baseline expects, so that what it knows is nothing new.
    expects: bool,
    /// For a start at a time: how often each thing is in the rings since.
    counted: HashMap<(Category, u64, Thing), u64>,
    /// For a start at a time: how each endpoint answered last before it.
    answered: HashMap<u64, Outcome>,
}

/// What is counted within a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Thing {
    Message,
    Outcome(Outcome),
    Socket(What),
}

impl<'a> Window<'a> {
    pub(crate) fn new(telemetry: &'a Telemetry, start: Start, known: Option<&'a Known>) -> Self {
        let (counted, answered) = Default::default();
        let mut window = Window { telemetry, start, known, expects: false, counted, answered };
        if let Start::Time(time) = start {
            window.scan(time);
        }
        window
    }

    /// What is known is what a baseline expects.
    pub(crate) fn expecting(self, expects: bool) -> Self {
        Window { expects, ..self }
    }

    /// Whether a baseline that the window is compared with knows this message.
    pub(crate) fn is_expected(&self, message: &Message) -> bool {
        self.expects && self.is_recurring(message)
    }

    /// Whether the window is compared with a baseline.
    pub(crate) fn expects(&self) -> bool {
        self.expects
    }

    fn scan(&mut self, after: Timestamp) {
        let counted = &mut self.counted;
        let mut count = |category, key, thing| *counted.entry((category, key, thing)).or_insert(0) += 1;
        for said in self.telemetry.messages.ring.iter().filter(|said| said.time > after) {
            count(Category::Console, self.telemetry.messages.key_now(said.key), Thing::Message);
        }
        for requested in self.telemetry.endpoints.ring.iter() {
            match (requested.time > after, requested.outcome) {
                (true, Some(outcome)) => count(Category::Network, requested.key, Thing::Outcome(outcome)),
                (false, Some(outcome)) => drop(self.answered.insert(requested.key, outcome)),
                (_, None) => {}
            }
        }
        for happened in self.telemetry.sockets.ring.iter().filter(|happened| happened.time > after) {
            count(Category::Websocket, happened.key, Thing::Socket(happened.what));
        }
    }

    /// The number of the first event within.
    fn sequence(&self) -> u64 {
        match self.start {
            Start::Mark(mark) => mark.sequence,
            Start::Time(_) => 0,
        }
    }

    fn count(&self, group: (Category, u64, Thing), count: &Marked<u64>, (first, last): (Timestamp, Timestamp)) -> u64 {
        match self.start {
            Start::Mark(mark) => count.now() - count.at(mark.sequence),
            Start::Time(after) => match self.counted.get(&group) {
                Some(count) => *count,
                None if last <= after => 0,
                // The rings have forgotten them; some of them at least lie within.
                None if first > after => *count.now(),
                None => 1,
            },
        }
    }

    pub(crate) fn said(&self, message: &Message) -> u64 {
        let group = (Category::Console, message.key, Thing::Message);
        self.count(group, &message.count, (message.first_time, message.last_time))
    }

    /// How often it turned out within to be no error.
    pub(crate) fn handled(&self, message: &Message) -> u64 {
        match self.start {
            Start::Mark(mark) => message.handled.now() - message.handled.at(mark.sequence),
            Start::Time(after) if message.handled_time > after => *message.handled.now(),
            Start::Time(_) => 0,
        }
    }

    /// Whether it had been said before.
    pub(crate) fn is_recurring(&self, message: &Message) -> bool {
        match (self.known, self.start) {
            // Nobody knows which of them had been.
            _ if is_rest(message.key) => false,
            (Some(known), _) => {
                let mut before = self.telemetry.messages.keys_before(message.key);
                known.has_said(message.key) || before.any(|key| known.has_said(key))
            }
            (None, Start::Mark(mark)) => *message.count.at(mark.sequence) > 0,
            (None, Start::Time(after)) => message.first_time <= after,
        }
    }

    pub(crate) fn answered(&self, endpoint: &network::Known, counted: &network::Counted) -> u64 {
        let group = (Category::Network, endpoint.key, Thing::Outcome(counted.outcome));
        self.count(group, &counted.count, (counted.first_time, counted.last_time))
    }

    /// What was known of an endpoint; nothing when it had not been seen.
    pub(crate) fn before(&self, endpoint: &network::Known) -> Option<EndpointState> {
        match (self.known, self.start) {
            (Some(known), _) => known.endpoint(&endpoint.endpoint.to_string()),
            (None, Start::Mark(mark)) => Some(*endpoint.state.at(mark.sequence)).filter(|state| state.count > 0),
            (None, Start::Time(after)) => {
                let outcome = self.answered.get(&endpoint.key).copied().or_else(|| remembered(endpoint, after))?;
                Some(EndpointState {
                    status: outcome.status,
                    failing: outcome.is_failure(),
                    cause: outcome.cause,
                    count: 1,
                    median_ms: None,
                })
            }
        }
    }

    /// The median durations of an endpoint before and since, where there is enough to compare.
    pub(crate) fn medians(&self, endpoint: &network::Known, before: &EndpointState) -> Option<(u32, u32)> {
        match self.start {
            Start::Mark(mark) => Some((before.median_ms?, endpoint.median_since(mark.sequence)?)),
            Start::Time(after) => {
                let times = |is_within: bool| -> Vec<f32> {
                    let ring = self.telemetry.endpoints.ring.iter();
                    ring.filter(|asked| asked.key == endpoint.key && (asked.time > after) == is_within)
                        .filter(|asked| asked.outcome.is_some_and(|outcome| !outcome.is_failure()))
                        .filter_map(|asked| asked.milliseconds)
                        .collect()
                };
                Some((network::median(times(false))?, network::median(times(true))?))
            }
        }
    }

    pub(crate) fn opened(&self, address: &Address) -> u64 {
        let group = (Category::Websocket, address.key, Thing::Socket(What::Opened));
        self.count(group, &address.opened, (address.first_time, address.last_time))
    }

    pub(crate) fn went(&self, address: &Address, what: What, way: &Way) -> u64 {
        let group = (Category::Websocket, address.key, Thing::Socket(what));
        self.count(group, &way.count, (way.first_time, way.last_time))
    }

    /// Whether anything of a group can lie within, by its latest event.
    pub(crate) fn reaches(&self, last: u64) -> bool {
        last >= self.sequence()
    }

    /// How many events of a category lie within, and how many of those are gone from the ring.
    pub(crate) fn totals(&self, category: Category) -> (u64, u64) {
        let telemetry = self.telemetry;
        match self.start {
            Start::Mark(mark) => {
                let position = mark.position(category);
                let now = telemetry.now().position(category);
                let lost = match category {
                    Category::Console => telemetry.messages.ring.lost_since(position),
                    Category::Network => telemetry.endpoints.ring.lost_since(position),
                    Category::Websocket => telemetry.sockets.ring.lost_since(position),
                    Category::Actions => telemetry.actions.lost_since(position),
                };
                (now - position, lost)
            }
            Start::Time(after) => match category {
                Category::Console => times(telemetry.messages.ring.iter().map(|said| said.time), after),
                Category::Network => times(telemetry.endpoints.ring.iter().map(|asked| asked.time), after),
                Category::Websocket => times(telemetry.sockets.ring.iter().map(|event| event.time), after),
                Category::Actions => times(telemetry.actions.iter().map(|acted| acted.action.time), after),
            }
            .with_lost(telemetry, category),
        }
    }

    /// The actions within that are still known.
    pub(crate) fn actions(&self) -> Box<dyn Iterator<Item = &'a crate::telemetry::Acted> + 'a> {
        match self.start {
            Start::Mark(mark) => Box::new(self.telemetry.actions.since(mark.position(Category::Actions))),
            Start::Time(after) => {
                Box::new(self.telemetry.actions.iter().filter(move |acted| acted.action.time > after))
            }
        }
    }

    pub(crate) fn told_otherwise(&self) -> u64 {
        match self.start {
            Start::Mark(mark) => self.telemetry.told_otherwise_since(mark),
            Start::Time(_) => 0,
        }
    }

    pub(crate) fn cut(&self) -> u64 {
        match self.start {
            Start::Mark(mark) => self.telemetry.cut_since(mark),
            Start::Time(_) => 0,
        }
    }

    pub(crate) fn backfilled(&self) -> u64 {
        match self.start {
            Start::Mark(mark) => self.telemetry.backfilled_since(mark),
            Start::Time(_) => 0,
        }
    }
}

/// How an endpoint answered last before a time that the ring has forgotten, as far as its ways of answering tell: the latest
/// one that was over by then. One that may have come in between counts only if it is a success, so that a failure after the
/// time is never taken for an old one.
fn remembered(endpoint: &network::Known, after: Timestamp) -> Option<Outcome> {
    let seen = || endpoint.outcomes.iter().filter(|counted| counted.first_time <= after);
    let between = seen().find(|counted| counted.last_time > after && !counted.outcome.is_failure());
    let over = || seen().filter(|counted| counted.last_time <= after).max_by_key(|counted| counted.last_time);
    between.or_else(over).or_else(|| seen().next()).map(|counted| counted.outcome)
}

/// What a ring knows of a time.
struct Times {
    within: u64,
    /// Whether even the oldest lies within, so that those before it may.
    reaches_back: bool,
}

fn times(times: impl Iterator<Item = Timestamp>, after: Timestamp) -> Times {
    let mut found = Times { within: 0, reaches_back: true };
    for (number, time) in times.enumerate() {
        found.within += u64::from(time > after);
        found.reaches_back &= number > 0 || time > after;
    }
    found
}

impl Times {
    fn with_lost(self, telemetry: &Telemetry, category: Category) -> (u64, u64) {
        let lost = match category {
            Category::Console => telemetry.messages.ring.lost_since(0),
            Category::Network => telemetry.endpoints.ring.lost_since(0),
            Category::Websocket => telemetry.sockets.ring.lost_since(0),
            Category::Actions => telemetry.actions.lost_since(0),
        };
        (self.within, if self.reaches_back { lost } else { 0 })
    }
}
