//! The rows of another timeline, copied into a new one. Only what cannot act is taken: rows, pins, expiry, file checkpoints,
//! sessions and their messages. Open calls and what the live lanes kept stay behind.

use std::path::Path;

use backsight_core::{Code, Error, Result, Seq};
use backsight_files::AnchoredPath;
use rusqlite::TransactionBehavior;

use super::{broken, connect, find_rows, format};

const TABLES: [&str; 7] = ["rows", "touched", "pinned", "expired", "checkpoints", "sessions", "messages"];

/// Makes a timeline in `new` with the rows of the one in `theirs`. Returns how many rows, and the
/// number of the last.
pub(crate) fn copy_rows(theirs: &Path, new: &AnchoredPath) -> Result<(u64, Seq)> {
    new.create().map_err(|error| Error::io(format!("create `{}`", new.display()), error))?;
    let mut connection = connect(&new.path())?;
    connection.execute_batch("PRAGMA synchronous = FULL;").map_err(broken)?;
    super::make_wal(&connection, true)?;
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
    connection.execute_batch("DETACH theirs; PRAGMA wal_checkpoint(TRUNCATE);").map_err(broken)?;
    Ok((rows, latest))
}

/// A path as SQLite takes it.
fn path_text(path: &Path) -> Result<&str> {
    let problem = || Error::new(Code::InvalidPath, "a store whose path is not UTF-8 cannot be adopted");
    path.to_str().ok_or_else(|| problem().with_hint("give the workspace another name first"))
}
