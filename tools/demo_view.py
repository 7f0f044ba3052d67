"""What one sees while the demo runs: a live table in a terminal, or plain lines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table

from reach_alpha5_msgs.msg import ArbiterState, ArmState

ACTIVITY = {
    ArbiterState.STILL: "still",
    ArbiterState.JOGGING: "jogging",
    ArbiterState.TRAJECTORY: "trajectory",
    ArbiterState.ENDING: "ending",
}
ARM = {
    ArmState.NONE: "no arm",
    ArmState.IDLE: "idle",
    ArmState.ENABLED: "enabled",
    ArmState.EXECUTING: "executing",
    ArmState.MAJOR_FAULT: "major fault",
    ArmState.MINOR_FAULT: "minor fault",
}

REFRESH = 10.0
"""Updates a second of the live view."""

Last = Callable[[str], Any]
"""Gives the newest message of a topic, or None."""


class View(Protocol):
    """Something that shows the demo's progress."""

    def __enter__(self) -> View:
        """Begin to show."""

    def __exit__(self, *exc_info: object) -> None:
        """Stop showing."""

    def phase(self, name: str, words: str) -> None:
        """Say that a phase begins."""

    def update(self) -> None:
        """Show what is known now."""


def latches(arbiter: ArbiterState) -> str:
    """Return the latches in words."""
    parts = []
    if arbiter.estop_latched:
        parts.append(f"E-STOP by {arbiter.estop_source}: {arbiter.estop_reason}")
    if arbiter.fault_latched:
        parts.append("FAULT: " + ", ".join(arbiter.fault_causes))
    return "; ".join(parts) or "none"


class LiveView:
    """Owner, latches, joints and link, redrawn in place."""

    def __init__(self, console: Console, last: Last) -> None:
        """Draw on `console` what `last` gives."""
        self._last = last
        self._phase = ("starting", "")
        self._live = Live(console=console, refresh_per_second=REFRESH, transient=True)
        self._drawn = 0.0

    def __enter__(self) -> LiveView:
        """Begin to draw."""
        self._live.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Remove the drawing."""
        self._live.__exit__(None, None, None)

    def phase(self, name: str, words: str) -> None:
        """Name the phase in the title."""
        self._phase = (name, words)

    def update(self) -> None:
        """Draw, at most `REFRESH` times a second."""
        now = time.monotonic()
        if now - self._drawn >= 1.0 / REFRESH:
            self._drawn = now
            self._live.update(self._panel())

    def _panel(self) -> Panel:
        name, words = self._phase
        arbiter, arm = self._last("arbiter_state"), self._last("arm_state")
        parts: list[Any] = []
        if arbiter is not None:
            facts = Table.grid(padding=(0, 2))
            facts.add_row("owner", arbiter.owner or "nobody")
            facts.add_row("activity", ACTIVITY.get(arbiter.activity, "?"))
            facts.add_row("latches", latches(arbiter))
            facts.add_row("last stop", arbiter.last_stop_cause or "none")
            facts.add_row("last refusal", arbiter.last_refusal.code or "none")
            parts.append(facts)
        if arm is not None:
            parts += [self._joints(arm), self._link(arm)]
        return Panel(Group(*parts), title=f"{name}: {words}" if words else name)

    @staticmethod
    def _joints(arm: ArmState) -> Table:
        table = Table("joint", "position", "velocity", "current", "age")
        for joint in arm.joints:
            jaws = joint.name.endswith("axis_a")
            scale, unit = (1000.0, "mm") if jaws else (1.0, "rad")
            table.add_row(
                joint.name,
                f"{joint.position * scale:8.3f} {unit}",
                f"{joint.velocity * scale:+7.3f} {unit}/s",
                f"{joint.current * 1000:6.0f} mA",
                "stale" if joint.stale else f"{joint.age * 1000:4.0f} ms",
            )
        return table

    @staticmethod
    def _link(arm: ArmState) -> str:
        link = arm.link
        damaged = link.bad_crc + link.bad_length + link.bad_cobs + link.too_long + link.too_short
        return (
            f"arm {ARM.get(arm.state, '?')}   link {'up' if link.connected else 'DOWN'}   "
            f"{link.telemetry_rate:.0f} Hz   {link.frames_received} frames, {damaged} damaged, "
            f"{link.requests_unanswered} unanswered"
        )


class PlainView:
    """One line for each phase and for each change of owner, activity, latches, refusal or arm."""

    def __init__(self, console: Console, last: Last) -> None:
        """Print on `console` what `last` gives."""
        self._console = console
        self._last = last
        self._shown = ""
        self._began = time.monotonic()

    def __enter__(self) -> PlainView:
        """Begin."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """End."""

    def phase(self, name: str, words: str) -> None:
        """Print the phase."""
        self._print(f"-- {name}" + (f": {words}" if words else ""))

    def update(self) -> None:
        """Print what has changed."""
        arbiter, arm = self._last("arbiter_state"), self._last("arm_state")
        if arbiter is None or arm is None:
            return
        rate = arm.link.telemetry_rate
        refusal = arbiter.last_refusal
        shown = (
            f"   owner {arbiter.owner or 'nobody'}, {ACTIVITY.get(arbiter.activity, '?')}, "
            f"latches {latches(arbiter)}, "
            + (f"last refusal {refusal.source} {refusal.code}, " if refusal.code else "")
            + f"arm {ARM.get(arm.state, '?')}, link {'up' if arm.link.connected else 'DOWN'}"
        )
        if shown != self._shown:
            self._shown = shown
            self._print(shown + (f" at {rate:.0f} Hz" if math.isfinite(rate) else ""))

    def _print(self, line: str) -> None:
        self._console.print(
            f"{time.monotonic() - self._began:7.2f} s {line}", highlight=False, soft_wrap=True
        )
