//! File checkpoints: what was last believed of each file. Contents stay in the snapshots.

use backsight::request::{CleanKnown, ListKnown, NoteKnown, ReadKnown};
use backsight_core::Code;
use http::Method;

use super::{PATH, REFERENCE, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

routes! {
    GET "/api/known" knownList: ListKnown, "The notes of known files, newest first", [];
    POST "/api/known" knownCreate: NoteKnown,
        "Note files as they are in a snapshot", [REFERENCE, PATH, &[Code::PathNotFound, Code::InvalidConfig], WRITE];
    GET "/api/known/show" knownShow: ReadKnown,
        "The files of one note with their contents", [&[Code::RefNotFound, Code::RefExpired]];
    POST "/api/known/clean" knownClean: CleanKnown,
        "Remove old notes; the latest and every snapshot stay", [&[Code::InvalidConfig], WRITE];
}
