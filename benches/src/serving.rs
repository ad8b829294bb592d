//! What is measured of the server: one tool asked by many clients, a snapshot after an edit with the watcher, a hook, its
//! start, and a long day of an agent in a few minutes.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Result;
use crate::measure::{Samples, interleave};
use crate::random::Random;
use crate::server::{Server, start_of_mcp};
use crate::table::{Ratio, Row, Table};
use crate::work::Bench;

const CLIENTS: usize = 50;
/// Calls of each client.
const CALLS: usize = 100;

impl Bench {
    /// Everything about the server, on the ordinary tree.
    pub fn server(&mut self, soak_calls: usize) -> Result<()> {
        self.settle()?;
        self.start_of_server()?;
        let server = Server::start(&self.backsight)?;
        self.status_of_many(&server)?;
        self.edit_watched(&server)?;
        self.hook(&server)?;
        self.soak(&server, soak_calls)
    }

    fn start_of_server(&mut self) -> Result<()> {
        let mut runs = Vec::new();
        for _ in 0..self.rounds.timed {
            runs.push(start_of_mcp(&self.backsight)?);
        }
        let times = Samples::new(runs.iter().map(|(elapsed, _)| *elapsed).collect());
        bar(&mut self.table, "start of `backsight mcp` to `initialize`", &times, Duration::from_millis(50));
        let size = std::fs::metadata(&self.backsight.binary)?.len();
        self.table.push(Row::bytes("the binary", size, "the bar", 25_000_000, Ratio::AtMost(1.0)));
        let memory = runs.iter().map(|(_, memory)| *memory).max().unwrap_or(0);
        self.table.push(Row::bytes(
            "memory of `backsight mcp`, idle",
            memory,
            "the bar",
            30_000_000,
            Ratio::AtMost(1.0),
        ));
        Ok(())
    }

    /// `workspace_status` over HTTP, asked by many clients at once.
    fn status_of_many(&mut self, server: &Server) -> Result<()> {
        let mut connections = Vec::new();
        for _ in 0..CLIENTS {
            connections.push(server.connect()?);
        }
        connections[0].call("workspace_status", json!({}))?;
        let threads: Vec<_> = connections
            .into_iter()
            .map(|mut connection| {
                std::thread::spawn(move || -> Result<Vec<Duration>> {
                    let mut times = Vec::new();
                    for _ in 0..CALLS {
                        let (elapsed, answer) = connection.call("workspace_status", json!({}))?;
                        if answer["clean"] != json!(true) {
                            return Err(format!("nothing changed, yet {answer}").into());
                        }
                        times.push(elapsed);
                        // An agent thinks between two calls; fifty of them still ask some thousand times a second.
                        std::thread::sleep(Duration::from_millis(50));
                    }
                    Ok(times)
                })
            })
            .collect();
        let mut times = Vec::new();
        for thread in threads {
            times.extend(thread.join().map_err(|_| "a client panicked")??);
        }
        times.sort_unstable();
        let at = |share: f64| Samples::new(vec![times[((times.len() - 1) as f64 * share) as usize]]);
        let of = |name: &str| format!("workspace_status, {CLIENTS} clients, {name}");
        bar(&mut self.table, &of("p50"), &at(0.50), Duration::from_millis(2));
        bar(&mut self.table, &of("p99"), &at(0.99), Duration::from_millis(10));
        Ok(())
    }

    /// `files_track` after one edit while the server watches.
    fn edit_watched(&mut self, server: &Server) -> Result<()> {
        let mut connection = server.connect()?;
        connection.call("files_track", json!({}))?;
        let edits = &mut self.edits;
        let mut ours = || match connection.call("files_track", json!({}))? {
            (elapsed, answer) if answer["created"] == json!(true) => Ok(elapsed),
            (_, answer) => Err(format!("a file changed, yet {answer}").into()),
        };
        let mut theirs = || Ok(self.git.snapshot()?.0);
        let prepare = || {
            edits.next(&[&self.ours, &self.theirs])?;
            rustix::fs::sync();
            Ok(())
        };
        let [ours, theirs] = interleave(self.rounds, prepare, [&mut ours, &mut theirs])?;
        self.table.push(Row::times("one file changed, watched", &ours, crate::work::ADD, &theirs, Ratio::Faster(30.0)));
        Ok(())
    }

    /// An agent's hook before and after an edit.
    fn hook(&mut self, _server: &Server) -> Result<()> {
        let mut number = 0;
        let mut times = Vec::new();
        for _ in 0..self.rounds.warm_up + self.rounds.timed {
            number += 1;
            let path = self.ours.root.join(&self.ours.texts[number]);
            let mut payload = json!({
                "session_id": "bench", "transcript_path": "/dev/null", "cwd": self.ours.root, "permission_mode": "default",
                "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": format!("toolu_{number}"),
                "tool_input": { "file_path": path, "old_string": "a", "new_string": "b" },
            });
            times.push(self.hooked(&payload)?);
            self.ours.append(&self.ours.texts[number], "// hooked\n")?;
            payload["hook_event_name"] = json!("PostToolUse");
            payload["tool_response"] = json!({ "filePath": path });
            times.push(self.hooked(&payload)?);
        }
        let times = Samples::new(times.split_off(2 * self.rounds.warm_up));
        bar(&mut self.table, "`backsight hook` around an edit, whole process", &times, Duration::from_millis(50));
        Ok(())
    }

    fn hooked(&self, payload: &Value) -> Result<Duration> {
        let start = Instant::now();
        let mut command = self.backsight.command(&["hook", "claude-code"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        process.stdin.take().ok_or("no input")?.write_all(payload.to_string().as_bytes())?;
        let output = process.wait_with_output()?;
        let elapsed = start.elapsed();
        match output.status.success() && output.stderr.is_empty() {
            true => Ok(elapsed),
            false => Err(format!("the hook said {}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

    /// A day of calls in minutes: mostly questions, every tenth an edit and a snapshot. Memory must not grow with them.
    fn soak(&mut self, server: &Server, calls: usize) -> Result<()> {
        let mut connection = server.connect()?;
        let mut random = Random::new(crate::SEED);
        let mut early = 0;
        let start = Instant::now();
        for number in 0..calls {
            // By then the watcher has been compared with a whole walk, which takes room once.
            if number == calls / 2 {
                early = server.memory()?;
            }
            match random.next() % 10 {
                0 => {
                    self.edits.next(&[&self.ours])?;
                    connection.call("files_track", json!({ "description": format!("call {number}") }))?;
                }
                1 => drop(connection.call("history_query", json!({ "limit": 20 }))?),
                2 => drop(connection.call("files_diff", json!({ "from": "@~3", "to": "@" }))?),
                3 => drop(connection.call("files_changes", json!({ "from": "@~3" }))?),
                _ => drop(connection.call("workspace_status", json!({}))?),
            }
        }
        let late = server.memory()?;
        let each = Samples::new(vec![start.elapsed() / u32::try_from(calls.max(1))?]);
        let work = format!("a call, {calls} of them in a row");
        self.table.push(Row::times(
            &work,
            &each,
            "the bar: a day in five minutes",
            &Samples::new(vec![Duration::from_millis(3)]),
            Ratio::AtMost(1.0),
        ));
        self.table.push(Row::bytes("memory after all of them", late, "after half of them", early, Ratio::AtMost(1.1)));
        Ok(())
    }
}

fn bar(table: &mut Table, work: &str, samples: &Samples, limit: Duration) {
    table.push(Row::times(work, samples, "the bar", &Samples::new(vec![limit]), Ratio::AtMost(1.0)));
}
