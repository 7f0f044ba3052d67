"""The driver's core as the node makes it, and the simulated arm behind its line, in virtual time.

Set-points come as the arbiter sends them; what is judged is where the joints truly are.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

import numpy as np

from reach_alpha5_common.command import CommandKind, DriverCommand, JointCommand
from reach_alpha5_driver.assembly import make_core
from reach_alpha5_driver.devices import BY_ID, DEVICES
from reach_alpha5_driver.parameters import PARAMETERS
from reach_alpha5_driver.sim.arm import ArmConfig
from reach_alpha5_driver.sim.simulation import SimConfig, Simulation
from reach_alpha5_motion.model import ArmModel

DEFAULTS = {entry.name: entry.default for entry in PARAMETERS}
START = (3.0, 1.57, 1.57, 3.0, 0.007)
"""Chain order [rad, m]: the middle of the workspace."""
SPACING = 0.02
"""Between two set-points [s]: as the arbiter sends them."""
LIFETIME = 0.25
LATE = (0.0, 0.004)
"""Until a set-point is there [s], and until the loop wakes up."""
READ_SPACING = 0.006

Trajectory = Callable[[float], tuple[np.ndarray, np.ndarray]]
"""Positions and velocities, chain order, (5,) each, at a time [s]."""


class SetPointRig:
    """An arm that is identified and engaged, at rest at `START`."""

    def __init__(self, model: ArmModel, seed: int = 0, **parameters: object) -> None:
        self.now = 0.0
        self.random = random.Random(seed)
        self.names = tuple(model.joint_names)
        posture = {device.id: START[device.index] for device in DEVICES}
        config = SimConfig(arm=ArmConfig(posture=posture), seed=seed, noise=1.0)
        self.simulation = Simulation(config, 0.0)
        self.core = make_core(DEFAULTS | parameters, model)
        self._sequence = itertools.count(1)
        self._next_read = 0.0
        self._arrived = bytearray()
        self.core.set_active(True, 0.0)
        self.core.on_guard(True, 0.0)
        self.core.on_connected(0.0)
        while self.core.gate.holds:
            assert self.now < 10.0, list(self.core.gate.holds)
            self.run(0.1)
        self.run(0.1)
        self.say(DriverCommand(CommandKind.STOP))

    # -- the truth

    @property
    def posture(self) -> np.ndarray:
        """Where the joints truly are, chain order, (5,) [rad, m]."""
        return np.array([self._joint(device.id)[0] for device in DEVICES])

    @property
    def velocities(self) -> np.ndarray:
        """How fast they truly go, chain order, (5,) [rad/s, m/s]."""
        return np.array([self._joint(device.id)[1] for device in DEVICES])

    def _joint(self, device_id: int) -> tuple[float, float]:
        joint, scale = self.simulation.arm.joints[device_id], BY_ID[device_id].wire_per_si
        return joint.position / scale, joint.velocity / scale

    # -- what others say

    def say(self, command: DriverCommand, delay: float = 0.0) -> None:
        """Send a command in order; it was received `delay` [s] ago."""
        numbered = DriverCommand(
            command.kind,
            next(self._sequence),
            input=command.input,
            joint=command.joint,
            lifetime=command.lifetime,
        )
        self.core.on_command(numbered, self.now - delay, self.now)
        self._write()

    def set_point(
        self,
        positions: Sequence[float],
        velocities: Sequence[float] = (0.0,) * 5,
        joints: Sequence[int] = range(5),
    ) -> None:
        """Send a set-point of some joints."""
        names = tuple(self.names[joint] for joint in joints)
        places = tuple(float(positions[joint]) for joint in joints)
        rates = tuple(float(velocities[joint]) for joint in joints)
        command = JointCommand(names, places, rates)
        self.say(DriverCommand(CommandKind.JOINT, joint=command, lifetime=LIFETIME))

    def follow(self, trajectory: Trajectory, seconds: float) -> np.ndarray:
        """Stream a trajectory, and return how far the joints were off, a row a set-point."""
        begin, errors = self.now, []
        for number in range(round(seconds / SPACING)):
            made = begin + number * SPACING
            self.run(made + self.random.uniform(*LATE) - self.now)
            self.set_point(*trajectory(made - begin))
            errors.append(self.posture - trajectory(self.now - begin)[0])
        return np.array(errors)

    # -- time

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while self.now < end:
            times = [self.core.next_wakeup(self.now), end]
            arrival = self.simulation.due()
            if arrival is not None:
                times.append(max(arrival, self._next_read))
            late = max(self.now, min(times)) + self.random.uniform(1e-5, 0.003)
            self.now = min(late, end)
            for chunk in self.simulation.advance(self.now).to_driver:
                self._arrived += chunk.data
            if self._arrived and self.now >= self._next_read:
                self._next_read = self.now + READ_SPACING
                self.core.receive_data(bytes(self._arrived), self.now)
                self._arrived.clear()
            self.core.tick(self.now)
            self._write()

    def _write(self) -> None:
        if self.core.outbox.wants_queued:
            self.core.data_sent(0, self.now, self.simulation.line.to_arm.backlog())
        outgoing = self.core.data_to_send(self.now)
        if outgoing.purge:
            self.simulation.purge(self.now)
        taken = outgoing.data[: self.simulation.room()]
        self.simulation.receive(taken, self.now)
        self.core.data_sent(len(taken), self.now)
