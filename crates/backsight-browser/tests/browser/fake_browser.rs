//! What a browser may do and a real one cannot be made to do: strange orders, silence, junk, broken connections.

use std::sync::Arc;
use std::time::Duration;

use backsight_browser::cdp::{Attach, Capture, PageState, Place};
use backsight_core::Code;
use serde_json::json;

use crate::driver::wait_for;
use crate::fake_server::{Act, Command, FakeServer, Script, attached, console, target};
use crate::recorder::{Recorder, clock};

const PAGE: (&str, &str) = ("P1", "http://localhost:3000/");

fn polite() -> Script {
    Box::new(|_| None)
}

fn attach(server: &FakeServer) -> Attach {
    Attach::new(Place::Url(server.http()), clock())
}

fn start(server: &FakeServer) -> (Capture, Arc<Recorder>) {
    let recorder = Recorder::new();
    let capture = Capture::start(attach(server), Arc::clone(&recorder) as _).unwrap();
    (capture, recorder)
}

#[test]
fn only_pages_of_this_machine_are_attached_to() {
    let pages =
        [PAGE, ("P2", "https://example.com/"), ("P3", "devtools://devtools/x?ws=localhost"), ("P4", "about:blank")];
    let server = FakeServer::start("a", &pages, polite());
    let (capture, recorder) = start(&server);
    let picture = capture.watching();
    assert_eq!(picture.pages.iter().map(|page| page.id.as_str()).collect::<Vec<_>>(), ["P1"]);
    assert_eq!((picture.browser.as_str(), picture.not_watched, picture.launched), ("Fake/1.0", 1, false));
    assert_eq!(recorder.record().picture(), picture);
    let asked = server.commands().into_iter().filter(|command| command.method == "Target.attachToTarget");
    assert_eq!(asked.count(), 1);
}

#[test]
fn a_tab_that_comes_is_attached_and_one_that_leaves_is_let_go() {
    let server = FakeServer::start("a", &[("P1", "https://example.com/")], polite());
    let (capture, recorder) = start(&server);
    assert_eq!(capture.watching().pages, []);
    let changed =
        |url| json!({ "method": "Target.targetInfoChanged", "params": { "targetInfo": target("P1", "page", url) } });
    server.say(changed("http://localhost:3000/"));
    recorder.until("the page", |record| record.picture().pages.len() == 1);
    server.say(changed("https://example.com/elsewhere"));
    recorder.until("no page", |record| record.pictures.len() > 1 && record.picture().pages.is_empty());
    server.say(
        json!({ "method": "Target.detachedFromTarget", "params": { "sessionId": "session-P1", "targetId": "P1" } }),
    );
    wait_for("the farewell", || {
        let detach = |command: &Command| {
            command.method == "Target.detachFromTarget" && command.params["sessionId"] == "session-P1"
        };
        server.commands().iter().any(detach).then_some(())
    });
}

#[test]
fn huge_deep_and_unknown_messages_take_nothing_from_the_others() {
    let server = FakeServer::start("a", &[PAGE], polite());
    let (capture, recorder) = start(&server);
    let huge = "x".repeat(20 << 20);
    server.say(console("session-P1", &huge, 1));
    // Of a session that nobody knows yet, more than may wait.
    for _ in 0..3 {
        server.say(json!({ "method": "Runtime.x", "sessionId": "nobody", "params": { "text": huge } }));
    }
    let nested = (0..100).fold(json!(1), |inner, _| json!([inner]));
    server.say(json!({ "method": "Runtime.consoleAPICalled", "sessionId": "session-P1", "params": nested }));
    server.say(json!({ "method": "Made.up", "sessionId": "session-P1", "params": { "a": [nested] } }));
    let info = json!({ "targetId": "P1", "type": "page", "url": format!("{}{huge}", PAGE.1), "title": huge });
    server.say(json!({ "method": "Target.targetInfoChanged", "params": { "targetInfo": info } }));
    server.say(console("session-P1", "still here", 2));
    let record = recorder.until_said("still here");
    assert!(record.messages().iter().all(|message| message.len() < 20 << 10));
    let picture = recorder.until("the title", |record| !record.picture().pages[0].title.is_empty()).picture();
    assert!(picture.pages[0].title.len() < 300 && picture.pages[0].url.len() < 10 << 10);
    assert!(capture.watching().browser.starts_with("Fake"));
}

#[test]
fn whatever_a_page_is_sent_ends_with_the_permission_to_run() {
    // Every enable is refused or never answered.
    let script = |command: &Command| match command.method.as_str() {
        "Runtime.enable" => Some(vec![]),
        method if method.ends_with(".enable") => {
            Some(vec![Act::Say(json!({ "id": command.id, "error": { "code": -32601, "message": "not here" } }))])
        }
        _ => None,
    };
    let server = FakeServer::start("a", &[PAGE], Box::new(script));
    let (capture, recorder) = start(&server);
    let sent = server.sent_to("session-P1");
    let run = sent.iter().position(|method| method == "Runtime.runIfWaitingForDebugger").unwrap();
    let (before, after) = sent.split_at(run);
    assert!(before.iter().any(|method| method == "Runtime.enable"), "{sent:?}");
    assert!(!after.iter().any(|method| method.ends_with(".enable")), "{sent:?}");
    let picture = capture.watching();
    assert_eq!(picture.pages[0].state, PageState::Unresponsive);
    assert!(picture.notes.iter().any(|note| note.contains("not here")), "{picture:?}");
    // A page that says something is alive after all.
    server.say(console("session-P1", "alive", 1));
    recorder.until("the page to be alive", |record| record.picture().pages[0].state == PageState::Watching);
}

#[test]
fn answers_may_come_in_any_order() {
    // Answers are held back in pairs and given in reverse.
    let mut held: Option<Command> = None;
    let script = move |command: &Command| {
        command.session.as_ref()?;
        match held.take() {
            None => {
                held = Some(command.clone());
                Some(vec![])
            }
            Some(earlier) => Some(vec![command.reply(json!({})), earlier.reply(json!({}))]),
        }
    };
    let server = FakeServer::start("a", &[PAGE, ("P2", "http://127.0.0.1:1/")], Box::new(script));
    let (capture, _) = start(&server);
    assert_eq!(capture.watching().pages.len(), 2);
}

#[test]
fn events_may_precede_the_session_they_belong_to() {
    let script = |command: &Command| match command.method.as_str() {
        "Target.attachToTarget" => Some(vec![
            Act::Say(console("early", "before the session", 1)),
            // No event about the session at all: the answer alone has to do.
            command.reply(json!({ "sessionId": "early" })),
            Act::Say(console("early", "after it", 2)),
        ]),
        _ => None,
    };
    let server = FakeServer::start("a", &[PAGE], Box::new(script));
    let (_capture, recorder) = start(&server);
    let record = recorder.until_said("after it");
    assert_eq!(record.messages(), ["before the session", "after it"]);
}

#[test]
fn binary_frames_and_junk_are_taken_for_what_they_are() {
    let server = FakeServer::start("a", &[PAGE], polite());
    let (_capture, recorder) = start(&server);
    server.act(Act::SayBinary(console("session-P1", "in binary", 1)));
    for junk in ["", "{", "[]", "null", "{\"id\":\"x\"}", "{\"method\":5}", "{\"foo\":1}", "\u{1F600}"] {
        server.act(Act::Junk(junk.to_owned()));
    }
    server.act(Act::Junk("{\"method\":\"Target.targetCreated\",\"params\":{\"targetInfo\":7}}".to_owned()));
    server.say(json!({ "method": "Unheard.of", "params": { "x": 1 }, "sessionId": "session-P1" }));
    server.say(json!({ "method": "Runtime.consoleAPICalled", "params": [7], "sessionId": "session-P1" }));
    server.say(console("session-P1", "after the junk", 2));
    let record = recorder.until_said("after the junk");
    assert_eq!(record.messages(), ["in binary", "after the junk"]);
    let record = recorder.until("losses", |record| record.lost("could not be understood") >= 10);
    assert_eq!(record.lost("could not be understood"), 10, "{:?}", record.lost);
}

#[test]
fn a_huge_message_is_read_whole() {
    let server = FakeServer::start("a", &[PAGE], polite());
    let (_capture, recorder) = start(&server);
    let mut huge = console("session-P1", "huge", 1);
    huge["params"]["padding"] = json!("x".repeat(40 << 20));
    server.say(huge);
    server.say(console("session-P1", "after it", 2));
    let record = recorder.until_said("after it");
    assert_eq!((record.messages(), record.lost), (vec!["huge".to_owned(), "after it".to_owned()], vec![]));
}

#[test]
fn a_service_worker_that_is_delivered_twice_is_heard_once() {
    let server = FakeServer::start("a", &[PAGE, ("P2", "http://localhost:3000/b")], polite());
    let (_capture, recorder) = start(&server);
    let worker = || target("W", "service_worker", "http://localhost:3000/sw.js");
    server.say(attached("sw-1", Some("session-P1"), worker()));
    server.say(attached("sw-2", Some("session-P2"), worker()));
    for session in ["sw-1", "sw-2"] {
        server.say(console(session, "from the worker", 1));
    }
    server.say(console("session-P1", "then", 2));
    let record = recorder.until_said("then");
    assert_eq!(record.messages(), ["from the worker", "then"]);
    let record = recorder.until("the worker", |record| record.picture().workers == 1);
    assert_eq!(record.lost, []);
    wait_for("the second session to run", || (!server.sent_to("sw-2").is_empty()).then_some(()));
    assert_eq!(server.sent_to("sw-2"), ["Runtime.runIfWaitingForDebugger"]);

    // When the page through which it was heard goes, the other session is listened to.
    let destroyed = json!({ "method": "Target.targetDestroyed", "params": { "targetId": "P1" } });
    server.say(destroyed);
    recorder.until("one page", |record| record.picture().pages.len() == 1);
    server.say(console("sw-2", "from the worker again", 3));
    let record = recorder.until_said("from the worker again");
    assert_eq!(record.picture().workers, 1);
}

#[test]
fn a_connection_that_breaks_in_the_middle_of_a_message_is_made_again() {
    let server = FakeServer::start("a", &[PAGE], polite());
    let (capture, recorder) = start(&server);
    server.say(console("session-P1", "before", 1));
    recorder.until_said("before");
    server.act(Act::HalfAFrame);
    recorder.until("the interruption", |record| record.interruptions.len() == 1);
    recorder.until("the page again", |record| record.pictures.len() > 1 && record.picture().pages.len() == 1);
    server.say(console("session-P1", "after", 2));
    recorder.until_said("after");
    assert_eq!(capture.watching().pages.len(), 1);
}

#[test]
fn a_browser_that_was_started_again_is_another_browser_at_the_same_place() {
    let server = FakeServer::start("one", &[PAGE], polite());
    let socket = format!("ws://{}/devtools/browser/one", server.address);
    let recorder = Recorder::new();
    let attach = Attach::new(Place::Url(socket.clone()), clock());
    let capture = Capture::start(attach, Arc::clone(&recorder) as _).unwrap();
    assert_eq!(capture.watching().address, socket);
    let address = server.address;
    drop(server);
    recorder.until("the interruption", |record| record.interruptions.len() == 1);
    assert_eq!(capture.watching().pages, []);
    assert!(capture.watching().browser.is_empty());

    let script = |command: &Command| {
        // Commands for the old sessions would be a fault.
        assert_ne!(command.session.as_deref(), Some("session-P1"));
        None
    };
    let server = FakeServer::start_at(address, "two", &[("Q1", "http://localhost:3000/new")], Box::new(script));
    recorder.until("the new page", |record| record.picture().pages.first().is_some_and(|page| page.id == "Q1"));
    server.say(console("session-Q1", "from the new one", 1));
    let record = recorder.until_said("from the new one");
    assert_eq!(record.interruptions.len(), 1);
}

#[test]
fn a_page_that_crashed_holds_nobody_up() {
    // The second page crashed before and never answers anything.
    let script = |command: &Command| match command.session.as_deref() {
        Some("session-P2") => Some(vec![]),
        _ => None,
    };
    let server = FakeServer::start("a", &[PAGE, ("P2", "http://localhost:3000/b")], Box::new(script));
    let (capture, recorder) = start(&server);
    server.say(console("session-P1", "goes on", 1));
    recorder.until_said("goes on");
    let crashed = json!({ "method": "Target.targetCrashed", "params": { "targetId": "P2", "status": "crashed", "errorCode": 5 } });
    server.say(crashed);
    let record = recorder
        .until("the crash", |record| record.picture().pages.iter().any(|page| page.state == PageState::Crashed));
    assert_eq!(record.picture().pages.len(), 2);
    capture.stop();
}

#[test]
fn a_dialog_is_a_state_and_nobody_answers_it() {
    let server = FakeServer::start("a", &[PAGE], polite());
    let (_capture, recorder) = start(&server);
    let params =
        json!({ "url": "http://localhost:3000/", "message": "sure?", "type": "confirm", "hasBrowserHandler": false });
    server.say(json!({ "method": "Page.javascriptDialogOpening", "params": params, "sessionId": "session-P1" }));
    recorder.until("the dialog", |record| record.picture().pages[0].state == PageState::Dialog);
    let params = json!({ "result": true, "userInput": "" });
    server.say(json!({ "method": "Page.javascriptDialogClosed", "params": params, "sessionId": "session-P1" }));
    recorder.until("its end", |record| record.picture().pages[0].state == PageState::Watching);
    assert!(!server.commands().iter().any(|command| command.method == "Page.handleJavaScriptDialog"));
}

#[test]
fn nobody_there_is_said_with_what_was_tried() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for place in [Place::Port(free), Place::Url(format!("ws://127.0.0.1:{free}/devtools/browser/x"))] {
        let error = Capture::start(Attach::new(place, clock()), Recorder::new()).unwrap_err();
        assert_eq!(error.code(), Code::BrowserUnreachable);
        assert!(error.message().contains(&free.to_string()), "{error}");
        assert!(error.hint().unwrap().contains("--remote-debugging-port"));
    }
    let empty = tempfile::tempdir().unwrap();
    let error =
        Capture::start(Attach::new(Place::Profile(empty.path().to_owned()), clock()), Recorder::new()).unwrap_err();
    assert!(error.message().contains("DevToolsActivePort"), "{error}");
}

#[test]
fn a_browser_that_takes_the_connection_and_says_nothing_is_not_waited_for() {
    let server = FakeServer::start("a", &[PAGE], Box::new(|_| Some(vec![])));
    let attach = Attach { timeout: Duration::from_millis(300), ..attach(&server) };
    let error = Capture::start(attach, Recorder::new()).unwrap_err();
    assert_eq!(error.code(), Code::BrowserUnreachable);
    assert!(error.message().contains("does not answer"), "{error}");
}

#[test]
fn the_file_in_a_profile_leads_to_the_browser() {
    let server = FakeServer::start("by-file", &[PAGE], polite());
    let home = tempfile::tempdir().unwrap();
    let profile = home.path().join(".config/chromium");
    std::fs::create_dir_all(&profile).unwrap();
    let port = server.address.port();
    std::fs::write(profile.join("DevToolsActivePort"), format!("{port}\n/devtools/browser/{}", server.guid)).unwrap();
    for place in [Place::Profile(profile), Place::Find { home: Some(home.path().to_owned()) }] {
        let capture = Capture::start(Attach::new(place, clock()), Recorder::new()).unwrap();
        assert_eq!(capture.watching().address, format!("ws://127.0.0.1:{port}/devtools/browser/by-file"));
    }
}

#[test]
fn a_browser_that_was_not_started_here_is_not_navigated() {
    let server = FakeServer::start("a", &[PAGE], polite());
    let (capture, _) = start(&server);
    let error = capture.navigate(None, "http://localhost/").unwrap_err();
    assert_eq!(error.code(), Code::Usage);
    assert!(!server.commands().iter().any(|command| command.method == "Page.navigate"));
}
