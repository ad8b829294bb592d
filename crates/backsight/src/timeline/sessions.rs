//! Sessions beside the rows: who was started when, and which messages were seen, also those that changed nothing. What
//! a session did is in the rows.

use backsight_core::{ObjectId, Result, Seq, SnapshotId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, TransactionBehavior, params};

use super::row::{id, json};
use super::{Timeline, broken, latest_seq};
use crate::report::{Call, Origin};

/// A session that somebody started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownSession {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) started: Timestamp,
    /// The row that holds the files it began with.
    pub(crate) baseline: Seq,
}

/// A message, or a part of one, that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenMessage {
    pub(crate) message: String,
    pub(crate) part: Option<String>,
    /// The latest row when it was first seen.
    pub(crate) seen: Seq,
    pub(crate) at: Timestamp,
    /// The files before and after it, as far as somebody told us when it began and ended.
    pub(crate) before: Option<ObjectId>,
    pub(crate) after: Option<ObjectId>,
    /// The step it ended with, if it changed anything.
    pub(crate) step: Option<Seq>,
    pub(crate) finished: Option<Timestamp>,
}

impl Timeline {
    /// Remembers a session; one that is known stays as it is.
    pub(crate) fn add_session(&self, session: &KnownSession) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO sessions VALUES (?1, ?2, ?3, ?4)";
        let KnownSession { id, title, started, baseline } = session;
        self.lock().execute(sql, params![id, title, started.0, baseline.0]).map(drop).map_err(broken)
    }

    pub(crate) fn set_session_title(&self, id: &str, title: &str) -> Result<()> {
        let sql = "UPDATE sessions SET title = ?2 WHERE id = ?1";
        self.lock().execute(sql, params![id, title]).map(drop).map_err(broken)
    }

    pub(crate) fn known_session(&self, id: &str) -> Result<Option<KnownSession>> {
        let sql = "SELECT id, title, started, baseline FROM sessions WHERE id = ?1";
        self.lock().query_row(sql, [id], session_of).optional().map_err(broken)
    }

    /// Every session: those that were started, and those that steps, messages or open calls name.
    pub(crate) fn session_ids(&self) -> Result<Vec<String>> {
        let sql = "SELECT id FROM sessions UNION SELECT session FROM rows WHERE session IS NOT NULL AND tree IS NOT NULL \
                   UNION SELECT session FROM messages \
                   UNION SELECT origin ->> 'session' FROM calls WHERE origin ->> 'session' IS NOT NULL";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(broken)?;
        rows.collect::<rusqlite::Result<_>>().map_err(broken)
    }

    /// Whether the session was ever reverted, or something else of it was taken back on its behalf.
    pub(crate) fn has_session_reverts(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM rows WHERE session = ?1 AND tree IS NOT NULL AND details IS NOT NULL)";
        self.lock().query_row(sql, [session], |row| row.get(0)).map_err(broken)
    }

    /// The messages and parts a session was seen with, in that order.
    pub(crate) fn seen_messages(&self, session: &str) -> Result<Vec<SeenMessage>> {
        let sql = "SELECT message, part, seen, at, before_tree, after_tree, step, finished FROM messages \
                   WHERE session = ?1 ORDER BY ordinal";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        let rows = statement.query_map([session], message_of).map_err(broken)?;
        rows.collect::<rusqlite::Result<_>>().map_err(broken)
    }

    /// Remembers a message that changed nothing, so that it is one of the session's all the same.
    pub(crate) fn note_unchanged(&self, origin: &Origin, at: Timestamp) -> Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        if let Some(key) = Key::of(origin) {
            key.note(&transaction, at)?;
            let sql = format!("UPDATE messages SET finished = ?4, {AFTER} WHERE {THIS}");
            transaction.execute(&sql, params![key.session, key.message, key.part, at.0]).map_err(broken)?;
        }
        transaction.commit().map_err(broken)
    }

    /// Ends a call that changed nothing.
    pub(crate) fn finish_call(&self, call: &SnapshotId, at: Timestamp) -> Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        finish_call(&transaction, call, at, None)?;
        transaction.commit().map_err(broken)
    }
}

const THIS: &str = "session = ?1 AND message = ?2 AND part = ?3";
const AFTER: &str = "after_tree = (SELECT tree FROM rows WHERE tree IS NOT NULL ORDER BY seq DESC LIMIT 1)";

/// How a message is found again.
#[derive(PartialEq, Eq)]
struct Key<'a> {
    session: &'a str,
    message: &'a str,
    part: &'a str,
}

impl<'a> Key<'a> {
    fn of(origin: &'a Origin) -> Option<Self> {
        let part = origin.part.as_deref().unwrap_or_default();
        Some(Key { session: origin.session.as_deref()?, message: origin.message.as_deref()?, part })
    }

    fn note(&self, connection: &Connection, at: Timestamp) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO messages (session, message, part, seen, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        let seen = latest_seq(connection)?.0;
        connection.execute(sql, params![self.session, self.message, self.part, seen, at.0]).map(drop).map_err(broken)
    }
}

/// Remembers the message a call began for, with the files it began with.
pub(super) fn note_begun(connection: &Connection, call: &Call) -> Result<()> {
    let Some(key) = Key::of(&call.origin) else { return Ok(()) };
    key.note(connection, call.since)?;
    let sql = format!(
        "UPDATE messages SET before_tree = (SELECT tree FROM rows WHERE seq = ?4), after_tree = NULL, step = NULL, \
         finished = NULL WHERE {THIS}"
    );
    connection.execute(&sql, params![key.session, key.message, key.part, call.based_on.0]).map(drop).map_err(broken)
}

/// Ends a call; its message remembers the files it left and, if `recorded` is its own step, which one that is.
pub(super) fn finish_call(
    connection: &Connection,
    call: &SnapshotId,
    at: Timestamp,
    recorded: Option<(Seq, &Origin)>,
) -> Result<()> {
    let sql = "SELECT origin FROM calls WHERE id = ?1";
    let origin: Option<Origin> =
        connection.query_row(sql, [call.as_str()], |row| json(row, 0)).optional().map_err(broken)?;
    connection.execute("DELETE FROM calls WHERE id = ?1", [call.as_str()]).map_err(broken)?;
    let Some(key) = origin.as_ref().and_then(Key::of) else { return Ok(()) };
    // A call that began under an older format was not noted then.
    key.note(connection, at)?;
    let step = recorded.filter(|(_, origin)| Key::of(origin).as_ref() == Some(&key)).map(|(seq, _)| seq.0);
    let sql = format!("UPDATE messages SET finished = ?4, step = coalesce(?5, step), {AFTER} WHERE {THIS}");
    let values = params![key.session, key.message, key.part, at.0, step];
    connection.execute(&sql, values).map(drop).map_err(broken)
}

fn session_of(row: &SqlRow<'_>) -> rusqlite::Result<KnownSession> {
    Ok(KnownSession {
        id: row.get(0)?,
        title: row.get(1)?,
        started: Timestamp(row.get(2)?),
        baseline: Seq(row.get(3)?),
    })
}

fn message_of(row: &SqlRow<'_>) -> rusqlite::Result<SeenMessage> {
    let part: String = row.get(1)?;
    Ok(SeenMessage {
        message: row.get(0)?,
        part: Some(part).filter(|part| !part.is_empty()),
        seen: Seq(row.get(2)?),
        at: Timestamp(row.get(3)?),
        before: id(row, 4)?,
        after: id(row, 5)?,
        step: row.get::<_, Option<u64>>(6)?.map(Seq),
        finished: row.get::<_, Option<i64>>(7)?.map(Timestamp),
    })
}
