//! What is kept across restarts beside the rows: small texts by kind and name. What the texts say is the business of those
//! who keep them; one that it cannot read any more stays until somebody removes it by name.

use backsight_core::{Result, Timestamp};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::{Timeline, broken};

/// What can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "browser"), expect(dead_code, reason = "what the browser lane keeps"))]
pub(crate) enum KeptKind {
    Checkpoint,
    /// Up to which row the timeline was when a named checkpoint was made.
    CheckpointRow,
    NoiseRule,
    Baseline,
    /// Random texts that must stay the same.
    Secret,
    /// What a client said of a session, by the session's id.
    Conversation,
    /// The first words of a prompt, by its session's and message's ids.
    Prompt,
    /// The browser that is watched, under the store's seal.
    Attachment,
    /// Up to where a person has looked, by the person's name.
    Seen,
    /// The contents a person has read, likewise.
    Viewed,
    /// A comment on a line, by its id.
    Comment,
    /// How much room the store took, from time to time.
    Room,
}

impl KeptKind {
    fn as_str(self) -> &'static str {
        match self {
            KeptKind::Checkpoint => "checkpoint",
            KeptKind::CheckpointRow => "checkpoint_row",
            KeptKind::NoiseRule => "noise_rule",
            KeptKind::Baseline => "baseline",
            KeptKind::Secret => "secret",
            KeptKind::Conversation => "conversation",
            KeptKind::Prompt => "prompt",
            KeptKind::Attachment => "attachment",
            KeptKind::Seen => "seen",
            KeptKind::Viewed => "viewed",
            KeptKind::Comment => "comment",
            KeptKind::Room => "room",
        }
    }
}

/// Something that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) body: String,
}

/// What becomes of what is kept.
#[derive(Default)]
pub(crate) struct Change {
    pub(crate) keep: Vec<Item>,
    /// By name.
    pub(crate) forget: Vec<String>,
}

impl Timeline {
    /// Keeps items, in place of those of the same name, and forgets others; all or nothing.
    pub(crate) fn keep(&self, kind: KeptKind, at: Timestamp, items: &[Item], forget: &[&str]) -> Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction().map_err(broken)?;
        write(&transaction, kind, at, items, forget)?;
        transaction.commit().map_err(broken)?;
        drop(connection);
        self.fold_if_large();
        Ok(())
    }

    /// Changes what is kept of a kind by what is kept at that moment, which no other process changes meanwhile; all or nothing.
    /// `change` is handed every item, oldest first, and gives what to keep and what to forget with its answer. It asks this
    /// timeline nothing.
    pub(crate) fn keep_by<T>(
        &self,
        kind: KeptKind,
        at: Timestamp,
        change: impl FnOnce(Vec<Item>) -> Result<(T, Change)>,
    ) -> Result<T> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        let (answer, Change { keep, forget }) = change(items(&transaction, kind)?)?;
        write(&transaction, kind, at, &keep, &forget.iter().map(String::as_str).collect::<Vec<_>>())?;
        transaction.commit().map_err(broken)?;
        drop(connection);
        self.fold_if_large();
        Ok(answer)
    }

    /// The same of one text, by its name. `change` is handed what is kept now; nothing leaves it as it is.
    pub(crate) fn keep_one_by(
        &self,
        kind: KeptKind,
        at: Timestamp,
        name: &str,
        change: impl FnOnce(Option<String>) -> Option<String>,
    ) -> Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        if let Some(body) = change(one(&transaction, kind, name)?) {
            write(&transaction, kind, at, &[Item { name: name.to_owned(), body }], &[])?;
        }
        transaction.commit().map_err(broken)?;
        drop(connection);
        self.fold_if_large();
        Ok(())
    }

    /// Keeps a text unless one of that name is kept already; the one that is kept then.
    pub(crate) fn keep_first(&self, kind: KeptKind, at: Timestamp, item: &Item) -> Result<String> {
        let connection = self.lock();
        let sql = "INSERT OR IGNORE INTO kept VALUES (?1, ?2, ?3, ?4)";
        connection.execute(sql, params![kind.as_str(), item.name, at.0, item.body]).map_err(broken)?;
        let sql = "SELECT body FROM kept WHERE kind = ?1 AND name = ?2";
        connection.query_row(sql, params![kind.as_str(), item.name], |row| row.get(0)).map_err(broken)
    }

    /// One text, by its name.
    pub(crate) fn kept_as(&self, kind: KeptKind, name: &str) -> Result<Option<String>> {
        one(&self.lock(), kind, name)
    }

    /// Everything of a kind, oldest first.
    pub(crate) fn kept(&self, kind: KeptKind) -> Result<Vec<Item>> {
        items(&self.lock(), kind)
    }
}

fn one(connection: &Connection, kind: KeptKind, name: &str) -> Result<Option<String>> {
    let sql = "SELECT body FROM kept WHERE kind = ?1 AND name = ?2";
    connection.query_row(sql, params![kind.as_str(), name], |row| row.get(0)).optional().map_err(broken)
}

fn items(connection: &Connection, kind: KeptKind) -> Result<Vec<Item>> {
    let sql = "SELECT name, body FROM kept WHERE kind = ?1 ORDER BY rowid";
    let mut statement = connection.prepare_cached(sql).map_err(broken)?;
    let items = statement.query_map([kind.as_str()], |row| Ok(Item { name: row.get(0)?, body: row.get(1)? }));
    items.map_err(broken)?.collect::<rusqlite::Result<_>>().map_err(broken)
}

fn write(connection: &Connection, kind: KeptKind, at: Timestamp, items: &[Item], forget: &[&str]) -> Result<()> {
    for Item { name, body } in items {
        let sql = "INSERT INTO kept VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (kind, name) DO UPDATE SET at = excluded.at, body = excluded.body";
        connection.execute(sql, params![kind.as_str(), name, at.0, body]).map_err(broken)?;
    }
    for name in forget {
        let sql = "DELETE FROM kept WHERE kind = ?1 AND name = ?2";
        connection.execute(sql, params![kind.as_str(), name]).map_err(broken)?;
    }
    Ok(())
}
