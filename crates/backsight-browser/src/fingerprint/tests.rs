//! What stays apart and what becomes one, in the words of messages.

use backsight_core::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::event::Frame;

fn said(message: &str) -> Console {
    Console {
        time: Timestamp(0),
        level: Level::Error,
        speaker: Speaker::Page,
        message: message.to_owned(),
        stack: Vec::new(),
        causes: Vec::new(),
        page: None,
        backfilled: false,
    }
}

fn frame(function: &str, file: &str, line: u32) -> Frame {
    Frame { file: file.to_owned(), line, column: 1, function: function.to_owned() }
}

#[track_caller]
fn becomes(message: &str, expected: &str) {
    assert_eq!(template(message), expected, "{message}");
}

#[test]
fn uuids_numbers_and_timestamps_become_their_types() {
    // Scenario 16 of the seed, and the example in its text.
    becomes("Error loading user 3f2504e0-4f89-41d3-9a0c-0305e82c3301", "Error loading user {uuid}");
    becomes("took 12345 steps", "took {n} steps");
    becomes("at 2024-01-02T03:04:05.678Z it broke", "at {ts} it broke");
    assert_eq!(template("Error loading user abc123-..."), template("Error loading user def456-..."));
    assert_eq!(of(&said("Error loading user abc123-...")).key, of(&said("Error loading user def456-...")).key);
}

#[test]
fn each_type_of_value_has_its_name() {
    for (message, expected) in [
        ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl seen", "token {jwt} seen"),
        ("image data:image/png;base64,iVBORw0KGgo= failed", "image data:image/png failed"),
        ("mail jane.doe@example.com bounced", "mail {email} bounced"),
        ("trace 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "trace {trace}"),
        ("peer 10.1.2.3:54123 gone", "peer {ip} gone"),
        ("peer 10.1.2.3:5432 gone", "peer {ip}:5432 gone"),
        ("done in 12ms, 1.5 s, 2m 31s, 1h2m3s", "done in {dur}, {dur}, {dur}, {dur}"),
        ("sent 512 kB (99.5%)", "sent {size} ({pct})"),
        ("at 0x7ffee4b2 and a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "at {id} and {id}"),
        ("ulid 01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid {id}"),
        ("nanoid V1StGXR8_Z5jdHi6B-myT", "nanoid {id}"),
        ("value -3.5e-7 of 1,234,567", "value {n} of {n}"),
        ("react 18.2.0 and v5.1.0 on api v2", "react {v} and {v} on api v2"),
        ("[12:34:56] Tue, 02 Jan 2024 03:04:05 GMT now", "[{ts}] {ts} now"),
        ("points [1, 2.5, -3] drawn", "points [{n}] drawn"),
        ("mac 00:1a:2b:3c:4d:5e up", "mac {mac} up"),
        ("bad login [REDACTED:jwt:1f3a] for", "bad login {jwt} for"),
        ("\u{1b}[31merror\u{1b}[0m  in\n\tfile", "error in file"),
    ] {
        becomes(message, expected);
    }
}

#[test]
fn numbers_that_tell_problems_apart_stay() {
    for message in [
        "Request failed with status code 404",
        "the server responded with a status of 500 (Internal Server Error)",
        "Minified React error #418; visit the docs",
        "GET /api/users 404",
        "HTTP/1.1 503 Service Unavailable",
        "connect ECONNREFUSED 127.0.0.1:3000",
        "connect ECONNREFUSED ::1:3000",
        "Port 3000 is in use",
        "socket closed (1006)",
        "WebSocket closed with code 1006",
        "exited with code 137",
        "error TS2322: Type 'number' is not assignable to type 'string'.",
        "E1234 happened",
        "errno: -2",
        "SQLSTATE[23505] unique violation",
        "Found 0 errors. Watching for file changes.",
    ] {
        becomes(message, message);
    }
    becomes(
        "GET http://localhost:3000/api/users/42 404 (Not Found)",
        "GET http://localhost:3000/api/users/{id} 404 (Not Found)",
    );
    becomes("Error: 42 items failed", "Error: {n} items failed");
    becomes("closed 12 files", "closed {n} files");
}

#[test]
fn quoted_names_stay_and_quoted_texts_go() {
    becomes(
        "Cannot read properties of undefined (reading 'foo')",
        "Cannot read properties of undefined (reading 'foo')",
    );
    becomes("user 'jane 42' isn't here and can't be", "user '{str}' isn't here and can't be");
    becomes("id \"user4711\" unknown", "id \"{str}\" unknown");
    becomes("<h1> in 'h1'", "<h1> in 'h1'");
    becomes(
        "from origin 'http://localhost:3000' has been blocked",
        "from origin 'http://localhost:3000/' has been blocked",
    );
    becomes("Cannot find module './views/42/a'", "Cannot find module './views/{id}/a'");
    becomes("\"a whole message in marks\"", "\"a whole message in marks\"");
    becomes("it's 5 o'clock", "it's {n} o'clock");
    becomes("unclosed \"quote 12", "unclosed \"quote {n}");
}

#[test]
fn addresses_keep_origin_and_path_shape() {
    becomes(
        "load http://localhost:5173/src/App.tsx?t=1700000000000:12:34 failed",
        "load http://localhost:5173/src/App.tsx:{n} failed",
    );
    becomes("(https://cdn.test/assets/main.3f2a1b9c.js).", "(https://cdn.test/assets/main.{h}.js).");
    becomes("chrome-extension://abcdefgh/content.js:1:2", "chrome-extension://abcdefgh/content.js:{n}");
    becomes("see /home/jane/app/src/a.ts:10:2", "see /home/jane/app/src/a.ts:{n}");
}

#[test]
fn objects_keep_their_keys_and_telling_values() {
    becomes("state {user: 'jane', id: 42, tags: ['a', 'b']} set", "state {user,id,tags:[]} set");
    becomes(r#"{"status":500,"error":{"code":"ERR_X","at":123456}}"#, "{status:500,error:{code:ERR_X,at}}");
    becomes(
        "got {name: 'AxiosError', message: 'Request 4711 failed'}",
        "got {name:AxiosError,message:Request {n} failed}",
    );
    becomes("map {10: 'a', 11: 'b'} and {} and {x}", "map {{k}} and {} and {x}");
    becomes("cut {a: 1, b: 'unfinished", "cut {a,b");
}

#[test]
fn lines_of_pairs_keep_their_keys() {
    becomes(
        "level=info msg=\"user 12 in\" user=jane dur=12ms path=/a/7",
        "level=info msg=\"user {n} in\" user={v} dur={v} path=/a/{id}",
    );
    becomes("if (a == b && c = d)", "if (a == b && c = d)");
}

#[test]
fn a_printed_stack_is_no_part_of_the_template() {
    let message = "TypeError: x is not a function\n    at load (http://localhost:3000/src/a.js:1:2)\n    at async main (http://localhost:3000/src/b.js:3:4)";
    assert_eq!(of(&said(message)).template, "TypeError: x is not a function");
    let moved = message.replace(":1:2", ":7:8");
    assert_eq!(of(&said(message)).key, of(&said(&moved)).key, "lines move when code is edited");
    let elsewhere = message.replace("load", "save");
    assert_ne!(of(&said(message)).key, of(&said(&elsewhere)).key);
}

#[test]
fn an_error_is_told_apart_by_the_apps_own_places() {
    let with = |frames: Vec<Frame>| of(&Console { stack: frames, ..said("Error: failed") }).key;
    let home = "http://localhost:3000/assets/app-4f3c2b1a.js";
    let base = with(vec![frame("load", home, 1)]);
    assert_eq!(
        base,
        with(vec![frame("load", "http://localhost:3000/assets/app-0a1b2c3d.js?v=2", 99)]),
        "hash, line and query"
    );
    assert_eq!(
        base,
        with(vec![frame("load", home, 1), frame("render", "http://localhost:3000/node_modules/react-dom/index.js", 5)]),
        "foreign places do not count"
    );
    assert_ne!(base, with(vec![frame("save", home, 1)]));
    assert_ne!(base, with(vec![frame("load", "http://localhost:3001/assets/app-4f3c2b1a.js", 1)]), "another origin");
    let deep =
        |last: &str| with(vec![frame("a", home, 1), frame("b", home, 1), frame("c", home, 1), frame(last, home, 1)]);
    assert_eq!(deep("d"), deep("e"), "three places are enough");
}

#[test]
fn level_and_speaker_tell_messages_apart_and_the_stack_of_a_log_does_not() {
    let log = Console { level: Level::Info, ..said("tick") };
    assert_ne!(of(&log).key, of(&said("tick")).key);
    assert_ne!(of(&said("tick")).key, of(&Console { speaker: Speaker::Terminal, ..said("tick") }).key);
    assert_eq!(of(&log).key, of(&Console { stack: vec![frame("f", "/a.js", 1)], ..log.clone() }).key);
}

#[test]
fn keys_are_the_same_in_every_version() {
    // These values are persisted in workspaces: a change of them must be wanted.
    assert_eq!(format!("{:016x}", of(&said("Error loading user 42")).key), "4613e3f214851197");
    assert_eq!(format!("{:016x}", of(&Console { level: Level::Warning, ..said("careful") }).key), "58239c0a36954320");
}

#[test]
fn long_texts_are_cut_between_characters() {
    let long = "ä".repeat(10_000);
    assert_eq!(template(&long).len(), 8 * 1024);
    let odd = format!("x{long}");
    assert_eq!(template(&odd).len(), 8 * 1024 - 1);
}

#[test]
fn six_templates_that_differ_in_one_word_are_a_family() {
    let names = ["apple", "pear", "plum", "fig", "kiwi", "lime", "date"];
    let messages: Vec<String> = names.iter().map(|name| format!("Missing translation: {name}")).collect();
    let mut templates: Vec<&str> = messages.iter().map(String::as_str).collect();
    templates.extend(["Missing translation file", "boot"]);
    assert_eq!(families(&templates), vec![vec![0, 1, 2, 3, 4, 5, 6]]);
    assert!(families(&templates[..5]).is_empty());
    let same = ["Missing translation: apple"; 9];
    assert!(families(&same).is_empty(), "equal templates do not differ");
    assert!(families(&names).is_empty(), "words with nothing in common");
}

#[test]
fn families_of_hundreds_of_templates_are_found_at_once() {
    let messages: Vec<String> = (0..400)
        .map(|index| {
            format!(
                "Warning: component Part{} rendered with an unknown property in the view {}",
                index % 40,
                index / 40
            )
        })
        .collect();
    let templates: Vec<&str> = messages.iter().map(String::as_str).collect();
    let found = families(&templates);
    assert_eq!(found.iter().map(Vec::len).sum::<usize>(), 400);
}

/// Pieces that the tokenizer treats in its own way, to be put together in every order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("http://localhost:3000/a/42?x=1".to_owned()),
        Just("://".to_owned()),
        Just("a@b.co".to_owned()),
        Just("{a: 1, ".to_owned()),
        Just("{\"a\":{\"message\":\"".to_owned()),
        Just("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x".to_owned()),
        Just("k=v msg=\"".to_owned()),
        Just("2024-01-02T03:04".to_owned()),
        Just("\u{1b}[3".to_owned()),
        Just("data:image/png;base64,".to_owned()),
        Just("1.2.3.4:".to_owned()),
        Just("µs".to_owned()),
        Just("\n    at f (".to_owned()),
        "[\\[\\]{}'\"`:/=@\\\\ .,#%-]{1,4}",
        "[a-fA-F0-9]{1,12}",
        "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_has_a_fingerprint_and_always_the_same(text in pieces()) {
        let first = of(&said(&text));
        prop_assert_eq!(&first, &of(&said(&text)));
        prop_assert!(first.template.len() <= text.len() * 6 + 64, "{} from {}", first.template, text);
    }
}

/// Fingerprints look at 8 kB at most, but of every message.
#[test]
fn no_template_takes_longer_than_its_length_allows() {
    let openings = [
        "eyJ-",
        "eyJhbGciOiJ",
        "eyJ.",
        "password=",
        "password=\"",
        "cookie: ",
        "bearer ",
        "token='",
        "-----BEGIN ",
        "<password>",
        "[REDACTED:a:",
        "\\\"",
        "\"/a",
        "'/a",
        "error=[",
        "a=[://",
        "http://'",
        "http://a@",
        "-sk-",
        "_sk-",
        "4111-",
        "{\"a\":",
        "ghp_",
        "glpat-",
        "xoxb-",
        "AKIA",
        "SG.",
        "1//0",
        "DE89",
        "sk_live_",
        "a1-",
        "0x",
    ];
    for repeated in openings {
        work_is_linear(repeated, 8 << 10, |text| drop(template(text)));
    }
}

/// That `act` does about four times the work for a text four times as long: sixteen times would be the square. What is
/// measured is the time that this thread had a processor, and the least of several rounds, so neither a slow machine nor
/// a busy one changes the answer.
fn work_is_linear(repeated: &str, length: usize, act: impl Fn(&str)) {
    const ROUNDS: usize = 12;
    const TOO_MUCH: f64 = 9.0;
    // What closes a quotation must not be cut off, or the two texts would be of different kinds.
    let end = "\" '.";
    let text = |length: usize| repeated.repeat((length - end.len()) / repeated.len()) + end;
    let (short, long) = (text(length / 4), text(length));
    let (mut least_short, mut least_long) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        least_short = least_short.min(work_of(4, || act(&short)));
        least_long = least_long.min(work_of(1, || act(&long)));
        if least_long / least_short < TOO_MUCH {
            return;
        }
    }
    panic!("{repeated:?}: {:.1} times the work for 4 times the length", least_long / least_short);
}

/// The processor time of this thread for one of `times` repetitions.
fn work_of(times: u32, act: impl Fn()) -> f64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let began = now();
    (0..times).for_each(|_| act());
    ((now() - began) / f64::from(times)).max(1e-7)
}
