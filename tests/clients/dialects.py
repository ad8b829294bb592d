"""How the four clients spell a conversation with a model: Anthropic Messages, OpenAI Responses, OpenAI Chat, Gemini.

Each dialect reads the turns out of a request and spells a step as the events of a stream or as one whole answer. Pure:
nothing here listens or waits. Ids are drawn by the spelling functions, since every client wants its own kind.
"""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import dataclass

MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "test"}]}

_count = itertools.count(1)


@dataclass(frozen=True)
class Turn:
    by_user: bool
    text: str = ""


def of(path: str) -> type | None:
    """The dialect that is spoken at this path."""
    path = path.split("?")[0]
    if "enerateContent" in path:
        return Gemini
    return {"messages": Messages, "responses": Responses, "completions": Chat}.get(path.rsplit("/", 1)[-1])


def _id(kind: str) -> str:
    return f"{kind}_{int(time.time()):x}{next(_count):04d}"


def _text(content: str | list | None) -> str:
    """The words of a message. Codex calls those to a sub-agent encrypted, since its own models write them so."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or part.get("encrypted_content") or "" for part in content or [])


class Messages:
    """Anthropic Messages, for Claude Code."""

    ASIDE = "ok"

    @staticmethod
    def turns(body: dict) -> list[Turn]:
        """Claude Code also puts messages of the system between the others."""
        said = [message for message in body["messages"] if message["role"] in ("user", "assistant")]
        return [Turn(message["role"] == "user", _text(message["content"])) for message in said]

    @staticmethod
    def offers_tools(body: dict) -> bool:
        return bool(body.get("tools"))

    @staticmethod
    def streams(path: str, body: dict) -> bool:
        return bool(body.get("stream"))

    @staticmethod
    def whole(step, body: dict) -> dict:
        uses = [{"type": "tool_use", "id": _id("toolu"), "name": call.tool, "input": call.arguments}
                for call in step.calls]
        usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        return {
            "id": _id("msg"), "type": "message", "role": "assistant", "model": body.get("model"),
            "content": uses or [{"type": "text", "text": step.words}],
            "stop_reason": "tool_use" if uses else "end_turn", "stop_sequence": None, "usage": usage,
        }

    @classmethod
    def stream(cls, step, body: dict) -> list[dict]:
        whole = cls.whole(step, body)
        events = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
        for index, block in enumerate(whole["content"]):
            if block["type"] == "text":
                empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                empty = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [
                {"type": "content_block_start", "index": index, "content_block": empty},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        end = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}
        return [*events, end, {"type": "message_stop"}]


class Responses:
    """OpenAI Responses, for Codex."""

    ASIDE = "ok"
    CALLS = ("function_call", "custom_tool_call", "local_shell_call")

    @classmethod
    def turns(cls, body: dict) -> list[Turn]:
        turns, within_calls = [], False
        for item in body["input"]:
            kind = item.get("type", "message")
            if kind in ("message", "agent_message"):
                turns.append(Turn(item.get("role") != "assistant", _text(item["content"])))
            elif kind in cls.CALLS and not within_calls:
                turns.append(Turn(by_user=False))
            within_calls = kind in cls.CALLS
        return turns

    @staticmethod
    def offers_tools(body: dict) -> bool:
        return bool(body.get("tools"))

    @staticmethod
    def streams(path: str, body: dict) -> bool:
        return bool(body.get("stream"))

    @classmethod
    def whole(cls, step, body: dict) -> dict:
        words = {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed",
                 "content": [{"type": "output_text", "text": step.words, "annotations": []}]}
        return {
            "id": _id("resp"), "object": "response", "created_at": int(time.time()), "model": body.get("model"),
            "status": "completed", "output": [cls._item(call) for call in step.calls] or [words],
            "usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
                      "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15},
        }

    @staticmethod
    def _item(call) -> dict:
        """A tool with free text is a custom tool; one of an MCP server is in the server's namespace."""
        item = {"id": _id("fc"), "call_id": _id("call"), "name": call.tool, "status": "completed"}
        if isinstance(call.arguments, str):
            return {**item, "type": "custom_tool_call", "input": call.arguments}
        if "/" in call.tool:
            item["namespace"], item["name"] = call.tool.split("/")
        return {**item, "type": "function_call", "arguments": json.dumps(call.arguments)}

    @classmethod
    def stream(cls, step, body: dict) -> list[dict]:
        whole = cls.whole(step, body)
        events = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
        for index, item in enumerate(whole["output"]):
            begun = {**item, "status": "in_progress"}
            events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
            if item["type"] == "message":
                events.append({"type": "response.output_text.delta", "item_id": item["id"], "output_index": index,
                               "content_index": 0, "delta": step.words})
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        return events + [{"type": "response.completed", "response": whole}]


class Chat:
    """OpenAI Chat Completions, for opencode."""

    ASIDE = "ok"

    @staticmethod
    def turns(body: dict) -> list[Turn]:
        said = [message for message in body["messages"] if message["role"] in ("user", "assistant")]
        return [Turn(message["role"] == "user", _text(message.get("content"))) for message in said]

    @staticmethod
    def offers_tools(body: dict) -> bool:
        return bool(body.get("tools"))

    @staticmethod
    def streams(path: str, body: dict) -> bool:
        return bool(body.get("stream"))

    @staticmethod
    def whole(step, body: dict) -> dict:
        calls = [{"id": _id("call"), "type": "function",
                  "function": {"name": call.tool, "arguments": json.dumps(call.arguments)}} for call in step.calls]
        message = {"role": "assistant", "content": None if calls else step.words}
        choice = {"index": 0, "message": {**message, **({"tool_calls": calls} if calls else {})},
                  "finish_reason": "tool_calls" if calls else "stop"}
        return {"id": _id("chatcmpl"), "object": "chat.completion", "created": int(time.time()),
                "model": body.get("model"), "choices": [choice],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}

    @classmethod
    def stream(cls, step, body: dict) -> list[dict | str]:
        whole = cls.whole(step, body)
        choice = whole["choices"][0]
        message = choice["message"]
        numbered = [{"index": index, **call} for index, call in enumerate(message.get("tool_calls", []))]
        delta = {**message, **({"tool_calls": numbered} if numbered else {})}
        chunk = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
        end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        return [
            {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**chunk, "choices": [end], "usage": whole["usage"]},
            "[DONE]",
        ]


class Gemini:
    """Gemini's generateContent, whole and streamed."""

    # Gemini CLI asks the model in passing which model to take and who speaks next, and wants JSON.
    ASIDE = json.dumps({"reasoning": "x", "next_speaker": "user", "model_choice": "flash", "complexity_reasoning": "x",
                        "complexity_score": 1})

    @staticmethod
    def turns(body: dict) -> list[Turn]:
        return [Turn(content.get("role") != "model", _text(content["parts"])) for content in body["contents"]]

    @staticmethod
    def offers_tools(body: dict) -> bool:
        wants = body.get("generationConfig", {})
        return bool(body.get("tools")) and wants.get("responseMimeType") != "application/json"

    @staticmethod
    def streams(path: str, body: dict) -> bool:
        return ":streamGenerateContent" in path

    @staticmethod
    def whole(step, body: dict) -> dict:
        calls = [{"functionCall": {"name": call.tool, "args": call.arguments}} for call in step.calls]
        content = {"role": "model", "parts": calls or [{"text": step.words}]}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "modelVersion": "scripted",
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}

    @classmethod
    def stream(cls, step, body: dict) -> list[dict]:
        return [cls.whole(step, body)]
