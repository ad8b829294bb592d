//! One operation, one definition: whatever value one interface refuses, the others refuse with the same code, and what one
//! takes the others take. The values are made from the API's own description, so that a new field is tried without being
//! listed here.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::server::Server;
use crate::fixture::Fixture;

/// An operation on every interface that has it.
struct Row {
    operation: &'static str,
    /// The least it takes.
    good: Value,
    /// The tool, and its names for fields that have another one there.
    tool: &'static str,
    renamed: &'static [(&'static str, &'static str)],
    /// What a tool for several operations is told beside: which one is meant.
    chosen: Option<(&'static str, &'static str)>,
    /// The command, and its flags for fields.
    line: &'static str,
    flags: &'static [(&'static str, &'static str)],
    /// The code of the good value where no program is debugged.
    code: &'static str,
}

fn row(operation: &'static str, good: Value, tool: &'static str, line: &'static str) -> Row {
    Row { operation, good, tool, renamed: &[], chosen: None, line, flags: &[], code: "NO_SESSION" }
}

impl Row {
    fn flags(self, flags: &'static [(&'static str, &'static str)]) -> Row {
        Row { flags, ..self }
    }

    fn renamed(self, renamed: &'static [(&'static str, &'static str)]) -> Row {
        Row { renamed, ..self }
    }

    fn chosen(self, argument: &'static str, word: &'static str) -> Row {
        Row { chosen: Some((argument, word)), ..self }
    }

    fn fails(self, code: &'static str) -> Row {
        Row { code, ..self }
    }

    /// The name of a field as the tool has it.
    fn argument<'f>(&self, field: &'f str) -> &'f str {
        self.renamed.iter().find(|(one, _)| *one == field).map_or(field, |(_, name)| name)
    }

    /// What is typed for a value of a field.
    fn typed(&self, field: &str, value: &Value) -> Option<String> {
        let (_, flag) = self.flags.iter().find(|(one, _)| *one == field)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // Commands take seconds, some of them whole ones; what is beyond a limit stays beyond it. An equals sign marks others.
        let text = match (field.ends_with("_ms") && !flag.starts_with('='), value.as_i64()) {
            (true, Some(milliseconds)) => match milliseconds as f64 / 1000.0 {
                seconds if seconds < 0.0 => format!("{}", seconds.floor()),
                seconds => format!("{}", seconds.ceil()),
            },
            _ => text,
        };
        let flag = flag.trim_start_matches('=');
        // Only the words of a command are read as a shell does.
        let between = if flag.is_empty() { "" } else { "=" };
        Some(format!("{} {flag}{between}'{text}'", self.line))
    }
}

const MOVES: &[(&str, &str)] = &[("wait_ms", "--timeout"), ("thread", "--thread")];
const EXTENT: [(&str, &str); 3] = [("depth", "--depth"), ("safety", "--safety"), ("wait_ms", "--timeout")];
const PART: &[(&str, &str)] = &[("offset", "--offset"), ("max_tokens", "--max-tokens"), ("path", "--path")];

fn debugging() -> Vec<Row> {
    let none = json!({});
    vec![
        row("debugSessions", none.clone(), "", "debug sessions").fails(""),
        row("debugLaunch", json!({ "program": "none.py" }), "debug_launch", "debug launch none.py")
            .renamed(&[("arguments", "args"), ("directory", "cwd"), ("environment", "env")])
            .flags(&[("wait_ms", "--timeout")])
            .fails("PROGRAM_NOT_FOUND"),
        row("debugAttach", json!({ "pid": 4_194_305 }), "debug_attach", "debug attach --pid 4194305")
            .flags(&[("wait_ms", "--timeout")])
            .fails("PROGRAM_NOT_FOUND"),
        row("debugState", json!({ "session": "none" }), "debug_state", "debug status --session none")
            .flags(&[("wait_ms", "--timeout")]),
        row("debugControl", json!({ "action": "continue" }), "debug_control", "debug continue").flags(MOVES),
        row("debugControl", json!({ "action": "step_over" }), "debug_control", "debug next").flags(MOVES),
        row("debugControl", json!({ "action": "step_in" }), "debug_control", "debug step").flags(MOVES),
        row("debugControl", json!({ "action": "step_out" }), "debug_control", "debug finish").flags(MOVES),
        row("debugControl", json!({ "action": "pause" }), "debug_control", "debug pause"),
        row(
            "debugControl",
            json!({ "action": "run_to", "file": "a.txt", "line": 1 }),
            "debug_control",
            "debug until a.txt:1",
        ),
        row("debugDisconnect", none.clone(), "debug_disconnect", "debug end"),
        row("breakpointList", none.clone(), "breakpoint_list", "debug breaks"),
        row("breakpointSet", json!({ "function": "f" }), "breakpoint_set", "debug break f").flags(&[
            ("condition", "--condition"),
            ("hit_count", "--hits"),
            ("log_message", "--log"),
        ]),
        row("breakpointRemove", json!({ "id": "bp-1" }), "breakpoint_remove", "debug unbreak bp-1"),
        row("debugThreads", none.clone(), "", "debug threads"),
        row("debugStack", none.clone(), "stacktrace_get", "debug stack").flags(&[
            ("thread", "--thread"),
            ("start", "--from"),
            ("count", "--limit"),
        ]),
        row("debugVariables", none.clone(), "variables_get", "debug vars").flags(&[
            ("thread", "--thread"),
            ("frame", "--frame"),
            ("start", "--from"),
            ("count", "--limit"),
            ("scope", "--scope"),
            ("expand", ""),
        ]),
        row("debugEvaluate", json!({ "expression": "1" }), "evaluate", "debug eval").flags(&[
            ("expression", ""),
            ("timeout_ms", "1 --timeout"),
            ("frame", "1 --frame"),
        ]),
        row("debugOutput", none.clone(), "debug_output", "debug output")
            .flags(&[("since", "--from"), ("max_bytes", "--limit")]),
        row("debugSnapshotList", none.clone(), "snapshot_list", "debug snapshots"),
        row("debugSnapshotCreate", none.clone(), "snapshot_create", "debug snapshot").flags(&[
            ("depth", "--depth"),
            ("frames", "--frames"),
            ("frame", "--frame"),
            ("threads", "--threads"),
            ("safety", "--safety"),
        ]),
        row("debugSnapshotGet", json!({ "id": "a" }), "snapshot_get", "debug show a").flags(PART),
        row("debugSnapshotDiff", json!({ "from": "a", "to": "b" }), "snapshot_diff", "debug diff a b")
            .renamed(&[("from", "snapshot_id_1"), ("to", "snapshot_id_2")])
            .flags(PART),
        row("debugSnapshotDelete", json!({ "id": "a" }), "snapshot_delete", "debug delete a"),
        row("debugSnapshotClear", none.clone(), "snapshot_clear", "debug clear"),
        row("debugSnapshotExport", json!({ "id": "a", "file": "a.json" }), "snapshot_export", "debug export a a.json"),
        row("debugStep", none.clone(), "step_and_diff", "debug try").flags(&EXTENT),
        row("debugWatch", json!({ "expression": "a" }), "run_until_change", "debug watch a").flags(&[
            ("wait_ms", "--timeout"),
            ("max_steps", "--max-steps"),
            ("frame", "--frame"),
            ("max_tokens", "--max-tokens"),
        ]),
        row("debugSet", json!({ "path": "a", "value": "1" }), "variable_set", "debug set a 1")
            .flags(&[("frame", "--frame"), ("thread", "--thread")]),
        row("snapshotPoints", none.clone(), "", "debug points"),
        row("snapshotOn", json!({ "function": "f" }), "snapshot_on", "debug on f").flags(&[
            ("condition", "--condition"),
            ("max_hits", "--max"),
            ("every", "--every"),
            ("depth", "--depth"),
            ("hit_count", "--hits"),
        ]),
        row("snapshotSeries", json!({ "name": "a" }), "snapshot_series", "debug series a")
            .flags(&[("path", "--path"), ("max_tokens", "--max-tokens")]),
    ]
}

/// The browser lane's, in a workspace in which no app is watched.
fn of_the_app() -> Vec<Row> {
    let none = json!({});
    let named = |name: &str| json!({ "name": name });
    let rule = || json!({ "id": "none" });
    vec![
        row("changes", none.clone(), "get_changes_since", "changes").fails("").flags(&[
            ("checkpoint", "--since"),
            ("include", "--include"),
            ("severity", "--severity"),
            ("wait_ms", "--wait"),
            ("quiet_ms", "=--quiet"),
        ]),
        row("browserChanges", none.clone(), "", "").fails(""),
        row("browserLog", none.clone(), "browser_log", "browser log").fails("").flags(&[
            ("category", "--category"),
            ("level", "--level"),
            ("text", "--text"),
            ("since", "--since"),
            ("limit", "--limit"),
        ]),
        row("browserEntry", json!({ "id": "c1" }), "browser_log", "browser entry c1")
            .renamed(&[("id", "entry")])
            .fails("REF_NOT_FOUND"),
        row("browserHar", none.clone(), "", "browser har").fails(""),
        row("browserHealth", none.clone(), "get_session_health", "health")
            .fails("")
            .flags(&[("checkpoint", "--since")]),
        row("browserStatus", none.clone(), "browser_status", "browser status").fails(""),
        row("browserAttach", json!({ "port": 9 }), "browser_attach", "browser attach --port 9")
            .flags(&[("origins", "--origin")])
            .fails("BROWSER_UNREACHABLE"),
        row("browserDetach", none.clone(), "browser_attach", "browser detach").chosen("action", "detach").fails(""),
        row("snippetRenew", none.clone(), "", "browser snippet --renew").fails(""),
        row("checkpointCreate", named("before_edit"), "checkpoint_create", "checkpoint create before_edit")
            .flags(&[("baseline", "--baseline")])
            .fails(""),
        row("checkpointList", none.clone(), "checkpoint_list", "checkpoint list").fails(""),
        row("checkpointDelete", named("none"), "checkpoint_delete", "checkpoint delete none")
            .fails("CHECKPOINT_NOT_FOUND"),
        row("noiseList", none.clone(), "noise_rules", "noise list").fails(""),
        row("noiseAdd", json!({ "rules": [{ "text": "x" }] }), "noise_rules", "noise add --text x")
            .chosen("action", "add")
            .fails(""),
        row("noiseRemove", rule(), "noise_rules", "noise remove none")
            .chosen("action", "remove")
            .fails("RULE_NOT_FOUND"),
        row("noiseEnable", rule(), "noise_rules", "noise enable none")
            .chosen("action", "enable")
            .fails("RULE_NOT_FOUND"),
        row("noiseDisable", rule(), "noise_rules", "noise disable none")
            .chosen("action", "disable")
            .fails("RULE_NOT_FOUND"),
        row("baselineList", none.clone(), "baseline", "baseline list").fails(""),
        row("baselineSave", named("b"), "baseline", "baseline save b").chosen("action", "save").fails("NOT_COVERED"),
        row("baselineCompare", named("b"), "baseline", "baseline compare b")
            .chosen("action", "compare")
            .fails("BASELINE_NOT_FOUND"),
        row("baselineDelete", named("b"), "baseline", "baseline delete b")
            .chosen("action", "delete")
            .fails("BASELINE_NOT_FOUND"),
        row("bisectPage", json!({ "page": "/x", "absent": "c1", "good": "9" }), "", "").fails("REF_NOT_FOUND"),
    ]
}

const GOING: &[(&str, &str)] = &[("on_conflict", "--on-conflict"), ("plan", "--plan")];
const FILTERS: &[(&str, &str)] = &[("limit", "--limit"), ("kind", "--kind"), ("text", "--text")];

/// The files lane's, in a workspace of two steps.
fn of_files() -> Vec<Row> {
    let plan = json!({ "dry_run": true });
    let none = json!({});
    let with = |field: &str, value: Value| json!({ "dry_run": true, field: value });
    let of = |field: &str, value: &str| json!({ field: value });
    const POLICY: &[(&str, &str)] = &[("strategy", "--strategy")];
    const COUNTED: &[(&str, &str)] = &[("count", ""), ("on_conflict", "--on-conflict"), ("plan", "--plan")];
    vec![
        row("restore", with("ref", json!("1")), "files_restore", "restore 1 --dry-run").flags(GOING).fails(""),
        row("revert", with("refs", json!(["2"])), "files_revert", "revert 2 --dry-run").flags(GOING).fails(""),
        row("undo", plan.clone(), "files_undo", "undo --dry-run").flags(COUNTED).fails(""),
        row("redo", plan.clone(), "files_redo", "redo --dry-run").flags(COUNTED).fails("NOTHING_TO_UNDO"),
        row("log", none.clone(), "history_query", "log").flags(FILTERS).fails(""),
        row("timeline", none.clone(), "", "").fails(""),
        row("bisect", json!({ "good": "9", "command": ["true"] }), "bisect", "bisect --good 9 -- true")
            .fails("REF_NOT_FOUND"),
        row("track", none.clone(), "files_track", "track")
            .renamed(&[("strategy", "unknown")])
            .flags(&[("strategy", "--strategy")])
            .fails(""),
        row("finish", of("call", "none"), "files_track", "finish none")
            .chosen("phase", "finish")
            .renamed(&[("strategy", "unknown")])
            .flags(&[("strategy", "--strategy")])
            .fails("CALL_NOT_FOUND"),
        row("abandon", of("call", "none"), "", "abandon none").fails("CALL_NOT_FOUND"),
        row("openCalls", none.clone(), "", "").fails(""),
        row("status", none.clone(), "workspace_status", "status").fails(""),
        row("patch", none.clone(), "files_changes", "patch").fails(""),
        row("diff", none.clone(), "files_diff", "diff").flags(&[("context", "--unified")]).fails(""),
        row("diffStat", none.clone(), "", "diff --stat").fails(""),
        row("stepDiff", of("ref", "2"), "files_diff", "").renamed(&[("ref", "step")]).fails(""),
        row("ls", none.clone(), "files_read", "ls").fails(""),
        row("cat", of("path", "a.txt"), "files_read", "cat @ a.txt").fails(""),
        row("blob", of("id", &"0".repeat(40)), "", "cat --blob 0000000000000000000000000000000000000000")
            .fails("PATH_NOT_FOUND"),
        row("show", of("ref", "2"), "history_query", "show 2").fails(""),
        row("fileHistory", of("path", "a.txt"), "", "").fails(""),
        row("blame", of("path", "a.txt"), "history_query", "blame a.txt").renamed(&[("path", "blame")]).fails(""),
        row("search", of("text", "two"), "", "").fails(""),
        row("commits", none.clone(), "", "").fails(""),
        row("milestoneList", none.clone(), "milestone_list", "milestone list").fails(""),
        row("milestoneCreate", json!({ "title": "x", "end": "9" }), "milestone_create", "milestone create x --end 9")
            .fails("REF_NOT_FOUND"),
        row("milestoneShow", of("ref", "none"), "milestone_list", "milestone show none").fails("REF_NOT_FOUND"),
        row(
            "milestoneExportGit",
            json!({ "range": "9", "branch": "b" }),
            "",
            "milestone export-git 9 --repo . --branch b",
        )
        .flags(&[("onto", "--onto")])
        .fails("REF_NOT_FOUND"),
        row("unknownDetect", none.clone(), "", "unknown detect").fails(""),
        row("unknownCheck", none.clone(), "", "unknown check").flags(POLICY).fails(""),
        row("unknownHandle", none.clone(), "", "unknown handle").flags(&[("strategy", "")]).fails(""),
        row("continuityState", none.clone(), "", "continuity state").fails(""),
        row("continuityValidate", none.clone(), "workspace_status", "continuity validate")
            .chosen("verify", "true")
            .fails(""),
        row("continuityReset", of("reason", "x"), "workspace_reset", "continuity reset --reason x").fails(""),
        row("knownList", none.clone(), "", "known list").fails(""),
        row("knownCreate", none.clone(), "", "known create").fails(""),
        row("knownShow", none.clone(), "", "known show").fails(""),
        row("knownClean", none.clone(), "", "known clean").fails(""),
        row("sessionStart", of("id", "s1"), "", "session start s1").flags(&[("title", "--title")]).fails(""),
        row("sessionList", none.clone(), "", "session list").flags(&[("limit", "--limit")]).fails(""),
        row("sessionShow", of("id", "none"), "", "session show none").fails("SESSION_NOT_FOUND"),
        row("sessionTrack", of("id", "s1"), "", "session track s1").flags(&[("strategy", "--strategy")]).fails(""),
        row("sessionDiff", of("id", "none"), "", "session diff none").fails("SESSION_NOT_FOUND"),
        row("sessionRevert", json!({ "id": "none", "messageID": "m" }), "", "session revert none --message m")
            .flags(GOING)
            .fails("SESSION_NOT_FOUND"),
        row("sessionUnrevert", of("id", "none"), "", "session unrevert none").flags(GOING).fails("SESSION_NOT_FOUND"),
        row("comments", none.clone(), "review_comments", "comment list").fails(""),
        row("comment", json!({ "file": "a.txt", "line": 1, "text": "x" }), "", "comment add a.txt:1 x").fails(""),
        row("commentAnswer", json!({ "id": "none", "text": "x" }), "review_comments", "comment answer none x")
            .renamed(&[("id", "answer")])
            .fails("REF_NOT_FOUND"),
        row("commentResolve", of("id", "none"), "", "comment resolve none").fails("REF_NOT_FOUND"),
        row("pin", of("ref", "1"), "", "pin 1").fails(""),
        row("unpin", of("ref", "1"), "", "unpin 1").fails(""),
        row("usage", none.clone(), "", "usage").fails(""),
        row("gc", plan, "", "gc --dry-run")
            .flags(&[("keep_days", "--keep-days"), ("keep_count", "--keep-count")])
            .fails(""),
        row("verify", none.clone(), "", "verify").fails(""),
        row("doctor", none.clone(), "", "doctor").fails(""),
        row("init", none.clone(), "", "init").flags(&[("store", "--store")]).fails(""),
        row("configList", none.clone(), "", "config").fails(""),
        row("configGet", of("key", "keep_days"), "", "config get keep_days").fails(""),
        row("configSet", json!({ "key": "keep_days", "value": "30" }), "", "config set keep_days 30").fails(""),
        // What it opens goes on: after all that ask whether something is unknown.
        row("begin", none.clone(), "files_track", "begin").chosen("phase", "begin").flags(POLICY).fails(""),
    ]
}

/// What only HTTP has: pages of the dashboard and questions that only a server can be asked.
fn of_the_dashboard() -> Vec<Row> {
    let none = json!({});
    let only = |operation: &'static str, good: Value, code: &'static str| row(operation, good, "", "").fails(code);
    vec![
        only("version", none.clone(), ""),
        only("since", none.clone(), ""),
        only("seen", none.clone(), ""),
        only("markSeen", none.clone(), ""),
        only("hunks", json!({ "ref": "2" }), ""),
        only("attempts", json!({ "one": "none", "other": "none" }), "SESSION_NOT_FOUND"),
        only("viewed", none.clone(), ""),
        only("markViewed", none, ""),
    ]
}

/// Every operation that is compared.
fn all() -> Vec<Row> {
    let files = of_files().into_iter().chain(of_the_dashboard());
    debugging().into_iter().chain(of_the_app()).chain(files).collect()
}

/// Commands that are no operation of another interface: they are about this machine, the user's terminal or the server itself,
/// or put operations together. A command that is neither here nor in a row above fails the test.
const ONLY_TYPED: &[&str] = &[
    "agent-help",
    "browser launch",
    "call",
    "completions",
    "demo",
    "export",
    "hook",
    "import",
    "install",
    "man",
    "mcp",
    "open",
    "report",
    "run",
    "serve",
    "watch",
];

/// Where an operation is, and the schemas of what it takes.
struct Described {
    method: String,
    path: String,
    fields: Map<String, Value>,
}

fn described(document: &Value, operation: &str) -> Described {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, methods)| methods.as_object().unwrap().iter().map(move |one| (path, one)));
    let (path, (method, found)) = all.into_iter().find(|(_, (_, one))| one["operationId"] == operation).unwrap();
    let mut fields: Map<String, Value> = Map::new();
    for parameter in found["parameters"].as_array().into_iter().flatten() {
        fields.insert(parameter["name"].as_str().unwrap().to_owned(), parameter["schema"].clone());
    }
    let body = &found["requestBody"]["content"]["application/json"]["schema"]["properties"];
    fields.extend(body.as_object().cloned().unwrap_or_default());
    Described { method: method.clone(), path: path.clone(), fields }
}

/// Values that a field cannot have, as its schema says, or as every text and list of a lane cannot.
fn wrong(document: &Value, field: &str, schema: &Value) -> Vec<Value> {
    let resolved = |schema: &Value| match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).cloned().unwrap_or_default(),
        None => schema.clone(),
    };
    let is_word = |schema: &Value| schema.get("enum").is_some() || schema["oneOf"][0].get("const").is_some();
    let schema = &resolved(schema);
    let is = |kind: &str| match &schema["type"] {
        Value::String(name) => name == kind,
        Value::Array(names) => names.iter().any(|name| name == kind),
        _ => false,
    };
    let mut values = Vec::new();
    if is("integer") && !is("string") {
        let most = schema["maximum"].as_u64().filter(|most| *most < u64::MAX);
        values.extend(most.map(|most| json!(most + 1)));
        match schema["minimum"].as_i64() {
            Some(least) if least > i64::MIN => values.push(json!(least - 1)),
            _ => {}
        }
        values.push(json!("many"));
    }
    let choices = schema["anyOf"].as_array().cloned().unwrap_or_default();
    if is_word(schema) || choices.iter().any(|one| is_word(&resolved(one))) {
        values.push(json!("no-such-word"));
    } else if is("string") && field != "session" && schema.get("pattern").is_none() && schema["format"].is_null() {
        let most = schema["maxLength"].as_u64().unwrap_or(64 << 10) as usize;
        values.push(json!("x".repeat(most + 1)));
    }
    let items = resolved(&schema["items"]);
    if is("array") && is_word(&items) {
        values.push(json!(["no-such-word"]));
    } else if is("array") && items["type"] == "string" {
        values.push(json!(vec!["x"; 1001]));
    }
    values
}

struct Interfaces<'f> {
    fixture: &'f Fixture,
    server: Server,
}

impl Interfaces<'_> {
    /// The code over HTTP; empty for an answer.
    fn http(&self, described: &Described, request: &Value) -> String {
        let mut fields = request.as_object().unwrap().clone();
        let mut path = described.path.clone();
        for name in described.fields.keys() {
            let place = format!("{{{name}}}");
            if path.contains(&place) {
                let value = fields.shift_remove(name).unwrap_or_default();
                path = path.replace(&place, value.as_str().unwrap_or_default());
            }
        }
        let reply = match described.method.as_str() {
            "post" => self.server.post(&path, &Value::Object(fields)),
            _ => {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let many = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                let pairs = fields.iter().flat_map(|(name, value)| many(value).into_iter().map(move |one| (name, one)));
                let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", text(&value))).collect();
                self.server.get(&format!("{path}?{}", pairs.join("&")))
            }
        };
        code(&reply.json())
    }

    /// The same of a tool.
    fn tool(&self, name: &str, arguments: &Value) -> String {
        code(&self.facts(name, arguments))
    }

    /// What a tool answers, for programs.
    fn facts(&self, name: &str, arguments: &Value) -> Value {
        let body = json!({ "arguments": arguments, "client": "alike" });
        let reply = self.server.post(&format!("/api/tools/{name}"), &body);
        let text = String::from_utf8(reply.body).unwrap();
        let mut last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        last["reply"]["structured"].take()
    }

    fn command(&self, line: &str) -> String {
        code(&self.fixture.json(line).0)
    }
}

fn code(answer: &Value) -> String {
    answer["error"]["code"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn what_one_interface_refuses_all_refuse_and_with_the_same_code() {
    let fixture = Fixture::new();
    fixture.user_settings("[agents]\nprograms = \"any\"\n");
    fixture.write("a.txt", "one\n");
    fixture.done("track -m one");
    fixture.write("a.txt", "two\n");
    fixture.done("track -m two");
    let server = Server::start(&fixture);
    let document = server.document();
    let interfaces = Interfaces { fixture: &fixture, server };
    let mut tried = 0;
    let mut unlike: Vec<String> = Vec::new();
    let mut is = |found: String, wanted: &str, what: String| {
        tried += 1;
        if found != wanted {
            unlike.push(format!("{what}: `{found}` and not `{wanted}`"));
        }
    };
    for row in all() {
        let described = described(&document, row.operation);
        is(interfaces.http(&described, &row.good), row.code, format!("{} over HTTP", row.operation));
        let as_tool = |request: &Value| {
            let fields = request.as_object().unwrap().iter();
            let renamed = fields.map(|(field, value)| (row.argument(field).to_owned(), value.clone()));
            let chosen = row
                .chosen
                .map(|(argument, word)| (argument.to_owned(), if word == "true" { json!(true) } else { json!(word) }));
            Value::Object(renamed.chain(chosen).collect())
        };
        if !row.tool.is_empty() {
            is(interfaces.tool(row.tool, &as_tool(&row.good)), row.code, row.tool.to_owned());
        }
        let line = match row.flags.iter().any(|(_, flag)| flag.starts_with("1 ")) {
            true => format!("{} 1", row.line),
            false => row.line.to_owned(),
        };
        if !line.is_empty() {
            is(interfaces.command(&line), row.code, line.clone());
        }
        for (field, schema) in &described.fields {
            for value in wrong(&document, field, schema) {
                let mut request = row.good.clone();
                request[field] = value.clone();
                let shown: String = format!("{field} = {value}").chars().take(60).collect();
                // A query holds texts: a list is written otherwise, and an address of 64 KiB has its own limit.
                let in_address = described.method != "post" || described.path.contains(&format!("{{{field}}}"));
                let fits = !in_address || value.to_string().len() < 1000;
                if fits {
                    is(interfaces.http(&described, &request), "USAGE", format!("{} {shown}", row.operation));
                }
                let own = !row.tool.is_empty() && field != "max_bytes";
                if own {
                    is(interfaces.tool(row.tool, &as_tool(&request)), "USAGE", format!("{} {shown}", row.tool));
                }
                if let Some(line) = row.typed(field, &value) {
                    is(interfaces.command(&line), "USAGE", format!("{} {shown}", row.line));
                }
            }
        }
    }
    assert!(unlike.is_empty(), "{} of {tried} answers differ:\n{}", unlike.len(), unlike.join("\n"));
    assert!(tried > 300, "only {tried} values were tried");
}

#[test]
fn whatever_an_interface_offers_is_compared() {
    let fixture = Fixture::new();
    fixture.done("init");
    let server = Server::start(&fixture);
    let document = server.document();
    let paths = document["paths"].as_object().unwrap();
    let all = paths.values().flat_map(|methods| methods.as_object().unwrap().values());
    // What is live is a stream, a script or a report of events, and no operation.
    let operations = all.filter(|one| one["tags"][0] != "Live");
    let offered: BTreeSet<&str> = operations.map(|one| one["operationId"].as_str().unwrap()).collect();
    let rows = self::all();
    assert_eq!(offered, rows.iter().map(|row| row.operation).collect(), "operations of the API");
    let tools: BTreeSet<&str> = rows.iter().map(|row| row.tool).filter(|tool| !tool.is_empty()).collect();
    assert_eq!(offered_tools(), tools.iter().map(|tool| (*tool).to_owned()).collect(), "tools");
    let lines: Vec<&str> = rows.iter().map(|row| row.line).filter(|line| !line.is_empty()).collect();
    let is_compared =
        |command: &String| lines.iter().any(|line| *line == command || line.starts_with(&format!("{command} ")));
    let typed = typed_commands();
    let missing: Vec<&String> =
        typed.iter().filter(|command| !is_compared(command) && !ONLY_TYPED.contains(&command.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new(), "commands that are compared with nothing");
    let gone: Vec<&&str> = ONLY_TYPED.iter().filter(|command| !typed.contains(**command)).collect();
    assert_eq!(gone, Vec::<&&str>::new(), "commands that are not there any more");
}

/// The tools, as the reference that is made from their table lists them.
fn offered_tools() -> BTreeSet<String> {
    let reference = include_str!("../../../../../docs/TOOLS.md");
    let heads = reference.lines().filter_map(|line| line.strip_prefix("## `")?.split_once('`'));
    heads.map(|(name, _)| name.to_owned()).collect()
}

/// The commands that do something, as the reference that is made from them lists them.
fn typed_commands() -> BTreeSet<String> {
    let reference = include_str!("../../../../../docs/CLI.md");
    let heads = reference
        .lines()
        .filter_map(|line| line.trim_start_matches('#').trim().strip_prefix("`backsight ")?.split_once('`'));
    let all: BTreeSet<String> = heads.map(|(name, _)| name.to_owned()).collect();
    let has_more = |name: &String| all.iter().any(|other| other.starts_with(&format!("{name} ")));
    all.iter().filter(|name| !has_more(name)).cloned().collect()
}

#[test]
fn milestones_come_newest_first_everywhere() {
    let fixture = Fixture::new();
    for title in ["One", "Two"] {
        fixture.write("a.txt", title);
        fixture.done("track -m step");
        fixture.done(&format!("milestone create {title}"));
    }
    let server = Server::start(&fixture);
    let titles = |answer: &Value| -> Vec<String> {
        let all = answer["milestones"].as_array().unwrap().iter();
        all.map(|one| one["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(&server.get("/api/milestones").json()), ["Two", "One"]);
    assert_eq!(titles(&fixture.json("milestone list").0), ["Two", "One"]);
    let interfaces = Interfaces { fixture: &fixture, server };
    let told = interfaces.facts("milestone_list", &json!({}));
    let lines: Vec<&str> = told["milestones"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(lines[0].starts_with("Two ") && lines[1].starts_with("One "), "{lines:?}");
}

#[test]
fn a_pause_in_a_step_and_a_port_without_a_debugger_are_refused_everywhere() {
    let fixture = Fixture::new();
    fixture.done("init");
    let server = Server::start(&fixture);
    let document = server.document();
    let interfaces = Interfaces { fixture: &fixture, server };
    let step = described(&document, "debugStep");
    assert_eq!(interfaces.http(&step, &json!({ "action": "pause" })), "USAGE");
    assert_eq!(interfaces.tool("step_and_diff", &json!({ "action": "pause" })), "USAGE");
    assert_eq!(interfaces.command("debug try pause"), "USAGE");
    let attach = described(&document, "debugAttach");
    assert_eq!(interfaces.http(&attach, &json!({ "port": 9 })), "USAGE");
    assert_eq!(interfaces.tool("debug_attach", &json!({ "port": 9 })), "USAGE");
    assert_eq!(interfaces.command("debug attach --port 9"), "USAGE");
}
