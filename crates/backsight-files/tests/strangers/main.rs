//! What a stranger may have written into a workspace or into stored objects: it may be refused or reported, but nothing
//! of it hangs, exhausts or crashes a capture. Everything runs on the small stack that a server's thread has.

#![allow(clippy::disallowed_methods)]
// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod commits;
mod deep;
mod lab;
mod objects;
mod patterns;
mod special;
