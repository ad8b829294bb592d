//! The answer across lanes against what the lanes say when each is asked alone: whatever the order of events, it is all of
//! that, in the order of the timeline, nothing twice and nothing lost; for two clients that look at different moments. The
//! events come as they do in use: pages and processes report, tools record and have open calls, the user writes to disk, and a
//! debugger stops, captures and ends.

use std::collections::{BTreeMap, BTreeSet};

use backsight::browser::event::{Console, Event, Level, Request, Socket, SocketEvent, Speaker};
use backsight::browser::report::Changes;
use backsight::browser::{Ask, Ingest};
use backsight::debug::session::{Launch, Outcome};
use backsight::debug::walk::CapturePlan;
use backsight::report::{AllChanges, FilesChanges, Kind, Origin, Row, Strategy};
use backsight::request::{Begin, Finish, Log, Order, Track, Unknown};
use backsight::{Disk, SnapshotId, Timestamp, Workspace};

use crate::debug;
use crate::lab::settings;
use crate::scene::{Scene, by, names, path};

const FILES: [&str; 4] = ["a", "b", "c", "d"];
/// Words that no grouping takes for one another's variant.
const WORDS: [&str; 24] = [
    "apple", "river", "stone", "cloud", "train", "house", "piano", "glass", "bread", "light", "chair", "horse",
    "plant", "radio", "smoke", "table", "voice", "watch", "zebra", "angle", "beach", "crown", "dance", "eagle",
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// What stands at a path, and whether an open call may have written it.
type Standing = (Option<Vec<u8>>, bool);

/// What a client was told so far, by the lanes' own words.
#[derive(Default)]
struct Client {
    name: &'static str,
    row: u64,
    on_disk: BTreeMap<String, Standing>,
    steps: Vec<String>,
    events: Vec<String>,
    errors: Vec<String>,
}

struct Play {
    scene: Scene,
    workspace: Workspace,
    dice: Dice,
    turn: usize,
    call: Option<(SnapshotId, &'static str)>,
    is_debugged: bool,
    failing: Vec<&'static str>,
    words: Vec<&'static str>,
    said: Vec<String>,
}

impl Play {
    fn new(seed: u64) -> Play {
        let scene = Scene::of(&FILES);
        debug::workspace(&scene, &debug::section());
        let clock = std::sync::Arc::new(|| Timestamp::from_system(std::time::SystemTime::now()));
        let search_path = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        let config_home = Some(scene.root.with_extension("config"));
        let settings = backsight::Settings { clock, search_path, config_home, ..settings(Disk::new()) };
        let workspace = Workspace::open_with(&scene.root, settings).unwrap();
        let words = WORDS.to_vec();
        let play = Play {
            scene,
            workspace,
            dice: Dice(seed),
            turn: 0,
            call: None,
            is_debugged: false,
            failing: Vec::new(),
            words,
            said: Vec::new(),
        };
        play.report(Vec::new());
        play
    }

    fn file(&mut self) -> &'static str {
        FILES[self.dice.roll(FILES.len())]
    }

    fn report(&self, events: Vec<Event>) {
        let events = events.into_iter().map(Into::into).collect();
        let report = Ingest { source: "page http://localhost:3000".to_owned(), events, ..Ingest::default() };
        self.workspace.browser().unwrap().ingest(report);
    }

    /// One thing that happens.
    fn happens(&mut self) {
        self.turn += 1;
        match self.dice.roll(9) {
            0 | 1 => self.agent_edits(),
            2 => self.user_writes(),
            3 | 4 => self.call_goes_on(),
            5 => self.page_fails(),
            6 => self.request_ends(),
            7 => self.socket_fails(),
            _ => self.debugger_moves(),
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }

    fn agent_edits(&mut self) {
        let (file, session) = (self.file(), ["ada", "bob"][self.dice.roll(2)]);
        if self.call.as_ref().is_some_and(|(_, declared)| *declared == file) {
            return;
        }
        self.scene.write(file, format!("turn {}\n", self.turn));
        let origin = Origin { session: Some(session.to_owned()), ..by("Edit", &[file]) };
        let unknown = Unknown { strategy: Some(Strategy::AutoIntegrate), force: false };
        self.workspace.track_with(&Track { origin, unknown, ..Track::default() }).unwrap();
    }

    fn user_writes(&mut self) {
        let file = self.file();
        match self.dice.roll(3) {
            0 => {
                let stored = self.workspace.get_file_at("@", &path(file)).unwrap();
                self.scene.write(file, stored);
            }
            1 => self.scene.write(&format!("new-{}", self.dice.roll(3)), format!("turn {}\n", self.turn)),
            _ => self.scene.write(file, format!("turn {} by the user\n", self.turn)),
        }
    }

    fn call_goes_on(&mut self) {
        let Some((call, file)) = self.call.take() else {
            let file = self.file();
            let begun = self.workspace.begin(&Begin { origin: by("Bash", &[file]), ..Begin::default() }).unwrap();
            self.call = Some((begun.call.id, file));
            return;
        };
        match self.dice.roll(4) {
            0 => drop(self.workspace.finish(&Finish { call: call.to_string(), ..Finish::default() }).unwrap()),
            1 => drop(self.workspace.abandon(&call.to_string()).unwrap()),
            _ => {
                self.scene.write(file, format!("turn {} by the call\n", self.turn));
                self.call = Some((call, file));
            }
        }
    }

    fn page_fails(&mut self) {
        let Some(word) = self.words.pop() else { return };
        let (level, speaker) = (Level::Error, Speaker::Page);
        // Two words differ from message to message: what differs in one alone is shown together.
        let message = format!("Error: the {word} at {} is wrong", word.to_uppercase());
        let (time, stack, page) = (self.workspace.now(), Vec::new(), Some("http://localhost:3000/".to_owned()));
        self.said.push(message.clone());
        self.report(vec![Event::Console(Console {
            time,
            level,
            speaker,
            message,
            stack,
            causes: Vec::new(),
            page,
            backfilled: false,
        })]);
    }

    fn request_ends(&mut self) {
        let mends = !self.failing.is_empty() && self.dice.roll(2) == 0;
        let word = match mends {
            true => self.failing.pop().unwrap(),
            false => match self.words.pop() {
                Some(word) => word,
                None => return,
            },
        };
        let mut request = Request::new(self.workspace.now(), "GET", &format!("http://localhost:3000/api/{word}"));
        (request.status, request.page) = (if mends { 200 } else { 500 }, Some("http://localhost:3000/".to_owned()));
        if !mends {
            self.failing.push(word);
        }
        self.report(vec![Event::Network(request)]);
    }

    fn socket_fails(&mut self) {
        let Some(word) = self.words.pop() else { return };
        let event = SocketEvent::Error { message: format!("the {word} refused") };
        let (id, url) = (word.to_owned(), format!("ws://localhost:3000/{word}"));
        let time = self.workspace.now();
        self.report(vec![Event::Websocket(Socket { time, id, url, event, tool: None, page: None, backfilled: false })]);
    }

    fn debugger_moves(&mut self) {
        if !self.is_debugged {
            let launch = Launch { program: "shop.toy".into(), wait: debug::LIMIT, ..Launch::default() };
            let moved = self.workspace.debug_launch(None, launch).unwrap();
            assert!(matches!(moved.outcome, Outcome::Stopped(_)));
            self.is_debugged = true;
            return;
        }
        let debugger = self.workspace.debugger().unwrap();
        match self.dice.roll(3) {
            0 => {
                debugger.disconnect(None, None).unwrap();
                self.is_debugged = false;
            }
            _ => drop(debugger.create_snapshot(None, None, CapturePlan::default()).unwrap()),
        }
    }

    /// A client looks; what it is told must be what each lane says when it is asked alone.
    fn looks(&mut self, client: &mut Client) {
        let peek = self.dice.roll(4) == 0;
        let ask = Ask { peek, ..Ask::default() };
        self.workspace.note_lanes().unwrap();
        let own_app = self.workspace.browser_changes(&format!("{} alone", client.name), &ask).unwrap();
        let (steps, events) = self.rows_after(client.row);
        let on_disk = self.on_disk();
        let answer = self.workspace.changes(client.name, &[], &ask).unwrap();
        assert_eq!(entries(&answer.app), entries(&own_app));
        assert_eq!((answer.app.severity, &answer.not_told), (own_app.severity, &None));
        let files = answer.files.clone().unwrap_or_default();
        self.check_files(&files, &steps, client, &on_disk);
        let debugged = answer.debug.clone().unwrap_or_default();
        let shown: Vec<String> = debugged.events.iter().map(|event| event.id.clone()).collect();
        assert_eq!((debugged.total_new, shown), newest(&events));
        self.check_order(&answer, &steps, &events);
        if !peek {
            client.row = self.workspace.newest_row().unwrap().0;
            client.on_disk = on_disk;
            client.steps.extend(steps.into_keys());
            client.events.extend(events.into_keys());
            let errors = answer.app.console.iter().flat_map(|console| &console.errors);
            client.errors.extend(errors.filter(|entry| !entry.recurring).map(|entry| entry.message.clone()));
        }
    }

    /// The steps and the debugger's rows after a row, by their ids in order, each with its time.
    fn rows_after(&self, row: u64) -> (Rows, Rows) {
        let log = Log { order: Order::OldestFirst, cursor: Some(format!("after-{row}")), limit: 0, ..Log::default() };
        let (mut steps, mut events) = (Rows::default(), Rows::default());
        for row in self.workspace.log(&log).unwrap().rows {
            match row {
                Row::Snapshot(step) => steps.add(step.sequence_number.to_string(), step.timestamp),
                Row::Event(event) if matches!(event.kind, Kind::DebuggerStop | Kind::Capture | Kind::DebugEnd) => {
                    let time = serde_json::from_value(event.details["time"].clone()).unwrap();
                    events.add(event.sequence_number.to_string(), time);
                }
                Row::Event(_) => {}
            }
        }
        (steps, events)
    }

    /// What the files lane says differs on disk.
    fn on_disk(&self) -> BTreeMap<String, Standing> {
        let found = self.workspace.detect_unknown_modifications(&[]).unwrap();
        assert!(found.unseen.is_empty());
        let standing = |name: &String| std::fs::read(self.scene.root.join(name)).ok();
        let unknown = names(&found.affected_files).into_iter().map(|name| (standing(&name), false, name));
        let pending = names(&found.pending).into_iter().map(|name| (standing(&name), true, name));
        unknown.chain(pending).map(|(bytes, is_pending, name)| (name, (bytes, is_pending))).collect()
    }

    fn check_files(&self, files: &FilesChanges, steps: &Rows, client: &Client, on_disk: &BTreeMap<String, Standing>) {
        let shown: Vec<String> = files.steps.iter().map(|step| step.id.clone()).collect();
        assert_eq!((files.total_new, shown), newest(steps));
        let fresh = |is_pending: bool| -> Vec<String> {
            let is_fresh = |(name, standing): &(&String, &Standing)| {
                standing.1 == is_pending && client.on_disk.get(*name) != Some(*standing)
            };
            on_disk.iter().filter(is_fresh).map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&files.unrecorded), fresh(false), "{files:?}");
        assert_eq!(names(&files.pending), fresh(true), "{files:?}");
        let recorded: BTreeSet<String> = steps.keys().flat_map(|step| self.touched(step)).collect();
        let back = client.on_disk.keys().filter(|name| !on_disk.contains_key(*name) && !recorded.contains(*name));
        assert_eq!(names(&files.as_recorded), back.cloned().collect::<Vec<String>>(), "{files:?}");
    }

    fn touched(&self, step: &str) -> Vec<String> {
        names(&self.workspace.show_detail(step).unwrap().affected_files)
    }

    /// Everything that is shown stands in the order once, in the order of its times.
    fn check_order(&self, answer: &AllChanges, steps: &Rows, events: &Rows) {
        assert_eq!((answer.not_in_order, answer.unexplained), (0, 0));
        let (entries, recovered) = moments(&answer.app);
        let time = |id: &String| {
            let entry = || self.workspace.browser_entry(id).unwrap();
            match steps.get(id).or(events.get(id)) {
                Some(time) => time,
                None if recovered.contains(id) => entry().last,
                None => entry().first.max(answer.app.from),
            }
        };
        let (_, steps_shown) = newest(steps);
        let (_, events_shown) = newest(events);
        let lanes = [!steps_shown.is_empty(), !events_shown.is_empty(), !entries.is_empty() || !recovered.is_empty()];
        let all: BTreeSet<String> =
            steps_shown.into_iter().chain(events_shown).chain(entries).chain(recovered.clone()).collect();
        if lanes.into_iter().filter(|has| *has).count() < 2 {
            assert!(answer.order.is_empty());
            return;
        }
        assert_eq!(answer.order.len(), all.len(), "nothing twice: {:?}", answer.order);
        assert_eq!(answer.order.iter().cloned().collect::<BTreeSet<String>>(), all);
        assert!(answer.order.is_sorted_by_key(time), "{:?}", answer.order);
    }
}

/// Rows by their ids, in order, each with its time.
#[derive(Default)]
struct Rows(Vec<(String, Timestamp)>);

impl Rows {
    fn add(&mut self, id: String, time: Timestamp) {
        self.0.push((id, time));
    }

    fn get(&self, id: &str) -> Option<Timestamp> {
        self.0.iter().find(|(known, _)| known == id).map(|(_, time)| *time)
    }

    fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(id, _)| id)
    }

    fn into_keys(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|(id, _)| id)
    }
}

/// How many there are, and the newest twelve, which are shown.
fn newest(rows: &Rows) -> (u64, Vec<String>) {
    let all: Vec<String> = rows.keys().cloned().collect();
    (all.len() as u64, all[all.len().saturating_sub(12)..].to_vec())
}

/// What an answer about the app tells, without times, which depend on when exactly it was asked.
fn entries(app: &Changes) -> Vec<String> {
    let console = app.console.iter().flat_map(|console| console.errors.iter().chain(&console.warnings));
    let console = console.map(|entry| format!("{} {} {} {}", entry.id, entry.message, entry.count, entry.recurring));
    let network = app.network.iter();
    let failed = network.clone().flat_map(|network| network.failures.iter().chain(&network.still_failing));
    let failed = failed.map(|entry| format!("{} {} {} {}", entry.id, entry.path, entry.status, entry.count));
    let mended = network.flat_map(|network| &network.recovered);
    let mended = mended.map(|entry| format!("{} {} {}", entry.id, entry.path, entry.previous_status));
    let sockets = app.websocket.iter().flat_map(|sockets| &sockets.errors);
    let sockets = sockets.map(|entry| format!("{} {} {}", entry.id, entry.url, entry.count));
    console.chain(failed).chain(mended).chain(sockets).collect()
}

/// The ids of the app's entries that have a moment: what broke, and what recovered.
fn moments(app: &Changes) -> (BTreeSet<String>, BTreeSet<String>) {
    let console = app.console.iter().flat_map(|console| console.errors.iter().chain(&console.warnings));
    let failed = app.network.iter().flat_map(|network| network.failures.iter().chain(&network.mistyped));
    let sockets = app.websocket.iter().flat_map(|sockets| &sockets.errors);
    let broke = console.map(|entry| &entry.id).chain(failed.map(|entry| &entry.id));
    let broke = broke.chain(sockets.map(|entry| &entry.id)).cloned().collect();
    let recovered = app.network.iter().flat_map(|network| &network.recovered).map(|entry| entry.id.clone());
    (broke, recovered.collect())
}

#[test]
fn the_answer_is_the_union_of_the_lanes_own_answers_for_each_client() {
    for seed in 1..=6 {
        let mut play = Play::new(seed);
        let row = play.workspace.newest_row().unwrap().0;
        let client = |name: &'static str| Client { name, row, ..Client::default() };
        let mut clients = [client("one"), client("two")];
        for client in &mut clients {
            // From here on each has a place.
            let ask = Ask::default();
            play.workspace.changes(client.name, &[], &ask).unwrap();
            play.workspace.browser_changes(&format!("{} alone", client.name), &ask).unwrap();
        }
        for _ in 0..60 {
            play.happens();
            // The first looks often, the second seldom.
            for (client, sides) in clients.iter_mut().zip([4, 25]) {
                if play.dice.roll(sides) == 0 {
                    play.looks(client);
                }
            }
        }
        for client in &mut clients {
            // A look may leave the client's place where it is, so one is not enough.
            for _ in 0..8 {
                play.looks(client);
            }
        }
        let (steps, events) = play.rows_after(row);
        for client in &clients {
            assert_eq!(client.steps, steps.keys().cloned().collect::<Vec<String>>(), "seed {seed}");
            assert_eq!(client.events, events.keys().cloned().collect::<Vec<String>>(), "seed {seed}");
            let mut told = client.errors.clone();
            told.sort();
            let mut said = play.said.clone();
            said.sort();
            assert_eq!(told, said, "seed {seed}: each error once");
        }
    }
}
