//! Every parser of what a stranger may have written, fed damaged copies of what it is made for.

use std::collections::BTreeSet;
use std::path::Path;

use crate::feeding::feed;
use crate::parsers::ALL;

#[test]
fn every_parser_returns_for_damaged_input() {
    for (name, parser) in ALL {
        feed(name, *parser, 300);
    }
}

/// `make fuzz` runs what has seeds.
#[test]
fn every_parser_has_seeds_and_every_seed_a_parser() {
    let laws = ["diff", "diff_and_back", "merge"];
    let known: BTreeSet<String> = ALL.iter().map(|(name, _)| *name).chain(laws).map(str::to_owned).collect();
    let directories = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds")).unwrap();
    let seeds = directories.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(known, seeds);
}
