//! The timeline: one append-only table of rows in SQLite. Rows are never rewritten; what may change is beside them.

mod adopt;
mod beside;
mod chain;
mod format;
mod kept;
mod query;
mod row;
mod sessions;
mod window;

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result, Seq, SnapshotId, Timestamp};
use backsight_files::{AnchoredPath, WorkspaceLock, device_of};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

pub(crate) use adopt::copy_rows;
pub(crate) use beside::{Keep, NewCheckpoint, OpenCall};
pub(crate) use kept::{Change as KeptChange, Item, KeptKind};
pub use query::OriginColumn;
pub(crate) use query::{Cursor, FileStep};
pub(crate) use row::{Doubt, Lines, NewEvent, NewStep, Outline, SessionMark, Shared, Step, StepDetails, TouchedFile};
pub(crate) use sessions::{KnownSession, SeenMessage};

use crate::report::{ChainProblem, Event, Kind};
use format::FORMAT;
pub(crate) use row::Found;
use row::{find, find_rows, insert_event, insert_step, json, json_text, optional_json};

/// The write-ahead log is folded into the file when it is larger than this: every ten steps or so.
const LOG_LIMIT: u64 = 256 << 10;

/// No timeline has more rows; more would not fit into the numbers of JSON either.
const LARGEST_NUMBER: u64 = 1 << 53;
/// So far beyond the rows names may be: a timeline that was put back from a backup lacks the newest.
const FARTHEST_NAME: u64 = 1 << 32;

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
    pub(crate) fn open(file: &AnchoredPath, making: &Making<'_>) -> Result<Self> {
        // Made here for the owner alone; SQLite would follow the user's mask.
        file.open_or_create().map_err(|error| Error::io(format!("open `{}`", file.display()), error))?;
        let path = file.path();
        let connection = connect(&path)?;
        check_file(&connection, file)?;
        let timeline = Timeline { connection: Mutex::new(connection), log: path.with_extension("db-wal") };
        timeline.prepare(&path, making)?;
        Ok(timeline)
    }

    /// Opens a timeline that nothing can be written to. What its log holds is read too, or it is an error.
    pub(crate) fn open_to_look(file: &AnchoredPath, is_used: &dyn Fn() -> bool) -> Result<Self> {
        let path = file.path();
        let log = path.with_extension("db-wal");
        let connection = match (size_of(&log), size_of(&path.with_extension("db-shm"))) {
            // The log's index says what is in it; SQLite makes its own in memory where it cannot be relied on.
            (Some(_), Some(_)) => connect_to_look(&path, "mode=ro")?,
            // There is nothing but the file, and nobody who writes it.
            (None | Some(0), _) => connect_to_look(&path, "immutable=1")?,
            (Some(_), None) => {
                let message =
                    format!("`{}` holds rows that cannot be read where nothing can be written", log.display());
                return Err(Error::new(Code::Io, message).with_hint("copy the workspace to where you can write"));
            }
        };
        connection.busy_timeout(Duration::from_secs(10)).map_err(broken)?;
        check_file(&connection, file)?;
        let format = format::of(&connection)?;
        format::check(format, &path)?;
        if format != FORMAT {
            let message = format!("`{}` has format {format} and has to be brought to {FORMAT} first", path.display());
            return Err(Error::new(Code::StoreVersion, message)
                .with_hint("copy the workspace to where you can write, and open it there"));
        }
        format::check_schema(&connection, &path)?;
        if latest_seq(&connection)? == Seq(0) && is_used() {
            return Err(lost(&path));
        }
        Ok(Timeline { connection: Mutex::new(connection), log })
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
        if format::of(&connection)? == FORMAT && journal_mode_of(&connection)? == "wal" {
            format::check_schema(&connection, file)?;
            // Its rows may have been in a write-ahead log that is lost.
            let is_lost = latest_seq(&connection)? == Seq(0) && (making.is_used)();
            return if is_lost { Err(lost(file)) } else { Ok(()) };
        }
        // Made by one process at a time. The one that waited here finds it made.
        let _lock = (making.lock)()?;
        let format = format::of(&connection)?;
        if format == 0 && (making.is_used)() {
            return Err(lost(file));
        }
        format::check(format, file)?;
        make_wal(&connection, format == 0)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        if format != FORMAT {
            format::make(&transaction, format)?;
        }
        format::check_schema(&transaction, file)?;
        transaction.commit().map_err(broken)?;
        // The tables go into the file at once: folding them in later must not be what a full disk has no room for.
        fold(&connection)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a step after the latest one, whose files are its base. Appending the same step again changes nothing.
    /// Its number is above every row's and above `used`, which is known from elsewhere to have been given out.
    pub(crate) fn append(&self, step: &NewStep, used: Seq, beside: &Beside<'_>) -> Result<Appended> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        let known = find(&transaction, "id = ?1", &[&step.id.as_str()])?;
        let mut warning = None;
        let seq = match known.into_iter().next() {
            Some(known) => known.snapshot.sequence_number,
            None => {
                let previous = latest_step(&transaction)?;
                let seq = insert_step(&transaction, step, previous.as_ref(), latest_of(&transaction, used)?)?;
                warning = beside.checkpoint.and_then(|checkpoint| add_beside(&transaction, seq, checkpoint).err());
                seq
            }
        };
        if let Some(call) = beside.finished_call {
            sessions::finish_call(&transaction, call, step.timestamp, Some((seq, &step.origin)))?;
        }
        let step = find(&transaction, "seq = ?1", &[&seq.0])?
            .into_iter()
            .next()
            .ok_or_else(|| broken_text("the appended row is gone"))?;
        transaction.commit().map_err(broken)?;
        drop(connection);
        self.fold_if_large();
        Ok(Appended { step, warning })
    }

    /// Appends events after the latest row, all or none.
    pub(crate) fn append_events(&self, events: &[NewEvent], used: Seq) -> Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        for event in events {
            insert_event(&transaction, event, latest_of(&transaction, used)?)?;
        }
        transaction.commit().map_err(broken)?;
        drop(connection);
        self.fold_if_large();
        Ok(())
    }

    /// Appends an event after the latest row.
    pub(crate) fn append_event(&self, event: &NewEvent, used: Seq) -> Result<Event> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
        let seq = insert_event(&transaction, event, latest_of(&transaction, used)?)?;
        let appended = find_rows(&transaction, "seq = ?1", &[&seq.0])?.into_iter().next();
        let Some(Found::Event(appended)) = appended else { return Err(broken_text("the appended row is gone")) };
        transaction.commit().map_err(broken)?;
        drop(connection);
        self.fold_if_large();
        Ok(*appended)
    }

    fn fold_if_large(&self) {
        if std::fs::metadata(&self.log).is_ok_and(|metadata| metadata.len() > LOG_LIMIT) {
            // The row is recorded. Whoever reads just now keeps the log from being folded; the next one does it.
            let _ = self.fold();
        }
    }

    /// The highest number given out; 0 before the first.
    pub(crate) fn latest_seq(&self) -> Result<Seq> {
        latest_seq(&self.lock())
    }

    /// Events of one kind, newest first.
    pub(crate) fn events(&self, kind: Kind) -> Result<Vec<Event>> {
        let found = find_rows(&self.lock(), "tree IS NULL AND kind = ?1", &[&kind.as_str()])?;
        let events = found.into_iter().filter_map(|row| match row {
            Found::Event(event) => Some(*event),
            Found::Step(_) => None,
        });
        Ok(events.collect())
    }

    /// The same, without those that cannot be read.
    pub(crate) fn readable_events(&self, kind: Kind) -> Result<Vec<Event>> {
        row::readable_events(&self.lock(), kind.as_str())
    }

    /// The numbers of all snapshots, and of those whose contents are kept; nothing else is read of them.
    pub(crate) fn snapshot_numbers(&self) -> Result<(BTreeSet<Seq>, BTreeSet<Seq>)> {
        let connection = self.lock();
        let numbers = |condition: &str| -> Result<BTreeSet<Seq>> {
            let sql = format!("SELECT seq FROM rows WHERE tree IS NOT NULL{condition}");
            let mut statement = connection.prepare(&sql).map_err(broken)?;
            let rows = statement.query_map([], |row| row.get(0).map(Seq)).map_err(broken)?;
            rows.collect::<rusqlite::Result<_>>().map_err(broken)
        };
        Ok((numbers("")?, numbers(" AND seq NOT IN (SELECT seq FROM expired)")?))
    }

    /// The event with this number.
    pub(crate) fn event_at(&self, seq: Seq) -> Result<Option<Event>> {
        let found = find_rows(&self.lock(), "tree IS NULL AND seq = ?1", &[&seq.0])?;
        Ok(found.into_iter().find_map(|row| match row {
            Found::Event(event) => Some(*event),
            Found::Step(_) => None,
        }))
    }

    /// Snapshots of a range, oldest first.
    pub(crate) fn between(&self, start: Seq, end: Seq) -> Result<Vec<Step>> {
        let mut steps = find(&self.lock(), "seq BETWEEN ?1 AND ?2", &[&start.0, &end.0])?;
        steps.reverse();
        Ok(steps)
    }

    /// The first snapshot after `seq`.
    pub(crate) fn first_after(&self, seq: Seq) -> Result<Option<Step>> {
        let condition = "seq = (SELECT min(seq) FROM rows WHERE tree IS NOT NULL AND seq > ?1)";
        Ok(find(&self.lock(), condition, &[&seq.0])?.into_iter().next())
    }

    /// The latest snapshot at or before `seq`.
    pub(crate) fn latest_snapshot_at(&self, seq: Seq) -> Result<Option<Step>> {
        let condition = "seq = (SELECT max(seq) FROM rows WHERE tree IS NOT NULL AND seq <= ?1)";
        Ok(find(&self.lock(), condition, &[&seq.0])?.into_iter().next())
    }

    /// The number of the first snapshot after `seq`.
    pub(crate) fn number_after(&self, seq: Seq) -> Result<Option<Seq>> {
        let sql = "SELECT min(seq) FROM rows WHERE tree IS NOT NULL AND seq > ?1";
        self.lock().query_row(sql, [seq.0], |row| Ok(row.get::<_, Option<u64>>(0)?.map(Seq))).map_err(broken)
    }

    /// Where the timeline is not whole, and how many rows were looked at.
    pub(crate) fn check_chain(&self) -> Result<(Vec<ChainProblem>, u64)> {
        chain::check(&self.lock())
    }

    /// The hash over every row; empty before the first.
    pub(crate) fn chain_head(&self) -> Result<String> {
        chain::head(&self.lock())
    }

    /// The row that has this hash.
    pub(crate) fn with_chain_hash(&self, hash: &str) -> Result<Option<Seq>> {
        chain::find(&self.lock(), hash)
    }

    pub(crate) fn latest(&self) -> Result<Option<Step>> {
        latest_step(&self.lock())
    }

    pub(crate) fn by_seq(&self, seq: Seq) -> Result<Option<Step>> {
        Ok(find(&self.lock(), "seq = ?1", &[&seq.0])?.into_iter().next())
    }

    /// The step `back` places before the latest.
    pub(crate) fn before_latest(&self, back: u64) -> Result<Option<Step>> {
        let condition = "seq = (SELECT seq FROM rows WHERE tree IS NOT NULL ORDER BY seq DESC LIMIT 1 OFFSET ?1)";
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

    /// How many bytes it has once everything is in its one file.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        self.lock().query_row(sql, [], |row| row.get(0)).map_err(broken)
    }

    /// A pair that differs whenever anything in the file may be another than before, whoever wrote it.
    pub(crate) fn version(&self) -> Result<(i64, i64)> {
        // SQLite counts the commits of others in the one and the changes of this connection in the other.
        let connection = self.lock();
        let sql = "SELECT data_version, total_changes() FROM pragma_data_version";
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(broken)
    }

    /// Every step in brief, oldest first.
    pub(crate) fn outlines(&self) -> Result<Vec<Outline>> {
        self.outlines_after(Seq(0))
    }

    /// The same, only those after `seq`.
    pub(crate) fn outlines_after(&self, seq: Seq) -> Result<Vec<Outline>> {
        let connection = self.lock();
        let sql = "SELECT s.seq, s.kind, s.targets, s.base_tree IS NOT NULL, s.timestamp, p.seq IS NOT NULL, e.seq IS NOT NULL, s.details
                   FROM rows s LEFT JOIN pinned p USING (seq) LEFT JOIN expired e USING (seq)
                   WHERE s.tree IS NOT NULL AND s.seq > ?1 ORDER BY s.seq";
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        let rows = statement.query_map([seq.0], |row| {
            let kind = json_text(row, 1)?;
            let details: Option<StepDetails> = optional_json(row, 7)?;
            Ok(Outline {
                seq: Seq(row.get(0)?),
                kind,
                targets: json(row, 2)?,
                whole: details.as_ref().map_or(matches!(kind, Kind::Undo | Kind::Redo), |details| details.whole),
                leaving: details.map(|details| details.leaving).unwrap_or_default(),
                has_base: row.get(3)?,
                timestamp: Timestamp(row.get(4)?),
                pinned: row.get(5)?,
                expired: row.get(6)?,
            })
        });
        rows.map_err(broken)?.collect::<rusqlite::Result<_>>().map_err(broken)
    }

    /// How many snapshots there are.
    pub(crate) fn count(&self) -> Result<u64> {
        self.count_rows("tree IS NOT NULL")
    }

    /// How many rows there are, of any kind.
    pub(crate) fn count_all(&self) -> Result<u64> {
        self.count_rows("1")
    }

    fn count_rows(&self, condition: &str) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM rows WHERE {condition}");
        self.lock().query_row(&sql, [], |row| row.get(0)).map_err(broken)
    }

    /// Folds the log into the file, so that the timeline takes no more room than it needs.
    pub(crate) fn fold(&self) -> Result<()> {
        fold(&self.lock())
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

/// What is written in the same breath as a step.
#[derive(Default)]
pub(crate) struct Beside<'a> {
    /// The tool call that the step is the result of.
    pub(crate) finished_call: Option<&'a SnapshotId>,
    pub(crate) checkpoint: Option<&'a NewCheckpoint>,
}

/// A recorded step, and what could not be written beside it.
pub(crate) struct Appended {
    pub(crate) step: Step,
    pub(crate) warning: Option<Error>,
}

/// A checkpoint that cannot be written leaves the step as it is.
fn add_beside(connection: &Connection, seq: Seq, checkpoint: &NewCheckpoint) -> Result<()> {
    connection.execute_batch("SAVEPOINT beside").map_err(broken)?;
    let written = beside::insert_checkpoint(connection, seq, checkpoint);
    let end = if written.is_ok() { "RELEASE beside" } else { "ROLLBACK TO beside; RELEASE beside" };
    connection.execute_batch(end).map_err(broken)?;
    written
}

fn latest_step(connection: &Connection) -> Result<Option<Step>> {
    let condition = "seq = (SELECT max(seq) FROM rows WHERE tree IS NOT NULL)";
    Ok(find(connection, condition, &[])?.into_iter().next())
}

fn latest_seq(connection: &Connection) -> Result<Seq> {
    // A number that was given out once is not given out again, whatever became of its row.
    let sql = "SELECT max(coalesce((SELECT max(seq) FROM rows), 0), \
               coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'rows'), 0))";
    connection.query_row(sql, [], |row| row.get(0)).map(Seq).map_err(broken)
}

fn fold(connection: &Connection) -> Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(broken)
}

/// Lets the timeline keep a write-ahead log. A new one gets it without a rollback journal, which a stranger's could be
/// mistaken for: if its making is cut short, it is made again.
fn make_wal(connection: &Connection, is_new: bool) -> Result<()> {
    let off = if is_new { "PRAGMA journal_mode = OFF;" } else { "" };
    connection.execute_batch(&format!("{off} PRAGMA journal_mode = WAL;")).map_err(broken)
}

fn lost(file: &Path) -> Error {
    let file = backsight_core::quote(file.as_os_str().as_encoded_bytes());
    Error::new(Code::Damaged, format!("`{file}` holds no rows although snapshots were recorded"))
        .with_hint("put it back from a backup, with the files `timeline.db-wal` and `timeline.db-shm` beside it; or move the store away to begin anew")
}

/// The number after the latest one.
fn number_after(latest: Seq) -> Result<Seq> {
    match latest.0.checked_add(1).filter(|number| *number <= LARGEST_NUMBER) {
        Some(number) => Ok(Seq(number)),
        None => Err(broken_text("its numbers are used up, which no timeline of ours ever does")),
    }
}

/// The latest number given out, by the rows and by `used`, what the names of snapshots say. Names far beyond the rows are
/// not ours: believing them would use the numbers up.
fn latest_of(connection: &Connection, used: Seq) -> Result<Seq> {
    let latest = latest_seq(connection)?;
    match used.0.saturating_sub(latest.0) > FARTHEST_NAME {
        true => Err(broken_text(&format!(
            "a snapshot #{} has a name in `snapshots/packed-refs`, and the latest row is #{}",
            used.0, latest.0
        ))),
        false => Ok(latest.max(used)),
    }
}

fn journal_mode_of(connection: &Connection) -> Result<String> {
    connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(broken)
}

/// Opens a timeline through no symlink. What its tables say runs nothing: functions in a schema are not trusted.
pub(super) fn connect(file: &Path) -> Result<Connection> {
    distrustful(Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | WITHOUT_LINKS))
}

const WITHOUT_LINKS: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// SQLite opens by path, and the path may lead to another workspace by now. So what it holds open must be the file of the
/// store that passed the gate.
fn check_file(connection: &Connection, file: &AnchoredPath) -> Result<()> {
    connection.busy_timeout(Duration::from_secs(10)).map_err(broken)?;
    // It opens the file when it first reads it.
    let read = connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0));
    read.map_err(broken)?;
    let wanted = file.stat().map_err(|error| Error::io(format!("look at `{}`", file.display()), error))?;
    let is_wanted = |found: &std::fs::Metadata| (found.dev(), found.ino()) == (device_of(&wanted), wanted.st_ino);
    let is_open = match std::fs::read_dir("/proc/self/fd") {
        Ok(open) => open.flatten().any(|entry| std::fs::metadata(entry.path()).is_ok_and(|found| is_wanted(&found))),
        Err(_) => std::fs::metadata(file.path()).is_ok_and(|found| is_wanted(&found)),
    };
    match is_open {
        true => Ok(()),
        false => Err(Error::new(Code::Raced, format!("`{}` was exchanged while it was opened", file.display()))
            .with_hint("try again")),
    }
}

/// The same for reading alone, in one of SQLite's ways.
fn connect_to_look(file: &Path, way: &str) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | WITHOUT_LINKS;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    let encoded = file.as_os_str().as_encoded_bytes().iter().map(|byte| match plain(byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    distrustful(Connection::open_with_flags(format!("file:{}?{way}", encoded.collect::<String>()), flags))
}

fn size_of(file: &Path) -> Option<u64> {
    std::fs::symlink_metadata(file).map(|found| found.len()).ok()
}

fn distrustful(connection: rusqlite::Result<Connection>) -> Result<Connection> {
    let connection = connection.map_err(broken)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(broken)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).map_err(broken)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false).map_err(broken)?;
    Ok(connection)
}

fn broken_text(problem: &str) -> Error {
    Error::new(Code::Damaged, format!("the timeline cannot be used: {problem}"))
        .then("check the store", NextStep::VerifyStore)
}

fn broken(error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::new(Code::Busy, "another process is writing to the timeline")
                .with_hint("ask again")
                .with_source(error)
        }
        Some(ErrorCode::DiskFull) => {
            Error::new(Code::DiskFull, "cannot write to the timeline: no space left on the device")
                .with_hint("free some space")
                .or("shrink the store", NextStep::ShrinkStore)
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
    use backsight_core::{Coverage, ObjectId};
    use backsight_files::Tree;

    use super::*;
    use crate::report::Origin;

    fn append(timeline: &Timeline, step: &NewStep, used: u64) -> Step {
        timeline.append(step, Seq(used), &Beside::default()).unwrap().step
    }

    fn step(id: u64) -> NewStep {
        let tree = Tree { id: ObjectId::from_bytes([id as u8; 20]), attributes: None };
        NewStep {
            id: SnapshotId::from_random(id),
            kind: Kind::Track,
            tree,
            coverage_id: None,
            start: None,
            timestamp: Timestamp(1),
            description: String::new(),
            origin: Origin::default(),
            targets: Vec::new(),
            files_changed: 0,
            lines: None,
            execution_ms: None,
            coverage: Coverage::default(),
            files: Vec::new(),
            unknown: Vec::new(),
            pinned: false,
            details: None,
        }
    }

    fn alone(is_used: bool) -> Making<'static> {
        Making { is_used: if is_used { &|| true } else { &|| false }, lock: &|| Ok(None) }
    }

    fn file() -> (tempfile::TempDir, AnchoredPath) {
        let directory = tempfile::tempdir().unwrap();
        let file = AnchoredPath::open_directory(directory.path()).unwrap().join("timeline.db");
        (directory, file)
    }

    #[test]
    fn whatever_could_act_in_a_timeline_is_refused_by_name() {
        for hostile in [
            "CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM rows; END",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TABLE more (x)",
            "ALTER TABLE kept ADD COLUMN made TEXT AS (name || body)",
            "CREATE INDEX i ON kept (length(body))",
        ] {
            let (_directory, file) = file();
            drop(Timeline::open(&file, &alone(false)).unwrap());
            Connection::open(file.path()).unwrap().execute_batch(hostile).unwrap();
            let error = Timeline::open(&file, &alone(false)).map(drop).unwrap_err();
            assert_eq!(error.code(), Code::Damaged, "{hostile}");
        }
    }

    /// Two workspaces that change places between the gate and here.
    #[test]
    fn the_timeline_of_another_workspace_is_not_opened_for_this_one() {
        let both = [file(), file()];
        for (_, file) in &both {
            drop(Timeline::open(file, &alone(false)).unwrap());
        }
        let [(here, file), (there, _)] = both;
        let aside = tempfile::tempdir().unwrap();
        for (from, to) in [(here.path(), aside.path()), (there.path(), here.path()), (aside.path(), there.path())] {
            std::fs::rename(from, to).unwrap();
        }
        let looked = Timeline::open_to_look(&file, &|| false).map(drop);
        for error in [Timeline::open(&file, &alone(false)).map(drop), looked].map(Result::unwrap_err) {
            assert_eq!(error.code(), Code::Raced, "{error}");
        }
    }

    #[test]
    fn appending_the_same_step_twice_makes_one_row() {
        let (_directory, file) = file();
        let timeline = Timeline::open(&file, &alone(false)).unwrap();
        let first = append(&timeline, &step(1), 0);
        let again = append(&timeline, &step(1), 0);
        assert_eq!(first.snapshot, again.snapshot);
        let second = append(&timeline, &step(2), 0);
        assert_eq!(second.snapshot.sequence_number, Seq(2));
        assert_eq!(second.snapshot.previous_snapshot_id, Some(first.snapshot.id));
        assert_eq!(second.base, Some(first.tree));
        let after_a_loss = append(&timeline, &step(3), 7);
        assert_eq!(after_a_loss.snapshot.sequence_number, Seq(8));
    }

    #[test]
    fn a_timeline_that_was_lost_is_not_begun_anew() {
        let (_directory, file) = file();
        let error = Timeline::open(&file, &alone(true)).map(drop).unwrap_err();
        assert_eq!(error.code(), Code::Damaged);
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let (_directory, file) = file();
        drop(Timeline::open(&file, &alone(false)).unwrap());
        Connection::open(file.path()).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = Timeline::open(&file, &alone(false)).map(drop).unwrap_err();
        assert_eq!(error.code(), Code::StoreVersion);
        assert!(error.message().contains("format 99"), "{}", error.message());
    }
}
