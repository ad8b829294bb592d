"""The situations: what the model does, what the user does meanwhile, and whose each file must be afterwards.

A situation is a function over a stage. It says what must hold with `check` and its kin, and leaves how a client is
driven to the client's own file. Those that need the client in a terminal open it; all others run it headless.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from model import Step, together
from stage import Stage, files_below
from terminal import Terminal

OLD, NEW = "    return amount * 1.19", "    return round(amount * 1.19, 2)"
# How long a dialog, an interrupted tool or the next answer may take on a busy machine.
SOON, LATE = 30, 90


@dataclass(frozen=True)
class Situation:
    name: str
    play: Callable[[Stage], None]
    # The user is asked before a shell command.
    asks: bool


ALL: list[Situation] = []


def situation(name: str, asks: bool = False) -> Callable:
    def register(play: Callable[[Stage], None]) -> Callable:
        ALL.append(Situation(name, play, asks))
        return play

    return register


@situation("edit")
def edit(stage: Stage) -> None:
    stage.run(stage.client.edit(stage.path("app.py"), OLD, NEW))
    message = stage.is_agents("app.py")
    stage.is_over()
    stage.goes_back(message, gone=[], stays=["app.py"])
    stage.check(OLD in stage.text("app.py"), "the edit is still there after its message was taken back")


@situation("write")
def write(stage: Stage) -> None:
    stage.run([stage.client.write(stage.path("src/new.txt"), "new\n")])
    _is_agents_and_goes(stage, "src/new.txt")


@situation("shell edit")
def shell_edit(stage: Stage) -> None:
    stage.run([stage.client.shell("echo made > src/made.txt; sed -i s/1.19/1.07/ app.py")])
    stage.is_agents("app.py")
    _is_agents_and_goes(stage, "src/made.txt")


@situation("failing tool")
def failing_tool(stage: Stage) -> None:
    edit = stage.client.edit(stage.path("app.py"), "this is not in it", NEW)
    stage.run([stage.client.shell("echo half > half.txt; exit 3"), *edit])
    rows = [row for row in stage.backsight.rows() if "half.txt" in row["files"]]
    stage.check(any("(failed)" in row["description"] for row in rows), "the step is not marked as failed")
    _is_agents_and_goes(stage, "half.txt")


@situation("refused tool")
def refused_tool(stage: Stage) -> None:
    """Refused by the user's rules, without a question."""
    stage.run([stage.client.shell("touch refused.txt"), stage.client.write(stage.path("after.txt"), "after\n")])
    stage.check(not stage.has("refused.txt"), "the client did not refuse: the rule is wrong")
    _is_agents_and_goes(stage, "after.txt")


@situation("parallel tools")
def parallel_tools(stage: Stage) -> None:
    shell, write = stage.client.shell, stage.client.write
    both = [shell("sleep 0.6; echo 1 > one.txt"), shell("echo 2 > two.txt; sleep 0.8")]
    stage.run([together(*both, write(stage.path("three.txt"), "3\n"))])
    _is_agents_and_goes(stage, "one.txt", "two.txt", "three.txt")


@situation("sub-agent")
def sub_agent(stage: Stage) -> None:
    shell, write = stage.client.shell, stage.client.write
    inner = stage.prompt([shell("echo sub > sub.txt"), write(stage.path("sub2.txt"), "sub\n")])
    stage.run([*stage.client.delegate(inner), write(stage.path("own.txt"), "own\n")])
    message = stage.is_agents("own.txt")
    for path in ("sub.txt", "sub2.txt"):
        writers = stage.backsight.writers(path) if stage.has(path) else set()
        known = all(writer.session in stage.heard.sessions() for writer in writers)
        stage.check(bool(writers) and known, f"`{path}` is not the sub-agent's")
    stage.is_over()
    stage.goes_back(message, gone=["own.txt", "sub.txt", "sub2.txt"], stays=["app.py"])


@situation("background job")
def background_job(stage: Stage) -> None:
    """The file comes while the model thinks, after the client said that the tool has ended."""
    write = stage.client.write(stage.path("done.txt"), "done\n")
    thinks = Step(write.calls, after=4)
    stage.run([stage.client.background("sleep 2; echo late > late.txt"), thinks])
    stage.wait("the background job's file", lambda: stage.has("late.txt"), SOON)
    _is_agents_and_goes(stage, "late.txt", "done.txt")


@situation("typed in a terminal")
def typed(stage: Stage) -> None:
    with stage.open([stage.client.shell("echo made > made.txt")]) as terminal:
        terminal.wait("the end of the first prompt", stage.played, LATE)
        terminal.settle()
        stage.user_writes("user.txt")
        stage.say(terminal, [stage.client.write(stage.path("more.txt"), "more\n")])
    first, second = stage.is_agents("made.txt"), stage.is_agents("more.txt")
    stage.check(first != second, "two prompts are one message")
    stage.is_users("user.txt")
    stage.is_over()
    stage.goes_back(first, gone=["made.txt", "more.txt"], stays=["user.txt"])


@situation("interrupt")
def interrupt(stage: Stage) -> None:
    with _interrupted(stage) as terminal:
        stage.user_writes("user.txt")
        stage.say(terminal, [stage.client.write(stage.path("after.txt"), "after\n")])
    first, second = stage.is_agents("half.txt"), stage.is_agents("after.txt")
    stage.check(first != second, "two prompts are one message")
    stage.is_users("user.txt")
    stage.is_over()
    stage.goes_back(first, gone=["half.txt", "after.txt"], stays=["user.txt"])


@situation("interrupt and quit")
def interrupt_and_quit(stage: Stage) -> None:
    """No prompt follows that could tell how the tool ended."""
    with _interrupted(stage):
        pass
    _is_agents_and_goes(stage, "half.txt")


@situation("dialog allowed", asks=True)
def dialog_allowed(stage: Stage) -> None:
    """The user edits a file while being asked, and then says yes."""
    with stage.open([stage.client.shell("cp app.py copy.txt")]) as terminal:
        _is_asked(stage, terminal)
        stage.user_writes("user.txt")
        terminal.settle(1.5)
        _press(terminal, stage.client.allow)
        terminal.wait("the end of the prompt", stage.played, SOON)
        terminal.settle()
    stage.is_users("user.txt")
    _is_agents_and_goes(stage, "copy.txt", stays=["user.txt"])


@situation("dialog refused", asks=True)
def dialog_refused(stage: Stage) -> None:
    """The user edits a file while being asked, and then says no."""
    with stage.open([stage.client.shell("cp app.py copy.txt")]) as terminal:
        _is_asked(stage, terminal)
        stage.user_writes("user.txt")
        terminal.settle(1.5)
        _press(terminal, stage.client.refuse)
        terminal.settle(1.5, at_most=6)
        stage.say(terminal, [stage.client.write(stage.path("after.txt"), "after\n")])
    stage.check(not stage.has("copy.txt"), "the client did not refuse")
    stage.is_users("user.txt")
    _is_agents_and_goes(stage, "after.txt", stays=["user.txt"])


@situation("resume")
def resume(stage: Stage) -> None:
    stage.run([stage.client.write(stage.path("first.txt"), "1\n")])
    stage.user_writes("user.txt")
    stage.run([stage.client.write(stage.path("second.txt"), "2\n")], resume=True)
    first, second = stage.is_agents("first.txt"), stage.is_agents("second.txt")
    stage.check(first != second, "two prompts are one message")
    stage.check(len(stage.backsight.sessions()) == 1, "the resumed session is another one")
    stage.is_users("user.txt")
    stage.is_over()
    stage.goes_back(second, gone=["second.txt"], stays=["first.txt", "user.txt"])


@situation("revert of a message")
def revert_of_a_message(stage: Stage) -> None:
    """And back again: every file is as it was before, and then as after."""
    stage.user_writes("user.txt")
    before = stage.work()
    edit = stage.client.edit(stage.path("app.py"), OLD, NEW)
    stage.run([*edit, stage.client.write(stage.path("src/new.txt"), "new\n"), stage.client.shell("mv user.txt src/")])
    after = stage.work()
    message = stage.is_agents("app.py", "src/new.txt")
    stage.goes_back(message, gone=["src/new.txt", "src/user.txt"], stays=["user.txt"])
    stage.check(stage.work() == before, "the files are not as before the message")
    answer = stage.backsight.ask("session", "unrevert", stage.session())
    stage.check(answer["ok"] and stage.work() == after, "the files are not as after the message again")


@situation("MCP revert")
def mcp_revert(stage: Stage) -> None:
    """The model takes its own step back over MCP: the revert belongs to the message that asked."""
    _takes_back_over_mcp(stage, resume=False)


@situation("resumed MCP revert")
def resumed_mcp_revert(stage: Stage) -> None:
    """The same in a resumed session: Claude Code's MCP server is told another session than its hooks."""
    stage.run([stage.client.write(stage.path("first.txt"), "first\n")])
    _takes_back_over_mcp(stage, resume=True)
    stage.is_agents("first.txt")


def _takes_back_over_mcp(stage: Stage, resume: bool) -> None:
    write, undo = stage.client.write, stage.client.mcp("files_revert", {"refs": ["@"], "dry_run": False})
    stage.run([write(stage.path("kept.txt"), "kept\n"), write(stage.path("bad.txt"), "bad\n"), undo], resume)
    message = stage.is_agents("kept.txt")
    stage.check(not stage.has("bad.txt"), "the step was not taken back")
    whose = [(row.get("session"), row.get("message")) for row in stage.backsight.rows() if row["kind"] == "revert"]
    asked = [(stage.session(), message)]
    stage.check(whose == asked, f"the revert is of {whose}, not of the session and message that asked")
    stage.is_over()


@situation("told")
def told(stage: Stage) -> None:
    """The model is told with the next prompt what another session changed in its file: once, and nothing when nothing is new."""
    with stage.backsight.serving():
        stage.run(stage.client.edit(stage.path("app.py"), OLD, NEW))
        stage.check(not any(stage.told()), "the model is told something when nothing is new")
        stage.another_writes("app.py", stage.text("app.py").replace("1.19", "1.07"))
        stage.run([stage.client.write(stage.path("more.txt"), "more\n")], resume=True)
        first = stage.told()
        stage.check(bool(first) and first[0] == 1, f"the request of the next prompt has the line {first[:1]} times")
        sent = stage.sent()
        stage.check("session another changed app.py" in sent, "the line does not say which session changed which file")
        stage.run([stage.client.write(stage.path("last.txt"), "last\n")], resume=True)
        # What was said before stays in the conversation.
        stage.check(all(count <= 1 for count in stage.told()), f"it is told again: {stage.told()}")


@situation("uninstall")
def uninstall(stage: Stage) -> None:
    """Everything install wrote is gone, and the client says nothing any more."""
    stage.run([stage.client.write(stage.path("one.txt"), "1\n")])
    stage.uninstall()
    left = files_below(stage.project)
    heard = len(stage.heard.events())
    for path in sorted(left.keys() - stage.before_install.keys() - {"one.txt"}):
        stage.check(path in stage.client.leaves, f"`{path}` is left")
    for path, text in stage.before_install.items():
        stage.check(left.get(path) == text, f"`{path}` is not as before")
    stage.run([stage.client.write(stage.path("two.txt"), "2\n")])
    stage.check(len(stage.heard.events()) == heard, "hooks are still called")
    stage.check(not any(writer.session for writer in stage.backsight.writers("two.txt")), "`two.txt` was recorded")


def _is_agents_and_goes(stage: Stage, *paths: str, stays: list[str] | None = None) -> None:
    message = stage.is_agents(*paths)
    stage.is_over()
    stage.goes_back(message, gone=list(paths), stays=stays or ["app.py"])


def _interrupted(stage: Stage) -> Terminal:
    """The client in a terminal, after the user interrupted a shell command that had written `half.txt`."""
    terminal = stage.open([stage.client.shell("echo half > half.txt; sleep 60")])
    try:
        terminal.wait("the shell's file", lambda: stage.has("half.txt"), LATE)
        terminal.settle(0.5, at_most=2)
        _press(terminal, stage.client.interrupt)
        terminal.settle(1.5, at_most=6)
    except BaseException:
        terminal.end()
        raise
    return terminal


def _is_asked(stage: Stage, terminal: Terminal) -> None:
    terminal.wait("the permission dialog", lambda: terminal.shows(stage.client.dialog), LATE)
    terminal.settle(0.7, at_most=4)
    if stage.has("copy.txt"):
        raise AssertionError("the command ran before it was allowed")


def _press(terminal: Terminal, keys: tuple[str, ...]) -> None:
    for key in keys:
        terminal.press(key)
        terminal.settle(0.4, at_most=1)
