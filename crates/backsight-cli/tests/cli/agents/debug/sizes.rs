//! What replies about programs cost, counted by a real tokeniser, and that following `next` brings everything once.

use serde_json::{Value, json};

use super::{lines, python, shop, workspace};
use crate::agents::client::Agent;
use crate::agents::eventually;
use crate::agents::size::tokens;

/// Many values, long names, and texts that are dear to tokenisers.
const MANY: &str = "\
class Thing:
    def __init__(self, number):
        self.a_rather_long_name_of_a_field = number
        self.other = '{}[]()<>!@#$%^&*' * 6


def work(things):
    for number, thing in enumerate(things):
        thing.a_rather_long_name_of_a_field += number + 1
    things.append(Thing(-1))
    text = '把文件恢复到以前的状态' * 20
    return text


def deep(depth):
    if depth == 0:
        things = [Thing(number) for number in range(12)]
        table = [{'key %d' % number: Thing(number) for number in range(10)} for _ in range(8)]
        before = 1
        for thing in [thing for shelf in table for thing in shelf.values()]:
            thing.a_rather_long_name_of_a_field += 1000
        after = 2
        return work(things)
    return deep(depth - 1)


for number in range(400):
    print('line', number, 'of what it prints, at some length')
print('x' * 3000, flush=True)
deep(60)
print('end')
";

fn launched(agent: &mut Agent) {
    let stop =
        agent.ok("debug_launch", shop(json!({ "program": "many.py", "breakpoints": ["many.py:19", "many.py:23"] })));
    assert_eq!(stop["frame"]["line"], 19, "{stop}");
}

#[test]
fn every_reply_about_a_program_keeps_its_budget_in_real_tokens() {
    let fixture = workspace();
    fixture.write("many.py", MANY);
    let mut agent = Agent::new(&fixture);
    launched(&mut agent);
    let mut replies: Vec<(String, usize, String)> = Vec::new();
    let mut ask = |agent: &mut Agent, tool: &str, arguments: Value, budgets: &[usize]| {
        for budget in budgets {
            let mut arguments = arguments.clone();
            arguments["max_tokens"] = json!(budget);
            let said = agent.call(tool, arguments.clone());
            replies.push((format!("{tool} {arguments} text"), *budget, said.text));
            replies.push((format!("{tool} {arguments} object"), *budget, said.structured.to_string()));
        }
    };
    const ALL: [usize; 3] = [200, 500, 1500];
    ask(&mut agent, "snapshot_create", json!({ "depth": 3, "frames": "all" }), &ALL);
    agent.ok("snapshot_create", json!({ "label": "before", "depth": 3 }));
    ask(&mut agent, "step_and_diff", json!({ "action": "run_to", "file": "many.py", "line": 21 }), &[1500]);
    ask(&mut agent, "step_and_diff", json!({}), &[500]);
    ask(&mut agent, "debug_control", json!({ "action": "continue" }), &[500]);
    agent.ok("snapshot_create", json!({ "label": "after", "depth": 3 }));
    ask(&mut agent, "step_and_diff", json!({}), &[200]);
    agent.ok("breakpoint_set", json!({ "exception": "nonesuch" }));
    let diff = json!({ "snapshot_id_1": "before", "snapshot_id_2": "after" });
    for (tool, arguments) in [
        ("snapshot_diff", diff),
        ("snapshot_diff", json!({ "snapshot_id_1": "nope", "snapshot_id_2": "neither" })),
        ("snapshot_get", json!({ "id": "after" })),
        ("snapshot_list", json!({})),
        ("stacktrace_get", json!({})),
        ("variables_get", json!({})),
        ("evaluate", json!({ "expression": "things[0].other" })),
        ("debug_output", json!({})),
        ("debug_state", json!({})),
        ("breakpoint_list", json!({})),
    ] {
        ask(&mut agent, tool, arguments, &ALL);
    }
    ask(&mut agent, "debug_control", json!({ "action": "continue" }), &[200]);
    let texts: Vec<String> = replies.iter().map(|(.., text)| text.clone()).collect();
    let counts = tokens(&texts);
    let wrong: Vec<String> = replies
        .iter()
        .zip(counts)
        .filter(|((_, budget, _), real)| real > budget)
        .map(|((what, budget, text), real)| format!("{real} tokens of {budget}: {what}\n{text}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), replies.len(), wrong.join("\n"));
}

#[test]
fn a_diff_in_pages_holds_every_change_once() {
    let fixture = workspace();
    fixture.write("many.py", MANY);
    let mut agent = Agent::new(&fixture);
    launched(&mut agent);
    agent.ok("snapshot_create", json!({ "label": "before", "depth": 3 }));
    agent.ok("debug_control", json!({ "action": "continue" }));
    agent.ok("snapshot_create", json!({ "label": "after", "depth": 3 }));
    let mut arguments = json!({ "snapshot_id_1": "before", "snapshot_id_2": "after" });
    let (mut paths, mut pages, mut all) = (Vec::new(), 0, 0);
    loop {
        let page = agent.ok("snapshot_diff", arguments.clone());
        let diff = &page["diff"];
        let summary = &diff["counts"];
        all = ["added", "removed", "modified"]
            .iter()
            .map(|kind| summary[kind].as_u64().unwrap_or(0))
            .sum::<u64>()
            .max(all);
        for kind in ["added", "removed", "modified"] {
            let entries = diff[kind].as_array().into_iter().flatten();
            paths.extend(entries.map(|entry| format!("{kind} {}", entry["path"].as_str().unwrap())));
        }
        pages += 1;
        let Some(next) = page.get("next") else { break };
        assert!(diff["omitted"].as_u64().unwrap() > 0 && pages < 100, "{page}");
        assert_eq!(next["tool"], "snapshot_diff");
        assert_ne!(next["arguments"], arguments);
        arguments = next["arguments"].clone();
    }
    assert!(pages > 1 && all >= 60, "{pages} pages, {all} changes");
    let shown = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!((shown, paths.len() as u64), (paths.len(), all), "each of them, once");
}

#[test]
fn output_is_read_in_pages_and_from_where_one_left_off() {
    let fixture = workspace();
    fixture.write("many.py", MANY);
    let mut agent = Agent::new(&fixture);
    launched(&mut agent);
    // What a program prints comes by another way than its stops, and in its own time.
    let (output, pages, since) = eventually("all of it has come", || {
        let (output, pages, since) = printed(&mut agent);
        (output.concat().matches('x').count() == 3000).then_some((output, pages, since))
    });
    assert!(pages > 2, "{pages}");
    let expected: Vec<String> =
        (0..400).map(|number| format!("line {number} of what it prints, at some length")).collect();
    assert_eq!(output[..400], expected[..]);
    assert_eq!(output[400..].concat(), "x".repeat(3000));
    agent.ok("breakpoint_remove", json!({ "id": "bp-2" }));
    agent.ok("debug_control", json!({ "action": "continue" }));
    let rest = lines(&agent.ok("debug_output", json!({ "since": since })), "output");
    assert!(rest.contains(&"end".to_owned()) && !rest.iter().any(|line| line.starts_with("line ")), "{rest:?}");
}

/// All that was printed so far, the number of pages it took, and where to go on.
fn printed(agent: &mut Agent) -> (Vec<String>, usize, Value) {
    let (mut output, mut pages) = (Vec::new(), 1);
    let mut page = agent.ok("debug_output", json!({}));
    loop {
        output.extend(lines(&page, "output").into_iter().filter(|line| !line.starts_with('[')));
        match page.get("next") {
            Some(next) if pages < 100 => page = agent.ok("debug_output", next["arguments"].clone()),
            _ => return (output, pages, page["next_since"].clone()),
        }
        pages += 1;
    }
}

/// Near the end of a budget an answer once lost its object and the way to the next page.
#[test]
fn every_page_of_a_long_diff_has_the_same_form() {
    let fixture = workspace();
    let text = "def work():\n    d = {f'g{m}': {f'key{n}': n for n in range(46)} for m in range(48)}\n    x = 1\n    for g in d.values():\n        for k in g: g[k] += 1\n    x = 2\nwork()\n";
    fixture.write("many.py", text);
    let mut agent = Agent::new(&fixture);
    let launch = json!({ "program": "many.py", "runtime": python(), "breakpoints": ["many.py:3", "many.py:6"] });
    agent.ok("debug_launch", launch);
    agent.ok("snapshot_create", json!({ "label": "one", "depth": 2 }));
    agent.ok("debug_control", json!({ "action": "continue" }));
    agent.ok("snapshot_create", json!({ "label": "two", "depth": 2 }));
    let (mut offset, mut told) = (0, 0);
    loop {
        let asked = json!({ "snapshot_id_1": "one", "snapshot_id_2": "two", "offset": offset });
        let said = agent.call("snapshot_diff", asked);
        let page = &said.structured["diff"];
        told += said.text.matches(" -> ").count();
        assert!(!page.is_null() && said.structured.get("lines").is_none(), "{offset}: {}", said.structured);
        let next = said.structured["next"]["arguments"]["offset"].as_u64();
        let Some(next) = next else { break };
        assert!(next > offset, "{}", said.structured);
        offset = next;
    }
    assert!(told >= 48 * 46, "{told} of {} changes in pages up to {offset}", 48 * 46);
}
