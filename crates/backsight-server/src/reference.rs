//! `docs/HTTP.md` and `docs/TOOLS.md` are made from the tables that define the API and the tools, and checked here:
//! `make docs` writes them again.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use backsight_core::Effect;
use serde_json::{Map, Value};

use crate::reply::ENVELOPE;
use crate::tool::{self, Tool};

const HTTP: &str = "\
# The HTTP API

Generated from the OpenAPI document by `make docs`; a test keeps it true. The running server hands the document out at
`GET /openapi.json`: every field of every request and answer is described there.

`backsight serve` starts the workspace's server, and `backsight serve --show` says where it is. It listens on loopback
only, unless told otherwise.

## Getting in

Every request carries the server's token: `Authorization: Bearer TOKEN`. It is in `.backsight/store/server.json`, which
only you can read, and changes with every start unless `BACKSIGHT_TOKEN` says otherwise. `Host` must be the server's own
address and `Origin`, if a browser sends one, too: a web page you visit cannot talk to the server.

The dashboard at `/` is for people: `backsight open` makes an address for a browser that works once. Every page of it with `.json`
behind its address (`/index.json`, `/timeline.json`, `/step/12.json`, `/range/3/now.json`, `/checkpoint/NAME.json`) is its data.

```sh
eval \"$(backsight serve --show --json | python3 -c 'import json, sys; it = json.load(sys.stdin); \\
  print(\"URL=%s TOKEN=%s\" % (it[\"url\"], it[\"token\"]))')\"
curl -H \"Authorization: Bearer $TOKEN\" \"$URL/api/status\"
curl -H \"Authorization: Bearer $TOKEN\" \"$URL/api/log?limit=5\"
curl -H \"Authorization: Bearer $TOKEN\" -d '{\"ref\": \"@\", \"dry_run\": true}' \"$URL/api/restore\"
```

## Asking

What reads is a GET and takes its arguments in the query; a list is the same name several times
(`?paths=a.txt&paths=b.txt`). What does something is a POST with one JSON object, or with nothing for the ordinary thing.
It is carried out at once, as on the command line, unless `dry_run` is true. A name that the address does not know is
refused. Paths are relative to the workspace and cannot leave it. A `ref` is any of the references the command line takes
(`#` is `%23` in a query; the number alone will do).

A body is at most 4 MiB, and has ten seconds to arrive.

## Answers

An answer is what the command prints with `--json`: `{\"ok\": true, ...}`, or

```json
{\"ok\": false, \"error\": {\"code\": \"REF_NOT_FOUND\", \"message\": \"...\", \"hint\": \"...\", \"retryable\": false}}
```

The status follows from the code; ARCHITECTURE.md has the table. Besides the codes listed below, every request can fail
with ";

const LIVE: &str = "
## Events

`GET /events` is a stream of server-sent events: where the timeline is at once, and again whenever it grows, whoever
recorded: this server, the command line, another agent. Who was away hears the newest number and asks
`GET /api/log?oldest_first=true&cursor=after-N` for what lies between.

```
event: now
id: 42
data: {\"sequence_number\":42}
```

## Reports from pages and programs

`POST /ingest/console`, `/ingest/network`, `/ingest/websocket` and `/ingest/actions` take
`{\"source\": \"terminal: npm run dev\", \"watches\": [\"console\"], \"events\": [...], \"ended\": \"exit 0\"}`; every field may
be left out. The OpenAPI document describes each event. `POST /ingest` takes events of all four, each with its `category`.
A source that says nothing for a minute is taken to be gone, so a report without events is a sign of life. An event that
is not understood is counted in `rejected` with a reason; the others are taken.

```sh
curl -H \"Authorization: Bearer $TOKEN\" \"$URL/ingest/console\" \\
  -d '{\"source\": \"my test\", \"events\": [{\"level\": \"error\", \"message\": \"it broke\"}]}'
```

A page reports by itself, from whatever origin and in any browser, when it includes
`<script src=\"URL/backsight.js?key=KEY\"></script>` before its other scripts. KEY is `ingest_key` in `server.json`; it stays
the same for a workspace until `POST /api/browser/snippet/renew` makes a new one, lets a page report, and opens nothing else.
Such a page is known by the origin that its browser vouches for, whatever it calls itself. What is typed never leaves it.

## Tools

`POST /api/tools/NAME` calls a tool of [TOOLS.md](TOOLS.md) as an agent does, with `{\"arguments\": {...}, \"client\":
\"NAME\"}`. The answer is lines of JSON: any number of `{\"progress\": {\"done\", \"total\", \"message\"}}`, then one
`{\"reply\": {\"structured\", \"text\", \"is_error\"}}`. `POST /mcp` speaks MCP itself.
";

const TOOLS: &str = "\
# The MCP tools

Generated from the tools' own definitions by `make docs`; a test keeps it true. `backsight mcp` offers them on stdin and
stdout, `backsight serve` at `POST /mcp`, and over plain HTTP at `POST /api/tools/NAME` ([HTTP.md](HTTP.md)). There are
three groups, `files`, `browser` and `debug`; `--tools files,browser` lists some of them at once and in full, `--tools all`
every tool. Without `--tools` a client is shown what makes sense now, without the schemas of answers: `milestone_list` once
there is a milestone, `review_comments` once a person commented on a line, most of `browser` once something is watched, most of `debug` once a program is debugged. It is told so by
`notifications/tools/list_changed`, or by its next `tools/list`. Every tool can be called at any time, listed or not.

Every answer begins with `summary`, one sentence, and fits `max_tokens`; what was cut is counted in `left_out`, and `next`
is the call that fetches it. When others changed files since this client last asked, `external_changes` counts them and
`news` names them; it also says when the app has errors this client has not seen, and when review comments wait for it. `client` is there when the caller is known
by another name than the one it gave, as when two have the same. A failure has `ok`, which is false, and `error` with a code,
a message, a hint and, where it helps, the `next` call. A list without items is left out.

`files_track` also takes `tool`, `message` and `part`, `files_revert` and `files_restore` take `session`: for whom a step is
recorded, where the client does not say it by itself. Every tool of the group `debug` also takes `session`, the name of one of several programs that are debugged; without it the
only one, or the one called `main`, is meant. `debug_control`, `variables_get` and `evaluate` take `thread`, `debug_attach`
takes `host`, `breakpoints` and `wait_ms`, and `debug_launch` and `debug_attach` take `options`, which the debugger gets as
they are. A breakpoint in `breakpoints` may be an object with the arguments of `breakpoint_set`.

Every tool takes:

| argument | type | means |
|---|---|---|
| `client` | string | who asks; default: the name of the MCP client |
| `max_tokens` | integer | how long the answer may be; default 500, at least 200 |

Every reply may hold ";

#[test]
fn the_http_reference_is_what_the_document_says() {
    let document = crate::openapi();
    let operations = operations(&document);
    let common: BTreeSet<&str> = operations
        .iter()
        .filter(|operation| operation.topic != "Live")
        .map(|operation| operation.codes())
        .reduce(|all, codes| all.intersection(&codes).copied().collect())
        .unwrap_or_default();
    let mut text = format!("{HTTP}{}.\n", listed(common.iter().copied()));
    let mut topic = "";
    for operation in operations.iter().filter(|operation| operation.topic != "Live") {
        if operation.topic != topic {
            topic = operation.topic;
            let _ = write!(text, "\n## {topic}\n\n| request | does | takes | can fail with |\n|---|---|---|---|\n");
        }
        let own = operation.codes().into_iter().filter(|code| !common.contains(code));
        let Operation { method, path, summary, .. } = operation;
        let (method, takes) = (method.to_ascii_uppercase(), operation.takes());
        let _ = writeln!(text, "| `{method} {path}` | {summary} | {takes} | {} |", listed(own));
    }
    text.push_str("\n**Bold** must be there.\n");
    text.push_str(LIVE);
    check("HTTP.md", &text);
}

#[test]
fn the_tool_reference_is_what_the_tools_say() {
    let mut text = String::from(TOOLS);
    let tools = tool::all();
    let _ = writeln!(text, "{}.", facts(ENVELOPE));
    for tool in tools {
        let _ = write!(text, "\n## `{}`: {}\n\n{}\n\n", tool.name, tool.title, tool.description);
        let _ = write!(text, "{}\n\n", effect(tool.effect));
        if tool.default_tokens != tools[0].default_tokens {
            let _ = write!(text, "Its `max_tokens` is {} when left out.\n\n", tool.default_tokens);
        }
        let own = arguments(tool, |name| name != "max_tokens");
        text.push_str(if own.is_empty() { "It takes nothing else.\n" } else { &own });
        let _ = write!(text, "\nThe reply may hold {}.\n", facts(tool.facts));
    }
    check("TOOLS.md", &text);
}

fn facts(facts: &[(&str, &str)]) -> String {
    facts.iter().map(|(name, kind)| format!("`{name}` ({kind})")).collect::<Vec<_>>().join(", ")
}

#[track_caller]
fn check(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == text, "docs/{name} is not what the code says; write it again with `make docs`");
}

struct Operation<'d> {
    method: &'d str,
    path: &'d str,
    topic: &'d str,
    summary: &'d str,
    described: &'d Value,
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, described)| Operation {
            method,
            path,
            topic: described["tags"][0].as_str().unwrap(),
            summary: described["summary"].as_str().unwrap(),
            described,
        })
    });
    all.collect()
}

impl Operation<'_> {
    /// The names of what it takes, those that must be there in bold.
    fn takes(&self) -> String {
        let mut names = Vec::new();
        for parameter in self.described["parameters"].as_array().into_iter().flatten() {
            // What is in the path is seen there.
            if parameter["in"] == "query" {
                names.push((parameter["name"].as_str().unwrap(), parameter["required"] == true));
            }
        }
        let schema = &self.described["requestBody"]["content"]["application/json"]["schema"];
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for name in schema["properties"].as_object().into_iter().flat_map(Map::keys) {
            names.push((name, required.iter().any(|required| required == name)));
        }
        let shown =
            |(name, required): &(&str, bool)| if *required { format!("**`{name}`**") } else { format!("`{name}`") };
        names.iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    fn codes(&self) -> BTreeSet<&str> {
        let responses = self.described["responses"].as_object().unwrap();
        let failures = responses.iter().filter(|(status, _)| *status != "200");
        failures.flat_map(|(_, response)| response["description"].as_str().unwrap().split(", ")).collect()
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn properties(schema: &Map<String, Value>) -> &Map<String, Value> {
    schema["properties"].as_object().unwrap()
}

fn arguments(tool: &Tool, wanted: impl Fn(&String) -> bool) -> String {
    let required = tool.input.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let rows = properties(&tool.input).iter().filter(|(name, _)| wanted(name)).map(|(name, schema)| {
        let must = if required.iter().any(|required| required == name) { ", required" } else { "" };
        let meaning = schema["description"].as_str().unwrap_or_default();
        format!("| `{name}` | {}{must} | {meaning} |\n", kind(schema))
    });
    let rows: String = rows.collect();
    if rows.is_empty() { rows } else { format!("| argument | type | means |\n|---|---|---|\n{rows}") }
}

fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("`{}`", value.as_str().unwrap())).collect::<Vec<_>>().join(" or ");
    }
    match (schema["type"].as_str(), schema["items"]["type"].as_str()) {
        (Some("array"), Some(item)) => format!("list of {item}"),
        (Some("array"), None) => "list".to_owned(),
        (Some(kind), _) => kind.to_owned(),
        (None, _) => "any".to_owned(),
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Reads => "It only reads.",
        Effect::ReadsOn => "It only reads, and moves your own mark.",
        Effect::Records => "It adds to the record and changes no file.",
        Effect::RecordsOnce => "It adds to the record and changes no file; asking twice adds nothing more.",
        Effect::ChangesFiles => "It changes files, and can be taken back.",
        Effect::AddsFile => "It writes a new file and overwrites none.",
        Effect::Removes => "It may remove something that Backsight keeps; it changes no file.",
        Effect::Runs => "It runs programs or code of one, which may do and reach anything; clients should ask first.",
        Effect::Stops => "It ends a program, or lets go of it: a paused one that is let go of runs on.",
    }
}
