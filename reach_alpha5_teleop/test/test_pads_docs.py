"""The documentation of the pads says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reach_alpha5_teleop import detect, profiles
from reach_alpha5_teleop.calibrator import cli
from reach_alpha5_teleop.profile import BINDINGS, BUTTONS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "pads.md"

if not DOCUMENT.is_file():
    pytest.skip("docs/ is not beside this package", allow_module_level=True)


@pytest.fixture(scope="module")
def document() -> str:
    return DOCUMENT.read_text()


@pytest.mark.parametrize("name", profiles.names())
def test_every_pad_profile_has_its_row(document, name):
    profile = profiles.find(name)
    row = next(line for line in document.splitlines() if line.startswith(f"| `{name}` |"))
    assert f"`{profile.node}`" in row
    lengths = row.rpartition("|")[0].rpartition("|")[2]
    axes, _, buttons = lengths.partition(", ")
    assert {int(axes)} == profile.axis_counts
    assert set(map(int, re.findall(r"\d+", buttons))) == profile.button_counts


def test_every_code_of_the_detection_is_documented(document):
    codes = re.findall(r'Problem\(\s*"(\w+)"', Path(detect.__file__).read_text())
    assert len(codes) == 4
    for code in codes:
        assert f"| `{code}` |" in document
    assert f"for {detect.SETTLE:g} s after it comes in" in " ".join(document.split())


def test_every_command_and_every_section_is_documented(document, capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    commands = re.findall(r"^    (\w+) +\w", capsys.readouterr().out, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        assert f"| `alpha5-pad {command}" in document
    for word in (*BINDINGS, *BUTTONS):
        assert f"`{word}`" in document


@pytest.mark.parametrize("name", profiles.names())
def test_every_profile_names_its_sources_and_says_that_it_was_not_tried(name):
    text = (profiles.folder() / f"{name}.yaml").read_text()
    head = " ".join(text.partition("\nname:")[0].replace("#", "").split())
    assert "Sources: " in head
    assert "Not tried on hardware." in head
