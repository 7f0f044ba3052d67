"""Which profile a pad has, seen from its first frames. Pure.

The lengths of the arrays say most; where two layouts share them, what each axis reads at rest
decides. A profile is chosen only if it is the only one that fits. What is unclear stays unknown,
and an unknown pad moves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from reach_alpha5_common.refusal import Problem
from reach_alpha5_teleop.axes import shape, travel
from reach_alpha5_teleop.pad import ROUNDING, JoyFrame
from reach_alpha5_teleop.profile import Profile

SETTLE = 0.3
"""Time [s] that a pad must fit; a single frame says too little."""

GAP = 0.5
"""Silence [s] after which what was seen before counts no more: it may be another pad."""

MAKE = "make a profile with `alpha5-pad make` and set the parameter `profile` to its path"


def fits_lengths(profile: Profile, frame: JoyFrame) -> bool:
    """Say whether the arrays of a frame are as long as the profile has them."""
    return len(frame.axes) in profile.axis_counts and len(frame.buttons) in profile.button_counts


def fits_rest(profile: Profile, frame: JoyFrame) -> bool:
    """Say whether every axis of the profile reads what it reads at rest.

    A trigger that rests at an end may read 0 until it is first touched.
    """
    return all(
        frame.axes[spec.index] == 0.0 or not shape(spec, travel(spec, frame.axes[spec.index]))
        for spec in profile.axes.values()
    )


class Detector:
    """Looks at frames until it knows the pad."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        """Choose among `profiles`."""
        self._profiles = profiles
        self._lengths: tuple[int, int] | None = None
        self._since = 0.0
        self._fits_since: dict[str, float] = {}
        self._heard = -math.inf

    def see(self, frame: JoyFrame, now: float) -> Profile | Problem | None:
        """Look at a frame that arrived at monotonic time `now` [s].

        Returns:
            the profile, what stands in its way, or None when it is too early to tell.
        """
        lengths = (len(frame.axes), len(frame.buttons))
        valid = _is_valid(frame)
        if not valid or lengths != self._lengths or now - self._heard > GAP:
            self._lengths = lengths if valid else None
            self._since = now
            self._fits_since.clear()
        self._heard = now
        if not valid:
            return Problem("bad_frame", "the frame has a value that no pad sends; check the pad")

        candidates = [p for p in self._profiles if fits_lengths(p, frame)]
        for profile in candidates:
            if fits_rest(profile, frame):
                self._fits_since.setdefault(profile.name, now)
            else:
                self._fits_since.pop(profile.name, None)
        if now - self._since < SETTLE:
            return None
        return self._judge(candidates, lengths, now)

    def _judge(
        self, candidates: list[Profile], lengths: tuple[int, int], now: float
    ) -> Profile | Problem | None:
        pad = f"the pad has {lengths[0]} axes and {lengths[1]} buttons"
        if not candidates:
            return Problem("unknown_pad", f"{pad}, which fits no profile; {MAKE}")
        names = " or ".join(profile.name for profile in candidates)
        fitting = [profile for profile in candidates if profile.name in self._fits_since]
        if not fitting:
            return Problem(
                "pad_not_at_rest",
                f"{pad}, which may be {names}, but something is held over; let go of all of it",
            )
        if len(fitting) > 1:
            names = " or ".join(profile.name for profile in fitting)
            return Problem(
                "ambiguous_pad",
                f"{pad}, which fits {names}; pull the triggers once and let go, or set the "
                "parameter `profile` to one of these",
            )
        (profile,) = fitting
        return profile if now - self._fits_since[profile.name] >= SETTLE else None


def _is_valid(frame: JoyFrame) -> bool:
    # NaN fails the comparison.
    return all(abs(value) <= 1.0 + ROUNDING for value in frame.axes) and all(
        button in (0, 1) for button in frame.buttons
    )
