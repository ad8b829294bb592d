//! What the debug tools have in common: how places, plans and limits are asked for, and how stops, breakpoints and long
//! answers are told. Whatever comes from the program is told so that it can only be read.

mod answer;
pub mod objects;
mod told;

pub use answer::{Answer, fitted};
pub use told::{
    MOVED, Said, breakpoint, entry, executed, frame, listed, moved, offset_of, outcome, place, printed, relative,
    request, short, variable, with_session,
};
