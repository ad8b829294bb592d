//! What may name a session, a message, a part, a tool or a client: texts that callers choose and that are shown in lists. One
//! rule for every lane and interface.

use crate::{Code, Error, Result, quote};

/// Names are fit to be shown and typed; [`check`] has the last word, and counts bytes.
pub const ID: &str = r"^[^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]([^\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069])?$";
/// The same, or nothing, which is no name.
pub const ID_OR_NONE: &str = r"^([^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]([^\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069])?)?$";

/// The longest id of a session, message or part, in bytes.
pub const LONGEST_ID: usize = 200;
/// The longest name of a tool or client, in bytes.
pub const LONGEST_NAME: usize = 100;

/// Whether a text can name a tool or a client.
pub fn is_name(text: &str) -> bool {
    problem(text, LONGEST_NAME).is_none()
}

/// Refuses a text that cannot be a name.
pub fn check(what: &str, text: &str, longest: usize) -> Result<()> {
    let Some(problem) = problem(text, longest) else { return Ok(()) };
    let shown: String = text.chars().take(40).collect();
    Err(Error::new(Code::Usage, format!("the {what} `{}` {problem}", quote(shown.as_bytes())))
        .with_hint("use a short name such as `s1` or `msg_123`"))
}

/// Why a text cannot be a name, if it cannot.
pub fn problem(text: &str, longest: usize) -> Option<String> {
    if text.trim().is_empty() {
        Some("is empty".to_owned())
    } else if text.len() > longest {
        Some(format!("has {} bytes, more than {longest}", text.len()))
    } else if text.chars().any(is_unfit) {
        Some("holds control characters".to_owned())
    } else if text.trim() != text {
        Some("begins or ends with a space".to_owned())
    } else {
        None
    }
}

/// What moves the cursor, breaks lines or turns the direction of writing.
pub fn is_unfit(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
