//! Lets the program go on and waits for where it comes to. Whoever waits gets an answer at the limit too: that the program
//! is still running is news, not a failure.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result, bounded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::breakpoints::{Breakpoint, BreakpointRequest, Here, Place, Purpose};
use super::engine::{Engine, PATIENCE, Paused};
use super::handshake::{set_exceptions, set_functions, set_lines};
use super::raised::AlsoThere;
use super::state::{Change, Moment, State, Stop};
use crate::dap::connection::Refused;
use crate::dap::types::{self, StackFrame};

/// How long a program that has ended may take until its exit code is known.
const CODE: Duration = Duration::from_secs(2);
/// How long a stop may be on its way when a debugger says that there is nothing to pause.
const REFUSED: Duration = Duration::from_secs(2);

/// What debugpy says of an exception that says nothing.
const NO_DESCRIPTION: &str = "exception: no description";

/// What the program shall do.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Go on.
    Continue,
    /// Pause wherever it is.
    Pause,
    /// One line, into what it calls.
    StepIn,
    /// One line, over what it calls.
    StepOver,
    /// Out of the function.
    StepOut,
    /// To a line, or to whatever pauses it before.
    RunTo {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: u32,
    },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The program is paused.
    Stopped(Box<StopReport>),
    /// The limit came first.
    StillRunning {
        /// How long was waited.
        waited_ms: u64,
    },
    /// The program has ended.
    Exited {
        /// With this code, where the debugger tells.
        code: Option<i64>,
    },
    /// The debugger is gone.
    Disconnected {
        /// Why.
        reason: String,
    },
}

/// A stop and where it is.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct StopReport {
    /// Changes whenever the program moves; what was read under another number is old.
    pub epoch: u64,
    /// Why.
    #[serde(flatten)]
    pub stop: Stop,
    /// The innermost frame; none when the thread has no code the debugger knows.
    pub frame: Option<FrameView>,
    /// The breakpoints that were hit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<String>,
    /// The snapshot point that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<String>,
    /// Other threads that stand at a breakpoint at the same time; debuggers let them go on from there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoThere>,
}

impl Outcome {
    /// A stop of which no more is known.
    pub(crate) fn stopped(epoch: u64, stop: Stop) -> Outcome {
        let (breakpoints, also) = (Vec::new(), Vec::new());
        Outcome::Stopped(Box::new(StopReport { epoch, stop, frame: None, breakpoints, point: None, also }))
    }
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct FrameView {
    /// From 0, the innermost.
    pub index: u32,
    /// The function's name.
    pub function: String,
    /// The source file.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// The line itself, where the file can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Engine {
    /// Does it, and waits up to `limit` for what comes of it.
    pub(crate) async fn control(&self, control: Control, thread: Option<i64>, limit: Duration) -> Result<Outcome> {
        let before = self.moment().epoch;
        match control {
            Control::Pause => return self.pause(limit).await,
            Control::Continue => self.resume("continue", thread).await?,
            Control::StepIn => self.resume("stepIn", thread).await?,
            Control::StepOver => self.resume("next", thread).await?,
            Control::StepOut => self.resume("stepOut", thread).await?,
            Control::RunTo { file, line } => self.run_to(file, line, thread).await?,
        }
        self.wait(before + 1, limit).await
    }

    /// Waits until the program pauses or ends, if it has not since the epoch given.
    pub(crate) async fn wait(&self, since: u64, limit: Duration) -> Result<Outcome> {
        let started = Instant::now();
        let mut moment = self.follow();
        let settled = |now: &Moment| now.is_over() || (now.epoch >= since && matches!(now.seen(), State::Stopped(_)));
        let waited = tokio::time::timeout(limit, moment.wait_for(settled)).await.map(|now| now.map(|now| now.clone()));
        match waited {
            Ok(Ok(_)) => self.outcome().await,
            Ok(Err(_)) => Ok(Outcome::Disconnected { reason: "the session is over".to_owned() }),
            Err(_) => Ok(Outcome::StillRunning { waited_ms: started.elapsed().as_millis() as u64 }),
        }
    }

    /// Where the program is now, said in full.
    pub(crate) async fn outcome(&self) -> Result<Outcome> {
        // A second thread may report its stop while the first one is looked at.
        for _ in 0..3 {
            let paused = match self.paused() {
                Ok(paused) => paused,
                Err(_) => return Ok(self.unpaused().await),
            };
            match self.report(&paused).await {
                Err(error) if error.code() == Code::StateChanged => {}
                Ok(mut report) => {
                    report.also = self.also_there(&paused, &report.breakpoints).await?;
                    self.end_temporary().await?;
                    return Ok(Outcome::Stopped(Box::new(report)));
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(Code::StateChanged, "the program keeps moving"))
    }

    /// Where a program is that is not paused, with its exit code if that comes soon.
    pub(crate) async fn unpaused(&self) -> Outcome {
        let mut moment = self.follow();
        let tells = self.adapter.quirks.is_program || self.adapter.quirks.exit_words.is_some();
        if tells && matches!(moment.borrow().state, State::Exited { code: None }) {
            let known = |now: &Moment| matches!(now.state, State::Exited { code: Some(_) });
            // Without it the code stays unknown, which is said.
            let _ = tokio::time::timeout(CODE, moment.wait_for(known)).await;
        }
        match self.moment().state {
            State::Exited { code } => Outcome::Exited { code },
            State::Disconnected { reason } => Outcome::Disconnected { reason },
            _ => Outcome::StillRunning { waited_ms: 0 },
        }
    }

    pub(crate) async fn report(&self, paused: &Paused) -> Result<StopReport> {
        let mut stop = paused.stop.clone();
        let frame = match stop.thread_id {
            Some(thread) => self.stack(paused, thread, 1).await?.first().map(|frame| view(0, frame)),
            None => None,
        };
        let (file, line) = frame.as_ref().map_or((None, None), |frame| (frame.file.as_deref(), frame.line));
        let function = frame.as_ref().map(|frame| frame.function.as_str());
        let breakpoints = self.breakpoints().hit(&stop, Here { file, line, function });
        if !stop.is_learned {
            let learned = self.learn(paused, &breakpoints).await?;
            self.breakpoints().note_problem(&breakpoints, learned.problem.as_deref());
            stop.learn(learned.clone());
            self.change_moment(|moment| {
                moment.learn(paused.epoch, stop.thread_id, learned);
                false
            });
        }
        self.still(paused)?;
        let point = self.breakpoints().point_of(&breakpoints);
        Ok(StopReport { epoch: paused.epoch, stop, frame, breakpoints, point, also: Vec::new() })
    }

    pub(super) async fn exception(&self, paused: &Paused) -> Result<Option<String>> {
        let Some(thread) = paused.stop.thread_id else { return Ok(None) };
        if !self.capabilities().supports_exception_info_request {
            return Ok(None);
        }
        // What kind of exception it is matters less than that it is one.
        let Ok(body) = self.connection.request("exceptionInfo", json!({ "threadId": thread }), PATIENCE).await else {
            return Ok(None);
        };
        let info: types::ExceptionInfo = types::read(body);
        Ok(exception_words(info.exception_id, info.description))
    }

    async fn resume(&self, command: &str, thread: Option<i64>) -> Result<()> {
        let paused = self.paused()?;
        self.idle()?;
        self.pausing.store(false, Ordering::SeqCst);
        self.resume_from(&paused, command, thread).await
    }

    /// Lets the program go on from a stop.
    pub(crate) async fn resume_from(&self, paused: &Paused, command: &str, thread: Option<i64>) -> Result<()> {
        let thread = thread.or(paused.stop.thread_id).unwrap_or(1);
        self.stepping.store(command != "continue", Ordering::SeqCst);
        // From here on nothing that was read before is valid, whatever comes of the request.
        self.change(Change::Resuming);
        match self.connection.request(command, json!({ "threadId": thread }), PATIENCE).await {
            // A debugger that is gone went on, too: how it ended is for whoever waits to tell.
            Ok(_) | Err(Refused::Gone(_)) => Ok(()),
            Err(refused) => {
                if matches!(refused, Refused::Answered(_)) {
                    self.change(Change::Refused(paused.stop.clone()));
                }
                Err(self.failed(command, refused))
            }
        }
    }

    async fn pause(&self, limit: Duration) -> Result<Outcome> {
        // Wanted until somebody lets it go on again: a stop that is being looked at is shown, and so is the next one.
        self.pausing.store(true, Ordering::SeqCst);
        let now = self.moment();
        if !matches!(now.state, State::Running | State::Starting) {
            return self.wait(now.epoch, limit).await;
        }
        let thread = self.some_thread().await;
        let Err(refused) = self.ask("pause", json!({ "threadId": thread }), PATIENCE).await else {
            return self.wait(now.epoch, limit).await;
        };
        // It may have stopped by itself a moment before, of which we will hear.
        match self.wait(now.epoch, limit.min(REFUSED)).await? {
            Outcome::StillRunning { .. } => Err(refused),
            outcome => Ok(outcome),
        }
    }

    async fn some_thread(&self) -> Value {
        let threads = self.connection.request("threads", Value::Null, PATIENCE).await.unwrap_or_default();
        let (threads, _) = types::list::<types::Thread>(threads, "threads");
        threads.first().map_or(json!(1), |thread| json!(thread.id))
    }

    async fn run_to(&self, file: PathBuf, line: u32, thread: Option<i64>) -> Result<()> {
        self.paused()?;
        let place = Place::Line { file: file.clone(), line };
        // Whatever stands there already pauses the program, or is a point that somebody wants to go on from.
        if self.breakpoints().at(&place).is_some_and(|there| there.pauses_always()) {
            return self.resume("continue", thread).await;
        }
        let set = self.set_breakpoint(BreakpointRequest::new(place), Purpose::RunTo).await?;
        if !set.bound {
            self.remove_breakpoint(&set.id).await?;
            let why = set.message.unwrap_or_default();
            let message = format!("the program cannot pause at `{}` line {line}: {why}", file.display());
            return Err(Error::new(Code::AdapterFailed, message));
        }
        self.resume("continue", thread).await
    }

    async fn end_temporary(&self) -> Result<()> {
        let ids = self.breakpoints().temporary();
        for id in ids {
            self.remove_breakpoint(&id).await?;
        }
        Ok(())
    }

    /// Sets a breakpoint and tells what the debugger made of it.
    pub(crate) async fn set_breakpoint(&self, request: BreakpointRequest, purpose: Purpose) -> Result<Breakpoint> {
        let _setting = self.setting.lock().await;
        if let Some(error) = self.over() {
            return Err(error);
        }
        let id = self.breakpoints().add(request.clone(), purpose)?;
        self.tell(&request.at).await?;
        let set = self.breakpoints().get(&id).cloned();
        set.ok_or_else(|| Error::new(Code::AdapterFailed, "the breakpoint was removed while it was set"))
    }

    /// Removes a breakpoint.
    pub(crate) async fn remove_breakpoint(&self, id: &str) -> Result<Breakpoint> {
        let _setting = self.setting.lock().await;
        let removed = self.breakpoints().remove(id);
        let Some(removed) = removed else {
            let known: Vec<String> = self.breakpoints().list().iter().map(|known| known.id.clone()).collect();
            let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
            return Err(Error::new(Code::RefNotFound, format!("there is no breakpoint `{id}`: {known}"))
                .then("list them", NextStep::ListBreakpoints));
        };
        if self.over().is_none() {
            self.tell(&removed.request.at).await?;
        }
        Ok(removed)
    }

    async fn tell(&self, place: &Place) -> Result<()> {
        match place {
            Place::Line { file, .. } => set_lines(self, file).await,
            Place::Function(_) => set_functions(self).await,
            Place::Exception(_) => set_exceptions(self).await,
        }
    }

    /// Whether the adapter owes no answer that it would have to finish first.
    pub(crate) fn idle(&self) -> Result<()> {
        match self.connection.overdue() {
            None => Ok(()),
            Some(command) => {
                let message = format!("`{}` still works on an earlier `{command}`", self.adapter.name);
                Err(Error::new(Code::Busy, message)
                    .with_hint("wait a moment")
                    .or("end the session", NextStep::EndProgram))
            }
        }
    }
}

/// An exception in one text: its name, and what it says.
pub(crate) fn exception_words(name: String, about: Option<String>) -> Option<String> {
    // What debugpy adds is about itself.
    let own = |text: String| text.split("(note: full exception trace").next().unwrap_or_default().trim_end().to_owned();
    let name = own(name);
    let about = about.map(own).filter(|text| !text.trim().is_empty() && *text != name && text != NO_DESCRIPTION);
    match (name.is_empty(), about) {
        (true, about) => about,
        (false, Some(about)) => Some(format!("{name}: {about}")),
        (false, None) => Some(name),
    }
}

/// A frame as it is shown.
pub(crate) fn view(index: u32, frame: &StackFrame) -> FrameView {
    let file = frame.source.as_ref().and_then(|source| source.path.clone().or_else(|| source.name.clone()));
    let line = (frame.line > 0).then_some(frame.line);
    let source = file.as_deref().zip(line).and_then(|(file, line)| source_line(file, line));
    FrameView { index, function: frame.name.clone(), file, line, source }
}

/// A larger file is no source that anybody reads.
pub(crate) const LARGEST_SOURCE: u64 = 16 << 20;

fn source_line(file: &str, line: u32) -> Option<String> {
    // The program says which file it is, and may name a device or a pipe.
    let text = bounded::read(Path::new(file), LARGEST_SOURCE).ok()?;
    let line = text.split(|byte| *byte == b'\n').nth(line.checked_sub(1)? as usize)?;
    Some(String::from_utf8_lossy(&line[..line.len().min(2000)]).trim().chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_is_a_device_or_a_pipe_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("source"), "one\n  two\n").unwrap();
        assert_eq!(source_line(&path("source"), 2).as_deref(), Some("two"));
        assert_eq!((source_line(&path("source"), 0), source_line(&path("source"), 9)), (None, None));
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        let (fifo, kind) = (path("fifo"), rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, rustix::fs::Mode::RWXU, 0).unwrap();
        for odd in ["/dev/zero", &path("zero"), &fifo, &path("nothing")] {
            assert_eq!(source_line(odd, 1), None, "{odd}");
        }
    }
}
