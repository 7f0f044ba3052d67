"""Service mode (B9, D10): joints moved one by one, and the arm's own presets. For the desk.

A service tool speaks to the driver directly, so nothing arbitrates between it and a pilot: it is
off unless a parameter switches it on, and while it is on the ordinary input is refused. Stops,
e-stops, faults and lifetimes hold as ever, and so do limits, but for a preset: its way is the
arm's own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.commands import SERVICE, CommandDesk
from reach_alpha5_driver.demand import JointRates, PresetRun
from reach_alpha5_driver.devices import DEVICES

LIFETIME = 0.25
"""[s]; how long a request stands unless it says less. Repeat it faster: a preset needs 10 Hz."""

PRESETS = 4


class ServiceDesk:
    """Reads what a service tool wants. Times are monotonic seconds."""

    def __init__(self, desk: CommandDesk) -> None:
        """Pass on what is in order to `desk`."""
        self._desk = desk

    def on_joint_jog(
        self,
        joint_names: Sequence[str],
        displacements: Sequence[float],
        velocities: Sequence[float],
        duration: float,
        received: float,
        now: float,
        prefix: str = "",
    ) -> None:
        """Take a `control_msgs/JointJog` that arrived at `received`.

        Args:
            joint_names: joints to move, with their prefix; the others hold still.
            displacements: must be empty: a jog that is lost on its way must not be finished later.
            velocities: one for each name [rad/s, m/s].
            duration: how long it stands [s]; 0 = `LIFETIME`, the most that is allowed.
            received: when it arrived.
            now: the time.
            prefix: of this arm's joints. A name without it is a joint of another arm.
        """
        indices = {prefix + device.joint: device.index for device in DEVICES}
        problem = _jog_problem(indices, joint_names, displacements, velocities, duration)
        if problem is not None:
            self._desk.refuse(problem, SERVICE, now)
            return
        rates = [0.0] * len(DEVICES)
        for name, rate in zip(joint_names, velocities, strict=True):
            rates[indices[name]] = rate
        expires = received + (duration or LIFETIME)
        self._desk.on_service(JointRates(tuple(rates)), any(rates), expires, now)

    def on_preset(self, slot: int, received: float, now: float) -> None:
        """Go on towards a preset of the arm, `slot` 0..3, for `LIFETIME`."""
        if not 0 <= slot < PRESETS:
            problem = Problem("unknown_preset", f"preset {slot}; the arm has 0 to {PRESETS - 1}")
            self._desk.refuse(problem, SERVICE, now)
            return
        self._desk.on_service(PresetRun(slot), True, received + LIFETIME, now)


def _jog_problem(
    known: Collection[str],
    joint_names: Sequence[str],
    displacements: Sequence[float],
    velocities: Sequence[float],
    duration: float,
) -> Problem | None:
    if len(displacements):
        return Problem("displacement", "displacements are not taken; send velocities")
    if len(velocities) != len(joint_names) or len(set(joint_names)) != len(joint_names):
        return Problem("bad_joints", "send one velocity for each joint, and each joint once")
    unknown = sorted(set(joint_names).difference(known))
    if unknown:
        text = f"no joint {', '.join(unknown)}; there are {', '.join(known)}"
        return Problem("unknown_joint", text)
    if not all(map(math.isfinite, velocities)):
        return Problem("not_finite", "velocities must be finite numbers")
    if not 0.0 <= duration <= LIFETIME:
        return Problem(
            "bad_lifetime",
            f"duration is {duration:g} s; send 0 to {LIFETIME:g} s, and repeat the jog for longer",
        )
    return None
