"""Claude Code: settings and first-start answers in the home directory, tools named in CamelCase."""

from __future__ import annotations

from pathlib import Path

from client import Client, write_json
from model import Step, call
from terminal import ENTER, ESCAPE


class ClaudeCode(Client):
    name = "claude-code"
    program = "claude"
    dialog = "Do you want to proceed?"
    allow = (ENTER,)
    refuse = (ESCAPE,)
    interrupt = (ESCAPE,)

    def prepare(self, home: Path, project: Path, model: str, asks: bool) -> None:
        allowed = ["Read", "Edit", "Write", "Agent", "mcp__backsight", *([] if asks else ["Bash"])]
        write_json(home / ".claude/settings.json", {
            "permissions": {"allow": allowed, "deny": ["Bash(touch:*)"], "defaultMode": "default"},
            "enableAllProjectMcpServers": True,
        })
        # What the first start would ask: theme, the key, and whether this directory is trusted.
        write_json(home / ".claude.json", {
            "hasCompletedOnboarding": True, "theme": "dark", "numStartups": 5,
            "customApiKeyResponses": {"approved": ["dummy-key"], "rejected": []},
            "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        })

    def environment(self, model: str, temporary: str) -> dict[str, str]:
        quiet = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER",
                 "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
        # Its own choice for temporary files is a directory that all its runs share.
        return {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "dummy-key", "CLAUDE_CODE_TMPDIR": temporary,
                **dict.fromkeys(quiet, "1")}

    def headless(self, prompt: str, resume: bool) -> list[str]:
        return ["-p", prompt, *(["--continue"] if resume else [])]

    def interactive(self, prompt: str) -> list[str]:
        return [prompt]

    def edit(self, path: str, old: str, new: str) -> list[Step]:
        """It edits only what it has read."""
        return [call("Read", {"file_path": path}),
                call("Edit", {"file_path": path, "old_string": old, "new_string": new})]

    def write(self, path: str, text: str) -> Step:
        return call("Write", {"file_path": path, "content": text})

    def shell(self, command: str) -> Step:
        return call("Bash", {"command": command, "description": "Run it"})

    def background(self, command: str) -> Step:
        return call("Bash", {"command": command, "description": "Run it", "run_in_background": True})

    def delegate(self, prompt: str) -> list[Step]:
        return [call("Agent", {"description": "Part of it", "prompt": prompt, "subagent_type": "general-purpose"})]

    def mcp(self, tool: str, arguments: dict) -> Step:
        return call(f"mcp__backsight__{tool}", arguments)
