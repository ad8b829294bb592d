//! What a comparison finds, before any of it is chosen or put into words.

use super::runs::Span;
use crate::capture::{Node, Scope};

/// Everything two captures differ in. The nodes are those of the captures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found<'a> {
    /// In the order of the captures.
    pub(crate) changes: Vec<Change<'a>>,
    /// Paths at which another object stands, outermost ones only.
    pub(crate) rebound: Vec<String>,
    /// Values that are the same.
    pub(crate) unchanged: u64,
    /// Paths of values that look the same and of which something was not looked at.
    pub(crate) not_compared: Vec<String>,
}

/// One change.
#[derive(Clone, Debug)]
pub(crate) struct Change<'a> {
    /// Where. Indices are those of the new list, except the last one of what is gone.
    pub(crate) path: String,
    /// The variable's, field's or element's own name.
    pub(crate) name: Name<'a>,
    /// How many steps into the variable.
    pub(crate) depth: u32,
    /// In which variable and frame.
    pub(crate) place: Place<'a>,
    /// What.
    pub(crate) what: What<'a>,
    /// Which elements, where they were not captured.
    pub(crate) spans: Vec<Span>,
}

/// The variable and the frame in which something changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// What the variable is.
    pub(crate) scope: Scope,
    /// The function, when several frames are compared.
    pub(crate) frame: Option<&'a str>,
    /// How far the frame is from the innermost compared one.
    pub(crate) distance: usize,
}

/// A name, borrowed or a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Name<'a> {
    /// Of a variable, field or key.
    Text(&'a str),
    /// Of an element.
    Index(u64),
}

/// What changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'a> {
    /// It was not there. With what was there instead, of another type.
    Added(&'a Node, Option<&'a Node>),
    /// It is no longer there. With what is there instead, of another type.
    Removed(&'a Node, Option<&'a Node>),
    /// It is another value.
    Modified(&'a Node, &'a Node, Why),
}

/// How it is known that a value is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Its text differs.
    Text,
    /// Only what was cut off its text differs.
    Cut,
    /// Only something deeper than captured differs.
    Deeper,
    /// Something between or behind the captured elements differs.
    Unseen,
    /// It refers to another place.
    Reference,
}
