//! Breakpoints, stacks and steps of programs that were compiled or bundled.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::adapter::Node;
use super::conditions;
use super::maps::{self, Mapped};
use super::place;

/// How often a step goes on within the line it began in, or in code that was not written.
const LONGEST_STEP: u32 = 60;

/// A step that is being made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    method: &'static str,
    from: (String, u64),
    depth: usize,
    made: u32,
}

impl Node {
    /// V8 pauses before it runs a script that has a map, so that breakpoints are there in time.
    pub(super) async fn await_maps(&self) {
        if std::mem::replace(&mut self.state().awaits_maps, true) {
            return;
        }
        let params = json!({ "instrumentation": "beforeScriptWithSourceMapExecution" });
        // A V8 that cannot runs what it loads before breakpoints are there.
        let _ = self.inspector.ask("Debugger.setInstrumentationBreakpoint", params).await;
    }

    /// V8 pauses where a file begins that will have breakpoints, so that those of its source are there in time: of what Jest
    /// compiles as a function V8 says nothing before it runs.
    pub(super) async fn await_file(&self, address: &str) {
        let is_awaited = self.state().beginnings.as_ref().is_none_or(|known| known.contains_key(address));
        if is_awaited {
            return;
        }
        let params = json!({ "urlRegex": place::pattern_of(address), "lineNumber": 0, "columnNumber": 0 });
        let answer = self.inspector.ask("Debugger.setBreakpointByUrl", params).await;
        let id = answer.ok().and_then(|answer| answer["breakpointId"].as_str().map(str::to_owned));
        if let (Some(id), Some(known)) = (id, &mut self.state().beginnings) {
            known.insert(address.to_owned(), id);
        }
    }

    /// Whether a file begins at a pause, and the other breakpoints there.
    pub(super) fn beginnings_among<'a>(&self, hit: impl Iterator<Item = &'a str>) -> (bool, Vec<String>) {
        let state = self.state();
        let is_beginning =
            |id: &&str| state.beginnings.as_ref().is_some_and(|known| known.values().any(|known| known == id));
        let (beginnings, others): (Vec<&str>, Vec<&str>) =
            hit.filter(|id| !id.starts_with("instrumentation:")).partition(is_beginning);
        (!beginnings.is_empty(), others.into_iter().map(str::to_owned).collect())
    }

    /// Reads the map of a script; those of packages only when they are needed.
    pub(super) fn note_map(&self, script: &str, address: &str, reference: &str) {
        if reference.is_empty() || address.contains("/node_modules/") {
            return;
        }
        if let Some(mapped) = Mapped::read(address, reference) {
            self.state().maps.insert(script.to_owned(), Arc::new(mapped));
        }
    }

    pub(super) fn map_of(&self, script: &str) -> Option<Arc<Mapped>> {
        self.state().maps.get(script).cloned()
    }

    /// Sets a breakpoint in the scripts on disk that are made of its file, before they are loaded: what `require` loads runs at
    /// once. The line it is at, where one is loaded already.
    pub(super) async fn bind_ahead(&self, number: i64) -> Option<u64> {
        let set = self.state().breakpoints.iter().find(|set| set.number == number).cloned()?;
        let file = set.file();
        let wanted = u32::try_from(set.wanted["line"].as_u64()?).ok()?;
        let mut line = None;
        for (address, mapped) in maps::made_of(&file) {
            let Some(spot) = mapped.generated(&file, wanted) else { continue };
            let condition = conditions::told(set.wanted["condition"].as_str().unwrap_or_default());
            let params = json!({ "urlRegex": place::pattern_of(&address), "lineNumber": spot.line,
                "columnNumber": spot.column, "condition": condition });
            let Ok(answer) = self.inspector.ask("Debugger.setBreakpointByUrl", params).await else { continue };
            let is_loaded = answer["locations"].as_array().is_some_and(|there| !there.is_empty());
            line = line.or(is_loaded.then_some(u64::from(spot.written)));
            if let Some(set) = self.state().breakpoints.iter_mut().find(|set| set.number == number) {
                set.mapped.extend(answer["breakpointId"].as_str().map(str::to_owned));
                set.predicted.push(address);
            }
        }
        line
    }

    /// Sets a breakpoint in every script that is there and was made of its file; the line it is at.
    pub(super) async fn bind_in_loaded(&self, number: i64) -> Option<u64> {
        let scripts: Vec<String> = self.state().maps.keys().cloned().collect();
        let mut line = None;
        for script in scripts {
            line = self.bind(&script, number).await.or(line);
        }
        line
    }

    /// Sets a breakpoint in a script that was made of its file; the line it is at.
    async fn bind(&self, script: &str, number: i64) -> Option<u64> {
        let mapped = self.map_of(script)?;
        let set = self.state().breakpoints.iter().find(|set| set.number == number).cloned()?;
        let file = set.file();
        let wanted = u32::try_from(set.wanted["line"].as_u64()?).ok()?;
        let spot = mapped.generated(&file, wanted)?;
        let address = self.state().scripts.get(script).cloned().unwrap_or_default();
        if set.predicted.contains(&address) {
            return Some(u64::from(spot.written));
        }
        // A script that has the file's own address counts its own lines.
        let is_itself =
            self.state().scripts.get(script).is_some_and(|address| Path::new(&place::file_of(address)) == file);
        if is_itself {
            let _ = self.inspector.ask("Debugger.removeBreakpoint", json!({ "breakpointId": set.id })).await;
        }
        let location = json!({ "scriptId": script, "lineNumber": spot.line, "columnNumber": spot.column });
        let condition = conditions::told(set.wanted["condition"].as_str().unwrap_or_default());
        let params = json!({ "location": location, "condition": condition });
        let answer = self.inspector.ask("Debugger.setBreakpoint", params).await.ok()?;
        let id = answer["breakpointId"].as_str()?.to_owned();
        if let Some(set) = self.state().breakpoints.iter_mut().find(|set| set.number == number) {
            set.mapped.push(id);
        }
        Some(u64::from(spot.written))
    }

    /// Does what is to be done before a script with a map runs; the reason that is left to pause, if there is one.
    pub(super) async fn after_mapping(&self, params: &Value) -> Option<String> {
        let reason = params["reason"].as_str().unwrap_or_default();
        let reasons: Vec<(&str, &Value)> = match reason {
            "ambiguous" => params["data"]["reasons"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|one| (one["reason"].as_str().unwrap_or_default(), &one["auxData"]))
                .collect(),
            _ => vec![(reason, &params["data"])],
        };
        for (_, data) in reasons.iter().filter(|(reason, _)| *reason == "instrumentation") {
            self.before_script(data["scriptId"].as_str().unwrap_or_default()).await;
        }
        let left = reasons.iter().map(|(reason, _)| *reason).find(|reason| *reason != "instrumentation");
        left.map(str::to_owned)
    }

    /// Sets the breakpoints that are in what a script was made of.
    pub(super) async fn before_script(&self, script: &str) {
        let Some(mapped) = self.map_of(script) else { return };
        let numbers: Vec<i64> = {
            let state = self.state();
            state.breakpoints.iter().filter(|set| mapped.holds(&set.file())).map(|set| set.number).collect()
        };
        for number in numbers {
            if let Some(line) = self.bind(script, number).await {
                let breakpoint = json!({ "id": number, "verified": true, "line": line });
                self.event("breakpoint", json!({ "reason": "changed", "breakpoint": breakpoint }));
            }
        }
    }

    /// The step that is about to begin, where the program is in a script with a map.
    pub(super) fn begin_step(&self, method: &'static str, expected: &str) -> Option<Step> {
        let pause = self.pause().ok().filter(|_| expected == "step")?;
        let top = pause.frames.first()?;
        self.map_of(top["location"]["scriptId"].as_str()?)?;
        Some(Step { method, from: self.position(top), depth: pause.frames.len(), made: 0 })
    }

    /// Whether a step went on because the program is still in the line it began in, or in code that was not written.
    pub(super) async fn steps_on(&self, expected: Option<&'static str>) -> bool {
        let Some(mut step) = self.state().step.take().filter(|_| expected == Some("step")) else { return false };
        let Ok(pause) = self.pause() else { return false };
        let Some(top) = pause.frames.first() else { return false };
        let is_written = {
            let location = &top["location"];
            let number = |name: &str| location[name].as_u64().unwrap_or_default();
            let mapped = self.map_of(location["scriptId"].as_str().unwrap_or_default());
            mapped.is_none_or(|mapped| mapped.original(number("lineNumber"), number("columnNumber")).is_some())
        };
        let is_same =
            pause.frames.len() == step.depth && self.position(top) == step.from && step.method != "Debugger.stepOut";
        if step.made >= LONGEST_STEP || is_written && !is_same {
            return false;
        }
        step.made += 1;
        let method = step.method;
        {
            let mut state = self.state();
            (state.step, state.expected, state.pause) = (Some(step), expected, None);
        }
        self.inspector.ask(method, json!({})).await.is_ok()
    }
}
