//! What happened since a moment in all lanes: the app's own answer, and beside it the steps of the files, what a debugger
//! saw, which step explains what broke, and in which order it all was.

use backsight_browser::report::Changes;
use backsight_core::{RelPath, Uncovered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Kind;
pub use crate::cause::{Evidence, EvidenceKind};

/// The answer across lanes. Without what follows `app` it is the app's own.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct AllChanges {
    /// What happened in the app; its severity and summary are those of the whole answer.
    #[serde(flatten)]
    pub app: Changes,
    /// What changed in the files and what of them was not looked at; absent when there is neither, or it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesChanges>,
    /// What a debugger saw; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug: Option<DebugChanges>,
    /// Which step explains what broke, by the id of its entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Because>,
    /// How many more things broke for which no step was looked for: there are too many, or they are no longer kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unexplained: u64,
    /// Steps, entries and rows of a debugger by their ids, in the order in which they happened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// How many of them have no place in the order: they are no longer kept, or it was left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_in_order: u64,
    /// Why `files` and `debug` do not say everything: they could not be looked at, or nothing is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_told: Option<String>,
}

/// What changed in the files.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FilesChanges {
    /// All steps of the window.
    pub total_new: u64,
    /// The newest of them, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepEntry>,
    /// Paths that differ on disk and no step holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<RelPath>,
    /// How many more of those there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_unrecorded: u64,
    /// Paths that differ on disk and that an open tool call may be writing: its step comes when it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<RelPath>,
    /// How many more of those there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_pending: u64,
    /// Paths that were told as different from what is recorded, and are not any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub as_recorded: Vec<RelPath>,
    /// How many more of those there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_as_recorded: u64,
    /// Paths that were not looked at, and why: what changed there is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Uncovered>,
    /// How many more of those there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_unseen: u64,
    /// Changed paths left out because `exclude_from_checking` says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub excluded: u64,
}

/// One step of the files.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct StepEntry {
    /// Its number: `#12`.
    pub id: String,
    /// What kind, unless a tool or a person made an ordinary step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The agent conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Paths it changed, the first of them.
    pub files: Vec<RelPath>,
    /// How many more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
    /// When, in milliseconds after the window's beginning.
    pub after_ms: i64,
}

/// What a debugger saw.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct DebugChanges {
    /// All of it.
    pub total_new: u64,
    /// The newest of it, oldest first.
    pub events: Vec<ProgramEvent>,
}

/// A stop, a capture or the end of a debugged program.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ProgramEvent {
    /// The number of its row: `#12`.
    pub id: String,
    /// What.
    pub kind: Kind,
    /// In words.
    pub what: String,
    /// When, in milliseconds after the window's beginning.
    pub after_ms: i64,
    /// The step that last changed the file it was seen in: `#9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The tool that made that step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The agent conversation of that step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// How sure it is that a step did it. Nothing here is proven: a run on the files of the steps (`bisect`) proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// It changed the very line, or several things speak for it.
    Likely,
    /// One thing speaks for it.
    Possible,
    /// Only that it came last.
    Guess,
    /// No step explains it.
    Unexplained,
}

impl Certainty {
    /// Whether more than the time speaks for the step.
    pub fn has_evidence(self) -> bool {
        matches!(self, Certainty::Likely | Certainty::Possible)
    }
}

/// Which step explains something that broke.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Because {
    /// The id of what broke.
    pub entry: String,
    /// How sure that is; always an inference.
    pub certainty: Certainty,
    /// The suspect: `#12`, or `now` for what differs on disk and no step holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The tool that made the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The agent conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The first words of the prompt that the step was made for, else what its conversation is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Why, the strongest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// When nothing but the time speaks for any: how many older steps were not considered.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_over: u64,
    /// Others that something speaks for, the most suspicious first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl AllChanges {
    /// The app's answer alone.
    pub(crate) fn of_app(app: Changes) -> AllChanges {
        AllChanges {
            app,
            files: None,
            debug: None,
            because: Vec::new(),
            unexplained: 0,
            order: Vec::new(),
            not_in_order: 0,
            not_told: None,
        }
    }

    /// Whether steps, events or reasons of the window are not shown.
    pub fn is_cut(&self) -> bool {
        let steps = self.files.as_ref().is_some_and(|files| files.total_new > files.steps.len() as u64);
        steps
            || self.unexplained > 0
            || self.debug.as_ref().is_some_and(|debug| debug.total_new > debug.events.len() as u64)
    }

    /// What the other lanes say and because of what, a line each: beside the app's own text.
    pub fn lines(&self) -> Vec<String> {
        let because = self.because.iter().map(Because::line);
        let steps = self.files.iter().flat_map(|files| &files.steps).map(StepEntry::line);
        let on_disk = self.files.iter().flat_map(FilesChanges::disk_lines);
        let unexplained = (self.unexplained > 0).then(|| format!("{} more were not explained", self.unexplained));
        let left = self.files.iter().filter_map(|files| {
            let left = files.total_new.saturating_sub(files.steps.len() as u64);
            (left > 0).then(|| format!("{left} earlier steps are not shown"))
        });
        let events = self.debug.iter().flat_map(|debug| &debug.events).map(ProgramEvent::line);
        let order = (!self.order.is_empty()).then(|| format!("in order: {}", self.order.join(" ")));
        let not_in_order =
            (self.not_in_order > 0).then(|| format!("without a place in the order: {}", self.not_in_order));
        let not_told = self.not_told.as_ref().map(|reason| format!("not told: {reason}"));
        let causes = because.chain(unexplained);
        let files = left.chain(steps).chain(on_disk);
        causes.chain(files).chain(events).chain(order).chain(not_in_order).chain(not_told).collect()
    }
}

impl FilesChanges {
    /// What a look at the disk saw, a line for each kind.
    fn disk_lines(&self) -> Vec<String> {
        let texts = |paths: &[RelPath]| paths.iter().map(ToString::to_string).collect::<Vec<String>>();
        let unseen: Vec<String> = self.unseen.iter().map(|unseen| format!("{} ({unseen})", unseen.path)).collect();
        let lists = [
            ("not recorded", texts(&self.unrecorded), self.more_unrecorded),
            ("changed during an open tool call", texts(&self.pending), self.more_pending),
            ("as recorded again", texts(&self.as_recorded), self.more_as_recorded),
            ("not looked at", unseen, self.more_unseen),
        ];
        let line = |(what, named, more): (&str, Vec<String>, u64)| {
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            (!named.is_empty()).then(|| format!("{what}: {}{more}", named.join(", ")))
        };
        let excluded = (self.excluded > 0).then(|| format!("left out by your settings: {}", self.excluded));
        lists.into_iter().filter_map(line).chain(excluded).collect()
    }
}

impl StepEntry {
    /// `#12 Edit src/Cart.jsx (session ada)`.
    fn line(&self) -> String {
        let kind = self.kind.map(|kind| format!(" {}", kind.as_str())).unwrap_or_default();
        let by = self.by.as_deref().map(|by| format!(" {by}")).unwrap_or_default();
        let files: Vec<String> = self.files.iter().map(ToString::to_string).collect();
        let more = if self.more > 0 { format!(" and {} more", self.more) } else { String::new() };
        let session = self.session.as_deref().map(|session| format!(" (session {session})")).unwrap_or_default();
        format!("{}{kind}{by} {}{more}{session}", self.id, files.join(", "))
    }
}

impl ProgramEvent {
    /// `#14 debugger_stop: breakpoint in total (cart.py:7); its file was last changed by #9 (Edit, session ada)`.
    fn line(&self) -> String {
        let session = self.session.iter().map(|session| format!("session {session}"));
        let who: Vec<String> = self.by.iter().cloned().chain(session).collect();
        let who = if who.is_empty() { String::new() } else { format!(" ({})", who.join(", ")) };
        let changed = self.step.as_ref().map(|step| format!("; its file was last changed by {step}{who}"));
        format!("{} {}: {}{}", self.id, self.kind.as_str(), self.what, changed.unwrap_or_default())
    }
}

impl Because {
    /// `c3: likely because of #12 (Edit, session ada): it changed src/Cart.jsx:19; or #9`.
    fn line(&self) -> String {
        let certain = match self.certainty {
            Certainty::Likely => "likely because of",
            Certainty::Possible => "possibly because of",
            Certainty::Guess => "perhaps because of",
            Certainty::Unexplained => {
                let passed_over = match self.passed_over {
                    0 => String::new(),
                    older => format!("; {older} older steps were not considered"),
                };
                return format!("{}: no step explains it{passed_over}", self.entry);
            }
        };
        let title = self.title.as_deref().map(|title| format!(": {title}")).unwrap_or_default();
        let session = self.session.iter().map(|id| format!("session {id}{title}"));
        let who: Vec<String> = self.by.iter().cloned().chain(session).collect();
        let who = if who.is_empty() { String::new() } else { format!(" ({})", who.join(", ")) };
        let why: Vec<String> = self.evidence.iter().map(Evidence::words).collect();
        let also = if self.also.is_empty() { String::new() } else { format!("; or {}", self.also.join(", ")) };
        let step = self.step.as_deref().unwrap_or_default();
        format!("{}: {certain} {step}{who}: {}{also}", self.entry, why.join(", "))
    }
}

impl Evidence {
    fn words(&self) -> String {
        match self.kind {
            EvidenceKind::Line => format!("it changed {}", self.at),
            EvidenceKind::File => format!("it changed the file of {}", self.at),
            EvidenceKind::Word => format!("it changed lines with `{}`", self.at),
            EvidenceKind::Import => format!("it changed {}", self.at.replace(" by ", ", imported by ")),
            EvidenceKind::Near => format!("it changed lines beside `{}`", self.at),
            EvidenceKind::Time => "it was the last before".to_owned(),
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
