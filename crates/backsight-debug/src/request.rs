//! The operations of the debug lane: one request type each, with its limits, its answer, what it may do and whether it waits.
//! MCP, HTTP and the command line all take them from here; none of them has limits or defaults of its own.
//!
//! A new operation is a struct here, an `impl` of [`Operation`] and [`Asked`], its row among the HTTP routes, and its tool.

mod breakpoints;
pub mod limits;
mod looking;
mod moving;
mod parts;
mod points;
mod snapshots;
mod watching;

use backsight_core::{Operation, Result};

pub use breakpoints::{BreakpointSpec, InitialBreakpoint, ListBreakpoints, RemoveBreakpoint, SetBreakpoint};
pub use looking::{EvaluateExpression, ListThreads, ReadOutput, ReadStack, ReadVariables};
pub use moving::{AttachProgram, ControlAction, ControlProgram, EndSession, LaunchProgram, ListSessions, ProgramState};
pub use parts::{AnswerPart, CaptureExtent, FrameCount, WhichThreads};
pub use points::{CaptureAt, ListPoints, ReadSeries};
pub use snapshots::{
    ClearSnapshots, CompareSnapshots, CreateSnapshot, DeleteSnapshot, ListSnapshots, ReadSnapshot, StepAndCompare,
};
pub use watching::{RunUntilChange, SetVariable};

use crate::debugger::Debugger;

/// A request that the lane answers by itself.
pub trait Asked: Operation {
    /// Carries it out. The limits hold already: see [`Operation::check`].
    fn ask(self, debugger: &Debugger, cancelled: &dyn Fn() -> bool) -> Result<Self::Answer>;
}
