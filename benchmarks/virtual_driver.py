"""The driver's core, made as the node makes it, on the simulated arm, in virtual time.

There are no threads and no sleeps: what it does with the line depends on nothing else that the
machine does. The loop does what `control_loop` does: it sleeps until something is due, wakes up a
little late, reads, lets the core decide, writes.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace

from reach_alpha5_common.command import (
    ArmInput,
    Cartesian,
    CommandKind,
    DriverCommand,
    GripperCommand,
    StopLevel,
)
from reach_alpha5_driver.assembly import make_core
from reach_alpha5_driver.control_loop import READ_SPACING
from reach_alpha5_driver.parameters import PARAMETERS
from reach_alpha5_driver.schedule import RS485
from reach_alpha5_driver.sim.arm import ArmConfig
from reach_alpha5_driver.sim.line import Chunk
from reach_alpha5_driver.sim.log import TO_ARM, Entry, LoggedFrame, WireLog
from reach_alpha5_driver.sim.simulation import SimConfig, Simulation
from reach_alpha5_motion.model import ArmModel

MAX_LATENCY = 0.003
"""The loop wakes up late by up to this long [s]."""

COMMAND_PERIOD = 0.02
"""Time between two commands [s]: the pad's 50 Hz, each of them another one."""

LIFETIME = 0.25
"""Of a command [s], as from the arbiter."""

READY_TIMEOUT = 10.0
"""Until the arm is identified, or its motors are on again [s]; two are usual."""

MIDDLE = {5: 3.0, 4: 1.57, 3: 1.57, 2: 3.0, 1: 0.007}
"""Posture from which the arm can go everywhere, by device id."""

NANO = 1e9


class VirtualDriver:
    """A driver's core and the arm, from a seed. `now` is the virtual time [s]."""

    def __init__(self, model: ArmModel, wiring: str, seed: int) -> None:
        """Open the line; `model` is the arm of the description."""
        self.random = random.Random(seed)
        self.now = 0.0
        self.simulation = Simulation(
            SimConfig(arm=ArmConfig(posture=MIDDLE), half_duplex=wiring == RS485, seed=seed), 0.0
        )
        values = {entry.name: entry.default for entry in PARAMETERS} | {"wiring": wiring}
        self.core = make_core(values, model)
        self.core.set_active(True, self.now)
        self.core.on_guard(True, self.now)
        self.core.on_connected(self.now)
        self._sign = 0
        self._next_command = math.inf
        self._next_read = 0.0
        self._arrived = bytearray()
        self._passed: list[Chunk] = []
        self._sequence = 0

    # -- what others want

    def jog(self, sign: int) -> None:
        """Push the stick as soon as the arm may be moved, and go on doing so.

        Raises:
            RuntimeError: it may not be moved.
        """
        give_up = self.now + READY_TIMEOUT
        while self.core.gate.holds:
            if self.now > give_up:
                codes = ", ".join(hold.code for hold in self.core.gate.holds)
                raise RuntimeError(f"the arm may not be moved: {codes}")
            self.run(COMMAND_PERIOD)
        self._say(DriverCommand(CommandKind.STOP))  # the neutral input that engages
        self._sign, self._next_command = sign, self.now

    def estop(self) -> int:
        """Press the e-stop: the control loop hands it to the core and writes at once.

        Returns:
            How many bytes the line still had before those of the stop.
        """
        self.core.on_estop(StopLevel.CUT, "benchmark", "measuring", self.now)
        return self._write()

    def reset(self) -> None:
        """Let go of the stick and clear the latches."""
        self._next_command = math.inf
        self._say(DriverCommand(CommandKind.RESET, estop_epoch=self.core.gate.estop_epoch))

    # -- what was seen on the line

    def forget(self) -> None:
        """Forget what has passed over the line."""
        self._passed.clear()

    def frames(self) -> list[LoggedFrame]:
        """Return the frames to the arm since `forget`."""
        entries = (Entry(round(c.start * NANO), TO_ARM, c.data) for c in self._passed)
        return WireLog(tuple(entries), self.simulation.line.byte_time * NANO).frames(TO_ARM)

    # -- time

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while self.now < end:
            self._sleep(end)
            if self.now >= self._next_command:
                self._next_command = self.now + COMMAND_PERIOD
                self._say(DriverCommand(CommandKind.INPUT, input=self._push(), lifetime=LIFETIME))
            self._turn()

    def _sleep(self, end: float) -> None:
        times = [self.core.next_wakeup(self.now), self._next_command]
        arrival = self.simulation.due()
        if arrival is not None:
            prompt = self.core.outbox.prompt_reads
            times.append(arrival if prompt else max(arrival, self._next_read))
        late = max(self.now, min(times)) + self.random.uniform(0.0, MAX_LATENCY)
        self.now = min(late, max(end, self.now))
        passed = self.simulation.advance(self.now)
        self._passed += passed.to_arm
        for chunk in passed.to_driver:
            self._arrived += chunk.data

    def _turn(self) -> None:
        if self._arrived and (self.now >= self._next_read or self.core.outbox.prompt_reads):
            self._next_read = self.now + READ_SPACING
            self.core.receive_data(bytes(self._arrived), self.now)
            self._arrived.clear()
        self.core.tick(self.now)
        self._write()

    def _write(self) -> int:
        """Write what the core wants to, and return how many bytes the line had before it."""
        line = self.simulation.line.to_arm
        if self.core.outbox.wants_queued:
            self.core.data_sent(0, self.now, line.backlog())
        outgoing = self.core.data_to_send(self.now)
        if outgoing.purge:
            self.simulation.purge(self.now)
        before = line.backlog()
        taken = outgoing.data[: self.simulation.room()]
        self.simulation.receive(taken, self.now)
        self.core.data_sent(len(taken), self.now)
        return before

    def _push(self) -> GripperCommand:
        """Return what a stick asks for that is held, and is never quite at rest."""
        x, y = (self._sign * self.random.uniform(0.4, 0.6) for _ in "xy")
        return GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x, y))

    def _say(self, command: DriverCommand) -> None:
        self._sequence += 1
        self.core.on_command(replace(command, sequence=self._sequence), self.now, self.now)
        self._write()
