//! The debug lane from outside: the seed's scenarios on captures without a debugger, a scripted adapter for what real ones
//! cannot be made to do, and the real ones.

#![allow(clippy::disallowed_methods)]
// What a helper of a test cannot go on without may end the test.
#![allow(clippy::unwrap_used)]

mod facade;
mod facade_ends;
mod facade_points;
mod facade_reference;
mod fake_adapter;
mod fake_tests;
mod live;
mod program;
mod snapshots;
mod wild;
