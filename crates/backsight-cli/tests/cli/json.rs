//! The shapes of `--json`.

use serde_json::{Value, json};

use crate::fixture::{Fixture, numbered};

/// The names of an object's fields; objects have no order.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn track_is_the_snapshot_and_whether_it_is_new() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    let (first, status) =
        fixture.json("track -m start --tool edit --session s1 --message m1 --part p1 --declare a --pin");
    assert_eq!((status, &first["ok"], &first["created"]), (0, &json!(true), &json!(true)));
    assert_eq!(first["sequence_number"], 1);
    assert_eq!(first["id"].as_str().unwrap().len(), 16);
    assert_eq!(first["tree"].as_str().unwrap().len(), 40);
    assert_eq!(first["description"], "start");
    let origin = ["tool", "session", "message", "part"].map(|key| first[key].as_str().unwrap());
    assert_eq!(origin, ["edit", "s1", "m1", "p1"]);
    assert_eq!(first["declared"], json!(["a"]));
    assert_eq!(first["pinned"], true);
    assert_eq!(first["coverage"]["complete"], true);
    let (second, _) = fixture.json("track -m again");
    assert_eq!((&second["created"], &second["id"]), (&json!(false), &first["id"]));
    fixture.write("b", "b\n");
    let (third, _) = fixture.json("track");
    assert_eq!((&third["changes"][0]["path"], &third["changes"][0]["status"]), (&json!("b"), &json!("added")));
}

#[test]
fn log_has_a_cursor_until_the_last_page() {
    let fixture = Fixture::with_history();
    let (first, _) = fixture.json("log --limit 2");
    assert_eq!(first["rows"].as_array().unwrap().len(), 2);
    let cursor = first["next_cursor"].as_str().unwrap();
    let (last, _) = fixture.json(&format!("log --limit 2 --cursor {cursor}"));
    assert_eq!(last["rows"][0]["sequence_number"], 1);
    assert_eq!(last.get("next_cursor"), None);
    assert!(last["rows"][0]["timestamp"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn show_ls_and_cat() {
    let fixture = Fixture::with_history();
    std::fs::write(fixture.root().join("raw"), b"\xff\x00").unwrap();
    fixture.done("track");
    let (shown, _) = fixture.json("show '#2'");
    assert_eq!((&shown["sequence_number"], &shown["changes"][0]["path"]), (&json!(2), &json!("a.txt")));
    let (listed, _) = fixture.json("ls @");
    assert_eq!(listed["files"][1]["path"], "b.txt");
    assert_eq!(listed["files"][1]["kind"], "file");
    let (text, _) = fixture.json("cat @ b.txt");
    assert_eq!(text, json!({"ok": true, "path": "b.txt", "size": 2, "encoding": "utf-8", "content": "b\n"}));
    let (raw, _) = fixture.json("cat @ raw");
    assert_eq!(raw, json!({"ok": true, "path": "raw", "size": 2, "encoding": "base64", "content": "/wA="}));
}

#[test]
fn patch_and_diff_follow_seed_002() {
    let fixture = Fixture::with_history();
    let (patch, status) = fixture.json("patch '#1' '#3' --exit-code");
    assert_eq!((status, &patch["files"]), (1, &json!(["a.txt", "c.txt"])));
    assert_eq!(patch["changes"][1]["status"], "added");
    let (diff, _) = fixture.json("diff '#1' '#2'");
    let file = &diff["diffs"][0];
    assert_eq!(file["file"], "a.txt");
    assert_eq!(file["before"], numbered(&[]));
    assert_eq!(file["after"], numbered(&[(2, "agent")]));
    assert_eq!((&file["additions"], &file["deletions"]), (&json!(1), &json!(1)));
    let (stat, _) = fixture.json("diff '#1' '#2' --stat");
    assert_eq!(keys(&stat["diffs"][0]), ["additions", "deletions", "file", "status"]);
}

#[test]
fn going_back_lists_every_path_under_what_became_of_it() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "agent"), (9, "mine")]));
    let (planned, _) = fixture.json("revert '#2' --dry-run");
    assert_eq!((&planned["dry_run"], &planned["changed"]), (&json!(true), &json!(true)));
    assert_eq!(planned.get("snapshot"), None);
    let (done, _) = fixture.json("revert '#2'");
    assert_eq!(done["merged"], planned["merged"]);
    assert_eq!(done["merged"][0]["path"], "a.txt");
    assert_eq!(done["targets"], json!([2]));
    assert_eq!(done["snapshot"]["kind"], "revert");
    for list in ["reverted", "kept", "skipped", "conflicts"] {
        assert!(done[list].is_array(), "{list}");
    }
}

#[test]
fn a_refusal_is_the_envelope_with_every_conflict() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "mine")]));
    let (refused, status) = fixture.json("revert '#2'");
    assert_eq!((status, &refused["ok"]), (3, &json!(false)));
    assert_eq!(refused["error"]["code"], "CONFLICT");
    assert_eq!(refused["error"]["details"]["conflicts"][0]["path"], "a.txt");
}

#[test]
fn every_kind_of_failure_has_its_code_and_status() {
    let fixture = Fixture::with_history();
    for (line, code, expected) in [
        ("show '#99'", "REF_NOT_FOUND", 4),
        ("cat @ nothing", "PATH_NOT_FOUND", 4),
        ("cat @ ../x", "INVALID_PATH", 2),
        ("redo", "NOTHING_TO_UNDO", 4),
        ("config set nothing 1", "INVALID_CONFIG", 2),
        ("track --nonsense", "USAGE", 2),
        ("nonsense", "USAGE", 2),
        ("cat 1", "USAGE", 2),
        ("-C nowhere status", "WORKSPACE_NOT_FOUND", 4),
    ] {
        let (value, status) = fixture.json(line);
        assert_eq!((value["error"]["code"].as_str(), status), (Some(code), expected), "{line}: {value}");
        assert!(!value["error"]["message"].as_str().unwrap().is_empty(), "{line}");
        assert!(value["error"]["retryable"].is_boolean(), "{line}");
    }
}

#[test]
fn upkeep_shapes() {
    let fixture = Fixture::with_history();
    let (status, _) = fixture.json("status");
    assert_eq!((&status["clean"], &status["snapshots"]), (&json!(true), &json!(3)));
    assert_eq!(status["latest"]["sequence_number"], 3);
    assert!(fixture.json("usage").0["total_bytes"].as_u64().unwrap() > 0);
    assert_eq!(fixture.json("gc --dry-run").0["dry_run"], true);
    assert_eq!(fixture.json("verify").0["clean"], true);
    assert_eq!(fixture.json("doctor").0["healthy"], true);
    assert!(fixture.json("config").0["settings"].as_array().unwrap().iter().all(|entry| entry["key"].is_string()));
    assert_eq!(fixture.json("config get max_file_size").0["key"], "max_file_size");
    assert_eq!(fixture.json("pin @").0["pinned"], true);
    assert_eq!(fixture.json("unpin @").0.get("pinned"), None);
    assert!(fixture.json("completions bash").0["script"].as_str().unwrap().contains("backsight"));
    let (init, _) = fixture.json("init");
    assert_eq!(keys(&init), ["created", "ok", "root", "store"]);
}
