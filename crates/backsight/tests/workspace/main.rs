//! Promise 4 and its neighbours: a process that dies at any instant, another writer at any instant, a full disk.
//!
//! Every test works on copies of a fixture in a directory of its own, stops the process at each of its operations on
//! the disk, opens the workspace again as the next process would, and compares the whole tree with what it must be.
//!
//! Beside them stand the laws of the timeline: whose change is whose, that no row can be altered unnoticed, that old
//! stores come forward, and what history, blame and milestones say. `scene` has their words.

#![allow(clippy::disallowed_methods)]
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod access;
mod agreed;
mod attribution;
mod beside_writers;
mod bisect;
mod blame;
mod browser;
mod calls;
mod causes;
mod chain;
mod checkpoints;
mod crash_calls;
mod crash_capture;
mod crash_collect;
mod crash_recovery;
mod crash_restore;
mod crash_steps;
mod debug;
mod edited_before_recovery;
mod exchanged;
mod full_disk;
mod gate;
mod going;
mod history;
mod hunks;
mod ids;
mod lab;
mod lanes;
mod laws;
mod migration;
mod milestones;
mod mount_point;
mod open_files;
mod outside;
mod picture;
mod plans;
mod racing;
mod read_only;
mod scene;
mod secrets;
mod session_laws;
mod sessions;
mod several;
mod small_disk;
mod strategies;
mod unseen_writes;
mod watching;
mod watching_races;
