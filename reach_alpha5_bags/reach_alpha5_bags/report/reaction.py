"""How long the arm takes to answer: from a command until the joints are seen to move, or to rest.

Both moments are those of recording, by one clock. So the ways of both messages to the recorder are
in it, and the time between two reports of the joints. It begins at an arm that has rested for a
while, since of one that moves nobody can tell which command it follows. Set-points are left
out: a trajectory begins as slowly as it likes.
"""

from __future__ import annotations

import math
from typing import Any

from reach_alpha5_bags.report.series import Spread

STOP, INPUT, TWIST = 0, 1, 4
"""`DriverCommand.kind`."""

RESTED = 0.3
"""Time [s] that the joints must have rested before a command."""

PATIENCE = 2.0
"""Time [s] after which a command has remained without an answer."""


def asks_for_motion(command: Any) -> bool:
    """Say whether a `DriverCommand` asks for a motion that begins at once."""
    if command.kind == INPUT:
        asked = command.input
        jaws = asked.gripper_velocities
        return any(
            (
                jaws.grip_velocity, jaws.rotate_velocity,
                asked.cartesian.x, asked.cartesian.y, asked.cartesian.z,
                asked.cylindrical.radial, asked.cylindrical.vertical, asked.cylindrical.azimuth,
                asked.known_pose.velocity,
            )
        )  # fmt: skip
    if command.kind == TWIST:
        twist = command.twist.twist
        linear, angular = twist.linear, twist.angular
        parts = (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
        return any((*parts, command.twist.grip_velocity))
    return False


class Wait:
    """Waits for one kind of answer."""

    def __init__(self) -> None:
        self.times = Spread()
        """[s]"""
        self.unanswered = 0
        self._since = math.nan

    def begin(self, at: float) -> None:
        """Wait from now on, unless it waits already."""
        if math.isnan(self._since):
            self._since = at

    def drop(self) -> None:
        """Wait no more."""
        self._since = math.nan

    def look(self, at: float, is_there: bool) -> None:
        """See whether the answer is there."""
        waited = at - self._since
        if is_there and waited >= 0.0:
            self.times.add(waited)
            self.drop()
        elif waited > PATIENCE:
            self.unanswered += 1
            self.drop()


class Reaction:
    """From command to motion and from stop to rest."""

    def __init__(self) -> None:
        self.start = Wait()
        self.rest = Wait()
        self._moving = False
        self._moved = math.inf
        """When the joints were last seen to move [s]; infinity = they were not heard yet."""

    def command(self, at: float, command: Any) -> None:
        """Take in a `DriverCommand`."""
        if asks_for_motion(command):
            self.rest.drop()
            if not self._moving and at - self._moved >= RESTED:
                self.start.begin(at)
        else:
            self.start.drop()
            if command.kind == STOP and self._moving:
                self.rest.begin(at)

    def joints(self, at: float, moving: bool) -> None:
        """Take note of whether any joint moves."""
        if moving or math.isinf(self._moved):
            self._moved = at
        self._moving = moving
        self.start.look(at, moving)
        self.rest.look(at, not moving)
