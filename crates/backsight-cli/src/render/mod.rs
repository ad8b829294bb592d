//! How reports look to a person. Every text that comes from outside is shown without control characters.

pub mod app;
pub mod applied;
pub mod calls;
pub mod changes;
pub mod coverage;
pub mod debug;
pub mod failure;
pub mod graph;
pub mod hunks;
pub mod milestone;
pub mod report;
pub mod session;
pub mod snapshot;
pub mod timeline;
pub mod tracked;
pub mod unified;
pub mod unknown;
pub mod who;
pub mod wrap;
