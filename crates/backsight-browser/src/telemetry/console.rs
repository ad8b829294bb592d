//! What was said: one group for each thing said, however often.

use backsight_core::Timestamp;

use super::Moment;
use super::table::{Forgotten, Group, Table, is_rest, ordinary, rest};
use crate::event::{Category, Console, Level, Speaker};
use crate::fingerprint;
use crate::marked::Marked;
use crate::noise::{self, Rules, Subject};
use crate::notable::Notables;
use crate::ring::Ring;

/// Characters of a message that are shown.
const SHOWN: usize = 200;

/// What was said.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) ring: Ring<Said>,
    table: Table<Message>,
}

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
    /// `file:line`, or who said it.
    pub(crate) source: String,
    url: String,
    /// As last said, and where, when it is a warning or an error.
    latest: String,
    latest_url: String,
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
        Messages { ring: Ring::new(room), table: Table::new(groups) }
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
        }
        *message.count.change(moment.latest_mark) += moment.count();
        message.last = moment.sequence;
        message.last_time = message.last_time.max(moment.time);
        self.ring.push(Said { time: moment.time, key: message.key }, moment.times);
        let matters = message.level == Level::Error && message.noise.is_none();
        if is_new && matters {
            notables.first_error(moment.time, &message.shown, &message.source);
        }
        matters
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
        self.table.iter_mut().for_each(|message| message.count.keep(live));
    }

    pub(crate) fn forgotten(&self) -> Forgotten {
        self.table.forgotten()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Message> {
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
    let source = latest.source.clone();
    let message = table.of(key, || Message { key, ..latest });
    message.shown = first_characters(&shown, SHOWN);
    message.source = source;
    message
}

impl Message {
    fn new(key: u64, console: &Console, template: String, moment: Moment) -> Message {
        Message {
            key,
            level: console.level,
            template,
            shown: first_characters(&console.message, SHOWN),
            source: source(console),
            url: console.page.clone().unwrap_or_default(),
            latest: String::new(),
            latest_url: String::new(),
            count: Marked::default(),
            first: moment.sequence,
            first_time: moment.time,
            last: moment.sequence,
            last_time: moment.time,
            noise: None,
        }
    }
}

/// At most so many characters, one of which says that there were more.
pub(crate) fn first_characters(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// Where it was said: the innermost place in code, or the command, or the browser.
fn source(console: &Console) -> String {
    match (noise::speaking_frame(&console.stack), console.speaker) {
        (Some(frame), _) => {
            let file = frame.file.split(['?', '#']).next().unwrap_or_default();
            match frame.line {
                0 => first_characters(file, SHOWN),
                line => format!("{}:{line}", first_characters(file, SHOWN)),
            }
        }
        (None, Speaker::Terminal) => first_characters(console.page.as_deref().unwrap_or("terminal"), 80),
        (None, Speaker::Browser) => "browser".to_owned(),
        (None, _) => String::new(),
    }
}
