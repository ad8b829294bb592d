//! What the fuzz targets check, over their seeds and thousands of damaged copies of them, on every run of the tests.
//! `make fuzz` goes on from the same seeds for as long as it is given.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use backsight_diff::validate_diff_format;

use crate::bodies;
use crate::inputs::Numbers;

/// Damaged copies for each target.
const COPIES: usize = 3000;

#[test]
fn damaged_diffs_are_read_or_refused() {
    check("parse", bodies::parse);
}

#[test]
fn the_diff_of_any_two_texts_leads_there_and_back() {
    check("reverse_apply", bodies::reverse_apply);
}

#[test]
fn any_three_texts_merge_or_conflict() {
    check("merge", bodies::merge);
}

/// A seed that no longer says what its name says would be checked, and check nothing.
#[test]
fn the_seeds_called_broken_are_exactly_those_that_are() {
    for (name, content) in seeds("parse") {
        assert_eq!(!validate_diff_format(&content).is_empty(), name.starts_with("broken-"), "{name}");
    }
}

fn check(target: &str, body: fn(&[u8])) {
    let seeds = seeds(target);
    for (_, seed) in &seeds {
        // Cut off anywhere.
        (0..=seed.len()).for_each(|end| run(body, &seed[..end]));
    }
    let mut numbers = Numbers(2024);
    for _ in 0..COPIES {
        let mut input = pick(&mut numbers, &seeds).to_vec();
        for _ in 0..=numbers.below(4) {
            damage(&mut numbers, &mut input, &seeds);
        }
        run(body, &input);
    }
}

/// On a panic, says for which input.
fn run(body: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(input))) {
        eprintln!("for the input b\"{}\"", input.escape_ascii());
        resume_unwind(panic);
    }
}

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut seeds: Vec<(String, Vec<u8>)> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    seeds
}

fn pick<'a>(numbers: &mut Numbers, seeds: &'a [(String, Vec<u8>)]) -> &'a [u8] {
    &seeds[numbers.below(seeds.len())].1
}

/// What breaks readers of diffs when it stands in the wrong place.
const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\0",
    b"\x1e",
    b"\"",
    b"\\",
    b"\t",
    b" ",
    b" b/",
    b" and ",
    b"/dev/null",
    b"--- a/x\n",
    b"+++ b/x\n",
    b"@@ -1 +1 @@\n",
    b"@@ -0,0 +1,4294967295 @@\n",
    b"18446744073709551615",
    b"diff --git a/x b/x\n",
    b"\\ No newline at end of file\n",
    b"rename from x\nrename to y\n",
    b"old mode 100644\nnew mode 100755\n",
    b"Binary files a/x and b/x differ\n",
];

/// One change somewhere: a piece put in, a byte changed, a run removed, repeated or taken from another seed.
fn damage(numbers: &mut Numbers, input: &mut Vec<u8>, seeds: &[(String, Vec<u8>)]) {
    let start = numbers.below(input.len() + 1);
    let end = (start + numbers.below(24)).min(input.len());
    match numbers.below(6) {
        0 => drop(input.splice(start..start, PIECES[numbers.below(PIECES.len())].iter().copied())),
        1 if start < input.len() => input[start] = numbers.below(256) as u8,
        2 => drop(input.drain(start..end)),
        3 => drop(input.splice(start..start, input[start..end].to_vec())),
        4 => {
            let other = pick(numbers, seeds);
            let start = input[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
            input.splice(start..start, lines_of(numbers, other));
        }
        _ => input.truncate(start),
    }
}

/// A few lines of a text.
fn lines_of(numbers: &mut Numbers, text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let start = numbers.below(lines.len() + 1);
    let end = (start + 1 + numbers.below(4)).min(lines.len());
    lines[start.min(end)..end].concat()
}
