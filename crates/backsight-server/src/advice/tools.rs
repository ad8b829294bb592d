//! Steps as an agent calls them.

use backsight_core::{NextStep, Phrase, Voice};
use serde_json::{Value, json};

use super::{on_the_command_line, part, whole};

/// The words of the MCP tools.
pub struct Tools;

impl Voice for Tools {
    fn name(&self, step: &NextStep) -> Phrase {
        match called(step) {
            Call::Whole(tool, arguments) => {
                whole(words(tool, &arguments), json!({ "tool": tool, "arguments": arguments }))
            }
            Call::Begun(tool, arguments, rest) => part(format!("{} {rest}", words(tool, &arguments))),
            Call::ToFill(words) => part(words),
            Call::Nowhere => on_the_command_line(step),
        }
    }
}

/// What is called.
enum Call {
    /// A tool and its arguments.
    Whole(&'static str, Value),
    /// A tool, the arguments that are known, and what the agent adds.
    Begun(&'static str, Value, &'static str),
    /// A tool with something to fill in, or an argument of the same call.
    ToFill(&'static str),
    /// No tool does it.
    Nowhere,
}

/// `history_query session s1`
fn words(tool: &str, arguments: &Value) -> String {
    let said = arguments.as_object().into_iter().flatten().map(|(name, value)| match value.as_str() {
        Some(text) => format!(" {name} {text}"),
        None => format!(" {name} {value}"),
    });
    std::iter::once(tool.to_owned()).chain(said).collect()
}

fn called(step: &NextStep) -> Call {
    use Call::{Begun, Nowhere, ToFill, Whole};
    match step {
        NextStep::SeeHistory { session, file } => {
            let named = [("session", session), ("file", file)];
            let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value.as_ref()?))));
            Whole("history_query", Value::Object(named.collect()))
        }
        NextStep::ListFiles { reference } => Whole("files_read", json!({ "ref": reference })),
        NextStep::ShowChanges => ToFill("files_diff step"),
        NextStep::ListHunks { reference: Some(step) } => Whole("files_diff", json!({ "step": step, "hunks": true })),
        NextStep::ListHunks { reference: None } => ToFill("files_diff hunks true"),
        NextStep::SeeStatus | NextStep::SeeUnknown => Whole("workspace_status", json!({})),
        NextStep::RecordFiles => Whole("files_track", json!({})),
        NextStep::VerifyStore | NextStep::ValidateTimeline => Whole("workspace_status", json!({ "verify": true })),
        NextStep::RecordUnknown => Whole("files_track", json!({ "unknown": "auto-integrate" })),
        NextStep::RestoreState => ToFill("files_restore"),
        NextStep::RevertStep { reference } => Whole("files_revert", json!({ "refs": [reference] })),
        NextStep::AcceptState => ToFill("workspace_reset"),
        NextStep::BeginCall => Whole("files_track", json!({ "phase": "begin" })),
        NextStep::CreateMilestone => ToFill("milestone_create"),
        NextStep::ListComments => Whole("review_comments", json!({})),
        NextStep::AnswerComment { id } => Begun("review_comments", json!({ "answer": id }), "and your text"),
        NextStep::ListMilestones => Whole("milestone_list", json!({})),
        NextStep::SeeAppChanges => Whole("get_changes_since", json!({})),
        NextStep::ShowEntry => ToFill("browser_log entry"),
        NextStep::AttachBrowser => Whole("browser_attach", json!({})),
        NextStep::LaunchBrowser => Whole("browser_attach", json!({ "launch": true })),
        NextStep::DetachBrowser => Whole("browser_attach", json!({ "action": "detach" })),
        NextStep::DeleteCheckpoint => ToFill("checkpoint_delete"),
        NextStep::DeleteBaseline => ToFill("baseline action delete"),
        NextStep::DisableRule { id: Some(id) } => Whole("noise_rules", json!({ "action": "disable", "id": id })),
        NextStep::DisableRule { id: None } => ToFill("noise_rules action disable"),
        NextStep::RemoveRule => ToFill("noise_rules action remove"),
        NextStep::LaunchProgram => ToFill("debug_launch"),
        NextStep::AttachProgram => ToFill("debug_attach"),
        NextStep::EndProgram => ToFill("debug_disconnect"),
        NextStep::PauseProgram => ToFill("debug_control action pause"),
        NextStep::AwaitProgram => ToFill("debug_state"),
        NextStep::CaptureVariables => ToFill("snapshot_create"),
        NextStep::ListCaptures => ToFill("snapshot_list"),
        NextStep::ReadCapture { id } => Whole("snapshot_get", json!({ "id": id })),
        NextStep::DeleteCapture { id: Some(id) } => Whole("snapshot_delete", json!({ "id": id })),
        NextStep::DeleteCapture { id: None } => ToFill("snapshot_delete"),
        NextStep::ListBreakpoints => ToFill("breakpoint_list"),
        NextStep::RemoveBreakpoint { id } => Whole("breakpoint_remove", json!({ "id": id })),
        NextStep::SeeVariables => ToFill("variables_get"),
        NextStep::WithSkip => ToFill("on_conflict skip"),
        NextStep::WithMerge => ToFill("on_conflict merge"),
        NextStep::WithForce => ToFill("unknown force"),
        NextStep::WithWait => ToFill("another call"),
        NextStep::WithCount => ToFill("count 1"),
        NextStep::WithEnd { .. } => ToFill("`end` instead of `snapshots`"),
        NextStep::WithGood => ToFill("`good`"),
        NextStep::WithBad => ToFill("`bad`"),
        NextStep::WithShare => ToFill("`share`"),
        NextStep::WithCommand => ToFill("`command`"),
        NextStep::WithPage => ToFill("`page`"),
        NextStep::WithMessage => ToFill("`message`"),
        NextStep::WithProgramSession => ToFill("`session`"),
        NextStep::WithAdapter => ToFill("`adapter`"),
        NextStep::WithRuntime => ToFill("`runtime`"),
        NextStep::WithProgram => ToFill("`program`"),
        NextStep::WithProgramsCode => ToFill("safety adapter"),
        NextStep::WithUnsafeExpression => ToFill("safe false"),
        NextStep::WithTimeout => ToFill("`timeout_ms`"),
        NextStep::WithoutExpand => ToFill("no `expand`"),
        NextStep::WithProcess => ToFill("`pid`"),
        NextStep::WithPort => ToFill("`port`"),
        NextStep::ShrinkStore
        | NextStep::Configure { .. }
        | NextStep::PinSnapshot
        | NextStep::MakeStore
        | NextStep::MakeStoreIn { .. }
        | NextStep::MakeStoreAnywhere
        | NextStep::MakeUserStore
        | NextStep::AdoptStore { .. }
        | NextStep::ImportElsewhere
        | NextStep::ListSessions
        | NextStep::StartSession
        | NextStep::ShowSession { .. }
        | NextStep::RevertSession { .. }
        | NextStep::RecordMessage { .. }
        | NextStep::AbandonCall { .. }
        | NextStep::ListKnown
        | NextStep::WithOthers
        | NextStep::WithSquash
        | NextStep::WithDirectory => Nowhere,
    }
}
