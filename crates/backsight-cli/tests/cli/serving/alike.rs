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
    /// The command, and its flags for fields.
    line: &'static str,
    flags: &'static [(&'static str, &'static str)],
    /// The code of the good value where no program is debugged.
    code: &'static str,
}

fn row(operation: &'static str, good: Value, tool: &'static str, line: &'static str) -> Row {
    Row { operation, good, tool, renamed: &[], line, flags: &[], code: "NO_SESSION" }
}

impl Row {
    fn flags(self, flags: &'static [(&'static str, &'static str)]) -> Row {
        Row { flags, ..self }
    }

    fn renamed(self, renamed: &'static [(&'static str, &'static str)]) -> Row {
        Row { renamed, ..self }
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
        // Commands take seconds.
        let text = match (field.ends_with("_ms"), value.as_i64()) {
            (true, Some(milliseconds)) => format!("{}", milliseconds as f64 / 1000.0),
            _ => text,
        };
        // Only the words of a command are read as a shell does.
        Some(if flag.is_empty() { format!("{} '{text}'", self.line) } else { format!("{} {flag}='{text}'", self.line) })
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

const GOING: &[(&str, &str)] = &[("on_conflict", "--on-conflict"), ("plan", "--plan")];
const FILTERS: &[(&str, &str)] = &[("limit", "--limit"), ("kind", "--kind"), ("text", "--text")];

/// The files lane's, of those that are defined once; the others are in `SPELLED_THREE_TIMES`.
fn of_files() -> Vec<Row> {
    let plan = json!({ "dry_run": true });
    let with = |field: &str, value: Value| json!({ "dry_run": true, field: value });
    vec![
        row("restore", with("ref", json!("1")), "files_restore", "restore 1 --dry-run").flags(GOING).fails(""),
        row("revert", with("refs", json!(["2"])), "files_revert", "revert 2 --dry-run").flags(GOING).fails(""),
        row("undo", plan.clone(), "files_undo", "undo --dry-run")
            .flags(&[("count", ""), ("on_conflict", "--on-conflict"), ("plan", "--plan")])
            .fails(""),
        row("redo", plan, "files_redo", "redo --dry-run")
            .flags(&[("count", ""), ("on_conflict", "--on-conflict"), ("plan", "--plan")])
            .fails("NOTHING_TO_UNDO"),
        row("log", json!({}), "history_query", "log").flags(FILTERS).fails(""),
        row("timeline", json!({}), "", "").fails(""),
        row("bisect", json!({ "good": "9", "command": ["true"] }), "bisect", "bisect --good 9 -- true")
            .fails("REF_NOT_FOUND"),
    ]
}

/// Operations that each interface still spells by itself. A new one is defined once (`backsight_core::Operation`) and compared
/// above; this list may only shrink.
const SPELLED_THREE_TIMES: &[&str] = &[
    "abandon",
    "attempts",
    "baselineCompare",
    "baselineDelete",
    "baselineList",
    "baselineSave",
    "begin",
    "bisectPage",
    "blame",
    "blob",
    "browserAttach",
    "browserChanges",
    "browserDetach",
    "browserEntry",
    "browserHar",
    "browserHealth",
    "browserLog",
    "browserStatus",
    "cat",
    "changes",
    "checkpointCreate",
    "checkpointDelete",
    "checkpointList",
    "comment",
    "commentAnswer",
    "commentResolve",
    "comments",
    "commits",
    "configGet",
    "configList",
    "configSet",
    "continuityReset",
    "continuityState",
    "continuityValidate",
    "diff",
    "diffStat",
    "doctor",
    "fileHistory",
    "finish",
    "gc",
    "hunks",
    "init",
    "knownClean",
    "knownCreate",
    "knownList",
    "knownShow",
    "ls",
    "markSeen",
    "markViewed",
    "milestoneCreate",
    "milestoneExportGit",
    "milestoneList",
    "milestoneShow",
    "noiseAdd",
    "noiseDisable",
    "noiseEnable",
    "noiseList",
    "noiseRemove",
    "openCalls",
    "patch",
    "pin",
    "search",
    "seen",
    "sessionDiff",
    "sessionList",
    "sessionRevert",
    "sessionShow",
    "sessionStart",
    "sessionTrack",
    "sessionUnrevert",
    "show",
    "since",
    "snippetRenew",
    "status",
    "stepDiff",
    "track",
    "unknownCheck",
    "unknownDetect",
    "unknownHandle",
    "unpin",
    "usage",
    "verify",
    "version",
    "viewed",
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
fn wrong(field: &str, schema: &Value) -> Vec<Value> {
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
    if schema.get("enum").is_some() || choices.iter().any(|one| one.get("enum").is_some()) {
        values.push(json!("no-such-word"));
    } else if is("string") && field != "session" && schema.get("pattern").is_none() && schema["format"].is_null() {
        values.push(json!("x".repeat((64 << 10) + 1)));
    }
    if is("array") && schema["items"]["type"] == "string" {
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
                let pairs: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
                self.server.get(&format!("{path}?{}", pairs.join("&")))
            }
        };
        code(&reply.json())
    }

    /// The same of a tool.
    fn tool(&self, name: &str, arguments: &Value) -> String {
        let body = json!({ "arguments": arguments, "client": "alike" });
        let reply = self.server.post(&format!("/api/tools/{name}"), &body);
        let text = String::from_utf8(reply.body).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        code(&last["reply"]["structured"])
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
    for row in debugging().into_iter().chain(of_files()) {
        let described = described(&document, row.operation);
        assert_eq!(interfaces.http(&described, &row.good), row.code, "{} over HTTP", row.operation);
        let as_tool = |request: &Value| {
            let fields = request.as_object().unwrap().iter();
            let renamed = fields.map(|(field, value)| (row.argument(field).to_owned(), value.clone()));
            Value::Object(renamed.collect())
        };
        if !row.tool.is_empty() {
            assert_eq!(interfaces.tool(row.tool, &as_tool(&row.good)), row.code, "{}", row.tool);
        }
        let line = match row.flags.iter().any(|(_, flag)| flag.starts_with("1 ")) {
            true => format!("{} 1", row.line),
            false => row.line.to_owned(),
        };
        if !line.is_empty() {
            assert_eq!(interfaces.command(&line), row.code, "{line}");
        }
        for (field, schema) in &described.fields {
            for value in wrong(field, schema) {
                tried += 1;
                let mut request = row.good.clone();
                request[field] = value.clone();
                let shown: String = format!("{field} = {value}").chars().take(60).collect();
                // A query holds texts: a list is written otherwise, and an address of 64 KiB has its own limit.
                let fits = described.method == "post" || value.to_string().len() < 1000;
                if fits {
                    assert_eq!(interfaces.http(&described, &request), "USAGE", "{} {shown}", row.operation);
                }
                let own = !row.tool.is_empty() && field != "max_bytes";
                if own {
                    assert_eq!(interfaces.tool(row.tool, &as_tool(&request)), "USAGE", "{} {shown}", row.tool);
                }
                if let Some(line) = row.typed(field, &value) {
                    assert_eq!(interfaces.command(&line), "USAGE", "{} {shown}", row.line);
                }
            }
        }
    }
    assert!(tried > 100, "only {tried} values were tried");
}

#[test]
fn every_operation_is_compared_or_known_to_be_spelled_three_times() {
    let fixture = Fixture::new();
    fixture.done("init");
    let document = Server::start(&fixture).document();
    let paths = document["paths"].as_object().unwrap();
    let all = paths.values().flat_map(|methods| methods.as_object().unwrap().values());
    // What is live is a stream, a script or a report of events, and no operation.
    let operations = all.filter(|one| one["tags"][0] != "Live");
    let all: BTreeSet<&str> = operations.map(|one| one["operationId"].as_str().unwrap()).collect();
    let compared: BTreeSet<&str> = debugging().iter().chain(&of_files()).map(|row| row.operation).collect();
    let spelled: BTreeSet<&str> = SPELLED_THREE_TIMES.iter().copied().collect();
    assert!(compared.is_disjoint(&spelled), "defined once, and still in the list");
    assert_eq!(all, compared.union(&spelled).copied().collect());
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
