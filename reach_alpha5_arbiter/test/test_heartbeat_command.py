"""`alpha5-heartbeat` as a process over real DDS, with programs that live, stop and die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from reach_alpha5_arbiter.heartbeat.core import Life
from reach_alpha5_arbiter.heartbeat.process import Watched
from reach_alpha5_msgs.msg import ClientHeartbeat

PATIENCE = 30.0
"""Longest wait [s] for anything: a bound against hanging, never a measure."""

NAMESPACE = f"heartbeat_test_{os.getpid()}"
PROGRAM = "import sys; from reach_alpha5_arbiter.heartbeat.cli import main; sys.exit(main())"
"""What the installed command runs."""

SLEEPER = ("sleep", "600")
PARENT = ("sh", "-c", "sleep 600; true")
"""A parent that waits for its child, as `ros2 run` does."""


def until(condition: Callable[[], Any], what: str) -> Any:
    """Return what `condition` gives once it is true."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.005)
    return value


def children(pid: int) -> list[int]:
    """Return what the first thread of a process has started."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


class Ear:
    """Hears the heartbeats of the source `app`; `look` lets in what has come."""

    def __init__(self, node: Node, executor: SingleThreadedExecutor, namespace: str) -> None:
        self.heard: list[ClientHeartbeat] = []
        self._executor = executor
        self._topic = node.create_subscription(
            ClientHeartbeat, f"/{namespace}/app/heartbeat", self.heard.append, 10
        )
        self._node = node

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not (value := condition()):
            assert time.monotonic() < deadline, f"in vain: {what}; {self.words}"
            self._executor.spin_once(timeout_sec=0.05)
        return value

    def forget(self) -> None:
        self.heard.clear()

    @property
    def words(self) -> list[bool]:
        return [message.present for message in self.heard]

    def present(self) -> None:
        self.wait(lambda: self.words and self.words[-1], "it is said to be present")

    def away(self) -> None:
        self.wait(lambda: self.words and not self.words[-1], "it is said to be away")

    def close(self) -> None:
        self._node.destroy_subscription(self._topic)


@pytest.fixture(scope="module")
def ros() -> Iterator[tuple[Node, SingleThreadedExecutor]]:
    context = Context()
    rclpy.init(context=context)
    node = Node("ear", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    yield node, executor
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.fixture
def ear(ros: tuple[Node, SingleThreadedExecutor]) -> Iterator[Ear]:
    made = Ear(*ros, NAMESPACE)
    yield made
    made.close()


@contextmanager
def heartbeat(*words: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Run the command; end whatever of it is left."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that all of it can be ended
        **options,
    )
    try:
        yield process
    finally:
        for number in (signal.SIGCONT, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                break
        process.communicate(timeout=PATIENCE)


def command_of(process: subprocess.Popen[str]) -> int:
    """Return the process that the command has started."""
    return until(lambda: children(process.pid), "the command has begun")[0]


def app(*words: str) -> list[str]:
    return ["app", "--namespace", NAMESPACE, *words]


def test_rule7_a_source_is_there_while_its_program_runs_and_gone_when_it_ends(ear):
    with heartbeat(*app("--client-id", "me", "--", *SLEEPER)) as process:
        ear.wait(lambda: len(ear.words) > 3, "heartbeats")
        assert all(ear.words)
        assert {message.client_id for message in ear.heard} == {"me"}
        os.kill(command_of(process), signal.SIGTERM)
        ear.away()
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM


def test_rule7_a_program_that_is_killed_is_a_source_that_is_gone(ear):
    with heartbeat(*app("--", *SLEEPER)) as process:
        ear.present()
        os.kill(command_of(process), signal.SIGKILL)
        ear.away()
        assert process.wait(PATIENCE) == 128 + signal.SIGKILL


@pytest.mark.parametrize("command", [SLEEPER, PARENT], ids=["itself", "its child"])
def test_a_stopped_program_is_away_until_it_is_continued(ear, command):
    with heartbeat(*app("--", *command)) as process:
        ear.present()
        pid = command_of(process)
        if command is PARENT:
            (pid,) = until(lambda: children(pid), "the child runs")
        os.kill(pid, signal.SIGSTOP)
        ear.away()
        ear.forget()
        ear.wait(lambda: len(ear.words) > 2, "it is said again")
        assert not any(ear.words)
        os.kill(pid, signal.SIGCONT)
        ear.present()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_U13_a_signal_is_passed_on_and_the_program_may_take_its_time(ear, number):
    name = number.name.removeprefix("SIG")
    script = f"trap 'touch $0; while [ -e $0 ]; do sleep 0.05; done; exit 5' {name}; echo; "
    script += "while true; do sleep 0.05; done"
    flag = Path(f"/tmp/{NAMESPACE}_{name}")
    try:
        with heartbeat(
            *app("--", "sh", "-c", script, str(flag)), stdout=subprocess.PIPE
        ) as process:
            ear.present()
            assert process.stdout is not None
            process.stdout.readline()  # the trap is set
            os.kill(process.pid, number)
            until(flag.exists, "the program was told")
            ear.forget()
            ear.present()
            flag.unlink()
            ear.away()
            assert process.wait(PATIENCE) == 5
    finally:
        flag.unlink(missing_ok=True)


@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_is_that_of_the_program(code):
    with heartbeat(*app("--", "sh", "-c", f"exit {code}")) as process:
        assert process.wait(PATIENCE) == code


def test_no_thread_takes_a_signal_that_is_to_be_passed_on(ear):
    """One that did would end the process, and nobody would say that the source is away."""
    with heartbeat(*app("--", *SLEEPER)) as process:
        ear.present()
        masks = [
            int(line.split()[1], 16)
            for status in Path(f"/proc/{process.pid}/task").glob("*/status")
            for line in status.read_text().splitlines()
            if line.startswith("SigBlk")
        ]
    assert len(masks) > 1
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        # What waits for a signal holds it back only in between.
        assert sum(not mask >> (number - 1) & 1 for mask in masks) <= 1


def test_the_program_gets_the_signals_that_are_held_back_here(tmp_path):
    held = tmp_path / "held"
    script = f"grep -E 'SigBlk|SigIgn' /proc/self/status > {held}"
    with heartbeat(*app("--", "sh", "-c", script)) as process:
        assert process.wait(PATIENCE) == 0
    masks = [int(line.split()[1], 16) for line in held.read_text().splitlines()]
    ours = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE)
    assert not any(mask >> (number - 1) & 1 for mask in masks for number in ours)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that somebody else has started."""
    with subprocess.Popen(SLEEPER) as process:
        yield process
        process.kill()


def test_a_process_that_runs_already_is_accompanied_to_its_end(ear, sleeper):
    with heartbeat(*app("--pid", str(sleeper.pid))) as process:
        ear.present()
        sleeper.kill()  # and nobody collects it yet: what is left has ended all the same
        ear.away()
        assert process.wait(PATIENCE) == 0


def test_without_a_command_a_signal_ends_the_heartbeats_and_not_the_process(ear, sleeper):
    with heartbeat(*app("--pid", str(sleeper.pid))) as process:
        ear.present()
        process.send_signal(signal.SIGTERM)
        ear.away()
        assert process.wait(PATIENCE) == 0
    assert sleeper.poll() is None


def test_U13_ctrl_c_in_a_terminal_reaches_the_program_once(tmp_path):
    told = tmp_path / "told"
    script = f"trap 'echo INT >> {told}' INT; trap 'exit 0' TERM; echo ready; "
    script += "while true; do sleep 0.05; done"
    words = [sys.executable, "-c", PROGRAM, *app("--", "sh", "-c", script)]
    terminal = f"import pty, os; pty.spawn({words!r})"
    with subprocess.Popen(
        [sys.executable, "-c", terminal], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        until(lambda: b"ready" in process.stdout.readline(), "the program runs")
        process.stdin.write(b"\x03")
        process.stdin.flush()
        until(told.exists, "the program was told")
        (command,) = children(process.pid)
        # Behind what the terminal sent: signals are passed on one after the other.
        os.kill(command, signal.SIGTERM)
        process.wait(PATIENCE)
    assert told.read_text() == "INT\n"


def test_the_namespace_may_be_given_as_to_any_node(ear):
    with heartbeat("app", "--ros-args", "-r", f"__ns:=/{NAMESPACE}", "--", *SLEEPER):
        ear.present()


def test_the_node_offers_nothing_beyond_its_topic(ros, ear):
    node, _ = ros
    with heartbeat(*app("--", *SLEEPER)):
        ear.present()
        who = "app_heartbeat", f"/{NAMESPACE}"
        assert node.get_service_names_and_types_by_node(*who) == []
        topics = {name for name, _ in node.get_publisher_names_and_types_by_node(*who)}
        assert topics == {f"/{NAMESPACE}/app/heartbeat", "/parameter_events"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["app"], 2, "either -- COMMAND, or --pid"),
        (["app", "--pid", "1", "--", "true"], 2, "either -- COMMAND, or --pid"),
        (["app", "--pid", "many"], 2, "no process id"),
        (["app", "--pid", str(2**22)], 2, "No such process"),
        (["my-app", "--", "true"], 2, "cannot be part of a topic"),
        (["app", "--", "/nowhere/to/be/found"], 127, "cannot run /nowhere/to/be/found"),
        (["app", "--", "/"], 126, "cannot run /"),
        (["app", "--ros-args", "-r", "nonsense", "--", "true"], 2, "nonsense"),
    ],
)
def test_wrong_use_is_told(words, code, said):
    with heartbeat(*words) as process:
        _, told = process.communicate(timeout=PATIENCE)
        assert (process.returncode, said in told) == (code, True), told


def test_what_has_ended_stays_gone_whoever_gets_its_number():
    with subprocess.Popen(SLEEPER) as sleeper:
        watched = Watched(sleeper.pid)
        assert watched.life() is Life.RUNNING
        sleeper.kill()
    until(lambda: watched.life() is Life.GONE, "it is gone")
