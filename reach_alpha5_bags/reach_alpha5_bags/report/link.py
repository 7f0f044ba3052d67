"""What passed over the line to the arm, and what was lost of it."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from reach_alpha5_bags.report.series import Envelope
from reach_alpha5_bags.report.timeline import Growth

COUNTERS: Mapping[str, tuple[str, ...]] = {
    "garbled": ("bad_crc", "bad_length", "bad_cobs", "bad_version", "too_long", "too_short"),
    "unknown": ("unknown_device", "unknown_packet"),
    "implausible": ("bad_payload", "implausible"),
    "unanswered": ("requests_unanswered",),
    "recovered": ("frames_recovered",),
}
"""What is plotted, and the fields of `LinkCounters` that are added up for it."""

TOTALS: Mapping[str, tuple[str, ...]] = {
    **COUNTERS,
    "frames received": ("frames_received",),
    "frames sent": ("frames_sent",),
    "bytes received": ("bytes_received",),
    "bytes sent": ("bytes_sent",),
    "reconnects": ("reconnects",),
    "guard trips": ("guard_trips",),
}
"""The same for what is told as one number."""

FIELDS = tuple(field for fields in TOTALS.values() for field in fields)
_counted = attrgetter(*FIELDS)

RATES = {"telemetry_rate": "measured", "telemetry_planned": "planned"}
"""Field to what it is called."""


class Link:
    """Counters since the bag's begin, and rates, from `arm_state`."""

    def __init__(self) -> None:
        self.counters = {name: Envelope() for name in COUNTERS}
        self.rates = {name: Envelope() for name in RATES.values()}
        self.totals = dict.fromkeys(TOTALS, 0)
        self._growths = [Growth() for _ in FIELDS]
        self._counted: tuple[int, ...] = ()

    def hear(self, at: float, state: Any) -> None:
        """Take in an `ArmState`."""
        link = state.link
        counted = _counted(link)
        if counted != self._counted:
            self._counted = counted
            growths = zip(FIELDS, self._growths, counted, strict=True)
            grown = {field: growth.by(int(value)) for field, growth, value in growths}
            for name, fields in TOTALS.items():
                self.totals[name] += sum(grown[field] for field in fields)
        for name, envelope in self.counters.items():
            envelope.add(at, self.totals[name])
        for field, name in RATES.items():
            self.rates[name].add(at, float(getattr(link, field)))
