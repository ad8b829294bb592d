//! The workspace itself: whose server this is, how it stands, how it is set up.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use backsight::Workspace;
use backsight::report::{ConfigEntry, WorkspaceStatus};
use backsight::request::{Init, StorePlace};
use backsight_core::{Code, Result, quote};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LOOK, Nothing, WRITE};
use crate::http::endpoint::Endpoint;

const SETTING: &[Code] = &[Code::InvalidConfig];

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get(
            "/api/version",
            "version",
            "Whose server this is; the cheapest way to see that it lives",
            version,
        ),
        Endpoint::get(
            "/api/status",
            "status",
            "What changed on disk since the latest snapshot, and whose it can be",
            status,
        )
        .fails(&[LOOK]),
        Endpoint::post("/api/init", "init", "Set the workspace up; a server has done it already", init).fails(&[
            &[Code::WorkspaceRefused],
            SETTING,
            WRITE,
        ]),
        Endpoint::get("/api/config", "configList", "Every setting with its value, default and meaning", list)
            .fails(&[SETTING]),
        Endpoint::get("/api/config/{key}", "configGet", "One setting", get).fails(&[SETTING]),
        Endpoint::post("/api/config/{key}", "configSet", "Change one setting", set).fails(&[SETTING, WRITE]),
    ]
}

/// Whose server this is.
#[derive(JsonSchema, Serialize)]
struct Version {
    /// Always `backsight`.
    name: &'static str,
    /// The program's version.
    version: &'static str,
    /// The workspace directory.
    root: String,
    /// The server's process.
    pid: u32,
}

fn version(workspace: &Workspace, _: Nothing) -> Result<Version> {
    Ok(Version {
        name: "backsight",
        version: env!("CARGO_PKG_VERSION"),
        root: shown(workspace.root()),
        pid: std::process::id(),
    })
}

fn status(workspace: &Workspace, _: Nothing) -> Result<WorkspaceStatus> {
    workspace.status()
}

/// Where the store lives.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Place {
    /// In `.backsight/` inside the workspace.
    #[default]
    Workspace,
    /// In the user's state directory, outside the tree.
    User,
}

#[derive(Deserialize, JsonSchema)]
struct InitInput {
    /// Where the store goes when there is none yet.
    #[serde(default)]
    store: Place,
    /// Track the directory even if it is a home directory or the root of the file system.
    #[serde(default)]
    any_root: bool,
}

/// A workspace that is set up.
#[derive(JsonSchema, Serialize)]
struct SetUp {
    /// Whether the store was made by this request.
    created: bool,
    /// The workspace directory.
    root: String,
    /// Where the store is.
    store: String,
}

fn init(workspace: &Workspace, input: InitInput) -> Result<SetUp> {
    let store = match input.store {
        Place::Workspace => StorePlace::Workspace,
        Place::User => StorePlace::User,
    };
    let created = workspace.init(&Init { store, any_root: input.any_root, anew: false })?;
    let store = workspace.store_path()?.map(|store| shown(&store)).unwrap_or_default();
    Ok(SetUp { created, root: shown(workspace.root()), store })
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_bytes())
}

/// The settings.
#[derive(JsonSchema, Serialize)]
struct Settings {
    /// Each of them.
    settings: Vec<ConfigEntry>,
}

fn list(workspace: &Workspace, _: Nothing) -> Result<Settings> {
    Ok(Settings { settings: workspace.config_list()? })
}

#[derive(Deserialize, JsonSchema)]
struct GetInput {
    /// Its name.
    #[schemars(example = &"keep_days")]
    key: String,
}

fn get(workspace: &Workspace, input: GetInput) -> Result<ConfigEntry> {
    workspace.config_get(&input.key)
}

#[derive(Deserialize, JsonSchema)]
struct SetInput {
    /// Its name.
    #[schemars(example = &"keep_days")]
    key: String,
    /// Its new value, as text.
    #[schemars(example = &"30")]
    value: String,
}

fn set(workspace: &Workspace, input: SetInput) -> Result<ConfigEntry> {
    workspace.config_set(&input.key, &input.value)
}
