//! `install`: every client's files, twice, back again, and what people have written in them meanwhile.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::picture::Picture;

const CLIENTS: [&str; 7] = ["claude-code", "cursor", "vscode", "codex", "gemini", "opencode", "zed"];

/// Installs with a fixed program, so that what is written does not depend on the machine.
fn install(fixture: &Fixture, line: &str) -> Value {
    fixture.ok(&format!("install {line} --command backsight --yes"))
}

fn paths(answer: &Value) -> Vec<PathBuf> {
    let files = answer["files"].as_array().unwrap();
    files.iter().map(|file| PathBuf::from(file["path"].as_str().unwrap())).collect()
}

#[test]
fn installing_is_shown_written_and_explained() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("install codex --command backsight --no-hooks --yes"), @r"
    Backsight is in codex, for this project
      created .codex/config.toml

    Next:
      - start `codex` in this project and trust the project when it asks: it reads `.codex/` only then
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("install codex --command backsight --no-hooks --yes"), @r"
    Backsight is already installed in codex; nothing was written
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("install codex --uninstall --print"), @r#"
    diff --git a/.codex/config.toml b/.codex/config.toml
    deleted file mode 100644
    --- a/.codex/config.toml
    +++ /dev/null
    @@ -1,3 +0,0 @@
    -[mcp_servers.backsight]
    -command = "backsight"
    -args = ["mcp", "--tools", "all"]
    ---- exit 0
    "#);
}

#[test]
fn every_client_gets_what_its_format_wants() {
    let fixture = Fixture::new();
    for client in CLIENTS {
        install(&fixture, client);
    }
    let json_in = |path: &str| -> Value { serde_json::from_str(&fixture.read(path)).unwrap() };
    let server = json!({"command": "backsight", "args": ["mcp"]});
    let typed = json!({"type": "stdio", "command": "backsight", "args": ["mcp"]});
    assert_eq!(json_in(".mcp.json")["mcpServers"]["backsight"], typed);
    assert_eq!(json_in(".vscode/mcp.json")["servers"]["backsight"], typed);
    assert_eq!(json_in(".cursor/mcp.json")["mcpServers"]["backsight"], server);
    assert_eq!(json_in(".gemini/settings.json")["mcpServers"]["backsight"], server);
    assert_eq!(json_in(".zed/settings.json")["context_servers"]["backsight"], server);
    let local = json!({"type": "local", "command": ["backsight", "mcp"], "enabled": true});
    assert_eq!(json_in("opencode.json")["mcp"]["backsight"], local);
    assert_eq!(
        fixture.read(".codex/config.toml"),
        "[mcp_servers.backsight]\ncommand = \"backsight\"\nargs = [\"mcp\", \"--tools\", \"all\"]\n"
    );
    assert!(fixture.read(".opencode/plugins/backsight.js").contains("const PROGRAM = \"backsight\""));
    let handler = json!({"type": "command", "command": "backsight hook claude-code", "timeout": 30});
    let hooks = &json_in(".claude/settings.json")["hooks"];
    assert_eq!(hooks["PreToolUse"], json!([{"matcher": "*", "hooks": [handler]}]));
    assert_eq!(hooks["Stop"], json!([{"hooks": [handler]}]));
    assert_eq!(json_in(".codex/hooks.json").as_object().unwrap().keys().collect::<Vec<_>>(), ["hooks"]);
    assert_eq!(json_in(".gemini/settings.json")["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"], 30000);
    let cursor = json_in(".cursor/hooks.json");
    assert_eq!(cursor["version"], 1);
    assert_eq!(cursor["hooks"]["preToolUse"], json!([{"command": "backsight hook cursor", "timeout": 30}]));
}

#[test]
fn twice_is_once_and_uninstalling_leaves_nothing() {
    for scope in ["project", "user"] {
        for client in CLIENTS {
            let fixture = Fixture::new();
            let (empty, all) = (fixture.picture(), Picture::of(&fixture.base()));
            let first = install(&fixture, &format!("{client} --scope {scope}"));
            assert_eq!((&first["changed"], &first["written"]), (&json!(true), &json!(true)), "{client}");
            assert!(!first["next"].as_array().unwrap().is_empty(), "{client}");
            let files = paths(&first);
            let inode = |path: &Path| fs::metadata(path).unwrap().ino();
            let before: Vec<u64> = files.iter().map(|path| inode(path)).collect();
            let again = install(&fixture, &format!("{client} --scope {scope}"));
            assert_eq!((&again["changed"], &again["written"]), (&json!(false), &json!(false)), "{client}");
            assert_eq!(files.iter().map(|path| inode(path)).collect::<Vec<_>>(), before, "{client}: not written again");
            let home = if scope == "user" { fixture.base() } else { fixture.root().to_owned() };
            assert!(files.iter().all(|path| path.starts_with(&home)), "{client}: {files:?}");
            if scope == "user" {
                assert_eq!(fixture.picture(), empty, "{client}: the project was not touched");
            }
            install(&fixture, &format!("{client} --scope {scope} --uninstall"));
            assert_eq!(Picture::of(&fixture.base()), all, "{client}: nothing is left, not even a directory");
            let gone = install(&fixture, &format!("{client} --scope {scope} --uninstall"));
            assert_eq!(gone["changed"], false, "{client}");
        }
    }
}

/// Settings as people have them: comments, odd spaces, trailing commas, hooks and servers of their own.
const SETTINGS: &str = r#"{
    // my settings
    "mcpServers": { "github": { "command": "github-mcp" } }, /* one line */
    "servers": {},
    "context_servers": {
        "other": {"command": "x"}, // trailing
    },
    "mcp": {"other": {"type": "remote", "url": "u"}},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}
        ],
        "preToolUse": [ { "command": "./audit" } ],
        "BeforeTool": [],
    },
    "theme":   "dark",
}
"#;

const TOML: &str =
    "# mine\nmodel = \"gpt\"   # the best\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[tui]\ntheme = 'dark'\n";

#[test]
fn other_settings_stay_and_come_back_byte_for_byte() {
    for client in CLIENTS {
        let fixture = Fixture::new();
        let files = paths(&fixture.ok(&format!("install {client} --print")));
        let files: Vec<&PathBuf> =
            files.iter().filter(|file| file.extension().is_some_and(|end| end != "js")).collect();
        let text = |file: &Path| if file.extension().unwrap() == "toml" { TOML } else { SETTINGS };
        for file in &files {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text(file)).unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o640)).unwrap();
        }
        let before = Picture::of(&fixture.base());
        let answer = install(&fixture, client);
        for file in &files {
            let new = fs::read_to_string(file).unwrap();
            for line in text(file).lines().filter(|line| line.contains("//") || line.contains('#')) {
                assert!(new.contains(line.trim_end()), "{client}: {line}\n{new}");
            }
            assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o640, "{client}");
        }
        for file in answer["files"].as_array().unwrap().iter().filter(|file| file["action"] == "change") {
            let copy = PathBuf::from(file["backup"].as_str().unwrap());
            assert_eq!(fs::read_to_string(&copy).unwrap(), text(Path::new(file["path"].as_str().unwrap())), "{client}");
            assert!(!copy.starts_with(fixture.root()), "{client}: {}", copy.display());
        }
        install(&fixture, &format!("{client} --uninstall"));
        for file in &files {
            assert_eq!(fs::read_to_string(file).unwrap(), text(file), "{client}");
        }
        assert_eq!(Picture::of(&fixture.base()), before, "{client}");
    }
}

#[test]
fn what_people_changed_after_installing_stays() {
    let fixture = Fixture::new();
    fixture.write(".claude/settings.json", SETTINGS);
    install(&fixture, "claude-code");
    let edited = fixture.read(".claude/settings.json").replace("\"dark\"", "\"light\"");
    fixture.write(".claude/settings.json", &edited);
    install(&fixture, "claude-code --uninstall");
    assert_eq!(fixture.read(".claude/settings.json"), SETTINGS.replace("\"dark\"", "\"light\""));
    // An environment that somebody added to our entry outlives an update.
    install(&fixture, "cursor");
    let with_env = fixture.read(".cursor/mcp.json").replace("[\"mcp\"]", "[\"mcp\"],\n      \"env\": {\"A\": \"1\"}");
    fixture.write(".cursor/mcp.json", &with_env);
    fixture.ok("install cursor --command /opt/backsight --yes");
    let new: Value = serde_json::from_str(&fixture.read(".cursor/mcp.json")).unwrap();
    assert_eq!(
        new["mcpServers"]["backsight"],
        json!({"command": "/opt/backsight", "args": ["mcp"], "env": {"A": "1"}})
    );
    let hooks: Value = serde_json::from_str(&fixture.read(".cursor/hooks.json")).unwrap();
    assert_eq!(hooks["hooks"]["stop"], json!([{"command": "/opt/backsight hook cursor", "timeout": 30}]), "replaced");
}

#[test]
fn a_broken_file_is_refused_with_its_place_and_nothing_is_written() {
    let fixture = Fixture::new();
    fixture.write(".claude/settings.json", "{\n  \"hooks\": {\n  ]\n}\n");
    let before = fixture.picture();
    assert_snapshot!(fixture.run("install claude-code --command backsight --yes"), @r"
    ---- stderr
    error: `[TMP]/ws/.claude/settings.json`: line 3, column 3: Unexpected token in object
    hint: mend the file first; nothing was written
    ---- exit 2
    ");
    assert_eq!(fixture.picture(), before, "not even the other file");
    fixture.write(".codex/config.toml", "model = \n");
    let error = fixture.ask("install codex --yes").fails("INVALID_CONFIG", 2);
    assert_eq!(error["details"]["line"], 1, "{error}");
    fixture.write(".mcp.json", "[]");
    fixture.ask("install claude-code --yes --no-hooks").fails("INVALID_CONFIG", 2);
}

#[test]
fn where_nobody_can_be_asked_nothing_is_written_without_yes() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("install zed --command backsight"), @r"
    ---- stderr
    error: 1 file would be written, and no user can be asked
    hint: add `--yes` to write, or `--print` to see the change
    ---- exit 2
    ");
    assert!(!fixture.root().join(".zed").exists());
    assert_snapshot!(fixture.run("install zed --command backsight --print"), @r#"
    diff --git a/.zed/settings.json b/.zed/settings.json
    new file mode 100644
    --- /dev/null
    +++ b/.zed/settings.json
    @@ -0,0 +1,8 @@
    +{
    +  "context_servers": {
    +    "backsight": {
    +      "command": "backsight",
    +      "args": ["mcp"]
    +    }
    +  }
    +}
    ---- exit 0
    "#);
    assert!(!fixture.root().join(".zed").exists());
}

#[test]
fn a_symlink_within_the_project_is_written_through() {
    let fixture = Fixture::new();
    let shared = fixture.root().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::write(shared.join("mcp.json"), "{}\n").unwrap();
    symlink("shared/mcp.json", fixture.root().join(".mcp.json")).unwrap();
    fs::create_dir(fixture.root().join(".claude")).unwrap();
    symlink("../shared/settings.json", fixture.root().join(".claude/settings.json")).unwrap();
    install(&fixture, "claude-code");
    for (link, file) in [(".mcp.json", "mcp.json"), (".claude/settings.json", "settings.json")] {
        assert!(fs::symlink_metadata(fixture.root().join(link)).unwrap().is_symlink(), "{link}");
        assert!(fs::read_to_string(shared.join(file)).unwrap().contains("backsight"), "{file}");
    }
    install(&fixture, "claude-code --uninstall");
    assert_eq!(fs::read_to_string(shared.join("mcp.json")).unwrap(), "{}\n");
}

#[test]
fn a_symlink_that_leads_out_of_the_project_is_named_and_not_followed_unasked() {
    type Lead = fn(&Fixture);
    let leads: [(&str, Lead); 4] = [
        ("file", |fixture| symlink("../home/mine.json", fixture.root().join(".mcp.json")).unwrap()),
        ("absolute", |fixture| symlink(fixture.home().join("mine.json"), fixture.root().join(".mcp.json")).unwrap()),
        ("chain", |fixture| {
            symlink("../home/mine.json", fixture.root().join("b")).unwrap();
            symlink("b", fixture.root().join(".mcp.json")).unwrap();
        }),
        ("directory", |fixture| symlink("../home", fixture.root().join(".claude")).unwrap()),
    ];
    for (kind, lead) in leads {
        let fixture = Fixture::new();
        fs::write(fixture.home().join("mine.json"), "{\"mine\": 1}\n").unwrap();
        lead(&fixture);
        let before = listed(&fixture.home());
        let answer = fixture.ask("install claude-code --yes");
        let error = answer.fails("INVALID_PATH", 2);
        let named = fixture.home().join(if kind == "directory" { "settings.json" } else { "mine.json" });
        assert!(error["message"].as_str().unwrap().contains(named.to_str().unwrap()), "{kind}: {error}");
        let printed = fixture.run("install claude-code --print");
        assert!(printed.contains("outside this project"), "{kind}: {printed}");
        assert_eq!(listed(&fixture.home()), before, "{kind}");

        fixture.ok("install claude-code --yes --follow-links");
        assert!(fs::read_to_string(&named).unwrap().contains("backsight"), "{kind}");
        let there: Vec<(String, String)> =
            listed(&fixture.home()).into_iter().filter(|(name, _)| name != ".local").collect();
        assert!(there.len() <= before.len() + 1, "{kind}: a copy lies beside the file: {there:?}");
        fixture.ask("install claude-code --uninstall --yes").fails("INVALID_PATH", 2);
        fixture.ok("install claude-code --uninstall --yes --follow-links");
        assert_eq!(fs::read_to_string(fixture.home().join("mine.json")).unwrap(), "{\"mine\": 1}\n", "{kind}");
    }
}

/// The files of a directory with their texts.
fn listed(directory: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let mut found: Vec<(String, String)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap_or_default()))
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_no_file_or_far_too_large_is_refused_at_once() {
    type Maker<'a> = (&'a str, &'a dyn Fn(&Path));
    let huge = |path: &Path| fs::write(path, vec![b' '; 5 << 20]).unwrap();
    let makers: [Maker<'_>; 5] = [
        ("is not a file", &|path| {
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }),
        ("is not a file", &|path| symlink("/dev/zero", path).unwrap()),
        ("is not a file", &|path| fs::create_dir(path).unwrap()),
        ("is larger than 4 MiB", &huge),
        ("", &|path| fs::write(path, "[".repeat(1 << 20)).unwrap()),
    ];
    for (words, make) in makers {
        for uninstall in ["", "--uninstall"] {
            for kept in [false, true] {
                let fixture = Fixture::new();
                fixture.write(".mcp.json", "{}\n");
                let answer = install(&fixture, "claude-code --no-hooks");
                let copy = PathBuf::from(answer["files"][0]["backup"].as_str().unwrap());
                fixture.write(".mcp.json", "{}\n");
                let path = if kept { copy } else { fixture.root().join(".mcp.json") };
                let name = path.display();
                fs::remove_file(&path).unwrap();
                make(&path);
                let began = Instant::now();
                let answer = fixture.ask(&format!("install claude-code --yes {uninstall}"));
                assert!(began.elapsed() < Duration::from_secs(5), "{words}: {name}");
                if !words.is_empty() {
                    let error = answer.fails("INVALID_CONFIG", 2);
                    assert!(error["message"].as_str().unwrap().contains(words), "{name}: {error}");
                }
                assert!(!fixture.root().join(".claude").exists() || words.is_empty(), "{name}");
            }
        }
    }
}

#[test]
fn the_program_is_named_where_it_is_found() {
    let fixture = Fixture::new();
    let program = env!("CARGO_BIN_EXE_backsight");
    fixture.ok("install cursor --yes");
    assert!(fixture.read(".cursor/mcp.json").contains(program), "not on PATH");
    let mut command = fixture.command("install cursor --yes");
    command.env("PATH", Path::new(program).parent().unwrap());
    assert!(command.output().unwrap().status.success());
    assert!(fixture.read(".cursor/mcp.json").contains("\"command\": \"backsight\""), "on PATH");
    fixture.ok("install gemini --yes --command '/opt/my tools/backsight'");
    let settings: Value = serde_json::from_str(&fixture.read(".gemini/settings.json")).unwrap();
    assert_eq!(settings["hooks"]["AfterTool"][0]["hooks"][0]["command"], "'/opt/my tools/backsight' hook gemini");
    fixture.ok("install gemini --yes --uninstall");
    assert!(!fixture.root().join(".gemini/settings.json").exists(), "recognised whatever the program");
}

#[test]
fn only_the_server_when_asked_and_the_newer_opencode_layout() {
    let fixture = Fixture::new();
    assert_eq!(paths(&install(&fixture, "claude-code --no-hooks")).len(), 1);
    fixture.write("opencode.jsonc", "{ \"mcp\": { \"servers\": {} } } // version 2\n");
    install(&fixture, "opencode");
    assert!(!fixture.root().join("opencode.json").exists());
    let text = fixture.read("opencode.jsonc");
    assert!(
        text.contains("\"servers\": {\n") && text.ends_with("// version 2\n") && !text.contains("enabled"),
        "{text}"
    );
}

/// What opencode does with the plugin, done by node: a prompt, an edit, a tool that fails, a command that exits with 3, a
/// subagent in a session of its own, a refused tool while the user writes, and one that is interrupted, which ends after
/// the end of the turn.
const OPENCODE: &str = r#"
import { writeFileSync } from "node:fs"
const said = []
const client = { app: { log: async ({ body }) => said.push(body.message) } }
const { Backsight } = await import(process.argv[2])
const hooks = await Backsight({ directory: process.cwd(), client })
await hooks["chat.message"]({ sessionID: "ses_1" }, { message: { id: "msg_1" }, parts: [] })
const edit = { tool: "edit", sessionID: "ses_1", callID: "call_1" }
await hooks["tool.execute.before"](edit, { args: { filePath: "a.txt" } })
writeFileSync("a.txt", "by the edit\n")
await hooks["tool.execute.after"]({ ...edit, args: { filePath: "a.txt" } }, { title: "", output: "", metadata: {} })
const bash = { tool: "bash", sessionID: "ses_1", callID: "call_2" }
await hooks["tool.execute.before"](bash, { args: { command: "make" } })
writeFileSync("b.txt", "by the command\n")
const part = { type: "tool", ...bash, state: { status: "error", input: { command: "make" }, error: "no" } }
await hooks.event({ event: { type: "message.part.updated", properties: { part } } })
const run = async (call, file, exit) => {
  await hooks["tool.execute.before"](call, { args: { command: file } })
  writeFileSync(file, "by the command\n")
  await hooks["tool.execute.after"]({ ...call, args: { command: file } }, { metadata: { exit } })
}
await run({ tool: "bash", sessionID: "ses_1", callID: "call_3" }, "c.txt", 3)
const child = { id: "ses_2", parentID: "ses_1" }
await hooks.event({ event: { type: "session.created", properties: { sessionID: "ses_2", info: child } } })
await hooks["chat.message"]({ sessionID: "ses_2" }, { message: { id: "msg_2" }, parts: [] })
await run({ tool: "bash", sessionID: "ses_2", callID: "call_4" }, "d.txt", 0)
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_2" } } })
const refused = { tool: "bash", sessionID: "ses_1", callID: "call_5" }
await hooks["tool.execute.before"](refused, { args: { command: "rm" } })
writeFileSync("user.txt", "by the user\n")
const error = "The user rejected permission to use this specific tool call."
const refusal = { type: "tool", ...refused, state: { status: "error", input: { command: "rm" }, error } }
await hooks.event({ event: { type: "message.part.updated", properties: { part: refusal } } })
const stopped = { tool: "bash", sessionID: "ses_1", callID: "call_6" }
await hooks["tool.execute.before"](stopped, { args: { command: "sleep" } })
writeFileSync("e.txt", "by the interrupted command\n")
await hooks.event({ event: { type: "session.error", properties: { sessionID: "ses_1" } } })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
await hooks["tool.execute.after"]({ ...stopped, args: { command: "sleep" } }, { metadata: {} })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
console.log(JSON.stringify(said))
"#;

#[test]
fn the_plugin_for_opencode_reports_what_it_should() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    fixture.ok("install opencode --yes");
    let plugin = fixture.base().join("plugin.mjs");
    fs::copy(fixture.root().join(".opencode/plugins/backsight.js"), &plugin).unwrap();
    fs::write(fixture.base().join("opencode.mjs"), OPENCODE).unwrap();
    let mut node = std::process::Command::new("node");
    node.arg(fixture.base().join("opencode.mjs")).arg(&plugin).current_dir(fixture.root());
    node.env("HOME", fixture.home());
    let output = node.output().expect("node runs: install it");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[]\n", "{}", String::from_utf8_lossy(&output.stderr));
    let rows = fixture.ok("log")["rows"].clone();
    let row = |index: usize| {
        let row = &rows[index];
        ["description", "session", "message", "part"].map(|key| row[key].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(row(0), ["bash: sleep", "ses_1", "msg_1", "call_6"]);
    assert_eq!(row(1), ["bash: d.txt", "ses_1", "msg_1", "call_4"]);
    assert_eq!(row(2), ["bash: c.txt (failed)", "ses_1", "msg_1", "call_3"]);
    assert_eq!(row(3), ["bash: make (failed)", "ses_1", "msg_1", "call_2"]);
    assert_eq!(row(4), ["edit: a.txt", "ses_1", "msg_1", "call_1"]);
    assert_eq!(fixture.ok("status")["open_calls"].as_array().map_or(0, Vec::len), 0);
    // What the agent did goes, with its subagent's work; what the user wrote stays.
    fixture.ok("session revert ses_1 --message msg_1");
    let there =
        ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "user.txt"].map(|path| fixture.root().join(path).exists());
    assert_eq!(there, [true, false, false, false, false, true]);
    assert_eq!(fixture.read("a.txt"), "a\n");
}

/// What is written names commands that the user's agents run.
#[test]
fn no_umask_lets_others_write_what_is_installed() {
    fn look(directory: &Path, found: &mut usize) {
        for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
            let metadata = fs::symlink_metadata(entry.path()).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o022, 0, "{}", entry.path().display());
            *found += 1;
            if metadata.is_dir() {
                look(&entry.path(), found);
            }
        }
    }
    let fixture = Fixture::new();
    for agent in ["claude-code", "codex", "gemini", "cursor", "opencode"] {
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(format!("umask 0; exec \"$0\" install {agent} --yes"));
        command.arg(env!("CARGO_BIN_EXE_backsight")).current_dir(fixture.root()).env("HOME", fixture.home());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut found = 0;
    look(fixture.root(), &mut found);
    assert!(found > 8, "{found}");
}

/// Directories that install made go; one that the user had, or has put something into, stays.
#[test]
fn only_directories_that_install_made_are_removed() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.root().join(".gemini")).unwrap();
    install(&fixture, "gemini");
    install(&fixture, "gemini --uninstall");
    assert!(fixture.root().join(".gemini").is_dir(), "the user's, though it is empty");

    install(&fixture, "codex");
    fixture.write(".codex/mine.md", "mine\n");
    install(&fixture, "codex --uninstall");
    assert_eq!(listed(&fixture.root().join(".codex")), [("mine.md".to_owned(), "mine\n".to_owned())]);

    // In two turns, and in whichever order the files go.
    install(&fixture, "cursor --no-hooks");
    install(&fixture, "cursor");
    install(&fixture, "cursor --uninstall");
    assert!(!fixture.root().join(".cursor").exists());

    // What the user removed by hand is gone already; the directory goes with the rest.
    install(&fixture, "vscode");
    fixture.remove(".vscode/mcp.json");
    install(&fixture, "vscode --uninstall");
    assert!(!fixture.root().join(".vscode").exists());
}

/// Every client's files in the ways editors write them: byte for byte the same afterwards, with their mode and symlinks.
#[test]
fn line_ends_marks_modes_and_symlinks_stay_as_they_were() {
    type Hand = fn(&str) -> String;
    let hands: [(&str, Hand); 4] = [
        ("crlf", |text| text.replace('\n', "\r\n")),
        ("no last newline", |text| text.trim_end().to_owned()),
        ("byte order mark", |text| format!("\u{feff}{text}")),
        ("tabs and crlf without an end", |text| text.trim_end().replace("    ", "\t").replace('\n', "\r\n")),
    ];
    for client in CLIENTS {
        for (name, hand) in hands {
            let fixture = Fixture::new();
            let files = paths(&fixture.ok(&format!("install {client} --print")));
            for (number, file) in files.iter().enumerate() {
                let text = hand(if file.extension().unwrap() == "toml" { TOML } else { SETTINGS });
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                let real = fixture.root().join(format!("real-{number}"));
                fs::write(&real, text).unwrap();
                fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
                symlink(&real, file).unwrap();
            }
            let before = Picture::of(&fixture.base());
            install(&fixture, client);
            assert_ne!(Picture::of(&fixture.base()), before, "{client}, {name}");
            // Another program than the one that was installed.
            fixture.ok(&format!("install {client} --uninstall --yes --command /elsewhere/backsight"));
            Picture::of(&fixture.base()).expect(&before, &format!("{client}, {name}"));
        }
    }
}

/// Neither Git nor a snapshot sees anything but the settings themselves.
#[test]
fn nothing_but_settings_is_put_into_the_project() {
    let fixture = Fixture::new();
    fixture.write(".mcp.json", "{}\n");
    fixture.write(".claude/settings.json", "{}\n");
    fixture.git("init -q");
    fixture.git("add -A");
    fixture.git("commit -qm start");
    install(&fixture, "claude-code");
    let changed = fixture.git("status --porcelain");
    assert_eq!(changed, " M .claude/settings.json\n M .mcp.json\n");
    let said = fixture.run("install claude-code --uninstall --yes");
    assert!(said.starts_with("Backsight is out of claude-code, for this project\n"), "{said}");
    assert_eq!(fixture.git("status --porcelain"), "");
}

#[test]
fn what_is_printed_fits_a_screen_and_says_what_to_do_about_trust() {
    for client in CLIENTS {
        let fixture = Fixture::new();
        let said = fixture.run(&format!("install {client} --command backsight --yes"));
        assert!(said.lines().count() <= 12, "{client}: {said}");
        assert!(!said.contains("mcpServers") && said.contains("\nNext:\n"), "{client}: {said}");
        let words = match client {
            "claude-code" => vec!["trust the folder", "use the server", "/mcp"],
            "codex" => vec!["trust the project", "Hooks need review", "Trust all", "codex exec", "in silence"],
            "gemini" => vec!["neither server nor hooks", "GEMINI_CLI_TRUST_WORKSPACE=true"],
            "opencode" => vec!["asks nothing", "npm"],
            "vscode" => vec!["trust it"],
            _ => vec![],
        };
        for word in words {
            assert!(said.contains(word), "{client}: {word}: {said}");
        }
        let fixture = Fixture::new();
        let said = fixture.run(&format!("install {client} --command backsight --yes --verbose"));
        assert!(said.starts_with("diff --git") && said.contains("\nNext:\n"), "{client}: {said}");
    }
    let fixture = Fixture::new();
    fixture.write(".mcp.json", "{}\n");
    assert_snapshot!(fixture.run("install claude-code --command backsight --yes"), @r"
    Backsight is in claude-code, for this project
      changed .mcp.json
      created .claude/settings.json
      as it was: ~/.local/state/backsight/installed[TMP]/ws/.mcp.json/before

    Next:
      - start `claude` in this project and say yes to what it asks: to trust the folder, and to use the server
      - until then it leaves both out; `/mcp` and `/hooks` show them
      - give it a task, then ask `backsight doctor` whether it was heard
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("install claude-code --uninstall --yes"), @r"
    Backsight is out of claude-code, for this project
      changed .mcp.json
      removed .claude/settings.json
    ---- exit 0
    ");
}

/// Exactly the tools whose hints say that they only read, as the server lists them.
#[test]
fn tools_that_only_read_are_allowed_on_request_and_taken_out_again() {
    let fixture = Fixture::new();
    let reading: Vec<String> = {
        let mut agent = crate::agents::client::Agent::new(&fixture);
        let tools = agent.tools();
        let reads = |tool: &&Value| tool["annotations"]["readOnlyHint"] == true;
        tools.iter().filter(reads).map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(reading.len() > 10 && !reading.iter().any(|name| name == "files_revert"), "{reading:?}");
    fixture.write(".claude/settings.json", "{\n  \"permissions\": {\n    \"allow\": [\"Read\"]\n  }\n}\n");
    install(&fixture, "claude-code");
    assert!(!fixture.read(".claude/settings.json").contains("mcp__backsight__"), "only on request");
    install(&fixture, "claude-code --allow-read-only");
    let settings: Value = serde_json::from_str(&fixture.read(".claude/settings.json")).unwrap();
    let allowed: Vec<String> = std::iter::once("Read".to_owned())
        .chain(reading.iter().map(|name| format!("mcp__backsight__{name}")))
        .collect();
    assert_eq!(settings["permissions"]["allow"], json!(allowed));
    // What the user added meanwhile stays.
    let more = fixture.read(".claude/settings.json").replacen("\"Read\"", "\"Read\", \"Glob\"", 1);
    fixture.write(".claude/settings.json", &more);
    install(&fixture, "claude-code --uninstall");
    let left: Value = serde_json::from_str(&fixture.read(".claude/settings.json")).unwrap();
    assert_eq!(left, json!({"permissions": {"allow": ["Read", "Glob"]}}));

    install(&fixture, "codex --allow-read-only");
    let codex = fixture.read(".codex/config.toml");
    for name in &reading {
        assert!(codex.contains(&format!("\n{name}.approval_mode = \"approve\"\n")), "{name}: {codex}");
    }
    assert_eq!(codex.matches("approval_mode").count(), reading.len());
    install(&fixture, "codex --uninstall");
    assert!(!fixture.root().join(".codex").exists());
    for client in ["gemini", "cursor", "zed", "vscode", "opencode"] {
        let next = install(&fixture, &format!("{client} --allow-read-only"))["next"].to_string();
        assert!(next.contains("always allow") || next.contains("does not ask"), "{client}: {next}");
    }
}
