//! The app in the browser: what happened in it since a checkpoint, whether it is well, and what is kept of it under names.

use backsight::Workspace;
use backsight::browser::request::*;
use backsight::report::PageKeyRenewed;
use backsight_core::{Code, Result};
use http::Method;

use super::WRITE;
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};
use crate::place;

/// A name that no checkpoint has, or whose baseline is gone.
pub(super) const CHECKPOINT: &[Code] = &[Code::CheckpointNotFound, Code::BaselineNotFound];
/// Something is kept in the store, which is made if need be.
const KEPT: &[Code] = &[Code::WorkspaceRefused, Code::DiskFull];
/// A rule is named, or asked for.
const RULE: &[Code] = &[Code::RuleNotFound, Code::InvalidRule];

routes! {
    POST "/api/browser/changes" browserChanges: ReadAppChanges,
        "What happened in the app since a checkpoint; without one, since this client last asked",
        [CHECKPOINT, &[Code::Cancelled]], quotes;
    GET "/api/browser/log" browserLog: ReadAppLog,
        "What happened in the app, one by one, newest first", [CHECKPOINT], quotes;
    GET "/api/browser/entries/{id}" browserEntry: ReadEntry,
        "One thing that happened in the app, in full", [&[Code::RefNotFound, Code::RefExpired]], quotes;
    GET "/api/browser/har" browserHar: ReadArchive,
        "The requests that are kept, as an HTTP Archive (HAR 1.2)", [], quotes;
    GET "/api/browser/health" browserHealth: ReadAppHealth,
        "Whether the app is well, with reasons", [CHECKPOINT], quotes;
    GET "/api/browser/status" browserStatus: ReadBrowserStatus, "Who watches the app", [], quotes;
    POST "/api/browser/attach" browserAttach: AttachBrowser,
        "Watch a browser: one that runs, or a new one",
        [&[Code::BrowserUnreachable, Code::ProgramNotFound, Code::Conflict, Code::Cancelled]], quotes;
    POST "/api/browser/detach" browserDetach: DetachBrowser, "Stop watching the browser", [&[Code::Cancelled]];
    POST "/api/browser/snippet/renew" snippetRenew: RenewPageKey,
        "Make a new key for pages that report by themselves; the old one opens nothing any more", [KEPT] => renew;

    GET "/api/browser/checkpoints" checkpointList: ListCheckpoints, "The named checkpoints, oldest first", [];
    POST "/api/browser/checkpoints" checkpointCreate: CreateCheckpoint,
        "Give this moment of the app a name; one of the same name is replaced",
        [&[Code::InvalidName, Code::BaselineNotFound], KEPT];
    POST "/api/browser/checkpoints/delete" checkpointDelete: DeleteCheckpoint,
        "Forget a named checkpoint", [&[Code::CheckpointNotFound], WRITE];

    GET "/api/browser/noise" noiseList: ListRules, "The noise rules, and how much each kept out", [];
    POST "/api/browser/noise" noiseAdd: AddRules,
        "Add noise rules; all or none", [&[Code::InvalidRule], KEPT];
    POST "/api/browser/noise/remove" noiseRemove: RemoveRule, "Remove a noise rule", [RULE, KEPT];
    POST "/api/browser/noise/enable" noiseEnable: EnableRule, "Switch a noise rule on", [RULE, KEPT];
    POST "/api/browser/noise/disable" noiseDisable: DisableRule, "Switch a noise rule off", [RULE, KEPT];

    GET "/api/browser/baselines" baselineList: ListBaselines, "The baselines", [];
    POST "/api/browser/baselines" baselineSave: SaveBaseline,
        "Save how the app behaves now; a baseline of the same name is replaced",
        [&[Code::InvalidName, Code::Conflict, Code::NotCovered], KEPT];
    GET "/api/browser/baselines/{name}/compare" baselineCompare: CompareBaseline,
        "How the app differs from a baseline", [&[Code::BaselineNotFound]], quotes;
    POST "/api/browser/baselines/delete" baselineDelete: DeleteBaseline,
        "Forget a baseline", [&[Code::BaselineNotFound], WRITE];
}

/// The key stands in the file by which processes find this server, too.
fn renew(workspace: &Workspace, _: RenewPageKey) -> Result<PageKeyRenewed> {
    let ingest_key = workspace.renew_page_key()?;
    if let Some(store) = workspace.store()? {
        place::publish_key(&store, &ingest_key)?;
    }
    Ok(PageKeyRenewed { ingest_key })
}
