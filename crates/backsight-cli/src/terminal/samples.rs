//! What tools really write, and what is made of it.

use backsight::browser::event::Level;
use backsight_core::Timestamp;

use super::message::Joiner;
use super::{Channels, Lines, Message};

/// All of a text at once, as one read of a terminal gives it.
fn messages(text: &str) -> Vec<Message> {
    let mut found = Vec::new();
    let (mut lines, mut joiner) = (Lines::default(), Channels::default());
    let mut each = |message| found.push(message);
    lines.feed(text.as_bytes(), &mut |line| joiner.line(line, Timestamp(0), &mut each));
    if let Some(line) = lines.finish() {
        joiner.line(line, Timestamp(0), &mut each);
    }
    joiner.close(&mut each);
    found
}

/// `level first-line @ file:line`, one line a message that is more than information.
fn told(text: &str) -> Vec<String> {
    let notable = messages(text).into_iter().filter(|message| message.level >= Level::Warning);
    let line = |message: Message| {
        let level = if message.level == Level::Error { "E" } else { "W" };
        let place = message.stack.first().map(|frame| match frame.function.as_str() {
            "" => format!(" @ {}:{}", frame.file, frame.line),
            function => format!(" @ {}:{} {function}", frame.file, frame.line),
        });
        let head = message.text.lines().next().unwrap_or_default().trim().to_owned();
        let behind = message.causes.iter().map(|cause| {
            let own = cause.stack.iter().find(|frame| !super::frames::is_library(frame));
            let place = own.map(|frame| format!(" @ {}:{}", frame.file, frame.line)).unwrap_or_default();
            format!(" <- {}{place}", cause.message)
        });
        format!("{level} {head}{}{}", place.unwrap_or_default(), behind.collect::<String>())
    };
    notable.map(line).collect()
}

const VITE: &str = "
  \x1b[32m\x1b[1mVITE\x1b[22m v6.0.3\x1b[39m  \x1b[2mready in \x1b[0m\x1b[1m312\x1b[22m\x1b[2m\x1b[0m ms\x1b[22m

  \x1b[32m➜\x1b[39m  \x1b[1mLocal\x1b[22m:   \x1b[36mhttp://localhost:\x1b[1m5173\x1b[22m/\x1b[39m
\x1b[2m12:30:01 PM\x1b[22m \x1b[36m\x1b[1m[vite]\x1b[22m\x1b[39m \x1b[32mhmr update \x1b[39m\x1b[2m/src/App.tsx\x1b[22m
\x1b[2m12:30:09 PM\x1b[22m \x1b[31m\x1b[1m[vite]\x1b[22m\x1b[39m \x1b[31mInternal server error: Failed to resolve import \"./missing\" from \"src/App.tsx\". Does the file exist?\x1b[39m
  Plugin: \x1b[35mvite:import-analysis\x1b[39m
  File: \x1b[36m/app/src/App.tsx\x1b[39m:3:8
\x1b[33m  1  |  import React from 'react'
  2  |  import './App.css'
  3  |  import x from './missing'
     |                 ^\x1b[39m
      at TransformPluginContext._formatError (file:///app/node_modules/vite/dist/node/chunks/dep.js:49255:41)
      at TransformPluginContext.error (file:///app/node_modules/vite/dist/node/chunks/dep.js:49250:16)
12:30:20 PM [vite] hmr update /src/App.tsx
";

const TSC: &str = "
src/cart.ts:12:7 - error TS2322: Type 'string' is not assignable to type 'number'.

12       total = 'none';
         ~~~~~

  src/types.ts:4:3
    4   total: number;
        ~~~~~
    The expected type comes from property 'total' which is declared here on type 'Cart'

src/main.ts(3,5): error TS2304: Cannot find name 'x'.

Found 2 errors in 2 files.
";

const WEBPACK: &str = "
assets by status 1.2 MiB [cached] 1 asset
ERROR in ./src/index.js 3:0-24
Module not found: Error: Can't resolve './missing' in '/app/src'
resolve './missing' in '/app/src'

WARNING in asset size limit: The following asset(s) exceed the recommended size limit (244 KiB).
webpack 5.90.0 compiled with 1 error and 1 warning in 803 ms
";

const JEST: &str = "
PASS src/other.test.js
FAIL src/sum.test.js
  Sum
    ✓ exists (1 ms)
    ✕ adds (3 ms)

  ● Sum › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      1 | test('adds', () => {
    > 2 |   expect(sum(1, 2)).toBe(4);
        |                     ^
      3 | });

      at Object.toBe (src/sum.test.js:2:21)

Tests:       1 failed, 1 passed, 2 total
";

const VITEST: &str = "
 ❯ src/sum.test.ts (1 test | 1 failed) 5ms
   × adds 3ms
     → expected 3 to be 4 // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/sum.test.ts > adds
AssertionError: expected 3 to be 4 // Object.is equality

- Expected
+ Received

- 4
+ 3

 ❯ src/sum.test.ts:5:21
      3|
      4| test('adds', () => {
      5|   expect(sum(1, 2)).toBe(4)
       |                     ^

 Test Files  1 failed (1)
";

const NEXT: &str = "
   ▲ Next.js 15.1.0
   - Local:        http://localhost:3000

 ✓ Ready in 1203ms
 ⚠ Fast Refresh had to perform a full reload due to a runtime error.
 ⨯ TypeError: Cannot read properties of undefined (reading 'name')
    at Page (./app/page.tsx:12:20)
   10 |   const user = undefined
> 12 |   return <p>{user.name}</p>
     |                   ^
 GET / 500 in 53ms
";

const CARGO: &str = "
   Compiling app v0.1.0 (/app)
warning: unused variable: `x`
 --> src/main.rs:2:9
  |
2 |     let x = 1;
  |         ^ help: if this is intentional, prefix it with an underscore: `_x`
  |
  = note: `#[warn(unused_variables)]` on by default

error[E0308]: mismatched types
 --> src/main.rs:3:18
  |
3 |     let y: u32 = \"error: no\";
  |            ---   ^^^^^^^^^^^ expected `u32`, found `&str`

For more information about this error, try `rustc --explain E0308`.
warning: `app` (bin \"app\") generated 1 warning
error: could not compile `app` (bin \"app\") due to 1 previous error; 1 warning emitted
";

const CARGO_TEST: &str = "
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.35s
     Running unittests src/lib.rs (target/debug/deps/app-1234)

running 2 tests
test tests::good ... ok
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----

thread 'tests::adds' (4242) panicked at src/lib.rs:14:9:
assertion `left == right` failed
  left: 3
 right: 4
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/abc/library/std/src/panicking.rs:697:5
   1: app::tests::adds
             at ./src/lib.rs:14:9
note: run with `RUST_BACKTRACE=full` for a verbose backtrace.

failures:
    tests::adds

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
";

const PYTEST: &str = "
============================= test session starts ==============================
collected 2 items

tests/test_sum.py .F                                                     [100%]

=================================== FAILURES ===================================
__________________________________ test_adds ___________________________________

    def test_adds():
>       assert total(1, 2) == 4
E       assert 3 == 4
E        +  where 3 = total(1, 2)

tests/test_sum.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_sum.py::test_adds - assert 3 == 4
========================= 1 failed, 1 passed in 0.03s ==========================
";

const GO_TEST: &str = "
--- FAIL: TestAdds (0.00s)
    sum_test.go:12: got 3, want 4
FAIL
FAIL\texample.com/app\t0.003s
panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
main.total(...)
\t/app/main.go:5 +0x1d
main.main()
\t/app/main.go:9 +0x2a
exit status 2
";

const DJANGO: &str = "
Watching for file changes with StatReloader
[30/Aug/2026 12:00:00] \"GET / HTTP/1.1\" 200 123
Internal Server Error: /boom
Traceback (most recent call last):
  File \"/venv/django/core/handlers/exception.py\", line 55, in inner
    response = get_response(request)
  File \"/app/shop/views.py\", line 7, in boom
    return total(None)
           ^^^^^^^^^^^
TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'
[30/Aug/2026 12:00:01] \"GET /boom HTTP/1.1\" 500 61234
";

const NODE: &str = "
/app/server.js:12
    throw new Error('boom');
    ^

Error: boom
    at total (/app/server.js:12:11)
    at Server.<anonymous> (/app/server.js:20:5)
    at Server.emit (node:events:517:28) {
  code: 'EBOOM'
}

Node.js v20.11.0
";

#[test]
fn every_tool_is_understood() {
    let table: [(&str, &[&str]); 11] = [
        (
            VITE,
            &[
                "E 12:30:09 PM [vite] Internal server error: Failed to resolve import \"./missing\" from \"src/App.tsx\". Does the file exist? @ /app/src/App.tsx:3",
            ],
        ),
        (
            TSC,
            &[
                "E src/cart.ts:12:7 - error TS2322: Type 'string' is not assignable to type 'number'. @ src/cart.ts:12",
                "E src/main.ts(3,5): error TS2304: Cannot find name 'x'. @ src/main.ts:3",
            ],
        ),
        (
            WEBPACK,
            &[
                "E ERROR in ./src/index.js 3:0-24 @ ./src/index.js:3",
                "W WARNING in asset size limit: The following asset(s) exceed the recommended size limit (244 KiB).",
            ],
        ),
        (JEST, &["E FAIL src/sum.test.js", "E ✕ adds (3 ms)", "E ● Sum › adds @ src/sum.test.js:2 Object.toBe"]),
        (VITEST, &["E × adds 3ms", "E FAIL  src/sum.test.ts > adds @ src/sum.test.ts:5"]),
        (
            NEXT,
            &[
                "W ⚠ Fast Refresh had to perform a full reload due to a runtime error.",
                "E ⨯ TypeError: Cannot read properties of undefined (reading 'name') @ ./app/page.tsx:12 Page",
            ],
        ),
        (
            CARGO,
            &[
                "W warning: unused variable: `x` @ src/main.rs:2",
                "E error[E0308]: mismatched types @ src/main.rs:3",
                "W warning: `app` (bin \"app\") generated 1 warning",
                "E error: could not compile `app` (bin \"app\") due to 1 previous error; 1 warning emitted",
            ],
        ),
        (
            CARGO_TEST,
            &[
                "E test tests::adds ... FAILED",
                "E thread 'tests::adds' (4242) panicked at src/lib.rs:14:9: assertion `left == right` failed @ ./src/lib.rs:14 app::tests::adds",
                "E test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
                "E error: test failed, to rerun pass `--lib`",
            ],
        ),
        (
            PYTEST,
            &["E E       assert 3 == 4 @ tests/test_sum.py:5", "E FAILED tests/test_sum.py::test_adds - assert 3 == 4"],
        ),
        (
            GO_TEST,
            &[
                "E --- FAIL: TestAdds (0.00s) @ sum_test.go:12",
                "E FAIL\texample.com/app\t0.003s",
                "E panic: runtime error: index out of range [3] with length 3 @ /app/main.go:5",
            ],
        ),
        (DJANGO, &["E TypeError: unsupported operand type(s) for +: 'NoneType' and 'int' @ /app/shop/views.py:7 boom"]),
    ];
    for (text, expected) in table {
        assert_eq!(told(text), expected, "{text}");
    }
}

#[test]
fn a_stack_is_innermost_first_and_not_in_the_text() {
    let [.., error, end] = &messages(NODE)[..] else { panic!("{:?}", messages(NODE)) };
    assert_eq!(error.text, "Error: boom\n  code: 'EBOOM'\n}");
    let places: Vec<_> = error.stack.iter().map(|frame| (frame.line, frame.function.as_str())).collect();
    assert_eq!(places, [(12, "total"), (20, "Server.<anonymous>"), (517, "Server.emit")]);
    assert_eq!((end.text.as_str(), end.level), ("Node.js v20.11.0", Level::Info));
}

#[test]
fn python_says_what_went_wrong_first() {
    let error = messages(DJANGO).into_iter().find(|message| message.level == Level::Error).unwrap();
    let expected = "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'\nInternal Server Error: /boom";
    assert_eq!(error.text, expected);
    assert_eq!((error.stack[0].file.as_str(), error.stack[1].line, error.lines), ("/app/shop/views.py", 55, 8));
}

#[test]
fn what_comes_later_is_another_message() {
    let (mut joiner, mut found) = (Joiner::default(), Vec::new());
    let mut each = |message: Message| found.push((message.text, message.lines));
    joiner.line("Error: boom".to_owned(), Timestamp(0), &mut each);
    joiner.line("    at total (/app/a.js:1:2)".to_owned(), Timestamp(40), &mut each);
    joiner.settle(Timestamp(90), &mut each);
    joiner.line("    indented".to_owned(), Timestamp(95), &mut each);
    joiner.line("Error: again".to_owned(), Timestamp(99), &mut each);
    joiner.close(&mut each);
    let expected = [("Error: boom", 2), ("    indented", 1), ("Error: again", 1)];
    assert_eq!(found, expected.map(|(text, lines)| (text.to_owned(), lines)));
}

#[test]
fn a_very_long_trace_says_how_long_it_was() {
    let text = format!("Error: deep\n{}", "    said something\n".repeat(5000));
    let found = messages(&text);
    assert_eq!((found.len(), found[0].lines), (1, 5001));
    assert!(found[0].text.len() < 9000 && found[0].text.ends_with("… 5001 lines in all"), "{}", found[0].text.len());
}

#[test]
fn an_error_is_never_part_of_a_warning() {
    let text = "warning: unused\nTraceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n";
    assert_eq!(told(text), ["W warning: unused", "E KeyError: 'x' @ a.py:1"]);
    assert_eq!(told("WARN slow\n  Error: boom\n"), ["W WARN slow", "E Error: boom"]);
}

#[test]
fn a_trace_without_its_end_is_waited_for() {
    let (mut joiner, mut found) = (Joiner::default(), Vec::new());
    let mut each = |message: Message| found.push(message.text);
    let lines = ["Traceback (most recent call last):", "  File \"a.py\", line 1", "KeyError: 'x'", "later"];
    for (line, time) in lines.into_iter().zip([0, 300, 900, 951]) {
        joiner.line(line.to_owned(), Timestamp(time), &mut each);
    }
    assert_eq!(found, ["KeyError: 'x'", "later"]);
}

/// A server with a thread a request: lines of one stand in the trace of another.
#[test]
fn a_trace_with_another_threads_line_in_between_is_one_error() {
    let trace = "Traceback (most recent call last):\n  File \"/app/server.py\", line 6, in do_GET\n";
    let end = "    total = sum(prices)\nTypeError: unsupported operand type(s) for +: 'int' and 'NoneType'\n";
    let expected = ["E TypeError: unsupported operand type(s) for +: 'int' and 'NoneType' @ /app/server.py:6 do_GET"];
    for between in [
        "127.0.0.1 - - [17/Nov/2026 04:49:03] code 404, message File not found\n",
        "127.0.0.1 - - [17/Nov/2026 04:49:03] \"GET /favicon.ico HTTP/1.1\" 404 -\n",
        "INFO:     127.0.0.1:5000 - \"GET / HTTP/1.1\" 200 OK\n",
        "INFO 2026-11-17 12:00:00 worker ready\n",
        "[17/Nov/2026 12:00:00] \"GET / HTTP/1.1\" 200 12\n",
        "GET /cart.js 200 in 3ms\n",
    ] {
        let errors =
            |text: &str| -> Vec<String> { told(text).into_iter().filter(|line| line.starts_with('E')).collect() };
        assert_eq!(errors(&format!("{trace}{between}{end}")), expected, "{between}");
        let lines: Vec<String> = messages(&format!("{trace}{between}{end}")).into_iter().map(|one| one.text).collect();
        assert!(lines.iter().any(|line| line == between.trim_end()), "it is said by itself: {lines:?}");
    }
    // An exception without words, one of a package, and two that are joined.
    assert_eq!(told(&format!("{trace}KeyboardInterrupt\n")).len(), 1);
    assert_eq!(
        told(&format!("{trace}shop.errors.NoCart: none\n")),
        ["E shop.errors.NoCart: none @ /app/server.py:6 do_GET"]
    );
    let joined = format!(
        "{trace}KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n{trace}{end}"
    );
    assert_eq!(told(&joined).len(), 1, "{:?}", told(&joined));
}

#[test]
fn an_access_log_does_not_count_a_failure_again() {
    let trace = "Traceback (most recent call last):\n  File \"/app/a.py\", line 6, in get\nTypeError: no\n";
    let request = "127.0.0.1 - - [17/Nov/2026 04:49:03] \"GET /api/cart HTTP/1.1\" 500 -\n";
    let error = "E TypeError: no @ /app/a.py:6 get";
    let code = "127.0.0.1 - - [17/Nov/2026 04:49:03] code 500, message Internal Server Error\n";
    assert_eq!(told(&format!("{trace}{request}")), [error]);
    assert_eq!(told(&format!("{trace}{code}{request}")), [error]);
    let uvicorn = "INFO:     127.0.0.1:5000 - \"GET /api/cart HTTP/1.1\" 500 Internal Server Error\n";
    let asgi = "ERROR:    Exception in ASGI application\n";
    assert_eq!(told(&format!("{uvicorn}{asgi}{trace}")).len(), 1, "{:?}", told(&format!("{uvicorn}{asgi}{trace}")));
    // Each trace explains one failed request; one without a trace is an error itself.
    assert_eq!(told(&format!("{trace}{request}{request}")).len(), 2);
    assert_eq!(told(request).len(), 1);
}

/// Files in `samples/`: what a tool wrote (recorded, or true to its documentation), and after `=== told` what is made of it.
#[test]
fn every_sample_is_told_as_it_should_be() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/terminal/samples");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut wrong = String::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let (written, expected) = text.split_once("\n=== told\n").unwrap_or((&text, ""));
        let told = told(written).join("\n");
        if told != expected.trim_end() {
            wrong += &format!("--- {}\n{told}\n", file.display());
        }
    }
    assert!(files.len() > 30 && wrong.is_empty(), "told otherwise than expected:\n{wrong}");
}
