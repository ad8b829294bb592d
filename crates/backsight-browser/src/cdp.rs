//! Capture from a Chromium over its DevTools protocol. It watches: it never pauses, closes or changes the user's pages.

pub mod translate;
