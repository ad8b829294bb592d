//! Random programs in JavaScript.

use super::super::subject::Subject;
use super::{Dice, Made, body, changes_of, judge, seeds, variables};

const HEAD: &str = "class Held { #hidden; constructor(held) { this.#hidden = held; this.open = 1; } get inner() { return this.#hidden; } }
class Listed extends Array {}
const tag = Symbol('tag');
const listed = () => { const made = Listed.from([1, 2]); made.extra = 1; return made; };
const bare = (fields) => Object.assign(Object.create(null), fields);
const stop = (...all) => all;
const counter = () => { let count = 0; return () => ++count; };
";

fn leaf(dice: &mut Dice) -> Made {
    let choices = [
        Made::new("", "[0]", &["@[0] = 1", "@.push(4)"]),
        Made::new("", "new Array(60).fill(1)", &["@[33] = 1.5", "@[33] = 'x'"]),
        Made::new("", "['x'.repeat(900)]", &["@[0] = 'x'.repeat(899) + 'y'"]),
        Made::new("", "new Float64Array(300)", &["@[200] = 7"]),
        Made::new("", "new ArrayBuffer(200)", &["new Uint8Array(@)[150] = 7"]),
        Made::new("", "new Set([1, 2])", &["@.add(9)", "@.delete(1)"]),
        Made::new("", "new Map([['a', 1]])", &["@.set('a', 2)", "@.set('b', 1)"]),
        Made::new("", "new Map(Array.from({ length: 200 }, (_, n) => [n, n]))", &["@.set(150, 'x')"]),
        Made::new("", "[new Date(5)]", &["@[0].setTime(6)"]),
        Made::new("", "({ [tag]: 1 })", &["@[tag] = 2"]),
        Made::new("", "listed()", &["@.extra = 2", "@[1] = 5"]),
        Made::new("", "bare({ a: 1 })", &["@.a = -0", "@.a = 12n"]),
        Made::new("", "({ f: () => 1 })", &["@.f = () => 2"]),
        Made::new("", "({ f: counter() })", &["@.f()"]),
        Made::new("", "[counter()]", &["@[0]()"]),
        Made::new("", "({ f: function () { return this.n++; }.bind({ n: 1 }) })", &["@.f()"]),
        Made::new("", "[10n ** 500n]", &["@[0] += 1n"]),
        Made::new("", "new Error('bad')", &["@.message = 'worse'", "@.cause = 1"]),
        Made::new("", "Object.assign(() => 1, { note: 1 })", &["@.note = 2"]),
        Made::new("", "[/a/g]", &["@[0].lastIndex = 3"]),
        Made::new("", "[Object(5)]", &["@[0] = Object(6)"]),
        Made::new("", "Array.from({ length: 50 }, (_, n) => ({ n }))", &["@[25].n = -1"]),
    ];
    dice.of(&choices).clone()
}

fn make(dice: &mut Dice, depth: u32) -> Made {
    if depth <= 1 {
        return leaf(dice);
    }
    let inner = make(dice, depth - 1);
    let of = |text: String, access: &str| Made::new("", text, &[]).holding(&inner, access);
    let it = &inner.expression;
    match dice.roll(9) {
        0 => of(format!("[0, {it}]"), "@[1]"),
        1 => of(format!("[...new Array(20).fill(0), {it}, ...new Array(20).fill(0)]"), "@[20]"),
        2 => of(format!("({{ a: 1, b: {it} }})"), "@.b"),
        3 => of(format!("new Map([['k', {it}], [2, 3]])"), "@.get('k')"),
        4 => of(format!("new Set([{it}])"), "[...@][0]"),
        5 => of(format!("new Held({it})"), "@.inner"),
        6 => of(format!("bare({{ x: {it} }})"), "@.x"),
        7 => of(format!("Object.assign([1], {{ beside: {it} }})"), "@.beside"),
        _ => of(format!("Object.assign(new Map(), {{ beside: {it} }})"), "@.beside"),
    }
}

#[test]
fn whatever_changes_is_told_or_counted() {
    for seed in seeds(5) {
        let all = variables(&mut Dice::new(seed + 200), make);
        let names: Vec<String> = (0..all.len()).map(|at| format!("v{at}")).collect();
        let stop = |at| format!("stop({}); // S{at}", names.join(", "));
        let lines = body(&all, |at, made| format!("const v{at} = {};", made.expression), stop);
        // A line that begins with a bracket goes on the one before.
        let lines: String = lines.lines().map(|line| format!("  ;{line}\n")).collect();
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("law.js");
        std::fs::write(&source, format!("{HEAD}function main() {{\n{lines}}}\nmain();\n")).unwrap();
        let subject = Subject { program: source.clone(), source, runtime: None, rust_sysroot: None };
        judge(&subject, seed, &changes_of(&all));
    }
}

#[test]
fn what_a_function_of_another_keeps_is_not_taken_for_unchanged_in_a_module_either() {
    let lines = "const counter = () => {
  let count = 0;
  return function next() { return ++count; };
};
function declared() { return 1; }
const arrow = (one) => one;
const v0 = counter();
stop(v0, declared, arrow); // S0
v0();
stop(v0, declared, arrow); // S1
";
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("law.js");
    std::fs::write(&source, format!("function stop(...all) {{ return all; }}\n{lines}")).unwrap();
    let subject = Subject { program: source.clone(), source, runtime: None, rust_sysroot: None };
    let diff = judge(&subject, 0, &["v0()".to_owned()]);
    // What the module itself declares keeps nothing but what is told.
    assert_eq!(diff.not_compared, ["v0"], "{diff:#?}");
}
