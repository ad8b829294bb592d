//! Tests of the browser lane through its boundaries: recorded messages, a scripted browser for what cannot be provoked, and
//! a real one.

#![allow(clippy::unwrap_used)]

mod driver;
mod fake_browser;
mod fake_server;
mod live;
mod live_contents;
mod recorder;
mod site;
mod translate;
mod translate_recorded;
mod wires;
