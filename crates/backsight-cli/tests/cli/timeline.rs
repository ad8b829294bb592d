//! What somebody does who edits the timeline by hand.

use rusqlite::Connection;

use crate::fixture::Fixture;

/// Runs SQL on the timeline of a workspace, behind Backsight's back.
pub fn tamper(fixture: &Fixture, sql: &str) {
    open(fixture).execute_batch(sql).unwrap();
}

/// One number from the timeline.
pub fn number(fixture: &Fixture, sql: &str) -> i64 {
    open(fixture).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// How many rows there are.
pub fn rows(fixture: &Fixture) -> i64 {
    number(fixture, "SELECT count(*) FROM rows")
}

fn open(fixture: &Fixture) -> Connection {
    Connection::open(fixture.root().join(".backsight/store/timeline.db")).unwrap()
}
