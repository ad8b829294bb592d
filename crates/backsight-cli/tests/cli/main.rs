//! What a user of `backsight` sees: stdout, stderr and exit status together, command by command.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod chains;
mod contract;
mod damage;
mod demo;
mod fixture;
mod going_back;
mod history;
mod ignore_rules;
mod json;
mod kills;
mod picture;
mod random;
mod recording;
mod reverts;
mod type_changes;
mod upkeep;
