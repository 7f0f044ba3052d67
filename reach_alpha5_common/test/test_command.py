"""What may be asked of the arm: the one check, over all that can be sent."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reach_alpha5_common.command import (
    MAX_JOINTS,
    MAX_LIFETIME,
    MAX_NAME,
    STILL,
    ArmInput,
    Cartesian,
    CommandKind,
    Cylindrical,
    DriverCommand,
    GripperCommand,
    GripperVelocities,
    JointCommand,
    KnownPose,
    Pose,
    StopLevel,
    TwistCommand,
    first_out_of_range,
)

UNIT = st.floats(-1.0, 1.0)
FRACTION = st.floats(0.0, 1.0)

NUMBERS = {
    ("gripper_velocities", "grip"): (-1.0, 1.0),
    ("gripper_velocities", "rotate"): (-1.0, 1.0),
    ("cartesian", "x"): (-1.0, 1.0),
    ("cartesian", "y"): (-1.0, 1.0),
    ("cartesian", "z"): (-1.0, 1.0),
    ("cylindrical", "radial"): (-1.0, 1.0),
    ("cylindrical", "vertical"): (-1.0, 1.0),
    ("cylindrical", "azimuth"): (-1.0, 1.0),
    ("known_pose", "velocity"): (0.0, 1.0),
    ("speed_modifier",): (-1.0, 1.0),
    ("lifetime",): (0.0, MAX_LIFETIME),
}
CASE_OF = {
    "cartesian": ArmInput.CARTESIAN,
    "cylindrical": ArmInput.CYLINDRICAL,
    "known_pose": ArmInput.KNOWN_POSE,
}


def with_number(command: GripperCommand, path: tuple[str, ...], value: float) -> GripperCommand:
    """Return `command` with one number replaced."""
    if len(path) == 1:
        return dataclasses.replace(command, **{path[0]: value})
    part = dataclasses.replace(getattr(command, path[0]), **{path[1]: value})
    return dataclasses.replace(command, **{path[0]: part})


@st.composite
def valid_commands(draw: st.DrawFn) -> GripperCommand:
    """Draw any command that is in order."""
    case = draw(st.sampled_from(ArmInput))
    payload = {
        ArmInput.NONE: st.just({}),
        ArmInput.CARTESIAN: st.builds(Cartesian, UNIT, UNIT, UNIT).map(lambda p: {"cartesian": p}),
        ArmInput.CYLINDRICAL: st.builds(Cylindrical, UNIT, UNIT, UNIT).map(
            lambda p: {"cylindrical": p}
        ),
        ArmInput.KNOWN_POSE: st.builds(
            lambda pose, velocity, holding: KnownPose(pose[0], velocity, pose[1], holding),
            st.sampled_from([(Pose.STOWED, ""), (Pose.DEPLOYED, ""), (Pose.NAMED, "ready")]),
            FRACTION,
            st.booleans(),
        ).map(lambda p: {"known_pose": p}),
    }[case]
    return GripperCommand(
        gripper_velocities=GripperVelocities(draw(UNIT), draw(UNIT)),
        arm_input=case,
        speed_modifier=draw(UNIT),
        lifetime=draw(st.floats(0.0, 1e9)),
        **draw(payload),
    )


def test_all_numbers_of_a_command_are_in_the_table_of_this_test() -> None:
    def numbers(value: object, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
        found = set()
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            if dataclasses.is_dataclass(item):
                found |= numbers(item, (*path, field.name))
            elif isinstance(item, float):
                found.add((*path, field.name))
        return found

    assert numbers(STILL) == set(NUMBERS)


@given(valid_commands())
def test_a_command_in_order_is_not_refused(command: GripperCommand) -> None:
    assert command.problem() is None


@given(valid_commands(), st.sampled_from(sorted(NUMBERS)), st.sampled_from([math.nan, math.inf]))
def test_rule_10_a_number_that_is_not_finite_is_refused(
    command: GripperCommand, path: tuple[str, ...], value: float
) -> None:
    for bad in (value, -value):
        problem = with_number(command, path, bad).problem()
        assert problem is not None
        assert problem.code == "not_finite"
        assert path[0] in problem.reason


@given(valid_commands(), st.sampled_from(sorted(NUMBERS)), st.data())
def test_rule_10_a_number_outside_its_range_is_refused(
    command: GripperCommand, path: tuple[str, ...], data: st.DataObject
) -> None:
    low, high = NUMBERS[path]
    beyond = st.floats(max_value=low, exclude_max=True, allow_infinity=False)
    if math.isfinite(high):
        beyond |= st.floats(min_value=high, exclude_min=True, allow_infinity=False)
    problem = with_number(command, path, data.draw(beyond)).problem()
    assert problem is not None
    assert problem.code == "out_of_range"
    assert path[0] in problem.reason


@given(valid_commands(), st.sampled_from(sorted(CASE_OF)), st.data())
def test_rule_10_a_second_input_beside_the_selected_one_is_refused(
    command: GripperCommand, other: str, data: st.DataObject
) -> None:
    if CASE_OF[other] == command.arm_input:
        command = dataclasses.replace(
            command, arm_input=ArmInput.NONE, **{other: type(getattr(command, other))()}
        )
    axis = data.draw(st.sampled_from([path[1] for path in NUMBERS if path[0] == other]))
    low, high = NUMBERS[other, axis]
    value = data.draw(st.floats(low, high).filter(lambda v: v != 0.0))
    problem = with_number(command, (other, axis), value).problem()
    assert problem is not None
    assert problem.code == "two_inputs"
    assert other in problem.reason


@pytest.mark.parametrize(
    "known_pose",
    [
        KnownPose(Pose.STOWED),
        KnownPose(name="ready"),
        KnownPose(while_holding=True),
    ],
)
@pytest.mark.parametrize("case", [ArmInput.NONE, ArmInput.CARTESIAN, ArmInput.CYLINDRICAL])
def test_a_pose_beside_another_input_is_refused_even_at_rest(
    case: ArmInput, known_pose: KnownPose
) -> None:
    command = GripperCommand(arm_input=case, known_pose=known_pose)
    problem = command.problem()
    assert problem is not None
    assert problem.code == "two_inputs"


@given(st.integers(0, 255).filter(lambda case: case not in {c.value for c in ArmInput}))
def test_an_arm_input_that_nobody_defined_is_refused(case: int) -> None:
    problem = GripperCommand(arm_input=case).problem()
    assert problem is not None
    assert problem.code == "unknown_arm_input"


@pytest.mark.parametrize(("name", "in_order"), [("", {1, 2}), ("ready", {3})])
def test_B5_a_pose_is_one_of_those_defined_and_it_has_a_name_if_and_only_if_it_is_named(
    name: str, in_order: set[int]
) -> None:
    for pose in range(256):
        problem = GripperCommand(
            arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(pose, 1.0, name)
        ).problem()
        code = None if pose in in_order else "unknown_pose"
        assert (problem and problem.code) == code, pose


def test_the_default_command_is_in_order_and_asks_for_nothing() -> None:
    assert GripperCommand().problem() is None
    assert GripperCommand() == STILL
    assert STILL.is_neutral
    assert DriverCommand().kind is CommandKind.STOP


@given(valid_commands())
def test_neutral_means_that_no_velocity_is_asked_for(command: GripperCommand) -> None:
    velocities = [
        getattr(getattr(command, path[0]), path[1]) for path in NUMBERS if len(path) == 2
    ]
    assert command.is_neutral == all(value == 0.0 for value in velocities)
    assert command.is_neutral == (not command.moves_arm and not command.moves_gripper)


def test_B1_jaws_and_wrist_move_without_an_arm_input() -> None:
    command = GripperCommand(GripperVelocities(grip=0.5))
    assert command.moves_gripper
    assert not command.moves_arm
    assert command.problem() is None


def test_B5_a_pose_at_velocity_zero_does_not_move_the_arm() -> None:
    def at(velocity: float) -> GripperCommand:
        return GripperCommand(
            arm_input=ArmInput.KNOWN_POSE, known_pose=KnownPose(Pose.STOWED, velocity)
        )

    assert not at(0.0).moves_arm
    assert at(0.1).moves_arm


def test_a_payload_that_is_not_selected_does_not_move_the_arm() -> None:
    assert not GripperCommand(cartesian=Cartesian(x=1.0)).moves_arm


@pytest.mark.parametrize("value", range(256))
def test_an_undefined_kind_is_a_stop_and_an_undefined_level_is_the_most_restrictive(
    value: int,
) -> None:
    kind = CommandKind.of(value)
    assert kind == (value if value <= 4 else CommandKind.STOP)
    assert StopLevel.of(value) == (value if value <= 2 else StopLevel.CUT)


# ---- twists ------------------------------------------------------------------------------------

ANY = st.floats(allow_nan=False, allow_infinity=False)
VECTORS = st.tuples(ANY, ANY, ANY)
TWIST_NUMBERS = {
    "linear": (-math.inf, math.inf),
    "angular": (-math.inf, math.inf),
    "grip": (-1.0, 1.0),
    "maximum_acceleration": (0.0, math.inf),
    "lifetime": (0.0, MAX_LIFETIME),
}
"""Of all numbers of a twist the least and the greatest that they may be."""


def valid_twists() -> st.SearchStrategy[TwistCommand]:
    """Draw any twist that is in order in itself."""
    positive = st.floats(0.0, 1e9)
    return st.builds(TwistCommand, st.text(), VECTORS, VECTORS, UNIT, positive, positive)


def with_twist_number(twist: TwistCommand, name: str, axis: int, value: float) -> TwistCommand:
    """Return `twist` with one number replaced; `axis` counts where it is one of a vector."""
    old = getattr(twist, name)
    new = (*old[:axis], value, *old[axis + 1 :]) if isinstance(old, tuple) else value
    return dataclasses.replace(twist, **{name: new})


def test_all_numbers_of_a_twist_are_in_the_table_of_this_test() -> None:
    assert {field.name for field in dataclasses.fields(TwistCommand)} == {"frame", *TWIST_NUMBERS}


@given(valid_twists())
def test_D8_a_twist_in_order_is_not_refused(twist: TwistCommand) -> None:
    assert twist.problem() is None


@given(valid_twists(), st.sampled_from([*TWIST_NUMBERS]), st.integers(0, 2))
def test_rule_10_a_number_of_a_twist_that_is_not_finite_is_refused(
    twist: TwistCommand, name: str, axis: int
) -> None:
    for bad in (math.nan, math.inf, -math.inf):
        problem = with_twist_number(twist, name, axis, bad).problem()
        assert problem is not None
        assert problem.code == "not_finite"
        assert name in problem.reason


@given(valid_twists(), st.data())
def test_rule_10_a_number_of_a_twist_outside_its_range_is_refused(
    twist: TwistCommand, data: st.DataObject
) -> None:
    bounded = [name for name, (low, _) in TWIST_NUMBERS.items() if math.isfinite(low)]
    name = data.draw(st.sampled_from(bounded))
    low, high = TWIST_NUMBERS[name]
    beyond = ANY.filter(lambda value: not low <= value <= high)
    problem = with_twist_number(twist, name, 0, data.draw(beyond)).problem()
    assert problem is not None
    assert problem.code == "out_of_range"
    assert name in problem.reason


@given(valid_twists())
def test_a_twist_is_neutral_if_and_only_if_it_asks_for_no_velocity(twist: TwistCommand) -> None:
    velocities = (*twist.linear, *twist.angular, twist.grip)
    assert twist.is_neutral == all(value == 0.0 for value in velocities)


def test_what_is_not_a_number_is_not_neutral() -> None:
    assert not TwistCommand(linear=(0.0, math.nan, 0.0)).is_neutral
    assert not TwistCommand(grip=math.nan).is_neutral
    assert TwistCommand().is_neutral
    assert TwistCommand().problem() is None


@pytest.mark.parametrize(
    ("numbers", "code", "named"),
    [
        ([], None, ""),
        ([("a", 1.0, 1.0, 1.0), ("b", -2.0, -2.0, 3.0), ("c", 3.0, -2.0, 3.0)], None, ""),
        ([("a", 0.0, 0.0, 1.0), ("b", math.nan, 0.0, 1.0)], "not_finite", "b is nan"),
        ([("a", math.inf, 0.0, math.inf)], "not_finite", "a is inf"),
        ([("a", 1.5, 0.0, 1.0), ("b", math.nan, 0.0, 1.0)], "out_of_range", "a is 1.5"),
        ([("a", -0.5, 0.0, 1.0)], "out_of_range", "[0, 1]"),
    ],
)
def test_rule_10_the_first_number_that_is_wrong_is_named_with_what_to_send(
    numbers: list[tuple[str, float, float, float]], code: str | None, named: str
) -> None:
    problem = first_out_of_range(numbers)
    assert (problem.code if problem else None) == code
    assert problem is None or named in problem.reason


# ---- set-points --------------------------------------------------------------------------------


FINITE = st.floats(allow_nan=False, allow_infinity=False)
POINTS = st.dictionaries(
    st.text(max_size=MAX_NAME), st.tuples(FINITE, FINITE), max_size=MAX_JOINTS
)


@given(POINTS, st.floats(0.0, MAX_LIFETIME))
def test_a_set_point_with_one_finite_number_of_each_per_joint_is_in_order(
    points: dict[str, tuple[float, float]], lifetime: float
) -> None:
    positions, velocities = (tuple(each[k] for each in points.values()) for k in range(2))
    command = JointCommand(tuple(points), positions, velocities, lifetime)
    assert command.problem() is None
    assert command.is_neutral == (not points)
    assert command.moves_arm == bool(points)


@pytest.mark.parametrize(
    ("command", "code", "named"),
    [
        (JointCommand(("a",), (), (0.0,)), "bad_sizes", "0 positions"),
        (JointCommand(("a",), (1.0,), ()), "bad_sizes", "0 velocities"),
        (JointCommand((), (1.0,), (0.0,)), "bad_sizes", "0 joint_names"),
        (JointCommand(("a", "b"), (1.0,), (0.0,)), "bad_sizes", "2 joint_names"),
        (JointCommand(("a", "b", "a"), (1.0,) * 3, (0.0,) * 3), "joint_named_twice", "a, b, a"),
        (JointCommand(("a",), (math.nan,), (0.0,)), "not_finite", "position of a"),
        (JointCommand(("a",), (1.0,), (-math.inf,)), "not_finite", "velocity of a"),
        (JointCommand(("a",), (1.0,), (0.0,), -1.0), "out_of_range", "lifetime"),
        (JointCommand(("a",), (1.0,), (0.0,), math.nan), "not_finite", "lifetime"),
        (JointCommand(("n" * (MAX_NAME + 1),), (1.0,), (0.0,)), "name_too_long", "a joint"),
    ],
)
def test_rule_10_a_set_point_that_is_out_of_order_is_refused_by_name(
    command: JointCommand, code: str, named: str
) -> None:
    problem = command.problem()
    assert problem is not None
    assert problem.code == code
    assert named in problem.reason


@pytest.mark.parametrize("extra", [0, 1])
def test_a_set_point_has_a_greatest_number_of_joints(extra: int) -> None:
    count = MAX_JOINTS + extra
    names = tuple(f"joint{number}" for number in range(count))
    problem = JointCommand(names, (0.0,) * count, (0.0,) * count).problem()
    assert (problem.code if problem else "") == ("too_many_joints" if extra else "")


def test_beside_its_joints_a_set_point_asks_for_nothing() -> None:
    command = JointCommand(("a",), (1.0,), (0.0,), 0.2)
    assert command.without_arm() == JointCommand()
    assert JointCommand().is_neutral
    assert JointCommand().problem() is None


# ---- what goes to the driver -------------------------------------------------------------------


def test_the_motion_of_a_driver_command_is_what_its_kind_says() -> None:
    twist = TwistCommand("tool", linear=(0.1, 0.0, 0.0), lifetime=1.0)
    forward = GripperCommand(arm_input=ArmInput.CARTESIAN, cartesian=Cartesian(x=1.0))
    joint = JointCommand(("axis_e",), (3.0,), (0.1,))
    said = {CommandKind.TWIST: twist, CommandKind.JOINT: joint}
    for kind in CommandKind:
        command = DriverCommand(kind, input=forward, twist=twist, joint=joint)
        assert command.motion == said.get(kind, forward)


def test_a_stop_is_at_once_unless_it_says_otherwise() -> None:
    assert DriverCommand().lifetime == 0.0
    assert DriverCommand().stop_level is StopLevel.NONE


@pytest.mark.parametrize("extra", [0, 1])
def test_a_name_has_a_greatest_length(extra: int) -> None:
    name = "n" * (MAX_NAME + extra)
    pose = KnownPose(Pose.NAMED, 1.0, name)
    commands = (
        GripperCommand(arm_input=ArmInput.KNOWN_POSE, known_pose=pose),
        TwistCommand(name, (0.1, 0.0, 0.0)),
    )
    codes = {problem.code if (problem := each.problem()) else "" for each in commands}
    assert codes == ({"name_too_long"} if extra else {""})
