"""The stack on the simulated arm, for blows: processes are killed, stopped and started again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from chaos_judge import Sample
from launch_runner.processes import Running
from pad import Pad
from process_table import children_of, command_of, guard_of, is_guard
from stack import Client, Stack, await_ready

from reach_alpha5_driver.sim.control import ControlClient
from reach_alpha5_msgs.msg import ArbiterState

NODES = ("driver", "arbiter", "teleop")

READY_TIMEOUT = 60.0
"""Seconds for the stack to be ready for a jog again; on a quiet machine it takes two."""

DEPLOY_TIMEOUT = 120.0
GUARD_TIMEOUT = 5.0
"""Seconds."""

LOOK_PERIOD = 0.02
"""Seconds between two looks at the joints' true velocities."""

CLOSE_LOOK_PERIOD = 0.005
"""Seconds, while the stop is due."""

ARM_PRIORITY = -10
"""An arm is no process and is never late: the simulated one goes first, where that may be set."""

TRIES = 5
TRY_TIME = 2.0
"""Seconds that the arm gets to be told to move, before the pad is let go and pushed again."""


class Arena:
    """A running stack with a pad, and what was seen of the joints."""

    def __init__(self, folder: Path, **arguments: str) -> None:
        """Prepare to run in `folder`; `arguments` go to the launch file."""
        self.stack = Stack(folder, **arguments)
        self.samples: list[Sample] = []
        self._output = (folder / "restarted.log").open("w")
        self._guards: set[int] = set()
        self._fresh_ns = 0

    def __enter__(self) -> Arena:
        """Start everything, and bring the arm to the middle of its workspace."""
        with contextlib.ExitStack() as undo:
            undo.callback(self._output.close)
            undo.callback(self._end_guards)
            undo.enter_context(self.stack)
            with contextlib.suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, self.stack.pid("sim"), ARM_PRIORITY)
            self.client = Client(self.stack.domain.number, name="chaos")
            undo.callback(self.client.close)
            await_ready(self.client)
            self.sim = ControlClient(str(self.stack.control_path))
            undo.callback(self.sim.close)
            self.pad = Pad(self.client)
            undo.callback(self.pad.unplug)
            self._commands = {name: command_of(self.stack.pid(name)) for name in NODES}
            self.settle()
            self._deploy()
            self._undo = undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End everything that was started here."""
        self._undo.close()

    # -- the pad

    def ready(self) -> bool:
        """Whether a jog may begin: all are there, nothing is latched, the pad was seen at rest."""
        arbiter, arm = self.client.last("arbiter_state"), self.client.last("arm_state")
        return (
            arbiter.activity == ArbiterState.STILL
            and arbiter.driver_connected
            and not self._latched()
            and stamp_ns(arm) > self._fresh_ns
            and not arm.holds
            and not any(joint.stale for joint in arm.joints)
            and any(
                source.name == "teleop"
                and source.alive
                and source.present
                and not source.neutral_required
                for source in arbiter.sources
            )
        )

    def settle(self) -> None:
        """Let go of the pad, clear the latches, and wait until a jog may begin.

        Raises:
            TimeoutError: that did not come; says what the stack last said of itself.
        """
        self.pad.release()
        deadline = time.monotonic() + READY_TIMEOUT
        while not self.ready():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not ready for a jog again\n{self.client.summary()}")
            if self._latched():
                with contextlib.suppress(TimeoutError):  # its node may still be on its way
                    self.client.call("reset", 2.0)
            time.sleep(LOOK_PERIOD)

    def jog(self, sticks: Mapping[str, float]) -> None:
        """Hold the deadman, push the sticks, and wait until the arm is told to move.

        On a machine that stalls, the stack may stop the arm before it is seen to move, and wants
        the pad at rest then; so this tries more than once.

        Raises:
            TimeoutError: it was never told to move.
        """
        for _ in range(TRIES):
            mark = self.stack.mark()
            self.pad.set(lb=1)
            self.pad.set(**sticks)
            deadline = time.monotonic() + TRY_TIME
            while time.monotonic() < deadline:
                if self.stack.wire(mark).motion_frames():
                    return
                time.sleep(LOOK_PERIOD)
            self.settle()
        raise TimeoutError(f"no motion on the wire in {TRIES} tries\n{self.client.summary()}")

    # -- blows

    def signal(self, name: str, number: signal.Signals) -> int:
        """Send a signal to a node; return CLOCK_MONOTONIC [ns] just before."""
        pid = self.stack.pid(name)
        if name == "driver":
            self._guards.update(filter(is_guard, children_of(pid)))
        before = time.monotonic_ns()
        os.kill(pid, number)
        return before

    def stop_guard(self) -> int:
        """Stop the guard, so that the driver does not notice; return who is to be killed."""
        pid = guard_of(self.stack.pid("driver"))
        os.kill(pid, signal.SIGSTOP)
        return pid

    def restart(self, name: str) -> None:
        """Reap a node that was killed, and start it again as the launch file did."""
        running = self._running(name)
        running.popen.wait(READY_TIMEOUT)
        if running.popen.stdout is not None:
            running.reader.join(READY_TIMEOUT)
            running.popen.stdout.close()
        running.popen = subprocess.Popen(
            self._commands[name],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.stack.environment,
            start_new_session=True,  # a Ctrl-C ends it from here, in order
        )
        self._expect_news()

    def line(self, command: str) -> int:
        """Do something to the line or the arm; return CLOCK_MONOTONIC [ns] just before."""
        before = time.monotonic_ns()
        answer = self.sim.command(command)
        if answer != "ok":
            raise RuntimeError(f"the simulated arm does not obey {command!r}: {answer}")
        self._expect_news()
        return before

    # -- the truth

    def look(self) -> None:
        """Take down how fast the joints really move."""
        state = json.loads(self.sim.command("state"))
        self.samples.append(
            Sample(
                round(state["time"] * 1e9),
                {axis: joint["velocity"] for axis, joint in state["joints"].items()},
            )
        )

    def watch(
        self, seconds: float, until: Callable[[], bool] = lambda: False, closely: bool = False
    ) -> bool:
        """Look at the joints for so long, or until something; return whether that came."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.look()
            if until():
                return True
            time.sleep(CLOSE_LOOK_PERIOD if closely else LOOK_PERIOD)
        return until()

    def back(self) -> bool:
        """Whether all nodes are there again, and hear each other and the arm."""
        arbiter, arm = self.client.last("arbiter_state"), self.client.last("arm_state")
        return (
            stamp_ns(arm) > self._fresh_ns
            and stamp_ns(arbiter) > self._fresh_ns
            and arm.identified
            and not any(joint.stale for joint in arm.joints)
            and arbiter.driver_connected
            and any(source.name == "teleop" and source.alive for source in arbiter.sources)
        )

    def output(self) -> str:
        """Return what all processes printed so far."""
        self._output.flush()
        return self.stack.output() + Path(self._output.name).read_text()

    # -- inside

    def _latched(self) -> bool:
        arbiter, arm = self.client.last("arbiter_state"), self.client.last("arm_state")
        return bool(arbiter.estop_latched or arbiter.fault_latched or arm.emo or arm.fault_causes)

    def _expect_news(self) -> None:
        """Believe nothing that was said before now."""
        self._fresh_ns = self.client.node.get_clock().now().nanoseconds

    def _deploy(self) -> None:
        def moving() -> Any:
            return self.client.last("gripper_tel").gripper.moving_to.pose

        self.pad.set(lb=1, right_trigger=-1.0)  # at full speed
        self.pad.set(a=1)
        self.client.wait_for(moving, READY_TIMEOUT, "moving to the deployed pose")
        self.client.wait_for(lambda: not moving(), DEPLOY_TIMEOUT, "deployed")
        self.settle()

    def _running(self, name: str) -> Running:
        assert self.stack.runner is not None
        pid = self.stack.pid(name)
        return next(each for each in self.stack.runner.running if each.popen.pid == pid)

    def _end_guards(self) -> None:
        """See that no guard is left; each ends by itself when its driver does."""
        deadline = time.monotonic() + GUARD_TIMEOUT
        while (left := [pid for pid in self._guards if is_guard(pid)]) and (
            time.monotonic() < deadline
        ):
            time.sleep(LOOK_PERIOD)
        for pid in left:
            print(f"the guard {pid} has outlived its driver: it is killed", flush=True)
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def stopped(arena: Arena, name: str) -> Iterator[int]:
    """Stop a node, and let it go on in the end; gives CLOCK_MONOTONIC [ns] just before."""
    try:
        yield arena.signal(name, signal.SIGSTOP)
    finally:
        arena.signal(name, signal.SIGCONT)


def stamp_ns(message: Any) -> int:
    """Return the time in the header of a message [ns]."""
    stamp = message.header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
