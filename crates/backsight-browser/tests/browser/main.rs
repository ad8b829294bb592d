//! The crate through its public face.

mod noise;
mod render;
