"""The five joints together: what they weigh, what the jaws hold, where they start.

Geometry and masses are those of the arm in water, base upright: the shoulder and the elbow turn
about +y, and only they carry weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType

from reach_alpha5_driver.sim.ids import AXES, DEVICE_UNITS_PER_SI, Mode
from reach_alpha5_driver.sim.joint import Joint
from reach_alpha5_driver.sim.joint_spec import UNLIMITED, JointSpec, Range

GRAVITY = 9.81
"""[m/s²]"""

MILLIAMPERE = 1000.0
"""In an ampere."""

MILLIAMPERE_PER_NEWTON_METRE = 1000.0 / (0.0134 * 1754.4 * 0.86)
"""Shoulder and elbow: torque constant [N·m/A] x gear ratio x efficiency, inverted."""

UPPER_ARM = (-0.040, -0.1453)
"""Shoulder axis to elbow axis at zero: x, z [m]."""

FOREARM = (-0.020, 0.180)
"""Elbow axis to jaw tip at zero: x, z [m]."""

WRIST_CENTRE = 0.44
"""Centre of mass of wrist and jaws, as a fraction of the way from the elbow to the jaw tip."""

UPPER_ARM_MASS, ELBOW_MASS, WRIST_MASS = 0.162, 0.110, 0.221
"""In water: mass less displaced water, at 1.025 kg/l rounded to 1 [kg]."""

DEFAULT_SPECS = MappingProxyType(
    {
        1: JointSpec((1.3, 13.3), (0.0, 15.0), 3.0, 30.0, 400.0, 80.0, 1.0),
        2: JointSpec(UNLIMITED, None, math.radians(50), 6.0, 400.0, 50.0, 3.0),
        3: JointSpec((0.01745, 3.4034), (0.0, 3.5), math.radians(30), 4.0, 400.0, 60.0, 5.0),
        4: JointSpec((0.01745, 3.4034), (0.0, 3.5), math.radians(30), 4.0, 400.0, 60.0, 8.0),
        5: JointSpec((0.01745, 6.143), (0.0, 6.3), math.radians(30), 4.0, 400.0, 60.0, 8.0),
    }
)
"""By device id, in device units. Limits and speeds are reported by real arms."""

STOWED = MappingProxyType({5: 0.1, 4: 1.57, 3: 0.08, 2: 0.0, 1: 0.007})
"""Where the arm starts: SI units, by device id."""


@dataclass(frozen=True, slots=True)
class ArmConfig:
    """What arm to simulate. SI units, by device id; what is left out is as in real arms."""

    posture: dict[int, float] = field(default_factory=lambda: dict(STOWED))
    position_limits: dict[int, Range] = field(default_factory=dict)
    """Lower and upper [rad, m]; zero and zero = none."""
    velocity_limits: dict[int, Range] = field(default_factory=dict)
    """Lower and upper [rad/s, m/s]; zero lies between."""
    current_limits: dict[int, Range] = field(default_factory=dict)
    """Lower and upper [A]; zero lies between."""
    mode: Mode = Mode.STANDBY
    """Of all joints at the start."""
    object_width: float | None = None
    """Jaw position at which the jaws meet an object [m]; None = nothing between them."""
    payload: float = 0.0
    """Weight in water of what the jaws carry [kg]."""


class Arm:
    """Five joints under gravity. `now` is monotonic time [s] and never goes back."""

    def __init__(self, config: ArmConfig, now: float) -> None:
        self.payload = config.payload
        self.joints: dict[int, Joint] = {}
        for device_id, spec in DEFAULT_SPECS.items():
            scale = DEVICE_UNITS_PER_SI[device_id]
            joint = Joint(spec, config.posture[device_id] * scale, now)
            if (limits := config.position_limits.get(device_id)) is not None:
                joint.position_limits = scaled(limits, scale)
            if (limits := config.velocity_limits.get(device_id)) is not None:
                joint.velocity_limits = scaled(limits, scale)
            if (limits := config.current_limits.get(device_id)) is not None:
                joint.current_limits = scaled(limits, MILLIAMPERE)
            joint.set_mode(config.mode)
            self.joints[device_id] = joint
        self.grip(config.object_width)

    def grip(self, object_width: float | None) -> None:
        """Put an object between the jaws that they meet at `object_width` [m], or take it away."""
        scale = DEVICE_UNITS_PER_SI[1]
        self.joints[1].contact = None if object_width is None else object_width * scale

    def advance(self, now: float) -> None:
        """Move all joints on to the time `now`."""
        self._weigh()
        for joint in self.joints.values():
            joint.advance(now)

    def state(self) -> dict[str, dict[str, float | str | bool]]:
        """Return the truth by axis: position, velocity [SI], current [A], mode, temperature."""
        return {
            AXES[device_id]: {
                "position": joint.position / DEVICE_UNITS_PER_SI[device_id],
                "velocity": joint.velocity / DEVICE_UNITS_PER_SI[device_id],
                "current": joint.current / MILLIAMPERE,
                "mode": joint.mode.name.lower(),
                "temperature": joint.temperature,
                "blocked": joint.blocked,
            }
            for device_id, joint in self.joints.items()
        }

    def _weigh(self) -> None:
        """Set what shoulder and elbow need to hold the arm up: minus the torque of its weight.

        Weight m at horizontal distance x turns a joint about +y by g·m·x.
        """
        shoulder, elbow = self.joints[4].position, self.joints[3].position
        upper = _turned_x(UPPER_ARM, shoulder)
        fore = _turned_x(FOREARM, shoulder - elbow)
        about_elbow = fore * (WRIST_CENTRE * WRIST_MASS + self.payload)
        about_shoulder = about_elbow + upper * (
            UPPER_ARM_MASS / 2.0 + ELBOW_MASS + WRIST_MASS + self.payload
        )
        scale = GRAVITY * MILLIAMPERE_PER_NEWTON_METRE
        self.joints[4].load = -about_shoulder * scale
        self.joints[3].load = about_elbow * scale  # the elbow's axis is turned over


def scaled(limits: Range, scale: float) -> Range:
    """Return limits in a unit that is smaller by `scale`."""
    return limits[0] * scale, limits[1] * scale


def _turned_x(vector: Range, angle: float) -> float:
    """Return the x of an (x, z) vector that was turned about +y by `angle` [rad]."""
    return vector[0] * math.cos(angle) + vector[1] * math.sin(angle)
