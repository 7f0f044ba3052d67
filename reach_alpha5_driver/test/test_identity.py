"""What the arm says of itself, held against the description."""

import dataclasses
import math

import pytest

from reach_alpha5_driver.comparison import (
    MISMATCHES,
    ExpectedArm,
    Severity,
    mismatches,
    outside_limits,
)
from reach_alpha5_driver.devices import BY_JOINT, DEVICES
from reach_alpha5_driver.identity import (
    ArmIdentity,
    DeviceIdentity,
    JointRanges,
    effective_limits,
)
from reach_alpha5_driver.protocol import packets
from reach_alpha5_driver.protocol.codec import Frame

NAN, INF = math.nan, math.inf
DESCRIPTION = JointRanges(
    (0.0, 0.0, 0.0, 0.0, 0.0), (6.3, 3.5, 3.5, 6.2, 0.015), (0.52, 0.52, 0.52, 0.87, 0.003)
)
ANY_ARM = ExpectedArm()
E, D, C, B, A = range(5)


def healthy(index: int) -> DeviceIdentity:
    wide = DEVICES[index].unit == "m"
    return DeviceIdentity(
        identified=True,
        serial_number=5100.0 + index,
        model_number=5.0,
        firmware="2.3.1",
        position_lower=0.0013 if wide else 0.01745,
        position_upper=0.0133 if wide else 3.4034,
        velocity_lower=-DESCRIPTION.velocity[index],
        velocity_upper=DESCRIPTION.velocity[index],
        current_lower=-0.4,
        current_upper=0.4,
        mode=packets.Mode.STANDBY,
        voltage=24.0,
        flags=(),
    )


HEALTHY = ArmIdentity(tuple(healthy(index) for index in range(5)))


def with_joint(joint: str, **changes) -> ArmIdentity:
    devices = list(HEALTHY.devices)
    index = BY_JOINT[joint].index
    devices[index] = dataclasses.replace(devices[index], **changes)
    return ArmIdentity(tuple(devices))


def found(identity, expected=ANY_ARM, description=DESCRIPTION):
    return mismatches(identity, expected, description)


def labels(*args, **kwargs):
    return [each.label for each in found(*args, **kwargs)]


def test_C10_an_arm_that_is_as_described_has_no_mismatch():
    assert found(HEALTHY) == ()


def test_an_arm_that_has_said_nothing_contradicts_nothing():
    assert found(ArmIdentity()) == ()


@pytest.mark.parametrize(
    ("changes", "label", "numbers"),
    [
        ({"position_upper": 3.52}, "limits_wider axis_d", ("3.52", "3.5")),
        ({"position_lower": -0.1}, "limits_wider axis_d", ("-0.1",)),
        ({"position_lower": 3.6, "position_upper": 4.0}, "bad_limits axis_d", ("3.6", "3.5")),
        ({"position_lower": -2.0, "position_upper": -1.0}, "bad_limits axis_d", ("-1",)),
        ({"position_lower": 3.5, "position_upper": 4.0}, "bad_limits axis_d", ()),
        ({"velocity_upper": 1.2, "velocity_lower": -1.2}, "velocity_wider axis_d", ("1.2",)),
        ({"velocity_lower": 0.0}, "one_sided_limits axis_d", ("velocity",)),
        ({"velocity_upper": -0.1}, "one_sided_limits axis_d", ("velocity",)),
        ({"current_upper": 0.0}, "one_sided_limits axis_d", ("current",)),
        ({"voltage": 3.3}, "supply_voltage axis_d", ("3.3 V",)),
        ({"voltage": 400.0}, "supply_voltage axis_d", ("400 V",)),
        ({"serial_number": 5100.0}, "same_serial_number", ("5100", "axis_e, axis_d")),
        ({"firmware": "1.0.0"}, "firmware_differs", ("1.0.0 in axis_d", "2.3.1 in axis_e")),
        ({"unanswered": ("voltage", "humidity")}, "not_answered axis_d", ("voltage, humidity",)),
        ({"unreadable": (("mode", "mode 0x77 is not known"),)}, "unknown_mode axis_d", ("0x77",)),
        (
            {"unreadable": (("position limits", "lower limit 3 is above"),)},
            "bad_limits axis_d",
            ("position limits", "lower limit 3", "maximum comes first"),
        ),
        ({"unreadable": (("velocity limits", "reversed"),)}, "bad_limits axis_d", ()),
        ({"unreadable": (("serial number", "nan"),)}, "unreadable axis_d", ()),
    ],
)
def test_C10_what_differs_is_told_with_its_numbers_and_what_to_do(changes, label, numbers):
    (mismatch,) = found(with_joint("axis_d", **changes))
    assert mismatch.label == label
    assert mismatch.severity is MISMATCHES[mismatch.code].severity
    for number in (*numbers, MISMATCHES[mismatch.code].advice):
        assert number in mismatch.reason


@pytest.mark.parametrize(
    "changes",
    [
        {"position_lower": -INF, "position_upper": INF},  # [0, 0] on the wire
        {"position_lower": 1.0, "position_upper": 1.5},
        {"position_upper": 3.505},
        {"velocity_lower": -0.01, "velocity_upper": 0.01},  # a slower arm is no other arm
        {"velocity_lower": -INF, "velocity_upper": INF},
        {"current_lower": -INF, "current_upper": INF},
        {"voltage": NAN},
        {"serial_number": 0.0},
    ],
)
def test_what_is_merely_narrower_or_not_set_is_no_mismatch(changes):
    assert found(with_joint("axis_d", **changes)) == ()


def test_two_serial_numbers_that_were_never_set_are_not_the_same():
    devices = tuple(dataclasses.replace(said, serial_number=0.0) for said in HEALTHY.devices)
    assert found(ArmIdentity(devices)) == ()


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        (ExpectedArm(model_number=7.0), [f"unexpected_model {d.joint}" for d in DEVICES]),
        (ExpectedArm(model_number=5.0), []),
        (
            ExpectedArm(serial_numbers=(5100.0, 9.0, 0.0, 5103.0, 5104.0)),
            ["unexpected_serial_number axis_d"],
        ),
        (ExpectedArm(firmware="2.3.1"), []),
        (ExpectedArm(firmware="2.4.0"), [f"unexpected_firmware {d.joint}" for d in DEVICES]),
    ],
)
def test_B11_another_arm_than_the_expected_one_is_told(expected, told):
    assert labels(HEALTHY, expected) == told


def test_what_is_expected_and_was_not_said_is_told_too():
    expected = ExpectedArm(5.0, (5100.0, 5101.0, 5102.0, 5103.0, 5104.0), "2.3.1")
    identity = with_joint("axis_a", model_number=NAN, serial_number=NAN, firmware="")
    assert labels(identity, expected) == [
        "unexpected_model axis_a",
        "unexpected_serial_number axis_a",
        "unexpected_firmware axis_a",
    ]


def test_without_a_description_only_the_arm_itself_is_looked_at():
    identity = with_joint("axis_d", position_upper=9.0, voltage=1.0)
    assert labels(identity, description=None) == ["supply_voltage axis_d"]


def test_the_gravest_comes_first():
    identity = with_joint(
        "axis_d", voltage=1.0, position_upper=9.0, unreadable=(("mode", "unknown"),)
    )
    severities = [each.severity for each in found(identity)]
    assert severities == sorted(severities, reverse=True)
    assert severities[0] is Severity.HOLD


def test_the_table_of_codes_is_sorted_by_what_follows():
    severities = [kind.severity for kind in MISMATCHES.values()]
    assert severities == sorted(severities, reverse=True)
    assert all(kind.meaning and kind.advice for kind in MISMATCHES.values())


def test_a_joint_outside_its_own_limits_is_told_and_one_without_limits_never_is():
    unlimited = with_joint("axis_b", position_lower=-INF, position_upper=INF)
    positions = [1.0, 3.42, 0.0, 6.28, 0.0005]
    told = outside_limits(unlimited, positions)
    assert [each.label for each in told] == [
        "outside_limits axis_d",
        "outside_limits axis_c",
        "outside_limits axis_a",
    ]
    assert "3.42 rad" in told[0].reason
    assert outside_limits(HEALTHY, [NAN] * 5) == ()
    assert outside_limits(ArmIdentity(), positions) == ()
    assert outside_limits(HEALTHY, [1.0, 3.41, 0.01, 1.0, 0.00125]) == ()


# -- the limits of motion


def test_motion_keeps_to_the_narrower_of_both():
    limits = effective_limits(with_joint("axis_d", position_upper=9.0), DESCRIPTION)
    assert limits.lower == (0.01745, 0.01745, 0.01745, 0.01745, 0.0013)
    assert limits.upper == (3.4034, 3.5, 3.4034, 3.4034, 0.0133)
    assert limits.velocity == DESCRIPTION.velocity


def test_no_limit_in_the_arm_leaves_the_description_and_never_forbids_motion():
    identity = with_joint(
        "axis_b",
        position_lower=-INF,
        position_upper=INF,
        velocity_lower=-INF,
        velocity_upper=INF,
    )
    limits = effective_limits(identity, DESCRIPTION)
    assert (limits.lower[B], limits.upper[B], limits.velocity[B]) == (0.0, 6.2, 0.87)


def test_a_device_that_reports_0_0_has_no_limit():
    frames = (
        Frame(2, packets.PacketId.POSITION_LIMITS, bytes(8)),
        Frame(2, packets.PacketId.VELOCITY_LIMITS, bytes(8)),
        Frame(2, packets.PacketId.CURRENT_LIMITS, bytes(8)),
    )
    said = DeviceIdentity.of(
        map(packets.parse, frames), identified=True, unanswered=(), unreadable=()
    )
    assert (said.position_lower, said.position_upper) == (-INF, INF)
    assert (said.velocity_lower, said.velocity_upper) == (-INF, INF)
    assert (said.current_lower, said.current_upper) == (-INF, INF)
    assert said.speed == INF


def test_a_slower_arm_is_moved_slower_and_a_faster_one_not_faster():
    slower = with_joint("axis_e", velocity_lower=-0.2, velocity_upper=0.3)
    assert effective_limits(slower, DESCRIPTION).velocity[E] == 0.2
    faster = with_joint("axis_e", velocity_lower=-5.0, velocity_upper=5.0)
    assert effective_limits(faster, DESCRIPTION).velocity[E] == 0.52


def test_velocity_limits_that_were_not_told_do_not_narrow():
    identity = with_joint("axis_e", velocity_lower=NAN, velocity_upper=NAN)
    assert effective_limits(identity, DESCRIPTION).velocity[E] == 0.52


@pytest.mark.parametrize(
    "changes",
    [
        {"identified": False},
        {"position_lower": 3.6, "position_upper": 4.0},
        {"position_lower": 1.0, "position_upper": 1.0},
        {"velocity_lower": 0.0},
        {"velocity_lower": 0.1},
    ],
)
def test_a_joint_that_has_nowhere_to_go_gets_no_velocity_and_the_others_keep_theirs(changes):
    limits = effective_limits(with_joint("axis_d", **changes), DESCRIPTION)
    assert limits.velocity == (0.52, 0.0, 0.52, 0.87, 0.003)


def test_an_arm_that_has_said_nothing_may_not_move():
    assert effective_limits(ArmIdentity(), DESCRIPTION).velocity == (0.0,) * 5
