"""What goes to the line, in which order: an owed stop before all, then motion, then requests."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_driver.devices import BROADCAST
from reach_alpha5_driver.gate import Gate
from reach_alpha5_driver.line import LinePace
from reach_alpha5_driver.poller import Poller
from reach_alpha5_driver.protocol.packets import HeartbeatFrequency, encode

QUIET_LINE = encode(HeartbeatFrequency(BROADCAST, 0))
"""Sent to an arm that was just connected: the reports that an earlier session asked for survive in
the arm, and would eat the line."""

MAX_QUEUED = 64
"""Bytes that may wait for the wire when a request is added: 6 ms at 115200 baud. Deep enough to
keep the line busy, shallow enough that motion is never far from the wire."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What the line shall take now. `purge`: first throw away what it still has queued."""

    purge: bool
    data: bytes


NOTHING = Outgoing(False, b"")


class Outbox:
    """Puts together what is written, and remembers what the line did not take yet.

    The rest of a short write goes out before anything else is made, so memory is bounded by one
    write; an owed stop throws it away.
    """

    def __init__(self, gate: Gate, poller: Poller, baud_rate: int) -> None:
        """Serve a line of `baud_rate`."""
        self.bytes_sent = 0
        self.frames_sent = 0
        self._gate = gate
        self._poller = poller
        self._line = LinePace(baud_rate)
        self._unsent = b""
        self._greeting = b""
        self._full = False

    def line_opened(self) -> None:
        """Begin with a line that was just opened."""
        self._line.purged()
        self._unsent = b""
        self._greeting = QUIET_LINE
        self._full = False

    def take(self, now: float, posture_fresh: bool) -> Outgoing:
        """Return what shall be written at this moment."""
        self._gate.check(now, posture_fresh)
        if self._unsent and not self._gate.stop_owed:
            self._full = False  # it is the line itself that says when it has room
            return Outgoing(False, self._unsent)
        release = self._gate.release(now, posture_fresh)
        if release.purge:
            # The purge may cut a frame in two, and an earlier session may have left half of one in
            # the arm; a lone terminator keeps such a head off the stop.
            self.frames_sent += release.data.count(0)  # frames end with their only zero
            self._unsent = b"\0" + release.data
            self._line.purged()
            self._poller.forget()
            self._full = True  # asks for a wake-up as soon as the stop is on the wire
        else:
            self._unsent = self._fill(release.data, now)
            self.frames_sent += self._unsent.count(0)
        return Outgoing(release.purge, self._unsent)

    def sent(self, count: int, now: float, queued: int) -> None:
        """Note that the line took the first `count` bytes, and that the kernel holds `queued`."""
        self._unsent = self._unsent[count:]
        self.bytes_sent += count
        self._line.wrote(count, now)
        self._line.kernel_holds(queued, now)

    def room_at(self) -> float | None:
        """Return when the line has room for a request that had to wait, or None if none waits."""
        return self._line.time_when(MAX_QUEUED) if self._full else None

    def _fill(self, motion: bytes, now: float) -> bytes:
        data = bytearray(motion)
        data += self._greeting
        self._greeting = b""
        waiting = self._line.queued(now)
        while True:
            self._full = waiting + len(data) > MAX_QUEUED
            request = None if self._full else self._poller.next_request(now)
            if request is None:
                return bytes(data)
            data += request
