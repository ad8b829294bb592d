//! Random programs in Rust.

use super::super::native::{compiled, sysroot};
use super::super::subject::Subject;
use super::{Dice, Made, body, changes_of, judge, seeds, variables};

const HEAD: &str = "#![allow(dead_code, unused)]
use std::cell::{Cell, RefCell};
use std::collections::*;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
trait Animal { fn age(&mut self) -> &mut u32; }
struct Dog { name: String, age: u32 }
impl Animal for Dog { fn age(&mut self) -> &mut u32 { &mut self.age } }
#[derive(Clone)]
enum Shape { Unit, Pair(i32, String), Named { a: f64, b: Vec<u8> } }
struct Node { value: i32, next: Option<Box<Node>> }
fn chain(length: i32) -> Option<Box<Node>> { if length == 0 { None } else { Some(Box::new(Node { value: length, next: chain(length - 1) })) } }
#[inline(never)]
fn stop() {}
";

fn leaf(dice: &mut Dice) -> Made {
    let choices = [
        Made::new("i32", "5", &["@ = 6;"]),
        Made::new("String", "String::from(\"short\")", &["@.push('x');"]),
        Made::new("String", "\"y\".repeat(2000)", &["@.replace_range(1500..1501, \"x\");"]),
        Made::new("Vec<u64>", "vec![0u64; 100]", &["@[70] = 1;", "@.push(3);"]),
        Made::new("VecDeque<i32>", "(0..60).collect::<VecDeque<i32>>()", &["@[40] = -1;", "@.rotate_left(1);"]),
        Made::new(
            "BTreeMap<i32, String>",
            "(0..100).map(|n| (n, n.to_string())).collect::<BTreeMap<i32, String>>()",
            &["@.insert(50, String::new());"],
        ),
        Made::new("BTreeSet<u8>", "(0..40).collect::<BTreeSet<u8>>()", &["@.remove(&20);"]),
        Made::new(
            "HashMap<String, i32>",
            "(0..60).map(|n| (n.to_string(), n)).collect::<HashMap<String, i32>>()",
            &["*@.get_mut(\"40\").unwrap() = -1;"],
        ),
        Made::new("HashSet<i32>", "(0..60).collect::<HashSet<i32>>()", &["@.remove(&20);"]),
        Made::new(
            "Box<dyn Animal>",
            "Box::new(Dog { name: String::from(\"rex\"), age: 3 }) as Box<dyn Animal>",
            &["*@.age() = 4;"],
        ),
        Made::new("Box<[i32]>", "vec![1; 30].into_boxed_slice()", &["@[20] = 2;"]),
        Made::new(
            "Shape",
            "Shape::Pair(1, String::from(\"p\"))",
            &["@ = Shape::Unit;", "@ = Shape::Pair(1, String::from(\"q\"));"],
        ),
        Made::new(
            "Shape",
            "Shape::Named { a: 1.5, b: vec![1] }",
            &["if let Shape::Named { b, .. } = &mut @ { b[0] = 2 }"],
        ),
        Made::new(
            "Option<Box<Node>>",
            "chain(5)",
            &["@.as_mut().unwrap().next.as_mut().unwrap().next.as_mut().unwrap().value = 77;"],
        ),
        Made::new("LinkedList<i32>", "(0..9).collect::<LinkedList<i32>>()", &["*@.back_mut().unwrap() = 77;"]),
        Made::new("BinaryHeap<i32>", "BinaryHeap::from(vec![1, 2])", &["@.push(9);"]),
        Made::new(
            "Option<(u64, String)>",
            "Some((1, String::from(\"a\")))",
            &["@ = None;", "@.as_mut().unwrap().1.push('b');"],
        ),
        Made::new(
            "Result<Vec<i32>, String>",
            "Ok(vec![1])",
            &["@ = Err(String::from(\"e\"));", "@.as_mut().unwrap()[0] = 2;"],
        ),
        Made::new("Rc<Cell<i32>>", "Rc::new(Cell::new(1))", &["@.set(2);"]),
        Made::new("Arc<Mutex<Vec<i32>>>", "Arc::new(Mutex::new(vec![1]))", &["@.lock().unwrap()[0] = 2;"]),
        Made::new("Option<char>", "Some('a')", &["@ = Some('b');", "@ = None;"]),
    ];
    dice.of(&choices).clone()
}

fn make(dice: &mut Dice, depth: u32) -> Made {
    if depth <= 1 {
        return leaf(dice);
    }
    let inner = make(dice, depth - 1);
    let (kind, it) = (&inner.kind, &inner.expression);
    let of = |kind: String, text: String, access: &str| Made::new(kind, text, &[]).holding(&inner, access);
    match dice.roll(9) {
        0 => of(format!("Vec<{kind}>"), format!("vec![{it}, {it}]"), "@[1]"),
        1 => of(
            format!("BTreeMap<i32, {kind}>"),
            format!("BTreeMap::from([(1, {it}), (2, {it})])"),
            "(*@.get_mut(&2).unwrap())",
        ),
        2 => of(
            format!("HashMap<String, {kind}>"),
            format!("HashMap::from([(String::from(\"k\"), {it})])"),
            "(*@.get_mut(\"k\").unwrap())",
        ),
        3 => of(format!("Option<{kind}>"), format!("Some({it})"), "(*@.as_mut().unwrap())"),
        4 => of(format!("Box<{kind}>"), format!("Box::new({it})"), "(*@)"),
        5 => of(format!("Rc<RefCell<{kind}>>"), format!("Rc::new(RefCell::new({it}))"), "(*@.borrow_mut())"),
        6 => of(format!("(u8, {kind})"), format!("(1u8, {it})"), "@.1"),
        7 => of(format!("VecDeque<{kind}>"), format!("VecDeque::from(vec![{it}, {it}])"), "@[1]"),
        _ => of(format!("[{kind}; 2]"), format!("[{it}, {it}]"), "@[1]"),
    }
}

#[test]
fn whatever_changes_is_told_or_counted() {
    for seed in seeds(1) {
        let all = variables(&mut Dice::new(seed + 500), make);
        let lines = body(
            &all,
            |at, made| format!("let mut v{at}: {} = {};", made.kind, made.expression),
            |at| format!("stop(); // S{at}"),
        );
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("law.rs");
        std::fs::write(&source, format!("{HEAD}fn main() {{\n{lines}\n}}\n")).unwrap();
        let subject = compiled(source, folder.path(), "rustc", &["-g", "--edition", "2024"]);
        judge(&Subject { rust_sysroot: sysroot(), ..subject }, seed, &changes_of(&all));
    }
}
