"""The parameter tables, their document and the file that a drone starts from agree."""

from pathlib import Path

import parameter_docs
import pytest
import yaml

from reach_alpha5_arbiter import parameters as arbiter
from reach_alpha5_driver import parameters as driver
from reach_alpha5_teleop import parameters as teleop

WORKSPACE = Path(__file__).resolve().parents[2]
TABLES = {
    "driver": driver.PARAMETERS,
    "arbiter": arbiter.PARAMETERS,
    "teleop": teleop.PARAMETERS,
}


def test_the_document_is_what_the_tables_say():
    assert parameter_docs.TARGET.read_text(encoding="utf-8") == parameter_docs.text()


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_every_default_is_in_its_range_and_every_parameter_is_described(table):
    for entry in table:
        assert entry.problem(entry.default) is None
        assert entry.description.strip()
        assert len({e.name for e in table}) == len(table)


@pytest.mark.parametrize("node", TABLES.keys())
def test_the_parameter_file_sets_only_what_exists_and_fits(node):
    document = yaml.safe_load((WORKSPACE / "launch/config/alpha5.yaml").read_text())
    entries = {entry.name: entry for entry in TABLES[node]}
    for name, value in document[f"/**/{node}"]["ros__parameters"].items():
        assert name in entries
        assert type(value) is type(entries[name].default)
        assert entries[name].problem(value) is None
