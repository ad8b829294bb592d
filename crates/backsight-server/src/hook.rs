//! What agents' hooks say, and what is recorded for it. Five clients call us before and after every tool and at every
//! prompt, each with a payload of its own shape; [`parse`] turns all of them into one [`Event`], [`run`] brackets the
//! tool's work with `begin` and `finish`, and [`Reply`] holds only what the client's published output schema allows.
//!
//! A hook never blocks an agent: whatever goes wrong becomes words in the reply, and the agent goes on.

mod act;
mod agent;
mod asking;
mod commit;
mod deliver;
mod event;
mod heard;
mod marks;
mod news;
mod parse;
mod place;
mod reply;
mod small_file;
mod tools;
mod transcript;
mod turns;

pub use act::run;
pub use agent::Agent;
pub use asking::who_asks;
pub use deliver::{Way, deliver};
pub use event::{Effect, Ending, Event, Ours, Outcome, ToolCall};
pub use heard::last_heard;
pub use marks::mark_app;
pub use news::{comments, news};
pub use parse::{event_name, parse, read_payload};
pub use place::start_directories;
pub use reply::Reply;

/// How long another process may hold the workspace before the agent goes on unrecorded.
pub const LONGEST_WAIT: std::time::Duration = std::time::Duration::from_secs(3);
