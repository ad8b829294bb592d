//! The user's own settings, `backsight/config.toml` in the user's configuration directory: debuggers that the user
//! describes, and what agents may run and reach. A workspace never decides these: its files may come from a stranger.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result, shell_word};
#[cfg(feature = "debug")]
use backsight_debug::adapters::Adapter;
use rustix::fs::OFlags;
use serde::Deserialize;

use crate::settings::Settings;

/// More than any person writes.
const LARGEST: u64 = 64 << 10;

/// What the user's own settings say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserSettings {
    /// The file, when there is one.
    pub file: Option<PathBuf>,
    /// Debuggers beside those that are known.
    #[cfg(feature = "debug")]
    pub adapters: Vec<Adapter>,
    /// What agents may run and reach.
    pub agents: Agents,
}

/// What agents may run and reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agents {
    /// Which programs they may debug, and in which directories.
    pub programs: Programs,
    /// Whether they may choose the interpreter or the copy of the debugger (`runtime`).
    pub runtime: bool,
    /// Whether they may pass options on to the debugger (`options`), which can run commands.
    pub options: bool,
    /// Where they may attach to, and which pages they may open.
    pub addresses: Addresses,
    /// Names of variables they may give a program, beside those that can make nothing else run.
    pub environment: Vec<String>,
}

/// Which programs agents may debug.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Programs {
    /// Those of the workspace.
    #[default]
    Workspace,
    /// Every one.
    Any,
}

/// Which addresses agents may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Addresses {
    /// Those of this machine.
    #[default]
    Loopback,
    /// Every one.
    Any,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Document {
    #[cfg(feature = "debug")]
    adapters: BTreeMap<String, Adapter>,
    #[cfg(not(feature = "debug"))]
    adapters: BTreeMap<String, serde::de::IgnoredAny>,
    agents: Agents,
}

/// Where the user's settings are, whether there are any or not. Relative directories are nobody's: they would be looked
/// for wherever a command is started.
pub(crate) fn path(settings: &Settings) -> Option<PathBuf> {
    let absolute = |directory: &Option<PathBuf>| directory.clone().filter(|directory| directory.is_absolute());
    let directory = absolute(&settings.config_home).or_else(|| Some(absolute(&settings.home)?.join(".config")))?;
    Some(directory.join("backsight/config.toml"))
}

/// What the user's settings say; without a file, that agents may run and reach the least.
pub(crate) fn load(settings: &Settings) -> Result<UserSettings> {
    let Some(file) = path(settings) else { return Ok(UserSettings::default()) };
    let Some(text) = read(&file)? else { return Ok(UserSettings::default()) };
    let document: Document = toml_edit::de::from_str(&text).map_err(|error| unreadable(&file, &text, &error))?;
    #[cfg(feature = "debug")]
    let adapters = document.adapters.into_iter().map(|(name, adapter)| Adapter { name, ..adapter }).collect();
    Ok(UserSettings {
        file: Some(file),
        #[cfg(feature = "debug")]
        adapters,
        agents: document.agents,
    })
}

/// What the file holds, if it is there and the user's alone to write.
fn read(file: &Path) -> Result<Option<String>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    // A link is followed: many keep their settings elsewhere. What is opened in the end must be the user's.
    let opened = match OpenOptions::new().read(true).custom_flags(flags).open(file) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(Error::io(format!("read `{}`", file.display()), error)),
    };
    check_owner(file, &opened)?;
    check_directories(file)?;
    let mut bytes = Vec::new();
    opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| refused(file, &error.to_string(), "mend it"))?;
    if bytes.len() as u64 > LARGEST {
        return Err(refused(file, &format!("it is larger than {LARGEST} bytes"), "settings are a few lines"));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused(file, "it is not UTF-8", "mend or remove the file"))?;
    Ok(Some(text))
}

/// Who can write the file decides what runs as the user.
fn check_owner(file: &Path, opened: &File) -> Result<()> {
    let found = opened.metadata().map_err(|error| Error::io(format!("look at `{}`", file.display()), error))?;
    if !found.is_file() {
        return Err(refused(file, "it is not a regular file", "put a file there, or nothing"));
    }
    let user = rustix::process::geteuid().as_raw();
    if found.uid() != user {
        let why = format!("it belongs to user {} and not to you ({user})", found.uid());
        return Err(refused(file, &why, &format!("write your own, or `chown {user}` it")));
    }
    if found.mode() & 0o022 != 0 {
        let why = format!("others may write it (mode {:o})", found.mode() & 0o7777);
        return Err(refused(file, &why, &format!("`chmod go-w {}`", shell_word(file.as_os_str().as_encoded_bytes()))));
    }
    Ok(())
}

/// A directory that another user owns, or that anybody may write, lets them put another file there.
fn check_directories(file: &Path) -> Result<()> {
    let real = file.canonicalize().map_err(|error| Error::io(format!("look at `{}`", file.display()), error))?;
    let user = rustix::process::geteuid().as_raw();
    for directory in real.ancestors().skip(1).chain(file.parent()) {
        let found =
            fs::metadata(directory).map_err(|error| Error::io(format!("look at `{}`", directory.display()), error))?;
        let is_open = found.mode() & 0o002 != 0 && found.mode() & 0o1000 == 0;
        if is_open || ![0, user].contains(&found.uid()) {
            let why = format!("others may put another file into `{}`", directory.display());
            return Err(refused(
                file,
                &why,
                &format!("`chmod o-w {}`, or keep it elsewhere", shell_word(directory.as_os_str().as_encoded_bytes())),
            ));
        }
    }
    Ok(())
}

fn refused(file: &Path, why: &str, hint: &str) -> Error {
    Error::new(Code::InvalidConfig, format!("your settings in `{}` are not used: {why}", file.display()))
        .with_hint(hint.to_owned())
}

/// What is wrong, without what the file holds: it may be another file than the one meant.
fn unreadable(file: &Path, text: &str, error: &toml_edit::de::Error) -> Error {
    let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    let at = line.map(|line| format!(" at line {line}")).unwrap_or_default();
    let why = reason(error.message());
    Error::new(Code::InvalidConfig, format!("your settings in `{}` cannot be read{at}: {why}", file.display()))
        .with_hint("docs/DEBUGGERS.md shows what they hold")
}

/// A message of the reader without values of the file: the name of a key that is unknown, or what is expected instead.
fn reason(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let (found, expected) = first.split_once(", expected ").unwrap_or((first, ""));
    let named = found
        .starts_with("unknown field `")
        .then(|| found.chars().take(80).filter(|character| !character.is_control()).collect::<String>());
    match (named, expected) {
        (Some(named), "") => named,
        (Some(named), expected) => format!("{named}, expected {expected}"),
        (None, "") => "it is not valid TOML".to_owned(),
        (None, expected) => format!("expected {expected}"),
    }
}
