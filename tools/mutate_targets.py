"""What mutation testing puts faults into, and which tests are to find them.

Named are the tests that reckon and are quick. Those on real processes and real time are slow, and
find a fault only sometimes: what they alone could find is left out of the targets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Target:
    """Modules that the same tests are about. Paths are relative to the workspace."""

    modules: Sequence[str]
    tests: Sequence[str]
    scopes: Sequence[str] = ()
    """The definitions of the modules that get faults; none: all."""
    left_out: Sequence[str] = ()
    """Tests among them that say nothing: that a table is as a document has it makes neither
    right."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What is set for the tests."""


def _of(package: str, folder: str, names: str) -> list[str]:
    return [f"{package}/{folder}/{name}.py" for name in names.split()]


def _driver(modules: str, tests: str, scopes: str = "") -> Target:
    package = "reach_alpha5_driver"
    return Target(_of(package, package, modules), _of(package, "test", tests), scopes.split())


def _arbiter(modules: str, tests: str, left_out: Sequence[str] = ()) -> Target:
    package = "reach_alpha5_arbiter"
    return Target(_of(package, package, modules), _of(package, "test", tests), left_out=left_out)


TARGETS = (
    _driver("states gate", "test_states test_gate"),
    _driver("demand", "test_demand test_command_order"),
    _driver("heartbeat", "test_heartbeat"),
    _driver("guard/config guard/keeper", "test_guard_watch test_guard_keeper"),
    _driver(
        "guard/process",
        "test_guard_watch",
        "LOOK_PERIOD OVERSLEPT ALIVE Watch trouble_of trouble_in",
    ),
    _arbiter("heartbeat/core", "test_heartbeat_core test_arbiter_edges_watchdogs"),
    _arbiter("estop_client/core", "test_estop_client test_arbiter_edges_watchdogs"),
    _arbiter(
        "machine rules/goals rules/latches rules/lease rules/sources "
        "admission latches motion driver source errand stream upstream endpoint "
        "core state config execution trajectory spline tables",
        "test_arbiter_rules test_arbiter_goals test_arbiter_streams test_arbiter_stops "
        "test_arbiter_tables test_arbiter_execution test_arbiter_spline test_arbiter_trajectory "
        "test_estop_endpoint test_arbiter_edges_stops test_arbiter_edges_goals "
        "test_arbiter_edges_lease test_arbiter_edges_settings test_arbiter_edges_shown "
        "test_arbiter_edges_checks test_arbiter_edges_owners test_arbiter_edges_twins "
        "test_arbiter_edges_moments",
        [
            "reach_alpha5_arbiter/test/test_arbiter_tables.py"
            "::test_the_document_has_the_tables_as_they_are"
        ],
    ),
)
