"""The way from messages to values and back loses nothing, whatever field is set."""

import dataclasses
from typing import Any

import pytest
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Twist, Vector3
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Header

from reach_alpha5_common import messages
from reach_alpha5_common.command import CommandKind, JointCommand, StopLevel, TwistCommand
from reach_alpha5_common.refusal import Refusal
from reach_alpha5_msgs import msg

NOT_TRANSLATED = {"header"}
"""The stamp is for whoever receives the message to judge; but a twist is in a frame."""

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
SCALARS = {
    "boolean": st.booleans(),
    "uint8": st.integers(0, 2**8 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "double": st.floats(allow_nan=False),
    "string": TEXT,
}
# What reads as another value on purpose, and a duration that seconds in a float hold exactly.
SPECIAL = {
    (msg.DriverCommand, "kind"): st.sampled_from([kind.value for kind in CommandKind]),
    (msg.DriverCommand, "stop_level"): st.sampled_from([level.value for level in StopLevel]),
    (Duration, "sec"): st.integers(0, 10**6),
    (msg.TwistCtrl, "header"): TEXT.map(lambda frame: Header(frame_id=frame)),
}
NANOSECONDS = st.integers(0, 10**9 - 1)
CLASSES = {
    f"reach_alpha5_msgs/{name}": getattr(msg, name) for name in dir(msg) if name[0].isupper()
} | {
    "builtin_interfaces/Duration": Duration,
    "geometry_msgs/Twist": Twist,
    "geometry_msgs/Vector3": Vector3,
}


@st.composite
def filled(draw: st.DrawFn, kind: type) -> Any:
    """Draw a message of this type with every field set."""
    message = kind()
    for field, field_type in kind.get_fields_and_field_types().items():
        if (kind, field) in SPECIAL:
            strategy = SPECIAL[kind, field]
        elif field in NOT_TRANSLATED:
            continue
        elif field == "nanosec":
            strategy = NANOSECONDS
        elif field_type.startswith("sequence<"):
            strategy = st.lists(SCALARS[field_type[9:-1]], max_size=5)
        else:
            strategy = SCALARS.get(field_type)
        setattr(
            message, field, draw(filled(CLASSES[field_type]) if strategy is None else strategy)
        )
    return message


@given(filled(msg.GripperCtrl))
def test_a_gripper_ctrl_comes_back_as_it_went(message: msg.GripperCtrl) -> None:
    assert messages.gripper_ctrl(messages.gripper_command(message)) == message


@given(filled(msg.TwistCtrl))
def test_D8_a_twist_ctrl_comes_back_as_it_went(message: msg.TwistCtrl) -> None:
    assert messages.twist_ctrl(messages.twist_command(message)) == message


@given(filled(msg.JointSetpoint), st.floats(0.0, 10.0))
def test_R3_a_set_point_comes_back_as_it_went(message: msg.JointSetpoint, lifetime: float) -> None:
    command = messages.joint_setpoint_command(message, lifetime)
    assert messages.joint_setpoint(command) == message
    assert command.lifetime == lifetime


@given(filled(msg.JointCtrl))
def test_R3_the_command_of_a_stream_is_its_set_point_and_lifetime(message: msg.JointCtrl) -> None:
    command = messages.joint_command(message)
    assert messages.joint_setpoint(command) == message.setpoint
    assert messages.duration(command.lifetime) == message.lifetime


def test_a_set_point_of_whole_numbers_makes_a_message() -> None:
    message = messages.joint_setpoint(JointCommand(("axis_e",), (3,), (0,)))
    assert (message.positions[0], message.velocities[0]) == (3.0, 0.0)


@given(TEXT, filled(Twist), st.floats(0.0, 10.0))
def test_D8_a_stock_twist_is_a_command_with_the_lifetime_that_its_reader_gives_it(
    frame: str, twist: Twist, lifetime: float
) -> None:
    command = messages.stamped_twist_command(frame, twist, lifetime)
    assert messages.twist_ctrl(command).twist == twist
    assert (command.frame, command.lifetime) == (frame, lifetime)
    assert (command.grip, command.maximum_acceleration) == (0.0, 0.0)


def test_a_twist_of_whole_numbers_makes_a_message() -> None:
    twist = messages.twist_ctrl(TwistCommand("tool", (0, 0, 1), (0, 0, 0), grip=1, lifetime=1))
    assert deserialize_message(serialize_message(twist), msg.TwistCtrl) == twist


@given(filled(msg.DriverCommand))
def test_a_driver_command_comes_back_as_it_went_over_the_wire(message: msg.DriverCommand) -> None:
    back = messages.driver_command_message(messages.driver_command(message))
    assert deserialize_message(serialize_message(back), msg.DriverCommand) == message


@pytest.mark.parametrize(
    ("kind", "translate"),
    [
        (msg.GripperCtrl, messages.gripper_command),
        (msg.TwistCtrl, messages.twist_command),
        (msg.DriverCommand, messages.driver_command),
    ],
)
def test_the_default_message_is_the_default_value(kind: type, translate: Any) -> None:
    value = translate(kind())
    assert value == type(value)()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (messages.GripperCommand, msg.GripperCtrl),
        (messages.KnownPose, msg.KnownPose),
        (messages.DriverCommand, msg.DriverCommand),
    ],
)
def test_no_field_of_a_value_is_left_out(value: type, message: type) -> None:
    assert {field.name for field in dataclasses.fields(value)} == (
        set(message.get_fields_and_field_types()) - NOT_TRANSLATED
    )


@given(st.integers(5, 255), st.integers(3, 255))
def test_an_undefined_kind_reads_as_a_stop_and_an_undefined_level_as_cut(
    kind: int, level: int
) -> None:
    command = messages.driver_command(msg.DriverCommand(kind=kind, stop_level=level))
    assert command.kind is CommandKind.STOP
    assert command.stop_level is StopLevel.CUT


@given(st.integers(0, 2**31 - 1), NANOSECONDS)
def test_stamps_are_compared_exactly(sec: int, nanosec: int) -> None:
    stamp = Time(sec=sec, nanosec=nanosec)
    assert messages.time_message(messages.nanoseconds(stamp)) == stamp


@given(st.floats(0.0, 1e6))
def test_a_duration_is_kept_to_the_nanosecond(value: float) -> None:
    assert abs(messages.seconds(messages.duration(value)) - value) <= 1e-9


@given(st.floats(-1e6, 0.0))
def test_a_negative_duration_stays_negative(value: float) -> None:
    message = messages.duration(value)
    assert 0 <= message.nanosec < 10**9
    assert abs(messages.seconds(message) - value) <= 1e-9


def test_a_refusal_is_told_whole() -> None:
    stamp = Time(sec=3, nanosec=4)
    refusal = Refusal("stale_reset", "an e-stop came after it", "pad", 7, at=1.0)
    assert messages.refusal_message(refusal, stamp) == msg.Refusal(
        stamp=stamp,
        code="stale_reset",
        reason="an e-stop came after it",
        source="pad",
        count=7,
    )
    assert messages.refusal_message(None, stamp) == msg.Refusal()
