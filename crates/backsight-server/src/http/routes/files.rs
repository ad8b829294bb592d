//! The files of a snapshot, and the contents of one.

use backsight::request::{ListFiles, ReadBlob, ReadFile};
use backsight_core::Code;
use http::Method;

use super::{LOOK, PATH, REFERENCE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

const NO_CONTENT: &[Code] = &[Code::PathNotFound];

routes! {
    GET "/api/ls" ls: ListFiles, "The files of a snapshot", [REFERENCE, LOOK];
    GET "/api/cat" cat: ReadFile, "A file as a snapshot holds it", [REFERENCE, PATH, LOOK, NO_CONTENT];
    GET "/api/blob/{id}" blob: ReadBlob, "A content by its id, such as one side of a conflict", [NO_CONTENT];
}
