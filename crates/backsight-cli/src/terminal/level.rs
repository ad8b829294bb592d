//! How serious a line is, by what compilers, test runners, servers and loggers write. What cannot be told is only
//! information: a dev server that prints much must not look broken.

use std::sync::LazyLock;

use backsight::browser::event::Level;
use regex::Regex;

/// What stands before the words that matter: times, labels in brackets, the name of a container.
const BEFORE: &str = r"^\s*(?:\d[\d:.,TZ+/-]*(?:\s?[AP]M)?\s+|\[[^\]]{1,40}\]:?\s*|[\w.-]{1,24}\s*\|\s+|[❯▲●✘]\s+)*";

/// Lines that begin so are errors.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    starting(&[
        // `error:`, `Error:`, `error[E0308]:`, `Type error:`
        r"(?:\w+\s)?(?i:error)(?:\[\w+\])?:",
        r"(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b",
        r"\[(?:ERROR|FATAL|CRITICAL)\]",
        r"(?:---\s)?FAIL(?:ED|URE)?(?::|\s+\S)",
        r"npm (?:ERR!|error)\s",
        r"error\s(?:Command failed|An unexpected)",
        r"[✖✗✘❌⨯×✕]\s",
        r"(?i:fatal(?:\serror)?):",
        r"(?:Uncaught|Unhandled)",
        // `TypeError: ...`, `java.lang.NullPointerException: ...`, a bare `AssertionError`
        r"(?:[A-Za-z_$][\w$]*(?:\.|::))*[A-Z]\w*(?:Error|Exception)(?:\s[\[(]\w+[\])])?(?::|$)",
        r"panic:",
        r"thread '.*' (?:\(\d+\) )?panicked at",
        r"Traceback \(most recent call last\):",
        r"Segmentation fault",
        r"Failed to (?:compile|load|build)",
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
        r"\blevel=(?:error|fatal|critical)\b",
        r#""(?:level|severity)":\s?"(?i:error|fatal|critical)""#,
    ])
});

/// Lines that begin so are warnings.
static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    starting(&[
        r"(?i:warn(?:ing)?)(?:\[\w+\])?:",
        r"(?:WARN|WARNING)\b",
        r"\[(?:WARN|WARNING)\]",
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
        r"\blevel=warn(?:ing)?\b",
        r#""(?:level|severity)":\s?"(?i:warn(?:ing)?)""#,
    ])
});

/// The level as loggers write it, near the beginning; the first one counts.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| one_of(&[r"^.{0,60}?\b(ERROR|FATAL|CRITICAL|WARN|WARNING|INFO|NOTICE|DEBUG|TRACE|VERBOSE)\b"]));

/// How serious a line is.
pub fn of(line: &str) -> Level {
    let matches = |pattern: &LazyLock<Option<Regex>>| pattern.as_ref().is_some_and(|regex| regex.is_match(line));
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
        for pattern in [&ERROR, &ERROR_WITHIN, &WARNING, &WARNING_WITHIN, &WORD] {
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
            (Level::Info, ""),
        ];
        let wrong: Vec<_> = table.iter().filter(|(level, line)| of(line) != *level).collect();
        assert!(wrong.is_empty(), "{:#?}", wrong.iter().map(|(_, line)| (line, of(line))).collect::<Vec<_>>());
    }
}
