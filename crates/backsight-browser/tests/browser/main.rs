//! The browser lane from outside: seed 001's scenarios, what several clients see, laws over random streams, the protocol as
//! recorded and as a fake speaks it, and a real Chromium.

#![allow(clippy::disallowed_methods)]
#![allow(clippy::unwrap_used)]

mod app;
mod checkpoints;
mod corpus;
mod cursors;
mod driver;
mod endpoints;
mod entries;
mod fake_browser;
mod fake_server;
mod laws;
mod live;
mod live_answers;
mod live_contents;
mod live_requests;
mod live_running;
mod noise;
mod recorder;
mod render;
mod said;
mod scenarios;
mod site;
mod sockets;
mod strangers;
mod translate;
mod translate_recorded;
mod wires;
