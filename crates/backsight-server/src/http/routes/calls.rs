//! Recording: snapshots, and tool calls that begin and finish.

use backsight::request::{AbandonCall, BeginCall, FinishCall, ListOpenCalls, TrackFiles};
use backsight_core::Code;
use http::Method;

use super::{LOOK, PATH, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

const RECORD: &[Code] = &[Code::StateMismatch];
const CALL: &[Code] = &[Code::CallNotFound];

routes! {
    POST "/api/track" track: TrackFiles, "Record the files as they are", [RECORD, PATH, LOOK, WRITE];
    POST "/api/begin" begin: BeginCall,
        "Begin a tool call: what it writes becomes its step", [RECORD, PATH, LOOK, WRITE];
    POST "/api/finish" finish: FinishCall,
        "Finish a tool call: record what it wrote as its step", [CALL, RECORD, PATH, LOOK, WRITE];
    POST "/api/abandon" abandon: AbandonCall, "Give a tool call up: record nothing", [CALL, WRITE];
    GET "/api/calls" openCalls: ListOpenCalls, "Tool calls that began and have not finished", [];
}
