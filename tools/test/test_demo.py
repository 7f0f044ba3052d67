"""What the demo says of a fault that latches while it runs."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
from demo import FaultWatch, report
from demo_judge import EXPECTED, Fault, Finding, Window, judge
from rich.console import Console

SECOND = 10**9
WINDOWS = [Window(phase, n * SECOND, (n + 1) * SECOND) for n, phase in enumerate(EXPECTED)]
AT = list(EXPECTED).index("cartesian_back")
RESET = list(EXPECTED).index("reset")


@pytest.fixture
def all_well(monkeypatch):
    """Checks that find nothing wrong."""
    monkeypatch.setattr(
        "demo_judge.EXPECTED",
        {
            phase: (words, lambda *_: Finding(True, "well"))
            for phase, (words, _) in EXPECTED.items()
        },
    )


def verdict(*faults):
    rows = judge(None, WINDOWS, faults)
    screen = io.StringIO()
    is_right = report(Console(file=screen, width=200), rows, 1.0, faults)
    return rows, is_right, screen.getvalue()


def test_without_a_fault_every_phase_is_judged(all_well):
    rows, is_right, said = verdict()
    assert is_right and all(finding.is_judged for _, _, finding in rows)
    assert "FAULT" not in said and f"All {len(WINDOWS)} phases ok" in said


def test_a_fault_is_told_and_what_follows_it_is_not_judged_until_the_reset(all_well):
    fault = Fault(("telemetry",), int((AT + 0.5) * SECOND), int((RESET + 0.5) * SECOND), 31.4)
    rows, is_right, said = verdict(fault)
    assert not is_right
    told = [(finding.ok, finding.is_judged) for _, _, finding in rows]
    after = RESET - AT - 1
    rest = len(rows) - RESET
    assert (
        told
        == [(True, True)] * AT + [(False, True)] + [(False, False)] * after + [(True, True)] * rest
    )
    assert (
        f"A FAULT latched {AT + 0.5:.1f} s into the session, in cartesian_back: telemetry" in said
    )
    assert "load average was 31.4" in said and "again" in said
    assert f"1 of {len(rows)} phases WENT WRONG, {after} are not judged." in said
    assert said.count(" not judged ") >= after


def test_a_fault_that_is_never_reset_leaves_the_rest_unjudged(all_well):
    rows, is_right, said = verdict(Fault(("telemetry",), -1, None, 0.0))
    assert not is_right and not any(finding.is_judged for _, _, finding in rows)
    assert "All" not in said and "It was not reset." in said


def state(causes, estop=False):
    return SimpleNamespace(fault_latched=bool(causes), fault_causes=causes, estop_latched=estop)


@pytest.mark.parametrize("first", [[], [state(["guard_tripped"])]])
def test_what_an_estop_latches_is_no_fault_of_the_demo(first):
    watch = FaultWatch()
    for seen in [*first, state(["guard_tripped"], estop=True), state([])]:
        watch.look(seen)
    assert watch.faults == []


def test_the_watch_notes_when_a_fault_latched_and_when_it_was_reset():
    watch = FaultWatch()
    for causes in ([], ["link"], ["link", "telemetry"], [], ["link"]):
        watch.look(state(causes))
    first, second = watch.faults
    assert first.causes == ("link",) and first.begin <= first.end <= second.begin
    assert second.end is None
