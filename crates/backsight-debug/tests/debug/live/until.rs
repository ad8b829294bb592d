//! What changed a value, and a value that is set: asked of every debugger.

use std::time::Duration;

use backsight_debug::debugger::{ChangeRequest, Until, UntilChange, WatchedBy};
use backsight_debug::diff::Options;
use backsight_debug::session::{AssignRequest, Outcome};

use super::facade::{Language, Stage};
use super::subject::PATIENCE;
use crate::facade::patiently;

const EVERY: [Language; 4] = [Language::Python, Language::JavaScript, Language::Go, Language::Cpp];

fn request(expression: &str) -> ChangeRequest {
    let expression = expression.to_owned();
    ChangeRequest { expression, thread: None, frame: 0, max_steps: 2_000, wait: PATIENCE }
}

fn until(stage: &Stage, expression: &str) -> UntilChange {
    let found = stage.debugger.run_until_change(None, &request(expression), &Options::default(), &patiently);
    found.unwrap_or_else(|error| panic!("{:?} {expression}: {error}", stage.language))
}

fn line_of(found: &UntilChange) -> Option<u32> {
    found.changed_by.as_ref().and_then(|frame| frame.line)
}

#[test]
fn the_line_that_changed_a_value_is_told() {
    for language in EVERY {
        let stage = Stage::of(language, "until");
        stage.launch(&["START"]);
        let found = until(&stage, "order.items");
        assert!(found.changed && found.until == Until::Changed, "{found:#?}");
        assert_eq!(line_of(&found), Some(stage.line("GUILTY")), "{language:?} {found:#?}");
        assert!(found.changed_by.as_ref().unwrap().source.as_deref().unwrap().contains("= 20"), "{found:#?}");
        assert_eq!(found.watched_by, WatchedBy::Stepping);
        let diff = found.diff.as_ref().unwrap();
        let [changed] = diff.modified.as_slice() else { panic!("{language:?} {found:#?}") };
        assert!(changed.path.ends_with("[1]"), "{found:#?}");
        assert_eq!((changed.old_value.as_deref(), changed.new_value.as_deref()), (Some("2"), Some("20")), "{found:#?}");
        assert!(found.not_compared.is_empty(), "{found:#?}");
        stage.debugger.remove_breakpoint(None, "bp-1").unwrap();
        // It is paused inside the call that did it, and the value is in its caller.
        assert_eq!(found.value_frame, Some(1), "{language:?} {found:#?}");
        let again = ChangeRequest { frame: 1, ..request("order.total") };
        let found = stage.debugger.run_until_change(None, &again, &Options::default(), &patiently).unwrap();
        assert_eq!(
            (line_of(&found), found.value_frame),
            (Some(stage.line("TOTAL")), Some(0)),
            "{language:?} {found:#?}"
        );
    }
}

#[test]
fn a_number_is_watched_in_memory_where_the_debugger_can() {
    for language in EVERY {
        let stage = Stage::of(language, "until");
        stage.launch(&["START"]);
        let found = until(&stage, "order.total");
        assert_eq!(line_of(&found), Some(stage.line("TOTAL")), "{language:?} {found:#?}");
        assert_eq!((found.before.as_str(), found.after.as_deref()), ("0", Some("7")), "{found:#?}");
        let watched_by = if language == Language::Cpp { WatchedBy::DataBreakpoint } else { WatchedBy::Stepping };
        assert_eq!(found.watched_by, watched_by, "{language:?}");
        // It never changes again, and its call returns.
        let found = until(&stage, "order.total");
        let ends = [Until::OutOfScope, Until::NotPaused];
        assert!(!found.changed && ends.contains(&found.until), "{language:?} {found:#?}");
        assert_eq!((found.before.as_str(), found.after, found.changed_by), ("7", None, None));
    }
}

#[test]
fn a_watch_ends_at_its_limits_and_says_so() {
    for language in EVERY {
        let stage = Stage::of(language, "until");
        stage.launch(&["START"]);
        let few = ChangeRequest { max_steps: 1, ..request("order.items") };
        let found = stage.debugger.run_until_change(None, &few, &Options::default(), &patiently).unwrap();
        assert_eq!((found.changed, found.until, found.steps), (false, Until::StepLimit, 1), "{language:?} {found:#?}");
        assert!(matches!(found.moved.outcome, Outcome::Stopped(_)), "{found:#?}");
        let now = ChangeRequest { wait: Duration::ZERO, ..request("order.items") };
        let found = stage.debugger.run_until_change(None, &now, &Options::default(), &patiently).unwrap();
        assert_eq!((found.changed, found.until), (false, Until::TimeLimit), "{language:?} {found:#?}");
        let unknown = stage.debugger.run_until_change(None, &request("nosuch"), &Options::default(), &patiently);
        assert!(unknown.unwrap_err().message().contains("`nosuch` cannot be read here"), "{language:?}");
        // A breakpoint on the way pauses it; that the value did not change until there is said.
        stage.debugger.remove_breakpoint(None, "bp-1").unwrap();
        stage.debugger.set_breakpoint(None, stage.at("TOTAL")).unwrap();
        let found = until(&stage, "order.prices");
        // Delve does not say of a step that it ended at a breakpoint.
        if language != Language::Go {
            assert_eq!((found.changed, found.until), (false, Until::PausedElsewhere), "{language:?} {found:#?}");
            stage.is_at(&found.moved, "TOTAL");
        }
    }
}

#[test]
fn a_variable_is_set_and_read_again() {
    for language in EVERY {
        let stage = Stage::of(language, "until");
        stage.launch(&["START", "END"]);
        let set = |path: &str, value: &str| {
            let request = AssignRequest { path: path.to_owned(), value: value.to_owned(), thread: None, frame: 0 };
            stage.debugger.set_variable(None, request)
        };
        let told = set("count", "40").unwrap();
        assert_eq!((told.before.as_deref(), told.after.as_str()), (Some("0"), "40"), "{language:?} {told:?}");
        let told = set("order.items[2]", "30").unwrap();
        assert_eq!((told.before.as_deref(), told.after.as_str()), (Some("3"), "30"), "{language:?} {told:?}");
        let refused = set("count", "no such value").unwrap_err();
        assert!(refused.message().contains("`count` was not set"), "{language:?} {refused}");
        let end = loop {
            let moved = stage.go_on();
            if let Outcome::Stopped(stop) = &moved.outcome
                && stop.frame.as_ref().and_then(|frame| frame.line) == Some(stage.line("END"))
            {
                break stage.go_on();
            }
        };
        assert!(end.printed.as_deref().unwrap_or_default().contains("counted 46"), "{language:?} {end:?}");
    }
}
