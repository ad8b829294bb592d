//! Byte-exact, crash-safe file snapshots in a Git object store.
//!
//! [`Files`] captures a workspace as a [`Tree`], compares trees, plans a restore or a revert as a value, and applies
//! it so that a crash at any instant leaves the workspace exactly before or exactly after. It knows nothing of
//! history, sessions or users: the `backsight` crate does.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod access;
mod anchored;
mod apply;
mod blind;
mod cache;
mod capture;
mod checkout;
mod collect;
mod compare;
mod disk;
mod displaced;
mod files;
mod former;
#[doc(hidden)]
pub mod fuzzing;
mod git_attributes;
mod git_branch;
mod git_checkin;
mod git_config;
mod git_convert;
mod git_converted;
mod git_export;
mod git_index;
mod git_log;
mod git_objects;
mod git_overlay;
mod git_pack;
mod git_place;
mod git_repository;
mod git_stamps;
mod glob;
mod holders;
mod ignore;
mod journal;
mod large_blob;
mod linked;
mod lock;
mod memory;
mod names;
mod object;
mod objects;
mod observe;
mod pack;
mod pages;
mod part;
mod plan;
mod platform;
mod renames;
mod root;
mod scan;
mod seal;
mod shelter;
mod sink;
mod stage;
mod swap;
mod threads;
mod tree;
mod verify;
mod watch;

pub use access::Access;
pub use anchored::AnchoredPath;
pub use apply::Restoration;
pub use capture::{Caller, Capture, CaptureProgress, Last};
pub use checkout::Checkout;
pub use collect::{Room, Swept, free_bytes};
pub use compare::Change;
pub use disk::Disk;
pub use displaced::Clearing;
pub use files::{Files, Subjects, Unseen};
pub use git_export::{Exported, GitExport, NewCommit, Onto, Person, export_commits};
pub use git_log::{GitCommit, GitCommits, git_commits};
pub use git_overlay::{ConvertedBy, KeptReason};
pub use ignore::{Patterns, Surroundings, TrackedPath, tracked_by_git};
pub use lock::WorkspaceLock;
pub use memory::WatchState;
pub use object::{ObjectKind, object_id};
pub use objects::ObjectStore;
pub use plan::{Bounds, Conflict, OnConflict, Part, Plan, StepToUndo};
pub use platform::{device_of, mode_of};
pub use renames::{MAX_COMPARED, Renames, Texts, renames};
pub use scan::{OWN_DIRECTORY, ScanOptions};
pub use seal::Seal;
pub use threads::start_threads;
pub use tree::{Node, Tree};
pub use verify::{ObjectReport, TreeReport};
pub use watch::is_on_local_file_system;
