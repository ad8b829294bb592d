//! Whether a client would use what was installed: what its own files say of the user's trust. Read only, never written, and
//! said as far as it can be seen: a client may have been told otherwise in a way that leaves no trace here.

use std::path::Path;

use backsight_core::bounded;
use serde_json::Value;

use super::jsonc::{Document, Step};
use super::{Client, LARGEST_SETTINGS, Places, Scope, toml};

/// What can be seen of the user's trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user gave it.
    Given,
    /// The client does not use it until the user does this.
    Missing(&'static str),
    /// The client asks nobody.
    NotNeeded,
    /// The client keeps it where it cannot be seen.
    Unseen,
}

impl Client {
    /// What can be seen of the trust in what is installed for a scope.
    pub fn trust(self, scope: Scope, places: &Places) -> Trust {
        match self {
            Client::ClaudeCode if scope == Scope::User => Trust::NotNeeded,
            Client::ClaudeCode => claude_code(places),
            Client::Codex => codex(scope, places),
            Client::Gemini => gemini(places),
            Client::Opencode => Trust::NotNeeded,
            Client::Cursor | Client::Vscode | Client::Zed => Trust::Unseen,
        }
    }
}

/// The folder is trusted in the user's `.claude.json`; the server is approved there or in the settings of the project.
fn claude_code(places: &Places) -> Trust {
    let user = (places.variable)("CLAUDE_CONFIG_DIR").or_else(|| places.home.clone());
    let Some(user) = user else { return Trust::Unseen };
    let Some(settings) = json(&user.join(".claude.json")) else { return Trust::Unseen };
    let project = settings.get("projects").and_then(|projects| projects.get(places.project.to_str()?));
    let local = ["settings.local.json", "settings.json"].map(|name| json(&places.project.join(".claude").join(name)));
    let said = || project.into_iter().chain(local.iter().flatten());
    let lists = |name: &str| {
        said().any(|value| value[name].as_array().is_some_and(|list| list.iter().any(|item| item == "backsight")))
    };
    if lists("disabledMcpjsonServers") {
        return Trust::Missing("its server was refused: approve `backsight` in `claude` with `/mcp`");
    }
    let is_approved = lists("enabledMcpjsonServers") || said().any(|value| value["enableAllProjectMcpServers"] == true);
    match project.is_some_and(|project| project["hasTrustDialogAccepted"] == true) {
        false => Trust::Missing("start `claude` here and trust the folder and the server when it asks"),
        true if !is_approved => Trust::Missing("approve the server `backsight` in `claude`: it asks, or use `/mcp`"),
        true => Trust::Given,
    }
}

/// Projects and hooks are trusted in the user's `config.toml`, each hook by its file, event and place.
fn codex(scope: Scope, places: &Places) -> Trust {
    let Ok(home) = super::codex::home(places) else { return Trust::Unseen };
    let settings = text(&home.join("config.toml")).and_then(|text| toml::meaning(&text)).unwrap_or_default();
    let project = places.project.to_str().unwrap_or_default();
    if scope == Scope::Project && settings["projects"][project]["trust_level"] != "trusted" {
        return Trust::Missing("start `codex` here and trust the project, then its hooks, when it asks");
    }
    let directory = if scope == Scope::User { home } else { places.project.join(".codex") };
    let file = directory.join("hooks.json");
    let prefix = format!("{}:", file.display());
    let states = settings["hooks"]["state"].as_object();
    let is_trusted = |(key, state): (&String, &Value)| key.starts_with(&prefix) && state["trusted_hash"].is_string();
    match states.is_some_and(|states| states.iter().any(is_trusted)) {
        _ if !file.exists() => Trust::Given,
        true => Trust::Given,
        false => Trust::Missing("start `codex` here and answer \"Hooks need review\" with \"Trust all\""),
    }
}

/// Folders are trusted in a file of the user's: by themselves, by one above, or by their parent.
fn gemini(places: &Places) -> Trust {
    let Some(home) = places.home.as_ref().map(|home| home.join(".gemini")) else { return Trust::Unseen };
    if json(&home.join("settings.json")).is_some_and(|settings| settings["security"]["folderTrust"]["enabled"] == false)
    {
        return Trust::NotNeeded;
    }
    let folders = json(&home.join("trustedFolders.json")).unwrap_or_default();
    let covers = |(folder, rule): (&String, &Value)| {
        let folder = Path::new(folder);
        let trusted = match rule.as_str() {
            Some("TRUST_FOLDER") => Some(folder),
            Some("TRUST_PARENT") => folder.parent(),
            _ => None,
        };
        trusted.is_some_and(|trusted| places.project.starts_with(trusted))
    };
    match folders.as_object().is_some_and(|folders| folders.iter().any(covers)) {
        true => Trust::Given,
        false => Trust::Missing(
            "start `gemini` here and trust the folder, or set GEMINI_CLI_TRUST_WORKSPACE=true where it cannot ask",
        ),
    }
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(bounded::read(path, LARGEST_SETTINGS).ok()?).ok()
}

fn json(path: &Path) -> Option<Value> {
    Document::parse(&text(path)?).ok()?.get(&[] as &[Step<'_>]).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(base: &Path) -> Places {
        let (project, home) = (base.join("project"), base.join("home"));
        for directory in [project.join(".claude"), project.join(".codex"), home.join(".gemini"), home.join(".codex")] {
            std::fs::create_dir_all(directory).unwrap();
        }
        Places { project, home: Some(home), variable: |_| None }
    }

    fn write(base: &Path, file: &str, text: &str) {
        std::fs::write(base.join(file), text.replace("PROJECT", base.join("project").to_str().unwrap())).unwrap();
    }

    fn is_missing(trust: Trust) -> bool {
        matches!(trust, Trust::Missing(_))
    }

    #[test]
    fn claude_code_trusts_a_folder_and_then_a_server() {
        let base = tempfile::tempdir().unwrap();
        let (base, places) = (base.path(), places(base.path()));
        let trust = || Client::ClaudeCode.trust(Scope::Project, &places);
        assert_eq!(trust(), Trust::Unseen);
        write(base, "home/.claude.json", "{\"projects\": {\"PROJECT\": {\"hasTrustDialogAccepted\": false}}}");
        assert!(is_missing(trust()));
        write(base, "home/.claude.json", "{\"projects\": {\"PROJECT\": {\"hasTrustDialogAccepted\": true}}}");
        assert!(is_missing(trust()), "the server is not approved");
        write(base, "project/.claude/settings.local.json", "{\"enabledMcpjsonServers\": [\"backsight\"]}");
        assert_eq!(trust(), Trust::Given);
        write(base, "project/.claude/settings.local.json", "{\"disabledMcpjsonServers\": [\"backsight\"]}");
        assert!(is_missing(trust()));
        assert_eq!(Client::ClaudeCode.trust(Scope::User, &places), Trust::NotNeeded);
    }

    #[test]
    fn codex_trusts_a_project_and_then_its_hooks() {
        let base = tempfile::tempdir().unwrap();
        let (base, places) = (base.path(), places(base.path()));
        write(base, "project/.codex/hooks.json", "{}");
        let trust = || Client::Codex.trust(Scope::Project, &places);
        assert!(is_missing(trust()));
        let project = "[projects.\"PROJECT\"]\ntrust_level = \"trusted\"\n";
        write(base, "home/.codex/config.toml", project);
        assert!(is_missing(trust()), "the hooks are not reviewed");
        let elsewhere = "\n[hooks.state.\"/other/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:a\"\n";
        write(base, "home/.codex/config.toml", &format!("{project}{elsewhere}"));
        assert!(is_missing(trust()), "those of another project are");
        let hooks = "\n[hooks.state.\"PROJECT/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:a\"\n";
        write(base, "home/.codex/config.toml", &format!("{project}{hooks}"));
        assert_eq!(trust(), Trust::Given);
        write(base, "home/.codex/config.toml", "not toml");
        assert!(is_missing(trust()));
    }

    #[test]
    fn gemini_trusts_folders_what_is_below_them_and_their_parents() {
        let base = tempfile::tempdir().unwrap();
        let (base, places) = (base.path(), places(base.path()));
        let trust = || Client::Gemini.trust(Scope::Project, &places);
        assert!(is_missing(trust()));
        for (rules, is_given) in [
            ("{\"PROJECT\": \"TRUST_FOLDER\"}", true),
            ("{\"PROJECT/..\": \"DO_NOT_TRUST\"}", false),
            ("{\"PROJECT/below\": \"TRUST_PARENT\"}", true),
            ("{\"PROJECT/below\": \"TRUST_FOLDER\"}", false),
            ("{\"PROJECTS\": \"TRUST_FOLDER\"}", false),
            ("{\"/\": \"TRUST_FOLDER\"}", true),
        ] {
            write(base, "home/.gemini/trustedFolders.json", rules);
            assert_eq!(trust() == Trust::Given, is_given, "{rules}");
        }
        write(base, "home/.gemini/settings.json", "{\"security\": {\"folderTrust\": {\"enabled\": false}}}");
        assert_eq!(trust(), Trust::NotNeeded);
    }
}
