//! What to do about a failure, or next, as a value. The part that fails knows which step helps and not how a caller takes it: a
//! person types a command, an agent calls a tool, a program sends a request. Each interface says a step in its own words
//! ([`Voice`]), so none of them has to look for another's words in a text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident $({ $($(#[$attribute:meta])* $field:ident: $type:ty = $sample:expr),+ $(,)? })?;)+) => {
        /// A step a caller can take next. The first ones are calls, those called `With...` are arguments of the same call.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case", tag = "step")]
        pub enum NextStep {
            $($(#[$doc])* $name $({ $($(#[$attribute])* #[doc = "Which."] $field: $type),+ })?,)+
        }

        impl NextStep {
            /// One of each, for tests: every interface has words for it.
            pub fn samples() -> Vec<NextStep> {
                vec![$(NextStep::$name $({ $($field: $sample),+ })?,)+]
            }
        }
    };
}

steps! {
    /// See what was recorded.
    SeeHistory {
        #[serde(default, skip_serializing_if = "Option::is_none")] session: Option<String> = Some("s1".to_owned()),
        #[serde(default, skip_serializing_if = "Option::is_none")] file: Option<String> = Some("src/a b.rs".to_owned()),
    };
    /// List the files of a snapshot.
    ListFiles { reference: String = "12".to_owned() };
    /// See what one step changed.
    ShowChanges;
    /// See the parts of a step with their ids.
    ListHunks {
        #[serde(default, skip_serializing_if = "Option::is_none")] reference: Option<String> = Some("12".to_owned()),
    };
    /// See what differs from the latest snapshot.
    SeeStatus;
    /// Record the files as they are.
    RecordFiles;
    /// Check every object and row of the store.
    VerifyStore;
    /// Remove the contents of old snapshots.
    ShrinkStore;
    /// Change a setting.
    Configure { setting: String = "max_files".to_owned(), value: String = "500000".to_owned() };
    /// See changes that no caller reported.
    SeeUnknown;
    /// Record changes that no caller reported.
    RecordUnknown;
    /// Keep a snapshot through every retention rule.
    PinSnapshot;
    /// Go to a recorded state.
    RestoreState;
    /// Take a step back.
    RevertStep { reference: String = "7".to_owned() };
    /// Make a store.
    MakeStore;
    /// Make a store in another directory.
    MakeStoreIn { directory: String = "/tmp/my project".to_owned() };
    /// Make a store in a directory that is no project.
    MakeStoreAnywhere;
    /// Make a store outside the workspace, in the user's own directory.
    MakeUserStore;
    /// Take over a store that another user or machine made.
    AdoptStore { #[serde(default, skip_serializing_if = "Option::is_none")] directory: Option<String> = Some("/tmp/their project".to_owned()) };
    /// Bring an exported store into another directory.
    ImportElsewhere;
    /// See what people commented on.
    ListComments;
    /// Answer a comment.
    AnswerComment { id: String = "3".to_owned() };
    /// Accept the files and the timeline as they are.
    AcceptState;
    /// See everything that is wrong with the timeline.
    ValidateTimeline;
    /// See the sessions.
    ListSessions;
    /// Start a session.
    StartSession;
    /// See one session.
    ShowSession { id: String = "s1".to_owned() };
    /// Take a session back to before a message.
    RevertSession { id: String = "s1".to_owned() };
    /// Record everything that changed as a message's work.
    RecordMessage { session: String = "s1".to_owned(), message: String = "m1".to_owned() };
    /// Begin a tool call.
    BeginCall;
    /// Give a tool call up.
    AbandonCall { #[serde(default, skip_serializing_if = "Option::is_none")] call: Option<String> = Some("c1".to_owned()) };
    /// See the notes of known files.
    ListKnown;
    /// Give recorded work a name.
    CreateMilestone;
    /// See the milestones.
    ListMilestones;
    /// See what changed in the app.
    SeeAppChanges;
    /// See one entry of the app in full.
    ShowEntry;
    /// Watch a browser that runs.
    AttachBrowser;
    /// Start a browser and watch it.
    LaunchBrowser;
    /// Stop watching the browser.
    DetachBrowser;
    /// Delete a checkpoint of the app.
    DeleteCheckpoint;
    /// Delete a baseline of the app.
    DeleteBaseline;
    /// Switch a noise rule off.
    DisableRule { #[serde(default, skip_serializing_if = "Option::is_none")] id: Option<String> = Some("my-rule".to_owned()) };
    /// Remove a noise rule.
    RemoveRule;
    /// Start a program under a debugger.
    LaunchProgram;
    /// Debug a program that runs.
    AttachProgram;
    /// Stop debugging.
    EndProgram;
    /// Pause the program.
    PauseProgram;
    /// Wait for the program's next stop.
    AwaitProgram;
    /// Capture the program's variables.
    CaptureVariables;
    /// See the captures.
    ListCaptures;
    /// Read the values of a capture.
    ReadCapture { id: String = "snap-1".to_owned() };
    /// Delete a capture.
    DeleteCapture { #[serde(default, skip_serializing_if = "Option::is_none")] id: Option<String> = Some("snap-1".to_owned()) };
    /// See the breakpoints.
    ListBreakpoints;
    /// Remove a breakpoint.
    RemoveBreakpoint { id: String = "b1".to_owned() };
    /// See the variables of the paused program.
    SeeVariables;

    /// Leave out what conflicts.
    WithSkip;
    /// Merge what conflicts, and mark what overlaps.
    WithMerge;
    /// Go on once in spite of changes that no caller reported.
    WithForce;
    /// Wait longer for the workspace.
    WithWait;
    /// Take back what others did too.
    WithOthers;
    /// Say how many steps.
    WithCount;
    /// Write one commit for all of it.
    WithSquash;
    /// Take everything up to a snapshot.
    WithEnd { end: String = "12".to_owned() };
    /// A step at which it worked.
    WithGood;
    /// A step at which it fails.
    WithBad;
    /// Directories that no snapshot holds.
    WithShare;
    /// A command that tells.
    WithCommand;
    /// A page that tells.
    WithPage;
    /// The message that it is about.
    WithMessage;
    /// Another directory as workspace.
    WithDirectory;
    /// Which program, when several are debugged.
    WithProgramSession;
    /// The debugger.
    WithAdapter;
    /// The program that the debugger runs with.
    WithRuntime;
    /// The program to start.
    WithProgram;
    /// Let the debugger run the program's code to read a value.
    WithProgramsCode;
    /// Let an expression run the program's code.
    WithUnsafeExpression;
    /// More time for the program.
    WithTimeout;
    /// Nothing to look into: all names.
    WithoutExpand;
    /// A process to attach to.
    WithProcess;
    /// A port to attach to.
    WithPort;
}

impl NextStep {
    /// Give a setting a value.
    pub fn configure(setting: &str, value: impl std::fmt::Display) -> NextStep {
        NextStep::Configure { setting: setting.to_owned(), value: value.to_string() }
    }
}

/// One piece of advice: what to do, and the step that does it where there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What to do, in words that hold on every interface: "see what was recorded".
    pub purpose: String,
    /// How.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub step: Option<NextStep>,
}

/// How an interface names steps.
pub trait Voice {
    /// The words that follow "with", and the call as a value where it can be made as it stands.
    fn name(&self, step: &NextStep) -> Phrase;
}

/// A step in the words of one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// What follows "with".
    pub words: String,
    /// The call, where nothing has to be filled in.
    pub call: Option<Value>,
}

impl Advice {
    /// Advice without a step.
    pub fn plain(purpose: impl Into<String>) -> Self {
        Advice { purpose: purpose.into(), step: None }
    }

    /// Advice with the step that follows it.
    pub fn step(purpose: impl Into<String>, step: NextStep) -> Self {
        Advice { purpose: purpose.into(), step: Some(step) }
    }

    /// In the words of an interface.
    pub fn said(&self, voice: &impl Voice) -> String {
        match &self.step {
            Some(step) => format!("{} with {}", self.purpose, voice.name(step).words),
            None => self.purpose.clone(),
        }
    }
}

/// Several pieces of advice as one sentence: any of them helps. None when there is none.
pub fn sentence(advice: &[Advice], voice: &impl Voice) -> Option<String> {
    joined(advice.iter().map(|advice| advice.said(voice)))
}

/// The same without the words of any interface.
pub(crate) fn plain_sentence(advice: &[Advice]) -> Option<String> {
    joined(advice.iter().map(|advice| advice.purpose.clone()))
}

fn joined(said: impl Iterator<Item = String>) -> Option<String> {
    let said: Vec<String> = said.collect();
    let (last, before) = said.split_last()?;
    Some(match before {
        [] => last.clone(),
        before => format!("{}, or {last}", before.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Loud;

    impl Voice for Loud {
        fn name(&self, step: &NextStep) -> Phrase {
            Phrase { words: format!("{step:?}").to_uppercase(), call: None }
        }
    }

    #[test]
    fn advice_is_said_in_the_words_of_an_interface() {
        let advice = [
            Advice::step("look", NextStep::SeeUnknown),
            Advice::step("record them", NextStep::RecordUnknown),
            Advice::plain("go on without them"),
        ];
        let said = sentence(&advice, &Loud);
        assert_eq!(
            said.as_deref(),
            Some("look with SEEUNKNOWN, record them with RECORDUNKNOWN, or go on without them")
        );
        assert_eq!(plain_sentence(&advice[..1]).as_deref(), Some("look"));
        assert_eq!(sentence(&[], &Loud), None);
    }

    #[test]
    fn every_step_survives_its_json() {
        for step in NextStep::samples() {
            let advice = Advice::step("do it", step);
            let text = serde_json::to_string(&advice).unwrap();
            assert_eq!(serde_json::from_str::<Advice>(&text).unwrap(), advice, "{text}");
        }
        let plain = Advice::plain("do it");
        assert_eq!(serde_json::from_value::<Advice>(serde_json::json!({ "purpose": "do it" })).unwrap(), plain);
    }
}
