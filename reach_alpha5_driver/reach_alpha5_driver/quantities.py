"""What a joint reports beside its motion: the range of each value, and what is no jump of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value that may jump, the widest range of a working sensor, and what is no jump."""

    name: str
    lower: float
    upper: float
    step: float
    """Largest change between two reports that is believed without a second one."""
    rate: float
    """What that grows by for each second between them."""
    fast: bool = False
    """Reported with each posture; else with the slow telemetry."""

    def near(self, old: float, old_at: float, new: float, now: float) -> bool:
        """Say whether `new` follows `old` without a jump; the times are in seconds."""
        return abs(new - old) <= self.step + self.rate * (now - old_at)


QUANTITIES = (
    Quantity("current", -10.0, 10.0, 0.2, 5.0, fast=True),  # [A]; clamps in use end at 0.6
    Quantity("temperature", -40.0, 150.0, 2.0, 1.0),  # [degC]
    Quantity("humidity", 0.0, 100.0, 3.0, 1.0),  # [%]
    Quantity("voltage", 0.0, 60.0, 1.0, 1.0),  # [V]; the arm runs on 24
)
"""Steps and rates are ours."""
