//! What a step changes, in one call.

use backsight::debug::debugger::{StepDiff, USUAL_WAIT};
use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render;
use backsight::debug::walk::CapturePlan;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::debug_control::Action;
use super::debugging::{Answer, fitted, moved, number, outcome, printed, unbound, with_session};
use super::{Call, Definition, Effect, Group, one_or_many, usage};
use crate::debug_limits;
use crate::reply::Draft;

/// How deep it looks when nobody says.
const USUAL_DEPTH: u32 = 2;
/// What both ends of a step are called until the next one.
const ENDS: [&str; 2] = ["step-before", "step-after"];

pub struct StepAndDiff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    /// as in debug_control; default step_over
    #[schemars(with = "Option<String>")]
    action: Option<Action>,
    file: Option<String>,
    line: Option<u32>,
    /// default 2
    #[serde(default, deserialize_with = "number")]
    depth: Option<u32>,
    #[serde(default, deserialize_with = "one_or_many")]
    watch: Vec<String>,
    wait_ms: Option<u64>,
}

impl Definition for StepAndDiff {
    const NAME: &'static str = "step_and_diff";
    const TITLE: &'static str = "Step and see what changed";
    const DESCRIPTION: &'static str = "Step, continue or run_to and see which variables changed, in one call.";
    const EFFECT: Effect = Effect::Runs;
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("diff", "object"),
        ("lines", "array"),
        ("session", "string"),
        ("outcome", "string"),
        ("reason", "string"),
        ("description", "string"),
        ("thread_id", "integer"),
        ("frame", "object"),
        ("breakpoints", "array"),
        ("point", "string"),
        ("waited_ms", "integer"),
        ("exit_code", "integer"),
        ("cleared_snapshots", "integer"),
        ("captured", "integer"),
        ("unbound", "array"),
        ("printed", "array"),
        ("printed_before", "integer"),
        ("note", "string"),
    ];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let action = arguments.action.unwrap_or(Action::StepOver);
        if action == Action::Pause {
            return Err(usage("a program that is paused cannot be paused to see what that changes".to_owned()));
        }
        let control = action.control(arguments.file, arguments.line)?;
        let depth = debug_limits::depth(arguments.depth, USUAL_DEPTH)?;
        let plan = CapturePlan { depth, watches: arguments.watch, ..CapturePlan::default() };
        let limit = debug_limits::wait(arguments.wait_ms, USUAL_WAIT)?;
        let options = Options { max_tokens: call.max_tokens, form: Form::Json, ..Options::default() };
        let step = call.workspace.step_and_diff(session, control, plan, limit, &options)?;
        match &step.diff {
            None => Ok(moved(call, session, &step.moved).maybe("note", step.note)),
            Some(_) => compared(call, session, &step),
        }
    }
}

/// Where the program is now, then what changed on the way.
fn compared(call: &Call<'_>, session: Option<&str>, step: &StepDiff) -> Result<Draft> {
    let again = |offset: Option<usize>| -> Value {
        let mut again = json!({ "snapshot_id_1": ENDS[0], "snapshot_id_2": ENDS[1] });
        offset.iter().for_each(|offset| again["offset"] = json!(offset));
        with_session(again, session)
    };
    let (said, mut facts) = outcome(call, &step.moved);
    let mut head = said + "\n";
    let unbound = unbound(call, &step.moved.unbound);
    let printed = printed(step.moved.printed.as_deref().unwrap_or_default());
    for (name, lines) in [("unbound", unbound), ("printed", printed)] {
        if !lines.is_empty() {
            lines.iter().for_each(|line| head.push_str(&format!("{name}: {line}\n")));
            facts.push((name, json!(lines)));
        }
    }
    let debugger = call.workspace.debugger()?;
    fitted(call, "snapshot_diff", again(None), |room| {
        let options = Options { max_tokens: room, form: Form::Json, ..Options::default() };
        // The program has moved; its two ends can be compared as often as it takes.
        let diff = debugger.diff_snapshots(Some(&step.moved.session), ENDS[0], ENDS[1], &options)?;
        let text = format!("{head}{}", render::compact(&diff));
        let more = diff.next_offset.map(|next| again(Some(next)));
        Ok(Answer::new("diff", &diff, text)?.with(facts.clone()).more(more))
    })
}
