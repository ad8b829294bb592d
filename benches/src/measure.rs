//! Timing: a process from start to exit, sides taken in turn, medians.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// Times of the same work, in the order they were taken.
pub struct Samples(Vec<Duration>);

impl Samples {
    /// From times taken elsewhere.
    pub fn new(times: Vec<Duration>) -> Self {
        Samples(times)
    }

    /// The middle one; zero when nothing was measured.
    pub fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        match sorted.len() {
            0 => Duration::ZERO,
            count if count % 2 == 1 => sorted[count / 2],
            count => (sorted[count / 2 - 1] + sorted[count / 2]) / 2,
        }
    }

    /// The same without a part that every one of them has.
    pub fn less(&self, part: Duration) -> Samples {
        Samples(self.0.iter().map(|time| time.saturating_sub(part)).collect())
    }

    /// All of them, in milliseconds.
    pub fn milliseconds(&self) -> Vec<f64> {
        self.0.iter().map(|time| time.as_secs_f64() * 1e3).collect()
    }
}

/// One side of a comparison: does what must be done before, runs, and answers how long the run itself took.
pub type Side<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// How often.
#[derive(Clone, Copy)]
pub struct Rounds {
    /// Thrown away.
    pub warm_up: usize,
    /// Kept.
    pub timed: usize,
}

/// Runs all sides in every round, each round starting with another one, so that no side always runs in the wake of the
/// same other. `prepare` runs before each round.
pub fn interleave<const N: usize>(
    rounds: Rounds,
    mut prepare: impl FnMut() -> Result<()>,
    sides: [Side<'_>; N],
) -> Result<[Samples; N]> {
    let mut times = [const { Vec::new() }; N];
    for round in 0..rounds.warm_up + rounds.timed {
        prepare()?;
        for turn in 0..N {
            let index = (round + turn) % N;
            let elapsed = sides[index]()?;
            if round >= rounds.warm_up {
                times[index].push(elapsed);
            }
        }
    }
    Ok(times.map(Samples))
}

/// What a process printed and how long it lived.
pub struct Run {
    /// From before it was started until it was waited for.
    pub elapsed: Duration,
    /// Its standard output.
    pub stdout: Vec<u8>,
}

/// Runs to the end; a failure carries what the process said.
pub fn run(command: &mut Command) -> Result<Run> {
    run_expecting(command, 0)
}

/// Runs to the end, which must be with this exit status.
pub fn run_expecting(command: &mut Command, status: i32) -> Result<Run> {
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let elapsed = start.elapsed();
    if output.status.code() != Some(status) {
        let (said, told) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        return Err(format!("{command:?} ended with {}\n{told}{said}", output.status).into());
    }
    Ok(Run { elapsed, stdout: output.stdout })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        let samples = |millis: &[u64]| Samples::new(millis.iter().map(|&ms| Duration::from_millis(ms)).collect());
        assert_eq!(samples(&[9, 1, 5]).median(), Duration::from_millis(5));
        assert_eq!(samples(&[4, 2, 9, 1]).median(), Duration::from_millis(3));
        assert_eq!(samples(&[]).median(), Duration::ZERO);
    }

    #[test]
    fn sides_take_turns_and_the_warm_up_is_thrown_away() {
        let order = std::cell::RefCell::new(String::new());
        let mut first = || {
            order.borrow_mut().push('a');
            Ok(Duration::from_millis(1))
        };
        let mut second = || {
            order.borrow_mut().push('b');
            Ok(Duration::from_millis(2))
        };
        let rounds = Rounds { warm_up: 1, timed: 2 };
        let [a, b] = interleave(rounds, || Ok(()), [&mut first, &mut second]).unwrap();
        assert_eq!(order.borrow().as_str(), "abbaab");
        assert_eq!((a.milliseconds(), b.milliseconds()), (vec![1.0; 2], vec![2.0; 2]));
    }
}
