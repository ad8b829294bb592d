//! Ends a debug session.

use backsight::debug::request::EndSession;
use backsight_core::Result;

use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;
use crate::words;

pub struct DebugDisconnect;

impl Asking for DebugDisconnect {
    const NAME: &'static str = "debug_disconnect";
    const TITLE: &'static str = "Stop debugging";
    const DESCRIPTION: &'static str = "Stop debugging: end, kill or detach from the process and clear its snapshots.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[Shown::new("end_program").saying("default: if launched here")];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("session", "string"), ("ended_program", "boolean"), ("cleared_snapshots", "integer")];
    type Request = EndSession;

    fn run(call: &Call<'_>, request: EndSession) -> Result<Draft> {
        let ended = call.workspace.perform(request)?;
        let program = if ended.ended_program { "the program was ended" } else { "the program goes on" };
        let cleared = words::count(ended.cleared_snapshots, "snapshot");
        Ok(Draft::new(format!("session {} is over: {program}, {cleared} cleared", ended.session))
            .brief("over")
            .fact("session", ended.session)
            .fact("ended_program", ended.ended_program)
            .fact("cleared_snapshots", ended.cleared_snapshots))
    }
}
