//! The browser lane from outside: seed 001's scenarios, what several clients see, and laws over random streams.

#![allow(clippy::unwrap_used)]

mod app;
mod cursors;
mod laws;
mod scenarios;
