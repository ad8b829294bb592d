//! What turns out later about something that was told: it is corrected where it was counted, not told again.

use crate::event::Console;

/// What turned out.
#[derive(Clone, Debug, PartialEq)]
pub enum Amendment {
    /// Where in the original code it was: a source map came after the message was told.
    Placed {
        /// As it was told.
        was: Box<Console>,
        /// With the original places.
        is: Box<Console>,
    },
    /// A rejection that was told found somebody who handles it.
    Handled(Box<Console>),
}
