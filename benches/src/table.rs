//! The result: rows of two quantities, their ratio and the bar it must reach; as a table for people and as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::measure::Samples;

/// Everything measured in one run.
#[derive(Default)]
pub struct Table(Vec<Row>);

/// Two quantities side by side.
pub struct Row {
    /// What was done.
    pub work: String,
    /// What Backsight needed.
    pub ours: Quantity,
    /// What it is compared with.
    pub against: String,
    /// What that needed.
    pub theirs: Quantity,
    /// How to read the two.
    pub ratio: Ratio,
    /// Every time taken: ours, theirs.
    pub samples: [Vec<f64>; 2],
}

/// Something measured.
#[derive(Clone, Copy, PartialEq)]
pub enum Quantity {
    /// A time.
    Time(Duration),
    /// Bytes on disk or in memory.
    Bytes(u64),
    /// How many of something.
    Count(u64),
}

/// How the two quantities of a row are compared.
#[derive(Clone, Copy)]
pub enum Ratio {
    /// How many times as fast ours is; must be at least this.
    Faster(f64),
    /// Ours as a multiple of the other; must be at most this.
    AtMost(f64),
    /// Ours as a multiple of the other; must be at least this.
    AtLeast(f64),
    /// Ours as a multiple of the other; only shown.
    Multiple,
}

impl Row {
    /// A row of two series of times.
    pub fn times(work: &str, ours: &Samples, against: &str, theirs: &Samples, ratio: Ratio) -> Row {
        let samples = [ours.milliseconds(), theirs.milliseconds()];
        let (ours, theirs) = (Quantity::Time(ours.median()), Quantity::Time(theirs.median()));
        Row { work: work.to_owned(), ours, against: against.to_owned(), theirs, ratio, samples }
    }

    /// A row of two sizes.
    pub fn bytes(work: &str, ours: u64, against: &str, theirs: u64, ratio: Ratio) -> Row {
        let (ours, theirs) = (Quantity::Bytes(ours), Quantity::Bytes(theirs));
        Row { work: work.to_owned(), ours, against: against.to_owned(), theirs, ratio, samples: [vec![], vec![]] }
    }

    /// A row of two numbers.
    pub fn counts(work: &str, ours: u64, against: &str, theirs: u64, ratio: Ratio) -> Row {
        let (ours, theirs) = (Quantity::Count(ours), Quantity::Count(theirs));
        Row { work: work.to_owned(), ours, against: against.to_owned(), theirs, ratio, samples: [vec![], vec![]] }
    }

    fn value(&self) -> f64 {
        let (ours, theirs) = (self.ours.number().max(f64::MIN_POSITIVE), self.theirs.number().max(f64::MIN_POSITIVE));
        match self.ratio {
            Ratio::Faster(_) => theirs / ours,
            Ratio::AtMost(_) | Ratio::AtLeast(_) | Ratio::Multiple => ours / theirs,
        }
    }

    /// Whether the bar is reached; nothing when there is none.
    fn passes(&self) -> Option<bool> {
        match self.ratio {
            Ratio::Faster(bar) => Some(self.value() >= bar),
            // Nothing at all is no multiple of anything.
            Ratio::AtMost(bar) => Some(self.value() <= bar || self.ours.number() == 0.0),
            Ratio::AtLeast(bar) => Some(self.value() >= bar),
            Ratio::Multiple => None,
        }
    }

    fn cells(&self) -> [String; 7] {
        let (value, bar) = match self.ratio {
            Ratio::Faster(bar) => (format!("{} the speed", multiple(self.value())), format!(">= {bar}x")),
            Ratio::AtMost(bar) => (format!("{} of it", multiple(self.value())), format!("<= {bar}x")),
            Ratio::AtLeast(bar) => (format!("{} of it", multiple(self.value())), format!(">= {bar}x")),
            Ratio::Multiple => (format!("{} of it", multiple(self.value())), String::new()),
        };
        let mark = match self.passes() {
            Some(true) => "✓",
            Some(false) => "✗",
            None => "",
        };
        [self.work.clone(), self.ours.text(), self.against.clone(), self.theirs.text(), value, bar, mark.to_owned()]
    }

    fn json(&self) -> Value {
        let bar = match self.ratio {
            Ratio::Faster(bar) => json!({ "at_least": bar }),
            Ratio::AtMost(bar) => json!({ "at_most": bar }),
            Ratio::AtLeast(bar) => json!({ "at_least": bar }),
            Ratio::Multiple => Value::Null,
        };
        json!({
            "work": self.work, "backsight": self.ours.json(), "against": self.against, "peer": self.theirs.json(),
            "ratio": self.value(), "bar": bar, "passes": self.passes(),
            "backsight_ms": self.samples[0], "peer_ms": self.samples[1],
        })
    }
}

impl Quantity {
    fn number(self) -> f64 {
        match self {
            Quantity::Time(time) => time.as_secs_f64(),
            Quantity::Bytes(number) | Quantity::Count(number) => number as f64,
        }
    }

    fn text(self) -> String {
        match self {
            Quantity::Time(time) if time.as_secs_f64() >= 1.0 => format!("{:.2} s", time.as_secs_f64()),
            Quantity::Time(time) if time.as_secs_f64() < 0.001 => format!("{:.3} ms", time.as_secs_f64() * 1e3),
            Quantity::Time(time) => format!("{:.1} ms", time.as_secs_f64() * 1e3),
            Quantity::Bytes(bytes) if bytes >= 10_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
            Quantity::Bytes(bytes) => format!("{:.1} kB", bytes as f64 / 1e3),
            Quantity::Count(count) => count.to_string(),
        }
    }

    fn json(self) -> Value {
        match self {
            Quantity::Time(time) => json!({ "ms": time.as_secs_f64() * 1e3 }),
            Quantity::Bytes(bytes) => json!({ "bytes": bytes }),
            Quantity::Count(count) => json!({ "count": count }),
        }
    }
}

fn multiple(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}x") } else { format!("{value:.2}x") }
}

impl Table {
    /// Adds a row and shows it at once on stderr, so that a long run can be watched.
    pub fn push(&mut self, row: Row) {
        eprintln!("  {}", row.cells().join("  "));
        self.0.push(row);
    }

    /// How many bars were missed.
    pub fn missed(&self) -> usize {
        self.0.iter().filter(|row| row.passes() == Some(false)).count()
    }

    /// The rows as JSON.
    pub fn json(&self) -> Value {
        self.0.iter().map(Row::json).collect()
    }

    /// The table for people: words to the left, numbers to the right.
    pub fn text(&self) -> String {
        let heads = ["work", "backsight", "compared with", "", "ratio", "bar", ""].map(str::to_owned);
        let lines: Vec<[String; 7]> = std::iter::once(heads).chain(self.0.iter().map(Row::cells)).collect();
        let width = |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 7] = std::array::from_fn(width);
        lines.iter().map(|cells| line(cells, &widths)).collect()
    }
}

fn line(cells: &[String; 7], widths: &[usize; 7]) -> String {
    let mut text = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let to_the_left = matches!(column, 0 | 2 | 6);
        text.push_str(&if to_the_left { format!("{cell:<width$}  ") } else { format!("{cell:>width$}  ") });
    }
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_a_least_or_a_most() {
        let row = |ratio| Row::bytes("w", 100, "p", 250, ratio);
        assert_eq!(row(Ratio::Faster(2.5)).passes(), Some(true));
        assert_eq!(row(Ratio::Faster(2.6)).passes(), Some(false));
        assert_eq!(row(Ratio::AtMost(0.4)).passes(), Some(true));
        assert_eq!(row(Ratio::AtMost(0.3)).passes(), Some(false));
        assert_eq!(row(Ratio::Multiple).passes(), None);
    }

    #[test]
    fn columns_line_up_and_a_missed_bar_is_marked() {
        let mut table = Table::default();
        table.push(Row::bytes("short", 2_000, "git", 1_000, Ratio::AtMost(1.0)));
        let lines: Vec<String> = table.text().lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "work   backsight  compared with                ratio    bar");
        assert_eq!(lines[1], "short     2.0 kB  git            1.0 kB  2.00x of it  <= 1x  ✗");
        assert_eq!(table.missed(), 1);
    }
}
