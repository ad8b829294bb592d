//! One program in five languages: a frame with fifty locals, the same with a long list, and in Python a loop.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::debug::inspector::Inspector;
use crate::debug::plain::{Plain, Stock};

/// How a language writes things, and who else debugs it.
pub struct Language {
    pub name: &'static str,
    /// The plain client's debugger.
    pub peer: &'static str,
    file: &'static str,
    before: &'static str,
    number: fn(usize) -> String,
    text: fn(usize) -> String,
    list: fn(usize) -> String,
    object: fn(usize) -> String,
    /// Between the first frame's locals and the second one's.
    between: &'static str,
    after: &'static str,
    /// What builds it, where that is needed; then come the program and the source.
    build: &'static [&'static str],
    stock: Stock,
}

/// A program that can be debugged.
#[derive(Clone)]
pub struct Program {
    pub folder: PathBuf,
    pub source: PathBuf,
    pub program: PathBuf,
    pub runtime: Option<PathBuf>,
}

/// Someone who asks for variables one by one.
pub trait Look {
    /// Everything in the first frame's locals down to a depth.
    fn look(&mut self, depth: u32) -> Result<()>;
}

pub const LANGUAGES: [Language; 5] = [
    Language {
        name: "debugpy",
        peer: "python -m debugpy.adapter",
        file: "fifty.py",
        before: "class Thing:\n    def __init__(self, n):\n        self.n = n\n        self.inner = {'a': n, 'b': [n, n]}\n\ndef fifty():\n",
        number: |at| format!("    number{at} = {at}\n"),
        text: |at| format!("    text{at} = 'text {at}'\n"),
        list: |at| format!("    list{at} = [{at}, 1, 2, 3, 4]\n"),
        object: |at| format!("    thing{at} = Thing({at})\n"),
        between: "    return 1  # FIFTY\n\ndef million():\n    big = list(range(1000000))\n",
        after: "    return 1  # MILLION\n\ndef loop():\n    total = 0\n    for i in range(1000):\n        total += i  # LOOP\n    return total  # LAST\n\nfifty()\nloop()\nmillion()\n",
        build: &[],
        stock: Stock::Debugpy,
    },
    Language {
        name: "node",
        peer: "Runtime.getProperties",
        file: "fifty.js",
        before: "class Thing { constructor(n) { this.n = n; this.inner = { a: n, b: [n, n] }; } }\nfunction fifty() {\n",
        number: |at| format!("  const number{at} = {at};\n"),
        text: |at| format!("  const text{at} = 'text {at}';\n"),
        list: |at| format!("  const list{at} = [{at}, 1, 2, 3, 4];\n"),
        object: |at| format!("  const thing{at} = new Thing({at});\n"),
        between: "  return 1; // FIFTY\n}\nfunction million() {\n  const big = Array.from({ length: 1000000 }, (_, i) => i);\n",
        after: "  return 1; // MILLION\n}\nfifty();\nmillion();\n",
        build: &[],
        stock: Stock::Inspector,
    },
    Language {
        name: "delve",
        peer: "dlv dap",
        file: "fifty.go",
        before: "package main\n\ntype Inner struct {\n\ta int\n\tb []int\n}\n\ntype Thing struct {\n\tn     int\n\tinner *Inner\n}\n\nfunc use(values ...interface{}) {}\n\nfunc fifty() int {\n",
        number: |at| format!("\tnumber{at} := {at}\n\tuse(number{at})\n"),
        text: |at| format!("\ttext{at} := \"text {at}\"\n\tuse(text{at})\n"),
        list: |at| format!("\tlist{at} := []int{{{at}, 1, 2, 3, 4}}\n\tuse(list{at})\n"),
        object: |at| format!("\tthing{at} := &Thing{{{at}, &Inner{{{at}, []int{{1, 2}}}}}}\n\tuse(thing{at})\n"),
        between: "\treturn 1 // FIFTY\n}\n\nfunc million() int {\n\tbig := make([]int, 1000000)\n\tuse(big)\n",
        after: "\treturn 1 // MILLION\n}\n\nfunc main() {\n\tfifty()\n\tmillion()\n}\n",
        build: &["go", "build", "-gcflags=all=-N -l", "-o"],
        stock: Stock::Delve,
    },
    Language {
        name: "lldb-dap, C++",
        peer: "lldb-dap",
        file: "fifty.cpp",
        before: "#include <string>\n#include <vector>\nstruct Inner { int a; std::vector<int> b; };\nstruct Thing { int n; Inner inner; };\nint fifty() {\n",
        number: |at| format!("  int number{at} = {at};\n"),
        text: |at| format!("  std::string text{at} = \"text {at}\";\n"),
        list: |at| format!("  std::vector<int> list{at} = {{{at}, 1, 2, 3, 4}};\n"),
        object: |at| format!("  Thing thing{at}{{{at}, {{{at}, {{1, 2}}}}}};\n"),
        between: "  return 1; // FIFTY\n}\nint million() {\n  std::vector<int> big(1000000);\n",
        after: "  return 1; // MILLION\n}\nint main() { return fifty() + million(); }\n",
        build: &["g++", "-g", "-O0", "-std=c++17", "-o"],
        stock: Stock::Lldb,
    },
    Language {
        name: "lldb-dap, Rust",
        peer: "lldb-dap without rustc's formatters",
        file: "fifty.rs",
        before: "#![allow(unused)]\nstruct Inner { a: i32, b: Vec<i32> }\nstruct Thing { n: i32, inner: Box<Inner> }\nfn fifty() -> i32 {\n",
        number: |at| format!("    let number{at} = {at};\n"),
        text: |at| format!("    let text{at} = String::from(\"text {at}\");\n"),
        list: |at| format!("    let list{at} = vec![{at}, 1, 2, 3, 4];\n"),
        object: |at| {
            format!("    let thing{at} = Thing {{ n: {at}, inner: Box::new(Inner {{ a: {at}, b: vec![1, 2] }}) }};\n")
        },
        between: "    std::hint::black_box(1) // FIFTY\n}\nfn million() -> i32 {\n    let big = vec![7; 1000000];\n",
        after: "    std::hint::black_box(1) // MILLION\n}\nfn main() { fifty(); million(); }\n",
        build: &["rustc", "-g", "-o"],
        stock: Stock::Lldb,
    },
];

impl Language {
    /// Writes and builds it.
    pub fn program(&self, folder: &Path) -> Result<Program> {
        let source = folder.join(self.file);
        let locals = self.locals();
        std::fs::write(&source, [self.before, &locals, self.between, &locals, self.after].concat())?;
        let runtime = match self.stock {
            Stock::Debugpy => Some(python("tools/venv/bin/python")?),
            _ => None,
        };
        let mut program = source.clone();
        if !self.build.is_empty() {
            program = built(self.build, &source, &folder.join(self.file.replace('.', "-")))?;
        }
        Ok(Program { folder: folder.to_owned(), source, program, runtime })
    }

    /// A plain client that is paused in the frame with fifty locals.
    pub fn plain(&self, program: &Program) -> Result<Box<dyn Look>> {
        let line = program.line("FIFTY")?;
        Ok(match self.stock {
            Stock::Inspector => Box::new(Inspector::pause_at(program, line)?),
            stock => Box::new(Plain::pause_at(stock, program, line)?),
        })
    }

    fn locals(&self) -> String {
        let mut locals = String::new();
        for at in 0..25 {
            _ = write!(locals, "{}", (self.number)(at));
        }
        for at in 0..10 {
            _ = write!(locals, "{}{}", (self.text)(at), (self.list)(at));
        }
        for at in 0..5 {
            _ = write!(locals, "{}", (self.object)(at));
        }
        locals
    }
}

/// Builds a program with a command that the program and its source are put behind.
pub fn built(words: &[&str], source: &Path, program: &Path) -> Result<PathBuf> {
    let built = Command::new(words[0]).args(&words[1..]).arg(program).arg(source).output();
    let built = built.map_err(|error| format!("`{}` does not run ({error}): run `make tools`", words[0]))?;
    match built.status.success() {
        true => Ok(program.to_owned()),
        false => Err(format!("`{}`: {}", source.display(), String::from_utf8_lossy(&built.stderr)).into()),
    }
}

/// A Python with debugpy that `make tools` prepares, below the target directory.
pub fn python(at: &str) -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let target = here.parent().and_then(Path::parent).ok_or("this program is not in a target directory")?;
    let python = target.join(at);
    match python.with_file_name("debugpy").exists() {
        true => Ok(python),
        false => Err("debugpy is missing: run `make tools`".into()),
    }
}
