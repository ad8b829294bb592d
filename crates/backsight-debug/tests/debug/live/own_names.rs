//! Programs that put something of their own in the place of what Python or V8 have by themselves. A look at such a program runs
//! none of it, and a look that is refused leaves later ones alone.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use backsight_core::Code;
use backsight_debug::session::{
    Attach, BreakpointRequest, Control, EvaluateRequest, Outcome, Session, VariablesRequest,
};
use backsight_debug::walk::{CapturePlan, Frames};

use super::python::python;
use super::subject::{PATIENCE, Running, Subject, at, capture, free_port, go_on, installed, stopped};

pub fn written(folder: &Path, name: &str, text: &str, runtime: std::path::PathBuf) -> Subject {
    let source = folder.join(name);
    std::fs::write(&source, text).unwrap();
    Subject { program: source.clone(), source, runtime: Some(runtime), rust_sysroot: None }
}

pub fn safely(session: &Session, expression: &str) -> backsight_core::Result<String> {
    let request =
        EvaluateRequest { expression: expression.to_owned(), thread: None, frame: 0, safe: true, timeout_ms: None };
    session.evaluate(request).map(|view| view.value)
}

/// Everything that says it only looks.
pub fn look(session: &Session, variable: &str, value: &str) {
    assert_eq!(at(&capture(session, 2), variable).text, value);
    let all = CapturePlan {
        frames: Frames::All,
        all_threads: true,
        watches: vec![variable.to_owned()],
        ..CapturePlan::default()
    };
    session.capture(all).unwrap_or_else(|error| panic!("{error}"));
    let page = session.variables(VariablesRequest::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(page.variables.iter().any(|one| one.name == variable && one.value == value), "{page:#?}");
    let expand = VariablesRequest { expand: Some(variable.to_owned()), ..VariablesRequest::default() };
    assert_eq!(session.variables(expand).unwrap().value.unwrap().value, value);
    let globals = VariablesRequest { scope: Some("globals".to_owned()), ..VariablesRequest::default() };
    assert!(!session.variables(globals).unwrap().variables.is_empty());
    assert_eq!(safely(session, variable).unwrap(), value);
    assert!(safely(session, &format!("[{variable}, {variable}]")).unwrap().starts_with("list[2]"));
}

pub fn printed(session: &Session) -> String {
    session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect()
}

/// Names that Python has by itself, as global names, as local names, and as the only ones a module has.
const OWN_NAMES: &str = "\
ran = []
real = print
def own(name):
    def function(*all, **named):
        ran.append(name)
        raise SystemExit('ran ' + name)
    return function
NAMES = 'exec compile eval globals locals vars type len getattr hasattr id hash repr str dict list tuple map zip __import__ iter isinstance'
exec_, compile_, dict_ = exec, compile, dict
INNER = '''
plain = 5
plain = plain  # INNER
'''
def body():
    exec = compile = eval = globals = type = len = getattr = dict = __import__ = own('local')
    plain = 5
    return plain  # LOCAL
namespace = {'__builtins__': {}}
for name in NAMES.split():
    namespace['__builtins__'][name] = own('builtins.' + name)
exec_(compile_(INNER, __file__.replace('names.py', 'inner.py'), 'exec'), namespace)
body()
exec = own('exec'); compile = own('compile'); eval = own('eval'); type = own('type'); len = own('len'); getattr = own('getattr')
globals = own('globals'); __import__ = own('__import__'); str = own('str'); list = own('list'); repr = own('repr')
__builtins__ = {'exec': exec, 'compile': compile, 'len': len, '__import__': __import__}
plain = 5
plain = 5  # GLOBAL
real('ran', ran)
";

#[test]
fn a_look_never_calls_names_of_the_program_in_pythons_place() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner.py");
    std::fs::write(&inner, "\nplain = 5\nplain = plain  # INNER\n").unwrap();
    let subject = written(folder.path(), "names.py", OWN_NAMES, python());
    let breakpoints = vec![BreakpointRequest::line(&inner, 3), subject.at("LOCAL"), subject.at("GLOBAL")];
    let (session, outcome) = subject.launch(breakpoints);
    stopped(outcome);
    look(&session, "plain", "5");
    for _ in 0..2 {
        stopped(go_on(&session));
        look(&session, "plain", "5");
    }
    go_on(&session);
    assert!(printed(&session).contains("ran []"), "{}", printed(&session));
}

/// What a program changes in Python itself after it began is not what the walker uses.
#[test]
fn a_look_does_not_use_what_the_program_changed_in_python_itself() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
import builtins, json, time, zlib, sys
ran = []
def watched(owner, name):
    real = getattr(owner, name)
    def function(*all, **named):
        frame = sys._getframe(1)
        while frame is not None and len_(ran) < 50:
            if frame.f_code.co_filename == '<backsight>' and frame.f_code.co_name == 'answer':
                ran.append(name)
            frame = frame.f_back
        return real(*all, **named)
    setattr(owner, name, function)
len_ = len
for owner, names in ((builtins, 'len getattr hasattr id hash sorted compile exec repr __import__'), (json, 'dumps loads'),
                     (json.JSONEncoder, 'encode iterencode'), (time, 'monotonic'), (zlib, 'crc32')):
    for name in names.split():
        watched(owner, name)
plain = 5
plain = 5  # HERE
print('ran', ran)
";
    let subject = written(folder.path(), "changed.py", text, python());
    let (session, outcome) = subject.launch(vec![subject.at("HERE")]);
    stopped(outcome);
    look(&session, "plain", "5");
    go_on(&session);
    assert!(printed(&session).contains("ran []"), "{}", printed(&session));
}

/// Namespaces of classes whose class is the program's, and of `exec`, are dictionaries of the program's making.
const NAMESPACES: &str = "\
ran = []
class Names(dict):
    def __getitem__(self, name):
        ran.append(('get', name)); return dict.__getitem__(self, name)
    def __contains__(self, name):
        ran.append(('in', name)); return dict.__contains__(self, name)
    def __delitem__(self, name):
        ran.append(('delete', name)); return dict.__delitem__(self, name)
    def get(self, *all):
        ran.append('get'); return dict.get(self, *all)
    def keys(self):
        ran.append('keys'); return dict.keys(self)
    def items(self):
        ran.append('items'); return dict.items(self)
    def __iter__(self):
        ran.append('iter'); return dict.__iter__(self)
    def copy(self):
        ran.append('copy'); return dict.copy(self)
class Foreign:
    def __init__(self):
        self.names = {}
    def __getitem__(self, name):
        ran.append(('get', name)); return self.names[name]
    def __setitem__(self, name, value):
        self.names[name] = value
    def __delitem__(self, name):
        ran.append('delete')
    def keys(self):
        ran.append('keys'); return self.names.keys()
    def items(self):
        ran.append('items'); return self.names.items()
class Meta(type):
    @classmethod
    def __prepare__(cls, name, bases):
        return Names()
class Body(metaclass=Meta):
    plain = 5
    plain = 5  # BODY
class Cells(metaclass=Meta):
    plain = 5
    def method(self):
        return super().method()
    plain = 5  # CELLS
";

#[test]
fn a_namespace_of_the_programs_making_is_read_as_a_dictionary_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{NAMESPACES}code = compile(open(__file__.replace('spaces.py', 'inner.py')).read(), __file__.replace('spaces.py', 'inner.py'), 'exec')\n\
         del ran[:]\nexec(code, {{}}, Foreign())\nprint('foreign', [one for one in ran if one != ('get', 'plain')])\n"
    );
    let inner = folder.path().join("inner.py");
    std::fs::write(&inner, "plain = 5\nplain = 5  # FOREIGN\n").unwrap();
    let subject = written(folder.path(), "spaces.py", &text, python());
    let last = BreakpointRequest::line(&inner, 2);
    let (session, outcome) = subject.launch(vec![subject.at("BODY"), subject.at("CELLS"), last]);
    stopped(outcome);
    let ran =
        || at(&session.capture(CapturePlan { frame: 1, depth: 1, ..CapturePlan::default() }).unwrap(), "ran").length;
    // What the program itself looked up in there, before anybody looked.
    let before = ran();
    look(&session, "plain", "5");
    assert_eq!(ran(), before, "the body of a class");
    stopped(go_on(&session));
    let before = ran();
    let seen = session.capture(CapturePlan::default());
    // Since Python 3.13 it can be read; before that it is refused.
    assert!(seen.is_ok() || seen.unwrap_err().message().contains("super()"));
    assert_eq!(ran(), before, "a body with a cell");
    stopped(go_on(&session));
    let error = session.capture(CapturePlan::default()).unwrap_err();
    assert!(error.message().contains("`<module>`") && error.message().contains("Foreign"), "{error}");
    let error = safely(&session, "plain").unwrap_err();
    assert!(error.message().contains("Foreign"), "{error}");
    let all = session.capture(CapturePlan { frame: 1, frames: Frames::All, ..CapturePlan::default() }).unwrap();
    assert_eq!(all.frames[0].function, "<module>");
    assert_eq!(go_on(&session), Outcome::Exited { code: Some(0) });
    assert!(printed(&session).contains("foreign []"), "{}", printed(&session));
}

/// The same in JavaScript: everything the walker might use is the program's.
#[test]
fn a_look_never_calls_what_the_program_put_in_v8s_place() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
const ran = [], { defineProperty, getOwnPropertyNames, getPrototypeOf } = Object, log = console.log;
let counting = false;
const count = (name) => { if (counting) ran[ran.length] = name; };
const replace = (owner, label) => {
  for (const name of getOwnPropertyNames(owner).concat([Symbol.iterator])) {
    const found = Object.getOwnPropertyDescriptor(owner, name);
    if (!found || !found.configurable || name === 'constructor') continue;
    if (typeof found.value === 'function') {
      const real = found.value;
      const own = function (...all) { count(label + '.' + String(name)); return Reflect_apply(real, new.target ? undefined : this, all); };
      try { defineProperty(owner, name, { ...found, value: own }); } catch {}
    } else if (found.get) {
      const real = found.get;
      try { defineProperty(owner, name, { ...found, get() { count(label + '.' + String(name)); return Reflect_apply(real, this, []); } }); } catch {}
    }
  }
};
const Reflect_apply = Reflect.apply;
const util = require('util');
const later = [[JSON, 'JSON'], [Map.prototype, 'Map'], [Set.prototype, 'Set'], [getPrototypeOf(Int32Array.prototype), 'typed'],
  [util.types, 'types'], [require('vm'), 'vm'], [Object, 'Object'], [Reflect, 'Reflect'], [Array.prototype, 'Array'],
  [String.prototype, 'String'], [Function.prototype, 'Function'], [Symbol.prototype, 'Symbol'], [Number.prototype, 'Number']];
const plain = 5, numbers = new Array(2000).fill(7), map = new Map([['a', 1]]), set = new Set([1]), bytes = new Uint8Array(3);
const odd = { date: new Date(0), pattern: /a/g, symbol: Symbol('s'), big: 12n, error: new Error('x') };
for (let at = 0; at < later.length; at++) replace(later[at][0], later[at][1]);
counting = true;
debugger; // HERE
counting = false;
let said = '';
for (let at = 0; at < ran.length; at++) said += ' ' + ran[at];
log('ran [' + said + ']');
";
    let subject = written(folder.path(), "realm.js", text, installed(&["node"]));
    let (session, outcome) = subject.launch(vec![subject.at("HERE")]);
    stopped(outcome);
    assert_eq!(at(&capture(&session, 3), "plain").text, "5");
    assert_eq!(at(&capture(&session, 3), "numbers").length, Some(2000));
    assert_eq!(safely(&session, "plain").unwrap(), "5");
    let page = session.variables(VariablesRequest::default()).unwrap();
    assert!(page.variables.iter().any(|one| one.name == "plain"), "{page:#?}");
    let expand = VariablesRequest { expand: Some("map".to_owned()), ..VariablesRequest::default() };
    session.variables(expand).unwrap_or_else(|error| panic!("{error}"));
    session.control(Control::Continue, None, PATIENCE).unwrap();
    assert!(printed(&session).contains("ran []"), "{}", printed(&session));
}

/// When a debugger comes too late for that, what the program replaced is named; once it is put back everything can be seen.
#[test]
fn a_refused_look_says_what_the_program_replaced_and_later_ones_are_not_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
import builtins, sys, debugpy
real = builtins.sorted
builtins.sorted = lambda *all, **named: real(*all, **named)
debugpy.listen(('127.0.0.1', int(sys.argv[1])))
print('ready', flush=True)
debugpy.wait_for_client()
def here(back):
    return back  # HERE
here(False)
builtins.sorted = real
here(True)
";
    let subject = written(folder.path(), "late.py", text, python());
    let port = free_port();
    let mut command = Command::new(python());
    command.arg(&subject.program).arg(port.to_string()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let attach = Attach {
        adapter: Some("debugpy".to_owned()),
        port: Some(port),
        breakpoints: vec![subject.at("HERE")],
        wait: PATIENCE,
        ..Attach::default()
    };
    let (session, outcome) = Session::attach(&subject.setup(), attach).unwrap();
    stopped(outcome);
    let error = session.capture(CapturePlan::default()).unwrap_err();
    assert_eq!(error.code(), Code::AdapterFailed);
    assert!(error.message().contains("replaced `sorted`"), "{error}");
    stopped(go_on(&session));
    assert_eq!(at(&capture(&session, 1), "back").text, "True");
}
