"""The parameter tables, their document and the files that a drone starts from agree."""

from pathlib import Path

import parameter_docs
import pytest
import yaml

from reach_alpha5_arbiter import parameters as arbiter
from reach_alpha5_driver import parameters as driver
from reach_alpha5_teleop import parameters as teleop
from reach_alpha5_teleop.verbs import parameters as verbs
from reach_alpha5_view import parameters as view

WORKSPACE = Path(__file__).resolve().parents[2]
TABLES = {
    "driver": driver.PARAMETERS,
    "arbiter": arbiter.PARAMETERS,
    "teleop": teleop.PARAMETERS,
    "verbs": verbs.PARAMETERS,
    "markers": view.PARAMETERS,
}
FILES = {
    "driver": "reach_alpha5_driver/config/driver.yaml",
    "arbiter": "reach_alpha5_arbiter/config/arbiter.yaml",
    "teleop": "reach_alpha5_teleop/config/teleop.yaml",
    "verbs": "reach_alpha5_teleop/config/teleop.yaml",
    "markers": "reach_alpha5_view/config/view.yaml",
}
JOY = {
    "autorepeat_rate": (float, 50.0),
    "coalesce_interval_ms": (int, 1),
    "deadzone": (float, 0.0),
    "sticky_buttons": (bool, False),
}
"""Parameters that both nodes of the package joy have, but for those that are arguments of the
launch files: their type, and what teleop needs of them."""
ARGUMENTS = {
    "driver": {"robot_description", "robot_description_semantic", "prefix", "serial_port"}
    | {"wiring", "autostart", "service_mode"},
    "teleop": {"profile"},
    "markers": {"prefix"},
}
"""Parameters that are arguments of the launch files, and win over the parameter file."""


def parameters_of(node, file):
    """Return what a parameter file sets of a node."""
    document = yaml.safe_load((WORKSPACE / file).read_text(encoding="utf-8"))
    return document[f"/**/{node}"]["ros__parameters"]


def test_the_document_is_what_the_tables_say():
    assert parameter_docs.TARGET.read_text(encoding="utf-8") == parameter_docs.text()


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_every_default_is_in_its_range_and_every_parameter_is_described(table):
    for entry in table:
        assert entry.problem(entry.default) is None
        assert entry.description.strip()
        assert len({e.name for e in table}) == len(table)


@pytest.mark.parametrize("node", TABLES.keys())
def test_a_parameter_file_sets_only_what_exists_and_fits(node):
    entries = {entry.name: entry for entry in TABLES[node]}
    for name, value in parameters_of(node, FILES[node]).items():
        assert name in entries
        assert type(value) is type(entries[name].default)
        assert entries[name].problem(value) is None


@pytest.mark.parametrize("node", ARGUMENTS.keys())
def test_a_parameter_file_sets_nothing_that_an_argument_overrides(node):
    assert not set(parameters_of(node, FILES[node])) & ARGUMENTS[node]


def test_a_parameter_file_is_for_the_nodes_of_its_package():
    for file in set(FILES.values()):
        document = yaml.safe_load((WORKSPACE / file).read_text(encoding="utf-8"))
        nodes = {f"/**/{node}" for node, theirs in FILES.items() if theirs == file}
        assert set(document) - {"/**/joy"} == nodes


def test_D1_the_pad_is_set_to_what_teleop_needs():
    settings = parameters_of("joy", FILES["teleop"])
    for name, value in settings.items():
        kind, needed = JOY[name]
        assert (type(value), value) == (kind, needed)
    assert {"autorepeat_rate", "deadzone", "sticky_buttons"} <= set(settings)
