//! Milestones, and their way into a Git repository.

use backsight::request::{CreateMilestone, ExportMilestone, ListMilestones, ReadMilestone};
use backsight_core::Code;
use http::Method;

use super::{PATH, REFERENCE, WRITE};
use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, routes};

/// How a range can be none.
const RANGE: &[Code] =
    &[Code::InvalidRange, Code::MilestoneGap, Code::MilestoneOverlap, Code::SequenceDiscontinuity, Code::BrokenParent];
const GIT: &[Code] = &[Code::GitRefused, Code::RepositoryNotFound, Code::InvalidRange, Code::BrokenParent];

routes! {
    GET "/api/milestones" milestoneList: ListMilestones, "The milestones, newest first", [];
    POST "/api/milestones" milestoneCreate: CreateMilestone,
        "Make a milestone of everything since the last one, or of the snapshots named", [REFERENCE, RANGE, WRITE];
    GET "/api/milestones/show" milestoneShow: ReadMilestone,
        "One milestone: its steps, its files, its diff", [REFERENCE];
    POST "/api/milestones/export-git" milestoneExportGit: ExportMilestone,
        "Write a milestone or a range as commits on a new branch of a Git repository in the workspace",
        [REFERENCE, GIT, PATH, WRITE];
}
