//! What may change after a row is written: pins, expiry, open tool calls, file checkpoints. None of it is history.

use backsight_core::{ObjectId, RelPath, Result, Seq, SnapshotId, Timestamp};
use backsight_files::Tree;
use rusqlite::{Connection, Row as SqlRow, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::row::{id, json, malformed, stored_id, tree_at};
use super::{Timeline, broken, broken_text, sessions};
use crate::report::{Call, Checkpoint, Origin, Run};

/// An open tool call with the files it began with.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    pub(crate) call: Call,
    pub(crate) start: Tree,
    pub(crate) coverage_id: Option<ObjectId>,
}

/// What the column `origin` of a call holds.
#[derive(Serialize, Deserialize)]
struct CallColumn {
    #[serde(flatten)]
    origin: Origin,
    #[serde(flatten)]
    run: Run,
}

fn origin_column(call: &OpenCall) -> Result<String> {
    let (origin, run) = (call.call.origin.clone(), call.call.run.clone());
    serde_json::to_string(&CallColumn { origin, run }).map_err(|error| broken_text(&error.to_string()))
}

/// How long file checkpoints are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    pub(crate) all: bool,
    /// Older ones go.
    pub(crate) oldest: Timestamp,
}

/// A file checkpoint about to be recorded.
#[derive(Clone, Debug)]
pub(crate) struct NewCheckpoint {
    pub(crate) id: SnapshotId,
    pub(crate) timestamp: Timestamp,
    /// Nothing means every file.
    pub(crate) paths: Option<Vec<RelPath>>,
    pub(crate) creation_ms: u64,
    pub(crate) keep: Keep,
}

impl Timeline {
    pub(crate) fn set_pinned(&self, seq: Seq, pinned: bool) -> Result<()> {
        let sql = if pinned { "INSERT OR IGNORE INTO pinned VALUES (?1)" } else { "DELETE FROM pinned WHERE seq = ?1" };
        self.lock().execute(sql, [seq.0]).map(drop).map_err(broken)
    }

    pub(crate) fn expire(&self, steps: &[Seq], at: Timestamp) -> Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        for seq in steps {
            transaction
                .execute("INSERT OR IGNORE INTO expired VALUES (?1, ?2)", params![seq.0, at.0])
                .map_err(broken)?;
        }
        transaction.commit().map_err(broken)
    }

    pub(crate) fn open_call(&self, call: &OpenCall) -> Result<()> {
        let origin = origin_column(call)?;
        let text = |id: Option<ObjectId>| id.map(|id| id.to_string());
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        transaction
            .execute(
                "INSERT INTO calls VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    call.call.id.as_str(),
                    call.call.since.0,
                    call.call.based_on.0,
                    origin,
                    call.start.id.to_string(),
                    text(call.start.attributes),
                    text(call.coverage_id),
                ],
            )
            .map_err(broken)?;
        sessions::note_begun(&transaction, &call.call)?;
        transaction.commit().map_err(broken)
    }

    /// Writes an open call anew.
    pub(crate) fn replace_call(&self, call: &OpenCall) -> Result<()> {
        let sql = "UPDATE calls SET origin = ?2 WHERE id = ?1";
        self.lock().execute(sql, params![call.call.id.as_str(), origin_column(call)?]).map(drop).map_err(broken)
    }

    /// Tool calls that have not finished, oldest first.
    pub(crate) fn open_calls(&self) -> Result<Vec<OpenCall>> {
        let connection = self.lock();
        let sql = "SELECT id, since, based_on, origin, tree, attributes, coverage_id FROM calls ORDER BY since, id";
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        let rows = statement.query_map([], call_of).map_err(broken)?;
        rows.collect::<rusqlite::Result<_>>().map_err(broken)
    }

    /// Forgets a call that comes to nothing.
    pub(crate) fn close_call(&self, call: &SnapshotId) -> Result<()> {
        self.lock().execute("DELETE FROM calls WHERE id = ?1", [call.as_str()]).map(drop).map_err(broken)
    }

    pub(crate) fn add_checkpoint(&self, seq: Seq, checkpoint: &NewCheckpoint) -> Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        insert_checkpoint(&transaction, seq, checkpoint)?;
        transaction.commit().map_err(broken)
    }

    /// File checkpoints, newest first.
    pub(crate) fn checkpoints(&self) -> Result<Vec<(Checkpoint, u64)>> {
        let connection = self.lock();
        let sql = "SELECT c.id, c.timestamp, r.id, c.seq, c.paths, c.creation_ms FROM checkpoints c \
                   JOIN rows r ON r.seq = c.seq ORDER BY c.rowid DESC";
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        let rows = statement.query_map([], checkpoint_of).map_err(broken)?;
        rows.collect::<rusqlite::Result<_>>().map_err(broken)
    }

    /// Forgets checkpoints made before `oldest`; the latest one stays. Says how many went.
    pub(crate) fn remove_checkpoints(&self, oldest: Timestamp) -> Result<u64> {
        let sql = "DELETE FROM checkpoints WHERE timestamp < ?1 AND rowid < (SELECT max(rowid) FROM checkpoints)";
        self.lock().execute(sql, [oldest.0]).map(|count| count as u64).map_err(broken)
    }
}

/// Writes a checkpoint and forgets those it makes superfluous.
pub(super) fn insert_checkpoint(connection: &Connection, seq: Seq, checkpoint: &NewCheckpoint) -> Result<()> {
    let paths = checkpoint.paths.as_ref().map(serde_json::to_string).transpose();
    let paths = paths.map_err(|error| broken_text(&error.to_string()))?;
    connection
        .prepare_cached("INSERT INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5)")
        .map_err(broken)?
        .execute(params![checkpoint.id.as_str(), checkpoint.timestamp.0, seq.0, paths, checkpoint.creation_ms])
        .map_err(broken)?;
    let sql = "DELETE FROM checkpoints WHERE id <> ?1 AND (NOT ?2 OR timestamp < ?3)";
    connection
        .prepare_cached(sql)
        .map_err(broken)?
        .execute(params![checkpoint.id.as_str(), checkpoint.keep.all, checkpoint.keep.oldest.0])
        .map(drop)
        .map_err(broken)
}

fn call_of(row: &SqlRow<'_>) -> rusqlite::Result<OpenCall> {
    let start = tree_at(row, 4)?.ok_or_else(|| malformed(4, "a tree id is missing".into()))?;
    let column: CallColumn = json(row, 3)?;
    let call = Call {
        id: stored_id(row, 0)?,
        since: Timestamp(row.get(1)?),
        based_on: Seq(row.get(2)?),
        origin: column.origin,
        run: column.run,
    };
    Ok(OpenCall { call, start, coverage_id: id(row, 6)? })
}

fn checkpoint_of(row: &SqlRow<'_>) -> rusqlite::Result<(Checkpoint, u64)> {
    let paths: Option<String> = row.get(4)?;
    let paths =
        paths.map(|text| serde_json::from_str(&text).map_err(|error| malformed(4, error.into()))).transpose()?;
    let checkpoint = Checkpoint {
        id: stored_id(row, 0)?,
        timestamp: Timestamp(row.get(1)?),
        snapshot_id: stored_id(row, 2)?,
        sequence_number: Seq(row.get(3)?),
        paths,
    };
    Ok((checkpoint, row.get(5)?))
}
