//! What an app said and did since you last looked: console, network, WebSockets, user actions. Events come from a real
//! browser, from a snippet in the page, or from a process; questions are answered with a small diff.
//!
//! The engine is pure: [`event`] comes in, is redacted ([`redact`]), kept in rings and counted in groups; [`report`] goes
//! out. Only `cdp` talks to a browser.

pub mod cdp;
#[doc(hidden)]
pub mod corpus;
pub mod endpoint;
pub mod event;
pub mod fingerprint;
mod marked;
pub mod noise;
pub mod redact;
pub mod report;
mod ring;
