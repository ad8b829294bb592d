//! Two things people ask for again and again, ready to be picked from a client's menu.

use crate::words;
use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

pub fn list() -> Vec<Prompt> {
    let since =
        PromptArgument::new("since").with_description("a snapshot such as #12 or @~2; default: your first step");
    vec![
        Prompt::new("review_my_changes", Some("Review everything you changed in this session"), Some(vec![since])),
        Prompt::new("undo_last_change", Some("Take back the last change, after showing what that would do"), None),
    ]
}

pub fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let text = match name {
        "review_my_changes" => review(arguments.get("since").and_then(|since| since.as_str())),
        "undo_last_change" => UNDO.to_owned(),
        _ => {
            let message =
                format!("there is no prompt `{}`: there are review_my_changes and undo_last_change", words::clip(name));
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn review(since: Option<&str>) -> String {
    let first = match since {
        Some(since) => format!("Call files_diff with from \"{}\".", words::clip(since)),
        None => {
            "Call history_query with your session to find your first step, then files_diff from the snapshot before it."
                .to_owned()
        }
    };
    format!(
        "Review the changes you made to this workspace. {first} Page through the whole diff with `next`. Then tell me, file \
         by file: what changed and why, anything left over (debug output, commented-out code, TODOs), anything changed \
         that the task did not ask for, and what is not tested. Name changes that workspace_status lists as unknown apart: \
         they are not yours."
    )
}

const UNDO: &str = "Take back the last change to this workspace. First call files_undo with dry_run true and show me \
    the paths it would change and any conflicts. Carry it out with files_undo only after I agree; if I do not, do nothing.";
