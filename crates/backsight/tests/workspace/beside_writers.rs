//! Readers are never disturbed: others record, join packs and collect garbage all the time, and no reader sees an error.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use backsight::Code;
use backsight::request::{Collect, Log};

use crate::lab::open;
use crate::scene::Scene;

const READS: u64 = 10_000;
const READERS: u64 = 2;

/// Reads everything that can be read, from a handle that another process could have; now and then from a new one.
fn read(root: &Path, failures: &AtomicU64) {
    let mut workspace = open(root);
    for number in 0..READS / READERS {
        if number % 200 == 0 {
            workspace = open(root);
        }
        let outcome = match number % 20 {
            0 => workspace.status().map(drop),
            1 => workspace.list_files("@").map(drop),
            2 => workspace.diff_full("1", Some("@")).map(drop),
            3 => workspace.log(&Log { limit: 20, ..Log::default() }).map(drop),
            4 => workspace.show_detail("@").map(drop),
            5 => workspace.changes_of("@").map(drop),
            _ => workspace.get_file_at("1", &"a".parse().unwrap()).map(|bytes| assert_eq!(bytes, b"0\n")),
        };
        if let Err(error) = outcome {
            failures.fetch_add(1, Ordering::Relaxed);
            eprintln!("read {number}: {error}");
        }
    }
}

#[test]
fn ten_thousand_reads_beside_two_writers_and_a_collector_see_no_error() {
    let scene = Scene::of(&["a", "b", "dir/c"]);
    scene.workspace.pin("1", true).unwrap();
    let (done, failures) = (AtomicBool::new(false), AtomicU64::new(0));
    let root = scene.root.as_path();
    let (mut steps, mut collections) = (0, 0);
    std::thread::scope(|scope| {
        let writers: Vec<_> = ["b", "dir/c"]
            .map(|file| {
                let done = &done;
                scope.spawn(move || {
                    let workspace = open(root);
                    let mut steps = 0;
                    while !done.load(Ordering::Relaxed) {
                        steps += 1;
                        fs::write(root.join(file), format!("{file} {steps}\n")).unwrap();
                        workspace.track().unwrap();
                    }
                    steps
                })
            })
            .into();
        let collector = scope.spawn(|| {
            let (workspace, mut rounds) = (open(root), 0);
            while !done.load(Ordering::Relaxed) {
                workspace.gc(&Collect { keep_count: Some(30), ..Collect::default() }).unwrap();
                rounds += 1;
            }
            rounds
        });
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(|| read(root, &failures))).collect();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        done.store(true, Ordering::Relaxed);
        steps = writers.into_iter().map(|writer| writer.join().unwrap()).sum::<u64>();
        collections = collector.join().unwrap();
    });
    // Enough for packs to be joined and rewritten under the readers many times.
    assert!(steps > 50 && collections > 10, "{steps} steps, {collections} collections");
    assert_eq!(failures.into_inner(), 0);
}

/// What another process expired between two looks of a reader is expired, not damage.
#[test]
fn what_was_collected_is_expired_for_a_reader_that_had_it_open() {
    let scene = Scene::of(&["a"]);
    for number in 1..5 {
        scene.write("a", format!("{number}\n"));
        scene.workspace.track().unwrap();
    }
    let reader = open(&scene.root);
    reader.get_file_at("2", &"a".parse().unwrap()).unwrap();
    scene.workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    assert_eq!(reader.get_file_at("2", &"a".parse().unwrap()).unwrap_err().code(), Code::RefExpired);
    assert_eq!(reader.list_files("2").unwrap_err().code(), Code::RefExpired);
    assert_eq!(reader.get_file_at("@", &"a".parse().unwrap()).unwrap(), b"4\n");
}

/// A server that has its packs listed finds what another process stored since.
#[test]
fn a_blob_that_another_process_stored_is_found() {
    let scene = Scene::of(&["a"]);
    let reader = open(&scene.root);
    reader.get_file_at("1", &"a".parse().unwrap()).unwrap();
    scene.write("a", "another\n");
    scene.workspace.track().unwrap();
    let blob = scene.workspace.list_files("@").unwrap()[0].blob.unwrap();
    assert_eq!(reader.get_blob(&blob).unwrap(), b"another\n");
}
