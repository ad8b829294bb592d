//! Speaks the Debug Adapter Protocol to one adapter. It knows how messages travel, not what a debug session is.
//!
//! `wire` cuts a stream of bytes into messages, `types` reads them leniently, `connection` matches requests with their
//! answers, `process` owns the programs that were started for it and `transport` brings the two together.

pub(crate) mod connection;
pub mod peer;
pub(crate) mod process;
pub(crate) mod scratch;
pub(crate) mod transport;
pub(crate) mod types;
pub mod wire;
