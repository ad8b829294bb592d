//! Capture from a Chromium over its DevTools protocol. It watches: it never pauses, closes or changes the user's pages.
//!
//! [`capture`] is the way in. Below it: `discover` and `launch` find a browser, `connection` speaks the protocol, `targets`
//! decides what to watch, `watch` carries that out, and `translate` makes events of what is heard.

pub mod capture;
pub(crate) mod connection;
mod dial;
mod discover;
mod epoch;
mod find;
pub mod launch;
mod origins;
mod own_profile;
mod targets;
pub mod translate;
mod watch;

pub use capture::{Attach, Capture, Clock, Listener, Memory, Page, PageState, Place, Watching};
pub use launch::Launch;
