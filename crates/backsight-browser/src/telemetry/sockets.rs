//! What WebSockets did: one group for each address.

use std::collections::HashMap;
use std::num::NonZeroU32;

use backsight_core::Timestamp;

use super::console::first_characters;
use super::table::{Forgotten, Group, Table, is_rest, ordinary, rest};
use super::{Moment, Teller};
use crate::event::{Category, Side, Socket, SocketEvent};
use crate::marked::Marked;
use crate::noise::{Opener, Rules, Subject, Tool};
use crate::ring::Ring;
use crate::{endpoint, fingerprint, hash};

/// Connections remembered at once.
const CONNECTIONS: usize = 2000;
/// Ways of ending and of failing remembered for each address.
const WAYS: usize = 16;
/// The built-in rule about what hot reload's connections do.
const HOT_RELOAD: &str = "hmr_socket";

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
    tool: Option<Tool>,
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
    /// Whose connections these are, when they are not the app's.
    pub(crate) tool: Option<Tool>,
    /// Since when a tool's connection is lost, while no other is open.
    lost: Option<Timestamp>,
    /// Who tells of it.
    teller: Teller,
    /// The number of the latest event that showed a connection to be open.
    opened_last: Option<u64>,
    pub(crate) last: u64,
    pub(crate) first_time: Timestamp,
    pub(crate) last_time: Timestamp,
    pub(crate) noise: Option<String>,
}

/// One way in which connections end or fail.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) code: Option<u16>,
    /// Who ended them, of those that ended.
    pub(crate) by: Option<Side>,
    /// Whether they never came about.
    unconnected: bool,
    pub(crate) text: String,
    /// What the whole text has in common with others; the one above is cut.
    template: String,
    pub(crate) count: Marked<u64>,
    last: u64,
    pub(crate) first_time: Timestamp,
    pub(crate) last_time: Timestamp,
    pub(crate) noise: Option<String>,
}

/// What tells one way from another.
#[derive(Clone, Copy)]
struct Manner<'a> {
    code: Option<u16>,
    by: Option<Side>,
    unconnected: bool,
    text: &'a str,
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
        let known = || Tool::of(&socket.url, Opener::default());
        let tool = connection.and_then(|connection| connection.tool).or(socket.tool).or_else(known);
        let state = connection.map(|connection| connection.state);
        // A tool and an app may use the same address, each with its own protocol.
        let key = match tool {
            Some(tool) => hash::hash([url.as_str(), tool.source()]),
            None => hash::hash([url.as_str()]),
        };
        let own = ordinary(moment.teller.own(key));
        let address = match self.table.has_place(own, moment.oldest_mark) {
            true => self.table.of(own, || {
                let mut address = Address::new(own, url.clone(), tool, moment);
                address.judge(rules);
                address
            }),
            false => self
                .table
                .of(rest(0), || Address::new(rest(0), "(addresses beyond those kept apart)".to_owned(), None, moment)),
        };
        let what = address.record(moment, &socket.event, state, rules);
        self.ring.push(Happened { time: moment.time, key: address.key, what }, moment.times);
        let is_error = match what {
            What::Failed(way) => address.noise.is_none() && address.errors[way].noise.is_none(),
            _ => false,
        };
        self.connect(id, socket, url, tool);
        is_error
    }

    fn connect(&mut self, id: u64, socket: &Socket, url: String, tool: Option<Tool>) {
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
            self.connections.insert(id, Connection { url, tool, state });
        }
    }

    /// Whoever told of losses is gone, and with it what was lost.
    pub(crate) fn forget_losses(&mut self, teller: Teller) {
        self.table.iter_mut().filter(|address| address.teller == teller).for_each(|address| address.lost = None);
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

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Address> {
        self.table.iter()
    }
}

impl Address {
    fn new(key: u64, url: String, tool: Option<Tool>, moment: Moment) -> Address {
        Address {
            key,
            url,
            opened: Marked::default(),
            events: Marked::default(),
            endings: Vec::new(),
            errors: Vec::new(),
            open_now: 0,
            tool,
            lost: None,
            teller: moment.teller,
            opened_last: None,
            last: moment.sequence,
            first_time: moment.time,
            last_time: moment.time,
            noise: None,
        }
    }

    fn record(&mut self, moment: Moment, event: &SocketEvent, state: Option<State>, rules: &Rules) -> What {
        let judge = |text: &str| noise(rules, &self.url, self.tool, text);
        self.last = moment.sequence;
        self.last_time = self.last_time.max(moment.time);
        *self.events.change(moment.latest_mark) += moment.count();
        let what = match event {
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
            SocketEvent::Error { message } => {
                let unconnected = state != Some(State::Open);
                let manner = Manner { code: None, by: None, unconnected, text: message };
                What::Failed(count(&mut self.errors, moment, manner, judge))
            }
            SocketEvent::Close { .. } if state == Some(State::Failed) => What::Nothing,
            // The page that had lost a tool's connection is gone.
            SocketEvent::Close { by: Some(Side::Page), .. } if state.is_none() && self.tool.is_some() => What::Nothing,
            SocketEvent::Close { code, reason, by } => {
                self.open_now = self.open_now.saturating_sub(moment.count() * u64::from(state.is_some()));
                let manner = Manner { code: *code, by: *by, unconnected: false, text: reason };
                What::Ended(count(&mut self.endings, moment, manner, judge))
            }
        };
        self.follow(moment, event);
        what
    }

    /// Whether a connection is open now, as far as this event shows it.
    fn follow(&mut self, moment: Moment, event: &SocketEvent) {
        match event {
            SocketEvent::Open | SocketEvent::Message { .. } => {
                self.opened_last = Some(moment.sequence);
                self.lost = None;
            }
            SocketEvent::Close { by: Some(Side::Page), .. } => self.lost = None,
            SocketEvent::Error { .. } | SocketEvent::Close { .. } if self.open_now == 0 => {
                self.lost.get_or_insert(moment.time);
            }
            SocketEvent::Error { .. } | SocketEvent::Close { .. } => {}
        }
    }

    /// Since when the dev server's connection is lost, and nothing but a built-in rule keeps that from being told.
    pub(crate) fn dev_server_lost(&self) -> Option<Timestamp> {
        let is_hidden = self.noise.as_deref() == Some(HOT_RELOAD);
        self.lost.filter(|_| is_hidden && self.tool.is_some_and(Tool::is_dev_server))
    }

    /// Whether connections that failed in this way have come about since.
    pub(crate) fn has_recovered(&self, way: &Way) -> bool {
        way.unconnected && self.open_now > 0 && self.opened_last.is_some_and(|opened| opened > way.last)
    }

    fn judge(&mut self, rules: &Rules) {
        self.noise = noise(rules, &self.url, self.tool, "");
        for way in self.endings.iter_mut().chain(&mut self.errors) {
            way.noise = noise(rules, &self.url, self.tool, &way.text);
        }
    }
}

/// The rule by which something at an address is noise.
fn noise(rules: &Rules, url: &str, tool: Option<Tool>, text: &str) -> Option<String> {
    let source = tool.map(Tool::source).unwrap_or_default();
    let category = Category::Websocket;
    let subject = Subject { category, level: None, text, source, url, method: "", status: None };
    rules.noise(&subject).map(str::to_owned)
}

/// Counts a way; its number.
fn count(ways: &mut Vec<Way>, moment: Moment, manner: Manner<'_>, judge: impl FnOnce(&str) -> Option<String>) -> usize {
    let Manner { code, by, unconnected, text } = manner;
    let template = fingerprint::template(text);
    let noise = judge(text);
    let same = |way: &Way| {
        (way.code, way.by, way.unconnected) == (code, by, unconnected)
            && way.noise.is_some() == noise.is_some()
            && way.template == template
    };
    let place = ways.iter().position(same).unwrap_or_else(|| {
        if ways.len() == WAYS {
            return WAYS - 1;
        }
        let text = first_characters(text, 120);
        let (first_time, last_time, last) = (moment.time, moment.time, moment.sequence);
        let count = Marked::default();
        ways.push(Way { code, by, unconnected, text, template, count, last, first_time, last_time, noise });
        ways.len() - 1
    });
    let way = &mut ways[place];
    *way.count.change(moment.latest_mark) += moment.count();
    way.last = moment.sequence;
    way.last_time = way.last_time.max(moment.time);
    place
}
