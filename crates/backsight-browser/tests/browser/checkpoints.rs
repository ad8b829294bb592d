//! Named checkpoints: which stay, which are offered, and those that stand for a baseline.

use backsight_browser::Ask;
use backsight_browser::event::Level;
use backsight_browser::report::Severity;

use crate::app::App;

#[test]
fn a_checkpoint_that_stands_for_a_baseline_expects_what_the_baseline_knows() {
    let app = App::watched();
    app.error("known for long");
    app.request("GET", "/api/users", 200);
    app.request("GET", "/api/legacy", 500);
    app.browser.save_baseline("baseline_works").unwrap();
    app.browser.create_checkpoint("before_change", Some("baseline_works")).unwrap();
    app.error("known for long");
    app.request("GET", "/api/legacy", 500);
    let same = app.since("before_change");
    assert_eq!((same.severity, same.summary.as_str()), (Severity::Clean, "2 known in the baseline"));
    let compared = app.browser.compare_baseline("baseline_works").unwrap();
    assert_eq!(compared.severity, same.severity);
    app.error("never seen");
    let worse = app.since("before_change");
    assert_eq!((worse.severity, worse.console.unwrap().errors.len()), (Severity::Error, 1));
    app.request("GET", "/api/users", 500);
    assert_eq!(app.since("before_change").network.unwrap().failures.len(), 1);
}

#[test]
fn an_endpoint_that_failed_in_the_baseline_and_succeeds_is_improved() {
    let app = App::watched();
    app.request("GET", "/api/b", 500);
    app.browser.save_baseline("baseline_b").unwrap();
    app.request("GET", "/api/b", 200);
    let better = app.browser.compare_baseline("baseline_b").unwrap();
    assert_eq!((better.severity, better.summary.as_str()), (Severity::Clean, "1 endpoint(s) improved"));
    // One that answers as it also did before is improved too, and a fix elsewhere hides no failure.
    app.request("GET", "/api/new", 500);
    assert_eq!(app.browser.compare_baseline("baseline_b").unwrap().severity, Severity::Error);
}

#[test]
fn the_checkpoints_that_every_session_has_make_no_room_for_others() {
    let app = App::watched();
    let create = |name: &str| app.browser.create_checkpoint(name, None).unwrap().evicted;
    for name in ["session_start", "pre_commit"] {
        assert_eq!(create(name), None);
        app.pass(1);
    }
    let evicted: Vec<String> = (0..20)
        .filter_map(|number| {
            app.pass(1);
            create(&format!("before_step_{number}"))
        })
        .collect();
    assert_eq!(evicted, ["before_step_0", "before_step_1"]);
}

#[test]
fn a_checkpoint_that_is_not_there_is_answered_with_the_nearest() {
    let app = App::watched();
    for name in ["after_login", "before_login", "session_start"] {
        app.browser.create_checkpoint(name, None).unwrap();
    }
    let ask = Ask { checkpoint: Some("sesion_start".to_owned()), ..Ask::default() };
    let error = app.ask(&ask).unwrap_err();
    assert_eq!(error.details()["checkpoints"][0], "session_start");
    assert!(error.hint().unwrap().starts_with("there are session_start, "), "{:?}", error.hint());
}

#[test]
fn since_a_time_that_has_not_been_nothing_has_happened() {
    let app = App::watched();
    app.error("now");
    let changes = app.since("2999-01-01T00:00:00Z");
    assert_eq!((changes.severity, changes.duration_ms), (Severity::Clean, 0));
    assert_eq!(changes.from, changes.to);
}

#[test]
fn warnings_that_are_said_again_and_again_are_offered_as_noise() {
    let app = App::watched();
    (0..12).for_each(|number| app.say(Level::Warning, &format!("grid was laid out again in {number}000 ms")));
    app.error("cannot load the cart");
    let offered = app.browser.suggested_rules();
    assert_eq!((offered.len(), offered[0].count), (1, 12));
    app.browser.add_rules(vec![offered[0].rule.clone()]).unwrap();
    assert_eq!(app.browser.suggested_rules(), []);
    assert_eq!(app.changes().console.unwrap().warnings.len(), 0);
}
