//! The variables of a paused program: captured without running the user's code, compared, kept for the session. It knows
//! debuggers, and nothing of files or browsers.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod adapters;
pub mod capture;
pub mod dap;
pub mod debugger;
pub mod diff;
#[doc(hidden)]
pub mod fuzzing;
mod hash;
pub mod path;
pub mod redact;
pub mod render;
pub mod report;
pub mod request;
pub mod series;
pub mod session;
pub mod store;
pub mod testing;
pub mod view;
pub mod walk;
