"""The documentation says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reach_alpha5_common.parameters import markdown
from reach_alpha5_teleop import core, pad, profiles
from reach_alpha5_teleop.parameters import PARAMETERS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "teleop.md"

if not DOCUMENT.is_file():
    pytest.skip("docs/ is not beside this package", allow_module_level=True)


@pytest.fixture(scope="module")
def document() -> str:
    return DOCUMENT.read_text()


def test_parameters_are_those_of_the_table(document):
    assert markdown(PARAMETERS) in document


def test_every_refusal_code_is_documented(document):
    codes = {
        code
        for module in (pad, core)
        for code in re.findall(r'Problem\(\s*"(\w+)"', Path(module.__file__).read_text())
    }
    assert len(codes) == 8
    assert {code for code in codes if f"`{code}`" not in document} == set()


def test_every_profile_is_documented(document):
    assert {name for name in profiles.names() if f"| `{name}` |" not in document} == set()
