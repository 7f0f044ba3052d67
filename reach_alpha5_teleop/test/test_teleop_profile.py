from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.modes import Mode
from reach_alpha5_teleop.profile import ProfileError, load

PACKAGE = Path(__file__).resolve().parents[1]


def minimal() -> dict:
    """Return the smallest profile that is in order, as YAML data."""
    return {
        "name": "small",
        "layout": {"axes": [4], "buttons": [3]},
        "axes": {"a": {"index": 0}, "b": {"index": 1}, "c": {"index": 2}},
        "cartesian": {"x": "a", "y": "b", "z": "c"},
        "cylindrical": {"radial": "a", "azimuth": "b", "vertical": "c"},
        "buttons": {"deadman": 0, "estop": 1},
    }


def change(path: str, value: object) -> str:
    """Return the text of the minimal profile with one key set, or removed for None."""
    data = minimal()
    *parents, last = path.split("/")
    place = data
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return yaml.safe_dump(data)


def test_smallest_profile_loads_with_defaults():
    profile = load(yaml.safe_dump(minimal()))
    assert profile.axes["a"].rest == 0.0
    assert profile.axes["a"].deadband == 0.1
    assert profile.buttons == {"deadman": 0, "estop": 1}
    assert profile.modes == (Mode.CARTESIAN, Mode.CYLINDRICAL)
    assert profile.node == ""


def test_modes_are_those_that_have_a_section_or_those_that_are_listed():
    more = {**minimal(), "pose": {"run": "a"}, "wrist_mode": {"rotate": "b"}}
    assert load(yaml.safe_dump(more)).modes == tuple(Mode)
    listed = load(yaml.safe_dump({**more, "modes": ["wrist", "pose"]}))
    assert listed.modes == (Mode.WRIST, Mode.POSE)
    assert [listed.mode_after(mode) for mode in listed.modes] == [Mode.POSE, Mode.WRIST]


def test_axis_of_a_mode_conflicts_with_what_works_in_every_mode():
    data = {**minimal(), "pose": {"run": "d"}, "speed": {"faster": "d"}}
    data["axes"]["d"] = {"index": 3}
    with pytest.raises(ProfileError, match=r"speed\.faster and pose\.run share the axis d"):
        load(yaml.safe_dump(data))


def test_axis_may_turn_the_wrist_in_its_own_mode_and_in_every_other():
    data = {**minimal(), "wrist": {"rotate": "d"}, "wrist_mode": {"rotate": "d"}}
    data["axes"]["d"] = {"index": 3}
    assert load(yaml.safe_dump(data)).modes[-1] is Mode.WRIST


@pytest.mark.parametrize("node", ["game_controller_node", "joy_node"])
def test_profile_may_say_whose_layout_it_is(node):
    assert load(change("layout/node", node)).node == node


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("name", None, "the key name is missing"),
        ("name", 7, "name is 7"),
        ("colour", "red", "key 'colour' is not known"),
        ("layout/axes", [], "layout.axes is []"),
        ("layout/axes", [True], "layout.axes is [True]"),
        ("layout/buttons", [1000], "layout.buttons is [1000]"),
        ("layout/buttons", None, "layout: the key buttons is missing"),
        ("axes", [1, 2], "axes is [1, 2]; write it as"),
        ("axes/a", {}, "axes.a: the key index is missing"),
        ("axes/a", {"index": 4}, "axes.a.index is 4; it must be a whole number from 0 to 3"),
        ("axes/a", {"index": -1}, "axes.a.index is -1"),
        ("axes/a", {"index": True}, "axes.a.index is True"),
        ("axes/a", {"index": 1}, "axes.b.index is 1, which is a's"),
        ("axes/a", {"index": 0, "rest": 2}, "axes.a.rest is 2; it must be a number in [-1, 1]"),
        ("axes/a", {"index": 0, "rest": float("nan")}, "axes.a.rest is nan"),
        ("axes/a", {"index": 0, "rest": "low"}, "axes.a.rest is 'low'"),
        ("axes/a", {"index": 0, "deadband": 0}, "axes.a.deadband is 0"),
        ("axes/a", {"index": 0, "exponent": 0.5}, "axes.a.exponent is 0.5"),
        ("axes/a", {"index": 0, "invert": 1}, "axes.a.invert is 1; it must be true or false"),
        ("axes/a", {"index": 0, "speed": 1}, "axes.a: key 'speed' is not known"),
        ("axes/d", {"index": 3}, "axes.d is not used"),
        ("cartesian/x", "q", "cartesian.x is 'q'; name one of the axes: a, b, c"),
        ("cartesian/x", "b", "cartesian.y and cartesian.x share the axis b"),
        ("cartesian/x", None, "cartesian: the key x is missing"),
        ("wrist", {"rotate": "a"}, "wrist.rotate and cartesian.x share the axis a"),
        ("speed", {"faster": ["a"]}, "speed.faster is ['a']"),
        (
            "layout/node",
            "joystick",
            "layout.node is 'joystick'; use game_controller_node or joy_node",
        ),
        ("layout/node", ["joy_node"], "layout.node is ['joy_node']"),
        ("modes", [], "modes is []"),
        ("modes", "pose", "modes is 'pose'"),
        ("modes", ["cartesian", "fly"], "modes: 'fly' is not known; use cartesian, cylindrical"),
        ("modes", [["cartesian"]], "modes: ['cartesian'] is not known"),
        ("modes", ["cartesian", "cartesian"], "modes: cartesian is named twice"),
        ("modes", ["cartesian", "wrist"], "modes: wrist needs the section wrist_mode"),
        ("pose", {}, "pose: the key run is missing"),
        ("pose", {"run": "q"}, "pose.run is 'q'; name one of the axes"),
        ("wrist_mode", {}, "wrist_mode: the key rotate is missing"),
        ("buttons/deadman", None, "buttons: the key deadman is missing"),
        ("buttons/estop", None, "buttons: the key estop is missing"),
        ("buttons/estop", 0, "buttons.estop is 0, which is deadman's"),
        ("buttons/estop", 3, "buttons.estop is 3; it must be a whole number from 0 to 2"),
        ("buttons/jump", 2, "buttons: key 'jump' is not known"),
    ],
)
def test_what_is_wrong_is_named_by_its_key(path, value, expected):
    with pytest.raises(ProfileError) as caught:
        load(change(path, value))
    assert expected in str(caught.value)


def test_all_problems_are_told_at_once_and_each_once():
    data = minimal()
    data["speed"] = {"faster": "a", "slower": "a"}
    data["buttons"]["estop"] = 9
    with pytest.raises(ProfileError) as caught:
        load(yaml.safe_dump(data))
    lines = str(caught.value).splitlines()
    assert len(lines) == len(set(lines))
    assert {line.split()[0] for line in lines} >= {"buttons.estop", "speed.faster"}


@pytest.mark.parametrize(
    "text",
    [
        "", "3", "- a", "a: [", "\x00", "{a: 1, {}: 2}", "? {}\n: 1", "[" * 3000, "a: &a [*a]",
        "!!bool maybe", "!!float ''", "!!timestamp x", "!!python/name:os x", "0x" + "f" * 9999,
    ],
    ids=lambda text: ascii(text)[:20],
)  # fmt: skip
def test_text_that_is_no_profile_is_refused(text):
    with pytest.raises(ProfileError):
        load(text)


def test_a_name_that_is_a_huge_number_is_refused():
    with pytest.raises(ProfileError, match="name is a number far too long"):
        load(yaml.safe_dump(minimal()).replace("name: small", "name: 0x" + "f" * 9999))


def test_key_given_twice_is_refused():
    with pytest.raises(ProfileError, match="'estop' is given twice"):
        load(yaml.safe_dump(minimal()).replace("  deadman: 0", "  deadman: 0\n  estop: 2"))


YAML_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*minimal(), "index", "x", "rotate"]), inner, max_size=6)
    ),
    max_leaves=10,
)


@given(YAML_VALUES)
def test_any_data_is_refused_without_another_exception(data):
    with pytest.raises(ProfileError):
        load(yaml.safe_dump(data))


@given(st.sampled_from(sorted(minimal())), YAML_VALUES)
def test_any_section_is_loaded_or_refused(section, value):
    try:
        load(yaml.safe_dump({**minimal(), section: value}))
    except ProfileError as error:
        assert str(error)


@pytest.mark.parametrize("name", profiles.names())
def test_profiles_that_come_with_the_package_are_in_order(name):
    assert profiles.find(name).name == name


def test_both_layouts_of_joy_come_with_the_package_and_cannot_be_taken_for_each_other():
    one, other = (profiles.find(f"xbox_{node}") for node in ("game_controller", "joy_node"))
    assert not one.axis_counts & other.axis_counts
    assert not one.button_counts & other.button_counts


def test_profile_is_found_by_path(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(minimal()))
    assert profiles.find(str(path)).name == "small"


@pytest.mark.parametrize("name", ["nothing", "no/such.yaml", ".."])
def test_profile_that_is_not_there_is_answered_with_those_that_are(name):
    with pytest.raises(ProfileError, match="xbox_game_controller"):
        profiles.find(name)


def test_problem_in_a_file_names_the_file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine")
    with pytest.raises(ProfileError, match=r"mine\.yaml"):
        profiles.find(str(path))


def test_U18_setup_installs_every_profile(monkeypatch):
    installed: dict = {}
    monkeypatch.setattr("setuptools.setup", lambda **arguments: installed.update(arguments))
    monkeypatch.chdir(PACKAGE)
    exec(compile((PACKAGE / "setup.py").read_text(), "setup.py", "exec"), {})
    files = dict(installed["data_files"])["share/reach_alpha5_teleop/profiles"]
    assert files == [str(p.relative_to(PACKAGE)) for p in sorted(PACKAGE.glob("profiles/*"))]
