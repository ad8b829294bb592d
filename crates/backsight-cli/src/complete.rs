//! What a word on the command line could become: the program knows its references, sessions and clients, a script of a
//! shell does not. Which of them is wanted follows from the definitions of the commands.

use backsight::Workspace;
use backsight::request::{Log, Sessions};
use backsight_core::{Result, one_line};
use backsight_server::hook::Agent;
use clap::{Arg, Command};

/// Values of one kind that are offered at most.
const OFFERED: usize = 30;

/// What the last word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A snapshot.
    Reference,
    Session,
    /// A message of the session that was typed before it, if one was.
    Message,
    Client,
}

/// A value, and what a person reads beside it.
pub type Offer = (String, String);

/// What the last of `words` stands for, of which the first is the command's name after `backsight`.
pub fn wanted(command: &Command, words: &[String]) -> Option<Wanted> {
    let mut current = command;
    let (mut positional, mut expecting): (usize, Option<&Arg>) = (0, None);
    let (_, before) = words.split_last()?;
    for word in before {
        if expecting.take().is_some() {
            continue;
        }
        match (word.as_str(), current.find_subcommand(word)) {
            ("--", _) => return None,
            (flag, _) if flag.starts_with('-') && flag.len() > 1 => expecting = valued(current, flag),
            (_, Some(below)) if positional == 0 => current = below,
            _ => positional += 1,
        }
    }
    let argument = expecting.or_else(|| positional_at(current, positional))?;
    let name = argument.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
    match (argument.get_id().as_str(), name) {
        ("session", _) => Some(Wanted::Session),
        ("message", _) => Some(Wanted::Message),
        ("agent", _) => Some(Wanted::Client),
        (_, Some("REF" | "FROM" | "TO")) => Some(Wanted::Reference),
        ("id", Some("ID")) if before.first().is_some_and(|word| word == "session") => Some(Wanted::Session),
        _ => None,
    }
}

/// The argument at a place; the last may take all that follow. What stands after `--` are paths.
fn positional_at(command: &Command, place: usize) -> Option<&Arg> {
    let positionals: Vec<&Arg> = command.get_positionals().filter(|argument| !argument.is_last_set()).collect();
    let takes_many = |argument: &&&Arg| argument.get_num_args().is_some_and(|range| range.max_values() > 1);
    positionals.get(place).or_else(|| positionals.last().filter(takes_many)).copied()
}

/// The option that takes the next word as its value.
fn valued<'a>(command: &'a Command, flag: &str) -> Option<&'a Arg> {
    let is_it = |argument: &&Arg| match flag.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => argument.get_short().is_some_and(|short| flag.ends_with(short)),
    };
    command.get_arguments().filter(|argument| argument.get_action().takes_values()).find(is_it)
}

/// The values that there are.
pub fn offers(workspace: &Workspace, wanted: Wanted, words: &[String]) -> Result<Vec<Offer>> {
    match wanted {
        Wanted::Reference => references(workspace),
        Wanted::Session => sessions(workspace),
        Wanted::Message => messages(workspace, words),
        Wanted::Client => Ok(Agent::ALL.iter().map(|agent| (agent.to_string(), String::new())).collect()),
    }
}

fn references(workspace: &Workspace) -> Result<Vec<Offer>> {
    let mut offers =
        vec![("@".to_owned(), "the latest".to_owned()), ("now".to_owned(), "the files on disk".to_owned())];
    let page = workspace.log(&Log { limit: OFFERED, ..Log::default() })?;
    offers.extend(page.snapshots().map(|step| (step.sequence_number.0.to_string(), text(&step.description))));
    Ok(offers)
}

fn sessions(workspace: &Workspace) -> Result<Vec<Offer>> {
    let sessions = workspace.shortened(workspace.sessions(&Sessions { limit: OFFERED })?)?;
    let offer = |session: backsight::report::Session| (session.id, text(&session.title.unwrap_or_default()));
    Ok(sessions.into_iter().map(offer).collect())
}

/// Those of the session among the words; a word that is none is passed over.
fn messages(workspace: &Workspace, words: &[String]) -> Result<Vec<Offer>> {
    let Some(detail) = words.iter().skip(1).find_map(|word| workspace.session(word).ok()) else {
        return Ok(Vec::new());
    };
    let detail = workspace.shortened(detail)?;
    let offer = |message: &backsight::report::SessionMessage| {
        let did = message.steps.first().map(|step| text(&step.description)).unwrap_or_default();
        (message.id.clone(), did)
    };
    Ok(detail.messages.iter().rev().take(OFFERED).map(offer).collect())
}

/// Part of a line: a tab ends a value.
fn text(text: &str) -> String {
    let line: String = one_line(text.lines().next().unwrap_or_default()).chars().take(50).collect();
    line.replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn what_a_word_stands_for_follows_from_the_commands() {
        let mut command = Cli::command();
        command.build();
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            wanted(&command, &words)
        };
        for line in ["revert ", "show 1", "diff 1 ", "--json restore ", "-C /tmp show ", "revert 1 2 "] {
            assert_eq!(of(line), Some(Wanted::Reference), "{line}");
        }
        for line in ["session show ", "session revert 1c", "log --session ", "log -n 5 --session 1"] {
            assert_eq!(of(line), Some(Wanted::Session), "{line}");
        }
        assert_eq!(of("session revert s1 --message "), Some(Wanted::Message));
        assert_eq!(of("hook "), Some(Wanted::Client));
        for line in ["", "sess", "log ", "log --text ", "diff 1 2 -- ", "track -m "] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
