"""What every control of a pad does now, as rows. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_teleop.axes import AxisSpec, shape, travel
from reach_alpha5_teleop.detect import fits_lengths
from reach_alpha5_teleop.pad import JoyFrame
from reach_alpha5_teleop.profile import Profile


@dataclass(frozen=True, slots=True)
class Row:
    """One control.

    Attributes:
        control: `axis 3` or `button 0`.
        raw: what the joy node says.
        name: how the profile calls it; empty = it is not used.
        reads: what teleop makes of it, in [-1, 1]; empty = it is not used.
        does: what it drives.
    """

    control: str
    raw: str
    name: str = ""
    reads: str = ""
    does: str = ""

    def line(self) -> str:
        """Return the row as a line of text."""
        parts = [f"{self.control}: {self.raw}"]
        if self.name:
            parts.append(f"{self.name} reads {self.reads}" if self.reads else self.name)
        if self.does:
            parts.append(f"drives {self.does}")
        return ", ".join(parts)


def misfit(profile: Profile, frame: JoyFrame) -> str:
    """Say why a frame is not of the profile's layout; empty if it is."""
    if fits_lengths(profile, frame):
        return ""
    return (
        f"wrong layout: the pad has {len(frame.axes)} axes and {len(frame.buttons)} buttons, "
        f"profile {profile.name} is for {lengths(profile)}; teleop refuses these frames"
    )


def lengths(profile: Profile) -> str:
    """Say which array lengths a profile is for."""
    axes, buttons = (
        " or ".join(str(count) for count in sorted(counts))
        for counts in (profile.axis_counts, profile.button_counts)
    )
    return f"{axes} axes and {buttons} buttons"


def rows(frame: JoyFrame, profile: Profile | None) -> list[Row]:
    """Return a row for every control of the frame; without a profile, what comes in only."""
    if profile is not None and misfit(profile, frame):
        profile = None
    axes = {} if profile is None else {spec.index: name for name, spec in profile.axes.items()}
    buttons = {} if profile is None else {place: key for key, place in profile.buttons.items()}
    made = []
    for index, value in enumerate(frame.axes):
        control, raw = f"axis {index}", f"{value:+.2f}"
        name = axes.get(index, "")
        if profile is None or not name:
            made.append(Row(control, raw))
        else:
            reads = f"{_reading(profile.axes[name], value):+.2f}"
            made.append(Row(control, raw, name, reads, _driven(profile, name)))
    for index, pressed in enumerate(frame.buttons):
        made.append(Row(f"button {index}", "DOWN" if pressed else "up", buttons.get(index, "")))
    return made


def _reading(spec: AxisSpec, value: float) -> float:
    return shape(spec, travel(spec, value)) + 0.0


def _driven(profile: Profile, name: str) -> str:
    return ", ".join(
        f"{section}.{key}"
        for section, bound in profile.bindings.items()
        for key, axis in bound.items()
        if axis == name
    )
