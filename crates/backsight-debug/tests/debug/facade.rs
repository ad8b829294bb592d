//! The debug lane over a scripted adapter: a loop that can be captured, paused and ended at will. The tests themselves are in
//! the files beside this one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use backsight_debug::adapters::Adapter;
use backsight_debug::debugger::{Debugger, Moved, NotableKind, Options, PointRequest, PointView};
use backsight_debug::session::{Attach, BreakpointRequest, Outcome, Setup, StopReport};
use backsight_debug::walk::CapturePlan;
use serde_json::{Value, json};

use crate::fake_adapter::{Fake, Handled, Wire, setup};

/// Longer than anything here takes on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(30);
/// The line of the loop.
pub const LOOP: u32 = 3;
/// The line after it.
pub const AFTER: u32 = 9;

/// Nobody takes the call back.
pub fn patiently() -> bool {
    false
}

/// A lane in a directory of its own, whose source has some lines.
pub struct Scene {
    pub debugger: Debugger,
    folder: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Scene {
        Scene::with(setup(Fake::adapter(), LIMIT))
    }

    pub fn with(setup: Setup) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("loop.py"), "line\n".repeat(12)).unwrap();
        Scene { debugger: lane(setup, folder.path()), folder }
    }

    /// The source as the debugger names it.
    pub fn source(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("loop.py")
    }

    pub fn attach(&self, name: Option<&str>, fake: &Fake) -> backsight_core::Result<Moved> {
        self.debugger.attach(name, request(fake), &patiently)
    }

    /// A paused program that comes by the loop so many times.
    pub fn looping(&self, times: u64) -> Loop {
        Loop { source: self.source(), times, hits: 0, lines: Vec::new(), at: 1, thread: 1 }
    }

    pub fn point(&self, name: &str) -> PointRequest {
        PointRequest {
            name: Some(name.to_owned()),
            breakpoint: BreakpointRequest::line("loop.py", LOOP),
            max_hits: None,
            every: None,
            plan: CapturePlan::default(),
        }
    }

    pub fn set_point(&self, request: PointRequest) -> PointView {
        self.debugger.snapshot_on(None, request).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn only_point(&self) -> PointView {
        let [point] = &self.debugger.snapshot_points(None).unwrap().points[..] else { panic!("one point") };
        point.clone()
    }

    pub fn break_at(&self, line: u32) {
        assert!(self.debugger.set_breakpoint(None, BreakpointRequest::line("loop.py", line)).unwrap().bound);
    }

    pub fn go_on(&self) -> Moved {
        use backsight_debug::session::Control;
        self.debugger.control(None, Control::Continue, None, LIMIT, &patiently).unwrap()
    }

    /// The kinds and descriptions of what belongs into the timeline.
    pub fn told(&self) -> Vec<(NotableKind, String, Value)> {
        let all = self.debugger.take_notables().into_iter();
        all.map(|notable| (notable.kind, notable.description, notable.details)).collect()
    }

    /// What was said about the ends of sessions, after the end of one was heard.
    pub fn ends(&self) -> Vec<(String, Value)> {
        let all = self.told().into_iter().filter(|(kind, ..)| *kind == NotableKind::End);
        all.map(|(_, description, details)| (description, details)).collect()
    }
}

pub fn lane(setup: Setup, root: &Path) -> Debugger {
    let next = AtomicU64::new(1);
    let random = Arc::new(move || Ok(u128::from(next.fetch_add(1, Ordering::Relaxed)) << 64));
    Debugger::new(Options { setup, root: root.to_owned(), salt: 7, random })
}

pub fn request(fake: &Fake) -> Attach {
    Attach { adapter: Some("fake".to_owned()), port: Some(fake.port()), wait: LIMIT, ..Attach::default() }
}

pub fn stop_of(moved: &Moved) -> &StopReport {
    match &moved.outcome {
        Outcome::Stopped(stop) => stop,
        other => panic!("not stopped: {other:?}"),
    }
}

pub fn command(message: &Value) -> &str {
    message["command"].as_str().filter(|_| message["type"] == json!("request")).unwrap_or_default()
}

/// A program that comes by [`LOOP`] some times, then by [`AFTER`], then ends.
pub struct Loop {
    pub source: PathBuf,
    pub times: u64,
    pub hits: u64,
    pub lines: Vec<Value>,
    at: u32,
    pub thread: i64,
}

impl Loop {
    pub fn start(mut self) -> Fake {
        Fake::start(move |wire, message| self.handle(wire, message))
    }

    /// The same, unless `first` does something itself.
    pub fn start_with(
        mut self,
        mut first: impl FnMut(&mut Loop, &mut Wire, &Value) -> Handled + Send + 'static,
    ) -> Fake {
        Fake::start(move |wire, message| match first(&mut self, wire, message) {
            Handled::Yes => Handled::Yes,
            Handled::No => self.handle(wire, message),
        })
    }

    pub fn handle(&mut self, wire: &mut Wire, message: &Value) -> Handled {
        match command(message) {
            "configurationDone" => {
                wire.reply(message, json!({}));
                wire.stop("entry");
            }
            "setBreakpoints" => {
                let wanted = message["arguments"]["breakpoints"].as_array().cloned().unwrap_or_default();
                self.lines = wanted.iter().map(|one| one["line"].clone()).collect();
                return Handled::No;
            }
            "stackTrace" => {
                let source = json!({ "path": self.source });
                let frame = json!({ "id": 1000 + self.thread, "name": "work", "line": self.at, "source": source });
                wire.reply(message, json!({ "stackFrames": [frame], "totalFrames": 1 }));
            }
            "variables" if message["arguments"]["variablesReference"] == json!(1) => {
                let number = json!({ "name": "i", "value": self.hits.to_string(), "type": "int" });
                wire.reply(message, json!({ "variables": [number] }));
            }
            "continue" | "next" => {
                wire.reply(message, json!({}));
                self.run(wire);
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    /// Goes on to the next breakpoint that is set, or to the end.
    pub fn run(&mut self, wire: &mut Wire) {
        while self.hits < self.times {
            self.hits += 1;
            if self.lines.contains(&json!(LOOP)) {
                return self.stop(wire, LOOP);
            }
        }
        if self.at != AFTER && self.lines.contains(&json!(AFTER)) {
            return self.stop(wire, AFTER);
        }
        wire.event("exited", json!({ "exitCode": 4 }));
        wire.event("terminated", json!({}));
    }

    pub fn stop(&mut self, wire: &mut Wire, line: u32) {
        self.at = line;
        let stop = json!({ "reason": "breakpoint", "threadId": self.thread, "allThreadsStopped": true,
            "hitBreakpointIds": [line] });
        wire.event("stopped", stop);
    }
}

/// An adapter that is a program of its own, started over stdio, for what needs a launch.
pub fn launched_adapter(script: &str) -> Adapter {
    Adapter {
        name: "fake".to_owned(),
        programs: vec!["sh".to_owned()],
        arguments: vec!["-c".to_owned(), script.to_owned()],
        ..Fake::adapter()
    }
}
