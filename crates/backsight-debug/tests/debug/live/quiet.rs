//! Looks at Python programs of which the debugger, and not the walker, would run something: exceptions that speak for themselves,
//! modules that are beside the program and have the names of what the debugger would import, threads and namespaces of classes
//! of the program's. What ran is counted by the program, before and after.

use backsight_debug::session::{BreakpointRequest, Place, Session};

use super::own_names::{look, safely, written};
use super::python::python;
use super::subject::{Subject, go_on, stopped};

/// Every look that is said to run nothing; twice, since the first may prepare what the second does.
fn look_around(session: &Session) {
    for _ in 0..2 {
        stopped(session.outcome().unwrap());
        for thread in session.threads().unwrap() {
            session.stack(Some(thread.id), 0, 50).unwrap();
        }
        look(session, "plain", "5");
    }
}

/// How much the program says has run.
fn ran(session: &Session) -> String {
    safely(session, "len(ran)").unwrap()
}

fn with_exceptions(subject: &Subject) -> Vec<BreakpointRequest> {
    vec![BreakpointRequest::new(Place::Exception("all".to_owned())), subject.at("HERE")]
}

const SPEAKING: &str = "\
ran = []
class Speaking(Exception):
    def __str__(self):
        ran.append('str'); return 'in its own words'
    def __repr__(self):
        ran.append('repr'); return 'in its own words'
    def __getattribute__(self, name):
        ran.append(name); return Exception.__getattribute__(self, name)
class Cause(Speaking):
    pass
class Silent(Exception):
    pass
def fail():
    plain = 5
    try:
        raise Cause('why')
    except Cause as cause:
        raise Speaking('q') from cause
try:
    fail()
except Speaking:
    pass
def silent():
    plain = 5
    raise Silent()
try:
    silent()
except Silent:
    pass
plain = 5
plain = 5  # HERE
";

/// What an exception says is asked of it once, when the program comes to it. Whoever looks then runs nothing.
#[test]
fn an_exception_is_not_made_to_speak_again_by_a_look() {
    let folder = tempfile::tempdir().unwrap();
    let subject = written(folder.path(), "speaking.py", SPEAKING, python());
    let (session, outcome) = subject.launch(with_exceptions(&subject));
    let mut report = stopped(outcome);
    let mut said = Vec::new();
    while report.stop.reason == "exception" {
        said.push(report.stop.description.clone().unwrap_or_default());
        if report.frame.as_ref().is_some_and(|frame| frame.function != "<module>") {
            let before = ran(&session);
            look_around(&session);
            assert_eq!(ran(&session), before, "{said:?}");
        }
        assert_eq!(stopped(session.outcome().unwrap()).stop.description, report.stop.description);
        report = stopped(go_on(&session));
    }
    for words in ["Cause: in its own words", "Speaking: in its own words", "Silent"] {
        assert!(said.iter().any(|said| said == words), "{words} in {said:?}");
    }
}
