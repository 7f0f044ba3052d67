"""What the joints did, and how they fared."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from reach_alpha5_bags.report.series import Envelope

JAWS = "axis_a"
"""How the name of the jaws' joint ends; its unit is the metre."""

MOVING = 0.02
"""Speed [rad/s] from which on a joint moves: above the noise of a resting one."""

JAWS_MOVING = 0.0005
"""The same of the jaws [m/s]."""

LONGEST_STEP = 0.5
"""Time [s] between two messages beyond which nobody knows what the arm did meanwhile."""

MOST_JOINTS = 32
"""Joints that are told of. The arm has five; a bag may say anything."""

MILLI = 1000.0

HEALTH: Mapping[str, tuple[str, str]] = {
    "current": ("Currents", "A"),
    "temperature": ("Temperatures", "°C"),
    "voltage": ("Voltages", "V"),
    "humidity": ("Humidity", "%"),
}
"""Field of `JointHealth` to title and unit of its plot."""


_health = attrgetter(*HEALTH)


def is_jaws(name: str) -> bool:
    """Say whether a joint is the jaws."""
    return name.endswith(JAWS)


class Motion:
    """Positions and velocities, from `joint_states`."""

    def __init__(self) -> None:
        self.positions: dict[str, Envelope] = {}
        self.velocities: dict[str, Envelope] = {}
        self.moving = False
        """Whether any joint moves by the newest message."""
        self.time_moving = 0.0
        """[s]"""
        self.heard = 0
        self._at = 0.0
        self._names: list[str] = []
        self._rows: list[tuple[Envelope, Envelope, float] | None] = []
        """By the order of the names: positions, velocities, and from when on it moves."""

    def _row(self, name: str) -> tuple[Envelope, Envelope, float] | None:
        if name not in self.positions:
            if len(self.positions) >= MOST_JOINTS:
                return None
            self.positions[name], self.velocities[name] = Envelope(), Envelope()
        threshold = JAWS_MOVING if is_jaws(name) else MOVING
        return self.positions[name], self.velocities[name], threshold

    def hear(self, at: float, state: Any) -> None:
        """Take in a `JointState`."""
        moving = False
        if self._names != state.name:
            self._names = list(state.name)
            self._rows = [self._row(name) for name in self._names]
        for row, position, velocity in zip(
            self._rows, state.position.tolist(), state.velocity.tolist(), strict=True
        ):
            if row is not None:
                of_position, of_velocity, threshold = row
                of_position.add(at, position)
                of_velocity.add(at, velocity)
                if not -threshold <= velocity <= threshold:
                    moving |= velocity == velocity  # one that is not known is no motion
        if self.heard and self.moving and 0.0 < at - self._at <= LONGEST_STEP:
            self.time_moving += at - self._at
        self.moving, self._at = moving, at
        self.heard += 1


class Health:
    """Currents, temperatures and the like, from `arm_state`; how near the arm came to anything."""

    def __init__(self) -> None:
        self.quantities: dict[str, dict[str, Envelope]] = {field: {} for field in HEALTH}
        self.clearance = Envelope()
        """[m]"""
        self.joints: dict[str, Any] = {}
        """The newest `JointHealth` by name of the joint: it tells the device."""

    def hear(self, at: float, state: Any) -> None:
        """Take in an `ArmState`."""
        self.clearance.add(at, float(state.clearance))
        for joint in state.joints[:MOST_JOINTS]:
            if joint.name not in self.joints and len(self.joints) >= MOST_JOINTS:
                continue
            if joint.name not in self.joints:
                for by_joint in self.quantities.values():
                    by_joint[joint.name] = Envelope()
            self.joints[joint.name] = joint
            for by_joint, value in zip(self.quantities.values(), _health(joint), strict=True):
                by_joint[joint.name].add(at, value)
