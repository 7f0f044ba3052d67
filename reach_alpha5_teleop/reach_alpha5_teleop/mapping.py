"""What the controls of a pad ask for, as one command. Whether it may be said, `core` decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

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
from reach_alpha5_teleop.modes import Mode
from reach_alpha5_teleop.pad import PadState
from reach_alpha5_teleop.profile import Profile


def _towards(pose: Pose, velocity: float) -> GripperCommand:
    return GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(pose, velocity))


STICKS: Mapping[Mode, Callable[[Mapping[str, float]], GripperCommand]] = {
    Mode.CARTESIAN: lambda sticks: GripperCommand(
        arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(**sticks)
    ),
    Mode.CYLINDRICAL: lambda sticks: GripperCommand(
        arm_input=ArmInput.CYLINDRICAL, cylindrical=Cylindrical(**sticks)
    ),
    Mode.POSE: lambda sticks: _towards(
        Pose.DEPLOYED if sticks["run"] > 0.0 else Pose.STOWED, abs(sticks["run"])
    ),
}
"""What deflected sticks ask of the arm; in a mode that is not here they ask nothing of it."""

POSES: Mapping[str, Pose] = {"pose_stowed": Pose.STOWED, "pose_deployed": Pose.DEPLOYED}

JAWS: Mapping[str, float] = {"jaws_open": 1.0, "jaws_close": -1.0}

MOTION_SECTIONS = ("wrist", *(mode.section for mode in Mode))
"""Sections of a profile whose axes move something; speed only scales."""

MOTION_BUTTONS = frozenset({*POSES, *JAWS, "jaws_toggle"})


@dataclass(frozen=True, slots=True)
class Intent:
    """What one state of the pad asks for.

    Attributes:
        command: the command, neutral when the controls contradict each other.
        at_rest: no control that could move anything, in whatever mode, is touched.
        ambiguous: controls that exclude each other are held together.
    """

    command: GripperCommand
    at_rest: bool
    ambiguous: bool


def interpret(
    profile: Profile, state: PadState, mode: Mode, lifetime: float, toggled: float = 0.0
) -> Intent:
    """Return what the pad asks for.

    Stick and pose button, two pose buttons, two ways to move the jaws, or two sticks that turn the
    wrist at once: nobody can say what is meant, so all of it is still.

    Args:
        profile: what the controls do.
        state: what they say.
        mode: of the sticks.
        lifetime: a command that moves ends by itself after this [s].
        toggled: velocity of jaws that were set going by a press before, in [-1, 1].
    """

    def bound(section: str) -> dict[str, float]:
        return {key: state.axes[name] for key, name in profile.bindings.get(section, {}).items()}

    sticks = bound(mode.section) if mode in STICKS else {}
    # By the axis, since one may be bound as the mode's and as every mode's.
    wrist = {
        name: state.axes[name]
        for section in ("wrist", *([mode.section] if mode is Mode.WRIST else []))
        for name in profile.bindings.get(section, {}).values()
    }
    turns = [value for value in wrist.values() if value]
    poses = [pose for button, pose in POSES.items() if button in state.down]
    jaws = [velocity for button, velocity in JAWS.items() if button in state.down]
    jaws += [toggled] if toggled else []
    at_rest = not (
        toggled
        or state.held & MOTION_BUTTONS
        or any(
            name in state.touched
            for section in MOTION_SECTIONS
            for name in profile.bindings.get(section, {}).values()
        )
    )
    if max(len(poses) + any(sticks.values()), len(jaws), len(turns)) > 1:
        return Intent(STILL, at_rest, ambiguous=True)

    command = STILL
    if poses and mode in STICKS:
        command = _towards(poses[0], 1.0)
    elif any(sticks.values()):
        command = STICKS[mode](sticks)
    command = replace(
        command, gripper_velocities=GripperVelocities(sum(jaws, 0.0), sum(turns, 0.0))
    )
    if not command.is_neutral:
        command = replace(command, speed_modifier=_speed(bound("speed")), lifetime=lifetime)
    return Intent(command, at_rest, ambiguous=False)


def _speed(triggers: Mapping[str, float]) -> float:
    """Return the speed modifier in [-1, 1]: each trigger pulls it its way from 0.

    A trigger has travel on one side only; what reads on the other side is no pull.
    """
    faster, slower = (max(0.0, triggers.get(key, 0.0)) for key in ("faster", "slower"))
    return faster - slower
