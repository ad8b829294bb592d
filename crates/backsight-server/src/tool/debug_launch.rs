//! Starts a program under its debugger.

use std::collections::BTreeMap;

use backsight::debug::debugger::USUAL_WAIT;
use backsight::debug::session::Launch;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::debugging::{MOVED, moved, points};
use super::{Call, Definition, Effect, Group, Needs, one_or_many};
use crate::debug_limits;
use crate::reply::Draft;

pub struct DebugLaunch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    program: String,
    #[serde(default)]
    args: Vec<String>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// FILE:LINE or function
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "Vec<String>")]
    breakpoints: Vec<Value>,
    /// all, uncaught
    exceptions: Option<String>,
    #[serde(default)]
    stop_on_entry: bool,
    adapter: Option<String>,
    #[schemars(skip)]
    runtime: Option<String>,
    wait_ms: Option<u64>,
    /// More for the debugger's own `launch`.
    #[serde(default)]
    #[schemars(skip)]
    options: Map<String, Value>,
}

impl Definition for DebugLaunch {
    const NAME: &'static str = "debug_launch";
    const TITLE: &'static str = "Start debugging a program";
    const DESCRIPTION: &'static str =
        "Run a program or test of the workspace (Python, Node, Go, C++, Rust) under its debugger until its first stop.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Debug;
    const NEEDS: Needs = Needs::Nothing;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = MOVED;
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let launch = Launch {
            breakpoints: points(Self::NAME, arguments.breakpoints, arguments.exceptions)?,
            wait: debug_limits::wait(arguments.wait_ms, USUAL_WAIT)?,
            program: arguments.program.into(),
            arguments: arguments.args,
            directory: arguments.cwd.unwrap_or_default().into(),
            environment: arguments.env.into_iter().collect(),
            adapter: arguments.adapter,
            runtime: arguments.runtime.map(Into::into),
            stop_on_entry: arguments.stop_on_entry,
            options: arguments.options,
        };
        let session = arguments.session.as_deref();
        Ok(moved(call, session, &call.workspace.agent_launch(session, launch)?))
    }
}
