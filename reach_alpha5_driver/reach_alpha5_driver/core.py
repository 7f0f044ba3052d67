"""The driver without I/O: bytes, commands and time in; bytes and pictures out.

The shell calls, always with the monotonic time `now` [s]:

* `on_connected`, `on_disconnected`, `receive_data` as the line has it;
* `on_command`, `on_estop` as they come;
* `tick`, then `data_to_send`, after any of these and at `next_wakeup` at the latest;
* `data_sent` with how much of it the line took.

The parts: `Telemetry` holds what is believed of the arm, `CommandDesk` reads what others want,
`Gate` decides what may move the arm, `Outbox` what is written. This file ties them together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from reach_alpha5_common.command import DriverCommand, GripperCommand
from reach_alpha5_driver.belief import JointBounds
from reach_alpha5_driver.commands import CommandDesk
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.demand import Demand
from reach_alpha5_driver.gate import Gate
from reach_alpha5_driver.outbox import NOTHING, Outbox, Outgoing
from reach_alpha5_driver.poller import Poller
from reach_alpha5_driver.rest import RestWatch
from reach_alpha5_driver.snapshot import Note
from reach_alpha5_driver.telemetry import Telemetry
from reach_alpha5_motion.resolver import Resolution

MOTION_SPACING = 0.5
"""Least time between two sets of rates, in control periods: a changed command is resolved at once,
but however fast commands come, the line must keep room for requests."""

MAX_NOTES = 100


class Resolver(Protocol):
    """Turns a command into joint rates at a posture: `reach_alpha5_motion.VelocityResolver`."""

    def resolve(self, command: GripperCommand, q: Sequence[float]) -> Resolution:
        """Return the rates, chain order [rad/s, m/s]."""


class DriverCore:
    """All of the driver's decisions."""

    def __init__(
        self,
        config: CoreConfig,
        bounds: Sequence[JointBounds],
        rate_limits: Sequence[float],
        resolver: Resolver,
    ) -> None:
        """Make a core without a line.

        Args:
            config: settings.
            bounds: what a report of each joint can be, chain order.
            rate_limits: the description's velocity limits, chain order [rad/s, m/s].
            resolver: makes joint rates of commands.
        """
        self.notes: deque[Note] = deque(maxlen=MAX_NOTES)
        """For the log; whoever writes it takes them off."""
        self.gate = Gate(rate_limits, config.stop_repeat_period)
        poller = Poller(
            config.telemetry_window, config.request_timeout, config.slow_telemetry_period
        )
        self.telemetry = Telemetry(bounds, config.stale_after, poller)
        self.desk = CommandDesk(
            self.gate, self.telemetry.belief, config.max_command_lifetime, self.notes
        )
        self.outbox = Outbox(self.gate, poller, config.baud_rate)
        self.connected = False
        self.connections = 0
        self.resolution: Resolution | None = None
        """How the standing demand was last resolved; None while none stands."""
        self._config = config
        self._resolver = resolver
        self._period = 1.0 / config.control_rate
        self._resolved: GripperCommand | None = None
        self._resolved_at = -math.inf
        self._rest = RestWatch(config.stop_confirm_time, config.stop_repeat_period)

    # -- the line

    def on_connected(self, now: float) -> None:
        """Begin with an arm of which nothing is known: stop it, then listen."""
        self.connected = True
        self.connections += 1
        self.outbox.line_opened()
        self.telemetry.line_opened(now)
        self.gate.line_opened()

    def on_disconnected(self, reason: str, now: float) -> None:
        """Forget what was believed and asked for; nothing can be written any more."""
        self.connected = False
        self.telemetry.line_closed()
        self.gate.line_closed(now)
        self._rest.forget()
        self.notes.append(Note("error", f"the line to the arm is lost: {reason}"))

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes from the line."""
        self.telemetry.receive(data, now)

    # -- what others want

    def on_estop(self, level: int, source: str, reason: str, now: float) -> None:
        """Latch an e-stop of anybody; `level` as on the wire, an undefined one is CUT."""
        self.desk.on_estop(level, source, reason, now)

    def on_command(self, command: DriverCommand, received: float, now: float) -> None:
        """Take a driver command that arrived at `received`; its lifetime counts from there."""
        self.desk.on_command(command, received, now)

    def on_shutdown(self, now: float) -> None:
        """Owe the stop that leaves before the process does."""
        self.gate.disengage("shutdown", now)
        self.gate.shutdown()

    def on_internal_error(self, cause: str, text: str, now: float) -> None:
        """Latch a major fault for what must not happen: an error of ours."""
        self.gate.fault(cause, now)
        self.notes.append(Note("error", f"fault {cause}, stopped until a reset: {text}"))

    # -- time

    def tick(self, now: float) -> None:
        """Do what time brings: staleness, expiry, the next rates, a stop that did not stop."""
        belief = self.telemetry.belief
        self.telemetry.tick(now)
        self.gate.arm_answers(belief.answers(now), now)
        self.gate.check(now, belief.fresh(now))
        demand = self.gate.demand
        if demand is None:
            self.resolution = None
            if self._rest.is_broken(belief, self.gate.last_stop_at, now):
                self.gate.still_moving()
        else:
            self._rest.forget()
            if now >= self._resolve_at(demand):
                self._resolve(demand, now)

    def next_wakeup(self, now: float) -> float:
        """Return the time of the next `tick` if nothing else happens before; inf = never."""
        if not self.connected:
            return math.inf
        if self.gate.stop_owed:
            return now
        times = [self.telemetry.next_time(now), self._rest.next_time(self.gate.last_stop_at)]
        demand = self.gate.demand
        if demand is not None:
            times += [demand.expires, self._resolve_at(demand)]
        room_at = self.outbox.room_at()
        if room_at is not None:
            times.append(room_at)
        return min(times)

    def _resolve_at(self, demand: Demand) -> float:
        changed = demand.command != self._resolved
        return self._resolved_at + self._period * (MOTION_SPACING if changed else 1.0)

    def _resolve(self, demand: Demand, now: float) -> None:
        self._resolved, self._resolved_at = demand.command, now
        try:
            resolution = self._resolver.resolve(demand.command, self.telemetry.belief.positions())
            if resolution.refused is not None:
                raise ValueError(resolution.refused.reason)
            self.gate.set_rates(resolution.joint_velocities.tolist())
        except ValueError as error:
            self.on_internal_error("unresolved", f"no joint rates for the command: {error}", now)
            return
        self.resolution = resolution

    # -- the write

    def data_to_send(self, now: float) -> Outgoing:
        """Return what shall be written now: an owed stop alone, or else all that is due."""
        if not self.connected:
            return NOTHING
        outgoing = self.outbox.take(now, self.telemetry.belief.fresh(now))
        if outgoing.purge:
            self.notes.append(Note("info", f"stop: {self.gate.last_stop_cause}"))
        return outgoing

    def data_sent(self, count: int, now: float, queued: int = 0) -> None:
        """Note that the line took the first `count` bytes, and that the kernel holds `queued`."""
        self.outbox.sent(count, now, queued)
