"""Asks the arm for telemetry so that the incoming line is always busy and never overrun.

Credit. A request of 9 bytes buys 30 bytes of replies, so the incoming line is the bottleneck. The
poller keeps as many reply bytes on order as the window holds: enough to bridge the way there and
back, no more, since each byte on order delays what is asked next. A reply gives its credit back;
what does not come gives it back by time-out. The protocol has no sequence numbers: a reply answers
the oldest request of its device that still misses it.

Slow values (mode, temperature …) take a turn of their own now and then.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.protocol.packets import PacketId, Request, encode

REPLY_BYTES: Mapping[int, int] = {
    PacketId.MODE: 7,
    PacketId.POSITION: 10,
    PacketId.VELOCITY: 10,
    PacketId.CURRENT: 10,
    PacketId.HUMIDITY: 10,
    PacketId.TEMPERATURE: 10,
    PacketId.HARDWARE_STATUS: 10,
    PacketId.VOLTAGE: 10,
}
"""Size of the reply on the wire: a frame takes its payload plus six bytes."""

FAST = (PacketId.POSITION, PacketId.VELOCITY, PacketId.CURRENT)
SLOW = (
    PacketId.MODE,
    PacketId.TEMPERATURE,
    PacketId.HUMIDITY,
    PacketId.VOLTAGE,
    PacketId.HARDWARE_STATUS,
)

SILENT_AFTER = 3
"""Requests in a row without any answer after which a device is asked at `SILENT_PERIOD` only."""

SILENT_PERIOD = 0.25
"""[s]; a dead device must not eat the credit of the living."""


@dataclass(slots=True)
class _Order:
    """A request that was written and what it still misses."""

    missing: list[int]
    expires: float
    answered: bool = False


@dataclass(slots=True)
class _Target:
    """One device as the poller sees it."""

    id: int
    fast: bytes
    slow: bytes
    slow_due: float
    orders: deque[_Order] = field(default_factory=deque)
    misses: int = 0
    ask_after: float = -math.inf


def _bytes_of(packets: Sequence[int]) -> int:
    return sum(REPLY_BYTES[packet] for packet in packets)


class Poller:
    """Plans requests and keeps account of their replies. Times are monotonic seconds."""

    def __init__(self, window: int, request_timeout: float, slow_period: float) -> None:
        """Make a poller that keeps at most `window` reply bytes on order."""
        self._window = window
        self._timeout = request_timeout
        self._slow_period = slow_period
        self._targets = tuple(
            _Target(
                device.id,
                encode(Request(device.id, FAST)),
                encode(Request(device.id, SLOW)),
                slow_due=-math.inf,
            )
            for device in DEVICES
        )
        self._by_id = {target.id: target for target in self._targets}
        self._turn = 0
        self.on_order = 0
        self.unanswered = 0

    def forget(self) -> None:
        """Forget everything on order: what was queued for the line was thrown away."""
        self.on_order = 0
        for target in self._targets:
            target.orders.clear()
            target.misses = 0
            target.ask_after = -math.inf

    def start(self, now: float) -> None:
        """Begin on a line just opened; the slow values come one device after the other."""
        self.forget()
        step = self._slow_period / len(self._targets)
        for turn, target in enumerate(self._targets):
            target.slow_due = now + turn * step

    def on_reply(self, device_id: int, packet_id: int) -> None:
        """Give the credit of a reply back. A report that nobody asked for changes nothing."""
        target = self._by_id[device_id]
        target.misses = 0
        target.ask_after = -math.inf
        for order in target.orders:
            if packet_id in order.missing:
                order.missing.remove(packet_id)
                order.answered = True
                self.on_order -= REPLY_BYTES[packet_id]
                if not order.missing:
                    target.orders.remove(order)
                return

    def expire(self, now: float) -> None:
        """Give back the credit of requests whose time is over, and count them."""
        for target in self._targets:
            while target.orders and target.orders[0].expires <= now:
                order = target.orders.popleft()
                self.on_order -= _bytes_of(order.missing)
                self.unanswered += 1
                if not order.answered:
                    target.misses += 1
                    if target.misses >= SILENT_AFTER:
                        target.ask_after = now + SILENT_PERIOD

    def next_request(self, now: float) -> bytes | None:
        """Return the next request to write now and book its replies, or None."""
        for step in range(len(self._targets)):
            turn = (self._turn + step) % len(self._targets)
            target = self._targets[turn]
            if target.ask_after > now:
                continue
            slow = target.slow_due <= now
            packets = SLOW if slow else FAST
            cost = _bytes_of(packets)
            if self.on_order and self.on_order + cost > self._window:
                return None
            if slow:
                target.slow_due = now + self._slow_period
            else:
                self._turn = turn + 1
            if target.misses >= SILENT_AFTER:
                target.ask_after = now + SILENT_PERIOD
            self.on_order += cost
            target.orders.append(_Order(list(packets), now + self._timeout))
            return target.slow if slow else target.fast
        return None

    def next_time(self, now: float) -> float:
        """Return when a request times out or a silent device is due next; inf = never."""
        times = [target.orders[0].expires for target in self._targets if target.orders]
        times += [target.ask_after for target in self._targets if target.ask_after > now]
        return min(times, default=math.inf)
