//! What V8 runs of a program to describe a value that it hands out: no look makes it hand one out. And what expressions that
//! only look can be made of.

use backsight_debug::session::{EvaluateRequest, Session, VariablesRequest};
use backsight_debug::walk::CapturePlan;

use super::subject::{Subject, go_on, installed, stopped};

/// Everything that is run to describe a value counts its calls.
const PROGRAM: &str = r"
const ran = [], log = console.log;
let counting = false;
const count = (name) => { if (counting) ran[ran.length] = name; };
const traps = { get(of, key) { count('get ' + String(key)); return Reflect.get(of, key); }, has(of, key) { count('has ' + String(key)); return false; },
  ownKeys(of) { count('ownKeys'); return []; }, getOwnPropertyDescriptor() { count('descriptor'); }, getPrototypeOf() { count('prototype'); return null; } };
Error.prepareStackTrace = (error, sites) => { count('prepareStackTrace'); return 'a trace'; };
const plain = new Error('plain'), trapped = new Error('trapped');
Object.defineProperty(trapped, 'stack', { get() { count('stack'); return ''; } });
class Named extends Error { get name() { count('name'); return 'Named'; } get message() { count('message'); return 'm'; } }
const named = new Named('x'), odd = Object.setPrototypeOf(new Error('odd'), new Proxy(Error.prototype, traps));
const behind = Object.create(new Proxy({}, traps)), traced = {}, proxied = new Proxy([1, 2], traps);
Error.captureStackTrace(traced);
const counted = { get total() { count('total'); return 1; }, valueOf() { count('valueOf'); return 1; }, toString() { count('toString'); return ''; },
  [Symbol.toPrimitive]() { count('toPrimitive'); return 1; } };
class Judge { static [Symbol.hasInstance]() { count('hasInstance'); return true; } }
class Odd extends Map { get(key) { count('Map.get'); return 1; } get size() { count('Map.size'); return 1; } }
const own = new Odd([['a', 1]]), patched = new Map([['a', 1]]);
patched.get = () => count('own get');
const prices = new Map([['ink', 3]]), list = [1, 2, 3], text = 'hello', tags = new Set(['x']), bytes = new Uint8Array(4), huge = 10n ** 40n;
globalThis.leftError = trapped;
globalThis.leftPlain = plain;
globalThis.leftObject = behind;
Object.defineProperty(globalThis, 'computed', { get() { count('global'); return 1; }, configurable: true });
class Point { #hidden = 7; constructor() { this.x = 1; } look() {
  counting = true;
  debugger; // HERE
  counting = false;
  // Only what a function uses is kept for it.
  return [this.#hidden, plain, trapped, named, odd, behind, traced, proxied, counted, Judge, own, patched, prices, list, text, tags, bytes, huge, run];
} }
function run() { return new Point().look(); }
run();
let said = '';
for (let at = 0; at < ran.length; at++) said += ' ' + ran[at];
log('ran [' + said + ']');
";

fn program() -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("described.js");
    std::fs::write(&source, PROGRAM).unwrap();
    let subject = Subject { program: source.clone(), source, runtime: Some(installed(&["node"])), rust_sysroot: None };
    let (session, outcome) = subject.launch(vec![subject.at("HERE")]);
    stopped(outcome);
    (folder, session)
}

/// The value, or why there is none.
fn evaluate(session: &Session, expression: &str, safe: bool) -> Result<String, String> {
    let expression = expression.to_owned();
    let asked = session.evaluate(EvaluateRequest { expression, thread: None, frame: 0, safe, timeout_ms: None });
    asked.map(|view| view.value).map_err(|error| error.message().to_owned())
}

fn look_at_everything(session: &Session) {
    let expressions = [
        "plain",
        "trapped",
        "named",
        "odd",
        "behind",
        "traced",
        "proxied",
        "proxied.length",
        "proxied.includes(1)",
        "counted",
        "leftError",
        "leftPlain",
        "leftObject",
        "nosuch",
        "null.x",
        "undefined[0]",
        "1n + 1",
        "plain.stack",
        "traced.stack",
        "trapped.stack",
        "named.name",
        "named.message",
        "odd.name",
        "odd.stack",
        "behind.splice",
        "'a' in behind",
        "behind instanceof Object",
        "plain instanceof Judge",
        "plain instanceof Error",
        "counted.total",
        "counted + 1",
        "-counted",
        "`${counted}`",
        "counted == 1",
        "counted < 1",
        "list[counted]",
        "[plain, behind]",
        "computed",
        "own.get('a')",
        "own.size",
        "patched.get('a')",
        "Object.keys(behind)",
        "behind.hasOwnProperty('a')",
        "globalThis.leftError",
        "this",
        "counted.toString()",
    ];
    for expression in expressions {
        let _ = evaluate(session, expression, true);
        let expand = VariablesRequest { expand: Some(expression.to_owned()), ..VariablesRequest::default() };
        let _ = session.variables(expand);
    }
    let watches = expressions.iter().map(|expression| (*expression).to_owned()).collect();
    session.capture(CapturePlan { watches, depth: 3, ..CapturePlan::default() }).unwrap();
    let page = session.variables(VariablesRequest::default()).unwrap();
    assert!(page.scopes.contains(&"Global".to_owned()), "{:?}", page.scopes);
    for scope in page.scopes {
        let request = VariablesRequest { scope: Some(scope.clone()), count: 1000, ..VariablesRequest::default() };
        let page = session.variables(request).unwrap_or_else(|error| panic!("{scope}: {error}"));
        if scope == "Global" {
            let there = |name: &str| page.variables.iter().any(|one| one.name == name);
            assert!(there("leftError") && there("leftObject") && there("computed"), "{page:#?}");
        }
    }
}

#[test]
fn nothing_of_the_program_runs_to_describe_a_value() {
    let (_folder, session) = program();
    look_at_everything(&session);
    // From now on what V8 told at the pause is not what is there.
    assert_eq!(evaluate(&session, "1 + 1", false).unwrap(), "2");
    look_at_everything(&session);
    go_on(&session);
    let printed: String = session.output(0, 1 << 20).pieces.into_iter().map(|piece| piece.text).collect();
    assert!(printed.contains("ran []"), "{printed}");
}

#[test]
fn expressions_that_only_look() {
    let (_folder, session) = program();
    let answered = [
        ("this.x + 1", "2"),
        ("this.#hidden", "7"),
        ("this['x'] === 1 && list.length > 2", "true"),
        ("list[0] + list[list.length - 1] * 2", "7"),
        ("list.at(-1)", "3"),
        ("list.includes(2)", "true"),
        ("list.indexOf(9)", "-1"),
        ("list.slice(1).length", "2"),
        ("prices.get('ink')", "3"),
        ("prices.size", "1"),
        ("prices.has('paper') ? 1 : 2", "2"),
        ("tags.has('x')", "true"),
        ("bytes.length", "4"),
        ("text.length", "5"),
        ("text[1]", "\"e\""),
        ("text.toUpperCase().startsWith('HE')", "true"),
        ("`${text} ${1 + 1}`", "\"hello 2\""),
        ("huge + 1n", "10000000000000000000000000000000000000001n"),
        ("2 ** 10 % 7", "2"),
        ("typeof nosuch", "\"undefined\""),
        ("typeof list", "\"object\""),
        ("list instanceof Array", "true"),
        ("named instanceof Error", "true"),
        ("'x' in this", "true"),
        ("null ?? undefined?.a.b ?? 'none'", "\"none\""),
        ("!list || void 0", "undefined"),
        ("plain.message", "\"plain\""),
        ("Object.keys(this).length", "1"),
        ("Array.isArray(list)", "true"),
        ("process.argv.length >= 2", "true"),
        ("globalThis === globalThis.globalThis", "true"),
        ("{ a: 1, list }.list[1]", "2"),
        ("list == list", "true"),
        ("null == undefined", "true"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("-0", "-0"),
        ("NaN", "NaN"),
        ("'\\ud800x'.length", "2"),
    ];
    for touched in [false, true] {
        for (expression, value) in answered {
            assert_eq!(evaluate(&session, expression, true).as_deref(), Ok(value), "{expression}, touched {touched}");
        }
        assert_eq!(evaluate(&session, "list.push(3), list.pop(), 5", false).as_deref(), Ok("5"));
    }
    let refused = [
        ("this.look()", "may run code"),
        ("own.get('a')", "may run code"),
        ("patched.get('a')", "may run code"),
        ("counted.total", "computed by code"),
        ("computed", "computed by code"),
        ("own.size", "computed by code"),
        ("plain.stack", "computed by code"),
        ("counted + 1", "converted by code"),
        ("behind.a", "proxy"),
        ("plain instanceof Judge", "computed by code"),
        ("list.map(x => x)", "a function is code"),
        ("list.sort()", "may run code"),
        ("run()", "a call runs code"),
        ("new Point()", "`new` runs code"),
        ("list = 1", "change the program"),
        ("nosuch", "ReferenceError"),
        ("null.x", "TypeError"),
        ("1n + 1", "TypeError"),
        ("list[", "ends too early"),
    ];
    for (expression, why) in refused {
        let told = evaluate(&session, expression, true).unwrap_err();
        assert!(told.contains(why), "`{expression}`: {told}");
    }
}
