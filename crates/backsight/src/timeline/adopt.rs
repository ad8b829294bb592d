//! The rows of another timeline, copied into a new one. Only what cannot act is taken: rows, pins, expiry, file checkpoints,
//! sessions and their messages. Open calls and what the live lanes kept stay behind.

use std::path::Path;

use backsight_core::{Code, Error, Result};
use backsight_files::AnchoredPath;
use rusqlite::TransactionBehavior;

use super::{broken, connect, format};

const TABLES: [&str; 7] = ["rows", "touched", "pinned", "expired", "checkpoints", "sessions", "messages"];

/// Makes a timeline in `new` with the rows of the one in `theirs`. Returns how many rows.
pub(crate) fn copy_rows(theirs: &Path, new: &AnchoredPath) -> Result<u64> {
    new.create().map_err(|error| Error::io(format!("create `{}`", new.display()), error))?;
    let mut connection = connect(&new.path())?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL;").map_err(broken)?;
    connection.execute("ATTACH ?1 AS theirs", [theirs.as_os_str().to_string_lossy()]).map_err(broken)?;
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
            return Err(Error::new(Code::Damaged, message).with_hint(
                "its snapshots can still be read with git: see `git --git-dir .backsight/store/snapshots`",
            ));
        }
        transaction.execute(&format!("INSERT INTO main.{table} SELECT * FROM theirs.{table}"), []).map_err(broken)?;
    }
    let rows = transaction.query_row("SELECT count(*) FROM main.rows", [], |row| row.get(0)).map_err(broken)?;
    transaction.commit().map_err(broken)?;
    connection.execute_batch("DETACH theirs; PRAGMA wal_checkpoint(TRUNCATE);").map_err(broken)?;
    Ok(rows)
}
