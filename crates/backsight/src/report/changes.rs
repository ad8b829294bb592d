//! What happened since a moment in all lanes: the app's own answer, and beside it the steps of the files, what a debugger
//! saw, which step explains what broke, and in which order it all was.

use backsight_browser::report::Changes;
use backsight_core::RelPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Kind;
pub use crate::cause::{Evidence, EvidenceKind};

/// The answer across lanes. Without the last four it is the app's own.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct AllChanges {
    /// What happened in the app; its severity and summary are those of the whole answer.
    #[serde(flatten)]
    pub app: Changes,
    /// What changed in the files; absent when nothing did or it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesChanges>,
    /// What a debugger saw; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug: Option<DebugChanges>,
    /// Which step explains what broke, by the id of its entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Because>,
    /// Steps, entries and rows of a debugger by their ids, in the order in which they happened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
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
    /// Why, the strongest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Others that something speaks for, the most suspicious first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl AllChanges {
    /// Whether steps or events of the window are not shown.
    pub fn is_cut(&self) -> bool {
        let steps = self.files.as_ref().is_some_and(|files| files.total_new > files.steps.len() as u64);
        steps || self.debug.as_ref().is_some_and(|debug| debug.total_new > debug.events.len() as u64)
    }

    /// What the other lanes say and because of what, a line each: beside the app's own text.
    pub fn lines(&self) -> Vec<String> {
        let because = self.because.iter().map(Because::line);
        let steps = self.files.iter().flat_map(|files| &files.steps).map(StepEntry::line);
        let unrecorded = self.files.iter().filter(|files| !files.unrecorded.is_empty()).map(|files| {
            let named: Vec<String> = files.unrecorded.iter().map(ToString::to_string).collect();
            let more =
                if files.more_unrecorded > 0 { format!(" and {} more", files.more_unrecorded) } else { String::new() };
            format!("not recorded: {}{more}", named.join(", "))
        });
        let left = self.files.iter().filter_map(|files| {
            let left = files.total_new.saturating_sub(files.steps.len() as u64);
            (left > 0).then(|| format!("{left} earlier steps are not shown"))
        });
        let events = self.debug.iter().flat_map(|debug| &debug.events);
        let events = events.map(|event| format!("{} {}: {}", event.id, event.kind.as_str(), event.what));
        let order = (!self.order.is_empty()).then(|| format!("in order: {}", self.order.join(" ")));
        because.chain(left).chain(steps).chain(unrecorded).chain(events).chain(order).collect()
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

impl Because {
    /// `c3: likely because of #12 (Edit, session ada): it changed src/Cart.jsx:19; or #9`.
    fn line(&self) -> String {
        let certain = match self.certainty {
            Certainty::Likely => "likely because of",
            Certainty::Possible => "possibly because of",
            Certainty::Guess => "perhaps because of",
            Certainty::Unexplained => return format!("{}: no step explains it", self.entry),
        };
        let who: Vec<String> =
            self.by.iter().cloned().chain(self.session.iter().map(|id| format!("session {id}"))).collect();
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
            EvidenceKind::Time => "it was the last before".to_owned(),
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
