//! Writes that a file system or a watcher says little about: through shared memory, and through another name of a file.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::lab::{Lab, open};
use crate::scene::Scene;

/// A program that maps a file and writes to it whenever it is told what.
struct Mapper(Child);

impl Mapper {
    fn of(file: &Path) -> Mapper {
        let script = "import mmap, sys\n\
            with open(sys.argv[1], 'r+b') as f: m = mmap.mmap(f.fileno(), 0)\n\
            for line in sys.stdin:\n    m[0:4] = line.strip().encode(); print('done', flush=True)\n";
        let mut program = Command::new("python3");
        program.args(["-c", script]).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
        Mapper(program.spawn().expect("`python3` is missing: apt-get install python3"))
    }

    fn write(&mut self, text: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{text}").unwrap();
        let mut answer = String::new();
        BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n");
    }
}

impl Drop for Mapper {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Longer than any time stamp is coarse, so that nothing is looked at again for that reason.
fn settle() {
    sleep(Duration::from_millis(1100));
}

#[test]
fn a_second_write_through_shared_memory_is_seen() {
    let scene = Scene::within(Lab::on_disk());
    scene.write("data.mdb", [0; 65536]);
    scene.workspace.track().unwrap();
    let mut program = Mapper::of(&scene.root.join("data.mdb"));
    for text in ["AAAA", "BBBB", "CCCC"] {
        program.write(text);
        settle();
        assert!(!scene.workspace.status().unwrap().clean, "{text}");
        assert!(scene.workspace.track().unwrap().created, "{text}");
        let stored = scene.workspace.get_file_at("@", &"data.mdb".parse().unwrap()).unwrap();
        assert_eq!(&stored[..4], text.as_bytes());
        settle();
    }
}

/// However many files the capture before had to read, and whatever the file looks like.
#[test]
fn a_second_write_is_seen_beside_many_new_files() {
    let scene = Scene::within(Lab::on_disk());
    for number in 0..200 {
        scene.write(&format!("{number}.png"), [0; 5000]);
    }
    scene.write("notes.txt", "line\n".repeat(2000));
    let mut program = Mapper::of(&scene.root.join("notes.txt"));
    program.write("AAAA");
    settle();
    scene.workspace.track().unwrap();
    for text in ["BBBB", "CCCC"] {
        program.write(text);
        settle();
        assert!(!scene.workspace.status().unwrap().clean, "{text}");
        assert!(scene.workspace.track().unwrap().created, "{text}");
    }
}

/// In a container the workspace is often an overlay, whose pages the kernel keeps with the files below it.
#[test]
fn a_second_write_is_seen_on_an_overlay() {
    let lab = Lab::on_disk();
    let [below, above, work, merged] = ["below", "above", "work", "merged"].map(|name| lab.path().join(name));
    for directory in [&below, &above, &work, &merged] {
        fs::create_dir(directory).unwrap();
    }
    fs::write(below.join("data.mdb"), [0; 65536]).unwrap();
    let overlay = Overlay::mount(&below, &above, &work, &merged);
    let workspace = open(&merged);
    workspace.track().unwrap();
    let mut program = Mapper::of(&merged.join("data.mdb"));
    for text in ["AAAA", "BBBB", "CCCC"] {
        program.write(text);
        settle();
        assert!(workspace.track().unwrap().created, "{text}");
    }
    drop(program);
    drop(workspace);
    drop(overlay);
}

/// An overlay that is mounted until it is dropped.
struct Overlay(PathBuf);

impl Overlay {
    fn mount(below: &Path, above: &Path, work: &Path, merged: &Path) -> Overlay {
        let [below, above, work] = [below, above, work].map(|path| path.display().to_string());
        let options = format!("lowerdir={below},upperdir={above},workdir={work}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "overlay", "overlay", "-o", &options]).arg(merged);
        assert!(mount.status().unwrap().success(), "this test mounts an overlay: run it as root");
        Overlay(merged.to_owned())
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).status());
    }
}

/// A watcher hears of neither; the call declares nothing, so everything is walked when it ends.
#[test]
fn a_call_that_declares_nothing_holds_what_a_watcher_cannot_hear_of() {
    let scene = Scene::within(Lab::on_disk());
    scene.write("linked", "0\n");
    scene.write("data.mdb", [0; 65536]);
    let outside = scene.lab.path().join("outside");
    fs::hard_link(scene.root.join("linked"), &outside).unwrap();
    scene.workspace.track().unwrap();
    scene.workspace.watch().unwrap();
    settle();
    scene.workspace.track().unwrap();
    let mut program = Mapper::of(&scene.root.join("data.mdb"));
    for text in ["AAAA", "BBBB"] {
        let call = scene.begin("shell", &[]);
        program.write(text);
        fs::write(&outside, format!("{text}\n")).unwrap();
        let changed: Vec<String> = scene.finish(&call).changes.iter().map(|change| change.path.to_string()).collect();
        assert_eq!(changed, ["data.mdb", "linked"], "{text}");
        settle();
    }
}
