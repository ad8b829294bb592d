//! The debug lane from outside: a scripted adapter for what real ones cannot be made to do, and the real ones.

mod fake_adapter;
mod fake_tests;
mod live;
