//! Where the timeline stands, whether it and the disk are whole, and starting over with a reason.

use backsight::request::{ReadContinuity, ResetContinuity, ValidateContinuity};
use backsight_core::Code;
use http::Method;

use super::{LOOK, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

routes! {
    GET "/api/continuity" continuityState: ReadContinuity,
        "Where the timeline stands, without looking at the files", [&[Code::InvalidConfig]];
    GET "/api/continuity/validate" continuityValidate: ValidateContinuity,
        "Whether every row is whole and the files are those of the latest snapshot", [LOOK];
    POST "/api/continuity/reset" continuityReset: ResetContinuity,
        "Take the files and the timeline as they are and go on from there", [LOOK, WRITE];
}
