//! What to do next in the words of each interface: a person types a command, an agent calls a tool, a program sends a request.
//! A step that an interface does not offer is said as the command that takes it, and called that.

mod command_line;
mod requests;
mod tools;

use backsight_core::Phrase;
use serde_json::Value;

pub use command_line::CommandLine;
pub use requests::Requests;
pub use tools::Tools;

/// A call that can be made as it stands.
fn whole(words: String, call: Value) -> Phrase {
    Phrase { words, call: Some(call) }
}

/// Words with something to fill in, or an argument of the same call.
fn part(words: impl Into<String>) -> Phrase {
    Phrase { words: words.into(), call: None }
}

/// A step that only the command line takes, said elsewhere.
fn on_the_command_line(step: &backsight_core::NextStep) -> Phrase {
    use backsight_core::Voice;
    let typed = CommandLine.name(step).words;
    part(if typed.starts_with("`backsight ") {
        format!("the command {typed}")
    } else {
        format!("the command line's {typed}")
    })
}

#[cfg(test)]
mod tests {
    use backsight_core::{NextStep, Voice};
    use serde_json::json;

    use super::*;

    /// The words of a step on every interface.
    fn said() -> Vec<(NextStep, [Phrase; 3])> {
        let steps = NextStep::samples().into_iter();
        steps.map(|step| (step.clone(), [CommandLine.name(&step), Tools.name(&step), Requests.name(&step)])).collect()
    }

    #[test]
    fn every_step_has_words_everywhere_and_only_those_of_the_interface() {
        let tools: Vec<&str> =
            crate::tool::all().iter().map(|tool| tool.name).filter(|name| name.contains('_')).collect();
        for (step, [command, tool, request]) in said() {
            for phrase in [&command, &tool, &request] {
                assert!(phrase.words.len() > 2, "{step:?}: {phrase:?}");
            }
            let names_tool = |words: &str| {
                tools
                    .iter()
                    .any(|name| words.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == *name))
            };
            assert!(!names_tool(&command.words) && !command.words.contains("/api/"), "{step:?}: {command:?}");
            assert!(!names_tool(&request.words), "{step:?}: {request:?}");
            assert!(!tool.words.contains("/api/"), "{step:?}: {tool:?}");
            // A command is said only where there is no other way, and then it is called one.
            for phrase in [&tool, &request] {
                assert_eq!(
                    phrase.words.contains("`backsight "),
                    phrase.words.starts_with("the command `"),
                    "{step:?}: {phrase:?}"
                );
            }
        }
    }

    #[test]
    fn steps_that_only_a_command_takes_are_known() {
        let only = |index: usize| -> Vec<String> {
            let steps = said().into_iter().filter(|(_, phrases)| phrases[index].words.starts_with("the command "));
            steps.map(|(step, _)| format!("{step:?}").split([' ', '{']).next().unwrap_or_default().to_owned()).collect()
        };
        insta::assert_snapshot!(only(1).join(" "), @"ShrinkStore Configure PinSnapshot MakeStore MakeStoreIn MakeStoreAnywhere MakeUserStore AdoptStore ImportElsewhere ListSessions StartSession ShowSession RevertSession RecordMessage AbandonCall ListKnown WithOthers WithSquash WithDirectory");
        insta::assert_snapshot!(only(2).join(" "), @"MakeStoreIn MakeStoreAnywhere MakeUserStore AdoptStore ImportElsewhere WithDirectory");
    }

    #[test]
    fn calls_are_of_tools_and_addresses_that_exist() {
        let document = crate::http::document();
        for (step, [command, tool, request]) in said() {
            if let Some(call) = &command.call {
                assert!(
                    call["command"].as_str().is_some_and(|line| line.starts_with("backsight ")),
                    "{step:?}: {call}"
                );
            }
            if let Some(call) = &tool.call {
                let known = crate::tool::find(call["tool"].as_str().unwrap_or_default());
                let Some(known) = known else { panic!("{step:?}: there is no tool of {call}") };
                let schema = Value::Object(known.input.clone());
                for name in call["arguments"].as_object().into_iter().flatten().map(|(name, _)| name) {
                    assert!(schema["properties"].get(name).is_some(), "{step:?}: {} takes no `{name}`", known.name);
                }
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let missing: Vec<&Value> = required
                    .iter()
                    .filter(|name| call["arguments"].get(name.as_str().unwrap_or_default()).is_none())
                    .collect();
                assert!(missing.is_empty(), "{step:?}: {call} lacks {missing:?}");
            }
            let words = request.words.trim_start_matches('`');
            let Some((method, rest)) = words.split_once(' ').filter(|(method, _)| matches!(*method, "GET" | "POST"))
            else {
                continue;
            };
            let path = rest.split(['`', '?', ' ']).next().unwrap_or_default();
            let paths = document["paths"].as_object().into_iter().flatten();
            let matches = |template: &str| {
                let (ours, theirs): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), template.split('/').collect());
                ours.len() == theirs.len()
                    && ours.iter().zip(&theirs).all(|(our, their)| our == their || their.starts_with('{'))
            };
            let found = paths
                .into_iter()
                .any(|(template, methods)| matches(template) && methods.get(method.to_lowercase()).is_some());
            assert!(found, "{step:?}: there is no {method} {path}");
        }
    }

    #[test]
    fn the_same_failure_is_said_three_times() {
        use backsight_core::{Code, Error};
        let error = Error::new(Code::NoSession, "no program is being debugged")
            .then("start one", NextStep::LaunchProgram)
            .or("attach to one", NextStep::AttachProgram);
        let hint = |envelope: Value| envelope["error"]["hint"].as_str().unwrap_or_default().to_owned();
        assert_eq!(
            hint(error.to_json(&CommandLine)),
            "start one with `backsight debug launch PROGRAM`, or attach to one with `backsight debug attach --pid PID`"
        );
        assert_eq!(hint(error.to_json(&Tools)), "start one with debug_launch, or attach to one with debug_attach");
        assert_eq!(
            hint(error.to_json(&Requests)),
            "start one with `POST /api/debug/launch`, or attach to one with `POST /api/debug/attach`"
        );
        let error = Error::new(Code::NothingToUndo, "nothing")
            .then("see what was done", NextStep::SeeHistory { session: None, file: None });
        assert_eq!(error.to_json(&CommandLine)["error"]["next"], json!({ "command": "backsight log" }));
        assert_eq!(error.to_json(&Tools)["error"]["next"], json!({ "tool": "history_query", "arguments": {} }));
        assert_eq!(error.to_json(&Requests)["error"]["next"], json!({ "method": "GET", "path": "/api/log" }));
    }
}
