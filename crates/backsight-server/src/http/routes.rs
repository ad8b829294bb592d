//! Every operation of the API, by topic. What comes over the wire is turned into the library's requests here and nothing
//! is decided.

mod browser;
mod calls;
mod changes;
mod comments;
mod compare;
mod continuity;
mod debug;
mod files;
mod going;
mod history;
mod known;
mod milestones;
mod sessions;
mod settings;
mod unknown;
mod upkeep;
mod views;

use backsight_core::Code;

use super::endpoint::Endpoint;

/// Every operation, in the order of the document.
pub fn all() -> Vec<Endpoint> {
    let topics = [
        ("Workspace", settings::operations()),
        ("Recording", calls::operations()),
        ("Going back", going::operations()),
        ("History", history::operations()),
        ("Files", files::operations()),
        ("Comparing", compare::operations()),
        ("Milestones", milestones::operations()),
        ("Unknown changes", unknown::operations()),
        ("Continuity", continuity::operations()),
        ("Known files", known::operations()),
        ("Sessions", sessions::operations()),
        ("Upkeep", upkeep::operations()),
        ("Because of what", changes::operations()),
        ("For people", views::operations().into_iter().chain(comments::operations()).collect()),
        ("Browser", browser::operations()),
        // Whatever a debugger shows, a program has written.
        ("Debugging", debug::operations().into_iter().map(Endpoint::quotes).collect()),
    ];
    let tagged = |(topic, operations): (&'static str, Vec<Endpoint>)| {
        operations.into_iter().map(move |operation| operation.about(topic))
    };
    topics.into_iter().flat_map(tagged).collect()
}

/// A reference that names nothing, several things, or something whose contents are gone.
const REFERENCE: &[Code] = &[Code::RefNotFound, Code::RefAmbiguous, Code::RefExpired];
/// A path that leaves the workspace.
const PATH: &[Code] = &[Code::InvalidPath];
/// A look at the files on disk, which the settings bound and somebody may change meanwhile.
const LOOK: &[Code] = &[Code::InvalidConfig, Code::TooLarge, Code::Raced];
/// Something is written.
const WRITE: &[Code] = &[Code::DiskFull];
