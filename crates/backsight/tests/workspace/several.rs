//! Several at once, each with a workspace value of its own, as several processes have: no row is lost, no number is
//! given twice or left out, and the timeline is whole.

use std::fs;
use std::sync::Barrier;

use backsight::report::{Kind, Origin, Strategy};
use backsight::request::{Begin, Collect, Finish, Log, NewMilestone, Note, Order, Track, Unknown};

use crate::lab::{damage, open};
use crate::scene::{Scene, path};

const THREADS: usize = 8;
const ROUNDS: usize = 5;

fn origin(thread: usize, file: &str) -> Origin {
    Origin { tool: Some(format!("agent {thread}")), declared: vec![path(file)], ..Origin::default() }
}

/// The numbers of all rows, oldest first, must be 1, 2, 3, ...
fn check_numbers(scene: &Scene, at_least: usize) {
    let page = scene.workspace.log(&Log { order: Order::OldestFirst, ..Log::default() }).unwrap();
    let numbers: Vec<u64> = page.rows.iter().map(|row| row.sequence_number().0).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "no gaps");
    assert!(numbers.len() >= at_least, "{} rows, at least {at_least} were answered for", numbers.len());
    scene.check_chain().unwrap();
    assert_eq!(damage(&open(&scene.root)), "", "to somebody who comes anew");
    assert_eq!(damage(&scene.workspace), "", "to somebody who was there all the time");
}

#[test]
fn eight_agents_with_declared_calls_at_once_each_get_every_step_of_theirs() {
    let files: Vec<String> = (0..THREADS).map(|thread| format!("dir {thread}/file")).collect();
    let scene = Scene::of(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for (thread, file) in files.iter().enumerate() {
            let (scene, barrier) = (&scene, &barrier);
            scope.spawn(move || {
                let workspace = open(&scene.root);
                barrier.wait();
                for round in 1..=ROUNDS {
                    let begin = Begin { origin: origin(thread, file), ..Begin::default() };
                    let call = workspace.begin(&begin).unwrap().call.id.to_string();
                    fs::write(scene.root.join(file), format!("{thread} wrote {round}\n")).unwrap();
                    let finished = workspace.finish(&Finish { call, ..Finish::default() }).unwrap();
                    assert!(finished.created && finished.snapshot.kind == Kind::Track);
                    assert_eq!(finished.snapshot.files_changed, 1);
                }
            });
        }
    });
    assert_eq!(scene.workspace.open_calls().unwrap(), []);
    assert!(scene.workspace.status().unwrap().clean);
    for (thread, file) in files.iter().enumerate() {
        let query = Log { tool: Some(format!("agent {thread}")), order: Order::OldestFirst, ..Log::default() };
        let steps = scene.workspace.log(&query).unwrap();
        assert_eq!(steps.rows.len(), ROUNDS);
        for (round, step) in (1..).zip(steps.snapshots()) {
            let text = scene.workspace.get_file_at(step.id.as_str(), &path(file)).unwrap();
            assert_eq!(String::from_utf8_lossy(&text), format!("{thread} wrote {round}\n"));
            let detail = scene.workspace.show_detail(step.id.as_str()).unwrap();
            assert_eq!(detail.affected_files, [path(file)]);
        }
    }
    check_numbers(&scene, 1 + THREADS * ROUNDS);
}

/// A server keeps its workspace open while commands come and go beside it.
#[test]
fn what_another_process_collected_is_stored_again_when_it_comes_back() {
    let scene = Scene::of(&["a"]);
    for text in ["1\n", "2\n", "3\n"] {
        scene.write("a", text);
        scene.workspace.track().unwrap();
    }
    let collected = open(&scene.root).gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    assert!(collected.objects_removed > 0);
    scene.write("a", "0\n");
    let back = scene.workspace.track().unwrap().snapshot;
    assert_eq!(open(&scene.root).get_file_at(back.id.as_str(), &path("a")).unwrap(), b"0\n");
    assert_eq!(damage(&open(&scene.root)), "");
}

#[test]
fn tracks_calls_notes_milestones_and_undos_at_once_lose_nothing() {
    let scene = Scene::of(&["shared"]);
    let barrier = Barrier::new(THREADS);
    let answered: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (scene, barrier) = (&scene, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    (0..ROUNDS).map(|round| act(scene, thread, round)).sum::<usize>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(scene.workspace.open_calls().unwrap(), []);
    check_numbers(&scene, 1 + answered);
    let page = scene.workspace.log(&Log::default()).unwrap();
    let mut ids: Vec<String> =
        page.rows.iter().map(|row| serde_json::to_value(row).unwrap()["id"].to_string()).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "no row twice");
}

/// One of the things a process does; how many rows it was told it made.
fn act(scene: &Scene, thread: usize, round: usize) -> usize {
    let workspace = open(&scene.root);
    let file = format!("file {thread}");
    let write = || fs::write(scene.root.join(&file), format!("{thread} {round}\n")).unwrap();
    match (thread + round) % 5 {
        0 => {
            write();
            usize::from(
                workspace.track_with(&Track { origin: origin(thread, &file), ..Track::default() }).unwrap().created,
            )
        }
        1 => {
            let call = workspace.begin(&Begin { origin: origin(thread, &file), ..Begin::default() }).unwrap();
            write();
            let integrate = Unknown { strategy: Some(Strategy::AutoIntegrate), force: false };
            let finish = Finish { call: call.call.id.to_string(), unknown: integrate, ..Finish::default() };
            let finished = workspace.finish(&finish).unwrap();
            usize::from(finished.created) + usize::from(finished.integrated.is_some())
        }
        2 => {
            let details = serde_json::json!({});
            let (kind, description) = (Kind::Recovery, format!("{thread} {round}"));
            workspace.note(&Note { kind, description, origin: Origin::default(), details }).unwrap();
            1
        }
        3 => {
            let title = format!("{thread} {round}");
            // There may be nothing to put into one.
            usize::from(
                workspace.create_milestone_by_range(&NewMilestone { title, ..NewMilestone::default() }, None).is_ok(),
            )
        }
        // It may conflict with what another wrote just now.
        _ => usize::from(workspace.undo(&Default::default()).is_ok_and(|undone| undone.snapshot.is_some())),
    }
}
