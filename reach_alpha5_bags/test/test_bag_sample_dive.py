"""The sample dive, and the script that analyses it with `rosbags` alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags reads bags")

from reach_alpha5_bags.profile import Selection
from reach_alpha5_bags.reading import Bag
from reach_alpha5_bags.settings import profile_of

EXAMPLES = Path(__file__).parents[2] / "examples"
DIVE = EXAMPLES / "sample_dive"
ALONE = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in ("rclpy", "ament_index_python") or package.startswith("reach_alpha5"):
            raise ImportError(f"{name}: this machine has no ROS")
sys.meta_path.insert(0, Nothing())
import runpy
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def analysed(*arguments: str) -> subprocess.CompletedProcess[str]:
    script = str(EXAMPLES / "analyse_dive.py")
    return subprocess.run(
        [sys.executable, "-c", ALONE, script, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_tells_what_happened_without_ros() -> None:
    done = analysed(str(DIVE))
    assert done.returncode == 0, done.stderr
    told = done.stdout
    owners = re.findall(r"^ +[\d.]+ to +[\d.]+ s  (.+)$", told, re.MULTILINE)
    assert owners == ["(nobody)", "teleop", "(nobody)", "teleop"]
    assert len(re.findall(r"^ +[\d.]+ s  estop$", told, re.MULTILINE)) == 1
    assert "by teleop: e-stop button of the pad" in told
    assert "app: neutral_required, 1 times" in told
    assert "app: not_owner, 1 times" in told
    travelled = float(re.search(r"travelled ([\d.]+) m", told).group(1))
    assert 0.5 < travelled < 3.0
    assert re.search(r"^    driver_command +[\d.]+ +[\d.]+$", told, re.MULTILINE)


def test_the_script_says_what_is_missing(tmp_path: Path) -> None:
    done = analysed(str(EXAMPLES / "pad_session"))
    assert done.returncode == 1
    assert "no topic of the type reach_alpha5_msgs/msg/ArbiterState" in done.stderr
    assert analysed(str(DIVE), "--namespace", "/elsewhere").returncode == 1


def test_the_sample_dive_is_whole_small_and_holds_what_the_profile_wants() -> None:
    assert sum(file.stat().st_size for file in DIVE.iterdir()) < 3_000_000
    chosen = Selection(profile_of().entries(["alpha5"]))
    wanted = ("arbiter_journal", "arbiter_state", "arm_state", "driver_command", "estop", "joy")
    with Bag(DIVE) as bag:
        assert bag.missing(f"/alpha5/{topic}" for topic in wanted) == []
        assert all(chosen.find(topic) for topic in bag.topics)
        messages = [bag.message(recorded) for recorded in bag.read(list(bag.topics))]
        assert None not in messages
        assert bag.damage == []


def test_the_namespace_is_named_with_or_without_a_slash() -> None:
    told = analysed(str(DIVE)).stdout
    assert analysed(str(DIVE), "--namespace", "alpha5").stdout == told
    assert analysed(str(DIVE), "--namespace", "/alpha5/").stdout == told
    assert "no arm in /other" in analysed(str(DIVE), "--namespace", "other").stderr


def test_a_bag_that_is_not_there_or_was_cut_off_is_told_without_a_traceback(
    tmp_path: Path,
) -> None:
    absent = analysed(str(tmp_path / "none"))
    assert absent.returncode == 1 and absent.stderr.endswith("none: there is no such bag\n")
    (whole,) = DIVE.glob("*.mcap")
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole.read_bytes()[:200_000])
    for path in (cut, tmp_path):
        done = analysed(str(path))
        assert done.returncode == 1 and "Traceback" not in done.stderr
        assert f"{path} cannot be read" in done.stderr and "alpha5-report" in done.stderr


def test_without_rosbags_it_tells_how_to_get_it() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-E", str(EXAMPLES / "analyse_dive.py"), str(DIVE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "-m venv" in done.stderr and "tools/run python3" in done.stderr


def test_a_reader_that_has_had_enough_gets_no_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "analyse_dive.py"), str(DIVE)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    _, said = process.communicate()
    assert (process.returncode, said) == (141, "")
