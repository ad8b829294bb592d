//! What each agent's own tools do to files, by name and input. A tool nobody listed may write anything: that costs a
//! look at the tree and never a lost change.

use std::path::PathBuf;

use backsight_core::is_unsafe_to_show;
use serde_json::Value;

use super::agent::Agent;
use super::event::{Effect, Ours};

/// The longest excerpt of a command in a description.
const LONGEST_TITLE: usize = 100;
/// What tools call the file they write.
const PATH_KEYS: &[&str] = &["file_path", "filePath", "notebook_path", "target_file", "target_notebook", "path"];
/// What tools call a patch.
const PATCH_KEYS: &[&str] = &["command", "patchText", "patch", "input"];

/// What a use of a tool can do to files.
pub(super) fn effect(agent: Agent, tool: &str, input: &Value) -> Effect {
    let is_one_of = |list: &str| list.split_ascii_whitespace().any(|name| name == tool);
    if let Some(name) = our_name(tool) {
        return Effect::Ours(Ours { name: name.to_owned(), print: fingerprint(name, input) });
    }
    let hands_over = agent == Agent::Codex && tool.starts_with("collaboration");
    if hands_over || is_one_of(nothing(agent)) {
        return Effect::Nothing;
    }
    if is_one_of(patches(agent)) {
        return writes(patch_text(input).map(patched_files).unwrap_or_default());
    }
    if is_one_of(edits(agent)) {
        let named = PATH_KEYS.iter().find_map(|key| input.get(*key)?.as_str());
        return writes(named.map(PathBuf::from).into_iter().collect());
    }
    Effect::Anything
}

/// What a person reads in the history of a tool that says no paths.
pub(super) fn title(tool: &str, input: &Value) -> String {
    command(input).map_or_else(|| tool.to_owned(), |command| format!("{tool}: {}", excerpt(&command)))
}

/// The command a shell is to run.
pub(super) fn command(input: &Value) -> Option<String> {
    input.get("command").and_then(command_line)
}

/// A tool that names no file may write any.
fn writes(paths: Vec<PathBuf>) -> Effect {
    if paths.is_empty() { Effect::Anything } else { Effect::Writes(paths) }
}

/// What we call a tool that is our own: these record by themselves. Clients put the server's name, and some a plugin's,
/// before the tool's.
fn our_name(tool: &str) -> Option<&str> {
    let of_server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    let is_named = |server: &str| server.split('_').any(|word| word == "backsight");
    match of_server {
        Some((server, name)) => is_named(server).then_some(name),
        None => tool.strip_prefix("mcp_backsight_").or_else(|| tool.strip_prefix("backsight_")),
    }
}

/// Tells the uses of a tool apart, the same in every process (FNV-1a).
pub(crate) fn fingerprint(tool: &str, input: &Value) -> u64 {
    let mut input = input.clone();
    input.sort_all_objects();
    let input = input.to_string();
    let bytes = tool.bytes().chain([0]).chain(input.bytes()).chain([0]);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Tools that write no files, and those that hand their work to other tools, which report for themselves.
fn nothing(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => {
            "Read Grep Glob LS NotebookRead WebFetch WebSearch TodoRead TodoWrite Task Agent TaskCreate \
             TaskGet TaskList TaskUpdate TaskOutput TaskStop BashOutput KillBash KillShell AskUserQuestion \
             EnterPlanMode ExitPlanMode ListMcpResources ListMcpResourcesTool ReadMcpResource \
             ReadMcpResourceTool ReadMcpResourceDir Skill SlashCommand ToolSearch SendMessage \
             PushNotification ReadNotifications ScheduleWakeup CronCreate CronDelete CronList"
        }
        Agent::Codex => {
            "view_image update_plan web_search request_user_input list_mcp_resources \
             list_mcp_resource_templates read_mcp_resource spawn_agent wait_agent send_input close_agent \
             resume_agent tool_search"
        }
        Agent::Gemini => {
            "read_file read_many_files list_directory glob grep_search search_file_content google_web_search \
             web_fetch write_todos ask_user activate_skill get_internal_docs enter_plan_mode update_topic \
             complete_task invoke_agent read_mcp_resource list_mcp_resources tracker_create_task \
             tracker_update_task tracker_get_task tracker_list_tasks tracker_add_dependency tracker_visualize \
             codebase_investigator cli_help"
        }
        Agent::Cursor => {
            "Read Grep Glob LS SemanticSearch WebSearch WebFetch ReadLints TodoWrite Task AskQuestion \
             SwitchMode FetchRules ListMcpResources FetchMcpResource"
        }
        Agent::OpenCode => {
            "read grep glob list webfetch websearch codesearch todowrite todoread task question skill lsp \
             plan_enter plan_exit"
        }
    }
}

/// Tools that write the one file their input names.
fn edits(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "Edit MultiEdit Write NotebookEdit",
        Agent::Codex => "Edit Write",
        Agent::Gemini => "write_file replace",
        Agent::Cursor => "Write Edit StrReplace EditNotebook Delete TabWrite",
        Agent::OpenCode => "edit write multiedit",
    }
}

/// Tools whose input is a patch of several files.
fn patches(agent: Agent) -> &'static str {
    match agent {
        Agent::Codex | Agent::Cursor | Agent::OpenCode => "apply_patch ApplyPatch patch",
        Agent::ClaudeCode | Agent::Gemini => "",
    }
}

fn patch_text(input: &Value) -> Option<&str> {
    input.as_str().or_else(|| PATCH_KEYS.iter().find_map(|key| input.get(*key)?.as_str()))
}

/// The files a patch in the `*** Begin Patch` form names; a file that moves is named twice.
fn patched_files(patch: &str) -> Vec<PathBuf> {
    const MARKS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let named = |line: &str| MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim).map(PathBuf::from);
    patch.lines().filter_map(named).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Commands come as text, or as a list of words.
fn command_line(command: &Value) -> Option<String> {
    let words = |list: &Vec<Value>| list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    command.as_str().map(str::to_owned).or_else(|| command.as_array().map(words)).filter(|text| !text.is_empty())
}

/// The first line, without control characters, cut at a length.
fn excerpt(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let is_whole = line.len() == text.trim().len();
    let clean: String = line.chars().filter(|character| !is_unsafe_to_show(*character)).take(LONGEST_TITLE).collect();
    if is_whole && line.chars().count() <= LONGEST_TITLE { clean } else { format!("{} ...", clean.trim_end()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(agent: Agent, tool: &str, input: Value) -> Vec<String> {
        match effect(agent, tool, &input) {
            Effect::Writes(paths) => paths.iter().map(|path| path.display().to_string()).collect(),
            other => panic!("{tool}: {other:?}"),
        }
    }

    #[test]
    fn an_edit_writes_the_file_it_names() {
        assert_eq!(written(Agent::ClaudeCode, "Edit", json!({"file_path": "/p/a.rs"})), ["/p/a.rs"]);
        assert_eq!(written(Agent::ClaudeCode, "NotebookEdit", json!({"notebook_path": "n.ipynb"})), ["n.ipynb"]);
        assert_eq!(written(Agent::OpenCode, "write", json!({"filePath": "b"})), ["b"]);
    }

    #[test]
    fn a_patch_writes_every_file_it_names() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** Add File: c d.rs\n+z\n\
                     *** Delete File: e.rs\n*** End Patch";
        assert_eq!(written(Agent::Codex, "apply_patch", json!({"command": patch})), ["a.rs", "b.rs", "c d.rs", "e.rs"]);
    }

    #[test]
    fn what_names_no_file_may_write_any() {
        for (tool, input) in [("Edit", json!({})), ("Bash", json!({"command": "ls"})), ("mcp__x__write", json!(null))] {
            assert_eq!(effect(Agent::ClaudeCode, tool, &input), Effect::Anything, "{tool}");
        }
        assert_eq!(effect(Agent::Codex, "apply_patch", &json!({"command": "no patch"})), Effect::Anything);
    }

    #[test]
    fn our_own_tools_record_for_themselves() {
        let names =
            ["mcp__backsight__files_undo", "mcp__plugin_backsight_backsight__files_undo", "mcp_backsight_files_undo"];
        let name_of = |agent, tool: &str| match effect(agent, tool, &json!({})) {
            Effect::Ours(ours) => ours.name,
            other => panic!("{tool}: {other:?}"),
        };
        for name in names {
            assert_eq!(name_of(Agent::ClaudeCode, name), "files_undo", "{name}");
        }
        assert_eq!(name_of(Agent::OpenCode, "backsight_files_undo"), "files_undo");
        assert_eq!(effect(Agent::ClaudeCode, "mcp__files__backsight_export", &json!({})), Effect::Anything);
    }

    #[test]
    fn titles_fit_one_line() {
        let say = |input: Value| title("Bash", &input);
        assert_eq!(say(json!({"command": "npm test"})), "Bash: npm test");
        assert_eq!(say(json!({"command": "cat <<EOF\nx\nEOF"})), "Bash: cat <<EOF ...");
        assert_eq!(say(json!({"command": ["bash", "-lc", "ls\u{7}"]})), "Bash: bash -lc ls");
        assert_eq!(say(json!({})), "Bash");
        assert_eq!(say(json!({"command": "x".repeat(200)})).len(), "Bash: ".len() + LONGEST_TITLE + " ...".len());
    }
}
