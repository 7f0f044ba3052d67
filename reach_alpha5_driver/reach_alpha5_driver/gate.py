"""The one place where motion may leave for the wire, and where every stop comes from.

Theory of operation. The arm has no watchdog of its own: a velocity persists until the next
command. So the gate remembers whether it let motion out, and owes a stop from the first moment at
which motion may no longer be let out. Both are decided in `release`, at the moment of the write
and nowhere earlier: whatever was computed, queued or decided before is checked again there.

Motion passes while all of this is true: no e-stop is latched, no fault is latched, nothing of
`Hold` stands, an arbiter is engaged, the arm answers, every joint's position is fresh, and the
demand's lifetime is not over. `State` has the engagement, the answering and the fault; `EXECUTING`
is entered by an accepted demand only. When nobody asks for motion any more, and says so in good
order, what moves may fade: that is a demand for none, with a lifetime of its own (`ease`).

A stop is one broadcast of velocity zero, then velocity zero to each device, and asks for what the
line still has queued to be purged first. It is written once: a stream of zeroes would look like a
live jog. It is written again only when the arm is measured to move all the same, and when joints
that were silent are heard again: they may not have heard it either. An arm that goes on moving is
put into standby after that, and then disabled; `Beyond` says what follows a stop in one write.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reach_alpha5_common.command import STILL, StopLevel
from reach_alpha5_driver.demand import Demand
from reach_alpha5_driver.devices import BASE_UNIT, DEVICES
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.protocol.packets import STOP_FRAMES, PresetGo, Velocity, encode
from reach_alpha5_driver.states import Event, State, after
from reach_alpha5_driver.stops import BEYOND_FRAMES, BEYOND_LEVEL, STILL_MOVING, Beyond

RATE_TOLERANCE = 1e-6
"""Relative; what rounding may add to a rate that stands at its limit."""


@dataclass(frozen=True, slots=True)
class Release:
    """What may be written now. `purge`: throw away first what the line still has queued."""

    purge: bool = False
    data: bytes = b""


NOTHING = Release()

STILL_RATES = (0.0,) * len(DEVICES)

UNKNOWN_RATES = (math.nan,) * len(DEVICES)
"""Those of an arm that goes to a preset of its own."""


class Gate:
    """Latches, engagement, the standing demand, the release of motion. Times: monotonic [s]."""

    def __init__(self, rate_limits: Sequence[float], stop_repeat_period: float) -> None:
        """Make a closed gate; `rate_limits` are the description's, chain order [rad/s, m/s]."""
        self._rate_limits = tuple(limit * (1.0 + RATE_TOLERANCE) for limit in rate_limits)
        self._repeat_period = stop_repeat_period
        self.state = State.NONE
        self.estop_level = StopLevel.NONE
        self.estop_epoch = 0
        self.fault_causes: list[str] = []
        self.demand: Demand | None = None
        self.stops = 0
        self.last_stop_cause = ""
        self.last_stop_at = -math.inf
        self.disengaged_at = -math.inf
        self.holds = dict.fromkeys(Hold)
        """What keeps the arm from being engaged; all of it to begin with."""
        self.moved = True
        """Whether the arm may move by what was let out, or, at first, by what an earlier driver
        left behind: from just before the first motion until the stop after the last."""
        self.released_rates: tuple[float, ...] = STILL_RATES
        """Joint rates that the arm was told last, chain order [rad/s, m/s]."""
        self._owed: str | None = None
        self._beyond = Beyond.NOTHING
        self._all_heard = False
        self._staged: tuple[bytes, tuple[float, ...]] | None = None

    # -- what opens it

    def engage(self) -> None:
        """Let demands in, if the arm answers, nothing is latched and nothing holds it."""
        if self.estop_level is StopLevel.NONE and not self.holds:
            self._enter(Event.ENGAGE)

    def lift(self, hold: Hold) -> None:
        """Take a hold away. Engages nothing."""
        self.holds.pop(hold, None)

    def take(self, demand: Demand) -> bool:
        """Take a demand, replacing the standing one; return whether it was let in."""
        if self.state is State.ENABLED and self.estop_level is StopLevel.NONE and not self.holds:
            self._enter(Event.MOVE)
        if self.state is not State.EXECUTING:
            return False
        # What was staged for the demand before stays: on a busy half-duplex line, demands may come
        # faster than rates leave, and older rates are better than none that are new.
        self.demand = demand
        return True

    def set_rates(self, rates: Sequence[float]) -> None:
        """Stage joint rates, chain order [rad/s, m/s], for the next release.

        Raises:
            ValueError: a rate is not finite or beyond the description's limit; nothing is staged.
        """
        self._staged = None
        for rate, limit, device in zip(rates, self._rate_limits, DEVICES, strict=True):
            if not abs(rate) <= limit:
                raise ValueError(f"rate {rate:g} for {device.joint} is beyond its limit {limit:g}")
        frames = b"".join(
            encode(Velocity(device.id, rate)) for device, rate in zip(DEVICES, rates, strict=True)
        )
        self._staged = frames, tuple(rates)

    def set_preset(self, slot: int) -> None:
        """Stage one step of the arm's own way to its preset `slot` for the next release."""
        self._staged = encode(PresetGo(BASE_UNIT, slot)), UNKNOWN_RATES

    # -- what closes it

    def stop(self, cause: str, now: float) -> None:
        """End the demand and owe a stop, moving or not.

        Requests that come faster than `stop_repeat_period` are one stop while nothing was let out
        in between: whoever hammers the button must not fill the line.
        """
        self._end(cause)
        if self.moved or now - self.last_stop_at >= self._repeat_period:
            self._owe(cause)

    def hold(self, hold: Hold, now: float) -> None:
        """Keep the arm from being engaged; a demand that stands ends."""
        if hold not in self.holds:
            self.holds[hold] = None
            self.disengage(hold.code, now)

    def ease(self, cause: str, expires: float) -> bool:
        """Let the motion that was let out fade; at `expires` it is stopped for `cause`.

        What else ends a demand ends this one as well, at once.

        Returns:
            Whether there is any motion to fade.
        """
        if self.demand is None or not self.moved:
            return False
        if self.demand.command != STILL:  # else it fades already, and gets no longer for it
            self.demand = Demand(STILL, expires, cause)
        return True

    def rest(self, cause: str) -> None:
        """End the demand if one stands, with a stop on that edge; else do nothing."""
        self._end(cause)

    def estop(self, level: StopLevel, now: float) -> None:
        """Latch an e-stop. The most restrictive level since the reset stays."""
        if level is StopLevel.NONE:
            return
        more_restrictive = level > self.estop_level
        self.estop_level = max(self.estop_level, level)
        self.estop_epoch += 1
        self.disengage("estop", now)
        self.stop("estop", now)
        if more_restrictive:
            self._owe("estop", BEYOND_LEVEL[level])

    def fault(self, cause: str, now: float) -> None:
        """Latch a major fault; any cause is listed once."""
        fresh_latch = self.state is not State.MAJOR_FAULT
        self._note_fault(cause, now)
        if fresh_latch:
            self._owe("fault")
        self._enter(Event.FAULT)

    def minor_fault(self, cause: str, now: float) -> None:
        """Stop for a minor fault; any cause is listed once."""
        fresh_latch = self.state not in (State.MINOR_FAULT, State.MAJOR_FAULT)
        self._note_fault(cause, now)
        if fresh_latch:
            self._owe("fault")
        self._enter(Event.MINOR)

    def recover(self) -> None:
        """Go on after minor faults that have ended; after a major one nothing changes."""
        if self.state is State.MINOR_FAULT:
            self.fault_causes.clear()
            self._enter(Event.RECOVER)

    def disengage(self, cause: str, now: float) -> None:
        """Require that whoever asks for motion shows a neutral again."""
        self._end(cause)
        self._enter(Event.DISENGAGE)
        self.disengaged_at = now

    def arm_answers(self, answers: bool, now: float) -> None:
        """Follow whether anything answers on the line."""
        if answers and self.state is State.NONE:
            self._enter(Event.ARM_ANSWERS)
            self.disengaged_at = now
        elif not answers:
            self._end("arm_silent")
            self._enter(Event.ARM_SILENT)

    def reset(self) -> None:
        """Clear the latches. Moves nothing: a demand that stands ends."""
        self._end("reset")
        self.estop_level = StopLevel.NONE
        self.fault_causes.clear()
        self._enter(Event.CLEAR)

    def line_opened(self) -> None:
        """Owe a stop to an arm just connected: it may still obey an earlier session's velocity."""
        self.moved = True
        self._owe("connected")

    def line_closed(self, now: float) -> None:
        """Drop what is owed to a line that is gone; the next opening owes a stop anyway."""
        self.arm_answers(False, now)
        self._owed, self._beyond = None, Beyond.NOTHING

    def shutdown(self) -> None:
        """Owe the last stop, whatever was before."""
        self._owe("shutdown")

    def still_moving(self, beyond: Beyond) -> None:
        """Owe the stop again, and more: what is measured says that the arm did not obey."""
        self._owe(STILL_MOVING[beyond], beyond)

    def cut(self) -> None:
        """Owe a stop that also disables the motors."""
        self._owe("power_cut", Beyond.DISABLE)

    # -- the write

    @property
    def stop_owed(self) -> bool:
        """Whether a stop waits to be written."""
        return self._owed is not None

    def check(self, now: float, posture_fresh: bool) -> None:
        """Turn everything that has become a reason to stop into an owed stop."""
        if posture_fresh and not self._all_heard:
            self._owe("heard_again")
        self._all_heard = posture_fresh
        if self.state is State.EXECUTING:
            if self.demand is None:
                self.rest("expired")
            elif now >= self.demand.expires:
                self.rest(self.demand.ends_as)
            elif not posture_fresh:
                self.disengage("stale_posture", now)

    def release(self, now: float, posture_fresh: bool) -> Release:
        """Return what may be written at this moment: an owed stop, motion, or nothing."""
        self.check(now, posture_fresh)
        if self._owed is not None:
            self.last_stop_cause, self._owed = self._owed, None
            self.last_stop_at = now
            self.stops += 1
            self.moved = False
            self.released_rates = STILL_RATES
            frames = STOP_FRAMES + BEYOND_FRAMES[self._beyond]
            self._beyond = Beyond.NOTHING
            return Release(True, frames)
        open_now = (
            self.state is State.EXECUTING and self.estop_level is StopLevel.NONE and not self.holds
        )
        if self._staged is None or not open_now:
            return NOTHING
        data, self.released_rates = self._staged
        self._staged = None
        self.moved = True
        return Release(False, data)

    # -- the only writers of state

    def _enter(self, event: Event) -> None:
        self.state = after(self.state, event)

    def _end(self, cause: str) -> None:
        """End the standing demand, and owe a stop if it may have moved the arm."""
        self._staged = None
        if self.state is not State.EXECUTING:
            return
        self.demand = None
        self._enter(Event.REST)
        if self.moved:
            self._owe(cause)

    def _note_fault(self, cause: str, now: float) -> None:
        if cause not in self.fault_causes:
            self.fault_causes.append(cause)
        self.stop("fault", now)
        self.disengaged_at = now

    def _owe(self, cause: str, beyond: Beyond = Beyond.NOTHING) -> None:
        if self._owed is None or beyond > self._beyond:
            self._owed = cause
        self._beyond = max(self._beyond, beyond)
