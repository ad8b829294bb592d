//! The words every Backsight crate shares: ids, errors, paths inside a workspace, coverage, time.
//! It holds values: no async, no clock of its own, and of I/O only how a file is read that others wrote, and
//! whose a directory is.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod admission;
mod advice;
mod base64;
pub mod bounded;
mod coverage;
mod error;
mod id;
pub mod names;
mod notable;
mod operation;
pub mod owned;
mod path;
mod schema;
mod show;
pub mod source_map;
mod time;
mod tokens;

pub use admission::Admission;
pub use advice::{Advice, NextStep, Phrase, Voice, sentence};
pub use base64::base64;
pub use coverage::{Coverage, Reason, Uncovered};
pub use error::{Code, Error, Result};
pub use id::{ObjectId, Seq, SnapshotId};
pub use notable::{Notable, Notables};
pub use operation::{
    Effect, LONGEST_DESCRIPTION, LONGEST_TEXT, MOST_ITEMS, Operation, Waits, countable, describable, few_enough,
    short_enough, within,
};
pub use path::{RelPath, is_alias, quote};
pub use show::{is_unsafe_to_show, many_lines, one_line, safe_json, shell_word, visible};
pub use time::Timestamp;
pub use tokens::{FEWEST_TOKENS, estimate_tokens, nearest_tokens};
