//! What was recorded: the timeline, one row of it, the life of a file, and who wrote its lines.

use backsight::request::{BlameFile, ListCommits, ReadFileLife, ReadLog, SearchLines, ShowStep};
use backsight_core::Code;
use http::Method;

use super::{LOOK, PATH, REFERENCE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

routes! {
    GET "/api/log" log: ReadLog,
        "What was recorded, newest first, page by page", [PATH, &[Code::RefAmbiguous]];
    GET "/api/commits" commits: ListCommits, "The commits of the user's Git, read as they are", [&[Code::Damaged]];
    GET "/api/search" search: SearchLines,
        "Lines with a text that steps added or removed, newest step first", [REFERENCE];
    GET "/api/show" show: ShowStep, "One snapshot and what it changed", [REFERENCE];
    GET "/api/history" fileHistory: ReadFileLife,
        "The life of one file, through its renames", [PATH, &[Code::PathNotFound]];
    GET "/api/blame" blame: BlameFile,
        "Who last wrote each line of a file", [REFERENCE, PATH, LOOK, &[Code::PathNotFound, Code::InvalidRange]];
}
