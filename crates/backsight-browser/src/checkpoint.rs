//! Moments to compare with: each client's last look, and the ones that were given names. Named ones carry all that was
//! known, so they mean the same after a restart.

use std::collections::{BTreeMap, HashMap};

use backsight_core::{Code, Error, Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::known::Known;
use crate::name;
use crate::report::{CheckpointEntry, Severity};
use crate::telemetry::Mark;

/// Named checkpoints at most.
pub const NAMED: usize = 20;
/// Clients whose last look is remembered.
const CLIENTS: usize = 1000;
/// The checkpoints every coding session has; they do not make room for others.
const LASTING: [&str; 2] = [name::SESSION_START, name::PRE_COMMIT];

/// A named moment.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// The page at that time.
    #[serde(default)]
    pub page: Option<String>,
    /// The baseline it stands for.
    #[serde(default)]
    pub baseline: Option<String>,
    /// How the app had been since the checkpoint before it.
    pub severity: Severity,
    /// The same in one line.
    pub summary: String,
    /// All that was known.
    pub known: Known,
}

/// A client's last look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) mark: Mark,
    pub(crate) time: Timestamp,
    /// Since when the oldest request was under way that the look could not tell the end of.
    pub(crate) under_way_since: Option<Timestamp>,
}

/// Every moment to compare with.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    /// With their place in this run, unless an earlier run made them.
    named: BTreeMap<String, (Checkpoint, Option<Mark>)>,
    clients: HashMap<String, Client>,
}

#[derive(Clone, Copy, Debug)]
struct Client {
    /// Where the next window begins.
    current: Look,
    /// Where the last one began.
    previous: Option<Look>,
}

impl Checkpoints {
    /// Adds one, in place of one of the same name; the name of the oldest when that had to make room.
    pub(crate) fn add(&mut self, checkpoint: Checkpoint, mark: Option<Mark>) -> Option<String> {
        self.named.insert(checkpoint.name.clone(), (checkpoint, mark));
        let oldest = self.named.values().map(|(checkpoint, _)| checkpoint);
        let oldest =
            oldest.filter(|checkpoint| !LASTING.contains(&checkpoint.name.as_str())).min_by_key(|other| other.created);
        let oldest = oldest.map(|checkpoint| checkpoint.name.clone()).filter(|_| self.named.len() > NAMED)?;
        self.named.remove(&oldest);
        Some(oldest)
    }

    pub(crate) fn get(&self, name: &str) -> Result<(&Checkpoint, Option<Mark>)> {
        match self.named.get(name) {
            Some((checkpoint, mark)) => Ok((checkpoint, *mark)),
            None => Err(self.unknown(name)),
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Result<Checkpoint> {
        match self.named.remove(name) {
            Some((checkpoint, _)) => Ok(checkpoint),
            None => Err(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let names = name::nearest_first(name, self.named.keys().map(String::as_str).collect());
        let there_are = match names.is_empty() {
            true => "there are no named checkpoints yet".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        Error::new(Code::CheckpointNotFound, format!("no checkpoint is called `{name}`"))
            .with_hint(format!("{there_are}; an ISO 8601 time, `start`, `load` and `last` can be asked for too"))
            .with_details(json!({ "checkpoints": names }))
    }

    /// All of them, oldest first.
    pub(crate) fn list(&self) -> Vec<CheckpointEntry> {
        let mut list: Vec<&(Checkpoint, Option<Mark>)> = self.named.values().collect();
        list.sort_by_key(|(checkpoint, _)| checkpoint.created);
        let entry = |(checkpoint, mark): &(Checkpoint, Option<Mark>)| CheckpointEntry {
            name: checkpoint.name.clone(),
            created: checkpoint.created,
            severity: checkpoint.severity,
            summary: checkpoint.summary.clone(),
            page: checkpoint.page.clone(),
            baseline: checkpoint.baseline.clone(),
            earlier_run: mark.is_none(),
        };
        list.into_iter().map(entry).collect()
    }

    /// All of them, whole.
    pub(crate) fn all(&self) -> Vec<Checkpoint> {
        self.named.values().map(|(checkpoint, _)| checkpoint.clone()).collect()
    }

    /// The latest named one of this run.
    pub(crate) fn latest(&self) -> Option<Look> {
        let of_this_run = self
            .named
            .values()
            .filter_map(|(checkpoint, mark)| Some((checkpoint.created, (*mark)?)))
            .map(|(time, mark)| Look { mark, time, under_way_since: None });
        of_this_run.max_by_key(|look| look.mark.sequence)
    }

    /// Where a client's next window begins; nothing when it never looked.
    pub(crate) fn current(&self, client: &str) -> Option<Look> {
        self.clients.get(client).map(|client| client.current)
    }

    /// Where a client's last window began; nothing when that was the start.
    pub(crate) fn previous(&self, client: &str) -> Option<Look> {
        self.clients.get(client).and_then(|client| client.previous)
    }

    /// A client has looked.
    pub(crate) fn advance(&mut self, client: &str, look: Look) {
        let previous = self.current(client);
        self.clients.insert(client.to_owned(), Client { current: look, previous });
        if self.clients.len() > CLIENTS
            && let Some(oldest) = self.clients.iter().min_by_key(|(_, client)| client.current.time)
        {
            let oldest = oldest.0.clone();
            self.clients.remove(&oldest);
        }
    }

    /// Every moment of this run that can be asked about.
    pub(crate) fn live(&self) -> Vec<u64> {
        let named = self.named.values().filter_map(|(_, mark)| *mark);
        let looks = self.clients.values().flat_map(|client| [Some(client.current), client.previous]);
        named.chain(looks.flatten().map(|look| look.mark)).map(|mark| mark.sequence).collect()
    }
}
