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
    text.push_str(&section("backsight", &fixture.run("--help")));
    for command in commands(&fixture).iter().filter(|command| *command != "help") {
        // What every command shares is said once, above.
        let help = fixture.run(&format!("{command} --help"));
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

fn section(title: &str, help: &str) -> String {
    let help = help.replace("---- exit 0", "");
    let lines: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
    format!("\n## `{title}`\n\n```text\n{}\n```\n", lines.join("\n"))
}
