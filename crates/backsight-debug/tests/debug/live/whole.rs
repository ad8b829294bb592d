//! Values that debuggers show in part are told whole, or it is said that they are not.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use backsight_debug::capture::{Capture, Inside};
use backsight_debug::diff::{Options, snapshot_diff};
use backsight_debug::render;
use backsight_debug::report::SnapshotDiff;
use backsight_debug::session::Session;

use super::native::{compiled, sysroot};
use super::subject::{Subject, at, capture, go_on, names, stopped};
use super::{go, pages};

fn written(folder: &tempfile::TempDir, name: &str, source: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, source).unwrap();
    path
}

fn script(source: PathBuf) -> Subject {
    Subject { program: source.clone(), source, runtime: None, rust_sysroot: None }
}

/// What changes from the line `BEFORE` to the line `AFTER`.
fn change(subject: &Subject, depth: u32) -> (Session, Capture, SnapshotDiff) {
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE"), subject.at("AFTER")]);
    stopped(outcome);
    let before = capture(&session, depth);
    stopped(go_on(&session));
    let diff = snapshot_diff(&before, &capture(&session, depth), &Options::default());
    (session, before, diff)
}

fn modified(diff: &SnapshotDiff) -> Vec<&str> {
    let roots = diff.modified.iter().map(|entry| entry.path.split(['.', '[']).next().unwrap_or_default());
    let mut roots: Vec<&str> = roots.collect();
    roots.sort_unstable();
    roots
}

/// Delve's text of what a pointer points to is not the value.
#[test]
fn a_node_behind_pointers_of_go_is_told() {
    let source = "package main

type N struct {
\tV    int
\tNext *N
}

func main() {
\to := &N{0, &N{1, &N{2, &N{3, &N{4, &N{5, nil}}}}}}
\tother := &N{0, &N{1, &N{2, &N{3, nil}}}}
\tprintln(o.V, other.V) // BEFORE
\to.Next.Next.Next.V = 9
\tprintln(o.V, other.V) // AFTER
}
";
    for depth in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let subject = go::built(written(&folder, "chain.go", source), folder.path());
        let (_session, _, diff) = change(&subject, depth);
        assert_eq!(modified(&diff), ["o"], "depth {depth}: {diff:#?}");
        assert_eq!(diff.summary.not_compared, 0, "depth {depth}: {diff:#?}");
    }
}

#[test]
fn containers_of_cpp_are_told_whole() {
    let source = r#"#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include <array>
struct P { int x, y; bool operator<(const P &o) const { return x < o.x; } };
int main() {
  std::wstring wide = L"wide"; std::u16string sixteen = u"sixteen"; std::u32string many = U"32";
  std::list<int> chained(1000, 5);
  std::map<P, int> keyed{{{1, 2}, 3}, {{4, 5}, 6}};
  std::optional<std::string> there = "there", absent;
  std::array<std::string, 2> pair{"a", "b"};
  char *lengthy = new char[3000]; for (int at = 0; at < 2999; at++) lengthy[at] = 'a'; lengthy[2999] = 0;
  int P::*member = &P::x;
  wide[0] = L'W'; // BEFORE
  sixteen[0] = u'S'; many[0] = U'4'; *std::next(chained.begin(), 500) = 6; lengthy[2000] = 'b'; there = "here"; pair[1] = "c";
  return wide.size() + absent.has_value() + (member == nullptr); // AFTER
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let subject = compiled(written(&folder, "whole.cpp", source), folder.path(), "g++", &["-g", "-O0", "-std=c++17"]);
    let (_session, before, diff) = change(&subject, 1);
    let texts = ["wide", "sixteen", "many", "there", "absent", "pair._M_elems[1]"].map(|path| match path {
        "pair._M_elems[1]" => String::new(),
        path => at(&before, path).text.clone(),
    });
    let expected = [r#"L"wide""#, r#"u"sixteen""#, r#"U"32""#, r#""there""#, "nullopt", ""];
    assert_eq!(texts, expected, "{:#?}", names(&before));
    assert_eq!(at(&before, "chained").length, Some(1000));
    assert_eq!(at(&before, "keyed[{x: 4, y: 5}]").text, "6", "{:#?}", names(&before));
    assert_ne!(at(&before, "member").text, "null");
    let told = modified(&diff);
    for name in ["wide", "sixteen", "many", "chained", "lengthy", "there", "pair"] {
        assert!(told.contains(&name), "{name}: {diff:#?}");
    }
    assert!(!told.contains(&"keyed") && diff.summary.not_compared == 0, "{diff:#?}");
}

/// Between the members of a structure lies whatever was there before, which is no value. Not so in C++, where LLDB leaves out
/// members that are tuples: what lies between the others may be one.
#[test]
fn what_lies_between_members_is_not_compared() {
    let source = "#include <string.h>
struct P { char c; long v; int w; };
struct Q { struct P first; short s; struct P row[3]; };
static struct P many[3000], other[3000];
static void put(struct P *p, int junk) { memset(p, junk, sizeof *p); p->c = 'a'; p->v = 1; p->w = 2; }
static void nest(struct Q *q, int junk) { memset(q, junk, sizeof *q); put(&q->first, junk); q->s = 3; for (int at = 0; at < 3; at++) put(&q->row[at], junk); }
static void all(struct P *one, struct Q *nested, int junk) {
  put(one, junk); nest(nested, junk);
  for (int at = 0; at < 3000; at++) { put(&many[at], junk); put(&other[at], junk); }
}
int main(void) {
  struct P one; struct Q nested; struct P (*rows)[3000] = &many, (*changing)[3000] = &other;
  int junk = 1;
  all(&one, &nested, junk);
  junk = 2; // BEFORE
  all(&one, &nested, junk); other[2000].w = 9;
  return junk; // AFTER
}
";
    let folder = tempfile::tempdir().unwrap();
    let subject = compiled(written(&folder, "padded.c", source), folder.path(), "gcc", &["-g", "-O0"]);
    for depth in [0, 2] {
        let (_session, _, diff) = change(&subject, depth);
        let mut told: Vec<&str> = modified(&diff);
        told.sort_unstable();
        assert!(matches!(&told[..], ["changing" | "changing[2000].w", "junk"]), "depth {depth}: {diff:#?}");
        assert_eq!(diff.summary.not_compared, 0, "depth {depth}: {diff:#?}");
    }
}

/// A hundred thousand entries are looked at for a bounded time, and what was not looked at is named.
#[test]
fn large_containers_of_cpp_take_bounded_time() {
    let source = "#include <list>
#include <map>
#include <unordered_map>
int main() {
  std::map<int, int> tree; std::unordered_map<int, int> table; std::list<int> chained;
  for (int at = 0; at < 100000; at++) { tree[at] = at; table[at] = at; chained.push_back(at); }
  int plain = 1; // BEFORE
  tree[50000] = -1; plain = 2;
  return plain; // AFTER
}
";
    let folder = tempfile::tempdir().unwrap();
    let subject = compiled(written(&folder, "large.cpp", source), folder.path(), "g++", &["-g", "-O0"]);
    let (session, before, diff) = change(&subject, 0);
    assert_eq!([at(&before, "tree").length, at(&before, "chained").length], [Some(100_000); 2]);
    let told: Vec<&str> = diff.not_compared.iter().map(String::as_str).chain(modified(&diff)).collect();
    assert!(told.contains(&"tree"), "{diff:#?}");
    let started = Instant::now();
    capture(&session, 0);
    eprintln!("lldb-dap: three containers of 100000 in {:?}", started.elapsed());
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(pages::ask(&session, "tree", 100, 1).unwrap().variables[0].value, "100");
}

#[test]
fn what_was_optimised_away_is_no_null_pointer() {
    let source = "#include <cstdio>
struct S { int a; };
__attribute__((noinline)) S *find(int count) { static S all[4]; return &all[count & 3]; }
__attribute__((noinline)) int work(int count) {
  S *gone = find(count);
  int sum = gone->a;
  puts(\"first\");
  puts(\"here\"); // BEFORE
  return sum;
}
int main(int count, char **) { return work(count); }
";
    let folder = tempfile::tempdir().unwrap();
    let subject = compiled(written(&folder, "gone.cpp", source), folder.path(), "g++", &["-g", "-O2"]);
    let (session, outcome) = subject.launch(vec![subject.at("BEFORE")]);
    stopped(outcome);
    let captured = capture(&session, 1);
    let gone = at(&captured, "gone");
    assert!(gone.text != "null" && gone.text.starts_with('<') && gone.partial, "{gone:?}");
    let same = snapshot_diff(&captured, &capture(&session, 1), &Options::default());
    assert!(same.not_compared.contains(&"gone".to_owned()), "{same:#?}");
}

#[test]
fn entries_of_a_btree_map_are_listed() {
    let source = "use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
fn stop() {}
fn main() {
    let mut tree: BTreeMap<i32, String> = (0..40).map(|n| (n, n.to_string())).collect();
    let many: BTreeSet<u64> = (0..500).collect();
    let text: Rc<str> = Rc::from(\"counted\");
    let absent: Option<(u64, String)> = None;
    stop(); // BEFORE
    tree.insert(30, String::from(\"other\"));
    stop(); // AFTER
    println!(\"{} {} {} {:?}\", tree.len(), many.len(), text, absent);
}
";
    let folder = tempfile::tempdir().unwrap();
    let subject = compiled(written(&folder, "tree.rs", source), folder.path(), "rustc", &["-g", "--edition", "2024"]);
    let subject = Subject { rust_sysroot: sysroot(), ..subject };
    let (session, before, diff) = change(&subject, 1);
    assert_eq!(at(&before, "tree[30]").text, "\"30\"", "{:#?}", names(&before));
    assert_eq!((at(&before, "many").length, at(&before, "absent").text.as_str()), (Some(500), "None"));
    assert_eq!(diff.modified.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(), ["tree[30]"], "{diff:#?}");
    assert_eq!(diff.summary.not_compared, 0, "{diff:#?}");
    assert_eq!(pages::ask(&session, "many", 499, 1).unwrap().variables[0].value, "499");
}

/// V8 hands the values of one realm to no function of another.
#[test]
fn what_runs_in_a_realm_of_vm_is_captured() {
    let source = "const vm = require('node:vm');
const code = `function work() {
  const order = { items: [{ price: 1 }] };
  const many = Array.from({ length: 2000 }, (_, at) => at);
  order.items[0].price = 1; // BEFORE
  order.items[0].price = 2; many[1500] = -1;
  return [order, many]; // AFTER
}
work();`;
const file = require('node:path').join(__dirname, 'inner.js');
require('node:fs').writeFileSync(file, code);
vm.runInContext(code, vm.createContext({}), { filename: file });
";
    for depth in [0, 3] {
        let folder = tempfile::tempdir().unwrap();
        let inner = written(&folder, "inner.js", source.split('`').nth(1).unwrap());
        let program = written(&folder, "outer.js", source);
        let subject = Subject { program, ..script(inner) };
        let (session, before, diff) = change(&subject, depth);
        assert_eq!(at(&before, "many").length, Some(2000));
        assert_eq!(modified(&diff), ["many", "order"], "{diff:#?}");
        assert!(before.incomplete.iter().all(|one| !one.reason.contains("walker")), "{before:#?}");
        assert_eq!(pages::ask(&session, "order.items[0]", 0, 0).unwrap().variables[0].value, "2");
    }
}

/// A function of the same name is another one, and what functions keep is told or said not to be.
#[test]
fn another_function_is_another_value() {
    let source = "function outer() {
  let f = () => 1;
  const counter = (() => { let n = 0; return () => ++n; })();
  f(); // BEFORE
  f = () => 2;
  counter();
  return f; // AFTER
}
outer();
";
    let folder = tempfile::tempdir().unwrap();
    let (_session, before, diff) = change(&script(written(&folder, "functions.js", source)), 1);
    assert_eq!(at(&before, "f").inside, Inside::Leaf);
    assert_eq!(modified(&diff), ["f"], "{diff:#?}");
    assert_eq!(diff.not_compared, ["counter"]);
    assert!(render::compact(&diff).contains("1 modified, 1 not compared"), "{}", render::compact(&diff));
}

/// Which element of a long list changed is told, in every language, whatever the elements are.
#[test]
fn the_element_that_changed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let python_source = "def work():
    numbers = list(range(500))
    records = [{'n': n} for n in range(500)]
    here = 1  # BEFORE
    numbers[300] = -1
    records[200]['n'] = -1
    here = 2  # AFTER
    return numbers, records, here
work()
";
    let script_source = "function work() {
  const numbers = Array.from({ length: 500 }, (_, n) => n);
  const records = Array.from({ length: 500 }, (_, n) => ({ n }));
  numbers[0] = 0; // BEFORE
  numbers[300] = -1;
  records[200].n = -1;
  return [numbers, records]; // AFTER
}
work();
";
    let go_source = "package main

func main() {
\tnumbers := make([]int, 500)
\trecords := make([]string, 500)
\tprintln(len(numbers)) // BEFORE
\tnumbers[300] = -1
\trecords[200] = \"other\"
\tprintln(len(records)) // AFTER
}
";
    let cpp_source = "#include <string>
#include <vector>
int main() {
  std::vector<int> numbers(500);
  std::vector<std::string> records(500, \"text\");
  int plain[500] = {0};
  numbers[0] = 0; // BEFORE
  numbers[300] = -1; records[200] = \"other\"; plain[300] = 1;
  return plain[1]; // AFTER
}
";
    let rust_source = "fn stop() {}
fn main() {
    let mut numbers: Vec<u32> = (0..500).collect();
    let mut records: Vec<String> = (0..500).map(|n| n.to_string()).collect();
    stop(); // BEFORE
    numbers[300] = 9;
    records[200].push('x');
    stop(); // AFTER
    println!(\"{} {}\", numbers.len(), records.len());
}
";
    let python = Subject { runtime: Some(super::python::python()), ..script(written(&folder, "a.py", python_source)) };
    let javascript = script(written(&folder, "a.js", script_source));
    let (one, other, third) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let go = go::built(written(&one, "a.go", go_source), one.path());
    let cpp = compiled(written(&other, "a.cpp", cpp_source), other.path(), "g++", &["-g", "-O0"]);
    let rust = compiled(written(&third, "a.rs", rust_source), third.path(), "rustc", &["-g", "--edition", "2024"]);
    let rust = Subject { rust_sysroot: sysroot(), ..rust };
    for (name, subject) in [("python", python), ("node", javascript), ("go", go), ("c++", cpp), ("rust", rust)] {
        let (_session, _, diff) = change(&subject, 1);
        for (path, place) in [("numbers", "[300]"), ("records", "[200]"), ("plain", "[300]")] {
            let Some(entry) = diff.modified.iter().find(|entry| entry.path == path) else {
                assert!(path == "plain" && name != "c++", "{name} {path}: {diff:#?}");
                continue;
            };
            let note = entry.note.as_deref().unwrap_or_default();
            assert_eq!(note, format!("changed at {place}, not captured"), "{name}: {diff:#?}");
        }
    }
}
