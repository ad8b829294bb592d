//! What `doctor` says of agents and editors: which are set up here, whether they would use it, and when they were last
//! heard. An agent that is set up and silent looks like one that does nothing, so this is where the user learns of it.

use backsight::Workspace;
use backsight::report::{Check, CheckState};
use backsight_core::Timestamp;
use backsight_server::hook::last_heard;
use clap::ValueEnum;

use crate::context::Context;
use crate::install::{Client, Places, Presence, Scope, Trust};
use crate::words::{age, enumerate};

/// What is known of a client that is set up.
struct Seen {
    client: Client,
    /// Where it is set up, and with what.
    places: Vec<(Scope, Presence)>,
    trust: Trust,
    heard: Option<Timestamp>,
}

/// One check for each client that is set up here, and one for those that are not.
pub fn checks(context: &Context, workspace: &Workspace) -> Vec<Check> {
    let places = Places::new(workspace.root().to_path_buf());
    let seen: Vec<Seen> =
        Client::value_variants().iter().filter_map(|client| look(*client, &places, workspace)).collect();
    let absent: Vec<&str> = Client::value_variants()
        .iter()
        .filter(|client| seen.iter().all(|seen| seen.client != **client))
        .map(|client| client.name())
        .collect();
    let others = others(seen.is_empty(), &absent);
    seen.iter().map(|seen| seen.check(context.now)).chain(others).collect()
}

fn look(client: Client, places: &Places, workspace: &Workspace) -> Option<Seen> {
    let heard = client.agent().and_then(|agent| last_heard(workspace, agent));
    let found = [Scope::Project, Scope::User].map(|scope| (scope, client.presence(scope, places)));
    let found: Vec<(Scope, Presence)> = found.into_iter().filter(|(_, is)| is.server || is.hooks).collect();
    let scope = found.last().map(|(scope, _)| *scope);
    if scope.is_none() && heard.is_none() {
        return None;
    }
    // What is the user's own needs the least trust.
    let trust = scope.map_or(Trust::Unseen, |scope| client.trust(scope, places));
    Some(Seen { client, places: found, trust, heard })
}

fn others(is_none: bool, absent: &[&str]) -> Option<Check> {
    let names = enumerate(absent);
    let check = |name: &str, state, message: String, hint| Check {
        name: name.to_owned(),
        state,
        message,
        hint,
        advice: Vec::new(),
    };
    let none = "none is set up here, so what they do is not recorded".to_owned();
    let set_up = || Some(format!("set one up with `backsight install NAME`: {names}"));
    match (is_none, absent.is_empty()) {
        (true, _) => Some(check("agents", CheckState::Absent, none, set_up())),
        (false, true) => None,
        (false, false) => Some(check("other agents", CheckState::Ok, format!("not set up here: {names}"), None)),
    }
}

impl Seen {
    fn check(&self, now: Timestamp) -> Check {
        let (trust, to_do) = match self.trust {
            Trust::Given => (Some("trusted"), None),
            Trust::Missing(what) => (Some("not trusted as far as its files say"), Some(what)),
            Trust::NotNeeded | Trust::Unseen => (None, None),
        };
        let has_hooks = self.places.iter().any(|(_, is)| is.hooks);
        let heard = match self.heard {
            Some(time) => Some(format!("last heard {}", age(time, now))),
            None if has_hooks => Some("never heard here".to_owned()),
            None => None,
        };
        let facts = [Some(self.installed()), trust.map(str::to_owned), heard];
        let is_silent = has_hooks && self.heard.is_none();
        // What was heard is trusted, whatever the files say.
        let to_do = to_do.filter(|_| self.heard.is_none());
        let hint = match to_do {
            Some(what) => Some(what.to_owned()),
            None if is_silent => Some(format!("give {} a task here, then look again", self.client.name())),
            None if self.places.is_empty() => {
                Some(format!("set it up with `backsight install {}`", self.client.name()))
            }
            None => None,
        };
        let is_well = to_do.is_none() && !is_silent && !self.places.is_empty();
        Check {
            name: format!("agent {}", self.client.name()),
            state: if is_well { CheckState::Ok } else { CheckState::Warning },
            message: facts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            hint,
            advice: Vec::new(),
        }
    }

    /// `server and hooks for this project`
    fn installed(&self) -> String {
        let one = |(scope, is): &(Scope, Presence)| {
            let what = match (is.server, is.hooks) {
                (true, true) => "server and hooks",
                (true, false) => "server",
                _ => "hooks",
            };
            let reach = if *scope == Scope::User { "all your projects" } else { "this project" };
            format!("{what} for {reach}")
        };
        match self.places.as_slice() {
            [] => "no longer set up here".to_owned(),
            places => places.iter().map(one).collect::<Vec<_>>().join(", "),
        }
    }
}
