"""The one table of devices."""

import pytest

from reach_alpha5_driver.devices import BASE_UNIT, BROADCAST, BY_ID, BY_JOINT, DEVICES


def test_chain_order_runs_against_the_ids():
    assert [device.joint for device in DEVICES] == [
        "axis_e",
        "axis_d",
        "axis_c",
        "axis_b",
        "axis_a",
    ]
    assert [device.id for device in DEVICES] == [5, 4, 3, 2, 1]
    assert [device.index for device in DEVICES] == [0, 1, 2, 3, 4]


def test_only_the_jaws_are_linear_and_speak_millimetres():
    assert {device.joint: (device.unit, device.wire_per_si) for device in DEVICES} == {
        "axis_a": ("m", 1000.0),
        "axis_b": ("rad", 1.0),
        "axis_c": ("rad", 1.0),
        "axis_d": ("rad", 1.0),
        "axis_e": ("rad", 1.0),
    }


def test_lookups_hold_each_device_and_nothing_else():
    assert dict(BY_ID) == {device.id: device for device in DEVICES}
    assert dict(BY_JOINT) == {device.joint: device for device in DEVICES}
    assert BY_ID[BASE_UNIT].joint == "axis_e"
    assert BROADCAST not in BY_ID


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        BY_ID[6] = BY_ID[5]
    with pytest.raises(AttributeError):
        BY_ID[5].id = 6
