//! The law of the debug lane: whatever a program changes, a diff names it or says that it was not compared. Random programs in
//! each language build random structures of the containers their standard library has, change one random part after the other,
//! and are paused after each. `BACKSIGHT_LAW_SEEDS` makes it more programs than the few that every run has.

mod cpp;
mod go;
mod javascript;
mod kinds;
mod python;
mod rust;

use backsight_debug::capture::Capture;
use backsight_debug::diff::{Options, snapshot_diff};
use backsight_debug::report::SnapshotDiff;

use super::subject::{Subject, capture, go_on, stopped};

/// How many variables a program has, each changed once.
const VARIABLES: usize = 14;
/// How deep structures go.
const DEEPEST: u32 = 8;

/// A value of a program: its type where the language wants one, what makes it, and statements that change a part of it, with `@`
/// for the value.
#[derive(Clone)]
struct Made {
    kind: String,
    expression: String,
    changes: Vec<String>,
}

impl Made {
    fn new(kind: impl Into<String>, expression: impl Into<String>, changes: &[&str]) -> Made {
        let changes = changes.iter().map(|change| (*change).to_owned()).collect();
        Made { kind: kind.into(), expression: expression.into(), changes }
    }

    /// The same with what can be changed of a value inside it, which is reached by `access`.
    fn holding(mut self, inner: &Made, access: &str) -> Made {
        self.changes.extend(inner.changes.iter().map(|change| change.replace('@', access)));
        self
    }
}

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len())]
    }
}

/// The variables of a program, and the change that is made of each.
fn variables(dice: &mut Dice, make: fn(&mut Dice, u32) -> Made) -> Vec<(Made, String)> {
    let mut all = Vec::new();
    while all.len() < VARIABLES {
        let depth = 1 + dice.roll(DEEPEST as usize) as u32;
        let made = make(dice, depth);
        if !made.changes.is_empty() && made.expression.len() < 4_000 {
            let change = dice.of(&made.changes).replace('@', &format!("v{}", all.len()));
            all.push((made, change));
        }
    }
    all
}

/// The seeds to try: always the same few, and more on demand.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let more = std::env::var("BACKSIGHT_LAW_SEEDS").ok().and_then(|text| text.parse().ok());
    0..more.unwrap_or(few)
}

/// Runs a program whose line `S0` is before all changes and `S1` after the first.
/// The last comparison, for whoever asks more of it.
fn judge(subject: &Subject, seed: u64, changes: &[String]) -> SnapshotDiff {
    let points = (0..=changes.len()).map(|at| subject.at(&format!("S{at}"))).collect();
    let (session, outcome) = subject.launch(points);
    stopped(outcome);
    let depth = (seed % 4) as u32;
    let mut before = capture(&session, depth);
    let (mut last, mut wrong) = (None, Vec::new());
    for (at, change) in changes.iter().enumerate() {
        stopped(go_on(&session));
        let after = capture(&session, depth);
        let about = format!("seed {seed}, depth {depth}: {change}");
        let (diff, problem) = check(&before, &after, &format!("v{at}"), &about);
        wrong.extend(problem);
        last = Some(diff);
        before = after;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    last.unwrap()
}

/// What changed, and what is wrong about it.
fn check(before: &Capture, after: &Capture, name: &str, about: &str) -> (SnapshotDiff, Option<String>) {
    let options = Options { max_tokens: 100_000, ..Options::default() };
    let diff = snapshot_diff(before, after, &options);
    let told = told(&diff);
    let named = told.iter().any(|path| variable(path) == name);
    let value = before.frames[0].variables.iter().find(|one| one.name == name);
    // Of many that cannot be compared the rest is counted, and this is one of them.
    let is_unknown = value.is_some_and(|one| one.value.partial || one.value.hash.is_none());
    let counted =
        diff.not_compared.iter().any(|path| variable(path) == name) || diff.not_compared_omitted > 0 && is_unknown;
    let others: Vec<&&str> = told.iter().filter(|path| variable(path) != name).collect();
    let problem = match (named || counted, others.is_empty()) {
        (true, true) => None,
        (false, _) => Some(format!("{about} is not told: {value:?}")),
        (true, false) => Some(format!("{about}: {others:?} did not change")),
    };
    (diff, problem)
}

fn told(diff: &SnapshotDiff) -> Vec<&str> {
    diff.modified.iter().chain(&diff.added).chain(&diff.removed).map(|entry| entry.path.as_str()).collect()
}

fn variable(path: &str) -> &str {
    path.split(['.', '[', ' ']).next().unwrap_or_default()
}

/// Lines of a program: the variables, then a stop, a change, a stop, and so on.
fn body(all: &[(Made, String)], declare: impl Fn(usize, &Made) -> String, stop: impl Fn(usize) -> String) -> String {
    let mut lines: Vec<String> = all.iter().enumerate().map(|(at, (made, _))| declare(at, made)).collect();
    lines.push(stop(0));
    for (at, (_, change)) in all.iter().enumerate() {
        lines.push(change.clone());
        lines.push(stop(at + 1));
    }
    lines.join("\n")
}

fn changes_of(all: &[(Made, String)]) -> Vec<String> {
    all.iter().map(|(_, change)| change.clone()).collect()
}
