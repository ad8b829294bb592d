//! Looks at Python programs of which the debugger, and not the walker, would run something: exceptions that speak for themselves,
//! modules that are beside the program and have the names of what the debugger would import, threads and namespaces of classes
//! of the program's. What ran is counted by the program, before and after.

use std::path::Path;

use backsight_debug::session::{BreakpointRequest, Launch, Place, Session};

use super::own_names::{look, printed, safely, written};
use super::python::python;
use super::subject::{Subject, at, capture, go_on, stopped};

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

/// An audit hook sees every module that is looked for, wherever it would come from.
const IMPORTING: &str = "\
import sys
ran, counting = [], False
def heard(event, about):
    if counting and event == 'import':
        ran.append(about[0])
sys.addaudithook(heard)
class Finder:
    def find_spec(self, *about):
        if counting:
            ran.append(about)
sys.meta_path.insert(0, Finder())
def hooked(place):
    if counting:
        ran.append(place)
    raise ImportError
sys.path_hooks.insert(0, hooked)
def fail():
    global counting
    plain = 5
    counting = True
    raise ValueError('no')
try:
    fail()
except ValueError:
    pass
plain = 5
plain = 5  # HERE
print('ran', ran)
";

fn beside(folder: &Path, name: &str) {
    let file = folder.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = format!("print('imported {name}')\n");
    std::fs::write(file, text).unwrap();
}

/// The names of what debuggers import for what they show, now or in other versions, and some of Python's own.
#[test]
fn a_look_imports_nothing_of_what_is_beside_the_program() {
    let folder = tempfile::tempdir().unwrap();
    // The debugger itself is started in the working directory, and finds what is there as any Python would.
    let source = folder.path().join("source");
    std::fs::create_dir(&source).unwrap();
    let subject = written(&source, "importing.py", IMPORTING, python());
    for package in ["django", "django/utils", "django/forms", "django/db", "django/db/models", "numpy", "pandas"] {
        beside(&source, &format!("{package}/__init__.py"));
    }
    let plugins = "pydevd_plugins/extensions/types/pydevd_plugin_beside.py";
    for module in ["django/utils/datastructures.py", "attr.py", "IPython.py", "jinja2.py", "zipfile.py", plugins] {
        beside(&source, module);
    }
    for package in ["pydevd_plugins", "pydevd_plugins/extensions", "pydevd_plugins/extensions/types"] {
        let text = "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n";
        std::fs::write(source.join(package).join("__init__.py"), text).unwrap();
    }
    let request = Launch { directory: folder.path().to_owned(), ..subject.request(with_exceptions(&subject)) };
    let (session, outcome) = Session::launch(&subject.setup(), request).unwrap();
    let mut report = stopped(outcome);
    while report.stop.reason == "exception" {
        if report.frame.as_ref().is_some_and(|frame| frame.function == "fail") {
            look_around(&session);
            assert_eq!(at(&capture(&session, 2), "plain").text, "5");
        }
        report = stopped(go_on(&session));
    }
    look_around(&session);
    go_on(&session);
    let printed = printed(&session);
    assert!(printed.contains("ran []") && !printed.contains("imported"), "{printed}");
}

const OF_ITS_OWN: &str = "\
import gc, threading
ran, counting = [], False
def count(what):
    if counting:
        ran.append(what)
class Named(threading.Thread):
    def __getattribute__(self, name):
        if name == 'name':
            count('attribute ' + name)
        return threading.Thread.__getattribute__(self, name)
    def __repr__(self):
        count('repr'); return 'x'
    def is_alive(self):
        count('alive'); return True
class Names(dict):
    def get(self, *all):
        count('get'); return dict.get(self, *all)
    def __getitem__(self, name):
        count('item'); return dict.__getitem__(self, name)
class Version:
    def __str__(self):
        count('version'); return '1'
wait = threading.Event()
named = Named(target=wait.wait, daemon=True)
named._name = 'by itself'
named.start()
__version__ = __package__ = Version()
names = Names(__name__=Version(), __version__=Version(), __package__=Version())
exec(compile('def within(then):\\n    plain = 5\\n    then()\\n', __file__.replace('own.py', 'within.py'), 'exec'), names)
def then():
    global counting
    plain = 5
    counting = True
    plain = 5  # HERE
dict.__getitem__(names, 'within')(then)
";

/// Threads are listed by what is stored of them, frames without the namespaces they are in.
#[test]
fn threads_and_frames_are_listed_without_asking_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let subject = written(folder.path(), "own.py", OF_ITS_OWN, python());
    let (session, outcome) = subject.launch(vec![subject.at("HERE")]);
    stopped(outcome);
    // When it pauses, the debugger notes the names of threads.
    let before = ran(&session);
    look_around(&session);
    let names: Vec<String> = session.threads().unwrap().into_iter().map(|thread| thread.name).collect();
    assert_eq!(names, ["MainThread", "by itself"]);
    let frames = session.stack(None, 0, 50).unwrap().frames;
    let functions: Vec<&str> = frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(functions[..3], ["then", "within", "<module>"]);
    assert_eq!(ran(&session), before, "{}", safely(&session, "ran").unwrap());
}

/// Garbage is not collected during a walk, and collecting is left as it was.
#[test]
fn a_walk_collects_no_garbage_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
import gc, sys
ran = []
def collected(phase, about):
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == '<backsight>' and frame.f_code.co_name == 'answer':
            ran.append(phase)
        frame = frame.f_back
gc.callbacks.append(collected)
values = [[one] for one in range(3000)]
gc.set_threshold(1)
plain = 5
plain = 5  # HERE
gc.callbacks.clear()
print('ran', ran, gc.isenabled())
gc.disable()
plain = 5  # AGAIN
print('still', gc.isenabled())
";
    let subject = written(folder.path(), "garbage.py", text, python());
    let (session, outcome) = subject.launch(vec![subject.at("HERE"), subject.at("AGAIN")]);
    stopped(outcome);
    look_around(&session);
    stopped(go_on(&session));
    look_around(&session);
    go_on(&session);
    let printed = printed(&session);
    assert!(printed.contains("ran [] True") && printed.contains("still False"), "{printed}");
}

/// A safe expression takes no more memory or time than a look should.
#[test]
fn a_safe_expression_is_bounded_in_what_it_makes() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
big = [0] * 4000000
text, data, number = 'x' * 900000, b'x' * 900000, 1 << 90000
plain = 5
plain = 5  # HERE
";
    let subject = written(folder.path(), "bounded.py", text, python());
    let (session, outcome) = subject.launch(vec![subject.at("HERE")]);
    stopped(outcome);
    let many = |part: &str| format!("[{}]", vec![part; 9000 / (part.len() + 1)].join(","));
    let refused = [
        "'%900000000d' % 1",
        "b'%900000000d' % 1",
        "'%*d' % (900000000, 1)",
        "text % ()",
        "'a' * 900000000",
        "900000000 * b'a'",
        "[0] * 900000000",
        "(0,) * 900000000",
        "big + big",
        "10 ** 900000000",
        "2 ** 1000 ** 1000",
        "1 << 900000000",
        "f'{1:900000000}'",
        "f'{1:>{900000000}}'",
        "'{:900000000}'.format(1)",
        "format(1, '900000000')",
        "'a'.ljust(900000000)",
        "','.join(big)",
        "bytes(900000000)",
        "str(number)",
        "[one for one in big]",
        "{*big}",
        "[*big]",
        "big[:]",
        "text + text + text",
    ];
    for expression in refused {
        let error = safely(&session, expression).map(|value| panic!("{expression}: {value}")).unwrap_err();
        assert!(error.message().contains("was not evaluated"), "{expression}: {error}");
    }
    for part in
        ["text + text", "text[1:]", "data + data", "number + 1", "-number", "abs(number)", "big[:999999]", "2**999"]
    {
        let error = safely(&session, &many(part)).map(|value| panic!("{part}: {value}")).unwrap_err();
        assert!(error.message().contains("too large"), "{part}: {error}");
    }
    let error = safely(&session, &many("7 in big")).map(|value| value.len()).unwrap_err();
    assert!(error.message().contains("takes too long"), "{error}");
    let error = safely(&session, &format!("[{}]", vec!["1"; 10_000].join(","))).map(|value| value.len()).unwrap_err();
    assert!(error.message().contains("longer than"), "{error}");
    for (expression, value) in [
        ("17 % 5", "2"),
        ("text[:3] + 'y'", "'xxxy'"),
        ("big[5:7]", "list[2] {0, 0}"),
        ("2 ** 10", "1024"),
        ("-3 // 2", "-2"),
    ] {
        assert_eq!(safely(&session, expression).unwrap(), value, "{expression}");
    }
}
