//! Several sessions and a user at work in one workspace, in any order, on files of their own and on one they share:
//! reverts and unreverts of one session never change a byte of anybody else's, and a model knows every file.

use std::collections::BTreeMap;

use backsight::report::Phase;
use backsight::request::{NewSession, RevertSession, SessionDiff, SessionTrack, Unrevert};
use backsight::{Code, Error};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::lab::{damage, open};
use crate::scene::{Scene, paths};

const SESSIONS: usize = 3;
/// The user comes after the sessions.
const USER: usize = SESSIONS;
/// How many files of its own each has, and how many lines of the shared one.
const FILES: usize = 2;
const LINES: usize = 2;

/// A place that only one actor writes: a file, or a line of the shared file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    File(usize),
    Line(usize),
}

#[derive(Clone, Debug)]
enum Act {
    /// A turn: before, some writes, after. `part` continues the message before it.
    Turn {
        session: usize,
        part: bool,
        keys: Vec<(Key, bool)>,
        at_once: bool,
    },
    /// Two sessions at work at once, each on files it declares.
    Together {
        sessions: [usize; 2],
        swapped: bool,
    },
    User {
        key: Key,
        remove: bool,
        tracked: bool,
    },
    Revert {
        session: usize,
        to: usize,
    },
    Unrevert {
        session: usize,
    },
    Reopen,
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![(0..FILES).prop_map(Key::File), (0..LINES).prop_map(Key::Line)]
}

/// One of them does most of the work, so that much happens to it.
fn session() -> impl Strategy<Value = usize> {
    prop_oneof![3 => Just(0), 2 => 1..SESSIONS]
}

fn act() -> impl Strategy<Value = Act> {
    let keys = prop::collection::vec((key(), prop::bool::weighted(0.2)), 0..4);
    prop_oneof![
        8 => (session(), any::<bool>(), keys, prop::bool::weighted(0.2)).prop_map(|(session, part, keys, at_once)| {
            Act::Turn { session, part, keys, at_once }
        }),
        1 => (0..SESSIONS, 1..SESSIONS, any::<bool>()).prop_map(|(one, further, swapped)| Act::Together {
            sessions: [one, (one + further) % SESSIONS],
            swapped,
        }),
        3 => (key(), prop::bool::weighted(0.2), any::<bool>())
            .prop_map(|(key, remove, tracked)| Act::User { key, remove, tracked }),
        8 => (session(), 0..8usize).prop_map(|(session, to)| Act::Revert { session, to }),
        2 => session().prop_map(|session| Act::Unrevert { session }),
        1 => Just(Act::Reopen),
    ]
}

/// What a step wrote; nothing means removed.
type Writes = BTreeMap<Key, Option<String>>;

/// What the model knows of a session.
#[derive(Default)]
struct Told {
    /// `m1`, or `m1/p1`: in the order of the conversation, and whether the session was reverted when it was first seen.
    entries: Vec<(String, bool)>,
    steps: Vec<Told1>,
    is_reverted: bool,
}

struct Told1 {
    entry: usize,
    writes: Writes,
    is_hidden: bool,
    is_gone: bool,
}

impl Told {
    fn now(&self) -> Writes {
        let effective = self.steps.iter().filter(|step| !step.is_hidden && !step.is_gone);
        effective.fold(Writes::new(), |mut all, step| {
            all.extend(step.writes.clone());
            all
        })
    }

    fn add(&mut self, writes: Writes) {
        if writes.is_empty() {
            return;
        }
        // A new step closes the way back: what is reverted stays so.
        for step in &mut self.steps {
            step.is_gone |= step.is_hidden;
        }
        self.is_reverted = false;
        self.entries.iter_mut().for_each(|(_, after)| *after = false);
        self.steps.push(Told1 { entry: self.entries.len() - 1, writes, is_hidden: false, is_gone: false });
    }

    fn revert(&mut self, entry: usize) {
        if self.is_reverted && self.entries[entry].1 {
            return;
        }
        self.is_reverted = true;
        for step in &mut self.steps {
            step.is_hidden = step.entry >= entry;
        }
    }

    fn unrevert(&mut self) {
        self.steps.iter_mut().for_each(|step| step.is_hidden = false);
        self.is_reverted = false;
        self.entries.iter_mut().for_each(|(_, after)| *after = false);
    }
}

struct Play {
    scene: Scene,
    told: Vec<Told>,
    user: Writes,
    written: usize,
}

fn file(actor: usize, number: usize) -> String {
    format!("{}/{number}.txt", if actor == USER { "user".to_owned() } else { format!("s{actor}") })
}

/// Lines of different actors are far enough from each other to be merged.
fn line(actor: usize, number: usize) -> usize {
    (number * (SESSIONS + 1) + actor) * 4 + 2
}

impl Play {
    fn new() -> Play {
        let scene = Scene::empty();
        let play =
            Play { scene, told: (0..SESSIONS).map(|_| Told::default()).collect(), user: Writes::new(), written: 0 };
        play.scene.write("shared.txt", play.shared());
        for session in 0..SESSIONS {
            let new = NewSession { id: Some(format!("s{session}")), title: None };
            play.scene.workspace.start_session(&new).unwrap();
        }
        play
    }

    fn writes_of(&self, actor: usize) -> Writes {
        if actor == USER { self.user.clone() } else { self.told[actor].now() }
    }

    /// The shared file as the model has it.
    fn shared(&self) -> String {
        let length = line(USER, LINES - 1) + 3;
        let mut lines: Vec<String> = (0..length).map(|number| format!("line {number}")).collect();
        for actor in 0..=USER {
            for (key, text) in self.writes_of(actor) {
                if let Key::Line(number) = key {
                    lines[line(actor, number)] = text.unwrap();
                }
            }
        }
        lines.join("\n") + "\n"
    }

    /// Something new to write at a key; removing what is not there is writing it.
    fn new_text(&mut self, actor: usize, key: Key, remove: bool) -> Option<String> {
        self.written += 1;
        let is_there = self.writes_of(actor).get(&key).is_some_and(Option::is_some);
        let removes = remove && is_there && matches!(key, Key::File(_));
        (!removes).then(|| format!("{} by {actor}", self.written))
    }

    /// Puts on disk what the model has.
    fn write(&self, actor: usize, keys: &[Key]) {
        for key in keys {
            match (key, self.writes_of(actor).get(key).cloned().flatten()) {
                (Key::Line(_), _) => self.scene.write("shared.txt", self.shared()),
                (Key::File(number), Some(text)) => self.scene.write(&file(actor, *number), text + "\n"),
                (Key::File(number), None) => self.scene.remove(&file(actor, *number)),
            }
        }
    }

    /// Every file is what the model says.
    fn check(&self) -> Result<(), String> {
        for actor in 0..=USER {
            let writes = self.writes_of(actor);
            for number in 0..FILES {
                let expected = writes.get(&Key::File(number)).cloned().flatten().unwrap_or_else(|| "-".to_owned());
                let found = self.scene.text(&file(actor, number));
                if found != expected {
                    return Err(format!("{} holds `{found}`, not `{expected}`", file(actor, number)));
                }
            }
        }
        let found = std::fs::read_to_string(self.scene.root.join("shared.txt")).unwrap();
        if found != self.shared() {
            return Err(format!("shared.txt is\n{found}and should be\n{}", self.shared()));
        }
        (0..SESSIONS).try_for_each(|session| self.check_session(session))
    }

    /// A session's diff is its own work and nothing else, and it knows whether it is reverted.
    fn check_session(&self, session: usize) -> Result<(), String> {
        let id = format!("s{session}");
        let diff = self.scene.workspace.session_diff(&SessionDiff::new(&id)).map_err(|error| error.to_string())?;
        let writes = self.told[session].now();
        let lines = writes.keys().filter(|key| matches!(key, Key::Line(_))).count() as u64;
        let mut expected: Vec<String> = Vec::new();
        for number in 0..FILES {
            if let Some(Some(text)) = writes.get(&Key::File(number)) {
                expected.push(format!("{}: {text}", file(session, number)));
            }
        }
        expected.extend((lines > 0).then(|| format!("shared.txt: {lines}")));
        // A directory that a session made stays when the files in it go.
        let files = diff.diffs.iter().filter(|diff| diff.file.to_string().ends_with(".txt"));
        let found = files.map(|diff| match diff.file.to_string() {
            shared if shared == "shared.txt" => format!("{shared}: {}", diff.additions),
            file => format!("{file}: {}", diff.after.trim_end()),
        });
        let mut found: Vec<String> = found.collect();
        found.sort();
        expected.sort();
        if found != expected || !diff.mixed.is_empty() {
            return Err(format!("the diff of {id} is {found:?} {:?}, not {expected:?}", diff.mixed));
        }
        let detail = self.scene.workspace.session(&id).map_err(|error| error.to_string())?;
        let told = &self.told[session];
        let known: usize = detail.messages.iter().map(|message| message.parts.len().max(1)).sum();
        if detail.unrevert.possible != told.is_reverted || known != told.entries.len() {
            return Err(format!("{id} is told as {detail:?}"));
        }
        Ok(())
    }

    fn track(&self, session: usize, phase: Phase, declared: &[&str]) -> Result<(), Error> {
        let (entry, _) = self.told[session].entries.last().unwrap();
        let (message, part) = entry.split_once('/').map_or((entry.as_str(), None), |(m, p)| (m, Some(p.to_owned())));
        let request = SessionTrack {
            session: format!("s{session}"),
            message: Some(message.to_owned()),
            part,
            phase,
            declared: paths(declared),
            ..SessionTrack::default()
        };
        self.scene.workspace.track_session(&request).map(drop)
    }

    /// A new message, or a new part of the latest one.
    fn enter(&mut self, session: usize, part: bool) {
        let told = &mut self.told[session];
        let latest = told.entries.last().map(|(entry, _)| entry.clone());
        let number = told.entries.len();
        let entry = match latest.as_deref().and_then(|latest| latest.split_once('/')) {
            Some((message, _)) if part => format!("{message}/p{number}"),
            _ => format!("m{number}/p{number}"),
        };
        told.entries.push((entry, told.is_reverted));
    }

    fn act(&mut self, act: &Act) -> Result<(), String> {
        let words = |error: Error| format!("{} {error} {}", error.code(), error.details());
        match act {
            Act::Turn { session, part, keys, at_once } => {
                // At once everything that nobody recorded is the turn's: the user's must be recorded first.
                if *at_once {
                    self.scene.workspace.track().map_err(words)?;
                }
                self.enter(*session, *part);
                if !at_once {
                    self.track(*session, Phase::Before, &[]).map_err(words)?;
                }
                let keys: BTreeMap<Key, bool> = keys.iter().copied().collect();
                let writes: Writes =
                    keys.iter().map(|(key, remove)| (*key, self.new_text(*session, *key, *remove))).collect();
                let keys: Vec<Key> = writes.keys().copied().collect();
                self.told[*session].add(writes);
                self.write(*session, &keys);
                let phase = if *at_once { Phase::None } else { Phase::After };
                self.track(*session, phase, &[]).map_err(words)?;
            }
            Act::Together { sessions: [one, other], swapped } => {
                for session in [*one, *other] {
                    self.enter(session, false);
                    self.track(session, Phase::Before, &[&file(session, 0)]).map_err(words)?;
                }
                for session in [*one, *other] {
                    let text = self.new_text(session, Key::File(0), false);
                    self.told[session].add(Writes::from([(Key::File(0), text)]));
                    self.write(session, &[Key::File(0)]);
                }
                for session in if *swapped { [*other, *one] } else { [*one, *other] } {
                    self.track(session, Phase::After, &[]).map_err(words)?;
                }
            }
            Act::User { key, remove, tracked } => {
                let text = self.new_text(USER, *key, *remove);
                self.user.insert(*key, text);
                self.write(USER, &[*key]);
                if *tracked {
                    self.scene.workspace.track().map_err(words)?;
                }
            }
            Act::Revert { session, to } => {
                let told = &mut self.told[*session];
                if told.entries.is_empty() {
                    return Ok(());
                }
                // From a part on, or from the message on, which begins with its first part.
                let at = to % told.entries.len();
                let (message, part) = told.entries[at].0.split_once('/').unwrap();
                let whole = to % 2 == 0;
                let begins = |(entry, _): &(String, bool)| entry.split_once('/').unwrap().0 == message;
                let from = if whole { told.entries.iter().position(begins).unwrap() } else { at };
                let request = RevertSession {
                    session: format!("s{session}"),
                    message: message.to_owned(),
                    part: (!whole).then(|| part.to_owned()),
                    ..RevertSession::default()
                };
                told.revert(from);
                self.scene.workspace.revert_session(&request).map_err(words)?;
            }
            Act::Unrevert { session } => {
                let request = Unrevert { session: format!("s{session}"), ..Unrevert::default() };
                let outcome = self.scene.workspace.unrevert_session(&request);
                match (outcome, self.told[*session].is_reverted) {
                    (Ok(_), true) => self.told[*session].unrevert(),
                    (Err(error), false) if error.code() == Code::NothingToUnrevert => {}
                    (outcome, is_reverted) => return Err(format!("reverted: {is_reverted}, and yet {outcome:?}")),
                }
            }
            Act::Reopen => self.scene.workspace = open(&self.scene.root),
        }
        self.check()
    }
}

#[test]
fn reverting_a_session_is_exact_and_touches_nobody_else_in_any_order_of_events() {
    // `CASES=1000 SEED=7` looks further.
    let number = |name: &str, usual: u32| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let config =
        Config { cases: number("CASES", 40), failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[number("SEED", 3) as u8; 32]);
    let acts = prop::collection::vec(act(), 6..30);
    let outcome = TestRunner::new_with_rng(config, rng).run(&acts, |acts| {
        let mut play = Play::new();
        for (number, act) in acts.iter().enumerate() {
            let happened = play.act(act);
            prop_assert!(
                happened.is_ok(),
                "at {number}, {act:?}: {}\n{}",
                happened.unwrap_err(),
                play.scene.story().join("\n")
            );
        }
        prop_assert_eq!(damage(&play.scene.workspace), "");
        prop_assert!(play.scene.check_chain().is_ok());
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
