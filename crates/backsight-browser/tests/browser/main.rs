//! Capture as its users see it: against a scripted browser for what cannot be provoked, and against a real one.

mod driver;
mod fake_browser;
mod fake_server;
mod live;
mod recorder;
mod site;
