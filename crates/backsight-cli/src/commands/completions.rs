//! `backsight completions SHELL`: a script that lets the shell complete commands and flags and, by asking the program,
//! references, sessions, messages and agents.

use backsight_core::{Result, is_unsafe_to_show};
use clap_complete::Shell;
use serde_json::json;

use crate::cli;
use crate::commands::Verdict;
use crate::complete;
use crate::context::Context;

/// Print a completion script for a shell
///
/// Commands, flags and their values are completed; in bash, zsh and fish also references, sessions, messages and agents.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight completions bash > ~/.local/share/bash-completion/completions/backsight
  backsight completions zsh > ~/.zfunc/_backsight
  backsight completions fish > ~/.config/fish/completions/backsight.fish")]
pub struct Args {
    /// Which shell
    #[arg(required_unless_present = "values")]
    shell: Option<Shell>,
    /// Instead of a script, what the last of these words could become; the scripts ask for it
    #[arg(long, value_name = "WORD", num_args = 1.., allow_hyphen_values = true, hide = true)]
    values: Option<Vec<String>>,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    match (args.shell, &args.values) {
        (Some(shell), _) => script(shell, context)?,
        (None, Some(words)) => values(words, context)?,
        (None, None) => {}
    }
    Ok(Verdict::Done)
}

fn script(shell: Shell, context: &Context) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::whole(), "backsight", &mut script);
    let script = with_values(shell, &String::from_utf8_lossy(&script));
    let report = json!({ "shell": shell.to_string(), "script": script });
    context.answer(&report, |page| page.data.raw(script.as_bytes()))
}

/// The script, with a way to ask the program first.
fn with_values(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Fish => format!("{script}{FISH}"),
        // The script ends with the function's own call, or with the line that makes it known.
        Shell::Zsh => {
            let known = script.replace("    compdef _backsight backsight", "    compdef _backsight_values backsight");
            let called = known.replace("    _backsight \"$@\"", "    _backsight_values \"$@\"");
            match called.rfind("\nif [ \"$funcstack[1]\"") {
                Some(end) => format!("{}{ZSH}{}", &called[..end], &called[end..]),
                None => script.to_owned(),
            }
        }
        _ => script.to_owned(),
    }
}

// What the program offers was written by agents and by those whose data they read. No shell may evaluate a word of it: bash
// expands what `compgen -W` is given, so the words are taken as they are and quoted for the command line.
const BASH: &str = r#"
_backsight_values() {
    local value
    COMPREPLY=()
    while IFS= read -r value; do
        value=${value%%$'\t'*}
        [ -n "$value" ] && COMPREPLY+=("$(printf '%q' "$value")")
    done <<<"$(backsight completions --values "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
    [ ${#COMPREPLY[@]} -gt 0 ] || _backsight "$@"
}
complete -F _backsight_values -o bashdefault -o default backsight
"#;

const ZSH: &str = r#"
_backsight_values() {
    local -a values
    values=("${(@f)$(backsight completions --values "${(@)words[2,CURRENT]}" 2>/dev/null | sed 's/[\\:]/\\&/g; s/\t/:/')}")
    if [[ -n "${values[1]}" ]]; then
        _describe -V value values
    else
        _backsight "$@"
    fi
}
"#;

const FISH: &str = r#"
complete -c backsight -k -a '(backsight completions --values (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
"#;

/// One line each, with what a person reads beside it after a tab. A user who presses a key wants no errors, and no word that
/// would be an option or more than one line.
fn values(words: &[String], context: &Context) -> Result<()> {
    let command = cli::whole();
    let found = complete::wanted(&command, words)
        .and_then(|wanted| complete::offers(&context.workspace().ok()?, wanted, words).ok())
        .unwrap_or_default();
    let begins = words.last().map(String::as_str).unwrap_or_default();
    let can_be_typed = |value: &str| !value.starts_with('-') && !value.chars().any(is_unsafe_to_show);
    let is_offered = |(value, _): &&complete::Offer| value.starts_with(begins) && can_be_typed(value);
    let offers: Vec<&complete::Offer> = found.iter().filter(is_offered).collect();
    context.answer(&json!({ "values": offers }), |page| {
        offers.iter().for_each(|(value, meaning)| page.data.line(format_args!("{value}\t{meaning}")));
    })
}
