//! The debug lane from outside.

mod program;
mod snapshots;
mod wild;
