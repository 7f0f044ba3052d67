"""The whole stack for end-to-end tests: real processes, real DDS, real bytes."""

import sys
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from rclpy.duration import Duration
from rclpy.time import Time

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from pad import Pad
from stack import Client, Stack, await_ready

PRESSES = 5
"""A machine may stall that often."""

SETTLE_TIME = 40.0
"""Seconds for clearing the latches and coming to rest."""

REST_TIME = 0.5
"""Seconds for which the pad is let go at least: its rests are learned from frames like that."""

PRESS_TIME = 8.0
"""Seconds that a press gets to come to something."""


def made_after(state, moment):
    """Whether a state that was heard tells of a time after `moment`."""
    return Time.from_msg(state.header.stamp) > moment


class Rig:
    """A running stack, a client beside it and a pad in its hands."""

    def __init__(self, stack, client):
        self.stack = stack
        self.client = client
        self.pad = Pad(client)

    def arbiter(self):
        """Return the arbiter's last state."""
        return self.client.last("arbiter_state")

    def arm(self):
        """Return the driver's last state."""
        return self.client.last("arm_state")

    def wait(self, condition, what, seconds=20.0):
        """Wait until the condition holds."""
        return self.client.wait_for(condition, seconds, what)

    def armed(self, source="teleop"):
        """Whether the next input of a source, by default the pad, may move the arm."""
        return any(
            s.name == source and s.alive and s.present and not s.neutral_required
            for s in self.arbiter().sources
        )

    def settle(self):
        """Let go of the pad, clear the latches, and wait until a jog may begin.

        What was pressed just before may latch only now: it is cleared whenever it is seen.
        """
        self.pad.release()
        clock = self.client.node.get_clock()
        since = clock.now()
        rested = since + Duration(seconds=REST_TIME)

        def settled():
            nonlocal since
            arbiter, arm = self.arbiter(), self.arm()
            if not (made_after(arbiter, since) and made_after(arm, since)):
                return False
            if arbiter.estop_latched or arbiter.fault_latched or arm.emo:
                if self.client.call("reset").success:
                    since = clock.now()
                return False
            return (
                clock.now() > rested and arbiter.activity == 0 and not arm.holds and self.armed()
            )

        self.wait(settled, "still, no latch, the motors on, pad armed", SETTLE_TIME)

    def refusals(self):
        """Return which refusals of arbiter and driver were the last, however they are stamped."""
        lasts = self.arbiter().last_refusal, self.arm().last_refusal
        return [(last.code, last.source, last.count) for last in lasts]

    def jog(self, **sticks):
        """Hold the deadman, then move the sticks; return when the arm is told to move."""
        return self.jog_until(lambda mark: self.stack.wire(mark).motion_frames(), **sticks)

    def jog_until(self, condition, what="motion on the wire", **sticks):
        """Hold the deadman, then move the sticks, until the condition holds; return a mark.

        The mark is from before; the condition is given it. When the machine stalls the arm stops
        and wants a neutral, or the pad was not known to be armed yet where it is read: then all is
        let go and moved again, a few times.
        """
        for _ in range(PRESSES):
            mark, before = self.stack.mark(), self.refusals()
            self.pad.set(lb=1)
            self.pad.set(**(sticks or {"left_y": 1.0}))
            with suppress(TimeoutError):
                self.wait(
                    lambda m=mark, r=before: condition(m) or self.refusals() != r, what, PRESS_TIME
                )
            if condition(mark):
                return mark
            self.settle()
        raise AssertionError(f"pressed again and again: {what}\n{self.client.summary()}")

    def demanded(self, mark):
        """Return the velocity that each joint was last told since `mark`, by device id."""
        return self.stack.wire(mark).demanded()


@pytest.fixture(scope="module")
def shared_rig(tmp_path_factory):
    """One stack for all tests of a module that leave it whole."""
    with running_rig(tmp_path_factory.mktemp("stack")) as rig:
        yield rig


@pytest.fixture
def own_rig(tmp_path):
    """A stack for one test that breaks it."""
    with running_rig(tmp_path) as rig:
        rig.settle()
        yield rig


@pytest.fixture
def rig_with(tmp_path):
    """A function that gives a stack with arguments of the launch file, as a context."""
    return partial(running_rig, tmp_path)


@pytest.fixture(scope="module")
def module_rig_with(tmp_path_factory):
    """As `rig_with`, for all tests of a module."""
    return partial(running_rig, tmp_path_factory.mktemp("stack"))


@pytest.fixture(scope="module")
def rig_of():
    """A function that makes a rig of something that runs and of a client beside it."""
    return Rig


@contextmanager
def running_rig(folder, *, until_ready=True, **arguments):
    """Bring a stack up, and down again; print what it said when something goes wrong.

    `arguments` go to the launch file.
    """
    with Stack(folder, **arguments) as stack:
        client = Client(stack.domain.number)
        try:
            if until_ready:
                await_ready(client)
            rig = Rig(stack, client)
            try:
                yield rig
            finally:
                rig.pad.unplug()
        except BaseException:
            print(stack.output())
            raise
        finally:
            client.close()
