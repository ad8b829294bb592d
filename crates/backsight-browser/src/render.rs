//! How answers read.
