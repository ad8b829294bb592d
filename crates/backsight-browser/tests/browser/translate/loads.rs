//! Pages that load themselves for ever, and downloads that bring no file.

use serde_json::json;

use super::{Desk, sent};

const LOOP: &str = "Error Browser: the page loads itself again and again without the user: ";

/// The page asks for a document by itself; nothing is the browser's or the user's doing.
fn loads(desk: &mut Desk, reason: Option<&str>, url: &str, id: usize) {
    if let Some(reason) = reason {
        let requested = json!({ "frameId": "TP", "reason": reason, "url": url, "disposition": "currentTab" });
        desk.hear("P", "Page.frameRequestedNavigation", requested);
    }
    let mut document = sent(&format!("D{id}"), "GET", url, "Document", 1.0);
    let frames = json!([{ "functionName": "again", "url": "http://app/a.js", "lineNumber": 6, "columnNumber": 2 }]);
    document["initiator"] = json!({ "type": "script", "stack": { "callFrames": frames } });
    desk.hear("P", "Network.requestWillBeSent", document);
}

fn told(desk: &mut Desk) -> Vec<String> {
    desk.lines().into_iter().filter(|line| line.starts_with(LOOP)).collect()
}

#[test]
fn a_page_that_loads_itself_for_ever_is_an_error_with_every_load() {
    let ways = [
        ("reload", "location.reload()"),
        ("metaTagRefresh", "a meta refresh"),
        ("httpHeaderRefresh", "a Refresh header"),
        ("formSubmissionPost", "a form that is sent by itself"),
        ("scriptInitiated", "a navigation by script"),
    ];
    for (reason, how) in ways {
        let mut desk = Desk::page();
        for load in 0..3 {
            loads(&mut desk, Some(reason), &format!("http://app/?n={load}"), load);
            desk.wait(500);
        }
        assert_eq!(told(&mut desk), Vec::<String>::new(), "three times may be an app's way to begin");
        for load in 3..6 {
            loads(&mut desk, Some(reason), &format!("http://app/?n={load}"), load);
            assert_eq!(told(&mut desk), [format!("{LOOP}{how} @ again a.js:7:3")], "{reason} {load}");
            desk.wait(500);
        }
    }
}

#[test]
fn two_pages_that_send_each_other_back_are_a_loop_and_a_way_through_several_is_none() {
    let mut desk = Desk::page();
    for load in 0..6 {
        loads(&mut desk, Some("scriptInitiated"), ["http://app/a", "http://app/login"][load % 2], load);
    }
    assert_eq!(told(&mut desk), Vec::<String>::new());
    loads(&mut desk, Some("scriptInitiated"), "http://app/a", 6);
    assert_eq!(told(&mut desk).len(), 1);
    let mut desk = Desk::page();
    for load in 0..20 {
        loads(&mut desk, Some("scriptInitiated"), &format!("http://app/step-{load}"), load);
    }
    assert_eq!(told(&mut desk), Vec::<String>::new());
}

#[test]
fn loads_that_others_asked_for_or_that_take_their_time_are_no_loop() {
    let click = json!({ "name": "__backsightActions", "executionContextId": 1,
        "payload": json!({ "kind": "click", "target": "#next", "at": 0, "trusted": true }).to_string() });
    type Happen<'a> = &'a dyn Fn(&mut Desk);
    let between: [(&str, Happen<'_>); 3] = [
        ("the user clicks", &|desk| desk.hear("P", "Runtime.bindingCalled", click.clone())),
        ("the browser loads it", &|desk| loads(desk, None, "http://app/", 99)),
        ("a pause", &|desk| desk.wait(3_500)),
    ];
    for (what, happen) in between {
        let mut desk = Desk::page();
        for load in 0..8 {
            loads(&mut desk, Some("reload"), "http://app/", load);
            happen(&mut desk);
        }
        assert_eq!(told(&mut desk), Vec::<String>::new(), "{what}");
    }
}

/// A download of an address in these states.
fn download(desk: &mut Desk, url: &str, states: &[&str]) -> Vec<String> {
    let begun = json!({ "frameId": "TP", "guid": "g", "url": url, "suggestedFilename": "orders.csv" });
    desk.hear("P", "Page.downloadWillBegin", begun);
    for state in states {
        desk.hear(
            "P",
            "Page.downloadProgress",
            json!({ "guid": "g", "totalBytes": 8, "receivedBytes": 0, "state": state }),
        );
    }
    desk.lines()
}

#[test]
fn a_download_without_a_file_is_a_failed_request_until_it_brings_one() {
    let mut desk = Desk::page();
    let (url, began) = ("http://app/orders.csv", "Info Browser: download began: orders.csv".to_owned());
    let whole = ["inProgress", "inProgress", "completed"];
    assert_eq!(download(&mut desk, url, &whole), [began.as_str()], "a request or nobody tells what goes well");
    let refused = "the download got no file: its address was refused, most likely with an error status";
    assert_eq!(download(&mut desk, url, &["canceled"]), [began.clone(), format!("GET {url} 0 download !{refused}")]);
    let lost = "the download ended before all of it came: the connection was lost, or it was given up";
    let told = download(&mut desk, url, &["inProgress", "canceled"]);
    assert_eq!(told, [began.clone(), format!("GET {url} 0 download !{lost}")]);
    assert_eq!(
        download(&mut desk, url, &whole),
        [began.clone(), format!("GET {url} 200 download")],
        "it has recovered"
    );
    assert_eq!(download(&mut desk, url, &whole), [began.as_str()]);
    assert_eq!(download(&mut desk, "blob:http://app/1", &["canceled"]), [began], "it never left the page");
}
