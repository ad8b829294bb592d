//! The variables of a paused program: captured without running the user's code, compared, kept for the session. It knows
//! debuggers, and nothing of files or browsers.

pub mod capture;
