//! What differs between two states, and what one step did.

use backsight::request::{ComparePaths, CompareStates, CompareStep, CountLines};
use backsight_core::Code;
use http::Method;

use super::{LOOK, PATH, REFERENCE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

/// A path that is in neither state.
const NO_PATH: &[Code] = &[Code::PathNotFound];

routes! {
    GET "/api/patch" patch: ComparePaths,
        "The paths that differ between two states", [REFERENCE, PATH, NO_PATH, LOOK];
    GET "/api/diff" diff: CompareStates,
        "The differences between two states, with the texts before and after", [REFERENCE, PATH, NO_PATH, LOOK];
    GET "/api/diff/stat" diffStat: CountLines,
        "The same as counts of lines, without the texts", [REFERENCE, PATH, NO_PATH, LOOK];
    GET "/api/step" stepDiff: CompareStep, "What one step did, or what takes it back", [REFERENCE, PATH];
}
