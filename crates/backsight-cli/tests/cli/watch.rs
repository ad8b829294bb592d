//! `backsight watch` on a real terminal: what is on the screen, what the keys do to the files, and that the terminal is given
//! back whatever ends it.

use std::process::Command;
use std::time::{Duration, Instant};

use pty_process::Size;
use serde_json::Value;

use crate::fixture::Fixture;
use crate::run::eventually;
use crate::run::terminal::Terminal;
use crate::serving::server::Server;

/// What takes the second screen, and what gives it back.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

fn watch(fixture: &Fixture) -> Terminal {
    Terminal::start(command(fixture))
}

fn command(fixture: &Fixture) -> Command {
    let mut command = fixture.command("watch --as ada");
    command.env("LANG", "C.UTF-8");
    command
}

/// What a terminal of this size shows after these bytes: the few sequences that `watch` uses, and no other.
fn screen(bytes: &str, columns: usize, lines: usize) -> String {
    let mut cells = vec![vec![' '; columns]; lines];
    let (mut x, mut y) = (0, 0);
    let mut rest = bytes.split_once(ENTER).map_or("", |(_, after)| after);
    while let Some(first) = rest.chars().next() {
        let Some(sequence) = rest.strip_prefix("\x1b[") else {
            assert!(!first.is_control(), "{first:?} at {x},{y}");
            if let Some(cell) = cells.get_mut(y).and_then(|line| line.get_mut(x)) {
                *cell = first;
            }
            x += 1;
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let Some(end) = sequence.find(|letter: char| letter.is_ascii_alphabetic()) else { break };
        let (parameters, letter) = (&sequence[..end], &sequence[end..=end]);
        match (letter, parameters) {
            ("H", place) => {
                let (line, column) = place.split_once(';').unwrap();
                (x, y) = (column.parse::<usize>().unwrap() - 1, line.parse::<usize>().unwrap() - 1);
            }
            ("J", "2") => cells.iter_mut().for_each(|line| line.fill(' ')),
            ("m", _) | ("h" | "l", "?25" | "?1049") => {}
            other => panic!("{other:?}"),
        }
        rest = &sequence[end + 1..];
    }
    cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
}

#[track_caller]
fn shows(terminal: &mut Terminal, what: &str) -> String {
    terminal.until(what, |seen| Some(screen(seen, 90, 30)).filter(|screen| screen.contains(what)))
}

#[track_caller]
fn shows_not(terminal: &mut Terminal, what: &str) -> String {
    terminal.until(&format!("no {what}"), |seen| Some(screen(seen, 90, 30)).filter(|screen| !screen.contains(what)))
}

/// Whether the terminal is as a shell wants it.
fn is_given_back(terminal: &Terminal) -> bool {
    let settings = rustix::termios::tcgetattr(&terminal.pty).unwrap();
    let modes = rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO;
    settings.local_modes.contains(modes) && terminal.seen.rfind(LEAVE) > terminal.seen.rfind(ENTER)
}

#[test]
fn what_happens_is_shown_as_it_happens_and_is_taken_back_after_asking() {
    let fixture = Fixture::with_history();
    let mut terminal = watch(&fixture);
    let first = shows(&mut terminal, "+c");
    assert!(first.contains("#3") && first.contains("add c") && first.contains("agent edits a"), "{first}");
    assert!(first.contains("not watched") && first.contains("all recorded"), "{first}");

    // Another program writes, and records.
    fixture.write("d.txt", "new line of d\n");
    shows(&mut terminal, "1 path not recorded");
    fixture.done("track -m 'add d' --session s2");
    let live = shows(&mut terminal, "add d");
    assert!(live.contains("#4"), "{live}");
    shows(&mut terminal, "+new line of d");
    fixture.done("begin --tool Bash --session s2");
    shows(&mut terminal, "1 at work");

    // One further down, whose difference is shown then; while files differ from what is recorded they have a row of their own.
    shows(&mut terminal, "all recorded");
    terminal.types("jj");
    shows(&mut terminal, "+agent");
    terminal.types("R");
    let plan = shows(&mut terminal, "y does exactly this");
    assert!(plan.contains("Revert #2") && plan.contains("M a.txt"), "{plan}");
    assert!(fixture.read("a.txt").contains("agent"), "nothing is done before it is confirmed");
    terminal.types("\x1b");
    shows_not(&mut terminal, "y does exactly this");
    assert!(fixture.read("a.txt").contains("agent"));
    terminal.types("R");
    shows(&mut terminal, "y does exactly this");
    terminal.types("y");
    shows(&mut terminal, "z takes it back");
    assert_eq!(fixture.read("a.txt"), crate::fixture::numbered(&[]));
    assert_eq!(fixture.read("d.txt"), "new line of d\n");
    terminal.types("z");
    shows(&mut terminal, "y does exactly this");
    terminal.types("y");
    shows(&mut terminal, "Z brings it back");
    assert!(fixture.read("a.txt").contains("agent"));

    // Of all that is recorded, what holds a text.
    terminal.types("/add d\r");
    let found = shows(&mut terminal, "Timeline: add d");
    assert!(!found.contains("agent edits a") || found.contains("reading"), "{found}");
    terminal.types("\x1b");
    shows(&mut terminal, "agent edits a");
    terminal.types("?");
    shows(&mut terminal, "any key closes this");
    terminal.types("qq");
    assert_eq!(terminal.status(), Some(0));
    terminal.until("the first screen", |seen| seen.contains(LEAVE).then_some(()));
    assert!(is_given_back(&terminal));
    fixture.verify();
}

#[test]
fn a_conflict_is_named_and_nothing_is_changed() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &crate::fixture::numbered(&[(2, "mine now")]));
    let mut terminal = watch(&fixture);
    shows(&mut terminal, "1 path not recorded");
    terminal.types("jjR");
    let asked = shows(&mut terminal, "s leaves these as they are");
    assert!(asked.contains("! a.txt"), "{asked}");
    terminal.types("y\x1b");
    shows_not(&mut terminal, "s leaves these");
    assert!(fixture.read("a.txt").contains("mine now"));
    terminal.types("q");
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn another_size_is_drawn_anew() {
    let fixture = Fixture::with_history();
    let mut terminal = watch(&fixture);
    shows(&mut terminal, "add c");
    terminal.seen = ENTER.to_owned();
    terminal.pty.resize(Size::new(24, 130)).unwrap();
    let wide = terminal.until("the diff beside the timeline", |seen| {
        Some(screen(seen, 130, 24)).filter(|screen| screen.contains("│") && screen.contains("+c"))
    });
    assert_eq!(wide.lines().count(), 24);
    terminal.types("q");
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    let fixture = Fixture::with_history();
    let is_coloured = |seen: &str| {
        let sequences = seen.split("\x1b[").skip(1).filter_map(|rest| rest.split_once('m')).map(|(codes, _)| codes);
        let plain = ["0", "1", "2", "4", "7"];
        sequences
            .filter(|codes| codes.chars().all(|code| code.is_ascii_digit() || code == ';'))
            .any(|codes| codes.split(';').any(|code| !plain.contains(&code)))
    };
    let mut coloured = watch(&fixture);
    shows(&mut coloured, "+c");
    assert!(is_coloured(&coloured.seen));
    coloured.types("q");
    let mut command = command(&fixture);
    command.env("NO_COLOR", "1");
    let mut plain = Terminal::start(command);
    shows(&mut plain, "+c");
    assert!(!is_coloured(&plain.seen), "{:?}", plain.seen);
    plain.types("q");
    assert_eq!((coloured.status(), plain.status()), (Some(0), Some(0)));
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let fixture = Fixture::with_history();
    for (name, number) in [("TERM", 15), ("HUP", 1), ("INT", 2)] {
        let mut terminal = watch(&fixture);
        shows(&mut terminal, "add c");
        assert!(!is_given_back(&terminal));
        let status = Command::new("kill").args([&format!("-{name}"), &terminal.child.id().to_string()]).status();
        assert!(status.unwrap().success());
        assert_eq!(terminal.status(), Some(128 + number), "{name}");
        terminal.until("the first screen", |seen| seen.contains(LEAVE).then_some(()));
        assert!(is_given_back(&terminal), "{name}");
    }
}

#[test]
fn with_a_server_it_knows_the_app() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let mut terminal = watch(&fixture);
    shows(&mut terminal, "app unknown");
    server.end();
    shows(&mut terminal, "not watched");
    terminal.types("q");
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn names_and_texts_of_strangers_cannot_drive_the_terminal() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "one\n");
    fixture.done("track -m start");
    let evil = "x\u{1b}[2J\u{1b}]0;owned\u{7}y";
    std::fs::write(fixture.root().join(evil), format!("{evil}\n")).unwrap();
    let mut track = fixture.command("track --session s1 -m");
    assert!(track.arg(evil).output().unwrap().status.success());
    let mut terminal = watch(&fixture);
    // The test's own screen refuses every control character and every sequence it does not know.
    let seen = shows(&mut terminal, "^[]0;owned");
    assert!(seen.contains("\\033[2J") || seen.contains("\\u{1b}[2J") || seen.contains("\\e[2J"), "{seen}");
    terminal.types("q");
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn without_a_terminal_it_says_so_and_answers_once_with_json() {
    let fixture = Fixture::with_history();
    let seen = fixture.run("watch");
    assert!(seen.contains("error: `watch` draws on a terminal, and stdout is none"), "{seen}");
    assert!(seen.contains("backsight watch --json") && seen.ends_with("---- exit 2"), "{seen}");
    let once = fixture.ok("watch");
    assert_eq!((once["rows"].as_array().unwrap().len(), &once["status"]["clean"]), (3, &Value::Bool(true)));
    assert_eq!((&once["served"], &once["sessions"][0]["id"]), (&Value::Bool(false), &Value::from("s1")));
}

#[test]
fn a_workspace_without_a_record_is_watched_until_it_has_one() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "one\n");
    let mut terminal = watch(&fixture);
    shows(&mut terminal, "nothing recorded yet");
    assert!(!fixture.root().join(".backsight").exists(), "looking makes nothing");
    fixture.done("track -m start");
    shows(&mut terminal, "start");
    terminal.types("q");
    assert_eq!(terminal.status(), Some(0));
}

/// The time all threads of a process have run, which the kernel counts in nanoseconds.
fn processor_time(pid: u32) -> Duration {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of_task = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("schedstat")).ok();
    let nanoseconds = tasks.filter_map(|task| of_task(task.unwrap())?.split(' ').next()?.parse::<u64>().ok());
    Duration::from_nanos(nanoseconds.sum())
}

#[test]
fn a_screen_on_which_nothing_happens_takes_less_than_a_hundredth_of_a_processor() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let mut terminal = watch(&fixture);
    shows(&mut terminal, "app unknown");
    shows(&mut terminal, "all recorded");
    let pid = terminal.child.id();
    // What it does at first is done.
    let mut before = processor_time(pid);
    eventually("it has begun to rest", || {
        std::thread::sleep(Duration::from_secs(1));
        let now = processor_time(pid);
        let spent = now.saturating_sub(std::mem::replace(&mut before, now));
        (spent < Duration::from_millis(20)).then_some(())
    });
    let (start, before) = (Instant::now(), processor_time(pid));
    std::thread::sleep(Duration::from_secs(5));
    let share = processor_time(pid).saturating_sub(before).as_secs_f64() / start.elapsed().as_secs_f64();
    assert!(share < 0.01, "{:.3} % of a processor", share * 100.0);
    eprintln!("idle: {:.3} % of a processor", share * 100.0);
    terminal.types("q");
    assert_eq!(terminal.status(), Some(0));
    server.end();
}
