//! A program in one language, where its debugger is, and what is asked of both in every test.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use backsight_core::Timestamp;
use backsight_debug::capture::{Capture, Inside, Node, Scope};
use backsight_debug::path;
use backsight_debug::session::{BreakpointRequest, Control, Launch, Outcome, Session, Setup, StopReport};
use backsight_debug::walk::CapturePlan;

/// Longer than anything here takes on a machine that is busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A program to debug.
pub struct Subject {
    /// The source, whose lines are marked.
    pub source: PathBuf,
    /// What is launched.
    pub program: PathBuf,
    pub runtime: Option<PathBuf>,
    pub rust_sysroot: Option<PathBuf>,
}

impl Subject {
    /// The program of that name among the tests' own.
    pub fn script(name: &str, runtime: Option<PathBuf>) -> Subject {
        let source = programs().join(name);
        Subject { program: source.clone(), source, runtime, rust_sysroot: None }
    }

    /// The line that is marked with a word.
    pub fn line(&self, mark: &str) -> u32 {
        let text = std::fs::read_to_string(&self.source).unwrap();
        let found = text.lines().position(|line| line.ends_with(&format!(" {mark}")));
        found.unwrap_or_else(|| panic!("no line is marked {mark}")) as u32 + 1
    }

    pub fn at(&self, mark: &str) -> BreakpointRequest {
        BreakpointRequest::line(&self.source, self.line(mark))
    }

    pub fn launch(&self, breakpoints: Vec<BreakpointRequest>) -> (Session, Outcome) {
        Session::launch(&self.setup(), self.request(breakpoints)).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn setup(&self) -> Setup {
        let search = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        let mut setup = Setup::new(search, Arc::new(|| Timestamp::from_system(std::time::SystemTime::now())));
        setup.rust_sysroot = self.rust_sysroot.clone();
        setup.timeout = PATIENCE;
        setup
    }

    pub fn request(&self, breakpoints: Vec<BreakpointRequest>) -> Launch {
        Launch {
            program: self.program.clone(),
            directory: self.source.parent().unwrap().to_owned(),
            runtime: self.runtime.clone(),
            breakpoints,
            wait: PATIENCE,
            ..Launch::default()
        }
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Waits until somebody listens at a port, by what the system knows: asking the port would be taken for a debugger.
pub fn until_listening(port: u16) {
    let started = Instant::now();
    let wanted = format!(":{port:04X}");
    let is_there = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let local = words.next().is_some_and(|local| local.ends_with(&wanted));
        local && words.nth(1) == Some("0A")
    };
    while !std::fs::read_to_string("/proc/net/tcp").unwrap().lines().any(is_there) {
        assert!(started.elapsed() < PATIENCE, "nobody listens at port {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program that was started by a test, and ends with it.
pub struct Running(pub std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debug/programs")
}

/// A program that the tests cannot do without: the first of these names on the search path.
pub fn installed(names: &[&str]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names.iter().flat_map(|name| places.iter().map(move |place| place.join(name))).find(|it| it.is_file());
    found.unwrap_or_else(|| panic!("`{}` is missing: install it with `make tools`", names[0]))
}

pub fn stopped(outcome: Outcome) -> StopReport {
    match outcome {
        Outcome::Stopped(report) => *report,
        other => panic!("not stopped: {other:?}"),
    }
}

pub fn go_on(session: &Session) -> Outcome {
    session.control(Control::Continue, None, PATIENCE).unwrap()
}

/// Goes on to the end. On a busy machine its code comes a while after it.
pub fn to_the_end(session: &Session) -> Outcome {
    let started = Instant::now();
    let mut outcome = go_on(session);
    while outcome == (Outcome::Exited { code: None }) && started.elapsed() < PATIENCE {
        outcome = session.outcome().unwrap();
    }
    outcome
}

pub fn plan(depth: u32) -> CapturePlan {
    CapturePlan { depth, limit: Duration::from_secs(20), ..CapturePlan::default() }
}

pub fn capture(session: &Session, depth: u32) -> Capture {
    session.capture(plan(depth)).unwrap_or_else(|error| panic!("{error}"))
}

/// The value at a path of the first frame.
pub fn at<'a>(capture: &'a Capture, path: &str) -> &'a Node {
    path::find(&capture.frames[0], path).unwrap_or_else(|| panic!("nothing at `{path}`: {:#?}", names(capture)))
}

/// The scope of a variable of the first frame.
pub fn scope(capture: &Capture, name: &str) -> Scope {
    let found = capture.frames[0].variables.iter().find(|variable| variable.name == name && variable.shadowed == 0);
    found.unwrap_or_else(|| panic!("no `{name}`: {:?}", names(capture))).scope
}

pub fn names(capture: &Capture) -> Vec<String> {
    let line = |node: &Node, name: &str| {
        let inside = match &node.inside {
            Inside::Leaf => "leaf",
            Inside::NotExpanded => "not expanded",
            Inside::Fields(_) => "fields",
            Inside::Elements(_) => "elements",
            Inside::Entries(_) => "entries",
            Inside::SeeAt(_) => "see at",
            Inside::Unset => "unset",
        };
        let children: Vec<String> = match &node.inside {
            Inside::Fields(all) | Inside::Entries(all) => {
                all.iter().map(|(name, node)| format!("{name}={}", node.text)).collect()
            }
            Inside::Elements(all) => all.iter().map(|(index, node)| format!("{index}={}", node.text)).collect(),
            _ => Vec::new(),
        };
        let text: String = node.text.chars().take(60).collect();
        format!("{name}: {} = {text} ({inside}) {children:?}", node.kind)
    };
    capture.frames[0]
        .variables
        .iter()
        .map(|variable| line(&variable.value, &format!("{:?} {}#{}", variable.scope, variable.name, variable.shadowed)))
        .collect()
}
