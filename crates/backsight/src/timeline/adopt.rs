//! The rows of another timeline, copied into a new one. Only what cannot act is taken: rows, pins, expiry, file checkpoints,
//! sessions and their messages. Open calls and what the live lanes kept stay behind.

use std::path::Path;

use backsight_core::{Code, Error, Result, Seq};
use backsight_files::AnchoredPath;
use rusqlite::TransactionBehavior;

use super::{Timeline, broken, connect, find_rows, format};

const TABLES: [&str; 7] = ["rows", "touched", "pinned", "expired", "checkpoints", "sessions", "messages"];

/// Makes a timeline in `new` with the rows of the one in `theirs`. Returns how many rows, and the
/// number of the last.
pub(crate) fn copy_rows(theirs: &Path, new: &AnchoredPath) -> Result<(u64, Seq)> {
    new.create().map_err(|error| Error::io(format!("create `{}`", new.display()), error))?;
    let mut connection = connect(&new.path())?;
    // No log, and so no index of one in shared memory, which a disk without room for it would end the process by. If the
    // making is cut short, it is made again; whatever opens it for good gives it a log.
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA journal_mode = OFF;").map_err(broken)?;
    connection.execute("ATTACH ?1 AS theirs", [path_text(theirs)?]).map_err(broken)?;
    let found: i64 = connection.query_row("PRAGMA theirs.user_version", [], |row| row.get(0)).map_err(broken)?;
    if found != format::FORMAT {
        let message = format!("its timeline has format {found}, and only format {} can be adopted", format::FORMAT);
        return Err(Error::new(Code::StoreVersion, message)
            .with_hint("open it once with the version of Backsight that wrote it, as the user who made it"));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
    format::make(&transaction, 0)?;
    for table in TABLES {
        let definition = "SELECT sql FROM theirs.sqlite_schema WHERE type = 'table' AND name = ?1";
        let sql: String = transaction.query_row(definition, [table], |row| row.get(0)).map_err(broken)?;
        if !format::is_ours(&sql) {
            let message = format!("the table `{table}` of its timeline is not one that Backsight makes");
            return Err(Error::new(Code::Damaged, message)
                .with_hint("a history that another program changed cannot be taken over; begin anew without it"));
        }
        transaction.execute(&format!("INSERT INTO main.{table} SELECT * FROM theirs.{table}"), []).map_err(broken)?;
    }
    // A row that cannot be read, or a number that leaves none to come, would make every later command fail.
    let rows = find_rows(&transaction, "1", &[])?.len() as u64;
    let latest = super::latest_seq(&transaction)?;
    super::number_after(latest)?;
    transaction.commit().map_err(broken)?;
    connection.execute_batch("DETACH theirs;").map_err(broken)?;
    Ok((rows, latest))
}

impl Timeline {
    /// Writes everything it holds into a new file.
    pub(crate) fn copy_whole(&self, new: &Path) -> Result<()> {
        self.lock().execute("VACUUM INTO ?1", [path_text(new)?]).map(drop).map_err(broken)
    }
}

/// A path as SQLite takes it.
fn path_text(path: &Path) -> Result<&str> {
    let problem = || Error::new(Code::InvalidPath, "a store whose path is not UTF-8 cannot be adopted");
    path.to_str().ok_or_else(|| problem().with_hint("give the workspace another name first"))
}
