"""Write the tables of docs/driver.md from those of the driver; `--check` only compares."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from generated_docs import run, spliced, table

from reach_alpha5_driver.budget import JOINTS, Load, loads, planned_rate
from reach_alpha5_driver.comparison import MISMATCHES
from reach_alpha5_driver.comparison import Severity as Consequence
from reach_alpha5_driver.fault_table import (
    COMPARISONS,
    DISAGREEMENTS,
    FLAGS,
    HEALTH_UNHEARD,
    JAWS_STRAINING,
    Fault,
)
from reach_alpha5_driver.frame_sizes import DEMAND_BYTES, reply_bytes, request_bytes
from reach_alpha5_driver.health import UNITS, HealthConfig
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.identification import QUESTIONS
from reach_alpha5_driver.protocol.status import KNOWN_BITS
from reach_alpha5_driver.schedule import FAST, HEARTBEAT, RS485, SLOW, ScheduleConfig
from reach_alpha5_driver.states import TRANSITIONS, Event, State
from reach_alpha5_driver.stop_causes import StopCause
from reach_alpha5_driver.transport.latency_timer import UDEV_RULE

TARGET = Path(__file__).resolve().parents[1] / "docs" / "driver.md"
TOOL = Path(__file__).name

CONSEQUENCES = {
    Consequence.WARNING: "shown",
    Consequence.NO_PLANS: "planned motion is refused",
    Consequence.HOLD: "the arm is not moved",
}

SETTINGS = {
    "RS-232, asked": ScheduleConfig(),
    "RS-232, heartbeat": replace(ScheduleConfig(), telemetry=HEARTBEAT),
    "RS-485, asked": replace(ScheduleConfig(), wiring=RS485),
}
"""The ways to have telemetry, each with the defaults of everything else."""


def parts() -> dict[str, str]:
    """Return each generated part by its name."""
    return {
        "states": _states(),
        "events": table(
            ("event", "what it is"), ((f"`{event.name}`", event.value) for event in Event)
        ),
        "holds": table(
            ("code", "what to do"), ((f"`{hold.code}`", _sentence(hold.advice)) for hold in Hold)
        ),
        "stop causes": table(
            ("code", "what has happened", "what it takes to move again"),
            ((f"`{cause.code}`", cause.meaning, cause.onward) for cause in StopCause),
        ),
        "comparisons": _comparisons(),
        "disagreements": _faults((*DISAGREEMENTS, HEALTH_UNHEARD, JAWS_STRAINING)),
        "flags": _faults(FLAGS[name] for name, _, _ in KNOWN_BITS),
        "mismatches": table(
            ("code", "what follows", "meaning", "what to do"),
            (
                (
                    f"`{code}`",
                    CONSEQUENCES[kind.severity],
                    _sentence(kind.meaning),
                    _sentence(kind.advice),
                )
                for code, kind in MISMATCHES.items()
            ),
        ),
        "questions": table(
            ("asked of every device", "packet", "without it"),
            (
                (
                    question.name,
                    f"`{question.packet_id:02X}`",
                    "the arm is not moved" if question.required else "`not_answered` is shown",
                )
                for question in QUESTIONS
            ),
        ),
        "budget": _budget(),
        "udev": f"```\n{UDEV_RULE}\n```",
    }


def text() -> str:
    """Return the document with its tables made anew."""
    return spliced(TARGET.read_text(encoding="utf-8"), parts(), TOOL)


def _states() -> str:
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {next(iter(State)).name}"]
    for state, ways in TRANSITIONS.items():
        lines += [
            f"    {state.name} --> {then.name}: {event.name}" for event, then in ways.items()
        ]
    return "\n".join([*lines, "```"])


def _comparisons() -> str:
    config = HealthConfig()
    rows = []
    for entry in COMPARISONS:
        fault = entry.fault
        limit = getattr(config, entry.threshold)
        side = ">" if entry.above else "<"
        rows.append(
            (
                f"`{fault.code}`",
                fault.severity.name.lower(),
                f"{side} {limit:g} {UNITS[entry.quantity]}",
                f"`{entry.threshold}`",
                fault.meaning,
                fault.advice,
            )
        )
    return table(("code", "severity", "default", "parameter", "meaning", "what to do"), rows)


def _faults(faults: Iterable[Fault]) -> str:
    return table(
        ("code", "severity", "meaning", "what to do"),
        (
            (f"`{fault.code}`", fault.severity.name.lower(), fault.meaning, fault.advice)
            for fault in faults
        ),
    )


def _budget() -> str:
    rows = []
    for name, config in SETTINGS.items():
        rate = planned_rate(config)
        for load in loads(config):
            rows.append((name, load.way, *_arithmetic(load, rate)))
    sizes = (
        f"A velocity for each joint is {DEMAND_BYTES} bytes; a request for position, velocity and "
        f"current {request_bytes(FAST)}, its answer {reply_bytes(FAST)}; a request for the "
        f"{len(SLOW)} slow values {request_bytes(SLOW)}, its answer {reply_bytes(SLOW)}."
    )
    head = ("telemetry", "bytes/s", "demands", "slow values", "fast values", "sum", "the line has")
    return f"{sizes}\n\n{table(head, rows)}"


def _arithmetic(load: Load, rate: float) -> tuple[str, ...]:
    fast = f"{JOINTS} x {load.report:.4g} x {rate:.1f} Hz" if load.report else "0"
    return (
        f"{load.demands:.0f}",
        f"{load.slow:.0f}",
        fast,
        f"{load.at(rate):.0f}",
        f"{load.capacity:.0f}",
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def main() -> int:
    """Write or compare."""
    return run(__doc__ or "", TARGET, text(), TOOL)


if __name__ == "__main__":
    sys.exit(main())
