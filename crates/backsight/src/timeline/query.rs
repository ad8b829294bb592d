//! Questions about the history: pages of it, and the life of one path.

use backsight_core::{Code, Error, ObjectId, RelPath, Result, Seq};
use rusqlite::{ToSql, params};

use super::row::{Found, Step, TouchedFile, find, find_rows};
use super::{Timeline, broken};
use crate::request::{self, Order};

/// Where a page begins: after the row the last one ended with, in the same order. Rows that come in between do not
/// move it, because rows never change their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) order: Order,
    pub(crate) seq: Seq,
}

impl Cursor {
    pub(crate) fn parse(text: &str, order: Order) -> Result<Cursor> {
        let not_one = || {
            Error::new(Code::Usage, format!("`{}` is not a cursor", backsight_core::quote(text.as_bytes())))
                .with_hint("pass the `next_cursor` of the page before, unchanged")
        };
        let (found, number) = match text.split_once('-') {
            Some(("before", number)) => (Order::NewestFirst, number),
            Some(("after", number)) => (Order::OldestFirst, number),
            _ => return Err(not_one()),
        };
        if found != order {
            return Err(Error::new(Code::Usage, format!("the cursor `{text}` belongs to a list in the other order"))
                .with_hint("ask for the next page in the order of the first"));
        }
        let number = number.parse().ok().filter(|number| i64::try_from(*number).is_ok()).ok_or_else(not_one)?;
        Ok(Cursor { order, seq: Seq(number) })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = if self.order == Order::NewestFirst { "before" } else { "after" };
        write!(f, "{side}-{}", self.seq.0)
    }
}

/// What a reference such as `session:ID` looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OriginColumn {
    /// The agent conversation.
    Session,
    /// The message within it.
    Message,
    /// The part within the message.
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

/// One change of one path.
#[derive(Clone, Debug)]
pub(crate) struct FileStep {
    pub(crate) step: Step,
    pub(crate) file: TouchedFile,
}

impl Timeline {
    /// One row more than the page holds, if there is one. Steps without a base touched everything in them; `baseline`
    /// says whether one holds the path.
    pub(crate) fn page(
        &self,
        query: &request::Log,
        cursor: Option<Cursor>,
        baseline: &dyn Fn(&Step) -> Result<bool>,
    ) -> Result<Vec<Found>> {
        let mut beginnings = Vec::new();
        if query.file.is_some() {
            for step in find(&self.lock(), "base_tree IS NULL", &[])? {
                beginnings.extend(baseline(&step)?.then_some(step.snapshot.sequence_number));
            }
        }
        let (condition, values) = conditions(query, cursor, &beginnings);
        let values: Vec<&dyn ToSql> = values.iter().map(|value| value.as_ref()).collect();
        let direction = if query.order == Order::NewestFirst { "DESC" } else { "ASC" };
        let limit = if query.limit == 0 {
            String::new()
        } else {
            format!(" LIMIT {}", query.limit.min(i64::MAX as usize - 1) + 1)
        };
        let limited = format!("seq IN (SELECT seq FROM rows WHERE {condition} ORDER BY seq {direction}{limit})");
        let mut rows = find_rows(&self.lock(), &limited, &values)?;
        if query.order == Order::OldestFirst {
            rows.reverse();
        }
        Ok(rows)
    }

    /// Every id of a column, in the order of their bytes: those that rows, messages, open calls or started sessions have.
    pub(crate) fn ids(&self, column: OriginColumn) -> Result<Vec<String>> {
        let name = column.name();
        let started = if column == OriginColumn::Session { "UNION SELECT id FROM sessions" } else { "" };
        let sql = format!(
            "SELECT {name} FROM rows WHERE {name} IS NOT NULL UNION SELECT {name} FROM messages WHERE {name} <> '' \
             UNION SELECT origin ->> '{name}' FROM calls WHERE origin ->> '{name}' IS NOT NULL {started}"
        );
        let connection = self.lock();
        let mut statement = connection.prepare_cached(&sql).map_err(broken)?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(broken)?;
        let mut ids: Vec<String> = rows.collect::<rusqlite::Result<_>>().map_err(broken)?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// What a row touched, by path.
    pub(crate) fn touched_by(&self, seq: Seq) -> Result<Vec<TouchedFile>> {
        self.touched("seq = ?1 ORDER BY path", &[&seq.0]).map(|found| found.into_iter().map(|(_, file)| file).collect())
    }

    /// Paths that rows after `seq` recorded as their own.
    pub(crate) fn touched_since(&self, seq: Seq) -> Result<std::collections::BTreeSet<RelPath>> {
        let found = self.touched("seq > ?1 AND NOT external", &[&seq.0])?;
        Ok(found.into_iter().map(|(_, file)| file.path).collect())
    }

    /// Paths that rows after `seq` recorded without calling them their own.
    pub(crate) fn touched_in_passing(&self, seq: Seq) -> Result<std::collections::BTreeSet<RelPath>> {
        let found = self.touched("seq > ?1 AND external", &[&seq.0])?;
        Ok(found.into_iter().map(|(_, file)| file.path).collect())
    }

    /// Distinct paths of a range: those that rows of it changed themselves, and those that only others changed meanwhile.
    /// Rows of nobody's changes count as own `with_others`.
    pub(crate) fn own_between(&self, start: Seq, end: Seq, with_others: bool) -> Result<(Vec<RelPath>, Vec<RelPath>)> {
        let connection = self.lock();
        let sql = "SELECT path, max(CASE WHEN kind IN ('external', 'safety') THEN ?3 ELSE NOT external END) \
                   FROM touched JOIN rows USING (seq) WHERE seq BETWEEN ?1 AND ?2 GROUP BY path ORDER BY path";
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, bool>(1)?));
        let rows = statement.query_map(params![start.0, end.0, with_others], row).map_err(broken)?;
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for found in rows {
            let (path, is_own) = found.map_err(broken)?;
            let path = RelPath::new(path.as_slice())?;
            if is_own { own.push(path) } else { others.push(path) }
        }
        Ok((own, others))
    }

    /// Distinct paths that the rows of a range touched.
    pub(crate) fn touched_between(&self, start: Seq, end: Seq) -> Result<Vec<RelPath>> {
        let connection = self.lock();
        let sql = "SELECT DISTINCT path FROM touched WHERE seq BETWEEN ?1 AND ?2 ORDER BY path";
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        let rows = statement.query_map(params![start.0, end.0], |row| row.get::<_, Vec<u8>>(0)).map_err(broken)?;
        let paths: Vec<Vec<u8>> = rows.collect::<rusqlite::Result<_>>().map_err(broken)?;
        paths.into_iter().map(|path| RelPath::new(path.as_slice())).collect()
    }

    /// Every recorded change of a path at or before `until`, newest first.
    pub(crate) fn changes_of_path(&self, path: &RelPath, until: Seq) -> Result<Vec<FileStep>> {
        let touched = self.touched("path = ?1 AND seq <= ?2 ORDER BY seq DESC", &[&path.as_bytes(), &until.0])?;
        let condition = "seq IN (SELECT seq FROM touched WHERE path = ?1 AND seq <= ?2)";
        let steps = find(&self.lock(), condition, &[&path.as_bytes(), &until.0])?;
        Ok(steps.into_iter().zip(touched).map(|(step, (_, file))| FileStep { step, file }).collect())
    }

    fn touched(&self, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<(Seq, TouchedFile)>> {
        let connection = self.lock();
        let sql = format!("SELECT seq, path, before, after, external FROM touched WHERE {condition}");
        let mut statement = connection.prepare_cached(&sql).map_err(broken)?;
        let mut rows = statement.query(values).map_err(broken)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(broken)? {
            let path: Vec<u8> = row.get(1).map_err(broken)?;
            let id = |column| -> rusqlite::Result<Option<ObjectId>> {
                Ok(row.get::<_, Option<Vec<u8>>>(column)?.as_deref().and_then(ObjectId::from_slice))
            };
            let file = TouchedFile {
                path: RelPath::new(path.as_slice())?,
                before: id(2).map_err(broken)?,
                after: id(3).map_err(broken)?,
                external: row.get(4).map_err(broken)?,
            };
            found.push((Seq(row.get(0).map_err(broken)?), file));
        }
        Ok(found)
    }
}

fn conditions(query: &request::Log, cursor: Option<Cursor>, beginnings: &[Seq]) -> (String, Vec<Box<dyn ToSql>>) {
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
    if let Some(text) = &query.text {
        let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let columns = ["description", "tool", "session"].map(|column| format!("{column} LIKE ? ESCAPE '\\'"));
        add(&format!("({})", columns.join(" OR ")), Box::new(format!("%{escaped}%")));
    }
    match cursor {
        Some(Cursor { order: Order::NewestFirst, seq }) => add("seq < ?", Box::new(seq.0)),
        Some(Cursor { order: Order::OldestFirst, seq }) => add("seq > ?", Box::new(seq.0)),
        None => {}
    }
    if let Some(file) = &query.file {
        let path = file.as_bytes().to_vec();
        let (low, high) = ([&path[..], b"/"].concat(), [&path[..], b"0"].concat());
        values.extend([Box::new(path) as Box<dyn ToSql>, Box::new(low), Box::new(high)]);
        let [a, b, c] = [values.len() - 2, values.len() - 1, values.len()];
        let beginnings: Vec<String> = beginnings.iter().map(|seq| format!(" UNION SELECT {}", seq.0)).collect();
        parts.push(format!(
            "seq IN (SELECT seq FROM touched WHERE path = ?{a} UNION \
             SELECT seq FROM touched WHERE path >= ?{b} AND path < ?{c}{})",
            beginnings.concat()
        ));
    }
    (parts.join(" AND "), values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_what_it_writes_and_knows_its_order() {
        for order in [Order::NewestFirst, Order::OldestFirst] {
            let cursor = Cursor { order, seq: Seq(12) };
            assert_eq!(Cursor::parse(&cursor.to_string(), order).unwrap(), cursor);
        }
        assert_eq!(Cursor::parse("before-12", Order::OldestFirst).unwrap_err().code(), Code::Usage);
        assert!(Cursor::parse("12", Order::NewestFirst).is_err());
        assert!(Cursor::parse("before-x", Order::NewestFirst).is_err());
    }
}
