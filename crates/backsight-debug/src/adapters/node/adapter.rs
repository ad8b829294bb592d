//! The requests of a session carried out by V8, and V8's events told as an adapter tells them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::conditions;
use super::exceptions::Exceptions;
use super::inspector::{Answer, Inspector};
use super::mapping::Step;
use super::maps::Mapped;
use super::place;
use crate::dap::wire::encode;
use crate::session::is_reached;
use crate::testing::{BEGINNINGS, FAILING, ThrownError};

/// The only thread that is seen; workers are programs of their own.
const THREAD: i64 = 1;
/// How long a program may take to reach its first line.
const START: Duration = Duration::from_secs(10);

/// How many milliseconds what a log message shows may take.
const PRINTED: u64 = 1000;

/// A program in Node.
pub(super) struct Node {
    pub(super) inspector: Inspector,
    /// Where the session listens, until the program is gone.
    say: Mutex<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    seq: AtomicI64,
    state: Mutex<State>,
    /// Whether the program has reached its first line.
    began: watch::Sender<bool>,
    /// The walkers inside the program, once they are there.
    pub(super) walkers: tokio::sync::Mutex<HashMap<Realm, String>>,
}

/// A world of global names in which code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Realm {
    /// The program's own.
    Main,
    /// One that the program made with `vm`, as Jest does for each test file; V8's number of it.
    Made(i64),
}

/// V8's number of the program's own realm.
const MAIN: i64 = 1;

#[derive(Default)]
pub(super) struct State {
    pub(super) pause: Option<Arc<Pause>>,
    pauses: i64,
    pub(super) scripts: HashMap<String, String>,
    /// Scripts of realms that the program made.
    realms: HashMap<String, i64>,
    sources: HashMap<String, Arc<str>>,
    pub(super) breakpoints: Vec<Set>,
    numbers: i64,
    /// Objects that can be asked for in this pause.
    objects: Vec<String>,
    /// Why the next pause will be one.
    pub(super) expected: Option<&'static str>,
    stop_on_entry: bool,
    /// Whoever started the program has set a breakpoint of its own at the beginning.
    others_pause: bool,
    /// Of exceptions only those that fail a test are told.
    failing: bool,
    pub(super) exceptions: Exceptions,
    /// Scripts that were made of other files.
    pub(super) maps: HashMap<String, Arc<Mapped>>,
    /// Scripts that are paused at before they run, when they have a map.
    pub(super) awaits_maps: bool,
    /// V8's names of breakpoints at the beginning of files that have others; none where that is not wanted.
    pub(super) beginnings: Option<HashMap<String, String>>,
    /// The step that is being made, and where it began.
    pub(super) step: Option<Step>,
    /// The program was running before we came, so that its process is none of ours.
    attached: bool,
}

/// A pause, and what V8 says about it.
pub(super) struct Pause {
    pub number: i64,
    pub frames: Vec<Value>,
    /// What was thrown, if that is why.
    pub thrown: Value,
    /// Whether code ran since: what V8 tells of scopes is how they were when the program was paused.
    pub touched: AtomicBool,
}

/// A breakpoint that V8 knows.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub number: i64,
    pub id: String,
    /// V8's names of it in scripts that were made of its file.
    pub mapped: Vec<String>,
    /// Addresses of scripts that are on disk and made of its file: there it is set before they are loaded.
    pub predicted: Vec<String>,
    address: String,
    pub wanted: Value,
    hits: u64,
}

impl Set {
    /// Its file.
    pub(super) fn file(&self) -> PathBuf {
        PathBuf::from(place::file_of(&self.address))
    }

    fn is(&self, id: &str) -> bool {
        self.id == id || self.mapped.iter().any(|mapped| mapped == id)
    }
}

impl Node {
    pub(super) fn new(inspector: Inspector, say: mpsc::UnboundedSender<Vec<u8>>) -> Self {
        let began = watch::Sender::new(false);
        Node {
            inspector,
            say: Mutex::new(Some(say)),
            seq: AtomicI64::new(1),
            state: Mutex::default(),
            began,
            walkers: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out a request and answers it.
    pub(super) async fn serve(self: Arc<Self>, request: Value) {
        let command = request["command"].as_str().unwrap_or_default().to_owned();
        let arguments = &request["arguments"];
        let answer = self.carry_out(&command, arguments).await;
        let mut message =
            json!({ "type": "response", "request_seq": request["seq"], "command": command, "success": answer.is_ok() });
        match answer {
            Ok(body) => message["body"] = body,
            Err(reason) => message["message"] = Value::from(reason),
        }
        self.tell(message);
        if matches!(&*command, "launch" | "attach") {
            self.event("initialized", json!({}));
        }
    }

    async fn carry_out(&self, command: &str, arguments: &Value) -> Answer {
        match command {
            "initialize" => Ok(json!({
                "supportsConfigurationDoneRequest": true, "supportsConditionalBreakpoints": true,
                "supportsHitConditionalBreakpoints": true, "supportsLogPoints": true,
                "supportsSetExpression": true,
                "exceptionBreakpointFilters": [{ "filter": "all", "label": "All" }, { "filter": "uncaught", "label": "Uncaught" }, { "filter": FAILING, "label": "What fails a test" }],
            })),
            "launch" | "attach" => self.begin(arguments, command == "attach").await,
            "configurationDone" => self.run().await,
            "setBreakpoints" => self.set_breakpoints(arguments).await,
            "setExceptionBreakpoints" => self.set_exceptions(arguments).await,
            "threads" => Ok(json!({ "threads": [{ "id": THREAD, "name": "main" }] })),
            "continue" => self.resume("Debugger.resume", "").await,
            "next" => self.resume("Debugger.stepOver", "step").await,
            "stepIn" => self.resume("Debugger.stepInto", "step").await,
            "stepOut" => self.resume("Debugger.stepOut", "step").await,
            "pause" => {
                self.state().expected = Some("pause");
                self.inspector.ask("Debugger.pause", json!({})).await
            }
            "stackTrace" => self.stack(arguments),
            "scopes" => self.scopes(arguments),
            "variables" => self.variables(arguments).await,
            "evaluate" => self.evaluate(arguments).await,
            "setExpression" => self.assign(arguments).await,
            "backsight/capture" => self.capture(arguments).await,
            "backsight/raised" => self.raised().await,
            "backsight/page" => self.page(arguments).await,
            "backsight/evaluate" => self.evaluate_safely(arguments).await,
            "disconnect" => {
                if arguments["terminateDebuggee"] == json!(true) && self.state().attached {
                    self.end().await?;
                }
                // Whoever stays without a debugger goes on.
                let _ = self.inspector.ask("Debugger.disable", json!({})).await;
                self.inspector.close();
                Ok(Value::Null)
            }
            _ => Err(format!("`{command}` is not supported")),
        }
    }

    /// Ends a program that we did not start. It cannot answer: that the connection breaks is the answer.
    async fn end(&self) -> Result<(), String> {
        let params = json!({ "expression": "process.kill(process.pid, 'SIGKILL')", "silent": true });
        let answer = self.inspector.ask("Runtime.evaluate", params).await;
        match answer {
            Ok(answer) if answer.get("exceptionDetails").is_some() => Err("the program could not be ended".to_owned()),
            _ => Ok(()),
        }
    }

    async fn begin(&self, arguments: &Value, attached: bool) -> Answer {
        self.state().stop_on_entry = arguments["stopOnEntry"].as_bool().unwrap_or(false);
        self.state().others_pause = arguments["childListens"].as_bool().unwrap_or(false);
        self.state().beginnings = arguments[BEGINNINGS].as_bool().unwrap_or(false).then(HashMap::new);
        self.state().exceptions.wanted = serde_json::from_value(arguments[ThrownError::OPTION].clone()).ok();
        let waits = self.inspector.ask("NodeRuntime.notifyWhenWaitingForDisconnect", json!({ "enabled": true })).await;
        if waits.is_err() {
            // An old Node says that it is ending only with everything else: V8 then describes whatever the program prints.
            self.inspector.ask("Runtime.enable", json!({})).await?;
        }
        self.inspector.ask("Debugger.enable", json!({ "maxScriptsCacheSize": 100_000_000 })).await?;
        let _ = self.inspector.ask("Debugger.setBlackboxPatterns", json!({ "patterns": ["^node:"] })).await;
        // Workers inherit that they are to wait for a debugger. So they come to us, and are let go.
        let _ = self.inspector.ask("NodeWorker.enable", json!({ "waitForDebuggerOnStart": true })).await;
        self.state().attached = attached;
        if attached {
            // At once, so that later looks run nothing that the program put in the place of what takes the walker in.
            let _ = self.prepare(Realm::Main).await;
            self.began.send_replace(true);
        }
        Ok(json!({}))
    }

    async fn run(&self) -> Answer {
        self.inspector.ask("Runtime.runIfWaitingForDebugger", json!({})).await?;
        let mut began = self.began.subscribe();
        // When the first line is reached the breakpoints in it are known.
        let _ = tokio::time::timeout(START, began.wait_for(|began| *began)).await;
        Ok(json!({}))
    }

    async fn resume(&self, method: &'static str, expected: &'static str) -> Answer {
        let step = self.begin_step(method, expected);
        {
            let mut state = self.state();
            state.expected = Some(expected).filter(|expected| !expected.is_empty());
            state.step = None;
            state.pause.take().ok_or("the program is running")?;
            state.objects.clear();
            state.step = step;
        }
        self.inspector.ask(method, json!({})).await
    }

    async fn set_breakpoints(&self, arguments: &Value) -> Answer {
        let address = place::address_of(Path::new(arguments["source"]["path"].as_str().unwrap_or_default()));
        let wanted: Vec<Value> = arguments["breakpoints"].as_array().cloned().unwrap_or_default();
        let there: Vec<Set> = self.state().breakpoints.iter().filter(|set| set.address == address).cloned().collect();
        for old in there.iter().filter(|old| !wanted.contains(&old.wanted)) {
            for id in std::iter::once(&old.id).chain(&old.mapped) {
                let _ = self.inspector.ask("Debugger.removeBreakpoint", json!({ "breakpointId": id })).await;
            }
            self.state().breakpoints.retain(|set| set.number != old.number);
        }
        self.await_maps().await;
        if wanted.iter().all(|one| one["line"] != json!(1)) {
            self.await_file(&address).await;
        }
        let mut told = Vec::new();
        for one in wanted {
            let known =
                self.state().breakpoints.iter().find(|set| set.address == address && set.wanted == one).cloned();
            told.push(match known {
                Some(known) => json!({ "id": known.number, "verified": true, "line": one["line"] }),
                None => self.set_breakpoint(&address, one).await,
            });
        }
        Ok(json!({ "breakpoints": told }))
    }

    async fn set_breakpoint(&self, address: &str, wanted: Value) -> Value {
        let line = wanted["line"].as_u64().unwrap_or(1).saturating_sub(1);
        let condition = wanted["condition"].as_str().unwrap_or_default();
        if let Some(problem) = self.syntax_problem(condition).await {
            return json!({ "verified": false, "message": format!("its condition cannot be read: {problem}") });
        }
        let condition = conditions::told(condition);
        let params = json!({ "urlRegex": place::pattern_of(address), "lineNumber": line, "condition": condition });
        let answer = match self.inspector.ask("Debugger.setBreakpointByUrl", params).await {
            Ok(answer) => answer,
            Err(message) => return json!({ "verified": false, "message": message }),
        };
        let number = {
            let mut state = self.state();
            state.numbers += 1;
            let number = state.numbers;
            let id = answer["breakpointId"].as_str().unwrap_or_default().to_owned();
            let (mapped, predicted) = (Vec::new(), Vec::new());
            state.breakpoints.push(Set { number, id, mapped, predicted, address: address.to_owned(), wanted, hits: 0 });
            number
        };
        let line = answer["locations"][0]["lineNumber"].as_u64().map(|line| line + 1);
        let predicted = self.bind_ahead(number).await;
        let line = self.bind_in_loaded(number).await.or(predicted).or(line);
        json!({ "id": number, "verified": line.is_some(), "line": line })
    }

    async fn set_exceptions(&self, arguments: &Value) -> Answer {
        let filters: Vec<&str> =
            arguments["filters"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        // V8 predicts that a test runner catches everything, so it is asked for all and we choose.
        let failing = filters.contains(&FAILING) && !filters.contains(&"all");
        if failing {
            self.know_who_waits().await;
        }
        self.state().failing = failing;
        let state = match () {
            () if filters.contains(&"all") || filters.contains(&FAILING) => "all",
            () if filters.contains(&"uncaught") => "uncaught",
            () => "none",
        };
        self.inspector.ask("Debugger.setPauseOnExceptions", json!({ "state": state })).await
    }

    /// V8 says something.
    pub(super) async fn hear(&self, method: &str, mut params: Value) {
        match method {
            "Debugger.scriptParsed" => {
                if let (Some(id), Some(url)) = (params["scriptId"].as_str(), params["url"].as_str()) {
                    self.state().scripts.insert(id.to_owned(), url.to_owned());
                    self.note_map(id, url, params["sourceMapURL"].as_str().unwrap_or_default());
                    if let Some(realm) = params["executionContextId"].as_i64().filter(|realm| *realm > MAIN) {
                        self.state().realms.insert(id.to_owned(), realm);
                    }
                    // Of what is compiled as a function, as Jest does, V8 says nothing before it runs.
                    self.before_script(id).await;
                }
            }
            "Debugger.breakpointResolved" => {
                let id = params["breakpointId"].as_str().unwrap_or_default();
                let script = params["location"]["scriptId"].as_str().unwrap_or_default();
                let set = self.state().breakpoints.iter().find(|set| set.is(id)).cloned();
                let Some(set) = set else { return };
                let mapped = self.map_of(script);
                if set.id == id && mapped.is_some() {
                    // Its own file is compiled, and V8 means a line of what was made of it.
                    return;
                }
                let place = &params["location"];
                let (line, column) = (place["lineNumber"].as_u64(), place["columnNumber"].as_u64().unwrap_or_default());
                let written = mapped.and_then(|mapped| mapped.original(line?, column)).map(|(_, line)| line);
                let line = written.or(line.map(|line| line + 1));
                let breakpoint = json!({ "id": set.number, "verified": true, "line": line });
                self.event("breakpoint", json!({ "reason": "changed", "breakpoint": breakpoint }));
            }
            "Debugger.paused" => self.paused(params.take()).await,
            "Debugger.resumed" => {
                self.state().pause = None;
                self.event("continued", json!({ "threadId": THREAD, "allThreadsContinued": true }));
            }
            "NodeWorker.attachedToWorker" => self.release(&params).await,
            "NodeRuntime.waitingForDisconnect" => self.event("terminated", json!({})),
            "Runtime.executionContextDestroyed" if params["executionContextId"] == json!(1) => {
                self.event("terminated", json!({}));
            }
            _ => {}
        }
    }

    /// Lets a worker run without a debugger: it is a program of its own for V8.
    async fn release(&self, params: &Value) {
        let session = &params["sessionId"];
        let go = json!({ "id": 1, "method": "Runtime.runIfWaitingForDebugger" }).to_string();
        let message = json!({ "sessionId": session, "message": go });
        let _ = self.inspector.ask("NodeWorker.sendMessageToWorker", message).await;
        let _ = self.inspector.ask("NodeWorker.detach", json!({ "sessionId": session })).await;
        let file = place::file_of(params["workerInfo"]["url"].as_str().unwrap_or_default());
        let said = format!("Backsight: a worker thread runs `{file}` and is not debugged\n");
        self.event("output", json!({ "category": "console", "output": said }));
    }

    /// Takes what was started for us out of what child processes are started with: they would wait for a debugger of their own.
    async fn free_children(&self) {
        let expression = "process.execArgv = process.execArgv.filter((one) => !one.startsWith('--inspect'))";
        let _ = self.inspector.ask("Runtime.evaluate", json!({ "expression": expression, "silent": true })).await;
    }

    /// The connection is gone, and with it the program.
    pub(super) fn ended(&self) {
        self.event("terminated", json!({}));
        self.say.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    async fn paused(&self, mut params: Value) {
        let Some(reason) = self.after_mapping(&params).await else {
            let _ = self.inspector.ask("Debugger.resume", json!({})).await;
            return;
        };
        let first = !self.began.send_replace(true);
        if !first && reason == "Break on start" {
            // What is loaded before the program began already.
            let _ = self.inspector.ask("Debugger.resume", json!({})).await;
            return;
        }
        let all = params["hitBreakpoints"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let (beginnings, hit) = self.beginnings_among(all);
        if beginnings && hit.is_empty() && reason == "other" && !first {
            let _ = self.inspector.ask("Debugger.resume", json!({})).await;
            return;
        }
        let frames = match params.get_mut("callFrames").map(Value::take) {
            Some(Value::Array(frames)) => frames,
            _ => Vec::new(),
        };
        let top = frames.first().and_then(|frame| frame["callFrameId"].as_str()).unwrap_or_default().to_owned();
        let (expected, wanted_entry) = {
            let mut state = self.state();
            state.pauses += 1;
            let number = state.pauses;
            let thrown = conditions::thrown(&params);
            state.pause = Some(Arc::new(Pause { number, frames, thrown, touched: AtomicBool::new(false) }));
            state.objects.clear();
            (state.expected.take(), state.stop_on_entry)
        };
        let entry = first && reason == "Break on start";
        if entry {
            // Nothing of the program has run: whatever the walker uses is still V8's and Node's. What fails is tried again later.
            let _ = self.prepare(Realm::Main).await;
            self.free_children().await;
        }
        let is_theirs = hit.is_empty() && reason == "other" && expected.is_none();
        if is_theirs && std::mem::take(&mut self.state().others_pause) {
            let _ = self.prepare(Realm::Main).await;
            self.state().pause = None;
            let _ = self.inspector.ask("Debugger.resume", json!({})).await;
            return;
        }
        if hit.is_empty() && self.steps_on(expected).await {
            return;
        }
        let (stops, problem) = self.count_hits(&hit, &top).await;
        let is_exception = matches!(&*reason, "exception" | "promiseRejection");
        let text = params["data"]["description"].as_str().map(said).filter(|_| is_exception);
        let chooses = is_exception && stops.is_empty() && self.state().failing;
        if chooses && !self.fails_a_test(&reason, &params, text.as_deref().unwrap_or_default()).await {
            self.state().pause = None;
            let _ = self.inspector.ask("Debugger.resume", json!({})).await;
            return;
        }
        let unwanted =
            (entry && !wanted_entry && stops.is_empty()) || (!hit.is_empty() && stops.is_empty() && expected.is_none());
        if unwanted {
            self.state().pause = None;
            let _ = self.inspector.ask("Debugger.resume", json!({})).await;
            return;
        }
        let told = match (stops.is_empty(), reason.as_str()) {
            (_, "exception" | "promiseRejection") => "exception",
            (false, _) => "breakpoint",
            _ if entry => "entry",
            (_, "debugCommand") => "debugger statement",
            _ => expected.unwrap_or("pause"),
        };
        self.event("stopped", json!({ "reason": told, "threadId": THREAD, "allThreadsStopped": true, "text": text, "hitBreakpointIds": stops, "problem": problem }));
    }

    /// Counts hits and prints what is to be printed; the breakpoints that are left are a reason to stop.
    async fn count_hits(&self, hit: &[String], frame: &str) -> (Vec<i64>, Option<String>) {
        let (mut stops, mut problem) = (Vec::new(), None);
        for id in hit {
            let known = self.state().breakpoints.iter().find(|set| set.is(id)).cloned();
            let Some(set) = known else { continue };
            let failed = self.condition_problem(set.wanted["condition"].as_str().unwrap_or_default(), frame).await;
            if failed.is_some() {
                problem = problem.or(failed);
                stops.push(set.number);
                continue;
            }
            let counted = self.state().breakpoints.iter_mut().find(|set| set.is(id)).map(|set| {
                set.hits += 1;
                set.clone()
            });
            let Some(set) = counted else { continue };
            if !is_reached(set.wanted["hitCondition"].as_str(), set.hits) {
                continue;
            }
            match set.wanted["logMessage"].as_str() {
                Some(message) => self.print(message, frame).await,
                None => stops.push(set.number),
            }
        }
        (stops, problem)
    }

    async fn print(&self, message: &str, frame: &str) {
        let quoted = message.replace('\\', "\\\\").replace('`', "\\`").replace("${", "\\${").replace('{', "${");
        let params = json!({ "callFrameId": frame, "expression": format!("`{quoted}`"), "silent": true,
            "timeout": PRINTED });
        let answer = self.inspector.ask("Debugger.evaluateOnCallFrame", params).await;
        let text = match answer {
            Ok(answer) => match answer["result"]["value"].as_str() {
                Some(text) => text.to_owned(),
                None => answer["result"]["description"].as_str().unwrap_or(message).to_owned(),
            },
            Err(error) => format!("{message} ({error})"),
        };
        self.event("output", json!({ "category": "console", "output": format!("{text}\n") }));
    }

    /// The present pause.
    pub(super) fn pause(&self) -> Result<Arc<Pause>, String> {
        self.state().pause.clone().ok_or_else(|| "notStopped".to_owned())
    }

    /// Code of the program is about to run in this pause.
    pub(super) fn touch(&self) -> Result<(), String> {
        self.pause()?.touched.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The frame of the present pause with that number.
    pub(super) fn frame(&self, id: &Value) -> Result<Value, String> {
        let pause = self.pause()?;
        let id = id.as_i64().unwrap_or_default();
        let frame = (id / 4096 == pause.number).then(|| pause.frames.get((id % 4096) as usize)).flatten();
        frame.cloned().ok_or_else(|| "the frame is of an earlier pause".to_owned())
    }

    fn stack(&self, arguments: &Value) -> Answer {
        let pause = self.pause()?;
        let start = arguments["startFrame"].as_u64().unwrap_or_default() as usize;
        let levels = arguments["levels"].as_u64().filter(|levels| *levels > 0).unwrap_or(u64::MAX) as usize;
        let told: Vec<Value> = pause
            .frames
            .iter()
            .enumerate()
            .skip(start)
            .take(levels)
            .map(|(index, frame)| {
                let (file, line) = self.position(frame);
                let hint = file.starts_with("node:").then_some("subtle");
                json!({ "id": pause.number * 4096 + index as i64, "name": function_name(frame), "line": line,
                    "column": frame["location"]["columnNumber"].as_u64().unwrap_or_default() + 1,
                    "source": { "path": file }, "presentationHint": hint })
            })
            .collect();
        Ok(json!({ "stackFrames": told, "totalFrames": pause.frames.len() }))
    }

    /// The realm a frame runs in.
    pub(super) fn realm(&self, frame: &Value) -> Realm {
        let script = frame["location"]["scriptId"].as_str().unwrap_or_default();
        self.state().realms.get(script).map_or(Realm::Main, |realm| Realm::Made(*realm))
    }

    /// The file and the line a frame is at.
    pub(super) fn position(&self, frame: &Value) -> (String, u64) {
        let script = frame["location"]["scriptId"].as_str().unwrap_or_default();
        let line = frame["location"]["lineNumber"].as_u64().unwrap_or_default();
        let column = frame["location"]["columnNumber"].as_u64().unwrap_or_default();
        if let Some(mapped) = self.map_of(script)
            && let Some(written) = mapped.original(line, column)
        {
            return written;
        }
        let address = self.state().scripts.get(script).cloned().unwrap_or_default();
        (place::file_of(&address), line + 1)
    }

    /// The text of a script.
    pub(super) async fn source(&self, script: &str) -> Arc<str> {
        if let Some(known) = self.state().sources.get(script) {
            return Arc::clone(known);
        }
        let answer = self.inspector.ask("Debugger.getScriptSource", json!({ "scriptId": script })).await;
        let text: Arc<str> = answer
            .ok()
            .and_then(|answer| answer["scriptSource"].as_str().map(Arc::from))
            .unwrap_or_else(|| Arc::from(""));
        self.state().sources.insert(script.to_owned(), Arc::clone(&text));
        text
    }

    /// A number by which an object can be asked for in this pause.
    pub(super) fn number(&self, object: &str) -> i64 {
        let mut state = self.state();
        state.objects.push(object.to_owned());
        state.pauses * 1_000_000 + state.objects.len() as i64
    }

    /// A number that no other question has.
    pub(super) fn unique(&self) -> i64 {
        self.seq.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn object(&self, number: i64) -> Result<String, String> {
        let state = self.state();
        let at = number - state.pauses * 1_000_000 - 1;
        let found = usize::try_from(at).ok().and_then(|at| state.objects.get(at));
        found.cloned().ok_or_else(|| "the reference is of an earlier pause".to_owned())
    }

    pub(super) fn event(&self, name: &str, body: Value) {
        self.tell(json!({ "type": "event", "event": name, "body": body }));
    }

    fn tell(&self, mut message: Value) {
        message["seq"] = json!(self.seq.fetch_add(1, Ordering::Relaxed));
        // The session is over if nobody listens.
        if let Some(say) = &*self.say.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = say.send(encode(message.to_string().as_bytes()));
        }
    }
}

/// What a function is called.
pub(super) fn function_name(frame: &Value) -> String {
    let name = frame["functionName"].as_str().filter(|name| !name.is_empty());
    name.unwrap_or("(anonymous)").to_owned()
}

/// What an error says, without its trace: assertions say on further lines what they found.
fn said(description: &str) -> String {
    const LINES: usize = 8;
    let lines = description.lines().take_while(|line| !line.trim_start().starts_with("at "));
    let told: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).take(LINES).collect();
    told.join(" ")
}
