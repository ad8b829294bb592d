//! Which step broke it: the search runs on copies, finds the first bad step whatever the history holds, and leaves nothing.

use backsight_core::NextStep;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use backsight::report::{Bisected, Verdict};
use backsight::request::{Bisect, Track};
use backsight::{CallSettings, Code, Error, Progress};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::lab::state;
use crate::scene::{Scene, by, path, paths};

/// `sh -c SCRIPT`.
fn shell(script: &str) -> Bisect {
    Bisect { command: ["sh", "-c", script].map(str::to_owned).to_vec(), ..Bisect::default() }
}

fn bisect(scene: &Scene, script: &str) -> Result<Bisected, Error> {
    scene.workspace.bisect(&shell(script))
}

fn found(answer: &Bisected) -> u64 {
    answer.found.as_ref().map_or(0, |found| found.snapshot.sequence_number.0)
}

/// Records `texts` as the contents of `a`, one step each after the first.
fn history(texts: &[&str]) -> Scene {
    let scene = Scene::empty();
    for (number, text) in texts.iter().enumerate() {
        scene.write("a", format!("{text}\n"));
        let tool = format!("tool-{number}");
        scene.workspace.track_with(&Track { origin: by(&tool, &[]), ..Track::default() }).unwrap();
    }
    scene
}

#[test]
fn the_step_that_broke_it_is_found_with_its_tool_and_its_diff() {
    let scene = history(&["1", "2", "3", "broken", "broken more", "broken still"]);
    scene.write("a", "unrecorded\n");
    let before = scene.disk();
    let answer = bisect(&scene, "! grep -q broken a || { echo the price is wrong; exit 1; }").unwrap();
    assert_eq!(found(&answer), 4);
    let step = answer.found.as_ref().unwrap();
    assert_eq!(step.snapshot.origin.tool.as_deref(), Some("tool-3"));
    assert_eq!(step.files, paths(&["a"]));
    assert!(step.patch.contains("-3\n+broken\n"), "{}", step.patch);
    assert_eq!(answer.output, "the price is wrong\n");
    assert_eq!((answer.good.0, answer.bad.0, answer.steps), (3, 4, 5));
    assert_eq!(answer.summary, "#4 broke it by tool-3 (4 runs)");
    assert_eq!(scene.disk(), before, "the workspace is as it was");
    let row = scene.story().pop().unwrap();
    assert!(row.contains("bisect") && row.contains("#4 broke it"), "{row}");
    assert_eq!(answer.sequence_number.0, 7);
}

#[test]
fn ends_that_are_not_what_they_are_called_are_told_before_anything_is_searched() {
    let scene = history(&["1", "2", "3"]);
    let fails = bisect(&scene, "echo needs node_modules; exit 3").unwrap_err();
    assert_eq!(fails.code(), Code::InvalidRange);
    assert!(fails.message().contains("the check fails at #1, the good end, too (exit 3)"), "{fails}");
    assert_eq!(fails.details()["output"], "needs node_modules\n");
    let passes = bisect(&scene, "true").unwrap_err();
    assert!(passes.message().contains("the check passes at #3, the bad end"), "{passes}");
    let skips = bisect(&scene, "exit 125").unwrap_err();
    assert!(skips.message().contains("#1, the good end, cannot be judged (exit 125)"), "{skips}");
    let missing = Bisect { command: vec!["no-such-program-here".to_owned()], ..Bisect::default() };
    assert_eq!(scene.workspace.bisect(&missing).unwrap_err().code(), Code::ProgramNotFound);
    let none = scene.workspace.bisect(&Bisect::default()).unwrap_err();
    assert_eq!(none.code(), Code::Usage);
    let turned = Bisect { good: Some("#3".to_owned()), bad: Some("#1".to_owned()), ..shell("true") };
    assert_eq!(scene.workspace.bisect(&turned).unwrap_err().code(), Code::InvalidRange);
    assert_eq!(scene.story().len(), 3, "nothing was recorded");
}

#[test]
fn what_cannot_be_judged_is_skipped_and_named_when_it_hides_the_step() {
    let scene = history(&["1", "does not build", "does not build either", "broken", "broken 2"]);
    let script = "grep -q build a && exit 125; ! grep -q broken a";
    let answer = bisect(&scene, script).unwrap();
    let among: Vec<u64> = answer.among.iter().map(|seq| seq.0).collect();
    assert_eq!((among, found(&answer)), (vec![2, 3, 4], 0));
    assert_eq!((answer.good.0, answer.bad.0), (1, 4));
    assert_eq!(answer.summary, "one of #2 to #4 broke it; those before it could not be judged (5 runs)");
}

#[test]
fn a_crash_is_bad_and_an_ended_command_ends_the_search() {
    let scene = history(&["1", "2", "crash", "4"]);
    assert_eq!(found(&bisect(&scene, "grep -qE 'crash|4' a && kill -SEGV $$; true").unwrap()), 3);
    let by_a_shell = "grep -qE 'crash|4' a || exit 0; sh -c 'kill -ABRT $$'; exit $?";
    assert_eq!(found(&bisect(&scene, by_a_shell).unwrap()), 3);
    let ended = bisect(&scene, "grep -q 1 a || kill -TERM $$").unwrap_err();
    assert_eq!(ended.code(), Code::Cancelled);
    let slow = Bisect { timeout: Some(Duration::from_millis(300)), ..shell("grep -qE 'crash|4' a && sleep 20; true") };
    let answer = scene.workspace.bisect(&slow).unwrap();
    assert_eq!(found(&answer), 3);
    assert_eq!(answer.runs.iter().find(|run| run.step.0 == 3).unwrap().because, "timed out after 0.3 s");
}

#[test]
fn every_kind_of_file_comes_and_goes_as_the_steps_have_it() {
    let scene = Scene::empty();
    scene.write("bin/run", "#!/bin/sh\nexit 0\n");
    scene.chmod("bin/run", 0o755);
    scene.write("deep/er/file", "1");
    std::os::unix::fs::symlink("deep/er", scene.root.join("link")).unwrap();
    scene.workspace.track().unwrap();
    // A directory becomes a file, a file a directory, a link a file, a mode goes, and names are odd.
    scene.remove("deep");
    scene.write("deep", "now a file");
    scene.workspace.track().unwrap();
    std::fs::remove_file(scene.root.join("link")).unwrap();
    scene.write("link/file", "now a directory");
    scene.write("odd \u{fc}\nname", "x");
    scene.workspace.track().unwrap();
    scene.chmod("bin/run", 0o644);
    scene.workspace.track().unwrap();
    scene.remove("bin");
    scene.workspace.track().unwrap();
    let cases = [
        ("test -f deep/er/file", 2),
        ("test -L link", 3),
        ("test ! -e \"$(printf 'odd \\303\\274\\nname')\"", 3),
        ("test -x bin/run", 4),
        ("test -e bin", 5),
    ];
    for (script, step) in cases {
        assert_eq!(found(&bisect(&scene, script).unwrap()), step, "{script}");
        let both = Bisect { jobs: 3, ..shell(script) };
        assert_eq!(found(&scene.workspace.bisect(&both).unwrap()), step, "{script}, three at a time");
    }
}

#[test]
fn what_a_run_does_to_the_files_does_not_reach_the_next_run() {
    let scene = history(&["1", "2", "3", "broken", "5"]);
    // It spoils what it was given in every way, and leaves a program running that would go on doing so.
    let script = "ok=0; grep -qE 'broken|5' a && ok=1; echo broken > a; chmod 000 a; rm -f b; mkdir -p b/c; \
                  ln -sfn / d; (while :; do echo broken > a 2>/dev/null; sleep 0.05; done) & exit $ok";
    scene.write("b", "kept");
    assert_eq!(found(&bisect(&scene, script).unwrap()), 4);
}

#[test]
fn nothing_is_written_through_a_link_that_a_run_made() {
    let (scene, outside) = (Scene::empty(), tempfile::tempdir().unwrap());
    for number in 1..=6 {
        scene.write("dir/file", format!("{number}\n"));
        scene.workspace.track().unwrap();
    }
    let out = outside.path().display();
    let script = format!("n=$(cat dir/file); rm -rf dir; ln -s {out} dir; test \"$n\" -lt 4");
    assert_eq!(found(&bisect(&scene, &script).unwrap()), 4);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_source_of_the_same_length_is_never_taken_for_the_one_before_it() {
    // Python keeps what it compiled by the length of the source and the second it was changed in.
    let scene = Scene::empty();
    for number in 1..=8 {
        scene.write("part.py", format!("VALUE = {number}\n"));
        scene.write("check.py", "import part, sys\nsys.exit(part.VALUE >= 6)\n");
        scene.workspace.track().unwrap();
    }
    let command = ["python3", "check.py"].map(str::to_owned).to_vec();
    let answer = scene.workspace.bisect(&Bisect { command, ..Bisect::default() }).unwrap();
    assert_eq!(found(&answer), 6);
}

#[test]
fn caches_are_shared_and_what_is_written_to_a_link_is_told() {
    let scene = Scene::empty();
    scene.write(".gitignore", "modules/\nbuild/\n");
    scene.write("modules/tool/run", "#!/bin/sh\n! grep -q broken a\n");
    scene.chmod("modules/tool/run", 0o755);
    std::os::unix::fs::symlink("tool/run", scene.root.join("modules/link")).unwrap();
    scene.write("build/out", "built");
    for text in ["1", "2", "broken", "broken 2"] {
        scene.write("a", text);
        scene.workspace.track().unwrap();
    }
    assert!(bisect(&scene, "modules/link").unwrap_err().advises(&NextStep::WithShare));
    let with = |script: &str, share: &[&str], copy: &[&str]| Bisect {
        share: paths(share),
        copy: paths(copy),
        ..shell(script)
    };
    let answer = scene.workspace.bisect(&with("modules/link", &["modules"], &[])).unwrap();
    assert_eq!((found(&answer), answer.shared_changed.len()), (3, 0));
    let script = "echo spoiled >> build/out; modules/link";
    let answer = scene.workspace.bisect(&with(script, &["modules"], &["build"])).unwrap();
    assert_eq!((found(&answer), scene.text("build/out").as_str()), (3, "built"), "a copy is a copy");
    let answer = scene.workspace.bisect(&with(script, &["modules", "build"], &[])).unwrap();
    let spoiled = scene.text("build/out") != "built";
    assert_eq!(answer.shared_changed, if spoiled { paths(&["build/out"]) } else { Vec::new() });
    let no_directory = scene.workspace.bisect(&with("true", &["a"], &[])).unwrap_err();
    assert_eq!(no_directory.code(), Code::PathNotFound);
    scene.write("recorded/file", "x");
    scene.workspace.track().unwrap();
    let recorded = scene.workspace.bisect(&with("true", &["recorded"], &[])).unwrap_err();
    assert_eq!(recorded.code(), Code::InvalidPath);
    assert_eq!(scene.workspace.bisect(&with("true", &["nowhere"], &[])).unwrap_err().code(), Code::PathNotFound);
}

#[test]
fn the_command_runs_where_it_is_told_and_knows_the_step() {
    let scene = history(&["1"]);
    scene.write("sub/file", "x");
    scene.workspace.track().unwrap();
    scene.write("sub/file", "y");
    scene.workspace.track().unwrap();
    let request = Bisect {
        directory: Some(path("sub")),
        good: Some("#2".to_owned()),
        ..shell("test \"$(basename \"$PWD\")\" = sub && test \"$BACKSIGHT_STEP\" -lt 3 && test ! -e ../.git")
    };
    assert_eq!(found(&scene.workspace.bisect(&request).unwrap()), 3);
    let outside = bisect(&scene, "git rev-parse 2>/dev/null && exit 0; exit 1").unwrap_err();
    assert!(outside.message().contains("the good end, too"), "no repository further out is found: {outside}");
}

#[test]
fn a_search_that_is_taken_back_leaves_no_process_no_files_and_no_row() {
    let scene = Scene::of(&["of-this-test"]);
    for text in ["1", "2"] {
        scene.write("a", text);
        scene.workspace.track().unwrap();
    }
    let wanted = Arc::new(AtomicBool::new(true));
    let (flag, seen) = (wanted.clone(), Arc::new(Mutex::new(Vec::new())));
    let told = seen.clone();
    let call = CallSettings {
        cancelled: Some(Arc::new(move || !flag.load(Ordering::SeqCst))),
        progress: Some(Arc::new(move |progress| {
            if let Progress::Bisecting { steps, .. } = progress {
                told.lock().unwrap().push(steps);
            }
        })),
        ..CallSettings::default()
    };
    let handle = scene.workspace.for_call(call);
    let began = Instant::now();
    let error = std::thread::scope(|scope| {
        let search = scope.spawn(|| handle.bisect(&shell("sleep 8642.97531 & sleep 8642.97531")));
        while seen.lock().unwrap().is_empty() {
            std::thread::yield_now();
        }
        wanted.store(false, Ordering::SeqCst);
        search.join().unwrap().unwrap_err()
    });
    assert_eq!(error.code(), Code::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(seen.lock().unwrap().as_slice(), ["#1"]);
    assert_eq!(scene.story().len(), 3);
    let state = std::fs::read_dir(state().join("backsight/bisect")).unwrap().flatten();
    assert_eq!(state.filter(|own| own.path().join("files-0/of-this-test").exists()).count(), 0);
    assert!(!is_running("8642.97531"), "what the command left running went with it");
}

/// Whether a program runs that has this argument.
fn is_running(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes()))
}

#[test]
fn an_agent_runs_only_what_is_recorded() {
    let scene = history(&["1"]);
    scene.write("check", "#!/bin/sh\n! grep -q broken a\n");
    scene.chmod("check", 0o755);
    scene.workspace.track().unwrap();
    for text in ["2", "broken", "broken 2"] {
        scene.write("a", text);
        scene.workspace.track().unwrap();
    }
    let run = |command: &[&str], good: &str| {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        let good = Some(good.to_owned());
        scene.workspace.agent_bisect(&Bisect { command, good, ..Bisect::default() })
    };
    assert_eq!(found(&run(&["./check"], "#2").unwrap()), 4);
    for outside in ["sh", "/bin/sh", "check", "../../../../../../bin/sh"] {
        assert_eq!(run(&[outside, "-c", "true"], "#2").unwrap_err().code(), Code::NotAllowed, "{outside}");
    }
    // A link that was recorded at some step leads outside all the same.
    std::fs::remove_file(scene.root.join("check")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", scene.root.join("check")).unwrap();
    scene.workspace.track().unwrap();
    assert_eq!(run(&["./check", "-c", "true"], "#3").unwrap_err().code(), Code::NotAllowed);
}

#[test]
fn any_history_gives_the_first_bad_step() {
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let steps = prop::collection::vec((0usize..4, 0u8..3), 3..14);
    runner
        .run(&(steps, any::<prop::sample::Index>(), 1usize..4), |(steps, place, jobs)| {
            let scene = Scene::of(&["f0", "f1", "f2", "f3"]);
            let mut numbers = vec![1];
            for (turn, (file, act)) in steps.iter().enumerate() {
                let name = format!("f{file}");
                match act {
                    0 if scene.root.join(&name).exists() => scene.remove(&name),
                    1 => scene.write(&format!("dir{file}/{turn}"), "more"),
                    _ => scene.write(&name, format!("{turn}\n")),
                }
                let tracked = scene.workspace.track().unwrap();
                if tracked.created {
                    numbers.push(tracked.snapshot.sequence_number.0);
                }
            }
            prop_assume!(numbers.len() >= 3);
            let first_bad = numbers[1 + place.index(numbers.len() - 1)];
            let expected: BTreeMap<u64, Verdict> = numbers
                .iter()
                .map(|number| (*number, if *number < first_bad { Verdict::Good } else { Verdict::Bad }))
                .collect();
            // The files are compared with those of the snapshot, and the number decides.
            let request = Bisect { jobs, ..shell(&format!("test \"$BACKSIGHT_STEP\" -lt {first_bad}")) };
            let answer = scene.workspace.bisect(&request).unwrap();
            prop_assert_eq!(found(&answer), first_bad);
            for run in &answer.runs {
                prop_assert_eq!(expected[&run.step.0], run.verdict);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_files_of_every_step_are_exactly_the_snapshots() {
    let scene = Scene::of(&["a", "b/c", "b/d/e"]);
    for turn in 0..6 {
        match turn {
            0 => scene.write("a", "changed"),
            1 => scene.remove("b/d"),
            2 => scene.write("b/d", "a file now"),
            3 => scene.chmod("a", 0o755),
            4 => scene.remove("b"),
            _ => scene.write("b", "and this"),
        }
        scene.workspace.track().unwrap();
    }
    let place = tempfile::tempdir().unwrap();
    let out = place.path().display();
    // Every run copies what it was given aside; the last step is the bad one, so that all are looked at with three at a time.
    let script =
        format!("mkdir -p {out}/$BACKSIGHT_STEP && cp -a . {out}/$BACKSIGHT_STEP/ && test $BACKSIGHT_STEP -lt 7");
    let answer = scene.workspace.bisect(&Bisect { jobs: 3, ..shell(&script) }).unwrap();
    assert_eq!(found(&answer), 7);
    let mut looked_at = 0;
    for run in &answer.runs {
        let reference = format!("#{}", run.step.0);
        let copy = place.path().join(run.step.0.to_string());
        let listed = scene.workspace.list_files(&reference).unwrap();
        for entry in &listed {
            let bytes = std::fs::read(copy.join(entry.path.as_path())).unwrap();
            let stored = scene.workspace.get_file_at(&reference, &entry.path).unwrap();
            assert_eq!(bytes, stored, "{reference} {}", entry.path);
        }
        let files = walk(&copy);
        assert_eq!(files, listed.len(), "{reference}: nothing more and nothing less");
        looked_at += 1;
    }
    assert!(looked_at >= 4);
}

/// How many files are below a directory.
fn walk(directory: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    entries.map(|entry| if entry.file_type().unwrap().is_dir() { walk(&entry.path()) } else { 1 }).sum()
}

#[test]
fn many_steps_take_few_runs() {
    let scene = Scene::empty();
    for number in 0..200 {
        scene.write("a", format!("{number}\n"));
        scene.workspace.track().unwrap();
    }
    let answer = bisect(&scene, "test $(cat a) -lt 137").unwrap();
    assert_eq!(found(&answer), 138);
    assert!(answer.runs.len() <= 10, "{} runs", answer.runs.len());
    assert!(scene.workspace.verify().unwrap().clean);
}
