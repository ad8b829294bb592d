//! The chain: every row carries a hash over its own content and the hash of the row before it, so that nobody can
//! edit, drop or reorder rows without it showing.
//!
//! A row's hash is SHA-256 over its columns in the order of `format::COLUMNS`, then over the files it touched in the
//! order of their paths (path, before, after, external). Each value is written as one byte for its type (0 null,
//! 1 integer, 2 text, 3 blob), then an integer as eight bytes, or the length as eight bytes and the bytes; numbers are
//! little-endian. The second column is the hash of the row before, null for the first row.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, Result, Seq};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Rows, Statement};
use sha2::{Digest, Sha256};

use super::broken;
use super::format::COLUMNS;
use crate::report::ChainProblem;

pub(super) type Hash = [u8; 32];

pub(super) fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many columns a row has before its hash; the sequence number is the first.
fn width() -> usize {
    COLUMNS.split(',').count()
}

/// A value as it is hashed.
fn encode(bytes: &mut Vec<u8>, value: ValueRef<'_>) {
    let mut counted = |tag: u8, content: &[u8]| {
        bytes.push(tag);
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    };
    match value {
        ValueRef::Null => bytes.push(0),
        ValueRef::Integer(number) => {
            bytes.push(1);
            bytes.extend(number.to_le_bytes());
        }
        ValueRef::Text(text) => counted(2, text),
        ValueRef::Blob(blob) => counted(3, blob),
        // The tables are strict and have no such column; somebody changed them.
        ValueRef::Real(number) => counted(4, &number.to_le_bytes()),
    }
}

fn encode_columns(bytes: &mut Vec<u8>, row: &Row<'_>, columns: std::ops::Range<usize>) -> Result<()> {
    for column in columns {
        encode(bytes, row.get_ref(column).map_err(broken)?);
    }
    Ok(())
}

fn digest(seq: Seq, rest: &[u8], touched: &[u8]) -> Hash {
    let mut number = Vec::with_capacity(9);
    encode(&mut number, ValueRef::Integer(seq.0 as i64));
    Sha256::new().chain_update(number).chain_update(rest).chain_update(touched).finalize().into()
}

/// Writes a row's link to the row before it, and its hash.
pub(super) fn seal(connection: &Connection, seq: Seq) -> Result<()> {
    let link = "UPDATE rows SET previous_chain = (SELECT chain FROM rows WHERE seq < ?1 ORDER BY seq DESC LIMIT 1) \
                WHERE seq = ?1";
    connection.prepare_cached(link).map_err(broken)?.execute([seq.0]).map_err(broken)?;
    let mut rest = Vec::new();
    let read = format!("SELECT {COLUMNS} FROM rows WHERE seq = ?1");
    let mut statement = connection.prepare_cached(&read).map_err(broken)?;
    let mut rows = statement.query([seq.0]).map_err(broken)?;
    if let Some(row) = rows.next().map_err(broken)? {
        encode_columns(&mut rest, row, 1..width())?;
    }
    let touched = Touched::of(connection, seq)?;
    let hash = digest(seq, &rest, &touched);
    connection
        .prepare_cached("UPDATE rows SET chain = ?2 WHERE seq = ?1")
        .map_err(broken)?
        .execute(rusqlite::params![seq.0, &hash[..]])
        .map_err(broken)?;
    Ok(())
}

/// Seals every row, oldest first.
pub(super) fn hash_all(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare("SELECT seq FROM rows ORDER BY seq").map_err(broken)?;
    let rows = statement.query_map([], |row| row.get(0)).map_err(broken)?;
    let numbers: Vec<u64> = rows.collect::<rusqlite::Result<_>>().map_err(broken)?;
    numbers.into_iter().try_for_each(|seq| seal(connection, Seq(seq)))
}

/// The hash of the latest row; nothing before the first.
pub(super) fn head(connection: &Connection) -> Result<String> {
    use rusqlite::OptionalExtension;
    let head = connection
        .query_row("SELECT chain FROM rows ORDER BY seq DESC LIMIT 1", [], |row| row.get::<_, Vec<u8>>(0))
        .optional()
        .map_err(broken)?;
    Ok(head.as_deref().map(hex).unwrap_or_default())
}

/// The row that has this hash.
pub(super) fn find(connection: &Connection, hash: &str) -> Result<Option<Seq>> {
    use rusqlite::OptionalExtension;
    let sql = "SELECT seq FROM rows WHERE hex(chain) = upper(?1)";
    connection.query_row(sql, [hash], |row| row.get(0).map(Seq)).optional().map_err(broken)
}

/// The touched files of rows, read alongside them.
struct Touched<'a> {
    rows: Rows<'a>,
    /// Read already, of a later row.
    ahead: Option<(u64, Vec<u8>)>,
    /// Rows that do not exist and yet are said to have touched something.
    orphans: BTreeSet<u64>,
}

const TOUCHED: &str = "SELECT seq, path, before, after, external FROM touched";

impl<'a> Touched<'a> {
    fn all(statement: &'a mut Statement<'_>) -> Result<Self> {
        Ok(Touched { rows: statement.query([]).map_err(broken)?, ahead: None, orphans: BTreeSet::new() })
    }

    fn of(connection: &Connection, seq: Seq) -> Result<Vec<u8>> {
        let sql = format!("{TOUCHED} WHERE seq = ?1 ORDER BY path");
        let mut statement = connection.prepare_cached(&sql).map_err(broken)?;
        let mut rows = statement.query([seq.0]).map_err(broken)?;
        let mut bytes = Vec::new();
        while let Some(row) = rows.next().map_err(broken)? {
            encode_columns(&mut bytes, row, 1..5)?;
        }
        Ok(bytes)
    }

    /// What a row touched; rows are asked for in order.
    fn next_of(&mut self, seq: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            match self.ahead.take() {
                Some((of, entry)) if of == seq => bytes.extend(entry),
                Some((of, entry)) if of > seq => {
                    self.ahead = Some((of, entry));
                    return Ok(bytes);
                }
                Some((of, _)) => drop(self.orphans.insert(of)),
                None => {}
            }
            match self.rows.next().map_err(broken)? {
                None => return Ok(bytes),
                Some(row) => {
                    let mut entry = Vec::new();
                    encode_columns(&mut entry, row, 1..5)?;
                    self.ahead = Some((row.get(0).map_err(broken)?, entry));
                }
            }
        }
    }
}

/// What is remembered of a row while the next one is checked.
struct Link {
    seq: u64,
    chain: Vec<u8>,
    is_whole: bool,
}

/// What a snapshot continues: the id and tree of the snapshot before it.
struct Parent {
    seq: u64,
    id: String,
    tree: String,
}

/// Where the timeline is not whole, in order; and how many rows were checked.
pub(super) fn check(connection: &Connection) -> Result<(Vec<ChainProblem>, u64)> {
    // One moment of the file, whatever others append meanwhile.
    let connection = &connection.unchecked_transaction().map_err(broken)?;
    let sql = format!("SELECT {COLUMNS}, chain FROM rows ORDER BY seq");
    let mut statement = connection.prepare(&sql).map_err(broken)?;
    let mut rows = statement.query([]).map_err(broken)?;
    let mut touched_statement = connection.prepare(&format!("{TOUCHED} ORDER BY seq, path")).map_err(broken)?;
    let mut touched = Touched::all(&mut touched_statement)?;
    let (chain_column, mut rest) = (width(), Vec::new());
    let (mut last, mut parent): (Option<Link>, Option<Parent>) = (None, None);
    let (mut problems, mut edited) = (Vec::new(), BTreeMap::new());
    let mut checked = 0;
    while let Some(row) = rows.next().map_err(broken)? {
        checked += 1;
        let seq: u64 = row.get(0).map_err(broken)?;
        rest.clear();
        encode_columns(&mut rest, row, 1..chain_column)?;
        let files = touched.next_of(seq)?;
        let chain: Vec<u8> = row.get(chain_column).map_err(broken)?;
        let hash = digest(Seq(seq), &rest, &files);
        let is_whole = hash[..] == chain[..];
        if !is_whole {
            edited.insert(seq, (chain.clone(), rest.clone(), files, hash));
        }
        let continues: Option<Vec<u8>> = row.get(1).map_err(broken)?;
        problems.extend(broken_link(last.as_ref(), seq, continues.as_deref(), is_whole));
        if let Some(next) = snapshot_of(row, seq).map_err(broken)? {
            problems.extend(broken_parent(parent.as_ref(), row, seq).map_err(broken)?.filter(|_| is_whole));
            parent = Some(next);
        }
        last = Some(Link { seq, chain, is_whole });
    }
    touched.next_of(u64::MAX)?;
    problems.extend(touched.orphans.iter().map(|seq| {
        let message = format!("files are named for #{seq}, which is not there");
        problem(Code::SequenceDiscontinuity, *seq, message, None, None)
    }));
    problems.extend(edited.iter().map(|(seq, row)| altered(*seq, row, &edited)));
    problems.extend(lost_tail(connection, last.map_or(0, |last| last.seq))?);
    problems.sort_by_key(|problem| problem.sequence_number);
    Ok((problems, checked))
}

fn problem(code: Code, seq: u64, message: String, expected: Option<String>, actual: Option<String>) -> ChainProblem {
    ChainProblem { code, sequence_number: Seq(seq), message, expected, actual, acknowledged_by: None }
}

/// A row that does not continue the one before it, although both are as they were written: something is gone.
fn broken_link(last: Option<&Link>, seq: u64, continues: Option<&[u8]>, is_whole: bool) -> Option<ChainProblem> {
    let before = last.map(|last| last.chain.as_slice());
    let first_missing = last.map_or(1, |last| last.seq + 1);
    // Numbers are skipped only after rows were lost, even where the link fits: then it was made after the loss.
    let is_linked = before == continues && seq == first_missing;
    if is_linked || !is_whole || last.is_some_and(|last| !last.is_whole && last.seq + 1 == seq) {
        return None;
    }
    let message = match seq.checked_sub(first_missing) {
        None | Some(0) => format!("#{seq} does not continue the row before it, which was replaced"),
        Some(1) => format!("#{first_missing} is missing before #{seq}"),
        Some(_) => format!("#{first_missing} to #{} are missing before #{seq}", seq - 1),
    };
    Some(problem(Code::SequenceDiscontinuity, seq, message, continues.map(hex), before.map(hex)))
}

type Edited = (Vec<u8>, Vec<u8>, Vec<u8>, Hash);

/// A row whose hash is not that of its content: it was altered, or it stood elsewhere.
fn altered(seq: u64, row: &Edited, all: &BTreeMap<u64, Edited>) -> ChainProblem {
    let (chain, rest, own_touched, hash) = row;
    // Somebody who swaps rows swaps the numbers of rows that are all in this list; more than these nobody looks at.
    let place = all.iter().take(1_000).find(|(other, (_, _, touched, _))| {
        let fits = |touched: &[u8]| digest(Seq(**other), rest, touched)[..] == chain[..];
        **other != seq && (fits(touched) || fits(own_touched))
    });
    let message = match place {
        Some((other, _)) => format!("the row at #{seq} was recorded as #{other}: rows were reordered"),
        None => format!("#{seq} was altered after it was recorded"),
    };
    problem(Code::SequenceDiscontinuity, seq, message, Some(hex(chain)), Some(hex(hash)))
}

fn column(name: &str) -> usize {
    COLUMNS.split(',').position(|column| column.trim() == name).unwrap_or_default()
}

fn snapshot_of(row: &Row<'_>, seq: u64) -> rusqlite::Result<Option<Parent>> {
    let tree: Option<String> = row.get(column("tree"))?;
    tree.map(|tree| Ok(Parent { seq, id: row.get(column("id"))?, tree })).transpose()
}

/// A snapshot that names another parent than the snapshot before it, or starts from other files.
fn broken_parent(parent: Option<&Parent>, row: &Row<'_>, seq: u64) -> rusqlite::Result<Option<ChainProblem>> {
    let previous: Option<String> = row.get(column("previous_id"))?;
    let base: Option<String> = row.get(column("base_tree"))?;
    let where_it_should = parent.map_or("nothing".to_owned(), |parent| format!("#{}", parent.seq));
    let expected = parent.map(|parent| parent.id.clone());
    if previous != expected {
        let message = format!("#{seq} should continue {where_it_should} and names another snapshot");
        return Ok(Some(problem(Code::BrokenParent, seq, message, expected, previous)));
    }
    let expected = parent.map(|parent| parent.tree.clone());
    if base != expected {
        let message = format!("#{seq} does not start from the files of {where_it_should}");
        return Ok(Some(problem(Code::BrokenParent, seq, message, expected, base)));
    }
    Ok(None)
}

/// SQLite remembers the highest number it ever gave out.
fn lost_tail(connection: &Connection, last: u64) -> Result<Option<ChainProblem>> {
    let given: Option<u64> = connection
        .query_row("SELECT max(seq) FROM sqlite_sequence WHERE name = 'rows'", [], |row| row.get(0))
        .map_err(broken)?;
    Ok(given.filter(|given| *given > last).map(|given| {
        let message = match given - last {
            1 => format!("#{given}, the latest row, is missing"),
            _ => format!("#{} to #{given}, the latest rows, are missing", last + 1),
        };
        let (expected, actual) = (Some(given.to_string()), Some(last.to_string()));
        problem(Code::SequenceDiscontinuity, last + 1, message, expected, actual)
    }))
}
