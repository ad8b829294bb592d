//! Questions about pages of a real Chromium: what may be called clean, and when.

use std::sync::Arc;
use std::time::Duration;

use backsight_browser::cdp::{Attach, Place};
use backsight_browser::report::{Changes, Severity};
use backsight_browser::{Ask, Browser as Lane, Limits, Options, Verdict, Wait};
use serde_json::json;

use crate::driver::{Browser, Driver, wait_for};
use crate::recorder::clock;
use crate::site::{Answer, Site};

/// A lane that watches a browser with one page, and a hand on that page.
struct Scene {
    lane: Arc<Lane>,
    driver: Driver,
    session: String,
    _browser: Browser,
    _site: Site,
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
        wait_for("the document", || (driver.evaluate(&session, "document.readyState") == "complete").then_some(()));
        let scene = Scene { lane, driver, session, _browser: browser, _site: site };
        // What the load was is told, and how far back the page was watched.
        scene.ask(Some(Wait { most: Duration::from_secs(20), quiet: Duration::from_millis(500) }));
        scene
    }

    fn ask(&self, wait: Option<Wait>) -> Changes {
        self.lane.changes("agent", &Ask { wait, ..Ask::default() }, &|| false).unwrap()
    }

    /// Lets the page do something that may take long.
    fn begin(&mut self, script: &str) {
        let params = json!({ "expression": script, "userGesture": true });
        self.driver.send(Some(&self.session), "Runtime.evaluate", params);
    }

    /// Nobody hears the page, and every answer says so until it goes on.
    fn is_held(&self, reason: &str) {
        let mut early = Vec::new();
        let changes = wait_for("the page to stand still", || {
            let changes = self.ask(None);
            if changes.summary.contains(reason) {
                return Some(changes);
            }
            early.push(changes);
            None
        });
        // Until that is sure, who asks is not kept waiting, and is told that it is not.
        let is_honest =
            |changes: &Changes| changes.severity == Severity::Clean || changes.summary.contains("may be busy");
        assert!(early.iter().all(is_honest), "{early:?}");
        assert_eq!(changes.severity, Severity::Unknown);
        assert!(changes.gap.iter().any(|gap| gap.reason.contains(reason) && gap.to.is_none()), "{:?}", changes.gap);
        let again = self.ask(Some(Wait { most: Duration::from_secs(1), quiet: Duration::from_millis(50) }));
        assert_eq!(again.severity, Severity::Unknown, "{again:?}");
        assert_eq!(self.lane.health("agent", None).unwrap().verdict, Verdict::Unknown);
    }

    fn goes_on(&self) {
        wait_for("the page to go on", || {
            Some(self.ask(None)).filter(|changes| changes.severity == Severity::Clean && changes.gap.is_empty())
        });
    }
}

#[test]
fn it_is_not_quiet_while_an_answer_is_under_way() {
    let slow = Answer::new(500, "text/plain", "no").after(Duration::from_secs(2));
    let mut scene = Scene::new(&[("/", Answer::page("")), ("/slow", slow)]);
    scene.goes_on();
    scene.driver.evaluate(&scene.session, "void fetch('/slow')");
    // The browser tells of it in its own time.
    let changes = wait_for("the request", || {
        let ask = Ask { peek: true, ..Ask::default() };
        Some(scene.lane.changes("agent", &ask, &|| false).unwrap()).filter(|changes| changes.in_flight == 1)
    });
    assert!(changes.summary.contains("1 request(s) are still in flight"), "{}", changes.summary);
    let changes = scene.ask(Some(Wait { most: Duration::from_secs(20), quiet: Duration::from_millis(300) }));
    assert_eq!((changes.severity, changes.in_flight), (Severity::Error, 0), "{changes:?}");
    assert_eq!(changes.network.unwrap().failures[0].path, "/slow");
}

#[test]
fn a_page_with_an_open_dialog_is_not_clean() {
    let mut scene = Scene::new(&[("/", Answer::page(""))]);
    scene.driver.call(Some(&scene.session.clone()), "Page.enable", json!({}));
    scene.begin("confirm('really?')");
    scene.is_held("until somebody answers its dialog");
    scene.driver.call(Some(&scene.session.clone()), "Page.handleJavaScriptDialog", json!({ "accept": true }));
    scene.goes_on();
}

#[test]
fn a_page_in_an_endless_loop_is_not_clean() {
    let mut scene = Scene::new(&[("/", Answer::page(""))]);
    scene.begin("while (true) {}");
    scene.is_held("does not answer");
    scene.driver.send(Some(&scene.session.clone()), "Runtime.terminateExecution", json!({}));
    scene.goes_on();
}

#[test]
fn a_page_that_somebody_elses_debugger_holds_is_not_clean() {
    let mut scene = Scene::new(&[("/", Answer::page(""))]);
    scene.driver.call(Some(&scene.session.clone()), "Debugger.enable", json!({}));
    scene.begin("debugger; 1");
    scene.is_held("does not answer");
    scene.driver.send(Some(&scene.session.clone()), "Debugger.resume", json!({}));
    scene.goes_on();
}

#[test]
fn an_error_is_told_once_and_a_rejection_is_taken_back_when_it_is_handled() {
    let script = "function twice() {
            try { null.x } catch (error) { console.error(error); setTimeout(() => { throw error }) }
            setTimeout(() => console.warn('over'), 50);
        }
        function reject() { window.late = Promise.reject(new Error('late')); }";
    let mut scene = Scene::new(&[("/", Answer::page(script))]);
    let console = |scene: &Scene| {
        let ask = Ask { checkpoint: Some("start".to_owned()), ..Ask::default() };
        scene.lane.changes("agent", &ask, &|| false).unwrap().console.unwrap()
    };
    scene.driver.evaluate(&scene.session, "reject(); 0");
    assert_ne!(scene.ask(None).severity, Severity::Clean, "it is held back, and may be handled yet");
    let told = wait_for("the rejection", || console(&scene).errors.into_iter().next());
    assert_eq!((told.message.as_str(), told.count), ("Error: late (in promise)", 1));
    scene.driver.evaluate(&scene.session, "late.catch(() => 0); 0");
    wait_for("it to be handled", || Some(console(&scene)).filter(|console| console.errors.is_empty()));
    assert_eq!(console(&scene).handled_later.len(), 1);
    scene.driver.evaluate(&scene.session, "twice(); 0");
    wait_for("the end", || Some(console(&scene)).filter(|console| !console.warnings.is_empty()));
    let told = wait_for("the error", || console(&scene).errors.into_iter().next());
    assert!(told.message.starts_with("TypeError") && told.count == 1, "{told:?}");
    assert_eq!(console(&scene).errors.len(), 1);
}
