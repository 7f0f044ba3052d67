"""Settings of the guard."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GuardConfig:
    """Times in seconds.

    Raises:
        ValueError: the times contradict each other; the text says which.
    """

    pulse_period: float = 0.01
    """While the arm may move, the driver says that it lives this often."""
    suspect_after: float = 0.015
    """Silence after which the guard asks the kernel about the driver's control thread, and stops
    the arm if that is stopped or gone. Asking costs little and is never wrong."""
    hang_after: float = 0.1
    """Silence after which the guard stops the arm, whatever the kernel says. A thread on a machine
    with five times too much to do was seen to wait for 80 ms."""
    repeat_period: float = 0.025
    """Time between two stops of the guard; longer than one stop is on the line (6 ms)."""

    def __post_init__(self) -> None:
        if not 0.0 < self.pulse_period < self.suspect_after < self.hang_after:
            raise ValueError(
                "the guard needs 0 < pulse period < suspect_after < hang_after, and got "
                f"{self.pulse_period:g}, {self.suspect_after:g}, {self.hang_after:g} s"
            )
        if self.repeat_period <= 0.0:
            raise ValueError(f"repeat_period must be above zero, and is {self.repeat_period:g} s")
