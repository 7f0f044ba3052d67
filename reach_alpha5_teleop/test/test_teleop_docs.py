"""The documentation says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reach_alpha5_common import freshness
from reach_alpha5_teleop import core, detect, feedback, glitch, pad, rest
from reach_alpha5_teleop.parameters import PARAMETERS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "teleop.md"

if not DOCUMENT.is_file():
    pytest.skip("docs/ is not beside this package", allow_module_level=True)


@pytest.fixture(scope="module")
def document() -> str:
    return DOCUMENT.read_text()


def test_every_parameter_it_names_is_in_the_list_that_it_links(document):
    linked = re.search(r"\((parameters\.md)#teleop\)", document)
    table = (DOCUMENT.parent / linked[1]).read_text().partition("\n## teleop\n")[2]
    named = set(re.findall(r"`(\w+)`", document)) & {entry.name for entry in PARAMETERS}
    assert named >= {"joy_ttl", "command_lifetime", "rumble", "max_stamp_age"}
    assert {name for name in named if f"| `{name}` |" not in table} == set()


def test_every_refusal_code_is_documented(document):
    codes = {
        code
        for module in (pad, core, detect)
        for code in re.findall(r'Problem\(\s*"(\w+)"', Path(module.__file__).read_text())
    } | {freshness.CODE}
    assert len(codes) == 16
    assert {code for code in codes if f"`{code}`" not in document} == set()


def test_numbers_of_the_document_are_those_of_the_code(document):
    for said in (
        f"{rest.STEADY_TIME:g} s and five frames",
        f"after {pad.REST_PATIENCE:g} s",
        f"more than {glitch.HAND:g} of an axis's travel",
        f"at most {max(on for p in feedback.PATTERNS.values() for on in p[::2]):g} s long",
    ):
        assert said in " ".join(document.split())
    assert rest.STEADY_FRAMES == 5
