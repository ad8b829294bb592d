//! The debug lane on one program in four languages, each under its own debugger. What is asked of all of them is in the files
//! beside this one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use backsight_debug::debugger::{Debugger, Moved, NotableKind, PointRequest, PointView, SnapshotCreated};
use backsight_debug::diff;
use backsight_debug::report::{DiffEntry, SnapshotDiff};
use backsight_debug::session::{BreakpointRequest, Control, Launch, Outcome, Place, StopReport};
use backsight_debug::walk::CapturePlan;

use super::native::LLDB;
use super::python::python;
use super::subject::{PATIENCE, Subject, installed, programs};
use crate::facade::{lane, patiently};

/// A language and its debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    JavaScript,
    Go,
    Cpp,
}

/// A lane and the program it debugs.
pub struct Stage {
    pub debugger: Debugger,
    pub language: Language,
    subject: Subject,
}

impl Language {
    pub fn subject(self) -> Subject {
        self.program("seed")
    }

    /// The program of that name in this language.
    fn program(self, name: &str) -> Subject {
        match self {
            Language::Python => Subject::script(&format!("{name}.py"), Some(python())),
            Language::JavaScript => Subject::script(&format!("{name}.js"), Some(installed(&["node"]))),
            Language::Go => {
                installed(&["dlv"]);
                compiled(&format!("{name}.go"), &["go", "build", "-gcflags=all=-N -l", "-o"])
            }
            Language::Cpp => {
                installed(&LLDB);
                compiled(&format!("{name}.cpp"), &["g++", "-g", "-O0", "-std=c++17", "-pthread", "-o"])
            }
        }
    }

    /// A function as its debugger names it.
    pub fn function(self, name: &str) -> Place {
        Place::Function(if self == Language::Go { format!("main.{name}") } else { name.to_owned() })
    }
}

/// The program of a source, built once for all tests as long as neither changes.
fn compiled(name: &str, command: &[&str]) -> Subject {
    let source = programs().join(name);
    let text = std::fs::read_to_string(&source).unwrap();
    let mark = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(format!("{}-{mark:016x}", name.replace('.', "-")));
    if !program.exists() {
        let scratch = tempfile::tempdir_in(folder).unwrap();
        let made = scratch.path().join("program");
        let built =
            Command::new(installed(&command[..1])).args(&command[1..]).arg(&made).arg(&source).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        // Whoever comes second puts the same there.
        std::fs::rename(made, &program).unwrap();
    }
    Subject { source, program, runtime: None, rust_sysroot: None }
}

impl Stage {
    pub fn new(language: Language) -> Stage {
        Stage::of(language, "seed")
    }

    /// With another program than the usual one.
    pub fn of(language: Language, name: &str) -> Stage {
        let subject = language.program(name);
        let root: PathBuf = subject.source.parent().unwrap().to_owned();
        Stage { debugger: lane(subject.setup(), &root), language, subject }
    }

    pub fn request(&self, marks: &[&str]) -> Launch {
        self.subject.request(marks.iter().map(|mark| self.at(mark)).collect())
    }

    pub fn at(&self, mark: &str) -> BreakpointRequest {
        self.subject.at(mark)
    }

    pub fn line(&self, mark: &str) -> u32 {
        self.subject.line(mark)
    }

    pub fn place(&self) -> PathBuf {
        self.subject.source.clone()
    }

    /// Starts the program; it pauses at the first of these lines.
    pub fn launch(&self, marks: &[&str]) -> Moved {
        let moved =
            self.debugger.launch(None, self.request(marks), &patiently).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(moved.unbound, [], "{moved:?}");
        self.is_at(&moved, marks[0]);
        moved
    }

    pub fn control(&self, control: Control) -> Moved {
        self.debugger.control(None, control, None, PATIENCE, &patiently).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn go_on(&self) -> Moved {
        self.control(Control::Continue)
    }

    pub fn go_on_to(&self, mark: &str) -> Moved {
        let moved = self.go_on();
        self.is_at(&moved, mark);
        moved
    }

    pub fn is_at<'a>(&self, moved: &'a Moved, mark: &str) -> &'a StopReport {
        let stop = stop_of(moved);
        assert_eq!(stop.frame.as_ref().and_then(|frame| frame.line), Some(self.line(mark)), "{mark}: {moved:?}");
        stop
    }

    pub fn snapshot(&self, label: Option<&str>, depth: u32) -> SnapshotCreated {
        self.debugger.create_snapshot(None, label, plan(depth)).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn diff(&self, first: &str, second: &str) -> SnapshotDiff {
        self.debugger.diff_snapshots(None, first, second, &diff::Options::default()).unwrap()
    }

    /// The program before and after its changes, and what differs.
    pub fn before_and_after(&self, depth: u32) -> SnapshotDiff {
        self.launch(&["BEFORE", "AFTER"]);
        self.snapshot(Some("before"), depth);
        self.go_on_to("AFTER");
        self.snapshot(Some("after"), depth);
        self.diff("before", "after")
    }

    pub fn point(&self, at: BreakpointRequest) -> PointRequest {
        PointRequest { name: Some("here".to_owned()), breakpoint: at, max_hits: None, every: None, plan: plan(0) }
    }

    pub fn set_point(&self, request: PointRequest) -> PointView {
        self.debugger.snapshot_on(None, request).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn only_point(&self) -> PointView {
        let [point] = &self.debugger.snapshot_points(None).unwrap().points[..] else { panic!("one point") };
        point.clone()
    }

    /// The reasons and counts of the ends of sessions that belong into the timeline.
    pub fn ends(&self) -> Vec<serde_json::Value> {
        let all = self.debugger.take_notables().into_iter();
        all.filter(|notable| notable.kind == NotableKind::End).map(|notable| notable.details).collect()
    }
}

pub fn plan(depth: u32) -> CapturePlan {
    CapturePlan { depth, limit: Duration::from_secs(20), ..CapturePlan::default() }
}

pub fn stop_of(moved: &Moved) -> &StopReport {
    match &moved.outcome {
        Outcome::Stopped(stop) => stop,
        other => panic!("not stopped: {other:?}"),
    }
}

/// The entry of a path, which must be there.
pub fn entry<'a>(entries: &'a [DiffEntry], path: &str) -> &'a DiffEntry {
    entries.iter().find(|entry| entry.path == path).unwrap_or_else(|| panic!("no `{path}`: {entries:#?}"))
}

/// One test for each debugger.
macro_rules! on_each {
    ($($language:ident as $debugger:ident),*: $tests:tt) => { $(on_each!(@ $language $debugger $tests);)* };
    (@ $language:ident $debugger:ident { $($name:ident)* }) => {
        mod $debugger {
            $(#[test]
            fn $name() {
                super::$name(&$crate::live::facade::Stage::new($crate::live::facade::Language::$language));
            })*
        }
    };
}
pub(super) use on_each;
