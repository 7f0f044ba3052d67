"""What goes to the line, in which order: stop, motion, settings, requests.

A stop goes at once, whatever the line is doing. All else waits while the line holds more than it
should, and on RS-485 while somebody else may be talking. A stop that was written into an answer on
RS-485 may have been garbled by it, so it is written once more as soon as the wires are quiet.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from reach_alpha5_driver.frame_sizes import DEMAND_BYTES
from reach_alpha5_driver.gate import Gate
from reach_alpha5_driver.heartbeat import QUIET_LINE
from reach_alpha5_driver.line import LinePace
from reach_alpha5_driver.poller import Poller
from reach_alpha5_driver.schedule import ScheduleConfig

MAX_QUEUED = 64
"""Bytes that may wait for the wire when a request or setting is added: 6 ms at 115200 baud. Deep
enough to keep the line busy, shallow enough that motion is never far from the wire."""

QUEUE_CYCLES = 2
"""Control cycles' worth of bytes that may wait for the wire in all."""

MAX_SETTINGS = 64
"""Settings that may wait for the line."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What the line shall take now. `purge`: first throw away what it still has queued."""

    purge: bool
    data: bytes


NOTHING = Outgoing(False, b"")


class Outbox:
    """Puts together what is written, and remembers what the line did not take yet.

    The rest of a short write goes out before anything else is made, so memory is bounded by one
    write and the settings that wait; an owed stop throws that rest away.
    """

    def __init__(self, gate: Gate, poller: Poller, config: ScheduleConfig) -> None:
        """Serve a line that is as `config` says."""
        self.bytes_sent = 0
        self.frames_sent = 0
        self._gate = gate
        self._poller = poller
        self._line = LinePace(config.baud_rate)
        cycle = self._line.bytes_per_second / config.control_rate
        self._limits = {True: QUEUE_CYCLES * cycle - DEMAND_BYTES, False: float(MAX_QUEUED)}
        self._can_purge = True
        self._unsent = b""
        self._stop = b""
        """The stop that is being written."""
        self._again = b""
        """The stop that is written once more when the wires are quiet."""
        self._farewell = b""
        """What follows the last stop."""
        self._leaving = False
        self._settings: deque[bytes] = deque()
        self._room: float | None = None
        """Bytes that may wait at most before what was held back is written."""
        self._talk_at = -math.inf
        """When what was held back for others on the wires is written; -inf = nothing was."""

    def line_opened(self, can_purge: bool = True) -> None:
        """Begin with a line that was just opened; `can_purge`: what it has queued can be purged.

        Where it cannot, a stop has to wait for what was written before it: so that is kept small.
        """
        self._can_purge = can_purge
        self._leaving = False
        self._farewell = b""
        self._line.purged()
        self._unsent = self._stop = self._again = b""
        self._settings.clear()
        self._settings.append(QUIET_LINE)
        self._room = None

    def line_leaving(self) -> None:
        """Write one more stop, let the arm report nothing by itself any more, and then nothing."""
        self._farewell = QUIET_LINE
        self._leaving = True
        self._settings.clear()

    def line_closed(self) -> None:
        """Drop what was meant for the line that is gone."""
        self._unsent = self._stop = self._again = b""
        self._settings.clear()
        self._room = None

    def add_setting(self, data: bytes) -> bool:
        """Write a configuration frame when the line has room: after motion, before requests.

        Settings keep their order. Whether the arm took one is not known before it is read back.

        Returns:
            Whether it was taken: not while `MAX_SETTINGS` wait.
        """
        if len(self._settings) >= MAX_SETTINGS:
            return False
        self._settings.append(data)
        return True

    def take(self, now: float, posture_fresh: bool) -> Outgoing:
        """Return what shall be written at this moment."""
        self._gate.check(now, posture_fresh)
        self._room, self._talk_at = None, -math.inf
        self._poller.wait_for_room(-math.inf)
        if not self._gate.stop_owed:
            if self._unsent:  # it is the line itself that says when it has room
                self._poller.wait_for_room(math.inf)
                return Outgoing(False, self._unsent)
            if now < self._poller.talk_at:
                self._talk_at = self._poller.talk_at
                return NOTHING
            if self._overfull(now):
                return NOTHING
        release = self._gate.release(now, posture_fresh)
        if release.purge:
            return self._take_stop(release.data, now)
        head = b"\0" if self._again else b""
        data = self._fill(self._again + release.data, now)
        self._again = b""
        self.frames_sent += data.count(0)  # frames end with their only zero
        self._unsent = head + data
        return Outgoing(False, self._unsent)

    def sent(self, count: int, now: float, queued: int | None = None) -> None:
        """Note that the line took the first `count` bytes.

        `queued` is what the kernel holds now, None if it was not asked; with nothing to note but
        that, `count` is zero.
        """
        self._unsent = self._unsent[count:]
        self.bytes_sent += count
        self._line.wrote(count, now)
        if queued is not None:
            self._line.kernel_holds(queued, now)
        if self._unsent:
            return
        self._wait_for(self._room)
        if self._stop:
            self._stop = b""
            self._poller.cut(now, self._line.time_when(0))

    def room_at(self) -> float | None:
        """Return when the line has room for what had to wait, or None if nothing waits."""
        if self._room is None:
            return self._talk_at if self._talk_at > -math.inf else None
        return self._line.time_when(self._room)

    @property
    def wants_queued(self) -> bool:
        """Whether `sent` is to be told what the kernel holds before `take` is called again.

        The reckoning is trusted for a quarter of what may wait. A line that would be overfull if
        it had stalled is asked each time.
        """
        return self._line.unchecked >= self._limit / 4 or self._line.at_most > self._limit

    @property
    def prompt_reads(self) -> bool:
        """Whether bytes must be read as soon as they come: the wires wait for an answer's end."""
        return self._poller.half_duplex and self._poller.awaiting

    @property
    def unfinished(self) -> bool:
        """Whether bytes that were begun, or a stop that must be written again, still wait."""
        return bool(self._unsent or self._again)

    @property
    def _limit(self) -> float:
        """Bytes that may wait when motion is added."""
        return self._limits[self._can_purge]

    def _overfull(self, now: float) -> bool:
        """Say whether the line holds so much that nothing but a stop may be added."""
        overfull = self._line.queued(now) > self._limit
        if overfull:
            self._wait_for(self._limit)
        return overfull

    def _wait_for(self, room: float | None) -> None:
        """Note that more is written when the line holds no more than `room` bytes."""
        self._room = room
        room_at = self.room_at()
        self._poller.wait_for_room(-math.inf if room_at is None else room_at)

    def _take_stop(self, frames: bytes, now: float) -> Outgoing:
        self.frames_sent += (frames + self._farewell).count(0)
        self._again = frames if now < self._poller.talk_at else b""
        # The purge may cut a frame in two, and an earlier session may have left half of one in
        # the arm; a lone terminator keeps such a head off the stop.
        self._unsent = self._stop = b"\0" + frames + self._farewell
        self._farewell = b""
        if self._can_purge:
            self._line.purged()
        self._room = MAX_QUEUED  # asks for a wake-up as soon as the stop is on the wire
        return Outgoing(True, self._unsent)

    def _fill(self, motion: bytes, now: float) -> bytes:
        data = bytearray(motion)
        if self._leaving:
            return bytes(data)
        for frame in self._poller.settings(now):
            self.add_setting(frame)
        waiting = self._line.queued(now)
        while True:
            if waiting + len(data) > MAX_QUEUED:
                self._wait_for(MAX_QUEUED)
                return bytes(data)
            if self._settings:
                data += self._settings.popleft()
                continue
            request = self._poller.next_request(now)
            if request is None:
                return bytes(data)
            data += request
