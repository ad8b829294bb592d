//! What others read to find and start us, judged by their own programs: the plugin, the skill, the MCPB bundle, the
//! registry's entry. That the files are what `install` writes is checked beside the code that writes them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A program that `tests/tools/install` puts into the target directory.
fn tool(path: &str) -> Command {
    let target = Path::new(env!("CARGO_BIN_EXE_backsight")).parent().unwrap().parent().unwrap();
    let program = target.join("tools").join(path);
    assert!(program.exists(), "`{path}` is missing: install it with `make tools` (or `tests/tools/install`)");
    Command::new(program)
}

fn passes(mut command: Command) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
}

#[test]
fn the_bundle_is_valid_to_mcpb() {
    let mut command = tool("node_modules/.bin/mcpb");
    command.arg("validate").arg(root().join("packaging/mcpb/manifest.json"));
    passes(command);
}

#[test]
fn a_bundle_can_be_packed() {
    let directory = tempfile::tempdir().unwrap();
    let bundle = directory.path().join("bundle");
    std::fs::create_dir_all(bundle.join("server")).unwrap();
    std::fs::copy(root().join("packaging/mcpb/manifest.json"), bundle.join("manifest.json")).unwrap();
    std::fs::write(bundle.join("server/backsight"), "a binary\n").unwrap();
    let mut command = tool("node_modules/.bin/mcpb");
    command.arg("pack").arg(&bundle).arg(directory.path().join("backsight.mcpb"));
    passes(command);
    assert!(directory.path().join("backsight.mcpb").is_file());
}

#[test]
fn the_skill_is_valid_to_agentskills() {
    let mut command = tool("venv/bin/agentskills");
    command.arg("validate").arg(root().join("plugin/skills/backsight"));
    passes(command);
}

/// What the registry's schema of 2025-12-11 asks of a `server.json`, and what the registry asks of an MCPB package.
#[test]
fn the_registrys_entry_is_what_its_schema_asks_for() {
    let server = read("packaging/server.json");
    let known = ["$schema", "name", "title", "description", "repository", "version", "packages"];
    let fields = server.as_object().unwrap();
    assert!(fields.keys().all(|key| known.contains(&key.as_str())), "{server}");
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_else(|| panic!("{key} in {value}")).to_owned();
    assert_eq!(
        text(&server, "$schema"),
        "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    );
    let name = text(&server, "name");
    let (namespace, rest) = name.split_once('/').unwrap();
    let is_plain = |part: &str, more: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    assert!(is_plain(namespace, ".-") && is_plain(rest, "._-") && (3..=200).contains(&name.len()), "{name}");
    for (key, longest) in [("title", 100), ("description", 100), ("version", 255)] {
        assert!((1..=longest).contains(&text(&server, key).chars().count()), "{key}");
    }
    assert_eq!(text(&server, "version"), env!("CARGO_PKG_VERSION"));
    let repository = &server["repository"];
    assert!(text(repository, "url").starts_with("https://") && text(repository, "source") == "github");
    let packages = server["packages"].as_array().unwrap();
    assert!(!packages.is_empty());
    for package in packages {
        assert_eq!((&package["registryType"], &package["transport"]), (&json!("mcpb"), &json!({"type": "stdio"})));
        let address = text(package, "identifier");
        assert!(address.starts_with("https://github.com/") && address.contains("mcpb"), "{address}");
        assert!(address.contains("/releases/download/"), "{address}");
        let checksum = text(package, "fileSha256");
        let is_hex = checksum.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        assert!(is_hex && checksum.len() == 64, "{checksum}");
    }
}

#[test]
fn the_plugin_is_one_directory_for_claude_code_and_codex() {
    let plugin = read("plugin/.claude-plugin/plugin.json");
    assert_eq!((&plugin["name"], &plugin["version"]), (&json!("backsight"), &json!(env!("CARGO_PKG_VERSION"))));
    let market = read("plugin/.claude-plugin/marketplace.json");
    // Without it `claude plugin validate` warns.
    assert!(market["description"].as_str().is_some_and(|text| text.len() > 20), "{market}");
    assert_eq!((&market["plugins"][0]["name"], &market["plugins"][0]["source"]), (&json!("backsight"), &json!("./")));
    assert_eq!(read("plugin/.mcp.json")["mcpServers"]["backsight"]["command"], "backsight");
    // Codex refuses a file with anything else at its root.
    let hooks = read("plugin/hooks/hooks.json");
    assert_eq!(hooks.as_object().unwrap().keys().collect::<Vec<_>>(), ["description", "hooks"]);
    for event in ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"] {
        assert_eq!(hooks["hooks"][event][0]["hooks"][0]["command"], "backsight hook claude-code", "{event}");
    }
    assert!(root().join("plugin/skills/backsight/SKILL.md").is_file());
}
