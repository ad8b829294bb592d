//! Tests of the browser lane through its boundaries.

mod translate;
mod translate_recorded;
