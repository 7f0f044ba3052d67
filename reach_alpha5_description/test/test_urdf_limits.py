"""The YAML is the one copy of the limits, and the URDF says the same."""

import math
import xml.etree.ElementTree as ET

import pytest
import yaml

# The widest sane range and the manual's speeds, in rad and m: (lower, upper, velocity)
WIDEST = {
    "axis_e": (0.0, 6.3, math.radians(30)),
    "axis_d": (0.0, 3.5, math.radians(30)),
    "axis_c": (0.0, 3.5, math.radians(30)),
    "axis_b": (0.0, 6.2, math.radians(50)),
    "axis_a": (0.0, 0.015, 0.003),
}


def urdf_limits(xml: str) -> dict[str, dict[str, float]]:
    return {
        joint.attrib["name"]: {k: float(v) for k, v in joint.find("limit").attrib.items()}
        for joint in ET.fromstring(xml).findall("joint")
        if joint.find("limit") is not None
    }


@pytest.mark.parametrize("prefix", ["", "left_"])
def test_urdf_and_yaml_agree(package, expand, prefix):
    limits = yaml.safe_load((package / "config/joint_limits.yaml").read_text())["joint_limits"]
    written = urdf_limits(expand(prefix=prefix))
    assert set(limits) == set(WIDEST)
    for name, limit in limits.items():
        assert written[prefix + name] == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize("name", WIDEST)
def test_limits_are_the_widest_sane_ones(urdf, name):
    limit = urdf_limits(urdf)[name]
    assert (limit["lower"], limit["upper"], limit["velocity"]) == pytest.approx(WIDEST[name])


@pytest.mark.parametrize("name", ["axis_e", "axis_d", "axis_c", "axis_b"])
def test_rotary_axes_have_the_data_sheet_effort(urdf, name):
    assert urdf_limits(urdf)[name]["effort"] == 9.0


@pytest.mark.parametrize("finger", ["finger_left_joint", "finger_right_joint"])
def test_no_jaw_position_puts_a_finger_outside_of_its_limits(urdf, finger):
    limits = urdf_limits(urdf)
    joint = next(j for j in ET.fromstring(urdf).findall("joint") if j.attrib["name"] == finger)
    mimic = joint.find("mimic")
    assert mimic.attrib["joint"] == "axis_a"
    ratio = float(mimic.attrib["multiplier"])
    for key in ("lower", "upper", "velocity"):
        assert limits[finger][key] == pytest.approx(ratio * limits["axis_a"][key])
