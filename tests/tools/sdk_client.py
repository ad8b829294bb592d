"""A day of an agent with the official Python SDK: python sdk_client.py MODE WORKSPACE

MODE is `auto` (the stateless revision) or `legacy` (the older handshake). BACKSIGHT is the binary to run over stdio;
with BACKSIGHT_URL and BACKSIGHT_TOKEN a running server is spoken to over HTTP instead.
"""

import asyncio
import os
import sys
import warnings
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

warnings.simplefilter("ignore")

MODE, ROOT = sys.argv[1], Path(sys.argv[2])
TIMELINE = "backsight://timeline"


def server():
    url = os.environ.get("BACKSIGHT_URL")
    if url is None:
        return StdioServerParameters(command=os.environ["BACKSIGHT"], args=["mcp", "--tools", "all"], cwd=str(ROOT))
    headers = {"Authorization": f"Bearer {os.environ['BACKSIGHT_TOKEN']}"}
    return streamable_http_client(url, http_client=create_mcp_http_client(headers=headers))


async def main():
    heard = asyncio.Event()
    progress = []

    async def on_message(message):
        note = getattr(message, "root", message)
        if isinstance(note, types.ResourceUpdatedNotification) and str(note.params.uri) == TIMELINE:
            heard.set()

    async def on_progress(done, total, message):
        progress.append((done, total, message))

    info = types.Implementation(name="python", version="1")
    async with Client(server(), mode=MODE, client_info=info, message_handler=on_message) as client:
        expected = "2026-07-28" if MODE == "auto" else "2025-11-25"
        assert client.protocol_version == expected, client.protocol_version
        assert client.server_info.name == "backsight" and "files_track" in client.instructions

        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools[:2] == ["workspace_status", "files_track"], tools
        # Over HTTP the list is by need.
        assert len(tools) == 16 if "BACKSIGHT_URL" in os.environ else len(tools) > 40, tools

        async def ok(tool, **arguments):
            result = await client.call_tool(tool, arguments, progress_callback=on_progress)
            assert not result.is_error, result
            assert result.content[0].text.startswith(result.structured_content["summary"])
            return result.structured_content

        (ROOT / "a.txt").write_text("one\ntwo\nthree\n")
        first = await ok("files_track", description="start")
        assert (first["created"], first["snapshot"], first.get("client")) == (True, "#1", None), first
        call = (await ok("files_track", phase="begin"))["call"]
        (ROOT / "a.txt").write_text("one\n2\nthree\n")
        (ROOT / "ü €.txt").write_text("new\n")
        step = await ok("files_track", phase="finish", call=call, description="edit")
        assert step["changes"] == ["M a.txt", "A ü €.txt"], step
        assert "-two\n+2\n" in (await ok("files_diff", step="#2"))["diff"]
        assert (await ok("files_read", path="a.txt", ref="#1"))["content"] == "one\ntwo\nthree\n"
        sound = await ok("workspace_status", verify=True)
        assert "problems" not in sound and sound["summary"].endswith("the record is sound"), sound
        plan = await ok("files_revert", refs=["#2"])
        assert (ROOT / "a.txt").read_text() == "one\n2\nthree\n"
        assert plan["confirm"]["tool"] == "files_revert"
        await ok("files_revert", **plan["confirm"]["arguments"])
        assert (ROOT / "a.txt").read_text() == "one\ntwo\nthree\n" and not (ROOT / "ü €.txt").exists()
        await ok("files_undo")
        assert len((await ok("history_query"))["rows"]) == 4
        await ok("milestone_create", title="from Python")
        assert len((await ok("milestone_list"))["milestones"]) == 1

        missing = await client.call_tool("files_read", {"path": "nope"})
        assert missing.is_error and missing.structured_content["error"]["code"] == "PATH_NOT_FOUND", missing
        wrong = await client.call_tool("files_read", {"paht": "a.txt"})
        assert wrong.is_error and wrong.structured_content["error"]["code"] == "USAGE", wrong
        try:
            await client.call_tool("nonesuch", {})
            raise AssertionError("there is no such tool")
        except MCPError as error:
            assert error.error.code == -32602, error

        listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert listed[0] == TIMELINE and "backsight://snapshot/2" in listed, listed
        assert (await client.list_resource_templates()).resource_templates[0].uri_template == "backsight://snapshot/{ref}"
        timeline = await client.read_resource(TIMELINE)
        assert timeline.contents[0].text.startswith("# Timeline"), timeline
        diff = await client.read_resource("backsight://snapshot/2")
        assert "+2" in diff.contents[0].text and diff.contents[0].mime_type == "text/markdown"
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert prompts == ["review_my_changes", "undo_last_change"], prompts
        prompt = await client.get_prompt("review_my_changes", {"since": "#1"})
        assert '"#1"' in prompt.messages[0].content.text

        async def record():
            # The subscription exists once it is acknowledged; a moment later the server watches.
            await asyncio.sleep(0.5)
            (ROOT / "b.txt").write_text("b\n")
            await ok("files_track")

        if MODE == "auto":
            async with client.listen(resource_subscriptions=[TIMELINE]) as subscription:
                recording = asyncio.create_task(record())
                async for event in subscription:
                    assert TIMELINE in str(event), event
                    break
                await recording
        else:
            await client.subscribe_resource(TIMELINE)
            await record()
            await asyncio.wait_for(heard.wait(), 20)
            await client.unsubscribe_resource(TIMELINE)
    print("all is well")


asyncio.run(asyncio.wait_for(main(), 80))
