//! Where a debugged program is, and how often that changed. Everything an adapter numbers (frames, variables) is only good
//! until the program moves, and adapters answer questions about old numbers with wrong or empty data: hence the epoch, which
//! changes whenever something may have moved. No adapter is asked here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::raised::{Exception, Learned};

/// Where the program is.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum State {
    /// Being started.
    Starting,
    /// Running.
    Running,
    /// Paused.
    Stopped(Stop),
    /// Over.
    Exited {
        /// With this code, where the debugger tells.
        code: Option<i64>,
    },
    /// No longer ours: detached, or the debugger is gone.
    Disconnected {
        /// Why.
        reason: String,
    },
}

/// Why and where a program paused.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Stop {
    /// `breakpoint`, `step`, `exception`, `pause`, `entry`, or in the debugger's own words.
    pub reason: String,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The thread it happened in.
    pub thread_id: Option<i64>,
    /// Whether the other threads are paused too.
    pub all_threads: bool,
    /// The debugger's numbers of the breakpoints that were hit.
    #[serde(skip)]
    pub(crate) hits: Vec<i64>,
    /// Which of ours these were when it paused; debuggers number them anew when others are set.
    #[serde(skip)]
    pub(crate) known_hits: Vec<String>,
    /// What was raised, and what led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<Box<Exception>>,
    /// Why the condition of the breakpoint could not be evaluated: the program pauses there although it may not be true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Of an exception, all that can be said is in the description.
    #[serde(skip)]
    pub(crate) is_described: bool,
    /// Everything that can be found out about it is here.
    #[serde(skip)]
    pub(crate) is_learned: bool,
}

impl Stop {
    pub(crate) fn learn(&mut self, learned: Learned) {
        let Learned { description, exception, problem } = learned;
        self.description = description.or(self.description.take());
        (self.exception, self.problem) = (exception, problem.or(self.problem.take()));
        self.is_learned = true;
    }
}

/// A state and the epoch it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub epoch: u64,
    pub state: State,
    /// Whether stops are looked at before anybody hears of them.
    visits: bool,
    /// The present stop is being looked at: for everybody else the program runs.
    visiting: bool,
}

/// Something that changes where a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Everything is set up.
    Started,
    /// We are about to tell it to go on.
    Resuming,
    /// It was told to go on and did not: it is where it was.
    Refused(Stop),
    Stopped {
        stop: Stop,
        /// Another thread stays the one that is looked at.
        aside: bool,
    },
    Continued {
        thread: Option<i64>,
        all: bool,
    },
    /// The stop that was being looked at is everybody's.
    Shown,
    Exited(Option<i64>),
    Lost(String),
}

impl Moment {
    pub(crate) fn new() -> Self {
        Moment { epoch: 0, state: State::Starting, visits: false, visiting: false }
    }

    /// From the next stop on, stops are looked at before anybody hears of them.
    pub(crate) fn visit_stops(&mut self) {
        self.visits = true;
    }

    /// Whether the present stop is being looked at and nobody has heard of it.
    pub(crate) fn is_visiting(&self) -> bool {
        self.visiting
    }

    /// Where the program is as far as anybody has heard.
    pub(crate) fn seen(&self) -> State {
        if self.visiting { State::Running } else { self.state.clone() }
    }

    /// Whether nothing can come any more.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, State::Exited { .. } | State::Disconnected { .. })
    }

    /// Keeps what was found out about a stop with it, where that is still the present one: it is asked for once.
    pub(crate) fn learn(&mut self, epoch: u64, thread: Option<i64>, learned: Learned) {
        match &mut self.state {
            State::Stopped(stop) if self.epoch == epoch && stop.thread_id == thread => stop.learn(learned),
            _ => {}
        }
    }

    /// Takes note of a change; false: it changes nothing.
    pub(crate) fn change(&mut self, change: Change) -> bool {
        let was_seen = matches!(self.state, State::Stopped(_)) && !self.visiting;
        let is_stop = matches!(change, Change::Stopped { .. });
        let is_shown = change == Change::Shown;
        let Some(state) = self.after(change) else { return false };
        self.epoch += 1;
        let is_stopped = matches!(state, State::Stopped(_));
        self.visiting = is_stopped && !is_shown && (self.visiting || (is_stop && self.visits && !was_seen));
        self.state = state;
        true
    }

    fn after(&self, change: Change) -> Option<State> {
        match (&self.state, change) {
            // A program ends once, and its code may become known a moment later.
            (State::Exited { code: None }, Change::Exited(Some(code))) => Some(State::Exited { code: Some(code) }),
            (State::Exited { .. } | State::Disconnected { .. }, _) => None,
            (State::Stopped(now), Change::Shown) if self.visiting => Some(State::Stopped(now.clone())),
            (_, Change::Shown) => None,
            (_, Change::Exited(code)) => Some(State::Exited { code }),
            (_, Change::Lost(reason)) => Some(State::Disconnected { reason }),
            (State::Starting, Change::Started) => Some(State::Running),
            (_, Change::Started) => None,
            (State::Stopped(_), Change::Resuming) => Some(State::Running),
            (_, Change::Resuming) => None,
            (State::Running, Change::Refused(stop)) => Some(State::Stopped(stop)),
            (_, Change::Refused(_)) => None,
            // Several threads of one stop are told one by one; nothing moved between.
            (State::Stopped(now), Change::Stopped { aside: true, .. }) if now.all_threads => None,
            (State::Stopped(now), Change::Stopped { aside: true, .. }) => Some(State::Stopped(now.clone())),
            (_, Change::Stopped { stop, .. }) => Some(State::Stopped(stop)),
            (State::Stopped(now), Change::Continued { thread, all: false })
                if thread.is_some() && thread != now.thread_id =>
            {
                Some(State::Stopped(Stop { all_threads: false, ..now.clone() }))
            }
            (State::Stopped(_) | State::Starting, Change::Continued { .. }) => Some(State::Running),
            // What we did ourselves.
            (State::Running, Change::Continued { .. }) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stop(thread: i64) -> Stop {
        Stop { reason: "step".to_owned(), thread_id: Some(thread), all_threads: true, ..Stop::default() }
    }

    fn stopped(thread: i64) -> Change {
        Change::Stopped { stop: stop(thread), aside: false }
    }

    fn after(changes: Vec<Change>) -> Moment {
        let mut moment = Moment::new();
        for change in changes {
            moment.change(change);
        }
        moment
    }

    #[test]
    fn a_stop_after_a_resume_has_another_epoch() {
        let mut moment = after(vec![Change::Started, stopped(1)]);
        let first = moment.epoch;
        assert!(moment.change(Change::Resuming));
        assert_eq!(moment.state, State::Running);
        // The debugger's own word about what we did comes before or after its answer.
        assert!(!moment.change(Change::Continued { thread: Some(1), all: true }));
        assert!(moment.change(stopped(1)));
        assert!(moment.epoch > first + 1);
    }

    #[test]
    fn a_program_that_goes_on_by_itself_is_noticed() {
        let moment = after(vec![Change::Started, stopped(1), Change::Continued { thread: Some(1), all: true }]);
        assert_eq!(moment.state, State::Running);
        let mut moment = after(vec![Change::Started, stopped(1)]);
        let epoch = moment.epoch;
        assert!(moment.change(Change::Continued { thread: Some(2), all: false }));
        assert!(matches!(&moment.state, State::Stopped(stop) if !stop.all_threads));
        assert!(moment.epoch > epoch, "another thread may change what this one sees");
    }

    #[test]
    fn what_was_said_of_an_exception_stays_with_its_stop_and_with_no_other() {
        let mut moment = Moment::new();
        moment.visit_stops();
        assert!(moment.change(Change::Started) && moment.change(stopped(1)));
        let epoch = moment.epoch;
        let learned = |text: &str| Learned { description: Some(text.to_owned()), ..Learned::default() };
        let said = |moment: &Moment| match &moment.state {
            State::Stopped(stop) => (stop.description.clone(), stop.is_learned),
            _ => (None, false),
        };
        for (epoch, thread) in [(epoch - 1, 1), (epoch, 2)] {
            moment.learn(epoch, Some(thread), learned("another"));
            assert_eq!(said(&moment), (None, false));
        }
        moment.learn(epoch, Some(1), learned("ValueError: no"));
        assert!(moment.change(Change::Shown));
        assert_eq!(said(&moment), (Some("ValueError: no".to_owned()), true));
        assert!(moment.change(Change::Resuming) && moment.change(stopped(1)));
        assert_eq!(said(&moment), (None, false));
    }

    #[test]
    fn the_other_threads_of_one_stop_change_nothing() {
        let mut moment = after(vec![Change::Started, stopped(1)]);
        assert!(!moment.change(Change::Stopped { stop: stop(2), aside: true }));
        assert!(matches!(&moment.state, State::Stopped(stop) if stop.thread_id == Some(1)));
    }

    #[test]
    fn the_end_stays_the_end_and_its_code_may_come_later() {
        let mut moment = after(vec![Change::Started, Change::Exited(None)]);
        assert!(!moment.change(stopped(1)) && !moment.change(Change::Lost("closed".to_owned())));
        assert!(moment.change(Change::Exited(Some(3))));
        assert!(!moment.change(Change::Exited(Some(4))));
        assert_eq!(moment.state, State::Exited { code: Some(3) });
    }

    #[test]
    fn a_refused_resume_leaves_the_program_where_it_was() {
        let mut moment = after(vec![Change::Started, stopped(1), Change::Resuming]);
        assert!(moment.change(Change::Refused(stop(1))));
        assert_eq!(moment.state, State::Stopped(stop(1)));
        // It stopped by itself in the meantime.
        assert!(!moment.change(Change::Refused(stop(7))));
    }

    #[test]
    fn a_stop_that_is_looked_at_is_nobodys_until_it_is_shown() {
        let mut moment = Moment::new();
        moment.visit_stops();
        assert!(moment.change(Change::Started) && moment.change(stopped(1)));
        assert!(moment.is_visiting() && moment.seen() == State::Running);
        assert!(moment.change(Change::Shown));
        assert_eq!(moment.seen(), State::Stopped(stop(1)));
        assert!(!moment.change(Change::Shown), "once");
        // Another thread reports its stop: what everybody knows is not taken back.
        assert!(moment.change(stopped(2)) && !moment.is_visiting());
        assert!(moment.change(Change::Resuming) && moment.change(stopped(1)) && moment.is_visiting());
    }

    fn any_change() -> impl Strategy<Value = Change> {
        prop_oneof![
            Just(Change::Started),
            Just(Change::Resuming),
            Just(Change::Shown),
            (0..3i64).prop_map(|thread| Change::Refused(stop(thread))),
            (0..3i64, any::<bool>()).prop_map(|(thread, aside)| Change::Stopped { stop: stop(thread), aside }),
            (prop::option::of(0..3i64), any::<bool>()).prop_map(|(thread, all)| Change::Continued { thread, all }),
            prop::option::of(0..3i64).prop_map(Change::Exited),
            Just(Change::Lost("x".to_owned())),
        ]
    }

    proptest! {
        #[test]
        fn whatever_runs_in_between_moves_the_epoch(
            changes in prop::collection::vec(any_change(), 0..30),
            visits in any::<bool>(),
        ) {
            let mut moment = Moment::new();
            if visits {
                moment.visit_stops();
            }
            let mut ran_at = None;
            for change in changes {
                let before = moment.clone();
                let changed = moment.change(change);
                prop_assert_eq!(changed, before != moment);
                prop_assert!(!changed || moment.epoch == before.epoch + 1);
                prop_assert!(!moment.is_visiting() || (visits && matches!(moment.state, State::Stopped(_))));
                if moment.state == State::Running {
                    ran_at = Some(moment.epoch);
                }
                if let (State::Stopped(_), Some(ran)) = (&moment.state, ran_at) {
                    prop_assert!(moment.epoch > ran);
                }
            }
        }
    }
}
