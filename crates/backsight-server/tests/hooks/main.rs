//! What agents' hooks say, from the payloads of each client to the rows in the history.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod conversations;
mod payloads;
mod replies;
mod stage;
