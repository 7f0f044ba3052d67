"""Pad profiles: which axis and which button of a pad does what. YAML text in, a checked value out.

The format, with every key, is described in the header of `profiles/xbox_game_controller.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reach_alpha5_teleop import modes
from reach_alpha5_teleop.axes import AxisSpec
from reach_alpha5_teleop.modes import Mode
from reach_alpha5_teleop.strict_yaml import parse, short

REQUIRED_BUTTONS = ("deadman", "estop")
"""Without these two there is no teleop."""

BUTTONS = (
    *REQUIRED_BUTTONS,
    "reset",
    "mode",
    "pose_stowed",
    "pose_deployed",
    "jaws_open",
    "jaws_close",
    "jaws_toggle",
)

BINDINGS: Mapping[str, tuple[str, ...]] = {
    "cartesian": ("x", "y", "z"),
    "cylindrical": ("radial", "vertical", "azimuth"),
    "pose": ("run",),
    "wrist_mode": ("rotate",),
    "wrist": ("rotate",),
    "speed": ("faster", "slower"),
}
"""Sections that bind the named axes to what they drive, and the keys of each."""

REQUIRED_BINDINGS = ("cartesian", "cylindrical")

OPTIONAL_BINDINGS = ("wrist", "speed")
"""Sections that may leave keys out; a mode has all of its own."""

NODES = ("game_controller_node", "joy_node")
"""Nodes of the ROS package `joy` whose layout a profile may say it is of."""

RANGES: Mapping[str, tuple[float, float]] = {
    "rest": (-1.0, 1.0),
    "deadband": (0.02, 0.5),
    "exponent": (1.0, 4.0),
}
"""Inclusive ranges of an axis's numbers; a deadband near zero would never see an axis at rest."""

MAX_CONTROLS = 64
"""Axes or buttons that a pad may have."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A pad and what its controls do.

    Attributes:
        name: how logs call it.
        axis_counts: lengths of `Joy.axes` that this pad has; any other is another pad.
        button_counts: the same for `Joy.buttons`.
        axes: named axes of the pad.
        bindings: section of `BINDINGS` to (what is driven to name of the axis).
        buttons: function of `BUTTONS` to index in `Joy.buttons`.
        modes: in the order in which the mode button goes through them, from the first.
        node: which of `NODES` publishes this layout; empty = not said.
    """

    name: str
    axis_counts: frozenset[int]
    button_counts: frozenset[int]
    axes: Mapping[str, AxisSpec]
    bindings: Mapping[str, Mapping[str, str]]
    buttons: Mapping[str, int]
    modes: tuple[Mode, ...]
    node: str = ""

    def mode_after(self, mode: Mode) -> Mode:
        """Return the mode that the mode button switches to."""
        return self.modes[(self.modes.index(mode) + 1) % len(self.modes)]


class ProfileError(ValueError):
    """A profile that teleop cannot run with; the message lists every problem, one a line."""


def load(text: str) -> Profile:
    """Read a profile.

    Raises:
        ProfileError: with every problem found, each naming its key and what to do.
    """
    try:
        data = parse(text)
    except ValueError as error:
        raise ProfileError(str(error)) from error
    reader = _Reader()
    profile = reader.profile(data)
    if reader.problems:
        raise ProfileError("\n".join(dict.fromkeys(reader.problems)))
    return profile


@dataclass
class _Reader:
    """Reads the sections and collects what is wrong, so that one look shows all of it."""

    problems: list[str] = field(default_factory=list)

    def profile(self, data: Any) -> Profile:
        required = ("name", "layout", "axes", "buttons", *REQUIRED_BINDINGS)
        top = self.mapping(data, "the profile", (*required, "modes", *BINDINGS), required)
        name = top.get("name", "")
        if "name" in top and not (isinstance(name, str) and name):
            self.problems.append(f"name is {short(name)}; give the profile a short name")
        lengths = ("axes", "buttons")
        layout = self.mapping(top.get("layout", {}), "layout", (*lengths, "node"), lengths)
        axis_counts = self.counts(layout.get("axes", []), "layout.axes")
        button_counts = self.counts(layout.get("buttons", []), "layout.buttons")
        axes = self.axes(top.get("axes", {}), min(axis_counts, default=MAX_CONTROLS))
        buttons = self.buttons(top.get("buttons", {}), min(button_counts, default=MAX_CONTROLS))
        bindings = {
            section: self.bindings(top[section], section, axes)
            for section in BINDINGS
            if section in top
        }
        order = self.modes(top, bindings)
        self.conflicts(axes, bindings)
        return Profile(
            name, axis_counts, button_counts, axes, bindings, buttons, order, self.node(layout)
        )

    def mapping(
        self, data: Any, where: str, known: tuple[str, ...] | None, required: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return `data` without the keys that do not belong there."""
        if not isinstance(data, dict):
            self.problems.append(f"{where} is {short(data)}; write it as `key: value` lines")
            return {}
        kept = {}
        for key, value in data.items():
            if not isinstance(key, str) or (known is not None and key not in known):
                hint = ", ".join(known) if known is not None else "words"
                self.problems.append(f"{where}: key {short(key)} is not known; use {hint}")
            else:
                kept[key] = value
        for key in required:
            if key not in data:
                self.problems.append(f"{where}: the key {key} is missing; add it")
        return kept

    def integer(self, value: Any, where: str, end: int) -> int | None:
        if type(value) is int and 0 <= value < end:
            return value
        self.problems.append(
            f"{where} is {short(value)}; it must be a whole number from 0 to {end - 1}"
        )
        return None

    def counts(self, value: Any, where: str) -> frozenset[int]:
        if (
            isinstance(value, list)
            and value
            and all(type(item) is int and 1 <= item <= MAX_CONTROLS for item in value)
        ):
            return frozenset(value)
        self.problems.append(
            f"{where} is {short(value)}; list the array lengths that the pad publishes, "
            f"each from 1 to {MAX_CONTROLS}, as in [6]"
        )
        return frozenset()

    def node(self, layout: Mapping[str, Any]) -> str:
        node = layout.get("node", "")
        if "node" in layout and node not in NODES:
            self.problems.append(f"layout.node is {short(node)}; use {' or '.join(NODES)}")
            return ""
        return str(node)

    def modes(self, top: Mapping[str, Any], bindings: Mapping[str, Any]) -> tuple[Mode, ...]:
        bound = [mode for mode in Mode if mode.section in bindings]
        given = top.get("modes", [mode.value for mode in bound])
        if not isinstance(given, list) or not given:
            self.problems.append(
                f"modes is {short(given)}; list those that the mode button goes through, "
                "as in [cartesian, cylindrical]"
            )
            return ()
        order: list[Mode] = []
        for name in given:
            mode = modes.BY_NAME.get(name) if isinstance(name, str) else None
            if mode is None:
                self.problems.append(
                    f"modes: {short(name)} is not known; use {', '.join(modes.BY_NAME)}"
                )
            elif mode in order:
                self.problems.append(f"modes: {name} is named twice; keep one")
            elif mode not in bound:
                self.problems.append(
                    f"modes: {name} needs the section {mode.section}; add it, or leave {name} out"
                )
            else:
                order.append(mode)
        return tuple(order)

    def axes(self, data: Any, end: int) -> dict[str, AxisSpec]:
        specs = {}
        taken: dict[int, str] = {}
        for name, entry in self.mapping(data, "axes", None, ()).items():
            where = f"axes.{name}"
            keys = self.mapping(entry, where, ("index", "invert", *RANGES), ("index",))
            index = self.integer(keys["index"], f"{where}.index", end) if "index" in keys else None
            numbers = {key: float(keys[key]) for key in RANGES if self.in_range(keys, key, where)}
            invert = keys.get("invert", False)
            if type(invert) is not bool:
                self.problems.append(
                    f"{where}.invert is {short(invert)}; it must be true or false"
                )
            if index is None:
                continue
            if index in taken:
                self.problems.append(
                    f"{where}.index is {index}, which is {taken[index]}'s; name an axis once"
                )
            taken[index] = name
            specs[name] = AxisSpec(index, invert=bool(invert), **numbers)
        return specs

    def in_range(self, keys: Mapping[str, Any], key: str, where: str) -> bool:
        """Say whether a number is given and in order."""
        if key not in keys:
            return False
        value = keys[key]
        low, high = RANGES[key]
        # type(), since a bool is an int to isinstance; NaN fails the comparison.
        if type(value) in (int, float) and low <= value <= high:
            return True
        self.problems.append(
            f"{where}.{key} is {short(value)}; it must be a number in [{low:g}, {high:g}]"
        )
        return False

    def buttons(self, data: Any, end: int) -> dict[str, int]:
        indices: dict[str, int] = {}
        for name, value in self.mapping(data, "buttons", BUTTONS, REQUIRED_BUTTONS).items():
            index = self.integer(value, f"buttons.{name}", end)
            if index is None:
                continue
            for other, used in indices.items():
                if used == index:
                    self.problems.append(
                        f"buttons.{name} is {index}, which is {other}'s; "
                        "a button does one thing only"
                    )
            indices[name] = index
        return indices

    def bindings(self, data: Any, section: str, axes: Mapping[str, AxisSpec]) -> dict[str, str]:
        required = () if section in OPTIONAL_BINDINGS else BINDINGS[section]
        bound = {}
        for key, name in self.mapping(data, section, BINDINGS[section], required).items():
            if not isinstance(name, str) or name not in axes:
                self.problems.append(
                    f"{section}.{key} is {short(name)}; name one of the axes: "
                    + (", ".join(axes) or "(none is in order)")
                )
            else:
                bound[key] = name
        return bound

    def conflicts(
        self, axes: Mapping[str, AxisSpec], bindings: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Refuse an axis that drives two things at once, and one that drives nothing."""
        for mode in Mode:
            drives: dict[str, str] = {}
            for section in (mode.section, *OPTIONAL_BINDINGS):
                for key, name in bindings.get(section, {}).items():
                    here = f"{section}.{key}"
                    # That one turns the wrist in its own mode and in every other is no conflict.
                    both = {here, drives.get(name, here)}
                    if len(both) == 2 and both != {"wrist.rotate", "wrist_mode.rotate"}:
                        self.problems.append(
                            f"{here} and {drives[name]} share the axis {name}; "
                            "an axis drives one thing at a time"
                        )
                    drives[name] = here
        used = {name for bound in bindings.values() for name in bound.values()}
        for name in axes:
            if name not in used:
                self.problems.append(
                    f"axes.{name} is not used; bind it in {', '.join(BINDINGS)}, or remove it"
                )
