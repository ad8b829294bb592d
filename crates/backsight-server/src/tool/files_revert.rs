//! Undoes steps and keeps everything else.

use backsight::request::Revert;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::going::{self, Policy};
use super::{Call, Definition, Effect, one_or_many, paths};
use crate::reply::Draft;

pub struct FilesRevert;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// steps: #12, message:ID, session:ID, a milestone; 3..now
    #[serde(deserialize_with = "one_or_many")]
    refs: Vec<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    paths: Vec<String>,
    /// ids of files_diff; ID:2-3 for lines
    #[serde(default, deserialize_with = "one_or_many")]
    hunks: Vec<String>,
    /// default refuse
    #[serde(default)]
    on_conflict: Policy,
    /// default true: only the plan
    dry_run: Option<bool>,
    /// the plan's token
    plan: Option<String>,
    #[schemars(skip)]
    session: Option<String>,
}

impl Definition for FilesRevert {
    const NAME: &'static str = "files_revert";
    const TITLE: &'static str = "Revert steps, keep the rest";
    const DESCRIPTION: &'static str = "Revert, roll back, undo everything that the named steps, messages or sessions \
        changed, and keep all other edits. Answers with the plan; `confirm` in it is the call that carries it out.";
    const EFFECT: Effect = Effect::ChangesFiles;
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        if arguments.refs.is_empty() {
            return Err(super::usage("`refs` is empty: which steps?".to_owned()).with_next("history_query", json!({})));
        }
        let request = Revert {
            references: arguments.refs.clone(),
            with_others: false,
            paths: paths(&arguments.paths)?,
            hunks: arguments.hunks.iter().map(|hunk| hunk.parse()).collect::<Result<_>>()?,
            on_conflict: arguments.on_conflict.into(),
            dry_run: arguments.dry_run.unwrap_or(true),
            plan: going::agreed(arguments.plan.as_deref())?,
            origin: call.plain_origin(arguments.session.clone()),
        };
        let again = json!({
            "refs": arguments.refs,
            "paths": arguments.paths,
            "hunks": arguments.hunks,
            "on_conflict": arguments.on_conflict.argument(),
            "session": arguments.session,
        });
        let applied =
            call.workspace.revert_steps(&request).map_err(|error| going::plan_again(error, Self::NAME, &again))?;
        Ok(going::applied(&applied, "revert", Self::NAME, again))
    }
}
