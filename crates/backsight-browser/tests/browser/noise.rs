//! Rules as callers send, list and keep them.

use std::time::{Duration, Instant};

use backsight_browser::event::{Category, Level};
use backsight_browser::noise::{NewRule, Rule, Rules, Subject};
use backsight_core::Timestamp;
use proptest::prelude::*;
use serde_json::json;

fn message(text: &str) -> Subject<'_> {
    Subject {
        category: Category::Console,
        level: Some(Level::Error),
        text,
        source: "http://localhost:3000/main.js",
        url: "http://localhost:3000/",
        method: "",
        status: None,
    }
}

#[test]
fn the_wire_form_of_a_rule_is_flat_and_says_only_what_was_said() {
    let sent =
        json!({"id": "ours", "categories": ["network"], "url": "^https://cdn\\.", "status": "5xx", "reason": "flaky"});
    let new: NewRule = serde_json::from_value(sent).unwrap();
    let mut rules = Rules::builtin();
    let added = rules.add(vec![new], Timestamp(0)).unwrap();
    let kept = serde_json::to_value(&added[0]).unwrap();
    assert_eq!(
        kept,
        json!({"id": "ours", "enabled": true, "categories": ["network"], "url": "^https://cdn\\.", "status": "500-599",
            "reason": "flaky", "created": "1970-01-01T00:00:00.000Z"})
    );
    assert_eq!(serde_json::from_value::<Rule>(kept).unwrap(), added[0]);
}

#[test]
fn the_schema_of_a_new_rule_is_small() {
    let schema = schemars::schema_for!(NewRule).to_value();
    let tokens = backsight_core::estimate_tokens(&schema["properties"].to_string());
    assert!(tokens < 400, "{tokens}: {schema}");
    assert_eq!(schema["additionalProperties"], false);
}

/// A pattern made to drive backtracking engines to despair, on the longest text a fingerprint looks at.
#[test]
fn no_pattern_takes_longer_than_the_text_is_long() {
    let mut rules = Rules::builtin();
    let evil = ["(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"];
    let evil = evil.map(|text| NewRule { text: Some(text.into()), ..NewRule::default() });
    rules.add(evil.to_vec(), Timestamp(0)).unwrap();
    let text = format!("{}!", "a".repeat(8192));
    let start = Instant::now();
    assert_eq!(rules.noise(&message(&text)), None);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

proptest! {
    /// Whatever rules there are, a refused login is heard.
    #[test]
    fn refusals_are_never_noise(url in "[a-z/.:]{0,30}", status in prop::sample::select(vec![401_u16, 403]), pattern in "[a-z/]{1,5}") {
        let mut rules = Rules::builtin();
        let _ = rules.add(vec![NewRule { url: Some(pattern), ..NewRule::default() }], Timestamp(0));
        let subject =
            Subject { category: Category::Network, url: &url, method: "GET", status: Some(status), level: None, ..message("") };
        prop_assert_eq!(rules.noise(&subject), None);
    }

    /// Adding, switching and removing in any order keeps ids unique, and the store brings back the same rules.
    #[test]
    fn rules_are_the_same_after_the_store(steps in prop::collection::vec((0_u8..4, 0_usize..6), 0..30)) {
        let mut rules = Rules::builtin();
        for (step, number) in steps {
            let known: Vec<String> = rules.list().into_iter().map(|rule| rule.id).collect();
            let id = known[number % known.len()].clone();
            match step {
                0 => drop(rules.add(vec![NewRule { text: Some(format!("t{number}")), ..NewRule::default() }], Timestamp(0))),
                1 => drop(rules.remove(&id)),
                _ => drop(rules.set_enabled(&id, step == 2)),
            }
        }
        let mut ids: Vec<String> = rules.list().into_iter().map(|rule| rule.id).collect();
        ids.sort();
        let many = ids.len();
        ids.dedup();
        prop_assert_eq!(ids.len(), many);
        let mut again = Rules::builtin();
        prop_assert_eq!(again.restore(rules.to_store()), Vec::<String>::new());
        prop_assert_eq!(again.list(), rules.list());
    }
}
