"""The modes that the mode button goes through: what the sticks do."""

from __future__ import annotations

import enum


class Mode(enum.Enum):
    """What the sticks do; the value is how a profile names it."""

    CARTESIAN = "cartesian"
    CYLINDRICAL = "cylindrical"
    POSE = "pose"
    WRIST = "wrist"

    @property
    def section(self) -> str:
        """The section of a profile that binds the sticks in this mode.

        `wrist` is taken: it binds the axis that turns the wrist in every mode.
        """
        return "wrist_mode" if self is Mode.WRIST else self.value


BY_NAME = {mode.value: mode for mode in Mode}

MEANINGS = {
    Mode.CARTESIAN: "sticks move the arm in cartesian coordinates",
    Mode.CYLINDRICAL: "sticks move the arm in cylindrical coordinates",
    Mode.POSE: "the stick runs the arm to its poses",
    Mode.WRIST: "the stick turns the wrist alone",
}
"""What the pilot is told."""
