//! What a real Chromium tells: counts that are exact, one failure for each request that failed, and nothing twice.

use std::sync::Arc;

use backsight_browser::cdp::{Attach, Capture, Memory, Place};
use backsight_browser::event::{ActionKind, Event, Level, Request, Side, SocketEvent, Speaker};
use serde_json::json;

use crate::driver::{Browser, wait_for};
use crate::live::watch;
use crate::recorder::{Record, Recorder, clock};
use crate::site::{Answer, Site};
use crate::wires::{Forwarder, sockets};

/// The requests of a record whose address contains this.
fn requests(record: &Record, part: &str) -> Vec<Request> {
    let request = |event: &Event| match event {
        Event::Network(request) if request.url.contains(part) => Some(request.clone()),
        _ => None,
    };
    record.events.iter().filter_map(request).collect()
}

/// What the browser itself said.
fn browser_says(record: &Record) -> Vec<String> {
    let said = |event: &Event| match event {
        Event::Console(console) if console.speaker == Speaker::Browser => Some(console.message.clone()),
        _ => None,
    };
    record.events.iter().filter_map(said).collect()
}

#[test]
fn a_storm_of_console_calls_is_counted_to_the_last_one() {
    let site = Site::serve(&[("/", Answer::page("console.log('here')"))]);
    let browser = Browser::start();
    let (_capture, recorder) = watch(&browser);
    let mut driver = browser.driver();
    let target = driver.open(&site.url("/"));
    // A page that is not watched yet keeps the last 1,000 calls only, so the storm waits.
    recorder.until_said("here");
    let session = driver.attach(&target);
    let storm = "for (let i = 0; i < 1000; i++) console[i % 10 ? 'log' : 'error']('storm', i); console.warn('over')";
    driver.evaluate(&session, storm);
    let record = recorder.until_said("over");
    let storm: Vec<_> = record.messages().into_iter().filter(|message| message.starts_with("storm")).collect();
    let expected: Vec<_> = (0..1000).map(|number| format!("storm {number}")).collect();
    assert_eq!(storm, expected);
    let errors =
        record.events.iter().filter(|event| matches!(event, Event::Console(said) if said.level == Level::Error));
    assert_eq!(errors.count(), 100);
    assert_eq!(record.lost, []);
    // Whoever comes now is told the last of it, and that there was more.
    let (_late, recorder) = watch(&browser);
    let record = recorder.until("the loss", |record| record.lost("before the attach") == 1);
    assert!(!record.says("here") && record.says("over"));
}

#[test]
fn a_request_that_fails_is_one_failure_and_one_that_is_given_up_is_none() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let foreign = Site::serve(&[("/foreign", Answer::new(200, "application/json", "{}"))]);
    let script = format!(
        "const quiet = address => fetch(address).catch(() => 0);
        (async () => {{
            for (let i = 0; i < 3; i++) await quiet('/broken');
            await quiet('/missing');
            await quiet('http://127.0.0.1:{closed}/refused');
            await quiet('{}');
            await quiet('/moved');
            const over = new AbortController();
            const given_up = fetch('/slow', {{ signal: over.signal }}).catch(() => 0);
            over.abort();
            await given_up;
            await quiet('/fine');
            console.log('all asked');
        }})()",
        foreign.elsewhere("/foreign")
    );
    let site = Site::serve(&[
        ("/", Answer::page(&script)),
        ("/broken", Answer::new(500, "text/plain", "it broke")),
        ("/moved", Answer::new(302, "text/plain", "").with("Location", "/fine?moved")),
        ("/fine", Answer::new(200, "application/json", "{\"fine\":true}")),
    ]);
    let browser = Browser::start();
    let (_capture, recorder) = watch(&browser);
    browser.driver().open(&site.url("/"));
    recorder.until_said("all asked");
    let record = recorder.until("all requests", |record| {
        let ended = |part: &&str| !requests(record, part).is_empty();
        ["/refused", "/foreign", "/slow"].iter().all(ended) && requests(record, "/fine").len() == 2
    });
    let failures = |part: &str| {
        let failed = requests(&record, part).into_iter().filter(Request::is_failure);
        failed.map(|request| request.status).collect::<Vec<_>>()
    };
    assert_eq!(failures("/broken"), [500, 500, 500]);
    assert_eq!(failures("/missing"), [404]);
    assert_eq!(failures("/refused"), [0]);
    assert_eq!(failures("/foreign").len(), 1, "{:?}", requests(&record, "/foreign"));
    assert_eq!(failures("/slow").len(), 0);
    assert_eq!(failures("/fine").len(), 0);
    let moved: Vec<_> = requests(&record, "/moved").iter().map(|request| request.status).collect();
    assert_eq!(moved, [302]);
    // The browser says of each of them that it failed, which the failure itself has said.
    assert_eq!(browser_says(&record), Vec::<String>::new());
    assert_eq!(failures("").len(), 6);
}

#[test]
fn sockets_tell_how_they_ended() {
    let server = sockets();
    let script = format!(
        "const open = path => new Promise(over => {{
            const socket = new WebSocket('ws://127.0.0.1:{0}/' + path);
            socket.onmessage = () => socket.send('bye');
            socket.onclose = over;
            if (path === 'mine') socket.onmessage = () => socket.close(1000, 'done');
        }});
        // As React's StrictMode does: what an effect opens is closed at once and opened again.
        const early = new WebSocket('ws://127.0.0.1:{0}/early', 'vite-hmr');
        early.close();
        (async () => {{ await open('4001'); await open('1000'); await open('403'); await open('mine'); console.log('all closed'); }})()",
        server.port()
    );
    let site = Site::serve(&[("/", Answer::page(&script))]);
    let browser = Browser::start();
    let (_capture, recorder) = watch(&browser);
    browser.driver().open(&site.url("/"));
    recorder.until_said("all closed");
    let of = |record: &Record, path: &str| {
        let event = |event: &Event| match event {
            Event::Websocket(socket) if socket.url.ends_with(path) => Some(socket.event.clone()),
            _ => None,
        };
        record.events.iter().filter_map(event).collect::<Vec<_>>()
    };
    let is_over = |event: &SocketEvent| matches!(event, SocketEvent::Close { .. } | SocketEvent::Error { .. });
    let record = recorder.until("all ends", |record| {
        ["/4001", "/1000", "/403", "/mine"].iter().all(|path| of(record, path).iter().any(is_over))
    });
    let life = |code: u16| {
        let message = |sent: bool, bytes: u64| SocketEvent::Message { sent, bytes };
        let close = SocketEvent::Close { code: Some(code), reason: "as asked".to_owned(), by: Some(Side::Server) };
        vec![SocketEvent::Open, message(false, 5), message(true, 3), close]
    };
    assert_eq!(of(&record, "/4001"), life(4001));
    assert_eq!(of(&record, "/1000"), life(1000));
    let refused = of(&record, "/403");
    assert!(matches!(&refused[..], [SocketEvent::Error { .. }]), "{refused:?}");
    let mine = of(&record, "/mine");
    let by_page =
        |event: &SocketEvent| matches!(event, SocketEvent::Close { code: Some(1000), by: Some(Side::Page), .. });
    assert!(mine.iter().any(by_page), "{mine:?}");
    assert_eq!(of(&record, "/early"), [], "what the page closed itself before it was connected is no error");
    assert_eq!(browser_says(&record), Vec::<String>::new());
}

#[test]
fn whoever_comes_late_is_told_what_happened_before() {
    let script = "console.error('early error'); setTimeout(() => { throw new Error('early exception') });
        const read = address => fetch(address).then(answer => answer.text());
        Promise.all([read('/fine'), read('/broken')]).then(() => { document.title = 'done' })";
    let site = Site::serve(&[
        ("/", Answer::page(script)),
        ("/fine", Answer::new(200, "application/json", "{}")),
        ("/broken", Answer::new(503, "text/plain", "later")),
    ]);
    let browser = Browser::start();
    let mut driver = browser.driver();
    let target = driver.open(&site.url("/"));
    let session = driver.attach(&target);
    wait_for("the page to be done", || (driver.evaluate(&session, "document.title") == "done").then_some(()));
    let (_capture, recorder) = watch(&browser);
    let record = recorder.until("all of it", |record| {
        let exception = record.messages().iter().any(|message| message.contains("early exception"));
        record.says("early error")
            && exception
            && !requests(record, "/fine").is_empty()
            && !requests(record, "/broken").is_empty()
    });
    let backfilled = |event: &Event| match event {
        Event::Console(console) => console.backfilled,
        Event::Network(request) => request.backfilled,
        _ => true,
    };
    assert!(record.events.iter().all(backfilled), "{:#?}", record.events);
    assert_eq!(record.count("early error"), 1);
    let broken = requests(&record, "/broken");
    assert_eq!((broken.len(), broken[0].status, broken[0].is_failure()), (1, 503, true), "{broken:?}");
    // What happens from now on is no history.
    driver.evaluate(&session, "console.log('now')");
    let record = recorder.until_said("now");
    let now =
        record.events.iter().find(|event| matches!(event, Event::Console(said) if said.message == "now")).unwrap();
    assert!(!backfilled(now));
}

#[test]
fn a_connection_that_was_cut_tells_what_was_missed_and_nothing_twice() {
    let site = Site::serve(&[
        ("/", Answer::page("console.log('first'); fetch('/broken')")),
        ("/broken", Answer::new(500, "text/plain", "")),
    ]);
    let browser = Browser::start();
    let forwarder = Forwarder::to(browser.port);
    let mut driver = browser.driver();
    let recorder = Recorder::new();
    let attach = Attach::new(Place::Port(forwarder.port()), clock());
    let memory = Memory::default();
    let attach = Attach { memory: memory.clone(), ..attach };
    let capture = Capture::start(attach.clone(), Arc::clone(&recorder) as _).unwrap();
    let target = driver.open(&site.url("/"));
    recorder.until("the failure", |record| record.says("first") && requests(record, "/broken").len() == 1);
    let session = driver.attach(&target);
    forwarder.cut();
    recorder.until("the cut", |record| record.interruptions.len() == 1);
    driver.evaluate(&session, "console.log('perhaps missed')");
    recorder.until_said("perhaps missed");
    recorder.until("the page again", |record| record.picture().pages.len() == 1 && record.pictures.len() > 2);
    driver.evaluate(&session, "console.log('third')");
    let record = recorder.until_said("third");
    assert_eq!(record.messages(), ["first", "perhaps missed", "third"]);

    // The same holds for one who leaves and comes back.
    capture.stop();
    driver.evaluate(&session, "console.log('missed')");
    let recorder = Recorder::new();
    let _capture = Capture::start(attach, Arc::clone(&recorder) as _).unwrap();
    driver.evaluate(&session, "console.log('last')");
    let record = recorder.until_said("last");
    assert_eq!(record.messages(), ["missed", "last"]);
    assert_eq!(requests(&record, "/broken"), []);
}

#[test]
fn what_users_do_is_told_without_what_they_type() {
    let page = "<link rel=icon href=data:,><button id=save style='position:fixed;left:0;top:0;width:100px;height:50px'>Save</button>
        <input id=name autofocus style='position:fixed;left:0;top:100px'>";
    let site = Site::serve(&[("/", Answer::html(page))]);
    let browser = Browser::start();
    let mut driver = browser.driver();
    let target = driver.open(&site.url("/"));
    let (_capture, recorder) = watch(&browser);
    recorder.until("the page", |record| record.picture().pages.len() == 1);
    let session = driver.attach(&target);
    wait_for("the button", || (driver.evaluate(&session, "!!document.querySelector('#name')") == true).then_some(()));
    for kind in ["mousePressed", "mouseReleased"] {
        let params = json!({ "type": kind, "x": 50, "y": 25, "button": "left", "clickCount": 1 });
        driver.call(Some(&session), "Input.dispatchMouseEvent", params);
    }
    driver.evaluate(&session, "document.querySelector('#name').focus()");
    driver.call(Some(&session), "Input.insertText", json!({ "text": "hunter2" }));
    driver.evaluate(&session, "document.querySelector('#name').blur()");
    let actions = |record: &Record| {
        let action = |event: &Event| match event {
            Event::Action(action) => Some((action.kind, action.target.clone(), action.detail.clone())),
            _ => None,
        };
        record.events.iter().filter_map(action).collect::<Vec<_>>()
    };
    let record = recorder.until("the actions", |record| {
        let all = actions(record);
        all.iter().any(|(kind, ..)| *kind == ActionKind::Click)
            && all.iter().any(|(kind, ..)| *kind == ActionKind::Input)
    });
    let all = actions(&record);
    assert_eq!(
        all.iter().filter(|(kind, target, _)| *kind == ActionKind::Click && target.contains("save")).count(),
        1,
        "{all:?}"
    );
    assert!(!format!("{:?}", record.events).contains("hunter2"));
}
