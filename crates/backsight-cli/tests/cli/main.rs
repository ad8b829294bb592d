//! What a user of `backsight` sees: stdout, stderr and exit status together, command by command.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod contract;
mod demo;
mod fixture;
mod going_back;
mod history;
mod json;
mod picture;
mod recording;
mod type_changes;
mod upkeep;
