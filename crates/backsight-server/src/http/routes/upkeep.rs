//! Room on disk, and whether everything is whole.

use backsight::Workspace;
use backsight::operation::Perform;
use backsight::report::Diagnosis;
use backsight::request::{CollectContents, Diagnose, MeasureStore, PinStep, UnpinStep, VerifyStore};
use backsight_core::{Code, Result};
use http::Method;

use super::{REFERENCE, WRITE};
use crate::advice::Requests;
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

routes! {
    POST "/api/pin" pin: PinStep, "Keep a snapshot through every retention rule", [REFERENCE, WRITE];
    POST "/api/unpin" unpin: UnpinStep, "Let retention remove a snapshot again", [REFERENCE, WRITE];
    GET "/api/usage" usage: MeasureStore, "How much disk the store uses", [&[Code::InvalidConfig]];
    POST "/api/gc" gc: CollectContents,
        "Remove the contents of old snapshots by age, count or size", [&[Code::InvalidConfig], WRITE];
    GET "/api/verify" verify: VerifyStore,
        "Check every stored object and row; `clean` says whether all is whole", [];
    GET "/api/doctor" doctor: Diagnose, "Whether everything Backsight needs is in order", [] => diagnose;
}

/// What to do is said as this interface says it.
fn diagnose(workspace: &Workspace, request: Diagnose) -> Result<Diagnosis> {
    let Diagnosis { healthy, checks } = request.carry_out(workspace)?;
    Ok(Diagnosis { healthy, checks: checks.into_iter().map(|check| check.said(&Requests)).collect() })
}
