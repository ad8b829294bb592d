//! What changed a value: the program goes on until it does.

use backsight::debug::debugger::{Until, UntilChange, WatchedBy};
use backsight::debug::diff::{DEFAULT_TOKENS, Form, Options};
use backsight::debug::render::{self, both_safe};
use backsight::debug::request::RunUntilChange as Request;
use backsight_core::Result;
use serde_json::{Value, json};

use super::debugging::{Answer, Said, fitted, frame, objects, outcome, printed, short, with_session};
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;
use crate::words;

/// What both ends are called until the next step.
const ENDS: [&str; 2] = ["step-before", "step-after"];

pub struct RunUntilChange;

impl Asking for RunUntilChange {
    const NAME: &'static str = "run_until_change";
    const TITLE: &'static str = "Run until a value changes";
    const DESCRIPTION: &'static str =
        "Watch a variable or expression: run on until its value changes and name the line that changed it.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    const SHOWN: &'static [Shown] = &[
        Shown::new("expression").saying("such as order.items[3]"),
        Shown::new("frame"),
        Shown::new("max_steps").saying("default 1000"),
        Shown::new("wait_ms"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("changed", "boolean"),
        ("until", "string"),
        ("before", "string"),
        ("after", "string"),
        ("changed_by", "object"),
        ("value_frame", "integer"),
        ("watched_by", "string"),
        ("steps", "integer"),
        ("other_threads", "integer"),
        ("not_compared", "array"),
        ("diff", "object"),
        ("lines", "array"),
        ("session", "string"),
        ("outcome", "string"),
        ("reason", "string"),
        ("description", "string"),
        ("thread_id", "integer"),
        ("frame", "object"),
        ("breakpoints", "array"),
        ("exception", "object"),
        ("problem", "string"),
        ("also", "array"),
        ("point", "string"),
        ("waited_ms", "integer"),
        ("exit_code", "integer"),
        ("cleared_snapshots", "integer"),
        ("captured", "integer"),
        ("printed", "array"),
        ("printed_before", "integer"),
    ];
    type Request = Request;

    fn run(call: &Call<'_>, mut request: Request) -> Result<Draft> {
        let session = request.session.clone();
        request.part.max_tokens = Some(call.max_tokens);
        let found = call.workspace.perform(request)?;
        told(call, session.as_deref(), &found)
    }
}

/// What changed it, then where the program is.
fn told(call: &Call<'_>, session: Option<&str>, found: &UntilChange) -> Result<Draft> {
    let again = |offset: Option<usize>| -> Value {
        let mut again = json!({ "snapshot_id_1": ENDS[0], "snapshot_id_2": ENDS[1] });
        offset.iter().for_each(|offset| again["offset"] = json!(offset));
        with_session(again, session)
    };
    let Said { sentence, facts, .. } = outcome(call, &found.moved);
    let (head, brief, own) = said(call, found);
    let mut head = format!("{head}\n{sentence}\n");
    let mut facts: Vec<(&'static str, Value)> = own.into_iter().chain(facts).collect();
    let printed = printed(found.moved.printed.as_deref().unwrap_or_default());
    if !printed.is_empty() {
        printed.iter().for_each(|line| head.push_str(&format!("printed: {line}\n")));
        facts.push(("printed", json!(printed)));
    }
    let debugger = call.workspace.debugger()?;
    let path = found.diff.as_ref().and_then(|diff| diff.path.clone());
    fitted(call, "snapshot_diff", again(None), |room| {
        if found.diff.is_none() {
            return Ok(Answer::new(brief, "until", json!(found.until), head.clone()).with(facts.clone()));
        }
        let options = Options { max_tokens: room, form: Form::Compact, path: path.clone(), offset: 0 };
        let diff = debugger.diff_snapshots(Some(&found.moved.session), ENDS[0], ENDS[1], &options)?;
        let text = format!("{head}{}", render::compact(&diff));
        let more = diff.next_offset.map(|next| again(Some(next)));
        let until = [("until", json!(found.until))];
        Ok(Answer::new(brief, "diff", objects::step(&diff), text).with(until).with(facts.clone()).more(more))
    })
}

/// ``order.total changed from 0 to 7 by main at shop.py:24: `order.total = 7` ``, the same in short, and as facts.
fn said(call: &Call<'_>, found: &UntilChange) -> (String, &'static str, Vec<(&'static str, Value)>) {
    let expression = short(call, &found.expression);
    let (before, after) = both_safe(&found.before, found.after.as_deref().unwrap_or_default());
    let (before, after) = (words::clip(&before), words::clip(&after));
    let mut facts = vec![("changed", json!(found.changed)), ("before", json!(before)), ("steps", json!(found.steps))];
    let frame_now = found.value_frame.filter(|frame| *frame > 0);
    facts.extend(frame_now.map(|frame| ("value_frame", json!(frame))));
    let again = frame_now.map_or_else(String::new, |frame| format!(" with frame {frame}"));
    if found.watched_by == WatchedBy::DataBreakpoint {
        facts.push(("watched_by", json!(found.watched_by)));
    }
    let steps = match found.watched_by {
        WatchedBy::DataBreakpoint => words::count(found.steps as usize, "write"),
        WatchedBy::Stepping => words::count(found.steps as usize, "step"),
    };
    let (mut text, brief) = match found.until {
        Until::Changed => {
            facts.push(("after", json!(after)));
            let by = found.changed_by.as_ref();
            facts.extend(by.map(|by| ("changed_by", objects::frame(call, by))));
            let by = by.map_or_else(|| "code that is not the project's".to_owned(), |by| frame(call, by));
            (format!("{expression} changed from {before} to {after}, after {steps}, by {by}"), "changed")
        }
        until => {
            let why = match until {
                Until::OutOfScope => "its call returned or it is out of scope".to_owned(),
                Until::PausedElsewhere => "something else paused the program".to_owned(),
                Until::StepLimit => format!("that is the limit; call it again{again} to go on"),
                Until::TimeLimit => format!("the time is up and the program was paused; call it again{again} to go on"),
                Until::Changed | Until::NotPaused => "the program is not paused".to_owned(),
            };
            (format!("{expression} did not change from {before} in {steps}: {why}"), "did not change")
        }
    };
    if found.other_threads > 0 {
        facts.push(("other_threads", json!(found.other_threads)));
        let others = words::count(found.other_threads as usize, "other thread");
        text.push_str(&format!("; {others} ran too and may have done it"));
    }
    if !found.not_compared.is_empty() {
        let paths: Vec<String> = found.not_compared.iter().take(8).map(|path| short(call, path)).collect();
        facts.push(("not_compared", json!(paths)));
        text.push_str(&format!("; not compared, a change there is not seen: {}", paths.join(", ")));
    }
    (text, brief, facts)
}
