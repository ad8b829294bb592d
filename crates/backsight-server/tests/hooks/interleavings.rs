//! Random interleavings of agents, their subagents, a user, dialogs, interrupts, background jobs and crashes, as the
//! clients tell of them: no edit of the user is ever taken back with an agent's step, and no edit of an agent is nobody's.
//!
//! What no evidence can tell is left out: the user does not write while a command that declares nothing really runs.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

use backsight::report::{OnConflict, Row, Snapshot};
use backsight::request::{Log, RevertSession};
use backsight_core::Code;
use backsight_server::hook::{Agent, run};
use serde_json::{Value, json};

use crate::stage::{Stage, fixture};

/// So many interleavings of so many acts.
const CASES: u64 = 48;
const ACTS: usize = 14;
/// So long the user thinks about a dialog; longer than a hook may be late.
const THOUGHT: Duration = Duration::from_millis(1400);
/// Between an interrupt and what the user does next.
const PAUSE: Duration = Duration::from_millis(400);

/// A source of numbers that is the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

/// An agent at work.
struct Player {
    agent: Agent,
    session: String,
    messages: usize,
    parts: usize,
    is_alive: bool,
    /// A command that waits for the user, or was announced and has not ended.
    waiting: Option<Use>,
    /// A command that goes on.
    in_background: bool,
}

/// One use of a tool.
#[derive(Clone)]
struct Use {
    part: String,
    input: Value,
    is_asked: bool,
}

struct Play {
    stage: Stage,
    players: Vec<Player>,
    files: usize,
    /// Who wrote each file: a player, or the user.
    written: BTreeMap<String, Option<usize>>,
    acts: Vec<String>,
}

impl Play {
    fn new() -> Play {
        let stage = Stage::live(Agent::ClaudeCode);
        let player = |agent: Agent| Player {
            agent,
            session: format!("s-{agent}"),
            messages: 0,
            parts: 0,
            is_alive: true,
            waiting: None,
            in_background: false,
        };
        let players = [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::OpenCode].map(player).into();
        Play { stage, players, files: 0, written: BTreeMap::new(), acts: Vec::new() }
    }

    fn write(&mut self, by: Option<usize>) -> String {
        self.files += 1;
        let who = by.map_or("user".to_owned(), |player| self.players[player].agent.to_string());
        let path = format!("d{}/{who}-{}.txt", self.files % 3, self.files);
        self.stage.write(&path, &format!("by {who}\n"));
        self.written.insert(path.clone(), by);
        self.acts.push(format!("{who} writes {path}"));
        path
    }

    /// An agent sends a fixture with its own ids.
    fn say(&mut self, player: usize, name: &str, changes: &[(&str, Value)]) {
        let Player { agent, session, messages, .. } = &self.players[player];
        let mut payload = fixture(*agent, name, self.stage.root());
        let message = json!(format!("{session}-m{messages}"));
        let ids: &[(&str, Value)] = match agent {
            Agent::ClaudeCode => &[("/session_id", json!(session)), ("/prompt_id", message)],
            Agent::Codex => &[("/session_id", json!(session)), ("/turn_id", message)],
            Agent::OpenCode => &[("/input/sessionID", json!(session)), ("/messageID", message)],
            _ => &[("/session_id", json!(session))],
        };
        for (path, value) in ids.iter().chain(changes) {
            match payload.pointer_mut(path) {
                Some(field) => *field = value.clone(),
                None => {
                    let (parent, key) = path.rsplit_once('/').unwrap();
                    payload.pointer_mut(parent).unwrap()[key] = value.clone();
                }
            }
        }
        self.acts.push(format!("{agent} says {name}"));
        run(&self.stage.workspace, *agent, &payload, self.stage.workspace.now());
    }

    fn prompt(&mut self, player: usize) {
        self.players[player].messages += 1;
        self.players[player].waiting = None;
        let name = match self.players[player].agent {
            Agent::Gemini => "BeforeAgent",
            Agent::OpenCode => "chat.message",
            _ => "UserPromptSubmit",
        };
        self.say(player, name, &[]);
    }

    fn use_of(&mut self, player: usize, tool: &str, input: Value) -> (Use, Vec<(&'static str, Value)>) {
        self.players[player].parts += 1;
        let part = format!("part-{player}-{}", self.players[player].parts);
        let ids = match self.players[player].agent {
            Agent::OpenCode => {
                vec![("/input/callID", json!(part)), ("/input/args", input.clone()), ("/input/tool", json!(tool))]
            }
            Agent::Gemini => vec![("/tool_input", input.clone())],
            _ => vec![("/tool_use_id", json!(part)), ("/tool_input", input.clone())],
        };
        (Use { part, input, is_asked: false }, ids)
    }

    /// A tool that declares what it writes, by the agent itself or a subagent.
    fn edit(&mut self, player: usize) {
        let agent = self.players[player].agent;
        self.files += 1;
        let path = format!("d{}/{agent}-{}.txt", self.files % 3, self.files);
        let full = format!("{}/{path}", self.stage.root());
        let (tool, input) = match agent {
            Agent::Codex => {
                ("apply_patch", json!({ "command": format!("*** Begin Patch\n*** Add File: {path}\n+x\n") }))
            }
            Agent::OpenCode => ("edit", json!({ "filePath": full })),
            _ => ("Edit", json!({ "file_path": full, "content": "x" })),
        };
        let (begin, end) = match agent {
            Agent::Codex => ("PreToolUse.apply_patch", "PostToolUse.apply_patch"),
            Agent::Gemini => ("BeforeTool.write_file", "AfterTool.write_file"),
            Agent::OpenCode => ("tool.execute.before.edit", "tool.execute.after.edit"),
            _ => ("PreToolUse.Edit", "PostToolUse.Edit"),
        };
        let (_, ids) = self.use_of(player, tool, input);
        self.say(player, begin, &ids);
        self.stage.write(&path, &format!("by {agent}\n"));
        self.written.insert(path, Some(player));
        self.say(player, end, &ids);
    }

    fn begin_command(&mut self, player: usize, is_asked: bool, name: &str) {
        let agent = self.players[player].agent;
        let command = json!({ "command": format!("run {}", self.players[player].parts) });
        let (mut used, ids) = self.use_of(player, "bash", command);
        let begin = match agent {
            Agent::Gemini => "BeforeTool.run_shell_command",
            Agent::OpenCode => "tool.execute.before.bash",
            _ => name,
        };
        self.say(player, begin, &ids);
        if is_asked {
            used.is_asked = true;
            let input = used.input.clone();
            match agent {
                Agent::ClaudeCode => self.say(player, "PermissionRequest.Bash", &[("/tool_input", input)]),
                Agent::Codex => self.say(player, "PermissionRequest", &[("/tool_input", input)]),
                Agent::Gemini => {
                    self.say(player, "Notification.ToolPermission", &[("/details/command", input["command"].clone())]);
                }
                _ => {}
            }
        }
        self.players[player].waiting = Some(used);
    }

    /// The tool runs and ends; where it was asked about, it was allowed just now.
    fn end_command(&mut self, player: usize, in_background: bool) {
        let Some(used) = self.players[player].waiting.take() else { return };
        let agent = self.players[player].agent;
        let allowed = self.stage.workspace.now().0;
        self.write(Some(player));
        let ids = match agent {
            Agent::OpenCode => vec![("/input/callID", json!(used.part)), ("/input/args", used.input)],
            Agent::Gemini => vec![("/tool_input", used.input)],
            _ => vec![("/tool_use_id", json!(used.part)), ("/tool_input", used.input)],
        };
        let end = match (agent, in_background) {
            (Agent::Gemini, true) => "AfterTool.run_shell_command.background",
            (Agent::Gemini, false) => "AfterTool.run_shell_command",
            (Agent::OpenCode, _) => "tool.execute.after.bash",
            (Agent::ClaudeCode, true) => "PostToolUse.Bash.background",
            _ => "PostToolUse.Bash",
        };
        let took = (self.stage.workspace.now().0 - allowed).max(1);
        let more = match agent {
            Agent::ClaudeCode => vec![("/duration_ms", json!(took))],
            Agent::OpenCode if used.is_asked => vec![("/input/allowed", json!(allowed))],
            Agent::Gemini if in_background => {
                let said = format!("Command moved to background (PID: {}).", std::process::id());
                vec![("/tool_response/returnDisplay", json!(said))]
            }
            _ => Vec::new(),
        };
        self.players[player].in_background |= in_background && matches!(agent, Agent::ClaudeCode | Agent::Gemini);
        self.say(player, end, &[ids, more].concat());
    }

    /// The user stops the tool, and the client tells what it tells.
    fn interrupt(&mut self, player: usize) {
        let Some(used) = self.players[player].waiting.take() else { return };
        match self.players[player].agent {
            Agent::ClaudeCode => self.stage.transcribe_end(&used.part),
            Agent::Codex => self.say(player, "Interrupt", &[]),
            Agent::Gemini if used.is_asked => {}
            Agent::Gemini => self.say(player, "AfterTool.run_shell_command", &[("/tool_input", used.input)]),
            _ => {
                self.say(player, "session.idle", &[("/input/running", json!(true))]);
                let waiting = json!(used.is_asked);
                let ids =
                    [("/input/callID", json!(used.part)), ("/input/args", used.input), ("/input/waiting", waiting)];
                self.say(player, "tool.execute.after.bash", &ids);
            }
        }
        sleep(PAUSE);
    }

    fn act(&mut self, dice: &mut Dice) {
        let player = dice.roll(self.players.len());
        if !self.players[player].is_alive {
            return;
        }
        if self.players[player].messages == 0 {
            return self.prompt(player);
        }
        if self.players[player].waiting.is_some() {
            return match dice.roll(4) {
                // It was refused: nothing is told, or that the turn is over.
                0 => self.interrupt(player),
                1 => self.prompt(player),
                _ => {
                    sleep(THOUGHT);
                    self.end_command(player, false);
                }
            };
        }
        match dice.roll(10) {
            0 | 1 => drop(self.write(None)),
            2 => self.edit(player),
            3 => self.prompt(player),
            4 => {
                self.begin_command(player, false, "PreToolUse.Bash");
                self.end_command(player, false);
            }
            5 | 6 => {
                // The user works while asked.
                self.begin_command(player, true, "PreToolUse.Bash");
                self.write(None);
            }
            7 => {
                self.begin_command(player, false, "PreToolUse.Bash");
                self.write(Some(player));
                self.interrupt(player);
            }
            8 => {
                let begin = if self.players[player].agent == Agent::ClaudeCode {
                    "PreToolUse.Bash.background"
                } else {
                    "PreToolUse.Bash"
                };
                self.begin_command(player, false, begin);
                self.end_command(player, true);
                if self.players[player].in_background {
                    self.write(Some(player));
                }
            }
            _ => {
                // It dies at work.
                self.begin_command(player, false, "PreToolUse.Bash");
                self.write(Some(player));
                self.players[player].is_alive = false;
            }
        }
    }

    fn finish(&mut self) {
        for player in 0..self.players.len() {
            if self.players[player].is_alive && self.players[player].messages > 0 {
                self.prompt(player);
            }
        }
    }

    fn rows(&self) -> Vec<Snapshot> {
        let page = self.stage.workspace.log(&Log::default()).unwrap();
        page.rows
            .into_iter()
            .filter_map(|row| match row {
                Row::Snapshot(snapshot) => Some(*snapshot),
                Row::Event(_) => None,
            })
            .collect()
    }

    /// Every edit of an agent is in a row of its session, in one that names it, or is waited for by an open call of it.
    fn check_owners(&self) {
        let rows = self.rows();
        let calls = self.stage.workspace.open_calls().unwrap();
        for (path, by) in &self.written {
            let Some(player) = by else { continue };
            let session = &self.players[*player].session;
            let is_in = |row: &&Snapshot| {
                let changed = self.stage.workspace.changes_of(row.id.as_str()).unwrap();
                changed.iter().any(|change| change.path.to_string() == *path)
            };
            let is_named = |row: &Snapshot| {
                row.origin.session.as_ref() == Some(session)
                    || row.may_hold.iter().any(|other| other.of.contains(session.as_str()))
            };
            let is_recorded = rows.iter().filter(is_in).any(is_named);
            let is_open = calls.iter().any(|call| call.origin.session.as_ref() == Some(session));
            assert!(is_recorded || is_open, "{path} is nobody's\n{}", self.told());
        }
    }

    /// Taking an agent back leaves what the user wrote, by itself or by asking.
    fn check_reverts(&self) {
        for player in self.players.iter().filter(|player| player.messages > 0) {
            let session = player.session.clone();
            let message = match player.agent {
                Agent::Gemini => format!("{session}:1"),
                _ => format!("{session}-m1"),
            };
            let request = RevertSession { session, message, ..Default::default() };
            match self.stage.workspace.revert_session(&request) {
                Ok(_) => {}
                Err(error) if error.code() == Code::Conflict => {
                    let skip = RevertSession { on_conflict: OnConflict::Skip, ..request };
                    self.stage.workspace.revert_session(&skip).unwrap();
                }
                // It did nothing.
                Err(error) if matches!(error.code(), Code::SessionNotFound | Code::MessageNotFound) => {}
                Err(error) => panic!("{error}\n{}", self.told()),
            }
            for path in self.written.iter().filter(|(_, by)| by.is_none()).map(|(path, _)| path) {
                let file = std::path::Path::new(self.stage.root()).join(path);
                assert!(file.exists(), "{path} went with {}\n{}", player.agent, self.told());
            }
        }
    }

    fn told(&self) -> String {
        format!("{}\n{}", self.acts.join("\n"), self.stage.rows())
    }
}

fn play(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut play = Play::new();
    for _ in 0..ACTS {
        play.act(&mut dice);
    }
    play.finish();
    play.check_owners();
    play.check_reverts();
}

#[test]
fn no_edit_of_a_user_goes_with_an_agents_and_no_edit_of_an_agent_is_nobodys() {
    // The clients wait most of the time.
    let threads: Vec<_> = (1..=CASES).map(|seed| (seed, std::thread::spawn(move || play(seed)))).collect();
    let failed: Vec<u64> = threads.into_iter().filter_map(|(seed, thread)| thread.join().err().map(|_| seed)).collect();
    assert!(failed.is_empty(), "seeds {failed:?}");
}
