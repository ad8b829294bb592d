//! `docs/CLI.md` is the help of every command, generated and checked here: `make docs` writes it again.

use std::path::Path;

use crate::contract::commands;
use crate::fixture::Fixture;

#[test]
fn the_reference_is_what_the_commands_say() {
    let fixture = Fixture::new();
    let mut text = String::from(
        "# The command line\n\nGenerated from `backsight COMMAND --help` by `make docs`; a test keeps it true.\n",
    );
    text.push_str(&section("backsight", &help(&fixture, "--help")));
    for command in commands(&fixture).iter().flat_map(|command| with_subcommands(&fixture, command)) {
        // What every command shares is said once, above.
        let help = help(&fixture, &format!("{command} --help"));
        let own = help.split("\nGlobal options:").next().unwrap();
        let after = help.split_once("\nGlobal options:").and_then(|(_, rest)| rest.split_once("[default: auto]"));
        let examples = after.map_or("", |(_, rest)| rest);
        text.push_str(&section(&format!("backsight {command}"), &format!("{own}{examples}")));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CLI.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == text, "docs/CLI.md is not what the commands say; write it again with `make docs`");
}

/// A command and those below it, such as `config` and `config get`.
pub fn with_subcommands(fixture: &Fixture, command: &str) -> Vec<String> {
    let help = help(fixture, &format!("{command} -h"));
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let below = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let below = below.map(|name| format!("{command} {name}"));
    std::iter::once(command.to_owned()).chain(below).collect()
}

/// The words as they are: dates in an example stay dates.
fn help(fixture: &Fixture, line: &str) -> String {
    String::from_utf8(fixture.command(line).output().unwrap().stdout).unwrap()
}

fn section(title: &str, help: &str) -> String {
    let lines: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
    format!("\n## `{title}`\n\n```text\n{}\n```\n", lines.join("\n"))
}
