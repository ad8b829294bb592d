//! Captures the paused program.

use backsight::debug::request::CreateSnapshot;
use backsight_core::Result;

use super::debugging::{entry, listed, objects, short};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

pub struct SnapshotCreate;

impl Asking for SnapshotCreate {
    const NAME: &'static str = "snapshot_create";
    const TITLE: &'static str = "Capture variables";
    const DESCRIPTION: &'static str =
        "Capture a snapshot of the variables, the local state, of the paused program, to compare later.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[
        Shown::new("label"),
        Shown::new("thread"),
        Shown::new("frame"),
        Shown::new("depth"),
        Shown::new("frames").saying("top, all or a number").text(),
        Shown::new("threads"),
        Shown::new("watch"),
        Shown::new("safety").saying("default pure"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("snapshot", "object"), ("redacted", "integer"), ("warnings", "array"), ("incomplete", "array")];
    type Request = CreateSnapshot;

    fn run(call: &Call<'_>, request: CreateSnapshot) -> Result<Draft> {
        let created = call.workspace.perform(request)?;
        let mut snapshot = entry(call, created.snapshot);
        let incomplete = std::mem::take(&mut snapshot.incomplete);
        let incomplete =
            incomplete.iter().map(|one| format!("{} {}", short(call, &one.path), short(call, &one.reason)));
        let incomplete: Vec<String> = incomplete.map(|line| line.trim_start().to_owned()).collect();
        let mut draft = Draft::new(listed(&snapshot))
            .brief("captured")
            .fact("snapshot", objects::snapshot(&snapshot))
            .maybe("redacted", (created.redacted > 0).then_some(created.redacted));
        for (name, lines) in [("warnings", created.warnings), ("incomplete", incomplete)] {
            if !lines.is_empty() {
                draft = draft.list(name, lines, None);
            }
        }
        Ok(draft)
    }
}
