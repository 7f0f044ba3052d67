"""The time line: who had the arm, what it did, what held it, and what was refused.

Counters tell what happened between two messages, so nothing is missed that was counted. What
they had counted before the bag's begin is left out; a counter that goes back belongs to a node
that was started anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from reach_alpha5_bags.report.lanes import Events, States, short

ACTIVITIES = ("", "jogging", "trajectory", "ending")
"""`ArbiterState.activity`; still is no state of the lane."""

ARM_STATES = ("no arm", "idle", "enabled", "executing", "major fault", "minor fault")
"""`ArmState.state`."""

LEVELS = ("none", "settle then cut", "cut")
"""`EStop` levels; any other is read as the last."""

GOAL_STATES = ("", "waiting", "running", "slowing", "ending")
"""`GoalStatus.state` while a goal owns the arm."""

MOST_REFUSALS = 1000
"""Sources and codes whose counters are told apart. The arbiter and the driver have some dozens."""

Told = tuple[str, str]
"""What is on a lane now, and more about it; an empty text = nothing."""


class Growth:
    """What a counter has grown by since it was last heard."""

    def __init__(self) -> None:
        self._last: int | None = None

    def by(self, value: int) -> int:
        """Return it; 0 for the first value, and all of one that has gone back."""
        last, self._last = self._last, value
        if last is None:
            return 0
        return value - last if value >= last else value


def level(number: int) -> str:
    """Return the name of an e-stop level."""
    return LEVELS[min(int(number), len(LEVELS) - 1)]


def _named(names: tuple[str, ...], number: int) -> str:
    return names[number] if number < len(names) else f"state {number}"


def _estop(state: Any) -> Told:
    if not state.estop_latched:
        return "", ""
    why = f"{state.estop_reason} " if state.estop_reason else ""
    return state.estop_source or "e-stop", f"{why}({level(state.estop_level)})"


def _goal(state: Any) -> Told:
    number = int(state.goal.state)
    if not 0 < number < len(GOAL_STATES):
        return "", ""
    return state.goal.action, f"{GOAL_STATES[number]}, of {state.goal.source}"


def _fault(state: Any) -> Told:
    return (", ".join(state.fault_causes) or "fault", "") if state.fault_latched else ("", "")


ARBITER_STATES: Mapping[str, Callable[[Any], Told]] = {
    "Owner": lambda state: (state.owner, ""),
    "Activity": lambda state: (_named(ACTIVITIES, int(state.activity)), ""),
    "Goal": _goal,
    "E-stop latch": _estop,
    "Fault latch": _fault,
    "Driver unheard": lambda state: ("" if state.driver_connected else "not connected", ""),
    "Upstream lost": lambda state: ("lost" if state.upstream_lost else "", ""),
}
"""Lane to what an `ArbiterState` says of it."""

ARM_LANES: Mapping[str, Callable[[Any], Told]] = {
    "Arm": lambda state: (_named(ARM_STATES, int(state.state)), ""),
    "Driver e-stop": lambda state: (level(state.emo_level) if state.emo else "", ""),
    "Driver faults": lambda state: (", ".join(state.fault_causes), ""),
    "Held back by": lambda state: (", ".join(state.blocked_by), state.collision_pair),
    "Link lost": lambda state: ("" if state.link.connected else "lost", state.link.port),
    "Warnings": lambda state: (", ".join(state.warnings), ""),
}
"""Lane to what an `ArmState` says of it."""


class Refusals:
    """Refusals as events, from the counters in which they are told."""

    def __init__(self) -> None:
        self.lane = Events()
        self._counts: dict[tuple[str, str], int] | None = None

    def hear(self, at: float, told: Iterable[Any]) -> None:
        """Take in all the `Refusal`s of a message, the newest first."""
        is_first = self._counts is None
        counts: dict[tuple[str, str], int] = {} if self._counts is None else self._counts
        for one in reversed(list(told)):
            if not one.code:
                continue
            key, count = (short(one.source), short(one.code)), int(one.count)
            if key not in counts and len(counts) >= MOST_REFUSALS:
                key = ("", "others")
            before = counts.get(key, 0)
            counts[key] = count
            new = count - before if count >= before else count
            if new and not is_first:
                self.lane.add(at, one.code, one.source, one.reason, new)
        self._counts = counts


class Arbiter:
    """The lanes of `ArbiterState`."""

    def __init__(self) -> None:
        self.states = {title: States() for title in ARBITER_STATES}
        self.stops = Events()
        self.refusals = Refusals()
        self.heard = 0
        self._stops = Growth()

    def hear(self, at: float, state: Any) -> None:
        """Take in a message."""
        self.heard += 1
        for title, told in ARBITER_STATES.items():
            self.states[title].keep(at, *told(state))
        if new := self._stops.by(int(state.stops)):
            self.stops.add(at, state.last_stop_cause or "unknown", count=new)
        self.refusals.hear(at, [state.last_refusal, *state.earlier_refusals])


class Driver:
    """The lanes of `ArmState`."""

    def __init__(self) -> None:
        self.states = {title: States() for title in ARM_LANES}
        self.stops = Events()
        self.refusals = Refusals()
        self.link = Events()
        """Reconnects and trips of the guard."""
        self.heard = 0
        self._stops = Growth()
        self._reconnects = Growth()
        self._guard_trips = Growth()

    def hear(self, at: float, state: Any) -> None:
        """Take in a message."""
        self.heard += 1
        for title, told in ARM_LANES.items():
            self.states[title].keep(at, *told(state))
        if new := self._stops.by(int(state.stops)):
            self.stops.add(at, state.last_stop_cause or "unknown", count=new)
        if new := self._reconnects.by(int(state.link.reconnects)):
            self.link.add(at, "reconnected", text=state.link.port, count=new)
        if new := self._guard_trips.by(int(state.link.guard_trips)):
            self.link.add(at, "guard_trip", text="the guard stopped a driver that hung", count=new)
        self.refusals.hear(at, [state.last_refusal])


class Presses:
    """E-stops as they were pressed."""

    def __init__(self) -> None:
        self.lane = Events()

    def hear(self, at: float, press: Any) -> None:
        """Take in an `EStop`; one that objects to nothing is none."""
        if int(press.level):
            text = f"{press.reason} ({level(press.level)})".strip()
            self.lane.add(at, press.source or "unnamed", text=text)
