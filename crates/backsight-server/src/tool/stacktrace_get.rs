//! Frames of a thread, or the threads.

use backsight::debug::request::{ListThreads, ReadStack};
use backsight::debug::session::{StackView, ThreadView};
use backsight_core::{Effect, Operation, Result, Waits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::debugging::{frame, objects, short, with_session};
use super::{Asking, Call, Group, Shown, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct StacktraceGet;

/// The frames of a thread, or the threads themselves.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct StackOrThreads {
    #[serde(flatten)]
    stack: ReadStack,
    #[serde(default)]
    threads: bool,
}

impl Operation for StackOrThreads {
    type Answer = StackView;
    const EFFECT: Effect = ReadStack::EFFECT;
    const WAITS: Waits = ReadStack::WAITS;

    fn check(&self) -> Result<()> {
        self.stack.check()
    }
}

impl Asking for StacktraceGet {
    const NAME: &'static str = "stacktrace_get";
    const TITLE: &'static str = "Stack trace";
    const DESCRIPTION: &'static str = "Call stack, backtrace: the frames of a paused thread, or all threads.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = 700;
    const PAGES: bool = true;
    const SHOWN: &'static [Shown] =
        &[Shown::new("thread"), Shown::new("threads"), Shown::new("count").saying("default 20")];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("frames", "array"), ("threads", "array"), ("thread_id", "integer"), ("start", "integer")];
    type Request = StackOrThreads;

    fn run(call: &Call<'_>, StackOrThreads { stack: request, threads }: StackOrThreads) -> Result<Draft> {
        let (session, at) = (request.session.clone(), call.cursor);
        let session = session.as_deref();
        if threads {
            let threads = call.workspace.perform(ListThreads { session: request.session })?.threads;
            let lines: Vec<String> = threads.iter().map(|one| thread(call, one)).collect();
            let told = threads.iter().map(|one| objects::thread(call, one)).collect();
            let more = Next::new(Self::NAME, with_session(json!({ "threads": true }), session));
            let draft = Draft::new(words::count(lines.len(), "thread"));
            return Ok(draft.list_from("threads", lines, cursor(at)?, more).told_as(told));
        }
        let start = match at {
            Some(_) => u32::try_from(cursor(at)?).unwrap_or(u32::MAX),
            None => request.start,
        };
        let again = json!({ "thread": request.thread, "count": request.count });
        let stack = call.workspace.perform(ReadStack { start, ..request })?;
        let lines: Vec<String> =
            stack.frames.iter().map(|one| format!("#{} {}", one.index, frame(call, one))).collect();
        let cursors: Vec<String> = stack.frames.iter().map(|one| (one.index + 1).to_string()).collect();
        let more = Next::new(Self::NAME, with_session(again, session));
        let rest = if stack.more { ", and there are more" } else { "" };
        let summary = format!("{} of thread {}{rest}", words::count(lines.len(), "frame"), stack.thread_id);
        let onward = cursors.last().cloned().filter(|_| stack.more);
        let told = stack.frames.iter().map(|one| objects::frame(call, one)).collect();
        let draft = Draft::new(summary).brief("innermost first").fact("thread_id", stack.thread_id);
        let draft = draft.maybe("start", Some(start).filter(|start| *start > 0));
        Ok(draft.onward(&more, onward).list_after("frames", lines, cursors, more).told_as(told))
    }
}

fn thread(call: &Call<'_>, thread: &ThreadView) -> String {
    let here = if thread.stopped_here { ", paused the program" } else { "" };
    format!("{} {}{here}", thread.id, short(call, &thread.name))
}
