"""The example pad session: that it is up to date, and what the core makes of it by phase."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from reach_alpha5_common.command import ArmInput, GripperCommand, Pose
from reach_alpha5_teleop import profiles
from reach_alpha5_teleop.core import ArbiterView, TeleopConfig, TeleopCore
from reach_alpha5_teleop.outputs import EStopPressed, Publish, ResetPressed
from reach_alpha5_teleop.pad import JoyFrame

highlevel = pytest.importorskip("rosbags.highlevel", reason="rosbags reads the bag")

ARBITER_SAYS = {EStopPressed: ArbiterView(estop=True), ResetPressed: ArbiterView()}
"""What the arbiter answers to a press."""

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BAG = EXAMPLES / "pad_session"

if not BAG.is_dir():
    pytest.skip("examples/ is not beside this package", allow_module_level=True)


@pytest.fixture(scope="module")
def script():
    """Return the script that writes the bag, as a module."""
    spec = importlib.util.spec_from_file_location(
        "make_pad_session", EXAMPLES / "make_pad_session.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def frames() -> list[tuple[str, JoyFrame]]:
    """Return the frames of the bag, each with its phase."""
    read, phase = [], ""
    with highlevel.AnyReader([BAG]) as bag:
        for connection, stamp, data in bag.messages():
            message = bag.deserialize(data, connection.msgtype)
            if connection.topic == "/alpha5/session_phase":
                phase = message.data
            else:
                assert connection.topic == "/alpha5/joy"
                read.append(
                    (phase, JoyFrame(message.axes.tolist(), message.buttons.tolist(), stamp))
                )
    return read


@pytest.fixture(scope="module")
def said(frames) -> dict[str, list]:
    """Return what the core puts out in each phase."""
    core = TeleopCore(profiles.find("xbox_game_controller"), TeleopConfig())
    out: dict[str, list] = {}
    for phase, frame in frames:
        now = frame.stamp / 1e9
        made = core.on_joy(frame, now)
        out.setdefault(phase, []).extend(made)
        for press, view in ARBITER_SAYS.items():
            if press in map(type, made):
                core.on_arbiter(view, now)
    assert core.refusals.total == 0
    return out


def motions(outputs: list) -> list[GripperCommand]:
    return [o.command for o in outputs if isinstance(o, Publish) and not o.command.is_neutral]


def stops(outputs: list) -> int:
    return sum(isinstance(o, Publish) and o.command.is_neutral for o in outputs)


def test_bag_is_what_the_script_writes_now(script, frames):
    made = script.session()
    assert len(frames) == len(made.frames)
    for (_, frame), (axes, buttons) in zip(frames, made.frames, strict=True):
        assert frame.axes == pytest.approx(axes, abs=1e-6)
        assert frame.buttons == buttons
    assert list(dict.fromkeys(phase for phase, _ in frames)) == [p.name for p in made.phases]


def test_readme_has_the_table_of_the_script(script):
    assert script.table(script.session()) in (EXAMPLES / "README.md").read_text()


def test_bag_is_small_enough_to_be_kept():
    assert sum(path.stat().st_size for path in BAG.iterdir()) < 300_000


def test_script_overwrites_nothing(script, tmp_path, capsys):
    folder = tmp_path / "bag"
    assert script.main([str(folder)]) == 0
    before = (folder / "metadata.yaml").read_bytes()
    assert script.main([str(folder)]) == 1
    assert "exists" in capsys.readouterr().err
    assert (folder / "metadata.yaml").read_bytes() == before


@pytest.mark.parametrize(
    "phase", ["idle", "no_deadman", "deadman", "deployed", "deadman_down", "mode", "reset", "end"]
)
def test_still_phases_are_still(said, phase):
    assert motions(said[phase]) == []


@pytest.mark.parametrize("phase", ["deploy_part", "deploy_rest"])
def test_pose_phases_go_to_the_deployed_pose_at_full_speed_and_stop(said, phase):
    commands = motions(said[phase])
    assert {c.known_pose.pose for c in commands} == {Pose.DEPLOYED}
    assert {c.speed_modifier for c in commands} == {1.0}
    assert stops(said[phase]) == 1


@pytest.mark.parametrize(
    ("phase", "case", "axis", "sign"),
    [
        ("cartesian_back", ArmInput.CARTESIAN, "x", -1),
        ("cartesian_forward", ArmInput.CARTESIAN, "x", 1),
        ("cartesian_right", ArmInput.CARTESIAN, "y", 1),
        ("cartesian_left", ArmInput.CARTESIAN, "y", -1),
        ("cartesian_down", ArmInput.CARTESIAN, "z", 1),
        ("cartesian_up", ArmInput.CARTESIAN, "z", -1),
        ("cylindrical_in", ArmInput.CYLINDRICAL, "radial", -1),
        ("cylindrical_out", ArmInput.CYLINDRICAL, "radial", 1),
        ("cylindrical_clockwise", ArmInput.CYLINDRICAL, "azimuth", 1),
        ("cylindrical_counterclockwise", ArmInput.CYLINDRICAL, "azimuth", -1),
        ("cylindrical_down", ArmInput.CYLINDRICAL, "vertical", 1),
        ("cylindrical_up", ArmInput.CYLINDRICAL, "vertical", -1),
        ("after_reset", ArmInput.CYLINDRICAL, "azimuth", -1),
    ],
)
def test_jog_phases_move_one_axis_one_way_and_stop(said, phase, case, axis, sign):
    commands = motions(said[phase])
    payload = GripperCommand.PAYLOADS[case]
    assert {c.arm_input for c in commands} == {case}
    assert max(sign * getattr(getattr(c, payload), axis) for c in commands) == 1.0
    for command in commands:
        values = {
            name: getattr(getattr(command, payload), name)
            for name in getattr(command, payload).__slots__
        }
        assert sign * values.pop(axis) > 0.0
        assert not any(values.values())
    assert stops(said[phase]) == 1


@pytest.mark.parametrize(
    ("phase", "function", "sign"),
    [
        ("jaws_open", "grip", 1),
        ("jaws_close", "grip", -1),
        ("wrist_plus", "rotate", 1),
        ("wrist_minus", "rotate", -1),
    ],
)
def test_gripper_phases_move_nothing_else(said, phase, function, sign):
    commands = motions(said[phase])
    assert commands
    assert not any(c.moves_arm for c in commands)
    assert all(sign * getattr(c.gripper_velocities, function) > 0.0 for c in commands)
    assert stops(said[phase]) == 1


def test_U4_deadman_is_let_go_in_mid_motion(said):
    assert motions(said["deadman_up"])
    assert stops(said["deadman_up"]) == 1


def test_D4_estop_is_pressed_in_mid_motion_and_the_stick_moves_nothing_after_it(said):
    assert motions(said["before_estop"])
    assert stops(said["before_estop"]) == 0
    assert said["estop"].count(EStopPressed()) == 1
    assert motions(said["estop"]) == []
    assert stops(said["estop"]) == 1


def test_reset_is_pressed_once(said):
    assert said["reset"].count(ResetPressed()) == 1
