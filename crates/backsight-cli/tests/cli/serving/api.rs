//! Every operation, once at least, against the command that does the same.

use std::collections::BTreeSet;

use serde_json::Value;

use super::twins::{Call, Deed, Twins};
use crate::contract::commands;
use crate::fixture::{Fixture, words};
use crate::reference::with_subcommands;

/// Operations that have tests of their own.
const ELSEWHERE: [&str; 12] = [
    "events",
    "callTool",
    "openapi",
    "script",
    "ingest",
    "ingestConsole",
    "ingestNetwork",
    "ingestWebsocket",
    "ingestActions",
    "browserAttach",
    "browserDetach",
    "bisectPage",
];

/// Commands that are no operation: they are about this process, this terminal or this machine. `call` runs a program,
/// which a server does for nobody; over HTTP it is `begin` and `finish`. `run` reports to `/ingest/console`. `export`
/// and `import` name a file of the user's anywhere. The commands below `debug` are compared in the module of that name.
const ONLY_TYPED: [&str; 16] = [
    "agent-help",
    "call",
    "completions",
    "debug",
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

/// Commands that need a server, or say something else in every process, so that there is nothing to compare with; the
/// module `changes` tests them.
const THROUGH_THE_SERVER: [&str; 11] = [
    "baseline save",
    "baseline compare",
    "baseline delete",
    "browser attach",
    "browser launch",
    "browser detach",
    "browser log",
    "browser entry",
    "browser har",
    "browser snippet",
    "checkpoint list",
];

fn write(path: &'static str, text: &'static str) -> Deed {
    Deed::Write(path, text)
}

fn get(operation: &'static str, target: &'static str, line: &'static str) -> Deed {
    Deed::Call(Call { operation, target, body: None, line, fields: None })
}

fn post(operation: &'static str, target: &'static str, body: &'static str, line: &'static str) -> Deed {
    Deed::Call(Call { operation, target, body: Some(body), line, fields: None })
}

/// Where the command answers with more, or under another name.
fn of(fields: (&'static str, &'static str), deed: Deed) -> Deed {
    match deed {
        Deed::Call(call) => Deed::Call(Call { fields: Some(fields), ..call }),
        other => other,
    }
}

/// A life in which every operation has something to say.
fn life() -> Vec<Deed> {
    let mut life = recording();
    life.extend(looking());
    life.extend(going());
    life.extend(naming());
    life.extend(sessions());
    life.extend(keeping());
    life.extend(app());
    life
}

fn recording() -> Vec<Deed> {
    vec![
        get("version", "/api/version", ""),
        post("init", "/api/init", "{}", "init"),
        get("status", "/api/status", "status"),
        get("continuityState", "/api/continuity", "continuity state"),
        write("a.txt", "one\ntwo\nthree\n"),
        write("b.txt", "b\n"),
        post("track", "/api/track", r#"{"description": "start"}"#, "track -m start"),
        write("a.txt", "one\nTWO\nthree\n"),
        write("other.txt", "not the tool's\n"),
        get("status", "/api/status", "status"),
        post(
            "track",
            "/api/track",
            r#"{"description": "edit", "tool": "edit", "session": "s1", "message": "m1", "part": "p1",
                "declare": ["a.txt"], "strategy": "auto-integrate", "pin": true}"#,
            "track -m edit --tool edit --session s1 --message m1 --part p1 --declare a.txt --strategy auto-integrate --pin",
        ),
        post("track", "/api/track", "", "track"),
        write("b.txt", "b, before the call\n"),
        post("begin", "/api/begin", r#"{"tool": "sed", "declare": ["c.txt"]}"#, "begin --tool sed --declare c.txt"),
        write("c.txt", "c\n"),
        of(("open_calls", "open_calls"), get("openCalls", "/api/calls", "status")),
        post(
            "finish",
            "/api/finish",
            r#"{"call": "{begin.id}", "description": "add c", "declare": ["c.txt"], "force": true}"#,
            "finish {begin.id} -m 'add c' --declare c.txt --force",
        ),
        post("begin", "/api/begin", "{}", "begin"),
        post("abandon", "/api/abandon", r#"{"call": "{begin.id}"}"#, "abandon {begin.id}"),
    ]
}

fn looking() -> Vec<Deed> {
    vec![
        get("log", "/api/log", "log"),
        get("log", "/api/log?limit=2&oldest_first=true", "log --limit 2 --reverse"),
        get("log", "/api/log?limit=2&oldest_first=true&cursor=after-2", "log --limit 2 --reverse --cursor after-2"),
        get(
            "log",
            "/api/log?session=s1&tool=edit&kind=track&text=EDIT&since=2020-01-01T00:00:00Z&until=2999-01-01T00:00:00Z",
            "log --session s1 --tool edit --kind track --text EDIT --since 2020-01-01T00:00:00Z --until 2999-01-01T00:00:00Z",
        ),
        of(("versions", "versions"), get("fileHistory", "/api/history?path=a.txt", "log --file a.txt")),
        get("show", "/api/show?ref=%40", "show @"),
        get("show", "/api/show?ref=3&diff=true&reverse_diff=true", "show 3 --diff --reverse-diff"),
        of(("unified", "diff"), get("stepDiff", "/api/step?ref=3&unified=true", "show 3 --diff")),
        of(
            ("unified", "reverse_diff"),
            get("stepDiff", "/api/step?ref=3&reverse=true&unified=true", "show 3 --reverse-diff"),
        ),
        get("ls", "/api/ls?ref=%40", "ls @"),
        get("cat", "/api/cat?ref=1&path=a.txt", "cat 1 a.txt"),
        get("cat", "/api/cat?ref=now&path=a.txt", "cat now a.txt"),
        get(
            "blob",
            "/api/blob/4cb29ea38f70d7c61b2a3a25b02e3bdf44905402",
            "cat --blob 4cb29ea38f70d7c61b2a3a25b02e3bdf44905402",
        ),
        get("patch", "/api/patch?from=1&to=3&paths=a.txt&paths=b.txt", "patch 1 3 -- a.txt b.txt"),
        get("patch", "/api/patch?from=1", "patch 1"),
        get("diff", "/api/diff?from=1&to=@", "diff 1 @"),
        get("diff", "/api/diff?from=1&to=now&paths=a.txt&max_file_bytes=3", "diff 1 now --max-file-bytes 3 -- a.txt"),
        get("diffStat", "/api/diff/stat?from=1&to=@", "diff 1 @ --stat"),
        get("blame", "/api/blame?path=a.txt", "blame a.txt"),
        of(
            ("found", "found"),
            post(
                "bisect",
                "/api/bisect",
                r#"{"command": ["sh", "-c", "test $BACKSIGHT_STEP -lt 3"]}"#,
                "bisect -- sh -c 'test $BACKSIGHT_STEP -lt 3'",
            ),
        ),
        get("blame", "/api/blame?path=a.txt&ref=3&start_line=2&end_line=2", "blame a.txt 3 -L 2,2"),
    ]
}

fn going() -> Vec<Deed> {
    vec![
        post("revert", "/api/revert", r#"{"refs": ["3"], "dry_run": true}"#, "revert 3 --dry-run"),
        post(
            "revert",
            "/api/revert",
            r#"{"refs": ["3"], "paths": ["a.txt"], "on_conflict": "merge"}"#,
            "revert 3 --on-conflict merge -- a.txt",
        ),
        post("undo", "/api/undo", "{}", "undo"),
        post("redo", "/api/redo", r#"{"count": 1, "on_conflict": "skip"}"#, "redo 1 --on-conflict skip"),
        post("restore", "/api/restore", r#"{"ref": "1", "dry_run": true}"#, "restore 1 --dry-run"),
        post(
            "restore",
            "/api/restore",
            r#"{"ref": "1", "paths": ["c.txt"], "on_conflict": "skip"}"#,
            "restore 1 --on-conflict skip -- c.txt",
        ),
    ]
}

fn naming() -> Vec<Deed> {
    vec![
        post(
            "milestoneCreate",
            "/api/milestones",
            r#"{"title": "Phase 1", "description": "as planned", "tags": ["t"], "end": "3"}"#,
            "milestone create 'Phase 1' -m 'as planned' --tag t --end 3",
        ),
        post("milestoneCreate", "/api/milestones", r#"{"title": "Phase 2"}"#, "milestone create 'Phase 2'"),
        get("milestoneList", "/api/milestones", "milestone list"),
        get("milestoneShow", "/api/milestones/show?ref=Phase+1&diff=true", "milestone show 'Phase 1' --diff"),
        post(
            "milestoneExportGit",
            "/api/milestones/export-git",
            r#"{"range": "Phase 1", "branch": "steps", "dry_run": true}"#,
            "milestone export-git 'Phase 1' --repo {init.root} --branch steps --dry-run",
        ),
        post(
            "milestoneExportGit",
            "/api/milestones/export-git",
            r#"{"range": "1..3", "branch": "one", "squash": true}"#,
            "milestone export-git 1..3 --repo {init.root} --branch one --squash",
        ),
        write("unknown.txt", "who wrote this?\n"),
        get("unknownDetect", "/api/unknown?paths=unknown.txt", "unknown detect -- unknown.txt"),
        get("continuityValidate", "/api/continuity/validate", "continuity validate"),
        post("unknownCheck", "/api/unknown/check", r#"{"strategy": "strict"}"#, "unknown check --strategy strict"),
        post(
            "unknownHandle",
            "/api/unknown/handle",
            r#"{"strategy": "auto-integrate", "paths": ["unknown.txt"]}"#,
            "unknown handle integrate -- unknown.txt",
        ),
        post(
            "continuityReset",
            "/api/continuity/reset",
            r#"{"reason": "from a backup"}"#,
            "continuity reset --reason 'from a backup'",
        ),
        get("continuityState", "/api/continuity", "continuity state"),
    ]
}

fn sessions() -> Vec<Deed> {
    vec![
        post("sessionStart", "/session", r#"{"id": "s2", "title": "Fix it"}"#, "session start s2 --title 'Fix it'"),
        post(
            "sessionTrack",
            "/session/s2/track",
            r#"{"messageID": "m1", "phase": "before"}"#,
            "session track s2 --message m1 --before",
        ),
        write("s.txt", "by the session\n"),
        post(
            "sessionTrack",
            "/session/s2/track",
            r#"{"messageID": "m1", "phase": "after", "description": "made s", "tool": "edit"}"#,
            "session track s2 --message m1 --after -m 'made s' --tool edit",
        ),
        write("s.txt", "by the session\nagain\n"),
        post("sessionTrack", "/session/s2/track", r#"{"messageID": "m2"}"#, "session track s2 --message m2"),
        get("sessionDiff", "/session/s2/diff", "session diff s2"),
        get("timeline", "/api/timeline?limit=3", ""),
        get("hunks", "/api/hunks?ref=%40", ""),
        get("hunks", "/api/hunks?ref=3&path=a.txt", ""),
        get("commits", "/api/commits", ""),
        get("search", "/api/search?text=EDIT", ""),
        get("hunks", "/api/hunks?from=1&to=now&context=0", ""),
        get("hunks", "/api/hunks?of_session=s2", ""),
        get("attempts", "/api/attempts?one=s1&other=s2", ""),
        post(
            "markViewed",
            "/api/viewed",
            r#"{"person": "ada", "add": ["61780798228d17af2d34fce4cfbdf35556832472"]}"#,
            "",
        ),
        get("viewed", "/api/viewed?person=ada", ""),
        post(
            "comment",
            "/api/comments",
            r#"{"person": "ada", "file": "s.txt", "line": 1, "text": "why?"}"#,
            "comment add s.txt:1 'why?' --as ada",
        ),
        get("comments", "/api/comments", "comment list --all"),
        post(
            "commentAnswer",
            "/api/comments/answer",
            r#"{"person": "eve", "id": "{comment.id}", "text": "so"}"#,
            "comment answer {comment.id} so --as eve",
        ),
        post("commentResolve", "/api/comments/resolve", r#"{"id": "{comment.id}"}"#, "comment resolve {comment.id}"),
        get("sessionDiff", "/session/s2/diff?messageID=m2&paths=s.txt", "session diff s2 --message m2 -- s.txt"),
        post(
            "sessionRevert",
            "/session/s2/revert",
            r#"{"messageID": "m2", "dry_run": true}"#,
            "session revert s2 --message m2 --dry-run",
        ),
        post("sessionRevert", "/session/s2/revert", r#"{"messageID": "m1"}"#, "session revert s2 --message m1"),
        get("sessionShow", "/session/s2", "session show s2"),
        post("sessionUnrevert", "/session/s2/unrevert", "{}", "session unrevert s2"),
        get("sessionList", "/session?limit=1", "session list -n 1"),
    ]
}

fn keeping() -> Vec<Deed> {
    vec![
        post("knownCreate", "/api/known", r#"{"ref": "3", "paths": ["a.txt"]}"#, "known create 3 -- a.txt"),
        get("knownList", "/api/known", "known list"),
        get("knownShow", "/api/known/show?id={knownCreate.id}", "known show {knownCreate.id}"),
        post(
            "knownClean",
            "/api/known/clean",
            r#"{"older_than": "2999-01-01T00:00:00Z"}"#,
            "known clean --older-than 2999-01-01T00:00:00Z",
        ),
        post("pin", "/api/pin", r#"{"ref": "2"}"#, "pin 2"),
        post("unpin", "/api/unpin", r#"{"ref": "2"}"#, "unpin 2"),
        get("usage", "/api/usage", "usage"),
        post("gc", "/api/gc", r#"{"keep_count": 2, "dry_run": true}"#, "gc --keep-count 2 --dry-run"),
        post("gc", "/api/gc", r#"{"keep_count": 2}"#, "gc --keep-count 2"),
        get("show", "/api/show?ref=4", "show 4"),
        get("verify", "/api/verify", "verify"),
        // The command also looks at the terminal's surroundings.
        of(("healthy", "healthy"), get("doctor", "/api/doctor", "doctor")),
        post("configSet", "/api/config/keep_days", r#"{"value": "7"}"#, "config set keep_days 7"),
        get("configGet", "/api/config/keep_days", "config get keep_days"),
        get("configList", "/api/config", "config"),
    ]
}

/// Where no server runs the commands about the app answer from the store, which is the same until something happens.
fn app() -> Vec<Deed> {
    let rule = r#"{"rules": [{"text": "heartbeat", "level": "info", "reason": "chatter"}]}"#;
    vec![
        get("browserStatus", "/api/browser/status", "browser status"),
        post(
            "checkpointCreate",
            "/api/browser/checkpoints",
            r#"{"name": "session_start"}"#,
            "checkpoint create session_start",
        ),
        get("checkpointList", "/api/browser/checkpoints", ""),
        post("browserChanges", "/api/browser/changes", r#"{"client": "other"}"#, ""),
        get("changes", "/api/changes?client=twin", "changes --client twin"),
        get("browserHealth", "/api/browser/health", "health"),
        post(
            "checkpointDelete",
            "/api/browser/checkpoints/delete",
            r#"{"name": "session_start"}"#,
            "checkpoint delete session_start",
        ),
        post("noiseAdd", "/api/browser/noise", rule, "noise add --text heartbeat --level info --reason chatter"),
        get("noiseList", "/api/browser/noise", "noise list"),
        post("noiseDisable", "/api/browser/noise/disable", r#"{"id": "user_1"}"#, "noise disable user_1"),
        post("noiseEnable", "/api/browser/noise/enable", r#"{"id": "user_1"}"#, "noise enable user_1"),
        post("noiseRemove", "/api/browser/noise/remove", r#"{"id": "user_1"}"#, "noise remove user_1"),
        get("baselineList", "/api/browser/baselines", "baseline list"),
        post(
            "ingestConsole",
            "/ingest/console",
            r#"{"source": "terminal: npm run dev", "watches": ["console"], "events": [{"level": "error", "message": "no"}]}"#,
            "",
        ),
        get("browserLog", "/api/browser/log", ""),
        get("browserEntry", "/api/browser/entries/c1", ""),
        get("browserHar", "/api/browser/har", ""),
        post("baselineSave", "/api/browser/baselines", r#"{"name": "baseline_app"}"#, ""),
        get("baselineList", "/api/browser/baselines", ""),
        get("baselineCompare", "/api/browser/baselines/baseline_app/compare", ""),
        post("baselineDelete", "/api/browser/baselines/delete", r#"{"name": "baseline_app"}"#, ""),
        post("snippetRenew", "/api/browser/snippet/renew", "{}", ""),
        get("seen", "/api/seen?person=ada", ""),
        get("since", "/api/since?person=ada", ""),
        post("markSeen", "/api/seen", r#"{"person": "ada"}"#, ""),
    ]
}

#[test]
fn every_operation_answers_as_the_command_line_does() {
    let mut twins = Twins::new();
    for deed in life() {
        twins.do_both(&deed);
    }
    let called: BTreeSet<&str> = twins.called().into_iter().chain(ELSEWHERE).collect();
    let described: BTreeSet<&str> = operations(twins.document()).into_iter().collect();
    assert_eq!(called, described, "an operation has no example, or an example no operation");
}

fn operations(document: &Value) -> Vec<&str> {
    let methods =
        document["paths"].as_object().unwrap().values().flat_map(|methods| methods.as_object().unwrap().values());
    // The module `debug` calls those that need a program to debug.
    let methods = methods.filter(|described| described["tags"][0] != "Debugging");
    methods.map(|described| described["operationId"].as_str().unwrap()).collect()
}

#[test]
fn every_command_is_an_operation_too_or_has_a_reason_not_to_be() {
    let fixture = Fixture::new();
    let typed: BTreeSet<String> = life()
        .iter()
        .filter_map(|deed| match deed {
            Deed::Call(call) if !call.line.is_empty() => Some(words(call.line)),
            _ => None,
        })
        .flat_map(|words| [words[0].clone(), words.iter().take(2).cloned().collect::<Vec<_>>().join(" ")])
        .collect();
    for command in commands(&fixture) {
        if ONLY_TYPED.contains(&command.as_str()) {
            continue;
        }
        for command in with_subcommands(&fixture, &command) {
            let is_typed = typed.contains(&command) || THROUGH_THE_SERVER.contains(&command.as_str());
            assert!(is_typed, "`backsight {command}` has no operation");
        }
    }
}
