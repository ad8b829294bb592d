//! Debugs a program that runs already.

use backsight::debug::request::AttachProgram;
use backsight_core::Result;

use super::debugging::{MOVED, moved};
use super::{Asking, Call, Group, Needs, Shown};
use crate::reply::Draft;

pub struct DebugAttach;

impl Asking for DebugAttach {
    const NAME: &'static str = "debug_attach";
    const TITLE: &'static str = "Attach the debugger";
    const DESCRIPTION: &'static str = "Attach the debugger to a running process of the user.";
    const GROUP: Group = Group::Debug;
    const NEEDS: Needs = Needs::Nothing;
    const SHOWN: &'static [Shown] =
        &[Shown::new("adapter").saying("debugpy, node, delve, lldb-dap"), Shown::new("pid"), Shown::new("port")];
    const OUTPUT: &'static [(&'static str, &'static str)] = MOVED;
    type Request = AttachProgram;

    fn run(call: &Call<'_>, request: AttachProgram) -> Result<Draft> {
        let session = request.session.as_deref();
        Ok(moved(call, session, &call.workspace.agent_attach(session, request.attach()?)?))
    }
}
