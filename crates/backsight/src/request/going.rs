//! Going back, as every interface asks for it: restore, revert, undo, redo.

use backsight_core::{Code, Effect, Error, NextStep, Operation, Result, Waits, few_enough, short_enough, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Behalf, PathText, Restore, Revert, Undo};
use crate::Workspace;
use crate::hunks::HunkChoice;
use crate::operation::Perform;
use crate::plan_token::PlanToken;
use crate::report::{Applied, OnConflict};

/// The most parts of steps that one request may name.
const MOST_HUNKS: usize = 10_000;

/// Take the files to an earlier state.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct RestoreFiles {
    /// Which snapshot, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: String,
    /// Only these paths and what lies below them.
    #[serde(default)]
    pub paths: Vec<PathText>,
    /// What to do about paths that cannot be stored first, or that are written all the time.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// How, and for whom.
    #[serde(flatten)]
    pub terms: GoingTerms,
}

/// Undo steps and keep everything else.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct RevertSteps {
    /// Which steps, as references; `session:ID` and `message:ID` name all their steps. Or one range, `3..7`, `@..now`: what
    /// differs between two states, by any writer.
    #[schemars(length(min = 1), example = newest_step())]
    pub refs: Vec<String>,
    /// Also what was found changed outside within a milestone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_others: bool,
    /// Only these paths and what lies below them.
    #[serde(default)]
    pub paths: Vec<PathText>,
    /// Only these hunks, by the ids that the parts of a step are listed with, or lines of them, `ID:2-3,7`: counted from one,
    /// those that went, then those that came.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub hunks: Vec<HunkChoice>,
    /// What to do where later edits overlap.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// How, and for whom.
    #[serde(flatten)]
    pub terms: GoingTerms,
}

/// Take the newest steps back.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct UndoSteps {
    /// How many, and how.
    #[serde(flatten)]
    pub steps: StepCount,
}

/// Bring back the steps that were undone last.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct RedoSteps {
    /// How many, and how.
    #[serde(flatten)]
    pub steps: StepCount,
}

/// How many steps, and how.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct StepCount {
    /// How many steps; 1 unless told otherwise.
    #[schemars(range(min = 1))]
    pub count: Option<u16>,
    /// What to do where later edits overlap.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// How, and for whom.
    #[serde(flatten)]
    pub terms: GoingTerms,
}

/// What every way back takes.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct GoingTerms {
    /// Say what would be done and change nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Only the plan with this token, which a dry run answered with; any other is refused, with what changed since.
    pub plan: Option<PlanToken>,
    /// For whom it is recorded.
    #[serde(flatten)]
    pub who: Behalf,
}

impl StepCount {
    fn check(&self) -> Result<()> {
        within("count", self.count.unwrap_or(1), 1..=u16::MAX)?;
        self.terms.who.check()
    }

    fn undo(self) -> Result<Undo> {
        let StepCount { count, on_conflict, terms: GoingTerms { dry_run, plan, who } } = self;
        Ok(Undo { count: usize::from(count.unwrap_or(1)), on_conflict, dry_run, plan, origin: who.origin(&[])? })
    }
}

impl Operation for RestoreFiles {
    type Answer = Applied;
    const EFFECT: Effect = Effect::ChangesFiles;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", &self.reference)?;
        PathText::check_all("paths", &self.paths)?;
        self.terms.who.check()
    }
}

impl Perform for RestoreFiles {
    fn carry_out(self, workspace: &Workspace) -> Result<Applied> {
        let RestoreFiles { reference, paths, on_conflict, terms: GoingTerms { dry_run, plan, who } } = self;
        let (paths, origin) = (PathText::all(&paths)?, who.origin(&[])?);
        workspace.restore_with(&Restore { reference, paths, on_conflict, dry_run, plan, origin })
    }
}

impl Operation for RevertSteps {
    type Answer = Applied;
    const EFFECT: Effect = Effect::ChangesFiles;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        if self.refs.is_empty() {
            let history = NextStep::SeeHistory { session: None, file: None };
            return Err(Error::new(Code::Usage, "`refs` is empty: which steps?").then("see what was done", history));
        }
        few_enough("refs", &self.refs)?;
        within("the number of hunks", self.hunks.len(), 0..=MOST_HUNKS)?;
        PathText::check_all("paths", &self.paths)?;
        self.terms.who.check()
    }
}

impl Perform for RevertSteps {
    fn carry_out(self, workspace: &Workspace) -> Result<Applied> {
        let RevertSteps { refs, with_others, paths, hunks, on_conflict, terms: GoingTerms { dry_run, plan, who } } =
            self;
        let (paths, origin) = (PathText::all(&paths)?, who.origin(&[])?);
        let references = refs;
        workspace.revert_steps(&Revert { references, with_others, paths, hunks, on_conflict, dry_run, plan, origin })
    }
}

impl Operation for UndoSteps {
    type Answer = Applied;
    const EFFECT: Effect = Effect::ChangesFiles;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.steps.check()
    }
}

impl Perform for UndoSteps {
    fn carry_out(self, workspace: &Workspace) -> Result<Applied> {
        workspace.undo(&self.steps.undo()?)
    }
}

impl Operation for RedoSteps {
    type Answer = Applied;
    const EFFECT: Effect = Effect::ChangesFiles;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        self.steps.check()
    }
}

impl Perform for RedoSteps {
    fn carry_out(self, workspace: &Workspace) -> Result<Applied> {
        workspace.redo(&self.steps.undo()?)
    }
}

fn newest_step() -> [&'static str; 1] {
    ["@"]
}
