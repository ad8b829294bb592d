//! One keeper of secrets: the same secret has the same tag in a console line, on a terminal, in a captured variable and in
//! the title of a session, also in the next process. The secrets are those of `backsight-redact`'s own corpus.

use backsight::browser::Ingest;
use backsight::browser::entry::LogAsk;
use backsight::browser::event::{Console, Event, Level, Speaker};
use backsight::debug::session::Launch;
use backsight::debug::walk::CapturePlan;
use backsight::{Timestamp, Workspace};
use serde_json::json;

use crate::debug::{LIMIT, opened, section, workspace};
use crate::scene::Scene;

/// The lines of the corpus: the text, and the secret in it.
fn corpus() -> Vec<(String, String)> {
    let lines = include_str!("../../../backsight-redact/tests/corpus.txt").lines();
    let marked = lines.filter(|line| !line.starts_with('#')).map(|line| {
        let (before, rest) = line.split_once('«').unwrap();
        let (secret, after) = rest.split_once('»').unwrap();
        (format!("{before}{secret}{after}"), secret.to_owned())
    });
    marked.collect()
}

/// The one tag in a text that must not hold the secret.
#[track_caller]
fn tag(text: &str, secret: &str) -> String {
    assert!(!text.contains(secret), "{secret} in {text}");
    let tags: Vec<&str> = text.split("[REDACTED:").skip(1).filter_map(|rest| rest.split([':', ']']).nth(1)).collect();
    let [tag] = tags[..] else { panic!("one marker in {text}") };
    tag.to_owned()
}

fn said(workspace: &Workspace, speaker: Speaker, message: &str) -> String {
    let (level, message) = (Level::Error, message.to_owned());
    let console = Console {
        time: Timestamp(1),
        level,
        speaker,
        message,
        stack: Vec::new(),
        causes: Vec::new(),
        page: None,
        backfilled: false,
    };
    let events = vec![Event::Console(console).into()];
    workspace.browser().unwrap().ingest(Ingest { source: "page".to_owned(), events, ..Ingest::default() });
    let page = workspace.browser_log("test", &LogAsk { limit: Some(1), ..LogAsk::default() }).unwrap();
    let shown = serde_json::to_value(&page.rows[0]).unwrap();
    shown["text"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned()
}

/// The texts of the captured variables, in the order of the program.
fn captured(workspace: &Workspace) -> Vec<String> {
    let launch = Launch { program: "shop.toy".into(), wait: LIMIT, ..Launch::default() };
    workspace.debug_launch(None, launch).unwrap_or_else(|error| panic!("{error}"));
    let debugger = workspace.debugger().unwrap();
    let taken = debugger.create_snapshot(None, None, CapturePlan::default()).unwrap().snapshot.id;
    let capture = debugger.snapshot(None, &taken).unwrap();
    let texts = capture.frames[0].variables.iter().map(|variable| variable.value.text.clone()).collect();
    debugger.disconnect(None, None).unwrap();
    texts
}

#[test]
fn a_secret_has_one_tag_in_every_lane() {
    let scene = Scene::of(&["a"]);
    let workspace = workspace(&scene, &section());
    let corpus = corpus();
    let variable = |index: usize, text: &str| json!({ "name": format!("v{index:03}"), "value": text, "type": "str", "variablesReference": 0 });
    let program: Vec<_> = corpus.iter().enumerate().map(|(index, (text, _))| variable(index, text)).collect();
    scene.write("shop.toy", serde_json::to_string(&program).unwrap());
    let variables = captured(&workspace);
    assert_eq!(variables.len(), corpus.len());
    for (index, (text, secret)) in corpus.iter().enumerate() {
        let session = format!("s{index}");
        workspace.note_conversation(&session, "codex", Some(text)).unwrap();
        let title = workspace.conversation(&session).unwrap().title.unwrap();
        let tags = [
            tag(&said(&workspace, Speaker::Page, text), secret),
            tag(&said(&workspace, Speaker::Terminal, text), secret),
            tag(&variables[index], secret),
            tag(&title, secret),
        ];
        assert!(tags.iter().all(|tag| *tag == tags[0]), "{text}: {tags:?}");
    }
    // The next process has the same tags.
    let next = opened(&scene);
    let before = said(&workspace, Speaker::Page, &corpus[0].0);
    assert_eq!(said(&next, Speaker::Page, &corpus[0].0), before);
}
