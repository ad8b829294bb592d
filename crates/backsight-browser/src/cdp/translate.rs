//! A stand-in for the translator until the real one is merged: console calls and crashes only.

use std::collections::HashMap;

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::event::{Console, Event, Level, Speaker};

/// How to translate.
#[derive(Clone, Debug, Default)]
pub struct TranslateOptions {}

/// Something to watch.
#[derive(Clone, Debug)]
pub struct Target {
    /// The browser's id for it.
    pub id: String,
    /// page, iframe, worker, shared_worker, service_worker.
    pub kind: String,
    /// Its address.
    pub url: String,
}

/// What came of a message.
#[derive(Debug)]
pub enum Told {
    /// Something happened.
    Event(Event),
    /// Something has to be asked.
    Command {
        /// For the answer.
        token: u64,
        /// Whom.
        session: String,
        /// What.
        method: &'static str,
        /// With what.
        params: serde_json::Value,
    },
}

/// Makes events of messages.
#[derive(Debug, Default)]
pub struct Translator {
    targets: HashMap<String, Target>,
    malformed: u64,
}

impl Translator {
    /// For one browser.
    pub fn new(_options: TranslateOptions) -> Self {
        Translator::default()
    }

    /// A session begins.
    pub fn attached(&mut self, session: &str, target: Target, _now: Timestamp) {
        self.targets.insert(session.to_owned(), target);
    }

    /// A session ends.
    pub fn detached(&mut self, session: &str, _now: Timestamp) -> Vec<Told> {
        self.targets.remove(session);
        Vec::new()
    }

    /// One event of a session.
    pub fn hear(&mut self, session: &str, method: &str, params: &RawValue, now: Timestamp) -> Vec<Told> {
        #[derive(Deserialize)]
        struct Called {
            args: Vec<Argument>,
        }
        #[derive(Deserialize)]
        struct Argument {
            value: Option<serde_json::Value>,
        }
        let page = self.targets.get(session).map(|target| target.url.clone());
        let message = match method {
            "Runtime.consoleAPICalled" => match serde_json::from_str::<Called>(params.get()) {
                Ok(called) => called
                    .args
                    .into_iter()
                    .filter_map(|argument| argument.value)
                    .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                    .collect::<Vec<_>>()
                    .join(" "),
                Err(_) => {
                    self.malformed += 1;
                    return Vec::new();
                }
            },
            "Inspector.targetCrashed" => "the page crashed".to_owned(),
            _ => return Vec::new(),
        };
        vec![Told::Event(Event::Console(Console {
            time: now,
            level: Level::Info,
            speaker: Speaker::Page,
            message,
            stack: Vec::new(),
            page,
            backfilled: false,
        }))]
    }

    /// Time passes.
    pub fn tick(&mut self, _now: Timestamp) -> Vec<Told> {
        Vec::new()
    }

    /// The answer to a command.
    pub fn answered(&mut self, _token: u64, _answer: Result<&RawValue, &str>, _now: Timestamp) -> Vec<Told> {
        Vec::new()
    }

    /// Whether anything waits for time to pass.
    pub fn pending(&self) -> bool {
        false
    }

    /// What to send to a fresh session.
    pub fn greeting(kind: &str, _options: &TranslateOptions) -> Vec<(&'static str, serde_json::Value)> {
        let empty = || serde_json::json!({});
        let mut all = vec![("Runtime.enable", empty()), ("Network.enable", empty())];
        if matches!(kind, "page" | "iframe") {
            all.extend([("Page.enable", empty()), ("Inspector.enable", empty()), ("Log.enable", empty())]);
        }
        all
    }

    /// How many messages could not be read.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }
}
