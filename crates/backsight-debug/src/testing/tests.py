"""Runs tests with pytest or unittest, and pauses the debugger where one fails: after the runner has decided that it does, so
never at an exception that a test expects."""

import os
import sys
import threading

# As `python -m` has it: modules are looked for where the tests are run, not beside this file.
sys.path[0] = os.getcwd()


def innermost(trace):
    """The part of a trace from the function on that has gone on since, as one with a `subTest` does: it stands in the trace where
    it was, and around the trace where it is now."""
    running, frame = set(), trace.tb_frame.f_back if trace is not None else None
    while frame is not None:
        running.add(id(frame))
        frame = frame.f_back
    found, part = trace, trace
    while part is not None:
        if id(part.tb_frame) in running:
            found = part
        part = part.tb_next
    return found


def pause(error):
    """Shows an exception with its frames, which are still there."""
    pydevd = sys.modules.get("pydevd")
    debugger = pydevd.get_global_debugger() if pydevd else None
    trace = innermost(error.__traceback__)
    if debugger is None or trace is None:
        return
    frames, part = [], trace
    while part is not None:
        frames.append(part.tb_frame)
        part = part.tb_next
    thread = threading.current_thread()
    info = debugger.set_additional_thread_info(thread)
    info.is_tracing += 1
    try:
        shown = {id(frame): frame for frame in frames}
        debugger.do_stop_on_unhandled_exception(thread, frames[-1], shown, (type(error), error, trace))
    finally:
        info.is_tracing -= 1


def with_pytest(arguments):
    import pytest

    class Pausing:
        def pytest_exception_interact(self, call, report):
            if getattr(report, "failed", False):
                pause(call.excinfo.value)

    return pytest.main(arguments, plugins=[Pausing()])


def with_unittest(arguments):
    import unittest

    class Pausing(unittest.TextTestResult):
        def addError(self, test, err):
            super().addError(test, err)
            pause(err[1])

        def addFailure(self, test, err):
            super().addFailure(test, err)
            pause(err[1])

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None:
                pause(err[1])

    runner = unittest.TextTestRunner(verbosity=2, failfast=True, resultclass=Pausing)
    return unittest.main(module=None, argv=["unittest", *arguments], testRunner=runner)


if __name__ == "__main__":
    run = {"pytest": with_pytest, "unittest": with_unittest}[sys.argv[1]]
    sys.exit(run(sys.argv[2:]))
