//! What the workspace answers about the debug lane. What the lane itself answers is in [`backsight_debug::debugger`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A snapshot of a program's variables that was written into a file.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Exported {
    /// Which one.
    pub snapshot_id: String,
    /// Where, relative to the workspace.
    pub file: String,
    /// How large it is.
    pub bytes: u64,
}
