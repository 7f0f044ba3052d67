"""The driver node's parameters: one table, from which the node declares and the docs are made."""

from __future__ import annotations

from reach_alpha5_common.freshness import MAX_STAMP_AGE
from reach_alpha5_common.parameters import Parameter
from reach_alpha5_driver.parameters.line import LINE
from reach_alpha5_driver.parameters.motion import MOTION
from reach_alpha5_driver.parameters.safety import SAFETY
from reach_alpha5_driver.parameters.watch import WATCH

NODE = (
    Parameter(
        "robot_description",
        "",
        "The expanded URDF of the drone with the arm: the text that xacro makes of "
        "`urdf/drone.urdf.xacro`. Required.",
    ),
    Parameter(
        "robot_description_semantic",
        "",
        "The expanded SRDF that goes with it: which links of the arm may touch. Required while "
        "`collision` is set.",
    ),
    Parameter("prefix", "", "Prefix of the arm's joint and link names in the description."),
    Parameter(
        "autostart",
        True,
        "Configure and activate at start. Else the lifecycle node waits to be told, and "
        "`configure` fails when the arm does not answer.",
    ),
    Parameter(
        "service_mode",
        False,
        "For the desk: take `joint_jog` and `preset`, which nobody arbitrates, and refuse "
        "ordinary input.",
    ),
    MAX_STAMP_AGE,
    Parameter(
        "state_rate",
        15.0,
        "How often `arm_state` and `gripper_tel` are published, beside every change of a latch.",
        "Hz",
        range=(10.0, 50.0),
    ),
)

PARAMETERS = (*NODE, *LINE, *MOTION, *SAFETY, *WATCH)
