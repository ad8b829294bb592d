//! Programs under real debuggers as agents see them: started, stepped, captured and compared over the wire. The debuggers
//! come from `make tools`.

mod ends;
mod objects;
mod refusals;
mod rejected;
mod series;
mod sizes;
mod slow;
mod story;
mod tested;
mod together;
mod typescript;
mod watched;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::client::Agent;
use super::installed;
use crate::fixture::Fixture;

/// Two orders, each line of `add` changing something; it prints, sleeps when asked to, and fails when asked to.
const SHOP: &str = "\
import sys
import time


class Order:
    def __init__(self):
        self.items = [1, 2]
        self.total = 0


def add(order, price):
    retries = 2
    order.items.append(price)
    order.total = order.total + price
    retries = retries + 1
    return order.total


def main():
    order = Order()
    for price in (5, 7):
        print('adding', price, flush=True)
        add(order, price)
    if 'wait' in sys.argv:
        while True:
            time.sleep(0.01)
    if 'fail' in sys.argv:
        raise ValueError('out of stock')
    print('total', order.total)


main()
";

/// The line that appends, at which `retries` is set already.
pub const APPEND: u32 = 13;

/// A Python that has debugpy.
pub fn python() -> PathBuf {
    let python = installed("venv/bin/python");
    let has_it = Command::new(&python).args(["-c", "import debugpy"]).output().unwrap().status.success();
    assert!(has_it, "debugpy is missing: install it with `make tools`");
    python
}

/// What launches the shop, with more arguments.
pub fn shop(more: Value) -> Value {
    let mut launch = json!({ "program": "shop.py", "runtime": python() });
    for (name, value) in more.as_object().unwrap() {
        launch[name] = value.clone();
    }
    launch
}

pub fn workspace() -> Fixture {
    let fixture = Fixture::in_memory();
    // The Python of the tests is not one that is found.
    fixture.user_settings("[agents]\nruntime = true\n");
    fixture.write("shop.py", SHOP);
    fixture
}

/// A workspace whose shop is paused where it appends.
pub fn paused(fixture: &Fixture) -> Agent {
    let mut agent = Agent::new(fixture);
    let stop = agent.ok("debug_launch", shop(json!({ "breakpoints": [format!("shop.py:{APPEND}")] })));
    assert_eq!(stop["outcome"], "stopped", "{stop}");
    agent
}

/// The lines of a list.
fn lines(answer: &Value, name: &str) -> Vec<String> {
    answer[name].as_array().unwrap_or(&Vec::new()).iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

/// The processes of a group.
fn group(leader: u64) -> Vec<u32> {
    let of_group = |process: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name may hold anything, also blanks and brackets; after it come the state, the parent and the group.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, group) = (fields.next()?, fields.nth(1)?);
        (state != "Z" && group == leader.to_string()).then_some(process)
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| of_group(entry.file_name().to_str()?.parse().ok()?)).collect()
}
