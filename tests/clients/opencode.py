"""opencode: a provider of our own in its configuration, permissions by pattern, sub-agents in sessions of their own."""

from __future__ import annotations

from pathlib import Path

from client import Client, write_json
from model import Step, call
from terminal import ENTER, ESCAPE


class OpenCode(Client):
    name = "opencode"
    program = "opencode"
    impossible = {"told": "the plugin for it has no words for the model, only for the user"}
    leaves = {".opencode/", ".opencode/.gitignore", ".opencode/package.json"}
    dialog = "Permission required"
    allow = (ENTER,)
    refuse = (ESCAPE,)
    interrupt = (ESCAPE, ESCAPE)

    def prepare(self, home: Path, project: Path, model: str, asks: bool) -> None:
        options = {"baseURL": f"{model}/v1", "apiKey": "dummy-key"}
        limit = {"context": 200000, "output": 8000}
        models = {"scripted": {"name": "Scripted", "tool_call": True, "limit": limit}}
        write_json(home / ".config/opencode/opencode.json", {
            "$schema": "https://opencode.ai/config.json",
            "model": "scripted/scripted", "small_model": "scripted/scripted", "autoupdate": False, "share": "disabled",
            "permission": {"edit": "allow", "bash": {"*": "ask" if asks else "allow", "touch *": "deny"}},
            "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": options,
                                      "models": models}},
        })

    def environment(self, model: str, temporary: str) -> dict[str, str]:
        without = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        # It looks for its plugins' dependencies in npm's registry before it starts: a registry that says no at once.
        return {**{f"OPENCODE_DISABLE_{name}": "1" for name in without}, "npm_config_registry": f"{model}/npm/"}

    def headless(self, prompt: str, resume: bool) -> list[str]:
        return ["run", *(["--continue"] if resume else []), prompt]

    def interactive(self, prompt: str) -> list[str]:
        return ["--prompt", prompt]

    def edit(self, path: str, old: str, new: str) -> list[Step]:
        """It edits only what it has read."""
        return [call("read", {"filePath": path}),
                call("edit", {"filePath": path, "oldString": old, "newString": new})]

    def write(self, path: str, text: str) -> Step:
        return call("write", {"filePath": path, "content": text})

    def shell(self, command: str) -> Step:
        return call("bash", {"command": command, "description": "Run it"})

    def background(self, command: str) -> Step:
        """It has no way to leave a command running but the shell's own."""
        return self.shell(f"({command}) >/dev/null 2>&1 &")

    def delegate(self, prompt: str) -> list[Step]:
        return [call("task", {"description": "Part of it", "prompt": prompt, "subagent_type": "general"})]

    def mcp(self, tool: str, arguments: dict) -> Step:
        return call(f"backsight_{tool}", arguments)
