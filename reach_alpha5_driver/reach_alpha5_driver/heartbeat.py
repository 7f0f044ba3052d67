"""Reports that the arm sends by itself: what is set for it, and again for a device that forgot.

A device loses its list at power-off and keeps its frequency, also over a session that crashed. So
both are always set, and a device that is silent on its heartbeat gets both again: it was without
power, or the frames did not reach it.
"""

from __future__ import annotations

from reach_alpha5_driver.devices import BROADCAST, DEVICES
from reach_alpha5_driver.protocol.packets import HeartbeatFrequency, HeartbeatPackets, encode
from reach_alpha5_driver.schedule import FAST

QUIET_LINE = b"".join(
    encode(HeartbeatFrequency(device, 0))
    for device in (BROADCAST, *(device.id for device in DEVICES))
)
"""No reports by themselves: to all, then to each. For an arm that was just connected, since what
an earlier session asked for survives in the arm and would eat the line, and for the exit, since
the arm saves it."""

MISSED_BEATS = 3
"""Periods of the heartbeat without a report after which a device counts as silent."""

LEAST_PATIENCE = 0.25
"""[s]; how long a silent device is given at least, at start too."""


class Heartbeat:
    """Keeps the heartbeat of all devices going. Times are monotonic seconds."""

    def __init__(self, frequency: int) -> None:
        """Let each device report `frequency` times a second, 1 to 255."""
        self._patience = max(LEAST_PATIENCE, MISSED_BEATS / frequency)
        self._frames = {
            device.id: encode(HeartbeatPackets(device.id, FAST))
            + encode(HeartbeatFrequency(device.id, frequency))
            for device in DEVICES
        }
        self._due = dict.fromkeys(self._frames, 0.0)

    def start(self, now: float) -> None:
        """Begin on a line just opened: all devices get their lists."""
        self._due = dict.fromkeys(self._frames, now)

    def on_report(self, device: int, now: float) -> None:
        """Note that a device reported by itself."""
        self._due[device] = now + self._patience

    def settings(self, now: float) -> list[bytes]:
        """Return the frames that are to be sent now, and count them as sent."""
        due = [device for device, at in self._due.items() if at <= now]
        for device in due:
            self._due[device] = now + self._patience
        return [self._frames[device] for device in due]

    def next_time(self) -> float:
        """Return when a device is to be set next if nothing is heard."""
        return min(self._due.values())
