//! A real Chromium and pages that are served here: what is seen through navigation, frames, workers, crashes and restarts.

use std::sync::Arc;
use std::time::Instant;

use backsight_browser::cdp::{Attach, Capture, Launch, PageState, Place};
use backsight_core::Code;
use serde_json::json;

use crate::driver::{Browser, processes_of, search, wait_for};
use crate::recorder::{Recorder, clock};
use crate::site::{Answer, Site};

/// Watches a browser that runs.
pub fn watch(browser: &Browser) -> (Capture, Arc<Recorder>) {
    watch_at(Place::Port(browser.port))
}

pub fn watch_at(place: Place) -> (Capture, Arc<Recorder>) {
    let recorder = Recorder::new();
    let capture = Capture::start(Attach::new(place, clock()), Arc::clone(&recorder) as _).unwrap();
    (capture, recorder)
}

fn launch() -> Launch {
    Launch { search: search(), headless: true, ..Launch::default() }
}

#[test]
fn a_page_that_is_open_is_watched_and_so_is_one_that_comes() {
    let site = Site::serve(&[
        ("/a", Answer::page("console.log('a is here')")),
        ("/b", Answer::page("console.log('b is here')")),
    ]);
    let browser = Browser::start();
    let mut driver = browser.driver();
    driver.open(&site.url("/a"));
    wait_for("the page", || driver.pages().contains(&site.url("/a")).then_some(()));
    let (capture, recorder) = watch_at(Place::Profile(browser.profile().to_owned()));
    assert_eq!(capture.watching().pages.iter().map(|page| page.url.clone()).collect::<Vec<_>>(), [site.url("/a")]);
    assert!(capture.watching().browser.starts_with("Chrome/"), "{:?}", capture.watching());
    recorder.until_said("a is here");
    driver.open(&site.url("/b"));
    let record = recorder.until_said("b is here");
    assert_eq!((record.count("a is here"), record.count("b is here")), (1, 1));
    assert_eq!(record.lost, []);

    // Watching no more closes nothing.
    capture.stop();
    let mut pages = driver.pages();
    pages.sort();
    assert_eq!(pages, ["about:blank".to_owned(), site.url("/a"), site.url("/b")]);
}

#[test]
fn a_browser_that_is_started_here_ends_with_everything_it_started() {
    let to_next = Answer::new(302, "text/plain", "").with("Location", "/next");
    let hello = || Answer::page("console.log('hello')");
    let site = Site::serve(&[("/", hello()), ("/moved", to_next), ("/next", hello())]);
    let profile = tempfile::tempdir().unwrap();
    let profile = profile.path().join("profile");
    let launch = Launch { profile: Some(profile.clone()), url: Some(site.url("/")), ..launch() };
    let (capture, recorder) = watch_at(Place::Launch(launch));
    recorder.until_said("hello");
    let picture = capture.watching();
    assert!(picture.launched);
    assert_eq!(picture.pages.len(), 1, "{picture:?}");
    assert_eq!(picture.notes.iter().any(|note| note.contains("sandbox")), rustix::process::geteuid().is_root());
    assert!(processes_of(&profile) > 1);

    // Whoever is told that the page is there finds it there.
    for (asked, there) in [("/?again", "/?again"), ("/?again#below", "/?again#below"), ("/moved", "/next")] {
        let address = capture.navigate(None, &site.url(asked)).unwrap();
        assert_eq!((address, capture.watching().pages[0].url.clone()), (site.url(there), site.url(there)));
    }
    recorder.until("the second greeting", |record| record.count("hello") == 3);
    let nowhere = capture.navigate(None, "http://127.0.0.1:1/").unwrap_err();
    assert_eq!(nowhere.code(), Code::BrowserUnreachable);
    capture.stop();
    assert_eq!(processes_of(&profile), 0);
}

#[test]
fn a_profile_of_our_own_is_removed_and_a_browser_that_was_closed_is_not_started_again() {
    let (capture, recorder) = watch_at(Place::Launch(launch()));
    let address = capture.watching().address;
    let process: i32 = address.strip_prefix("pipe to process ").unwrap().parse().unwrap();
    let profile = profile_of(process);
    assert!(profile.is_dir());
    rustix::process::kill_process(rustix::process::Pid::from_raw(process).unwrap(), rustix::process::Signal::TERM)
        .unwrap();
    recorder.until("the end", |record| record.interruptions.len() == 1);
    wait_for("the note", || capture.watching().notes.iter().any(|note| note.contains("has ended")).then_some(()));
    capture.stop();
    assert!(!profile.exists());
}

/// The profile directory that a browser was started with.
fn profile_of(process: i32) -> std::path::PathBuf {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap();
    let arguments = String::from_utf8(line).unwrap();
    let profile = arguments.split('\0').find_map(|argument| argument.strip_prefix("--user-data-dir="));
    profile.unwrap_or_else(|| panic!("{arguments}")).into()
}

#[test]
fn a_browser_that_is_started_here_lets_no_other_user_in() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("a/profile");
    for profile in [None, Some(kept.clone())] {
        let (capture, _recorder) = watch_at(Place::Launch(Launch { profile, ..launch() }));
        let address = capture.watching().address;
        let process: i32 = address.strip_prefix("pipe to process ").unwrap().parse().unwrap();
        let profile = profile_of(process);
        assert_eq!(mode(&profile), 0o700, "{profile:?}");
        assert!(!profile.join("DevToolsActivePort").exists());
        assert_eq!(listening(&profile), 0, "a port lets every user of the machine in");
        capture.stop();
        assert_eq!(processes_of(&profile), 0);
    }
    assert_eq!(mode(&directory.path().join("a")), 0o700);
}

/// How many TCP ports the processes listen at whose command line names this.
fn listening(profile: &std::path::Path) -> usize {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    let listening: Vec<String> = rows
        .map(|row| row.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row.get(3) == Some(&"0A"))
        .map(|row| format!("socket:[{}]", row[9]))
        .collect();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let named = |path: &std::path::Path| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&profile.display().to_string())
    };
    let files = all.filter(|entry| named(&entry.path())).filter_map(|entry| entry.path().join("fd").read_dir().ok());
    let links = files.flat_map(|files| files.flatten()).filter_map(|file| file.path().read_link().ok());
    links.filter(|link| listening.iter().any(|socket| link.as_os_str() == socket.as_str())).count()
}

#[test]
fn a_browser_that_was_started_here_ends_even_if_we_are_killed() {
    const PROFILE: &str = "BACKSIGHT_TEST_PROFILE";
    if let Some(profile) = std::env::var_os(PROFILE) {
        // This is the process that is going to be killed.
        let _watched = watch_at(Place::Launch(Launch { profile: Some(profile.into()), ..launch() }));
        std::thread::sleep(crate::recorder::DEADLINE);
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let profile = directory.path().join("profile");
    let name = "live::a_browser_that_was_started_here_ends_even_if_we_are_killed";
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name]).env(PROFILE, &profile).stdout(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    // Its helpers are started by a browser that runs; the shell before it has none.
    wait_for("the browser", || (processes_of(&profile) > 3).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the browser to end", || (processes_of(&profile) == 0).then_some(()));
}

#[test]
fn a_program_that_is_missing_or_no_browser_is_said_so() {
    let nowhere = Launch { program: Some("/nowhere/chromium".into()), ..launch() };
    let none = Launch { search: Vec::new(), ..launch() };
    for launch in [nowhere, none] {
        let error = Capture::start(Attach::new(Place::Launch(launch), clock()), Recorder::new()).unwrap_err();
        assert_eq!(error.code(), Code::ProgramNotFound);
        assert!(error.hint().unwrap().contains("apt-get install --no-install-recommends chromium"));
    }
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("chromium");
    std::fs::write(&program, "#!/bin/sh\necho 'cannot open display' >&2\nexit 3\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let launch = Launch { search: vec![directory.path().to_owned()], ..launch() };
    let error = Capture::start(Attach::new(Place::Launch(launch), clock()), Recorder::new()).unwrap_err();
    assert_eq!(error.code(), Code::BrowserUnreachable);
    assert!(error.message().contains("cannot open display"), "{error}");
}

#[test]
fn navigation_and_reload_lose_nothing() {
    let site = Site::serve(&[
        ("/one", Answer::page("console.log('one')")),
        ("/two", Answer::page("console.log('two')")),
        ("/other", Answer::page("console.log('other site')")),
    ]);
    let browser = Browser::start();
    let mut driver = browser.driver();
    let target = driver.open(&site.url("/one"));
    let (capture, recorder) = watch(&browser);
    recorder.until_said("one");
    let session = driver.attach(&target);
    driver.navigate(&session, &site.url("/two"));
    recorder.until_said("two");
    driver.call(Some(&session), "Page.reload", json!({}));
    recorder.until("the reload", |record| record.count("two") == 2);
    // Another site is another process behind the same page.
    driver.navigate(&session, &site.elsewhere("/other"));
    let record = recorder.until_said("other site");
    assert_eq!(record.messages(), ["one", "two", "two", "other site"]);
    // Leaving for a page that is nobody's business, and coming back.
    driver.navigate(&session, "data:text/html,<script>console.log('private')</script>");
    recorder.until("the page to be let go", |record| record.picture().pages.is_empty());
    assert_eq!(capture.watching().not_watched, 1);
    driver.navigate(&session, &site.url("/one?back"));
    let record = recorder.until("the return", |record| record.count("one") == 2);
    assert!(!record.says("private"));
}

#[test]
fn frames_and_workers_of_all_kinds_are_heard_once() {
    let page = "navigator.serviceWorker.register('/sw.js').then(() => console.log('registered'));
        new Worker('/worker.js'); new SharedWorker('/shared.js').port.start();";
    let site = Site::serve(&[
        ("/frame", Answer::page("console.log('in the frame')")),
        ("/worker.js", Answer::script("console.log('in the worker')")),
        ("/shared.js", Answer::script("console.log('in the shared worker')")),
        ("/sw.js", Answer::script("console.log('in the service worker')")),
        ("/page", Answer::page(page)),
    ]);
    let frame =
        Answer::html(&format!("<link rel=icon href=data:,><iframe src='{}'></iframe>", site.elsewhere("/frame")));
    let outer = Site::serve(&[("/outer", frame)]);
    let browser = Browser::start();
    let mut driver = browser.driver();
    let (capture, recorder) = watch(&browser);
    driver.open(&outer.url("/outer"));
    recorder.until_said("in the frame");
    driver.open(&site.url("/page"));
    let said = ["in the worker", "in the shared worker", "in the service worker", "registered"];
    for message in said {
        recorder.until_said(message);
    }
    recorder.until("three workers", |record| record.picture().workers == 3);
    // A second page with the same service worker brings it again.
    driver.open(&site.url("/page?second"));
    let record = recorder.until("the second page", |record| record.count("registered") == 2);
    assert_eq!((record.count("in the service worker"), record.count("in the frame")), (1, 1));
    assert_eq!(record.lost, []);
    assert_eq!(capture.watching().notes, Vec::<String>::new());
}

#[test]
fn a_crash_is_told_and_the_page_lives_on_after_a_reload() {
    let site = Site::serve(&[("/", Answer::page("console.log('alive')"))]);
    let browser = Browser::start();
    let mut driver = browser.driver();
    let target = driver.open(&site.url("/"));
    let (_capture, recorder) = watch(&browser);
    recorder.until_said("alive");
    let session = driver.attach(&target);
    driver.send(Some(&session), "Page.crash", json!({}));
    recorder.until("the crash", |record| record.picture().pages.iter().any(|page| page.state == PageState::Crashed));
    recorder.until("the crash in words", |record| record.messages().iter().any(|message| message.contains("crashed")));
    // Another page is not held up by it.
    driver.open(&site.url("/?other"));
    recorder.until("the other page", |record| record.count("alive") == 2);
    driver.navigate(&session, &site.url("/?revived"));
    recorder.until("the revived page", |record| record.count("alive") == 3);
    let all_well = |record: &crate::recorder::Record| {
        let pages = record.picture().pages;
        pages.len() == 2 && pages.iter().all(|page| page.state == PageState::Watching)
    };
    recorder.until("two pages that are well", all_well);
}

#[test]
fn a_browser_that_was_killed_is_watched_again_when_it_is_back() {
    let site = Site::serve(&[("/", Answer::page("console.log('here')"))]);
    let browser = Browser::start();
    let port = browser.port;
    browser.driver().open(&site.url("/"));
    let (capture, recorder) = watch(&browser);
    recorder.until_said("here");
    browser.kill();
    recorder.until("the interruption", |record| record.interruptions.len() == 1);
    assert_eq!(capture.watching().pages, []);
    let browser = Browser::start_with(port, &[]);
    browser.driver().open(&site.url("/?again"));
    let record = recorder.until("the new browser", |record| record.count("here") == 2);
    assert_eq!(record.interruptions.len(), 1, "{:?}", record.interruptions);
    recorder.until("the new page", |record| record.picture().pages.len() == 1);
}

#[test]
fn a_debugger_statement_does_not_stop_a_page_that_is_watched() {
    let site = Site::serve(&[
        ("/", Answer::page("debugger; console.log('went on'); new Worker('/worker.js')")),
        ("/worker.js", Answer::script("debugger; console.log('worker went on')")),
    ]);
    let browser = Browser::start();
    let (_capture, recorder) = watch(&browser);
    browser.driver().open(&site.url("/"));
    recorder.until_said("went on");
    recorder.until_said("worker went on");
}

#[test]
fn a_dialog_is_reported_and_left_to_the_user() {
    let site = Site::serve(&[("/", Answer::page("console.log('ready')"))]);
    let browser = Browser::start();
    let mut driver = browser.driver();
    let target = driver.open(&site.url("/"));
    let (capture, recorder) = watch(&browser);
    recorder.until_said("ready");
    let session = driver.attach(&target);
    driver.call(Some(&session), "Page.enable", json!({}));
    let script = json!({ "expression": "alert('stop'); console.log('after the dialog')" });
    driver.send(Some(&session), "Runtime.evaluate", script);
    recorder.until("the dialog", |record| record.picture().pages.iter().any(|page| page.state == PageState::Dialog));
    // Another page goes on, and this one waits for its user.
    driver.open(&site.url("/?other"));
    let record = recorder.until("the other page", |record| record.count("ready") == 2);
    assert!(!record.says("after the dialog"));
    assert!(capture.watching().pages.iter().any(|page| page.state == PageState::Dialog));
    driver.call(Some(&session), "Page.handleJavaScriptDialog", json!({ "accept": true }));
    recorder.until_said("after the dialog");
    let well = |page: &backsight_browser::cdp::Page| page.state == PageState::Watching;
    recorder.until("the page to go on", |record| record.picture().pages.iter().all(well));
}

#[test]
fn two_hundred_tabs_cost_next_to_nothing() {
    let site = Site::serve(&[("/", Answer::page("console.log('mine')"))]);
    let browser = Browser::start_with(0, &["--renderer-process-limit=4"]);
    let mut driver = browser.driver();
    for number in 0..197 {
        let url = if number < 20 { "data:text/html,x" } else { "about:blank" };
        driver.send(None, "Target.createTarget", json!({ "url": url, "background": true }));
    }
    for number in 0..3 {
        driver.open(&site.url(&format!("/?{number}")));
    }
    wait_for("all tabs", || (driver.pages().len() == 201).then_some(()));
    let begun = Instant::now();
    let (capture, recorder) = watch(&browser);
    let took = begun.elapsed();
    recorder.until("the pages", |record| record.count("mine") == 3);
    let picture = recorder.until("the rest", |record| record.picture().not_watched == 20).picture();
    assert_eq!(picture.pages.len(), 3, "{picture:?}");
    let begun = Instant::now();
    capture.stop();
    println!("attached to 3 of 201 tabs in {took:?}, left in {:?}", begun.elapsed());
    assert_eq!(driver.pages().len(), 201);
    let begun = Instant::now();
    let (capture, _) = watch(&browser);
    println!("attached again in {:?}", begun.elapsed());
    assert_eq!(capture.watching().pages.len(), 3);
}

#[test]
fn what_waits_for_us_goes_on_when_we_are_gone() {
    let site = Site::serve(&[("/", Answer::page("")), ("/worker.js", Answer::script("fetch('/worker-ran')"))]);
    let browser = Browser::start();
    let mut driver = browser.driver();
    let target = driver.open(&site.url("/"));
    let (capture, recorder) = watch(&browser);
    recorder.until("the page", |record| record.picture().pages.len() == 1);
    let session = driver.attach(&target);
    wait_for("the document", || {
        (driver.evaluate(&session, "location.pathname + document.readyState") == "/complete").then_some(())
    });
    // We leave while some of them run, some wait for us, and some are still to come.
    let script = "let count = 0; const timer = setInterval(() => {
        new Worker('/worker.js'); if (++count == 30) clearInterval(timer) }, 5)";
    driver.send(Some(&session), "Runtime.evaluate", json!({ "expression": script }));
    wait_for("the first worker", || (site.hits("/worker.js") > 0).then_some(()));
    capture.stop();
    wait_for("all workers to run", || (site.hits("/worker-ran") == 30).then_some(()));
}
