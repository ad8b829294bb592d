//! Places in code, as stack traces and compilers write them: JavaScript, Python, Rust, Go, Java, and `file:line`.

use std::sync::LazyLock;

use backsight::browser::event::Frame;
use regex::{Captures, Regex};

/// `at run (/app/a.js:3:9)`, `at async /app/a.js:3:9`, ` ❯ src/a.test.ts:5:21`, `at ./src/main.rs:3:5`
static SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"^\s*(?:⁃\s+)?(?:at|❯)\s+(?:async\s+)?(?:(?P<function>[^()]*?(?:\[as [^\]]+\])?)\s+\(?)?(?P<file>[^()\s]+?):(?P<line>\d+)(?::(?P<column>\d+))?\)?(?:\s\{)?$",
    )
});
/// `at com.shop.Cart.total(Cart.java:12)`
static JAVA: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r"^\s*at\s+(?P<function>[\w.$<>/]+)\((?P<file>\w+\.\w+):(?P<line>\d+)\)(?:\s~?\[[^\]]*\])?$")
});
/// `File "/app/a.py", line 3, in total`
static PYTHON: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r#"^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?"#));
/// ` --> src/main.rs:3:5`
static ARROW: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"^\s*-->\s(?P<file>\S+?):(?P<line>\d+):(?P<column>\d+)$"));
/// `/app/main.go:5 +0x1d` after a tab
static GO: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"^\t(?P<file>\S+\.go):(?P<line>\d+)(?:\s\+0x[0-9a-f]+)?$"));
/// `   3: app::total`, the line before ` at ./src/main.rs:3:5`
static NUMBERED: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"^\s+\d+:\s+(?P<function>[^\s=%/][^=%/]*)$"));
/// `src/a.ts(3,5)`, `src/a.ts:3:5`, `./src/index.js 3:0-24`
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r#"(?:^|[\s("'`\[])(?P<file>(?:file://|[A-Za-z]:)?[\w./@+\\\[\]-]*[\w\])-]\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx?|pyi?|rs|go|rb|erb|haml|slim|java|kts?|scala|c|cc|cpp|cxx|h|hpp|cs|fs|php|html?|css|scss|sass|less|json|toml|ya?ml|sql|swift|exs?|h?eex|erl|cshtml|razor|zig|dart|lua|sh|pl))(?P<apart>:|\(|\s\(?)(?P<line>\d+)(?:[:,](?P<column>\d+))?"#,
    )
});

/// `#0 /app/a.php(5): total()`
static PHP: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"^#\d+ (?P<file>[^\s(]+)\((?P<line>\d+)\): (?P<function>[^\s(]*)"));
/// `app/models/cart.rb:12:in 'Cart#total'`, `from a.rb:4:in '<main>'`, `app/views/cart/show.html.erb:2`
static RUBY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"^\s*(?:from\s+)?(?P<file>[^\s:]+\.(?:rb|erb|haml|slim|rake|ru)):(?P<line>\d+)(?::in [`'](?P<function>[^']+)')?$",
    )
});
/// `(shop 0.1.0) lib/shop/cart.ex:7: Shop.Cart.total/1`
static ELIXIR: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"^\s+(?:\([\w .-]+\)\s)?(?P<file>\S+\.(?:exs?|erl)):(?P<line>\d+): (?P<function>\S+)$"));
/// `at Shop.Cart.Total(Order order) in /app/Cart.cs:line 12`
static DOTNET: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"^\s*at\s+(?P<function>\S+?)\(.*\)\s+in\s+(?P<file>.+?):line\s(?P<line>\d+)$"));
/// `in /app/b.php on line 3`
static ON_LINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"\bin (?P<file>[^\s]+\.\w+) on line (?P<line>\d+)"));

/// A line of a stack trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traced {
    /// A place; in a Python trace the innermost comes last.
    Frame(Frame),
    /// The name of the function whose place the next line tells.
    Function(String),
}

/// What a line of a stack trace says.
pub fn traced(line: &str) -> Option<Traced> {
    let patterns = [&JAVA, &DOTNET, &SCRIPT, &PYTHON, &ARROW, &GO, &PHP, &RUBY, &ELIXIR];
    let found = patterns.iter().find_map(|pattern| pattern.as_ref()?.captures(line)).map(|found| frame(&found));
    if let Some(frame) = found.filter(|frame| frame.file.contains(['.', '/', '\\', ':', '<'])) {
        return Some(Traced::Frame(frame));
    }
    let named = NUMBERED.as_ref()?.captures(line)?;
    Some(Traced::Function(named.name("function")?.as_str().to_owned()))
}

/// The place that a line of a stack trace names.
pub fn traced_place(line: &str) -> Option<Frame> {
    match traced(line) {
        Some(Traced::Frame(frame)) => Some(frame),
        _ => None,
    }
}

/// What stands in the paths of libraries, package managers and runtimes.
const LIBRARIES: [&str; 16] = [
    "node_modules/",
    "/site-packages/",
    "/dist-packages/",
    "/lib/python",
    "<frozen ",
    "/rustc/",
    "/.cargo/registry/",
    "/go/src/",
    "/pkg/mod/",
    "/usr/lib/",
    "/usr/local/go/",
    "/vendor/",
    "/gems/",
    "/deps/",
    "/venv/",
    "/.venv/",
];
/// How functions of Java's own libraries and the usual frameworks begin.
const JAVA_LIBRARIES: [&str; 9] =
    ["java.", "javax.", "jdk.", "sun.", "jakarta.", "kotlin.", "org.springframework.", "org.apache.", "io.quarkus."];

/// Whether a place is in a library or a runtime rather than in the app.
pub fn is_library(frame: &Frame) -> bool {
    let is_java = || JAVA_LIBRARIES.iter().any(|start| frame.function.starts_with(start));
    frame.file.starts_with("node:")
        || LIBRARIES.iter().any(|part| frame.file.contains(part))
        || frame.file.ends_with(".java") && is_java()
}

/// Whether a line belongs to a Python trace.
pub fn is_python(line: &str) -> bool {
    PYTHON.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// Whether a line says a place in code and hardly anything else.
pub fn is_place(line: &str) -> bool {
    let line = line.trim();
    place(line).is_some() && !line.contains(' ') || line.starts_with("-->") || line.starts_with("❯ ")
}

/// The first place in code that a text names.
pub fn place(text: &str) -> Option<Frame> {
    let places = PLACE.as_ref()?.captures_iter(text);
    // `node.js 18` is a version.
    let is_place = |found: &Captures<'_>| !found["apart"].starts_with(' ') || found.name("column").is_some();
    let on_line = || Some(frame(&ON_LINE.as_ref()?.captures(text)?));
    places.filter(is_place).map(|found| frame(&found)).next().or_else(on_line)
}

fn frame(found: &Captures<'_>) -> Frame {
    let text = |name| found.name(name).map_or("", |part| part.as_str());
    let number = |name| text(name).parse().unwrap_or(0);
    Frame {
        file: text("file").trim_start_matches("file://").to_owned(),
        line: number("line"),
        column: number("column"),
        function: text("function").trim().to_owned(),
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str, line: u32, column: u32, function: &str) -> Frame {
        Frame { file: file.to_owned(), line, column, function: function.to_owned() }
    }

    #[test]
    fn every_pattern_compiles() {
        for pattern in
            [&SCRIPT, &JAVA, &PYTHON, &ARROW, &GO, &NUMBERED, &PLACE, &PHP, &RUBY, &ELIXIR, &DOTNET, &ON_LINE]
        {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn lines_of_stack_traces_are_places() {
        let table = [
            ("    at total (/app/cart.js:3:9)", frame("/app/cart.js", 3, 9, "total")),
            ("    at async /app/cart.js:3:9", frame("/app/cart.js", 3, 9, "")),
            ("    at Object.<anonymous> (file:///app/a.mjs:1:7)", frame("/app/a.mjs", 1, 7, "Object.<anonymous>")),
            ("    at new Cart (http://localhost:5173/src/cart.ts:3:9)", {
                frame("http://localhost:5173/src/cart.ts", 3, 9, "new Cart")
            }),
            ("    at Module._compile (node:internal/modules/cjs/loader:1364:14)", {
                frame("node:internal/modules/cjs/loader", 1364, 14, "Module._compile")
            }),
            (" ❯ src/sum.test.ts:5:21", frame("src/sum.test.ts", 5, 21, "")),
            (" ❯ total src/cart.ts:5:21", frame("src/cart.ts", 5, 21, "total")),
            ("  File \"/app/cart.py\", line 3, in total", frame("/app/cart.py", 3, 0, "total")),
            ("  --> src/main.rs:3:5", frame("src/main.rs", 3, 5, "")),
            ("             at ./src/main.rs:3:5", frame("./src/main.rs", 3, 5, "")),
            ("\t/app/main.go:5 +0x1d", frame("/app/main.go", 5, 0, "")),
            ("\tat com.shop.Cart.total(Cart.java:12)", frame("Cart.java", 12, 0, "com.shop.Cart.total")),
        ];
        for (line, expected) in table {
            assert_eq!(traced(line), Some(Traced::Frame(expected)), "{line}");
        }
        assert_eq!(traced("   3: app::total"), Some(Traced::Function("app::total".to_owned())));
        for line in ["    at Promise.all (index 0)", "look at this: 3", "at 12:30", "  indented"] {
            assert_eq!(traced(line), None, "{line}");
        }
    }

    #[test]
    fn a_message_names_its_place() {
        let table = [
            ("src/a.ts(3,5): error TS2304", frame("src/a.ts", 3, 5, "")),
            ("src/a.ts:3:5 - error TS2304", frame("src/a.ts", 3, 5, "")),
            ("ERROR in ./src/index.js 3:0-24", frame("./src/index.js", 3, 0, "")),
            ("tests/test_sum.py:5: AssertionError", frame("tests/test_sum.py", 5, 0, "")),
            ("thread 'main' panicked at src/main.rs:3:5:", frame("src/main.rs", 3, 5, "")),
            ("./app/[slug]/page.tsx (3:5)", frame("./app/[slug]/page.tsx", 3, 5, "")),
        ];
        for (text, expected) in table {
            assert_eq!(place(text), Some(expected), "{text}");
        }
        for text in ["http://localhost:3000/", "connect ECONNREFUSED 127.0.0.1:5432", "node.js 18", "example.com:443"] {
            assert_eq!(place(text), None, "{text}");
        }
    }
}
