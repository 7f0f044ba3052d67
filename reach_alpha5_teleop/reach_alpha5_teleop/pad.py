"""Which frames of a pad are believed, and what they say about its controls.

A pad is present while valid frames come in. Everything that is known of it (where its axes rest,
buttons seen up, the length of its arrays) is forgotten when it goes, since another one may come.

One frame may be wild. So a button counts as held when two frames in a row show it, as a jump of a
stick does; that it is let go counts at once. Two are exempt: the deadman, which moves nothing, and
the e-stop, which must not wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reach_alpha5_common.refusal import Problem
from reach_alpha5_teleop.axes import Axis
from reach_alpha5_teleop.profile import Profile

AT_ONCE = frozenset({"deadman", "estop"})
"""Buttons that count as held from the first frame that shows them."""

EDGES = frozenset({"reset", "mode", "jaws_toggle"})
"""Buttons that do their thing on the press, so that one which was too short is told."""

REST_PATIENCE = 2.0
"""Time [s] that the axes of a new pad have to come to rest; what has not is told then, once."""

ROUNDING = 1e-6
"""How far beyond 1 full scale may read: joystick drivers compute it in single precision."""


@dataclass(frozen=True, slots=True)
class JoyFrame:
    """A `sensor_msgs/Joy` as it came: nothing about it is checked yet."""

    axes: Sequence[float]
    buttons: Sequence[int]
    stamp: int = 0
    """Nanoseconds on the sender's clock, 0 = never stamped; orders its frames, no more."""


@dataclass(frozen=True, slots=True)
class PadState:
    """What the controls of a pad say in one valid frame.

    Attributes:
        axes: name of the axis to its value in [-1, 1]; 0 = at rest, or not known to be off it.
        touched: axes that are off their rest in this very frame, whether that counts yet or not.
        down: functions of the buttons that are held.
        pressed: those of them that were not in the valid frame before.
        held: functions of the buttons that this very frame shows held, counting yet or not.
        too_short: functions of `EDGES` that were let go before they counted.
        unknown: name of each axis to its report, where its rest is not known although it had time;
            in one frame of a pad only.
    """

    axes: Mapping[str, float]
    touched: frozenset[str]
    down: frozenset[str]
    pressed: frozenset[str]
    held: frozenset[str]
    too_short: frozenset[str] = frozenset()
    unknown: Mapping[str, float] = field(default_factory=dict)


def no_rest(profile: Profile, unknown: Mapping[str, float]) -> Problem:
    """Return what to tell of `PadState.unknown`."""
    told = ", ".join(
        f"{name} reads {value:.2g} and should rest at {profile.axes[name].rest:g}"
        for name, value in unknown.items()
    )
    return Problem(
        "no_rest",
        f"{told}: ignored until it rests within its deadband of that; let go of it, touch a "
        "trigger once, or write its rest into the profile",
    )


class Pad:
    """One pad as the frames show it."""

    def __init__(self, profile: Profile, ttl: float) -> None:
        """Expect a pad of `profile`; silence beyond `ttl` [s] is absence (D1)."""
        self._profile = profile
        self._ttl = ttl
        self._axes = {name: Axis(spec) for name, spec in profile.axes.items()}
        self._seen_up: set[str] = set()
        self._held: frozenset[str] = frozenset()
        self._down: frozenset[str] = frozenset()
        self._estop_down = False
        self._estop_shown = float("-inf")
        self._lengths: tuple[int, int] | None = None
        self._stamp: int | None = None
        self._heard: float | None = None
        self._tell_at: float | None = None

    @property
    def present(self) -> bool:
        """Whether a pad is there."""
        return self._heard is not None

    @property
    def estop_down(self) -> bool:
        """Whether the e-stop button was held in the newest frame that showed it."""
        return self._estop_down

    def expire(self, now: float) -> bool:
        """Forget the pad when it was silent for longer than its time; say whether it was."""
        if self._heard is None or now - self._heard <= self._ttl:
            return False
        self.forget()
        return True

    def forget(self) -> None:
        """Take the pad for gone."""
        for axis in self._axes.values():
            axis.forget()
        self._seen_up.clear()
        self._held = self._down = frozenset()
        self._estop_down = False
        self._lengths = None
        self._stamp = None
        self._heard = None

    def estop_pressed(self, frame: JoyFrame, now: float) -> bool:
        """Say whether this frame presses the e-stop, however damaged the rest of it may be.

        Held in the first frame after a silence counts as pressed, since the press may have fallen
        into the gap. Anything but 0 is held.
        """
        index = self._profile.buttons["estop"]
        if index >= len(frame.buttons):
            return False
        before = self._estop_down and now - self._estop_shown <= self._ttl
        self._estop_down = frame.buttons[index] != 0
        self._estop_shown = now
        return self._estop_down and not before

    def receive(self, frame: JoyFrame, now: float) -> PadState | Problem:
        """Read a frame that arrived at monotonic time `now` [s].

        A frame that is refused is no sign of life.
        """
        problem = self._problem(frame)
        if problem is not None:
            return problem
        if self._heard is None:
            self._tell_at = now + REST_PATIENCE
        self._heard = now
        self._stamp = frame.stamp
        self._lengths = (len(frame.axes), len(frame.buttons))
        return self._state(frame, now)

    def _state(self, frame: JoyFrame, now: float) -> PadState:
        shown = {name for name, index in self._profile.buttons.items() if frame.buttons[index]}
        # A button counts after it was seen up. A deadman that the joystick driver still reports
        # from before the pad was unplugged holds nothing.
        self._seen_up |= self._profile.buttons.keys() - shown
        held_before, self._held = self._held, frozenset(shown & self._seen_up)
        down_before, self._down = self._down, self._held & (held_before | AT_ONCE)
        readings = {
            name: axis.read(frame.axes[self._profile.axes[name].index], now)
            for name, axis in self._axes.items()
        }
        return PadState(
            axes={name: reading.value for name, reading in readings.items()},
            touched=frozenset(name for name, reading in readings.items() if reading.touched),
            down=self._down,
            pressed=self._down - down_before,
            held=self._held,
            too_short=(held_before - down_before - self._held) & EDGES,
            unknown=self._unknown(frame, now),
        )

    def _unknown(self, frame: JoyFrame, now: float) -> Mapping[str, float]:
        """Return what to tell of axes that are not known although they had time."""
        if self._tell_at is None or now < self._tell_at:
            return {}
        self._tell_at = None
        return {
            name: frame.axes[self._profile.axes[name].index]
            for name, axis in self._axes.items()
            if axis.rest is None
        }

    def _problem(self, frame: JoyFrame) -> Problem | None:
        lengths = (len(frame.axes), len(frame.buttons))
        profile = self._profile
        for what, length, allowed in (
            ("axes", lengths[0], profile.axis_counts),
            ("buttons", lengths[1], profile.button_counts),
        ):
            if length not in allowed:
                expected = " or ".join(str(n) for n in sorted(allowed))
                return Problem(
                    "wrong_layout",
                    f"the frame has {length} {what}, profile {profile.name} is for {expected}; "
                    "choose the profile of this pad and of the joy node that reads it",
                )
        if self._lengths is not None and lengths != self._lengths:
            return Problem(
                "layout_changed",
                f"the frame has {lengths[0]} axes and {lengths[1]} buttons, those before had "
                f"{self._lengths[0]} and {self._lengths[1]}; let one joy node publish here",
            )
        for index, value in enumerate(frame.axes):
            if not math.isfinite(value):
                return Problem("not_finite", f"axis {index} is {value}; check the pad")
            if abs(value) > 1.0 + ROUNDING:
                return Problem(
                    "out_of_range", f"axis {index} is {value:g}, outside [-1, 1]; check the pad"
                )
        for index, button in enumerate(frame.buttons):
            if button not in (0, 1):
                return Problem(
                    "bad_button", f"button {index} is {button}, neither 0 nor 1; check the pad"
                )
        # The same frame delivered twice must not confirm itself. A pad that never stamps is told
        # from it by having no stamp at all.
        if self._stamp is not None and frame.stamp <= self._stamp and (frame.stamp or self._stamp):
            return Problem(
                "old_stamp",
                "the frame is not newer than the one before; let one joy node publish here, "
                "and no bag beside it",
            )
        return None
