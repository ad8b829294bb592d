//! One error that is told twice: logged and uncaught. `console.error(error)` and the exception of the same error are the same
//! words at the same place a moment apart, and count once.

use std::collections::VecDeque;

use backsight_core::Timestamp;

use crate::event::{Console, Level, Speaker};
use crate::hash;

/// How far apart both can be: between them runs what the page does about its errors.
const APART_MS: i64 = 1_000;
/// So many errors are remembered.
const REMEMBERED: usize = 256;

/// What was said a moment ago and not said the other way yet.
#[derive(Debug, Default)]
pub(super) struct Echoes(VecDeque<Heard>);

#[derive(Debug)]
struct Heard {
    error: u64,
    speaker: Speaker,
    time: Timestamp,
}

impl Echoes {
    /// Whether the same error was told the other way a moment ago; each error once.
    pub(super) fn is_one(&mut self, console: &Console) -> bool {
        let Some(error) = error(console) else { return false };
        let (speaker, time) = (console.speaker, console.time);
        let is_it = |heard: &Heard| {
            heard.error == error && heard.speaker != speaker && (time.0 - heard.time.0).abs() <= APART_MS
        };
        if let Some(place) = self.0.iter().position(is_it) {
            self.0.remove(place);
            return true;
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(Heard { error, speaker, time });
        false
    }
}

/// What makes it the same error: its words, where it was made, and the page.
fn error(console: &Console) -> Option<u64> {
    let is_either = matches!(console.speaker, Speaker::Page | Speaker::Exception) && console.level == Level::Error;
    let frame = console.stack.first().filter(|_| is_either)?;
    let words = console.message.strip_suffix(" (in promise)").unwrap_or(&console.message);
    let place = format!("{}:{}:{}", frame.file, frame.line, frame.column);
    Some(hash::hash([words, &place, console.page.as_deref().unwrap_or_default()]))
}
