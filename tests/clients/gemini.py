"""Gemini CLI: trusts the folder by a variable, refuses by a policy file."""

from __future__ import annotations

from pathlib import Path

from client import Client, write_json
from model import Step, call
from terminal import ENTER, ESCAPE

DENY = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "touch"\ndecision = "deny"\npriority = 900\n'


class Gemini(Client):
    name = "gemini"
    program = "gemini"
    dialog = "Allow execution"
    allow = (ENTER,)
    refuse = (ESCAPE,)
    interrupt = (ESCAPE,)

    def prepare(self, home: Path, project: Path, model: str, asks: bool) -> None:
        self._asks = asks
        write_json(home / ".gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        })
        policies = home / ".gemini/policies"
        policies.mkdir()
        (policies / "deny.toml").write_text(DENY)

    def environment(self, model: str, temporary: str) -> dict[str, str]:
        return {"GEMINI_API_KEY": "dummy-key", "GOOGLE_GEMINI_BASE_URL": model, "GEMINI_TELEMETRY_ENABLED": "false",
                "NO_BROWSER": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def headless(self, prompt: str, resume: bool) -> list[str]:
        return ["--approval-mode", "yolo", *(["--resume", "latest"] if resume else []), "-p", prompt]

    def interactive(self, prompt: str) -> list[str]:
        return ["--approval-mode", "auto_edit" if self._asks else "yolo", "-i", prompt]

    def edit(self, path: str, old: str, new: str) -> list[Step]:
        return [call("replace", {"file_path": path, "instruction": "change it", "old_string": old, "new_string": new})]

    def write(self, path: str, text: str) -> Step:
        return call("write_file", {"file_path": path, "content": text})

    def shell(self, command: str) -> Step:
        return call("run_shell_command", {"command": command, "description": "Run it"})

    def background(self, command: str) -> Step:
        return call("run_shell_command", {"command": command, "description": "Run it", "is_background": True})

    def delegate(self, prompt: str) -> list[Step]:
        return [call("invoke_agent", {"agent_name": "generalist", "prompt": prompt})]

    def mcp(self, tool: str, arguments: dict) -> Step:
        return call(f"mcp_backsight_{tool}", arguments)
