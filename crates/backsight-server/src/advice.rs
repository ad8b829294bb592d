//! What an agent should do about a failure. The library's hints name commands for a terminal; an agent has tools.

use backsight_core::{Code, Error};
use serde_json::{Value, json};

/// The same failure with advice in terms of tools, where the library's advice is a command line.
pub fn for_agents(error: Error) -> Error {
    if error.hint().is_some_and(|hint| !hint.contains("`backsight ") && !hint.contains("`--")) {
        return error;
    }
    let (hint, next) = match error.code() {
        Code::RefNotFound if error.message().contains("has 0 snapshots") => {
            ("nothing is recorded yet: record the files first", Some(("files_track", json!({}))))
        }
        Code::RefNotFound | Code::RefAmbiguous | Code::RefExpired => (
            "name a snapshot by number (#12), id, @ (latest), @~2, a milestone's title, session:ID or now",
            Some(("history_query", json!({}))),
        ),
        Code::PathNotFound => {
            ("list the files with files_read and no path, or find the path's history", Some(("files_read", json!({}))))
        }
        Code::CallNotFound => {
            ("open calls are in workspace_status; begin one with phase begin", Some(("workspace_status", json!({}))))
        }
        Code::Conflict => ("leave these paths out with on_conflict skip, or merge with on_conflict merge", None),
        Code::NothingToUndo => ("see what was done with history_query", Some(("history_query", json!({})))),
        Code::StateMismatch => (
            "look at the changes that are not yours; record them with unknown auto-integrate, or pass unknown force",
            Some(("workspace_status", json!({}))),
        ),
        Code::InvalidRange | Code::MilestoneGap | Code::MilestoneOverlap => {
            ("see what the milestones hold with milestone_list", Some(("milestone_list", json!({}))))
        }
        Code::BrokenParent | Code::SequenceDiscontinuity => (
            "see the problems with workspace_status verify true; workspace_reset acknowledges them",
            Some(("workspace_status", json!({ "verify": true }))),
        ),
        Code::NoSession => ("start it again with debug_launch", None),
        Code::NotCovered => {
            ("leave these as they are with on_conflict skip, or make them such that they can be captured first", None)
        }
        Code::Raced => ("ask again, or leave what is written all the time as it is with on_conflict skip", None),
        Code::Busy => ("ask again", None),
        _ => return error,
    };
    let error = error.with_hint(hint);
    match next {
        Some((tool, arguments)) if !has_next(&error) => error.with_next(tool, arguments),
        _ => error,
    }
}

fn has_next(error: &Error) -> bool {
    error.to_json()["error"].get("next").is_some_and(|next: &Value| !next.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_tools_and_other_advice_stays() {
        let told = for_agents(Error::new(Code::RefNotFound, "no").with_hint("list them with `backsight log`"));
        assert_eq!(told.to_json()["error"]["next"]["tool"], "history_query");
        assert!(!told.hint().unwrap().contains("backsight"));
        let told = for_agents(Error::new(Code::InvalidPath, "no").with_hint("name a path inside the workspace"));
        assert_eq!(told.hint(), Some("name a path inside the workspace"));
    }
}
