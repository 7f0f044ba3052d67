"""What a terminal that is an e-stop shows, as one line. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from reach_alpha5_arbiter.endpoint import EndpointState
from reach_alpha5_common.command import StopLevel

MEANING = {
    EndpointState.AWAITED: "awaited by the arbiter",
    EndpointState.CLEAR: "clear",
    EndpointState.OBJECTING: "STOP",
    EndpointState.LAPSED: "lapsed",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """The part of `ArbiterState` that is shown."""

    endpoints: dict[str, EndpointState]
    estop: StopLevel
    estop_source: str
    estop_reason: str
    faults: tuple[str, ...]
    owner: str


def unknown_endpoint(name: str, seen: Seen) -> str:
    """Say that the arbiter has no endpoint `name`, and what to do; empty = it has."""
    if name in seen.endpoints:
        return ""
    if not seen.endpoints:
        return f"the arbiter has no e-stop endpoints; add {name!r} to its `estop_endpoints`"
    known = ", ".join(sorted(seen.endpoints))
    return f"the arbiter has no e-stop endpoint {name!r}; it has: {known}"


def status_line(name: str, seen: Seen | None) -> str:
    """Say how the endpoint `name` and the latches stand; None = the arbiter is not heard."""
    if seen is None:
        return f"{name}: the arbiter is not heard"
    parts = [f"{name}: {MEANING[seen.endpoints[name]]}"]
    if seen.estop is not StopLevel.NONE:
        by = f" by {seen.estop_source}" if seen.estop_source else ""
        why = f": {seen.estop_reason}" if seen.estop_reason else ""
        parts.append(f"E-STOP {seen.estop.name}{by}{why}")
    if seen.faults:
        parts.append(f"FAULT {', '.join(seen.faults)}")
    others = [
        f"{other} {MEANING[state]}"
        for other, state in seen.endpoints.items()
        if other != name and state is not EndpointState.CLEAR
    ]
    if others:
        parts.append("not clear: " + ", ".join(others))
    if len(parts) == 1:
        parts.append("no latch")
    parts.append(f"owner {seen.owner}" if seen.owner else "no owner")
    return " | ".join(parts)
