//! A long history: a small workspace whose timeline is grown to many rows, then asked through the binary.
//!
//! Recording 100,000 snapshots one by one would take an hour, so most rows are written here, with the hashes that
//! `docs/ARCHITECTURE.md` ("The chain") prescribes. The binary then checks every one of them: if this file and the
//! program did not agree on what a row's hash is, the bench would fail.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use sha2::{Digest, Sha256};

use crate::Result;
use crate::measure::{Rounds, Samples, interleave};
use crate::random::Random;
use crate::subject::Backsight;
use crate::table::{Ratio, Row, Table};

/// The columns in the order in which they are hashed.
const COLUMNS: &str = "seq, previous_chain, id, kind, timestamp, description, tool, session, message, part, \
     tree, attributes, coverage_id, base_tree, base_attributes, base_coverage_id, \
     start_tree, start_attributes, previous_id, declared, targets, unknown, \
     files_changed, lines_added, lines_removed, execution_ms, coverage, details";

/// Files the rows take turns to touch.
const FILES: u64 = 1_000;
/// Rows of one session.
const SESSION: u64 = 200;

/// Measures a timeline of `rows` rows.
pub fn measure(backsight: &Backsight, rows: u64, rounds: Rounds, table: &mut Table) -> Result<()> {
    fs::create_dir_all(&backsight.workspace)?;
    let file = backsight.workspace.join("a.txt");
    for text in ["one\n", "two\n"] {
        fs::write(&file, text)?;
        backsight.track()?;
    }
    eprintln!("growing a timeline to {rows} rows");
    grow(&backsight.store().join("store/timeline.db"), rows)?;
    let mut number = 0;
    let mut append = || {
        number += 1;
        fs::write(&file, format!("edit {number}\n"))?;
        Ok(backsight.track()?.0)
    };
    let path = touched_path(FILES / 2);
    let session = format!("s{}", rows / SESSION / 2);
    let mut by_file = || timed(backsight, &["log", "--file", &path]);
    let mut by_session = || timed(backsight, &["log", "--session", &session]);
    let mut start_up = || backsight.start_up();
    let sides: [crate::measure::Side<'_>; 4] = [&mut append, &mut by_file, &mut by_session, &mut start_up];
    let [append, by_file, by_session, start_up] = interleave(rounds, || Ok(()), sides)?;
    let few = Rounds { warm_up: 1, timed: 3 };
    let [verify] = interleave(few, || Ok(()), [&mut || timed(backsight, &["continuity", "validate"])])?;
    let without = |samples: &Samples| samples.less(start_up.median());
    let mut bar = |work: &str, samples: &Samples, limit: Duration| {
        let limit = Samples::new(vec![limit]);
        table.push(Row::times(work, &without(samples), "the bar; process start excluded", &limit, Ratio::AtMost(1.0)));
    };
    let of = |what: &str| format!("{what}, {rows} snapshots");
    bar(&of("track of one edit"), &append, Duration::from_millis(5));
    bar(&of("log of one file"), &by_file, Duration::from_millis(20));
    bar(&of("log of one session"), &by_session, Duration::from_millis(20));
    bar(&of("check of every row"), &verify, Duration::from_secs(2));
    Ok(())
}

fn timed(backsight: &Backsight, arguments: &[&str]) -> Result<Duration> {
    Ok(backsight.ask(arguments)?.0)
}

fn touched_path(number: u64) -> String {
    format!("src/module_{}/file_{number}.rs", number % 40)
}

/// Appends rows that look like an agent's small edits.
fn grow(file: &Path, rows: u64) -> Result<()> {
    let mut connection = Connection::open(file)?;
    let transaction = connection.transaction()?;
    let sql = format!("SELECT {COLUMNS}, chain FROM rows ORDER BY seq DESC LIMIT 1");
    let width = COLUMNS.split(',').count();
    let last: Vec<Value> =
        transaction.query_row(&sql, [], |row| (0..=width).map(|column| row.get(column)).collect())?;
    let column = |name: &str| COLUMNS.split(',').position(|column| column.trim() == name).unwrap_or_default();
    let (Value::Integer(first), Value::Integer(time)) = (last[0].clone(), last[column("timestamp")].clone()) else {
        return Err("the timeline does not look as expected".into());
    };
    let places = (1..=width + 1).map(|place| format!("?{place}")).collect::<Vec<_>>().join(", ");
    let mut insert = transaction.prepare(&format!("INSERT INTO rows ({COLUMNS}, chain) VALUES ({places})"))?;
    let mut touch = transaction.prepare("INSERT INTO touched VALUES (?1, ?2, ?3, ?4, ?5)")?;
    let mut random = Random::new(crate::SEED);
    let mut row = last;
    for number in 0..rows {
        let (chain, id, seq) = (row[width].clone(), row[column("id")].clone(), first + 1 + number as i64);
        let mut set = |name: &str, value: Value| row[column(name)] = value;
        set("seq", Value::Integer(seq));
        set("previous_chain", chain);
        set("previous_id", id);
        set("id", Value::Text(format!("{:016x}", random.next())));
        set("timestamp", Value::Integer(time + seq));
        set("description", Value::Text(format!("edit {number}")));
        set("tool", Value::Text(["edit", "write", "bash"][number as usize % 3].to_owned()));
        set("session", Value::Text(format!("s{}", number / SESSION)));
        let (tree, attributes) = (row[column("tree")].clone(), row[column("attributes")].clone());
        row[column("base_tree")] = tree;
        row[column("base_attributes")] = attributes;
        let blob = |random: &mut Random| Value::Blob((0..20).map(|_| random.next() as u8).collect());
        let path = Value::Blob(touched_path(number % FILES).into_bytes());
        let touched = [path, blob(&mut random), blob(&mut random), Value::Integer(0)];
        let mut bytes = Vec::new();
        row[..width].iter().chain(&touched).for_each(|value| encode(&mut bytes, value));
        row[width] = Value::Blob(Sha256::digest(&bytes).to_vec());
        insert.execute(params_from_iter(&row))?;
        touch.execute(params_from_iter([&Value::Integer(seq)].into_iter().chain(&touched)))?;
    }
    drop((insert, touch));
    transaction.commit()?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

fn encode(bytes: &mut Vec<u8>, value: &Value) {
    let mut counted = |tag: u8, content: &[u8]| {
        bytes.push(tag);
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    };
    match value {
        Value::Null => bytes.push(0),
        Value::Integer(number) => {
            bytes.push(1);
            bytes.extend(number.to_le_bytes());
        }
        Value::Text(text) => counted(2, text.as_bytes()),
        Value::Blob(blob) => counted(3, blob),
        Value::Real(number) => counted(4, &number.to_le_bytes()),
    }
}
