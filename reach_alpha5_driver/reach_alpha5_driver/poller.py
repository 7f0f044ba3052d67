"""Asks the arm for reports: what, whom, and when, so that the line is busy and never overrun.

Fast values (position, velocity, current) go round the devices. After each round there is one turn
for something else: a question that somebody has, else a device's slow values when they are due. A
turn that nobody needs falls to the next round; while no fast values are due, there are no rounds
to wait for.

RS-232. A request of 9 bytes buys 30 bytes of replies, so the incoming line is the bottleneck. The
poller keeps as many reply bytes on order as the window holds: enough to bridge the way there and
back, no more, since each byte on order delays what is asked next. A reply gives its credit back;
what does not come gives it back by time-out, or when later requests have been answered.

RS-485. One device is asked at a time, and nothing more until its answer is complete. Once an
answer has begun, its end is known: a lost part does not keep the bus for the whole time-out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reach_alpha5_driver.budget import planned_rate
from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.frame_sizes import DEMAND_BYTES, reply_bytes, request_bytes
from reach_alpha5_driver.heartbeat import Heartbeat
from reach_alpha5_driver.orders import Order, Orders
from reach_alpha5_driver.protocol.packets import Request, encode
from reach_alpha5_driver.schedule import FAST, HEARTBEAT, SLOW, ScheduleConfig

SILENT_AFTER = 0.3
"""Seconds without a sign of a device, and ..."""

SILENT_MISSES = 2
"""... requests in a row without any answer, after which it is asked now and then only."""

SILENT_PERIOD = 0.25
"""[s]; a dead device must not eat the credit of the living."""

SILENT_PERIOD_SHARED = 1.0
"""[s]; on RS-485 the living wait out the time-out of a dead one: once in this time, all in all."""

QUESTION_BYTES = 80
"""A question with a longer answer is asked in parts: fast values wait for the whole of it."""

RETURN_TIME = 0.01
"""[s]; silence after which no more answers are thought to be on the way."""

SETTLE_PERIOD = 10.0
"""Seconds after which the line runs dry once on RS-232: a reply that came twice may have given a
credit that there was not, and nothing else would end it."""


@dataclass(slots=True)
class _Target:
    """One device as the poller sees it. Times are monotonic seconds."""

    id: int
    fast_due: float
    slow_due: float
    heard_at: float
    ask_after: float
    misses: int = 0
    """Requests in a row without any answer."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """One request that could be made now."""

    target: int
    packets: tuple[int, ...]


class Poller:
    """Plans requests and keeps account of their replies. Times are monotonic seconds."""

    def __init__(self, config: ScheduleConfig) -> None:
        """Make a poller that asks nothing before `start`."""
        self.half_duplex = config.half_duplex
        self.unanswered = 0
        """Requests of which not every answer came."""
        self._config = config
        self._orders = Orders(
            1 if config.half_duplex else config.telemetry_window, in_order=not config.half_duplex
        )
        self._heartbeat = (
            Heartbeat(int(planned_rate(config))) if config.telemetry == HEARTBEAT else None
        )
        rate = config.telemetry_rate
        self._fast_period = 1.0 / rate if rate else 0.0
        self._targets = tuple(
            _Target(device.id, math.inf, math.inf, -math.inf, -math.inf) for device in DEVICES
        )
        self._by_id = {target.id: target for target in self._targets}
        self._questions: list[_Turn] = []
        self._next_fast = 0
        self._fast_in_a_row = 0
        self._hold = -math.inf
        self._longest_hold = -math.inf
        self._settle_at = math.inf
        self._room_at = -math.inf
        self._starved = False
        """Whether what is due waits for credit."""
        self._last_reply = (0, 0)

    # -- the line

    def start(self, now: float) -> None:
        """Begin on a line just opened; the slow values come one device after the other."""
        self.forget()
        self._settle_at = math.inf if self.half_duplex else now + SETTLE_PERIOD
        for turn, target in enumerate(self._targets):
            share = turn / len(self._targets)
            target.fast_due = now + share * self._fast_period
            target.slow_due = now + share * self._config.slow_telemetry_period
            target.heard_at = now
            target.ask_after = -math.inf
            target.misses = 0
        if self._heartbeat is not None:
            self._heartbeat.start(now)

    def forget(self) -> None:
        """Forget everything on order and all questions: the line is lost."""
        self._orders.clear()
        self._questions.clear()
        self._hold = -math.inf
        self._starved = False

    def cut(self, now: float, left_at: float) -> None:
        """Forget what is on order: a stop took its place, which leaves the wire at `left_at`.

        It cannot be told which requests were thrown away and which will be answered, so nothing is
        asked until their answers have come in, if they come.
        """
        if self.half_duplex:
            hold = max(left_at, self._orders.over_by) + self._config.turnaround
        else:
            drained = now + self._orders.bytes / self._config.bytes_per_second
            hold = max(left_at, drained) + RETURN_TIME
        self._hold = max(self._hold, hold)
        self._longest_hold = self._hold + self._config.request_timeout
        self._orders.clear()
        self._starved = False

    # -- what comes

    def on_reply(self, device_id: int, packet_id: int, now: float) -> None:
        """Take note of a report; one that nobody asked for or that came twice gives no credit."""
        target = self._by_id[device_id]
        if self._silent(target, now):
            for each in self._targets:  # what was without power comes back together
                each.ask_after = -math.inf
        target.heard_at, target.misses = now, 0
        if self._heartbeat is not None and packet_id in FAST:
            self._heartbeat.on_report(device_id, now)
        again = not self.half_duplex and self._last_reply == (device_id, packet_id)
        self._last_reply = (device_id, packet_id)
        order, lost = (None, []) if again else self._orders.on_reply(device_id, packet_id)
        self._give_up(lost)
        self._starved &= order is None
        if order is None:
            if now < self._hold and self._heartbeat is None:  # late answers: more may follow
                self._hold = max(self._hold, min(now + RETURN_TIME, self._longest_hold))
        elif order.missing:
            if self.half_duplex:
                order.expires = min(order.expires, now + self._answer_time(order.missing))
        elif self.half_duplex:
            self._hold = max(self._hold, now + self._config.turnaround)

    def expire(self, now: float) -> None:
        """Give back the credit of requests whose time is over, and count them."""
        self._give_up(self._orders.expire(now))

    # -- what goes

    def ask(self, device_id: int, packet_ids: Sequence[int]) -> None:
        """Ask a device once, as soon as the line has room; an answer that is lost is not missed.

        What waits already is not asked twice. Ids of one call are asked in one request if their
        answers are short, those of different calls never.

        Raises:
            PacketError: no such device, or ids that cannot be asked for.
        """
        Request(device_id, tuple(packet_ids))
        place = self._targets.index(self._by_id[device_id])
        waiting = {
            packet_id
            for question in self._questions
            if question.target == place
            for packet_id in question.packets
        }
        part: tuple[int, ...] = ()
        for packet_id in dict.fromkeys(packet_ids):
            if packet_id in waiting:
                continue
            if part and reply_bytes((*part, packet_id)) > QUESTION_BYTES:
                self._questions.append(_Turn(place, part))
                part = ()
            part = (*part, packet_id)
        if part:
            self._questions.append(_Turn(place, part))

    def settings(self, now: float) -> list[bytes]:
        """Return what is to be set in the arm now so that it reports by itself."""
        return [] if self._heartbeat is None else self._heartbeat.settings(now)

    @property
    def awaiting(self) -> bool:
        """Whether a request is not answered yet."""
        return bool(self._orders)

    @property
    def talk_at(self) -> float:
        """When anything but a stop may be written: -inf = always, inf = after an answer."""
        if not self.half_duplex:
            return -math.inf
        return math.inf if self._orders else self._hold

    def next_request(self, now: float) -> bytes | None:
        """Return the next request to write now and book its replies, or None."""
        if now < self._hold:
            return None
        if self._settles(now):
            self._starved = bool(self._orders)
            return None
        fast, other = self._fast_turn(now), self._other_turn(now)
        if other is not None and (fast is None or self._fast_in_a_row >= len(self._targets)):
            turn: _Turn | None = other
        else:
            turn = fast
        if turn is None:
            return None
        if not self._orders.room(reply_bytes(turn.packets)):
            self._starved = True
            return None
        target = self._targets[turn.target]
        if turn is fast:
            self._fast_in_a_row += 1
            self._next_fast = turn.target + 1
            target.fast_due = max(target.fast_due + self._fast_period, now)
        else:
            self._fast_in_a_row = 0
            if turn in self._questions:
                self._questions.remove(turn)
            else:
                target.slow_due = now + self._config.slow_telemetry_period
        if self._silent(target, now):
            target.ask_after = now + self._silent_period(now)
        over_by = now + DEMAND_BYTES / self._config.bytes_per_second
        over_by += self._answer_time(turn.packets, request_bytes(turn.packets))
        self._orders.add(
            Order(target.id, list(turn.packets), now + self._config.request_timeout, over_by)
        )
        return encode(Request(target.id, turn.packets))

    def wait_for_room(self, until: float) -> None:
        """Note when the line has room for requests and settings again."""
        self._room_at = until

    def next_time(self, now: float) -> float:
        """Return when a request times out or something can be asked next; inf = never."""
        times = [self._orders.next_expiry]
        if not (self._starved or (self.half_duplex and self._orders)):
            due = [self._targets[question.target].ask_after for question in self._questions]
            due += [max(target.slow_due, target.ask_after) for target in self._targets]
            if self._heartbeat is None:
                due += [max(target.fast_due, target.ask_after) for target in self._targets]
            times.append(max(self._hold, self._room_at, min(due)))
        if self._heartbeat is not None:
            times.append(max(self._room_at, self._heartbeat.next_time()))
        return max(now, min(times))

    # -- turns

    def _fast_turn(self, now: float) -> _Turn | None:
        if self._heartbeat is not None:
            return None
        for step in range(len(self._targets)):
            place = (self._next_fast + step) % len(self._targets)
            target = self._targets[place]
            if max(target.fast_due, target.ask_after) <= now:
                return _Turn(place, FAST)
        return None

    def _other_turn(self, now: float) -> _Turn | None:
        for question in self._questions:
            if self._targets[question.target].ask_after <= now:
                return question
        due = [
            (target.slow_due, place)
            for place, target in enumerate(self._targets)
            if max(target.slow_due, target.ask_after) <= now
        ]
        return _Turn(min(due)[1], SLOW) if due else None

    def _settles(self, now: float) -> bool:
        """Say whether the line is to run dry before more is asked."""
        if now < self._settle_at:
            return False
        if not self._orders:
            self._settle_at = now + SETTLE_PERIOD
            self._hold = now + RETURN_TIME
            self._longest_hold = now + self._config.request_timeout
        return True

    # -- silence

    def _give_up(self, orders: Sequence[Order]) -> None:
        for order in orders:
            self._starved = False
            self.unanswered += 1
            self._by_id[order.device].misses += not order.answered

    def _silent(self, target: _Target, now: float) -> bool:
        return target.misses >= SILENT_MISSES and now - target.heard_at >= SILENT_AFTER

    def _silent_period(self, now: float) -> float:
        silent = sum(self._silent(target, now) for target in self._targets)
        if self.half_duplex and silent < len(self._targets):
            return silent * SILENT_PERIOD_SHARED
        return SILENT_PERIOD

    def _answer_time(self, packet_ids: Sequence[int], ahead: int = 0) -> float:
        """Return how long the reports take that are still to come, `ahead` bytes before them."""
        size = ahead + reply_bytes(packet_ids)
        return size / self._config.bytes_per_second + self._config.answer_latency
