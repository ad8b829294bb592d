//! What a user of `backsight` sees: stdout, stderr and exit status together, command by command.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod agents;
mod attacks;
mod blame;
mod callers;
mod calls;
mod chains;
mod changes;
mod continuity;
mod contract;
mod damage;
mod deadlines;
mod debug;
mod demo;
mod disk_full;
mod export_git;
mod fixture;
mod going_back;
mod graph;
mod guards;
mod history;
mod hooks;
mod ignore_rules;
mod install;
mod json;
mod kills;
mod known;
mod looking;
mod milestones;
mod modes;
mod names;
mod nested;
mod open_files;
mod packaging;
mod picture;
mod racy;
mod random;
mod recording;
mod reference;
mod retention;
mod reverts;
mod run;
mod serving;
mod sessions;
mod several_processes;
mod special_files;
mod status;
mod store_and_git;
mod strangers;
mod symlinks;
mod timeline;
mod type_changes;
mod unknown;
mod upkeep;
