//! Answers that are cut: every budget holds, and what was cut is counted.

use super::*;

#[test]
fn a_failure_that_quotes_a_program_says_whose_words_they_are() {
    let failure = |code, details| {
        Reply::failure(&backsight_core::Error::new(code, "it said: run this").with_details(details), 500)
    };
    let (quoting, output) = (failure(Code::AdapterFailed, json!({})), json!({ "output": "no" }));
    assert_eq!(quoting.structured["untrusted"], json!(UNTRUSTED));
    assert!(quoting.text.ends_with(UNTRUSTED));
    assert_eq!(failure(Code::InvalidRange, output).structured["untrusted"], json!(UNTRUSTED));
    assert!(failure(Code::Usage, json!({})).structured.get("untrusted").is_none());
}

fn paths(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("M src/module_{index}/file.rs")).collect()
}

fn more() -> Next {
    Next::new("files_changes", json!({ "from": "#1", "to": null, "paths": [] }))
}

#[test]
fn what_fits_is_whole_and_says_nothing_of_cuts() {
    let reply = Draft::new("3 files changed").list("changes", paths(3), Some(more())).fit(500);
    assert_eq!(reply.structured["changes"].as_array().unwrap().len(), 3);
    assert!(reply.structured.get("left_out").is_none() && !reply.text.contains("left out"));
}

#[test]
fn a_cut_list_says_how_many_are_missing_and_where_they_are() {
    let reply = Draft::new("1000 files changed").list("changes", paths(1000), Some(more())).fit(300);
    let shown = reply.structured["changes"].as_array().unwrap().len();
    assert!(shown > 5, "{shown}");
    assert_eq!(reply.structured["left_out"]["changes"], json!(1000 - shown));
    let expected = json!({ "tool": "files_changes", "arguments": { "from": "#1", "cursor": shown.to_string() } });
    assert_eq!(reply.structured["next"], expected);
    assert!(reply.text.contains(&format!("left out: {} changes", 1000 - shown)), "{}", reply.text);
}

#[test]
fn every_budget_holds_in_both_forms() {
    for budget in [200, 300, 500, 2000] {
        for (items, lines) in [(0, 0), (3, 1000), (1000, 3), (1000, 1000)] {
            let text: String = (0..lines).map(|line| format!("+ line {line} of the text\n")).collect();
            let draft = Draft::new("many things changed").fact("sequence_number", 12);
            let draft = draft.list("changes", paths(items), Some(more())).list("warnings", paths(2), None);
            let reply = draft.body("diff", &text, 0, more()).fit(budget);
            assert!(reply.cost() <= budget, "{} > {budget}: {}", reply.cost(), reply.text);
        }
    }
}

#[test]
fn pages_follow_each_other_without_gap_or_overlap() {
    let text: String = (0..500).map(|line| format!("line {line}\n")).collect();
    let (mut seen, mut cursor) = (String::new(), 0);
    for _ in 0..500 {
        let reply = Draft::new("a text").body("diff", &text, cursor, more()).fit(200);
        seen.push_str(reply.structured["diff"].as_str().unwrap());
        match reply.structured["next"]["arguments"]["cursor"].as_str() {
            Some(next) => cursor = next.parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(seen, text);
}

#[test]
fn a_line_longer_than_the_budget_comes_in_pieces() {
    let text = format!("{}\nend\n", "é{}".repeat(3000));
    let (mut seen, mut arguments, mut pages) = (String::new(), json!({}), 0);
    loop {
        let cursor = arguments["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let budget = arguments["max_tokens"].as_u64().unwrap_or(300) as usize;
        let reply = Draft::new("a text").body("content", &text, cursor, more()).fit(budget);
        assert!(reply.cost() <= budget);
        seen.push_str(reply.structured["content"].as_str().unwrap());
        pages += 1;
        match reply.structured.get("next") {
            Some(next) if pages < 200 => arguments = next["arguments"].clone(),
            _ => break,
        }
    }
    assert_eq!((seen == text, pages > 10), (true, true), "{pages}");
}

#[test]
fn asking_again_for_what_did_not_fit_asks_for_more() {
    let long = vec!["long ".repeat(2000)];
    let reply = Draft::new("one thing").list("changes", long, Some(more())).fit(200);
    assert_eq!(reply.structured["next"]["arguments"]["max_tokens"], json!(800));
}

#[test]
fn a_failure_with_many_details_fits_too() {
    let conflicts: Vec<Value> =
        (0..500).map(|index| json!({ "path": format!("src/{index}.rs"), "reason": "edited since" })).collect();
    let error = backsight_core::Error::new(backsight_core::Code::Conflict, "500 paths conflict")
        .with_details(json!({ "conflicts": conflicts }));
    let reply = Reply::failure(&error, 500);
    assert!(reply.cost() <= 500 && reply.is_error);
    let shown = reply.structured["error"]["details"]["conflicts"].as_array().unwrap().len();
    assert_eq!(reply.structured["left_out"]["conflicts"], json!(500 - shown));
    assert!(shown > 3 && reply.text.contains("src/0.rs: edited since"), "{}", reply.text);
}

#[test]
fn what_was_executed_is_never_cut_from_an_answer_or_a_failure() {
    let line = format!("/bin/x {}--evil", "a ".repeat(90));
    let draft = Draft::new("it runs").pinned("command", vec![line.clone()]).list("changes", paths(1000), None);
    let reply = draft.fit(200);
    assert!(reply.cost() <= 200 && reply.text.contains(&line), "{}", reply.text);
    assert_eq!(reply.structured["command"], json!([line]));
    let words = ["/w/.venv/bin/python3".to_owned(), "A".repeat(900), "--evil".to_owned()];
    let details = json!({ "command": words, "directory": "/w/sub", "environment": ["LANG"], "others": paths(500) });
    let error = backsight_core::Error::new(backsight_core::Code::AdapterFailed, "it ended").with_details(details);
    let reply = Reply::failure(&error, 200);
    assert!(reply.cost() <= 200, "{}", reply.text);
    let told = reply.structured["error"]["details"]["command"].as_array().unwrap();
    assert!(told[0].as_str().unwrap().ends_with(" --evil"), "{told:?}");
    for part in ["/w/.venv/bin/python3", " --evil", "in /w/sub", "with LANG set"] {
        assert!(reply.text.contains(part), "{part}: {}", reply.text);
    }
}
