"""The overlay: who moves the arm, and why it does not move, in a few lines.

Stock rviz draws text in the scene only, and one colour a text. So each line has a rank, and all
of them together the colour of the worst.
"""

from __future__ import annotations

import enum
import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from reach_alpha5_view.scene.config import LIFETIMES, SceneConfig
from reach_alpha5_view.scene.palette import GREEN, ORANGE, RED, WHITE
from reach_alpha5_view.scene.shapes import Colour, Kind, Shape
from reach_alpha5_view.scene.states import ArbiterStatus, ArmStatus, Refused, Telemetry

STATUS = "status"

BODY = "base_link"

WIDTH = 60
"""Characters in a line."""
LONGEST = 240
"""Characters of what others wrote."""
MOST_NAMED = 6
"""Codes in a list."""


class Rank(enum.IntEnum):
    """How bad a line is."""

    PLAIN = 0
    GOOD = 1
    HELD = 2
    STOPPED = 3


COLOURS: dict[Rank, Colour] = {
    Rank.PLAIN: WHITE,
    Rank.GOOD: GREEN,
    Rank.HELD: ORANGE,
    Rank.STOPPED: RED,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the overlay."""

    text: str
    rank: Rank = Rank.PLAIN


@dataclass(frozen=True, slots=True)
class Heard:
    """The newest of each state and how long ago it was heard [s]; infinite: never."""

    arm: ArmStatus
    arm_age: float
    telemetry: Telemetry
    telemetry_age: float
    arbiter: ArbiterStatus
    arbiter_age: float


def overlay(heard: Heard, config: SceneConfig) -> Shape:
    """Return the overlay as one text above the arm."""
    lines = list(status_lines(heard, config.stale_after))
    wrapped = [
        part
        for line in lines
        for part in textwrap.wrap(plain(line.text), WIDTH, subsequent_indent="    ")
    ]
    return Shape(
        STATUS,
        0,
        BODY,
        Kind.TEXT,
        config.text_position,
        size=(0.0, 0.0, config.text_height),
        colour=COLOURS[max(line.rank for line in lines)],
        text="\n".join(wrapped),
        lifetime=LIFETIMES * config.words_period,
    )


def status_lines(heard: Heard, stale_after: float) -> Iterator[Line]:
    """Yield what there is to be said, the arbiter's first."""
    if heard.arbiter_age > stale_after:
        yield Line(_silence("arbiter", heard.arbiter_age), Rank.STOPPED)
    else:
        yield from _arbiter_lines(heard.arbiter, heard.arbiter_age)
    if heard.arm_age > stale_after:
        yield Line(_silence("driver", heard.arm_age), Rank.STOPPED)
        return
    yield from _arm_lines(heard.arm, heard.arm_age)
    if heard.telemetry_age > stale_after:
        yield Line(_silence("posture", heard.telemetry_age), Rank.STOPPED)
    elif not all(map(math.isfinite, heard.telemetry.tip)):
        yield Line("STALE: the posture is not known", Rank.STOPPED)
    elif heard.telemetry.holding:
        yield Line("the jaws hold something")


def _arbiter_lines(arbiter: ArbiterStatus, age: float) -> Iterator[Line]:
    if arbiter.estop_latched:
        level = arbiter.estop_level or "E-STOP"
        by = f" by {arbiter.estop_source}" if arbiter.estop_source else ""
        why = f": {arbiter.estop_reason}" if arbiter.estop_reason else ""
        yield Line(f"E-STOP ({level}){by}{why}", Rank.STOPPED)
    if arbiter.fault_latched:
        yield Line(f"FAULT: {_named(arbiter.fault_causes)}", Rank.STOPPED)
    moving = arbiter.activity != "STILL"
    yield Line(
        f"owner: {arbiter.owner or 'nobody'}   {arbiter.activity}",
        Rank.GOOD if moving else Rank.PLAIN,
    )
    if arbiter.neutral_required:
        yield Line("let go of everything once: neutral is required", Rank.HELD)
    if arbiter.upstream_lost:
        yield Line("the upstream link is lost", Rank.HELD)
    if not arbiter.driver_connected:
        yield Line("the arbiter does not hear a driver with an arm", Rank.STOPPED)
    if arbiter.last_stop_cause:
        yield Line(f"last stop: {arbiter.last_stop_cause}{_ago(arbiter.last_stop_age + age)}")
    yield from _refusal_lines("refused", arbiter.last_refusal, age)


def _arm_lines(arm: ArmStatus, age: float) -> Iterator[Line]:
    power = "powered" if arm.powered else "no power"
    link = "link up" if arm.connected else "LINK DOWN"
    worst = Rank.PLAIN if arm.connected and arm.state != "NONE" else Rank.STOPPED
    yield Line(f"arm: {arm.state}   {power}   {link}", worst)
    if arm.emo:
        yield Line("the driver's e-stop latch is set", Rank.STOPPED)
    if arm.fault_causes:
        yield Line(f"arm fault: {_named(arm.fault_causes)}", Rank.STOPPED)
    if not arm.active:
        yield Line("the driver is not active", Rank.HELD)
    if arm.service_mode:
        yield Line("SERVICE MODE: ordinary input is refused", Rank.HELD)
    if arm.holds:
        yield Line(f"held: {_named(arm.holds)}", Rank.HELD)
    if arm.blocked_by:
        yield Line(f"blocked: {_named(arm.blocked_by)}", Rank.HELD)
    if arm.warnings:
        yield Line(f"warning: {_named(arm.warnings)}", Rank.HELD)
    yield from _refusal_lines("driver refused", arm.last_refusal, age)


def _refusal_lines(what: str, refused: Refused, age: float) -> Iterator[Line]:
    if refused.code:
        of = f" of {refused.source}" if refused.source else ""
        yield Line(f"{what}{of}: {refused.code}{_ago(refused.age + age)}")
        if refused.reason:
            yield Line(f"    {refused.reason}")


def _silence(what: str, age: float) -> str:
    since = f"for {age:.0f} s" if math.isfinite(age) else "yet"
    return f"STALE: nothing heard of the {what} {since}"


def _ago(age: float) -> str:
    return f" ({age:.0f} s ago)" if math.isfinite(age) else ""


def _named(codes: tuple[str, ...]) -> str:
    more = len(codes) - MOST_NAMED
    return ", ".join(codes[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def plain(text: str) -> str:
    """Return what rviz has letters for, of bounded length: others may have written it."""
    short = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    return "".join(c if c == "\n" or " " <= c <= "~" else "?" for c in short)
