"""Which tests run beside which: none is left out, none runs twice, and none that starts anything
is put behind the others.
"""

import re
from pathlib import Path

import test as runner

ROOT = Path(__file__).parents[2]

STARTS = re.compile(
    r"import (subprocess|threading|socket|pty|rclpy)\b|SimProcess|driver_node_rig|time\.sleep"
)
"""What a test needs that is not only reckoning."""


def folders() -> list[str]:
    found = [folder for pattern in runner.PATTERNS for folder in ROOT.glob(pattern)]
    return sorted(folder.relative_to(ROOT).as_posix() for folder in found)


def files(paths) -> list[Path]:
    """Return the test files in files and folders."""
    return [
        file
        for path in paths
        for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("test_*.py"))
    ]


def test_every_test_file_is_in_exactly_one_group():
    run: list[Path] = []
    real, reckoning = runner.lanes(folders())
    for group in (*real, *reckoning):
        left_out = set(files(group.without))
        run += [file for file in files(group.paths) if file not in left_out]
    assert sorted(run) == sorted(files(folders()))


def test_what_is_named_is_there():
    assert [path for path in runner.RECKONING if not (ROOT / path).exists()] == []


def test_nothing_that_starts_anything_runs_behind_the_others():
    named = [file for file in files(runner.RECKONING) if STARTS.search(file.read_text())]
    assert named == []


def test_a_package_that_only_reckons_has_no_group_in_the_first_lane():
    real, reckoning = runner.lanes(["reach_alpha5_motion/test"])
    assert real == []
    assert [group.name for group in reckoning] == ["reach_alpha5_motion, reckoning"]


def test_the_closing_line_of_pytest_is_found_among_all_that_it_printed():
    output = "a line in 3.5s\nand more\n===== 2 passed, 1 skipped in 0.12s =====\nlast words\n"
    assert runner.Result("a", 0, output, 0.1).summary == "2 passed, 1 skipped in 0.12s"
    assert runner.Result("a", 2, "nothing of it", 0.1).summary == ""
