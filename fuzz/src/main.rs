//! One fuzz target for everything that reads what a stranger may have written; `PARSER` in the environment says which
//! parser is fed. Each takes any bytes and must return, soon and without a panic.

#![no_main]

mod diffs;
mod parsers;

use std::sync::LazyLock;

use parsers::Parser;

/// These check laws beside.
const LAWS: &[(&str, Parser)] =
    &[("diff", diffs::parse), ("diff_and_back", diffs::reverse_apply), ("merge", diffs::merge)];

static PARSER: LazyLock<Parser> = LazyLock::new(|| {
    let name = std::env::var("PARSER").unwrap_or_default();
    let known = || parsers::ALL.iter().chain(LAWS);
    let names: Vec<&str> = known().map(|(name, _)| *name).collect();
    let found = known().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("PARSER is one of {}", names.join(", "))).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| PARSER(bytes));
