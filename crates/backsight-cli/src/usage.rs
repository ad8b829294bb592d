//! Command lines that could not be understood, and the ones that only ask for help.

use std::ffi::OsString;
use std::process::ExitCode;

use backsight_core::{Code, Error};
use backsight_server::CommandLine;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::json;

use crate::cli::Cli;
use crate::page::print_json;
use crate::words::safe;

/// Words that other tools taught, and the commands that do what is meant by them.
const MEANT: &[(&[&str], &[&str])] = &[
    (&["rollback", "back", "revert-last", "unmake"], &["undo", "restore", "revert"]),
    (&["reset", "checkout", "switch", "recover", "goto"], &["restore", "undo"]),
    (&["history", "timeline", "reflog", "list"], &["log"]),
    (&["commit", "save", "snapshot", "add", "record", "store"], &["track"]),
    (&["annotate", "praise", "who"], &["blame"]),
    (&["tag", "name"], &["milestone"]),
    (&["fsck", "check"], &["verify", "doctor"]),
    (&["prune", "clean", "delete", "purge"], &["gc"]),
    (&["st", "info", "state"], &["status"]),
    (&["compare", "changed"], &["diff", "changes"]),
    (&["server", "start", "daemon"], &["serve"]),
];

/// Shows what clap has to say, as JSON when the command line asks for it.
pub fn report(mut error: clap::Error, arguments: &[OsString]) -> ExitCode {
    suggest_what_is_meant(&mut error);
    let error = &error;
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !asks_for_json(arguments) {
        // A reader that went away is no failure.
        let _ = error.print();
        if let Some(hint) = missing_reference(error).or_else(|| path_typed(error)) {
            anstream::eprintln!("\nhint: {hint}");
        }
    } else if asked {
        let key = if error.kind() == ErrorKind::DisplayHelp { "help" } else { "version" };
        let text = error.render().to_string();
        let text = text.trim().trim_start_matches("backsight ");
        let _ = print_json(&json!({ "ok": true, key: text }));
    } else {
        let _ = print_json(&envelope(error, arguments).to_json(&CommandLine));
    }
    if asked { ExitCode::SUCCESS } else { ExitCode::from(Code::Usage.exit_status()) }
}

/// The flag as typed before any `--`; what follows that is a path.
fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

fn envelope(error: &clap::Error, arguments: &[OsString]) -> Error {
    let message = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            "no command was given".to_owned()
        }
        _ => first_paragraph(&error.render().to_string()),
    };
    let hint =
        missing_reference(error).or_else(|| path_typed(error)).unwrap_or_else(|| match command_typed(arguments) {
            Some(command) => format!("see `backsight {command} --help`"),
            None => "see `backsight --help`".to_owned(),
        });
    Error::new(Code::Usage, message).with_hint(hint)
}

fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

/// The first word that is a command.
pub fn command_typed(arguments: &[OsString]) -> Option<String> {
    let known = Cli::command();
    let mut typed = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    typed.find_map(|text| known.find_subcommand(text).map(|command| command.get_name().to_owned()))
}

/// Similar letters are a bad guide to a command: `rollback` looks like `track`.
fn suggest_what_is_meant(error: &mut clap::Error) {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let Some((_, commands)) = MEANT.iter().find(|(words, _)| words.contains(&typed.as_str())) else { return };
    let commands = commands.iter().map(|command| (*command).to_owned()).collect();
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(commands));
}

/// `backsight restore 1 README.md`: a path where none is taken.
fn path_typed(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_path = error.kind() == ErrorKind::UnknownArgument && std::fs::symlink_metadata(typed).is_ok();
    is_path.then(|| path_hint(typed))
}

/// Where paths go.
pub fn path_hint(typed: &str) -> String {
    let path = safe(typed);
    format!("`{path}` is a path: name paths after `--`, as in `-- {path}`")
}

/// `backsight cat #12` loses its argument to the shell, which takes a bare `#` for a comment.
fn missing_reference(error: &clap::Error) -> Option<String> {
    let missing = error.kind() == ErrorKind::MissingRequiredArgument;
    let about_reference = error.render().to_string().lines().any(|line| {
        let name = line.trim();
        name.starts_with("<REF>") || name.starts_with("<FROM>")
    });
    (missing && about_reference).then(|| "a bare # starts a comment in most shells: type `12` or `'#12'`".to_owned())
}

#[cfg(test)]
mod tests {
    use backsight_core::{NextStep, Voice};
    use clap::Parser;

    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn json_is_a_flag_only_before_the_paths() {
        assert!(asks_for_json(&arguments("backsight diff --json")));
        assert!(!asks_for_json(&arguments("backsight diff @ -- --json")));
        assert!(!asks_for_json(&arguments("--json")));
    }

    /// Every step that a failure can advise is something a person can type.
    #[test]
    fn every_step_can_be_typed() {
        let known = crate::cli::whole();
        for step in NextStep::samples() {
            let said = CommandLine.name(&step).words;
            let typed = said.trim_matches('`');
            if typed.starts_with("backsight ") {
                let words = shell_words(&typed.replace("\"...\"", "TEXT").replace("PID", "1"));
                let parsed = Cli::try_parse_from(&words);
                assert!(
                    parsed.is_ok(),
                    "{step:?}: {typed}: {}",
                    parsed.err().map(|error| error.to_string()).unwrap_or_default()
                );
                continue;
            }
            let option = typed.split(' ').next().unwrap_or_default();
            assert!(takes(&known, option), "{step:?}: no command takes `{option}`");
        }
    }

    /// Whether a command, or one below it, takes the option.
    fn takes(command: &clap::Command, option: &str) -> bool {
        let mut arguments = command.get_arguments();
        let is_it = |argument: &clap::Arg| {
            argument.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long))
                || argument.get_short().is_some_and(|short| option == format!("-{short}"))
        };
        arguments.any(is_it) || command.get_subcommands().any(|below| takes(below, option))
    }

    /// Words as a shell takes them apart; only what `shell_word` writes is understood.
    fn shell_words(line: &str) -> Vec<String> {
        let quoted = line.split('\'').enumerate();
        let mut words = vec![String::new()];
        for (index, part) in quoted {
            if index % 2 == 1 {
                words.last_mut().into_iter().for_each(|word| word.push_str(part));
                continue;
            }
            let mut pieces = part.split(' ');
            let first = pieces.next().unwrap_or_default();
            words.last_mut().into_iter().for_each(|word| word.push_str(first));
            words.extend(pieces.map(str::to_owned));
        }
        words
    }

    #[test]
    fn every_command_that_is_meant_exists() {
        let known = Cli::command();
        for (words, commands) in MEANT {
            assert!(commands.iter().all(|command| known.find_subcommand(command).is_some()), "{commands:?}");
            assert!(words.iter().all(|word| known.find_subcommand(word).is_none()), "{words:?}");
        }
    }

    #[test]
    fn the_hint_names_the_command() {
        assert_eq!(command_typed(&arguments("backsight --json track --x")).as_deref(), Some("track"));
        assert_eq!(command_typed(&arguments("backsight --x")), None);
    }
}
