//! How much of a debugger a request may ask for, the same for everybody.

use std::path::Path;
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result, short_enough, within};

/// The longest a request waits for the program, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 60_000;
/// The longest an expression may take, in milliseconds.
pub const LONGEST_EVALUATION_MS: u64 = 60_000;
/// The deepest values are expanded.
pub const DEEPEST: u32 = 20;
/// The most frames that are captured of a thread.
pub const MOST_CAPTURED_FRAMES: u32 = 200;
/// The most frames of a stack in one answer.
pub const MOST_FRAMES: u32 = 1_000;
/// The most variables in one answer.
pub const MOST_VARIABLES: u64 = 10_000;
/// The most snapshots of one snapshot point.
pub const MOST_HITS: u64 = 10_000;
/// The most steps that are made until a value changes.
pub const MOST_STEPS: u32 = 100_000;
/// The most bytes of output in one answer.
pub const MOST_OUTPUT: u64 = 1 << 20;

/// How many frames of a stack an answer has when the caller does not say.
pub(super) const USUAL_FRAMES: u32 = 20;
/// How many steps are made until a value changes when the caller does not say.
pub(super) const USUAL_STEPS: u32 = 1_000;
/// How many bytes of output an answer has when the caller does not say.
pub(super) const USUAL_OUTPUT: u64 = 64 << 10;
/// How deep a step looks when the caller does not say; a capture by itself shows the variables alone.
pub(super) const USUAL_STEP_DEPTH: u32 = 2;

/// How long to wait for the program: as the caller says, or as is usual.
pub(super) fn wait(wait_ms: Option<u64>, usual: Duration) -> Result<Duration> {
    match wait_ms {
        None => Ok(usual),
        Some(wait_ms) => within("wait_ms", wait_ms, 0..=LONGEST_WAIT_MS)
            .map(Duration::from_millis)
            .map_err(|error| error.then("wait on when the answer has come", NextStep::AwaitProgram)),
    }
}

/// A path that is no longer than a text may be.
pub(super) fn path(name: &str, path: Option<&Path>) -> Result<()> {
    short_enough(name, &path.unwrap_or(Path::new("")).to_string_lossy())
}

/// A line of a file, from 1.
pub(super) fn line(line: Option<u32>) -> Result<()> {
    match line {
        Some(0) => Err(usage("`line` is 0: lines are counted from 1")),
        _ => Ok(()),
    }
}

/// A request that cannot be meant.
pub(super) fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Usage, message)
}
