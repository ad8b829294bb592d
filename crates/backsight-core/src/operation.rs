//! What an operation says about itself, once for every interface: what it answers, which values it refuses, what it may do
//! and whom it may have to wait for. Interfaces add a name, words and rendering.

use std::fmt::Display;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Code, Error, Result};

/// The longest text a request may carry, in bytes: an expression, a condition, a name.
pub const LONGEST_TEXT: usize = 64 << 10;
/// The longest description of a step: what an agent did may take many words.
pub const LONGEST_DESCRIPTION: usize = 1 << 20;
/// The most entries a list in a request may have.
pub const MOST_ITEMS: usize = 1_000;

/// A request. The type is the operation: nothing else is asked with it.
pub trait Operation: Serialize + DeserializeOwned + JsonSchema {
    /// What it is answered with.
    type Answer: Serialize + JsonSchema;
    /// What it may do.
    const EFFECT: Effect;
    /// Whom it may have to wait for.
    const WAITS: Waits;

    /// Refuses values that cannot be meant, before anything is done.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// What an operation may do: the one statement from which the hints for clients, the reference and the order of writers
/// follow. Clients ask their users before what destroys or reaches out, so what runs code must never call itself less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It looks: nothing is written, and no program and no code of one runs.
    Reads,
    /// It looks and moves the caller's own mark: nothing else changes by it, so no client need ask its user, but the next
    /// answer is another one.
    ReadsOn,
    /// It adds to the record and changes no file.
    Records,
    /// It adds to the record; asking twice adds nothing more.
    RecordsOnce,
    /// It takes something away that Backsight keeps: a name, a rule, a snapshot, a breakpoint.
    Removes,
    /// It changes files.
    ChangesFiles,
    /// It writes a file that was not there.
    AddsFile,
    /// It starts a program, or lets code of one run: that may do and reach anything.
    Runs,
    /// It ends a program, or lets go of it: a paused one that is let go of runs on.
    Stops,
}

impl Effect {
    /// What one may do that does either: at least as much as both, and no harmless repetition unless both have it.
    pub fn and(self, other: Effect) -> Effect {
        use Effect::{AddsFile, ChangesFiles, ReadsOn, Records, RecordsOnce, Removes};
        match (self, other) {
            (AddsFile, Removes) | (Removes, AddsFile) => ChangesFiles,
            (ReadsOn, RecordsOnce) | (RecordsOnce, ReadsOn) => Records,
            (one, other) => {
                if one.weight() < other.weight() {
                    other
                } else {
                    one
                }
            }
        }
    }

    fn weight(self) -> u8 {
        match self {
            Effect::Reads => 0,
            Effect::ReadsOn => 1,
            Effect::RecordsOnce => 2,
            Effect::Records => 3,
            Effect::Removes => 4,
            Effect::AddsFile => 5,
            Effect::ChangesFiles => 6,
            Effect::Stops => 7,
            Effect::Runs => 8,
        }
    }

    /// Whether it only looks.
    pub fn reads_only(self) -> bool {
        matches!(self, Effect::Reads | Effect::ReadsOn)
    }

    /// Whether programs or code of one may run.
    pub fn runs_programs(self) -> bool {
        matches!(self, Effect::Runs | Effect::Stops)
    }

    /// Whether files of the workspace may be written.
    pub fn writes_files(self) -> bool {
        matches!(self, Effect::ChangesFiles | Effect::AddsFile) || self.runs_programs()
    }

    /// Whether something beyond the workspace may be reached.
    pub fn reaches_out(self) -> bool {
        self.runs_programs()
    }

    /// Whether something may be lost, changed or ended by it.
    pub fn destroys(self) -> bool {
        matches!(self, Effect::Removes | Effect::ChangesFiles | Effect::Runs | Effect::Stops)
    }

    /// Whether asking twice does no more than asking once.
    pub fn repeats_harmlessly(self) -> bool {
        matches!(self, Effect::Reads | Effect::RecordsOnce)
    }
}

/// Whom an operation may have to wait for, which decides on which threads a server runs it: what waits for a browser or a
/// debugger must not keep a thread that file operations need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nobody but the disk; what writes takes its turn among those that write.
    ForDisk,
    /// A browser.
    ForBrowser,
    /// A debugger and its program.
    ForDebugger,
    /// The end of a program: it gets through when everything else waits for that program.
    ForEnd,
}

/// A number that is within its limits.
pub fn within<N: PartialOrd + Display>(name: &str, value: N, allowed: RangeInclusive<N>) -> Result<N> {
    match allowed.contains(&value) {
        true => Ok(value),
        false => {
            let (least, most) = (allowed.start(), allowed.end());
            Err(Error::new(Code::Usage, format!("`{name}` is {value}, not a number from {least} to {most}")))
        }
    }
}

/// A text that is no longer than a request may carry.
pub fn short_enough(name: &str, text: &str) -> Result<()> {
    no_longer(name, text, LONGEST_TEXT)
}

/// A description that is no longer than one may be.
pub fn describable(name: &str, text: &str) -> Result<()> {
    no_longer(name, text, LONGEST_DESCRIPTION)
}

fn no_longer(name: &str, text: &str, most: usize) -> Result<()> {
    match text.len() <= most {
        true => Ok(()),
        false => {
            let message = format!("`{name}` has {} bytes, and at most {most} are taken", text.len());
            Err(Error::new(Code::Usage, message))
        }
    }
}

/// A list of texts that is no longer than a request may carry, nor any of the texts.
pub fn few_enough<T: AsRef<str>>(name: &str, texts: &[T]) -> Result<()> {
    countable(name, texts.len())?;
    texts.iter().try_for_each(|text| short_enough(name, text.as_ref()))
}

/// A list that has no more entries than a request may carry.
pub fn countable(name: &str, count: usize) -> Result<()> {
    match count {
        0..=MOST_ITEMS => Ok(()),
        many => {
            Err(Error::new(Code::Usage, format!("`{name}` has {many} entries, and at most {MOST_ITEMS} are taken")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_effects_together_never_call_themselves_less_than_one() {
        use Effect::*;
        let all = [Reads, ReadsOn, Records, RecordsOnce, Removes, ChangesFiles, AddsFile, Runs, Stops];
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (*one, *other))) {
            let both = one.and(other);
            assert_eq!(both, other.and(one), "{one:?} {other:?}");
            for effect in [one, other] {
                assert!(effect.reads_only() || !both.reads_only(), "{one:?} {other:?}");
                assert!(!effect.destroys() || both.destroys(), "{one:?} {other:?}");
                assert!(!effect.writes_files() || both.writes_files(), "{one:?} {other:?}");
                assert!(!effect.runs_programs() || both.runs_programs(), "{one:?} {other:?}");
                assert!(effect.repeats_harmlessly() || !both.repeats_harmlessly(), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_with_the_bounds() {
        assert_eq!(within("depth", 20, 0..=20).unwrap(), 20);
        let error = within("timeout_ms", 60_001_u64, 1..=60_000).unwrap_err();
        assert_eq!(error.message(), "`timeout_ms` is 60001, not a number from 1 to 60000");
        assert!(short_enough("expression", &"x".repeat(LONGEST_TEXT)).is_ok());
        assert_eq!(short_enough("expression", &"x".repeat(LONGEST_TEXT + 1)).unwrap_err().code(), Code::Usage);
        assert!(few_enough("watch", &vec!["x"; MOST_ITEMS]).is_ok());
        assert!(few_enough("watch", &vec!["x"; MOST_ITEMS + 1]).is_err());
        assert!(few_enough("watch", &["x".repeat(LONGEST_TEXT + 1)]).is_err());
    }
}
