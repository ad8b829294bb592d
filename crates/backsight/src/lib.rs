//! What changed since I last looked, and take me back: the library people embed.
//!
//! [`Workspace`] is the whole of it. Requests are in [`request`], answers in [`report`]; both are plain data.

mod adopt;
mod archive;
mod config;
mod convert;
mod gate;
mod history;
mod identity;
mod milestone;
pub mod names;
mod place;
mod plan_token;
mod reference;
pub mod report;
pub mod request;
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
pub use workspace::Workspace;
