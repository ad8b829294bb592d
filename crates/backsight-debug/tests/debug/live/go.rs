//! Go under Delve.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use backsight_debug::diff::{Options, snapshot_diff};
use backsight_debug::session::{Control, Launch, Outcome, Session};

use super::expectations::{self, Ways};
use super::pages;
use super::subject::{PATIENCE, Subject, at, capture, go_on, installed, programs, stopped};

const WAYS: Ways = Ways {
    nothing: &["nil"],
    shadows: true,
    cycle: true,
    // Delve sends 64 elements of a list; the others are hashed in the program's memory.
    sees_hidden_change: cfg!(target_os = "linux"),
    this: true,
    recurse: "recurse",
    looping: Some("main.loop"),
    assignment: None,
    safe_sum: true,
    unsafe_expression: "call use(number)",
    exceptions: None,
    exception: "",
    exit_code: 3,
};

/// The program, built once and then as fast as Go finds that nothing changed.
fn subject() -> (Subject, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (built(programs().join("table.go"), folder.path()), folder)
}

pub fn built(source: PathBuf, folder: &Path) -> Subject {
    installed(&["dlv"]);
    let program = folder.join("program");
    let mut build = Command::new(installed(&["go"]));
    build.args(["build", "-gcflags=all=-N -l", "-o"]).arg(&program).arg(&source);
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Subject { source, program, runtime: None, rust_sysroot: None }
}

macro_rules! table {
    ($($name:ident: $check:expr;)*) => { $(
        #[test]
        fn $name() {
            let (subject, _folder) = subject();
            ($check)(&subject);
        }
    )* };
}

table! {
    locals_of_every_kind: |subject| expectations::locals_of_every_kind(subject, WAYS);
    two_captures_and_their_difference: |subject| expectations::two_captures_and_their_difference(subject, WAYS);
    frames: |subject| expectations::frames_and_threads(subject, WAYS);
    other_threads: expectations::other_threads;
    control_and_breakpoints: |subject| expectations::control_and_breakpoints(subject, WAYS);
    expressions: |subject| expectations::expressions(subject, WAYS);
    variables: |subject| pages::all(subject, WAYS.shadows);
    the_end: |subject| expectations::running_pausing_and_the_end(subject, WAYS);
    no_process_is_left: expectations::no_process_is_left;
    speed: |subject| expectations::speed(subject, "delve");
}

#[test]
fn a_panic_pauses_the_program() {
    let (subject, _folder) = subject();
    let request = Launch { arguments: vec!["panic".to_owned()], ..subject.request(Vec::new()) };
    let (_session, outcome) = Session::launch(&subject.setup(), request).unwrap();
    let report = stopped(outcome);
    assert!(report.stop.reason == "exception" || report.stop.reason.contains("panic"), "{report:?}");
    assert!(report.stop.description.unwrap().contains("thrown"));
}

/// Delve builds the program itself, and leaves nothing beside the source.
#[test]
fn a_source_is_built_and_debugged() {
    let (subject, _folder) = subject();
    let request = Launch { program: subject.source.clone(), ..subject.request(vec![subject.at("FIRST")]) };
    let (session, outcome) = Session::launch(&subject.setup(), request).unwrap();
    stopped(outcome);
    assert_eq!(at(&capture(&session, 0), "number").text, "42");
    drop(session);
    let left: Vec<String> = std::fs::read_dir(programs())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("debug_bin"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A loop without an end is paused from outside.
#[test]
fn a_running_program_is_paused() {
    let (subject, _folder) = subject();
    let (session, outcome) = subject.launch(vec![subject.at("DEEP")]);
    stopped(outcome);
    let outcome = session.control(Control::Pause, None, Duration::from_secs(5)).unwrap();
    assert!(matches!(outcome, Outcome::Stopped(_)), "a paused program is paused: {outcome:?}");
    session.control(Control::StepOut, None, PATIENCE).unwrap();
}

/// Whatever keys a map has, its entries are its values.
#[test]
fn keys_with_something_inside() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("keys.go");
    std::fs::write(
        &source,
        "package main

type Key struct {
\tCity string
\tN    int
}
type Value struct{ Price int }

func main() {
\twords := map[Key]string{{\"k\", 1}: \"v\", {\"k\", 2}: \"w\"}
\tprices := map[Key]Value{{\"p\", 1}: {10}}
\tpairs := map[[2]int]float64{{1, 2}: 0.5}
\tnames := map[string]Value{\"plain\": {1}}
\tprintln(len(words), len(prices), len(pairs), len(names)) // FIRST
\twords[Key{\"k\", 2}] = \"x\"
\tprices[Key{\"p\", 1}] = Value{11}
\tpairs[[2]int{1, 2}] = 1.5
\tnames[\"plain\"] = Value{2}
\tprintln(len(words), len(prices), len(pairs), len(names)) // SECOND
}
",
    )
    .unwrap();
    let subject = built(source, folder.path());
    let (session, outcome) = subject.launch(vec![subject.at("FIRST"), subject.at("SECOND")]);
    stopped(outcome);
    let before = capture(&session, 2);
    let word = "words[main.Key {City: \"k\", N: 2}]";
    let price = "prices[main.Key {City: \"p\", N: 1}]";
    assert_eq!(at(&before, word).text, "\"w\"");
    assert_eq!(pages::ask(&session, word, 0, 0).unwrap().value.unwrap().value, "\"w\"");
    assert_eq!(pages::ask(&session, &format!("{price}.Price"), 0, 0).unwrap().value.unwrap().value, "10");
    assert_eq!(pages::ask(&session, "prices", 0, 0).unwrap().variables.len(), 1);
    stopped(go_on(&session));
    let diff = snapshot_diff(&before, &capture(&session, 2), &Options::default());
    let mut told: Vec<String> = diff
        .modified
        .iter()
        .map(|entry| format!("{}: {}", entry.path, entry.new_value.as_deref().unwrap_or_default()))
        .collect();
    told.sort();
    let expected = [
        "names[plain].Price: 2".to_owned(),
        "pairs[[2]int [1,2]]: 1.5".to_owned(),
        format!("{price}.Price: 11"),
        format!("{word}: \"x\""),
    ];
    assert_eq!((told.as_slice(), diff.added.len() + diff.removed.len()), (&expected[..], 0), "{diff:#?}");
}
