//! Starts a program under its debugger.

use backsight::debug::request::LaunchProgram;
use backsight_core::Result;

use super::debugging::{MOVED, moved};
use super::{Asking, Call, Group, Needs, Shown};
use crate::reply::Draft;

pub struct DebugLaunch;

impl Asking for DebugLaunch {
    const NAME: &'static str = "debug_launch";
    const TITLE: &'static str = "Start debugging a program";
    const DESCRIPTION: &'static str =
        "Run a program or test of the workspace (Python, Node, Go, C++, Rust) under its debugger until its first stop.";
    const GROUP: Group = Group::Debug;
    const NEEDS: Needs = Needs::Nothing;
    const SHOWN: &'static [Shown] = &[
        Shown::new("program"),
        Shown::new("test").saying("path::name instead: runs it until it fails"),
        Shown::new("arguments").named("args"),
        Shown::new("directory").named("cwd"),
        Shown::new("environment").named("env"),
        Shown::new("breakpoints").saying("FILE:LINE or function").text(),
        Shown::new("exceptions").saying("all, uncaught"),
        Shown::new("stdin"),
        Shown::new("stop_on_entry"),
        Shown::new("adapter"),
        Shown::new("wait_ms"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = MOVED;
    type Request = LaunchProgram;

    fn run(call: &Call<'_>, request: LaunchProgram) -> Result<Draft> {
        let session = request.session.as_deref();
        Ok(moved(call, session, &call.workspace.agent_launch(session, request.launch()?)?))
    }
}
