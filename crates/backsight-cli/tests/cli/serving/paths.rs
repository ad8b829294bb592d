//! No path in any request escapes the workspace.

use serde_json::{Value, json};

use super::server::Server;
use crate::fixture::Fixture;

const ESCAPES: [&str; 9] =
    ["..", "../outside", "a/../../outside", "/etc/passwd", "", ".", "a//b", ".git/config", "\"\\056./outside\""];

#[test]
fn no_path_in_a_request_escapes_the_workspace() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let secret = fixture.base().join("outside");
    std::fs::write(&secret, "secret\n").unwrap();
    let before = fixture.picture();
    for path in ESCAPES {
        let encoded: String = path.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for target in [
            format!("/api/cat?ref=@&path={encoded}"),
            format!("/api/cat?ref=now&path={encoded}"),
            format!("/api/history?path={encoded}"),
            format!("/api/blame?path={encoded}"),
            format!("/api/log?file={encoded}"),
            format!("/api/timeline?file={encoded}"),
            format!("/api/patch?from=@&paths={encoded}"),
            format!("/api/diff?from=@&paths={encoded}"),
            format!("/api/diff/stat?from=@&paths={encoded}"),
            format!("/api/step?ref=@&paths={encoded}"),
            format!("/api/unknown?paths={encoded}"),
            format!("/session/s1/diff?paths={encoded}"),
        ] {
            server.get(&target).fails(422, "INVALID_PATH");
        }
        let call = server.post("/api/begin", &json!({})).ok()["id"].clone();
        for (target, body) in [
            ("/api/track", json!({ "declare": [path] })),
            ("/api/begin", json!({ "declare": [path] })),
            ("/api/finish", json!({ "call": call, "declare": [path] })),
            ("/api/restore", json!({ "ref": "1", "paths": [path] })),
            ("/api/revert", json!({ "refs": ["2"], "paths": [path] })),
            ("/api/known", json!({ "paths": [path] })),
            ("/api/comments", json!({ "file": path, "line": 1, "text": "x" })),
            ("/api/bisect", json!({ "command": ["true"], "share": [path] })),
            ("/api/bisect", json!({ "command": ["true"], "copy": [path] })),
            ("/api/bisect", json!({ "command": ["true"], "directory": path })),
            ("/api/unknown/check", json!({ "paths": [path] })),
            ("/api/unknown/handle", json!({ "paths": [path] })),
            ("/api/milestones/export-git", json!({ "range": "1", "branch": "b", "repository": path })),
            ("/session/s1/track", json!({ "declare": [path] })),
            ("/api/debug/export", json!({ "id": "before", "file": path })),
        ] {
            server.post(target, &body).fails(422, "INVALID_PATH");
        }
        server.post("/api/abandon", &json!({ "call": call })).ok();
    }
    assert_eq!(fixture.picture(), before);
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret\n");
}

#[test]
fn every_field_that_holds_a_path_is_in_the_list_above() {
    let fixture = Fixture::new();
    let document = Server::start(&fixture).document();
    let mut takes = 0;
    for methods in document["paths"].as_object().unwrap().values() {
        for (method, described) in methods.as_object().unwrap() {
            let schema = match method.as_str() {
                "get" => described["parameters"].clone(),
                _ => described["requestBody"]["content"]["application/json"]["schema"]["properties"].clone(),
            };
            takes += usize::from(schema != Value::Null && schema.to_string().contains("src/main.rs"));
        }
    }
    // Twelve that read and thirteen that write; a new one belongs into the test above.
    assert_eq!(takes, 25, "operations that take paths");
}

#[test]
fn a_symlink_leads_no_request_to_a_repository_outside() {
    let fixture = Fixture::with_history();
    let outside = fixture.base().join("repository");
    std::fs::create_dir(&outside).unwrap();
    fixture.git_in(&outside, "init -q -b main");
    std::os::unix::fs::symlink(&outside, fixture.root().join("link")).unwrap();
    let server = Server::start(&fixture);
    let body = json!({ "range": "2", "branch": "b", "repository": "link" });
    server.post("/api/milestones/export-git", &body).fails(422, "INVALID_PATH");
    assert_eq!(fixture.git_in(&outside, "branch --list"), "");

    std::fs::create_dir(fixture.root().join("inside")).unwrap();
    fixture.git_in(&fixture.root().join("inside"), "init -q -b main");
    let body = json!({ "range": "2", "branch": "b", "repository": "inside" });
    server.post("/api/milestones/export-git", &body).ok();
    assert_eq!(fixture.git_in(&fixture.root().join("inside"), "branch --list").trim(), "b");
}

/// Makes a `.git` that points outside.
type Point<'a> = &'a dyn Fn(&std::path::Path);

/// What stands inside the workspace may point anywhere: by a `.git` file, a symlink, `commondir` or a lender.
#[test]
fn a_repository_inside_that_points_outside_takes_no_request_there() {
    use std::fs::{create_dir_all, remove_dir_all, rename, write};
    use std::os::unix::fs::symlink;
    let fixture = Fixture::with_history();
    let outside = fixture.base().join("repository");
    std::fs::create_dir(&outside).unwrap();
    fixture.git_in(&outside, "init -q -b main");
    let theirs = outside.join(".git");
    let server = Server::start(&fixture);
    let points: [(&str, Point<'_>); 7] = [
        ("gitfile", &|git| write(git, format!("gitdir: {}\n", theirs.display())).unwrap()),
        ("symlink", &|git| symlink(&theirs, git).unwrap()),
        ("commondir", &|git| {
            create_dir_all(git).unwrap();
            write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            write(git.join("commondir"), theirs.display().to_string()).unwrap();
        }),
        ("objects", &|git| {
            fixture.git_in(git.parent().unwrap(), "init -q -b main");
            remove_dir_all(git.join("objects")).unwrap();
            symlink(theirs.join("objects"), git.join("objects")).unwrap();
        }),
        ("refs", &|git| {
            fixture.git_in(git.parent().unwrap(), "init -q -b main");
            remove_dir_all(git.join("refs")).unwrap();
            symlink(theirs.join("refs"), git.join("refs")).unwrap();
        }),
        ("lender", &|git| {
            fixture.git_in(git.parent().unwrap(), "init -q -b main");
            write(git.join("objects/info/alternates"), theirs.join("objects").display().to_string()).unwrap();
        }),
        // The name of a directory of branches is the caller's, what stands there is not.
        ("branches", &|git| {
            fixture.git_in(git.parent().unwrap(), "init -q -b main");
            symlink(theirs.join("refs/heads"), git.join("refs/heads/agent")).unwrap();
        }),
    ];
    for (name, point) in points {
        create_dir_all(fixture.root().join(name)).unwrap();
        point(&fixture.root().join(name).join(".git"));
        let body = json!({ "range": "2", "branch": "agent/b", "repository": name });
        let refused = server.post("/api/milestones/export-git", &body);
        match name {
            "branches" => drop(refused.fails(409, "GIT_REFUSED")),
            _ => drop(refused.fails(422, "INVALID_PATH")),
        }
        assert_eq!(fixture.git_in(&outside, "branch --list --all"), "", "{name}");
        assert_eq!(std::fs::read_dir(theirs.join("objects/pack")).unwrap().count(), 0, "{name}");
    }
    // The workspace itself, named by nobody.
    rename(fixture.root().join("gitfile/.git"), fixture.root().join(".git")).unwrap();
    let body = json!({ "range": "2", "branch": "b" });
    server.post("/api/milestones/export-git", &body).fails(422, "INVALID_PATH");
    assert_eq!(fixture.git_in(&outside, "branch --list --all"), "");
}
