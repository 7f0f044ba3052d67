"""Runs tests on mutants: each in a process of its own, split off one that has everything loaded.

The tests run in a copy of the sources that is made once, so that neither an edit meanwhile nor a
fault that was put in ever meets the other. A mutant is a file in the copy, so processes that the
tests start get it as well. Only tests that execute the changed lines are run, the quickest first,
until one fails: `survey` has watched which those are. Test data that are made at random are made
from the same seed each time, and what a mutant leaves running is ended.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import math
import os
import resource
import select
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import Phase, settings
from mutate_operators import Mutant
from mutate_targets import Target
from workspace import ROOT, WorkspaceError

SOURCES = (
    "reach_alpha5_*/reach_alpha5_*",
    "reach_alpha5_*/test",
    "docs/arbiter.md",
    "conftest.py",
    "pyproject.toml",
)
"""What the copy has."""

PATIENCE = 5.0
SLOWER = 5.0
"""A mutant may take so much processor time [s], and so many times as long as its tests did."""

ASLEEP = 10.0
"""How many times as long it may take by the clock: for one that waits for what never comes, on a
machine that has other things to do."""

MOST_MEMORY = 4 << 30
"""Bytes of address space; a fault may make a loop endless that fills a list."""

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",  # the order of sets
    "OPENBLAS_NUM_THREADS": "1",  # a process with threads must not be split
    "OMP_NUM_THREADS": "1",
}
"""What must be set before Python starts, so that each run is the same."""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

NO_TEST = 5
"""Exit status of pytest."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the tests said of one mutant."""

    killed: bool
    by: str
    """The test that failed; "time-out"; or what else ended the run."""
    tests: int
    """How many there were to run."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Survey:
    """What was seen of the tests on the sources as they are."""

    seconds: dict[str, float]
    """How long each test took, by its id."""
    hits: dict[str, dict[int, list[str]]]
    """By module and line: the tests that execute it. No tests: all are concerned, since it is
    executed when a module is loaded or for several tests at once."""
    libraries: list[str]
    """What the tests load that is not ours."""

    def is_loaded(self, mutant: Mutant) -> bool:
        """Tell whether a line of it is executed outside of any one test."""
        return not all(self._of(mutant))

    def _of(self, mutant: Mutant) -> list[list[str]]:
        hits = self.hits.get(mutant.key.module, {})
        return [hits[line] for line in mutant.lines if line in hits]

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that may tell a mutant from the original.

        First come those that execute many lines of its module for the time they take.
        """
        concerned = set(self.seconds) if self.is_loaded(mutant) else set().union(*self._of(mutant))
        lines = Counter(chain.from_iterable(self.hits.get(mutant.key.module, {}).values()))
        return sorted(
            concerned, key=lambda test: (self.seconds[test] / (lines[test] or 1e-6), test)
        )


def file_of(test: str) -> str:
    """Return the file of a test by its id."""
    return test.partition("::")[0]


def copy_sources(to: Path) -> None:
    """Copy what the tests need."""
    for pattern in SOURCES:
        for path in ROOT.glob(pattern):
            target = to / path.relative_to(ROOT)
            if path.is_dir():
                shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)


def use_copy(copy: Path, target: Target) -> None:
    """Make this process, and all that it starts, take our packages from the copy."""
    folders = [str(path) for path in sorted(copy.glob("reach_alpha5_*"))]
    sys.path[:0] = folders
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *filter(None, [before])])
    os.environ.update(target.environment)
    os.chdir(copy)
    adopt()


def adopt() -> None:
    """Let what a process that was split off has started and left become a child of this one."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


# -- in the process that runs tests


class SameEachTime:
    """Random test data from a fixed seed, none from earlier runs, none made smaller."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Take the settings of the tests and change what differs."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", settings.default, derandomize=True, database=None, phases=phases
        )
        settings.load_profile("mutants")


class Chosen:
    """Runs some tests in some order, and remembers the first that fails."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._rank = {test: rank for rank, test in enumerate(tests)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Sort and choose."""
        found = [item for item in items if item.nodeid in self._rank]
        items[:] = sorted(found, key=lambda item: self._rank[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hear of a part of a test."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Hear of a file that does not load."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


class Watcher:
    """Notes which tests execute which lines of some files, and how long they take."""

    def __init__(self, files: Sequence[str]) -> None:
        self.hits: dict[str, dict[int, set[str]]] = {file: {} for file in files}
        self.seconds: dict[str, float] = {}
        self._test = ""

    def start(self) -> None:
        """Watch this thread and all that are started."""
        threading.settrace(self._called)
        sys.settrace(self._called)

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._line if frame.f_code.co_filename in self.hits else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        self.hits[frame.f_code.co_filename].setdefault(frame.f_lineno, set()).add(self._test)
        return self._line

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test, with what is set up for it alone."""
        started = time.perf_counter()
        self._test = item.nodeid
        yield
        self._test = ""
        self.seconds[item.nodeid] = time.perf_counter() - started

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """What is set up for several tests is not the first one's."""
        test = self._test
        if fixturedef.scope != "function":
            self._test = ""
        yield
        self._test = test


def run_pytest(tests: Sequence[str], *plugins: object) -> int:
    """Run pytest, up to the first test that fails; return its exit status."""
    # A module that is written anew each time must not leave compiled files.
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=native", *tests]
    return int(pytest.main(arguments, plugins=[SameEachTime(), *plugins]))


def _survey(copy: Path, target: Target, answer: Path) -> int:
    sys.dont_write_bytecode = False  # so that what has no fault in it is compiled once
    files = {str(copy / module): module for module in target.modules}
    watcher = Watcher(list(files))
    watcher.start()
    left_out = [f"--deselect={test}" for test in target.left_out]
    status = run_pytest([*target.tests, *left_out], watcher)
    sys.settrace(None)
    loaded = [
        name
        for name, module in list(sys.modules.items())
        if (file := getattr(module, "__file__", None)) and not file.startswith(str(copy))
    ]
    hits = {
        files[file]: {line: [] if "" in tests else sorted(tests) for line, tests in lines.items()}
        for file, lines in watcher.hits.items()
    }
    answer.write_text(json.dumps([watcher.seconds, hits, loaded]))
    return status


def limit_resources(limit: float) -> None:
    """Let this process use no more than `limit` seconds of processor time."""
    seconds = math.ceil(limit)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _judge(tests: Sequence[str], answer: Path, limit: float) -> int:
    sys.dont_write_bytecode = True
    limit_resources(limit)
    chosen = Chosen(tests)
    status = run_pytest(list(dict.fromkeys(map(file_of, tests))), chosen)
    answer.write_text(chosen.failed)
    return status


# -- in the process that splits them off


def split(run: Callable[[], int], log: Path, limit: float) -> int | None:
    """Run something in a process split off; return its exit status, None for one that was late."""
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setpgid(0, 0)
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            status = run()
            sys.stdout.flush()
        finally:
            os._exit(status)
    ended = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(ended, select.POLLIN)
    late = not poller.poll(1e3 * limit)
    os.close(ended)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    _end_children()
    return None if late else os.waitstatus_to_exitcode(status)


kept: set[int] = set()
"""Children of this process that go on from one mutant to the next."""


def _end_children() -> None:
    """End what was left running."""
    for _ in range(100):  # the children of one that is ended become ours
        found = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        children = set(map(int, found)) - kept
        if not children:
            return
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def survey(copy: Path, target: Target) -> Survey:
    """Run the tests of a target on the sources as they are, and watch them.

    Raises:
        WorkspaceError: they fail.
    """
    use_copy(copy, target)
    answer, log = copy / "answer", copy / "log"
    status = split(lambda: _survey(copy, target, answer), log, 3600.0)
    if status != 0:
        raise WorkspaceError(f"the tests fail without any fault put in:\n{log.read_text()}")
    seconds, hits, libraries = json.loads(answer.read_text())
    lines = {
        module: {int(line): tests for line, tests in found.items()}
        for module, found in hits.items()
    }
    return Survey(seconds, lines, libraries)


class Bench:
    """A process with all libraries loaded, that tries one mutant after the other."""

    def __init__(self, copy: Path, target: Target, survey: Survey) -> None:
        """Use `copy`, which nobody else uses."""
        self._copy, self._answer, self._log = copy, copy / "answer", copy / "log"
        self._survey = survey
        use_copy(copy, target)
        for name in survey.libraries:
            with suppress(Exception):
                importlib.import_module(name)

    def judge(self, mutant: Mutant) -> Outcome:
        """Run the tests on a mutant."""
        tests = self._survey.tests_for(mutant)
        if not tests:
            return Outcome(False, "no test gets there", 0, 0.0)
        limit = PATIENCE + SLOWER * sum(self._survey.seconds[test] for test in tests)
        started = time.monotonic()
        self._answer.write_text("")
        status = self._status(mutant, tests, limit)
        seconds = time.monotonic() - started
        if status in (0, NO_TEST):
            return Outcome(False, "nothing", len(tests), seconds)
        late = status in (None, -signal.SIGXCPU)
        by = "time-out" if late else self._answer.read_text() or f"exit status {status}"
        return Outcome(True, by, len(tests), seconds)

    def _status(self, mutant: Mutant, tests: Sequence[str], limit: float) -> int | None:
        """Return the exit status of the tests with the mutant in place; None = they were late."""
        file = self._copy / mutant.key.module
        original = file.read_bytes()
        times = file.stat()
        try:
            file.write_text(mutant.source)
            # A file of tests loads only what it needs: most faults are found by the first one.
            for path in dict.fromkeys(map(file_of, tests)):
                some = [test for test in tests if file_of(test) == path]
                run = partial(_judge, some, self._answer, limit)
                status = split(run, self._log, ASLEEP * limit)
                if status not in (0, NO_TEST):
                    return status
            return 0
        finally:
            file.write_bytes(original)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
