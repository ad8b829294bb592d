//! Tokens: short ones where other machines can try theirs are refused, and guessing is slow without hurting the owner.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::fixture::{Answer, ArgJson, Fixture};

use super::server::Server;

#[test]
fn a_short_token_is_refused_where_other_machines_can_try_theirs() {
    let fixture = Fixture::new();
    for token in ["", "a", "0123456789abcdef0123456789abcde"] {
        for address in ["0.0.0.0", "::"] {
            let mut command = fixture.command(&format!("serve --listen {address}")).arg_json();
            command.env("BACKSIGHT_TOKEN", token);
            let error = Answer::of(&mut command, "serve").fails("USAGE", 2);
            assert!(error["hint"].as_str().unwrap().contains("BACKSIGHT_TOKEN"), "{error}");
        }
    }
    let mut command = fixture.command("--json serve --listen 0.0.0.0");
    command.env("BACKSIGHT_TOKEN", "0123456789abcdef0123456789abcdef").stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.contains("\"running\":true"), "{line}");
    assert!(fixture.run("serve --help").contains("no TLS"));
}

#[test]
fn guessing_is_slow_and_the_owner_is_not_locked_out() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let wrong = |server: &Server| {
        let head = server.head("GET", "/api/status").replace(&server.token, "wrong");
        assert_eq!(server.raw(format!("{head}\r\n").as_bytes()).status, 401);
    };
    (0..100).for_each(|_| wrong(&server));
    let began = Instant::now();
    wrong(&server);
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    std::thread::scope(|scope| {
        (0..40).for_each(|_| drop(scope.spawn(|| wrong(&server))));
        let began = Instant::now();
        server.get("/api/status").ok();
        assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    });
}
