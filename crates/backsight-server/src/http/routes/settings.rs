//! The workspace itself: whose server this is, how it stands, how it is set up.

use std::os::unix::ffi::OsStrExt;

use backsight::Workspace;
use backsight::request::{ChangeSetting, ListSettings, ReadSetting, ReadStatus, SetUpWorkspace};
use backsight_core::{Code, Effect, Operation, Result, Waits, quote};
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LOOK, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

const SETTING: &[Code] = &[Code::InvalidConfig];

routes! {
    GET "/api/version" version: ReadVersion,
        "Whose server this is; the cheapest way to see that it lives", [] => version;
    GET "/api/status" status: ReadStatus,
        "What changed on disk since the latest snapshot, and whose it can be", [LOOK];
    POST "/api/init" init: SetUpWorkspace,
        "Set the workspace up; a server has done it already", [&[Code::WorkspaceRefused], SETTING, WRITE];
    GET "/api/config" configList: ListSettings, "Every setting with its value, default and meaning", [SETTING];
    GET "/api/config/{key}" configGet: ReadSetting, "One setting", [SETTING];
    POST "/api/config/{key}" configSet: ChangeSetting, "Change one setting", [SETTING, WRITE];
}

/// Ask whose server this is. Only a server can be asked that, so no lane has it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ReadVersion {}

/// Whose server this is.
#[derive(JsonSchema, Serialize)]
pub struct Version {
    /// Always `backsight`.
    name: &'static str,
    /// The program's version.
    version: &'static str,
    /// The workspace directory.
    root: String,
    /// The server's process.
    pid: u32,
}

impl Operation for ReadVersion {
    type Answer = Version;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

fn version(workspace: &Workspace, _: ReadVersion) -> Result<Version> {
    Ok(Version {
        name: "backsight",
        version: env!("CARGO_PKG_VERSION"),
        root: quote(workspace.root().as_os_str().as_bytes()),
        pid: std::process::id(),
    })
}
