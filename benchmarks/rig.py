"""The running stack with a pad in the benchmark's own hand."""

from __future__ import annotations

import contextlib
import math
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from pad import ALL_RELEASED, RATE, Controls
from sensor_msgs.msg import Joy
from stack import Client, Stack, await_ready

from reach_alpha5_driver.sim.ids import ALL_DEVICES, BASE_DEVICE, Packet
from reach_alpha5_driver.sim.log import TO_ARM, WireLog
from reach_alpha5_msgs.msg import ArbiterState, ArmState, GripperTel

TIMEOUT = 30.0
DEPLOY_TIMEOUT = 120.0
"""Seconds, for what takes a fraction of it."""

TRIES = 10
TRY_TIME = 3.0
"""Seconds that an arm gets to be told to move, before the pad is let go and pushed again."""

REST_TIME = 0.5
"""Seconds for which the pad is let go at least: its rests are learned from frames like that."""

JOG = {"left_x": 0.5, "left_y": 0.5}
"""Sticks that turn base, shoulder and elbow of a deployed arm at the same time: the tip goes
forward and left, or back and right."""


NEW_VELOCITY = 0.01
"""Share of a velocity by which another one must leave what the last two lead to, to be new."""

BESIDE_SPACING = (0.015, 0.025)
"""Seconds between two messages beside the pad's, drawn anew each time: about as many as its own,
at no fixed phase."""


class Hand:
    """A pad that publishes from the thread which also takes the time, so that neither waits."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._controls = Controls()
        self._next_frame = 0.0

    def message(self) -> Joy:
        """Return the frame of the pad as it is held now."""
        return self._controls.frame(self._client)

    def set(self, **controls: float) -> int:
        """Move controls, publish at once; return CLOCK_MONOTONIC [ns] just before `publish()`."""
        self._controls.move(**controls)
        message = self.message()
        begin = time.monotonic_ns()
        self._client.joy.publish(message)
        self._next_frame = time.monotonic() + 1.0 / RATE
        return begin

    def release(self) -> int:
        """Let go of everything."""
        return self.set(**ALL_RELEASED)

    def hold(self, seconds: float, beside: Callable[[], object] | None = None) -> None:
        """Hold the controls where they are; the pad repeats its frame at its rate.

        Args:
            seconds: how long.
            beside: called between the frames, as often.
        """
        now = time.monotonic()
        end = now + seconds
        next_beside = math.inf if beside is None else now + random.uniform(*BESIDE_SPACING)
        while now < end:
            if now >= self._next_frame:
                self.set()
            if beside is not None and now >= next_beside:
                beside()
                next_beside = now + random.uniform(*BESIDE_SPACING)
            wake = min(self._next_frame, next_beside, end)
            time.sleep(max(0.0, wake - time.monotonic()))
            now = time.monotonic()

    def hold_until(
        self, condition: Callable[[], Any], what: str, seconds: float = TIMEOUT
    ) -> None:
        """Hold the controls until the condition holds.

        Raises:
            TimeoutError: it never did; says `what`, and what the stack last said of itself.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {seconds:g} s: {what}\n{self._client.summary()}")
            self.hold(1.0 / RATE)


class Rig:
    """Simulated arm, driver, arbiter and teleop, a participant beside them, and a pad.

    Arguments go to the launch file.
    """

    def __init__(self, folder: Path, **arguments: str) -> None:
        self.folder = folder
        self.stack = Stack(folder, **arguments)

    def __enter__(self) -> Rig:
        """Start everything and bring the arm to the middle of its workspace."""
        self.stack.__enter__()
        try:
            self.client = Client(self.stack.domain.number, name="benchmark")
            try:
                await_ready(self.client)
                self.hand = Hand(self.client)
                self.settle()
                self._deploy()
            except BaseException:
                self.client.close()
                raise
        except BaseException as error:
            if isinstance(error, Exception):
                print(self.stack.output())
            self.stack.__exit__()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End everything."""
        self.client.close()
        self.stack.__exit__()

    def still(self) -> bool:
        """Return whether nothing is latched, nothing moves, and the pad's next input counts."""
        arbiter: ArbiterState = self.client.last("arbiter_state")
        return (
            arbiter.activity == ArbiterState.STILL
            and not self._latched()
            and any(
                source.name == "teleop"
                and source.alive
                and source.present
                and not source.neutral_required
                for source in arbiter.sources
            )
        )

    def settle(self) -> None:
        """Let go of the pad, clear the latches, and wait until a jog may begin."""
        self.hand.release()
        self.hand.hold(REST_TIME)
        if self._latched():
            self.hand.hold_until(lambda: self.client.call("reset").success, "reset")
        self.hand.hold_until(self.still, "still, no latch, pad armed")

    def jog(self, sign: int = 1) -> None:
        """Hold the deadman, push the sticks, and wait until the arm is told to move.

        On a machine that stalls, the stack may stop the arm before it is seen to move, and wants
        the pad at rest then; so this tries more than once.

        Raises:
            TimeoutError: it was never told to move.
        """
        for _ in range(TRIES):
            told_to_move = partial(self._motion_since, self.stack.mark())
            self.hand.set(lb=1)
            self.push(sign)
            with contextlib.suppress(TimeoutError):
                self.hand.hold_until(told_to_move, "motion on the wire", TRY_TIME)
                return
            self.settle()
        raise TimeoutError(f"no motion on the wire in {TRIES} tries\n{self.client.summary()}")

    def push(self, sign: int) -> int:
        """Push the sticks one way (1), the other (-1), or let them go (0); as `Hand.set`."""
        return self.hand.set(**{name: sign * value for name, value in JOG.items()})

    def _motion_since(self, mark: int) -> bool:
        return bool(self.stack.wire(mark).motion_frames())

    def _latched(self) -> bool:
        arbiter: ArbiterState = self.client.last("arbiter_state")
        arm: ArmState = self.client.last("arm_state")
        return bool(arbiter.estop_latched or arbiter.fault_latched or arm.emo)

    def _deploy(self) -> None:
        self.hand.set(lb=1, right_trigger=-1.0)  # at full speed
        self.hand.set(a=1)
        self.hand.hold_until(self._moving_to, "moving to the deployed pose")
        self.hand.hold_until(lambda: not self._moving_to(), "deployed", DEPLOY_TIMEOUT)
        self.settle()

    def _moving_to(self) -> int:
        telemetry: GripperTel | None = self.client.last("gripper_tel")
        return 0 if telemetry is None else int(telemetry.gripper.moving_to.pose)


Told = tuple[int, float]
"""CLOCK_MONOTONIC [ns] of the first bit, and velocity [rad/s]."""


AT_REST: Told = (0, 0.0)
"""Before all that was told."""


class BaseDemands:
    """The velocities that the base joint was told, in order: where a change of will gets to it.

    Nothing moved it before.

    `JOG` always turns the base one way or the other, and the base's frame is the first of a set.
    """

    def __init__(self, wire: WireLog) -> None:
        self._told: list[Told] = [
            (frame.start_ns, frame.floats()[0])
            for frame in wire.frames(TO_ARM)
            if frame.packet_id == Packet.VELOCITY and frame.device_id in (BASE_DEVICE, ALL_DEVICES)
        ]

    @property
    def moving(self) -> int:
        """How many of them told it to move."""
        return sum(velocity != 0.0 for _, velocity in self._told)

    def before(self, at_ns: int) -> float:
        """Return what it was told last before `at_ns` [rad/s]; 0 if nothing."""
        return next((told for start_ns, told in reversed(self._told) if start_ns < at_ns), 0.0)

    def stop_delay(self, begin_ns: int, end_ns: int) -> float | None:
        """Return how long after `begin_ns` the first bit of a stop was on the wire.

        Args:
            begin_ns: CLOCK_MONOTONIC [ns] at which it was asked for.
            end_ns: what comes later is not an answer to this.

        Returns:
            The delay [ms]; None = it never came.
        """
        for start_ns, velocity in self._told:
            if begin_ns < start_ns < end_ns and velocity == 0.0:
                return (start_ns - begin_ns) / 1e6
        return None

    def turn_delay(self, begin_ns: int, sign: int, end_ns: int) -> float | None:
        """Return how long after `begin_ns` the base was told the first new velocity.

        The driver leads from one velocity to the next in steps: the first of them counts. It is
        told from what varies while the tip goes on along its line: that goes on as it went.

        Args:
            begin_ns: CLOCK_MONOTONIC [ns] at which a stick was pushed.
            sign: 1 or -1 as in `Rig.push`: the way in which it was pushed.
            end_ns: what comes later is not an answer to this.

        Returns:
            The delay [ms]; None = it never came.
        """
        told = [AT_REST, AT_REST, *self._told]
        for earlier, last, (start_ns, velocity) in zip(told, told[1:], told[2:], strict=False):
            if begin_ns < start_ns < end_ns:
                step = _leaves(earlier, last, (start_ns, velocity))
                if step * sign > NEW_VELOCITY * abs(last[1]):
                    return (start_ns - begin_ns) / 1e6
        return None


def _leaves(earlier: Told, last: Told, now: Told) -> float:
    """Return by how much `now` differs from where the two before it lead to [rad/s].

    A joint at rest was led nowhere.
    """
    (earlier_ns, before), (last_ns, velocity) = earlier, last
    if velocity == 0.0:
        return now[1]
    slope = (velocity - before) / (last_ns - earlier_ns)
    return now[1] - velocity - slope * (now[0] - last_ns)
