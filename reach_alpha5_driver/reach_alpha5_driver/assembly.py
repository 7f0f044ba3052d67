"""Builds the arm's model and the core from parameter values."""

from __future__ import annotations

from reach_alpha5_common.parameters import ParameterError
from reach_alpha5_driver.belief import joint_bounds
from reach_alpha5_driver.configuration import Values, core_config, motion_config
from reach_alpha5_driver.core import DriverCore
from reach_alpha5_driver.identity import JointRanges
from reach_alpha5_motion.model import ArmModel, ModelError
from reach_alpha5_motion.resolver import MotionConfigError, VelocityResolver

NO_DESCRIPTION = (
    "robot_description is empty: pass the expanded URDF, for instance\n"
    '  driver_node --ros-args -p robot_description:="$(xacro drone.urdf.xacro)"\n'
    "or start the node through `ros2 launch reach_alpha5_bringup alpha5.launch.xml`"
)


def read_model(values: Values) -> ArmModel:
    """Build the arm's model from parameter values.

    Raises:
        ParameterError: there is no description, or it does not describe the arm.
    """
    if not values["robot_description"].strip():
        raise ParameterError(NO_DESCRIPTION)
    try:
        return ArmModel.from_urdf(values["robot_description"], values["prefix"])
    except ModelError as error:
        raise ParameterError(str(error)) from error


def make_core(values: Values, model: ArmModel) -> DriverCore:
    """Build the core from parameter values; it uses `model` alone from now on.

    Raises:
        ParameterError: the settings contradict each other, or do not fit the arm or the line.
    """
    limits = model.limits
    description = JointRanges(
        limits.lower.tolist(), limits.upper.tolist(), limits.velocity.tolist()
    )
    try:
        resolver = VelocityResolver(model, motion_config(values))
    except MotionConfigError as error:
        raise ParameterError(str(error)) from error
    return DriverCore(
        core_config(values),
        joint_bounds(description.lower, description.upper, description.velocity),
        description,
        resolver,
    )
