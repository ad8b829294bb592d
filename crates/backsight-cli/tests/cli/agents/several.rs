//! Several `backsight mcp` in one workspace: one serves, the others join it, and none is missed when it is gone.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Agent, Era};
use super::{eventually, server_json};
use crate::fixture::Fixture;

/// The one that listens, once it says so.
#[track_caller]
fn listener(fixture: &Fixture) -> u32 {
    eventually("somebody listens", || {
        let process = server_json(fixture)?["pid"].as_u64()? as u32;
        Path::new(&format!("/proc/{process}")).exists().then_some(process)
    })
}

#[track_caller]
fn listener_among(fixture: &Fixture, agents: &[Agent]) -> usize {
    eventually("one of them listens", || {
        let process = listener(fixture);
        agents.iter().position(|agent| agent.process() == process)
    })
}

fn agents(fixture: &Fixture, count: usize) -> Vec<Agent> {
    let era = |index: usize| Era::ALL[index % 3];
    let mut agents: Vec<Agent> =
        (0..count).map(|index| Agent::named(fixture, &format!("agent {index}"), era(index))).collect();
    agents.iter_mut().for_each(|agent| drop(agent.ok("workspace_status", json!({}))));
    agents
}

#[test]
fn one_listens_and_the_others_join_it() {
    for count in [2, 5] {
        let fixture = Fixture::with_history();
        let mut agents = agents(&fixture, count);
        listener_among(&fixture, &agents);
        for (index, agent) in agents.iter_mut().enumerate() {
            fixture.write(&format!("by_{index}.txt"), "x\n");
            let step = agent.ok("files_track", json!({ "description": format!("step {index}") }));
            assert_eq!(step["snapshot"], format!("#{}", 4 + index));
        }
        assert_eq!(agents[0].ok("history_query", json!({}))["rows"].as_array().unwrap().len(), 3 + count);
        fixture.verify();
    }
}

#[test]
fn when_the_first_is_killed_another_takes_over_and_history_is_whole() {
    let fixture = Fixture::with_history();
    let mut agents = agents(&fixture, 4);
    let mut recorded = 3;
    while agents.len() > 1 {
        let first = listener_among(&fixture, &agents);
        let mut killed = agents.remove(first);
        killed.signal("-KILL");
        killed.wait(Duration::from_secs(5)).unwrap();
        // At once, before anybody can have noticed.
        for agent in &mut agents {
            recorded += 1;
            fixture.write("a.txt", &recorded.to_string());
            let step = agent.ok("files_track", json!({}));
            assert_eq!((&step["created"], &step["snapshot"]), (&json!(true), &json!(format!("#{recorded}"))));
        }
        listener_among(&fixture, &agents);
    }
    let rows = agents[0].ok("history_query", json!({ "max_tokens": 2000 }))["rows"].as_array().unwrap().len();
    assert_eq!(rows, recorded);
    fixture.verify();
}

#[test]
fn a_call_that_loses_its_server_midway_is_done_or_said_to_be_unclear() {
    let fixture = Fixture::in_memory();
    fixture.write("a.txt", "a\n");
    fixture.done("track -m start");
    for round in 0..4 {
        let mut agents = agents(&fixture, 2);
        let first = listener_among(&fixture, &agents);
        let mut server = agents.remove(first);
        let mut agent = agents.remove(0);
        for index in 0..300 {
            fixture.write(&format!("round_{round}/{index}.txt"), "x\n");
        }
        let call = agent.send("tools/call", json!({ "name": "files_track", "arguments": {} }));
        // Not to wait for anything: each round the server dies at another moment of the call.
        std::thread::sleep(Duration::from_millis(3 * round));
        server.signal("-KILL");
        server.wait(Duration::from_secs(5)).unwrap();
        let said = agent.said("files_track", call);
        if said.is_error {
            assert_eq!(said.structured["error"]["code"], "SERVER_UNREACHABLE", "{}", said.text);
            assert_eq!(said.structured["error"]["next"]["tool"], "workspace_status");
        }
        agent.ok("files_track", json!({}));
        assert_eq!(agent.ok("workspace_status", json!({}))["clean"], true);
        fixture.verify();
    }
}

#[test]
fn a_process_ends_soon_whatever_ends_it_and_leaves_nothing() {
    for (ending, is_busy) in
        [("stdin", false), ("-TERM", false), ("-INT", false), ("-HUP", false), ("stdin", true), ("-TERM", true)]
    {
        let fixture = Fixture::in_memory();
        let mut agent = Agent::new(&fixture);
        agent.ok("workspace_status", json!({}));
        assert_eq!(listener(&fixture), agent.process());
        let process = agent.process();
        if is_busy {
            for index in 0..3000 {
                fixture.write(&format!("{}/{index}.txt", index % 50), &index.to_string());
            }
            let how_far = json!({ "progressToken": "how-far" });
            agent.send("tools/call", json!({ "name": "files_track", "arguments": {}, "_meta": how_far }));
            agent.wait_for(|message| message["method"] == "notifications/progress");
        }
        let since = Instant::now();
        let status = match ending {
            "stdin" => agent.leave(),
            signal => {
                agent.signal(signal);
                agent.wait(Duration::from_secs(10)).expect("it ends when it is told to")
            }
        };
        let took = since.elapsed();
        assert!(status.success(), "{ending}: {status:?}");
        assert!(took < Duration::from_secs(if is_busy { 3 } else { 1 }), "{ending}, busy {is_busy}: {took:?}");
        assert!(server_json(&fixture).is_none(), "{ending}");
        assert!(!Path::new(&format!("/proc/{process}")).exists());
        assert_eq!(fixture.json("serve --show").0["running"], false);
        fixture.verify();
    }
}

#[test]
fn those_who_wait_for_the_seat_end_as_soon() {
    let fixture = Fixture::with_history();
    let mut agents = agents(&fixture, 3);
    let first = listener_among(&fixture, &agents);
    let server = agents.remove(first);
    for agent in agents {
        let since = Instant::now();
        assert!(agent.leave().success());
        assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    }
    assert_eq!(listener(&fixture), server.process());
}

#[test]
fn a_start_is_fast_and_a_rest_is_small() {
    let fixture = Fixture::with_history();
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let since = Instant::now();
        let agent = Agent::new(&fixture);
        best = best.min(since.elapsed());
        agent.leave();
    }
    // A debug build on a busy machine; `make bench` measures the 50 ms of a release build.
    assert!(best < Duration::from_millis(500), "{best:?}");
    let mut agent = Agent::new(&fixture);
    agent.ok("workspace_status", json!({}));
    agent.ok("files_diff", json!({ "from": "#1" }));
    let status = std::fs::read_to_string(format!("/proc/{}/status", agent.process())).unwrap();
    // What it holds itself: pages of the program's own file count in `make bench`, where that is not a debug build's.
    let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let kilobytes: u64 = own.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 15 << 10, "{kilobytes} kB");
}
