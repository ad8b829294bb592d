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

use backsight::report::{Origin, Strategy};
use backsight::request::{self, PathText};
use backsight_core::{Code, Result};
use schemars::JsonSchema;
use serde::Deserialize;

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

/// Names are fit to be shown and typed; the library has the last word, and counts bytes.
const ID: &str = r"^[^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]([^\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069])?$";
/// The same, or nothing, which names nobody.
const ID_OR_NONE: &str = r"^([^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]([^\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]*[^\s\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069])?)?$";

/// Nothing beside the address.
#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

/// On whose behalf a step is recorded.
#[derive(Deserialize, JsonSchema)]
struct Who {
    /// The tool that makes the change.
    #[schemars(length(max = 100), regex(pattern = ID_OR_NONE))]
    tool: Option<String>,
    /// The agent conversation.
    #[schemars(length(max = 200), regex(pattern = ID_OR_NONE))]
    session: Option<String>,
    /// The message within the session.
    #[schemars(length(max = 200), regex(pattern = ID_OR_NONE))]
    message: Option<String>,
    /// The part within the message.
    #[schemars(length(max = 200), regex(pattern = ID_OR_NONE))]
    part: Option<String>,
}

impl Who {
    fn origin(self, declared: &[PathText]) -> Result<Origin> {
        // An empty name names nobody; a session without one could not be asked for.
        let named = |name: Option<String>| name.filter(|name| !name.is_empty());
        Ok(Origin {
            tool: named(self.tool),
            session: named(self.session),
            message: named(self.message),
            part: named(self.part),
            declared: PathText::all(declared)?,
        })
    }
}

/// What to do about changes that are not the caller's.
#[derive(Deserialize, JsonSchema)]
struct Policy {
    /// What to do about changes that are not the step's own, instead of the setting.
    strategy: Option<Strategy>,
    /// Go on whatever the strategy: what is not the step's own is listed.
    #[serde(default)]
    force: bool,
}

impl Policy {
    fn unknown(&self) -> request::Unknown {
        request::Unknown { strategy: self.strategy, force: self.force }
    }
}
