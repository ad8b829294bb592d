//! Writes a snapshot into a file.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Definition, Effect, Group, path};
use crate::reply::Draft;

pub struct SnapshotExport;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    id: String,
    file: String,
}

impl Definition for SnapshotExport {
    const NAME: &'static str = "snapshot_export";
    const TITLE: &'static str = "Export a snapshot";
    const DESCRIPTION: &'static str = "Export, write a snapshot of variables into a new file.";
    const EFFECT: Effect = Effect::AddsFile;
    const GROUP: Group = Group::Debug;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("snapshot_id", "string"), ("file", "string"), ("bytes", "integer")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let written = call.workspace.export_snapshot(session, &arguments.id, &path(&arguments.file)?)?;
        Ok(Draft::new(format!("{} is in {}, {} bytes", written.snapshot_id, written.file, written.bytes))
            .fact("snapshot_id", written.snapshot_id)
            .fact("file", written.file)
            .fact("bytes", written.bytes))
    }
}
