//! Which tools a client is shown, and when. Every tool can be called at any time; the list is what a model pays for before
//! its first call, so a client that asks for nothing in particular is shown the tools that make sense now, and the others
//! when there is something for them to work on.

use std::str::FromStr;

use backsight::Workspace;
use serde_json::Value;

use crate::door::Door;
use crate::tool::{Group, Groups};

/// The tools that a client is offered.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Those it may call.
    pub groups: Groups,
    /// How they are listed.
    pub listing: Listing,
}

/// How tools are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Each when it makes sense, without the schemas of answers: for clients that follow `tools/list_changed`.
    ByNeed,
    /// All at once and in full.
    Whole,
}

/// What a user names with `--tools`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Every group.
    All,
    /// One group.
    One(Group),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Choice::All),
            _ => text.parse().map(Choice::One).map_err(|error| format!("{error}, or all")),
        }
    }
}

impl From<Vec<Choice>> for Offer {
    /// Who names groups wants to see all of them.
    fn from(choices: Vec<Choice>) -> Self {
        let listing = if choices.is_empty() { Listing::ByNeed } else { Listing::Whole };
        let named = choices.iter().map(|choice| match choice {
            Choice::All => None,
            Choice::One(group) => Some(*group),
        });
        // One `all` among the names means every group, which is what no names mean to `Groups`.
        let groups = named.collect::<Option<Vec<Group>>>().unwrap_or_default().into();
        Offer { groups, listing }
    }
}

impl Default for Offer {
    fn default() -> Self {
        Offer::from(Vec::new())
    }
}

/// What must be there before a tool makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The workspace is enough.
    Nothing,
    /// A milestone.
    Milestone,
    /// A comment of a person that is not over.
    Comment,
    /// A browser, page or process that is watched.
    App,
    /// A program under its debugger.
    Program,
}

impl Needs {
    /// What the tools of a group need unless they say otherwise.
    pub const fn of(group: Group) -> Needs {
        match group {
            Group::Files => Needs::Nothing,
            Group::Browser => Needs::App,
            Group::Debug => Needs::Program,
        }
    }
}

/// What there is for tools to work on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Present {
    milestone: bool,
    comment: bool,
    app: bool,
    program: bool,
}

impl Present {
    /// Whether a tool with these needs makes sense.
    pub fn meets(self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::Milestone => self.milestone,
            Needs::Comment => self.comment,
            Needs::App => self.app,
            Needs::Program => self.program,
        }
    }

    /// What is there in either.
    pub fn or(self, other: Present) -> Present {
        Present {
            milestone: self.milestone || other.milestone,
            comment: self.comment || other.comment,
            app: self.app || other.app,
            program: self.program || other.program,
        }
    }

    /// What is there in this process.
    fn here(workspace: &Workspace) -> Present {
        let app = workspace.browser_if_used();
        let program = workspace.debugger_if_used();
        Present {
            milestone: has_milestone(workspace),
            comment: has_comment(workspace),
            app: app.is_some_and(|app| app.watching().is_some() || app.coverage().attached),
            program: program.is_some_and(|program| !program.list().sessions.is_empty()),
        }
    }
}

/// A record that cannot be read has no milestone to list; the tools that read it say why.
fn has_milestone(workspace: &Workspace) -> bool {
    workspace.milestones().is_ok_and(|milestones| !milestones.is_empty())
}

/// Likewise.
fn has_comment(workspace: &Workspace) -> bool {
    workspace.has_comments().unwrap_or(false)
}

impl Door {
    /// What there is now. A server that does not answer counts as watching nothing: the next list says more.
    pub async fn present(&self) -> Present {
        let read = |workspace: &Workspace| Ok::<_, backsight_core::Error>(Present::here(workspace));
        let here = self.local(read).await.unwrap_or_default();
        let Some(server) = self.elsewhere() else { return here };
        let (app, program) = tokio::join!(server.get("/api/browser/status"), server.get("/api/debug/sessions"));
        let (app, program) = (app.unwrap_or_default(), program.unwrap_or_default());
        Present {
            app: app["browser"].is_object() || app["coverage"]["attached"] == Value::Bool(true),
            program: program["sessions"].as_array().is_some_and(|sessions| !sessions.is_empty()),
            ..here
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(names: &[&str]) -> Offer {
        names.iter().map(|name| name.parse().unwrap()).collect::<Vec<Choice>>().into()
    }

    #[test]
    fn naming_no_group_lists_by_need_and_naming_any_lists_all_of_it() {
        assert_eq!(offer(&[]).listing, Listing::ByNeed);
        assert!(Group::ALL.iter().all(|group| offer(&[]).groups.has(*group)));
        for names in [&["all"][..], &["files", "all"]] {
            assert_eq!(offer(names).listing, Listing::Whole);
            assert!(Group::ALL.iter().all(|group| offer(names).groups.has(*group)));
        }
        let debug = offer(&["debug"]);
        assert_eq!(debug.listing, Listing::Whole);
        assert!(debug.groups.has(Group::Debug) && !debug.groups.has(Group::Files));
        assert!("everything".parse::<Choice>().unwrap_err().ends_with("files, browser, debug, or all"));
    }
}
