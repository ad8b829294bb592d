//! What agents' hooks say, from the payloads of each client to the rows in the history.

#![allow(clippy::disallowed_methods)]
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod conversations;
#[path = "../../../../fuzz/src/damaged.rs"]
mod feeding;
mod interleavings;
#[path = "../../../../fuzz/src/parsers.rs"]
mod parsers;
mod payloads;
mod replies;
mod stage;
mod strangers;
mod whose;
