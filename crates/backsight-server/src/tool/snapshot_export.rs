//! Writes a snapshot into a file.

use backsight::request::ExportSnapshot;
use backsight_core::Result;

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct SnapshotExport;

impl Asking for SnapshotExport {
    const NAME: &'static str = "snapshot_export";
    const TITLE: &'static str = "Export a snapshot";
    const DESCRIPTION: &'static str = "Export, write a snapshot of variables into a new file.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[Shown::new("id"), Shown::new("file").text()];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("snapshot_id", "string"), ("file", "string"), ("bytes", "integer")];
    type Request = ExportSnapshot;

    fn run(call: &Call<'_>, request: ExportSnapshot) -> Result<Draft> {
        let written = call.workspace.perform(request)?;
        Ok(Draft::new(format!("{} is in {}, {} bytes", written.snapshot_id, written.file, written.bytes))
            .brief("exported")
            .fact("snapshot_id", written.snapshot_id)
            .fact("file", written.file)
            .fact("bytes", written.bytes))
    }
}
