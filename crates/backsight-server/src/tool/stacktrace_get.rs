//! Frames of a thread, or the threads.

use backsight::debug::session::ThreadView;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::debugging::{frame, number, short, with_session};
use super::{Call, Definition, Effect, Group, cursor};
use crate::debug_limits;
use crate::reply::{Draft, Next};
use crate::words;

/// How many frames are told when nobody says.
const USUAL: u32 = 20;

pub struct StacktraceGet;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    #[schemars(skip)]
    session: Option<String>,
    thread: Option<i64>,
    #[serde(default)]
    threads: bool,
    #[serde(default, deserialize_with = "number")]
    #[schemars(skip)]
    start: Option<u32>,
    /// default 20
    #[serde(default, deserialize_with = "number")]
    count: Option<u32>,
    #[schemars(skip)]
    cursor: Option<String>,
}

impl Definition for StacktraceGet {
    const NAME: &'static str = "stacktrace_get";
    const TITLE: &'static str = "Stack trace";
    const DESCRIPTION: &'static str = "Call stack, backtrace: the frames of a paused thread, or all threads.";
    const EFFECT: Effect = Effect::Reads;
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = 700;
    const SHOWS_BUDGET: bool = false;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("frames", "array"), ("threads", "array"), ("thread_id", "integer"), ("epoch", "integer")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let session = arguments.session.as_deref();
        let debugger = call.workspace.debugger()?;
        let at = arguments.cursor.as_deref();
        if arguments.threads {
            let lines: Vec<String> = debugger.threads(session)?.iter().map(|one| thread(call, one)).collect();
            let more = Next::new(Self::NAME, with_session(json!({ "threads": true }), session));
            return Ok(Draft::new(words::count(lines.len(), "thread")).list_from("threads", lines, cursor(at)?, more));
        }
        let start = match at {
            Some(_) => u32::try_from(cursor(at)?).unwrap_or(u32::MAX),
            None => arguments.start.unwrap_or(0),
        };
        let count = debug_limits::frames(arguments.count, USUAL)?;
        let stack = debugger.stack(session, arguments.thread, start, count)?;
        let lines: Vec<String> =
            stack.frames.iter().map(|one| format!("#{} {}", one.index, frame(call, one))).collect();
        let cursors: Vec<String> = stack.frames.iter().map(|one| (one.index + 1).to_string()).collect();
        let again = json!({ "thread": arguments.thread, "count": arguments.count });
        let more = Next::new(Self::NAME, with_session(again, session));
        let rest = if stack.more { ", and there are more" } else { "" };
        let summary = format!("{} of thread {}{rest}", words::count(lines.len(), "frame"), stack.thread_id);
        let onward = cursors.last().cloned().filter(|_| stack.more);
        let draft = Draft::new(summary).fact("thread_id", stack.thread_id).fact("epoch", stack.epoch);
        Ok(draft.onward(&more, onward).list_after("frames", lines, cursors, more))
    }
}

fn thread(call: &Call<'_>, thread: &ThreadView) -> String {
    let here = if thread.stopped_here { ", paused the program" } else { "" };
    format!("{} {}{here}", thread.id, short(call, &thread.name))
}
