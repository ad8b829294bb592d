//! One process per workspace that agents and programs talk to: MCP, HTTP, and what agents' hooks say. It carries
//! requests to [`backsight::Workspace`] and answers back; it decides nothing a lane should decide.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod advice;
mod allocator;
mod app;
mod asker;
mod client;
mod connections;
mod door;
#[doc(hidden)]
pub mod fuzzing;
pub mod hook;
mod http;
pub mod leading;
mod log;
mod mcp;
mod offer;
mod office;
mod percent;
mod place;
mod process;
#[cfg(test)]
mod reference;
mod reply;
mod schema;
mod serve;
mod stalled;
#[doc(hidden)]
pub mod testing;
mod tool;
mod words;

pub use advice::CommandLine;
pub use client::{Client, Patience};
pub use http::{DASHBOARD_STYLE, Route, Target, document as openapi};
pub use log::{LogTo, start as start_log};
pub use offer::{Choice, Offer};
pub use place::{Address, find_ready};
pub use process::{mcp, serve};
pub use serve::{Options, Served, find, random_token};
pub use tool::{Group, reading_tools};
