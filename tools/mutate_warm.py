"""Tries mutants in a process that has loaded the tests and what they test already.

Most faults are in the body of a function that runs in tests alone. For those nothing needs to be
loaded anew: in a process split off, the function gets the code of the mutant. What is executed
when a module is loaded, a table or a default, is loaded with the fault in it, as `Bench` does.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from mutate_operators import Mutant, form_of
from mutate_runner import (
    ASLEEP,
    PR_SET_PDEATHSIG,
    Bench,
    Survey,
    adopt,
    kept,
    limit_resources,
    run_pytest,
    split,
)
from mutate_targets import Target
from workspace import WorkspaceError

UNFIT = 71
"""Exit status: the fault cannot be put into what is loaded."""

READY = "ready"
"""What a server says when it has loaded everything."""

LOAD_TIME = 600.0
"""Seconds that it may take for that."""


def swaps(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield each piece of code in `before` that differs, and what it is in `after`."""
    if form_of(before) != form_of(after):
        yield before, after
    inner, other = (
        [each for each in code.co_consts if isinstance(each, CodeType)] for code in (before, after)
    )
    if len(inner) == len(other):
        for pair in zip(inner, other, strict=True):
            yield from swaps(*pair)


class Server:
    """A pytest that has collected, and runs tests with one mutant after the other."""

    def __init__(self, requests: Connection, folder: Path, modules: Sequence[str]) -> None:
        """Serve `requests` on `modules`; `folder` has the sources, and gets the answers."""
        self._requests = requests
        self._modules = modules
        self._folder = folder
        self._is_split = False
        self._failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Serve until nobody asks any more."""
        if self._is_split:
            return None  # the tests are run as always
        items = {item.nodeid: item for item in session.items}
        functions = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                functions[each.__code__].append(each)
        gc.freeze()
        loaded = {
            module: compile((self._folder / module).read_text(), module, "exec")
            for module in self._modules
        }

        def run(module: str, source: str, tests: Sequence[str], limit: float) -> int:
            limit_resources(limit)
            found = [
                (function, code)
                for was, code in swaps(loaded[module], compile(source, module, "exec"))
                for function in functions.get(was, ())
            ]
            if not found or any(len(f.__closure__ or ()) != len(c.co_freevars) for f, c in found):
                return UNFIT
            for function, code in found:
                function.__code__ = code
            self._is_split = True
            session.items = [items[test] for test in tests]
            with suppress(session.Failed):
                session.config.hook.pytest_runtestloop(session=session)
            (self._folder / "answer").write_text(self._failed)
            return int(bool(self._failed))

        self._requests.send(READY)
        while True:
            try:
                *request, limit = self._requests.recv()
            except EOFError:
                return True
            log = self._folder / "log"
            status = split(partial(run, *request, limit), log, ASLEEP * limit)
            self._requests.send(status)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hear of a part of a test."""
        if report.failed and not self._failed:
            self._failed = report.nodeid


class WarmBench(Bench):
    """Has a server for the faults that need no loading."""

    def __init__(self, copy: Path, target: Target, survey: Survey) -> None:
        """Use `copy`, which nobody else uses."""
        super().__init__(copy, target, survey)
        self._server, theirs = Pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self._server.close()
                _serve(theirs, copy, target)
            finally:
                os._exit(1)
        theirs.close()
        kept.add(pid)
        # What it loads comes from the copy: no fault may be put in there before it has.
        if not self._server.poll(LOAD_TIME) or self._server.recv() != READY:
            raise WorkspaceError(f"the tests of {', '.join(target.tests)} do not load")

    def _status(self, mutant: Mutant, tests: Sequence[str], limit: float) -> int | None:
        if not self._survey.is_loaded(mutant):
            self._server.send((mutant.key.module, mutant.source, tests, limit))
            status: int | None = self._server.recv()
            if status != UNFIT:
                return status
        return super()._status(mutant, tests, limit)


def _serve(requests: Connection, copy: Path, target: Target) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    adopt()
    out = os.open(os.devnull, os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.dont_write_bytecode = True
    left_out = [f"--deselect={test}" for test in target.left_out]
    run_pytest(["-s", *target.tests, *left_out], Server(requests, copy, target.modules))
