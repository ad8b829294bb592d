//! One file a command, named as the user types it: its arguments, one call to the library, how the answer looks.

pub mod abandon;
pub mod agent_help;
pub mod baseline;
pub mod begin;
pub mod bisect;
pub mod blame;
pub mod browser;
pub mod call;
pub mod cat;
pub mod changes;
pub mod checkpoint;
pub mod comment;
pub mod completions;
pub mod config;
pub mod continuity;
pub mod debug;
pub mod demo;
pub mod diff;
pub mod doctor;
pub mod export;
pub mod finish;
pub mod gc;
pub mod health;
pub mod hook;
pub mod import;
pub mod init;
pub mod install;
pub mod known;
pub mod log;
pub mod ls;
pub mod man;
pub mod mcp;
pub mod milestone;
pub mod noise;
pub mod open;
pub mod patch;
pub mod pin;
pub mod redo;
pub mod report;
pub mod restore;
pub mod revert;
pub mod run;
pub mod serve;
pub mod session;
pub mod show;
pub mod status;
pub mod track;
pub mod undo;
pub mod unknown;
pub mod unpin;
pub mod usage;
pub mod verify;
pub mod watch;

use backsight_core::Result;

use crate::cli::Command;
use crate::context::Context;

/// What a command that ran to its end has to say through its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Done, or the answer is yes.
    Done,
    /// The answer is no: differences with `--exit-code`, damage found by `verify`, a problem found by `doctor`.
    No,
    /// A command that `call` or `run` ran ended with this status, which is then the answer.
    Ended(u8),
}

impl Verdict {
    /// `No` when the caller asked for a status and there is something to report.
    pub fn no_if(no: bool) -> Self {
        if no { Verdict::No } else { Verdict::Done }
    }

    /// The status of the process.
    pub fn exit_status(self) -> u8 {
        match self {
            Verdict::Done => 0,
            Verdict::No => 1,
            Verdict::Ended(status) => status,
        }
    }
}

/// Runs the command.
pub fn run(command: &Command, context: &Context) -> Result<Verdict> {
    match command {
        Command::Init(args) => init::run(args, context),
        Command::Status(args) => status::run(args, context),
        Command::Track(args) => track::run(args, context),
        Command::Begin(args) => begin::run(args, context),
        Command::Finish(args) => finish::run(args, context),
        Command::Abandon(args) => abandon::run(args, context),
        Command::Call(args) => call::run(args, context),
        Command::Log(args) => log::run(args, context),
        Command::Show(args) => show::run(args, context),
        Command::Ls(args) => ls::run(args, context),
        Command::Cat(args) => cat::run(args, context),
        Command::Patch(args) => patch::run(args, context),
        Command::Diff(args) => diff::run(args, context),
        Command::Blame(args) => blame::run(args, context),
        Command::Bisect(args) => bisect::run(args, context),
        Command::Revert(args) => revert::run(args, context),
        Command::Restore(args) => restore::run(args, context),
        Command::Undo(args) => undo::run(args, context),
        Command::Redo(args) => redo::run(args, context),
        Command::Session(args) => session::run(args, context),
        Command::Milestone(args) => milestone::run(args, context),
        Command::Unknown(args) => unknown::run(args, context),
        Command::Continuity(args) => continuity::run(args, context),
        Command::Known(args) => known::run(args, context),
        Command::Pin(args) => pin::run(args, context),
        Command::Unpin(args) => unpin::run(args, context),
        Command::Usage(args) => usage::run(args, context),
        Command::Gc(args) => gc::run(args, context),
        Command::Verify(args) => verify::run(args, context),
        Command::Export(args) => export::run(args, context),
        Command::Import(args) => import::run(args, context),
        Command::Changes(args) => changes::run(args, context),
        Command::Health(args) => health::run(args, context),
        Command::Checkpoint(args) => checkpoint::run(args, context),
        Command::Baseline(args) => baseline::run(args, context),
        Command::Noise(args) => noise::run(args, context),
        Command::Browser(args) => browser::run(args, context),
        Command::Debug(args) => debug::run(args, context),
        Command::Run(args) => run::run(args, context),
        Command::Doctor(args) => doctor::run(args, context),
        Command::Config(args) => config::run(args, context),
        Command::Comment(args) => comment::run(args, context),
        Command::Report(args) => report::run(args, context),
        Command::Open(args) => open::run(args, context),
        Command::Watch(args) => watch::run(args, context),
        Command::Serve(args) => serve::run(args, context),
        Command::Mcp(args) => mcp::run(args, context),
        Command::AgentHelp(args) => agent_help::run(args, context),
        Command::Completions(args) => completions::run(args, context),
        Command::Man(args) => man::run(args, context),
        Command::Demo(args) => demo::run(args, context),
        Command::Install(args) => install::run(args, context),
        // It needs no context and answers for itself, in `main`.
        Command::Hook(_) => Ok(Verdict::Done),
    }
}
