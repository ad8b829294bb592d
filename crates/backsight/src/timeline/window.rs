//! The rows of a window that answers are about: how many there are, and the newest of them.

use backsight_core::{RelPath, Result, Seq, Timestamp};

use super::row::{Found, find, find_rows};
use super::{Kind, Step, Timeline, broken};

#[cfg_attr(not(feature = "browser"), expect(dead_code, reason = "asked by the answer across lanes"))]
impl Timeline {
    /// How many steps came after `since`, up to `until`, and the newest of them, oldest first.
    pub(crate) fn newest_steps(&self, since: Seq, until: Seq, most: usize) -> Result<(u64, Vec<Step>)> {
        let connection = self.lock();
        let sql = "SELECT count(*) FROM rows WHERE tree IS NOT NULL AND seq > ?1 AND seq <= ?2";
        let total = connection.query_row(sql, [since.0, until.0], |row| row.get(0)).map_err(broken)?;
        let condition = "seq IN (SELECT seq FROM rows WHERE tree IS NOT NULL AND seq > ?1 AND seq <= ?2 \
                         ORDER BY seq DESC LIMIT ?3)";
        let mut steps = find(&connection, condition, &[&since.0, &until.0, &(most as u64)])?;
        steps.reverse();
        Ok((total, steps))
    }

    /// How many rows of some kinds came after `since`, up to `until`, and the newest of them, oldest first.
    pub(crate) fn newest_of(&self, kinds: &[Kind], since: Seq, until: Seq, most: usize) -> Result<(u64, Vec<Found>)> {
        let names: Vec<String> = kinds.iter().map(|kind| format!("'{}'", kind.as_str())).collect();
        let of = format!("kind IN ({}) AND seq > ?1 AND seq <= ?2", names.join(", "));
        let connection = self.lock();
        let sql = format!("SELECT count(*) FROM rows WHERE {of}");
        let total = connection.query_row(&sql, [since.0, until.0], |row| row.get(0)).map_err(broken)?;
        let condition = format!("seq IN (SELECT seq FROM rows WHERE {of} ORDER BY seq DESC LIMIT ?3)");
        let mut rows = find_rows(&connection, &condition, &[&since.0, &until.0, &(most as u64)])?;
        rows.reverse();
        Ok((total, rows))
    }

    /// The newest row that is older than a time; 0 when none is.
    pub(crate) fn latest_before(&self, time: Timestamp) -> Result<Seq> {
        let sql = "SELECT coalesce(max(seq), 0) FROM rows WHERE timestamp < ?1";
        self.lock().query_row(sql, [time.0], |row| row.get(0).map(Seq)).map_err(broken)
    }

    /// The first step that was recorded after a time.
    pub(crate) fn first_step_after(&self, time: Timestamp) -> Result<Option<Seq>> {
        let sql = "SELECT min(seq) FROM rows WHERE tree IS NOT NULL AND timestamp > ?1";
        self.lock().query_row(sql, [time.0], |row| Ok(row.get::<_, Option<u64>>(0)?.map(Seq))).map_err(broken)
    }

    /// Whether a step of a session changed a path before a row.
    pub(crate) fn was_touched_by(&self, path: &RelPath, session: &str, before: Seq) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM touched JOIN rows USING (seq) \
                   WHERE path = ?1 AND seq < ?2 AND session = ?3 AND NOT external)";
        let values = rusqlite::params![path.as_bytes(), before.0, session];
        self.lock().query_row(sql, values, |row| row.get(0)).map_err(broken)
    }

    /// The newest step up to a time that changed a path.
    pub(crate) fn last_touch(&self, path: &RelPath, until: Timestamp) -> Result<Option<Step>> {
        let connection = self.lock();
        let condition =
            "seq = (SELECT max(seq) FROM touched JOIN rows USING (seq) WHERE path = ?1 AND timestamp <= ?2)";
        let found = find(&connection, condition, &[&path.as_bytes(), &until.0])?;
        Ok(found.into_iter().next())
    }

    /// The first paths that a step changed itself.
    pub(crate) fn own_paths(&self, seq: Seq, most: usize) -> Result<Vec<RelPath>> {
        let connection = self.lock();
        let sql = "SELECT path FROM touched WHERE seq = ?1 ORDER BY external, path LIMIT ?2";
        let mut statement = connection.prepare_cached(sql).map_err(broken)?;
        let rows = statement.query_map([seq.0, most as u64], |row| row.get::<_, Vec<u8>>(0)).map_err(broken)?;
        let paths: Vec<Vec<u8>> = rows.collect::<rusqlite::Result<_>>().map_err(broken)?;
        paths.into_iter().map(|path| RelPath::new(path.as_slice())).collect()
    }
}
