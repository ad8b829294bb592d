//! Debugs a program that runs already.

use std::time::Duration;

use backsight::debug::debugger::USUAL_WAIT;
use backsight::debug::session::Attach;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::debugging::{MOVED, moved, points};
use super::{Call, Definition, Effect, Group, Needs, one_or_many};
use crate::debug_limits;
use crate::reply::Draft;

/// How long a program that has no breakpoint is waited for: it may be paused already.
const GLIMPSE: Duration = Duration::from_secs(1);

pub struct DebugAttach;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    /// debugpy, node, delve, lldb-dap
    adapter: String,
    pid: Option<u32>,
    port: Option<u16>,
    #[schemars(skip)]
    host: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(skip)]
    breakpoints: Vec<Value>,
    #[schemars(skip)]
    wait_ms: Option<u64>,
    #[schemars(skip)]
    runtime: Option<String>,
    /// More for the debugger's own `attach`.
    #[serde(default)]
    #[schemars(skip)]
    options: Map<String, Value>,
}

impl Definition for DebugAttach {
    const NAME: &'static str = "debug_attach";
    const TITLE: &'static str = "Attach the debugger";
    const DESCRIPTION: &'static str = "Attach the debugger to a running process of the user.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Debug;
    const NEEDS: Needs = Needs::Nothing;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = MOVED;
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let usual = if arguments.breakpoints.is_empty() { GLIMPSE } else { USUAL_WAIT };
        let attach = Attach {
            wait: debug_limits::wait(arguments.wait_ms, usual)?,
            breakpoints: points(Self::NAME, arguments.breakpoints, None)?,
            adapter: arguments.adapter,
            pid: arguments.pid,
            host: arguments.host.unwrap_or_default(),
            port: arguments.port,
            runtime: arguments.runtime.map(Into::into),
            options: arguments.options,
            ..Attach::default()
        };
        let session = arguments.session.as_deref();
        Ok(moved(call, session, &call.workspace.agent_attach(session, attach)?))
    }
}
