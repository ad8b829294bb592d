//! `backsight bisect`: what a person sees, what a script reads, and that an interrupted search leaves nothing.

use std::process::Stdio;

use crate::agents::eventually;
use crate::fixture::Fixture;

/// Seven steps, of which the fifth breaks it.
fn shop() -> Fixture {
    let fixture = Fixture::new();
    for number in 1..=7 {
        let value = if number >= 5 { "TAX" } else { "3" };
        fixture.write("shop.py", &format!("# {number}\nprint({value})\n"));
        fixture.done(&format!("track --tool Edit --session s1 -m 'edit {number}'"));
    }
    fixture
}

#[test]
fn the_step_is_shown_with_the_runs_and_its_diff() {
    let fixture = shop();
    let shown = fixture.run("bisect -- python3 shop.py");
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let runs: Vec<&str> = lines.iter().take(5).map(|line| line.split(" ms").next().unwrap()).collect();
    let verdicts: Vec<&str> = runs.iter().map(|line| line.rsplit_once(' ').unwrap().0.trim()).collect();
    assert_eq!(
        verdicts,
        ["#1 good exit 0", "#7 bad  exit 1", "#4 good exit 0", "#6 bad  exit 1", "#5 bad  exit 1"],
        "{shown}"
    );
    for part in [
        "#5 broke it by Edit (5 runs)",
        "who       Edit, session s1",
        "| NameError: name 'TAX' is not defined",
        "-print(3)",
        "+print(TAX)",
        "hint: take it back with `backsight revert 5`",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (found, status) = fixture.json("bisect --good 2 --bad 6 --jobs 2 -- python3 shop.py");
    assert_eq!((found["found"]["sequence_number"].as_u64(), status), (Some(5), 0));
    assert_eq!(found["found"]["session"], "s1");
    assert!(found["runs"].as_array().unwrap().iter().all(|run| run["verdict"].is_string()));
}

#[test]
fn what_cannot_be_searched_is_an_error_with_the_next_step() {
    let fixture = shop();
    let cases = [
        ("bisect -- false", "the check fails at #1, the good end, too (exit 1)", "--share DIR", 3),
        ("bisect -- true", "the check passes at #7, the bad end (exit 0)", "--bad", 3),
        ("bisect --good 7 --bad 2 -- true", "the good step #7 does not come before the bad step #2", "--good", 3),
        ("bisect --share nowhere -- true", "there is no directory `nowhere` to share", "", 4),
        ("bisect -- no-such-program", "`no-such-program` cannot be run", "search path", 4),
        ("bisect", "required arguments", "Usage: backsight bisect", 2),
    ];
    for (line, message, hint, status) in cases {
        let shown = fixture.run(line);
        assert!(shown.contains(message) && shown.contains(hint), "{line}: {shown}");
        assert!(shown.ends_with(&format!("---- exit {status}")), "{line}: {shown}");
    }
}

#[test]
fn an_interrupted_search_leaves_no_process_no_files_and_no_row() {
    let fixture = shop();
    let mut command = fixture.command("bisect -- sleep 7531.9753");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let is_running = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.into_iter().any(|line| line == b"sleep\x007531.9753\x00")
    };
    eventually("the command runs", || is_running().then_some(()));
    let process = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(!is_running());
    let left = fixture.home().join(".local/state/backsight/bisect");
    assert_eq!(std::fs::read_dir(left).unwrap().count(), 0);
    assert_eq!(fixture.ok("log -n 1")["rows"][0]["kind"], "track");
}
