//! `backsight config`: the settings of a workspace.

use backsight::report::ConfigEntry;
use backsight::request::{ChangeSetting, ListSettings, ReadSetting};
use backsight_core::Result;
use clap::Subcommand;

use crate::commands::Verdict;
use crate::context::Context;
use crate::page::Sheet;
use crate::words::safe;

/// List, read or change the settings of this workspace
///
/// What agents may run and reach, and debuggers described by hand, are not among them: those are in your own settings,
/// `~/.config/backsight/config.toml`, which `backsight doctor` names.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight config
  backsight config get max_file_size
  backsight config set disk_budget 2GiB")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print one setting
    Get {
        /// Its name
        key: String,
    },
    /// Change one setting
    Set {
        /// Its name
        key: String,
        /// Its new value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    match &args.action {
        None => {
            let all = workspace.perform(ListSettings {})?;
            context.answer(&all, |page| list(&mut page.data, &all.settings))?;
        }
        Some(Action::Get { key }) => {
            let entry = workspace.perform(ReadSetting { key: key.clone() })?;
            context.answer(&entry, |page| page.data.line(safe(&entry.value)))?;
        }
        Some(Action::Set { key, value }) => {
            let entry = workspace.perform(ChangeSetting { key: key.clone(), value: value.clone() })?;
            context.answer(&entry, |page| page.data.line(assignment(&page.data, &entry)))?;
        }
    }
    Ok(Verdict::Done)
}

fn list(sheet: &mut Sheet, entries: &[ConfigEntry]) {
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            sheet.line("");
        }
        let default =
            if entry.value == entry.default { String::new() } else { format!(" (default: {})", safe(&entry.default)) };
        let help = sheet.dim(format_args!("# {}{default}", safe(&entry.help)));
        sheet.line(help);
        let assignment = assignment(sheet, entry);
        sheet.line(assignment);
    }
}

fn assignment(sheet: &Sheet, entry: &ConfigEntry) -> String {
    format!("{} = {}", sheet.bold(safe(&entry.key)), safe(&entry.value))
}
