//! Changes that no step recorded: find them, ask whether to go on, do something about them.

use backsight::request::{CheckUnknown, DetectUnknown, HandleUnknown};
use backsight_core::Code;
use http::Method;

use super::{LOOK, PATH, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

routes! {
    GET "/api/unknown" unknownDetect: DetectUnknown,
        "What differs from the latest snapshot and was recorded by nobody", [PATH, LOOK];
    POST "/api/unknown/check" unknownCheck: CheckUnknown,
        "Whether a tool may write these files now", [PATH, LOOK, WRITE];
    POST "/api/unknown/handle" unknownHandle: HandleUnknown,
        "Refuse, list or record what is unknown", [PATH, LOOK, WRITE, &[Code::StateMismatch]];
}
