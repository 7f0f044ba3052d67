"""What the topics say of the arm, as plain values: what the scene is drawn from.

Each mirrors a message as far as it is shown. Where a message can be silent about a number, it is
NaN here as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from reach_alpha5_motion.obstacles import Shape as Body
from reach_alpha5_view.scene.shapes import ORIGIN, UNTURNED, Point, Quaternion

UNKNOWN_POINT: Point = (math.nan, math.nan, math.nan)
UNKNOWN_JOINTS = (math.nan,) * 5


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that was not obeyed. An empty code: there was nothing yet."""

    code: str = ""
    reason: str = ""
    source: str = ""
    age: float = math.nan
    """How long before the message that tells of it [s], by the clock of its sender."""


@dataclass(frozen=True, slots=True)
class JointStatus:
    """One joint, as `JointHealth`."""

    name: str
    stale: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArmStatus:
    """What the driver says, as `ArmState`."""

    state: str = "NONE"
    connected: bool = False
    powered: bool = False
    emo: bool = False
    active: bool = False
    service_mode: bool = False
    blocked_by: tuple[str, ...] = ()
    collision_pair: str = ""
    clearance: float = math.nan
    """m."""
    holds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fault_causes: tuple[str, ...] = ()
    last_refusal: Refused = field(default=Refused())
    joints: tuple[JointStatus, ...] = ()
    """Chain order."""


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Where the arm is, as `GripperTel`."""

    positions: tuple[float, ...] = UNKNOWN_JOINTS
    """Chain order [rad, the jaws in m]; NaN = not known."""
    tip: Point = UNKNOWN_POINT
    """In `base_link_frd` [m]; NaN = not known."""
    joint_fault: tuple[bool, ...] = (False,) * 5
    holding: bool = False


@dataclass(frozen=True, slots=True)
class ArbiterStatus:
    """What the arbiter says, as `ArbiterState`."""

    owner: str = ""
    activity: str = "STILL"
    neutral_required: bool = False
    """Whether the owner has to let go once before it moves anything."""
    estop_latched: bool = False
    estop_level: str = ""
    estop_source: str = ""
    estop_reason: str = ""
    fault_latched: bool = False
    fault_causes: tuple[str, ...] = ()
    driver_connected: bool = True
    upstream_lost: bool = False
    last_stop_cause: str = ""
    last_stop_age: float = math.nan
    """How long before the message [s]."""
    last_refusal: Refused = field(default=Refused())


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing that the arm keeps clear of, as `Obstacle`."""

    name: str
    frame: str
    body: Body
    position: Point = ORIGIN
    orientation: Quaternion = UNTURNED
    allow: tuple[str, ...] = ()


Hull = tuple[tuple[Point, Point, Point], ...]
"""Triangles [m] of the convex hull that a mesh counts as, in the frame of its obstacle."""
