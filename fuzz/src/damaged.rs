//! What the fuzzer does, in little and the same each time: a parser is fed its seeds, cut off anywhere, and damaged copies
//! of them. The ordinary tests run it; `make fuzz` goes on from the same seeds for as long as it is given.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// Feeds `parser` the seeds of that name and `copies` damaged copies.
pub fn feed(name: &str, parser: fn(&[u8]), copies: usize) {
    let seeds = seeds(name);
    for (_, seed) in &seeds {
        (0..=seed.len()).for_each(|end| run(parser, &seed[..end]));
    }
    let mut numbers = Numbers(2024);
    for _ in 0..copies {
        let mut input = pick(&mut numbers, &seeds).to_vec();
        for _ in 0..=numbers.below(4) {
            damage(&mut numbers, &mut input, &seeds);
        }
        run(parser, &input);
    }
}

/// The seeds of a parser with their names; there is one at least.
pub fn seeds(name: &str) -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    let mut seeds: Vec<(String, Vec<u8>)> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{name} has no seeds");
    seeds
}

/// On a panic, says for which input.
fn run(parser: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| parser(input))) {
        eprintln!("for the input b\"{}\"", input.escape_ascii());
        resume_unwind(panic);
    }
}

fn pick<'a>(numbers: &mut Numbers, seeds: &'a [(String, Vec<u8>)]) -> &'a [u8] {
    &seeds[numbers.below(seeds.len())].1
}

/// What breaks readers when it stands in the wrong place.
const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\0",
    b"\x1e",
    b"\xff\xff\xff\xff",
    b"\"",
    b"\\",
    b"\t",
    b" ",
    b"{",
    b"[",
    b"../",
    b"**/",
    b" b/",
    b" and ",
    b"/dev/null",
    b"--- a/x\n",
    b"+++ b/x\n",
    b"@@ -1 +1 @@\n",
    b"@@ -0,0 +1,4294967295 @@\n",
    b"18446744073709551615",
    b"-1",
    b"1e999",
    b"null",
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

/// Numbers that the seed decides: SplitMix64.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next one, from zero up to `bound`, which is more than zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}
