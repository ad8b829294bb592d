//! What WebSockets did: one group for each address.

use std::collections::HashMap;
use std::num::NonZeroU32;

use backsight_core::Timestamp;

use super::Moment;
use super::console::first_characters;
use super::table::{Forgotten, Group, Table, is_rest, ordinary, rest};
use crate::event::{Category, Socket, SocketEvent};
use crate::marked::Marked;
use crate::noise::{Rules, Subject};
use crate::ring::Ring;
use crate::{endpoint, fingerprint, hash};

/// Connections remembered at once.
const CONNECTIONS: usize = 2000;
/// Ways of ending and of failing remembered for each address.
const WAYS: usize = 16;

/// What WebSockets did.
#[derive(Debug)]
pub(crate) struct Sockets {
    pub(crate) ring: Ring<Happened>,
    table: Table<Address>,
    /// By the hash of their ids, which are as long as a page likes.
    connections: HashMap<u64, Connection>,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Happened {
    pub(crate) time: Timestamp,
    pub(crate) key: u64,
    pub(crate) what: What,
}

/// What an event was: the number of its way of ending or failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Opened,
    Message,
    Failed(usize),
    Ended(usize),
    /// The end of a connection that never came about.
    Nothing,
}

#[derive(Clone, Debug)]
struct Connection {
    url: String,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// It never came about, so its end is no disconnection.
    Failed,
}

/// Everything that happened at one address.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) key: u64,
    pub(crate) url: String,
    pub(crate) opened: Marked<u64>,
    pub(crate) events: Marked<u64>,
    pub(crate) endings: Vec<Way>,
    pub(crate) errors: Vec<Way>,
    pub(crate) open_now: u64,
    pub(crate) last: u64,
    pub(crate) first_time: Timestamp,
    pub(crate) last_time: Timestamp,
    pub(crate) noise: Option<String>,
}

/// One way in which connections end or fail.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) code: Option<u16>,
    pub(crate) text: String,
    /// What the whole text has in common with others; the one above is cut.
    template: String,
    pub(crate) count: Marked<u64>,
    pub(crate) first_time: Timestamp,
    pub(crate) last_time: Timestamp,
    pub(crate) noise: Option<String>,
}

impl Group for Address {
    fn key(&self) -> u64 {
        self.key
    }

    fn last(&self) -> u64 {
        self.last
    }
}

impl Sockets {
    pub(super) fn new(room: usize, groups: usize) -> Self {
        Sockets { ring: Ring::new(room), table: Table::new(groups), connections: HashMap::new() }
    }

    /// Counts an event; whether it is an error that matters.
    pub(super) fn record(&mut self, moment: Moment, socket: &Socket, rules: &Rules) -> bool {
        // The first time may change the connection's state; all further ones find it as the first one left it.
        let matters = self.count(Moment { times: NonZeroU32::MIN, ..moment }, socket, rules);
        match NonZeroU32::new(moment.times.get() - 1) {
            Some(times) => self.count(Moment { times, ..moment }, socket, rules) || matters,
            None => matters,
        }
    }

    fn count(&mut self, moment: Moment, socket: &Socket, rules: &Rules) -> bool {
        let id = hash::hash([socket.id.as_str()]);
        let connection = self.connections.get(&id);
        let url = match (socket.url.as_str(), connection) {
            ("", Some(connection)) => connection.url.clone(),
            ("", None) => "(opened before the watching began)".to_owned(),
            (url, _) => endpoint::template(url),
        };
        let state = connection.map(|connection| connection.state);
        let own = ordinary(moment.teller.own(hash::hash([url.as_str()])));
        let address = match self.table.has_place(own, moment.oldest_mark) {
            true => self.table.of(own, || {
                let mut address = Address::new(own, url.clone(), moment);
                address.judge(rules);
                address
            }),
            false => self
                .table
                .of(rest(0), || Address::new(rest(0), "(addresses beyond those kept apart)".to_owned(), moment)),
        };
        let what = address.record(moment, &socket.event, state, rules);
        self.ring.push(Happened { time: moment.time, key: address.key, what }, moment.times);
        let is_error = match what {
            What::Failed(way) => address.noise.is_none() && address.errors[way].noise.is_none(),
            _ => false,
        };
        self.connect(id, socket, url);
        is_error
    }

    fn connect(&mut self, id: u64, socket: &Socket, url: String) {
        let state = match socket.event {
            SocketEvent::Close { .. } => {
                self.connections.remove(&id);
                return;
            }
            SocketEvent::Open | SocketEvent::Message { .. } => State::Open,
            SocketEvent::Error { .. } => match self.connections.get(&id) {
                Some(connection) => connection.state,
                None => State::Failed,
            },
        };
        if self.connections.len() < CONNECTIONS || self.connections.contains_key(&id) {
            self.connections.insert(id, Connection { url, state });
        }
    }

    pub(super) fn judge(&mut self, rules: &Rules) {
        // What is counted together with others is never noise.
        let apart = self.table.iter_mut().filter(|address| !is_rest(address.key));
        apart.for_each(|address| address.judge(rules));
    }

    pub(super) fn keep_marks(&mut self, live: &[u64]) {
        for address in self.table.iter_mut() {
            address.opened.keep(live);
            address.events.keep(live);
            address.endings.iter_mut().chain(&mut address.errors).for_each(|way| way.count.keep(live));
        }
    }

    pub(crate) fn forgotten(&self) -> Forgotten {
        self.table.forgotten()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Address> {
        self.table.iter()
    }
}

impl Address {
    fn new(key: u64, url: String, moment: Moment) -> Address {
        Address {
            key,
            url,
            opened: Marked::default(),
            events: Marked::default(),
            endings: Vec::new(),
            errors: Vec::new(),
            open_now: 0,
            last: moment.sequence,
            first_time: moment.time,
            last_time: moment.time,
            noise: None,
        }
    }

    fn record(&mut self, moment: Moment, event: &SocketEvent, state: Option<State>, rules: &Rules) -> What {
        let judge = |text: &str| noise(rules, &self.url, text);
        self.last = moment.sequence;
        self.last_time = self.last_time.max(moment.time);
        *self.events.change(moment.latest_mark) += moment.count();
        match event {
            SocketEvent::Open => {
                *self.opened.change(moment.latest_mark) += moment.count();
                self.open_now += moment.count();
                What::Opened
            }
            SocketEvent::Message { .. } => {
                // Whoever speaks is connected, whether or not somebody watched it connect.
                self.open_now += moment.count() * u64::from(state.is_none());
                What::Message
            }
            SocketEvent::Error { message } => What::Failed(count(&mut self.errors, moment, None, message, judge)),
            SocketEvent::Close { .. } if state == Some(State::Failed) => What::Nothing,
            SocketEvent::Close { code, reason } => {
                self.open_now = self.open_now.saturating_sub(moment.count() * u64::from(state.is_some()));
                What::Ended(count(&mut self.endings, moment, *code, reason, judge))
            }
        }
    }

    fn judge(&mut self, rules: &Rules) {
        self.noise = noise(rules, &self.url, "");
        for way in self.endings.iter_mut().chain(&mut self.errors) {
            way.noise = noise(rules, &self.url, &way.text);
        }
    }
}

/// The rule by which something at an address is noise.
fn noise(rules: &Rules, url: &str, text: &str) -> Option<String> {
    let category = Category::Websocket;
    let subject = Subject { category, level: None, text, source: "", url, method: "", status: None };
    rules.noise(&subject).map(str::to_owned)
}

/// Counts a way; its number.
fn count(
    ways: &mut Vec<Way>,
    moment: Moment,
    code: Option<u16>,
    text: &str,
    judge: impl FnOnce(&str) -> Option<String>,
) -> usize {
    let template = fingerprint::template(text);
    let noise = judge(text);
    let same = |way: &Way| way.code == code && way.noise.is_some() == noise.is_some() && way.template == template;
    let place = ways.iter().position(same).unwrap_or_else(|| {
        if ways.len() == WAYS {
            return WAYS - 1;
        }
        let text = first_characters(text, 120);
        let (first_time, last_time) = (moment.time, moment.time);
        ways.push(Way { code, text, template, count: Marked::default(), first_time, last_time, noise });
        ways.len() - 1
    });
    let way = &mut ways[place];
    *way.count.change(moment.latest_mark) += moment.count();
    way.last_time = way.last_time.max(moment.time);
    place
}
