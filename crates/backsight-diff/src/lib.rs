//! Text diffs as pure functions over bytes: generate, count, follow, parse, validate, reverse, apply, compose, merge.
//!
//! Nothing here reads a file, keeps state or panics: inputs are byte slices, since files need not be
//! UTF-8, and whatever cannot be done comes back as a value that says why.
//!
//! ```
//! use backsight_diff::{FileChange, FileSide, Options, generate_unified_diff};
//!
//! let old = FileSide { path: b"greet.txt", mode: Some(0o100644), id: None, content: b"hello\nworld\n" };
//! let new = FileSide { content: b"hello\nthere\n", ..old };
//! let diff = generate_unified_diff(&FileChange { old: Some(old), new: Some(new) }, &Options::default());
//!
//! assert_eq!((diff.additions, diff.deletions), (1, 1));
//! assert!(diff.text.ends_with(b"@@ -1,2 +1,2 @@\n hello\n-world\n+there\n"));
//! ```

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod apply;
mod binary;
mod blocks;
mod changes;
mod compose;
mod header;
mod merge;
mod origins;
mod parse;
mod patch;
mod path;
mod reverse;
mod runs;
mod similarity;
mod text;
mod unified;
mod validate;
mod write;

pub use apply::{Applied, ApplyError, MovedHunk, apply, apply_with_report};
pub use compose::{ComposeError, compose};
pub use header::HeaderStyle;
pub use merge::{Labels, Merge, merge};
pub use origins::line_origins;
pub use parse::{FormatCode, FormatError, ParseError, parse_multi_file_diff};
pub use patch::{FilePatch, Hunk, Line, LineKind, PatchKind, count_changes};
pub use reverse::{PathFilter, ReverseError, reverse_diff};
pub use runs::{Run, runs, undo_lines};
pub use similarity::Fingerprint;
pub use text::{Counts, count, is_binary, split_lines};
pub use unified::{BinaryFiles, FileChange, FileSide, Options, Unified, generate_unified_diff};
pub use validate::validate_diff_format;
pub use write::write_patches;
