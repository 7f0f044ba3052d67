"""The plots and the time line of the page, as plain values."""

from __future__ import annotations

from collections.abc import Mapping

from reach_alpha5_bags.report.dive import Dive
from reach_alpha5_bags.report.joints import HEALTH, MILLI, is_jaws
from reach_alpha5_bags.report.lanes import Lane
from reach_alpha5_bags.report.series import Envelope

Plot = dict[str, object]


def _plot(
    section: str, title: str, unit: str, series: Mapping[str, Envelope], scale: float = 1.0
) -> list[Plot]:
    """Return a plot of what has samples; none if nothing has."""
    shown = [
        {"name": name, **envelope.data(scale)}
        for name, envelope in series.items()
        if envelope.lows
    ]
    if not shown:
        return []
    return [{"section": section, "title": title, "unit": unit, "series": shown}]


def plots(dive: Dive) -> list[Plot]:
    """Return all plots."""
    motion, health, link = dive.motion, dive.health, dive.link
    positions = {n: e for n, e in motion.positions.items() if not is_jaws(n)}
    velocities = {n: e for n, e in motion.velocities.items() if not is_jaws(n)}
    jaws = {n: e for n, e in motion.positions.items() if is_jaws(n)}
    jaw_speeds = {n: e for n, e in motion.velocities.items() if is_jaws(n)}
    latencies = {t: one.latencies for t, one in dive.traffic.items()}
    found = [
        *_plot("joints", "Positions", "rad", positions),
        *_plot("joints", "Velocities", "rad/s", velocities),
        *_plot("joints", "Jaws, position", "mm", jaws, MILLI),
        *_plot("joints", "Jaws, velocity", "mm/s", jaw_speeds, MILLI),
    ]
    for field, (title, unit) in HEALTH.items():
        found += _plot("joints", title, unit, health.quantities[field])
    found += _plot("joints", "Clearance, nearest pair", "m", {"clearance": health.clearance})
    found += _plot("link", "Lost and garbled, since the begin", "frames", link.counters)
    found += _plot("link", "Position reports per joint", "Hz", link.rates)
    found += _plot("latency", "Stamp to receipt", "ms", latencies, MILLI)
    found += _plot("latency", "Age of heartbeats", "s", dive.heartbeats.ages)
    return found


def lanes(dive: Dive) -> list[Plot]:
    """Return the lanes of the time line that have anything on them."""
    arbiter, driver = dive.arbiter.states, dive.driver.states
    order: list[tuple[str, str, Lane]] = [
        ("Owner", "owner", arbiter["Owner"]),
        ("Activity", "activity", arbiter["Activity"]),
        ("Goal", "goal", arbiter["Goal"]),
        ("Arm", "arm", driver["Arm"]),
        ("Stops", "stop", dive.arbiter.stops),
        ("Driver stops", "stop", dive.driver.stops),
        ("Refusals", "refusal", dive.arbiter.refusals.lane),
        ("Driver refusals", "refusal", dive.driver.refusals.lane),
        ("E-stop pressed", "bad", dive.presses.lane),
        ("E-stop latch", "bad", arbiter["E-stop latch"]),
        ("Driver e-stop", "bad", driver["Driver e-stop"]),
        ("Fault latch", "bad", arbiter["Fault latch"]),
        ("Driver faults", "bad", driver["Driver faults"]),
        ("Held back by", "held", driver["Held back by"]),
        ("Warnings", "held", driver["Warnings"]),
        ("Link lost", "bad", driver["Link lost"]),
        ("Link", "bad", dive.driver.link),
        ("Driver unheard", "bad", arbiter["Driver unheard"]),
        ("Upstream lost", "bad", arbiter["Upstream lost"]),
    ]
    return [
        {"title": title, "tone": tone, "items": lane.data(), "folded": lane.folded}
        for title, tone, lane in order
        if lane.count
    ]
