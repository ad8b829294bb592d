//! Which elements of a long list changed. Of elements that were not captured there are hashes of runs of them: of each one in
//! lists of up to a thousand, of more at once in longer ones.

use super::align::{self, Step};
use crate::capture::Node;

/// So many runs at most; the walkers count alike.
const MOST: u64 = 1024;
/// How many places are named.
const NAMED: usize = 8;

/// How many elements are in a run.
pub(crate) fn run_of(length: u64) -> u64 {
    length.div_ceil(MOST).max(1)
}

/// Elements of which something changed, from the first to the last; indices are those of the new list, and of what is gone those
/// of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    first: u64,
    last: u64,
    gone: bool,
}

/// Where two lists differ that were not captured whole; nothing where that cannot be told.
pub(super) fn spans(old: &Node, new: &Node) -> Vec<Span> {
    let (Some(before), Some(after)) = (old.length, new.length) else { return Vec::new() };
    let (run, same) = (run_of(after), before == after);
    let known = |node: &Node, length: u64| node.runs.len() as u64 == length.div_ceil(run_of(length));
    if old.runs.is_empty() || !known(old, before) || !known(new, after) || (!same && (run > 1 || run_of(before) > 1)) {
        return Vec::new();
    }
    let changed: Vec<(u64, bool)> = match same {
        true => {
            (0..).zip(old.runs.iter().zip(&new.runs)).filter(|(_, (a, b))| a != b).map(|(at, _)| (at, false)).collect()
        }
        false => moved(&old.runs, &new.runs),
    };
    let mut spans: Vec<Span> = Vec::new();
    for (at, gone) in changed {
        let (first, last) = (at * run, ((at + 1) * run).min(after.max(before)) - 1);
        match spans.last_mut().filter(|span| span.gone == gone && span.last + 1 == first) {
            Some(span) => span.last = last,
            None => spans.push(Span { first, last, gone }),
        }
    }
    spans
}

/// Elements that came, went or are others when some came or went.
fn moved(old: &[u32], new: &[u32]) -> Vec<(u64, bool)> {
    let wide = |side: &[u32]| side.iter().map(|hash| u64::from(*hash)).collect::<Vec<u64>>();
    let steps = align::align(&wide(old), &wide(new), |_, _| 0).into_iter();
    let changed = steps.filter_map(|step| match step {
        Step::Both(at, with) => (old.get(at) != new.get(with)).then_some((with as u64, false)),
        Step::Old(at) => Some((at as u64, true)),
        Step::New(with) => Some((with as u64, false)),
    });
    changed.collect()
}

impl Span {
    /// Whether an element is among these.
    pub(super) fn holds(&self, index: u64, gone: bool) -> bool {
        self.gone == gone && (self.first..=self.last).contains(&index)
    }

    /// How many they are.
    pub(super) fn count(&self) -> u64 {
        self.last - self.first + 1
    }
}

/// Where, in words: `[7], [20..23], gone [5]`.
pub(super) fn words(spans: &[Span]) -> String {
    let one = |span: &Span| {
        let place = match span.first == span.last {
            true => format!("[{}]", span.first),
            false => format!("[{}..{}]", span.first, span.last),
        };
        if span.gone { format!("gone {place}") } else { place }
    };
    let named: Vec<String> = spans.iter().take(NAMED).map(one).collect();
    let rest: u64 = spans.iter().skip(NAMED).map(Span::count).sum();
    let rest = if rest > 0 { format!(", +{rest} more elements") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}
