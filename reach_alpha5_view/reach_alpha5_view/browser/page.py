"""The panel beside the picture, as HTML. Whatever others wrote is escaped: it is text alone."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from dataclasses import dataclass

from reach_alpha5_view.scene.shapes import Colour

_CELL = "padding:1px 6px;text-align:right"
_STALE = "color:#ff6b60;font-weight:bold"


@dataclass(frozen=True, slots=True)
class JointRow:
    """What is shown of a joint; NaN = not known."""

    name: str
    position: float
    """rad, m."""
    velocity: float
    """rad/s, m/s."""
    current: float
    """A."""
    temperature: float
    """degC."""
    stale: bool
    """Whether the position is old."""


@dataclass(frozen=True, slots=True)
class Link:
    """What is shown of the serial line."""

    connected: bool
    rate: float
    """Positions a second; NaN = not known."""
    unanswered: int
    """Requests."""


def status(text: str, colour: Colour) -> str:
    """Return the words of the scene, in the colour of the worst of them."""
    red, green, blue = (round(255 * part) for part in colour[:3])
    return (
        '<div id="alpha5-status" style="white-space:pre-wrap;overflow-wrap:anywhere;'
        "font:13px monospace;background:#20262e;padding:8px;border-radius:4px;"
        f'margin:4px 8px;color:rgb({red},{green},{blue})">{html.escape(text)}</div>'
    )


def joints(rows: Iterable[JointRow], link: Link, is_heard: bool) -> str:
    """Return the table of the joints.

    Args:
        rows: chain order.
        link: the serial line.
        is_heard: whether this is what the driver says now; else all of it is marked as stale.
    """
    head = "".join(
        f'<th style="{_CELL}">{name}</th>' for name in ("joint", "position", "velocity", "A", "°C")
    )
    body = "".join(_row(row, row.stale or not is_heard) for row in rows)
    if not is_heard:
        below = f'<span style="{_STALE}">STALE: nothing heard of the driver</span>'
    elif link.connected:
        below = f"link up, {_number(link.rate, 0)} Hz, {link.unanswered} unanswered"
    else:
        below = f'<span style="{_STALE}">LINK DOWN</span>'
    return (
        '<div id="alpha5-joints" style="font:12px monospace;margin:4px 8px;overflow-x:auto">'
        f"<table><tr>{head}</tr>{body}</table>{below}</div>"
    )


def note(text: str) -> str:
    """Return a line about the picture itself."""
    return (
        '<div id="alpha5-note" style="font:12px monospace;margin:4px 8px">'
        f"{html.escape(text)}</div>"
    )


def _row(row: JointRow, is_stale: bool) -> str:
    jaws = row.name.endswith("axis_a")
    scale, unit = (1000.0, "mm") if jaws else (1.0, "rad")
    cells = (
        f"{row.name} STALE" if is_stale else row.name,
        f"{_number(row.position * scale, 3)} {unit}",
        f"{_number(row.velocity * scale, 3)}/s",
        _number(row.current, 2),
        _number(row.temperature, 0),
    )
    style = f"{_CELL};{_STALE}" if is_stale else _CELL
    return "<tr>" + "".join(f'<td style="{style}">{html.escape(c)}</td>' for c in cells) + "</tr>"


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"
