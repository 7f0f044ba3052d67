"""The driver without I/O: bytes, commands and time in; bytes and pictures out.

The shell calls, always with the monotonic time `now` [s]:

* `on_connected`, `on_disconnected`, `receive_data` as the line has it;
* `on_command`, `on_estop`, `on_power`, `set_active`, `on_guard` … as they come;
* `tick`, then `data_to_send`, after any of these and at `next_wakeup` at the latest;
* `data_sent` with how much of it the line took.

The parts: `Telemetry` holds what is believed of the arm, `Supervisor` watches over it,
`CommandDesk` reads what others want, `MotionDesk` makes rates of it, `Gate` decides what may move
the arm, `Outbox` what is written. This file ties them together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from reach_alpha5_common.command import DriverCommand
from reach_alpha5_common.refusal import Problem
from reach_alpha5_driver.belief import JointBounds
from reach_alpha5_driver.commands import CommandDesk
from reach_alpha5_driver.config import CoreConfig
from reach_alpha5_driver.gate import Gate
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.identity import JointRanges
from reach_alpha5_driver.motion_desk import MotionDesk, Mover
from reach_alpha5_driver.outbox import NOTHING, Outbox, Outgoing
from reach_alpha5_driver.poller import Poller
from reach_alpha5_driver.service import ServiceDesk
from reach_alpha5_driver.snapshot import Note
from reach_alpha5_driver.supervisor import Supervisor
from reach_alpha5_driver.telemetry import Telemetry

MAX_NOTES = 100

NO_LATENCY_TIMER = -1
"""For a line without one, or with one that cannot be read."""


class DriverCore:
    """All of the driver's decisions."""

    def __init__(
        self,
        config: CoreConfig,
        bounds: Sequence[JointBounds],
        description: JointRanges,
        mover: Mover,
    ) -> None:
        """Make a core without a line, inactive.

        Args:
            config: settings.
            bounds: what a report of each joint can be, chain order.
            description: the description's limits, chain order.
            mover: makes joint rates of commands.
        """
        self.notes: deque[Note] = deque(maxlen=MAX_NOTES)
        """For the log; whoever writes it takes them off."""
        self.config = config
        self.gate = Gate(description.velocity, config.stop_repeat_period)
        self.telemetry = Telemetry(bounds, config, Poller(config.schedule))
        self.outbox = Outbox(self.gate, self.telemetry.poller, config.schedule)
        self.supervisor = Supervisor(
            self.gate, self.telemetry, self.outbox, config, description, self.notes
        )
        self.desk = CommandDesk(
            self.gate, self.telemetry.belief, config, self.supervisor.unrest, self.notes
        )
        self.service = ServiceDesk(self.desk)
        self.motion = MotionDesk(
            self.gate,
            self.desk,
            self.supervisor,
            self.telemetry,
            mover,
            1.0 / config.schedule.control_rate,
            self.notes,
        )
        self.connected = False
        self.connections = 0
        self.guard_trips = 0
        self.latency_timer = NO_LATENCY_TIMER
        """Of the adapter of the open line [ms]."""

    # -- the line

    def on_connected(self, now: float, can_purge: bool = True, latency: int | None = None) -> None:
        """Begin with an arm of which nothing is known: stop it, then listen.

        Args:
            now: the time.
            can_purge: what the line has queued can be thrown away.
            latency: timer of the adapter [ms]; None: it has none, or does not tell.
        """
        self.connected = True
        self.latency_timer = NO_LATENCY_TIMER if latency is None else latency
        self.connections += 1
        self.outbox.line_opened(can_purge)
        self.telemetry.line_opened(now)
        self.supervisor.line_opened(now)
        self.gate.line_opened()

    def on_disconnected(self, reason: str, now: float) -> None:
        """Note that the line is lost."""
        self._forget_line(now)
        self.notes.append(Note("error", f"the line to the arm is lost: {reason}"))

    def on_released(self, now: float) -> None:
        """Note that the line was given back in good order."""
        self._forget_line(now)
        self.notes.append(Note("info", "the line to the arm is closed"))

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes from the line."""
        self.telemetry.receive(data, now)

    # -- what others want

    def on_estop(self, level: int, source: str, reason: str, now: float) -> None:
        """Latch an e-stop of anybody; `level` as on the wire, an undefined one is CUT."""
        self.desk.on_estop(level, source, reason, now)

    def on_command(self, command: DriverCommand, received: float, now: float) -> None:
        """Take a driver command that arrived at `received`; its lifetime counts from there."""
        if self.desk.on_command(command, received, now):
            self.supervisor.on_reset(now)
            self.desk.on_neutral(now)

    def on_power(self, on: bool, now: float) -> Problem | None:
        """Switch the motors on or off; return why that cannot be. What comes of it is reported."""
        if not self.connected:
            return Hold.NOT_IDENTIFIED.problem
        return self.supervisor.want_power(on, now)

    def set_active(self, active: bool, now: float) -> None:
        """Accept motion from now on, or stop and accept none."""
        if active:
            self.gate.lift(Hold.INACTIVE)
        else:
            self.gate.stop(Hold.INACTIVE.code, now)
            self.gate.hold(Hold.INACTIVE, now)

    def on_guard(self, watches: bool, now: float) -> None:
        """Note whether a guard process watches the line."""
        if watches:
            self.gate.lift(Hold.NO_GUARD)
        else:
            self.gate.hold(Hold.NO_GUARD, now)

    def on_guard_trip(self, reason: str, now: float) -> None:
        """Note that the guard has stopped the arm, because this driver was too late."""
        self.guard_trips += 1
        self.gate.fault("guard_tripped", now)
        text = f"fault guard_tripped: the guard stopped the arm: {reason}; reset to go on"
        self.notes.append(Note("error", text))

    def on_shutdown(self, now: float) -> None:
        """Owe the stop that leaves before the line is given back."""
        self.gate.disengage("shutdown", now)
        self.gate.shutdown()
        self.outbox.line_leaving()

    def on_internal_error(self, cause: str, text: str, now: float) -> None:
        """Latch a major fault for what must not happen: an error of ours."""
        self.gate.fault(cause, now)
        self.notes.append(Note("error", f"fault {cause}, stopped until a reset: {text}"))

    @property
    def may_move(self) -> bool:
        """Whether the arm moves, may begin to, or has not been measured at rest since its stop.

        The guard must watch as long.
        """
        return self.connected and (
            self.gate.moved or self.gate.demand is not None or self.supervisor.unconfirmed
        )

    # -- time

    def tick(self, now: float) -> None:
        """Do what time brings: staleness, expiry, the next rates, a stop that did not stop."""
        belief = self.telemetry.belief
        self.telemetry.tick(now)
        self.gate.arm_answers(belief.answers(now), now)
        if self.connected:
            self.supervisor.tick(now)
        self.gate.check(now, belief.fresh(now))
        self.motion.tick(now)

    def next_wakeup(self, now: float) -> float:
        """Return the time of the next `tick` if nothing else happens before; inf = never."""
        if not self.connected:
            return math.inf
        if self.gate.stop_owed:
            return now
        times = [
            self.telemetry.next_time(now),
            self.supervisor.next_time(),
            self.motion.next_time(),
        ]
        room_at = self.outbox.room_at()
        if room_at is not None:
            times.append(room_at)
        return min(times)

    def _forget_line(self, now: float) -> None:
        """Forget what was believed and asked for; nothing can be written any more."""
        self.connected = False
        self.outbox.line_closed()
        self.telemetry.line_closed()
        self.gate.line_closed(now)
        self.supervisor.line_closed(now)

    # -- the write

    def data_to_send(self, now: float) -> Outgoing:
        """Return what shall be written now: an owed stop alone, or else all that is due."""
        if not self.connected:
            return NOTHING
        before = self.gate.released_rates
        outgoing = self.outbox.take(now, self.telemetry.belief.fresh(now))
        if self.gate.released_rates is not before:
            self.supervisor.on_released(now)
        if outgoing.purge:
            self.motion.halted()
            self.notes.append(Note("info", f"stop: {self.gate.last_stop_cause}"))
        return outgoing

    def data_sent(self, count: int, now: float, queued: int | None = None) -> None:
        """Note that the line took the first `count` bytes, and that the kernel holds `queued`.

        None: the kernel was not asked.
        """
        self.outbox.sent(count, now, queued)
