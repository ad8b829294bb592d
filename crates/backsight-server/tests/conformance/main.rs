//! The public conformance suite of the Model Context Protocol, against our real router and guard. The suite wants tools,
//! prompts and resources of its own; they stand beside ours in a handler that passes everything else on.

#![allow(clippy::disallowed_methods)]
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod suite;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use axum::http::{HeaderValue, Request, header};
use backsight::Workspace;
use backsight_server::testing;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long a revision's scenarios may take.
const LIMIT: Duration = Duration::from_secs(90);

#[test]
fn the_stateless_revision_conforms() {
    conforms("2026-07-28", 37);
}

#[test]
fn the_older_handshake_conforms() {
    conforms("2025-11-25", 30);
}

/// Runs the scenarios a revision requires of servers. What may fail is in `expected-failures.yml`, with its reason.
fn conforms(revision: &str, scenarios: usize) {
    let node = installed("node_modules/.bin/node");
    let suite = installed("node_modules/.bin/conformance");
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/expected-failures.yml");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let ending = CancellationToken::new();
    let url = runtime.block_on(serve(directory.path(), ending.clone()));
    let mut command = Command::new(node);
    command.arg(suite).args(["server", "--url", &url, "--requirements", revision]);
    command.arg("--expected-failures").arg(expected).current_dir(directory.path());
    let output = finish(command);
    ending.cancel();
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    // It also runs scenarios of extensions and later additions, which it does not count; these are the ones it requires.
    let required = required(revision);
    assert_eq!(required.len(), scenarios, "{required:?}");
    for scenario in required {
        let passed = format!("✓ {scenario}: ");
        assert!(said.lines().any(|line| line.starts_with(&passed)), "{scenario}\n{said}\n{complained}");
    }
}

/// The names of the scenarios that a revision requires of servers.
fn required(revision: &str) -> Vec<String> {
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(installed("node_modules/.bin/conformance")).args(["list", "--requirements", revision]);
    let listed = String::from_utf8(finish(command).stdout).unwrap();
    let lines = listed.lines().skip_while(|line| !line.starts_with("Server scenarios")).skip(1);
    lines.map_while(|line| line.trim().strip_prefix("- ").map(str::to_owned)).collect()
}

/// Runs it to its end, which must come in time.
fn finish(mut command: Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id().to_string();
    let (done, ended) = channel();
    let watching = std::thread::spawn(move || {
        if ended.recv_timeout(LIMIT).is_err() {
            let _ = Command::new("kill").arg(process).status();
        }
    });
    let output = child.wait_with_output().unwrap();
    let _ = done.send(());
    watching.join().unwrap();
    output
}

/// Serves a workspace on loopback; where.
async fn serve(root: &Path, ending: CancellationToken) -> String {
    std::fs::write(root.join("a.txt"), "a\n").unwrap();
    let workspace = Workspace::open(root).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let authorities = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}")).to_vec();
    let changes = suite::Changes::default();
    let router = testing::router(workspace, "secret", authorities, ending.clone(), move |ours| {
        suite::Suite::new(ours, changes.clone())
    });
    // The suite has no way to send our token, so it is added on the way in; everything else the guard checks is real.
    let router = router.layer(axum::middleware::map_request(async |mut request: Request<axum::body::Body>| {
        request.headers_mut().insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
        request
    }));
    let serving = axum::serve(listener, router).with_graceful_shutdown(ending.cancelled_owned());
    tokio::spawn(async move { serving.await });
    format!("http://localhost:{port}/mcp")
}

/// A program of `tests/tools/install`.
fn installed(path: &str) -> PathBuf {
    let found = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join(path);
    assert!(found.exists(), "`{path}` of the test tools is missing: install them with `make tools`");
    found
}
