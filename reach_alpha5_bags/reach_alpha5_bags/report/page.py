"""The page: what was gathered, as HTML that needs nothing beside itself.

Whatever comes out of a bag is text. In the tables it is escaped; what the scripts draw is carried
as JSON in which no markup can begin, and is put into the page as text. A policy in the page lets
no script run but ours, known by its hash, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from reach_alpha5_bags.report.charts import lanes, plots
from reach_alpha5_bags.report.dive import FEEDS, Dive
from reach_alpha5_bags.report.joints import MILLI, is_jaws
from reach_alpha5_bags.report.link import TOTALS
from reach_alpha5_bags.report.reaction import Wait
from reach_alpha5_bags.report.series import Spread

SCRIPTS = ("time.js", "timeline.js", "plots.js", "tip.js")
ASSETS = files(__package__)


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a bag was read."""

    name: str
    namespace: str
    begin_ns: int
    """Of the bag [ns since the epoch]."""
    begin: float
    end: float
    """Of what was read [s since the bag's begin]."""
    duration: float
    """Of the whole bag [s]."""
    is_part: bool
    """Only a part of it was asked for."""
    damage: tuple[str, ...]
    others: tuple[str, ...]
    """Topics that the page does not tell of."""

    def utc(self, at: float) -> str:
        """Return a moment of the bag on the recorder's clock, as people read it."""
        moment = datetime.fromtimestamp(self.begin_ns * 1e-9 + at, tz=timezone.utc)
        return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def page(dive: Dive, reading: Reading) -> str:
    """Return the page."""
    script = "\n".join((ASSETS / name).read_text("utf-8") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template((ASSETS / "page.html").read_text("utf-8")).substitute(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        style=(ASSETS / "page.css").read_text("utf-8"),
        script=script,
        title=escape(f"Dive {reading.name}, {reading.utc(reading.begin)}"),
        name=escape(reading.name),
        about=_about(reading),
        notes=_notes(dive, reading),
        summary=_summary(dive, reading),
        causes=_causes(dive),
        tip=_tip(dive),
        devices=_devices(dive),
        link=_link(dive),
        latencies=_latencies(dive),
        answers=_answers(dive),
        topics=_topics(dive, reading),
        others=escape(", ".join(reading.others) or "none"),
        data=embedded(
            {
                "begin": reading.begin,
                "end": max(reading.end, reading.begin + 1e-3),
                "wall": reading.begin_ns / 1e6,
                "lanes": lanes(dive),
                "plots": plots(dive),
                "tip": {"points": dive.tip.data(), "resolution": dive.tip.resolution},
            }
        ),
    )


def embedded(data: object) -> str:
    """Return data as JSON that can stand inside of a script element whatever it holds."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def span(seconds: float) -> str:
    """Return a duration as people read it."""
    if seconds < 1.0:
        return f"{seconds * MILLI:.0f} ms"
    if seconds < 60.0:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min {rest:02} s" if hours else f"{minutes} min {rest:02} s"


# ---- parts -------------------------------------------------------------------------------------


def _about(reading: Reading) -> str:
    return (
        f"{escape(reading.utc(reading.begin))} to {escape(reading.utc(reading.end))} · "
        f"arm <code>{escape(reading.namespace)}</code>"
    )


def _missing(dive: Dive) -> list[str]:
    return [
        f"No <code>{escape(topic)}</code>: this page lacks {escape(feed.tells)}."
        for topic, feed in FEEDS.items()
        if feed.tells and not dive.traffic[topic].count
    ]


def _notes(dive: Dive, reading: Reading) -> str:
    notes = [f"The bag is {escape(one)}." for one in reading.damage if one.startswith("damaged")]
    notes += [f"{escape(one)}." for one in reading.damage if not one.startswith("damaged")]
    read = f"Read from {span(reading.begin)} to {span(reading.end)} of {span(reading.duration)}"
    if reading.is_part:
        notes.append(f"{read}: only this part was asked for.")
    elif reading.damage:
        notes.append(f"{read}.")
    notes += _missing(dive)
    notes += [
        f"{one.misread} messages of <code>{escape(topic)}</code> say less than was expected: "
        "another version of their definition, or damage."
        for topic, one in dive.traffic.items()
        if one.misread
    ]
    if not notes:
        return ""
    items = "".join(f"<li>{note}</li>" for note in notes)
    return f'<section class="notes"><h2>What is missing</h2><ul>{items}</ul></section>'


def _summary(dive: Dive, reading: Reading) -> str:
    length = reading.end - reading.begin
    motion, tip, arbiter, driver = dive.motion, dive.tip, dive.arbiter, dive.driver
    part = f"{motion.time_moving / length:.0%} of the time" if length > 0.0 else ""
    said = arbiter.heard > 0
    wrote = driver.heard > 0
    refusals = arbiter.refusals.lane.count + driver.refusals.lane.count
    estops = arbiter.states["E-stop latch"] if said else driver.states["Driver e-stop"]
    faults = arbiter.states["Fault latch"] if said else driver.states["Driver faults"]
    lost = driver.states["Link lost"]
    cards: list[tuple[str, str, str, bool]] = [
        ("duration", span(length), "", False),
        ("moving", span(motion.time_moving) if motion.heard else "—", part, False),
        ("tip travelled", f"{tip.travelled:.2f} m" if tip.heard else "—", "", False),
        ("stops", str(arbiter.stops.count) if said else "—",
         f"{driver.stops.count} written by the driver" if wrote else "", False),
        ("refusals", str(refusals) if said or wrote else "—", "", False),
        ("e-stops", str(estops.spells) if said or wrote else "—",
         f"{span(estops.time)} latched" if estops.spells else "", estops.spells > 0),
        ("faults", str(faults.spells) if said or wrote else "—",
         f"{span(faults.time)} latched" if faults.spells else "", faults.spells > 0),
        ("link losses", str(lost.spells) if wrote else "—",
         span(lost.time) if lost.spells else "", lost.spells > 0),
    ]  # fmt: skip
    return "".join(
        f'<div class="card{" bad" if bad else ""}"><span>{title}</span><b>{escape(value)}</b>'
        f"<small>{escape(more)}</small></div>"
        for title, value, more, bad in cards
    )


def _causes(dive: Dive) -> str:
    """Return who had the arm, why it was stopped and what was refused, each with its number."""
    arbiter, driver = dive.arbiter, dive.driver
    parts = []
    owners = arbiter.states["Owner"]
    if owners.times:
        rows = [
            (f"<code>{escape(n)}</code>", span(t), str(owners.counts.get(n, 0)))
            for n, t in sorted(owners.times.items(), key=lambda item: -item[1])
        ]
        parts.append(_table(("owner", "had the arm for", "times"), rows))
    for title, lane in (
        ("stopped because of", arbiter.stops),
        ("driver stopped because of", driver.stops),
        ("refused", arbiter.refusals.lane),
        ("driver refused", driver.refusals.lane),
        ("faults", arbiter.states["Fault latch"]),
    ):
        if lane.count:
            counts = sorted(lane.counts.items(), key=lambda item: -item[1])
            named = [(f"<code>{escape(label)}</code>", str(count)) for label, count in counts]
            parts.append(_table((title, "times"), named))
    return "".join(parts)


def _tip(dive: Dive) -> str:
    tip = dive.tip
    if not tip.heard or not math.isfinite(tip.lowest[0]):
        return "<p>Nothing is known of the tip.</p>"
    x, y, z = (
        f"{low:.3f} … {high:.3f} m" for low, high in zip(tip.lowest, tip.highest, strict=True)
    )
    return (
        f"<p>In <code>base_link_frd</code>, the drone's body frame: forward {x}, right {y}, down "
        f"{z}. Points nearer than {tip.resolution * MILLI:.0f} mm to each other are one.</p>"
    )


def _devices(dive: Dive) -> str:
    rows = []
    for name, joint in dive.health.joints.items():
        try:
            told = _device(str(name), joint)
        # Another version of the definition has other fields.
        except (AttributeError, TypeError, ValueError):
            told = ("—",) * 5
        rows.append((f"<code>{escape(str(name))}</code>", *told))
    head = ("joint", "device", "serial number", "model", "firmware", "limits")
    return _table(head, rows) if rows else "<p>Nothing is known of the arm's devices.</p>"


def _device(name: str, joint: Any) -> tuple[str, ...]:
    """Return what a joint's device says of itself."""
    device = joint.device
    if not device.identified:
        return str(joint.device_id), "—", "—", "—", "—"
    scale, unit = (MILLI, "mm") if is_jaws(name) else (1.0, "rad")
    low, high = device.position_lower * scale, device.position_upper * scale
    has_limits = math.isfinite(low) and math.isfinite(high)
    return (
        escape(str(joint.device_id)),
        _whole(device.serial_number),
        _whole(device.model_number),
        escape(device.firmware or "—"),
        f"{low:.4g} … {high:.4g} {unit}" if has_limits else "none",
    )


def _whole(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else "—"


def _link(dive: Dive) -> str:
    """Return what was counted, as two tables that stand side by side where there is room."""
    if not dive.driver.heard:
        return "<p>Nothing is known of the line.</p>"
    rows = [(name, f"{dive.link.totals[name]:,}") for name in TOTALS]
    half = (len(rows) + 1) // 2
    tables = [_table(("on the line", "count"), part) for part in (rows[:half], rows[half:])]
    return f'<div class="columns">{"".join(tables)}</div>'


def _times(spread: Spread) -> tuple[str, ...]:
    if not spread.count:
        return ("—",) * 4
    values = (spread.percentile(50), spread.percentile(99), spread.largest, spread.smallest)
    return tuple(f"{value * MILLI:.3g}" for value in values)


def _latencies(dive: Dive) -> str:
    rows = []
    for topic, one in dive.traffic.items():
        if one.latency.count:
            note = f"{one.latency.negative} received before they were sent: two clocks"
            rows.append(
                (f"<code>{escape(topic)}</code>", *_times(one.latency),
                 note if one.latency.negative else "")
            )  # fmt: skip
    return _table(("stamp to receipt [ms]", "median", "p99", "most", "least", ""), rows)


def _answers(dive: Dive) -> str:
    waits: tuple[tuple[str, Wait], ...] = (
        ("command to motion, from rest", dive.reaction.start),
        ("stop to rest", dive.reaction.rest),
    )
    rows = [
        (what, str(wait.times.count), *_times(wait.times), str(wait.unanswered))
        for what, wait in waits
    ]
    return _table(("the arm [ms]", "times", "median", "p99", "most", "least", "none in 2 s"), rows)


def _topics(dive: Dive, reading: Reading) -> str:
    rows = []
    for topic, one in dive.traffic.items():
        name = f"<code>{escape(topic)}</code>"
        if not one.count:
            rows.append((name, "0", "—", "—", "—", "—"))
            continue
        gap = f"{span(one.longest_gap)} at {span(one.gap_at)}" if one.longest_gap else "—"
        rows.append(
            (name, f"{one.count:,}", f"{one.rate:.1f} Hz", span(one.first), span(one.last), gap)
        )
    return _table(("topic", "messages", "rate", "first", "last", "longest gap"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. Cells are HTML: what comes from a bag was escaped."""
    titles = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    if not body:
        return ""
    return (
        f'<div class="wide"><table><thead><tr>{titles}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
