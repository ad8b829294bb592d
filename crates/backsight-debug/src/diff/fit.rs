//! Chooses what of a diff is told: what matters most first, as much as a budget of tokens allows, the rest by number and place.

use std::collections::HashMap;

use backsight_core::estimate_tokens;

use super::change::{Change, Found, What};
use super::{Form, Options, words};
use crate::capture::Scope;
use crate::path;
use crate::render;
use crate::report::{DiffEntry, Folded, SnapshotDiff};

/// How many places of changes that are not shown are named.
const MOST_FOLDED: usize = 6;
/// How many rebound paths are named.
const MOST_REBOUND: usize = 8;
/// How many values that were not compared are named one by one.
const MOST_NOT_COMPARED: usize = 12;
/// Of more of them all variables are named, as long as these take no more than this part of the tokens.
const NAMES: usize = 4;

/// Fills an answer with as many changes as fit.
pub(super) fn fit(mut diff: SnapshotDiff, found: &Found<'_>, options: &Options) -> SnapshotDiff {
    let wanted = |path: &str| options.path.as_deref().is_none_or(|above| path::is_under(path, above));
    let mut ranked: Vec<&Change<'_>> = found.changes.iter().filter(|change| wanted(&change.path)).collect();
    ranked.sort_by_key(|change| rank(change));
    diff.path = options.path.clone();
    diff.matched = options.path.is_some().then_some(ranked.len() as u64);
    let rebound: Vec<&String> = found.rebound.iter().filter(|path| wanted(path)).collect();
    diff.rebound = rebound.iter().take(MOST_REBOUND).map(|path| (*path).clone()).collect();
    diff.rebound_omitted = (rebound.len() - diff.rebound.len()) as u64;
    (diff.not_compared, diff.not_compared_omitted) = not_compared(
        found.not_compared.iter().filter(|path| wanted(path)).map(String::as_str),
        options.max_tokens / NAMES,
    );
    let left = ranked.get(options.offset..).unwrap_or_default();
    let mut entries: Vec<DiffEntry> = Vec::new();
    let head = measure(&diff, options.form);
    let mut total = head;
    for change in left {
        let entry = words::entry(change);
        total += match options.form {
            Form::Compact => estimate_tokens(&render::compact_entry(&entry)),
            Form::Json => estimate_tokens(&serde_json::to_string(&entry).unwrap_or_default()),
        };
        entries.push(entry);
        if total > options.max_tokens {
            break;
        }
    }
    let count = fitting(1, entries.len(), |count| {
        let tried = with_entries(diff.clone(), left, &entries, count, options.offset);
        measure(&tried, options.form) <= options.max_tokens
    });
    with_entries(diff, left, &entries, count, options.offset)
}

/// Names what was not compared: each value where there are few of them, otherwise the variables they are in, each once with
/// the number that is in it. The names stand for all of them as long as none is left out.
fn not_compared<'a>(paths: impl Iterator<Item = &'a str> + Clone, most_tokens: usize) -> (Vec<String>, u64) {
    if paths.clone().take(MOST_NOT_COMPARED + 1).count() <= MOST_NOT_COMPARED {
        return (paths.map(str::to_owned).collect(), 0);
    }
    let mut variables: Vec<(&str, u64)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for path in paths {
        let name = path::variable(path);
        let place = *places.entry(name).or_insert_with(|| {
            variables.push((name, 0));
            variables.len() - 1
        });
        variables[place].1 += 1;
    }
    let (mut named, mut tokens) = (Vec::new(), 0);
    for (name, count) in &variables {
        let words = if *count > 1 { format!("{name} ({count} values)") } else { (*name).to_owned() };
        tokens += estimate_tokens(&words) + 1;
        if named.len() >= MOST_NOT_COMPARED && tokens > most_tokens {
            break;
        }
        named.push(words);
    }
    let rest = variables.iter().skip(named.len()).map(|(_, count)| count).sum();
    (named, rest)
}

/// The most of `least..=most` for which `fits` holds, assuming that what fits with more fits with fewer; `least` if none does.
pub(crate) fn fitting(least: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (least.min(most), most);
    // Estimates are good: the answer is near the end.
    let mut back = 1;
    while low < high {
        let middle = high.saturating_sub(back - 1).max(low + 1);
        match fits(middle) {
            true if middle == high => return high,
            true => low = middle,
            false => high = middle - 1,
        }
        back = if high - low > 4 * back { back * 2 } else { (high - low).div_ceil(2).max(1) };
    }
    low
}

/// What matters most first: frames from the innermost, watches, results, `this` and arguments, locals, and then what is
/// nearest to the variable. The two halves of a type change stay together, because the sort is stable.
fn rank(change: &Change<'_>) -> (usize, u8, u32) {
    let scope = match change.place.scope {
        Scope::Watch => 0,
        Scope::Result => 1,
        Scope::This | Scope::Argument => 2,
        Scope::Local => 3,
        Scope::Closure => 4,
    };
    (change.place.distance, scope, change.depth)
}

/// The answer with the first `count` changes in it and the others folded.
fn with_entries(
    mut diff: SnapshotDiff,
    left: &[&Change<'_>],
    entries: &[DiffEntry],
    count: usize,
    offset: usize,
) -> SnapshotDiff {
    for (change, entry) in left.iter().zip(&entries[..count]) {
        let list = match change.what {
            What::Added(..) => &mut diff.added,
            What::Removed(..) => &mut diff.removed,
            What::Modified(..) => &mut diff.modified,
        };
        list.push(entry.clone());
    }
    let rest = &left[count..];
    diff.omitted = rest.len() as u64;
    diff.folded = fold(rest.iter().map(|change| change.path.as_str()));
    diff.next_offset = (!rest.is_empty()).then_some(offset + count);
    diff
}

fn measure(diff: &SnapshotDiff, form: Form) -> usize {
    match form {
        Form::Compact => estimate_tokens(&render::compact(diff)),
        Form::Json => estimate_tokens(&serde_json::to_string(diff).unwrap_or_default()),
    }
}

/// How many of `paths` there are under which common path; the counts add up.
pub(crate) fn fold<'a>(paths: impl Iterator<Item = &'a str> + Clone) -> Vec<Folded> {
    let by_parent = grouped(paths.clone().map(path::parent));
    let mut groups = match by_parent.len() > MOST_FOLDED {
        true => grouped(paths.map(root)),
        false => by_parent,
    };
    if groups.len() > MOST_FOLDED {
        let rest = groups.split_off(MOST_FOLDED - 1).iter().map(|folded| folded.count).sum();
        groups.push(Folded { under: String::new(), count: rest });
    }
    groups
}

/// The variable of a path, where it has a path inside it; otherwise nothing, as its parent.
fn root(path: &str) -> &str {
    let parent = path::parent(path);
    if parent.is_empty() { "" } else { &parent[..parent.find(['.', '[']).unwrap_or(parent.len())] }
}

/// Equal texts counted, the most first; what is everywhere else last.
fn grouped<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Folded> {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut groups: Vec<Folded> =
        counts.into_iter().map(|(under, count)| Folded { under: under.to_owned(), count }).collect();
    groups.sort_by(|a, b| (a.under.is_empty(), b.count, &a.under).cmp(&(b.under.is_empty(), a.count, &b.under)));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_that_was_not_compared_is_named_while_there_is_room() {
        let paths: Vec<String> = (0..40).flat_map(|at| [format!("v{at}"), format!("v{at}.inside")]).collect();
        let named = |tokens| not_compared(paths.iter().map(String::as_str), tokens);
        let (names, rest) = named(1_000);
        assert_eq!((names.len(), rest, names[39].as_str()), (40, 0, "v39 (2 values)"));
        let (names, rest) = named(10);
        assert_eq!((names.len(), rest), (MOST_NOT_COMPARED, 56), "what is left out is counted");
    }
}
