//! How serious a line is, by what compilers, test runners, servers and loggers write. What cannot be told is only
//! information: a dev server that prints much must not look broken.

use std::sync::LazyLock;

use backsight::browser::event::Level;
use regex::Regex;

/// What stands before the words that matter: times, labels in brackets, the name of a container.
const BEFORE: &str =
    r"^\s*(?:\d[\d:.,TZ+/-]*(?:\s?[AP]M)?\s+|\[[^\]]{1,40}\]:?\s*|[\w.-]{1,24}\s*\|\s+|\(\w{1,20}\)\s+|[❯▲●✘]\s+)*";

/// Lines that begin so are errors.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    starting(&[
        // `error:`, `Error:`, `error[E0308]:`, `Type error:`, `PHP Fatal error:`, `Pre-transform error:`
        r"(?:[\w-]+\s){0,2}(?i:error)(?:\[\w+\])?:",
        r"(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b",
        r"\[(?i:error|fatal|critical|crit|alert|emergency)\]",
        // .NET
        r"(?:fail|crit):\s",
        r"(?:---\s)?FAIL(?:ED|URE)?(?::|\s+\S)",
        r"npm (?:ERR!|error)\s",
        // SvelteKit
        r"Error when evaluating SSR module ",
        r"error\s(?:Command failed|An unexpected)",
        r"[✖✗✘❌⨯×✕]\s",
        r"(?i:fatal(?:\serror)?):",
        r"(?:Uncaught|Unhandled)",
        // `TypeError: ...`, `java.lang.NullPointerException: ...`, a bare `AssertionError`
        r"(?:[A-Za-z_$][\w$]*(?:\.|::))*[A-Z]\w*(?:Error|Exception)(?:\s[\[(]\w+[\])])?(?::|$)",
        r"panic:",
        r"thread '.*' (?:\(\d+\) )?panicked at",
        r"(?:\+ Exception Group )?Traceback \(most recent call last\):",
        // Node, of an error without a trace: `[AggregateError: All promises were rejected] {`
        r"\[(?:[A-Za-z_$][\w$]*\.)*[A-Z]\w*(?:Error|Exception): ",
        r"Segmentation fault",
        r"[Ff]ailed (?:running|to (?:compile|load|build|resolve|parse|transform|start|import|reload|restart))",
        // `server restart failed`
        r"(?:[\w-]+\s){0,2}[Rr]e(?:start|load) failed\b",
        r"app crashed\b",
        r"Completed 5\d\d\b",
        r"Exception in ",
        r"http: panic serving ",
        // Rails: `ActionView::Template::Error (undefined method ...):`
        r"(?:[A-Z]\w*::)*(?:[A-Z]\w*)?(?:Error|Exception|NotFound|Invalid|Missing|Denied)\s\(.+\):?$",
        // Nuxt
        r"\[request error\]",
        // Elixir
        r"\*\* \([\w.]+\) ",
        r"\[Finished running\. Exit status: [1-9]",
        r"Module not found:",
        r"(?:Build|Compilation) failed",
        r"Compiled with (?:problems|\d+ errors?)",
        r"Internal [Ss]erver [Ee]rror",
        // pytest's explanations
        r"E\s{2,}\S",
    ])
});

/// Lines that have this somewhere are errors.
static ERROR_WITHIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    one_of(&[
        // `a.ts(3,5): error TS2304: ...`, `a.ts:3:5 - error TS2304: ...`, `a.c:3:5: error: ...`
        r"(?:[:)]|\s-)\s(?:fatal )?error(?:\s[A-Z]{1,4}\d+)?:",
        r"^\s+\d+:\d+\s+error\s",
        r"^test .* \.\.\. FAILED",
        r"^test result: FAILED",
        r"^\S+\.go:\d+:\d+:\s",
        r"^\S+\.py:\d+: \w*(?:Error|Exception|Failed)\b",
        r"^  ● (?:[^C\s]|C[^o])",
        r#""[A-Z]{3,7} \S+ HTTP/[\d.]+" 5\d\d\b"#,
        r"^\s*(?:GET|POST|PUT|PATCH|DELETE|HEAD) \S+ 5\d\d\b",
        // PHP's own server, SvelteKit
        r"\[5\d\d\]:? (?:GET|HEAD|POST|PUT|PATCH|DELETE) ",
        r"^\S+\.(?:rb|erb|ru):\d+:(?:in .*\([\w:]+\)$| syntax error)",
        r"\bexited with (?:error )?code [1-9]",
        r"\blevel=(?i:error|fatal|critical)\b",
        r#""(?:level|severity)":\s?"(?i:error|fatal|critical)""#,
    ])
});

/// Lines that begin so are warnings.
static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    starting(&[
        r"(?i:warn(?:ing)?)(?:\[\w+\])?:",
        r"(?:WARN|WARNING)\b",
        r"\[(?i:warn|warning)\]",
        r"PHP (?:Warning|Notice|Deprecated|Strict Standards):",
        r"(?:Deprecated|Notice):\s",
        r"(?i:deprecation warning)\b",
        r"warn(?:ing)?\s+\S",
        r"npm (?:WARN|warn)\s",
        r"(?:⚠|\(!\))",
        r"Compiled with warnings",
    ])
});

/// Lines that have this somewhere are warnings.
static WARNING_WITHIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    one_of(&[
        r"(?:[:)]|\s-)\swarning(?:\s[A-Z]{1,4}\d+)?:",
        r"^\s+\d+:\d+\s+warning\s",
        r"\b[A-Z]\w*Warning:\s",
        r"\blevel=(?i:warn(?:ing)?)\b",
        r#""(?:level|severity)":\s?"(?i:warn(?:ing)?)""#,
    ])
});

/// An error that a program prints behind words of its own: `console.error('orders:', error)`.
static EXCEPTION_WITHIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    one_of(&[r"^.{1,100}?[\s:(](?:[A-Za-z_$][\w$]*\.)*[A-Z]\w*(?:Error|Exception)(?:\s\[\w+\])?: \S"])
});

/// The level as loggers write it, near the beginning; the first one counts.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| one_of(&[r"^.{0,60}?\b(ERROR|FATAL|CRITICAL|WARN|WARNING|INFO|NOTICE|DEBUG|TRACE|VERBOSE)\b"]));

/// What dev servers say as a warning at every start and every edit.
static ORDINARY: LazyLock<Option<Regex>> =
    LazyLock::new(|| one_of(&[r"This is a development server\b", r"\bdetected (?:file )?changes? in .*[Rr]eloading"]));

/// A count that says that all is well, and one that says that it is not.
static NONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    one_of(&[r"(?i)\b(?:0|no|zero|without(?: any)?) (?:errors?|failures?|failed|problems?|issues?)\b"])
});
static SOME: LazyLock<Option<Regex>> =
    LazyLock::new(|| one_of(&[r"(?i)\b[1-9]\d* (?:\w+ )?(?:errors?|failures?|failed)\b"]));
static SOME_WARNINGS: LazyLock<Option<Regex>> = LazyLock::new(|| one_of(&[r"(?i)\b[1-9]\d* warnings?\b"]));

/// How serious a line is.
pub fn of(line: &str) -> Level {
    let matches = |pattern: &LazyLock<Option<Regex>>| pattern.as_ref().is_some_and(|regex| regex.is_match(line));
    // `✖ 3 problems (0 errors, 3 warnings)`, `ERROR summary: 0 errors`
    if matches(&ORDINARY) {
        return Level::Info;
    }
    if matches(&NONE) && !matches(&SOME) {
        return if matches(&SOME_WARNINGS) { Level::Warning } else { Level::Info };
    }
    if matches(&ERROR) {
        return Level::Error;
    }
    if matches(&WARNING) {
        return Level::Warning;
    }
    if matches(&ERROR_WITHIN) {
        return Level::Error;
    }
    if matches(&WARNING_WITHIN) {
        return Level::Warning;
    }
    let word = WORD.as_ref().and_then(|regex| regex.captures(line)).and_then(|found| found.get(1));
    match word.map(|word| word.as_str()) {
        Some("ERROR" | "FATAL" | "CRITICAL") => Level::Error,
        Some("WARN" | "WARNING") => Level::Warning,
        Some("DEBUG" | "TRACE" | "VERBOSE") => Level::Debug,
        // Loggers know themselves how serious it is.
        None if matches(&EXCEPTION_WITHIN) => Level::Error,
        _ => Level::Info,
    }
}

fn starting(patterns: &[&str]) -> Option<Regex> {
    one_of(&[&format!("{BEFORE}(?:{})", patterns.join("|"))])
}

/// All of them are texts of this file, and a test compiles each.
fn one_of(patterns: &[&str]) -> Option<Regex> {
    Regex::new(&patterns.join("|")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for pattern in [
            &ERROR,
            &ERROR_WITHIN,
            &EXCEPTION_WITHIN,
            &WARNING,
            &WARNING_WITHIN,
            &WORD,
            &ORDINARY,
            &NONE,
            &SOME,
            &SOME_WARNINGS,
        ] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn what_tools_write_has_its_level() {
        let table = [
            (Level::Error, "error[E0308]: mismatched types"),
            (Level::Error, "error: could not compile `app` (bin \"app\") due to 1 previous error"),
            (Level::Error, "test tests::adds ... FAILED"),
            (Level::Error, "test result: FAILED. 1 passed; 1 failed; 0 ignored"),
            (Level::Info, "test tests::adds ... ok"),
            (Level::Info, "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured"),
            (Level::Error, "thread 'main' (4242) panicked at src/main.rs:3:5:"),
            (Level::Warning, "warning: unused variable: `x`"),
            (Level::Error, "src/a.ts(3,5): error TS2304: Cannot find name 'x'."),
            (Level::Error, "src/a.ts:3:5 - error TS2304: Cannot find name 'x'."),
            (Level::Info, "[12:30:01 PM] Found 0 errors. Watching for file changes."),
            (Level::Info, "12:30:01 PM [vite] (client) hmr update /src/App.tsx"),
            (Level::Error, "12:30:01 PM [vite] Internal server error: Failed to resolve import \"./x\""),
            (Level::Error, "✘ [ERROR] Could not resolve \"./x\""),
            (Level::Warning, "(!) Some chunks are larger than 500 kB after minification"),
            (Level::Error, "ERROR in ./src/index.js 3:0-24"),
            (Level::Error, "Module not found: Error: Can't resolve './x' in '/app/src'"),
            (Level::Warning, "WARNING in asset size limit: The following asset(s) exceed the recommended size"),
            (Level::Info, "webpack 5.90.0 compiled successfully in 1203 ms"),
            (Level::Error, " FAIL  src/sum.test.ts > adds"),
            (Level::Error, "   × adds 3ms"),
            (Level::Info, " ✓ src/sum.test.ts (2 tests) 3ms"),
            (Level::Error, "  ● Sum › adds"),
            (Level::Info, "PASS src/sum.test.js"),
            (Level::Info, "Tests:       1 failed, 2 passed, 3 total"),
            (Level::Error, " ⨯ ./app/page.tsx:3:5"),
            (Level::Warning, " ⚠ Port 3000 is in use, trying 3001 instead."),
            (Level::Info, " GET /api/users 200 in 23ms"),
            (Level::Error, " GET /api/users 500 in 23ms"),
            (Level::Error, "[30/Aug/2026 12:00:00] \"GET /boom HTTP/1.1\" 500 61234"),
            (Level::Info, "[30/Aug/2026 12:00:00] \"GET / HTTP/1.1\" 200 123"),
            (Level::Error, "Internal Server Error: /boom"),
            (Level::Error, "Traceback (most recent call last):"),
            (Level::Error, "ValueError: bad value"),
            (Level::Error, "django.db.utils.OperationalError: no such table: shop_item"),
            (Level::Error, "FAILED tests/test_sum.py::test_adds - assert 3 == 4"),
            (Level::Error, "tests/test_sum.py:5: AssertionError"),
            (Level::Warning, "/app/x.py:3: DeprecationWarning: use y"),
            (Level::Error, "--- FAIL: TestAdds (0.00s)"),
            (Level::Error, "./main.go:5:2: undefined: x"),
            (Level::Error, "panic: runtime error: index out of range [3] with length 3"),
            (Level::Info, "ok  \texample.com/app\t0.003s"),
            (Level::Error, "2026-08-30 12:00:00,123 ERROR app.views: it broke"),
            (Level::Info, "2026-08-30 12:00:00,123 INFO app.views: after an ERROR all is well"),
            (Level::Debug, "2026-08-30 12:00:00,123 DEBUG app.views: ERROR handler installed"),
            (Level::Warning, "2026-08-30T12:00:00Z  WARN app: slow"),
            (Level::Error, "time=12:00 level=error msg=\"it broke\""),
            (Level::Error, "{\"level\":\"error\",\"msg\":\"it broke\"}"),
            (Level::Error, "npm ERR! code ELIFECYCLE"),
            (Level::Warning, "npm warn deprecated inflight@1.0.6: leaks memory"),
            (Level::Error, "  3:5  error  'x' is not defined  no-undef"),
            (Level::Error, "web-1  | Error: listen EADDRINUSE: address already in use :::3000"),
            (Level::Error, "src/a.c:3:5: error: expected ';'"),
            (Level::Warning, "src/a.c:3:5: warning: unused variable"),
            (Level::Info, "Server listening on http://localhost:3000/errors"),
            (Level::Info, "no errors"),
            (Level::Info, "error handling enabled"),
            (Level::Info, "Errors: 0, warnings: 0"),
            (Level::Info, "ERROR summary: 0 errors from 0 contexts"),
            (Level::Warning, "✖ 3 problems (0 errors, 3 warnings)"),
            (Level::Error, "✖ 3 problems (2 errors, 1 warning)"),
            (Level::Info, "build finished without errors"),
            (Level::Error, "[nodemon] app crashed - waiting for file changes before starting..."),
            (Level::Error, "Failed running 'app.js'. Waiting for file changes before restarting..."),
            (Level::Error, "web-1 exited with code 1"),
            (Level::Info, "web-1 exited with code 0"),
            (Level::Error, "PHP Parse error:  syntax error, unexpected token \";\" in /app/a.php on line 2"),
            (Level::Warning, "PHP Deprecated:  Creation of dynamic property is deprecated in /app/a.php on line 2"),
            (Level::Error, "Completed 500 Internal Server Error in 12ms (ActiveRecord: 0.0ms)"),
            (Level::Info, "Completed 200 OK in 12ms (Views: 3.1ms)"),
            (Level::Error, "fail: Microsoft.AspNetCore.Server.Kestrel[13]"),
            (Level::Error, "2026/11/17 12:00:00 http: panic serving 127.0.0.1:5000: boom"),
            (Level::Error, "Program.cs(5,13): error CS0103: The name 'x' does not exist in the current context"),
            (Level::Error, "time=2026-11-17T12:00:00Z level=ERROR msg=broken"),
            (Level::Warning, "Deprecation Warning [import]: Sass @import rules are deprecated"),
            (Level::Error, "failed to load config from /app/vite.config.js"),
            (Level::Error, "2:03:31 AM [vite] server restart failed"),
            (Level::Error, "[webpack-cli] Failed to load '/app/webpack.config.js' config"),
            (Level::Info, "2:03:32 AM [vite] server restarted."),
            (Level::Error, "orders failed: TypeError: Cannot read properties of undefined (reading 'rows')"),
            (Level::Error, "request failed AggregateError [ECONNREFUSED]: connect failed"),
            (Level::Error, "[AggregateError: All promises were rejected] {"),
            (Level::Error, "  + Exception Group Traceback (most recent call last):"),
            (Level::Error, "ERROR:    Traceback (most recent call last):"),
            (Level::Info, "12:00:00 INFO retry: gave up once, TimeoutError: slow"),
            (Level::Info, "see ErrorBoundary: docs"),
            (Level::Info, ""),
        ];
        let wrong: Vec<_> = table.iter().filter(|(level, line)| of(line) != *level).collect();
        assert!(wrong.is_empty(), "{:#?}", wrong.iter().map(|(_, line)| (line, of(line))).collect::<Vec<_>>());
    }
}
