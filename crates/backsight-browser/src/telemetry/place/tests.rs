//! Places as they are shown, for what frameworks and compilers really say.

use serde_json::json;

use super::*;

fn said(message: &str, files: &[&str]) -> String {
    let stack: Vec<_> = files.iter().map(|file| json!({ "file": file, "line": 15, "column": 3 })).collect();
    let console = json!({ "time": "2026-11-17T12:00:00Z", "level": "error", "message": message, "stack": stack, "page": "http://127.0.0.1:5173/cart?x=1" });
    of(&serde_json::from_value(console).expect("a message"))
}

#[test]
fn the_place_is_the_first_of_the_apps_own() {
    let home = "http://127.0.0.1:5173";
    let own = format!("{home}/src/App.jsx?t=17");
    for library in [
        format!("{home}/node_modules/.vite/deps/react-dom_client.js?v=8f2a"),
        "node_modules/react-dom/cjs/react-dom-client.development.js".to_owned(),
        format!("{home}/@vite/client"),
        format!("{home}/@react-refresh"),
        format!("{home}/.angular/cache/21/app/vite/deps/@angular_core.js"),
        "webpack-internal:///(app-pages-browser)/./node_modules/next/dist/client/app-index.js".to_owned(),
        "webpack/bootstrap".to_owned(),
        "webpack/runtime/jsonp chunk loading".to_owned(),
        "[turbopack]/browser/runtime/base/build-base.ts".to_owned(),
        "chrome-extension://abcdef/content.js".to_owned(),
        "node:internal/process/task_queues".to_owned(),
        "eval at run (http://127.0.0.1:5173/vendor.js:1:2), <anonymous>".to_owned(),
        "/usr/lib/python3.11/asyncio/base_events.py".to_owned(),
        "/app/.venv/lib/python3.11/site-packages/django/core/handlers/base.py".to_owned(),
    ] {
        assert_eq!(said("TypeError: x", &[&library, &own]), "src/App.jsx:15", "{library}");
    }
    let library = format!("{home}/node_modules/.vite/deps/vue.js?v=1");
    assert_eq!(said("x", &[&library]), "node_modules/.vite/deps/vue.js:15", "a library's is better than none");
    assert_eq!(said("x", &["webpack-internal:///./src/App.js"]), "src/App.js:15");
    assert_eq!(said("x", &["http://elsewhere.test/a.js"]), "http://elsewhere.test/a.js:15");
    assert_eq!(said("x", &["http://127.0.0.1:5173/"]), "http://127.0.0.1:5173/:15");
}

#[test]
fn a_component_stack_in_the_text_names_the_place() {
    let library = "http://127.0.0.1:5173/node_modules/.vite/deps/chunk-7X.js";
    let warning = "Warning: Each child in a list should have a unique \"key\" prop.\n    at li\n    at Row (http://127.0.0.1:5173/node_modules/.vite/deps/rows.js:9:9)\n    at List (http://127.0.0.1:5173/src/List.jsx:21:3)\n    at App (http://127.0.0.1:5173/src/App.jsx:15:3)";
    assert_eq!(said(warning, &[library]), "src/List.jsx:21");
}

#[test]
fn a_compilers_words_name_the_place() {
    let library = "http://127.0.0.1:5173/node_modules/webpack-dev-server/client/index.js";
    for (words, place) in [
        ("ERROR in ./src/App.js 3:0-20\nModule not found: Error: Can't resolve './x' in '/app/src'", "src/App.js:3"),
        ("./src/app/page.js:7:1\nModule not found: Can't resolve './missing'", "src/app/page.js:7"),
        ("[plugin:vite:react-babel] /app/src/Cart.jsx: Unexpected token, expected \",\" (4:17)", "/app/src/Cart.jsx:4"),
        ("Transform failed with 1 error:\nsrc/Cart.jsx:4:17: ERROR: Unexpected \"}\"", "src/Cart.jsx:4"),
        ("[PARSE_ERROR] Unexpected token\n   ╭─[ src/Cart.jsx:4:17 ]\n   │", "src/Cart.jsx:4"),
        ("[vue/compiler-sfc] Unexpected token (3:4)\n\n/app/src/App.vue\n3  |  const a = ;", "/app/src/App.vue:3"),
        ("[plugin:vite-plugin-svelte] src/App.svelte:12:5 `</p>` attempted to close an element", "src/App.svelte:12"),
        ("ERROR in src/main.ts:10:5\nTS2322: Type 'string' is not assignable to type 'number'.", "src/main.ts:10"),
        ("Build failed: node_modules/x/index.js:1:1 imported by src/index.ts:2:8", "src/index.ts:2"),
    ] {
        assert_eq!(said(words, &[library]), place, "{words}");
    }
    assert_eq!(said("the file a.js was not found", &[]), "", "a file without a line is no place");
    assert_eq!(said("at 10:45 the user said: hello", &[]), "");
}

#[test]
fn a_time_after_a_files_name_is_no_line_of_it() {
    let words = "failed to load config from /app/vite.config.js: 5:43:50 AM [vite] svelt is not defined";
    assert_eq!(said(words, &[]), "");
    let console = json!({ "time": "2026-11-17T12:00:00Z", "level": "error", "speaker": "terminal", "message": words, "page": "vite" });
    assert_eq!(of(&serde_json::from_value(console).expect("a message")), "/app/vite.config.js");
    assert_eq!(said("ERROR in ./src/index.js 3:0-24", &[]), "src/index.js:3");
}

#[test]
fn an_error_without_a_place_of_the_apps_own_is_where_one_behind_it_is() {
    let file = "http://127.0.0.1:5173/src/load.js";
    let inner = json!({ "message": "Error: no order", "stack": [{ "file": file, "line": 8, "column": 3 }] });
    let console = json!({ "time": "2026-11-17T12:00:00Z", "level": "error", "message": "AggregateError: All promises were rejected",
        "causes": [inner.clone(), inner.clone(), inner.clone(), inner], "page": "http://127.0.0.1:5173/" });
    let console = serde_json::from_value(console).expect("a message");
    assert_eq!(of(&console), "src/load.js:8");
    assert_eq!(causes(&console), ["Error: no order @ src/load.js:8"; 3]);
}
