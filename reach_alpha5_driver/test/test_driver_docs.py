"""docs/driver.md says what the tables and the code say, and nothing that neither has."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reach_alpha5_driver
import reach_alpha5_motion
from reach_alpha5_common import freshness
from reach_alpha5_driver.demand import Demand
from reach_alpha5_driver.fault_table import FAULTS
from reach_alpha5_driver.holds import Hold
from reach_alpha5_driver.parameters import PARAMETERS
from reach_alpha5_driver.states import State
from reach_alpha5_driver.stop_causes import StopCause
from reach_alpha5_driver.stops import STILL_MOVING

WORKSPACE = Path(__file__).resolve().parents[2]
DOCUMENT = WORKSPACE / "docs" / "driver.md"
SOURCE = Path(reach_alpha5_driver.__file__).parent

MOTION = Path(reach_alpha5_motion.__file__).parent
"""What it refuses is refused by the driver."""

GATE_AND_ITS_USERS = ("gate.py", "core.py", "commands.py", "motion_desk.py", "supervisor.py")

NEVER_SHOWN = {"power_off"}
"""Causes of stops that are never written: the line is gone, or one that cuts the power is."""

START_PROBLEMS = {
    "unknown_wiring",
    "unknown_telemetry",
    "heartbeat_on_rs485",
    "heartbeat_rate",
    "line_overloaded",
}
"""Codes of `budget`: they end the start, and only their reason is told."""

NOTED_PROBLEMS = {"grip_current_ignored"}
"""Codes whose reason is logged, while a hold with a code of its own stands."""


def section(title: str) -> str:
    """Return the text under a heading, up to the next one."""
    _, found, rest = DOCUMENT.read_text(encoding="utf-8").partition(f"# {title}\n")
    assert found, f"no heading {title}"
    return re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]


def first_column(title: str) -> set[str]:
    """Return the codes, or other names, that begin the rows of the tables in a section."""
    columns = re.findall(r"^\| (`[^|]+`) \|", section(title), flags=re.MULTILINE)
    return {name for column in columns for name in re.findall(r"`(\w+)`", column)}


def calls(*names: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield file and first argument of every call of functions or methods with these names."""
    for path in (*SOURCE.rglob("*.py"), *MOTION.glob("*.py")):
        if SOURCE / "sim" in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in names:
                    yield path.name, node.args[0]


ENDINGS = ("stop", "rest", "ease", "disengage", "_end", "_owe")
"""Methods that are told why motion ends."""


def literals(*names: str) -> set[str]:
    """Return the codes that are written as such in calls of these names."""
    return {
        argument.value
        for _, argument in calls(*names)
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


@pytest.fixture(scope="module")
def driver_docs():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(WORKSPACE / "tools"))
        yield importlib.import_module("driver_docs")


def test_the_tables_of_the_document_are_what_the_code_says(driver_docs):
    assert DOCUMENT.read_text(encoding="utf-8") == driver_docs.text(), "run tools/driver_docs.py"


def test_a_part_that_nobody_makes_is_found(driver_docs):
    parts = driver_docs.parts()
    parts.pop("holds")
    with pytest.raises(ValueError, match="does not make"):
        driver_docs.spliced(DOCUMENT.read_text(encoding="utf-8"), parts, driver_docs.TOOL)


def test_a_part_without_a_place_is_found(driver_docs):
    with pytest.raises(ValueError, match="no part between"):
        driver_docs.spliced("", driver_docs.parts(), driver_docs.TOOL)


def test_every_operating_state_is_described():
    assert first_column("Operating states") >= {state.name for state in State}


def test_every_cause_of_a_stop_is_documented():
    written = literals(*ENDINGS) | set(STILL_MOVING.values())
    written.add(Demand.__dataclass_fields__["ends_as"].default)
    documented = {cause.code for cause in StopCause}
    assert written - documented == NEVER_SHOWN
    assert documented <= written
    assert not documented & {hold.code for hold in Hold}
    assert first_column("Stop causes") == documented


def test_causes_that_are_not_written_out_come_from_the_tables():
    passed_on = {
        ast.unparse(argument)
        for name, argument in calls(*ENDINGS)
        if name in GATE_AND_ITS_USERS and not isinstance(argument, ast.Constant)
    }
    assert passed_on == {
        "cause",
        "hold.code",
        "Hold.INACTIVE.code",
        "STILL_MOVING[beyond]",
        "self.demand.ends_as",
    }


def test_every_refusal_is_documented():
    elsewhere = START_PROBLEMS | NOTED_PROBLEMS
    refusals = (literals("Problem") | {freshness.CODE}) - elsewhere
    malformed = set(re.findall(r"`(\w+)`", section("Refusals").partition("| code")[0]))
    documented = first_column("Refusals")
    assert refusals - documented <= malformed
    assert documented <= refusals
    assert elsewhere <= literals("Problem")


def test_every_fault_of_the_driver_itself_is_documented():
    latched = literals("fault", "minor_fault", "on_internal_error")
    assert first_column("Of the driver itself") == latched


def test_every_other_fault_is_documented():
    documented = (
        first_column("What is compared")
        | first_column("What disagrees")
        | first_column("What the arm flags")
    )
    assert documented == {
        fault.code for fault in FAULTS if not fault.code.startswith("flag_undocumented_")
    }


def test_names_in_the_document_exist():
    text = DOCUMENT.read_text(encoding="utf-8")
    names = set(re.findall(r"`(?:arm_state\.|link\.)?([a-z]+(?:_[a-z0-9]+)+)`", text))
    messages = (WORKSPACE / "reach_alpha5_msgs" / "msg").glob("*.msg")
    known = {word for path in messages for word in re.findall(r"\w+", path.read_text())}
    known |= {entry.name for entry in PARAMETERS}
    known |= {path.stem for path in (WORKSPACE / "reach_alpha5_driver" / "test").glob("*.py")}
    known |= first_column("Topics and services")
    for title in ("Refusals", "Stop causes", "Holds", "Of the driver itself", "Who the arm is"):
        known |= first_column(title)
    known |= {fault.code for fault in FAULTS}
    known |= set(re.findall(r"`(\w+)`", section("Refusals").partition("| code")[0]))
    assert names - known == set()
