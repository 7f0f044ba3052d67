"""The documentation and the parameter file say what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from reach_alpha5_common.parameters import check, markdown
from reach_alpha5_view.parameters import PARAMETERS, config_from
from reach_alpha5_view.scene.config import SceneConfig
from reach_alpha5_view.scene.scene import NAMESPACES

PACKAGE = Path(__file__).resolve().parents[1]
DOCUMENT = PACKAGE.parent / "docs" / "view.md"

if not DOCUMENT.is_file():
    pytest.skip("docs/ is not beside this package", allow_module_level=True)


def test_view_parameters_are_those_of_the_table():
    assert markdown(PARAMETERS) in DOCUMENT.read_text()


def test_every_namespace_is_documented():
    document = DOCUMENT.read_text()
    names = {name for names in NAMESPACES.values() for name in names}
    assert {name for name in names if f"| `{name}` |" not in document} == set()


def test_the_parameter_file_has_parameters_of_the_table_in_their_ranges():
    tree = yaml.safe_load((PACKAGE / "config" / "view.yaml").read_text())
    given = tree["/**/markers"]["ros__parameters"]
    table = {entry.name: entry.default for entry in PARAMETERS}
    assert given.keys() <= table.keys()
    check(PARAMETERS, table | given)


def test_the_defaults_of_the_parameters_are_those_of_a_scene():
    assert config_from({entry.name: entry.default for entry in PARAMETERS}) == SceneConfig()
