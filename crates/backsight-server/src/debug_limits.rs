//! How much of a debugger a request may ask for, the same for agents and programs.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use backsight::debug::debugger::LONGEST_WAIT;
use backsight_core::{Code, Error, Result};

/// The longest an expression may take, in milliseconds.
const LONGEST_EVALUATION: u64 = 60_000;
/// Deeper than anybody reads.
const DEEPEST: u32 = 20;
/// More frames than are ever captured.
const MOST_CAPTURED: u32 = 200;
/// More frames at once are refused.
const MOST_FRAMES: u32 = 1_000;
/// More variables at once are refused.
const MOST_VARIABLES: u64 = 10_000;

/// How long to wait for the program: as the caller says, or as is usual.
pub fn wait(wait_ms: Option<u64>, usual: Duration) -> Result<Duration> {
    let most = u64::try_from(LONGEST_WAIT.as_millis()).unwrap_or(u64::MAX);
    match wait_ms {
        None => Ok(usual),
        Some(wait_ms) => within("wait_ms", wait_ms, 0..=most)
            .map(Duration::from_millis)
            .map_err(|error| error.with_hint("wait on with debug_state when the answer has come")),
    }
}

/// How long an expression may take.
pub fn timeout(timeout_ms: Option<u64>) -> Result<Option<u64>> {
    timeout_ms.map(|timeout| within("timeout_ms", timeout, 1..=LONGEST_EVALUATION)).transpose()
}

/// How deep values are expanded.
pub fn depth(depth: Option<u32>, usual: u32) -> Result<u32> {
    within("depth", depth.unwrap_or(usual), 0..=DEEPEST)
}

/// How many frames are captured.
pub fn captured_frames(frames: u32) -> Result<u32> {
    within("frames", frames, 1..=MOST_CAPTURED)
}

/// How many frames of a stack are told at once.
pub fn frames(count: Option<u32>, usual: u32) -> Result<u32> {
    within("count", count.unwrap_or(usual), 1..=MOST_FRAMES)
}

/// How many variables are told at once; 0 is as many as is usual.
pub fn variables(count: Option<u64>) -> Result<u64> {
    count.map_or(Ok(0), |count| within("count", count, 1..=MOST_VARIABLES))
}

fn within<N: PartialOrd + Display>(name: &str, value: N, allowed: RangeInclusive<N>) -> Result<N> {
    match allowed.contains(&value) {
        true => Ok(value),
        false => {
            let (least, most) = (allowed.start(), allowed.end());
            Err(Error::new(Code::Usage, format!("`{name}` is {value}, not a number from {least} to {most}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_bounds_is_refused_with_the_bounds() {
        assert_eq!(timeout(None).unwrap(), None);
        assert_eq!(timeout(Some(60_000)).unwrap(), Some(60_000));
        for wrong in [0, 60_001, u64::MAX] {
            let error = timeout(Some(wrong)).unwrap_err();
            assert!(error.message().ends_with("not a number from 1 to 60000"), "{error}");
        }
        assert!(wait(Some(u64::MAX), Duration::ZERO).is_err() && wait(Some(60_000), Duration::ZERO).is_ok());
        assert!(depth(Some(21), 0).is_err() && depth(None, 2).is_ok_and(|depth| depth == 2));
        assert!(captured_frames(0).is_err() && captured_frames(200).is_ok());
        assert!(frames(Some(1_001), 20).is_err() && variables(Some(10_001)).is_err() && variables(None).is_ok());
    }
}
