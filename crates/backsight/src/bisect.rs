//! The search for the first bad step among steps in order: which to judge next, and what the verdicts prove. Pure: what
//! judges is elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// What is looked for is not there yet.
    Good,
    /// It is there.
    Bad,
    /// It cannot be told at this step.
    Skip,
}

/// Positions in order, of which the first is good and the last is bad.
pub(crate) struct Search {
    verdicts: Vec<Option<Verdict>>,
}

/// What the verdicts prove.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The first bad position; the one before it is good.
    Found(usize),
    /// It is one of these: those before the last were skipped.
    Among(Vec<usize>),
}

impl Search {
    /// Over `count` positions, two at least.
    pub(crate) fn new(count: usize) -> Search {
        let mut verdicts = vec![None; count.max(2)];
        let last = verdicts.len() - 1;
        (verdicts[0], verdicts[last]) = (Some(Verdict::Good), Some(Verdict::Bad));
        Search { verdicts }
    }

    /// Takes note of a verdict.
    pub(crate) fn judged(&mut self, position: usize, verdict: Verdict) {
        if let Some(place) = self.verdicts.get_mut(position) {
            *place = Some(verdict);
        }
    }

    /// The positions to judge next, at most `width` and spread evenly; none when nothing more can be learned.
    pub(crate) fn next(&self, width: usize) -> Vec<usize> {
        let open: Vec<usize> = self.between().filter(|position| self.verdicts[*position].is_none()).collect();
        let width = width.clamp(1, open.len().max(1));
        let at = |part: usize| open.get(open.len() * (part + 1) / (width + 1)).copied();
        match width {
            1 => self.single(&open).into_iter().collect(),
            _ => {
                let mut chosen: Vec<usize> = (0..width).filter_map(at).collect();
                chosen.dedup();
                chosen
            }
        }
    }

    /// The middle; after steps that had to be skipped a quarter, three quarters and so on: what cannot be judged comes in
    /// runs, and the next one to the middle would most likely be skipped too.
    fn single(&self, open: &[usize]) -> Option<usize> {
        let skipped = self.between().filter(|position| self.verdicts[*position] == Some(Verdict::Skip)).count();
        let (numerator, denominator) = spread(skipped + 1);
        open.get((open.len() * numerator / denominator).min(open.len().checked_sub(1)?)).copied()
    }

    /// What is known when there is nothing more to judge.
    pub(crate) fn outcome(&self) -> Outcome {
        let among: Vec<usize> = self.between().chain([self.first_bad()]).collect();
        match among.as_slice() {
            [only] => Outcome::Found(*only),
            _ => Outcome::Among(among),
        }
    }

    /// How many positions can still be the first bad one.
    pub(crate) fn remaining(&self) -> usize {
        self.first_bad() - self.last_good()
    }

    fn between(&self) -> std::ops::Range<usize> {
        self.last_good() + 1..self.first_bad()
    }

    fn first_bad(&self) -> usize {
        let found = self.verdicts.iter().position(|verdict| *verdict == Some(Verdict::Bad));
        found.unwrap_or(self.verdicts.len() - 1)
    }

    /// The last good one before the first bad one: what is good after it was mended and broken again.
    fn last_good(&self) -> usize {
        let before = &self.verdicts[..self.first_bad()];
        before.iter().rposition(|verdict| *verdict == Some(Verdict::Good)).unwrap_or(0)
    }
}

/// The fractions 1/2, 1/4, 3/4, 1/8, 5/8, ...: each is far from those before it.
fn spread(number: usize) -> (usize, usize) {
    let (mut rest, mut numerator, mut denominator) = (number, 0, 1);
    while rest > 0 {
        (numerator, denominator) = (numerator * 2 + rest % 2, denominator * 2);
        rest /= 2;
    }
    (numerator, denominator)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Searches `count` positions of which those from `first_bad` on are bad; the outcome and how often it judged.
    fn search(count: usize, first_bad: usize, skipped: &[usize], width: usize) -> (Outcome, usize) {
        let mut search = Search::new(count);
        let mut rounds = 0;
        loop {
            let next = search.next(width);
            if next.is_empty() {
                return (search.outcome(), rounds);
            }
            rounds += 1;
            assert!(rounds <= count, "it ends");
            for position in next {
                let verdict = match position {
                    position if skipped.contains(&position) => Verdict::Skip,
                    position if position >= first_bad => Verdict::Bad,
                    _ => Verdict::Good,
                };
                search.judged(position, verdict);
            }
        }
    }

    #[test]
    fn a_thousand_steps_take_ten_runs() {
        let (outcome, runs) = search(1001, 700, &[], 1);
        assert_eq!(outcome, Outcome::Found(700));
        assert!(runs <= 10, "{runs}");
        let (outcome, rounds) = search(1001, 700, &[], 3);
        assert_eq!(outcome, Outcome::Found(700));
        assert!(rounds <= 5, "{rounds}");
    }

    #[test]
    fn many_that_cannot_be_judged_in_a_row_cost_few_runs() {
        let skipped: Vec<usize> = (400..600).collect();
        let (outcome, runs) = search(1001, 800, &skipped, 1);
        assert_eq!(outcome, Outcome::Found(800));
        assert!(runs <= 16, "{runs}");
    }

    #[test]
    fn what_was_skipped_beside_the_first_bad_one_is_named() {
        assert_eq!(search(10, 5, &[4, 5], 1).0, Outcome::Among(vec![4, 5, 6]));
        assert_eq!(search(2, 1, &[], 1), (Outcome::Found(1), 0));
    }

    proptest! {
        #[test]
        fn the_first_bad_one_is_found_or_among_those_named(
            count in 2usize..200,
            place in any::<prop::sample::Index>(),
            skipped in prop::collection::vec(1usize..200, 0..20),
            width in 1usize..5,
        ) {
            let first_bad = 1 + place.index(count - 1);
            let skipped: Vec<usize> = skipped.into_iter().filter(|position| *position < count - 1).collect();
            match search(count, first_bad, &skipped, width).0 {
                Outcome::Found(found) => prop_assert_eq!(found, first_bad),
                Outcome::Among(among) => {
                    prop_assert!(among.contains(&first_bad));
                    let (_, before) = among.split_last().expect("the first known to be bad is in it");
                    prop_assert!(before.iter().all(|position| skipped.contains(position)));
                }
            }
        }
    }
}
