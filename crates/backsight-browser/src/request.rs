//! The operations of the browser lane: one request type each, with its limits, its answer, what it may do and whether it waits.
//! MCP, HTTP and the command line all take them from here; none of them has limits or defaults of its own. What they keep
//! (checkpoints, rules, baselines) is in the store, so the workspace carries them out.

mod keeping;
mod looking;
mod watching;

use backsight_core::Result;
use backsight_core::names::{LONGEST_NAME, check};

pub use keeping::{
    AddRules, CompareBaseline, CreateCheckpoint, DeleteBaseline, DeleteCheckpoint, DisableRule, EnableRule,
    ListBaselines, ListCheckpoints, ListRules, RemoveRule, SaveBaseline,
};
pub use looking::{AppQuestion, LONGEST_WAIT_MS, ReadAppChanges, ReadAppHealth, ReadAppLog, ReadArchive, ReadEntry};
pub use watching::{AttachBrowser, DetachBrowser, ReadBrowserStatus, RenewPageKey};

/// Who asks when the caller does not say.
const USUAL_CLIENT: &str = "default";

/// Refuses what cannot name a client.
fn check_client(client: Option<&str>) -> Result<()> {
    client.map_or(Ok(()), |client| check("client", client, LONGEST_NAME))
}
