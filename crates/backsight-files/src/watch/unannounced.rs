//! No announcements: there is never a watcher, and so no method of one is ever called.

use std::convert::Infallible;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use super::News;

/// A value that cannot be made.
#[derive(Debug)]
pub(crate) struct Watcher(Infallible);

impl Watcher {
    pub(crate) fn new() -> Result<Watcher, Errno> {
        Err(Errno::NOSYS)
    }

    pub(crate) fn directories(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn begin_walk(&self) {
        match self.0 {}
    }

    pub(crate) fn end_walk(&self) {
        match self.0 {}
    }

    pub(crate) fn add(&self, _: BorrowedFd<'_>, _: &[u8]) {
        match self.0 {}
    }

    pub(crate) fn news(&self) -> News {
        match self.0 {}
    }
}
