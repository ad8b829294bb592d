//! What an app said and did since you last looked: console, network, WebSockets, user actions. Events come from a real
//! browser, from a snippet in the page, or from a process; questions are answered with a small diff.
//!
//! The engine is pure: [`event`] comes in, is redacted ([`redact`]), kept in rings and counted in groups; [`report`] goes
//! out. Only `cdp` talks to a browser.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod amend;
pub mod answer;
mod attached;
pub mod baseline;
mod bounds;
mod browser;
pub mod cdp;
mod changes;
mod checkpoint;
#[doc(hidden)]
pub mod corpus;
mod doubles;
pub mod endpoint;
pub mod entry;
pub mod event;
pub mod exchange;
pub mod fingerprint;
#[doc(hidden)]
pub mod fuzzing;
pub mod har;
mod hash;
mod health;
mod known;
mod log;
mod marked;
pub mod name;
pub mod noise;
mod notable;
mod page_key;
pub mod redact;
pub mod render;
pub mod report;
pub mod request;
pub mod request_state;
mod ring;
pub mod shape;
mod signs;
mod sources;
pub mod symptom;
mod tabs;
mod telemetry;
mod under_way;
mod window;
mod words;

pub use amend::Amendment;
pub use browser::{Ask, Browser, Ingest, Kept, LONGEST_WAIT, Made, Options, Wait};
pub use changes::Filter;
pub use checkpoint::{Checkpoint, NAMED};
pub use health::{Health, Verdict};
pub use known::Known;
pub use notable::{Notable, NotableKind};
pub use page_key::PageKey;
pub use signs::Sign;
pub use sources::{Source, SourceId, SourceKind};
pub use telemetry::{Limits, network::EndpointState};
pub use under_way::{AskedFor, Phase, UnderWay};
