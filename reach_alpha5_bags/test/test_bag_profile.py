"""The record profile, and the command of rosbag2 that is made of it."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest
import yaml

from reach_alpha5_bags.names import resolve
from reach_alpha5_bags.profile import Entry, ProfileError, Selection, read_profile
from reach_alpha5_bags.recorder.cli import main
from reach_alpha5_bags.settings import installed, profile_of

PROFILE = installed("record.yaml").read_text()

OF_AN_ARM = [
    *("arm_state", "arbiter_state", "arbiter_journal", "gripper_tel", "joint_states", "joy"),
    *("driver_command", "estop", "motion_permitted", "obstacles", "robot_description"),
    *("teleop/gripper_ctrl", "app/twist", "app/twist_ctrl", "planner/joint_ctrl"),
    *("console/heartbeat", "estop/deck/challenge", "estop/deck/check_in"),
]
SHARED = ["/tf", "/tf_static", "/diagnostics", "/rosout"]


def selection(*namespaces: str) -> Selection:
    return Selection(profile_of().entries(namespaces))


@pytest.mark.parametrize("namespace", ["alpha5", "/alpha5", "alpha5/", "/drone/left/", "", "/"])
def test_the_topics_of_an_arm_are_found_in_its_namespace_and_nowhere_else(namespace: str) -> None:
    chosen = selection(namespace)
    bare = namespace.strip("/")
    for topic in OF_AN_ARM:
        assert chosen.find(f"/{bare}/{topic}" if bare else f"/{topic}"), topic
        assert chosen.find(f"/elsewhere{bare}/{topic}/deeper") is None
    for topic in SHARED:
        assert chosen.find(topic)
        assert chosen.find(f"/x{topic}") is None
    assert chosen.find("/parameter_events") is None
    assert chosen.find("/camera/image_raw") is None


def test_two_arms_are_both_recorded_and_a_third_one_is_not() -> None:
    chosen = selection("left", "/right")
    assert chosen.find("/left/joint_states") and chosen.find("/right/joint_states")
    assert chosen.find("/middle/joint_states") is None


@pytest.mark.parametrize("name", ["a.b", "a+b"])
def test_a_name_is_no_expression(name: str) -> None:
    chosen = Selection({f"/{name}": Entry(f"/{name}")})
    assert chosen.find(f"/{name}")
    assert chosen.find("/axb") is None and chosen.find("/aab") is None


def test_the_expression_for_rosbag2_takes_what_the_own_recorder_takes() -> None:
    chosen = selection("left", "right")
    found = re.compile(chosen.expression())
    names = [f"/{arm}/{topic}" for arm in ("left", "right", "up") for topic in OF_AN_ARM]
    for name in [*names, *SHARED, "/left/arm_state/x", "/x/left/arm_state", "/tf_static2"]:
        assert bool(found.search(name)) == (chosen.find(name) is not None), name


def test_the_file_of_qos_overrides_is_that_of_the_profile() -> None:
    assert yaml.safe_load(installed("qos_overrides.yaml").read_text()) == (
        selection("alpha5").overrides()
    )


def test_qos_overrides_ask_for_what_is_kept_for_whoever_comes_late() -> None:
    told = selection("/a/b").overrides()
    assert told["/a/b/arbiter_state"]["durability"] == "transient_local"
    assert told["/tf_static"]["durability"] == "transient_local"
    assert told["/a/b/arbiter_journal"] == {
        "history": "keep_last", "depth": 1000, "reliability": "reliable", "durability": "volatile"
    }  # fmt: skip
    assert not any("*" in name for name in told)


def stock_parser() -> argparse.ArgumentParser:
    """The options that `ros2 bag record` has in Jazzy and in Kilted, those that are used here."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("verb", nargs=3)
    parser.add_argument("--disable-keyboard-controls", action="store_true", required=True)
    for name in ("output", "storage", "regex"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("storage-config-file", "qos-profile-overrides-path"):
        parser.add_argument(f"--{name}", type=argparse.FileType("r"), required=True)
    for name in ("max-bag-size", "max-bag-duration"):
        parser.add_argument(f"--{name}", type=int, required=True)
    return parser


def test_the_command_of_rosbag2_has_all_of_the_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "dive"
    assert main(["/left", "right", "--output", str(folder), "--print-command"]) == 0
    words = shlex.split(capsys.readouterr().out)
    told = stock_parser().parse_args(words)
    assert told.verb == ["ros2", "bag", "record"]
    assert (told.output, told.storage) == (str(folder), "mcap")
    profile = profile_of()
    assert told.max_bag_size == profile.max_file_size
    assert told.max_bag_duration == profile.max_file_duration
    assert re.search(told.regex, "/left/joint_states") and re.search(told.regex, "/right/joy")
    with told.qos_profile_overrides_path as file:
        assert yaml.safe_load(file) == selection("left", "right").overrides()
    with told.storage_config_file as file:
        assert yaml.safe_load(file)["compression"] == "Zstd"


@pytest.mark.parametrize(
    "words",
    [
        ["left", "right"],
        ["--namespace", "left", "--namespace", "/right"],
        ["left", "--namespace", "right"],
    ],
)
def test_an_arm_is_named_with_the_option_of_the_other_commands_too(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--print-qos"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == selection("left", "right").overrides()


def test_further_topics_are_recorded_when_they_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--also", "/sonar/range", "--print-command"]) == 0
    assert "^/sonar/range$" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--also", "sonar"])
    assert "does not begin with a slash" in capsys.readouterr().err


def changed(**changes: object) -> str:
    return yaml.safe_dump(yaml.safe_load(PROFILE) | changes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "not YAML"),
        ("- a", "not a table"),
        (changed(max_file_seize=1), "max_file_seize"),
        (changed(flush_period=0), "flush_period: 0"),
        (changed(keep_free=True), "keep_free: True"),
        (changed(max_waiting="much"), "max_waiting: 'much'"),
        (changed(flush_period=float("nan")), "flush_period: nan"),
        (changed(arm=["joy"]), "arm: not a table"),
        (changed(arm={"/joy": {}}), "arm: /joy: a topic that all share begins with a slash"),
        (changed(shared={"tf": {}}), "shared: tf: a topic that all share"),
        (changed(arm={"joy": None}), "arm: joy: not a topic with its options"),
        (changed(arm={"joy": {"dept": 1}}), "unknown option dept"),
        (changed(arm={"joy": {"depth": 0}}), "depth 0 is not"),
        (changed(arm={"joy": {"shows": 1}}), "shows is neither"),
    ],
)
def test_a_profile_that_is_wrong_is_refused_and_says_where(text: str, told: str) -> None:
    with pytest.raises(ProfileError, match=re.escape(told)):
        read_profile(text)


def test_a_file_that_is_no_profile_ends_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.yaml"
    assert main(["--profile", str(file)]) == 2
    assert "mine.yaml: No such file" in capsys.readouterr().err
    file.write_text(changed(keep_free=-1))
    assert main(["--profile", str(file)]) == 2
    assert "mine.yaml: keep_free: -1" in capsys.readouterr().err


def test_a_folder_that_is_there_is_not_written_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--writer", "own", "--output", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("namespace", "name", "full"),
    [
        ("alpha5", "joy", "/alpha5/joy"),
        ("/alpha5/", "joy", "/alpha5/joy"),
        ("/a/b", "estop/x/check_in", "/a/b/estop/x/check_in"),
        ("", "joy", "/joy"),
        ("/", "joy", "/joy"),
        ("alpha5", "/tf", "/tf"),
    ],
)
def test_names_are_resolved_as_ros_does(namespace: str, name: str, full: str) -> None:
    assert resolve(namespace, name) == full
