//! Measures a long-lived, watching workspace: `watch_speed DIR [rounds]` in a tree with files in it. Prints percentiles.

#![allow(clippy::disallowed_methods)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use backsight::Workspace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let root = PathBuf::from(arguments.next().ok_or("name a directory")?);
    let rounds: usize = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(200);
    let files = find_files(&root)?;
    let workspace = Workspace::open(&root)?;
    let walked = measure(3, |_| workspace.track().map(drop))?;
    println!("track, walking, nothing new   {}", line(walked));
    workspace.watch()?;
    workspace.track()?;
    workspace.status()?;
    let edit = |number: usize| {
        let text = format!("edit {number} {:?}\n", std::time::SystemTime::now());
        std::fs::write(&files[number * 7919 % files.len()], text)
    };
    println!("status, nothing new           {}", line(measure(rounds, |_| workspace.status().map(drop))?));
    println!("track, nothing new            {}", line(measure(rounds, |_| workspace.track().map(drop))?));
    let mut took = Vec::new();
    for number in 0..rounds {
        edit(number)?;
        took.extend(measure(1, |_| workspace.status().map(drop))?);
        workspace.track()?;
    }
    println!("status after one edit         {}", line(took));
    let mut took = Vec::new();
    for number in 0..rounds {
        edit(number + 1)?;
        took.extend(measure(1, |_| workspace.track().map(drop))?);
    }
    println!("track after one edit          {}", line(took));
    println!("{:?}", workspace.verify_watch()?);
    Ok(())
}

fn measure<E>(rounds: usize, mut run: impl FnMut(usize) -> Result<(), E>) -> Result<Vec<Duration>, E> {
    let mut took = Vec::with_capacity(rounds);
    for number in 0..rounds {
        let began = Instant::now();
        run(number)?;
        took.push(began.elapsed());
    }
    Ok(took)
}

fn line(mut took: Vec<Duration>) -> String {
    took.sort();
    let at = |share: usize| took[(took.len() * share / 100).min(took.len() - 1)];
    format!("p50 {:?}  p90 {:?}  p99 {:?}  max {:?}", at(50), at(90), at(99), at(100))
}

fn find_files(directory: &std::path::Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            found.push(entry.path());
        } else if entry.file_type()?.is_dir() && !entry.file_name().as_encoded_bytes().starts_with(b".") {
            found.extend(find_files(&entry.path())?);
        }
    }
    found.sort();
    Ok(found)
}
