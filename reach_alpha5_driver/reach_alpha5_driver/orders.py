"""The account of what was asked for and has not come yet.

The protocol has no sequence numbers, so a reply answers the oldest request of its device that
still misses it. On RS-232 answers come in the order in which they were asked for, but for devices
that overtake each other a little: so a reply also tells what was lost before it. Without that, a
lost reply would stay on the account for ever, since the next one answers in its place.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from reach_alpha5_driver.frame_sizes import reply_bytes

OVERTAKING = 2
"""How many places ahead of a request one of another device may be answered, and none be lost."""


@dataclass(slots=True)
class Order:
    """A request that was written and what it still misses. Times are monotonic seconds."""

    device: int
    missing: list[int]
    expires: float
    over_by: float
    """When the answer has ended, if it comes at all: bytes, and time to react."""
    answered: bool = False
    """Whether any of it has come."""
    number: int = 0
    """Counts the orders of an account."""


class Orders:
    """Requests on order, oldest first."""

    def __init__(self, window: int, in_order: bool) -> None:
        """Let `window` reply bytes be on order, or one request of any size.

        Args:
            window: in bytes; 1 = one request at a time.
            in_order: a device answers in the order in which it was asked, and so do devices among
                each other, but for `OVERTAKING`.
        """
        self.bytes = 0
        self._window = window
        self._in_order = in_order
        self._orders: deque[Order] = deque()
        self._number = 0

    def __bool__(self) -> bool:
        return bool(self._orders)

    def room(self, cost: int) -> bool:
        """Say whether `cost` more reply bytes may be ordered."""
        return not self._orders or self.bytes + cost <= self._window

    def add(self, order: Order) -> None:
        """Note a request."""
        self._number += 1
        order.number = self._number
        self._orders.append(order)
        self.bytes += reply_bytes(order.missing)

    def on_reply(self, device: int, packet_id: int) -> tuple[Order | None, list[Order]]:
        """Take a reply.

        Returns:
            The order that it answers, None if nobody asked, and the orders that are lost or were
            answered in part: they are on order no more.
        """
        order = next(
            (each for each in self._orders if each.device == device and packet_id in each.missing),
            None,
        )
        if order is None:
            return None, []
        last = order.missing[-1] == packet_id
        order.missing.remove(packet_id)
        order.answered = True
        self.bytes -= reply_bytes((packet_id,))
        lost = []
        if self._in_order:
            lost = [
                older
                for older in self._orders
                if (ahead := order.number - older.number) > 0
                and (older.device == device or ahead > OVERTAKING)
            ]
            if last and order.missing:
                lost.append(order)
        for each in lost:
            self._remove(each)
        if not order.missing:
            self._remove(order)
        return order, lost

    def expire(self, now: float) -> list[Order]:
        """Return the orders whose time is over; they are on order no more."""
        over = [order for order in self._orders if order.expires <= now]
        for order in over:
            self._remove(order)
        return over

    def clear(self) -> None:
        """Forget all."""
        self._orders.clear()
        self.bytes = 0

    @property
    def next_expiry(self) -> float:
        """When the first order expires; inf = never."""
        return min((order.expires for order in self._orders), default=math.inf)

    @property
    def over_by(self) -> float:
        """When all answers have ended that come at all; -inf if none is awaited."""
        return max((order.over_by for order in self._orders), default=-math.inf)

    def _remove(self, order: Order) -> None:
        self.bytes -= reply_bytes(order.missing)
        for place, each in enumerate(self._orders):
            if each is order:
                del self._orders[place]
                return
