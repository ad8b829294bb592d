//! Two things people ask for again and again, ready to be picked from a client's menu. They name what the model cannot
//! know: which steps are meant is looked up when a prompt is picked.

use backsight::Workspace;
use backsight::report::{Row, Snapshot};
use backsight::request::{Log, Order};
use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use crate::words;

/// How many of the newest rows are looked at for a session.
const NEWEST: usize = 100;

pub fn list() -> Vec<Prompt> {
    let since = PromptArgument::new("since")
        .with_description("a snapshot such as #12 or @~2; default: before the latest session's first step");
    vec![
        Prompt::new("review_my_changes", Some("Review everything you changed in this session"), Some(vec![since])),
        Prompt::new("undo_last_change", Some("Take back the last change, after showing what that would do"), None),
    ]
}

pub fn get(workspace: &Workspace, name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let text = match name {
        "review_my_changes" => {
            let since = arguments.get("since").and_then(|since| since.as_str()).map(words::clip);
            review(&since.or_else(|| before_latest_session(workspace)).unwrap_or_else(|| "@".to_owned()))
        }
        "undo_last_change" => UNDO.to_owned(),
        _ => {
            let message =
                format!("there is no prompt `{}`: there are review_my_changes and undo_last_change", words::clip(name));
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

/// The state before the first step of the session that recorded last, as a reference. Where that cannot be found, what is
/// not recorded yet is all there is to review.
fn before_latest_session(workspace: &Workspace) -> Option<String> {
    let newest = workspace.log(&Log { limit: NEWEST, ..Log::default() }).ok()?;
    let session = newest.rows.iter().find_map(|row| step(row)?.origin.session.clone())?;
    let oldest = Log { session: Some(session), order: Order::OldestFirst, limit: 1, ..Log::default() };
    let first = workspace.log(&oldest).ok()?.rows;
    let first = first.first().and_then(step)?;
    // The very first snapshot of all is the agent's only when it found no files.
    Some(first.base_tree.as_ref().map_or_else(|| first.sequence_number.to_string(), words::short_id))
}

fn step(row: &Row) -> Option<&Snapshot> {
    match row {
        Row::Snapshot(step) => Some(step),
        Row::Event(_) => None,
    }
}

fn review(since: &str) -> String {
    format!(
        "Review the changes you made to this workspace. Call files_diff with from \"{since}\" and page through the whole \
         diff with `next`; history_query tells whose each step is. Then tell me, file by file: what changed and why, anything \
         left over (debug output, commented-out code, TODOs), anything changed that the task did not ask for, and what is \
         not tested. Name changes of others, and those that workspace_status lists as unknown, apart: they are not yours."
    )
}

const UNDO: &str = "Take back the last change to this workspace. First call files_undo with dry_run true and show me \
    the paths it would change and any conflicts. Carry it out with files_undo only after I agree; if I do not, do nothing.";
