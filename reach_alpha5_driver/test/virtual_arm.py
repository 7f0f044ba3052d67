"""The driver's core, a line with faults and the simulated arm, in virtual time.

No threads, no sleeps: a run takes as long as it takes to reckon, and the same scenario gives the
same run. The loop does what `control_loop` does: it sleeps until something is due, wakes up a
little late, reads, lets the core decide, writes.
"""

from __future__ import annotations

import math
import random
import traceback

from driver_rig import BOUNDS, DESCRIPTION, PlainMover
from virtual_judge import Judge
from virtual_pilot import Pilot
from virtual_port import VirtualPort
from virtual_scenario import KINDS, Outcome, Scenario

from reach_alpha5_common.command import DriverCommand, StopLevel
from reach_alpha5_driver.backoff import Backoff, BackoffConfig
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.schedule import RS485, ScheduleConfig
from reach_alpha5_driver.sim.arm import ArmConfig
from reach_alpha5_driver.sim.simulation import SimConfig, Simulation
from reach_alpha5_driver.transport.base import LineLost
from reach_alpha5_driver.transport.faulty import Faults, FaultyLine

MAX_LATENCY = 0.003
"""The loop wakes up late by up to this long [s]."""

READ_SPACING = 0.006
"""Least time between two reads [s], as in the control loop."""

IDLE = 0.05
"""Longest sleep [s]."""

MEASURE_PERIOD = 0.5
"""Time between two counts of what the core keeps, and two times that the log is read [s]."""

OUTAGE = (0.05, 0.8)
"""Shortest and longest time for which a device is deaf, or the arm without supply [s]."""

CLOSED = 0.3
"""Chance that a lost line cannot be opened yet."""

RECONNECT = BackoffConfig(reconnect_period=0.05, reconnect_period_max=0.4)

CALM = 0.9
"""Time without faults after which the pilot moves the arm again [s]: he has let go by then, and
has reset what was latched."""

LONGEST_RECOVERY = 6.0
"""By then it must have moved [s]: the line is open, the arm identified, a reset taken."""

SHOWN_WAY = 0.03
"""Way of the base joint that counts as moved [rad]."""

ARM = ArmConfig(
    posture={5: 3.0, 4: 1.7, 3: 1.7, 2: 3.0, 1: 0.007}, position_limits={2: (0.05, 6.2)}
)
"""Far from all ends; the wrist has some, so that the judge need not care for full turns."""


def make_core(mover: PlainMover, scenario: Scenario) -> DriverCore:
    """Return a driver's core as the node makes it, but for the mover; active and guarded."""
    schedule = ScheduleConfig(telemetry_rate=scenario.telemetry_rate, wiring=scenario.wiring)
    core = DriverCore(CoreConfig(schedule=schedule), BOUNDS, DESCRIPTION, mover)
    core.set_active(True, 0.0)
    core.on_guard(True, 0.0)
    return core


class VirtualArm:
    """One run of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.now = 0.0
        kind = KINDS[scenario.kind]
        self._random = random.Random(f"{scenario.seed}/world")
        self._port_faults = Faults(**dict.fromkeys(kind.port, scenario.rate))
        self._arm_faults = dict.fromkeys(kind.arm, scenario.rate)
        self._can_purge = self._random.random() < 0.8
        half_duplex = scenario.wiring == RS485
        config = SimConfig(arm=ARM, half_duplex=half_duplex, seed=scenario.seed, noise=1.0)
        self.simulation = Simulation(config, self.now)
        for faults in self.simulation.faults.values():
            for name in kind.wire:
                faults.set_rate(name, scenario.rate)
        self.mover = PlainMover()
        self.core = make_core(self.mover, scenario)
        self.judge = Judge(self.simulation, self.core, bool(kind.wire))
        self.pilot = Pilot(
            scenario.seed, self._send, self._estop, self._ask, lambda: self.core.gate.estop_epoch
        )
        self._backoff = Backoff(RECONNECT)
        self._port: VirtualPort | None = None
        self._line: FaultyLine | None = None
        self._blocked = False
        self._next_read = 0.0
        self._next_measure = 0.0
        self._outages: dict[int, float] = {}
        """When a device is itself again, by its id."""
        self._losses = 0
        self._strikes = 0

    def run(self) -> Outcome:
        """Run it all; an exception is a violation like any other."""
        recovery = math.inf
        try:
            self._run_until(self.scenario.seconds)
            self._end_faults()
            recovery = self._recovery()
        except Exception:
            self.judge.violations.append(f"at {self.now:.4f} s: {traceback.format_exc()}")
        self._count_strikes()
        return Outcome(
            self.scenario,
            tuple(self.judge.violations),
            self.judge.worst_error,
            self.judge.longest_motion,
            self.judge.growth,
            self.judge.motion_frames,
            self._strikes + sum(way.counts.total() for way in self.simulation.faults.values()),
            self.core.gate.stops,
            self._losses,
            recovery,
        )

    # -- time

    def _run_until(self, end: float) -> None:
        while self.now < end:
            self._sleep()
            self._turn()

    def _recovery(self) -> float:
        """Return how long it takes until the arm can be moved again, without faults [s]."""
        joint = self.simulation.arm.joints[DEVICES[0].id]
        began = self.now
        self._run_until(began + CALM)
        start = joint.position
        while abs(joint.position - start) < SHOWN_WAY:
            if self.now - began > LONGEST_RECOVERY:
                self.judge.blame(self.now, "the arm cannot be moved any more")
                return math.inf
            self._run_until(self.now + IDLE)
        return self.now - began

    def _sleep(self) -> None:
        times = [self.now + IDLE, self.pilot.next_at, *self._outages.values()]
        if self._line is None:
            times.append(self._backoff.next_attempt)
        else:
            times.append(self.core.next_wakeup(self.now))
            arrival = self.simulation.due()
            if arrival is not None:
                prompt = self.core.outbox.prompt_reads
                times.append(arrival if prompt else max(arrival, self._next_read))
            if self._blocked:
                times.append(self.now)
        self.now = max(self.now, min(times)) + self._random.uniform(0.0, MAX_LATENCY)
        passed = self.simulation.advance(self.now)
        if self._port is not None:
            self._port.arrive(b"".join(chunk.data for chunk in passed.to_driver))

    def _turn(self) -> None:
        self._trouble_arm()
        while self.pilot.next_at <= self.now:
            self.pilot.act()
        if self._line is None:
            self._without_line()
        else:
            try:
                self._with_line(self._line)
            except LineLost as error:
                self._lose(str(error))
        self.judge.on_turn(self.core.next_wakeup(self.now), self.now)
        if self.now >= self._next_measure:
            self._next_measure = self.now + MEASURE_PERIOD
            self.judge.measure(self.now)
            self.core.notes.clear()

    # -- the line

    def _with_line(self, line: FaultyLine) -> None:
        self._write(line)
        if self.now >= self._next_read or self.core.outbox.prompt_reads:
            data = line.read()
            if data:
                self._next_read = self.now + READ_SPACING
                self.core.receive_data(data, self.now)
                self.judge.on_received(data, self.now)
        self.core.tick(self.now)
        self._write(line)

    def _write(self, line: FaultyLine) -> None:
        if self.core.outbox.wants_queued:
            self.core.data_sent(0, self.now, line.queued())
        outgoing = self.core.data_to_send(self.now)
        if outgoing.purge:
            line.purge_output()
        if outgoing.data:
            count = line.write(outgoing.data)
            self._blocked = count < len(outgoing.data)
            self.judge.on_written(outgoing.data, count, outgoing.purge, self.now)
            self.core.data_sent(count, self.now)

    def _without_line(self) -> None:
        if self.now < self._backoff.next_attempt:
            self.core.tick(self.now)
        elif self._port_faults.error and self._random.random() < CLOSED:
            self._backoff.failed(self.now)
        else:
            seed = self._random.randrange(1 << 30)
            self._port = VirtualPort(self.simulation, lambda: self.now, self._can_purge, seed)
            self._port.forge = self._arm_faults.get("forge", 0.0)
            self._line = FaultyLine(self._port, self._port_faults, seed)
            self._blocked = False
            self._backoff.opened(self.now)
            self.judge.on_line(self.now)
            self.core.on_connected(self.now, self._can_purge)

    def _lose(self, reason: str) -> None:
        self._count_strikes()
        assert self._line is not None
        self._line.close()
        self._line = self._port = None
        self._losses += 1
        self._backoff.failed(self.now)
        self.judge.on_lost(self.now)
        self.core.on_disconnected(reason, self.now)

    def _count_strikes(self) -> None:
        if self._line is not None and self._port is not None:
            self._strikes += self._line.strikes + self._port.lies

    # -- troubles

    def _trouble_arm(self) -> None:
        for device_id, end in list(self._outages.items()):
            if self.now >= end:
                self._restore(device_id)
        if self._random.random() < self._arm_faults.get("power", 0.0):
            end = self.now + self._random.uniform(*OUTAGE)
            for device in self.simulation.devices.values():
                device.power_off()
                self._outages[device.device_id] = end
            self._strikes += 1
        if self._random.random() < self._arm_faults.get("deaf", 0.0):
            device = self.simulation.devices[self._random.choice(DEVICES).id]
            device.deaf = True
            self._outages[device.device_id] = self.now + self._random.uniform(*OUTAGE)
            self._strikes += 1

    def _restore(self, device_id: int) -> None:
        device = self.simulation.devices[device_id]
        device.deaf = False
        if not device.powered:
            device.power_on(self.now)
        del self._outages[device_id]
        self.judge.interrupted(device_id, self.now)

    def _end_faults(self) -> None:
        for faults in self.simulation.faults.values():
            faults.clear()
        self._port_faults = Faults()
        self._arm_faults = {}
        for device_id in list(self._outages):
            self._restore(device_id)
        if self._line is not None and self._port is not None:
            self._line.faults = self._port_faults
            self._port.forge = 0.0
        self.judge.on_calm()
        self.pilot.show(self.now)

    # -- the pilot's words

    def _ask(self, rates: tuple[float, ...]) -> None:
        self.mover.rates = rates

    def _send(self, command: DriverCommand, sent: float) -> None:
        self.judge.permission.on_command(command, sent, self.now)
        self.core.on_command(command, sent, self.now)

    def _estop(self, level: StopLevel) -> None:
        self.judge.permission.withdraw(self.now, latch=True)
        self.core.on_estop(level, "pilot", "a test", self.now)
