//! Snapshots as commits in a repository of the user's, with the real `git` as referee: it must find the new branch
//! whole, and everything else exactly as it was.

#![allow(clippy::disallowed_methods)]
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod branches;
mod commits;
mod conversions;
mod interruptions;
mod lab;
mod repositories;
