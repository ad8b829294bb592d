//! What every lane is given while it reads one message: who speaks, when, and where to put what is told.

use std::collections::HashMap;

use backsight_core::Timestamp;
use serde_json::Value;

use super::replays::{Replayed, Replays};
use super::sessions::Sessions;
use super::wire::{Hash, epoch_millis};
use super::{Counts, Told, TranslateOptions};
use crate::event::{Console, Event, Level, Speaker};

/// What a command was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The body of a request's answer.
    Body {
        /// Its id.
        request: String,
    },
    /// A page's earlier requests.
    Timeline {
        /// The page's session.
        session: String,
    },
    /// Which frames a page has, and what they show.
    Frames,
    /// A source map is to be opened.
    OpenMap {
        /// Its address.
        map: String,
    },
    /// A piece of a source map.
    ReadMap {
        /// Its address.
        map: String,
    },
    /// What is behind an error.
    Inner {
        /// The message that waits for it.
        of: u64,
        /// How far down.
        depth: u8,
    },
    /// Nothing is done with the answer.
    Nothing,
}

/// The commands under way.
#[derive(Debug, Default)]
pub struct Commands {
    next: u64,
    pub asked: HashMap<u64, (String, Asked)>,
}

/// The surroundings of one message.
pub struct Context<'a> {
    /// Who speaks.
    pub session: &'a str,
    /// When.
    pub now: Timestamp,
    /// What was asked for.
    pub options: &'a TranslateOptions,
    /// All who speak.
    pub sessions: &'a Sessions,
    /// What was told before.
    pub replays: &'a mut Replays,
    /// What each session told again.
    pub replayed: &'a mut HashMap<String, Replayed>,
    /// What is not told as events.
    pub counts: &'a mut Counts,
    /// What was asked.
    pub commands: &'a mut Commands,
    /// What is told now.
    pub told: &'a mut Vec<Told>,
}

impl Context<'_> {
    /// Tells an event.
    pub fn tell(&mut self, event: Event) {
        self.told.push(Told::Event(event));
    }

    /// Tells something in the browser's name.
    pub fn say(&mut self, level: Level, message: String) {
        let (time, speaker, page) = (self.now, Speaker::Browser, self.page());
        self.tell(Event::Console(Console {
            time,
            level,
            speaker,
            message,
            stack: Vec::new(),
            causes: Vec::new(),
            page,
            backfilled: false,
        }));
    }

    /// Sends a command to the session that speaks.
    pub fn ask(&mut self, asked: Asked, method: &'static str, params: Value) {
        self.ask_of(self.session, asked, method, params);
    }

    /// Sends a command to a session.
    pub fn ask_of(&mut self, session: &str, asked: Asked, method: &'static str, params: Value) {
        let token = self.commands.next;
        self.commands.next += 1;
        self.commands.asked.insert(token, (session.to_owned(), asked));
        self.told.push(Told::Command { token, session: session.to_owned(), method, params });
    }

    /// The address of the page the session belongs to.
    pub fn page(&self) -> Option<String> {
        self.sessions.page(self.session)
    }

    /// Whether this was not told before: `Some(backfilled)`, or `None` for a replay of something known.
    pub fn first_time(&mut self, kind: &str, timestamp: f64, identity: Hash) -> Option<bool> {
        let key = self.key(kind, identity.with(&timestamp.to_bits().to_le_bytes()));
        if !self.sessions.is_earlier(self.session, epoch_millis(timestamp)) {
            self.replays.live(key);
            return Some(false);
        }
        let replayed = self.replayed.entry(self.session.to_owned()).or_default();
        match self.replays.is_new(key, replayed) {
            true => Some(true),
            false => {
                self.counts.replays_dropped += 1;
                None
            }
        }
    }

    /// Whether something without a time of its own is said for the first time by this target.
    pub fn first_ever(&mut self, kind: &str, identity: Hash) -> bool {
        let key = self.key(kind, identity);
        let new = self.replays.is_new(key, &mut Replayed::new());
        self.counts.replays_dropped += u64::from(!new);
        new
    }

    fn key(&self, kind: &str, identity: Hash) -> u64 {
        identity.with(self.sessions.target_id(self.session).as_bytes()).with(kind.as_bytes()).0
    }
}
