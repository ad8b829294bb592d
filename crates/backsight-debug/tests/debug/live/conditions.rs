//! Conditions that cannot be evaluated are told and not taken for false; what was raised is told with what led to it.

use backsight_debug::session::{BreakpointRequest, Outcome, Place, Relation, StopReport};

use super::facade::{Language, Stage};
use super::subject::stopped;
use crate::facade::patiently;

const EVERY: [Language; 4] = [Language::Python, Language::JavaScript, Language::Go, Language::Cpp];

#[test]
fn a_condition_that_cannot_be_evaluated_pauses_the_program_and_is_told() {
    for language in EVERY {
        let stage = Stage::of(language, "until");
        let at = BreakpointRequest { condition: Some("nosuch > 3".to_owned()), ..stage.at("TOTAL") };
        let mut request = stage.request(&[]);
        request.breakpoints = vec![at];
        let moved = stage.debugger.launch(None, request, &patiently).unwrap();
        stage.is_at(&moved, "TOTAL");
        let stop = stopped(moved.outcome);
        let problem = stop.stop.problem.as_deref().unwrap_or_else(|| panic!("{language:?} {stop:?}"));
        assert!(problem.contains("nosuch"), "{language:?} {problem}");
        assert!(stop.stop.reason.contains("breakpoint"), "{language:?} {stop:?}");
        let listed = stage.debugger.breakpoints(None).unwrap().breakpoints;
        assert!(listed[0].problem.is_some(), "{language:?} {listed:?}");
        // One that can be evaluated is as it was.
        let at = BreakpointRequest { condition: Some("count > 5".to_owned()), ..stage.at("END") };
        stage.debugger.set_breakpoint(None, at).unwrap();
        let stop = stopped(stage.go_on_to("END").outcome);
        assert_eq!((stop.stop.problem, stop.breakpoints.len()), (None, 1), "{language:?}");
    }
}

#[test]
fn a_condition_that_is_no_expression_is_refused_when_it_is_set() {
    for language in [Language::Python, Language::JavaScript, Language::Go] {
        let stage = Stage::of(language, "until");
        stage.launch(&["START"]);
        let at = BreakpointRequest { condition: Some("1 +".to_owned()), ..stage.at("TOTAL") };
        let set = stage.debugger.set_breakpoint(None, at).unwrap();
        assert!(!set.bound, "{language:?} {set:?}");
        let message = set.message.as_deref().unwrap_or_default();
        assert!(message.contains("yntax") || message.contains("expected operand"), "{language:?} {message}");
    }
}

fn raised(language: Language, name: &str) -> StopReport {
    let stage = Stage::of(language, name);
    let mut request = stage.request(&[]);
    if language != Language::Go {
        request.breakpoints = vec![BreakpointRequest::new(Place::Exception("uncaught".to_owned()))];
    }
    let moved = stage.debugger.launch(None, request, &patiently).unwrap();
    match moved.outcome {
        Outcome::Stopped(stop) => *stop,
        other => panic!("{language:?} {other:?}"),
    }
}

#[test]
fn an_exception_is_told_with_what_led_to_it() {
    let expected = [
        (Language::Python, "LoadError", Some("cannot load"), vec![(Relation::Cause, "KeyError", Some("disk"))]),
        (Language::JavaScript, "LoadError", Some("cannot load"), vec![(Relation::Cause, "TypeError", Some("disk"))]),
        // What it wraps is only in its words.
        (Language::Go, "*fmt.wrapError", Some("cannot load: disk"), vec![]),
        (Language::Cpp, "LoadError", Some("cannot load"), vec![]),
    ];
    for (language, kind, message, chain) in expected {
        let stop = raised(language, "raised");
        let exception = stop.stop.exception.as_deref().unwrap_or_else(|| panic!("{language:?} {stop:?}"));
        assert_eq!((exception.kind.as_str(), exception.message.as_deref()), (kind, message), "{language:?} {stop:?}");
        let told: Vec<(Relation, &str, Option<&str>)> =
            exception.chain.iter().map(|one| (one.relation, one.kind.as_str(), one.message.as_deref())).collect();
        assert_eq!(told, chain, "{language:?} {stop:?}");
    }
}
