//! An app in a real Chromium runs on while it is watched: what its pages start is never left waiting, what runs well is no
//! error, and what hangs is told.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use backsight_browser::cdp::{Attach, Place};
use backsight_browser::report::{Changes, Severity};
use backsight_browser::{Ask, Browser as Lane, Limits, Options, Wait};
use serde_json::json;

use crate::driver::{Browser, Driver, wait_for};
use crate::recorder::clock;
use crate::site::{Answer, Site};

/// What the page starts: `start.NAME()` puts into `told.NAME` what came of it.
const PAGE: &str = "const told = {};
    const add = (name, adding) => adding.then(() => told[name] = 'ok', error => told[name] = error.name);
    const start = {
        sound: () => add('sound', new AudioContext().audioWorklet.addModule('/sound.js')),
        gone: () => add('gone', new AudioContext().audioWorklet.addModule('/gone.js')),
        broken: () => add('broken', new AudioContext().audioWorklet.addModule('/broken.js')),
        paint: () => add('paint', CSS.paintWorklet.addModule('/paint.js')),
        shared: () => new SharedWorker('/shared.js').port.onmessage = () => told.shared = 'ok',
        worker: () => new Worker('/outer.js').onmessage = () => told.worker = 'ok',
        window: () => { const other = open('/other'); setInterval(() => told.window = other.name, 20); },
    };";

struct Scene {
    lane: Arc<Lane>,
    driver: Driver,
    session: String,
    _browser: Browser,
    site: Site,
}

impl Scene {
    fn new(answers: &[(&str, Answer)]) -> Scene {
        let site = Site::serve(answers);
        let browser = Browser::start();
        let mut driver = browser.driver();
        let target = driver.open(&site.url("/"));
        let lane = Arc::new(Lane::new(Options { clock: clock(), salt: 7, limits: Limits::default() }));
        lane.attach(Attach::new(Place::Port(browser.port), clock())).unwrap();
        wait_for("the page", || lane.watching().filter(|watching| watching.pages.len() == 1));
        let session = driver.attach(&target);
        let scene = Scene { lane, driver, session, _browser: browser, site };
        scene.ask();
        scene
    }

    fn ask(&self) -> Changes {
        let wait = Some(Wait { most: Duration::from_secs(10), quiet: Duration::from_millis(400) });
        self.lane.changes("agent", &Ask { wait, ..Ask::default() }, &|| false).unwrap()
    }

    fn look(&self) -> Changes {
        self.lane.changes("agent", &Ask::default(), &|| false).unwrap()
    }

    fn run(&mut self, script: &str) -> serde_json::Value {
        self.driver.evaluate(&self.session, script)
    }

    fn reload(&mut self) {
        self.driver.call(Some(&self.session.clone()), "Page.reload", json!({}));
    }
}

#[test]
fn everything_that_a_watched_page_starts_runs_and_its_errors_are_told() {
    let mut scene = Scene::new(&[
        ("/", Answer::page(PAGE)),
        ("/other", Answer::page("window.name = 'ok'")),
        ("/sound.js", Answer::script("registerProcessor('p', class extends AudioWorkletProcessor { process() {} })")),
        ("/broken.js", Answer::script("\nthrow new Error('no sound')")),
        ("/paint.js", Answer::script("registerPaint('x', class { paint() {} })")),
        ("/shared.js", Answer::script("onconnect = event => event.ports[0].postMessage(1)")),
        ("/outer.js", Answer::script("new Worker('/inner.js').onmessage = () => postMessage(1)")),
        ("/inner.js", Answer::script("postMessage(1)")),
    ]);
    let expected = [
        ("sound", "ok"),
        ("paint", "ok"),
        ("shared", "ok"),
        ("worker", "ok"),
        ("window", "ok"),
        ("gone", "AbortError"),
    ];
    for (name, outcome) in expected {
        scene.run(&format!("start.{name}(); 0"));
        wait_for(name, || (scene.run(&format!("told.{name}")) == outcome).then_some(()));
    }
    let changes = scene.ask();
    let (network, console) = (changes.network.unwrap(), changes.console.unwrap());
    assert_eq!(
        network.failures.iter().map(|entry| (&*entry.path, entry.status)).collect::<Vec<_>>(),
        [("/gone.js", 404)]
    );
    assert_eq!(console.errors, [], "the request tells it");
    scene.run("start.broken(); 0");
    let errors = scene.ask().console.unwrap().errors;
    assert!(errors.len() == 1 && errors[0].message == "Error: no sound", "{errors:?}");
    assert!(errors[0].source.ends_with("broken.js:2"), "{errors:?}");
    // Their ends are nobody's crash.
    for _ in 0..3 {
        scene.reload();
        let changes = scene.ask();
        assert_eq!(changes.severity, Severity::Clean, "{changes:?}");
        scene.run("start.shared(); 0");
        wait_for("the shared worker", || (scene.run("told.shared") == "ok").then_some(()));
    }
    let notes = scene.lane.watching().unwrap().notes;
    assert!(notes.iter().all(|note| !note.contains("does not work")), "{notes:?}");
}

#[test]
fn a_connection_that_hangs_or_is_lost_is_told_in_every_answer() {
    let mut scene =
        Scene::new(&[("/", Answer::page("")), ("/events", Answer::new(200, "text/event-stream", "retry: 60000\n\n"))]);
    // It accepts and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    scene.run(&format!("window.socket = new WebSocket('ws://127.0.0.1:{port}/live'); 0"));
    let waits = |changes: &Changes| changes.summary.contains(&format!("GET ws://127.0.0.1:{port}/live for "));
    wait_for("the warning", || Some(scene.look()).filter(waits));
    for _ in 0..2 {
        let changes = scene.look();
        assert!(changes.severity == Severity::Warning && waits(&changes), "{changes:?}");
    }
    scene.run("socket.close(); 0");
    wait_for("it to be closed", || Some(scene.look()).filter(|changes| changes.severity == Severity::Clean));
    scene.run("window.stream = new EventSource('/events'); 0");
    let is_lost = |changes: &Changes| changes.summary.contains("1 event stream(s) lost");
    wait_for("the loss", || Some(scene.look()).filter(is_lost));
    for _ in 0..3 {
        let changes = scene.look();
        assert!(changes.severity == Severity::Warning && is_lost(&changes), "{changes:?}");
    }
    scene.run("stream.close(); 0");
    wait_for("the page to give it up", || Some(scene.look()).filter(|changes| changes.severity == Severity::Clean));
}

#[test]
fn what_the_document_that_is_shown_says_is_never_of_an_earlier_load() {
    let page =
        "<link rel=icon href=data:,><script>absent()</script><script type=module>console.error('in a module')</script>";
    let mut scene = Scene::new(&[("/", Answer::html(page).after(Duration::from_millis(30)))]);
    for _ in 0..8 {
        scene.reload();
        let errors = scene.ask().console.unwrap().errors;
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors.iter().all(|error| !error.before_load), "{errors:?}");
    }
    scene.driver.navigate(&scene.session, &scene.site.url("/empty"));
    scene.ask();
    let ask = Ask { checkpoint: Some("start".to_owned()), peek: true, ..Ask::default() };
    let errors = scene.lane.changes("agent", &ask, &|| false).unwrap().console.unwrap().errors;
    assert!(errors.len() == 2 && errors.iter().all(|error| error.before_load), "{errors:?}");
}

#[test]
fn what_only_the_page_hears_is_told() {
    let mut scene = Scene::new(&[
        ("/", Answer::page("")),
        ("/broken.png", Answer::new(200, "image/png", "no picture")),
        ("/page.png", Answer::html("no picture either")),
        ("/broken.mp4", Answer::new(200, "video/mp4", "no film")),
        ("/start.js", Answer::script("\nthrow new Error('no start')")),
        ("/outer.js", Answer::script("new Worker('/inner.js')")),
        ("/inner.js", Answer::script("throw new Error('no inner start')")),
    ]);
    // The page's own functions are watched from the next load on.
    scene.reload();
    scene.ask();
    scene.run("document.body.innerHTML = '<img src=/broken.png><img src=/page.png><img src=/gone.png>'; 0");
    let changes = wait_for("the images", || {
        let changes = scene.lane.changes("agent", &Ask { peek: true, ..Ask::default() }, &|| false).unwrap();
        (!changes.console.as_ref().unwrap().warnings.is_empty()).then_some(changes)
    });
    let (console, network) = (changes.console.unwrap(), changes.network.unwrap());
    let warnings: Vec<&str> = console.warnings.iter().map(|entry| entry.message.as_str()).collect();
    assert!(warnings.len() == 1 && warnings[0].ends_with("/broken.png"), "{warnings:?}");
    assert_eq!((network.failures.len(), network.mistyped.len()), (1, 1));
    scene.look();
    scene.run("document.body.innerHTML = '<video src=/broken.mp4></video>'; 0");
    wait_for("the film", || {
        scene.look().console.unwrap().warnings.into_iter().find(|entry| entry.message.contains("a film"))
    });
    let errors = |scene: &Scene| -> Vec<(String, u64)> {
        let errors = scene.ask().console.unwrap().errors;
        errors.into_iter().map(|entry| (entry.message, entry.count)).collect()
    };
    scene.run("const worker = new Worker('/start.js'); worker.onerror = () => worker.terminate(); 0");
    assert_eq!(errors(&scene), [("Error: no start".to_owned(), 1)]);
    scene.run("new Worker('/outer.js'); 0");
    assert_eq!(errors(&scene), [("Error: no inner start".to_owned(), 1)]);
    assert_eq!(scene.run("new Worker('/start.js').constructor === Worker && Worker.name"), "Worker");
}

/// Begins the answer to each of so many requests and ends none.
fn begin_answers(listener: &TcpListener, count: usize) -> Vec<TcpStream> {
    let begin = |stream: std::io::Result<TcpStream>| {
        let mut stream = stream.unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while !lines.next().unwrap().unwrap().is_empty() {}
        let head = "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nAccess-Control-Allow-Origin: *";
        stream.write_all(format!("{head}\r\nContent-Length: 100\r\n\r\n{{\"rows\":").as_bytes()).unwrap();
        stream
    };
    listener.incoming().take(count).map(begin).collect()
}

#[test]
fn an_answer_whose_end_the_page_waits_for_is_told_and_one_that_nobody_reads_is_not() {
    let mut scene = Scene::new(&[("/", Answer::page(""))]);
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    // The page's own functions are watched from the next load on.
    scene.reload();
    scene.ask();
    scene.run(&format!("fetch('http://127.0.0.1:{port}/unread'); 0"));
    let _first = begin_answers(&server, 1);
    scene.run(&format!("fetch('http://127.0.0.1:{port}/read').then(answer => answer.json()); 0"));
    let _second = begin_answers(&server, 1);
    let waits = |changes: &Changes| changes.summary.contains(&format!("(GET http://127.0.0.1:{port}/read for "));
    let changes = wait_for("the warning", || Some(scene.look()).filter(waits));
    assert_eq!((changes.severity, changes.network.unwrap().pending.len()), (Severity::Warning, 1));
    assert!(waits(&scene.look()), "in every answer until it is over");
    // With the page goes whoever waited.
    scene.reload();
    let changes = scene.ask();
    assert_eq!(changes.severity, Severity::Clean, "{changes:?}");
}
