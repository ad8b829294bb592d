//! The timeline's format: its tables, its number, and the way from older formats to this one.

use backsight_core::{Code, Error, NextStep, Result};
use rusqlite::{Connection, Transaction};

use super::{broken, chain};

/// The format this version writes; kept in SQLite's `user_version`.
pub(super) const FORMAT: i64 = 4;

/// Every column of a row but its chain hash, in the order in which they are hashed. Adding one is a new format.
pub(super) const COLUMNS: &str = "seq, previous_chain, id, kind, timestamp, description, tool, session, message, part, \
     tree, attributes, coverage_id, base_tree, base_attributes, base_coverage_id, \
     start_tree, start_attributes, previous_id, declared, targets, unknown, \
     files_changed, lines_added, lines_removed, execution_ms, coverage, details";

const TABLES: &str = "
CREATE TABLE rows (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    previous_chain BLOB,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    description TEXT NOT NULL,
    tool TEXT, session TEXT, message TEXT, part TEXT,
    tree TEXT, attributes TEXT, coverage_id TEXT,
    base_tree TEXT, base_attributes TEXT, base_coverage_id TEXT,
    start_tree TEXT, start_attributes TEXT,
    previous_id TEXT,
    declared TEXT NOT NULL, targets TEXT NOT NULL, unknown TEXT NOT NULL,
    files_changed INTEGER NOT NULL, lines_added INTEGER, lines_removed INTEGER, execution_ms INTEGER,
    coverage TEXT NOT NULL,
    details TEXT,
    chain BLOB NOT NULL
) STRICT;
CREATE TABLE touched (
    seq INTEGER NOT NULL, path BLOB NOT NULL, before BLOB, after BLOB, external INTEGER NOT NULL,
    PRIMARY KEY (seq, path)
) STRICT, WITHOUT ROWID;
";

const INDEXES: &str = "
CREATE INDEX snapshots_by_seq ON rows (seq) WHERE tree IS NOT NULL;
CREATE INDEX snapshots_without_base ON rows (seq) WHERE tree IS NOT NULL AND base_tree IS NULL;
CREATE INDEX rows_by_tree ON rows (tree) WHERE tree IS NOT NULL;
CREATE INDEX rows_by_session ON rows (session, seq) WHERE session IS NOT NULL;
CREATE INDEX rows_by_message ON rows (message, seq) WHERE message IS NOT NULL;
CREATE INDEX rows_by_part ON rows (part, seq) WHERE part IS NOT NULL;
CREATE INDEX rows_by_tool ON rows (tool, seq) WHERE tool IS NOT NULL;
CREATE INDEX rows_by_kind ON rows (kind, seq);
CREATE INDEX rows_by_time ON rows (timestamp, seq);
CREATE INDEX touched_by_path ON touched (path, seq);
";

/// What may change after a row is written lives beside it.
const BESIDE: &str = "
CREATE TABLE calls (
    id TEXT PRIMARY KEY, since INTEGER NOT NULL, based_on INTEGER NOT NULL, origin TEXT NOT NULL,
    tree TEXT NOT NULL, attributes TEXT, coverage_id TEXT
) STRICT;
CREATE TABLE checkpoints (
    id TEXT PRIMARY KEY, timestamp INTEGER NOT NULL, seq INTEGER NOT NULL, paths TEXT, creation_ms INTEGER NOT NULL
) STRICT;
";

/// Sessions that were started, and the messages and parts they were seen with, also those that changed nothing. `part`
/// is empty for the message itself; `seen` is the latest row when it was first seen.
const SESSIONS: &str = "
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, title TEXT, started INTEGER NOT NULL, baseline INTEGER NOT NULL
) STRICT;
CREATE TABLE messages (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL, message TEXT NOT NULL, part TEXT NOT NULL,
    seen INTEGER NOT NULL, at INTEGER NOT NULL,
    before_tree TEXT, after_tree TEXT, step INTEGER, finished INTEGER,
    UNIQUE (session, message, part)
) STRICT;
";

/// What live lanes want to know again after a restart: named checkpoints, noise rules, baselines, and secrets of their own.
const KEPT: &str = "
CREATE TABLE kept (
    kind TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT;
";

const KEPT_FROM_FORMAT_1: &str = "
CREATE TABLE pinned (seq INTEGER PRIMARY KEY) STRICT;
CREATE TABLE expired (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
";

/// Format 1 had one table of snapshots, no hashes, and paths without contents.
const FROM_FORMAT_1: &str = "
INSERT INTO rows (seq, id, kind, timestamp, description, tool, session, message, part, tree, attributes, coverage_id,
    base_tree, base_attributes, base_coverage_id, previous_id, declared, targets, unknown, files_changed, coverage, chain)
  SELECT seq, id, kind, timestamp, description, tool, session, message, part, tree, attributes, coverage_id,
    base_tree, base_attributes, base_coverage_id, previous_id, declared, targets, '[]', files_changed, coverage, x''
  FROM snapshots ORDER BY seq;
INSERT INTO touched (seq, path, external) SELECT seq, path, 0 FROM touched_1;
DROP TABLE touched_1;
DROP TABLE snapshots;
";

/// Everything a timeline of this format is made of.
const ALL: [&str; 6] = [TABLES, INDEXES, BESIDE, SESSIONS, KEPT_FROM_FORMAT_1, KEPT];

/// Makes the tables, or brings those of an older format to this one.
pub(super) fn make(transaction: &Transaction<'_>, found: i64) -> Result<()> {
    let run = |sql: &str| transaction.execute_batch(sql).map_err(broken);
    match found {
        0 => ALL.into_iter().try_for_each(run)?,
        1 => {
            run("ALTER TABLE touched RENAME TO touched_1;")?;
            [TABLES, FROM_FORMAT_1, INDEXES, BESIDE, SESSIONS, KEPT].into_iter().try_for_each(run)?;
            // The history before the change of format is taken as it is found; from here on it cannot be altered.
            chain::hash_all(transaction)?;
        }
        // Format 2 had no sessions beside the rows.
        2 => [SESSIONS, KEPT].into_iter().try_for_each(run)?,
        // Format 3 had no live lanes.
        3 => run(KEPT)?,
        _ => {}
    }
    transaction.pragma_update(None, "user_version", FORMAT).map_err(broken)
}

/// Refuses a timeline that holds anything but our tables and indexes, as we write them: a trigger, a view or a column that
/// is computed would run whenever a row is read or written.
pub(super) fn check_schema(connection: &Connection, file: &std::path::Path) -> Result<()> {
    let mut statement = connection
        .prepare_cached("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_sequence'")
        .map_err(broken)?;
    let mut rows = statement.query([]).map_err(broken)?;
    while let Some(row) = rows.next().map_err(broken)? {
        let (name, sql): (String, String) = (row.get(0).map_err(broken)?, row.get(1).map_err(broken)?);
        if !is_ours(&sql) {
            let name = backsight_core::quote(name.as_bytes());
            let message = format!("`{}` holds `{name}`, which Backsight did not put there", file.display());
            return Err(Error::new(Code::Damaged, message)
                .with_hint("put the timeline back from a backup")
                .or("take over the rows alone", NextStep::AdoptStore { directory: None }));
        }
    }
    Ok(())
}

/// Whether we make a table or an index with this statement.
pub(super) fn is_ours(sql: &str) -> bool {
    ALL.iter().flat_map(|part| part.split(';')).any(|ours| ours.trim() == sql.trim())
}

pub(super) fn of(connection: &Connection) -> Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(broken)
}

/// Formats this version can read or bring forward.
pub(super) fn check(found: i64, file: &std::path::Path) -> Result<()> {
    if (0..=FORMAT).contains(&found) {
        return Ok(());
    }
    Err(Error::new(
        Code::StoreVersion,
        format!("`{}` has format {found}; this version of Backsight reads formats 1 to {FORMAT}", file.display()),
    )
    .with_hint("use the version of Backsight that wrote it, or a newer one"))
}
