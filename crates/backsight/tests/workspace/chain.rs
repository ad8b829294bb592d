//! The timeline cannot be altered unnoticed: whatever is edited, dropped, moved or added in `timeline.db`, `verify` and
//! `validate_workspace_sync` say so and say where. What may change beside the rows disturbs nothing.

use std::fs;
use std::path::PathBuf;

use backsight::report::{ChainProblem, Kind, Origin, RowLane};
use backsight::request::{Collect, NewMilestone, Note, Restore};
use backsight::{Code, Workspace};
use rusqlite::Connection;

use crate::lab::{Lab, open};
use crate::scene::Scene;

/// A workspace with rows of most kinds, whose timeline can be altered and put back.
struct Forge {
    root: PathBuf,
    whole: Vec<u8>,
    last: u64,
    _lab: Lab,
}

impl Forge {
    fn new() -> Forge {
        let scene = Scene::of(&["a", "b", "d/c"]);
        scene.write("b", "user\n");
        let call = scene.begin("writer", &["a"]);
        scene.write("a", "1\n");
        scene.finish(&call); // 2, with a start tree and an unknown change
        scene.write("d/c", "user\n");
        let integrate = crate::scene::strategy(backsight::report::Strategy::AutoIntegrate);
        scene.workspace.handle_unknown_changes(&[], &integrate).unwrap(); // 3, external
        let new = NewMilestone { title: "Half way".to_owned(), ..NewMilestone::default() };
        scene.workspace.create_milestone_by_range(&new, None).unwrap(); // 4
        scene.write("b", "unrecorded\n");
        let origin = Origin { session: Some("s".to_owned()), message: Some("m".to_owned()), ..Origin::default() };
        let restore = Restore { reference: "1".to_owned(), origin, ..Restore::default() };
        scene.workspace.restore_with(&restore).unwrap(); // 5 safety, 6 restore
        scene.workspace.undo(&Default::default()).unwrap(); // 7
        let details = serde_json::json!({ "url": "http://localhost" });
        let note = Note { kind: Kind::FirstError, description: "boom".to_owned(), origin: Origin::default(), details };
        scene.workspace.note(&note).unwrap(); // 8
        scene.write("a", "2\n");
        scene.workspace.track().unwrap(); // 9
        assert_eq!(scene.story().len(), 9);
        let Scene { root, workspace, lab } = scene;
        drop(workspace);
        let forge = Forge { root, whole: Vec::new(), last: 9, _lab: lab };
        forge.sql("PRAGMA wal_checkpoint(TRUNCATE)");
        let whole = fs::read(forge.database()).unwrap();
        Forge { whole, ..forge }
    }

    fn database(&self) -> PathBuf {
        self.root.join(".backsight/store/timeline.db")
    }

    fn connect(&self) -> Connection {
        Connection::open(self.database()).unwrap()
    }

    fn sql(&self, sql: &str) {
        self.connect().execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    fn put_back(&self) {
        for beside in ["timeline.db-wal", "timeline.db-shm"] {
            drop(fs::remove_file(self.database().with_file_name(beside)));
        }
        fs::write(self.database(), &self.whole).unwrap();
    }

    fn workspace(&self) -> Workspace {
        open(&self.root)
    }

    /// What the chain check says, and that `verify` says the same.
    fn problems(&self) -> Vec<ChainProblem> {
        let problems = self.workspace().validate_workspace_sync().unwrap().problems;
        let verified = self.workspace().verify().unwrap();
        assert_eq!(verified.clean, problems.iter().all(|problem| problem.acknowledged_by.is_some()));
        problems
    }

    /// Alters the timeline with SQL, and expects both checks to find it at that row.
    fn found_at(&self, sql: &str, seq: u64) -> Result<(), String> {
        self.put_back();
        self.sql(sql);
        let row = format!("#{seq}");
        match self.workspace().verify() {
            Ok(verified) if verified.damage.iter().any(|damage| damage.what == format!("timeline.db, row {row}")) => {}
            Ok(verified) => return Err(format!("{sql}: verify finds {:?}", verified.damage)),
            Err(error) => return Err(format!("{sql}: verify fails instead of naming {row}: {error}")),
        }
        match self.workspace().validate_workspace_sync() {
            Ok(report) if report.in_sync => Err(format!("{sql}: in sync")),
            Ok(report) if report.problems.iter().any(|problem| problem.sequence_number.0 == seq) => Ok(()),
            Ok(report) => Err(format!("{sql}: validate finds {:?}", report.problems)),
            // Where the latest snapshot itself cannot be read, nothing can be compared with the disk.
            Err(error) if seq >= self.last && error.code() == Code::Damaged => Ok(()),
            Err(error) => Err(format!("{sql}: validate fails instead of naming {row}: {error}")),
        }
    }

    fn all_found(&self, alterations: impl IntoIterator<Item = (String, u64)>) {
        let mut missed = Vec::new();
        for (sql, seq) in alterations {
            missed.extend(self.found_at(&sql, seq).err());
        }
        assert!(missed.is_empty(), "{} not found:\n{}", missed.len(), missed[..missed.len().min(12)].join("\n"));
    }

    /// `column: type` of a table.
    fn columns(&self, table: &str) -> Vec<(String, String, bool)> {
        let connection = self.connect();
        let mut statement =
            connection.prepare(&format!("SELECT name, type, \"notnull\" FROM pragma_table_info('{table}')")).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }
}

fn messages(problems: &[ChainProblem]) -> Vec<String> {
    problems.iter().map(|problem| problem.message.clone()).collect()
}

#[test]
fn an_untouched_timeline_is_whole_and_what_is_beside_it_disturbs_nothing() {
    let forge = Forge::new();
    assert_eq!(forge.problems(), []);
    let workspace = forge.workspace();
    workspace.pin("2", true).unwrap();
    workspace.pin("1", true).unwrap();
    workspace.pin("1", false).unwrap();
    let call = workspace.begin(&Default::default()).unwrap();
    assert_eq!(forge.problems(), []);
    workspace.abandon(call.call.id.as_str()).unwrap();
    workspace.create_file_checkpoint("2", &[]).unwrap();
    workspace.cleanup_old_checkpoints(None).unwrap();
    workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    workspace.config_set("keep_all_checkpoints", "true").unwrap();
    assert!(workspace.show("1").unwrap().expired_at.is_some());
    assert_eq!(forge.problems(), []);
    assert_eq!(workspace.validate_workspace_sync().unwrap().rows_checked, 9);
}

#[test]
fn an_edit_of_any_column_of_any_row_is_found_where_it_is() {
    let forge = Forge::new();
    let mut edits = Vec::new();
    for (column, kind, _) in forge.columns("rows") {
        for seq in 1..=forge.last {
            let other = match kind.as_str() {
                _ if column == "seq" => continue,
                "INTEGER" => format!("coalesce({column}, 0) + 1"),
                "BLOB" => format!("CAST(coalesce({column}, x'00') || x'00' AS BLOB)"),
                // Something that can still be read: another of the same kind.
                _ if column == "kind" => format!("CASE {column} WHEN 'track' THEN 'external' ELSE 'track' END"),
                _ if column == "timestamp" => "1".to_owned(),
                _ => match column.as_str() {
                    "declared" => "'[\"x\"]'".to_owned(),
                    "targets" => "'[1, 2]'".to_owned(),
                    "unknown" => format!("CASE {column} WHEN '[]' THEN '[ ]' ELSE '[]' END"),
                    "coverage" | "details" => format!("coalesce({column}, '{{}}') || ' '"),
                    "tree" | "base_tree" | "start_tree" => {
                        format!(
                            "(SELECT {column} FROM rows r WHERE r.{column} IS NOT NULL AND r.{column} IS NOT rows.{column} LIMIT 1)"
                        )
                    }
                    "attributes" | "coverage_id" | "base_attributes" | "base_coverage_id" | "start_attributes" => {
                        "'0123456789012345678901234567890123456789'".to_owned()
                    }
                    "id" | "previous_id" => "'0123456789abcdef'".to_owned(),
                    _ => format!("coalesce({column}, '') || 'x'"),
                },
            };
            let condition = format!("seq = {seq} AND {column} IS NOT {other}");
            edits.push((format!("UPDATE rows SET {column} = {other} WHERE {condition}"), seq));
        }
    }
    // A column that cannot be changed to anything else (one start tree only) is no edit.
    edits.retain(|(sql, _)| {
        forge.put_back();
        forge.connect().execute(sql, []).unwrap() == 1
    });
    assert!(edits.len() > 200, "{}", edits.len());
    forge.all_found(edits);
}

/// Values that cannot be read at all must not keep the check from saying which row they are in.
#[test]
fn garbage_in_any_column_of_any_row_is_found_where_it_is() {
    let forge = Forge::new();
    let mut edits = Vec::new();
    for (column, kind, not_null) in forge.columns("rows") {
        for seq in 1..=forge.last {
            let is_null: bool = forge
                .connect()
                .query_row(&format!("SELECT {column} IS NULL FROM rows WHERE seq = {seq}"), [], |row| row.get(0))
                .unwrap();
            if kind == "TEXT" {
                edits.push((format!("UPDATE rows SET {column} = 'garbage {{' WHERE seq = {seq}"), seq));
            }
            if !not_null && !is_null && column != "seq" {
                edits.push((format!("UPDATE rows SET {column} = NULL WHERE seq = {seq}"), seq));
            }
        }
    }
    for seq in 1..=forge.last {
        edits.push((format!("UPDATE rows SET files_changed = -1 WHERE seq = {seq}"), seq));
        edits.push((format!("UPDATE rows SET chain = x'' WHERE seq = {seq}"), seq));
    }
    forge.all_found(edits);
}

#[test]
fn a_dropped_row_is_named() {
    let forge = Forge::new();
    let dropped = |seqs: &str| {
        forge.put_back();
        forge.sql(&format!("DELETE FROM rows WHERE seq IN ({seqs}); DELETE FROM touched WHERE seq IN ({seqs})"));
        messages(&forge.problems())
    };
    assert_eq!(dropped("1")[0], "#1 is missing before #2");
    assert_eq!(dropped("4"), ["#4 is missing before #5"]);
    assert_eq!(dropped("3")[0], "#3 is missing before #4");
    assert_eq!(dropped("5, 6, 7")[0], "#5 to #7 are missing before #8");
    assert_eq!(dropped("9")[0], "#9, the latest row, is missing");
    assert_eq!(dropped("8, 9")[0], "#8 to #9, the latest rows, are missing");
    assert_eq!(dropped("1,2,3,4,5,6,7,8,9")[0], "#1 to #9, the latest rows, are missing");
}

/// The row that follows must not paper over the hole, and the number of a row that is gone is not given out again.
#[test]
fn a_dropped_last_row_stays_missed_after_the_next_one_is_recorded() {
    for last in [8_u64, 9] {
        let forge = Forge::new();
        if last == 8 {
            // The last row is an event, which no reference in the store names.
            forge.sql("DELETE FROM rows WHERE seq = 9; DELETE FROM touched WHERE seq = 9");
            forge.sql("UPDATE sqlite_sequence SET seq = 8 WHERE name = 'rows'");
            fs::remove_file(forge.root.join(".backsight/store/snapshots/packed-refs")).unwrap();
            assert_eq!(forge.problems(), []);
        }
        forge.sql(&format!("DELETE FROM rows WHERE seq = {last}; DELETE FROM touched WHERE seq = {last}"));
        fs::write(forge.root.join("a"), "3\n").unwrap();
        let next = forge.workspace().track().unwrap().snapshot;
        assert!(next.sequence_number.0 > last, "{} was given out before", next.sequence_number);
        let found = forge.problems();
        assert!(found.iter().any(|problem| problem.message.contains(&format!("#{last} "))), "#{last}: {found:?}");
    }
}

#[test]
fn reordered_rows_are_called_reordered() {
    let forge = Forge::new();
    let swap = |table: &str, a: u64, b: u64| {
        format!(
            "UPDATE {table} SET seq = -1 WHERE seq = {a}; UPDATE {table} SET seq = {a} WHERE seq = {b}; \
             UPDATE {table} SET seq = {b} WHERE seq = -1;"
        )
    };
    for (a, b) in [(2, 3), (3, 7), (4, 8), (5, 6)] {
        // With the files they touched, and without.
        for swapped in [swap("rows", a, b), swap("rows", a, b) + &swap("touched", a, b)] {
            for seq in [a, b] {
                forge.found_at(&swapped, seq).unwrap();
            }
            let text = messages(&forge.problems()).join("\n");
            assert!(text.contains("rows were reordered"), "{a} and {b}: {text}");
        }
    }
}

#[test]
fn a_row_moved_to_another_number_is_found() {
    let forge = Forge::new();
    for (from, to) in [(9, 10), (9, 100), (1, 0)] {
        let sql =
            format!("UPDATE rows SET seq = {to} WHERE seq = {from}; UPDATE touched SET seq = {to} WHERE seq = {from}");
        forge.found_at(&sql, to).unwrap();
    }
}

#[test]
fn a_forged_row_is_found_wherever_it_is_put() {
    let forge = Forge::new();
    let names: Vec<String> = forge.columns("rows").into_iter().map(|(name, ..)| name).collect();
    let rest =
        names.iter().filter(|name| !["seq", "id"].contains(&name.as_str())).cloned().collect::<Vec<_>>().join(", ");
    let forged = |from: u64, seq: u64| {
        format!(
            "INSERT INTO rows (seq, id, {rest}) SELECT {seq}, 'ffffffffffffffff', {rest} FROM rows WHERE seq = {from}"
        )
    };
    forge.all_found([(forged(9, 10), 10), (forged(2, 10), 10), (forged(4, 10), 10), (forged(8, 11), 11)]);
    // In the middle, in place of a row that is removed.
    let replaced =
        |seq: u64| format!("DELETE FROM rows WHERE seq = {seq}; {}", forged(if seq == 2 { 3 } else { 2 }, seq));
    forge.all_found((1..=9).map(|seq| (replaced(seq), seq)));
}

#[test]
fn the_files_a_row_touched_are_part_of_it() {
    let forge = Forge::new();
    let mut edits = Vec::new();
    let entries: Vec<(u64, String)> = {
        let connection = forge.connect();
        let mut statement = connection.prepare("SELECT seq, hex(path) FROM touched").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    assert!(entries.len() >= 8, "{entries:?}");
    for (seq, path) in entries {
        let here = format!("WHERE seq = {seq} AND path = x'{path}'");
        edits.push((format!("DELETE FROM touched {here}"), seq));
        edits.push((format!("UPDATE touched SET path = CAST(path || x'78' AS BLOB) {here}"), seq));
        edits.push((format!("UPDATE touched SET external = 1 - external {here}"), seq));
        edits.push((format!("UPDATE touched SET before = CASE WHEN before IS NULL THEN x'00' END {here}"), seq));
        edits.push((format!("UPDATE touched SET after = CASE WHEN after IS NULL THEN x'00' END {here}"), seq));
        edits.push((format!("UPDATE touched SET seq = 8 {here}"), seq));
    }
    for seq in 1..=forge.last {
        edits.push((format!("INSERT INTO touched VALUES ({seq}, x'7a7a', NULL, x'00', 0)"), seq));
    }
    // Of rows that do not exist: found before they could become part of the next one.
    edits.push(("INSERT INTO touched VALUES (10, x'7a7a', NULL, x'00', 0)".to_owned(), 10));
    edits.push(("INSERT INTO touched VALUES (0, x'7a7a', NULL, x'00', 0)".to_owned(), 0));
    forge.all_found(edits);
}

#[test]
fn files_forged_for_a_row_to_come_do_not_become_part_of_it() {
    let forge = Forge::new();
    forge.sql("INSERT INTO touched VALUES (10, CAST('forged' AS BLOB), NULL, x'00', 0)");
    fs::write(forge.root.join("a"), "3\n").unwrap();
    let workspace = forge.workspace();
    let Ok(tracked) = workspace.track() else { return };
    let detail = workspace.show_detail(tracked.snapshot.id.as_str()).unwrap();
    assert_eq!(crate::scene::names(&detail.affected_files), ["a"]);
}

#[test]
fn a_reset_takes_note_of_what_was_known_and_of_nothing_later() {
    let forge = Forge::new();
    forge.sql("UPDATE rows SET description = 'lie' WHERE seq = 3; DELETE FROM rows WHERE seq = 5");
    let before = forge.problems();
    let reset = forge.workspace().reset_state_continuity("the disk was restored", &Origin::default()).unwrap();
    assert_eq!(reset.acknowledged, before);
    let known = forge.problems();
    assert_eq!(messages(&known), messages(&before), "still said");
    assert!(known.iter().all(|problem| problem.acknowledged_by == Some(reset.event.sequence_number)));
    assert!(forge.workspace().verify().unwrap().clean && forge.workspace().validate_workspace_sync().unwrap().in_sync);

    let connection = forge.connect();
    for (sql, seq) in [
        ("UPDATE rows SET description = 'another lie' WHERE seq = 3", 3),
        ("UPDATE rows SET description = 'more' WHERE seq = 7", 7),
        ("DELETE FROM rows WHERE seq = 4", 5),
        ("UPDATE rows SET description = 'it never happened' WHERE kind = 'reset'", 10),
    ] {
        let saved = forge.database().with_extension("saved");
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        fs::copy(forge.database(), &saved).unwrap();
        connection.execute(sql, []).unwrap();
        let fresh: Vec<ChainProblem> =
            forge.problems().into_iter().filter(|problem| problem.acknowledged_by.is_none()).collect();
        assert!(fresh.iter().any(|problem| problem.sequence_number.0 >= seq), "{sql}: {fresh:?}");
        assert!(!forge.workspace().verify().unwrap().clean, "{sql}");
        forge.sql("PRAGMA wal_checkpoint(TRUNCATE)");
        fs::copy(&saved, forge.database()).unwrap();
        fs::remove_file(saved).unwrap();
    }
}

#[test]
fn a_noted_head_proves_what_came_before_it() {
    let forge = Forge::new();
    let head = forge.workspace().get_current_state().unwrap().chain_head;
    fs::write(forge.root.join("a"), "3\n").unwrap();
    forge.workspace().track().unwrap();
    let clean = |forge: &Forge| forge.workspace().verify_against(Some(&head)).unwrap().clean;
    assert!(clean(&forge) && forge.workspace().verify_against(Some(&head.to_uppercase())).unwrap().clean);
    assert!(!forge.workspace().verify_against(Some("")).unwrap().clean);
    assert!(!forge.workspace().verify_against(Some(&head[..10])).unwrap().clean);
    assert!(!forge.workspace().verify_against(Some("'; --")).unwrap().clean);

    // Somebody who takes note of an alteration in the timeline has altered it all the same.
    forge.sql("UPDATE rows SET description = 'lie' WHERE seq = 3");
    assert!(!clean(&forge));
    forge.workspace().reset_state_continuity("nothing to see here", &Origin::default()).unwrap();
    assert!(!clean(&forge), "whoever noted the head before is told that what came before it was altered");
}

/// The hash of a row, computed from what `docs/ARCHITECTURE.md` says and nothing else.
fn sealed(connection: &Connection, seq: u64) -> Vec<u8> {
    use rusqlite::types::Value;
    let mut bytes = Vec::new();
    let mut encode = |value: Value| match value {
        Value::Null => bytes.push(0),
        Value::Integer(number) => bytes.extend([&[1][..], &number.to_le_bytes()].concat()),
        Value::Text(text) => bytes.extend([&[2][..], &(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()),
        Value::Blob(blob) => bytes.extend([&[3][..], &(blob.len() as u64).to_le_bytes(), &blob].concat()),
        Value::Real(_) => unreachable!("no column holds such a number"),
    };
    // The hash itself is the last column of the table.
    for (sql, skipped) in [
        ("SELECT * FROM rows WHERE seq = ?1", 1),
        ("SELECT path, before, after, external FROM touched WHERE seq = ?1 ORDER BY path", 0),
    ] {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count() - skipped;
        let mut rows = statement.query([seq]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            (0..columns).for_each(|column| encode(row.get(column).unwrap()));
        }
    }
    use sha2::Digest;
    sha2::Sha256::digest(&bytes).to_vec()
}

/// Whoever alters a row and seals everything after it again leaves a chain that holds together: only somebody who noted
/// its head can tell.
#[test]
fn a_forger_who_seals_everything_again_is_found_by_a_noted_head() {
    let forge = Forge::new();
    let head = forge.workspace().get_current_state().unwrap().chain_head;
    let connection = forge.connect();
    let stored = |seq: u64| -> Vec<u8> {
        connection.query_row("SELECT chain FROM rows WHERE seq = ?1", [seq], |row| row.get(0)).unwrap()
    };
    assert!((1..=forge.last).all(|seq| sealed(&connection, seq) == stored(seq)), "the rule is the documented one");
    connection.execute("UPDATE rows SET description = 'lie' WHERE seq = 3", []).unwrap();
    for seq in 3..=forge.last {
        if seq > 3 {
            connection.execute("UPDATE rows SET previous_chain = ?2 WHERE seq = ?1", (seq, stored(seq - 1))).unwrap();
        }
        connection.execute("UPDATE rows SET chain = ?2 WHERE seq = ?1", (seq, sealed(&connection, seq))).unwrap();
    }
    assert!(forge.workspace().verify().unwrap().clean, "the chain holds together");
    assert!(!forge.workspace().verify_against(Some(&head)).unwrap().clean, "and is not the one that was noted");
}

#[test]
fn rows_of_every_live_lane_can_be_noted_and_no_others() {
    let scene = Scene::of(&["a"]);
    for kind in Kind::ALL {
        let details = serde_json::json!({});
        let note = Note { kind: *kind, description: "seen".to_owned(), origin: Origin::default(), details };
        let noted = scene.workspace.note(&note);
        match kind.lane() {
            RowLane::Files => assert_eq!(noted.unwrap_err().code(), Code::Usage, "{kind:?}"),
            RowLane::Browser | RowLane::Debug => {
                assert!(!kind.holds_files(), "{kind:?}");
                assert_eq!(noted.unwrap().kind, *kind);
            }
        }
    }
}
