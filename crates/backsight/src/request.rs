//! What the library is asked. Every field has a default that does the ordinary thing.

#[cfg(feature = "browser")]
mod asking;
mod behalf;
mod commenting;
mod comparing;
mod contents;
mod continuity;
mod conversations;
mod debug;
mod going;
mod known_files;
mod milestones;
mod path_text;
mod reading;
mod recording;
mod searching;
mod unknown_changes;
mod upkeep;

use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "browser")]
pub use asking::ReadChanges;
#[cfg(feature = "browser")]
pub use backsight_browser::request::AttachBrowser;
use backsight_core::{RelPath, Seq, Timestamp};
pub use backsight_diff::BinaryFiles;
pub use behalf::Behalf;
pub use commenting::{AnswerComment, CommentOnLine, ListComments, Person, ResolveComment};
pub use comparing::{ComparePaths, CompareStates, CompareStep, CountLines, TwoStates, UnifiedForm};
pub use contents::{BlameFile, ListFiles, ReadBlob, ReadFile, ReadFileLife, ShowStep};
pub use continuity::{ReadContinuity, ResetContinuity, ValidateContinuity};
pub use conversations::{
    CompareSession, ListConversations, ReadSession, RevertMessages, SessionTerms, StartSession, TrackMessage,
    UnrevertMessages,
};
pub use debug::ExportSnapshot;
pub use going::{GoingTerms, RedoSteps, RestoreFiles, RevertSteps, StepCount, UndoSteps};
pub use known_files::{CleanKnown, ListKnown, NoteKnown, ReadKnown};
pub use milestones::{CreateMilestone, ExportMilestone, ExportTerms, ListMilestones, ReadMilestone};
pub use path_text::PathText;
pub use reading::{ListCommits, LogFilters, ReadLog, ReadTimeline, SearchLines};
pub use recording::{AbandonCall, BeginCall, FinishCall, ListOpenCalls, TrackFiles, UnknownPolicy};
pub use searching::SearchSteps;
#[cfg(feature = "browser")]
pub use searching::{PageJudge, SearchByPage};
pub use unknown_changes::{CheckUnknown, DetectUnknown, HandleUnknown};
pub use upkeep::{
    ChangeSetting, CollectContents, Diagnose, ListSettings, MeasureStore, PinStep, ReadSetting, ReadStatus,
    SetUpWorkspace, UnpinStep, VerifyStore,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hunks::HunkChoice;
use crate::plan_token::PlanToken;
use crate::report::{Background, Kind, OnConflict, Origin, Phase, Strategy};

/// A request to record the files as they are.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// What it is.
    pub description: String,
    /// Who asks.
    pub origin: Origin,
    /// What is done about changes that were not declared.
    pub unknown: Unknown,
    /// Keep it through every retention rule.
    pub pinned: bool,
}

/// A request to take the tree to an earlier state.
#[derive(Clone, Debug, Default)]
pub struct Restore {
    /// Which snapshot.
    pub reference: String,
    /// Only these paths and what lies below them; empty means all.
    pub paths: Vec<RelPath>,
    /// What to do about paths that cannot be captured first, or that another program keeps writing to. There is nothing
    /// to merge there, so `Merge` leaves them as `Skip` does.
    pub on_conflict: OnConflict,
    /// Only plan.
    pub dry_run: bool,
    /// Only this plan: any other is refused, with what changed since it was made.
    pub plan: Option<PlanToken>,
    /// Who asks.
    pub origin: Origin,
}

/// A request to undo steps and keep everything else.
#[derive(Clone, Debug, Default)]
pub struct Revert {
    /// Which steps. A reference that names several, such as a milestone, leaves out what others did meanwhile. Or one range,
    /// `3..7`, `@..now`: what differs between two states, by any writer.
    pub references: Vec<String>,
    /// Also what others did meanwhile: what was found changed outside.
    pub with_others: bool,
    /// Only these paths and what lies below them; empty means all.
    pub paths: Vec<RelPath>,
    /// Only these hunks, or lines of them; empty means all.
    pub hunks: Vec<HunkChoice>,
    /// What to do about overlaps.
    pub on_conflict: OnConflict,
    /// Only plan.
    pub dry_run: bool,
    /// Only this plan: any other is refused, with what changed since it was made.
    pub plan: Option<PlanToken>,
    /// Who asks.
    pub origin: Origin,
}

/// A request to find the step that broke something.
#[derive(Clone, Debug, Default)]
pub struct Bisect {
    /// A step at which it was not broken; the oldest one that is kept, when none is named.
    pub good: Option<String>,
    /// A step at which it is broken; the latest one, when none is named.
    pub bad: Option<String>,
    /// What tells: the program and its arguments. Status 0 is good, 125 cannot be told, anything else is bad. With a page it
    /// serves that instead, on the port that it is given as `PORT` and in place of `{port}`.
    pub command: Vec<String>,
    /// A page that tells instead.
    #[cfg(feature = "browser")]
    pub page: Option<BisectPage>,
    /// The directory below the root that it runs in.
    pub directory: Option<RelPath>,
    /// Directories of the workspace that no snapshot holds and the command needs, such as `node_modules`: each is there as
    /// reflinks, or hard links where the file system has none.
    pub share: Vec<RelPath>,
    /// The same as copies, for what the command writes to in place.
    pub copy: Vec<RelPath>,
    /// How many runs at a time; none means one.
    pub jobs: usize,
    /// How long a run may take; one that takes longer is bad. With a page: how long its server may take until it listens; a
    /// step whose server takes longer cannot be told.
    pub timeout: Option<Duration>,
    /// Who asks.
    pub origin: Origin,
}

impl Bisect {
    /// Whether a page tells.
    pub(crate) fn has_page(&self) -> bool {
        #[cfg(feature = "browser")]
        return self.page.is_some();
        #[cfg(not(feature = "browser"))]
        false
    }
}

/// A page that tells good from bad: it is opened in a headless browser, on files that are served by the command, or as they
/// are when there is none.
#[cfg(feature = "browser")]
#[derive(Clone, Debug, Default)]
pub struct BisectPage {
    /// Its path, `/cart`; of an address only the path counts.
    pub page: String,
    /// The error that makes a step bad: the id of an entry of what happened in the app, `c12`, or the symptom of one.
    pub absent: String,
    /// How long the page is watched at most; five seconds when nobody says.
    pub wait: Option<Duration>,
}

/// A request to take back the newest steps, or to bring back those that were taken back last.
#[derive(Clone, Debug)]
pub struct Undo {
    /// How many steps.
    pub count: usize,
    /// What to do about overlaps.
    pub on_conflict: OnConflict,
    /// Only plan.
    pub dry_run: bool,
    /// Only this plan: any other is refused, with what changed since it was made.
    pub plan: Option<PlanToken>,
    /// Who asks.
    pub origin: Origin,
}

impl Default for Undo {
    fn default() -> Self {
        Undo { count: 1, on_conflict: OnConflict::Refuse, dry_run: false, plan: None, origin: Origin::default() }
    }
}

/// Which part of the timeline to list.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Only this session.
    pub session: Option<String>,
    /// Only this tool.
    pub tool: Option<String>,
    /// Only this kind of step.
    pub kind: Option<Kind>,
    /// Only steps that changed this path or something below it.
    pub file: Option<RelPath>,
    /// Only at or after.
    pub since: Option<Timestamp>,
    /// Only at or before.
    pub until: Option<Timestamp>,
    /// Only rows whose description, tool or session holds this text, whatever the case of its ASCII letters.
    pub text: Option<String>,
    /// Which end comes first.
    pub order: Order,
    /// At most this many; 0 means all.
    pub limit: usize,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// As many letters as a text to look for in changed lines may have.
pub const LONGEST_SEARCH: usize = 200;

/// Words to look for in what steps changed.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// What a line must hold, in letters of any case.
    pub text: String,
    /// Only steps before this one.
    pub before: Option<Seq>,
}

/// Which commits of the user's Git to list.
#[derive(Clone, Debug, Default)]
pub struct Commits {
    /// Only at or after.
    pub since: Option<Timestamp>,
    /// Only at or before.
    pub until: Option<Timestamp>,
    /// At most this many; 0 means as many as are read at most, 5,000.
    pub limit: usize,
}

/// What to compare and how much to show.
#[derive(Clone, Debug)]
pub struct Diff {
    /// The first tree.
    pub from: String,
    /// The second tree; absent means the disk.
    pub to: Option<String>,
    /// Only these paths and what lies below them; empty means all.
    pub paths: Vec<RelPath>,
    /// Files with more bytes than this on either side are counted but their text is left out, and say so.
    pub max_file_bytes: u64,
    /// Lines of context in the unified diff.
    pub context: usize,
    /// What the unified diff says of binary files: with their contents it can be applied.
    pub binary: BinaryFiles,
}

impl Diff {
    /// Compares `from` with `to`, or with the disk, with the ordinary bounds.
    pub fn new(from: impl Into<String>, to: Option<String>) -> Self {
        Diff {
            from: from.into(),
            to,
            paths: Vec::new(),
            max_file_bytes: 8 << 20,
            context: 3,
            binary: BinaryFiles::Named,
        }
    }
}

/// A comment on a line.
#[derive(Clone, Debug)]
pub struct NewComment {
    /// Who writes it.
    pub person: String,
    /// On which file.
    pub file: RelPath,
    /// On which line as the file is on disk, from 1.
    pub line: u64,
    /// What they say.
    pub text: String,
    /// The session it is for; whichever agent asks next when absent.
    pub session: Option<String>,
}

/// What retention may remove.
#[derive(Clone, Debug, Default)]
pub struct Collect {
    /// Remove contents of snapshots older than this; overrides the setting.
    pub keep_days: Option<u64>,
    /// Keep the contents of at most this many snapshots, the newest; overrides the setting.
    pub keep_count: Option<u64>,
    /// Remove oldest contents until the store is at most this large; overrides the setting.
    pub disk_budget: Option<u64>,
    /// Only plan.
    pub dry_run: bool,
}

/// How to set a workspace up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Init {
    /// Where the store lives.
    pub store: StorePlace,
    /// Track the directory even though it is a home directory or the root of the file system.
    pub any_root: bool,
    /// Begin a new history where the one for the directory's path is of another directory that was there. That one stays.
    pub anew: bool,
}

/// Where the store lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorePlace {
    /// In `.backsight/store` inside the workspace.
    #[default]
    Workspace,
    /// In the user's state directory, outside the tree.
    User,
}

/// Which end of the timeline comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The newest row.
    #[default]
    NewestFirst,
    /// The oldest row.
    OldestFirst,
}

/// What a caller says about unknown changes for this once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// Instead of the setting.
    pub strategy: Option<Strategy>,
    /// Go on whatever the strategy: what is unknown is listed, nothing is refused.
    pub force: bool,
}

/// A request to begin a tool call.
#[derive(Clone, Debug, Default)]
pub struct Begin {
    /// Who begins it; `declared` is what it will write, if it knows.
    pub origin: Origin,
    /// What is done about changes that are there already.
    pub unknown: Unknown,
    /// What the tool does, in words.
    pub title: Option<String>,
}

/// When a tool ran, where that is not all the time since its call began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Nothing that was written before is its work.
    pub from: Timestamp,
    /// What was written from here on is its work; what was written in between may be the user's.
    pub surely: Option<Timestamp>,
    /// Nothing that was written after is its work; absent means until now.
    pub until: Option<Timestamp>,
}

/// A request to finish a tool call: what it wrote becomes a step.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    /// The id `begin` gave.
    pub call: String,
    /// What it did.
    pub description: String,
    /// The paths it wrote; empty means what it said at the beginning, or else all that changed since.
    pub declared: Vec<RelPath>,
    /// What is done about changes that are not its own.
    pub unknown: Unknown,
    /// Keep the snapshot through every retention rule.
    pub pinned: bool,
    /// When the tool ran, if that is known; else all the time, or since the user was asked.
    pub ran: Option<Ran>,
    /// The tool has answered and its command goes on: what is there now is recorded, and the call stays open.
    pub goes_on: Option<Background>,
}

/// How a file state is validated before a snapshot (seed 003's `ValidationOptions`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Validation {
    /// The strategy, and whether to go on anyway.
    pub unknown: Unknown,
    /// Do what the strategy says right away.
    pub auto_handle: bool,
}

/// Some of seed 003's options, to be changed together.
#[derive(Clone, Debug, Default)]
pub struct ConfigChange {
    /// Whether unknown changes are looked for at all.
    pub enable_unknown_change_detection: Option<bool>,
    /// What is done about them.
    pub unknown_change_strategy: Option<Strategy>,
    /// Whether file checkpoints other than the latest are kept.
    pub keep_all_checkpoints: Option<bool>,
    /// How many days a file checkpoint is kept.
    pub max_checkpoint_age: Option<u64>,
    /// Patterns in .gitignore syntax of paths that are never unknown.
    pub exclude_from_checking: Option<Vec<String>>,
}

/// What a milestone is called.
#[derive(Clone, Debug, Default)]
pub struct NewMilestone {
    /// Its name.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who asks.
    pub origin: Origin,
}

/// An event of another lane to be remembered in the timeline.
#[derive(Clone, Debug)]
pub struct Note {
    /// What happened; not one of the kinds that hold files, nor `milestone` or `reset`.
    pub kind: Kind,
    /// In words.
    pub description: String,
    /// On whose behalf.
    pub origin: Origin,
    /// The facts.
    pub details: serde_json::Value,
}

/// A request to write snapshots as commits on a new branch of a Git repository.
#[derive(Clone, Debug, Default)]
pub struct ExportGit {
    /// A milestone, a snapshot, or `FROM..TO`.
    pub range: String,
    /// The repository: a work tree, a `.git` directory or a bare one.
    pub repository: PathBuf,
    /// The branch to make.
    pub branch: String,
    /// The branch, tag or commit to continue; absent means HEAD where the repository's work tree holds this
    /// workspace, else a history of its own.
    pub onto: Option<String>,
    /// One commit for the whole range instead of one a snapshot.
    pub squash: bool,
    /// Only say what would be written.
    pub dry_run: bool,
    /// Refuse a repository of which any part lies outside the workspace. A person may name any of theirs; an agent's
    /// request stays inside.
    pub stay_inside: bool,
}

/// A request to start a session.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// Its id; absent means a random one.
    pub id: Option<String>,
    /// What a person calls it.
    pub title: Option<String>,
}

/// Which sessions to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sessions {
    /// At most this many, the most recent ones; 0 means all.
    pub limit: usize,
}

/// A request to record what a session did.
#[derive(Clone, Debug, Default)]
pub struct SessionTrack {
    /// Which session.
    pub session: String,
    /// The message; `before` and `after` need one.
    pub message: Option<String>,
    /// The part of the message.
    pub part: Option<String>,
    /// Whether the message's work is about to begin, has ended, or neither is said.
    pub phase: Phase,
    /// The tool that makes the change.
    pub tool: Option<String>,
    /// What was done.
    pub description: String,
    /// The paths it writes; empty means all that changed.
    pub declared: Vec<RelPath>,
    /// What is done about changes that are not its own.
    pub unknown: Unknown,
}

/// What of a session to compare.
#[derive(Clone, Debug)]
pub struct SessionDiff {
    /// Which session.
    pub session: String,
    /// Only this message.
    pub message: Option<String>,
    /// Only these paths and what lies below them; empty means all.
    pub paths: Vec<RelPath>,
    /// Files with more bytes than this on either side are counted but their text is left out, and say so.
    pub max_file_bytes: u64,
    /// Lines of context in the unified diff.
    pub context: usize,
    /// What the unified diff says of binary files.
    pub binary: BinaryFiles,
}

impl SessionDiff {
    /// Everything the session did, with the ordinary bounds.
    pub fn new(session: impl Into<String>) -> Self {
        let Diff { max_file_bytes, context, binary, .. } = Diff::new("", None);
        SessionDiff { session: session.into(), message: None, paths: Vec::new(), max_file_bytes, context, binary }
    }
}

/// A request to take a session back to before a message.
#[derive(Clone, Debug, Default)]
pub struct RevertSession {
    /// Which session.
    pub session: String,
    /// This message and everything later of the session is undone.
    pub message: String,
    /// Only from this part of the message on.
    pub part: Option<String>,
    /// What to do about overlaps.
    pub on_conflict: OnConflict,
    /// Only plan.
    pub dry_run: bool,
    /// Only this plan: any other is refused, with what changed since it was made.
    pub plan: Option<PlanToken>,
    /// Who asks; the row is the session's whatever is said here.
    pub origin: Origin,
}

/// A request to take a session's reverts back.
#[derive(Clone, Debug, Default)]
pub struct Unrevert {
    /// Which session.
    pub session: String,
    /// What to do about overlaps.
    pub on_conflict: OnConflict,
    /// Only plan.
    pub dry_run: bool,
    /// Only this plan: any other is refused, with what changed since it was made.
    pub plan: Option<PlanToken>,
    /// Who asks; the row is the session's whatever is said here.
    pub origin: Origin,
}
