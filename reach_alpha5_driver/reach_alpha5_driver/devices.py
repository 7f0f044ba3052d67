"""The five devices on the arm's bus: the one table that knows ids, joints, their order and units.

Device ids count from the jaws (1 = A) to the base (5 = E); joints are listed from the base to the
jaws. The jaws speak millimetres on the wire, all else radians.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

BROADCAST: Final = 0xFF
"""Device id that every device obeys. Never the sender of a frame."""

BASE_UNIT: Final = 5
"""The device that also is the arm's base unit: presets, kinematics, obstacles."""


@dataclass(frozen=True, slots=True)
class Device:
    """One joint and the device that drives it."""

    id: int
    """On the bus."""
    joint: str
    """In the robot description, without the prefix."""
    index: int
    """Place in chain order (base to jaws): of joint arrays everywhere but on the bus."""
    unit: str
    """SI unit of its position on our side: `rad` or `m`."""
    wire_per_si: float
    """Wire units (rad, mm) in one SI unit."""
    endless: bool = False
    """Whether it has no stops, and can turn for ever where no limits are set."""


DEVICES: Final[tuple[Device, ...]] = (
    Device(5, "axis_e", 0, "rad", 1.0),
    Device(4, "axis_d", 1, "rad", 1.0),
    Device(3, "axis_c", 2, "rad", 1.0),
    Device(2, "axis_b", 3, "rad", 1.0, endless=True),
    Device(1, "axis_a", 4, "m", 1000.0),
)
"""In chain order, base to jaws."""

BY_ID: Final[Mapping[int, Device]] = MappingProxyType({d.id: d for d in DEVICES})
BY_JOINT: Final[Mapping[str, Device]] = MappingProxyType({d.joint: d for d in DEVICES})
