//! What changed since I last looked, and take me back: the library people embed.
//!
//! [`Workspace`] is the whole of it. Requests are in [`request`], answers in [`report`]; both are plain data.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # std::env::set_current_dir(&directory)?;
//! # std::fs::create_dir("my-project")?;
//! # std::fs::write("my-project/shop.py", "price = 1\n")?;
//! use backsight::{Workspace, request::Revert};
//!
//! let workspace = Workspace::open("my-project")?;
//! workspace.track()?;
//! // An agent changes the files ...
//! # std::fs::write("my-project/shop.py", "price = TAX\n")?;
//! let step = workspace.track()?;
//! // ... and was wrong. What you edit meanwhile stays.
//! # std::fs::write("my-project/notes.txt", "mine\n")?;
//! workspace.revert_steps(&Revert { references: vec![step.snapshot.id.to_string()], ..Revert::default() })?;
//! # assert_eq!(std::fs::read_to_string("my-project/shop.py")?, "price = 1\n");
//! # assert_eq!(std::fs::read_to_string("my-project/notes.txt")?, "mine\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adopt;
mod archive;
mod bisect;
mod cause;
mod config;
mod convert;
mod gate;
mod history;
mod identity;
mod milestone;
pub mod names;
pub mod operation;
mod place;
mod plan_token;
mod reference;
pub mod report;
pub mod request;
mod scratch;
mod session;
mod settings;
mod short;
mod timeline;
mod unknown;
pub mod user_settings;
mod workspace;

pub use backsight_browser as browser;
pub use backsight_core::{
    Code, Coverage, Error, ObjectId, Reason, RelPath, Result, Seq, SnapshotId, Timestamp, Uncovered,
};
pub use backsight_debug as debug;
pub use backsight_files::{AnchoredPath, Disk, Seal};
pub use config::size as parse_size;
pub use gate::OwnStore;
pub use plan_token::PlanToken;
pub use settings::{CallSettings, Progress, Settings};
pub use timeline::OriginColumn;
pub use workspace::{Topic, Workspace};
