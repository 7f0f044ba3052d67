"""Whether the arm is the one that the description speaks of.

The description is the outer bound: limits set in the arm's electronics may only narrow it. Where
the arm differs in a way that matters, a `Mismatch` says so; `MISMATCHES` says what follows.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from reach_alpha5_driver.devices import DEVICES
from reach_alpha5_driver.identity import ArmIdentity, JointRanges


@dataclass(frozen=True, slots=True)
class ExpectedArm:
    """Which arm is expected; zero or empty = any."""

    model_number: float = 0.0
    """That all devices must report."""
    serial_numbers: tuple[float, ...] = ()
    """One for each joint, chain order; a zero among them is not checked."""
    firmware: str = ""
    """`major.minor.patch` that all devices must report."""


class Severity(enum.IntEnum):
    """What follows from a mismatch."""

    WARNING = 0
    """It is shown."""
    NO_PLANS = 1
    """Planned motion is refused: it relies on what the description says. Jogging works."""
    HOLD = 2
    """The arm is not moved at all."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a code of a mismatch means."""

    severity: Severity
    meaning: str
    advice: str
    """What to do about it."""


MISMATCHES: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "bad_limits": Kind(
            Severity.HOLD,
            "limits of a device are reversed, or share nothing with the description's",
            "set them anew in the arm (on the wire the maximum comes first), or correct the "
            "description if it is of another arm",
        ),
        "unknown_mode": Kind(
            Severity.HOLD,
            "a device is in a mode that the protocol does not list",
            "switch the arm off and on; if it stays, its firmware is not one that this driver "
            "knows",
        ),
        "limits_wider": Kind(
            Severity.NO_PLANS,
            "position limits of a device reach beyond the description's, which hold all the same",
            "narrow them in the arm, or correct the description if its range is wrong",
        ),
        "one_sided_limits": Kind(
            Severity.NO_PLANS,
            "velocity or current limits leave no room on one side of zero: the joint cannot move "
            "both ways",
            "set them about zero in the arm, or to 0, 0 for none",
        ),
        "unexpected_model": Kind(
            Severity.NO_PLANS,
            "a device's model number is not the expected one",
            "connect the arm that the description is of, or correct expected_model_number",
        ),
        "unexpected_serial_number": Kind(
            Severity.NO_PLANS,
            "a device's serial number is not the expected one",
            "connect the arm that belongs here, or correct expected_serial_numbers",
        ),
        "unexpected_firmware": Kind(
            Severity.NO_PLANS,
            "a device's firmware is not the expected one",
            "check the arm with it as after a repair, then correct expected_firmware",
        ),
        "same_serial_number": Kind(
            Severity.WARNING,
            "two devices report the same serial number",
            "make sure that each is what its place in the arm needs",
        ),
        "firmware_differs": Kind(
            Severity.WARNING,
            "the devices do not all have the same firmware",
            "bring them to one version with the maker's tool, or see that it is meant",
        ),
        "velocity_wider": Kind(
            Severity.WARNING,
            "the velocity limit of a device is above the description's, which holds all the same",
            "nothing needs to be done",
        ),
        "supply_voltage": Kind(
            Severity.WARNING,
            "a device reports a supply voltage that no working arm has",
            "check the supply and its plug before moving the arm",
        ),
        "unreadable": Kind(
            Severity.WARNING,
            "a device answers a question in a way that is not in the protocol",
            "its firmware may be one that this driver does not know",
        ),
        "outside_limits": Kind(
            Severity.WARNING,
            "a joint stands outside the limits of its own device, which ignores positions there "
            "(told by `alpha5-wire info` alone: it changes as the arm moves)",
            "jog it inwards: that works from everywhere",
        ),
        "not_answered": Kind(
            Severity.WARNING,
            "a device has not answered questions that it can do without",
            "its firmware may not know them; if it does, look at the line's counters",
        ),
    }
)
"""All codes, the gravest first."""

POSITION_TOLERANCE: Final = {"rad": 0.01, "m": 0.0001}
"""By how much a range may pass another before that is told [rad, m]: float32s and rounded
configuration differ by less."""

SPEED_TOLERANCE: Final = 0.01
"""The same for a velocity limit, as a share of it."""

SUPPLY: Final = (10.0, 60.0)
"""Lowest and highest supply voltage of a working arm [V]. Ours: wide enough for any battery; what
is good for the arm is watched elsewhere."""

UNREADABLE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mode": "unknown_mode",
        "position limits": "bad_limits",
        "velocity limits": "bad_limits",
        "current limits": "bad_limits",
    }
)
"""Code of an answer that makes no sense, by the name of the question; others: `unreadable`."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Something that the arm says of itself and that is not as it should be."""

    code: str
    """One of `MISMATCHES`."""
    joint: str
    """Its joint; empty = the arm as a whole."""
    finding: str
    """What was found, with its numbers."""

    @property
    def label(self) -> str:
        """Code and joint, as in `ArmState.mismatches`."""
        return f"{self.code} {self.joint}".rstrip()

    @property
    def severity(self) -> Severity:
        """What follows from it."""
        return MISMATCHES[self.code].severity

    @property
    def reason(self) -> str:
        """For people: what was found and what to do."""
        return f"{self.finding}; {MISMATCHES[self.code].advice}"


def mismatches(
    identity: ArmIdentity, expected: ExpectedArm, description: JointRanges | None
) -> tuple[Mismatch, ...]:
    """Compare what the arm said with what is expected; return the gravest first.

    Args:
        identity: what it said until now. What it has not said is not held against it, but for a
            number that is expected.
        expected: which arm it should be.
        description: limits of the robot description; None = compare without.
    """
    found = [
        *_answers(identity),
        *_numbers(identity, expected),
        *_among_themselves(identity),
        *_own_values(identity),
        *(() if description is None else _ranges(identity, description)),
    ]
    order = list(MISMATCHES)
    return tuple(sorted(found, key=lambda mismatch: order.index(mismatch.code)))


def outside_limits(identity: ArmIdentity, positions: Sequence[float]) -> tuple[Mismatch, ...]:
    """Return which joints stand outside the limits of their own devices; NaN = not known."""
    return tuple(
        Mismatch(
            "outside_limits",
            device.joint,
            f"it stands at {position:.6g} {device.unit}, outside "
            f"{said.position_lower:.6g} to {said.position_upper:.6g}",
        )
        for (device, said), position in zip(identity.joints(), positions, strict=True)
        if position < said.position_lower - POSITION_TOLERANCE[device.unit]
        or position > said.position_upper + POSITION_TOLERANCE[device.unit]
    )


def _answers(identity: ArmIdentity) -> Iterator[Mismatch]:
    """Tell what was not answered, or in a way that makes no sense."""
    for device, said in identity.joints():
        for name, reason in said.unreadable:
            code = UNREADABLE.get(name, "unreadable")
            yield Mismatch(code, device.joint, f"{name}: {reason}")
        if said.unanswered:
            yield Mismatch("not_answered", device.joint, ", ".join(said.unanswered))


def _numbers(identity: ArmIdentity, expected: ExpectedArm) -> Iterator[Mismatch]:
    """Compare model, serial number and firmware with the expected ones."""
    serial_numbers = expected.serial_numbers or (0.0,) * len(DEVICES)
    for (device, said), serial_number in zip(identity.joints(), serial_numbers, strict=True):
        for code, name, wanted, found in (
            ("unexpected_model", "model number", expected.model_number, said.model_number),
            ("unexpected_serial_number", "serial number", serial_number, said.serial_number),
        ):
            if wanted and found != wanted:
                yield Mismatch(code, device.joint, f"{name} {found:.9g}, not {wanted:.9g}")
        if expected.firmware and said.firmware != expected.firmware:
            found_firmware = said.firmware or "unknown"
            yield Mismatch(
                "unexpected_firmware",
                device.joint,
                f"firmware {found_firmware}, not {expected.firmware}",
            )


def _among_themselves(identity: ArmIdentity) -> Iterator[Mismatch]:
    """Compare the devices with each other."""
    by_number: dict[float, list[str]] = {}
    by_firmware: dict[str, list[str]] = {}
    for device, said in identity.joints():
        if said.serial_number > 0.0:
            by_number.setdefault(said.serial_number, []).append(device.joint)
        if said.firmware:
            by_firmware.setdefault(said.firmware, []).append(device.joint)
    for number, joints in by_number.items():
        if len(joints) > 1:
            yield Mismatch("same_serial_number", "", f"{number:.9g} is that of {_list(joints)}")
    if len(by_firmware) > 1:
        each = "; ".join(f"{version} in {_list(who)}" for version, who in by_firmware.items())
        yield Mismatch("firmware_differs", "", each)


def _own_values(identity: ArmIdentity) -> Iterator[Mismatch]:
    """Tell what is wrong by itself, whatever is expected."""
    for device, said in identity.joints():
        for name, unit, low, high in (
            ("velocity", f"{device.unit}/s", said.velocity_lower, said.velocity_upper),
            ("current", "A", said.current_lower, said.current_upper),
        ):
            if low >= 0.0 or high <= 0.0:
                yield Mismatch(
                    "one_sided_limits",
                    device.joint,
                    f"{name} limits are {low:.6g} to {high:.6g} {unit}",
                )
        lowest, highest = SUPPLY
        if said.voltage < lowest or said.voltage > highest:
            yield Mismatch("supply_voltage", device.joint, f"{said.voltage:.4g} V")


def _ranges(identity: ArmIdentity, description: JointRanges) -> Iterator[Mismatch]:
    """Compare limits with the description's. A device without limits has nothing to compare."""
    for device, said in identity.joints():
        low, high = description.lower[device.index], description.upper[device.index]
        slack = POSITION_TOLERANCE[device.unit]
        ranges = (
            f"{said.position_lower:.6g} to {said.position_upper:.6g} {device.unit}, the "
            f"description's {low:.6g} to {high:.6g}"
        )
        if said.position_lower >= high or said.position_upper <= low:
            yield Mismatch("bad_limits", device.joint, f"its position limits are {ranges}")
        elif -math.inf < said.position_lower < low - slack or (
            high + slack < said.position_upper < math.inf
        ):
            yield Mismatch("limits_wider", device.joint, f"its position limits are {ranges}")
        speed = description.velocity[device.index]
        if speed * (1.0 + SPEED_TOLERANCE) < said.speed < math.inf:
            yield Mismatch(
                "velocity_wider",
                device.joint,
                f"its velocity limit is {said.speed:.6g} {device.unit}/s, the description's "
                f"{speed:.6g}",
            )


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
