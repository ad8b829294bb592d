//! One value of each kind that a language has and people use, each changed once: what the random programs do not make.

use super::super::go;
use super::super::native::{compiled, sysroot};
use super::super::subject::Subject;
use super::super::subject::installed;
use super::{Made, body, changes_of, judge};

/// What makes a value, its type where the language wants one, and what changes it.
type Kind = (&'static str, &'static str, &'static str);

fn all(kinds: &[Kind]) -> Vec<(Made, String)> {
    let numbered = kinds.iter().enumerate();
    numbered
        .map(|(at, (kind, made, change))| (Made::new(*kind, *made, &[]), change.replace('@', &format!("v{at}"))))
        .collect()
}

fn names(count: usize) -> String {
    (0..count).map(|at| format!("v{at}")).collect::<Vec<String>>().join(", ")
}

const PYTHON: &[Kind] = &[
    ("", "Slotted(1, [2])", "@.right.append(3)"),
    ("", "decimal.Decimal('1.10')", "@ = decimal.Decimal('1.11')"),
    ("", "[datetime.datetime(2020, 1, 1)]", "@[0] = datetime.datetime(2020, 1, 2)"),
    ("", "array.array('d', range(100))", "@[60] = -1.0"),
    ("", "memoryview(bytearray(100))", "@[60] = 1"),
    ("", "counted()", "next(@)"),
    ("", "itertools.count(5)", "next(@)"),
    ("", "itertools.chain([1, 2], [3])", "next(@)"),
    ("", "zip([1, 2], [3, 4])", "next(@)"),
    ("", "map(str, [1, 2])", "next(@)"),
    ("", "enumerate(['a', 'b'])", "next(@)"),
    ("", "collections.Counter('aab')", "@['b'] += 1"),
    ("", "collections.ChainMap({'a': 1}, {'b': 2})", "@.maps[1]['b'] = 3"),
    ("", "types.SimpleNamespace(a=[1])", "@.a[0] = 2"),
    ("", "Keeper([1])", "@().append(2)"),
    ("", "random.Random(1)", "@.random()"),
    ("", "io.StringIO('abc')", "@.read(1)"),
    ("", "io.BytesIO(b'abc')", "@.write(b'z')"),
    ("", "hashlib.sha256(b'a')", "@.update(b'b')"),
    ("", "zlib.compressobj()", "@.compress(b'b')"),
    ("", "threading.Lock()", "@.acquire()"),
    ("", "threading.Event()", "@.set()"),
    ("", "queue.Queue()", "@.put(1)"),
    ("", "functools.lru_cache(maxsize=None)(lambda one: one)", "@(5)"),
    ("", "functools.partial(print, [1])", "@.args[0].append(2)"),
    ("", "weakref.WeakValueDictionary({'k': KEPT})", "@['j'] = KEPT"),
    ("", "Colour.RED", "@.note = 'seen'"),
    ("", "ctypes_pair(1, 2)", "@.right = 3"),
    ("", "(ctypes.c_int * 40)()", "@[30] = 1"),
    ("", "xml.etree.ElementTree.fromstring('<a><b c=\"1\"/></a>')", "@[0].set('c', '2')"),
    ("", "fractions.Fraction(1, 3)", "@ = fractions.Fraction(2, 3)"),
    ("", "[uuid.UUID(int=1)]", "@[0] = uuid.UUID(int=2)"),
    ("", "contextvars.ContextVar('one')", "@.set(1)"),
    ("", "sqlite3.connect(':memory:')", "@.execute('create table t (x)')"),
    ("", "struct.iter_unpack('b', b'abc')", "next(@)"),
    ("", "re.finditer('a', 'aa')", "next(@)"),
    ("", "Descriptors()", "@.held = 5"),
    ("", "asyncio_task()", "@.send(None)"),
    ("", "collections.OrderedDict(a=1, b=2)", "@.move_to_end('a')"),
    ("", "{1: {2: {3: {4: {5: [6]}}}}}", "@[1][2][3][4][5][0] = 7"),
    ("", "frozenset([Hashed([1])])", "next(iter(@)).inner.append(2)"),
    ("", "attr_made(1)", "@.one = 2"),
    ("", "ExceptionGroup('g', [ValueError([1])])", "@.exceptions[0].args[0].append(2)"),
    ("", "[range(5)]", "@[0] = range(6)"),
    ("", "Called([1])", "@(2)"),
    ("", "type('Made', (), {'shared': [1]})", "@.shared.append(2)"),
];

const PYTHON_HEAD: &str = "import array, asyncio, attr, collections, contextvars, ctypes, dataclasses, datetime, decimal, enum, fractions, functools
import hashlib, io, itertools, queue, random, re, sqlite3, struct, threading, types, uuid, weakref, xml.etree.ElementTree, zlib
@dataclasses.dataclass(slots=True)
class Slotted:
    left: int
    right: list
def counted():
    total = 0
    while True:
        total += 1
        yield total
async def waits():
    for at in range(9):
        await asyncio.sleep(0)
def asyncio_task():
    return waits()
class Keeper:
    def __init__(self, kept): self.__kept = kept
    def __call__(self): return self.__kept
class Kept: pass
KEPT = Kept()
class Colour(enum.Flag):
    RED = 1
    BLUE = 2
class ctypes_pair(ctypes.Structure):
    _fields_ = [('left', ctypes.c_int), ('right', ctypes.c_int)]
class Typed:
    def __set_name__(self, owner, name): self.name = '_' + name
    def __get__(self, one, owner): return getattr(one, self.name, 0) if one else self
    def __set__(self, one, value): setattr(one, self.name, value)
class Descriptors:
    held = Typed()
class Hashed:
    def __init__(self, inner): self.inner = inner
    def __hash__(self): return 1
    def __eq__(self, other): return self is other
@attr.s(slots=True)
class attr_made:
    one = attr.ib()
class Called:
    def __init__(self, inner): self.inner = inner
    def __call__(self, one): self.inner.append(one)
def stop(*all): pass
";

#[test]
fn python() {
    let all = all(PYTHON);
    let stop = |at| format!("stop({})  # S{at}", names(all.len()));
    let lines = body(&all, |at, made| format!("v{at} = {}", made.expression), stop);
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("law.py");
    std::fs::write(&source, format!("{PYTHON_HEAD}def main():\n{lines}main()\n")).unwrap();
    let runtime = Some(super::super::python::python());
    let subject = Subject { program: source.clone(), source, runtime, rust_sysroot: None };
    judge(&subject, 0, &changes_of(&all));
}

const JAVASCRIPT: &[Kind] = &[
    ("", "new Proxy({ a: 1 }, {})", "@.a = 2"),
    ("", "new WeakMap([[KEPT, 1]])", "@.set(KEPT, 2)"),
    ("", "new WeakSet()", "@.add(KEPT)"),
    ("", "new Hidden([1])", "@.add(2)"),
    ("", "({ [Symbol.for('x')]: [1] })", "@[Symbol.for('x')].push(2)"),
    ("", "new Uint16Array(300)", "@[250] = 1"),
    ("", "new BigInt64Array(20)", "@[15] = 1n"),
    ("", "new DataView(new ArrayBuffer(64))", "@.setFloat64(40, 1.5)"),
    ("", "new SharedArrayBuffer(64)", "new Uint8Array(@)[40] = 1"),
    ("", "Buffer.from('hello world')", "@[4] = 65"),
    ("", "counted()", "@.next()"),
    ("", "[1, 2, 3][Symbol.iterator]()", "@.next()"),
    ("", "new Map([[{ k: 1 }, { v: 1 }]])", "[...@.keys()][0].k = 2"),
    ("", "new URL('http://a/b')", "@.pathname = '/c'"),
    ("", "new URLSearchParams('a=1')", "@.set('a', '2')"),
    ("", "new EventEmitter()", "@.on('x', () => 1)"),
    ("", "new AbortController()", "@.abort()"),
    ("", "crypto.createHash('sha256')", "@.update('x')"),
    ("", "(function () { return arguments; })(1, 2)", "@[0] = 5"),
    ("", "/a/g", "@.exec('aa')"),
    ("", "new Error('x', { cause: [1] })", "@.cause.push(2)"),
    ("", "Object.defineProperty({}, 'hidden', { value: [1], enumerable: false })", "@.hidden.push(2)"),
    ("", "({ get computed() { return 1; }, own: 1 })", "@.own = 2"),
    ("", "class { static held = [1]; }", "@.held.push(2)"),
    ("", "Object.freeze([{ a: 1 }])", "@[0].a = 2"),
    ("", "[, 1, , 2]", "@[0] = undefined"),
    ("", "[undefined]", "@[0] = null"),
    ("", "[NaN]", "@[0] = 0"),
    ("", "new Child()", "@.inner.push(2)"),
    ("", "Object.create({ inherited: [1] })", "Object.getPrototypeOf(@).inherited.push(2)"),
    ("", "new Intl.NumberFormat('en')", "@.extra = 1"),
    ("", "new TextDecoder()", "@.extra = 1"),
    ("", "deferred()", "@.resolve(1)"),
    ("", "[new Date(NaN)]", "@[0].setTime(1)"),
    ("", "new (class extends Map { more = [1]; })()", "@.more.push(2)"),
    ("", "Array.from({ length: 5000 }, (_, n) => n)", "@[4321] = -1"),
    ("", "({ a: { b: { c: { d: { e: { f: [1] } } } } } })", "@.a.b.c.d.e.f[0] = 2"),
    ("", "new Set([{ a: 1 }])", "[...@][0].a = 2"),
    ("", "[Symbol('a')]", "@[0] = Symbol('a')"),
    ("", "new Float32Array([NaN, 1])", "@[1] = 2"),
];

const JAVASCRIPT_HEAD: &str = "const EventEmitter = require('events'), crypto = require('crypto');
const KEPT = {};
class Hidden { #list; constructor(list) { this.#list = list; } add(one) { this.#list.push(one); } }
class Parent { inner = [1]; }
class Child extends Parent { #own = 1; }
function* counted() { let total = 0; while (true) yield ++total; }
const deferred = () => { let resolve; const promise = new Promise((one) => { resolve = one; }); return { promise, resolve }; };
function stop(...all) { return all; }
";

#[test]
fn javascript() {
    let all = all(JAVASCRIPT);
    let stop = |at| format!("stop({}); // S{at}", names(all.len()));
    let lines = body(&all, |at, made| format!("const v{at} = {};", made.expression), stop);
    let lines: String = lines.lines().map(|line| format!("  ;{line}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("law.js");
    std::fs::write(&source, format!("{JAVASCRIPT_HEAD}function main() {{\n{lines}}}\nmain();\n")).unwrap();
    let runtime = Some(installed(&["node"]));
    let subject = Subject { program: source.clone(), source, runtime, rust_sysroot: None };
    judge(&subject, 0, &changes_of(&all));
}

const GO: &[Kind] = &[
    ("chan int", "make(chan int, 4)", "@ <- 1"),
    ("map[string]map[string][]int", "map[string]map[string][]int{\"a\": {\"b\": {1}}}", "@[\"a\"][\"b\"][0] = 2"),
    ("interface{}", "&held{inner: []int{1}}", "@.(*held).inner[0] = 2"),
    ("pair[string]", "pair[string]{\"a\", \"b\"}", "@.right = \"c\""),
    ("outer", "outer{held: held{inner: []int{1}}}", "@.inner[0] = 2"),
    ("func() int", "counter()", "@()"),
    ("*sync.Mutex", "&sync.Mutex{}", "@.Lock()"),
    ("*sync.Map", "&sync.Map{}", "@.Store(1, 2)"),
    ("*bytes.Buffer", "bytes.NewBufferString(\"abc\")", "@.ReadByte()"),
    ("*strings.Builder", "&strings.Builder{}", "@.WriteString(\"x\")"),
    ("time.Time", "time.Unix(1, 0)", "@ = time.Unix(2, 0)"),
    ("*big.Int", "new(big.Int).Exp(big.NewInt(10), big.NewInt(500), nil)", "@.Add(@, big.NewInt(1))"),
    ("*list.List", "list.New()", "@.PushBack(1)"),
    ("[200]int", "[200]int{}", "@[150] = 1"),
    ("**held", "pointer(&held{inner: []int{1}})", "(*@).inner[0] = 2"),
    ("[][]string", "[][]string{{\"a\"}, {\"b\"}}", "@[1][0] = \"c\""),
    ("map[int]*held", "map[int]*held{1: {inner: []int{1}}}", "@[1].inner[0] = 2"),
    ("*int64", "new(int64)", "atomic.AddInt64(@, 1)"),
    ("complex128", "complex(1, 2)", "@ = complex(1, 3)"),
    ("string", "strings.Repeat(\"x\", 3000)", "@ = strings.Repeat(\"x\", 2999) + \"y\""),
    ("[]byte", "make([]byte, 3000)", "@[2500] = 1"),
    ("struct{ a, b int }", "struct{ a, b int }{1, 2}", "@.b = 3"),
    ("error", "fmt.Errorf(\"a: %w\", &held{inner: []int{1}})", "errors.Unwrap(@).(*held).inner[0] = 2"),
    ("[]interface{}", "[]interface{}{1, \"a\", nil}", "@[2] = 3.5"),
    ("map[interface{}]int", "map[interface{}]int{\"a\": 1, 2: 3}", "@[2] = 4"),
    ("*bufio.Reader", "bufio.NewReader(strings.NewReader(\"hello\"))", "@.ReadByte()"),
    ("map[string]int", "large()", "@[\"k150\"] = -1"),
    ("*node", "chained(40)", "@.next.next.next.next.next.next.next.value = -1"),
    ("uintptr", "uintptr(5)", "@ = 6"),
    ("[]*held", "[]*held{{inner: []int{1}}, nil}", "@[1] = &held{}"),
    ("func()", "keeping()", "@()"),
    ("handler", "handler(keeping())", "@()"),
    ("func(int)", "(&held{inner: []int{1}}).put", "@(2)"),
    ("unsafe.Pointer", "unsafe.Pointer(&held{inner: []int{1}})", "(*held)(@).inner[0] = 2"),
    ("reflect.Value", "reflect.ValueOf(&node{value: 1}).Elem()", "*(*int)(unsafe.Pointer(@.UnsafeAddr())) = 2"),
    ("*atomic.Value", "&atomic.Value{}", "@.Store([]int{1})"),
    (
        "context.Context",
        "context.WithValue(context.Background(), 1, &held{inner: []int{1}})",
        "@.Value(1).(*held).inner[0] = 2",
    ),
    ("map[pair[int]]*held", "map[pair[int]]*held{{1, 2}: {inner: []int{1}}}", "@[pair[int]{1, 2}].inner[0] = 2"),
    ("*ring.Ring", "ring.New(3)", "@.Next().Value = 5"),
];

const GO_HEAD: &str = "package main

import (
	\"bufio\"
	\"bytes\"
	\"container/list\"
	\"container/ring\"
	\"context\"
	\"errors\"
	\"fmt\"
	\"math/big\"
	\"reflect\"
	\"strings\"
	\"sync\"
	\"sync/atomic\"
	\"time\"
	\"unsafe\"
)

type handler func()
type held struct{ inner []int }

func (h *held) Error() string { return \"held\" }

type outer struct {
	held
	more int
}
type pair[T any] struct{ left, right T }
type node struct {
	value int
	next  *node
}

func (h *held) put(one int) { h.inner[0] = one }
func keeping() func() { kept := &held{inner: []int{1}}; return func() { kept.inner[0]++ } }
func counter() func() int { count := 0; return func() int { count++; return count } }
func pointer(one *held) **held { return &one }
func chained(length int) *node {
	if length == 0 {
		return nil
	}
	return &node{length, chained(length - 1)}
}
func large() map[string]int {
	made := map[string]int{}
	for at := 0; at < 200; at++ {
		made[fmt.Sprintf(\"k%d\", at)] = at
	}
	return made
}
func stop(all ...interface{}) { _ = errors.New }

";

#[test]
fn go() {
    let all = all(GO);
    let stop = |at| format!("stop({}) // S{at}", names(all.len()));
    let lines = body(&all, |at, made| format!("var v{at} {} = {}", made.kind, made.expression), stop);
    let lines: String = lines.lines().map(|line| format!("\t{line}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("law.go");
    std::fs::write(&source, format!("{GO_HEAD}func main() {{\n{lines}}}\n")).unwrap();
    judge(&go::built(source, folder.path()), 2, &changes_of(&all));
}

const RUST: &[Kind] = &[
    ("Rc<RefCell<Vec<i32>>>", "Rc::new(RefCell::new(vec![1]))", "@.borrow_mut().push(2);"),
    ("Cell<i32>", "Cell::new(1)", "@.set(2);"),
    (
        "RefCell<HashMap<String, Vec<i32>>>",
        "RefCell::new(HashMap::from([(\"k\".to_string(), vec![1])]))",
        "@.borrow_mut().get_mut(\"k\").unwrap()[0] = 2;",
    ),
    ("Arc<Mutex<Vec<String>>>", "Arc::new(Mutex::new(vec![\"a\".to_string()]))", "@.lock().unwrap()[0].push('b');"),
    ("std::sync::RwLock<i32>", "std::sync::RwLock::new(1)", "*@.write().unwrap() = 2;"),
    (
        "std::sync::atomic::AtomicU64",
        "std::sync::atomic::AtomicU64::new(1)",
        "@.store(2, std::sync::atomic::Ordering::SeqCst);",
    ),
    (
        "Option<Box<Shape>>",
        "Some(Box::new(Shape::Named { a: 1.0, b: vec![1] }))",
        "if let Some(one) = &mut @ { **one = Shape::Unit }",
    ),
    ("Result<String, i32>", "Ok(\"a\".to_string())", "@ = Err(1);"),
    (
        "std::borrow::Cow<'static, str>",
        "std::borrow::Cow::Borrowed(\"a\")",
        "@ = std::borrow::Cow::Owned(\"a\".to_string());",
    ),
    ("std::path::PathBuf", "std::path::PathBuf::from(\"/a\")", "@.push(\"b\");"),
    ("std::time::Duration", "std::time::Duration::from_secs(1)", "@ += std::time::Duration::from_nanos(1);"),
    ("LinkedList<i32>", "LinkedList::from([1, 2, 3])", "*@.back_mut().unwrap() = 9;"),
    ("BinaryHeap<i32>", "BinaryHeap::from([1, 2, 3])", "@.push(9);"),
    ("[u8; 300]", "[0; 300]", "@[250] = 1;"),
    ("char", "'a'", "@ = 'b';"),
    ("i128", "1", "@ <<= 100;"),
    ("(i32, (String, [f32; 2]))", "(1, (\"a\".to_string(), [1.0, 2.0]))", "@.1.1[1] = 3.0;"),
    ("std::vec::IntoIter<i32>", "vec![1, 2, 3].into_iter()", "@.next();"),
    ("Box<dyn Fn(i32) -> i32>", "adder(1)", "@ = adder(2);"),
    ("Vec<Box<dyn Animal>>", "vec![Box::new(Dog { age: 3 }) as Box<dyn Animal>]", "*@[0].age() = 4;"),
    ("std::ops::Range<i32>", "0..5", "@.start = 1;"),
    ("std::num::NonZeroU8", "std::num::NonZeroU8::new(5).unwrap()", "@ = std::num::NonZeroU8::new(6).unwrap();"),
    ("Option<u8>", "Some(0)", "@ = None;"),
    ("Generic<Vec<u16>>", "Generic { held: vec![1], more: 2 }", "@.held[0] = 3;"),
    (
        "BTreeMap<String, BTreeMap<i32, Vec<u8>>>",
        "BTreeMap::from([(\"a\".to_string(), BTreeMap::from([(1, vec![1])]))])",
        "@.get_mut(\"a\").unwrap().get_mut(&1).unwrap()[0] = 2;",
    ),
    (
        "std::collections::hash_map::DefaultHasher",
        "std::collections::hash_map::DefaultHasher::new()",
        "std::hash::Hasher::write_u8(&mut @, 1);",
    ),
    (
        "Counting",
        "Counting { hits: std::sync::atomic::AtomicU32::new(1), open: std::sync::atomic::AtomicBool::new(false) }",
        "@.open.store(true, std::sync::atomic::Ordering::SeqCst);",
    ),
    (
        "Arc<(Mutex<u8>, std::sync::atomic::AtomicU64)>",
        "Arc::new((Mutex::new(1), std::sync::atomic::AtomicU64::new(1)))",
        "@.1.store(2, std::sync::atomic::Ordering::SeqCst);",
    ),
    (
        "HashMap<u32, Vec<u8>, std::hash::BuildHasherDefault<std::collections::hash_map::DefaultHasher>>",
        "HashMap::from_iter([(1, vec![1])])",
        "@.get_mut(&1).unwrap()[0] = 2;",
    ),
    (
        "std::rc::Weak<Cell<i32>>",
        "Rc::downgrade(&*Box::leak(Box::new(Rc::new(Cell::new(1)))))",
        "drop(std::mem::replace(&mut @, std::rc::Weak::new()));",
    ),
    ("std::sync::OnceLock<String>", "std::sync::OnceLock::new()", "@.set(\"a\".to_string()).unwrap();"),
    ("std::cell::LazyCell<Vec<i32>>", "std::cell::LazyCell::new(|| vec![1])", "@.push(2);"),
    (
        "Option<Rc<RefCell<Chain>>>",
        "Some(Rc::new(RefCell::new(Chain { next: None, value: 1 })))",
        "@.as_ref().unwrap().borrow_mut().value = 2;",
    ),
    (
        "std::rc::Weak<u32>",
        "KEPT.with(|one| Rc::downgrade(one.borrow().as_ref().unwrap()))",
        "KEPT.with(|one| drop(one.borrow_mut().take()));",
    ),
    (
        "std::sync::Weak<Mutex<Vec<u32>>>",
        "Arc::downgrade(Box::leak(Box::new(HELD.with(Arc::clone))))",
        "HELD.with(|one| one.lock().unwrap().push(2));",
    ),
    ("&'static mut [i32]", "Box::leak(vec![1, 2, 3].into_boxed_slice())", "@[2] = 9;"),
];

const RUST_HEAD: &str = "#![allow(dead_code, unused)]
use std::cell::{Cell, RefCell};
use std::collections::*;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
trait Animal { fn age(&mut self) -> &mut u32; }
struct Dog { age: u32 }
impl Animal for Dog { fn age(&mut self) -> &mut u32 { &mut self.age } }
enum Shape { Unit, Named { a: f64, b: Vec<u8> } }
struct Generic<T> { held: T, more: i32 }
struct Counting { hits: std::sync::atomic::AtomicU32, open: std::sync::atomic::AtomicBool }
struct Chain { next: Option<Rc<RefCell<Chain>>>, value: i32 }
thread_local! { static KEPT: RefCell<Option<Rc<u32>>> = RefCell::new(Some(Rc::new(1))); }
thread_local! { static HELD: Arc<Mutex<Vec<u32>>> = Arc::new(Mutex::new(vec![1])); }
fn adder(by: i32) -> Box<dyn Fn(i32) -> i32> { Box::new(move |one| one + by) }
#[inline(never)]
fn stop() {}
";

#[test]
fn rust() {
    let all = all(RUST);
    let declare = |at: usize, made: &Made| format!("let mut v{at}: {} = {};", made.kind, made.expression);
    let lines = body(&all, declare, |at| format!("stop(); // S{at}"));
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("law.rs");
    std::fs::write(&source, format!("{RUST_HEAD}fn main() {{\n{lines}\n}}\n")).unwrap();
    let subject = compiled(source, folder.path(), "rustc", &["-g", "--edition", "2024"]);
    judge(&Subject { rust_sysroot: sysroot(), ..subject }, 2, &changes_of(&all));
}

const CPP: &[Kind] = &[
    ("std::variant<int, std::vector<int>>", "std::vector<int>{1}", "std::get<1>(@)[0] = 2;"),
    ("std::optional<std::vector<int>>", "std::vector<int>{1}", "(*@)[0] = 2;"),
    ("std::any", "std::string(\"a\")", "@ = std::string(\"b\");"),
    ("std::unique_ptr<Held>", "std::make_unique<Held>()", "@->inner[0] = 2;"),
    ("std::deque<std::string>", "std::deque<std::string>(40, \"a\")", "@[30] = \"b\";"),
    ("std::forward_list<int>", "{1, 2, 3}", "@.front() = 9;"),
    ("std::unordered_map<std::string, std::vector<int>>", "{{\"a\", {1}}}", "@[\"a\"][0] = 2;"),
    ("std::multimap<int, int>", "{{1, 1}, {1, 2}}", "@.begin()->second = 9;"),
    ("std::set<std::string>", "{\"a\", \"b\"}", "@.insert(\"c\");"),
    ("std::bitset<100>", "5", "@.set(70);"),
    ("Bits", "{1, 2}", "@.right = 3;"),
    ("Either", "{1}", "@.number = 2;"),
    ("std::function<int()>", "[n = 1]() mutable { return n++; }", "@();"),
    ("std::weak_ptr<int>", "KEPT", "@.reset();"),
    ("std::weak_ptr<int>", "GONE", "GONE.reset();"),
    ("std::weak_ptr<Held>", "HELD", "HELD->inner[0] = 2;"),
    ("std::complex<double>", "{1, 2}", "@.imag(3);"),
    ("std::valarray<int>", "{1, 2, 3}", "@[2] = 9;"),
    ("std::stack<int>", "{}", "@.push(1);"),
    ("std::priority_queue<int>", "{}", "@.push(1);"),
    ("std::vector<bool>", "std::vector<bool>(100)", "@[70] = true;"),
    ("Kind", "Kind::One", "@ = Kind::Two;"),
    ("int **", "new int *(new int(1))", "**@ = 2;"),
    ("std::chrono::milliseconds", "std::chrono::milliseconds(5)", "@ += std::chrono::milliseconds(1);"),
    ("std::ostringstream *", "new std::ostringstream()", "*@ << \"x\";"),
    ("std::wstring", "L\"wide\"", "@[3] = L'x';"),
    ("long double", "1.5L", "@ = 2.5L;"),
    ("std::pair<int, std::pair<int, std::string>>", "{1, {2, \"a\"}}", "@.second.second = \"b\";"),
    ("Grid", "{}", "@.cells[3][4] = 1;"),
    ("std::list<Held>", "std::list<Held>(30)", "@.back().inner[0] = 2;"),
    ("std::map<std::string, std::map<int, Held>>", "{{\"a\", {{1, Held{}}}}}", "@[\"a\"][1].inner[0] = 2;"),
    ("std::string_view", "\"abc\"", "@ = \"abd\";"),
    ("std::atomic<int> *", "new std::atomic<int>(1)", "@->store(2);"),
    ("std::unique_ptr<Base>", "std::make_unique<Derived>()", "@->base = 2;"),
    ("std::vector<std::unique_ptr<Grid>>", "one_of<Grid>()", "@[0]->cells[1][1] = 2;"),
    ("std::tuple<int, std::string>", "{1, \"a\"}", "std::get<1>(@) = \"b\";"),
    ("std::tuple<int, std::string, double>", "{1, \"a\", 2.5}", "std::get<2>(@) = 3.5;"),
    ("std::vector<std::tuple<int, double>>", "{{1, 2.5}}", "std::get<0>(@[0]) = 2;"),
    ("Holding", "{}", "std::get<0>(@.held) = 2;"),
    ("Derived", "{}", "@.base = 2;"),
    ("Derived *", "new Derived", "@->own = 2;"),
    ("std::vector<std::atomic<int>> *", "new std::vector<std::atomic<int>>(20)", "@->at(15) = 2;"),
    ("Counters", "{}", "@.hits.store(2);"),
    ("std::map<int, std::valarray<double>>", "{{1, {1.5, 2.5, 3.5}}}", "@[1][2] = 9;"),
    ("std::array<std::optional<int>, 3>", "{1, 2, 3}", "@[1] = std::nullopt;"),
    ("std::unordered_map<int, std::unordered_map<int, int>>", "{{1, {{1, 1}}}}", "@[1][1] = 2;"),
    ("std::any", "std::vector<int>{1}", "std::any_cast<std::vector<int> &>(@)[0] = 2;"),
];

const CPP_HEAD: &str = "#include <any>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <valarray>
#include <variant>
#include <vector>
struct Held { std::vector<int> inner{1}; };
struct Bits { unsigned left : 3; unsigned right : 5; };
union Either { int number; float real; };
struct Letters { char text[8]; };
enum class Kind { One, Two };
struct Base { int base = 1; virtual ~Base() = default; };
struct Derived : virtual Base { int own = 1; };
struct Grid { int cells[8][8] = {}; };
struct Holding { int before = 1; std::tuple<int> held{1}; double after = 1; };
struct Counters { std::atomic<int> hits{1}; std::atomic<bool> open{false}; };
template <class T> static std::vector<std::unique_ptr<T>> one_of() { std::vector<std::unique_ptr<T>> made; made.push_back(std::make_unique<T>()); return made; }
static std::shared_ptr<int> KEPT = std::make_shared<int>(1), GONE = std::make_shared<int>(1);
static std::shared_ptr<Held> HELD = std::make_shared<Held>();
void stop() {}
";

#[test]
fn cpp() {
    let all = all(CPP);
    let declare = |at: usize, made: &Made| format!("{} v{at} = {};", made.kind, made.expression);
    let lines = body(&all, declare, |at| format!("stop(); // S{at}"));
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("law.cpp");
    std::fs::write(&source, format!("{CPP_HEAD}int main() {{\n{lines}\nreturn 0;\n}}\n")).unwrap();
    judge(&compiled(source, folder.path(), "g++", &["-g", "-O0", "-std=c++17"]), 2, &changes_of(&all));
}
