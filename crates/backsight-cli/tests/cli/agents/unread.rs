//! A client that asks and does not read: its pipe fills, not our memory, and when it reads at last nothing is missing.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::eventually;
use crate::fixture::Fixture;

/// Each is answered with the list of all tools.
const CALLS: usize = 3000;
const MOST_KILOBYTES: u64 = 60_000;

#[test]
fn answers_that_are_not_read_do_not_pile_up() {
    let fixture = Fixture::with_history();
    let mut child = fixture.command("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let client = json!({ "name": "t", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    stdin.write_all(format!("{hello}\n{note}\n").as_bytes()).unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let progress = sent.clone();
    let writing = std::thread::spawn(move || {
        for id in 1..=CALLS {
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {} });
            stdin.write_all(format!("{call}\n").as_bytes()).unwrap();
            progress.store(id, Ordering::SeqCst);
        }
        stdin
    });
    let mut before = usize::MAX;
    let stood_still = eventually("the client is held up, or all was taken", || {
        std::thread::sleep(Duration::from_millis(500));
        let now = sent.load(Ordering::SeqCst);
        (std::mem::replace(&mut before, now) == now).then_some(now)
    });
    let kilobytes = resident(child.id());
    assert!(kilobytes < MOST_KILOBYTES, "{kilobytes} kB after {stood_still} requests");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ids: BTreeSet<u64> = lines
        .by_ref()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .filter_map(|answer| answer["result"].is_object().then(|| answer["id"].as_u64().unwrap()))
        .take(CALLS + 1)
        .collect();
    assert_eq!(ids, (0..=CALLS as u64).collect());
    drop(writing.join().unwrap());
    assert!(child.wait().unwrap().success());
}

fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
