//! What the answer across lanes costs on a long history, and what a run of `bisect` adds to the command it runs.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Result;
use crate::measure::{Samples, run};
use crate::server::{Connection, Server};
use crate::subject::Backsight;
use crate::table::{Ratio, Row, Table};
use crate::tokens;
use crate::work::Bench;

/// Steps and events before the question.
const STEPS: usize = 10_000;
const EVENTS: usize = 100_000;
/// Events of one report.
const REPORT: usize = 1_000;
/// Steps of the search on the ordinary tree.
const SEARCHED: usize = 32;

/// The answer to "what changed, and because of what" after a long day: an edit, an error in it, and the question.
pub fn measure(backsight: &Backsight, rounds: usize, table: &mut Table) -> Result<()> {
    fs::create_dir_all(backsight.workspace.join("src"))?;
    let server = Server::start(backsight)?;
    let mut connection = server.connect()?;
    eprintln!("recording {STEPS} steps and {EVENTS} events");
    for number in 0..STEPS {
        edit(backsight, &mut connection, number)?;
    }
    for report in 0..EVENTS / REPORT {
        let events: Vec<Value> = (0..REPORT)
            .map(|number| json!({ "level": "info", "message": format!("row {} of {report} is loaded", number % 50) }))
            .collect();
        connection.post("/ingest/console", &json!({ "source": "terminal: bench", "events": events }))?;
    }
    connection.call("get_changes_since", json!({}))?;
    let (mut times, mut texts) = (Vec::new(), Vec::new());
    for round in 0..rounds + 1 {
        let number = STEPS + round;
        let step = edit(backsight, &mut connection, number)?;
        let message = format!("TypeError: {} is not a function at src/module_{}.js:2:1", name(number), number % 40);
        let event = json!({ "level": "error", "message": message });
        connection.post("/ingest/console", &json!({ "source": "terminal: bench", "events": [event] }))?;
        let (elapsed, answer) = connection.call("get_changes_since", json!({}))?;
        if answer["because"][0]["step"] != json!(step) {
            return Err(format!("{step} broke it, yet {answer}").into());
        }
        times.push(elapsed);
        texts.push(answer.to_string());
    }
    let times = Samples::new(times.split_off(1));
    let limit = Samples::new(vec![Duration::from_millis(5)]);
    let work = format!("answer across lanes, {STEPS} steps, {EVENTS} events");
    table.push(Row::times(&work, &times, "the bar", &limit, Ratio::AtMost(1.0)));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let most = tokens::count(&texts)?.into_iter().max().unwrap_or(0);
    table.push(Row::counts("its answer in tokens (o200k)", most, "the bar", 700, Ratio::AtMost(1.0)));
    Ok(())
}

/// One edit as an agent makes it; its number.
fn edit(backsight: &Backsight, connection: &mut Connection, number: usize) -> Result<String> {
    let file = format!("src/module_{}.js", number % 40);
    fs::write(backsight.workspace.join(&file), format!("// {number}\nexport const {} = {number};\n", name(number)))?;
    let arguments = json!({ "declare": [file], "tool": "Edit", "session": "bench" });
    let (_, answer) = connection.call("files_track", arguments)?;
    let text = answer["snapshot"].as_str().or(answer["step"].as_str()).unwrap_or_default();
    match text.starts_with('#') {
        true => Ok(text.split(' ').next().unwrap_or_default().to_owned()),
        false => Err(format!("a file changed, yet {answer}").into()),
    }
}

/// A name in letters: messages that differ in a number are one thing said again.
fn name(number: usize) -> String {
    let letters = number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
    format!("{letters}Value")
}

impl Bench {
    /// A search over some steps of the ordinary tree, against the bare command in the workspace.
    pub fn bisect(&mut self) -> Result<()> {
        self.settle()?;
        for _ in 0..SEARCHED {
            self.edits.next(&[&self.ours])?;
            self.backsight.track()?;
        }
        let script = "cat $(find . -path ./.backsight -prune -o -name '*1*' -type f -print) | cksum > /dev/null";
        let mut bare = Vec::new();
        for _ in 0..self.rounds.timed {
            let mut command = Command::new("sh");
            bare.push(run(command.args(["-c", script]).current_dir(&self.ours.root))?.elapsed);
        }
        let (_, latest) = self.backsight.ask(&["log", "-n", "1"])?;
        let latest = latest["rows"][0]["sequence_number"].as_u64().ok_or("no latest row")?;
        let good = (latest - SEARCHED as u64).to_string();
        let judge = format!("{script}; test $BACKSIGHT_STEP -lt {latest}");
        let (_, answer) = self.backsight.ask(&["bisect", "--good", &good, "--", "sh", "-c", &judge])?;
        if answer["found"]["sequence_number"] != json!(latest) {
            return Err(format!("{latest} is the first bad step, yet {}", answer["summary"]).into());
        }
        let runs = answer["runs"].as_array().ok_or("no runs")?;
        let took = |run: &Value| run["ms"].as_u64().unwrap_or(0) + run["files_ms"].as_u64().unwrap_or(0);
        // The first one puts the whole tree there.
        let times = runs.iter().skip(1).map(|run| Duration::from_millis(took(run))).collect();
        let work = format!("a run of `bisect` after the first, {} runs for {SEARCHED} steps", runs.len());
        let (ours, bare) = (Samples::new(times), Samples::new(bare));
        self.table.push(Row::times(&work, &ours, "the bare command", &bare, Ratio::AtMost(1.5)));
        Ok(())
    }
}
