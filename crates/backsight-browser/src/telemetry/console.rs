//! What was said: one group for each thing said, however often.

use std::collections::HashMap;

use backsight_core::Timestamp;

use super::Moment;
use super::echo::Echoes;
use super::place;
use super::table::{Forgotten, Group, Table, is_rest, ordinary, rest};
use crate::event::{Category, Console, Level, Speaker};
use crate::fingerprint;
use crate::marked::Marked;
use crate::noise::{Rules, Subject};
use crate::notable::Notables;
use crate::ring::Ring;

/// Characters of a message that are shown.
const SHOWN: usize = 200;

/// What was said.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) ring: Ring<Said>,
    table: Table<Message>,
    /// Groups that turned out to be others: the keys under which they were counted first.
    moved: HashMap<u64, u64>,
    echoes: Echoes,
}

/// So many groups are known under two keys.
const MOVED: usize = 4_096;

/// One thing said once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) time: Timestamp,
    pub(crate) key: u64,
}

/// One thing said, however often.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) key: u64,
    pub(crate) level: Level,
    pub(crate) template: String,
    /// As first said.
    pub(crate) shown: String,
    /// Where the innermost script is, by which noise is known.
    source: String,
    url: String,
    /// As last said, and where, when it is a warning or an error.
    latest: String,
    latest_url: String,
    /// Where it was last said: `file:line` of the app's own code if there is any, or who said it.
    pub(crate) place: String,
    /// The first errors behind it and how many more there are, likewise.
    pub(crate) causes: Vec<String>,
    pub(crate) more_causes: usize,
    /// How often it turned out later to be no error: a rejection that was handled after it was told.
    pub(crate) handled: Marked<u64>,
    pub(crate) handled_time: Timestamp,
    pub(crate) is_exception: bool,
    pub(crate) count: Marked<u64>,
    pub(crate) first: u64,
    pub(crate) first_time: Timestamp,
    pub(crate) last: u64,
    pub(crate) last_time: Timestamp,
    pub(crate) noise: Option<String>,
}

impl Group for Message {
    fn key(&self) -> u64 {
        self.key
    }

    fn last(&self) -> u64 {
        self.last
    }
}

impl Message {
    /// What was said, as it was said last.
    pub(crate) fn said(&self) -> &str {
        if self.latest.is_empty() || is_rest(self.key) { &self.shown } else { &self.latest }
    }

    /// Where it was said this time, and what was behind it.
    fn places(&mut self, console: &Console) {
        self.place = place::of(console);
        self.causes = place::causes(console);
        self.more_causes = console.causes.len() - self.causes.len();
    }

    /// Another group turned out to be the same.
    fn absorb(&mut self, other: &Message) {
        self.count.absorb(&other.count);
        self.handled.absorb(&other.handled);
        self.handled_time = self.handled_time.max(other.handled_time);
        self.first = self.first.min(other.first);
        self.first_time = self.first_time.min(other.first_time);
        if other.last > self.last {
            self.last = other.last;
            self.latest.clone_from(&other.latest);
        }
        self.last_time = self.last_time.max(other.last_time);
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            category: Category::Console,
            level: Some(self.level),
            text: &self.shown,
            source: &self.source,
            url: &self.url,
            method: "",
            status: None,
        }
    }
}

impl Messages {
    pub(super) fn new(room: usize, groups: usize) -> Self {
        let (moved, echoes) = Default::default();
        Messages { ring: Ring::new(room), table: Table::new(groups), moved, echoes }
    }

    /// Whether the same error was told the other way a moment ago.
    pub(super) fn is_echo(&mut self, console: &Console) -> bool {
        self.echoes.is_one(console)
    }

    /// Counts something said; whether it is an error that matters.
    pub(super) fn record(&mut self, moment: Moment, console: &Console, rules: &Rules, notables: &mut Notables) -> bool {
        let fingerprint = fingerprint::of(console);
        // The user's rules may tell apart what has one fingerprint, so each message is judged; those that come with Backsight
        // go by words that a fingerprint keeps.
        let is_noise = rules.has_users() && {
            let this = Message::new(0, console, String::new(), moment);
            rules.users_noise(&this.subject()).is_some()
        };
        let key = ordinary(if is_noise { !fingerprint.key } else { fingerprint.key });
        let key = self.key_now(key);
        let mut is_new = false;
        let message = match self.table.has_place(key, moment.oldest_mark) {
            true => self.table.of(key, || {
                is_new = true;
                let mut message = Message::new(key, console, fingerprint.template, moment);
                message.noise = rules.noise(&message.subject()).map(str::to_owned);
                message
            }),
            false => beyond(&mut self.table, console, fingerprint.template, rules, moment),
        };
        if message.level >= Level::Warning {
            message.latest = first_characters(&console.message, SHOWN);
            message.latest_url.clone_from(console.page.as_ref().unwrap_or(&message.url));
            message.places(console);
        }
        *message.count.change(moment.latest_mark) += moment.count();
        message.last = moment.sequence;
        message.last_time = message.last_time.max(moment.time);
        self.ring.push(Said { time: moment.time, key: message.key }, moment.times);
        let matters = message.level == Level::Error && message.noise.is_none();
        if is_new && matters {
            notables.first_error(moment.time, &message.shown, &message.place, message.key);
        }
        matters
    }

    /// The key under which a group is counted now.
    pub(crate) fn key_now(&self, key: u64) -> u64 {
        self.moved.get(&key).copied().unwrap_or(key)
    }

    /// The keys under which a group was counted before.
    pub(crate) fn keys_before(&self, key: u64) -> impl Iterator<Item = u64> {
        self.moved.iter().filter(move |(_, now)| **now == key).map(|(before, _)| *before)
    }

    /// The group of what was said, if there is one.
    fn group_of(&mut self, console: &Console) -> Option<&mut Message> {
        let key = fingerprint::of(console).key;
        let keys = [ordinary(key), ordinary(!key)].map(|key| self.key_now(key));
        let key = keys.into_iter().find(|key| self.table.get_mut(*key).is_some())?;
        self.table.get_mut(key)
    }

    /// What was said turns out to come from other places in the code: one group from now on, wherever it is met. Its key
    /// before and now, if it is known.
    pub(super) fn place(&mut self, was: &Console, is: &Console) -> Option<(u64, u64)> {
        let before = self.group_of(was).map(|message| message.key)?;
        let key = self.key_now(ordinary(fingerprint::of(is).key));
        if let Some(message) = self.table.get_mut(before) {
            message.places(is);
        }
        if before == key || is_rest(before) || self.moved.len() >= MOVED {
            return Some((before, before));
        }
        let mut message = self.table.take(before)?;
        message.key = key;
        self.moved.values_mut().filter(|now| **now == before).for_each(|now| *now = key);
        self.moved.insert(before, key);
        match self.table.get_mut(key) {
            Some(known) => known.absorb(&message),
            None => _ = self.table.of(key, || message),
        }
        Some((before, key))
    }

    /// A rejection was handled after it was told; whether it is known.
    pub(super) fn handled(&mut self, said: &Console, sequence: u64, latest_mark: u64, now: Timestamp) -> bool {
        let Some(message) = self.group_of(said).filter(|message| message.handled.now() < message.count.now()) else {
            return false;
        };
        *message.handled.change(latest_mark) += 1;
        message.handled_time = now;
        message.last = sequence;
        true
    }

    pub(super) fn judge(&mut self, rules: &Rules) {
        for message in self.table.iter_mut().filter(|message| !is_rest(message.key)) {
            // A rule that was added later hides what was said before only when it fits the first and the last of it.
            let last = Subject { text: &message.latest, url: &message.latest_url, ..message.subject() };
            let is_noise = message.latest.is_empty() || rules.noise(&last).is_some();
            message.noise = rules.noise(&message.subject()).filter(|_| is_noise).map(str::to_owned);
        }
    }

    pub(super) fn keep_marks(&mut self, live: &[u64]) {
        for message in self.table.iter_mut() {
            message.count.keep(live);
            message.handled.keep(live);
        }
    }

    pub(crate) fn forgotten(&self) -> Forgotten {
        self.table.forgotten()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.table.iter()
    }
}

/// The group of what cannot be kept apart any more: of its level, noise apart from the rest. It says what was said last.
fn beyond<'a>(
    table: &'a mut Table<Message>,
    console: &Console,
    template: String,
    rules: &Rules,
    moment: Moment,
) -> &'a mut Message {
    let mut latest = Message::new(0, console, template, moment);
    latest.noise = rules.noise(&latest.subject()).map(str::to_owned);
    let key = rest(console.level as u64 * 2 + u64::from(latest.noise.is_some()));
    let shown = format!("(different messages beyond those kept apart; the latest:) {}", latest.shown);
    let message = table.of(key, || Message { key, ..latest });
    message.shown = first_characters(&shown, SHOWN);
    message
}

impl Message {
    fn new(key: u64, console: &Console, template: String, moment: Moment) -> Message {
        Message {
            key,
            level: console.level,
            template,
            shown: first_characters(&console.message, SHOWN),
            source: place::speaking(console),
            url: console.page.clone().unwrap_or_default(),
            latest: String::new(),
            latest_url: String::new(),
            place: String::new(),
            causes: Vec::new(),
            more_causes: 0,
            handled: Marked::default(),
            handled_time: Timestamp(0),
            is_exception: is_exception(console),
            count: Marked::default(),
            first: moment.sequence,
            first_time: moment.time,
            last: moment.sequence,
            last_time: moment.time,
            noise: None,
        }
    }
}

/// Whether nobody caught it, in the page or in a process.
fn is_exception(console: &Console) -> bool {
    match console.speaker {
        Speaker::Exception => true,
        Speaker::Terminal => !console.stack.is_empty(),
        Speaker::Page | Speaker::Browser => false,
    }
}

/// At most so many characters, one of which says that there were more. What is drawn as one is kept or left as one.
pub(crate) fn first_characters(text: &str, most: usize) -> String {
    if text.char_indices().nth(most).is_none() {
        return text.to_owned();
    }
    let kept: Vec<char> = text.chars().take(most).collect();
    let is_cut_within = |end: usize| joins(kept[end - 1], kept[end]) || is_half_flag(&kept[..end], kept[end]);
    let mut end = most - 1;
    while end > 1 && is_cut_within(end) {
        end -= 1;
    }
    kept[..end].iter().chain(&['…']).collect()
}

/// Whether two characters are drawn as one, or as parts of one.
fn joins(left: char, right: char) -> bool {
    const JOINER: char = '\u{200d}';
    let is_added = matches!(right,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}');
    is_added || right == JOINER || left == JOINER
}

/// Whether `next` is the second half of a flag, which is two letters of a kind.
fn is_half_flag(before: &[char], next: char) -> bool {
    let is_letter = |letter: &char| matches!(letter, '\u{1f1e6}'..='\u{1f1ff}');
    let letters = before.iter().rev().take_while(|letter| is_letter(letter)).count();
    is_letter(&next) && letters % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_as_one_is_never_cut_in_two() {
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(first_characters(&format!("ab{family}cd"), 6), "ab…");
        assert_eq!(first_characters(&format!("ab{family}cd"), 8), format!("ab{family}…"));
        assert_eq!(first_characters("ae\u{301}bcd", 3), "a…");
        assert_eq!(first_characters("👍🏽👍🏽👍🏽", 4), "👍🏽…");
        assert_eq!(first_characters("🇩🇪🇫🇷🇮🇹", 4), "🇩🇪…");
        assert_eq!(first_characters("short", 5), "short");
        assert_eq!(first_characters("longer", 5), "long…");
    }
}
