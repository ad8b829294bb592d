//! What the debug tools have in common: how places, plans and limits are asked for, and how stops, breakpoints and long
//! answers are told. Whatever comes from the program is told so that it can only be read.

mod answer;
mod told;

pub use answer::{Answer, fitted};
pub use told::{
    MOVED, breakpoint, entry, executed, frame, moved, offset_of, outcome, printed, request, short, unbound,
    with_session,
};
