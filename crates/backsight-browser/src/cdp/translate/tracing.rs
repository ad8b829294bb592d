//! When the browser follows asynchronous calls, so that a stack also says where a timer, a promise or a component was made.
//! Frameworks warn from their own code: React names the line of a list without keys in no other way. Following makes each
//! `await` some twenty microseconds slower, so it is done only while new code takes effect: after a document was loaded
//! and after a hot update.

use std::collections::HashMap;

use backsight_core::Timestamp;
use serde_json::{Value, json};

use super::{Asked, Context};

/// The command that switches it on and off.
pub const COMMAND: &str = "Debugger.setAsyncCallStackDepth";
/// How far back calls are followed: an element within an element of a library within one of the app.
const DEPTH: u32 = 4;
/// How long after new code came.
const WINDOW_MS: i64 = 15_000;

/// The sessions in which calls are followed now, and until when.
#[derive(Debug, Default)]
pub struct Tracing(HashMap<String, Timestamp>);

/// To be sent with the greeting of a document, or whenever new code comes.
pub fn on() -> Value {
    json!({ "maxDepth": DEPTH })
}

impl Tracing {
    /// A session begins, and its greeting switches it on.
    pub fn begin(&mut self, session: &str, now: Timestamp) {
        self.0.insert(session.to_owned(), Timestamp(now.0 + WINDOW_MS));
    }

    /// New code came to a page.
    pub fn wake(&mut self, context: &mut Context<'_>) {
        let until = Timestamp(context.now.0 + WINDOW_MS);
        if self.0.insert(context.session.to_owned(), until).is_none() {
            context.ask(Asked::Nothing, COMMAND, on());
        }
    }

    /// Whether it is over in some session, so that [`Tracing::rest`] has something to do.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.0.values().any(|until| *until <= now)
    }

    /// Switches it off where its time is over. A page in which nothing happens is not asked: there it costs nothing.
    pub fn rest(&mut self, context: &mut Context<'_>) {
        let over: Vec<String> =
            self.0.iter().filter(|(_, until)| **until <= context.now).map(|(session, _)| session.clone()).collect();
        for session in over {
            self.0.remove(&session);
            context.ask_of(&session, Asked::Nothing, COMMAND, json!({ "maxDepth": 0 }));
        }
    }

    /// A session ends.
    pub fn detached(&mut self, session: &str) {
        self.0.remove(session);
    }
}
