//! Sessions: agent conversations, with the bodies and spellings of seed 002.

use backsight::request::{
    CompareSession, ListConversations, ReadSession, RevertMessages, StartSession, TrackMessage, UnrevertMessages,
};
use backsight_core::Code;
use http::Method;

use super::{LOOK, PATH, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

const SESSION: &[Code] = &[Code::SessionNotFound, Code::RefAmbiguous];
const MESSAGE: &[Code] = &[Code::SessionNotFound, Code::MessageNotFound, Code::RefAmbiguous];
/// How what changes files can fail.
const GOING: &[Code] = &[Code::Conflict, Code::NotCovered, Code::RefExpired, Code::StateMismatch];

routes! {
    POST "/session" sessionStart: StartSession, "Start a session, with a snapshot of what is there", [LOOK, WRITE];
    GET "/session" sessionList: ListConversations, "The sessions, the latest first", [];
    GET "/session/{id}" sessionShow: ReadSession,
        "One session: its messages and where it is reverted to", [SESSION];
    POST "/session/{id}/track" sessionTrack: TrackMessage,
        "Record what a message does, before and after it",
        [SESSION, PATH, LOOK, WRITE, &[Code::StateMismatch, Code::CallNotFound]];
    GET "/session/{id}/diff" sessionDiff: CompareSession,
        "What the session itself changed and is in effect", [MESSAGE, PATH, &[Code::RefExpired]];
    POST "/session/{id}/revert" sessionRevert: RevertMessages,
        "Take the session back to before a message, or before a part of it", [MESSAGE, GOING, LOOK, WRITE];
    POST "/session/{id}/unrevert" sessionUnrevert: UnrevertMessages,
        "Take the session's reverts back", [SESSION, GOING, &[Code::NothingToUnrevert], LOOK, WRITE];
}
