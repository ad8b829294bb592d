//! What a step changes, in one call.

use backsight::debug::debugger::StepDiff;
use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render;
use backsight::debug::request::StepAndCompare;
use backsight_core::Result;
use serde_json::{Value, json};

use super::debugging::{Answer, Said, breakpoint, fitted, moved, objects, outcome, printed, with_session};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;

/// What both ends of a step are called until the next one.
const ENDS: [&str; 2] = ["step-before", "step-after"];

pub struct StepAndDiff;

impl Asking for StepAndDiff {
    const NAME: &'static str = "step_and_diff";
    const TITLE: &'static str = "Step and see what changed";
    const DESCRIPTION: &'static str = "Step, continue or run_to and see which variables changed, in one call.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWN: &'static [Shown] = &[
        Shown::new("action").saying("as in debug_control; default step_over").text(),
        Shown::new("file"),
        Shown::new("line"),
        Shown::new("depth").saying("default 2"),
        Shown::new("watch"),
        Shown::new("wait_ms"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("diff", "object"),
        ("lines", "array"),
        ("session", "string"),
        ("outcome", "string"),
        ("reason", "string"),
        ("description", "string"),
        ("thread_id", "integer"),
        ("frame", "object"),
        ("test", "object"),
        ("variables", "array"),
        ("breakpoints", "array"),
        ("exception", "object"),
        ("problem", "string"),
        ("also", "array"),
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
    type Request = StepAndCompare;

    fn run(call: &Call<'_>, mut request: StepAndCompare) -> Result<Draft> {
        let session = request.session.clone();
        request.part.max_tokens = Some(call.max_tokens);
        let step = call.workspace.perform(request)?;
        match &step.diff {
            None => Ok(moved(call, session.as_deref(), &step.moved).maybe("note", step.note)),
            Some(_) => compared(call, session.as_deref(), &step),
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
    let Said { sentence, brief, mut facts } = outcome(call, &step.moved);
    let mut head = sentence + "\n";
    if !step.moved.unbound.is_empty() {
        let lines = step.moved.unbound.iter().map(|one| breakpoint(call, one));
        lines.for_each(|line| head.push_str(&format!("unbound: {line}\n")));
        facts.push(("unbound", step.moved.unbound.iter().map(|one| objects::breakpoint(call, one)).collect()));
    }
    let printed = printed(step.moved.printed.as_deref().unwrap_or_default());
    if !printed.is_empty() {
        printed.iter().for_each(|line| head.push_str(&format!("printed: {line}\n")));
        facts.push(("printed", json!(printed)));
    }
    let debugger = call.workspace.debugger()?;
    fitted(call, "snapshot_diff", again(None), |room| {
        let options = Options { max_tokens: room, form: Form::Compact, ..Options::default() };
        // The program has moved; its two ends can be compared as often as it takes.
        let diff = debugger.diff_snapshots(Some(&step.moved.session), ENDS[0], ENDS[1], &options)?;
        let text = format!("{head}{}", render::compact(&diff));
        let more = diff.next_offset.map(|next| again(Some(next)));
        Ok(Answer::new(brief, "diff", objects::step(&diff), text).with(facts.clone()).more(more))
    })
}
