//! What changed in all lanes and because of what, and which step broke it.

use backsight::request::{ReadChanges, SearchByPage, SearchSteps};
use backsight_core::Code;
use http::Method;

use super::browser::CHECKPOINT;
use super::{LOOK, PATH, REFERENCE, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

/// How a search can fail: the ends are not what they are called, the command cannot be run or was ended.
const SEARCH: &[Code] =
    &[Code::InvalidRange, Code::ProgramNotFound, Code::PathNotFound, Code::Cancelled, Code::BrowserUnreachable];

routes! {
    GET "/api/changes" changes: ReadChanges,
        "What changed since a checkpoint, or since this client last asked, in all lanes, and because of what",
        [CHECKPOINT, &[Code::Cancelled], LOOK, WRITE], quotes;
    POST "/api/bisect" bisect: SearchSteps,
        "Find the step since which a command fails, or a page shows an error",
        [REFERENCE, SEARCH, PATH, WRITE], quotes;
    POST "/api/bisect/page" bisectPage: SearchByPage,
        "Find the step since which a page shows an error, on recorded files served as they are: no command is run",
        [REFERENCE, SEARCH, PATH, WRITE], quotes;
}
