//! Takes the tree, or some paths of it, to an earlier state.

use backsight::request::Restore;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::going::{self, Policy};
use super::{Call, Definition, Effect, one_or_many, paths};
use crate::reply::Draft;

pub struct FilesRestore;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// the snapshot to go to
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default, deserialize_with = "one_or_many")]
    paths: Vec<String>,
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

impl Definition for FilesRestore {
    const NAME: &'static str = "files_restore";
    const TITLE: &'static str = "Restore files from a snapshot";
    const DESCRIPTION: &'static str = "Restore, go back, bring back: make all files, or some paths, exactly what they \
        were in an earlier snapshot, deleted ones too, without others' later edits; to roll back only your own steps \
        use files_revert. Answers with the plan, like it.";
    const EFFECT: Effect = Effect::ChangesFiles;
    const OUTPUT: &'static [(&'static str, &'static str)] = going::OUTPUT;
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let request = Restore {
            reference: arguments.reference.clone(),
            paths: paths(&arguments.paths)?,
            on_conflict: arguments.on_conflict.into(),
            dry_run: arguments.dry_run.unwrap_or(true),
            plan: going::agreed(arguments.plan.as_deref())?,
            origin: call.plain_origin(arguments.session.clone()),
        };
        let again = json!({
            "ref": arguments.reference,
            "paths": arguments.paths,
            "on_conflict": arguments.on_conflict.argument(),
            "session": arguments.session,
        });
        let applied =
            call.workspace.restore_with(&request).map_err(|error| going::plan_again(error, Self::NAME, &again))?;
        Ok(going::applied(&applied, "restore", Self::NAME, again))
    }
}
