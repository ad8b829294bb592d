//! Capture from a Chromium over its DevTools protocol. It watches: it never pauses, closes or changes the user's pages.

mod source_map;
pub mod translate;
