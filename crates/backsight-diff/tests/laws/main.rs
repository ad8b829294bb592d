//! What must hold for all inputs, and agreement with `git` and GNU `patch`.

#![allow(clippy::disallowed_methods)]
// The lint knows tests by their attribute, which helpers do not have.
#![allow(clippy::unwrap_used)]

// One place for what the fuzzer checks and what is checked here.
#[path = "../../../../fuzz/src/diffs.rs"]
mod bodies;
mod damaged;
#[path = "../../../../fuzz/src/damaged.rs"]
mod feeding;
mod inputs;
mod merging;
mod patches;
mod scale;
mod tools;
