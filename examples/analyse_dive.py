#!/usr/bin/env python3
"""Tell what happened in a dive: who had the arm, stops, refusals, the way of the tip, latencies.

Needs the Python package `rosbags` and nothing else: no ROS, and nothing of these packages. The
messages are read by the definitions that the bag carries.

    python3 -m venv dive && dive/bin/pip install rosbags
    dive/bin/python3 examples/analyse_dive.py examples/sample_dive
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

try:
    from rosbags.highlevel import AnyReader, AnyReaderError
except ModuleNotFoundError as error:
    raise SystemExit(
        f"there is no Python package {error.name!r} here. Either install it:\n"
        "  python3 -m venv dive && dive/bin/pip install rosbags\n"
        "  dive/bin/python3 examples/analyse_dive.py BAG\n"
        "or use that of the workspace:\n"
        "  tools/run python3 examples/analyse_dive.py BAG"
    ) from None

ARBITER_STATE = "reach_alpha5_msgs/msg/ArbiterState"
WANTED = ("arbiter_state", "arm_state", "gripper_tel", "driver_command", "joy", "estop")
LONGEST_STEP = 0.05
"""Way of the tip [m] between two reports that no arm makes: there the measurement began anew."""
CUT = """
If it was cut off (no power, no room), tools/run alpha5-report BAG reads what is whole in it."""


@dataclass
class Dive:
    """What is gathered while the bag is read, times in seconds since its begin."""

    duration: float = 0.0
    owners: list[tuple[float, str]] = field(default_factory=list)
    stops: list[tuple[float, str]] = field(default_factory=list)
    refusals: dict[tuple[str, str], tuple[float, int, str]] = field(default_factory=dict)
    """First time, count and reason by source and code."""
    estops: list[tuple[float, str, str]] = field(default_factory=list)
    faults: list[tuple[float, list[str]]] = field(default_factory=list)
    travel: float = 0.0
    """Way of the tip [m]."""
    lowest: list[float] = field(default_factory=lambda: [math.inf] * 3)
    highest: list[float] = field(default_factory=lambda: [-math.inf] * 3)
    transit: dict[str, list[float]] = field(default_factory=dict)
    """Seconds from the stamp of a message to its arrival, by topic."""
    rates: list[float] = field(default_factory=list)
    unanswered: int = 0
    sent: int = 0


class Reader:
    """Makes a dive of messages."""

    def __init__(self) -> None:
        self.dive = Dive()
        self._stops: int | None = None
        self._tip: tuple[float, float, float] | None = None

    def hear(self, topic: str, message: Any, at: float, stamp: int) -> None:
        """Take a message in.

        Args:
            topic: without the namespace.
            message: itself.
            at: arrival [s since the bag's begin].
            stamp: arrival [ns since the epoch].
        """
        made = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        if made:
            self.dive.transit.setdefault(topic, []).append((stamp - made) * 1e-9)
        if (understand := getattr(self, f"_{topic}", None)) is not None:
            understand(message, at)

    def _arbiter_state(self, state: Any, at: float) -> None:
        dive = self.dive
        if not dive.owners or dive.owners[-1][1] != state.owner:
            dive.owners.append((at, state.owner))
        if self._stops is not None and state.stops > self._stops:
            dive.stops.append((at, state.last_stop_cause))
        self._stops = state.stops
        for refusal in [state.last_refusal, *state.earlier_refusals]:
            if refusal.code:
                known = dive.refusals.get((refusal.source, refusal.code))
                first = at if known is None else known[0]
                seen = (first, refusal.count, refusal.reason)
                dive.refusals[refusal.source, refusal.code] = seen

    def _arm_state(self, state: Any, at: float) -> None:
        dive = self.dive
        faults = list(state.fault_causes)
        if faults != (dive.faults[-1][1] if dive.faults else []):
            dive.faults.append((at, faults))
        if state.link.telemetry_rate > 0.0:
            dive.rates.append(state.link.telemetry_rate)
        dive.unanswered, dive.sent = state.link.requests_unanswered, state.link.frames_sent

    def _gripper_tel(self, telemetry: Any, at: float) -> None:
        tip = telemetry.gripper.end_position
        place = (tip.x, tip.y, tip.z)
        if not all(math.isfinite(value) for value in place):
            self._tip = None
            return
        dive = self.dive
        if self._tip is not None and (step := math.dist(self._tip, place)) < LONGEST_STEP:
            dive.travel += step
        self._tip = place
        dive.lowest = [min(pair) for pair in zip(dive.lowest, place, strict=True)]
        dive.highest = [max(pair) for pair in zip(dive.highest, place, strict=True)]

    def _estop(self, press: Any, at: float) -> None:
        self.dive.estops.append((at, press.source, press.reason))


def read(path: Path, namespace: str | None = None) -> Dive:
    """Read a dive.

    Args:
        path: of the bag.
        namespace: of the arm; None = the first one that is there.
    """
    reader = Reader()
    with AnyReader([path]) as bag:
        namespaces = sorted(
            c.topic.rpartition("/")[0] for c in bag.connections if c.msgtype == ARBITER_STATE
        )
        if namespace is None:
            if not namespaces:
                raise SystemExit(f"{path}: there is no topic of the type {ARBITER_STATE} in it")
            namespace = namespaces[0]
        namespace = f"/{namespace.strip('/')}".rstrip("/")
        names = {f"{namespace}/{topic}": topic for topic in WANTED}
        wanted = [c for c in bag.connections if c.topic in names]
        if not wanted:
            raise SystemExit(f"{path}: there is no arm in {namespace or '/'}")
        for connection, stamp, data in bag.messages(connections=wanted):
            message = bag.deserialize(data, connection.msgtype)
            reader.hear(names[connection.topic], message, (stamp - bag.start_time) * 1e-9, stamp)
        reader.dive.duration = bag.duration * 1e-9
    return reader.dive


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not below so large a share of them."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def lines(dive: Dive) -> Iterator[str]:
    """Yield what happened, for people."""
    yield f"{dive.duration:.1f} s"
    yield "\nWho had the arm"
    ends = [at for at, _ in dive.owners[1:]] + [dive.duration]
    for (at, owner), end in zip(dive.owners, ends, strict=True):
        yield f"  {at:7.2f} to {end:7.2f} s  {owner or '(nobody)'}"
    yield f"\nStops ({len(dive.stops)})"
    for at, cause in dive.stops:
        yield f"  {at:7.2f} s  {cause}"
    yield f"\nE-stops ({len(dive.estops)})"
    for at, source, reason in dive.estops:
        yield f"  {at:7.2f} s  by {source or 'somebody'}: {reason or 'no reason given'}"
    yield f"\nRefusals ({sum(count for _, count, _ in dive.refusals.values())})"
    for (source, code), (at, count, reason) in dive.refusals.items():
        yield f"  {at:7.2f} s  {source or '(no source)'}: {code}, {count} times: {reason}"
    yield f"\nFaults of the arm ({sum(bool(causes) for _, causes in dive.faults)})"
    for at, causes in dive.faults:
        yield f"  {at:7.2f} s  {', '.join(causes) or 'cleared'}"
    yield "\nTip"
    if math.isfinite(dive.lowest[0]):
        yield f"  travelled {dive.travel:.3f} m"
        axes = ("forward", "right", "down")
        for name, low, high in zip(axes, dive.lowest, dive.highest, strict=True):
            yield f"  {name:<8} {low:+.3f} to {high:+.3f} m"
    else:
        yield "  its place was never known"
    yield "\nLink"
    if dive.rates:
        yield f"  {percentile(dive.rates, 0.5):.1f} reports of each joint a second (median)"
        yield f"  {dive.unanswered} requests unanswered, of {dive.sent} frames sent"
    yield "  from the stamp of a message to its arrival [ms]: median, 99 %"
    for topic, values in dive.transit.items():
        middle, worst = percentile(values, 0.5) * 1e3, percentile(values, 0.99) * 1e3
        yield f"    {topic:<15} {middle:7.1f} {worst:7.1f}"


def main() -> int:
    """Print what happened."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("bag", type=Path)
    parser.add_argument("--namespace", help="of the arm, as alpha5; default: the first one")
    options = parser.parse_args()
    if not options.bag.exists():
        raise SystemExit(f"{options.bag}: there is no such bag")
    try:
        dive = read(options.bag, options.namespace)
    except (AnyReaderError, OSError) as error:
        raise SystemExit(f"{options.bag} cannot be read: {error}{CUT}") from None
    try:
        print("\n".join(lines(dive)), flush=True)
    except BrokenPipeError:  # a reader such as `head` has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
