//! The graph beside the log: one column a session, a glyph a row, bars while a session is active. Decides where
//! everything goes and with which characters; colours and the words beside it are the timeline's.

use std::collections::BTreeMap;

use anstyle::Style;
use backsight::report::{Kind, Origin, Row};
use backsight_core::Seq;

use crate::page::{BLUE, CYAN, GREEN, MAGENTA, RED, Sheet, YELLOW};

/// Sessions with a column of their own, and one that the rest share.
const LANES: usize = 6;

/// Which characters the reader's terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    Ascii,
    Unicode,
}

impl Alphabet {
    /// From the variables that name a locale, in the order in which they count.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| variable(name).filter(|text| !text.is_empty()));
        let codeset = set.unwrap_or_default().to_ascii_uppercase().replace('-', "");
        if codeset.contains("UTF8") { Alphabet::Unicode } else { Alphabet::Ascii }
    }

    /// What stands for a row.
    pub fn glyph(self, kind: Kind) -> char {
        let (ascii, unicode) = match kind {
            Kind::Track => ('*', '●'),
            Kind::External => ('o', '○'),
            Kind::Safety => ('.', '·'),
            Kind::Restore | Kind::Revert | Kind::Undo | Kind::Redo => ('<', '↺'),
            Kind::Milestone => ('=', '◆'),
            Kind::Reset => ('X', '╳'),
            Kind::Bisect => ('?', '⊘'),
            Kind::FirstError | Kind::Recovery | Kind::Navigation => ('!', '▸'),
            Kind::DebuggerStop | Kind::Capture | Kind::DebugEnd => ('!', '▸'),
        };
        self.either(ascii, unicode)
    }

    /// What a line across the page is made of.
    pub fn rule(self) -> char {
        self.either('=', '━')
    }

    fn bar(self) -> char {
        self.either('|', '│')
    }

    /// The one that can be shown.
    pub fn either<T>(self, ascii: T, unicode: T) -> T {
        if self == Alphabet::Unicode { unicode } else { ascii }
    }
}

/// Where each row of a page goes.
pub struct Graph {
    /// For each row its column; none for milestones, which go across.
    columns: Vec<Option<usize>>,
    /// For each column the first and the last row in it.
    spans: Vec<(usize, usize)>,
    /// Whether the first column is of rows that belong to no session.
    has_trunk: bool,
    /// The sessions that share the last column, if there were too many.
    pub sharing: Vec<String>,
}

impl Graph {
    /// None when no row belongs to a session: a single column would say nothing.
    pub fn of(rows: &[Row]) -> Option<Graph> {
        let sessions = sessions(rows);
        if sessions.is_empty() {
            return None;
        }
        let in_lane = |row: &&Row| kind(row) != Kind::Milestone;
        let has_trunk = rows.iter().filter(in_lane).any(|row| origin(row).session.is_none());
        let own = if sessions.len() > LANES { LANES - 1 } else { sessions.len() };
        let column = |row: &Row| match &origin(row).session {
            None => 0,
            Some(name) => {
                usize::from(has_trunk) + sessions.iter().position(|known| known == name).unwrap_or(0).min(own)
            }
        };
        let columns: Vec<Option<usize>> = rows.iter().map(|row| Some(row).filter(in_lane).map(column)).collect();
        let count = columns.iter().flatten().max().map_or(0, |last| last + 1);
        let span = |wanted: usize| {
            let holds = |column: &Option<usize>| *column == Some(wanted);
            (columns.iter().position(holds).unwrap_or(0), columns.iter().rposition(holds).unwrap_or(0))
        };
        let spans = (0..count).map(span).collect();
        let sharing = sessions.iter().skip(own).map(|name| (*name).to_owned()).collect();
        Some(Graph { columns, spans, has_trunk, sharing })
    }

    /// The cells of a row; every row's are of one width.
    pub fn gutter(&self, sheet: &Sheet, alphabet: Alphabet, row: usize, kind: Kind) -> String {
        let cell = |(column, (first, last)): (usize, &(usize, usize))| {
            let character = match self.columns.get(row) {
                Some(here) if *here == Some(column) => alphabet.glyph(kind),
                _ if (*first..=*last).contains(&row) => alphabet.bar(),
                _ => ' ',
            };
            sheet.paint(self.style(column), character)
        };
        self.spans.iter().enumerate().map(cell).collect::<Vec<_>>().join(" ")
    }

    fn style(&self, column: usize) -> Style {
        const STYLES: [Style; LANES] = [CYAN, MAGENTA, GREEN, BLUE, YELLOW, RED];
        match column.checked_sub(usize::from(self.has_trunk)) {
            Some(session) => STYLES[session % LANES],
            None => Style::new(),
        }
    }
}

/// The sessions of a page, those that began last first: should there be too many, the oldest share. Which end of the
/// timeline comes first makes no difference.
fn sessions(rows: &[Row]) -> Vec<&str> {
    let mut began: BTreeMap<&str, Seq> = BTreeMap::new();
    for row in rows.iter().filter(|row| kind(row) != Kind::Milestone) {
        if let Some(session) = &origin(row).session {
            let seq = row.sequence_number();
            began.entry(session).and_modify(|first| *first = seq.min(*first)).or_insert(seq);
        }
    }
    let mut sessions: Vec<(&str, Seq)> = began.into_iter().collect();
    sessions.sort_by_key(|(_, seq)| std::cmp::Reverse(*seq));
    sessions.into_iter().map(|(session, _)| session).collect()
}

/// What kind of row.
pub fn kind(row: &Row) -> Kind {
    match row {
        Row::Snapshot(snapshot) => snapshot.kind,
        Row::Event(event) => event.kind,
    }
}

fn origin(row: &Row) -> &Origin {
    match row {
        Row::Snapshot(snapshot) => &snapshot.origin,
        Row::Event(event) => &event.origin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let with = |pairs: &[(&str, &str)]| {
            Alphabet::of(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(with(&[]), Alphabet::Ascii);
        assert_eq!(with(&[("LANG", "de_DE.UTF-8")]), Alphabet::Unicode);
        assert_eq!(with(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]), Alphabet::Ascii);
        assert_eq!(with(&[("LANG", "C"), ("LC_CTYPE", "en_US.utf8"), ("LC_ALL", "")]), Alphabet::Unicode);
    }

    #[test]
    fn kinds_that_mean_different_things_look_different() {
        let told_apart =
            [Kind::Track, Kind::External, Kind::Safety, Kind::Undo, Kind::Milestone, Kind::Reset, Kind::Capture];
        for alphabet in [Alphabet::Ascii, Alphabet::Unicode] {
            let glyphs: std::collections::BTreeSet<char> =
                told_apart.iter().map(|kind| alphabet.glyph(*kind)).collect();
            assert_eq!(glyphs.len(), told_apart.len());
        }
    }
}
