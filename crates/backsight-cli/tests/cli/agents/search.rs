//! Whether a client that hides tools behind a search finds ours: Codex ranks them by BM25 over name, title, description and
//! the names of arguments. People do not know our words, so the requests here are in theirs.

use std::collections::HashMap;

use serde_json::Value;

use super::client::Agent;
use crate::fixture::Fixture;

/// How many tools a client looks at before it gives up.
const FIRST: usize = 3;

/// What people ask for every day, and the tools that are right for it. Written before the descriptions were.
const REQUESTS: [(&str, &str); 55] = [
    ("undo my last change", "files_undo"),
    ("workspace status", "workspace_status"),
    ("revert a file to before", "files_revert files_restore"),
    ("network failures in the app", "get_changes_since"),
    ("roll back", "files_undo files_revert files_restore"),
    ("what changed since I last looked", "workspace_status get_changes_since"),
    ("why is the page broken", "get_session_health get_changes_since"),
    ("console errors", "get_changes_since"),
    ("set a breakpoint", "breakpoint_set"),
    ("show local variables", "variables_get"),
    ("step over", "debug_control step_and_diff"),
    ("redo what I undid", "files_redo"),
    ("show me the diff of my changes", "files_diff"),
    ("list changed files", "files_changes"),
    ("read an old version of a file", "files_read"),
    ("go back to an earlier snapshot", "files_restore"),
    ("restore a deleted file", "files_restore"),
    ("take a snapshot of the files before editing", "files_track"),
    ("save the current state of the project", "files_track"),
    ("who changed this line", "history_query"),
    ("git blame", "history_query"),
    ("history of edits", "history_query"),
    ("what did the agent do in this session", "history_query"),
    ("name this piece of work", "milestone_create"),
    ("list milestones", "milestone_list"),
    ("read review comments", "review_comments"),
    ("accept the files as they are", "workspace_reset"),
    ("failed requests", "get_changes_since"),
    ("is the app healthy", "get_session_health"),
    ("mark a checkpoint before the refactor", "checkpoint_create"),
    ("ignore noisy console warnings", "noise_rules"),
    ("compare the app with when it worked", "baseline"),
    ("open a browser", "browser_attach"),
    ("connect to chrome", "browser_attach"),
    ("is a browser being watched", "browser_status"),
    ("debug a python program", "debug_launch"),
    ("attach the debugger to a running process", "debug_attach"),
    ("continue execution", "debug_control"),
    ("where did the program stop", "debug_state"),
    ("stop debugging", "debug_disconnect"),
    ("program output stdout", "debug_output"),
    ("list breakpoints", "breakpoint_list"),
    ("remove a breakpoint", "breakpoint_remove"),
    ("stack trace", "stacktrace_get"),
    ("evaluate an expression", "evaluate"),
    ("capture the variables of the paused program", "snapshot_create"),
    ("compare two snapshots", "snapshot_diff"),
    ("list the snapshots", "snapshot_list"),
    ("delete all snapshots", "snapshot_clear"),
    ("step and see what changed", "step_and_diff"),
    ("log a variable each time a line is hit", "snapshot_on"),
    ("watch a variable through a loop", "snapshot_on snapshot_series"),
    ("export a snapshot to a file", "snapshot_export"),
    ("undo everything the agent did in this message", "files_revert"),
    ("websocket disconnected", "get_changes_since"),
];

/// Written afterwards, to see how the descriptions do with words they were not made for.
const MORE: [(&str, &str); 96] = [
    ("I broke something, put it back the way it was", "files_undo files_restore files_revert"),
    ("which files did I touch", "files_changes workspace_status"),
    ("take back the last edit", "files_undo"),
    ("get back the file I deleted", "files_restore files_read"),
    ("uncommitted changes", "workspace_status files_changes files_diff"),
    ("what did the previous session change", "history_query"),
    ("find when a bug was introduced", "history_query bisect"),
    ("did my edit break the page", "get_changes_since get_session_health"),
    ("javascript exceptions in the browser", "get_changes_since"),
    ("404 and 500 responses", "get_changes_since"),
    ("launch the app in chrome", "browser_attach"),
    ("silence this warning", "noise_rules"),
    ("pause when an exception is thrown", "breakpoint_set"),
    ("value of x at this line", "evaluate variables_get"),
    ("run until line 40", "debug_control"),
    ("call stack of the crash", "stacktrace_get"),
    ("print a variable", "variables_get evaluate"),
    ("how does this variable change over iterations", "snapshot_series snapshot_on"),
    ("kill the debugged process", "debug_disconnect"),
    ("tag this version", "milestone_create"),
    ("inspect nested object fields", "variables_get snapshot_get"),
    ("diff variables before and after a function call", "snapshot_diff step_and_diff"),
    ("conditional breakpoint", "breakpoint_set"),
    ("performance regression of the endpoints", "baseline"),
    ("oops, revert that", "files_revert files_undo files_restore"),
    ("discard the changes I just made", "files_undo files_revert files_restore"),
    ("go back to how the code was an hour ago", "files_restore"),
    ("show what is different from the last save", "files_diff files_changes workspace_status"),
    ("see the file before my edit", "files_read files_diff"),
    ("save a restore point", "files_track milestone_create checkpoint_create"),
    ("reapply the undone change", "files_redo"),
    ("who edited main.py", "history_query"),
    ("recent activity of other agents", "history_query"),
    ("any new errors after my fix", "get_changes_since"),
    ("check the website for failing API calls", "get_changes_since"),
    ("is the frontend ok", "get_session_health"),
    ("attach to my browser tab", "browser_attach"),
    ("mute a known error", "noise_rules"),
    ("start the script under a debugger", "debug_launch"),
    ("break at line 12 of app.py", "breakpoint_set"),
    ("step into the function", "debug_control"),
    ("what is the value of total", "evaluate variables_get"),
    ("show the backtrace", "stacktrace_get"),
    ("what did the script print", "debug_output"),
    ("track how a value evolves in a for loop", "snapshot_series snapshot_on"),
    ("resume the program", "debug_control"),
    ("clear breakpoint 3", "breakpoint_remove"),
    ("did the api get slower than before", "baseline"),
    ("cancel the last modification", "files_undo files_revert"),
    ("bring my files back to yesterday's state", "files_restore"),
    ("drop what the subagent did", "files_revert"),
    ("what have I modified so far", "workspace_status files_changes files_diff"),
    ("show the patch of step 12", "files_diff"),
    ("view a previous version of config.json", "files_read"),
    ("make a backup before a risky refactor", "files_track checkpoint_create"),
    ("list past edits to a file", "history_query"),
    ("mark the feature as done", "milestone_create checkpoint_create"),
    ("errors in the browser console", "get_changes_since"),
    ("did any request fail", "get_changes_since"),
    ("how is the app doing", "get_session_health"),
    ("start chromium headless", "browser_attach"),
    ("stop reporting the favicon error", "noise_rules"),
    ("debug my node server", "debug_launch"),
    ("pause at a function", "breakpoint_set"),
    ("where am I in the program", "debug_state"),
    ("go to the next line", "debug_control step_and_diff"),
    ("look at the arguments of the function", "variables_get"),
    ("compute len(items) in the paused frame", "evaluate"),
    ("which variables changed after the call", "step_and_diff snapshot_diff"),
    ("remember the variables here", "snapshot_create"),
    ("terminate the debug session", "debug_disconnect"),
    ("table of values for each iteration", "snapshot_series"),
    ("put the old code back", "files_restore files_revert files_undo"),
    ("unstage everything I did today", "files_revert files_restore"),
    ("which lines are different now", "files_diff"),
    ("is my working tree dirty", "workspace_status"),
    ("show me an earlier copy of main.rs", "files_read files_restore"),
    ("commit a checkpoint of my work", "files_track milestone_create checkpoint_create"),
    ("who wrote this function", "history_query"),
    ("timeline of the session", "history_query"),
    ("any red messages in the devtools console", "get_changes_since"),
    ("the login request returns 401", "get_changes_since noise_rules"),
    ("health check", "get_session_health"),
    ("attach to chrome on port 9222", "browser_attach"),
    ("filter out hot reload messages", "noise_rules"),
    ("did anything regress since the release", "baseline get_changes_since"),
    ("run the tests under the debugger", "debug_launch"),
    ("stop when x is greater than 5", "breakpoint_set"),
    ("step out of this function", "debug_control"),
    ("what are the arguments of the current frame", "variables_get stacktrace_get"),
    ("show threads", "stacktrace_get"),
    ("print the program's stderr", "debug_output"),
    ("snapshot of local state at the breakpoint", "snapshot_create"),
    ("what changed between the two captures", "snapshot_diff"),
    ("delete the snapshot named before", "snapshot_delete"),
    ("write the captured values to disk", "snapshot_export"),
];

/// The tools as a search sees them.
struct Index {
    names: Vec<String>,
    documents: Vec<HashMap<String, f64>>,
}

/// How a search takes a text apart.
type Words = fn(&str) -> Vec<String>;

/// Every word as it is.
fn plain(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// Words without their endings, and without those that mean nothing alone, much as the search of Codex has them.
fn stems(text: &str) -> Vec<String> {
    const EMPTY: &str = "a an the of to in is it i my me this that was were be been with for on at and or by as are";
    plain(text).iter().filter(|word| !EMPTY.split(' ').any(|empty| empty == *word)).map(|word| stem(word)).collect()
}

fn stem(word: &str) -> String {
    let ending =
        ["ing", "ed", "es", "s", "ly"].into_iter().find(|end| word.ends_with(end) && word.len() >= end.len() + 3);
    let root = word.strip_suffix(ending.unwrap_or("")).unwrap_or(word);
    if root.len() > 3 { root.trim_end_matches('e').to_owned() } else { root.to_owned() }
}

impl Index {
    fn new(tools: &[Value], words: Words) -> Index {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let names: Vec<String> = tools.iter().map(|tool| text(&tool["name"])).collect();
        let documents = tools.iter().map(|tool| {
            let arguments = tool["inputSchema"]["properties"].as_object().unwrap().keys().cloned();
            let parts = [text(&tool["name"]), text(&tool["title"]), text(&tool["description"]), "backsight".to_owned()];
            let mut counts = HashMap::new();
            for word in parts.into_iter().chain(arguments).flat_map(|part| words(&part)) {
                *counts.entry(word).or_insert(0.0) += 1.0;
            }
            counts
        });
        Index { names, documents: documents.collect() }
    }

    /// The tools that answer, best first.
    fn search(&self, words: &[String]) -> Vec<&str> {
        let mut found: Vec<(f64, &str)> = self
            .names
            .iter()
            .zip(&self.documents)
            .map(|(name, document)| (words.iter().map(|word| self.score(document, word)).sum(), name.as_str()))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        found.into_iter().map(|(_, name)| name).collect()
    }

    /// What one word is worth in one document: Okapi BM25.
    fn score(&self, document: &HashMap<String, f64>, word: &str) -> f64 {
        const K1: f64 = 1.2;
        const B: f64 = 0.75;
        let length = |document: &HashMap<String, f64>| document.values().sum::<f64>();
        let count = self.documents.len() as f64;
        let average = self.documents.iter().map(length).sum::<f64>() / count;
        let with = self.documents.iter().filter(|document| document.contains_key(word)).count() as f64;
        let rarity = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
        let often = document.get(word).copied().unwrap_or(0.0);
        rarity * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * length(document) / average))
    }
}

#[test]
fn a_search_in_everyday_words_finds_the_right_tool_among_the_first_three() {
    let tools = Agent::new(&Fixture::new()).tools();
    assert_eq!(tools.len(), 49);
    for (how, words) in [("plain", plain as Words), ("stems", stems)] {
        let index = Index::new(&tools, words);
        for (what, requests) in [("everyday", &REQUESTS[..]), ("more", &MORE)] {
            let is_missed = |(request, right): &&(&str, &str)| {
                let found = index.search(&words(request));
                !found.iter().take(FIRST).any(|name| right.split(' ').any(|right| right == *name))
            };
            let missed: Vec<&(&str, &str)> = requests.iter().filter(is_missed).collect();
            let share = 1.0 - missed.len() as f64 / requests.len() as f64;
            assert!(share >= 0.9, "{how}, {what}: {share:.2}, missed {missed:?}");
        }
    }
}

/// Codex leaves the name in one piece, and clients that know no titles have only what the description says.
#[test]
fn a_description_alone_has_the_words_of_its_tool() {
    let mut tools = Agent::new(&Fixture::new()).tools();
    for tool in &mut tools {
        let name = tool["name"].as_str().unwrap().replace('_', "");
        tool["name"] = name.into();
        tool["title"] = Value::Null;
    }
    let index = Index::new(&tools, plain);
    let is_missed = |(request, right): &&(&str, &str)| {
        let found = index.search(&plain(request));
        !found.iter().take(FIRST).any(|name| right.replace('_', "").split(' ').any(|right| right == *name))
    };
    let missed: Vec<&(&str, &str)> = REQUESTS.iter().filter(is_missed).collect();
    assert!(missed.len() * 10 <= REQUESTS.len(), "{missed:?}");
}
