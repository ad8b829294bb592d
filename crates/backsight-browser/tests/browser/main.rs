//! The browser lane from outside: seed 001's scenarios, what several clients see, laws over random streams, the protocol as
//! recorded and as a fake speaks it, and a real Chromium.

#![allow(clippy::unwrap_used)]

mod app;
mod cursors;
mod laws;
mod scenarios;
mod translate;
mod translate_recorded;
