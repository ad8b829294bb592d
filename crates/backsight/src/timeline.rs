//! The timeline: one append-only table of steps in SQLite. Rows are never rewritten; pins and expiry are beside them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backsight_core::{Code, Coverage, Error, ObjectId, RelPath, Result, Seq, SnapshotId, Timestamp};
use backsight_files::{Last, Tree, WorkspaceLock};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Row, ToSql, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::report::{Kind, Origin, Snapshot};
use crate::request;

/// The format this version writes; kept in SQLite's `user_version`.
const FORMAT: i64 = 1;

/// The write-ahead log is folded into the file when it is larger than this: every ten steps or so.
const LOG_LIMIT: u64 = 256 << 10;

const SCHEMA: &str = "
CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    tree TEXT NOT NULL, attributes TEXT, coverage_id TEXT,
    base_tree TEXT, base_attributes TEXT, base_coverage_id TEXT,
    previous_id TEXT,
    timestamp INTEGER NOT NULL,
    description TEXT NOT NULL,
    tool TEXT, session TEXT, message TEXT, part TEXT,
    declared TEXT NOT NULL,
    targets TEXT NOT NULL,
    files_changed INTEGER NOT NULL,
    coverage TEXT NOT NULL
) STRICT;
CREATE INDEX snapshots_by_tree ON snapshots (tree);
CREATE INDEX snapshots_by_session ON snapshots (session, seq) WHERE session IS NOT NULL;
CREATE INDEX snapshots_by_tool ON snapshots (tool, seq) WHERE tool IS NOT NULL;
CREATE TABLE touched (path BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (path, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE pinned (seq INTEGER PRIMARY KEY) STRICT;
CREATE TABLE expired (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
";

/// A step about to be recorded. It is also what a restore's journal keeps, so that a crash cannot lose the step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NewStep {
    pub(crate) id: SnapshotId,
    pub(crate) kind: Kind,
    pub(crate) tree: Tree,
    pub(crate) coverage_id: Option<ObjectId>,
    pub(crate) timestamp: Timestamp,
    pub(crate) description: String,
    pub(crate) origin: Origin,
    pub(crate) targets: Vec<Seq>,
    pub(crate) files_changed: u64,
    pub(crate) coverage: Coverage,
    /// Paths that differ from the base; empty for the first snapshot.
    pub(crate) touched: Vec<RelPath>,
    pub(crate) pinned: bool,
}

/// A recorded step with the ids that only the library needs.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) snapshot: Snapshot,
    pub(crate) tree: Tree,
    pub(crate) coverage_id: Option<ObjectId>,
    pub(crate) base: Option<Tree>,
    pub(crate) base_coverage_id: Option<ObjectId>,
}

impl Step {
    pub(crate) fn as_last(&self) -> Last {
        Last { tree: self.tree, coverage_id: self.coverage_id }
    }
}

/// What undo and retention need to know of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) seq: Seq,
    pub(crate) kind: Kind,
    pub(crate) targets: Vec<Seq>,
    pub(crate) has_base: bool,
    pub(crate) timestamp: Timestamp,
    pub(crate) pinned: bool,
    pub(crate) expired: bool,
}

pub(crate) struct Timeline {
    connection: Mutex<Connection>,
    /// SQLite's write-ahead log.
    log: PathBuf,
}

/// What making a timeline needs to know.
pub(crate) struct Making<'a> {
    /// Whether steps were recorded before: then it must not be made anew.
    pub(crate) is_used: &'a dyn Fn() -> bool,
    /// Takes the workspace lock, unless it is held already.
    pub(crate) lock: &'a dyn Fn() -> Result<Option<WorkspaceLock>>,
}

impl Timeline {
    /// Opens or makes the timeline.
    pub(crate) fn open(file: &Path, making: &Making<'_>) -> Result<Self> {
        create_private(file)?;
        let connection = Connection::open(file).map_err(broken)?;
        let timeline = Timeline { connection: Mutex::new(connection), log: file.with_extension("db-wal") };
        timeline.prepare(file, making)?;
        Ok(timeline)
    }

    fn prepare(&self, file: &Path, making: &Making<'_>) -> Result<()> {
        let mut connection = self.lock();
        connection.busy_timeout(Duration::from_secs(10)).map_err(broken)?;
        // Each command is a process of its own: folding the log into the file at every exit would cost more than the
        // step itself, and SQLite's own threshold counts from the start of each process. `append` folds it when it has
        // grown.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(broken)?;
        // FULL: a step that was answered for must survive a power cut.
        connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;").map_err(broken)?;
        if format_of(&connection)? == FORMAT && journal_mode_of(&connection)? == "wal" {
            return Ok(());
        }
        // Made by one process at a time. The one that waited here finds it made.
        let _lock = (making.lock)()?;
        let format = format_of(&connection)?;
        if format == 0 && (making.is_used)() {
            return Err(Error::new(Code::Damaged, format!("`{}` is missing or empty although snapshots were recorded", file.display()))
                .with_hint("put it back from a backup; or move the store away to begin anew: the files of its snapshots stay readable with git, under refs/backsight/"));
        }
        if format != 0 && format != FORMAT {
            return Err(Error::new(
                Code::StoreVersion,
                format!("`{}` has format {format}; this version of Backsight reads format {FORMAT}", file.display()),
            )
            .with_hint("use the version of Backsight that wrote it"));
        }
        connection.execute_batch("PRAGMA journal_mode = WAL;").map_err(broken)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        if format == 0 {
            transaction.execute_batch(SCHEMA).map_err(broken)?;
            transaction.pragma_update(None, "user_version", FORMAT).map_err(broken)?;
        }
        transaction.commit().map_err(broken)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a step after the latest one, whose files are its base. Appending the same step again changes nothing.
    /// Its number is above every row's and above `used`, which is known from elsewhere to have been given out.
    pub(crate) fn append(&self, step: &NewStep, used: Seq) -> Result<Step> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        let known = find(&transaction, "id = ?1", &[&step.id.as_str()])?;
        let seq = match known.into_iter().next() {
            Some(known) => known.snapshot.sequence_number,
            None => {
                let previous = find(&transaction, "seq = (SELECT max(seq) FROM snapshots)", &[])?.into_iter().next();
                insert(&transaction, step, previous.as_ref(), used)?
            }
        };
        let appended = find(&transaction, "seq = ?1", &[&seq.0])?
            .into_iter()
            .next()
            .ok_or_else(|| broken_text("the appended row is gone"))?;
        transaction.commit().map_err(broken)?;
        drop(connection);
        if std::fs::metadata(&self.log).is_ok_and(|metadata| metadata.len() > LOG_LIMIT) {
            // The step is recorded. Whoever reads just now keeps the log from being folded; the next step does it.
            let _ = self.fold();
        }
        Ok(appended)
    }

    pub(crate) fn latest(&self) -> Result<Option<Step>> {
        Ok(find(&self.lock(), "seq = (SELECT max(seq) FROM snapshots)", &[])?.into_iter().next())
    }

    pub(crate) fn by_seq(&self, seq: Seq) -> Result<Option<Step>> {
        Ok(find(&self.lock(), "seq = ?1", &[&seq.0])?.into_iter().next())
    }

    /// The step `back` places before the latest.
    pub(crate) fn before_latest(&self, back: u64) -> Result<Option<Step>> {
        let condition = "seq = (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 1 OFFSET ?1)";
        Ok(find(&self.lock(), condition, &[&back])?.into_iter().next())
    }

    /// Steps whose id or tree starts with `prefix`, newest first.
    pub(crate) fn by_prefix(&self, prefix: &str) -> Result<Vec<Step>> {
        // Hex digits sort below `g`, so this is a range that an index can answer.
        let end = format!("{prefix}g");
        find(&self.lock(), "(id >= ?1 AND id < ?2) OR (tree >= ?1 AND tree < ?2)", &[&prefix, &end])
    }

    /// Steps of one session, message or part, newest first.
    pub(crate) fn by_origin(&self, column: OriginColumn, value: &str) -> Result<Vec<Step>> {
        find(&self.lock(), &format!("{} = ?1", column.name()), &[&value])
    }

    /// One page, newest first. Steps without a base touched everything in them; `baseline` says whether one holds the path.
    pub(crate) fn page(
        &self,
        query: &request::Log,
        before: Option<Seq>,
        baseline: &dyn Fn(&Step) -> Result<bool>,
    ) -> Result<Vec<Step>> {
        let (condition, values) = conditions(query, before);
        let values: Vec<&dyn ToSql> = values.iter().map(|value| value.as_ref()).collect();
        let limit =
            if query.limit == 0 { String::new() } else { format!(" ORDER BY seq DESC LIMIT {}", query.limit + 1) };
        let limited = format!("seq IN (SELECT seq FROM snapshots WHERE {condition}{limit})");
        let mut steps = find(&self.lock(), &limited, &values)?;
        if query.file.is_some() {
            let mut error = None;
            steps.retain(|step| {
                step.base.is_some()
                    || baseline(step).unwrap_or_else(|failure| {
                        error = Some(failure);
                        false
                    })
            });
            if let Some(error) = error {
                return Err(error);
            }
        }
        Ok(steps)
    }

    /// Every step in brief, oldest first.
    pub(crate) fn outlines(&self) -> Result<Vec<Outline>> {
        let connection = self.lock();
        let sql = "SELECT s.seq, s.kind, s.targets, s.base_tree IS NOT NULL, s.timestamp, p.seq IS NOT NULL, e.seq IS NOT NULL
                   FROM snapshots s LEFT JOIN pinned p USING (seq) LEFT JOIN expired e USING (seq) ORDER BY s.seq";
        let mut statement = connection.prepare(sql).map_err(broken)?;
        let rows = statement.query_map([], |row| {
            Ok(Outline {
                seq: Seq(row.get(0)?),
                kind: json_text(row, 1)?,
                targets: json(row, 2)?,
                has_base: row.get(3)?,
                timestamp: Timestamp(row.get(4)?),
                pinned: row.get(5)?,
                expired: row.get(6)?,
            })
        });
        rows.map_err(broken)?.collect::<rusqlite::Result<_>>().map_err(broken)
    }

    pub(crate) fn count(&self) -> Result<u64> {
        self.lock().query_row("SELECT count(*) FROM snapshots", [], |row| row.get(0)).map_err(broken)
    }

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

    /// Folds the log into the file, so that the timeline takes no more room than it needs.
    pub(crate) fn fold(&self) -> Result<()> {
        self.lock().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(broken)
    }

    /// SQLite's own check of the file; empty when it is whole.
    pub(crate) fn check(&self) -> Result<Vec<String>> {
        let connection = self.lock();
        let mut statement = connection.prepare("PRAGMA integrity_check").map_err(broken)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(broken)?;
        let lines: Vec<String> = rows.collect::<rusqlite::Result<_>>().map_err(broken)?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }
}

fn format_of(connection: &Connection) -> Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(broken)
}

fn journal_mode_of(connection: &Connection) -> Result<String> {
    connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(broken)
}

/// SQLite gives its other files the permissions of this one.
fn create_private(file: &Path) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file);
    created.map(drop).map_err(|error| Error::io(format!("open `{}`", file.display()), error))
}

/// What a reference such as `session:ID` looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OriginColumn {
    Session,
    Message,
    Part,
}

impl OriginColumn {
    pub(crate) fn name(self) -> &'static str {
        match self {
            OriginColumn::Session => "session",
            OriginColumn::Message => "message",
            OriginColumn::Part => "part",
        }
    }
}

fn conditions(query: &request::Log, before: Option<Seq>) -> (String, Vec<Box<dyn ToSql>>) {
    let mut parts = vec!["1".to_owned()];
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut add = |condition: &str, value: Box<dyn ToSql>| {
        values.push(value);
        parts.push(condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(session) = &query.session {
        add("session = ?", Box::new(session.clone()));
    }
    if let Some(tool) = &query.tool {
        add("tool = ?", Box::new(tool.clone()));
    }
    if let Some(kind) = query.kind {
        add("kind = ?", Box::new(kind.as_str()));
    }
    if let Some(since) = query.since {
        add("timestamp >= ?", Box::new(since.0));
    }
    if let Some(until) = query.until {
        add("timestamp <= ?", Box::new(until.0));
    }
    if let Some(before) = before {
        add("seq < ?", Box::new(before.0));
    }
    if let Some(file) = &query.file {
        let path = file.as_bytes().to_vec();
        let (low, high) = ([&path[..], b"/"].concat(), [&path[..], b"0"].concat());
        values.extend([Box::new(path) as Box<dyn ToSql>, Box::new(low), Box::new(high)]);
        let [a, b, c] = [values.len() - 2, values.len() - 1, values.len()];
        parts.push(format!(
            "(base_tree IS NULL OR seq IN (SELECT seq FROM touched WHERE path = ?{a} UNION SELECT seq FROM touched WHERE path >= ?{b} AND path < ?{c}))"
        ));
    }
    (parts.join(" AND "), values)
}

fn insert(connection: &Connection, step: &NewStep, previous: Option<&Step>, used: Seq) -> Result<Seq> {
    let text = |id: Option<ObjectId>| id.map(|id| id.to_string());
    let encode = |value: Result<String, serde_json::Error>| value.map_err(|error| broken_text(&error.to_string()));
    let base = previous.map(|previous| previous.tree);
    let latest = previous.map_or(Seq(0), |previous| previous.snapshot.sequence_number);
    let seq = Seq(latest.max(used).0 + 1);
    connection
        .execute(
            "INSERT INTO snapshots (seq, id, kind, tree, attributes, coverage_id, base_tree, base_attributes, base_coverage_id, previous_id,
             timestamp, description, tool, session, message, part, declared, targets, files_changed, coverage)
             VALUES (?20, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            params![
                step.id.as_str(),
                step.kind.as_str(),
                step.tree.id.to_string(),
                text(step.tree.attributes),
                text(step.coverage_id),
                text(base.map(|base| base.id)),
                text(base.and_then(|base| base.attributes)),
                text(previous.and_then(|previous| previous.coverage_id)),
                previous.map(|previous| previous.snapshot.id.to_string()),
                step.timestamp.0,
                step.description,
                step.origin.tool,
                step.origin.session,
                step.origin.message,
                step.origin.part,
                encode(serde_json::to_string(&step.origin.declared))?,
                encode(serde_json::to_string(&step.targets))?,
                step.files_changed,
                encode(serde_json::to_string(&step.coverage))?,
                seq.0,
            ],
        )
        .map_err(broken)?;
    let mut touched = connection.prepare("INSERT OR IGNORE INTO touched VALUES (?1, ?2)").map_err(broken)?;
    for path in &step.touched {
        touched.execute(params![path.as_bytes(), seq.0]).map_err(broken)?;
    }
    if step.pinned {
        connection.execute("INSERT INTO pinned VALUES (?1)", [seq.0]).map_err(broken)?;
    }
    Ok(seq)
}

/// Steps that meet a condition, newest first.
fn find(connection: &Connection, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<Step>> {
    let sql = format!(
        "SELECT seq, id, kind, tree, attributes, coverage_id, base_tree, base_attributes, base_coverage_id, previous_id, timestamp,
         description, tool, session, message, part, declared, targets, files_changed, coverage,
         (SELECT 1 FROM pinned WHERE pinned.seq = snapshots.seq), (SELECT at FROM expired WHERE expired.seq = snapshots.seq)
         FROM snapshots WHERE {condition} ORDER BY seq DESC"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(broken)?;
    let rows = statement.query_map(values, step_of).map_err(broken)?;
    rows.collect::<rusqlite::Result<_>>().map_err(broken)
}

fn step_of(row: &Row<'_>) -> rusqlite::Result<Step> {
    let tree = Tree { id: required(row, 3)?, attributes: id(row, 4)? };
    let base = id(row, 6)?
        .map(|base| -> rusqlite::Result<Tree> { Ok(Tree { id: base, attributes: id(row, 7)? }) })
        .transpose()?;
    let snapshot = Snapshot {
        id: SnapshotId::from_stored(row.get(1)?),
        sequence_number: Seq(row.get(0)?),
        kind: json_text(row, 2)?,
        tree: tree.id,
        base_tree: base.map(|base| base.id),
        previous_snapshot_id: row.get::<_, Option<String>>(9)?.map(SnapshotId::from_stored),
        timestamp: Timestamp(row.get(10)?),
        description: row.get(11)?,
        origin: Origin {
            tool: row.get(12)?,
            session: row.get(13)?,
            message: row.get(14)?,
            part: row.get(15)?,
            declared: json(row, 16)?,
        },
        targets: json(row, 17)?,
        files_changed: row.get(18)?,
        coverage: json(row, 19)?,
        pinned: row.get::<_, Option<i64>>(20)?.is_some(),
        expired_at: row.get::<_, Option<i64>>(21)?.map(Timestamp),
    };
    Ok(Step { snapshot, tree, coverage_id: id(row, 5)?, base, base_coverage_id: id(row, 8)? })
}

fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ObjectId>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse().map_err(|problem: &str| malformed(column, problem.into()))).transpose()
}

fn required(row: &Row<'_>, column: usize) -> rusqlite::Result<ObjectId> {
    id(row, column)?.ok_or_else(|| malformed(column, "a tree id is missing".into()))
}

fn json<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(&row.get::<_, String>(column)?).map_err(|error| malformed(column, error.into()))
}

/// A value stored as bare text whose type reads JSON strings.
fn json_text<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_value(serde_json::Value::String(row.get(column)?)).map_err(|error| malformed(column, error.into()))
}

fn malformed(column: usize, error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error)
}

fn broken_text(problem: &str) -> Error {
    Error::new(Code::Damaged, format!("the timeline cannot be used: {problem}"))
        .with_hint("check the store with `backsight verify`")
}

fn broken(error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::new(Code::Busy, "another process is writing to the timeline").with_source(error)
        }
        Some(ErrorCode::DiskFull) => {
            Error::new(Code::DiskFull, "cannot write to the timeline: no space left on the device")
                .with_hint("free some space, or shrink the store with `backsight gc`")
                .with_source(error)
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            broken_text(&error.to_string()).with_source(error)
        }
        Some(_) => Error::new(Code::Io, format!("cannot use the timeline: {error}")).with_source(error),
        None => broken_text(&error.to_string()).with_source(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: u64) -> NewStep {
        let tree = Tree { id: ObjectId::from_bytes([id as u8; 20]), attributes: None };
        NewStep {
            id: SnapshotId::from_random(id),
            kind: Kind::Track,
            tree,
            coverage_id: None,
            timestamp: Timestamp(1),
            description: String::new(),
            origin: Origin::default(),
            targets: Vec::new(),
            files_changed: 0,
            coverage: Coverage::default(),
            touched: Vec::new(),
            pinned: false,
        }
    }

    fn alone(is_used: bool) -> Making<'static> {
        Making { is_used: if is_used { &|| true } else { &|| false }, lock: &|| Ok(None) }
    }

    #[test]
    fn appending_the_same_step_twice_makes_one_row() {
        let directory = tempfile::tempdir().unwrap();
        let timeline = Timeline::open(&directory.path().join("timeline.db"), &alone(false)).unwrap();
        let first = timeline.append(&step(1), Seq(0)).unwrap();
        let again = timeline.append(&step(1), Seq(0)).unwrap();
        assert_eq!(first.snapshot, again.snapshot);
        let second = timeline.append(&step(2), Seq(0)).unwrap();
        assert_eq!(second.snapshot.sequence_number, Seq(2));
        assert_eq!(second.snapshot.previous_snapshot_id, Some(first.snapshot.id));
        assert_eq!(second.base, Some(first.tree));
        let after_a_loss = timeline.append(&step(3), Seq(7)).unwrap();
        assert_eq!(after_a_loss.snapshot.sequence_number, Seq(8));
    }

    #[test]
    fn a_timeline_that_was_lost_is_not_begun_anew() {
        let directory = tempfile::tempdir().unwrap();
        let error = Timeline::open(&directory.path().join("timeline.db"), &alone(true)).map(drop).unwrap_err();
        assert_eq!(error.code(), Code::Damaged);
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("timeline.db");
        drop(Timeline::open(&file, &alone(false)).unwrap());
        Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = Timeline::open(&file, &alone(false)).map(drop).unwrap_err();
        assert_eq!(error.code(), Code::StoreVersion);
        assert!(error.message().contains("format 99"), "{}", error.message());
    }
}
