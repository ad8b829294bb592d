//! Room on disk, and whether everything is whole.

use backsight::Workspace;
use backsight::report::{Check, CheckState, Collected, Snapshot, Usage, Verified};
use backsight::request::Collect;
use backsight_core::{Code, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Nothing, REFERENCE, WRITE};
use crate::advice::Requests;
use crate::http::endpoint::Endpoint;

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::post("/api/pin", "pin", "Keep a snapshot through every retention rule", pin)
            .fails(&[REFERENCE, WRITE]),
        Endpoint::post("/api/unpin", "unpin", "Let retention remove a snapshot again", unpin)
            .fails(&[REFERENCE, WRITE]),
        Endpoint::get("/api/usage", "usage", "How much disk the store uses", usage).fails(&[&[Code::InvalidConfig]]),
        Endpoint::post("/api/gc", "gc", "Remove the contents of old snapshots by age, count or size", collect)
            .fails(&[&[Code::InvalidConfig], WRITE]),
        Endpoint::get(
            "/api/verify",
            "verify",
            "Check every stored object and row; `clean` says whether all is whole",
            verify,
        ),
        Endpoint::get("/api/doctor", "doctor", "Whether everything Backsight needs is in order", doctor),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct PinInput {
    /// Which snapshot, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: String,
}

fn pin(workspace: &Workspace, input: PinInput) -> Result<Snapshot> {
    workspace.pin(&input.reference, true)
}

fn unpin(workspace: &Workspace, input: PinInput) -> Result<Snapshot> {
    workspace.pin(&input.reference, false)
}

fn usage(workspace: &Workspace, _: Nothing) -> Result<Usage> {
    workspace.usage()
}

#[derive(Deserialize, JsonSchema)]
struct GcInput {
    /// Remove contents of snapshots older than so many days, instead of the setting.
    keep_days: Option<u32>,
    /// Keep at least so many of the newest, instead of the setting.
    keep_count: Option<u32>,
    /// Remove the oldest until the store has at most so many bytes, instead of the setting.
    disk_budget: Option<u64>,
    /// Say what would be removed and change nothing.
    #[serde(default)]
    dry_run: bool,
}

fn collect(workspace: &Workspace, input: GcInput) -> Result<Collected> {
    let GcInput { keep_days, keep_count, disk_budget, dry_run } = input;
    let (keep_days, keep_count) = (keep_days.map(u64::from), keep_count.map(u64::from));
    workspace.gc(&Collect { keep_days, keep_count, disk_budget, dry_run })
}

#[derive(Deserialize, JsonSchema)]
struct VerifyInput {
    /// A chain head noted earlier, 64 hex digits; the timeline must still hold it.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{64}$"))]
    head: Option<String>,
}

/// Damage is an answer, not a failure of the request: `clean` says it.
fn verify(workspace: &Workspace, input: VerifyInput) -> Result<Verified> {
    let head = input.head.map(|head| head.to_ascii_lowercase());
    if head.as_ref().is_some_and(|head| head.len() != 64 || !head.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return Err(Error::new(Code::Usage, "a chain head is 64 hex digits"));
    }
    workspace.verify_against(head.as_deref())
}

/// How everything stands.
#[derive(JsonSchema, Serialize)]
struct Health {
    /// Whether no check found a problem.
    healthy: bool,
    /// Each of them.
    checks: Vec<Check>,
}

fn doctor(workspace: &Workspace, _: Nothing) -> Result<Health> {
    let checks: Vec<Check> = workspace.doctor()?.into_iter().map(|check| check.said(&Requests)).collect();
    Ok(Health { healthy: checks.iter().all(|check| check.state != CheckState::Problem), checks })
}
