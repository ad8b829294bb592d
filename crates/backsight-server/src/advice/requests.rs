//! Steps as a program asks for them over HTTP.

use backsight_core::{NextStep, Phrase, Voice};
use serde_json::{Value, json};

use super::{on_the_command_line, part, whole};
use crate::percent;

/// The words of the HTTP API.
pub struct Requests;

impl Voice for Requests {
    fn name(&self, step: &NextStep) -> Phrase {
        match sent(step) {
            Sent::Get(path) => whole(format!("`GET {path}`"), json!({ "method": "GET", "path": path })),
            Sent::Post(path, body) => {
                let call = json!({ "method": "POST", "path": path, "body": body });
                whole(format!("`POST {path}`"), call)
            }
            Sent::ToFill(words) => part(format!("`{words}`")),
            Sent::Nowhere => on_the_command_line(step),
        }
    }
}

/// What is sent.
enum Sent {
    /// A question.
    Get(String),
    /// An order that can be sent as it stands.
    Post(String, Value),
    /// An order with something to fill in, or a field of the same one.
    ToFill(&'static str),
    /// No address does it.
    Nowhere,
}

fn sent(step: &NextStep) -> Sent {
    use Sent::{Nowhere, ToFill};
    let get = |path: &str| Sent::Get(path.to_owned());
    let post = |path: &str, body: Value| Sent::Post(path.to_owned(), body);
    match step {
        NextStep::SeeHistory { session, file } => {
            let named = [("session", session), ("file", file)].into_iter();
            let named = named.filter_map(|(name, value)| Some(format!("{name}={}", percent::encoded(value.as_ref()?))));
            let query = named.collect::<Vec<_>>().join("&");
            Sent::Get(if query.is_empty() { "/api/log".to_owned() } else { format!("/api/log?{query}") })
        }
        NextStep::ListFiles { reference } => Sent::Get(format!("/api/ls?ref={}", percent::encoded(reference))),
        NextStep::ShowChanges => ToFill("GET /api/step?ref=REF"),
        NextStep::ListHunks { reference: Some(reference) } => {
            Sent::Get(format!("/api/hunks?ref={}", percent::encoded(reference)))
        }
        NextStep::ListHunks { reference: None } => ToFill("GET /api/hunks?ref=REF"),
        NextStep::SeeStatus => get("/api/status"),
        NextStep::RecordFiles => post("/api/track", json!({})),
        NextStep::VerifyStore => get("/api/verify"),
        NextStep::ShrinkStore => post("/api/gc", json!({})),
        NextStep::Configure { setting, value } => {
            Sent::Post(format!("/api/config/{}", percent::encoded(setting)), json!({ "value": value }))
        }
        NextStep::SeeUnknown => get("/api/unknown"),
        NextStep::RecordUnknown => post("/api/unknown/handle", json!({ "strategy": "auto-integrate" })),
        NextStep::PinSnapshot => ToFill("POST /api/pin"),
        NextStep::RestoreState => ToFill("POST /api/restore"),
        NextStep::RevertStep { reference } => post("/api/revert", json!({ "refs": [reference] })),
        NextStep::MakeStore => post("/api/init", json!({})),
        NextStep::ListComments => get("/api/comments"),
        NextStep::AnswerComment { .. } => ToFill("POST /api/comments/answer"),
        NextStep::AcceptState => ToFill("POST /api/continuity/reset"),
        NextStep::ValidateTimeline => get("/api/continuity/validate"),
        NextStep::ListSessions => get("/session"),
        NextStep::StartSession => ToFill("POST /session"),
        NextStep::ShowSession { id } => Sent::Get(format!("/session/{}", percent::encoded(id))),
        NextStep::RevertSession { .. } => ToFill("POST /session/ID/revert"),
        NextStep::RecordMessage { session, message } => {
            Sent::Post(format!("/session/{}/track", percent::encoded(session)), json!({ "messageID": message }))
        }
        NextStep::BeginCall => post("/api/begin", json!({})),
        NextStep::AbandonCall { call: Some(call) } => post("/api/abandon", json!({ "call": call })),
        NextStep::AbandonCall { call: None } => ToFill("POST /api/abandon"),
        NextStep::ListKnown => get("/api/known"),
        NextStep::CreateMilestone => ToFill("POST /api/milestones"),
        NextStep::ListMilestones => get("/api/milestones"),
        NextStep::SeeAppChanges => get("/api/changes"),
        NextStep::ShowEntry => ToFill("GET /api/browser/entries/ID"),
        NextStep::AttachBrowser => post("/api/browser/attach", json!({})),
        NextStep::LaunchBrowser => post("/api/browser/attach", json!({ "launch": true })),
        NextStep::DetachBrowser => post("/api/browser/detach", json!({})),
        NextStep::DeleteCheckpoint => ToFill("POST /api/browser/checkpoints/delete"),
        NextStep::DeleteBaseline => ToFill("POST /api/browser/baselines/delete"),
        NextStep::DisableRule { id: Some(id) } => post("/api/browser/noise/disable", json!({ "id": id })),
        NextStep::DisableRule { id: None } => ToFill("POST /api/browser/noise/disable"),
        NextStep::RemoveRule => ToFill("POST /api/browser/noise/remove"),
        NextStep::LaunchProgram => ToFill("POST /api/debug/launch"),
        NextStep::AttachProgram => ToFill("POST /api/debug/attach"),
        NextStep::EndProgram => ToFill("POST /api/debug/disconnect"),
        NextStep::PauseProgram => ToFill("POST /api/debug/control"),
        NextStep::AwaitProgram => ToFill("GET /api/debug/state"),
        NextStep::CaptureVariables => ToFill("POST /api/debug/snapshots"),
        NextStep::ListCaptures => ToFill("GET /api/debug/snapshots"),
        NextStep::ReadCapture { id } => Sent::Get(format!("/api/debug/snapshots/{}", percent::encoded(id))),
        NextStep::DeleteCapture { .. } => ToFill("POST /api/debug/delete"),
        NextStep::ListBreakpoints => ToFill("GET /api/debug/breakpoints"),
        NextStep::RemoveBreakpoint { id } => post("/api/debug/breakpoints/remove", json!({ "id": id })),
        NextStep::SeeVariables => ToFill("POST /api/debug/variables"),
        NextStep::WithSkip => ToFill("\"on_conflict\": \"skip\""),
        NextStep::WithMerge => ToFill("\"on_conflict\": \"merge\""),
        NextStep::WithForce => ToFill("\"force\": true"),
        NextStep::WithWait => ToFill("the same request again"),
        NextStep::WithOthers => ToFill("\"with_others\": true"),
        NextStep::WithCount => ToFill("\"count\": 1"),
        NextStep::WithSquash => ToFill("\"squash\": true"),
        NextStep::WithEnd { .. } => ToFill("\"end\""),
        NextStep::WithGood => ToFill("\"good\""),
        NextStep::WithBad => ToFill("\"bad\""),
        NextStep::WithShare => ToFill("\"share\""),
        NextStep::WithCommand => ToFill("\"command\""),
        NextStep::WithPage => ToFill("\"page\""),
        NextStep::WithMessage => ToFill("\"messageID\""),
        NextStep::WithProgramSession => ToFill("\"session\""),
        NextStep::WithAdapter => ToFill("\"adapter\""),
        NextStep::WithRuntime => ToFill("\"runtime\""),
        NextStep::WithProgram => ToFill("\"program\""),
        NextStep::WithProgramsCode => ToFill("\"safety\": \"adapter\""),
        NextStep::WithUnsafeExpression => ToFill("\"safe\": false"),
        NextStep::WithTimeout => ToFill("\"timeout_ms\""),
        NextStep::WithoutExpand => ToFill("POST /api/debug/variables"),
        NextStep::WithProcess => ToFill("\"pid\""),
        NextStep::WithPort => ToFill("\"port\""),
        NextStep::MakeStoreIn { .. }
        | NextStep::MakeStoreAnywhere
        | NextStep::MakeUserStore
        | NextStep::AdoptStore { .. }
        | NextStep::ImportElsewhere
        | NextStep::WithDirectory => Nowhere,
    }
}
