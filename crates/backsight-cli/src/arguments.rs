//! Arguments that several commands share, and the words that explain a REF.

use std::ffi::OsString;
use std::path::Path;

use backsight::report::{Kind, OnConflict, Strategy};
use backsight::request::{Behalf, GoingTerms, PathText, SessionTerms, StepCount, UnknownPolicy};
use backsight::{PlanToken, Workspace};
use backsight_core::{Code, Error, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::usage::path_hint;

/// Every spelling of a REF, for the long help of the commands that take one.
macro_rules! references {
    () => {
        "\
A REF is one of:
  12, '#12'    the snapshot with that number (a bare # starts a shell comment)
  @, @~2       the latest snapshot, the one two before it
  1a2b3c       an id or a tree id, or its first 4 or more digits
  now          the files on disk
  session:ID   the steps of a session; message:ID, part:ID likewise; the start of a long ID will do
  NAME         a milestone; milestone:NAME where the name reads as one of the above"
    };
}

/// Examples for the short help and, with the spellings of a REF below them, for the long one.
macro_rules! examples_then_references {
    ($examples:expr) => {
        concat!($examples, "\n\n", $crate::arguments::references!())
    };
}

pub(crate) use {examples_then_references, references};

/// How files are taken back.
#[derive(Args, Clone, Debug)]
pub struct Going {
    /// What to do about files that cannot be taken back without losing something
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Policy::Refuse)]
    on_conflict: Policy,
    /// Say what would be done and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do only what the dry run showed that printed this token; if anything changed since, refuse and say what
    #[arg(long, value_name = "TOKEN")]
    pub plan: Option<PlanToken>,
}

impl Going {
    /// In the library's words.
    pub fn policy(&self) -> OnConflict {
        match self.on_conflict {
            Policy::Refuse => OnConflict::Refuse,
            Policy::Skip => OnConflict::Skip,
            Policy::Merge => OnConflict::Merge,
        }
    }

    /// All of it, for a session.
    pub fn session_terms(&self) -> SessionTerms {
        SessionTerms { on_conflict: self.policy(), dry_run: self.dry_run, plan: self.plan.clone() }
    }

    /// The rest of it.
    pub fn terms(&self) -> GoingTerms {
        GoingTerms { dry_run: self.dry_run, plan: self.plan.clone(), who: Behalf::default() }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Policy {
    /// Change nothing and name every conflict
    Refuse,
    /// Leave the conflicting files wholly as they are, do the rest
    Skip,
    /// Merge, with conflict markers around what overlaps
    Merge,
}

/// A path typed where a REF belongs is an easy mistake; says where paths go.
pub fn explain(error: Error, start: &Path) -> Error {
    let reference = error.details()["reference"].as_str().unwrap_or_default().to_owned();
    if error.code() != Code::RefNotFound || reference.is_empty() || start.join(&reference).symlink_metadata().is_err() {
        return error;
    }
    error.with_hint(path_hint(&reference))
}

/// How far `undo` and `redo` go.
#[derive(Args, Debug)]
pub struct Steps {
    /// How many steps
    #[arg(value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    count: u16,
    #[command(flatten)]
    going: Going,
}

impl Steps {
    /// In the library's words.
    pub fn request(&self) -> StepCount {
        StepCount { count: Some(self.count), on_conflict: self.going.policy(), terms: self.going.terms() }
    }
}

/// On whose behalf a step is recorded.
#[derive(Args, Debug)]
pub struct Who {
    /// The tool that makes the change
    #[arg(long)]
    tool: Option<String>,
    /// The agent conversation
    #[arg(long)]
    session: Option<String>,
    /// The message within the session
    #[arg(long)]
    message: Option<String>,
    /// The part within the message
    #[arg(long)]
    part: Option<String>,
    /// A path the tool writes (repeatable): what else changed is not its own, and a revert leaves that alone
    #[arg(long, value_name = "PATH")]
    declare: Vec<OsString>,
}

impl Who {
    /// In the library's words.
    pub fn behalf(&self) -> Behalf {
        Behalf {
            tool: self.tool.clone(),
            session: self.session.clone(),
            message: self.message.clone(),
            part: self.part.clone(),
        }
    }

    /// The paths that the step declares.
    pub fn declare(&self, context: &Context, workspace: &Workspace) -> Result<Vec<PathText>> {
        Ok(context.paths_from_here(workspace, &self.declare)?.iter().map(PathText::from).collect())
    }
}

/// What to do about changes that nobody claims.
#[derive(Args, Clone, Copy, Debug)]
pub struct UnknownChanges {
    /// What to do about changes that are not the step's own, instead of the setting
    #[arg(long, value_name = "HOW", value_parser = strategy_parser())]
    strategy: Option<Strategy>,
    /// Go on whatever the strategy: what is not the step's own is listed
    #[arg(long)]
    force: bool,
}

impl UnknownChanges {
    /// In the library's words.
    pub fn policy(self) -> UnknownPolicy {
        UnknownPolicy { strategy: self.strategy, force: self.force }
    }
}

/// Reads the name of a strategy, in either of its spellings.
pub fn strategy_parser() -> impl TypedValueParser<Value = Strategy> {
    let named = |name, other, help| PossibleValue::new(name).alias(other).help(help);
    PossibleValuesParser::new([
        named("strict", "reject", "Refuse, name the files, change nothing"),
        PossibleValue::new("warn").help("Go on, and list them in the answer and in the row"),
        named("auto-integrate", "integrate", "Record them first, as a snapshot by `external`, then go on"),
    ])
    .try_map(|name| name.parse::<Strategy>())
}

/// Paths after `--`.
#[derive(Args, Debug)]
pub struct Paths {
    /// Only these paths and what lies below them
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<OsString>,
}

/// Reads the name of a kind of step.
pub fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.as_str()))
        .map(|name| Kind::ALL.iter().copied().find(|kind| kind.as_str() == name).unwrap_or(Kind::Track))
}
