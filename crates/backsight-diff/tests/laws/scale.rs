//! Large texts: the same laws as for small ones, which never reach the places where a comparison is cut into blocks,
//! and bounds on the time of the worst.

use std::time::Duration;

use backsight_diff::{apply, count, count_changes, line_origins, split_lines};
use proptest::prelude::*;

use crate::feeding::Numbers;
use crate::inputs::{cases, diff, parsed};

/// One line in `rare` is unlike any other; the rest are drawn from few, so that changes can be moved far.
fn text(numbers: &mut Numbers, lines: usize, rare: usize) -> Vec<String> {
    let line = |index: usize| match numbers.below(rare) {
        0 => format!("only {index}\n"),
        _ => ["\n", "}\n", "    a\n", "b\n"][numbers.below(4)].to_owned(),
    };
    (0..lines).map(line).collect()
}

/// Removes, repeats and moves runs of lines, and adds new ones.
fn edited(numbers: &mut Numbers, mut lines: Vec<String>, edits: usize) -> Vec<String> {
    for edit in 0..edits {
        let start = numbers.below(lines.len());
        let end = (start + 1 + numbers.below(8)).min(lines.len());
        match numbers.below(4) {
            0 => drop(lines.drain(start..end)),
            1 => drop(lines.splice(start..start, lines[start..end].to_vec())),
            2 => lines.insert(start, format!("new {edit}\n")),
            _ => {
                let moved: Vec<String> = lines.drain(start..end).collect();
                let place = numbers.below(lines.len() + 1);
                lines.splice(place..place, moved);
            }
        }
    }
    lines
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn the_laws_hold_where_a_long_comparison_is_cut(
        seed: u64, lines in 1500..4000usize, rare in 2..60usize, edits in 1..300usize,
    ) {
        let mut numbers = Numbers(seed);
        let before = text(&mut numbers, lines, rare);
        let after = edited(&mut numbers, before.clone(), edits).concat();
        let (before, after) = (before.concat().into_bytes(), after.into_bytes());

        let patches = parsed(&diff(&before, &after));
        prop_assert_eq!(apply(&patches[0], Some(&before)).unwrap(), Some(after.clone()));
        let counts = count(&before, &after);
        prop_assert_eq!(count_changes(&patches), counts);

        let origins = line_origins(&before, &after);
        prop_assert!(origins.iter().flatten().is_sorted_by(|earlier, later| earlier < later));
        let old = split_lines(&before);
        let same = |(line, origin): (&&[u8], &Option<usize>)| origin.is_none_or(|origin| old[origin] == *line);
        prop_assert!(split_lines(&after).iter().zip(&origins).all(same));
        prop_assert_eq!(origins.iter().filter(|origin| origin.is_none()).count(), counts.additions);
    }
}

/// Each of these took between two and fifteen seconds in an optimised build before comparisons were cut into blocks;
/// now none takes longer than one in a debug build.
fn assert_quick(before: &str, after: &str) {
    let start = time_of_this_thread();
    let patches = parsed(&diff(before.as_bytes(), after.as_bytes()));
    let elapsed = time_of_this_thread() - start;
    assert!(elapsed < Duration::from_secs(5), "took {elapsed:?}");
    assert_eq!(apply(&patches[0], Some(before.as_bytes())).unwrap().as_deref(), Some(after.as_bytes()));
}

/// What the thread has computed, so that a busy machine fails no test. Where the kernel does not tell, no time passes.
fn time_of_this_thread() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|number| number.parse().ok());
    nanoseconds.map_or(Duration::ZERO, Duration::from_nanos)
}

const MANY: usize = 100_000;

#[test]
fn many_lines_of_few_kinds_are_compared_in_bounded_time() {
    let random = |seed| {
        let mut numbers = Numbers(seed);
        (0..MANY).map(|_| format!("{}\n", numbers.below(3))).collect::<String>()
    };
    assert_quick(&random(1), &random(2));
    assert_quick(&"a\nb\n".repeat(MANY / 2), &"a\nb\nc\n".repeat(MANY / 3));
}

#[test]
fn many_changes_in_many_lines_are_found_in_bounded_time() {
    let every = |step: usize, word: &str| -> String {
        (0..MANY).map(|line| if line % step == 0 { format!("{word} {line}\n") } else { format!("{line}\n") }).collect()
    };
    assert_quick(&every(2, "old"), &every(2, "new"));
    assert_quick(&every(10, "old"), &every(10, "new"));
    let without: String = (0..MANY).filter(|line| line % 3 != 0).map(|line| format!("{line}\n")).collect();
    assert_quick(&every(MANY, "0"), &without);
}

#[test]
fn changes_among_lines_that_all_come_twice_are_found_in_bounded_time() {
    let every_second = |word: &str| -> String {
        (0..MANY / 2).map(|line| if line % 2 == 0 { format!("{word} {line}\n") } else { format!("{line}\n") }).collect()
    };
    assert_quick(&every_second("old").repeat(2), &every_second("new").repeat(2));
}
