//! How an operation of any lane is carried out: its limits are checked, then it is done. Interfaces that read a request from a
//! wire or a command line need no more than [`Workspace::perform`].

#[cfg(feature = "browser")]
mod browser;

pub use backsight_core::{Effect, Operation, Waits};

use crate::{Result, Workspace};

/// An operation that a workspace can carry out.
pub trait Perform: Operation {
    /// Does it. The limits hold already: see [`Workspace::perform`].
    fn carry_out(self, workspace: &Workspace) -> Result<Self::Answer>;
}

impl Workspace {
    /// Carries out an operation of any lane, unless one of its values is outside its limits.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use backsight::debug::request::EvaluateExpression;
    ///
    /// let request = EvaluateExpression { expression: "1 + 1".to_owned(), ..Default::default() };
    /// let too_long = EvaluateExpression { timeout_ms: Some(3_600_000), ..request.clone() };
    /// assert_eq!(workspace.perform(too_long).unwrap_err().code(), backsight::Code::Usage);
    /// assert_eq!(workspace.perform(request).unwrap_err().code(), backsight::Code::NoSession);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn perform<R: Perform>(&self, request: R) -> Result<R::Answer> {
        request.check()?;
        request.carry_out(self)
    }
}
