//! What changed since I last looked, and take me back: the library people embed.
//!
//! A [`Workspace`] is one directory that agents and people change together. It records states of all files, tells whose
//! change is whose, and goes back without losing what anybody else wrote since. Opening one touches nothing; the first
//! snapshot makes a store in `.backsight/`, which the user's Git never sees.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let root = directory.path();
//! use backsight::{Workspace, request::Revert};
//!
//! # std::fs::write(root.join("shop.py"), "price = 1\n")?;
//! let workspace = Workspace::open(root)?;
//! workspace.track()?;
//!
//! // An agent changes a file ...
//! std::fs::write(root.join("shop.py"), "price = TAX\n")?;
//! let step = workspace.track()?;
//! assert_eq!(step.changes.len(), 1);
//!
//! // ... and was wrong. What you edit meanwhile stays.
//! std::fs::write(root.join("notes.txt"), "mine\n")?;
//! workspace.revert_steps(&Revert { references: vec![step.snapshot.id.to_string()], ..Revert::default() })?;
//! assert_eq!(std::fs::read_to_string(root.join("shop.py"))?, "price = 1\n");
//! assert_eq!(std::fs::read_to_string(root.join("notes.txt"))?, "mine\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it promises
//!
//! - **Never a false "nothing changed".** A snapshot describes the files as they are, with a report of what could not be seen,
//!   or there is an error.
//! - **Byte-exact, and never a loss.** Going back restores bytes, links and permission bits; whatever it displaces is in a
//!   snapshot first. A process that is killed at any instant leaves the files before or after, never between.
//! - **History only grows.** A [restore](Workspace::restore) goes *to* a state, a [revert](Workspace::revert_steps) undoes
//!   *steps*; both are rows of the timeline and can be taken back by [undo](Workspace::undo).
//!
//! # Where things are
//!
//! Requests are in [`request`] and have defaults, answers are in [`report`]; both are plain data that serde reads and writes.
//! Every failure is an [`Error`] with a [`Code`] to branch on, a message to show and a hint. An agent's conversation is
//! a [session](Workspace::start_session); the names that seed 002 gave to operations are in [`seeds`].
//! [`Settings`] holds what would otherwise be ambient: clock, home, search path, patience, the disk.
//!
//! # The live lanes
//!
//! Beside its files a workspace has an app (console, network, user actions) and programs under a debugger (variables of a
//! paused program). They need an async runtime and a WebSocket client, which the features `browser` and `debug` bring. Both
//! are on by default; a program that only wants files says
//!
//! ```toml
//! backsight = { version = "0.1", default-features = false }
//! ```
//!
//! All calls block the thread they are made on. Handles are cheap: [`Workspace::for_call`] makes one with a patience and a
//! cancellation of its own.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod adopt;
mod archive;
mod bisect;
#[cfg(feature = "browser")]
mod cause;
mod config;
mod convert;
mod gate;
mod history;
mod hunks;
mod identity;
mod milestone;
pub mod names;
pub mod operation;
mod place;
mod plan_token;
mod random;
mod reference;
pub mod report;
pub mod request;
mod scratch;
pub mod seeds;
mod session;
mod settings;
mod short;
mod timeline;
mod unknown;
pub mod user_settings;
mod workspace;

#[cfg(feature = "browser")]
pub use backsight_browser as browser;
pub use backsight_core::{
    Code, Coverage, Error, ObjectId, Reason, RelPath, Result, Seq, SnapshotId, Timestamp, Uncovered,
};
#[cfg(feature = "debug")]
pub use backsight_debug as debug;
pub use backsight_files::{AnchoredPath, Disk, Seal};
pub use config::size as parse_size;
pub use gate::OwnStore;
pub use hunks::{HunkChoice, HunkId};
pub use plan_token::PlanToken;
pub use settings::{CallSettings, Progress, Settings};
pub use timeline::OriginColumn;
#[cfg(feature = "browser")]
pub use workspace::Topic;
pub use workspace::Workspace;
