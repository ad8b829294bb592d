//! A frame with fifty locals in each language: how long it takes to capture it, printed. The bounds are generous, since the
//! machine may be busy and this is no release build; `make bench` holds the promise.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use backsight_debug::capture::Scope;

use super::expectations::median;
use super::subject::{Subject, capture, installed, stopped};

/// How a language writes things.
struct Language {
    name: &'static str,
    file: &'static str,
    before: &'static str,
    number: fn(usize) -> String,
    text: fn(usize) -> String,
    list: fn(usize) -> String,
    object: fn(usize) -> String,
    /// A list of a million numbers.
    million: &'static str,
    after: &'static str,
    /// Builds a program beside the source, where there is one to build.
    build: Option<&'static [&'static str]>,
}

const LANGUAGES: [Language; 5] = [
    Language {
        name: "debugpy",
        file: "fifty.py",
        before: "class Thing:\n    def __init__(self, n):\n        self.n = n\n        self.inner = {'a': n, 'b': [n, n]}\n\ndef fifty():\n",
        number: |at| format!("    number{at} = {at}\n"),
        text: |at| format!("    text{at} = 'text {at}'\n"),
        list: |at| format!("    list{at} = [{at}, 1, 2, 3, 4]\n"),
        object: |at| format!("    thing{at} = Thing({at})\n"),
        million: "    million = list(range(1000000))\n",
        after: "    return 1  # HERE\n\nfifty()\n",
        build: None,
    },
    Language {
        name: "node",
        file: "fifty.js",
        before: "class Thing { constructor(n) { this.n = n; this.inner = { a: n, b: [n, n] }; } }\nfunction fifty() {\n",
        number: |at| format!("  const number{at} = {at};\n"),
        text: |at| format!("  const text{at} = 'text {at}';\n"),
        list: |at| format!("  const list{at} = [{at}, 1, 2, 3, 4];\n"),
        object: |at| format!("  const thing{at} = new Thing({at});\n"),
        million: "  const million = Array.from({ length: 1000000 }, (_, at) => at);\n",
        after: "  return 1; // HERE\n}\nfifty();\n",
        build: None,
    },
    Language {
        name: "delve",
        file: "fifty.go",
        before: "package main\n\ntype Inner struct {\n\ta int\n\tb []int\n}\n\ntype Thing struct {\n\tn     int\n\tinner *Inner\n}\n\nfunc use(values ...interface{}) {}\n\nfunc fifty() int {\n",
        number: |at| format!("\tnumber{at} := {at}\n\tuse(number{at})\n"),
        text: |at| format!("\ttext{at} := \"text {at}\"\n\tuse(text{at})\n"),
        list: |at| format!("\tlist{at} := []int{{{at}, 1, 2, 3, 4}}\n\tuse(list{at})\n"),
        object: |at| format!("\tthing{at} := &Thing{{{at}, &Inner{{{at}, []int{{1, 2}}}}}}\n\tuse(thing{at})\n"),
        million: "\tmillion := make([]int, 1000000)\n\tuse(million)\n",
        after: "\treturn 1 // HERE\n}\n\nfunc main() {\n\tfifty()\n}\n",
        build: Some(&["go", "build", "-gcflags=all=-N -l", "-o"]),
    },
    Language {
        name: "lldb-dap, C++",
        file: "fifty.cpp",
        before: "#include <string>\n#include <vector>\nstruct Inner { int a; std::vector<int> b; };\nstruct Thing { int n; Inner inner; };\nint fifty() {\n",
        number: |at| format!("  int number{at} = {at};\n"),
        text: |at| format!("  std::string text{at} = \"text {at}\";\n"),
        list: |at| format!("  std::vector<int> list{at} = {{{at}, 1, 2, 3, 4}};\n"),
        object: |at| format!("  Thing thing{at}{{{at}, {{{at}, {{1, 2}}}}}};\n"),
        million: "  std::vector<int> million(1000000);\n",
        after: "  return 1; // HERE\n}\nint main() { return fifty(); }\n",
        build: Some(&["g++", "-g", "-O0", "-std=c++17", "-o"]),
    },
    Language {
        name: "lldb-dap, Rust",
        file: "fifty.rs",
        before: "#![allow(unused)]\nstruct Inner { a: i32, b: Vec<i32> }\nstruct Thing { n: i32, inner: Box<Inner> }\nfn fifty() -> i32 {\n",
        number: |at| format!("    let number{at} = {at};\n"),
        text: |at| format!("    let text{at} = String::from(\"text {at}\");\n"),
        list: |at| format!("    let list{at} = vec![{at}, 1, 2, 3, 4];\n"),
        object: |at| {
            format!("    let thing{at} = Thing {{ n: {at}, inner: Box::new(Inner {{ a: {at}, b: vec![1, 2] }}) }};\n")
        },
        million: "    let million: Vec<i32> = (0..1_000_000).collect();\n",
        after: "    std::hint::black_box(1) // HERE\n}\nfn main() { fifty(); }\n",
        build: Some(&["rustc", "-g", "-o"]),
    },
];

impl Language {
    fn source(&self, million: bool) -> String {
        let mut source = self.before.to_owned();
        for at in 0..25 {
            _ = write!(source, "{}", (self.number)(at));
        }
        for at in 0..10 {
            _ = write!(source, "{}{}", (self.text)(at), (self.list)(at));
        }
        for at in 0..5 {
            _ = write!(source, "{}", (self.object)(at));
        }
        if million {
            source += self.million;
        }
        source + self.after
    }

    /// The program, built where it needs to be.
    fn subject(&self, folder: &Path, million: bool) -> Subject {
        let source = folder.join(self.file);
        std::fs::write(&source, self.source(million)).unwrap();
        let plain = |program| Subject {
            source: source.clone(),
            program,
            runtime: None,
            rust_sysroot: super::native::sysroot(),
        };
        let Some([compiler, arguments @ ..]) = self.build else {
            let runtime = if self.name == "debugpy" { super::python::python() } else { installed(&["node"]) };
            return Subject { runtime: Some(runtime), ..plain(source.clone()) };
        };
        installed(if self.name == "delve" { &["dlv"] } else { &super::native::LLDB });
        let program = folder.join("fifty");
        let built = Command::new(installed(&[compiler])).args(arguments).arg(&program).arg(&source).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        plain(program)
    }
}

impl Language {
    /// How long captures of the fifty, and perhaps the million, take at depth 0 and 2.
    fn times(&self, million: bool) -> [Duration; 2] {
        let folder = tempfile::tempdir().unwrap();
        let subject = self.subject(folder.path(), million);
        let (session, outcome) = subject.launch(vec![subject.at("HERE")]);
        stopped(outcome);
        let captured = capture(&session, 2);
        let locals = captured.frames[0].variables.iter().filter(|variable| variable.scope == Scope::Local).count();
        assert_eq!(locals, if million { 51 } else { 50 }, "{}", self.name);
        let cut: Vec<&str> = captured.incomplete.iter().map(|said| said.path.as_str()).collect();
        assert_eq!(
            cut,
            if million { vec!["million"] } else { vec![] },
            "{} {:#?}",
            self.name,
            super::subject::names(&captured)
        );
        [0, 2].map(|depth| median(&session, depth))
    }
}

#[test]
fn fifty_locals_are_captured_at_once() {
    for language in LANGUAGES {
        let (plain, million) = (language.times(false), language.times(true));
        for (at, depth) in [0, 2].into_iter().enumerate() {
            let (took, extra) = (plain[at], million[at].saturating_sub(plain[at]));
            eprintln!("{}: 50 locals at depth {depth}: {took:?}, a million elements more: {extra:?}", language.name);
            assert!(took + extra < Duration::from_secs(1), "{} at depth {depth}: {took:?} {extra:?}", language.name);
        }
    }
}
