//! Settings of a workspace: one table that says what each is called, means and allows, over a TOML file.

use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use toml_edit::{DocumentMut, Item, Value};

use crate::gate::{Access, OwnStore};
use crate::report::{ConfigEntry, SnapshotConfig, Strategy};
use crate::request::ConfigChange;

/// No settings file is larger.
const MAX_SIZE: u64 = 1 << 20;

/// Settings as the library uses them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) any_root: bool,
    pub(crate) exclude: Vec<String>,
    pub(crate) max_file_size: u64,
    pub(crate) max_files: u64,
    pub(crate) max_new_bytes: u64,
    pub(crate) keep_days: u64,
    pub(crate) keep_count: u64,
    pub(crate) disk_budget: u64,
    /// Seed 003's options.
    pub(crate) snapshots: SnapshotConfig,
}

/// Sections that only the user's own settings have: what they hold says what runs, and a workspace may be a stranger's.
const USERS_OWN: [&str; 2] = ["adapters", "agents"];

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Flag,
    Number,
    Size,
    Patterns,
    Strategy,
}

struct Setting {
    key: &'static str,
    shape: Shape,
    default: &'static str,
    help: &'static str,
}

const SETTINGS: [Setting; 15] = [
    Setting {
        key: "any_root",
        shape: Shape::Flag,
        default: "false",
        help: "track this directory even if it is a home directory or `/`",
    },
    Setting {
        key: "app_checkpoints",
        shape: Shape::Flag,
        default: "true",
        help: "agents' hooks mark the app's state: `session_start` when a session begins, `pre_commit` before a commit",
    },
    Setting {
        key: "disk_budget",
        shape: Shape::Size,
        default: "0",
        help: "`gc` removes the oldest contents until the store is at most this large; 0 means no limit",
    },
    Setting {
        key: "enable_unknown_change_detection",
        shape: Shape::Flag,
        default: "true",
        help: "look for changes that no tool declared or made; without it they are recorded and neither listed nor refused",
    },
    Setting {
        key: "exclude",
        shape: Shape::Patterns,
        default: "[]",
        help: "more ignore rules, in .gitignore syntax; they go before all others",
    },
    Setting {
        key: "exclude_from_checking",
        shape: Shape::Patterns,
        default: r#"["*.log", "*.tmp", "*_generated.*", "node_modules/**"]"#,
        help: "changes to these paths are never unknown, in .gitignore syntax; they are captured all the same",
    },
    Setting {
        key: "keep_all_checkpoints",
        shape: Shape::Flag,
        default: "false",
        help: "keep every file checkpoint up to its age, not only the latest",
    },
    Setting {
        key: "keep_count",
        shape: Shape::Number,
        default: "0",
        help: "`gc` keeps the contents of at most this many snapshots, the newest, and what undoing them needs; 0 means all",
    },
    Setting {
        key: "keep_days",
        shape: Shape::Number,
        default: "0",
        help: "`gc` removes the contents of snapshots older than this many days; 0 means never",
    },
    Setting {
        key: "max_checkpoint_age",
        shape: Shape::Number,
        default: "7",
        help: "days after which a file checkpoint is removed; 0 means never",
    },
    Setting {
        key: "max_file_size",
        shape: Shape::Size,
        default: "100MB",
        help: "larger files are reported in the coverage and not captured",
    },
    Setting {
        key: "max_files",
        shape: Shape::Number,
        default: "1000000",
        help: "a workspace with more files is refused",
    },
    Setting {
        key: "max_new_bytes",
        shape: Shape::Size,
        default: "20GB",
        help: "a capture that would have to store more bytes than this is refused",
    },
    Setting {
        key: "tell_agents",
        shape: Shape::Flag,
        default: "true",
        help: "agents are told with their next call or hook what others changed in files of theirs, and what broke in the app",
    },
    Setting {
        key: "unknown_change_strategy",
        shape: Shape::Strategy,
        default: "warn",
        help: "what is done about unknown changes: strict refuses, warn lists them, auto-integrate records them first",
    },
];

impl Config {
    /// The settings in `text`, which `file` holds.
    pub(crate) fn parse(text: &str, file: &Path) -> Result<Config> {
        let document = parse(text, file)?;
        let text = |key: &str| value_of(&document, setting(key)?, file);
        Ok(Config {
            any_root: text("any_root")? == "true",
            exclude: patterns(&text("exclude")?).unwrap_or_default(),
            max_file_size: size(&text("max_file_size")?).unwrap_or_default(),
            max_files: size(&text("max_files")?).unwrap_or_default(),
            max_new_bytes: size(&text("max_new_bytes")?).unwrap_or_default(),
            keep_days: size(&text("keep_days")?).unwrap_or_default(),
            keep_count: size(&text("keep_count")?).unwrap_or_default(),
            disk_budget: size(&text("disk_budget")?).unwrap_or_default(),
            snapshots: SnapshotConfig {
                enable_unknown_change_detection: text("enable_unknown_change_detection")? == "true",
                unknown_change_strategy: text("unknown_change_strategy")?.parse().unwrap_or_default(),
                keep_all_checkpoints: text("keep_all_checkpoints")? == "true",
                max_checkpoint_age: size(&text("max_checkpoint_age")?).unwrap_or_default(),
                exclude_from_checking: patterns(&text("exclude_from_checking")?).unwrap_or_default(),
            },
        })
    }
}

/// Every setting with its value.
pub(crate) fn list(text: &str, file: &Path) -> Result<Vec<ConfigEntry>> {
    let document = parse(text, file)?;
    SETTINGS.iter().map(|setting| entry(&document, setting, file)).collect()
}

/// One setting with its value.
pub(crate) fn get(text: &str, file: &Path, key: &str) -> Result<ConfigEntry> {
    entry(&parse(text, file)?, setting(key)?, file)
}

/// The text of a settings file with some settings changed, comments and order kept. One that is wrong changes nothing.
pub(crate) fn with(text: &str, file: &Path, changes: &[(&str, String)]) -> Result<String> {
    let mut document = parse(text, file)?;
    for (key, value) in changes {
        let setting = setting(key)?;
        let normal = check(setting, value).map_err(|problem| invalid(setting, value, &problem))?;
        // Elsewhere 0 means no limit; here it would mean that nothing is captured.
        let is_bound = matches!(setting.key, "max_file_size" | "max_files" | "max_new_bytes");
        if is_bound && size(&normal).is_ok_and(|size| size == 0) {
            return Err(invalid(setting, value, "nothing would be captured"));
        }
        document[key] = match setting.shape {
            Shape::Flag => toml_edit::value(normal == "true"),
            Shape::Number => toml_edit::value(i64::try_from(size(&normal).unwrap_or_default()).unwrap_or(i64::MAX)),
            Shape::Size | Shape::Strategy => toml_edit::value(normal),
            Shape::Patterns => Item::Value(Value::Array(patterns(&normal).unwrap_or_default().into_iter().collect())),
        };
    }
    Ok(document.to_string())
}

/// Seed 003's options as settings.
pub(crate) fn settings_of(change: &ConfigChange) -> Vec<(&'static str, String)> {
    let patterns = change.exclude_from_checking.as_ref();
    let values = [
        ("enable_unknown_change_detection", change.enable_unknown_change_detection.map(|value| value.to_string())),
        ("unknown_change_strategy", change.unknown_change_strategy.map(|value| value.to_string())),
        ("keep_all_checkpoints", change.keep_all_checkpoints.map(|value| value.to_string())),
        ("max_checkpoint_age", change.max_checkpoint_age.map(|value| value.to_string())),
        ("exclude_from_checking", patterns.map(|patterns| list_text(patterns.clone()))),
    ];
    values.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn list_text(patterns: Vec<String>) -> String {
    patterns.into_iter().collect::<toml_edit::Array>().to_string().trim().to_owned()
}

fn setting(key: &str) -> Result<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key).ok_or_else(|| {
        let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
        Error::new(Code::InvalidConfig, format!("no setting is called `{}`", backsight_core::quote(key.as_bytes())))
            .with_hint(format!("the settings are {}", known.join(", ")))
    })
}

/// What a store's settings file says, and where it is; a missing one says nothing.
pub(crate) fn text_of(store: &OwnStore) -> Result<(String, PathBuf)> {
    let file = store.directory().join("config.toml");
    if store.access() == Access::LookAtCopy {
        return Ok((String::new(), file.path()));
    }
    let failed = |error| Error::io(format!("read `{}`", file.display()), error);
    let text = match file.read(MAX_SIZE) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|error| failed(std::io::Error::other(error)))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    Ok((text, file.path()))
}

fn parse(text: &str, file: &Path) -> Result<DocumentMut> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        // Without the line itself: what stands in a file that is no settings file is not ours to show.
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        let problem = format!("`{}` is not valid TOML: line {line}: {}", file.display(), error.message());
        Error::new(Code::InvalidConfig, problem).with_hint("mend or remove the file")
    })?;
    if let Some(section) = USERS_OWN.into_iter().find(|section| document.contains_key(section)) {
        let message = format!("`{section}` in `{}` is not taken from a workspace", file.display());
        return Err(Error::new(Code::InvalidConfig, message)
            .with_hint("move it to your own settings, `~/.config/backsight/config.toml`, if it is yours"));
    }
    let known = |key: &str| SETTINGS.iter().any(|setting| setting.key == key);
    let misspelt = document.iter().map(|(key, _)| key).find(|key| !known(key));
    // A misspelt limit that is silently ignored would be worse than an error.
    if let Some(error) = misspelt.and_then(|key| setting(key).err()) {
        return Err(in_file(file, &error));
    }
    Ok(document)
}

fn in_file(file: &Path, error: &Error) -> Error {
    Error::new(Code::InvalidConfig, format!("in `{}`: {}", file.display(), error.message())).with_advice(error.advice())
}

fn entry(document: &DocumentMut, setting: &Setting, file: &Path) -> Result<ConfigEntry> {
    Ok(ConfigEntry {
        key: setting.key.to_owned(),
        value: value_of(document, setting, file)?,
        default: setting.default.to_owned(),
        help: setting.help.to_owned(),
    })
}

fn value_of(document: &DocumentMut, setting: &Setting, file: &Path) -> Result<String> {
    let Some(item) = document.get(setting.key) else { return Ok(setting.default.to_owned()) };
    let text = match item.as_value() {
        Some(Value::String(text)) => text.value().clone(),
        // Without the comment that may stand behind it.
        Some(value) => value.clone().decorated("", "").to_string(),
        None => item.to_string(),
    };
    check(setting, &text).map_err(|problem| in_file(file, &invalid(setting, &text, &problem)))
}

fn invalid(setting: &Setting, value: &str, problem: &str) -> Error {
    Error::new(
        Code::InvalidConfig,
        format!("`{}` cannot be `{}`: {problem}", setting.key, backsight_core::quote(value.as_bytes())),
    )
    .with_hint(format!("{}; default {}", setting.help, setting.default))
}

/// The value in its normal spelling, or what is wrong with it.
fn check(setting: &Setting, value: &str) -> Result<String, String> {
    let value = value.trim();
    match setting.shape {
        Shape::Flag if value == "true" || value == "false" => Ok(value.to_owned()),
        Shape::Flag => Err("it is true or false".to_owned()),
        Shape::Number => {
            value.parse::<u64>().map(|number| number.to_string()).map_err(|_| "it is a whole number".to_owned())
        }
        Shape::Size => size(value).map(|_| value.to_owned()),
        Shape::Patterns => patterns(value).map(list_text),
        Shape::Strategy => value.parse::<Strategy>().map(|strategy| strategy.to_string()),
    }
}

/// A TOML array of texts, or texts with commas between them.
fn patterns(value: &str) -> Result<Vec<String>, String> {
    let value = value.trim();
    if !value.starts_with('[') {
        return Ok(value.split(',').map(str::trim).filter(|pattern| !pattern.is_empty()).map(str::to_owned).collect());
    }
    let parsed: Value =
        value.parse().map_err(|_| "it is a list of patterns such as [\"data/\", \"*.bin\"]".to_owned())?;
    let texts = parsed
        .as_array()
        .map(|array| array.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>());
    texts.flatten().ok_or_else(|| "it is a list of texts".to_owned())
}

/// Bytes, with an optional unit: `512`, `64KB`, `100MB`, `2GiB`. Units are powers of 1024.
pub fn size(value: &str) -> Result<u64, String> {
    let value = value.trim();
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = value[..digits].parse().map_err(|_| "it is a size such as 512, 100MB or 2GB".to_owned())?;
    let shift = match value[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        unit => return Err(format!("`{unit}` is not a unit; use KB, MB, GB or TB")),
    };
    number.checked_mul(1 << shift).ok_or_else(|| "it is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_its_own_setting_accepts() {
        for setting in &SETTINGS {
            assert_eq!(check(setting, setting.default), Ok(setting.default.to_owned()), "{}", setting.key);
        }
    }

    #[test]
    fn sizes_have_units_and_never_overflow() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("100MB"), Ok(100 << 20));
        assert_eq!(size("2 GiB"), Ok(2 << 30));
        assert!(size("").is_err() && size("MB").is_err() && size("-1").is_err() && size("1XB").is_err());
        assert!(size("99999999999TB").is_err());
    }

    #[test]
    fn setting_a_value_keeps_comments_and_other_settings() {
        let file = Path::new("config.toml");
        let before = "# mine\nmax_files = 10 # few\n";
        let text = with(before, file, &[("exclude", "data/, *.bin".to_owned())]).unwrap();
        assert_eq!(text, "# mine\nmax_files = 10 # few\nexclude = [\"data/\", \"*.bin\"]\n");
        let config = Config::parse(&text, file).unwrap();
        assert_eq!((config.max_files, config.exclude), (10, vec!["data/".to_owned(), "*.bin".to_owned()]));
    }

    #[test]
    fn unknown_names_and_bad_values_are_refused() {
        let file = Path::new("config.toml");
        let refused = |key, value: &str| with("", file, &[(key, value.to_owned())]).unwrap_err().code();
        assert_eq!(refused("max_fils", "1"), Code::InvalidConfig);
        assert_eq!(refused("max_files", "many"), Code::InvalidConfig);
        assert_eq!(refused("unknown_change_strategy", "shrug"), Code::InvalidConfig);
        let parsed = |text: &str| Config::parse(text, file).unwrap_err();
        assert_eq!(parsed("max_fils = 10\n").code(), Code::InvalidConfig);
        assert_eq!(parsed("max_files = \"ten\"\n").code(), Code::InvalidConfig);
        let error = parsed("max_files = 1\naws_secret_access_key wJalrXUtnFEMI\n");
        assert!(!error.message().contains("wJalr"), "{}", error.message());
        assert!(error.message().contains("line 2"), "{}", error.message());
    }
}
