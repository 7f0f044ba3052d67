"""The verbs, as data: what each asks for, and how one sees that it is done. Pure."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from reach_alpha5_common.command import (
    ArmInput,
    GripperCommand,
    GripperVelocities,
    KnownPose,
    Pose,
)


class Part(enum.Enum):
    """What a verb moves, and so by what its end is seen."""

    ARM = "arm"
    JAWS = "jaws"


@dataclass(frozen=True, slots=True)
class Verb:
    """What a service asks for.

    Attributes:
        part: what it moves.
        command: what is said for as long as it runs; a lifetime is put to it.
        meaning: for people.
    """

    part: Part
    command: GripperCommand
    meaning: str


def _pose(pose: Pose, meaning: str) -> Verb:
    command = GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(pose, 1.0))
    return Verb(Part.ARM, command, meaning)


def _jaws(grip: float, meaning: str) -> Verb:
    return Verb(Part.JAWS, GripperCommand(GripperVelocities(grip=grip)), meaning)


VERBS: Mapping[str, Verb] = {
    "stow": _pose(Pose.STOWED, "go to the stowed pose"),
    "deploy": _pose(Pose.DEPLOYED, "go to the deployed pose"),
    "open_jaws": _jaws(1.0, "open the jaws until they go no further"),
    "close_jaws": _jaws(-1.0, "close the jaws until they hold something or go no further"),
}
"""Name of the service to what it asks for. `stop` is beside them: it ends whatever runs."""
