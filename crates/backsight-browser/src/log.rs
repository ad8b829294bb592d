//! What happened, one by one and in full: the newest events of each category, each with an id, and of every thing that
//! answers tell about (an error, a failing endpoint, a lost socket) the latest time it happened, also when it is long ago.
//!
//! Nothing here is counted for an answer; groups do that. Memory is bounded in bytes: [`SHELF`] for each category, and
//! [`LATEST`] for the things; what had to go is told as such.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use backsight_core::Timestamp;

use crate::bounds;
use crate::event::{Category, Console, Event, Frame, Level, SocketEvent};
use crate::telemetry::{Limits, Moment};

/// Bytes of the events of one category.
const SHELF: usize = 8 << 20;
/// Bytes of the latest events of all things together.
const LATEST: usize = 8 << 20;
/// Things of which the latest event is kept.
const THINGS: usize = 4_096;
/// Bytes of a message.
const MESSAGE: usize = 8 << 10;
/// Bytes of a body, each way.
const BODY: usize = 16 << 10;

/// What happened, one by one.
#[derive(Debug)]
pub(crate) struct Log {
    shelves: [Shelf; 4],
    things: HashMap<(Category, u64), Thing>,
    bytes: usize,
}

/// The newest events of a category.
#[derive(Debug)]
struct Shelf {
    records: VecDeque<Record>,
    room: usize,
    bytes: usize,
    /// The number of the next one.
    next: u64,
}

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Its number among all of its category, from 1; what happened several times has the numbers from here on.
    pub(crate) number: u64,
    /// Its number among all events.
    pub(crate) sequence: u64,
    /// How often it happened in a row.
    pub(crate) times: u64,
    /// Which thing it is an occurrence of.
    pub(crate) thing: u64,
    /// Which endpoint, message or address it belongs to, as tables know it.
    pub(crate) key: u64,
    pub(crate) event: Arc<Event>,
    /// Bytes that were cut off its texts here.
    pub(crate) cut: u64,
    size: usize,
}

/// A thing that answers tell about, with its latest event.
#[derive(Debug)]
pub(crate) struct Thing {
    /// Its id: the number of its first event.
    pub(crate) number: u64,
    pub(crate) latest: Record,
    pub(crate) count: u64,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
}

/// What an id leads to.
pub(crate) enum Found<'a> {
    /// A thing, shown by its latest event.
    Thing(&'a Thing),
    /// One event.
    Record(&'a Record),
    /// It was there, and had to make room.
    Gone,
    /// There never was one.
    Never,
}

/// Which thing of a table an event belongs to, by the table's key and what else tells things apart there.
pub(crate) fn thing(key: u64, part: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (key, part).hash(&mut hasher);
    hasher.finish()
}

/// An id as it is told: `c12`.
pub(crate) fn id(category: Category, number: u64) -> String {
    format!("{}{number}", letter(category))
}

/// Category and number of an id.
pub(crate) fn parse(id: &str) -> Option<(Category, u64)> {
    let first = id.chars().next()?;
    let category = Category::ALL.into_iter().find(|category| letter(*category) == first)?;
    let number = id.get(1..).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()?;
    Some((category, number))
}

fn letter(category: Category) -> char {
    match category {
        Category::Console => 'c',
        Category::Network => 'n',
        Category::Websocket => 'w',
        Category::Actions => 'a',
    }
}

impl Log {
    pub(crate) fn new(limits: Limits) -> Log {
        let shelf = |room: usize| Shelf { records: VecDeque::new(), room: room.max(1), bytes: 0, next: 1 };
        let rooms = [limits.console, limits.network, limits.websocket, limits.actions];
        Log { shelves: rooms.map(shelf), things: HashMap::new(), bytes: 0 }
    }

    /// Keeps an event; frames of sockets are counted elsewhere, and have nothing to show. `key` is its group's.
    pub(crate) fn record(&mut self, moment: Moment, key: u64, thing: u64, mut event: Event) {
        if matches!(&event, Event::Websocket(socket) if matches!(socket.event, SocketEvent::Message { .. })) {
            return;
        }
        let cut = trim(&mut event);
        let category = event.category();
        let is_told = is_told(&event);
        let shelf = &mut self.shelves[category as usize];
        let (size, number) = (size(&event), shelf.next);
        let (sequence, times, event) = (moment.sequence, moment.count(), Arc::new(event));
        let record = Record { number, sequence, times, thing, key, event, cut, size };
        if is_told {
            self.remember(category, moment, record.clone());
        }
        self.shelves[category as usize].push(record);
    }

    /// A message turns out to come from other places in the code, and its group with `before` as key to be that of `now`.
    pub(crate) fn place(&mut self, (before, now): (u64, u64), was: &Console, is: &Console) {
        let place = |record: &mut Record| {
            record.key = now;
            record.thing = thing(now, ());
            if let Event::Console(said) = &*record.event
                && said.stack == was.stack
            {
                let (stack, causes) = (is.stack.clone(), is.causes.clone());
                record.event = Arc::new(Event::Console(Console { stack, causes, ..said.clone() }));
            }
        };
        let records = self.shelves[Category::Console as usize].records.iter_mut();
        records.filter(|record| record.key == before).for_each(place);
        let Some(mut moved) = self.things.remove(&(Category::Console, thing(before, ()))) else { return };
        place(&mut moved.latest);
        match self.things.entry((Category::Console, thing(now, ()))) {
            Entry::Vacant(free) => drop(free.insert(moved)),
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                self.bytes -= known.latest.size;
                *known = Thing {
                    count: known.count + moved.count,
                    first: known.first.min(moved.first),
                    last: known.last.max(moved.last),
                    number: known.number,
                    latest: moved.latest,
                };
            }
        }
    }

    fn remember(&mut self, category: Category, moment: Moment, record: Record) {
        self.bytes += record.size;
        match self.things.get_mut(&(category, record.thing)) {
            Some(known) => {
                self.bytes -= known.latest.size;
                known.count += record.times;
                known.first = known.first.min(moment.time);
                known.last = known.last.max(moment.time);
                known.latest = record;
            }
            None => {
                let (number, count) = (record.number, record.times);
                let thing = Thing { number, count, first: moment.time, last: moment.time, latest: record };
                self.things.insert((category, thing.latest.thing), thing);
            }
        }
        if self.bytes > LATEST || self.things.len() > THINGS {
            self.make_room();
        }
    }

    /// The quarter of the things that happened longest ago goes.
    fn make_room(&mut self) {
        let mut order: Vec<u64> = self.things.values().map(|thing| thing.latest.sequence).collect();
        let at = order.len() / 4;
        let (_, limit, _) = order.select_nth_unstable(at);
        let limit = *limit;
        self.things.retain(|_, thing| thing.latest.sequence > limit);
        self.bytes = self.things.values().map(|thing| thing.latest.size).sum();
    }

    /// The id of a thing, while its latest event is kept.
    pub(crate) fn id_of(&self, category: Category, thing: u64) -> String {
        self.things.get(&(category, thing)).map(|thing| id(category, thing.number)).unwrap_or_default()
    }

    /// The id of the newest event of a group.
    pub(crate) fn newest(&self, category: Category, key: u64) -> String {
        let newest = self.shelves[category as usize].records.iter().rev().find(|record| record.key == key);
        newest.map(|record| id(category, record.number + record.times - 1)).unwrap_or_default()
    }

    /// What an id leads to. The id of a thing is that of its first event: it leads to the thing as long as it is known.
    pub(crate) fn find(&self, category: Category, number: u64) -> Found<'_> {
        let thing = self.things.iter().find(|((of, _), thing)| *of == category && thing.number == number);
        if let Some((_, thing)) = thing {
            return Found::Thing(thing);
        }
        let shelf = &self.shelves[category as usize];
        match shelf.records.iter().find(|record| (record.number..record.number + record.times).contains(&number)) {
            Some(record) => Found::Record(record),
            None if (1..shelf.next).contains(&number) => Found::Gone,
            None => Found::Never,
        }
    }

    /// The number of the next event of a category.
    pub(crate) fn next(&self, category: Category) -> u64 {
        self.shelves[category as usize].next
    }

    /// What is kept of a category, oldest first.
    pub(crate) fn of(&self, category: Category) -> impl DoubleEndedIterator<Item = &Record> {
        self.shelves[category as usize].records.iter()
    }

    /// How many events of a category had to go.
    pub(crate) fn gone(&self, category: Category) -> u64 {
        let shelf = &self.shelves[category as usize];
        shelf.records.front().map_or(shelf.next - 1, |oldest| oldest.number - 1)
    }
}

impl Shelf {
    fn push(&mut self, record: Record) {
        self.next += record.times;
        self.bytes += record.size;
        self.records.push_back(record);
        while self.records.len() > self.room || self.bytes > SHELF {
            match self.records.pop_front() {
                Some(oldest) => self.bytes -= oldest.size,
                None => break,
            }
        }
    }
}

/// Whether answers may tell about it long after it happened.
fn is_told(event: &Event) -> bool {
    match event {
        Event::Console(console) => console.level >= Level::Warning,
        Event::Network(request) => request.is_failure(),
        Event::Websocket(_) => true,
        Event::Action(_) => false,
    }
}

/// Cuts texts to what is kept of them here; how many bytes are gone.
fn trim(event: &mut Event) -> u64 {
    let mut gone = 0;
    let mut cut = |text: &mut String, most: usize| {
        if text.len() > most {
            let end = bounds::prefix(text, most).len();
            gone += (text.len() - end) as u64;
            text.truncate(end);
            text.shrink_to_fit();
        }
    };
    match event {
        Event::Console(console) => cut(&mut console.message, MESSAGE),
        Event::Network(request) => {
            request.request_body.iter_mut().for_each(|body| cut(body, BODY));
            request.response_body.iter_mut().for_each(|body| cut(body, BODY));
        }
        Event::Websocket(_) | Event::Action(_) => {}
    }
    gone
}

/// About how many bytes an event takes.
fn size(event: &Event) -> usize {
    const EACH: usize = 256;
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    EACH + match event {
        Event::Console(console) => {
            let frames = |stack: &[Frame]| -> usize {
                stack.iter().map(|frame| frame.file.len() + frame.function.len() + 64).sum()
            };
            let causes = console.causes.iter().map(|cause| cause.message.len() + frames(&cause.stack));
            console.message.len() + frames(&console.stack) + causes.sum::<usize>() + optional(&console.page)
        }
        Event::Network(request) => {
            let bodies = optional(&request.request_body) + optional(&request.response_body);
            let heads = request.exchange.as_ref().map_or(0, |exchange| exchange.size());
            request.url.len() + optional(&request.failure) + bodies + heads + optional(&request.page)
        }
        Event::Websocket(socket) => socket.url.len() + optional(&socket.page) + 2048,
        Event::Action(action) => action.target.len() + action.detail.len() + optional(&action.page),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_letter_and_a_number() {
        assert_eq!(parse("c12"), Some((Category::Console, 12)));
        assert_eq!(parse(&id(Category::Actions, 7)), Some((Category::Actions, 7)));
        for wrong in ["", "c", "12", "x1", "c-1", "c1x", "ç1", "c99999999999999999999"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
