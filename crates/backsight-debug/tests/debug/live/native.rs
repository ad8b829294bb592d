//! C++ and Rust under lldb-dap.

use std::path::{Path, PathBuf};
use std::process::Command;

use backsight_debug::diff::{Options, snapshot_diff};

use super::expectations::{self, Ways};
use super::pages;
use super::subject::{Subject, at, capture, go_on, installed, names, programs, stopped};

const CPP: Ways = Ways {
    nothing: &["null"],
    shadows: true,
    cycle: true,
    sees_hidden_change: true,
    this: true,
    recurse: "recurse",
    looping: Some("loop"),
    assignment: Some("number = 41"),
    safe_sum: false,
    unsafe_expression: "recurse(3)",
    exceptions: Some("all"),
    exception: "C++ Throw",
    exit_code: 3,
};

pub const LLDB: [&str; 6] = ["lldb-dap", "lldb-dap-22", "lldb-dap-21", "lldb-dap-20", "lldb-dap-19", "lldb-dap-18"];

fn built(source: &str, compiler: &str, arguments: &[&str]) -> (Subject, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (compiled(programs().join(source), folder.path(), compiler, arguments), folder)
}

pub fn compiled(source: PathBuf, folder: &Path, compiler: &str, arguments: &[&str]) -> Subject {
    installed(&LLDB);
    let program = folder.join("table");
    let mut build = Command::new(installed(&[compiler]));
    let built = build.args(arguments).arg("-o").arg(&program).arg(&source).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Subject { source, program, runtime: None, rust_sysroot: None }
}

mod cpp {
    use super::*;

    fn subject() -> (Subject, tempfile::TempDir) {
        let (subject, folder) = built("table.cpp", "g++", &["-g", "-O0", "-std=c++17", "-pthread"]);
        // That Rust is here too must not matter.
        (Subject { rust_sysroot: sysroot(), ..subject }, folder)
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
        locals_of_every_kind: |subject| expectations::locals_of_every_kind(subject, CPP);
        two_captures_and_their_difference: |subject| expectations::two_captures_and_their_difference(subject, CPP);
        frames: |subject| expectations::frames_and_threads(subject, CPP);
        other_threads: expectations::other_threads;
        control_and_breakpoints: |subject| expectations::control_and_breakpoints(subject, CPP);
        exceptions: |subject| expectations::exceptions(subject, CPP);
        expressions: |subject| expectations::expressions(subject, CPP);
        variables: |subject| pages::all(subject, CPP.shadows);
        the_end: |subject| expectations::running_pausing_and_the_end(subject, CPP);
        no_process_is_left: expectations::no_process_is_left;
        speed: |subject| expectations::speed(subject, "lldb-dap, C++");
    }
}

/// LLDB shows a text up to the first zero in it; and what has too much inside to be hashed is named.
#[test]
fn texts_with_zeros_are_whole() {
    let (subject, _folder) = built("zeros.cpp", "g++", &["-g", "-O0", "-std=c++17"]);
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE"), subject.at("AFTER")]);
    stopped(outcome);
    let before = capture(&session, 1);
    assert_eq!(at(&before, "zero").text, r#""a\u0000b""#);
    assert_eq!(at(&before, "plain").text, r#""plain""#);
    let uncertain: Vec<&str> = before.incomplete.iter().map(|one| one.path.as_str()).collect();
    assert!(uncertain.contains(&"many") && !uncertain.contains(&""), "{:#?}", before.incomplete);
    stopped(go_on(&session));
    let diff = snapshot_diff(&before, &capture(&session, 1), &Options::default());
    let told: Vec<&str> = diff.modified.iter().map(|entry| entry.path.as_str()).collect();
    assert!(told.contains(&"zero") && told.contains(&"held.texts"), "{diff:#?}");
}

mod rust {
    use super::*;

    const RUST: Ways = Ways {
        nothing: &["None"],
        looping: Some("looping"),
        cycle: false,
        unsafe_expression: "zero(3)",
        exceptions: None,
        ..CPP
    };

    fn subject() -> (Subject, tempfile::TempDir) {
        let (subject, folder) = built("table.rs", "rustc", &["-g", "--edition", "2024"]);
        (Subject { rust_sysroot: sysroot(), ..subject }, folder)
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
        locals_of_every_kind: |subject| expectations::locals_of_every_kind(subject, RUST);
        two_captures_and_their_difference: |subject| expectations::two_captures_and_their_difference(subject, RUST);
        frames: |subject| expectations::frames_and_threads(subject, RUST);
        other_threads: expectations::other_threads;
        control_and_breakpoints: |subject| expectations::control_and_breakpoints(subject, RUST);
        expressions: |subject| expectations::expressions(subject, RUST);
        variables: |subject| pages::all(subject, RUST.shadows);
        the_end: |subject| expectations::running_pausing_and_the_end(subject, RUST);
        no_process_is_left: expectations::no_process_is_left;
        speed: |subject| expectations::speed(subject, "lldb-dap, Rust");
    }

    /// LLDB and rustc's formatters alone take `None` for `Some("")`, and read whatever the text of an absent variant says.
    #[test]
    fn enums_are_told_as_the_variant_they_are() {
        let (subject, _folder) = built("enums.rs", "rustc", &["-g", "--edition", "2024"]);
        let subject = Subject { rust_sysroot: sysroot(), ..subject };
        let (session, outcome) = subject.launch(vec![subject.at("LOOK")]);
        stopped(outcome);
        let captured = capture(&session, 2);
        let expected = [
            ("ok", "Ok"),
            ("ok.0", "1"),
            ("empty_error", "Err"),
            ("error.0", "\"bad\""),
            ("unit", "Unit"),
            ("tuple.1", "\"x\""),
            ("named", "Named"),
            ("named.b", "\"hey\""),
            ("no_text", "None"),
            ("empty_text", "Some"),
            ("text.0", "\"hi\""),
            ("no_box", "None"),
            ("no_number", "None"),
            ("zero.0", "0"),
            ("no_list", "None"),
            ("empty_list", "Some"),
            ("outer_none", "None"),
            ("inner_none", "Some"),
            ("inner_none.0", "None"),
            ("deep.0.0", "\"deep\""),
            ("plain", "B"),
        ];
        for (name, text) in expected {
            assert_eq!(at(&captured, name).text, text, "{name}");
        }
    }
}

/// Which variant an enum is may be told by a capacity that cannot be; the texts of the other variants are not there to be read.
#[test]
fn enums_of_rust_hold_what_they_hold() {
    let (subject, _folder) = built("variants.rs", "rustc", &["-g", "--edition", "2024"]);
    let subject = Subject { rust_sysroot: sysroot(), ..subject };
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE"), subject.at("AFTER")]);
    stopped(outcome);
    let before = capture(&session, 2);
    let text = |path: &str| at(&before, path).text.clone();
    let told = ["good", "bad", "unit", "pair", "empty", "zero"].map(text);
    assert_eq!(told, ["Ok", "Err", "Unit", "Pair", "Err", r#""a\u0000b""#], "{:#?}", names(&before));
    let inside = ["good.0", "bad.0", "pair.0", "pair.1", "empty.0"].map(text);
    assert_eq!(inside, ["1", r#""no""#, "1", r#""one""#, r#""""#], "{:#?}", names(&before));
    stopped(go_on(&session));
    let diff = snapshot_diff(&before, &capture(&session, 2), &Options::default());
    let told: Vec<&str> = diff.modified.iter().map(|entry| entry.path.as_str()).collect();
    assert!(["good.0", "unit", "zero"].iter().all(|path| told.contains(path)), "{diff:#?}");
}

/// Where the active toolchain keeps its formatters.
pub fn sysroot() -> Option<PathBuf> {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    Some(PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim()))
}
