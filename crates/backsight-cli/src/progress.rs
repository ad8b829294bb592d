//! Shows long work on stderr: a bar when it is a terminal and the work takes a while, one line when we must wait.

use std::mem::{Discriminant, discriminant};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use backsight::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::words::{bytes, count, safe, thousands};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(300);

/// Shows what the library reports. Clones share one bar.
#[derive(Clone)]
pub struct Reporter(Arc<State>);

struct State {
    started: Instant,
    bar: ProgressBar,
    stage: Mutex<Option<Discriminant<Progress>>>,
    waited_for: Mutex<Option<String>>,
}

impl Reporter {
    /// Draws nothing until there is something to say.
    pub fn new(started: Instant) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        Reporter(Arc::new(State { started, bar, stage: Mutex::new(None), waited_for: Mutex::new(None) }))
    }

    /// Takes one report.
    pub fn report(&self, progress: Progress) {
        let progress = match progress {
            Progress::Waiting { holder } => return self.waiting(holder),
            Progress::Noted { message } => {
                return self.0.bar.suspend(|| anstream::eprintln!("warning: {}", safe(&message)));
            }
            other => other,
        };
        if self.0.started.elapsed() < PATIENCE {
            return;
        }
        let (position, length, message) = describe(&progress);
        self.enter(discriminant(&progress), length);
        self.0.bar.set_length(length.unwrap_or(0));
        self.0.bar.set_position(position);
        self.0.bar.set_message(message);
    }

    /// Dresses the bar for a new kind of work.
    fn enter(&self, stage: Discriminant<Progress>, length: Option<u64>) {
        let mut current = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != Some(stage) {
            // A target that is not a terminal stays hidden by itself.
            self.0.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.0.bar.set_style(style(length));
            *current = Some(stage);
        }
    }

    /// Clears the bar, so that what is printed next starts on a clean line.
    pub fn finish(&self) {
        self.0.bar.finish_and_clear();
    }

    fn waiting(&self, holder: String) {
        let mut waited_for = self.0.waited_for.lock().unwrap_or_else(PoisonError::into_inner);
        if waited_for.as_ref() != Some(&holder) {
            let line = format!("waiting for {}, which holds this workspace", name_holder(&holder));
            self.0.bar.suspend(|| anstream::eprintln!("{line}"));
            *waited_for = Some(holder);
        }
    }
}

/// `backsight track (pid 12)` with the command in backticks.
fn name_holder(holder: &str) -> String {
    let holder = safe(holder);
    match holder.split_once(" (") {
        Some((command, rest)) => format!("`{command}` ({rest}"),
        None => holder,
    }
}

/// Position, length when known, and what is being done.
fn describe(progress: &Progress) -> (u64, Option<u64>, String) {
    match progress {
        Progress::Waiting { holder } => (0, None, format!("waiting for {}", name_holder(holder))),
        Progress::Noted { message } => (0, None, safe(message)),
        Progress::Scanning { files } => (*files, None, format!("scanning: {}", count(*files, "file"))),
        Progress::Storing { files_done, files_total, bytes_done, bytes_total } => {
            let files = format!("storing: {} of {}", thousands(*files_done), count(*files_total, "file"));
            (*bytes_done, Some(*bytes_total), format!("{files}, {}", bytes(*bytes_done)))
        }
        Progress::Applying { done, total } => counted("putting back", *done, *total, "file"),
        Progress::Bisecting { steps, runs, remaining } => (
            *runs,
            None,
            format!("checking {}: {} left after {}", safe(steps), count(*remaining, "step"), count(*runs, "run")),
        ),
        Progress::Verifying { done, total } => counted("verifying", *done, *total, "object"),
    }
}

fn counted(doing: &str, done: u64, total: u64, noun: &str) -> (u64, Option<u64>, String) {
    (done, Some(total), format!("{doing}: {} of {}", thousands(done), count(total, noun)))
}

fn style(length: Option<u64>) -> ProgressStyle {
    let template = if length.is_some() { "{bar:30.cyan/dim} {msg}" } else { "{spinner:.cyan} {msg}" };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_named_as_a_command() {
        assert_eq!(name_holder("backsight track (pid 12)"), "`backsight track` (pid 12)");
        assert_eq!(name_holder("another process"), "another process");
    }

    #[test]
    fn storing_counts_files_and_bytes() {
        let progress = Progress::Storing { files_done: 1, files_total: 2000, bytes_done: 2048, bytes_total: 4096 };
        assert_eq!(describe(&progress), (2048, Some(4096), "storing: 1 of 2,000 files, 2.0 KiB".into()));
    }
}
