//! Between rows of the database and values: the only place that knows the columns by number.

use backsight_core::{Coverage, ObjectId, RelPath, Result, Seq, SnapshotId, Timestamp, quote};
use backsight_files::{Last, Tree};
use rusqlite::{Connection, Row as SqlRow, ToSql, params};
use serde::{Deserialize, Serialize};

use super::format::COLUMNS;
use super::{broken, broken_text, chain};
use crate::report::{Event, Kind, MayHold, Origin, Row, Snapshot, UnknownChange};

/// A step about to be recorded. It is also what a restore's journal keeps, so that a crash cannot lose the step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NewStep {
    pub(crate) id: SnapshotId,
    pub(crate) kind: Kind,
    pub(crate) tree: Tree,
    pub(crate) coverage_id: Option<ObjectId>,
    /// The files just before the step's own changes, when they are not those of the snapshot before.
    #[serde(default)]
    pub(crate) start: Option<Tree>,
    pub(crate) timestamp: Timestamp,
    pub(crate) description: String,
    pub(crate) origin: Origin,
    pub(crate) targets: Vec<Seq>,
    pub(crate) files_changed: u64,
    #[serde(default)]
    pub(crate) lines: Option<Lines>,
    #[serde(default)]
    pub(crate) execution_ms: Option<u64>,
    pub(crate) coverage: Coverage,
    /// Paths that differ from the base; empty for the first snapshot.
    #[serde(default)]
    pub(crate) files: Vec<TouchedFile>,
    #[serde(default)]
    pub(crate) unknown: Vec<UnknownChange>,
    pub(crate) pinned: bool,
    #[serde(default)]
    pub(crate) details: Option<StepDetails>,
}

/// What a row remembers beside its targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StepDetails {
    /// Every target was taken back with all its paths: none was left out or skipped. Says nothing without targets.
    pub(crate) whole: bool,
    /// Steps that an undo among the targets took back and that stay taken back: a redo of some of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) leaving: Vec<Seq>,
    /// What it is to the session it acts on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<SessionMark>,
    /// Tool calls that were open when it was recorded and may have written what it calls its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) shared: Vec<Shared>,
    /// What it calls its own and may be the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) doubt: Option<Doubt>,
}

impl StepDetails {
    fn may_hold(&self) -> Vec<MayHold> {
        let users = self.doubt.iter().map(|doubt| MayHold {
            of: "the user".to_owned(),
            paths: doubt.paths.clone(),
            more: doubt.more,
        });
        let others = self.shared.iter().map(|shared| MayHold {
            of: shared.who(),
            paths: shared.paths.clone(),
            more: shared.more,
        });
        users.chain(others).collect()
    }
}

/// What a step calls its own and may be the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubt {
    /// Where, the first of them.
    pub(crate) paths: Vec<RelPath>,
    /// How many more paths.
    #[serde(default)]
    pub(crate) more: u64,
}

/// What a step may hold of a tool call that had not finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shared {
    pub(crate) call: SnapshotId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    /// Where, the first of them.
    pub(crate) paths: Vec<RelPath>,
    /// How many more paths.
    #[serde(default)]
    pub(crate) more: u64,
}

impl Shared {
    /// `session s1`, the tool, or the call's id.
    pub(crate) fn who(&self) -> String {
        match (&self.session, &self.tool) {
            (Some(session), _) => format!("session `{}`", quote(session.as_bytes())),
            (None, Some(tool)) => format!("a call of tool `{}`", quote(tool.as_bytes())),
            (None, None) => format!("tool call {}", self.call),
        }
    }
}

/// What a row is to the session it acts on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionMark {
    /// It took the session back to before this message, or this part of it.
    Revert { message: String, part: Option<String> },
    /// It took such reverts back.
    Unrevert,
}

/// How many lines a step added and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lines {
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

/// A path that a row changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TouchedFile {
    pub(crate) path: RelPath,
    pub(crate) before: Option<ObjectId>,
    pub(crate) after: Option<ObjectId>,
    /// The row holds the change, and somebody else made it.
    pub(crate) external: bool,
}

/// An event about to be recorded.
#[derive(Clone, Debug)]
pub(crate) struct NewEvent {
    pub(crate) id: SnapshotId,
    pub(crate) kind: Kind,
    pub(crate) timestamp: Timestamp,
    pub(crate) description: String,
    pub(crate) origin: Origin,
    pub(crate) details: serde_json::Value,
}

/// A recorded step with the ids that only the library needs.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) snapshot: Snapshot,
    pub(crate) tree: Tree,
    pub(crate) coverage_id: Option<ObjectId>,
    pub(crate) base: Option<Tree>,
    pub(crate) base_coverage_id: Option<ObjectId>,
    pub(crate) start: Option<Tree>,
    pub(crate) details: Option<StepDetails>,
}

impl Step {
    /// Whether it is nobody's who worked here: found changed outside, or saved before something displaced it.
    pub(crate) fn is_of_others(&self) -> bool {
        matches!(self.snapshot.kind, Kind::External | Kind::Safety)
    }

    /// Tool calls of others that it may hold something of.
    pub(crate) fn shared(&self) -> &[Shared] {
        self.details.as_ref().map_or(&[], |details| &details.shared)
    }

    /// What it calls its own and may be the user's.
    pub(crate) fn doubt(&self) -> Option<&Doubt> {
        self.details.as_ref().and_then(|details| details.doubt.as_ref())
    }

    /// What the row is to its session, if it took it back or forth.
    pub(crate) fn mark(&self) -> Option<&SessionMark> {
        self.details.as_ref()?.session.as_ref()
    }

    pub(crate) fn as_last(&self) -> Last {
        Last { tree: self.tree, coverage_id: self.coverage_id }
    }

    /// What limits the step's own changes. Since format 2 the start tree does; before, only what was declared.
    pub(crate) fn limit(&self) -> &[RelPath] {
        let is_old = self.snapshot.execution_time_ms.is_none();
        if is_old { &self.snapshot.origin.declared } else { &[] }
    }

    /// The files just before the step's own changes; nothing for the first snapshot.
    pub(crate) fn before(&self) -> Option<Tree> {
        self.start.or(self.base)
    }
}

/// What undo and retention need to know of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) seq: Seq,
    pub(crate) kind: Kind,
    pub(crate) targets: Vec<Seq>,
    /// Steps of its targets that stay taken back.
    pub(crate) leaving: Vec<Seq>,
    /// Its targets are taken back as a whole. Rows of older versions do not say; an undo always was.
    pub(crate) whole: bool,
    pub(crate) has_base: bool,
    pub(crate) timestamp: Timestamp,
    pub(crate) pinned: bool,
    pub(crate) expired: bool,
}

/// An id in a column. A row of a stranger's may hold any text there, and ids are shown as they are.
pub(super) fn stored_id(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<SnapshotId> {
    let text: String = row.get(column)?;
    SnapshotId::from_stored(&text).ok_or_else(|| {
        let problem = format!("`{}` is no id", backsight_core::one_line(&text));
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, problem.into())
    })
}

fn optional_id(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<SnapshotId>> {
    match row.get_ref(column)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => stored_id(row, column).map(Some),
    }
}

fn encode<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| broken_text(&error.to_string()))
}

/// Writes a step after the latest row, with its files and its hash.
pub(super) fn insert_step(
    connection: &Connection,
    step: &NewStep,
    previous: Option<&Step>,
    latest: Seq,
) -> Result<Seq> {
    let text = |id: Option<ObjectId>| id.map(|id| id.to_string());
    let base = previous.map(|previous| previous.tree);
    let seq = super::number_after(latest)?;
    let sql = format!(
        "INSERT INTO rows ({COLUMNS}, chain) VALUES (?1, NULL, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \
         ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, x'')"
    );
    connection
        .prepare_cached(&sql)
        .map_err(broken)?
        .execute(params![
            seq.0,
            step.id.as_str(),
            step.kind.as_str(),
            step.timestamp.0,
            step.description,
            step.origin.tool,
            step.origin.session,
            step.origin.message,
            step.origin.part,
            step.tree.id.to_string(),
            text(step.tree.attributes),
            text(step.coverage_id),
            text(base.map(|base| base.id)),
            text(base.and_then(|base| base.attributes)),
            text(previous.and_then(|previous| previous.coverage_id)),
            text(step.start.map(|start| start.id)),
            text(step.start.and_then(|start| start.attributes)),
            previous.map(|previous| previous.snapshot.id.to_string()),
            encode(&step.origin.declared)?,
            encode(&step.targets)?,
            encode(&step.unknown)?,
            step.files_changed,
            step.lines.map(|lines| lines.added),
            step.lines.map(|lines| lines.removed),
            step.execution_ms,
            encode(&step.coverage)?,
            step.details.as_ref().map(encode).transpose()?,
        ])
        .map_err(broken)?;
    // Nobody but this row says what it touched.
    connection
        .prepare_cached("DELETE FROM touched WHERE seq = ?1")
        .map_err(broken)?
        .execute([seq.0])
        .map_err(broken)?;
    let mut touched =
        connection.prepare_cached("INSERT OR IGNORE INTO touched VALUES (?1, ?2, ?3, ?4, ?5)").map_err(broken)?;
    for file in &step.files {
        let [before, after] = [&file.before, &file.after].map(|id| id.as_ref().map(|id| id.as_bytes().to_vec()));
        touched.execute(params![seq.0, file.path.as_bytes(), before, after, file.external]).map_err(broken)?;
    }
    if step.pinned {
        connection.execute("INSERT INTO pinned VALUES (?1)", [seq.0]).map_err(broken)?;
    }
    chain::seal(connection, seq)?;
    Ok(seq)
}

/// Writes an event after the latest row, with its hash.
pub(super) fn insert_event(connection: &Connection, event: &NewEvent, latest: Seq) -> Result<Seq> {
    let seq = super::number_after(latest)?;
    connection.execute("DELETE FROM touched WHERE seq = ?1", [seq.0]).map_err(broken)?;
    connection
        .execute(
            "INSERT INTO rows (seq, id, kind, timestamp, description, tool, session, message, part, declared, targets, \
             unknown, files_changed, coverage, details, chain) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, '[]', '[]', '[]', 0, '{}', ?10, x'')",
            params![
                seq.0,
                event.id.as_str(),
                event.kind.as_str(),
                event.timestamp.0,
                event.description,
                event.origin.tool,
                event.origin.session,
                event.origin.message,
                event.origin.part,
                encode(&event.details)?,
            ],
        )
        .map_err(broken)?;
    chain::seal(connection, seq)?;
    Ok(seq)
}

const DETAILS: usize = 27;
const PINNED: usize = 29;
const EXPIRED: usize = 30;

fn select(condition: &str) -> String {
    format!(
        "SELECT {COLUMNS}, chain, (SELECT 1 FROM pinned WHERE pinned.seq = rows.seq), \
         (SELECT at FROM expired WHERE expired.seq = rows.seq) FROM rows WHERE {condition} ORDER BY seq DESC"
    )
}

/// Steps that meet a condition, newest first.
pub(super) fn find(connection: &Connection, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<Step>> {
    let sql = select(&format!("tree IS NOT NULL AND ({condition})"));
    let mut statement = connection.prepare_cached(&sql).map_err(broken)?;
    let rows = statement.query_map(values, step_of).map_err(broken)?;
    rows.collect::<rusqlite::Result<_>>().map_err(broken)
}

/// Rows of every kind that meet a condition, newest first.
pub(super) fn find_rows(connection: &Connection, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<Found>> {
    let mut statement = connection.prepare_cached(&select(condition)).map_err(broken)?;
    let rows = statement.query_map(values, |row| match row.get_ref(10)? {
        rusqlite::types::ValueRef::Null => Ok(Found::Event(Box::new(event_of(row)?))),
        _ => Ok(Found::Step(Box::new(step_of(row)?))),
    });
    rows.map_err(broken)?.collect::<rusqlite::Result<_>>().map_err(broken)
}

/// Events of one kind that can be read, newest first. Those that cannot were altered, which the chain tells.
pub(super) fn readable_events(connection: &Connection, kind: &str) -> Result<Vec<Event>> {
    let mut statement = connection.prepare_cached(&select("tree IS NULL AND kind = ?1")).map_err(broken)?;
    let rows = statement.query_map([kind], event_of).map_err(broken)?;
    Ok(rows.filter_map(rusqlite::Result::ok).collect())
}

/// A row of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Step(Box<Step>),
    Event(Box<Event>),
}

impl Found {
    pub(crate) fn into_row(self) -> Row {
        match self {
            Found::Step(step) => Row::Snapshot(Box::new(step.snapshot)),
            Found::Event(event) => Row::Event(event),
        }
    }
}

fn event_of(row: &SqlRow<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: stored_id(row, 2)?,
        sequence_number: Seq(row.get(0)?),
        kind: json_text(row, 3)?,
        timestamp: Timestamp(row.get(4)?),
        description: row.get(5)?,
        origin: origin_of(row)?,
        details: json(row, DETAILS)?,
        chain_hash: chain::hex(&row.get::<_, Vec<u8>>(28)?),
    })
}

fn origin_of(row: &SqlRow<'_>) -> rusqlite::Result<Origin> {
    Ok(Origin {
        tool: row.get(6)?,
        session: row.get(7)?,
        message: row.get(8)?,
        part: row.get(9)?,
        declared: json(row, 19)?,
    })
}

fn step_of(row: &SqlRow<'_>) -> rusqlite::Result<Step> {
    let tree = tree_at(row, 10)?.ok_or_else(|| malformed(10, "a tree id is missing".into()))?;
    let (base, start) = (tree_at(row, 13)?, tree_at(row, 16)?);
    let details: Option<StepDetails> = optional_json(row, DETAILS)?;
    let snapshot = Snapshot {
        may_hold: details.as_ref().map(StepDetails::may_hold).unwrap_or_default(),
        id: stored_id(row, 2)?,
        sequence_number: Seq(row.get(0)?),
        kind: json_text(row, 3)?,
        tree: tree.id,
        base_tree: base.map(|base| base.id),
        start_tree: start.map(|start| start.id),
        previous_snapshot_id: optional_id(row, 18)?,
        timestamp: Timestamp(row.get(4)?),
        description: row.get(5)?,
        origin: origin_of(row)?,
        targets: json(row, 20)?,
        files_changed: row.get(22)?,
        lines_added: row.get(23)?,
        lines_removed: row.get(24)?,
        execution_time_ms: row.get(25)?,
        unknown_changes: json(row, 21)?,
        coverage: json(row, 26)?,
        chain_hash: chain::hex(&row.get::<_, Vec<u8>>(28)?),
        pinned: row.get::<_, Option<i64>>(PINNED)?.is_some(),
        expired_at: row.get::<_, Option<i64>>(EXPIRED)?.map(Timestamp),
    };
    Ok(Step { snapshot, tree, coverage_id: id(row, 12)?, base, base_coverage_id: id(row, 15)?, start, details })
}

/// A tree id and, in the column after it, its attributes.
pub(super) fn tree_at(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Option<Tree>> {
    id(row, column)?.map(|tree| Ok(Tree { id: tree, attributes: id(row, column + 1)? })).transpose()
}

pub(super) fn id(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Option<ObjectId>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse().map_err(|problem: &str| malformed(column, problem.into()))).transpose()
}

pub(super) fn json<T: for<'de> Deserialize<'de>>(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(&row.get::<_, String>(column)?).map_err(|error| malformed(column, error.into()))
}

pub(super) fn optional_json<T: for<'de> Deserialize<'de>>(
    row: &SqlRow<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| malformed(column, error.into()))).transpose()
}

/// A value stored as bare text whose type reads JSON strings.
pub(super) fn json_text<T: for<'de> Deserialize<'de>>(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_value(serde_json::Value::String(row.get(column)?)).map_err(|error| malformed(column, error.into()))
}

pub(super) fn malformed(column: usize, error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error)
}
