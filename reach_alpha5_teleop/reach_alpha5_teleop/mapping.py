"""What the controls of a pad ask for, as one command. Whether it may be said, `core` decides."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reach_alpha5_common.command import (
    STILL,
    ArmInput,
    Cartesian,
    Cylindrical,
    GripperCommand,
    GripperVelocities,
    KnownPose,
    Pose,
)
from reach_alpha5_teleop.pad import PadState
from reach_alpha5_teleop.profile import Profile


class Mode(enum.Enum):
    """How the sticks move the arm; the value is the section of the profile that binds them."""

    CARTESIAN = "cartesian"
    CYLINDRICAL = "cylindrical"

    @property
    def next(self) -> Mode:
        """The mode that the mode button switches to."""
        modes = list(Mode)
        return modes[(modes.index(self) + 1) % len(modes)]


STICKS: Mapping[Mode, tuple[ArmInput, Callable[..., Any]]] = {
    Mode.CARTESIAN: (ArmInput.CARTESIAN, Cartesian),
    Mode.CYLINDRICAL: (ArmInput.CYLINDRICAL, Cylindrical),
}

POSES: Mapping[str, Pose] = {"pose_stowed": Pose.STOWED, "pose_deployed": Pose.DEPLOYED}

JAWS: Mapping[str, float] = {"jaws_open": 1.0, "jaws_close": -1.0}

MOTION_SECTIONS = ("cartesian", "cylindrical", "wrist")
"""Sections of a profile whose axes move something; speed only scales."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What one state of the pad asks for.

    Attributes:
        command: the command, neutral when the controls contradict each other.
        at_rest: no control that could move anything, in either mode, is touched.
        ambiguous: controls that exclude each other are held together.
    """

    command: GripperCommand
    at_rest: bool
    ambiguous: bool


def interpret(profile: Profile, state: PadState, mode: Mode, lifetime: float) -> Intent:
    """Return what the pad asks for; a command that moves ends by itself after `lifetime` [s].

    Stick and pose button, two pose buttons, or both jaw buttons at once: nobody can say what is
    meant, so all of it is still.
    """

    def bound(section: str) -> dict[str, float]:
        return {key: state.axes[name] for key, name in profile.bindings.get(section, {}).items()}

    sticks = bound(mode.value)
    poses = [pose for button, pose in POSES.items() if button in state.down]
    jaws = [velocity for button, velocity in JAWS.items() if button in state.down]
    at_rest = not (
        poses or jaws or any(any(bound(section).values()) for section in MOTION_SECTIONS)
    )
    if len(poses) + any(sticks.values()) > 1 or len(jaws) > 1:
        return Intent(STILL, at_rest, ambiguous=True)

    rotate = bound("wrist").get("rotate", 0.0)
    command = replace(STILL, gripper_velocities=GripperVelocities(sum(jaws, 0.0), rotate))
    if poses:
        command = replace(
            command, arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(poses[0], 1.0)
        )
    elif any(sticks.values()):
        arm_input, payload = STICKS[mode]
        command = replace(command, arm_input=arm_input, **{mode.value: payload(**sticks)})
    if not command.is_neutral:
        command = replace(command, speed_modifier=_speed(bound("speed")), lifetime=lifetime)
    return Intent(command, at_rest, ambiguous=False)


def _speed(triggers: Mapping[str, float]) -> float:
    """Return the speed modifier in [-1, 1]: each trigger pulls it its way from 0.

    A trigger has travel on one side only; what reads on the other side is no pull.
    """
    faster, slower = (max(0.0, triggers.get(key, 0.0)) for key in ("faster", "slower"))
    return faster - slower
